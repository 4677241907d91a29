"""A picture of a concurrent history: a lane for each client, a bar for each call from its request to its answer.

The scale is the order of events, not time: it matters which calls overlap. The picture has no style, script or link of
its own, so it works in a page that forbids them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from conformance.report.text import label

if TYPE_CHECKING:
    from conformance.histories.operations.operation import Operation as Called
    from conformance.model.linearizability.history import Operation

MAX_OPERATIONS = 200
"""Bars drawn; a longer history shows its last ones, where it goes wrong."""
MAX_READ = 5_000
"""Operations read of a stored history."""
_CHARACTER = 6.7  # widest of the usual sans-serif fonts at 11 px; a label must fit in any of them
_PADDING = 12.0
_STEP = 16.0
_LANE = 34.0
_BAR = 22.0
_TOP = 34.0
_COLOURS = {"send": "#cfe2ff", "receive": "#d3efd9", "peek": "#eceff1", "transaction": "#e8dcf7", "other": "#fde8c8"}
_EDGES = {"send": "#3d6fb6", "receive": "#3c8d57", "peek": "#78868f", "transaction": "#7b52ab", "other": "#b7791f"}


@dataclass(slots=True)
class _Bar:
    operation: Operation
    text: str
    colour: str
    lane: int
    left: float = 0.0
    middle: float | None = None
    right: float | None = None

    @property
    def width(self) -> float:
        return len(self.text) * _CHARACTER + _PADDING


def history_of(data: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return the history in the data of some evidence; empty if there is none, or this version cannot read it."""
    stored = data.get("history")
    if not isinstance(stored, list):
        return ()
    from conformance.histories.operations.table import checked_call
    from conformance.model.calls import BadCall
    from conformance.model.linearizability.history import Operation

    try:
        history = tuple(Operation.from_json(raw) for raw in stored[:MAX_READ] if isinstance(raw, Mapping))
        for operation in history:
            checked_call(operation.call)
        return history
    except BadCall:
        return ()


def render_timeline(history: Sequence[Operation]) -> str | None:
    """Return the picture as an SVG element, None if there is nothing to draw."""
    from conformance.histories.operations.operation import Kind, Manner
    from conformance.histories.operations.table import OPERATIONS, given_name

    queues = {name: str(op.call.queue) for op in history if (name := given_name(op.call, Kind.HANDLE)) is not None}
    shown = sorted((op for op in history if OPERATIONS[op.call.method].drawn), key=lambda op: op.began)
    shown = shown[-MAX_OPERATIONS:]
    if not shown:
        return None
    several = len(set(queues.values())) > 1
    lanes: list[str] = []
    bars: list[_Bar] = []
    restarts: list[Operation] = []
    for operation in shown:
        if OPERATIONS[operation.call.method].manner is Manner.RESTART:
            restarts.append(operation)
            continue
        if operation.client not in lanes:
            lanes.append(operation.client)
        called = OPERATIONS[operation.call.method]
        text = _text(operation, called, queues if several else {})
        bars.append(_Bar(operation, text, _kind(called), lanes.index(operation.client)))
    order = sorted(lanes)
    for bar in bars:
        bar.lane = order.index(bar.operation.client)
    lines, end = _place(bars, restarts)
    margin = max((len(label(name, 20)) for name in order), default=1) * _CHARACTER + 66.0
    return _svg(bars, order, lines, margin, margin + end + 24.0)


def _kind(called: Called) -> str:
    if called.subject in ("name", "transaction"):
        return "transaction"
    return next((word for word in ("send", "receive", "peek") if called.verb.startswith(word)), "other")


def _text(operation: Operation, called: Called, queues: Mapping[str, str]) -> str:
    call = operation.call
    text = called.verb
    if called.subject is not None:
        text += f" {label(getattr(call, called.subject) or '', 40)}"
    if call.handle is not None and call.handle in queues:
        text += f" {label(queues[call.handle], 40)}"
    if call.transaction is not None and called.subject != "transaction":
        text += f" in {label(call.transaction, 40)}"
    if call.cursor is not None:
        text += f" by {label(call.cursor, 40)}"
    if call.name is not None and operation.reads:
        text = f"{label(call.name, 40)}: {text}"
    answer = operation.answer
    if operation.waits_on:
        return f"{text} … waits on"
    if answer is None:
        return f"{text} … no answer"
    if answer.failed:
        return f"{text} ✗"
    return f"{text} → {label(operation.message or '', 40)}" if operation.reads else text


