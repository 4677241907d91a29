"""Runs a workload, judges the recorded history, and tells the story of its smallest part that fails."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.histories.history import tell
from conformance.histories.operations.operation import Kind
from conformance.histories.operations.table import given_name
from conformance.model import Answer, Call, Model, Observation, State
from conformance.model.linearizability.history import FORMAT, Operation
from conformance.model.linearizability.judge import judge_history
from conformance.model.state import Handle
from conformance.runlog.events import Told
from conformance.suites.concurrency.recording import HistoryRecorder, NotThere, drain, run_workers
from conformance.suites.concurrency.workload import Workload, handle, letter, opening, reopening, workers
from conformance.verdict import Evidence, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive", "messages.peek")
KIND = "concurrency"
MAX_STORED = 2_000  # operations of a history to keep in a repro file


def concurrently(client: Port, judge: Recorder, options: RunOptions, workload: Workload, *, share: float) -> None:
    """Run the workload `share` times as often as the run has examples, at least once.

    Raises ConformanceFailure when no order of the calls explains the answers of the clients.
    """
    for number in range(max(1, round(options.max_examples * share))):
        once(client, judge, workload, options.seed * 1_000 + number)


def once(client: Port, judge: Recorder, workload: Workload, seed: int) -> None:
    """Run the workload with this seed and judge its history."""
    judge.begin_example(KIND, {"format": FORMAT, "workload": workload.to_json(), "seed": seed})
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    with suppress(NotThere):
        for call in opening(workload):
            recorder.one(call)
        run_workers(recorder, workers(workload, seed), Random(f"{seed}/order"))
        drain(recorder, [queue for queue, _ in workload.queues], lambda queue: handle("receive", 0, queue))
        if dict(workload.weights).get("move"):
            drain(recorder, [queue for queue, _ in workload.queues], lambda queue: f"{handle('receive', 0, queue)}s")
    history = recorder.history()
    recorder.driving.leave()
    conclude(judge, history)


def storm(client: Port, judge: Recorder, workload: Workload, seed: int, *, kills: int) -> None:
    """Run the workload in parts, ending each but the last with a kill while calls are in flight; judge one history."""
    judge.begin_example(KIND, {"format": FORMAT, "workload": workload.to_json(), "seed": seed, "kills": kills})
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    with suppress(NotThere):
        _storm(recorder, workload, seed, kills)
    conclude(judge, recorder.history())


def _storm(recorder: HistoryRecorder, workload: Workload, seed: int, kills: int) -> None:
    random = Random(f"{seed}/kills")
    part = replace(workload, operations=max(1, workload.operations // (kills + 1)))
    counts: dict[str, int] = {}
    for call in opening(workload):
        recorder.one(call)
    for epoch in range(kills + 1):
        clients = workers(part, seed, epoch=epoch, first=counts)
        last = epoch == kills
        run_workers(recorder, clients, random, calls=None if last else random.randint(1, part.operations))
        counts = {worker.name: worker.count for worker in clients}
        if last:
            break
        recorder.restart(kill=True)
        for queue, _ in workload.queues:
            for call in reopening(queue, range(workload.clients), epoch + 1):
                recorder.one(call)
    drain(recorder, [queue for queue, _ in workload.queues], lambda queue: handle("receive", 0, queue, kills))


def sends_at_once(client: Port, judge: Recorder, clients: int) -> None:
    """Send messages of one size at once; the bytes counted must be the bytes of one times their number."""
    workload = Workload((("q1", False),), clients, clients, (("send", 1), ("receive", 1)))
    judge.begin_example(KIND, {"format": FORMAT, "workload": workload.to_json(), "seed": 0, "sends": clients})
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    for call in opening(workload):
        recorder.one(call)
    flights = [
        recorder.start(Call("messages.send", message=f"{letter(n)}1", handle=handle("send", n, "q1")), letter(n))
        for n in range(clients)
    ]
    for flight in flights:
        flight.outstanding.result()
    recorder.look()
    full = recorder.counted("q1")
    recorder.one(Call("messages.receive", handle=handle("receive", 0, "q1")))
    less = recorder.counted("q1")
    recorder.driving.leave()
    if full is None or less is None:
        judge.not_demanded("the driver does not tell how many bytes a queue holds")
    judge.step(Told(f"{clients} clients send a message each, of one size, at once", f"{full} bytes"))
    judge.step(Told("one message is received", f"{less} bytes"))
    expected, actual = {"bytes": clients * (full - less)}, {"bytes": full}
    outcome = Outcome.PASS if expected == actual else Outcome.FAIL
    judge.record(Verdict("MQDMPR-3.1.1.2.total-bytes", outcome, "queues.counts", expected, actual))


def at_once(client: Port, judge: Recorder, before: Sequence[Call], together: Sequence[Call]) -> None:
    """Make the calls `before` one by one and `together` all at once, empty the queues, and judge the history.

    No call of `together` may wait. Handles whose name begins with `d` serve to empty their queues.
    """
    stored = {"before": [call.to_json() for call in before], "together": [call.to_json() for call in together]}
    judge.begin_example(KIND, {"format": FORMAT, **stored})
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    with suppress(NotThere):
        for call in before:
            recorder.one(call)
        flights = [recorder.start(call, letter(number)) for number, call in enumerate(together)]
        for flight in flights:
            flight.outstanding.result()
        recorder.look()
        readers = {call.queue or "": call.name or "" for call in before if (call.name or "").startswith("d")}
        drain(recorder, readers, readers.__getitem__)
    history = recorder.history()
    recorder.driving.leave()
    conclude(judge, history)


def in_a_row(
    client: Port, judge: Recorder, before: Sequence[Call], waits: Sequence[Call], then: Sequence[Call]
) -> None:
    """Start waiting reads one after the other, then make calls that each end one of them, and judge the history.

    Each read waits before the next one starts, so that their order is certain.
    """
    stored = {"before": before, "waits": waits, "then": then}
    judge.begin_example(
        KIND, {"format": FORMAT, **{part: [call.to_json() for call in calls] for part, calls in stored.items()}}
    )
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    with suppress(NotThere):
        for call in before:
            recorder.one(call)
        for number, call in enumerate(waits):
            recorder.await_wait(recorder.start(call, letter(number)))
        for call in then:
            recorder.one(call)
            recorder.await_end()
    history = recorder.history()
    recorder.driving.leave()
    conclude(judge, history)


def conclude(judge: Recorder, history: Sequence[Operation]) -> None:
    """Judge a recorded history; the story of a failure is its smallest failing part."""
    judge.steps_taken += len(history)
    judged = judge_history(Model(judge.readings), history)
    if judged.history:
        judge.repro_data(history=[operation.to_json() for operation in judged.history[:MAX_STORED]])
        for line, call, answer in told(judged.history):
            judge.step(line, call, answer)
    judge.record(
        *(_with(verdict, judged.history) if verdict.outcome is Outcome.FAIL else verdict for verdict in judged.verdicts)
    )


def _with(verdict: Verdict, history: Sequence[Operation]) -> Verdict:
    """Return the failing verdict with the history that shows it as evidence."""
    stored = [operation.to_json() for operation in history[:MAX_STORED]]
    return replace(verdict, evidence=Evidence("history", "the smallest part", {"history": stored}))


def told(history: Sequence[Operation]) -> list[tuple[Told, dict[str, Any], dict[str, Any] | None]]:
    """Tell a history: one line a call in the order they began, with the events between which it ran."""
    handles = {
        name: Handle(name, str(op.call.queue), op.call.access or "", "deny_none")
        for op in history
        if (name := given_name(op.call, Kind.HANDLE)) is not None
    }
    state = State(handles=handles)
    lines = []
    for operation in sorted(history, key=lambda operation: operation.began):
        answer = operation.answer
        line = tell(operation.call, state, Observation(answer or Answer()) if _shown(operation) else None)
        end = "waits on" if operation.waits_on else "no answer" if operation.ended is None else str(operation.ended)
        line = line._replace(asked=f"client {operation.client} [{operation.began} to {end}]: {line.asked}")
        lines.append((line, operation.call.to_json(), answer.to_json() if answer is not None else None))
    return lines


def _shown(operation: Operation) -> bool:
    return operation.answer is not None
