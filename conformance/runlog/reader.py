"""Reads a run record back: all parts of a folder, or one file, merged into one value.

A part that lacks its footer, or whose last line was cut, is read as far as it goes and the run is marked incomplete.
Anything else that is not a record is refused with one sentence: a report made from half of a damaged file would
look like a report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from conformance.runlog.events import (
    FORMAT,
    MAX_LINE,
    MAX_RECORD,
    REFUTING,
    STOP_REASONS,
    DriverEvent,
    Footer,
    Header,
    Note,
    PacketLine,
    RecordedVerdict,
    RunRecordError,
    Story,
    StoryStep,
)
from conformance.runlog.shapes import json_object, maybe_object, maybe_text, maybe_whole, text, whole
from conformance.runlog.tally import Tally
from conformance.verdict import Evidence, Json, Outcome, Verdict, worst


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Run:
    """A whole run.

    hello: the latest introduction of the implementation. evidence: by id. footer: the parts' footers rolled up (sums,
    worst stop reason, last end), None when any part lacks one. complete: every part has its footer and no line was
    cut; otherwise `problems` says, one sentence each, what is missing. parts: the files read. tally: judgements by
    rule and phase, of all parts; None when no part counts them, as before there was such an event. took: milliseconds
    by test, where they are told.
    """

    header: Header
    hello: Mapping[str, Json] | None
    verdicts: tuple[RecordedVerdict, ...]
    stories: tuple[Story, ...]
    evidence: Mapping[str, Evidence]
    packets: tuple[PacketLine, ...]
    driver: tuple[DriverEvent, ...]
    notes: tuple[Note, ...]
    footer: Footer | None
    complete: bool
    problems: tuple[str, ...]
    parts: tuple[Path, ...]
    tally: Tally | None = None
    took: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Verdicts by outcome, repetitions included, worst outcome first, only those that occurred."""
        seen: Counter[Outcome] = Counter()
        for recorded in self.verdicts:
            seen[recorded.verdict.outcome] += recorded.count
        return {outcome: seen[outcome] for outcome in Outcome if seen[outcome]}

    @property
    def worst(self) -> Outcome | None:
        """The roll-up of all verdicts, None when there are none."""
        return worst(recorded.verdict.outcome for recorded in self.verdicts)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of one event."""
    text = resources.files("conformance.runlog").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def read_run(path: Path) -> Run:
    """The run in this folder (all `run-*.ndjson` in it) or file.

    Raises RunRecordError, one sentence, when there is no record, it cannot be read, is not a record, is damaged
    anywhere but at the end of a part, or its parts come from different runs.
    """
    path = Path(path)
    files = _files(path)
    size = sum(_size(file) for file in files)
    if size > MAX_RECORD:
        raise RunRecordError(
            f"The run record {path} has {size >> 20} MiB, more than the {MAX_RECORD >> 20} MiB that are read at once."
        )
    parts = [_part(file) for file in files]
    headed = [part for part in parts if part.header is not None]
    if not headed:
        raise RunRecordError(f"{path} holds no run record: it ends before the header.")
    # The main process speaks for the run; its workers repeat the header.
    first = min(headed, key=lambda part: (part.worker != "main", part.worker))
    header = first.header
    assert header is not None
    strangers = sorted({part.file.name for part in headed if part.header and part.header.run_id != header.run_id})
    if strangers:
        raise RunRecordError(
            f"{path} holds parts of different runs ({first.file.name}, {', '.join(strangers)}); read them one by one."
        )
    return _merge(header, parts)


@dataclass(slots=True)
class _Part:
    file: Path
    worker: str = ""
    header: Header | None = None
    hellos: list[Mapping[str, Json]] = field(default_factory=list)
    verdicts: list[RecordedVerdict] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    packets: list[PacketLine] = field(default_factory=list)
    driver: list[DriverEvent] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    footer: Footer | None = None
    tally: Tally | None = None
    took: Counter[str] = field(default_factory=Counter)
    cut: bool = False


def _on_verdict(part: _Part, value: Mapping[str, Json]) -> None:
    if whole(value["count"]) < 1:
        raise ValueError("a verdict seen less than once")
    for name in ("requirement", "subject", "suite", "test", "id"):
        text(value[name])
    maybe_text(value.get("reason"))
    for chosen in json_object(value.get("readings", {})).values():
        text(chosen)
    evidence = maybe_object(value.get("evidence"))
    if evidence is not None:
        text(evidence["kind"])
        text(evidence["ref"])
        json_object(evidence["data"])
    part.verdicts.append(
        RecordedVerdict(
            id=value["id"],
            verdict=Verdict.from_json(value),
            suite=value["suite"],
            test=value["test"],
            count=value["count"],
            epoch=maybe_whole(value.get("epoch")),
            provisional=value.get("provisional") is True,
        )
    )


def _on_evidence(part: _Part, value: Mapping[str, Json]) -> None:
    part.evidence[text(value["id"])] = Evidence(text(value["kind"]), text(value["id"]), json_object(value["data"]))


def _on_story(part: _Part, value: Mapping[str, Json]) -> None:
    steps = tuple(StoryStep.from_json(step) for step in value["steps"])
    part.stories.append(Story(text(value["verdict"]), steps, maybe_text(value["repro"])))


def _on_driver(part: _Part, value: Mapping[str, Json]) -> None:
    part.driver.append(
        DriverEvent(
            what=text(value["what"]),
            text=text(value["text"]),
            at=text(value["at"]),
            epoch=maybe_whole(value["epoch"]),
            returncode=maybe_whole(value["returncode"]),
            stderr=maybe_text(value["stderr"]),
        )
    )


def _on_note(part: _Part, value: Mapping[str, Json]) -> None:
    part.notes.append(Note(text(value["event"]), text(value["text"]), text(value["at"])))


def _on_tally(part: _Part, value: Mapping[str, Json]) -> None:
    tally = Tally.from_json(value)
    if part.tally is not None:
        tally.add(part.tally)
    part.tally = tally


def _on_took(part: _Part, value: Mapping[str, Json]) -> None:
    for test, milliseconds in json_object(value["tests"]).items():
        if whole(milliseconds) < 0:
            raise ValueError("a test that took less than no time")
        part.took[test] += milliseconds


def _on_footer(part: _Part, value: Mapping[str, Json]) -> None:
    part.footer = Footer.from_json(value)


# An event that is not named here is of a later version and is passed over: the header's format says whether it may be.
_HANDLERS: Mapping[str, Callable[[_Part, Mapping[str, Json]], None]] = {
    "hello": lambda part, value: part.hellos.append(json_object(value["hello"])),
    "verdict": _on_verdict,
    "evidence": _on_evidence,
    "story": _on_story,
    "packet": lambda part, value: part.packets.append(PacketLine.from_json(value)),
    "progress": _on_note,
    "note": _on_note,
    "driver": _on_driver,
    "tally": _on_tally,
    "took": _on_took,
    "footer": _on_footer,
}


_HEADER_BEGINS = b'{"event":"header",'


def _part(file: Path) -> _Part:
    part = _Part(file)
    for number, line, ended in _lines(file):
        try:
            event = json.loads(line)
            kind = event["event"]
            if part.header is None:
                _head(part, event)
            elif part.footer is not None:
                raise ValueError("something follows the footer")
            elif kind in _HANDLERS:
                _HANDLERS[kind](part, event)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            # Only a line that was never finished may be unreadable: its writer was stopped in the middle.
            if not ended and (part.header is not None or line.startswith(_HEADER_BEGINS)):
                part.cut = True
                return part
            if part.header is None:
                raise RunRecordError(f"{file} is not a run record: its first line is no header.") from error
            raise RunRecordError(f"The run record {file} is damaged in line {number}.") from error
    return part


def _head(part: _Part, event: Mapping[str, Json]) -> None:
    if event["event"] != "header":
        raise ValueError("the first event is no header")
    if event["format"] != FORMAT:
        raise RunRecordError(
            f"{part.file} has format {event['format']!r}, this version reads {FORMAT}; use the mqconform that wrote it."
        )
    part.worker = text(event["worker"])
    part.header = Header.from_json(event)


def _lines(file: Path) -> Iterator[tuple[int, bytes, bool]]:
    """(number, line, whether its line end was there). Blank lines are passed over."""
    try:
        with file.open("rb") as stream:
            number = 0
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise RunRecordError(f"{file} is not a run record: line {number} is longer than any it can hold.")
                if line.strip():
                    yield number, line, line.endswith(b"\n")
    except OSError as error:
        raise RunRecordError(f"The run record {file} cannot be read ({error.strerror}).") from None


def _files(path: Path) -> list[Path]:
    try:
        if not path.exists():
            raise RunRecordError(f"There is no run record at {path}.")
        if not path.is_dir():
            return [path]
        files = sorted(path.glob("run-*.ndjson"))
    except (OSError, ValueError) as error:
        raise RunRecordError(f"The run record {path} cannot be read ({error}).") from None
    if not files:
        raise RunRecordError(f"The folder {path} holds no run record (no run-*.ndjson).")
    return files


def _size(file: Path) -> int:
    try:
        if not file.is_file():
            raise RunRecordError(f"{file} is not a file and so no run record.")
        return file.stat().st_size
    except OSError as error:
        raise RunRecordError(f"The run record {file} cannot be read ({error.strerror}).") from None


def _merge(header: Header, parts: list[_Part]) -> Run:
    problems = []
    for part in parts:
        if part.header is None:
            problems.append(f"{part.file.name} ends before its header: its writer was stopped at once.")
        elif part.cut:
            problems.append(f"{part.file.name} ends in the middle of a line: its writer was stopped.")
        elif part.footer is None:
            problems.append(f"{part.file.name} has no footer: its writer was stopped before the end.")
    for part in parts:
        _settle(part)
        part.verdicts = _gathered(part.verdicts)
    hellos = [hello for part in parts for hello in part.hellos]
    evidence = {name: item for part in parts for name, item in part.evidence.items()}
    return Run(
        header=header,
        hello=hellos[-1] if hellos else header.hello,
        verdicts=tuple(item for part in parts for item in part.verdicts),
        stories=tuple(item for part in parts for item in part.stories),
        evidence=evidence,
        packets=tuple(item for part in parts for item in part.packets),
        driver=tuple(item for part in parts for item in part.driver),
        notes=tuple(item for part in parts for item in part.notes),
        footer=None if problems else _roll_up(parts),
        complete=not problems,
        problems=tuple(problems),
        parts=tuple(part.file for part in parts),
        tally=_added([part.tally for part in parts if part.tally is not None]),
        took={test: took for part in parts for test, took in part.took.items()},
    )


def _added(tallies: Iterable[Tally]) -> Tally | None:
    """What all parts counted; None when none did."""
    found: Tally | None = None
    for tally in tallies:
        if found is None:
            found = Tally()
        found.add(tally)
    return found


def _settle(part: _Part) -> None:
    """Drop the provisional failures that a final one took the place of, with their stories."""
    standing: list[RecordedVerdict] = []
    final: set[tuple[str, str]] = set()
    dropped: set[str] = set()
    for recorded in reversed(part.verdicts):
        key = (recorded.test, recorded.verdict.requirement)
        if recorded.provisional and key in final:
            dropped.add(recorded.id)
            continue
        if recorded.verdict.outcome in REFUTING:
            final.add(key)
        standing.append(recorded)
    part.verdicts = standing[::-1]
    part.stories = [story for story in part.stories if story.verdict not in dropped]


def _gathered(verdicts: Iterable[RecordedVerdict]) -> list[RecordedVerdict]:
    """What a test saw to hold, once with its whole count, as it was first seen.

    A writer counts, and writes what it has counted about once a second, so that little is lost when it is stopped; how
    many lines that makes of the same verdicts is no matter of theirs, but of the time they took.
    """
    first: dict[Hashable, int] = {}
    out: list[RecordedVerdict] = []
    for recorded in verdicts:
        verdict = recorded.verdict
        if verdict.outcome in REFUTING:
            out.append(recorded)
            continue
        said = (verdict.requirement, verdict.subject, verdict.outcome, verdict.readings, verdict.reason)
        key = (recorded.suite, recorded.test, *said)
        place = first.setdefault(key, len(out))
        if place == len(out):
            out.append(recorded)
        else:
            out[place] = replace(out[place], count=out[place].count + recorded.count)
    return out


def _roll_up(parts: list[_Part]) -> Footer:
    footers = [part.footer for part in parts if part.footer is not None]
    counts: Counter[str] = Counter()
    for footer in footers:
        counts.update(footer.counts)
    paces = [footer.steps_per_second for footer in footers if footer.steps_per_second is not None]
    return Footer(
        stop_reason=min((footer.stop_reason for footer in footers), key=STOP_REASONS.index),
        counts={outcome.value: counts[outcome.value] for outcome in Outcome if counts[outcome.value]},
        requirements_judged=len({item.verdict.requirement for part in parts for item in part.verdicts}),
        stateful_steps=sum(footer.stateful_steps for footer in footers),
        # Workers run side by side: their paces add up.
        steps_per_second=sum(paces) if paces else None,
        examples=sum(footer.examples for footer in footers),
        ended=max(footer.ended for footer in footers),
    )
