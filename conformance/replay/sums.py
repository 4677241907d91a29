"""Verdicts of a range as they are counted, and what of them speaks of a sender as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.replay.engine import SUITE, Counted, Replay
from conformance.runlog import Tally
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.spec.assignment import Assignment
from conformance.verdict import Outcome, Verdict

PACKET, SESSION = "packet", "session"
"""Parts of a replay, as `replay` names them."""
Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]
"""What verdicts that are counted together share: requirement, outcome and the readings they assumed."""


_KEYS: dict[Key, int] = {}
_RULES: dict[str, int] = {}
"""All keys and rules that came up, each with its place: there are no more than rules have ways to end."""
_PLACES = 16  # bits for the place of a key in a meaning


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What the rules say of all packets with one outcome. rules, keys: of each that applies, in their order."""

    rules: tuple[str, ...]
    keys: tuple[Key, ...]
    deviating: tuple[Key, ...] = field(init=False)
    read: tuple[tuple[int, Key], ...] = field(init=False)
    """Where a reading was assumed, all that tells how its sender reads the documents, each with its place."""
    places: Any = field(init=False)
    """Of each key, its place among all there are."""
    judged: Any = field(init=False)
    """Of each key that is a judgement, the place of its rule among all rules, else -1."""

    def __post_init__(self) -> None:
        known = [_KEYS.setdefault(key, len(_KEYS)) for key in self.keys]
        rules = [
            -1 if key[1] in NO_JUDGEMENT else _RULES.setdefault(rule, len(_RULES))
            for rule, key in zip(self.rules, self.keys, strict=True)
        ]
        object.__setattr__(self, "places", np.array(known, np.int64))
        object.__setattr__(self, "judged", np.array(rules, np.int64))
        object.__setattr__(self, "deviating", tuple(key for key in self.keys if key[1] is not Outcome.PASS))
        object.__setattr__(self, "read", _read(self.keys))


@dataclass(slots=True)
class _Kept:
    count: int
    first: tuple[int, int]
    verdict: Verdict | None = None


