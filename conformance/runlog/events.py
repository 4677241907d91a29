"""The events of a run record: what each line of the NDJSON says, as frozen values.

`schema.json` beside this file is the published form of the same shapes. `FORMAT` changes when an old reader would
misread a new record; members and events that an old reader may ignore do not change it.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from conformance import __version__
from conformance.runlog.shapes import maybe_object, maybe_text, maybe_whole, number, text, whole
from conformance.verdict import Json, Outcome, Verdict

FORMAT = 1
MAX_LINE = 16 << 20
"""Bytes of one line. A driver may answer with 8 MiB of base64, which has to fit together with its call."""
MAX_RECORD = 512 << 20
"""Bytes of all parts of a record that a reader takes into memory."""

REFUTING = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
"""The outcomes that take the place of a provisional failure."""

STOP_REASONS = ("error", "driver-unusable", "interrupted", "max-failures", "budget", "completed")
"""Why a part ended, worst first: several parts roll up to the first of them in this order."""


class RunRecordError(Exception):
    """A run record cannot be written or read. `str(error)` is one sentence: what is wrong and what to do."""

    @property
    def sentence(self) -> str:
        """The sentence for the user."""
        return str(self)


def now() -> str:
    """The current time as RFC 3339 text in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def versions() -> dict[str, str]:
    """The versions a verdict may depend on, by name; a library that is not installed is left out."""
    from importlib import metadata  # takes longer to import than all of this package

    found = {"mqconform": __version__, "python": platform.python_version(), "platform": _platform()}
    for name in ("hypothesis", "lark", "pytest", "scapy"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _platform() -> str:
    """As `platform.platform()`, without the process that it starts on Linux to ask for the name of the processor."""
    if sys.platform != "linux":
        return platform.platform()
    library = "".join(platform.libc_ver())
    return "-".join(
        [platform.system(), platform.release(), platform.machine(), *(["with", library] if library else [])]
    )


@dataclass(frozen=True, slots=True)
class Header:
    """What was run. The first line of every part.

    started: RFC 3339. hello: the implementation's answer to `hello`, None while it has not been heard.
    readings: reading id to accepted alternatives, the default first. captures: the files of a replay.
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
    versions: Mapping[str, str] = field(default_factory=versions)
    started: str = field(default_factory=now)

    def to_json(self) -> dict[str, Json]:
        """The members of the header event."""
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
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Header:
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError for a value it could not have written."""
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
            versions={name: text(version) for name, version in value["versions"].items()},
            started=text(value["started"]),
        )


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """A verdict as it was recorded. id: unique in the run. count: how many times exactly this was seen.

    test: the node id of the test that judged, or the capture's path in a replay. provisional: a failure as it was first
    seen; it stands until the same test records a final one for the same requirement, with a shorter story.
    """

    id: str
    verdict: Verdict
    suite: str
    test: str
    count: int = 1
    epoch: int | None = None
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One numbered line of a story; the call and its answer beneath it, where the step was a call."""

    text: str
    call: Mapping[str, Json] | None = None
    answer: Mapping[str, Json] | None = None

    def to_json(self) -> dict[str, Json]:
        """The step as the record stores it; absent members are left out."""
        out: dict[str, Json] = {"text": self.text}
        if self.call is not None:
            out["call"] = dict(self.call)
        if self.answer is not None:
            out["answer"] = dict(self.answer)
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> StoryStep:
        """The inverse of `to_json`."""
        return cls(text(value["text"]), maybe_object(value.get("call")), maybe_object(value.get("answer")))


@dataclass(frozen=True, slots=True)
class Story:
    """How a failure came about. verdict: id of the recorded verdict. repro: path of the repro file, if one exists."""

    verdict: str
    steps: tuple[StoryStep, ...]
    repro: str | None = None


@dataclass(frozen=True, slots=True)
class PacketLine:
    """One packet of a replay.

    time: seconds since 1970, None when the capture has none. worst: roll-up of its verdicts, None when none was made.
    requirements: ids judged other than pass. capture: the file it stands in.
    """

    number: int
    time: float | None
    direction: str
    kind: str
    queue: str | None
    worst: Outcome | None
    requirements: tuple[str, ...] = ()
    capture: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The members of the packet event."""
        return {
            "number": self.number,
            "time": self.time,
            "direction": self.direction,
            "kind": self.kind,
            "queue": self.queue,
            "worst": None if self.worst is None else self.worst.value,
            "requirements": list(self.requirements),
            "capture": self.capture,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> PacketLine:
        """The inverse of `to_json`."""
        return cls(
            number=whole(value["number"]),
            time=None if value["time"] is None else number(value["time"]),
            direction=text(value["direction"]),
            kind=text(value["kind"]),
            queue=maybe_text(value["queue"]),
            worst=None if value["worst"] is None else Outcome(value["worst"]),
            requirements=tuple(map(text, value["requirements"])),
            capture=maybe_text(value["capture"]),
        )


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """Something that happened to the driver process. what: `crash`, `timeout`, `restart`, `stop` or `unusable`."""

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
    """How a part ended. Numbers count what this part did; a run's are their sums.

    counts: outcome name to verdicts seen, repetitions included. steps_per_second: None when no step was made.
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
            raise ValueError(f"{self.stop_reason} is no stop reason")

    def to_json(self) -> dict[str, Json]:
        """The members of the footer event."""
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
            steps_per_second=None if pace is None else number(pace),
            examples=whole(value["examples"]),
            ended=text(value["ended"]),
        )
