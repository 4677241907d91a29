"""Annotated hex dumps of packets: the bytes, their fields, the requirements they break; and as capture files."""

from __future__ import annotations

import base64
import binascii
import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from conformance.judge.sessions.fields import FIELDS
from conformance.report.text import MAX_LABEL, label, value_text
from conformance.runlog.counts import counted
from conformance.spec.catalogue import requirement
from conformance.verdict import Evidence, Json, Outcome, Verdict

if TYPE_CHECKING:
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
_UNTOLD = object()
"""In the place of a value that no verdict tells for this field alone."""

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
            yield f"  ... {counted(len(packet.data) - start, 'byte')} more", False
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
        told = FIELDS.get(verdict.requirement, ())
        actual = dict.fromkeys(told, _UNTOLD) if told and not any(map(packet.span, actual)) else actual
        for key, value in actual.items():
            # A rule about a field that did not fit has its name as a value: mark the field's first byte.
            for name in dict.fromkeys((key, value if key == "Packet.Overrun" else key)):
                owner = innermost.get(_place(packet, str(name)))
                if owner is None:
                    continue
                mark = marks.setdefault(owner, _Mark())
                mark.requirements[verdict.requirement] = None
                if value is not _UNTOLD and (name != owner or not isinstance(value, str)):
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
    found = ", ".join(_value_text(key, name, value) for name, value in mark.found.items())
    return f"{' ' if found else ''}{label(found)}  <- {', '.join(mark.requirements)}"


def _value_text(key: str, name: str, value: str) -> str:
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


MAX_BYTES = 64 << 10
"""Longer evidence is not dumped: the record has the bytes, and `mqconform replay` prints them."""
EVIDENCE_LINES = 120
"""Lines of one dump: the marked ones, with the lines around them."""
AROUND = 4
"""Lines kept before and after a marked one if the dump is cut."""
_WIDTH = 16
_MEMBERS = ("packet", "base64", "data")


@dataclass(frozen=True, slots=True)
class DumpLine:
    """One line. marked: a broken rule refers to its bytes."""

    text: str
    marked: bool = False


def bytes_of(evidence: Evidence) -> bytes | None:
    """Return the bytes of this evidence; None if it has none, too many, or invalid base64."""
    if evidence.kind not in ("packet", "structure"):
        return None
    text = next((evidence.data[name] for name in _MEMBERS if isinstance(evidence.data.get(name), str)), None)
    if text is None or len(text) > MAX_BYTES * 4 // 3 + 4:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def dump_of(verdict: Verdict, evidence: Evidence) -> tuple[DumpLine, ...]:
    """Return the dump: a packet's by field, a structure's plain; empty for evidence without bytes."""
    data, udp = bytes_of(evidence), evidence.data.get("transport") == "udp"
    if not data:
        return ()
    if evidence.kind == "structure":
        return _kept([DumpLine(line) for line in _plain(data)])
    from conformance.spec.catalogue import catalogue
    from conformance.wire import dissect

    # Mark what this verdict blames, whatever its outcome is at this level; an id of another version marks nothing.
    known = verdict.requirement in catalogue().requirements
    verdicts = [replace(verdict, outcome=Outcome.FAIL)] if known else []
    return _kept(
        [
            DumpLine(label(text, 240), marked)
            for text, marked in dumped(dissect(data, transport="udp" if udp else "buffer"), verdicts)
        ]
    )


def _plain(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), _WIDTH):
        row = data[at : at + _WIDTH]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"  {at:08x}  {row.hex(' '):<{3 * _WIDTH - 1}}  {text}"


def _kept(lines: Sequence[DumpLine]) -> tuple[DumpLine, ...]:
    """Return about MAX_LINES lines at most: the marked ones with those around them, or the first if none is marked."""
    if len(lines) <= EVIDENCE_LINES:
        return tuple(lines)
    marked = [at for at, line in enumerate(lines) if line.marked]
    near = {at + step for at in marked for step in range(-AROUND, AROUND + 1)} if marked else set(range(EVIDENCE_LINES))
    chosen = sorted(at for at in near if 0 <= at < len(lines))[:EVIDENCE_LINES]
    out: list[DumpLine] = []
    last = -1
    for at in chosen:
        if at > last + 1:
            out.append(DumpLine(f"  ...       {counted(at - last - 1, 'line')} left out"))
        out.append(lines[at])
        last = at
    if last < len(lines) - 1:
        out.append(DumpLine(f"  ...       {counted(len(lines) - 1 - last, 'line')} left out"))
    return tuple(out)


