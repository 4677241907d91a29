"""The events of a run record as frozen values, one per line of the NDJSON, and how they are read from it."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from msgspec import Meta, Struct, convert, field
from msgspec.structs import astuple, replace

from conformance import __version__
from conformance.runlog.counts import COMPLETE, Count, Incomplete, Tally
from conformance.verdict import Evidence, Json, Outcome, Verdict

FORMAT = 1
MAX_LINE = 16 << 20
"""Bytes of the longest line that a reader accepts: as earlier versions wrote, and many times today's limit."""

CONSEQUENCE = "a consequence of"
"""How the reason of a verdict begins that was a failure until it was filed under a known deviation."""
REFERENCE_FAILS = "the reference fails this story too"
"""The reason of an error of the harness that would have been told as a failure."""
REFUTING = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
"""The outcomes that replace a provisional failure."""
OUTCOMES = frozenset(outcome.value for outcome in Outcome)


def replaces_provisional(verdict: Verdict) -> bool:
    """Tell whether a verdict is a final failure, or says what has become of one."""
    return verdict.outcome in REFUTING or (verdict.reason or "").startswith((CONSEQUENCE, REFERENCE_FAILS))


STOP_REASONS = ("error", "driver-unusable", "interrupted", "max-failures", "budget", "completed")
"""The reasons why a part ended, worst first: several parts are rolled up to the worst."""


class RunRecordError(Exception):
    """A run record cannot be written or read. `str(error)` is one sentence with the problem and the remedy."""

    @property
    def sentence(self) -> str:
        """The message for the user."""
        return str(self)


def now() -> str:
    """Return the current time as RFC 3339 text in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def versions() -> dict[str, str]:
    """Return the versions that a verdict may depend on, by name, without libraries that are not installed."""
    from importlib import metadata  # takes longer to import than all of this package

    found = {"mqconform": __version__, "python": platform.python_version(), "platform": _platform()}
    for name in ("hypothesis", "lark", "pytest", "scapy"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _platform() -> str:
    """Return `platform.platform()`, but on Linux without the process that it starts to find the processor's name."""
    if sys.platform != "linux":
        return platform.platform()
    library = "".join(platform.libc_ver())
    return "-".join(
        [platform.system(), platform.release(), platform.machine(), *(["with", library] if library else [])]
    )


Number = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number, neither infinite nor NaN."""


class Event(Struct, frozen=True):
    """The members of an event. LATER: those that the records of earlier versions lack."""

    LATER: ClassVar[frozenset[str]] = frozenset()

    def to_json(self) -> dict[str, Json]:
        """Return the members in the order of the record."""
        return dict(zip(self.__struct_encode_fields__, astuple(self), strict=True))

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Self:
        """The inverse of `to_json`. Raises ValueError that names the wrong member."""
        # Members have defaults for those who write them; in a record they are all there.
        for name in cls.__struct_encode_fields__:
            if name not in value and name not in cls.LATER:
                raise ValueError(f"Object missing required field `{name}`")
        return convert(value, cls)


class Header(Event, frozen=True):
    """The arguments and versions of a run: the first line of every part.

    started: RFC 3339. hello: the implementation's answer to `hello`, None before it has answered. readings: reading id
    to accepted alternatives, the default first. captures: the files of a replay. label: the user's name for the run,
    None if not given; earlier versions did not record it.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"label"})

    run_id: str
    started: str = field(default_factory=now)
    versions: Mapping[str, str] = field(default_factory=versions)
    command: tuple[str, ...] = ()
    connector: str | None = None
    seed: int | None = None
    profile: str | None = None
    level: str | None = None
    reading_set: str | None = None
    readings: Mapping[str, tuple[str, ...]] = {}
    suites: tuple[str, ...] = ()
    hello: Mapping[str, Json] | None = None
    captures: tuple[str, ...] = ()
    label: str | None = None


class Size(Struct, frozen=True):
    """The bytes of the whole of a value that was cut."""

    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A value of an event that was too long for a record. at: JSON pointer into the event.

    length, sha256: of the bytes of the whole value: UTF-8 of a text, the record's JSON of anything else.
    """

    at: str
    length: int
    sha256: str

    def __str__(self) -> str:
        return f"{self.at} ({self.length:,} bytes in all, sha256 {self.sha256[:16]})"


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """A verdict in a record. id: unique in the run. count: number of times that exactly this verdict was seen.

    test: the node id of the test that judged, or the capture's path in a replay. provisional: a failure before it is
    shrunk; it is valid until the same test records a final one, with a shorter story, for the same requirement, or one
    that `replaces` this requirement. cut: its values that were too long to be recorded.
    """

    id: str
    verdict: Verdict
    suite: str
    test: str
    count: int = 1
    epoch: int | None = None
    provisional: bool = False
    replaces: str | None = None
    cut: tuple[Cut, ...] = ()


class Told(NamedTuple):
    """The parts of one line of a story. asked: the call. came: its answer. ended: answers to earlier calls."""

    asked: str
    came: str | None = None
    ended: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line as one text."""
        return "; ".join((self.asked if self.came is None else f"{self.asked} -> {self.came}", *self.ended))

    @property
    def parts(self) -> tuple[str, ...]:
        """The call, then all answers; empty for a line that is not about a call."""
        came = (*(() if self.came is None else (self.came,)), *self.ended)
        return (self.asked, *came) if came else ()


