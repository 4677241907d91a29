"""Reads CACTransferBufferV1 (MS-MQMP 2.2.3.2) in NDR 2.0, little-endian, by the tables of `transfer_buffer`.

Memory is bounded by the bytes, whatever the counts are. The reader is independent of scapy's NDR classes, which write
what it reads.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

from conformance.wire.layout import Value
from conformance.wire.packet import Packet, Span, Trouble
from conformance.wire.transfer_buffer import (
    ALIGNMENT,
    BUFFERS,
    BY_CASE,
    MEMBERS,
    NUMBERS,
    POINTED_NUMBERS,
    QUEUE_ARMS,
    SIZE,
    STRUCTURE,
    TAG,
    TRANSFER_TYPE,
    Arm,
    Kind,
    Member,
    key,
)


class _Stopped(Exception):
    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.says)
        self.trouble = trouble


class _Bytes:
    """The bytes, a position in them, and the fields read so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.fields: dict[str, Value] = {}
        self.spans: dict[str, Span] = {}

    def take(self, name: str, size: int, align: int = 1) -> bytes:
        """Take `size` bytes at the next multiple of `align`, and record their place under the name."""
        start = -(-self.at // align) * align
        if start + size > len(self.data):
            says = f"{name} needs {size} bytes at {start}, the structure ends at {len(self.data)}"
            raise _Stopped(Trouble("truncated", name, min(start, len(self.data)), says))
        self.at = start + size
        self.spans[name] = (start, size)
        return self.data[start : self.at]

    def number(self, name: str, width: int, signed: bool = False) -> int:
        value = int.from_bytes(self.take(name, width, width), "little", signed=signed)
        self.fields[name] = value
        return value

    def referent(self, name: str) -> int:
        return self.number(f"{name}.Referent", 4)

    def guid(self, name: str, align: int = 4) -> None:
        self.fields[name] = str(uuid.UUID(bytes_le=self.take(name, 16, align)))

    def count(self, name: str, offset: int, used: int, room: int) -> None:
        """Reject a varying array that does not fit into its own capacity."""
        if offset + used > room:
            says = f"{name} uses {used} elements from {offset} of an array of {room}"
            raise _Stopped(Trouble("size", name, self.at, says))


def read_transfer_buffer(data: bytes) -> Packet:
    """Read the structure into fields, places and facts for each member; errors are in `trouble`.

    data: one parameter behind a reference pointer, without any header. Beside the value of a member (absent for a null
    pointer) there are `.Referent` of every pointer, `.Inner` of a pointer to a pointer, `.MaxCount`, `.Offset` and
    `.ActualCount` of arrays, `.Terminated` and `.TextLength` of WCHARs, `Union.Tag`, `Trailing` (bytes left over),
    `Pointees` (the number of pointers that are not null) and `Last`, the member whose pointee comes last.
    """
    source = _Bytes(bytes(data))
    trouble: tuple[Trouble, ...] = ()
    try:
        _read(source)
    except _Stopped as stopped:
        trouble = (stopped.trouble,)
    return Packet(STRUCTURE, source.fields, source.spans, trouble, source.data)


def _read(source: _Bytes) -> None:
    kind = source.number(key(TRANSFER_TYPE.name), 4)
    source.number(key(TAG), 4)
    arm = BY_CASE.get(kind)
    if arm is None:
        says = f"uTransferType {kind} has no arm in the union"
        raise _Stopped(Trouble("queue-type", key(TRANSFER_TYPE.name), 0, says))
    later: list[tuple[str, Callable[[], None]]] = []
    for member in arm.members:
        _flat(source, member, arm, later)
    for member in MEMBERS:
        _flat(source, member, None, later)
    for name, pointee in later:
        pointee()
        source.fields[key("Last")] = name.rpartition(".")[2]
    source.fields[key("Pointees")] = len(later)
    source.fields[key("Trailing")] = len(source.data) - source.at


def _flat(source: _Bytes, member: Member, arm: Arm | None, later: list[tuple[str, Callable[[], None]]]) -> None:
    """Read the part in the structure itself; the referents follow it, in the order of the pointers."""
    name = key(member.name, arm)
    width = NUMBERS.get(member.kind)
    if width is not None:
        source.number(name, width, member.kind is Kind.I32)
    elif source.referent(name):
        later.append((name, lambda: _pointee(source, member, name)))


def _pointee(source: _Bytes, member: Member, name: str) -> None:
    kind = member.kind
    if kind in POINTED_NUMBERS:
        source.number(name, POINTED_NUMBERS[kind])
    elif kind is Kind.P_QUEUE:
        _queue_format(source, name)
    elif kind is Kind.P_UOW:
        source.guid(name, ALIGNMENT[kind])
    elif source.number(f"{name}.Inner", 4):
        if kind in BUFFERS:
            _array(source, member, name)
        elif kind is Kind.PP_GUID:
            source.guid(name)
        else:
            _object_identifier(source, name)


def _array(source: _Bytes, member: Member, name: str) -> None:
    width = BUFFERS[member.kind]
    used = room = source.number(f"{name}.MaxCount", 4)
    if member.varying:
        offset = source.number(f"{name}.Offset", 4)
        used = source.number(f"{name}.ActualCount", 4)
        source.count(name, offset, used, room)
    raw = source.take(name, used * width, width)
    if width == 1:
        source.fields[name] = raw
        source.fields[f"{name}.SidLength"] = sid_length(raw)
        source.fields[f"{name}.CertificateLength"] = certificate_length(raw)
        return
    text = _text(raw)
    source.fields[name] = text
    source.fields[f"{name}.Terminated"] = "\0" in text
    source.fields[f"{name}.TextLength"] = len(text.partition("\0")[0])


def _object_identifier(source: _Bytes, name: str) -> None:
    source.take(name, SIZE[Kind.PP_OBJECTID], ALIGNMENT[Kind.PP_OBJECTID])
    start = source.spans[name][0]
    source.at = start
    source.guid(f"{name}.Lineage")
    source.number(f"{name}.Uniquifier", 4)
    source.fields[name] = source.data[start : source.at]


def _queue_format(source: _Bytes, name: str) -> None:
    source.take(f"{name}.Start", 0, 4)
    selector = source.number(f"{name}.m_qft", 1)
    source.number(f"{name}.m_suffix_and_flags", 1)
    source.number(f"{name}.m_reserved", 2)
    tag = source.number(f"{name}.Tag", 1)
    if tag != selector or (selector and selector not in QUEUE_ARMS):
        says = f"{name} has m_qft {selector} and the union's tag {tag}"
        raise _Stopped(Trouble("queue-type", f"{name}.m_qft", source.at, says))
    start = source.spans[f"{name}.m_qft"][0]
    if selector:
        member, shape = QUEUE_ARMS[selector]
        _queue_arm(source, f"{name}.{member}", shape)
    source.fields[name] = source.data[start : source.at]
    source.spans[name] = (start, source.at - start)


def _queue_arm(source: _Bytes, name: str, shape: str) -> None:
    if shape == "guid":
        source.guid(name)
    elif shape == "objectid":
        _object_identifier(source, name)
    elif shape == "multicast":
        source.number(f"{name}.m_address", 4)
        source.number(f"{name}.m_port", 4)
    elif shape == "dl":
        source.guid(f"{name}.m_dl_guid")
        _string(source, f"{name}.m_pwz_domain")
    else:
        _string(source, name)


def _string(source: _Bytes, name: str) -> None:
    """Read a unique pointer to a `[string]` of WCHARs; its referent follows immediately."""
    if not source.referent(name):
        return
    room = source.number(f"{name}.MaxCount", 4)
    offset = source.number(f"{name}.Offset", 4)
    used = source.number(f"{name}.ActualCount", 4)
    source.count(name, offset, used, room)
    text = _text(source.take(name, used * 2, 2))
    source.fields[f"{name}.Terminated"] = text.endswith("\0")
    source.fields[name] = text.removesuffix("\0")


def _text(raw: bytes) -> str:
    return raw.decode("utf-16-le", "surrogatepass")


def sid_length(raw: bytes) -> int:
    """Return the length of the SID (MS-DTYP 2.4.2.2) at the beginning; 0 when there is none or it is cut short."""
    if len(raw) < 8 or raw[0] != 1 or raw[1] > 15:
        return 0
    length = 8 + 4 * raw[1]
    return length if length <= len(raw) else 0


def certificate_length(raw: bytes) -> int:
    """Return the length of the X.509 certificate (RFC 5280 4.1) at the beginning, by its DER outline; 0 for none.

    The outline: a sequence of a sequence, a sequence and a bit string, and nothing else.
    """
    outer = _der(raw, 0, 0x30)
    if outer is None:
        return 0
    at, end = outer
    for tag in (0x30, 0x30, 0x03):
        inner = _der(raw[:end], at, tag)
        if inner is None:
            return 0
        at = inner[1]
    return end if at == end else 0


def _der(raw: bytes, at: int, tag: int) -> Span | None:
    """Return begin and end of the contents of a DER value; None where there is no value of this tag."""
    if at + 2 > len(raw) or raw[at] != tag:
        return None
    size, begin = raw[at + 1], at + 2
    if size > 0x80:
        more = size - 0x80
        size, begin = int.from_bytes(raw[begin : begin + more], "big"), begin + more
    elif size == 0x80:
        return None
    return (begin, begin + size) if begin + size <= len(raw) else None
