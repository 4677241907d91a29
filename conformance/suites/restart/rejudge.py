"""Short stories with a kill, and running a stored example of this suite again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, verdicts_of
from conformance.histories import history as histories
from conformance.histories.operations.operation import Kind, Manner
from conformance.histories.operations.table import OPERATIONS, given_name, stored_call
from conformance.model import BadCall, Call
from conformance.suites.concurrency import rejudge as workloads
from conformance.suites.concurrency.running import HistoryRecorder, NotThere, conclude, drain
from conformance.verdict import Json, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

FORMAT = 1
KIND = "kill"


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One call of a story.

    flies: nobody waits for its answer, so that the kill after it finds it in flight. after_ms: the pause after it.
    """

    call: Call
    flies: bool = False
    after_ms: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """Return the JSON value that a repro file holds."""
        return {"call": self.call.to_json(), "flies": self.flies, "after_ms": self.after_ms}

    @classmethod
    def from_json(cls, raw: Any) -> StoryStep:
        """Read a value of `to_json`. Raises BadCall for a value it cannot have written."""
        if not isinstance(raw, Mapping) or not isinstance(raw.get("call"), Mapping):
            raise BadCall("not a step of a story")
        after_ms = raw.get("after_ms", 0.0)
        if not isinstance(after_ms, int | float) or not 0 <= after_ms <= 10_000:
            raise BadCall("not a pause of a story")
        return cls(stored_call(raw["call"]), raw.get("flies") is True, float(after_ms))


PAUSES_MS = (0.0, 0.3, 1.0, 3.0)
MANY = 100  # with this many generated examples, every pause is tried instead of one chosen by the seed


def pauses(options: RunOptions, turn: int = 0) -> Sequence[float]:
    """Return the pauses between a call in flight and the kill. turn: number of the story, so that not all have one."""
    return PAUSES_MS if options.max_examples >= MANY else [PAUSES_MS[(options.seed + turn) % len(PAUSES_MS)]]


def tell_and_judge(client: Port, judge: Recorder, steps: Sequence[StoryStep]) -> None:
    """Run a story from a fresh start, empty its queues and judge the history.

    Raises ConformanceFailure when no outcome of the calls in flight explains it.
    """
    judge.begin_example(KIND, {"format": FORMAT, "steps": [step.to_json() for step in steps]})
    if client.offers("reset"):
        client.call("reset")
    recorder = HistoryRecorder(client, judge.lacks)
    readers: dict[str, str] = {}
    with suppress(NotThere):
        _tell(recorder, steps, readers)
    conclude(judge, recorder.history())


def _tell(recorder: HistoryRecorder, steps: Sequence[StoryStep], readers: dict[str, str]) -> None:
    for number, step in enumerate(steps):
        call = step.call
        restarts = OPERATIONS[call.method].manner is Manner.RESTART
        if restarts:
            recorder.restart(kill=call.kill)
            readers.clear()
        elif step.flies:
            recorder.start(call, f"{number}")
        answer = None if step.flies or restarts else recorder.one(call)
        opened = given_name(call, Kind.HANDLE)
        if opened is not None and call.access == "receive" and answer is not None and not answer.failed:
            readers[call.queue or ""] = opened
        if step.after_ms:
            time.sleep(step.after_ms / 1000)
    drain(recorder, readers, lambda queue: readers[queue])


REPEATS = 5  # a kill meets the call at a different point each time
MAX_STEPS = 1_000


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of the stored story, ending with the failing one if there is one.

    Raises NotRepeatable for data that this suite does not write.
    """
    if "calls" in repro:
        return histories.rejudge(repro, client, options)
    if repro.get("kind") != KIND:
        return workloads.rejudge(repro, client, options)
    stored = repro.get("steps")
    if repro.get("format") != FORMAT or not isinstance(stored, list) or len(stored) > MAX_STEPS:
        raise NotRepeatable(f"The repro file holds no story of format {FORMAT}.")
    try:
        steps = [StoryStep.from_json(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None

    def play(judge: Recorder) -> None:
        for _ in range(REPEATS):
            tell_and_judge(client, judge, steps)

    return verdicts_of(options, play)
