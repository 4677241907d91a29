"""A whole run as read from its record: counts, what was left out, and verdicts that stand as recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct, convert
from msgspec.structs import asdict, astuple

from conformance.runlog.counts import Count, Incomplete, Tally
from conformance.runlog.events import CaptureLine, DriverEvent, Footer, Header, Note, PacketLine, RecordedVerdict, Story
from conformance.runlog.stored import StoredEvidence, Stories, Verdicts
from conformance.verdict import Evidence, Json, Outcome, worst


@dataclass(slots=True, eq=False)
class Said:
    """The summary of all verdicts with the same requirement, outcome, suite and readings (a *kind*).

    first: number of the first verdict. number: of the kind. seen: number of occurrences, repetitions included. lines:
    number of recorded verdicts. reason: the first that is given.
    """

    requirement: str
    outcome: Outcome
    suite: str
    readings: tuple[tuple[str, str], ...]
    provisional: bool
    first: int
    number: int
    seen: int = 0
    lines: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Run:
    """A whole run.

    hello: the implementation's latest answer to `hello`; hello_cut: part of it was too long to be recorded. verdicts,
    stories, packets, driver, notes: in the order of the record; each is read from its file when it is used. evidence:
    by id, read in the same way. said: summaries of the verdicts by kind, in the order of the first of each; kinds: the
    same in the order of their numbers. footer: the parts' footers rolled up (sums, worst stop reason, last end), None
    when any part lacks one. complete: every part exists and has its footer, and no line was cut; otherwise `problems`
    has one sentence about each missing thing. sealed: every line was checked against its checksum; False for records
    from before there were checksums. parts: the files read. tally: judgements by rule and phase of all parts; None when
    no part counts them, as in older records. took: milliseconds by test, as far as recorded. captures: the result of
    reading each, as far as recorded.
    """

    header: Header
    hello: Mapping[str, Json] | None
    verdicts: Verdicts
    said: tuple[Said, ...] = field(compare=False)
    kinds: tuple[Said, ...] = field(compare=False, repr=False)
    stories: Stories
    evidence: StoredEvidence
    packets: Sequence[PacketLine]
    driver: Sequence[DriverEvent]
    notes: Sequence[Note]
    footer: Footer | None
    complete: bool
    problems: tuple[str, ...]
    parts: tuple[Path, ...]
    sealed: bool = True
    tally: Tally | None = None
    took: Mapping[str, int] = field(default_factory=dict)
    captures: Sequence[CaptureLine] = ()
    hello_cut: bool = False

    def __repr__(self) -> str:
        counts = ", ".join(f"{number:,} {outcome.value}" for outcome, number in self.counts.items())
        of = self.header.connector or f"{len(self.header.captures)} captures"
        return f"<Run {self.header.run_id} of {of}: {counts or 'no verdict'}>"

    @property
    def incomplete(self) -> Incomplete:
        """The missing bytes of all captures."""
        return Incomplete.sum(capture.incomplete for capture in self.captures)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of verdicts by outcome, repetitions included, worst first; only outcomes that occurred."""
        seen: Counter[Outcome] = Counter()
        for said in self.said:
            seen[said.outcome] += said.seen
        return {outcome: seen[outcome] for outcome in Outcome if seen[outcome]}

    @property
    def worst(self) -> Outcome | None:
        """The worst outcome of all verdicts, None when there are none."""
        return worst(said.outcome for said in self.said)

    def numbered(self) -> Iterator[tuple[int, Said]]:
        """Yield the number of each verdict with its kind; `verdicts.at` returns the verdict of a number."""
        return ((number, self.kinds[kind]) for number, kind in self.verdicts.kinds())

    def first(self, said: Said) -> RecordedVerdict:
        """Return the first verdict of a kind."""
        return self.verdicts.at(said.first)

    def story(self, verdict: str) -> Story | None:
        """Return the story of the verdict with this id, None if it has none."""
        number = self.verdicts.named(verdict)
        story = None if number is None else self.stories.number(number)
        return None if story is None else self.stories.at(story)

    def evidence_of(self, kind: str) -> Iterator[Evidence]:
        """Yield the evidence of one kind."""
        return self.evidence.of_kind(kind)