class StoryStep(Struct, frozen=True):
    """One numbered line of a story, with the call and its answer if the step was a call.

    parts: those of `text`, as `Told.parts`.
    """

    text: str
    call: Mapping[str, Json] | None = None
    answer: Mapping[str, Json] | None = None
    parts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the step as the record stores it; absent members are left out."""
        out: dict[str, Json] = {"text": self.text, "parts": list(self.parts)}
        if self.call is not None:
            out["call"] = dict(self.call)
        if self.answer is not None:
            out["answer"] = dict(self.answer)
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> StoryStep:
        """The inverse of `to_json`."""
        step = convert(value, cls)
        return step if "parts" in value else replace(step, parts=parts_of_old_line(step.text))


def parts_of_old_line(line: str) -> tuple[str, ...]:
    """The parts of a line in a record or repro file of a version that stored the text alone."""
    asked, arrow, rest = line.partition(" -> ")
    before, *ended = (rest if arrow else asked).split("; the waiting ")
    came = [*([before] if arrow else []), *(f"the waiting {one}" for one in ended)]
    return (asked if arrow else before, *came) if came else ()


@dataclass(frozen=True, slots=True)
class Story:
    """The steps that led to a failure. verdict: id of the recorded verdict. repro: path of the repro file, if any.

    cut: its values that were too long to be recorded.
    """

    verdict: str
    steps: tuple[StoryStep, ...]
    repro: str | None = None
    cut: tuple[Cut, ...] = ()


class PacketLine(Event, frozen=True):
    """One packet of a replay.

    time: seconds since 1970, None when the capture has none. worst: roll-up of its verdicts, None when there are none.
    requirements: ids whose outcome is not pass. capture: the file that contains the packet. record, stream: the numbers
    that Wireshark gives the record that completes it, and its TCP stream; None when not known. hints: ids of publicly
    documented malformations that it looks like.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"record", "stream", "hints"})

    number: int
    time: Number | None
    direction: str
    kind: str
    queue: str | None
    worst: Outcome | None
    requirements: tuple[str, ...] = ()
    capture: str | None = None
    record: int | None = None
    stream: int | None = None
    hints: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the members of the packet event; no hints are left out."""
        found = super().to_json()
        return found if self.hints else {name: found[name] for name in found if name != "hints"}


class CaptureLine(Event, frozen=True, rename={"cut": "ends"}):
    """The result of reading one capture of a replay.

    lost_bytes: bytes of streams that belong to no packet. began_before, go_on: numbers of connections that began before
    the capture, and that continue after it. cut: where and how the file ends within a record. error: why the file could
    not be read.
    """

    path: str
    records: int = 0
    packets: int = 0
    lost_bytes: int = 0
    began_before: int = 0
    go_on: int = 0
    incomplete: Incomplete = COMPLETE
    cut: str | None = None
    error: str | None = None


class DriverEvent(Event, frozen=True):
    """An event in the life of the driver process.

    what: `crash`, `timeout`, `restart`, `stop`, `unusable`, or `outlived` for a process that the driver left running.
    """

    at: str
    what: str
    text: str
    epoch: int | None = None
    returncode: int | None = None
    stderr: str | None = None


class Note(Event, frozen=True, rename={"kind": "event"}):
    """A remark of the harness. kind: `note` or `progress`."""

    kind: str
    text: str
    at: str


class Footer(Event, frozen=True, kw_only=True):
    """The end of a part. Numbers count the work of this part; those of a run are the sums.

    counts: outcome name to number of verdicts, repetitions included. steps_per_second: None without any step.
    """

    ended: str = field(default_factory=now)
    stop_reason: str
    counts: Mapping[str, int] = {}
    requirements_judged: int = 0
    stateful_steps: int = 0
    steps_per_second: Number | None = None
    examples: int = 0

    def __post_init__(self) -> None:
        if self.stop_reason not in STOP_REASONS:
            raise ValueError(f"{self.stop_reason!r} is not a stop reason")
        if not self.counts.keys() <= OUTCOMES:
            raise ValueError("counts of an unknown outcome")


def _same(name: Any) -> Any:
    return name


@dataclass(frozen=True, slots=True)
class Names:
    """Functions that replace recorded names by today's names; unchanged names are returned as they are.

    requirement, rule: map an id. stored: maps a JSON value that contains ids of requirements.
    """

    requirement: Callable[[str], str] = _same
    rule: Callable[[str], str] = _same
    stored: Callable[[Json], Json] = _same


AS_WRITTEN: Names = Names()


class _Evidence(Struct):
    kind: str
    ref: str
    data: dict[str, Json] = {}


class _Verdict(Struct):
    """The members that `Verdict.to_json` writes."""

    requirement: str
    outcome: Outcome
    subject: str
    expected: Json = None
    actual: Json = None
    readings: dict[str, str] = {}
    reason: str | None = None
    evidence: _Evidence | None = None

    def value(self, *, cut: bool = False) -> Verdict:
        """Return the verdict. cut: its evidence was shortened."""
        readings, found = tuple(sorted(self.readings.items())), self.evidence
        evidence = None if found is None else Evidence(found.kind, found.ref, found.data, cut)
        return Verdict(
            self.requirement, self.outcome, self.subject, self.expected, self.actual, readings, self.reason, evidence
        )


class _VerdictLine(_Verdict, kw_only=True):
    """The members of a verdict event."""

    id: str
    suite: str
    test: str
    count: Count
    epoch: int | None = None
    provisional: bool = False
    replaces: str | None = None
    cut: dict[str, Size] = {}


def stored_verdict(value: Json) -> Verdict:
    """The inverse of `Verdict.to_json`. Raises ValueError that names the wrong member."""
    return convert(value, _Verdict).value()


def verdict_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> RecordedVerdict:
    """Decode a verdict event."""
    event = convert(value, _VerdictLine)
    event.requirement = names.requirement(event.requirement)
    cut = cuts_of(event.cut)
    return RecordedVerdict(
        id=event.id,
        verdict=event.value(cut=_within(cut, "/evidence")),
        suite=event.suite,
        test=event.test,
        count=event.count,
        epoch=event.epoch,
        provisional=event.provisional,
        replaces=None if event.replaces is None else names.requirement(event.replaces),
        cut=cut,
    )


class _Stored(Struct):
    """The members of an evidence event."""

    id: str
    kind: str
    data: dict[str, Json]
    cut: dict[str, Size] = {}


def evidence_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> Evidence:
    """Decode an evidence event."""
    event = convert(value, _Stored)
    return Evidence(event.kind, event.id, names.stored(event.data), _within(cuts_of(event.cut), "/data"))


def packet_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> PacketLine:
    """Decode a packet event."""
    packet = PacketLine.from_json(value)
    requirements = tuple(map(names.requirement, packet.requirements))
    return packet if requirements == packet.requirements else replace(packet, requirements=requirements)


def tally_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> Tally:
    """Decode a tally event."""
    tally = Tally.from_json(value)
    rules: Counter[str] = Counter()
    for rule, number in tally.rules.items():
        rules[names.rule(rule)] += number
    return Tally(rules, tally.phases)


class _Story(Struct):
    """The members of a story event."""

    verdict: str
    steps: list[dict[str, Json]]
    repro: str | None
    cut: dict[str, Size] = {}


def story_of(value: Mapping[str, Json]) -> Story:
    """Decode a story event."""
    event = convert(value, _Story)
    return Story(event.verdict, tuple(map(StoryStep.from_json, event.steps)), event.repro, cuts_of(event.cut))


class Hello(Struct):
    """The members of a hello event."""

    hello: dict[str, Json]
    cut: dict[str, Size] = {}


class Captures(Struct):
    """The members of a captures event."""

    captures: tuple[str, ...]


class Took(Struct):
    """The members of a took event: milliseconds by test."""

    tests: dict[str, Annotated[int, Meta(ge=0)]]


class FirstLine(Struct):
    """The members of a header event that are about its part."""

    worker: str
    format: Json
    sealed: Json = None


class LastLine(Struct):
    """The members of a footer event that are about its part. lines: None in a part without seals."""

    lines: int | None = None
    parts: tuple[str, ...] = ()


def cuts_of(cuts: Mapping[str, Size]) -> tuple[Cut, ...]:
    """Return the cuts that were made when an event was written."""
    return tuple(Cut(at, size.length, size.sha256) for at, size in cuts.items())


def _within(cuts: tuple[Cut, ...], member: str) -> bool:
    return any(cut.at == member or cut.at.startswith(f"{member}/") for cut in cuts)