@dataclass(slots=True)
class _Sender:
    """seen: the verdicts of packets that assumed a reading, by key, with the packet and place each came first."""

    last: int = 0
    seen: dict[Key, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Sums:
    """Counts what is said of one capture, in any order, so that the sum is what the one-by-one replay has.

    result: where they go. keep: verdicts other than pass that are kept one by one. each: of one kind, so many are kept
    even if more than `keep` are; without it (0) one of each kind is at hand for those that are counted.
    """

    result: Replay
    path: str
    keep: int
    each: int = 0
    _by_key: dict[str, Counter[Key]] = field(default_factory=dict)
    _by_first: dict[tuple[str, Key], int] = field(default_factory=dict)
    _by_meaning: dict[str, Counter[Meaning]] = field(default_factory=dict)
    _meanings: dict[Meaning, tuple[int, int]] = field(default_factory=dict)
    _singled: Counter[Key] = field(default_factory=Counter)
    _told: Tally = field(default_factory=Tally)  # What was counted of packets that `count` counts again.
    _counts: dict[Key, _Kept] = field(default_factory=dict)
    _samples: dict[Key, tuple[int, Verdict]] = field(default_factory=dict)
    _followed: dict[str, _Sender] = field(default_factory=dict)
    _alone: Counter[Key] = field(default_factory=Counter)  # Kept by themselves, of each kind.

    @property
    def followed(self) -> Mapping[str, _Sender]:
        """What speaks of each sender's readings."""
        return self._followed

    @property
    def full(self) -> bool:
        """Whether no further verdict is kept by itself."""
        return self.keep <= 0 and not self.each

    def _room(self, key: Key) -> bool:
        """Whether a further verdict of this kind is kept by itself."""
        return self.keep > 0 or self._alone[key] < self.each

    def _single(self, key: Key, verdict: Verdict, phase: str) -> None:
        self.keep -= 1
        self._alone[key] += 1
        self.result.add(self.path, verdict, phase)

    def add(self, number: int, verdicts: Iterable[Verdict | Key], phase: str, place: int = 0) -> None:
        """Count verdicts that nobody counts otherwise. number: the packet they came with. place: of the first there.

        phase: the part of a replay that made them. A key is one more verdict of a kind that was counted before.
        """
        for at, verdict in enumerate(verdicts, place):
            if isinstance(verdict, tuple):
                self.result.tally.phases[SUITE, phase] += verdict[1] not in NO_JUDGEMENT
                self._counts[verdict].count += 1
                continue
            key = key_of(verdict)
            if verdict.outcome is not Outcome.PASS and self._room(key):
                self._single(key, verdict, phase)
                continue
            self.result.tally.count(verdict, SUITE, phase)
            kept = self._counts.get(key)
            if kept is None:
                self._counts[key] = _Kept(1, (number, at), verdict)
            else:
                kept.count += 1

    def show(self, number: int, verdicts: Iterable[Verdict]) -> bool:
        """Keep verdicts other than pass of a packet that `count` counts.

        Returns whether less is to be looked at than before: there are enough of some kind.
        """
        enough = False
        for verdict in verdicts:
            if verdict.outcome is Outcome.PASS:
                continue
            key = key_of(verdict)
            if self._room(key):
                self._single(key, verdict, PACKET)
                self._singled[key] += 1
                self._told.count(verdict, SUITE, PACKET)
                enough = enough or self.keep == 0 or not self._room(key)
            elif key not in self._samples:
                self._samples[key] = (number, verdict)
                enough = True
        return enough

    def enough(self, meaning: Meaning) -> bool:
        """Whether packets with this outcome need not be looked at: all their verdicts are counted.

        For those that are counted a verdict of each kind other than pass is at hand.
        """
        return not any(self._room(key) or not (self.each or key in self._samples) for key in meaning.deviating)

    def by(self, sender: str, number: int, verdicts: Sequence[Verdict | Key], place: int = 0) -> None:
        """Whose verdicts these are, of a packet that `count` does not count."""
        keys = [one if isinstance(one, tuple) else key_of(one) for one in verdicts]
        self._by_key.setdefault(sender, Counter()).update(keys)
        for key in keys:
            self._by_first.setdefault((sender, key), number)
        self.follow(sender, number, number, _read(keys, place))

    def more(self, sender: str, keys: Sequence[Key], count: int, first: int, last: int, phase: str, place: int) -> None:
        """Packets of a sender of which all this was said, and of each kind one verdict was added before.

        first, last: the lowest and highest of their numbers. place: of the first key there.
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
            self._by_first.setdefault((sender, key), first)
        if judged:
            self.result.tally.phases[SUITE, phase] += count * judged
        self.follow(sender, first, last, _read(keys, place))

    def count(self, sender: str, meaning: Meaning, count: int, first: int, last: int) -> None:
        """Packets of a sender that all had this outcome. first, last: the lowest and highest of their numbers."""
        counts = self._by_meaning.get(sender)
        if counts is None:
            counts = self._by_meaning[sender] = Counter()
        counts[meaning] += count
        total, before = self._meanings.get(meaning, (0, first))
        self._meanings[meaning] = (total + count, min(before, first))
        self.follow(sender, first, last, meaning.read)

    def follow(self, sender: str, first: int, last: int, read: Sequence[tuple[int, Key]]) -> None:
        """What speaks of how a sender reads the documents, as in `Meaning.read`. first, last: packets it is said of."""
        if not read:
            return
        followed = self._followed.setdefault(sender, _Sender())
        followed.last = max(followed.last, last)
        seen = followed.seen
        for at, key in read:
            before = seen.get(key)
            if before is None or (first, at) < before:
                seen[key] = (first, at)

    def apart(self) -> Iterator[tuple[str, Key, int, int]]:
        """Of packets that `count` does not count: sender, kind of verdict, how many, and the first packet's number."""
        for sender, counts in self._by_key.items():
            for key, count in counts.items():
                yield sender, key, count, self._by_first[sender, key]

    def senders(self) -> dict[str, Counter[Key]]:
        """By sender and kind of verdict, how many there were."""
        out = {sender: Counter(counts) for sender, counts in self._by_key.items()}
        for sender, meanings in self._by_meaning.items():
            counts = out.setdefault(sender, Counter())
            for meaning, count in meanings.items():
                for key in meaning.keys:
                    counts[key] += count
        return out

    def _whole(self) -> Iterator[tuple[Key, int, tuple[int, int]]]:
        """Each key that meanings have: how often, and the first packet and the place there. Notes the rules, too."""
        if not self._meanings:
            return
        sizes = [len(meaning.keys) for meaning in self._meanings]
        counts, firsts = np.array(list(self._meanings.values()), np.int64).T
        places = np.concatenate([np.arange(size) for size in sizes])
        keys = np.concatenate([meaning.places for meaning in self._meanings])
        counts, firsts = np.repeat(counts, sizes), np.repeat(firsts, sizes)
        totals = np.zeros(len(_KEYS), np.int64)
        np.add.at(totals, keys, counts)
        lowest = np.full(len(_KEYS), np.iinfo(np.int64).max)
        np.minimum.at(lowest, keys, firsts << _PLACES | places)
        known = list(_KEYS)
        for at in np.flatnonzero(totals).tolist():
            yield known[at], int(totals[at]), divmod(int(lowest[at]), 1 << _PLACES)
        tally = self.result.tally
        judged = np.zeros(len(_RULES), np.int64)
        by = np.concatenate([meaning.judged for meaning in self._meanings])
        np.add.at(judged, by[by >= 0], counts[by >= 0])
        names = list(_RULES)
        for at in np.flatnonzero(judged).tolist():
            tally.rules[names[at]] += int(judged[at])
        if judged.any():
            tally.phases[SUITE, PACKET] += int(judged.sum())

    def conclude(self, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        """Put what was counted into the result, as `replay` would have; each sender is judged as a whole."""
        result = self.result
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
        for sender, followed in sorted(self._followed.items(), key=lambda item: item[1].last):
            whole = Assignment()
            for key, (number, _) in sorted(followed.seen.items(), key=lambda item: item[1]):
                whole.add(plain_verdict(key, number), f"{self.path}, {sender}")
            result.followed[self.path, sender] = whole
        result.conclude(self.path, readings, level)


def _read(keys: Sequence[Key], place: int = 0) -> tuple[tuple[int, Key], ...]:
    """Of the verdicts on a packet, those that say how its sender reads the documents, or that it breaks a demand."""
    if not any(readings for _, _, readings in keys):
        return ()
    return tuple((at, key) for at, key in enumerate(keys, place) if key[2] or key[1] is not Outcome.PASS)


def key_of(verdict: Verdict) -> Key:
    return verdict.requirement, verdict.outcome, verdict.readings


def plain_verdict(key: Key, number: int) -> Verdict:
    """A verdict of this kind on a packet, without what only the packet itself tells."""
    name, outcome, readings = key
    reason = "a field it needs was not decoded" if outcome is Outcome.INCONCLUSIVE else None
    return Verdict(name, outcome, f"frame {number}", readings=readings, reason=reason)
