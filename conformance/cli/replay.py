"""`mqconform replay`, with the table of conversations and the counts of what it wrote beside verdicts."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.captures.analyst_views import Looks
from conformance.captures.summary import PLAIN, attempts_words, skipped_words
from conformance.cli.output import Spooled, console, fail, json_wanted, progress_bar
from conformance.judge.hints import known_hints
from conformance.report.places import PacketPlace, moment
from conformance.report.text import label
from conformance.runlog.counts import counted
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from conformance.capture.files import Stop
    from conformance.captures import JudgedPacket, Replay, Replayed
    from conformance.captures.analyst_views import Conversation, Conversations
    from conformance.captures.compare_implementation import Against
    from conformance.captures.summary import CaptureSummary

MAX_ROWS = 200
"""Conversations that are printed; JSON and the run record have more."""
_HEAD = ("stream", "from", "to", "packets", "bytes", "messages", "deviations", "began", "seconds")
_RIGHT = frozenset({"stream", "packets", "bytes", "messages", "deviations", "seconds"})


@dataclass(slots=True)
class Hinted:
    """Counts hints. first: the first packet with each: its capture, number and record."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    def see(self, packet: JudgedPacket) -> None:
        """Count the hints on a packet."""
        for name in packet.hints:
            self.counts[name] += 1
            self.first.setdefault(name, (packet.capture, packet.number, packet.frame.record))

    def lines(self) -> Iterator[str]:
        """Yield a line for each hint, which tells that it is no verdict."""
        for name, count in self._ordered:
            hint, (capture, number, record) = known_hints()[name], self.first[name]
            severe = f" CVSS base score {hint.cvss}." if hint.cvss else ""
            names, many = ", ".join(hint.names), "packet looks" if count == 1 else "packets look"
            yield f"hint, no verdict: {count:,} {many} like {names} ({name}): {hint.says}{severe}"
            yield f"      first: packet {number} (Wireshark frame {record}) of {label(capture)}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the hints as `--json` prints them, with their sources."""
        return [
            {
                **known_hints()[name].to_json(),
                "packets": count,
                "first": dict(zip(("capture", "packet", "record"), self.first[name], strict=True)),
            }
            for name, count in self._ordered
        ]

    @property
    def _ordered(self) -> list[tuple[str, int]]:
        """The counts, of the most severe advisory first."""
        return sorted(self.counts.most_common(), key=lambda one: -known_hints()[one[0]].cvss)


def looked_lines(asked: Asked, result: Replayed) -> Iterator[str]:
    """Yield the lines about what was asked for."""
    looked = result.looked
    if asked.looks.conversations and looked.conversations is not None:
        yield from _table(looked.conversations)
    if looked.extracted is not None:
        out = looked.extracted
        left = "".join(f"; left out: {count:,} {why}" for why, count in sorted(out.left_out.items()))
        yield f"{asked.looks.extract}: {counted(out.written, 'message')} with {out.size:,} bytes extracted{left}"
    if looked.eve is not None:
        yield f"{asked.looks.eve}: {looked.eve.lines:,} EVE lines"


def looked_json(asked: Asked, result: Replayed) -> dict[str, Any]:
    """Return the same for `--json`; a member is null where it was not asked for."""
    looked = result.looked
    table = looked.conversations if asked.looks.conversations else None
    out, eve = looked.extracted, looked.eve
    return {
        "conversations": None if table is None else table.to_json(),
        "extracted": None if out is None else {"path": str(asked.looks.extract), **out.to_json()},
        "eve": None if eve is None else {"path": str(asked.looks.eve), "lines": eve.lines},
    }


