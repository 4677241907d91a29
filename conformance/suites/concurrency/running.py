"""Run a workload with many clients at once, and record what each call was asked and answered, and when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.histories.driver_side import BLOCK_MS, Driving
from conformance.histories.history import tell
from conformance.histories.operations.operation import Kind
from conformance.histories.operations.table import OPERATIONS, given_name, without
from conformance.model import Answer, BadCall, Call, Model, Observation, State
from conformance.model.expected import message_name
from conformance.model.linearizability.history import FORMAT, Operation
from conformance.model.linearizability.judge import judge_history
from conformance.model.state import Handle
from conformance.runlog.events import Told
from conformance.suites.concurrency.workload import Workload, handle, letter, opening, reopening, workers
from conformance.verdict import Evidence, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import OpenCall, Port
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.suites.concurrency.workload import Worker

MAX_DRAIN = 400  # messages received from a queue at the end of a history


class NotThere(Exception):
    """A call names a handle that an earlier call should have given and did not. It ends the history."""


@dataclass(slots=True)
class Flight:
    """A call that was sent. Its times are those of `time.monotonic_ns`."""

    call: Call
    client: str
    outstanding: OpenCall
    began: int
    blocked: int | None = None


@dataclass(slots=True)
class _Times:
    """An operation with times in nanoseconds; `history` turns them into the order of events."""

    call: Call
    client: str
    began: int
    blocked: int | None
    ended: int | None
    answer: Answer | None


@dataclass(slots=True)
class HistoryRecorder:
    """Records the history of one example, beginning with the queues that `reset` leaves.

    lacks: called with the optional members of calls that the driver does not accept; the calls are made without them.
    """

    client: Port
    lacks: Callable[..., None]
    driving: Driving = field(init=False)
    _seen: dict[str, int] = field(default_factory=dict)
    _flights: list[Flight] = field(default_factory=list)
    _noted: list[_Times] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.driving = Driving(self.client)

    def one(self, call: Call, client: str = "-") -> Answer:
        """Make a call and wait for its answer."""
        flight = self.start(call, client)
        answer = self._answered(flight)
        self._over(flight, answer)
        return answer

    def _answered(self, flight: Flight) -> Answer:
        result, completes = flight.outstanding.result(), OPERATIONS[flight.call.method].answer
        answer = self.driving.answer(result)
        return answer if completes is None else completes(answer, flight.call, result.values, self.driving.handles)

    def start(self, call: Call, client: str) -> Flight:
        """Send a call without waiting for its answer."""
        call, lacking = without(call, self.client.hello.takes)
        self.lacks(*lacking)
        try:
            method, params = self.driving.request(call, self._seen)
        except BadCall:
            raise NotThere(f"{call.method} needs a handle that was never given") from None
        began = time.monotonic_ns()
        flight = Flight(call, client, self.client.start(method, **params), began)
        if call.name is not None:
            self.driving.note(call, flight.outstanding)
        self._flights.append(flight)
        return flight

    def look(self, within_ms: int = 0) -> list[tuple[Flight, Answer]]:
        """Process the driver's messages: return the calls that ended, and mark the reads that wait."""
        self.client.poll(within_ms)
        now = time.monotonic_ns()
        ended: list[tuple[Flight, Answer]] = []
        for flight in list(self._flights):
            if flight.outstanding.blocked and flight.blocked is None:
                flight.blocked = now
            if flight.outstanding.done:
                answer = self._answered(flight)
                self._over(flight, answer)
                ended.append((flight, answer))
        return ended

    def await_wait(self, flight: Flight) -> None:
        """Return when this read waits or is answered. Without a report it counts as waiting, as in `press`."""
        self.client.wait_blocked_or_done(flight.outstanding, BLOCK_MS)
        self.look()
        if flight in self._flights and flight.blocked is None:
            flight.blocked = time.monotonic_ns()

    def await_end(self) -> None:
        """Return when a read in flight is answered, shortly after the call that ends it; give up after a short time."""
        until = time.monotonic() + (BLOCK_MS + self.client.hello.settle_ms) / 1000
        while self._flights and not self.look(1) and time.monotonic() < until:
            pass

    def _over(self, flight: Flight, answer: Answer) -> None:
        self._flights.remove(flight)
        if not answer.failed:
            self.driving.bind(flight.call, flight.outstanding.result())
        if answer.message is not None and answer.message.lookup_identifier is not None:
            self._seen[message_name(answer.message)] = answer.message.lookup_identifier
        now = time.monotonic_ns()
        if flight.outstanding.blocked and flight.blocked is None:
            flight.blocked = now
        self._noted.append(_Times(flight.call, flight.client, flight.began, flight.blocked, now, answer))

    def counted(self, queue: str) -> int | None:
        """Return the bytes that the manager counts in a queue; None if it does not count them."""
        result = self.client.call("queues.counts", format_name=self.driving.handles.format(queue))
        return int(result.values["bytes"]) if result.ok and "bytes" in result.values else None

    def restart(self, *, kill: bool) -> None:
        """End the manager with calls in flight, and start it again."""
        began = time.monotonic_ns()
        lost, self._flights = self._flights, []
        self.driving.restart(kill=kill)
        for flight in lost:
            self._noted.append(_Times(flight.call, flight.client, flight.began, flight.blocked, None, None))
        call = Call("restart", kill=kill)
        self._noted.append(_Times(call, "-", began, None, time.monotonic_ns(), Answer()))

    def press(self) -> bool:
        """After a quiet time, wait for a call that must be answered, up to its deadline. Return False if there is none.

        A read that may wait (`timeout_ms` above 0) and of which the driver reports nothing counts as waiting.
        """
        for flight in self._flights:
            if flight.blocked is None and flight.call.timeout_ms > 0:
                flight.blocked = time.monotonic_ns()
                return True
        for flight in self._flights:
            if flight.blocked is None:
                flight.outstanding.result()
                return True
        return False

    @property
    def waiting(self) -> list[Flight]:
        """Return the reads that wait."""
        return [flight for flight in self._flights if flight.blocked is not None]

    @property
    def flying(self) -> int:
        """The number of calls without an answer so far."""
        return len(self._flights)

    def history(self) -> tuple[Operation, ...]:
        """Return the calls recorded so far, in the order they began.

        If messages become visible only after `settle_ms`, an operation that makes them visible (`Operation.late`) may
        take effect that much later than its answer.
        """
        late = 0 if self.driving.virtual else self.client.hello.settle_ms * 1_000_000
        still = [_Times(one.call, one.client, one.began, one.blocked, None, None) for one in self._flights]
        noted = self._noted + still
        moments: list[tuple[int, int, int, str]] = []
        for number, times in enumerate(noted):
            moments.append((times.began, 0, number, "began"))
            if times.blocked is not None:
                moments.append((times.blocked, 1, number, "blocked"))
            if times.ended is not None:
                moments.append((times.ended + (late if OPERATIONS[times.call.method].late else 0), 2, number, "ended"))
        places: list[dict[str, int]] = [{} for _ in noted]
        for place, (_, _, number, which) in enumerate(sorted(moments)):
            places[number][which] = place
        made = [
            Operation(
                times.call,
                times.client,
                at["began"],
                at.get("ended"),
                times.answer,
                at.get("blocked"),
                waits_on=number >= len(self._noted) and times.blocked is not None,
            )
            for number, (times, at) in enumerate(zip(noted, places, strict=True))
        ]
        return tuple(sorted(made, key=lambda operation: operation.began))


