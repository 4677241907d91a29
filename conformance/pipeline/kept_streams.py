"""The bounds of what a lake keeps of streams that may continue: their number, their bytes, and their silence.

The state of a stream is committed with its rows, in one entry of the lake: after a kill neither is there without the
other. Whoever ingests, `ingest` or `watch`, on any Spark or without, continues from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from conformance.pipeline.log import Kept

MOST_STREAMS: Final = 10_000
"""Streams whose state a lake keeps."""
MOST_BYTES: Final = 16 << 30
"""Bytes of these states; that of one stream has a few hundred kilobytes, and up to 300 MB with all its tables full."""
FORGET_NS: Final = 7 * 86_400 * 1_000_000_000
"""Age in ns, compared with the newest stream that continues, after which a stream is no longer waited for."""
Reason = Literal["silent", "number", "bytes"]
_WHY: Final[Mapping[Reason, str]] = {
    "silent": "silent for a week of capture time",
    "number": f"a lake waits for at most {MOST_STREAMS:,} streams",
    "bytes": f"a lake keeps at most {MOST_BYTES >> 30} GiB of states",
}


@dataclass(frozen=True, slots=True)
class Dropped:
    """A stream that is no longer waited for. key: common to its files."""

    key: str
    stream: str
    reason: Reason

    @property
    def sentence(self) -> str:
        """The sentence for the user."""
        return f"{self.key} is no longer waited for ({_WHY[self.reason]}): its next file begins another stream."


def dropped(before: Mapping[str, Kept], keep: Sequence[Kept]) -> list[Dropped]:
    """Return the streams to give up, when these states are added to those of before: those that are silent the longest.

    The time is that of the captures. A state of before that continues now is replaced.
    """
    newest = max((one.last_ns for one in keep), default=0)
    every = {**before, **{one.key: one for one in keep}}
    going = {one.key for one in keep}
    out = {
        key: Dropped(key, one.stream, "silent")
        for key, one in before.items()
        if one.last_ns < newest - FORGET_NS and key not in going
    }
    number, size = 0, 0
    full: Reason | None = None
    for one in sorted(every.values(), key=lambda one: (one.last_ns, one.key), reverse=True):
        if one.key in out:
            continue
        number, size = number + 1, size + one.bytes
        full = full or ("number" if number > MOST_STREAMS else "bytes" if size > MOST_BYTES else None)
        if full is not None:
            out[one.key] = Dropped(one.key, one.stream, full)
    return list(out.values())