def _table(table: Conversations) -> Iterator[str]:
    """Yield the table, the rows with most deviations first, and under a row who its ends are."""
    rows = sorted(table.rows, key=lambda row: -row.deviations)
    captures = len({row.capture for row in rows}) > 1
    cells = [_cells(row) for row in rows[:MAX_ROWS]]
    widths = [max(map(len, column)) for column in zip(_HEAD, *cells, strict=True)]
    yield ""
    yield _line(_HEAD, widths)
    for row, each in zip(rows, cells, strict=False):
        yield _line(each, widths)
        if any(row.who):
            yield f"{'':{widths[0]}}  who: {row.who[0] or '?'} -> {row.who[1] or '?'}"
        if row.came is not None:
            yield f"{'':{widths[0]}}  {attempts_words(*row.ends, row.came, row.attempts)}"
        elif row.connection is None and 0 in row.packets:
            yield f"{'':{widths[0]}}  no ping was answered"
        if captures:
            yield f"{'':{widths[0]}}  in: {label(row.capture)}"
    more = table.more
    if len(rows) > MAX_ROWS:
        yield f"{counted(len(rows) - MAX_ROWS, 'conversation')} more; --json lists {len(rows):,}"
    if more["packets"]:
        yield f"{counted(more['conversations'], 'later conversation')} without a row: {more['packets']:,} packets"
    if table.elsewhere:
        yield f"{counted(table.elsewhere, 'deviation')} on no packet of a row"
    yield from (f"hint, no verdict: {label(text, 400)}" for text in table.hints())
    yield ""


def _cells(row: Conversation) -> tuple[str, ...]:
    return (
        "-" if row.stream is None else str(row.stream),
        row.ends[0],
        row.ends[1],
        _pair(row.packets),
        _pair(row.bytes),
        _pair(row.messages),
        f"{row.deviations:,}",
        _clock(row.first_ns),
        f"{row.seconds:,.3f}",
    )


def _pair(each: list[int]) -> str:
    return f"{each[0]:,}/{each[1]:,}"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    """Align cells to the widths of their columns."""
    each = zip(_HEAD, cells, widths, strict=True)
    return "  ".join(f"{cell:>{width}}" if name in _RIGHT else f"{cell:<{width}}" for name, cell, width in each)


def _clock(time_ns: int) -> str:
    """Format a time of day; a capture may claim one that no calendar has."""
    try:
        return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%H:%M:%S.%f")[:-3]
    except (ValueError, OverflowError, OSError):
        return "?"


MAX_JSON_PACKETS = 10_000  # packets in the JSON output; the run record has all
_COLOURS = {Outcome.FAIL: "31", Outcome.WARN: "33", Outcome.READING: "33", Outcome.INCONCLUSIVE: "33"}


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line's options about captures: files, filter, duration, the implementation, and what else to make."""

    captures: Sequence[str]
    filter: str | None
    follow: bool
    budget_s: float | None
    against: str | None
    deadline_ms: int
    columns: bool = False
    packets_only: bool = False
    allow_incomplete: bool = False
    looks: Looks = field(default_factory=Looks)


@dataclass(slots=True)
class _Shown:
    """The packets that are shown after all were judged: those of the JSON output, and the first that failed."""

    json: list[dict[str, Any]]
    captures: list[dict[str, Any]]
    failed: JudgedPacket | None = None
    hinted: Hinted = field(default_factory=Hinted)


def only_filter(filters: Sequence[str]) -> str | None:
    """Return the filter. Ends the command for a second one: a key in both could mean "either" or "both"."""
    if len(filters) > 1:
        together = shlex.quote(" ".join(filters))
        fail(f"Give one --filter with all its terms, for example: --filter {together}", ExitCode.BAD_INPUT)
    return filters[0] if filters else None


