"""Prints what `mqconform replay` made beside verdicts: the table of conversations, and counts of what it wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from conformance.judge.hints import known_hints
from conformance.report.text import label

if TYPE_CHECKING:
    from conformance.captures import JudgedPacket, Replayed
    from conformance.captures.conversations import Conversation, Conversations
    from conformance.cli.replay import Asked

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
        for name, count in self.counts.most_common():
            hint, (capture, number, record) = known_hints()[name], self.first[name]
            names, many = ", ".join(hint.names), "packet looks" if count == 1 else "packets look"
            yield f"hint, no verdict: {count:,} {many} like {names} ({name}): {hint.says}"
            yield f"      first: packet {number}, record {record} of {label(capture)}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the hints as `--json` prints them, with their sources."""
        return [
            {
                **known_hints()[name].to_json(),
                "packets": count,
                "first": dict(zip(("capture", "packet", "record"), self.first[name], strict=True)),
            }
            for name, count in self.counts.most_common()
        ]


def looked_lines(asked: Asked, result: Replayed) -> Iterator[str]:
    """Yield the lines about what was asked for."""
    looked = result.looked
    if asked.looks.conversations and looked.conversations is not None:
        yield from _table(looked.conversations)
    if looked.extracted is not None:
        out = looked.extracted
        left = "".join(f"; left out: {count:,} {why}" for why, count in sorted(out.left_out.items()))
        yield f"{asked.looks.extract}: {out.written:,} messages with {out.size:,} bytes extracted{left}"
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
        if captures:
            yield f"{'':{widths[0]}}  in: {label(row.capture)}"
    more = table.more
    if len(rows) > MAX_ROWS:
        yield f"{len(rows) - MAX_ROWS:,} more conversations; --json lists {len(rows):,}"
    if more["packets"]:
        yield f"{more['conversations']:,} later conversations without a row: {more['packets']:,} packets"
    if table.elsewhere:
        yield f"{table.elsewhere:,} deviations on no packet of a row"
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