SEGMENT = 32_768
"""Bytes of a TCP segment; the reader reassembles them."""
MAX_PACKET = 16 << 20
"""Bytes of a packet: four times MSMQ's own limit."""

_MAGIC, _LINK_RAW_IP = 0xA1B23C4D, 101  # nanoseconds; a packet begins with its IP header
_TCP, _UDP = 6, 17
_SYN, _PSH_ACK = 0x02, 0x18
_PORTS = {_TCP: 1801, _UDP: 3527}
_CLIENT = ("192.0.2.10", 49_152)  # addresses for documentation, RFC 5737
_SERVER = "192.0.2.20"


def packet_of(evidence: Evidence | None) -> tuple[bytes, str] | None:
    """Return (the packet in this evidence, its transport as `dissect` takes it); None if it has no packet."""
    if evidence is None or evidence.kind != "packet":
        return None
    stored = evidence.data.get("base64", evidence.data.get("packet"))
    if not isinstance(stored, str) or len(stored) > MAX_PACKET * 4 // 3:
        return None
    try:
        data = b64decode(stored, validate=True)
    except (Error, ValueError):
        return None
    transport = evidence.data.get("transport", "buffer")
    return data, transport if transport in ("tcp", "udp") else "buffer"


def packet_capture(data: bytes, transport: str, about: Mapping[str, Json]) -> bytes:
    """Return a pcap file with this packet alone.

    about: the evidence's data; `source` and `destination` (`address:port`) and `time_ns` are used if they are valid.
    """
    protocol = _UDP if transport == "udp" else _TCP
    source, port = _endpoint(about.get("source"), *_CLIENT)
    destination, other = _endpoint(about.get("destination"), _SERVER, _PORTS[protocol])
    if source.version != destination.version:
        source, destination = ip_address(_CLIENT[0]), ip_address(_SERVER)
    stamp = about.get("time_ns")
    stamp = stamp if isinstance(stamp, int) and not isinstance(stamp, bool) and 0 <= stamp < 1 << 61 else 0
    out = [struct.pack("<IHHiIII", _MAGIC, 2, 4, 0, 0, 262_144, _LINK_RAW_IP)]
    size = SEGMENT if protocol == _TCP else 65_000
    if protocol == _TCP:
        # Include the start of the connection, so that a reader need not search the stream for the first header.
        out += _record(stamp, _ip(protocol, source, destination, 0, _tcp(port, other, 0, _SYN)))
    for number, at in enumerate(range(0, max(1, len(data)), size), 1):
        part = data[at : at + size]
        if protocol == _TCP:
            head = _tcp(port, other, 1 + at, _PSH_ACK)
        else:
            head = struct.pack(">HHHH", port, other, 8 + len(part), 0)
        out += _record(stamp, _ip(protocol, source, destination, number, head + part))
    return b"".join(out)


def _record(stamp: int, data: bytes) -> tuple[bytes, bytes]:
    return struct.pack("<IIII", stamp // 10**9 & 0xFFFFFFFF, stamp % 10**9, len(data), len(data)), data


def _tcp(source: int, destination: int, sequence: int, flags: int) -> bytes:
    # Five words of header without checksum, as if the network card computed it.
    return struct.pack(">HHIIBBHHH", source, destination, sequence, 1, 5 << 4, flags, 65_535, 0, 0)


def _ip(
    protocol: int, source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address, number: int, body: bytes
) -> bytes:
    if source.version == 6:
        return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + source.packed + destination.packed + body
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number & 0xFFFF, 0x4000, 64, protocol, 0)
    head += source.packed + destination.packed
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + head[12:] + body


def _endpoint(told: Json, address: str, port: int) -> tuple[IPv4Address | IPv6Address, int]:
    if isinstance(told, str) and len(told) <= 60:
        host, _, number = told.rpartition(":")
        try:
            found = ip_address(host.strip("[]").partition("%")[0])
        except ValueError:
            return ip_address(address), port
        if number.isascii() and number.isdigit() and int(number) <= 65_535:
            return found, int(number)
    return ip_address(address), port
