"""Short stories with a kill in them: calls that are answered, calls that are in flight when the kill comes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall, Call
from conformance.suites.concurrency.recording import NotThere, Recorder, drain
from conformance.suites.concurrency.running import conclude
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge

FORMAT = 1
KIND = "kill"


@dataclass(frozen=True, slots=True)
class Step:
    """A call. flies: it is not waited for, so that the kill behind it finds it in flight. after_ms: between the call
    and what follows."""

    call: Call
    flies: bool = False
    after_ms: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """As a repro file keeps it."""
        return {"call": self.call.to_json(), "flies": self.flies, "after_ms": self.after_ms}

    @classmethod
    def from_json(cls, raw: Any) -> Step:
        """The inverse of `to_json`. Raises BadCall for a value it could not have written."""
        if not isinstance(raw, Mapping) or not isinstance(raw.get("call"), Mapping):
            raise BadCall("not a step of a story")
        after_ms = raw.get("after_ms", 0.0)
        if not isinstance(after_ms, int | float) or not 0 <= after_ms <= 10_000:
            raise BadCall("not a pause of a story")
        return cls(Call.from_json(raw["call"]), raw.get("flies") is True, float(after_ms))


def tell_and_judge(client: Client, judge: Judge, steps: Sequence[Step]) -> None:
    """Run a story from a fresh start, empty its queues and judge what was seen.

    Raises ConformanceFailure when nothing that may have become of the calls in flight explains it.
    """
    judge.begin_example(KIND, {"format": FORMAT, "steps": [step.to_json() for step in steps]})
    if client.offers("reset"):
        client.call("reset")
    recorder = Recorder(client)
    readers: dict[str, str] = {}
    with suppress(NotThere):
        _tell(recorder, steps, readers)
    conclude(judge, recorder.history())


def _tell(recorder: Recorder, steps: Sequence[Step], readers: dict[str, str]) -> None:
    for number, step in enumerate(steps):
        call = step.call
        if call.method == "restart":
            recorder.restart(kill=call.kill)
            readers.clear()
        elif step.flies:
            recorder.start(call, f"{number}")
        else:
            recorder.one(call)
        if call.method == "queues.open" and call.access == "receive":
            readers[call.queue or ""] = call.name or ""
        if step.after_ms:
            time.sleep(step.after_ms / 1000)
    drain(recorder, readers, lambda queue: readers[queue])
