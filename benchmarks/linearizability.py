"""How long it takes to judge what many clients saw at once.

python benchmarks/linearizability.py [OPERATIONS] [CLIENTS]

Three histories of 16,000 calls by 8 clients, unless told otherwise: recorded from the embedded queue manager, which
answers in the order it works; one whose calls take effect at random moments of their lives; and the first with a
message lost in its middle, which takes the counting and the reduction too. The target for each is 60 s.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from conformance.harness.connecting import open_client
from conformance.model import Answer, Model
from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.judge import judge_history
from conformance.model.linearizability.search import linearize
from conformance.spec.constants import hresults
from conformance.suites.concurrency.running import HistoryRecorder, drain, run_workers
from conformance.suites.concurrency.workload import Workload, handle, opening, workers

TARGET_S = 60.0


def recorded(operations: int, clients: int) -> tuple[Operation, ...]:
    """Record the embedded queue manager at work with that many calls."""
    workload = Workload((("q1", False),), clients, operations, (("send", 5), ("receive", 4), ("peek", 1)))
    with tempfile.TemporaryDirectory() as folder:
        client = open_client("embedded", state_dir=Path(folder), in_process=False, deadline_ms=10_000)
        recorder = HistoryRecorder(client)
        for call in opening(workload):
            recorder.one(call)
        run_workers(recorder, workers(workload, 0), Random(0))
        drain(recorder, ["q1"], lambda queue: handle("receive", 0, queue))
        client.close()
    return recorder.history()


def stretched(history: tuple[Operation, ...], random: Random) -> tuple[Operation, ...]:
    """The same history as somebody farther away sees it: each call ends later, so that more of them overlap."""
    began: dict[str, list[int]] = {}
    for operation in history:
        began.setdefault(operation.client, []).append(operation.began)
    out = []
    for operation in history:
        following = next((moment for moment in began[operation.client] if moment > operation.began), None)
        ended = operation.ended or operation.began
        if following is not None and operation.client != "-":  # up to its client's next call
            ended = random.randint(ended, max(ended, following - 1))
        out.append(replace(operation, ended=ended))
    return tuple(out)


def lost(history: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The history with the receive in its middle finding nothing."""
    receives = [n for n, op in enumerate(history) if op.call.method == "messages.receive" and op.message is not None]
    middle = receives[len(receives) // 2]
    empty = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
    message = history[middle].message
    return tuple(replace(op, answer=empty) if op.reads and op.message == message else op for op in history)


def main(operations: int, clients: int) -> None:
    """Print calls, configurations and seconds of each."""
    history = recorded(operations, clients)
    print(f"{len(history):,} calls by {clients} clients; target {TARGET_S:.0f} s each")
    for name, one in (("as answered", history), ("stretched", stretched(history, Random(1)))):
        started = time.perf_counter()
        found = linearize(Model(), one)
        seconds = time.perf_counter() - started
        told = "explained" if found.fits else "gave up" if found.capped else "refuted"
        print(f"{name:<14} {told:<10} {found.nodes:>9,} configurations {seconds:7.2f} s")
    started = time.perf_counter()
    judged = judge_history(Model(), lost(history))
    seconds = time.perf_counter() - started
    told = judged.verdicts[-1].requirement if judged.failed else "missed"
    print(f"{'a lost message':<14} {len(judged.history)} calls left: {told} {seconds:7.2f} s")


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["16000", "8"][len(sys.argv) - 1 :])[:2]))
