"""Reads a run record line by line: all parts of a folder, or one file, merged into one value.

A part without a footer, or with an incomplete last line, is read as far as it goes and the run is marked incomplete; so
is a run that lacks a part. Any other file that is not a record, and any changed line, is refused with one sentence: a
report made from half of a damaged file would look like a complete one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from sys import intern
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from conformance.runlog.counts import Tally
from conformance.runlog.events import (
    AS_WRITTEN,
    FORMAT,
    REFUTING,
    STOP_REASONS,
    CaptureLine,
    Captures,
    DriverEvent,
    FirstLine,
    Footer,
    Header,
    Hello,
    LastLine,
    Names,
    Note,
    PacketLine,
    RecordedVerdict,
    RunRecordError,
    Took,
    evidence_of,
    packet_of,
    replaces_provisional,
    story_of,
    tally_of,
    verdict_of,
)
from conformance.runlog.run import Run, Said
from conformance.runlog.stored import Files, Room, Stored, StoredEvidence, Stories, Verdicts
from conformance.runlog.writer import SEALED_BY, Chain, Line, is_sealed, lines, parsed
from conformance.suggest import near_file
from conformance.verdict import Json, Outcome

MAX_GATHERED = 100_000
"""Distinct verdicts of a part whose repetitions are added to the first; repetitions of further ones stay separate."""
MAX_WHY = 200
"""Characters of a sentence about a damaged line, which may quote it."""


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one event."""
    text = resources.files("conformance.runlog").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def read_run(path: Path, names: Names = AS_WRITTEN) -> Run:
    """Read the run in a folder (all its `run-*.ndjson`) or in a file. names: maps recorded names to today's.

    Large values stay in the files, which are open as long as the run is in use.

    Raises RunRecordError, one sentence, when there is no record, a file cannot be read, is not a record or is damaged
    anywhere but at the end of a part, or the parts come from different runs.
    """
    path = Path(path)
    files = _files(path)
    reading = _Reading(names)
    parts = [reading.part(file) for file in files]
    headed = [part for part in parts if part.header is not None]
    if not headed:
        raise RunRecordError(f"{path} holds no run record: it ends before the header.")
    # The header of the main process is that of the run; its workers repeat it.
    first = min(headed, key=lambda part: (part.worker != "main", part.worker))
    header = first.header
    assert header is not None
    strangers = sorted({part.file.name for part in headed if part.header and part.header.run_id != header.run_id})
    if strangers:
        raise RunRecordError(
            f"{path} holds parts of different runs ({first.file.name}, {', '.join(strangers)}); read them one by one."
        )
    problems = [problem for part in parts if (problem := part.problem)]
    if path.is_dir():
        problems += _missing(first, parts)
    return reading.merged(header, parts, problems)


@dataclass(slots=True)
class _Part:
    """One file, without the values that stay in it. chain: its checksum so far, None for a file without seals."""

    file: Path
    worker: str = ""
    header: Header | None = None
    footer: Footer | None = None
    names: tuple[str, ...] = ()  # of all parts, if the footer lists them
    chain: Chain | None = None
    cut: bool = False

    @property
    def problem(self) -> str | None:
        """A message about the missing part of the file; None when nothing is missing."""
        if self.header is None:
            return f"{self.file.name} ends before its header: its writer was stopped at once."
        if self.cut:
            return f"{self.file.name} ends in the middle of a line: its writer was stopped."
        if self.footer is None:
            return f"{self.file.name} has no footer: its writer was stopped before the end."
        return None


def _missing(first: _Part, parts: Iterable[_Part]) -> list[str]:
    """Return a message for each part that the footer lists and that is missing. Records without seals list none."""
    if first.chain is None:
        return []
    there = {part.file.name for part in parts}
    due = ("main", *first.names)
    missing = [name for worker in due if (name := f"run-{worker}.ndjson") not in there]
    return [f"{name} is missing: a part of the run record was removed, or not copied." for name in missing]