def run_workers(
    recorder: HistoryRecorder, workers: Iterable[Worker], random: Random, *, calls: int | None = None
) -> None:
    """Let the clients work until each is done, now and then cancelling a read that waits.

    calls: return after this many, with the last of them in flight.
    """
    everyone = list(workers)
    left = calls
    busy: dict[str, Flight] = {}
    cancelled: set[str] = set()
    finished: set[str] = set()
    quiet_since = time.monotonic()
    while len(finished) < len(everyone) or recorder.flying:
        idle = [worker for worker in everyone if worker.name not in busy and worker.name not in finished]
        random.shuffle(idle)
        started = 0
        for worker in idle[: random.randint(1, len(idle))] if idle else ():
            call = worker.next()
            if call is None:
                finished.add(worker.name)
                continue
            busy[worker.name] = recorder.start(call, worker.name)
            started += 1
            rival = worker.rival(call)
            if rival is not None:
                recorder.start(rival, f"{worker.name}'")
        if left is not None and (left := left - started) <= 0:
            return
        waiting = [flight for flight in recorder.waiting if str(flight.call.name) not in cancelled]
        stalled = len(recorder.waiting) == recorder.flying
        if waiting and (random.random() < 0.1 or (stalled and not started)):
            flight = random.choice(waiting)
            cancelled.add(str(flight.call.name))
            recorder.start(Call("messages.cancel", request=flight.call.name), f"{flight.client}'")
            started += 1
        if _take(recorder, everyone, busy, within_ms=0 if started else 1) or started:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > BLOCK_MS / 1000:
            if not recorder.press():
                return  # a cancelled read that still waits stays in the history as a waiting one
            quiet_since = time.monotonic()


def _take(recorder: HistoryRecorder, everyone: list[Worker], busy: dict[str, Flight], within_ms: int) -> bool:
    names = {worker.name: worker for worker in everyone}
    ended = recorder.look(within_ms)
    for flight, answer in ended:
        worker = names.get(flight.client)
        if worker is not None:
            worker.told(flight.call, answer)
            busy.pop(worker.name, None)
    return bool(ended)


def drain(recorder: HistoryRecorder, queues: Iterable[str], reader: Callable[[str], str]) -> None:
    """Empty the queues, one call at a time, to show missing or extra messages."""
    for queue in queues:
        for _ in range(MAX_DRAIN):
            answer = recorder.one(Call("messages.receive", handle=reader(queue)), "-")
            if answer.failed or answer.message is None:
                break


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
        for line, call, answer in operations(judged.history):
            judge.step(line, call, answer)
    judge.record(
        *(_with(verdict, judged.history) if verdict.outcome is Outcome.FAIL else verdict for verdict in judged.verdicts)
    )


def _with(verdict: Verdict, history: Sequence[Operation]) -> Verdict:
    """Return the failing verdict with the history that shows it as evidence."""
    stored = [operation.to_json() for operation in history[:MAX_STORED]]
    return replace(verdict, evidence=Evidence("history", "the smallest part", {"history": stored}))


def operations(history: Sequence[Operation]) -> list[tuple[Told, dict[str, Any], dict[str, Any] | None]]:
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
