"""Verdicts of a range as they are counted, and what of them speaks of a sender as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.replay.engine import Counted, Replay
from conformance.spec.assignment import Assignment
from conformance.verdict import Outcome, Verdict

Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]
"""What verdicts that are counted together share: requirement, outcome and the readings they assumed."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the rules say of all packets with one outcome. keys: of each rule that applies, in the order of the rules."""

    keys: tuple[Key, ...]

    @property
    def good(self) -> bool:
        """Whether nothing but passes."""
        return all(outcome is Outcome.PASS for _, outcome, _ in self.keys)

    @property
    def read(self) -> bool:
        """Whether a reading was assumed."""
        return any(readings for _, _, readings in self.keys)


@dataclass(slots=True)
class _Kept:
    count: int
    first: tuple[int, int]
    verdict: Verdict


@dataclass(slots=True)
class _Sender:
    """seen: the verdicts of packets that assumed a reading, by key, with the packet and place each came first."""

    last: int = 0
    seen: dict[Key, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """Counts what is said of one capture, in any order, so that the sum is what the one-by-one replay has.

    result: where they go. keep: verdicts other than pass that are kept one by one. senders: by sender and key, how many
    verdicts.
    """

    result: Replay
    path: str
    keep: int
    senders: dict[str, Counter[Key]] = field(default_factory=dict)
    _singled: Counter[Key] = field(default_factory=Counter)
    _counts: dict[Key, _Kept] = field(default_factory=dict)
    _samples: dict[Key, tuple[int, Verdict]] = field(default_factory=dict)
    _followed: dict[str, _Sender] = field(default_factory=dict)

    @property
    def followed(self) -> Mapping[str, _Sender]:
        """What speaks of each sender's readings."""
        return self._followed

    @property
    def full(self) -> bool:
        """Whether no further verdict is kept by itself."""
        return self.keep <= 0

    def _single(self, verdict: Verdict) -> None:
        self.keep -= 1
        self.result.add(self.path, verdict)

    def add(self, number: int, verdicts: Iterable[Verdict], place: int = 0) -> None:
        """Count verdicts that nobody counts otherwise. number: the packet they came with. place: of the first there."""
        for at, verdict in enumerate(verdicts, place):
            if verdict.outcome is not Outcome.PASS and not self.full:
                self._single(verdict)
                continue
            key = _key(verdict)
            kept = self._counts.get(key)
            if kept is None:
                self._counts[key] = _Kept(1, (number, at), verdict)
            else:
                kept.count += 1

    def show(self, number: int, verdicts: Iterable[Verdict]) -> None:
        """Keep verdicts other than pass of a packet that `count` counts."""
        for verdict in verdicts:
            if verdict.outcome is Outcome.PASS:
                continue
            key = _key(verdict)
            if not self.full:
                self._single(verdict)
                self._singled[key] += 1
            elif key not in self._samples:
                self._samples[key] = (number, verdict)

    def sampled(self, meaning: Meaning) -> bool:
        """Whether a verdict of each kind other than pass that this says is at hand, for those that are counted."""
        return all(key in self._samples for key in meaning.keys if key[1] is not Outcome.PASS)

    def by(self, sender: str, number: int, verdicts: Sequence[Verdict], place: int = 0) -> None:
        """Whose verdicts these are, of a packet that `count` does not count."""
        keys = [_key(verdict) for verdict in verdicts]
        self.senders.setdefault(sender, Counter()).update(keys)
        if any(verdict.readings for verdict in verdicts):
            self._follow(sender, number, number, keys, place)

    def count(self, sender: str, said: Meaning, count: int, first: int, last: int) -> None:
        """Packets of a sender that all had this outcome. first, last: the lowest and highest of their numbers."""
        totals = self.senders.setdefault(sender, Counter())
        for at, key in enumerate(said.keys):
            totals[key] += count
            kept = self._counts.get(key)
            if kept is None:
                self._counts[key] = _Kept(count, (first, at), plain_verdict(key, first))
                continue
            kept.count += count
            if (first, at) < kept.first:
                kept.first, kept.verdict = (first, at), plain_verdict(key, first)
        if said.read:
            self._follow(sender, first, last, said.keys)

    def _follow(self, sender: str, first: int, last: int, keys: Sequence[Key], place: int = 0) -> None:
        followed = self._followed.setdefault(sender, _Sender())
        followed.last = max(followed.last, last)
        for at, key in enumerate(keys, place):
            followed.seen[key] = min(followed.seen.get(key, (first, at)), (first, at))

    def conclude(self, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        """Put what was counted into the result, as `replay` would have; each sender is judged as a whole."""
        result = self.result
        for key, kept in sorted(self._counts.items(), key=lambda item: item[1].first):
            count = kept.count - self._singled[key]
            if count > 0:
                verdict = self._samples[key][1] if key in self._samples else kept.verdict
                result._counts[self.path, *key] = Counted(self.path, verdict, count)
        for sender, followed in sorted(self._followed.items(), key=lambda item: item[1].last):
            whole = Assignment()
            for key, (number, _) in sorted(followed.seen.items(), key=lambda item: item[1]):
                whole.add(plain_verdict(key, number), f"{self.path}, {sender}")
            result.followed[self.path, sender] = whole
        result.conclude(self.path, readings, level)


def _key(verdict: Verdict) -> Key:
    return verdict.requirement, verdict.outcome, verdict.readings


def plain_verdict(key: Key, number: int) -> Verdict:
    """A verdict of this kind on a packet, without what only the packet itself tells."""
    name, outcome, readings = key
    reason = "a field it needs was not decoded" if outcome is Outcome.INCONCLUSIVE else None
    return Verdict(name, outcome, f"frame {number}", readings=readings, reason=reason)