class _Reading:
    """The content of all parts read so far."""

    def __init__(self, names: Names) -> None:
        self._files, room = Files(), Room()
        self._names = names
        self._verdicts = Verdicts(self._files, room, partial(verdict_of, names=names))
        self._stories = Stories(self._files, room, story_of)
        self._evidence = StoredEvidence(Stored(self._files, room, partial(evidence_of, names=names)))
        self._packets: Stored[PacketLine] = Stored(self._files, room, partial(packet_of, names=names))
        self._captures: Stored[CaptureLine] = Stored(self._files, room, CaptureLine.from_json)
        self._driver: Stored[DriverEvent] = Stored(self._files, room, DriverEvent.from_json)
        self._notes: Stored[Note] = Stored(self._files, room, Note.from_json)
        self._hello: Mapping[str, Json] | None = None
        self._hello_cut = False
        self._tally: Tally | None = None
        self._took: Counter[str] = Counter()
        self._kinds: dict[Hashable, Said] = {}
        self._gone: set[int] = set()
        self._untold: set[int] = set()
        self._number = 0  # of the part
        self._gathered: dict[Hashable, int] = {}  # of this part
        self._pending: dict[tuple[str, str], list[tuple[int, RecordedVerdict]]] = {}  # of this part

    def part(self, file: Path) -> _Part:
        """Read one file. Raises RunRecordError."""
        part = _Part(file)
        self._number = self._files.add(file)
        for line in lines(file):
            if not self._line(part, line):
                break
        for waiting in self._pending.values():
            for number, recorded in waiting:
                self._count(number, recorded)
        self._pending, self._gathered = {}, {}
        return part

    def _line(self, part: _Part, line: Line) -> bool:
        """Add one line. Returns False when the part ends in the middle of it."""
        if part.chain is None and not line.text.strip():
            return True
        try:
            if part.chain is not None:
                if not line.ended:
                    raise ValueError("a line without its end")
                part.chain = part.chain.checked(line.text)
            event = parsed(line.text)
            kind = str(event.get("event"))
            if part.header is None:
                self._head(part, line, kind, event)
            elif part.footer is not None:
                raise ValueError("something follows the footer")
            elif kind == "footer":
                _foot(part, line, event)
            elif kind == "captures":
                captures = part.header.captures + convert(event, Captures).captures
                part.header = replace(part.header, captures=captures)
            elif kind in _HANDLERS:
                _HANDLERS[kind](self, line, event)
        except (ValueError, RecursionError) as error:
            # Only an unfinished last line may be unreadable: its writer was stopped in the middle.
            if not line.ended and (part.header is not None or line.text.startswith(_HEADER_BEGINS)):
                part.cut = True
                return False
            if part.header is None:
                raise RunRecordError(f"{part.file} is not a run record: its first line is not a header.") from error
            raise _damaged(part.file, line, error) from error
        return True

    def _head(self, part: _Part, line: Line, kind: str, event: Mapping[str, Json]) -> None:
        if kind != "header":
            raise ValueError("the first event is not a header")
        found = convert(event, FirstLine)
        if found.format != FORMAT:
            raise RunRecordError(
                f"{part.file} has format {found.format!r}, this version reads {FORMAT}; "
                "use the mqconform that wrote it."
            )
        header = Header.from_json(event)
        # Either sign of a seal is enough: if one is lost, the other shows it.
        if "sealed" in event or is_sealed(line.text):
            try:
                part.chain = Chain().checked(line.text)
            except ValueError as error:
                if line.ended:
                    raise _damaged(part.file, line, error) from None
                raise
            if found.sealed != SEALED_BY:
                raise RunRecordError(
                    f"{part.file} has checksums of a kind that this version does not know; "
                    "use the mqconform that wrote it."
                )
        part.worker, part.header = found.worker, header
        self._verdicts.begin(found.worker)

    def verdict(self, line: Line, value: Mapping[str, Json]) -> None:
        recorded = verdict_of(value, self._names)
        said = recorded.verdict
        refutes = said.outcome in REFUTING
        gather = None
        if not refutes and not recorded.provisional:
            what = (said.requirement, said.subject, said.outcome, said.readings, said.reason)
            gather = (recorded.suite, recorded.test, *what)
            first = self._gathered.get(gather)
            if first is not None:
                self._verdicts.seen(first, recorded.count)
                self._count(first, recorded, again=True)
                return
        number = self._verdicts.append(self._number, line, recorded)
        if gather is not None and len(self._gathered) < MAX_GATHERED:
            self._gathered[gather] = number
        key = (recorded.test, said.requirement)
        if replaces_provisional(said):
            self._gone.update(gone for gone, _ in self._pending.pop(key, ()))
            if recorded.replaces is not None:
                self._gone.update(gone for gone, _ in self._pending.pop((recorded.test, recorded.replaces), ()))
        if recorded.provisional:
            self._pending.setdefault(key, []).append((number, recorded))
        else:
            self._count(number, recorded)

    def _count(self, number: int, recorded: RecordedVerdict, *, again: bool = False) -> None:
        said = recorded.verdict
        key = (said.requirement, said.outcome, recorded.suite, said.readings, recorded.provisional)
        kind = self._kinds.get(key)
        if kind is None:
            names = (intern(said.requirement), said.outcome, intern(recorded.suite))
            kind = self._kinds[key] = Said(*names, said.readings, recorded.provisional, number, len(self._kinds))
        if not again:
            self._verdicts.mark(number, kind.number)
        kind.first = min(kind.first, number)
        kind.seen += recorded.count
        kind.lines += not again
        kind.reason = kind.reason or said.reason

    def story(self, line: Line, value: Mapping[str, Json]) -> None:
        story = story_of(value)
        self._stories.append(self._number, line, story, self._verdicts.named(story.verdict))

    def evidence(self, line: Line, value: Mapping[str, Json]) -> None:
        self._evidence.append(self._number, line, evidence_of(value, self._names))

    def packet(self, line: Line, value: Mapping[str, Json]) -> None:
        self._packets.add(self._number, line, packet_of(value, self._names))

    def capture(self, line: Line, value: Mapping[str, Json]) -> None:
        self._captures.add(self._number, line, CaptureLine.from_json(value))

    def driver(self, line: Line, value: Mapping[str, Json]) -> None:
        self._driver.add(self._number, line, DriverEvent.from_json(value))

    def note(self, line: Line, value: Mapping[str, Json]) -> None:
        self._notes.add(self._number, line, Note.from_json(value))

    def hello(self, line: Line, value: Mapping[str, Json]) -> None:
        found = convert(value, Hello)
        self._hello, self._hello_cut = found.hello, bool(found.cut)

    def tally(self, line: Line, value: Mapping[str, Json]) -> None:
        tally = tally_of(value, self._names)
        if self._tally is None:
            self._tally = Tally()
        self._tally.add(tally)

    def took(self, line: Line, value: Mapping[str, Json]) -> None:
        self._took.update(convert(value, Took).tests)

    def merged(self, header: Header, parts: list[_Part], problems: list[str]) -> Run:
        """Return the run of these parts. problems: messages about what is missing."""
        self._verdicts.without(self._gone)
        self._stories.without({story for gone in self._gone if (story := self._stories.number(gone)) is not None})
        kinds = tuple(sorted(self._kinds.values(), key=lambda said: said.first))
        return Run(
            header=header,
            hello=self._hello if self._hello is not None else header.hello,
            verdicts=self._verdicts,
            said=kinds,
            kinds=tuple(self._kinds.values()),
            stories=self._stories,
            evidence=self._evidence,
            packets=self._packets,
            driver=self._driver,
            notes=self._notes,
            footer=None if problems else _roll_up(parts, kinds),
            complete=not problems,
            problems=tuple(problems),
            parts=tuple(part.file for part in parts),
            sealed=all(part.chain is not None for part in parts if part.header is not None),
            tally=self._tally,
            took=dict(self._took),
            captures=self._captures,
            hello_cut=self._hello_cut,
        )