KIND = "as-recorded"
"""The kind of the evidence event that lists them, once in a record of `judge`: `{"requirements": [id, ...]}`."""


def as_recorded(run: Run) -> int:
    """Return the number of requirements that `judge` kept as recorded; 0 for a record that names none."""
    named = next((item.data.get("requirements") for item in run.evidence_of(KIND)), None)
    return len(named) if isinstance(named, list) else 0


LIMITS = "limits"
"""The kind of the evidence events that hold them, one a worker."""
UNITS = {"bodies": "bytes", "labels of messages": "UTF-16 units", "labels of queues": "UTF-16 units"}
"""The kinds of values that have a limit, and the unit of their length."""


class Largest(Struct, frozen=True):
    """The longest values of a kind that a run sent: within a limit, above it. most: the limit, None for no limit."""

    within: int | None = None
    above: int | None = None
    most: int | None = None

    def sentence(self, kind: str) -> str:
        """`bodies: 4,000,000 of at most 4,000,000 bytes, and 4,000,001`."""
        unit, above = UNITS[kind], "" if self.above is None else f", and {self.above:,}"
        within = "none" if self.within is None else f"{self.within:,}"
        limit = (
            f"{within} {unit}, no limit declared" if self.most is None else f"{within} of at most {self.most:,} {unit}"
        )
        return f"{kind}: {limit}{above}"


def largest(run: Run) -> dict[str, Largest]:
    """Return the longest values that a run sent, by kind.

    Evidence that holds none is ignored, because a record is a file and may hold anything.
    """
    found: dict[str, Largest] = {}
    for item in run.evidence_of(LIMITS):
        for kind in UNITS:
            with suppress(ValueError):
                here = convert(item.data.get(kind), Largest)
                pairs = zip(astuple(here), astuple(found.get(kind, here)), strict=True)
                found[kind] = Largest(*(max((one for one in pair if one is not None), default=None) for pair in pairs))
    return found


def largest_in_words(run: Run) -> str:
    """Return the sentences of all kinds; empty for a run that sent nothing."""
    return "; ".join(one.sentence(kind) for kind, one in largest(run).items())


LEFT_OUT_TESTS = "left-out"
"""The kind of the evidence event that lists them, once per run."""
MAX_NAMED = 1_000  # tests listed by name in a record; all are counted


class LeftOut(Struct, frozen=True):
    """The tests that a run left out. reason: its stop reason. of: number of selected tests. tests: number not begun, by
    suite. cut: number ended early, by suite. named: some of both, by name."""

    reason: str = "unknown"
    of: int = 0
    tests: Mapping[str, Count] = {}
    cut: Mapping[str, Count] = {}
    named: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """`16 of 1,070 tests were left out and 1 was cut short (budget): suites quotas, restart.`"""
        whole, cut = sum(self.tests.values()), sum(self.cut.values())
        were = [f"{number:,} {'was' if number == 1 else 'were'} {what}" for number, what in _told(whole, cut)]
        first, *others = were
        number, _, rest = first.partition(" ")
        suites = sorted(self.tests.keys() | self.cut.keys())
        word = "suite" if len(suites) == 1 else "suites"
        parts = [f"{number} of {self.of:,} tests {rest}", *others]
        return f"{' and '.join(parts)} ({self.reason}): {word} {', '.join(suites)}."

    def to_json(self) -> dict[str, Json]:
        """Return the members for the record and for every JSON report."""
        return {**asdict(self), "sentence": self.sentence}


def _told(whole: int, cut: int) -> list[tuple[int, str]]:
    return [each for each in ((whole, "left out"), (cut, "cut short")) if each[0]]


def left_out(run: Run) -> LeftOut | None:
    """Return what a run left out; None for nothing, and for a record that does not say."""
    return next((from_json(item.data) for item in run.evidence_of(LEFT_OUT_TESTS)), None)


def from_json(data: Mapping[str, Json]) -> LeftOut | None:
    """The inverse of `LeftOut.to_json`; None for data without counts: a record is a file, and may hold anything."""
    try:
        found = convert(data, LeftOut)
    except ValueError:
        return None
    return found if found.tests or found.cut else None
