"""What a case needs and the owner of an implementation has not declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.judge.dialogues.steps import LOCAL_MS, Case
from conformance.net.windows import ACK_WAIT, CLEANUP, DUPLICATES, PARAMETERS, RECONNECT, RESENDS

_SORTS: Final = ("correct", "odd", "malformed")
"""What may be sent, each with all before it."""

_MARGIN_MS: Final = 1_000
_VALUES: Final = {
    "session-initialization": f"{PARAMETERS}\\RoundTripDelay",
    "session-cleanup": CLEANUP.path,
    "session-retry-connect": RECONNECT.path,
    "session-ack-wait": ACK_WAIT.path,
    "transactional-ack-wait": RESENDS.path,
    "message-id-history-cleanup": DUPLICATES.path,
}
"""The registry value that sets a timer on Windows (product notes of MS-MQQB, 24 and 43 to 47)."""


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
    for queue in case.replies:
        if queue not in about.get("replies", ()):
            return f"nothing is answered that comes to {queue}: declare reply.{queue}"
    for timer, most_ms in case.timers.items():
        declared = about["timers_ms"].get(timer)
        if declared is None:
            return f"the timer {timer} is not declared{_set_by(timer)}"
        if declared > min(most_ms, LOCAL_MS):
            return f"the timer {timer} takes {declared} ms, more than {min(most_ms, LOCAL_MS)}{_set_by(timer)}"
    if case.shorter is not None:
        short, long = (about["timers_ms"].get(name) for name in case.shorter)
        if short is not None and long is not None and 2 * short + _MARGIN_MS >= long:
            return f"the timer {case.shorter[1]} takes {long} ms, less than twice {case.shorter[0]}"
    return None


def _set_by(timer: str) -> str:
    value = _VALUES.get(timer)
    return "" if value is None else f" (on Windows it is {value})"