# Other events are of a later version and are ignored: a later version that forbids this changes the header's format.
_HANDLERS: Mapping[str, Callable[[_Reading, Line, Mapping[str, Json]], None]] = {
    "hello": _Reading.hello,
    "verdict": _Reading.verdict,
    "evidence": _Reading.evidence,
    "story": _Reading.story,
    "packet": _Reading.packet,
    "capture": _Reading.capture,
    "progress": _Reading.note,
    "note": _Reading.note,
    "driver": _Reading.driver,
    "tally": _Reading.tally,
    "took": _Reading.took,
}


_HEADER_BEGINS = b'{"event":"header",'


def _foot(part: _Part, line: Line, event: Mapping[str, Json]) -> None:
    found = convert(event, LastLine)
    if part.chain is not None and found.lines != line.number:
        raise ValueError("not as many lines as were written")
    part.names = found.parts
    part.footer = Footer.from_json(event)


def _damaged(file: Path, line: Line, error: Exception) -> RunRecordError:
    why = "".join(filter(str.isprintable, getattr(error, "msg", str(error))))[:MAX_WHY]
    before = f", or read what came before it: head -n {line.number - 1}" if line.number > 1 else ""
    return RunRecordError(f"The run record {file} is damaged in line {line.number} ({why}); use a copy of it{before}.")


def _files(path: Path) -> list[Path]:
    try:
        if not path.exists():
            raise RunRecordError(f"There is no run record at {path}{near_file(path)}")
        files = sorted(path.glob("run-*.ndjson")) if path.is_dir() else [path]
        for file in files:
            if not file.is_file():
                raise RunRecordError(f"{file} is not a file and so no run record.")
    except (OSError, ValueError) as error:
        raise RunRecordError(f"The run record {path} cannot be read ({error}).") from None
    if not files:
        raise RunRecordError(f"The folder {path} holds no run record (no run-*.ndjson).")
    return files


def _roll_up(parts: Iterable[_Part], said: Iterable[Said]) -> Footer:
    footers = [part.footer for part in parts if part.footer is not None]
    counts: Counter[str] = Counter()
    for footer in footers:
        counts.update(footer.counts)
    paces = [footer.steps_per_second for footer in footers if footer.steps_per_second is not None]
    return Footer(
        stop_reason=min((footer.stop_reason for footer in footers), key=STOP_REASONS.index),
        counts={outcome.value: counts[outcome.value] for outcome in Outcome if counts[outcome.value]},
        requirements_judged=len({kind.requirement for kind in said}),
        stateful_steps=sum(footer.stateful_steps for footer in footers),
        # Workers run side by side: their paces add up.
        steps_per_second=sum(paces) if paces else None,
        examples=sum(footer.examples for footer in footers),
        ended=max(footer.ended for footer in footers),
    )
