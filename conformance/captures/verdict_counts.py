"""The compiled function that counts packets by sender, outcome and pattern, and the kinds of verdicts of a pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

from conformance.captures import counting_code
from conformance.captures.counting_code import COUNT, GUID, HIGH, LOW, NAMED, WIDTH
from conformance.captures.engine import SUITE, Counted, Replay
from conformance.captures.judge import PACKET
from conformance.captures.meanings import KEYS, RULES, Meaning
from conformance.captures.sender_readings import Followed, ReadingEvidence, VerdictKind, key_of, plain_verdict, read_of
from conformance.judge.packets.packet_verdicts import Judged, Pattern
from conformance.runlog import Tally
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.verdict import Outcome, Verdict
from conformance.wire.columns.lowering import lowered, source_of
from conformance.wire.columns.machine_code import Wanted


@lru_cache(maxsize=1 << 12)
def keys_of(pattern: Pattern) -> tuple[VerdictKind, ...]:
    """Return the kind of each verdict of a packet with this pattern, in their order."""
    return tuple((one.requirement, one.outcome, one.readings) for one in pattern.told)


@lru_cache(maxsize=1 << 12)
def read_in(pattern: Pattern) -> ReadingEvidence:
    """Return the verdicts of a pattern that show how its sender reads the documents, with their places."""
    return read_of(keys_of(pattern))


CAPACITY = 1 << 14
"""Rows of the table, a power of two. It has one more, which counts those in use."""


@cache
def machine_code() -> Wanted:
    """Return the machine code, which may exist already."""
    return lowered("counting", source_of(counting_code), "count_in", 15)


@cache
def _function() -> Callable[..., int]:
    return machine_code().function()


def combine(
    results: Any, columns: Any, whose: tuple[int, int, int, int], begin: int, count: int, meta: Any, named: Any,
    addresses: Any, given: Any, patterns: Any, table: Any,
) -> int:  # fmt: skip
    """Count the packets from `begin` to `count`; return the first that found the table full, `count` if none did.

    results: int32, number of the outcome, -1 for a packet that is not counted. columns: int64 rows. whose: the row of
    flags and the bits there that tell whether hop count and queue manager are present; the row of the hop count; the
    first of the two rows of SourceQueueManager. named, addresses: int32 by 2 * connection + side: the number of a name,
    or 0. given: int32, the number of the packet's sender if it is already known, else 0; afterwards the number of its
    sender, -1 for the queue manager that the packet names. patterns: int32, of the session rules. table:
    int64[CAPACITY + 1, WIDTH].
    """
    flags, bits, hops, manager = whose
    base, step = columns.ctypes.data, 8 * columns.shape[1]
    return _function()(
        results.ctypes.data, base + step * flags, bits, base + step * hops, base + step * manager,
        base + step * (manager + 1), begin, count, meta.ctypes.data, named.ctypes.data, addresses.ctypes.data,
        given.ctypes.data, patterns.ctypes.data, table.ctypes.data, len(table) - 1,
    )  # fmt: skip


_MOST_PATTERNS = 1 << 12
_PLACES = 16  # bits for the place of a key in a meaning
BEHIND = 1 << 20
"""Added to the place of verdicts of a later part, so that they follow the other verdicts of a packet."""


@dataclass(slots=True)
class _Kept:
    count: int
    first: tuple[int, int]
    verdict: Verdict | None = None


@dataclass(slots=True)
class Sums:
    """Counts the verdicts on one capture, in any order, with the same result as the replay one by one.

    result: receives them. keep: verdicts other than pass that are stored singly. each: so many of each kind are always
    stored singly, even beyond `keep`; if 0, one sample of each counted kind is stored.
    """

    result: Replay
    path: str
    keep: int
    each: int = 0
    _by_key: dict[str, Counter[VerdictKind]] = field(default_factory=dict)
    _by_meaning: dict[str, Counter[Meaning]] = field(default_factory=dict)
    _meanings: dict[Meaning, tuple[int, int]] = field(default_factory=dict)
    _singled: Counter[VerdictKind] = field(default_factory=Counter)
    _told: Tally = field(default_factory=Tally)  # Verdicts already tallied that `count` counts again.
    _counts: dict[VerdictKind, _Kept] = field(default_factory=dict)
    _samples: dict[VerdictKind, tuple[int, Verdict]] = field(default_factory=dict)
    followed: Followed = field(default_factory=Followed)
    _alone: Counter[VerdictKind] = field(default_factory=Counter)  # Verdicts stored singly, by kind.
    _by_pattern: dict[str, Counter[Pattern]] = field(default_factory=dict)
    _again: Counter[Pattern] = field(default_factory=Counter)
    """By pattern of a packet that `add` counted, how many came after the first."""

    @property
    def full(self) -> bool:
        """No further verdict is stored singly."""
        return self.keep <= 0 and not self.each

    def _room(self, key: VerdictKind) -> bool:
        """Tell whether a further verdict of this kind is stored singly."""
        return self.keep > 0 or self._alone[key] < self.each

    def _single(self, key: VerdictKind, verdict: Verdict, phase: str) -> None:
        self.keep -= 1
        self._alone[key] += 1
        self.result.add(self.path, verdict, phase)

    def add(self, number: int, verdicts: Iterable[Verdict | VerdictKind], phase: str, place: int = 0) -> None:
        """Count verdicts that `count` does not count. phase: the part of a replay that made them.

        number: the packet they came with. place: of the first among its verdicts. A key is one more verdict of a kind
        that was counted before.
        """
        for at, verdict in self._new(verdicts, place) if isinstance(verdicts, Judged) else enumerate(verdicts, place):
            if isinstance(verdict, tuple):
                self.result.tally.phases[SUITE, phase] += verdict[1] not in NO_JUDGEMENT
                self._counts.setdefault(verdict, _Kept(0, (number, at))).count += 1
                continue
            key = key_of(verdict)
            if verdict.outcome is not Outcome.PASS and self._room(key):
                self._single(key, verdict, phase)
                continue
            self.result.tally.count((verdict,), SUITE, phase)
            kept = self._counts.get(key)
            if kept is None:
                self._counts[key] = _Kept(1, (number, at), verdict)
            else:
                kept.count += 1

    def _new(self, packet: Judged, place: int) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdicts to add now: after the first packet of a pattern, its passes are counted at the end."""
        pattern = packet.pattern
        if pattern not in self._again:
            if len(self._again) >= _MOST_PATTERNS:
                self._settle()
            self._again[pattern] = 0
            yield from enumerate(packet, place)
            return
        self._again[pattern] += 1
        yield from ((place + at, packet.others[at]) for at in pattern.others)
        yield from enumerate(packet.behind, place + len(pattern.told))

    def _settle(self) -> None:
        """Count the passes of packets whose pattern came before."""
        tally = self.result.tally
        for pattern, count in self._again.items():
            good = [one for one in pattern.told if one.outcome is Outcome.PASS] if count else ()
            for one in good:
                tally.rules[one.rule] += count
                self._counts[one.requirement, one.outcome, one.readings].count += count
            if good:
                tally.phases[SUITE, PACKET] += count * len(good)
        self._again.clear()

    def show(self, number: int, verdicts: Iterable[Verdict]) -> bool:
        """Store verdicts other than pass on a packet that `count` counts.

        Returns whether fewer packets need to be looked at than before, because there are enough of some kind.
        """
        enough = False
        for verdict in verdicts:
            if verdict.outcome is Outcome.PASS:
                continue
            key = key_of(verdict)
            if self._room(key):
                self._single(key, verdict, PACKET)
                self._singled[key] += 1
                self._told.count((verdict,), SUITE, PACKET)
                enough = enough or self.keep == 0 or not self._room(key)
            elif key not in self._samples:
                self._samples[key] = (number, verdict)
                enough = True
        return enough

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether packets with this outcome need not be looked at, because their verdicts are only counted.

        A counted kind other than pass has a sample.
        """
        return not any(self._room(key) or not (self.each or key in self._samples) for key in meaning.deviating)

    def by(self, sender: str, number: int, verdicts: Sequence[Verdict | VerdictKind], place: int = 0) -> None:
        """Add the sender of verdicts on a packet that `count` does not count."""
        if isinstance(verdicts, Judged) and not verdicts.behind and not place:
            self._by_pattern.setdefault(sender, Counter())[verdicts.pattern] += 1
            self.followed.add(sender, number, number, read_in(verdicts.pattern))
            return
        keys = [key_of(one) for one in verdicts]
        self._by_key.setdefault(sender, Counter()).update(keys)
        self.followed.add(sender, number, number, read_of(keys, place))

    def more(
        self, sender: str, keys: Sequence[VerdictKind], count: int, first: int, last: int, phase: str, place: int
    ) -> None:
        """Count packets of a sender that all got these kinds of verdicts; of each kind one verdict was added before.

        first, last: the lowest and highest of their numbers. place: of the first key among their verdicts.
        """
        counts = self._by_key.setdefault(sender, Counter())
        judged = 0
        for at, key in enumerate(keys, place):
            counts[key] += count
            judged += key[1] not in NO_JUDGEMENT
            kept = self._counts.get(key)
            if kept is None:
                self._counts[key] = _Kept(count, (first, at))
            else:
                kept.count += count
        if judged:
            self.result.tally.phases[SUITE, phase] += count * judged
        self.followed.add(sender, first, last, read_of(keys, place))

    def count(self, sender: str, meaning: Meaning, count: int, first: int, last: int) -> None:
        """Count packets of a sender with this outcome. first, last: the lowest and highest of their numbers."""
        counts = self._by_meaning.get(sender)
        if counts is None:
            counts = self._by_meaning[sender] = Counter()
        counts[meaning] += count
        total, before = self._meanings.get(meaning, (0, first))
        self._meanings[meaning] = (total + count, min(before, first))
        self.followed.add(sender, first, last, meaning.read)

    def senders(self) -> dict[str, Counter[VerdictKind]]:
        """Return the counts by sender and kind of verdict."""
        out = {sender: Counter(counts) for sender, counts in self._by_key.items()}
        for sender, patterns in self._by_pattern.items():
            counts = out.setdefault(sender, Counter())
            for pattern, count in patterns.items():
                for key in keys_of(pattern):
                    counts[key] += count
        for sender, meanings in self._by_meaning.items():
            counts = out.setdefault(sender, Counter())
            for meaning, count in meanings.items():
                for key in meaning.keys:
                    counts[key] += count
        return out

    def _whole(self) -> Iterator[tuple[VerdictKind, int, tuple[int, int]]]:
        """Yield each key of the meanings, its count, and its first packet and place; add the rules to the tally too."""
        if not self._meanings:
            return
        sizes = [len(meaning.keys) for meaning in self._meanings]
        counts, firsts = np.array(list(self._meanings.values()), np.int64).T
        places = np.concatenate([np.arange(size) for size in sizes])
        keys = np.concatenate([meaning.places for meaning in self._meanings])
        counts, firsts = np.repeat(counts, sizes), np.repeat(firsts, sizes)
        totals = np.zeros(len(KEYS), np.int64)
        np.add.at(totals, keys, counts)
        lowest = np.full(len(KEYS), np.iinfo(np.int64).max)
        np.minimum.at(lowest, keys, firsts << _PLACES | places)
        known = list(KEYS)
        for at in np.flatnonzero(totals).tolist():
            yield known[at], int(totals[at]), divmod(int(lowest[at]), 1 << _PLACES)
        tally = self.result.tally
        judged = np.zeros(len(RULES), np.int64)
        by = np.concatenate([meaning.judged for meaning in self._meanings])
        np.add.at(judged, by[by >= 0], counts[by >= 0])
        names = list(RULES)
        for at in np.flatnonzero(judged).tolist():
            tally.rules[names[at]] += int(judged[at])
        if judged.any():
            tally.phases[SUITE, PACKET] += int(judged.sum())

    def conclude(self, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        """Move the counts to the result, as `replay` would have them, and judge each sender as a whole."""
        result = self.result
        self._settle()
        counts = dict(self._counts)
        for key, count, place in self._whole():
            kept = counts.get(key)
            if kept is None:
                counts[key] = _Kept(count, place)
                continue
            kept.count += count
            if place < kept.first:
                kept.first, kept.verdict = place, None
        result.tally.rules.subtract(self._told.rules)
        result.tally.phases.subtract(self._told.phases)
        for key, kept in sorted(counts.items(), key=lambda item: item[1].first):
            count = kept.count - self._singled[key]
            if count > 0:
                verdict = (
                    self._samples[key][1] if key in self._samples else kept.verdict or plain_verdict(key, kept.first[0])
                )
                result._counts[self.path, *key] = Counted(self.path, verdict, count)
        for sender, whole in self.followed.wholes(self.path):
            result.followed[self.path, sender] = whole
        result.conclude(self.path, readings, level)


__all__ = ["CAPACITY", "COUNT", "GUID", "HIGH", "LOW", "NAMED", "WIDTH", "combine", "machine_code"]
