"""The kinds of verdicts in a pattern, worked out once for all packets that have it."""

from __future__ import annotations

from functools import lru_cache

from conformance.captures.sender_readings import ReadingEvidence, VerdictKind, read_of
from conformance.judge.packets.packet_verdicts import Pattern


@lru_cache(maxsize=1 << 12)
def keys_of(pattern: Pattern) -> tuple[VerdictKind, ...]:
    """Return the kind of each verdict of a packet with this pattern, in their order."""
    return tuple((one.requirement, one.outcome, one.readings) for one in pattern.told)


@lru_cache(maxsize=1 << 12)
def read_in(pattern: Pattern) -> ReadingEvidence:
    """Return the verdicts of a pattern that show how its sender reads the documents, with their places."""
    return read_of(keys_of(pattern))