def _place(bars: Sequence[_Bar], restarts: Sequence[Operation]) -> tuple[list[float], float]:
    """Set the ends of every bar, so that calls overlap in the picture as they did and every label fits in its bar."""
    events: list[tuple[int, int, _Bar | None]] = [(op.began, 0, None) for op in restarts]
    for bar in bars:
        events.append((bar.operation.began, 0, bar))
        if bar.operation.blocked is not None:
            events.append((bar.operation.blocked, 1, bar))
        if bar.operation.ended is not None:
            events.append((bar.operation.ended, 2, bar))
    lines: list[float] = []
    open_bars: list[_Bar] = []
    at = 0.0
    for _, which, found in sorted(events, key=lambda event: event[:2]):
        at += _STEP
        if found is None:  # a restart cuts off what is in flight
            at = max([at, *(one.left + one.width for one in open_bars)])
            for one in open_bars:
                one.right = at
            open_bars.clear()
            lines.append(at)
        elif which == 0:
            found.left = at
            open_bars.append(found)
        elif which == 1:
            found.middle = at
        else:
            at = found.right = max(at, found.left + found.width)
            open_bars = [bar for bar in open_bars if bar is not found]
    end = max([at + _STEP, *(bar.left + bar.width for bar in open_bars)])
    for bar in open_bars:
        bar.right = end
    return lines, end


def _svg(bars: Sequence[_Bar], lanes: Sequence[str], lines: Sequence[float], margin: float, width: float) -> str:
    top = _TOP if lines else _TOP / 4
    height = top + _LANE * len(lanes) + 14.0
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-family="sans-serif" font-size="11">',
        "<title>What each client did, and what overlapped</title>",
        f'<rect x="0" y="0" width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
    ]
    for number, name in enumerate(lanes):
        y = top + _LANE * number + _LANE / 2
        out.append(
            f'<line x1="{margin:.1f}" y1="{y:.1f}" x2="{width - 8:.1f}" y2="{y:.1f}" stroke="#d5dadd"/>'
            f'<text x="10" y="{y + 4:.1f}" fill="#24292e">client {escape(label(name, 20))}</text>'
        )
    for at in lines:
        x = f"{margin + at:.1f}"
        out.append(
            f'<line x1="{x}" y1="{top - 14:.1f}" x2="{x}" y2="{height - 8:.1f}" stroke="#c62828" stroke-width="2"/>'
            f'<text x="{x}" y="{top - 19:.1f}" fill="#c62828" text-anchor="middle">restart</text>'
        )
    out += [_drawn(bar, margin, top) for bar in bars]
    out.append("</svg>")
    return "\n".join(out)


def _drawn(bar: _Bar, margin: float, top: float) -> str:
    y = top + _LANE * bar.lane + (_LANE - _BAR) / 2
    left, right = margin + bar.left, margin + (bar.right or bar.left)
    open_ended = bar.operation.ended is None
    dashes = ' stroke-dasharray="4 3"' if open_ended else ""
    waits = ""
    if bar.middle is not None:  # from here on the call is known to wait; the mark keeps clear of the label
        x = f"{margin + bar.middle:.1f}"
        waits = f'<line x1="{x}" y1="{y - 4:.1f}" x2="{x}" y2="{y + 4:.1f}" stroke="{_EDGES[bar.colour]}" '
        waits += 'stroke-width="2"/>'
    told = f"{bar.text} [{bar.operation.began} to {'…' if open_ended else bar.operation.ended}]"
    return (
        f'<g aria-label="{escape(told)}"><title>{escape(told)}</title>'
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{_BAR:.1f}" rx="4" '
        f'fill="{_COLOURS[bar.colour]}" stroke="{_EDGES[bar.colour]}"{dashes}/>{waits}'
        f'<text x="{left + _PADDING / 2:.1f}" y="{y + 15:.1f}" fill="#1b1f23">{escape(bar.text)}</text></g>'
    )