def command(
    asked: Asked,
    *,
    profile: str | None,
    level: str,
    readings: str,
    chosen: Sequence[str],
    out: Path | None,
) -> None:
    """Judge captures. Prints a line per packet, the bytes of the first failure and the summary. Ends the command."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.captures import replay_captures
    from conformance.captures.compare_implementation import NotDeliverable
    from conformance.children import without_matrices
    from conformance.cli.run import finish
    from conformance.command_options import BadInput

    if asked.columns:
        without_matrices()
    target = console()
    colour = target.is_terminal and not target.no_color
    shown = _Shown(Spooled(), Spooled())

    def on_packet(packet: JudgedPacket) -> None:
        shown.hinted.see(packet)
        if shown.failed is None and packet.worst is Outcome.FAIL:
            shown.failed = packet
        if not json_wanted():
            print(line(packet, colour=colour), flush=asked.follow)
        elif len(shown.json) < MAX_JSON_PACKETS:
            shown.json.append(as_json(packet))

    try:
        with (
            progress_bar("replay", quiet=not sys.stderr.isatty()) as bar,
            _stopping(asked.follow or "-" in asked.captures, asked.budget_s) as stop,
        ):
            result = replay_captures(
                asked.captures,
                filter=asked.filter,
                follow=asked.follow,
                budget_s=asked.budget_s,
                stop=stop,
                against=asked.against,
                deadline_ms=asked.deadline_ms,
                columns=asked.columns,
                packets_only=asked.packets_only,
                allow_incomplete=asked.allow_incomplete,
                conversations=asked.looks.conversations,
                extract=asked.looks.extract,
                eve=asked.looks.eve,
                profile=profile,
                level=level,
                readings=readings,
                chosen=chosen,
                out=out,
                command=sys.argv[1:],
                on_packet=on_packet,
                on_capture=lambda summary: shown.captures.append(_capture(summary)) if json_wanted() else None,
                on_progress=lambda path, done, total: bar(done, total, Path(path).name),
            )
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except AdapterError as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    except NotDeliverable as error:
        fail(f"Nothing can be given to {asked.against}: {error.reason}", ExitCode.NOTHING_JUDGED)
    extra = _members(asked, result, shown) if json_wanted() else {}
    for text in () if json_wanted() else _lines(asked, result, shown):
        print(text)
    finish(result.record, result.folder, result.exit_code, result.sentence, extra=extra)


def _members(asked: Asked, result: Replayed, shown: _Shown) -> dict[str, Any]:
    """Return what `--json` prints beside the summary of the run."""
    return {
        "captures": shown.captures,
        "seconds": round(result.seconds, 3),
        "packets": shown.json,
        "first_failure": dump(shown.failed),
        "against": against_json(result.given),
        **looked_json(asked, result),
        "left_out": result.left_out.to_json(),
        "hints": shown.hinted.to_json(),
    }


def _lines(asked: Asked, result: Replayed, shown: _Shown) -> Iterator[str]:
    """Yield the lines between those of the packets and the summary of the run."""
    yield from dump(shown.failed)
    yield from looked_lines(asked, result)
    yield from shown.hinted.lines()
    yield from notes(result.replay)
    yield from result.left_out.lines()
    yield from against_lines(result.given)


@contextmanager
def _stopping(wanted: bool, budget_s: float | None) -> Iterator[Stop | None]:
    """While a capture is followed, the first Ctrl-C ends the reading but not the judging; the second acts as usual."""
    from conformance.capture.files import GRACE_S, Stop
    from conformance.cli.stop import first_interrupt

    if not wanted:
        yield None
        return
    stop = Stop(budget_s)
    with first_interrupt(lambda: stop.tell(GRACE_S)):
        yield stop


def dump(packet: JudgedPacket | None) -> list[str]:
    """Return the lines of a hex dump with the broken requirements; none without a packet."""
    if packet is None:
        return []
    from conformance.report.hexdump import annotated

    return [
        "",
        f"{packet.capture}: {_place(packet).line}",
        *annotated(packet.packet, packet.verdicts),
        "",
    ]


def _place(packet: JudgedPacket) -> PacketPlace:
    """Return where a packet is in its capture."""
    frame, when = packet.frame, moment(packet.frame.time_ns)
    return PacketPlace(packet.capture, packet.number, frame.record, frame.stream, when, packet.direction)


def against_lines(against: Against | None) -> list[str]:
    """Return lines that count the messages given to an implementation, and those left out by reason."""
    if against is None:
        return []
    return [
        f"{counted(against.read, 'message')} read and {against.delivered} delivered",
        *(f"{counted(count, 'message')} {why}" for why, count in sorted(against.left_out.items())),
    ]


def against_json(against: Against | None) -> dict[str, Any] | None:
    """Return the same counts as `--json` prints them."""
    if against is None:
        return None
    return {"read": against.read, "delivered": against.delivered, "left_out": dict(against.left_out)}


def line(packet: JudgedPacket, *, colour: bool = False) -> str:
    """Format one packet as a line: number, Wireshark's record and stream, time, direction, kind, queue, verdicts."""
    from conformance.report.text import label

    when = datetime.fromtimestamp(packet.time, UTC).strftime("%H:%M:%S.%f")[:-3]
    said = verdicts(packet)
    code = _COLOURS.get(packet.worst) if packet.worst is not None and colour else None
    said = f"\x1b[{code}m{said}\x1b[0m" if code else said
    queue = label(packet.queue) if packet.queue else "-"
    stream = "-" if packet.frame.stream is None else packet.frame.stream
    place = f"{packet.number:>5}  #{packet.frame.record}  {stream:>3}"
    return f"{place}  {when}  {packet.direction}  {packet.kind}  {queue}  {said}"


