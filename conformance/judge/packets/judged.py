"""The verdicts on a packet, of which passes are made only when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from conformance.verdict import Evidence, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a rule that applies to a packet. readings: the alternatives that it assumed."""

    rule: str
    requirement: str
    outcome: Outcome
    readings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What all rules say of a packet, in their order: one object for all packets of which they say the same.

    others: the places of outcomes other than pass. read: those of passes that assumed a reading.
    """

    told: tuple[Told, ...]
    others: tuple[int, ...]
    read: tuple[int, ...]

    @classmethod
    def of(cls, told: Sequence[Told]) -> Pattern:
        """Return the pattern of these results."""
        good = [one.outcome is Outcome.PASS for one in told]
        others = tuple(at for at, one in enumerate(good) if not one)
        return cls(tuple(told), others, tuple(at for at, one in enumerate(told) if good[at] and one.readings))


class Later(Mapping[int, Verdict]):
    """Verdicts by their place, each made when somebody asks for it. make: makes the one of a place."""

    __slots__ = ("_all", "_made", "_make", "_places")

    def __init__(self, places: tuple[int, ...], make: Callable[[int], Verdict]) -> None:
        self._places = places
        self._make: Callable[[int], Verdict] | None = make if places else None
        self._made: dict[int, Verdict] = {}
        self._all: list[Verdict] | None = None

    @property
    def all(self) -> list[Verdict]:
        """All verdicts, in the order of their places."""
        if self._all is None:
            self._all = [self[at] for at in self._places]
        return self._all

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __contains__(self, at: object) -> bool:
        return at in self._places

    def __getitem__(self, at: int) -> Verdict:
        found = self._made.get(at)
        if found is None:
            if at not in self._places:
                raise KeyError(at)
            assert self._make is not None
            found = self._made[at] = self._make(at)
            if len(self._made) == len(self._places):
                self._make = None  # with the packet that it keeps
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Sequence[Verdict]):
    """The verdicts on a packet. others: those other than pass, by their place. behind: verdicts that follow."""

    pattern: Pattern
    subject: str
    evidence: Evidence | None
    frame: int | None
    others: Later
    behind: tuple[Verdict, ...] = ()

    def __len__(self) -> int:
        return len(self.pattern.told) + len(self.behind)

    def __iter__(self) -> Iterator[Verdict]:
        for at in range(len(self.pattern.told)):
            yield self.at(at)
        yield from self.behind

    @overload
    def __getitem__(self, at: int) -> Verdict: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Verdict, ...]: ...
    def __getitem__(self, at: int | slice) -> Verdict | tuple[Verdict, ...]:
        if isinstance(at, int) and 0 <= at < len(self.pattern.told):
            return self.at(at)
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def deviating(self) -> list[Verdict]:
        """The verdicts other than pass."""
        return [*self.others.all, *(one for one in self.behind if one.outcome is not Outcome.PASS)]

    @property
    def passes(self) -> list[Verdict]:
        """The passes among the verdicts of the pattern."""
        return [self.at(at) for at in range(len(self.pattern.told)) if at not in self.others]

    @property
    def telling(self) -> list[Verdict]:
        """The verdicts that may show how the sender reads the documents: all but passes that assume no reading."""
        places = sorted((*self.pattern.others, *self.pattern.read))
        return [*map(self.at, places), *self.behind]

    def proven(self, evidence: Callable[[], Evidence]) -> Judged:
        """Return the same with this evidence of what is not pass."""
        others, found = self.others, list[Evidence]()

        def verdict(at: int) -> Verdict:
            if not found:
                found.append(evidence())
            return replace(others[at], evidence=found[0])

        return replace(self, others=Later(self.pattern.others, verdict))

    def followed_by(self, more: Sequence[Verdict]) -> Judged:
        """Return the same with more verdicts behind."""
        return replace(self, behind=(*self.behind, *more))

    def at(self, at: int) -> Verdict:
        """Return the verdict at a place of the pattern."""
        if at in self.others:
            return self.others[at]
        told = self.pattern.told[at]
        return Verdict(
            told.requirement, told.outcome, self.subject, readings=told.readings, evidence=self.evidence,
            rule=told.rule, frame=self.frame,
        )  # fmt: skip


def deviating(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts other than pass."""
    if isinstance(verdicts, Judged):
        return verdicts.deviating
    return [one for one in verdicts if one.outcome is not Outcome.PASS]
