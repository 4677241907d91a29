"""Tell which ranges of a capture can have packets of a span of time, from a few records at their borders.

A capture is written in the order of its records, which is that of their times but for what a network card, or clocks of
several, put out of order. Only who made the captures knows how much that can be; without that bound every range is
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from conformance.capture.ranges import read_range
from conformance.capture.records import MAX_RECORD, RecordWalk
from conformance.pipeline.parts import BEHIND
from conformance.pipeline.source_filters import Test

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEXT, _TAIL = 32 << 20, 1 << 20  # Bytes searched for the next record, and for the last one.
_LOW: Final = ("EqualTo", "EqualNullSafe", "In", "GreaterThan", "GreaterThanOrEqual")
_HIGH: Final = ("EqualTo", "EqualNullSafe", "In", "LessThan", "LessThanOrEqual")


@dataclass(frozen=True, slots=True)
class Span:
    """Microseconds since 1970, both ends included; None for no end."""

    low: int | None = None
    high: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether it has an end."""
        return self.low is not None or self.high is not None


def span_of(tests: Iterable[Test]) -> Span:
    """Return a span that has all times that fulfil these conditions."""
    lows, highs = [], []
    for one in tests:
        if one.column not in ("time", "time_ns") or one.negated:
            continue
        values = one.value if isinstance(one.value, tuple) else (one.value,)
        found = [_micros(value) for value in values if value is not None]
        if found and one.name in _LOW:
            lows.append(min(found))
        if found and one.name in _HIGH:
            highs.append(max(found))
    return Span(max(lows, default=None), min(highs, default=None))


def meets(path: str, start: int, stop: int, size: int, span: Span, slack_s: float) -> bool:
    """Tell whether a range of a classic capture can have packets of a span.

    size: of the file. slack_s: how many seconds a record may be later than one that comes behind it in the file.
    Packets end up to `BEHIND` bytes behind the last record of their range. Raises CaptureError.
    """
    slack = int(slack_s * 1_000_000)
    if span.high is not None:
        first = _first(path, start)
        if first is not None and first - slack > span.high:
            return False
    if span.low is not None:
        end = stop + MAX_RECORD + BEHIND
        last = _first(path, end) if end < size else None
        if last is None:
            last = _last(path, size)
        if last is not None and last + slack < span.low:
            return False
    return True


def _first(path: str, at: int) -> int | None:
    """Return the time of the first record from an offset on, None if it is not found soon."""
    record = next(read_range(path, at, at + _NEXT, RecordWalk()), None)
    return None if record is None else record.time_ns // 1000


def _last(path: str, size: int) -> int | None:
    """Return the time of the last record of a file, None if it is not found near the end."""
    last = None
    for record in read_range(path, max(24, size - _TAIL), size, RecordWalk()):
        last = record.time_ns // 1000
    return last


def _micros(value: Any) -> int:
    return (value - _EPOCH) // timedelta(microseconds=1) if isinstance(value, datetime) else int(value) // 1000
