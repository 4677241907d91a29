"""The events of a run record as frozen values, one per line of the NDJSON, and how they are read from it."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from conformance import __version__
from conformance.runlog.counts import COMPLETE, Incomplete, Tally
from conformance.runlog.cutting import json_object, maybe_object, maybe_text, maybe_whole, number_of, text, whole
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


@dataclass(frozen=True, slots=True)
class Header:
    """The arguments and versions of a run: the first line of every part.

    started: RFC 3339. hello: the implementation's answer to `hello`, None before it has answered. readings: reading id
    to accepted alternatives, the default first. captures: the files of a replay. label: the user's name for the run,
    None if not given; earlier versions did not record it.
    """

    run_id: str
    command: tuple[str, ...] = ()
    connector: str | None = None
    seed: int | None = None
    profile: str | None = None
    level: str | None = None
    reading_set: str | None = None
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suites: tuple[str, ...] = ()
    hello: Mapping[str, Json] | None = None
    captures: tuple[str, ...] = ()
    label: str | None = None
    versions: Mapping[str, str] = field(default_factory=versions)
    started: str = field(default_factory=now)

    def to_json(self) -> dict[str, Json]:
        """Return the members of the header event."""
        return {
            "run_id": self.run_id,
            "started": self.started,
            "versions": dict(self.versions),
            "command": list(self.command),
            "connector": self.connector,
            "seed": self.seed,
            "profile": self.profile,
            "level": self.level,
            "reading_set": self.reading_set,
            "readings": {name: list(chosen) for name, chosen in self.readings.items()},
            "suites": list(self.suites),
            "hello": None if self.hello is None else dict(self.hello),
            "captures": list(self.captures),
            "label": self.label,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Header:
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError for a value that it does not write."""
        return cls(
            run_id=text(value["run_id"]),
            command=tuple(map(text, value["command"])),
            connector=maybe_text(value["connector"]),
            seed=maybe_whole(value["seed"]),
            profile=maybe_text(value["profile"]),
            level=maybe_text(value["level"]),
            reading_set=maybe_text(value["reading_set"]),
            readings={name: tuple(map(text, chosen)) for name, chosen in value["readings"].items()},
            suites=tuple(map(text, value["suites"])),
            hello=maybe_object(value["hello"]),
            captures=tuple(map(text, value["captures"])),
            label=maybe_text(value.get("label")),
            versions={name: text(version) for name, version in value["versions"].items()},
            started=text(value["started"]),
        )


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


@dataclass(frozen=True, slots=True)
class StoryStep:
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
        line = text(value["text"])
        parts = tuple(map(text, value["parts"])) if "parts" in value else parts_of_old_line(line)
        return cls(line, maybe_object(value.get("call")), maybe_object(value.get("answer")), parts)


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