def verdicts(packet: JudgedPacket) -> str:
    """Summarize the verdicts on a packet: the number of passes, and the ids of all others."""
    from conformance.judge.hints import known_hints

    others = packet.deviating
    good = len(packet.verdicts) - len(others)
    parts = [f"{good} pass"] if good else []
    for outcome in Outcome:
        ids = dict.fromkeys(verdict.requirement for verdict in others if verdict.outcome is outcome)
        if ids:
            parts.append(f"{outcome.value} {', '.join(ids)}")
    if packet.trouble is not None:
        parts.append(packet.trouble.text)
    parts += [f"hint: looks like {', '.join(known_hints()[name].names)} ({name})" for name in packet.hints]
    return "; ".join(parts) or "nothing to judge"


def as_json(packet: JudgedPacket) -> dict[str, Any]:
    """Return a packet as `--json` prints it."""
    return {
        "capture": packet.capture,
        "number": packet.number,
        "record": packet.frame.record,
        "stream": packet.frame.stream,
        "time": packet.time,
        "direction": packet.direction,
        "kind": packet.kind,
        "queue": packet.queue,
        "length": packet.length,
        "trouble": packet.trouble.text if packet.trouble else None,
        "worst": packet.worst.value if packet.worst else None,
        "hints": list(packet.hints),
        "verdicts": [verdict.to_json() for verdict in packet.deviating],
    }


def notes(result: Replay) -> list[str]:
    """Return a line for everything in the captures that is not a judged packet."""
    out = []
    if result.further.captures:
        all_of_them = len(result.captures) + result.further.captures
        out.append(f"{all_of_them:,} captures were judged; --json and the run record tell of each")
    for capture in result.captures:
        if capture.own_sentence:
            out.append(f"{capture.path}: {capture.own_sentence}")
        if capture.timeless_sentence:
            out.append(f"{capture.path}: {capture.timeless_sentence}")
        for record in capture.renewed:
            out.append(f"{capture.path}: replaced, or begun anew, before record {record}; the new file was read on")
        if capture.cut:
            out.append(f"{capture.path}: {capture.cut}")
        if capture.incomplete:
            out.append(f"{capture.path}: incomplete: {capture.incomplete.words}")
        if capture.unsearched:
            out.append(f"{capture.path}: odd packets without a search for what explains them: {capture.unsearched:,}")
        out += [f"{capture.path}: {text}" for text in capture.unheard_sentences]
        if capture.lost:
            out.append(f"{capture.path}: {counted(capture.lost, 'byte')} of the streams in no packet")
        for count, where in ((capture.lacking.began_before, "began before"), (capture.lacking.go_on, "go on after")):
            if count:
                out.append(f"{capture.path}: connections that {where} the capture: {count:,}")
        skipped = [skipped_words(*one) for one in sorted(capture.skipped.items()) if one[0] in PLAIN]
        out += [f"{capture.path}: {text}" for text in (*capture.unread_sentences, *skipped)]
    return out


def _capture(capture: CaptureSummary) -> dict[str, Any]:
    """Return a capture as `--json` prints it."""
    return {
        "path": capture.path,
        "records": capture.records,
        "packets": capture.packets,
        "selected": capture.selected,
        "lost_bytes": capture.lost,
        "unsearched": capture.unsearched,
        "own": capture.own_sentence,
        "timeless": capture.timeless,
        "renewed": capture.renewed,
        "began_before": capture.lacking.began_before,
        "go_on": capture.lacking.go_on,
        "attempts": [dict(zip(("from", "to", "came", "count"), one, strict=True)) for one in capture.unheard],
        "incomplete": capture.incomplete.to_json() if capture.incomplete else None,
        "skipped": dict(capture.skipped),
        "tls": capture.tls,
        "services": [
            dict(zip(("name", "connections", "records", "bytes"), one, strict=True)) for one in capture.services
        ],
        "cut": capture.cut,
        "error": capture.error,
        "defect": None if capture.defect is None else capture.defect.to_json(),
    }
