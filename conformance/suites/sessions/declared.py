"""What a case needs and the owner of an implementation has not declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.judge.dialogues.steps import LOCAL_MS, Case

_SORTS: Final = ("correct", "odd", "malformed")
"""What may be sent, each with all before it."""


def lacking(case: Case, about: Mapping[str, Any]) -> str | None:
    """Return the first thing that a case lacks, in words; None if it can be played. about: of `sessions.about`."""
    if _SORTS.index(case.packets) > _SORTS.index(about["packets"]):
        return f"it sends {case.packets} packets, and only {about['packets']} ones are allowed"
    there = {name.rpartition("\\")[2].lower() for name in about["queues"]}
    for queue in case.queues:
        if queue not in there:
            return f"there is no queue {queue}"
    for queue in case.consumed:
        if queue not in about["consumes_ms"]:
            return f"nothing is received from {queue}: declare consume.{queue}"
    for timer, most_ms in case.timers.items():
        declared = about["timers_ms"].get(timer)
        if declared is None:
            return f"the timer {timer} is not declared"
        if declared > min(most_ms, LOCAL_MS):
            return f"the timer {timer} takes {declared} ms, more than {min(most_ms, LOCAL_MS)}"
    return None
