"""Counts in a run record: judgements by rule and phase, and bytes that captures announce but lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta, Struct, convert, structs

from conformance.verdict import ExitCode, Json, Outcome, Verdict

NO_JUDGEMENT = frozenset({Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that say nothing about the implementation."""


Count = Annotated[int, Meta(ge=1)]


class _Counts(Struct):
    """The members of the tally event."""

    rules: dict[str, Count]
    phases: dict[str, dict[str, Count]]


@dataclass(slots=True)
class Tally:
    """Numbers of judgements. rules: by rule id. phases: by (suite, phase). Every number is at least 1."""

    rules: Counter[str] = field(default_factory=Counter)
    phases: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.rules or self.phases)

    def count(self, verdicts: Iterable[Verdict], suite: str, phase: str, times: int = 1) -> None:
        """Count verdicts, without those whose outcome is in NO_JUDGEMENT. phase: used if a verdict has none."""
        for verdict in verdicts:
            if verdict.outcome not in NO_JUDGEMENT:
                self.phases[suite, verdict.phase or phase] += times
                if verdict.rule is not None:
                    self.rules[verdict.rule] += times

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.rules.update(other.rules)
        self.phases.update(other.phases)

    def to_json(self) -> dict[str, Json]:
        """Return the members of the tally event, sorted by name."""
        phases: dict[str, dict[str, int]] = {}
        for (suite, phase), number in sorted(self.phases.items()):
            phases.setdefault(suite, {})[phase] = number
        return {"rules": dict(sorted(self.rules.items())), "phases": phases}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Tally:
        """The inverse of `to_json`. Raises ValueError that names the wrong member."""
        counts = convert(value, _Counts)
        phases = {(suite, phase): number for suite, each in counts.phases.items() for phase, number in each.items()}
        return cls(Counter(counts.rules), Counter(phases))


class Incomplete(Struct, frozen=True):
    """The bytes that a capture file, or a stream in it, announces but lacks. False when there are none.

    passed_over: bytes of files that were skipped because they make no sense. cut: files that end within a record, or in
    a part that cannot be unpacked. short, short_bytes: records with MSMQ that were captured in part, and their missing
    bytes. gaps, gap_bytes: places in TCP streams where bytes are missing, and these bytes. stray: bytes of streams that
    were skipped to find the next packet. unfinished: packets in the middle of which the sender closed the connection,
    or it was reset or replaced.
    """

    passed_over: int = 0
    cut: int = 0
    short: int = 0
    short_bytes: int = 0
    gaps: int = 0
    gap_bytes: int = 0
    stray: int = 0
    unfinished: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in COUNTS)

    def __add__(self, other: Incomplete) -> Incomplete:
        return Incomplete(*(getattr(self, name) + getattr(other, name) for name in COUNTS))

    @classmethod
    def sum(cls, each: Iterable[Incomplete]) -> Incomplete:
        """Return the sums of all counts."""
        return sum(each, cls())

    @property
    def words(self) -> str:
        """The counts that are not 0, as a list in words; empty when nothing is missing."""
        return ", ".join(
            words
            for count, words in (
                (self.passed_over, f"{counted(self.passed_over, 'byte')} of the file passed over"),
                (self.cut, f"{counted(self.cut, 'file')} cut at the end"),
                (self.short, f"{counted(self.short, 'record')} captured in part ({self.short_bytes:,} bytes missing)"),
                (self.gaps, f"{counted(self.gaps, 'gap')} in TCP streams ({counted(self.gap_bytes, 'byte')})"),
                (self.stray, f"{counted(self.stray, 'byte')} of streams passed over"),
                (self.unfinished, f"{counted(self.unfinished, 'packet')} without an end"),
            )
            if count
        )

    @property
    def sentence(self) -> str:
        """The closing line `Incomplete: ...`; empty when nothing is missing."""
        return f"Incomplete: {self.words}." if self else ""

    def exit_code(self, code: ExitCode, *, allowed: bool = False) -> ExitCode:
        """Return BAD_INPUT in place of CONFORMS and NOTHING_JUDGED for incomplete captures, unless they are allowed."""
        unsaid = code in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED)
        return ExitCode.BAD_INPUT if self and unsaid and not allowed else code

    def to_json(self) -> dict[str, Json]:
        """Return all counts by name."""
        return structs.asdict(self)


COUNTS = Incomplete.__struct_fields__
"""The names of the counts."""
COMPLETE = Incomplete()
"""Nothing is missing."""


def counted(number: int, noun: str) -> str:
    """Return `1 reading` or `2 readings`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
