"""Collects the verdicts that show how each sender reads the documents, to judge them as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conformance.spec.followed_readings import FollowedReadings
from conformance.verdict import Outcome, Verdict, of_frame

VerdictKind = tuple[str, Outcome, tuple[tuple[str, str], ...]]
"""The members shared by verdicts that are counted together: requirement, outcome and the readings they assumed."""
ReadingEvidence = Sequence[tuple[int, VerdictKind]]
"""The verdicts on a packet that show how its sender reads the documents, each with its place among all of them."""


@dataclass(slots=True)
class Sender:
    """last: number of its last packet. seen: by key, the packet and place where such a verdict came first."""

    last: int = 0
    seen: dict[VerdictKind, tuple[int, int]] = field(default_factory=dict)

    def whole(self, where: str) -> FollowedReadings:
        """Return the readings that the sender followed. where: the capture and the sender."""
        found = FollowedReadings()
        for key, (number, _) in sorted(self.seen.items(), key=lambda item: item[1]):
            found.add(plain_verdict(key, number), where)
        return found


@dataclass(slots=True)
class Followed:
    """The senders of a capture or stream, added in any order."""

    senders: dict[str, Sender] = field(default_factory=dict)

    def add(self, name: str, first: int, last: int, read: ReadingEvidence) -> None:
        """Add verdicts on packets of a sender. first, last: numbers of these packets."""
        if not read:
            return
        known = self.senders.setdefault(name, Sender())
        known.last = max(known.last, last)
        for at, key in read:
            known.seen[key] = min(known.seen.get(key, (first, at)), (first, at))

    def merge(self, more: Followed) -> None:
        """Add the senders of another part of the stream."""
        for name, one in more.senders.items():
            for key, (number, at) in one.seen.items():
                self.add(name, number, one.last, ((at, key),))

    def wholes(self, path: str) -> Iterator[tuple[str, FollowedReadings]]:
        """Yield each sender and the readings it followed, in the order of their last packets."""
        for name, one in sorted(self.senders.items(), key=lambda item: item[1].last):
            yield name, one.whole(f"{path}, {name}")


def read_of(keys: Sequence[VerdictKind], place: int = 0) -> tuple[tuple[int, VerdictKind], ...]:
    """Return the verdicts on a packet that assume a reading or are not pass; none if no reading was assumed."""
    if not any(readings for _, _, readings in keys):
        return ()
    return tuple((at, key) for at, key in enumerate(keys, place) if key[2] or key[1] is not Outcome.PASS)


def key_of(verdict: Verdict | VerdictKind) -> VerdictKind:
    """Return the kind of a verdict."""
    return (verdict.requirement, verdict.outcome, verdict.readings) if isinstance(verdict, Verdict) else verdict


def plain_verdict(key: VerdictKind, number: int) -> Verdict:
    """Make a verdict of this kind on a packet, without the members that only the packet itself gives."""
    name, outcome, readings = key
    reason = "a field it needs was not decoded" if outcome is Outcome.INCONCLUSIVE else None
    return Verdict(name, outcome, of_frame(number), readings=readings, reason=reason, frame=number)
