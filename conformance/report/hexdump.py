"""Annotated hex dumps of packets: the bytes, their fields, and the requirements they break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.report.text import MAX_LABEL, label, value_text
from conformance.spec.catalogue import requirement
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:  # the layers take half a second to import
    from conformance.wire import Packet

WIDTH = 16
"""Bytes on one line."""
MAX_LINES = 8
"""Lines of a field that is not marked: a body of megabytes is not printed."""
MAX_MARKED_LINES = 64
"""Lines of a field that a broken rule refers to."""
MAX_SEGMENTS = 2_000
"""Fields printed of one packet: a list of ten thousand queues is cut."""
NO_FIELD = "(no field)"

_BROKEN = (Outcome.FAIL,)
_DOUBTFUL = (Outcome.WARN, Outcome.READING)
_HEX_WIDTH = 3 * WIDTH - 1


@dataclass(slots=True)
class _Mark:
    """The annotation of one field: the values found in it, and the requirements it breaks."""

    found: dict[str, str] = field(default_factory=dict)
    requirements: dict[str, None] = field(default_factory=dict)


def annotated(packet: Packet, verdicts: Sequence[Verdict]) -> list[str]:
    """Return the packet's bytes by field as lines of plain text, with the bytes that broken rules refer to marked.

    A line holds a `>` if it is marked, the offset, up to 16 bytes in hexadecimal and as ASCII, and on a field's first
    line its key, the decoded value that a verdict quotes, and the requirements it breaks. The broken requirements
    follow with their text and the expected and found values. verdicts: those on this packet; the failing ones are
    marked or, if there are none, warnings and readings. Never raises for any bytes; at most about 16,000 lines for any
    packet.
    """
    broken = [verdict for verdict in verdicts if verdict.outcome in _BROKEN]
    broken = broken or [verdict for verdict in verdicts if verdict.outcome in _DOUBTFUL]
    return [text for text, _ in dumped(packet, broken)] + [line for verdict in broken for line in _says(verdict)]


def dumped(packet: Packet, broken: Sequence[Verdict]) -> Iterator[tuple[str, bool]]:
    """Yield each line of the bytes, and whether it is marked: by a verdict, or because it could not be decoded."""
    marks = _marks(packet, broken)
    for number, (start, end, key) in enumerate(segments(packet)):
        if number >= MAX_SEGMENTS:
            yield f"  ... {len(packet.data) - start} more bytes", False
            break
        mark = marks.get(key)
        yield from ((line, mark is not None) for line in _field_lines(packet, start, end, key, mark))
    for trouble in packet.trouble:
        yield label(f"! {trouble.offset:08x}  {trouble.field}: {trouble.says}"), True


def segments(packet: Packet) -> Iterator[tuple[int, int, str]]:
    """Yield the packet's bytes by their innermost field as (start, end, key), without gaps.

    key is empty for bytes of no field; bytes of a header that belong to none of its fields have the header's key.
    """
    total = len(packet.data)
    spans = [(at, min(at + length, total), key) for key, (at, length) in packet.spans.items() if length and at < total]
    spans.sort(key=lambda span: (span[0], -span[1], len(span[2])))
    at = 0
    open_spans: list[tuple[int, str]] = []
    for start, end, key in [*spans, (total, total, "")]:
        while open_spans and open_spans[-1][0] <= start:
            inner_end, inner = open_spans.pop()
            if at < inner_end:
                yield at, inner_end, inner
                at = inner_end
        if at < start:
            yield at, start, open_spans[-1][1] if open_spans else ""
            at = start
        open_spans.append((end, key))


def _marks(packet: Packet, broken: Sequence[Verdict]) -> dict[str, _Mark]:
    """Return the annotations by field key, as `segments` gives it."""
    marks: dict[str, _Mark] = {}
    innermost = {start: key for start, _, key in segments(packet)}
    for verdict in broken:
        actual = verdict.actual if isinstance(verdict.actual, dict) else {}
        for key, value in actual.items():
            # A rule about a field that did not fit has its name as a value: mark the field's first byte.
            for name in dict.fromkeys((key, value if key == "Packet.Overrun" else key)):
                owner = innermost.get(_place(packet, str(name)))
                if owner is None:
                    continue
                mark = marks.setdefault(owner, _Mark())
                mark.requirements[verdict.requirement] = None
                if name != owner or not isinstance(value, str):
                    mark.found[str(name)] = _short(value)
    return marks


def _place(packet: Packet, name: str) -> int:
    """Return the offset of what `name` refers to (a field, a fact about one, unexplained bytes), -1 for nothing."""
    if name == "Packet.Unexplained" and packet.fields.get(name):
        return int(packet.fields["Packet.HeadersEnd"])
    span = packet.span(name) or packet.span(name.rpartition(".")[0])
    return span[0] if span is not None and span[1] else -1


def _field_lines(packet: Packet, start: int, end: int, key: str, mark: _Mark | None) -> Iterator[str]:
    sign = ">" if mark else " "
    limit = (MAX_MARKED_LINES if mark else MAX_LINES) * WIDTH
    shown = end if end - start <= limit else start + limit
    for at in range(start, shown, WIDTH):
        row = packet.data[at : min(at + WIDTH, shown)]
        text = f"{sign} {at:08x}  {row.hex(' '):<{_HEX_WIDTH}}  {_ascii(row):<{WIDTH}}"
        if at == start:
            text += f"  {key or NO_FIELD}{_beside(key, mark)}"
        yield text.rstrip()
    if shown < end:
        yield f"{sign} ...       {end - shown} more bytes of {key or 'no field'}"


def _beside(key: str, mark: _Mark | None) -> str:
    if mark is None:
        return ""
    found = ", ".join(_found(key, name, value) for name, value in mark.found.items())
    return f"{' ' if found else ''}{label(found)}  <- {', '.join(mark.requirements)}"


def _found(key: str, name: str, value: str) -> str:
    """Format a value: `= 7` for the field itself, `PR = 3` for a part of it."""
    return f"= {value}" if name == key else f"{name.removeprefix(f'{key}.')} = {value}"


def _short(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value < 10 else f"{value} (0x{value:X})"
    return label(value, 80)


def _ascii(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)


def _says(verdict: Verdict) -> Iterator[str]:
    yield f"{verdict.outcome.value} {verdict.requirement}: {requirement(verdict.requirement).says}"
    for word, value in (("expected", verdict.expected), ("found", verdict.actual)):
        if value is not None:
            yield label(f"  {word}: {' '.join(value_text(value).split())}", MAX_LABEL)
