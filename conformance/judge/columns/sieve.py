"""Judges hypotheses many at a time, so that the search for causes decodes few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from conformance.judge.columns.findings import Outcomes
from conformance.judge.columns.kernel import Chunk, ColumnJudge, Slow
from conformance.judge.columns.outcomes import OutcomeCode
from conformance.judge.packets.causes import AT_ONCE, Sifted
from conformance.judge.packets.judge import Result, rules_of
from conformance.judge.rules import Rule
from conformance.spec.catalogue import requirement
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.wire.columns.chunks import TCP

_OUTCOMES = 1 << 12
_SPARE = bytes(64)  # Behind the last packet: compiled code reads whole words.
_UNREADABLE = int(Slow.UNREADABLE)


class Sieve:
    """Tells what compiled code knows of packets. Those that it leaves open have to be decoded."""

    def __init__(self, code: ColumnJudge) -> None:
        self.code = code
        self._chunk: Chunk | None = None
        self._known: dict[int, _Broken] = {}

    def __call__(self, packets: Sequence[bytes]) -> Sequence[Sifted]:
        """Judge at most AT_ONCE packets."""
        if self._chunk is None:
            self._chunk, self._counts = self.code.chunk(AT_ONCE), self.code.counts(_OUTCOMES)
            self._chunk.transport[:] = TCP
        chunk, count = self._chunk, len(packets)
        lengths = np.fromiter(map(len, packets), np.int64, count)
        chunk.lengths[:count], chunk.offsets[:count] = lengths, np.cumsum(lengths) - lengths
        self.code.judge(np.frombuffer(b"".join((*packets, _SPARE)), np.uint8), chunk, count, self._counts)
        slow, results = chunk.slow[:count].tolist(), chunk.results[:count].tolist()
        return [why == _UNREADABLE if why else self._broken(number) for why, number in zip(slow, results, strict=True)]

    def _broken(self, number: int) -> _Broken:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = _Broken(self.code.code, self.code.words(self._counts, number))
        return found


class _Broken:
    """Returns the requirements of a level that packets with this outcome break under a set of readings."""

    def __init__(self, code: OutcomeCode, words: tuple[int, ...]) -> None:
        self.code, self.words = code, words
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def __call__(self, readings: str, level: str) -> frozenset[str]:
        found = self._known.get((readings, level))
        if found is None:
            how = _outcomes(self.code, readings)
            found = self._known[readings, level] = frozenset(
                rule.requirement for rule in _rules()[level] if how.finding(rule, self.words).result is Result.BROKEN
            )
        return found


@cache
def _outcomes(code: OutcomeCode, readings: str) -> Outcomes:
    return Outcomes(code, DEFAULT_PROFILE, readings)


@cache
def _rules() -> Mapping[str, Sequence[Rule]]:
    """Return the rules of packets by the level of their requirement."""
    found: dict[str, list[Rule]] = {level: [] for level in LEVELS}
    for rule in rules_of("buffer"):
        found[requirement(rule.requirement).level].append(rule)
    return found