@dataclass(frozen=True, slots=True)
class PacketLine:
    """One packet of a replay.

    time: seconds since 1970, None when the capture has none. worst: roll-up of its verdicts, None when there are none.
    requirements: ids whose outcome is not pass. capture: the file that contains the packet. record, stream: the numbers
    that Wireshark gives the record that completes it, and its TCP stream; None when not known. hints: ids of publicly
    documented malformations that it looks like.
    """

    number: int
    time: float | None
    direction: str
    kind: str
    queue: str | None
    worst: Outcome | None
    requirements: tuple[str, ...] = ()
    capture: str | None = None
    record: int | None = None
    stream: int | None = field(default=None, compare=False)
    hints: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the members of the packet event; no hints are left out."""
        return {
            "number": self.number,
            "time": self.time,
            "direction": self.direction,
            "kind": self.kind,
            "queue": self.queue,
            "worst": None if self.worst is None else self.worst.value,
            "requirements": list(self.requirements),
            "capture": self.capture,
            "record": self.record,
            "stream": self.stream,
            **({"hints": list(self.hints)} if self.hints else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> PacketLine:
        """The inverse of `to_json`."""
        return cls(
            number=whole(value["number"]),
            time=None if value["time"] is None else number_of(value["time"]),
            direction=text(value["direction"]),
            kind=text(value["kind"]),
            queue=maybe_text(value["queue"]),
            worst=None if value["worst"] is None else Outcome(value["worst"]),
            requirements=tuple(map(text, value["requirements"])),
            capture=maybe_text(value["capture"]),
            record=maybe_whole(value.get("record")),
            stream=maybe_whole(value.get("stream")),
            hints=tuple(map(text, value.get("hints", ()))),
        )


@dataclass(frozen=True, slots=True)
class CaptureLine:
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

    def to_json(self) -> dict[str, Json]:
        """Return the members of the capture event."""
        return {
            "path": self.path,
            "records": self.records,
            "packets": self.packets,
            "lost_bytes": self.lost_bytes,
            "began_before": self.began_before,
            "go_on": self.go_on,
            "incomplete": self.incomplete.to_json(),
            "ends": self.cut,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> CaptureLine:
        """The inverse of `to_json`."""
        return cls(
            text(value["path"]),
            whole(value["records"]),
            whole(value["packets"]),
            whole(value["lost_bytes"]),
            whole(value["began_before"]),
            whole(value["go_on"]),
            Incomplete.from_json(json_object(value["incomplete"])),
            maybe_text(value["ends"]),
            maybe_text(value["error"]),
        )


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """An event in the life of the driver process.

    what: `crash`, `timeout`, `restart`, `stop`, `unusable`, or `outlived` for a process that the driver left running.
    """

    what: str
    text: str
    at: str
    epoch: int | None = None
    returncode: int | None = None
    stderr: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of the harness. kind: `note` or `progress`."""

    kind: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Footer:
    """The end of a part. Numbers count the work of this part; those of a run are the sums.

    counts: outcome name to number of verdicts, repetitions included. steps_per_second: None without any step.
    """

    stop_reason: str
    counts: Mapping[str, int] = field(default_factory=dict)
    requirements_judged: int = 0
    stateful_steps: int = 0
    steps_per_second: float | None = None
    examples: int = 0
    ended: str = field(default_factory=now)

    def __post_init__(self) -> None:
        if self.stop_reason not in STOP_REASONS:
            raise ValueError(f"{self.stop_reason} is not a stop reason")

    def to_json(self) -> dict[str, Json]:
        """Return the members of the footer event."""
        return {
            "ended": self.ended,
            "stop_reason": self.stop_reason,
            "counts": dict(self.counts),
            "requirements_judged": self.requirements_judged,
            "stateful_steps": self.stateful_steps,
            "steps_per_second": self.steps_per_second,
            "examples": self.examples,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Footer:
        """The inverse of `to_json`."""
        pace = value["steps_per_second"]
        return cls(
            stop_reason=text(value["stop_reason"]),
            counts={Outcome(name).value: whole(seen) for name, seen in value["counts"].items()},
            requirements_judged=whole(value["requirements_judged"]),
            stateful_steps=whole(value["stateful_steps"]),
            steps_per_second=None if pace is None else number_of(pace),
            examples=whole(value["examples"]),
            ended=text(value["ended"]),
        )


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


def verdict_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> RecordedVerdict:
    """Decode a verdict event."""
    if whole(value["count"]) < 1:
        raise ValueError("a verdict seen less than once")
    for member in ("requirement", "subject", "suite", "test", "id"):
        text(value[member])
    name = names.requirement(value["requirement"])
    if name != value["requirement"]:
        value = {**value, "requirement": name}
    maybe_text(value.get("reason"))
    replaces = maybe_text(value.get("replaces"))
    for chosen in json_object(value.get("readings", {})).values():
        text(chosen)
    evidence = maybe_object(value.get("evidence"))
    if evidence is not None:
        text(evidence["kind"])
        text(evidence["ref"])
        json_object(evidence["data"])
    cut = cuts_of(value)
    return RecordedVerdict(
        id=value["id"],
        verdict=Verdict.from_json(value, cut=_within(cut, "/evidence")),
        suite=value["suite"],
        test=value["test"],
        count=value["count"],
        epoch=maybe_whole(value.get("epoch")),
        provisional=value.get("provisional") is True,
        replaces=None if replaces is None else names.requirement(replaces),
        cut=cut,
    )


def evidence_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> Evidence:
    """Decode an evidence event."""
    data = names.stored(json_object(value["data"]))
    return Evidence(text(value["kind"]), text(value["id"]), data, _within(cuts_of(value), "/data"))


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


def story_of(value: Mapping[str, Json]) -> Story:
    """Decode a story event."""
    steps = tuple(StoryStep.from_json(step) for step in value["steps"])
    return Story(text(value["verdict"]), steps, maybe_text(value["repro"]), cuts_of(value))


def capture_of(value: Mapping[str, Json]) -> CaptureLine:
    """Decode a capture event."""
    return CaptureLine.from_json(value)


def driver_of(value: Mapping[str, Json]) -> DriverEvent:
    """Decode a driver event."""
    return DriverEvent(
        what=text(value["what"]),
        text=text(value["text"]),
        at=text(value["at"]),
        epoch=maybe_whole(value["epoch"]),
        returncode=maybe_whole(value["returncode"]),
        stderr=maybe_text(value["stderr"]),
    )


def note_of(value: Mapping[str, Json]) -> Note:
    """Decode a note or progress event."""
    return Note(text(value["event"]), text(value["text"]), text(value["at"]))


def cuts_of(value: Mapping[str, Json]) -> tuple[Cut, ...]:
    """Return the cuts that were made when an event was written."""
    if "cut" not in value:
        return ()
    cuts = json_object(value["cut"]).items()
    return tuple(Cut(text(at), whole(each["length"]), text(each["sha256"])) for at, each in cuts)


def _within(cuts: tuple[Cut, ...], member: str) -> bool:
    return any(cut.at == member or cut.at.startswith(f"{member}/") for cut in cuts)
