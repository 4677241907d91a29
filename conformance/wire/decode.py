"""Decodes packets (`dissect`). Any bytes are allowed; nothing larger than the bytes is ever allocated."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import combinations

from conformance.wire import elements as lists
from conformance.wire.appended import IN_ORDER, LEAST, Appended, Srmp, appended, begins, filled, sections_of, srmp
from conformance.wire.appended import ORDERS as SRMP_ORDERS
from conformance.wire.framing import ACK_TAIL, acknowledgment, looks_internal, looks_like_message, meant_type
from conformance.wire.headers import (
    ACK_BODIES,
    BASE_HEADER,
    BODY_SECTION_ID,
    DEAD_LETTER_HEADER,
    DEAD_LETTER_PACKED,
    EXTENSION_HEADER,
    EXTENSION_SECTIONS,
    EXTENSION_SIZE,
    INTERNAL_HEADER,
    INTERNAL_PACKETS,
    MALFORMED,
    MAXIMUM_SIZE,
    PING,
    PING_KIND,
    PING_SIGNATURE,
    PING_SIZE,
    SESSION_HEADER,
    SESSION_HEADER_SIZE,
    SIGNATURE,
    SOAP_PACKED,
    SOAP_UNPADDED,
    SRMP_BYTES,
    SRMP_PACKED,
    USER_MESSAGE,
    USER_MESSAGE_SECTIONS,
    VERSION,
)
from conformance.wire.layout import (
    Blob,
    Branch,
    Condition,
    Padding,
    Run,
    Section,
    Step,
    Value,
    guid_text,
    parted,
    steps_of,
)
from conformance.wire.packet import Packet, Span, Trouble
from conformance.wire.security_items import INSIDE, facts_of

BASE_SIZE = 16
BODY, EXTENT = "MessagePropertiesHeader.MessageBody", "MessagePropertiesHeader.AllocationBodySize"
BODY_ALLOCATED = "body-allocated"  # the body has its allocated length
FILLED = ("Ended", "Behind", "Zeros")  # facts about text that zeros fill up


class _Stop(Exception):
    """Raised when decoding cannot go on; the trouble is already noted."""


class _Reader:
    """One pass over the bytes. `end` is the bound a field may not cross: the end of the bytes, or of PacketSize.

    under: the alternative layouts of this pass, none by default. lengths: of fields whose size field is wrong, by key.
    srmp: the headers of HTTP messages that are there, where they are not what the packet tells.
    """

    def __init__(self, data: bytes, under: frozenset[str] = frozenset()) -> None:
        self.data = data
        self.at = 0
        self.end = len(data)
        self.fields: dict[str, Value] = {}
        self.spans: dict[str, Span] = {}
        self.trouble: list[Trouble] = []
        self.under = under
        self.lengths: dict[str, int] = {}
        self.srmp: Srmp | None = None

    def note(self, code: str, field: str, offset: int, says: str) -> None:
        self.trouble.append(Trouble(code, field, offset, says))

    def short(self, key: str, need: int) -> _Stop:
        """Note that `need` bytes of `key` do not fit, either into the bytes or into PacketSize."""
        if self.at + need > len(self.data):
            self.note("truncated", key, self.at, f"{key} needs {need} bytes, {len(self.data) - self.at} are left")
        else:
            self.note("overrun", key, self.at, f"{key} needs {need} bytes, PacketSize leaves {self.end - self.at}")
        return _Stop()

    def section(self, section: Section) -> None:
        start = self.at
        try:
            self.steps(steps_of(section), start)
        finally:
            self.spans[section.name] = (start, self.at - start)

    def steps(self, steps: tuple[Step, ...], start: int) -> None:
        for step in steps:
            if isinstance(step, Run):
                self.run(step)
            elif isinstance(step, Blob):
                self.blob(step, start)
            elif isinstance(step, Padding):
                self.padding(step, start)
            else:
                self.branch(step, start)

    def run(self, step: Run) -> None:
        at, fields = self.at, self.fields
        if at + step.struct.size > self.end:
            self.part_of_run(step)
        values = list(step.struct.unpack_from(self.data, at))
        for place in step.guids:
            values[place] = guid_text(values[place])
        fields.update(zip(step.keys, values, strict=True))
        self.spans.update(step.spans(at))
        for place, bits, known in step.words:
            fields.update(parted(values[place], bits, known))
        self.at = at + step.struct.size

    def part_of_run(self, step: Run) -> None:
        """Decode the fields of a run that fit, then stop at the first that does not."""
        start = self.at
        for key, offset, width, is_guid in step.fields:
            self.at = start + offset
            if self.at + width > self.end:
                raise self.short(key, width)
            raw = self.data[self.at : self.at + width]
            self.fields[key] = guid_text(raw) if is_guid else int.from_bytes(raw, "little")
            self.spans[key] = (self.at, width)
            for bit_key, word, low, mask in step.bits:
                if word == key:
                    self.fields[bit_key] = (int.from_bytes(raw, "little") >> low) & mask

    def blob(self, step: Blob, start: int) -> None:
        of = EXTENT if step.key == BODY and BODY_ALLOCATED in self.under else step.of
        times = 1 if step.length.bytes_under in self.under else step.length.times
        length = int(self.fields[of]) * times - step.length.minus if of else step.length.fixed
        length = self.lengths.get(step.key, length)
        if length < 0:
            self.note("size", of, self.at, f"{of} is too small by {-length} for what it counts")
            raise _Stop
        if length == 0:
            self.elements(step, b"", self.at, start)
            return
        if self.at + length > self.end:
            raise self.short(step.key, length)
        raw = self.data[self.at : self.at + length]
        self.spans[step.key] = (self.at, length)
        self.at += length
        if step.text:
            self.fields.update(text_fields(step.key, raw))
        else:
            self.fields[step.key] = raw
            self.elements(step, raw, self.at - length, start)
            if step.filled:
                names = (f"{step.key}.{fact}" for fact in FILLED)
                self.fields.update(zip(names, filled(raw), strict=True))

    def elements(self, step: Blob, raw: bytes, at: int, start: int) -> None:
        """Decode the elements of a list, and the facts about the list as a whole."""
        if step.elements is None:
            return
        fields, spans = lists.facts(step.key, raw, at, start, int(self.fields[step.count]), step.elements)
        self.fields.update(fields)
        self.spans.update(spans)

    def padding(self, step: Padding, start: int) -> None:
        need = 0 if step.not_under in self.under else -(self.at - start) % step.to
        there = min(need, self.end - self.at)
        if need:
            self.spans[step.key] = (self.at, there)
            self.fields[step.key] = self.data[self.at : self.at + there]
        self.fields[f"{step.key}.Complete"] = there == need
        self.at += there

    def branch(self, step: Branch, start: int) -> None:
        if step.condition is not None:
            if self.met(step.condition):
                self.steps(step.options[1], start)
            return
        selector = int(self.fields[step.by])
        option = step.options.get(selector)
        if option is None:
            self.note("queue-type", step.by, self.at, f"{step.by} is {selector}, which has no layout")
            raise _Stop
        begin = self.at
        self.steps(option, start)
        if self.at > begin:
            self.spans[step.key] = (begin, self.at - begin)

    def met(self, condition: Condition) -> bool:
        return (self.fields.get(condition.key) in condition.values) != condition.negate

    def packet(self, kind: str) -> Packet:
        self.fields["Packet.Kind"] = kind
        self.fields["Packet.Length"] = len(self.data)
        return Packet(kind, self.fields, self.spans, tuple(self.trouble), self.data)


def dissect(data: bytes, *, transport: str | None = None) -> Packet:
    """Decode one packet.

    data: the packet's bytes, without the bytes behind it. transport: `udp` for a datagram of port 3527 (always a Ping),
    `tcp` or `buffer` for anything with a BaseHeader; None recognises a Ping by its size and signature. Never raises for
    any bytes: errors are in `trouble`. Layout: MS-MQMQ 2.2.18 to 2.2.20, MS-MQQB 2.2.
    """
    data = bytes(data)
    if transport == "udp" or (transport is None and _looks_like_ping(data)):
        return _ping(data)
    reader = _Reader(data)
    kind = _decode(reader)
    if kind == USER_MESSAGE and not _explained(reader):
        for under in _doubts(reader):
            again = _Reader(data, under)
            _decode(again)
            if _explained(again):
                reader = again
                break
        else:
            reader = _with_srmp(reader)
    _alternatives(reader)
    return reader.packet(kind)


_MPH = "MessagePropertiesHeader"
_DEBUG = "DebugHeader"


def _with_srmp(reader: _Reader) -> _Reader:
    """Read the packet with one mistake in the headers of HTTP messages, where one explains what they are."""
    fields = reader.fields
    size, announced = int(fields["BaseHeader.PacketSize"]), bool(fields.get("UserHeader.Flags.AH"))
    if size > len(reader.data) or (not announced and int(fields.get("Packet.Unexplained", 0)) < LEAST):
        return reader
    if _SRMP not in reader.spans and (announced or _MPH not in reader.spans):
        return reader
    at = reader.spans[_SRMP][0] if announced else sum(reader.spans.get(_DEBUG, reader.spans[_MPH]))
    behind = (one.name for one, condition in USER_MESSAGE_SECTIONS[-2:] if condition and reader.met(condition))
    found = srmp(reader.data, at, size, next(behind, ""), announced=announced)
    if found is None:
        return reader
    again = _Reader(reader.data, found.under)
    again.srmp, again.lengths = found, dict(found.lengths)
    _decode(again)
    again.note("srmp", f"{_SRMP}.HeaderId", at, "the headers of HTTP messages are not what the packet tells")
    data = again.spans.get(f"{_SRMP}.Data", (0, 0))[0]
    if f"{_SRMP}.Data" in found.lengths and data + int(again.fields[f"{_SRMP}.DataLength"]) > size:
        again.note("overrun", f"{_SRMP}.Data", data, f"{_SRMP}.DataLength counts more than PacketSize leaves")
    return again


def _explained(reader: _Reader) -> bool:
    """Return True when this reading explains all: no trouble, no unexplained bytes, the marks in their places."""
    fields = reader.fields
    if reader.trouble:
        return False
    if _SOAP in reader.spans and fields.get(f"{_SOAP}.BodySectionID", BODY_SECTION_ID) != BODY_SECTION_ID:
        return False
    if reader.spans.keys() & _PADDED and not all(fields.get(f"{padding}.Complete", True) for padding in _PADDINGS):
        return False
    data = f"{_SRMP}.Data"
    if data in fields and (not fields[f"{data}.Terminated"] or fields[f"{data}.Inner"]):
        return False
    return fields.get("Packet.Unexplained") in (0, fields.get("Packet.ExtensionEnd"))


def _doubts(reader: _Reader) -> tuple[frozenset[str], ...]:
    """Return the alternative layouts that could explain this packet instead, single ones before combinations.

    The documents do not say which of the two sizes an encrypted body has on the wire (MS-MQMQ 2.2.19.3), nor how the
    headers of HTTP messages are aligned and counted.
    """
    fields = reader.fields
    found: list[str] = []
    larger = int(fields.get(EXTENT, 0)) > int(fields.get(f"{_MPH}.MessageSize", 0))
    if larger and fields.get(f"{_MPH}.PrivacyLevel") != 0:
        found.append(BODY_ALLOCATED)
    if fields.get("UserHeader.Flags.HH"):
        found.append(SOAP_PACKED)
    if fields.get("UserHeader.Flags.AH"):
        found += [SRMP_BYTES, SRMP_PACKED]
    chosen = [frozenset(some) for size in range(1, len(found) + 1) for some in combinations(found, size)]
    return tuple(
        under for some in chosen for under in ((some | {SOAP_UNPADDED}, some) if SOAP_PACKED in some else (some,))
    )


_SOAP, _SRMP, _COMPOUND = "SoapHeader", "SRMPEnvelopeHeader", "CompoundMessageHeader"
_PADDED = {_SOAP, _SRMP, _COMPOUND}
_PADDINGS = (f"{_SOAP}.HeaderPadding", f"{_SOAP}.BodyPadding", f"{_SRMP}.Padding", f"{_COMPOUND}.Padding")


def _alternatives(reader: _Reader) -> None:
    """Add the facts on the layout of headers of HTTP messages: `either` when both layouts agree."""
    fields, spans = reader.fields, reader.spans
    if not spans.keys() & _PADDED:
        return
    ends = {_SOAP: (f"{_SOAP}.Header", f"{_SOAP}.Body"), _SRMP: (f"{_SRMP}.Data", f"{_COMPOUND}.Data")}
    packed = {_SOAP: SOAP_PACKED, _SRMP: SRMP_PACKED}
    for section, texts in ends.items():
        if section not in spans:
            continue
        differ = any(spans.get(text, (0, 0))[1] % 4 for text in texts)
        fields[f"{section}.Layout"] = "packed" if packed[section] in reader.under else "aligned" if differ else "either"
    if f"{_SRMP}.Data" in fields and f"{_SRMP}.Data" not in reader.lengths:
        fields[f"{_SRMP}.Unit"] = "bytes" if SRMP_BYTES in reader.under else "wchars"
    if _SRMP in spans and _COMPOUND in spans:
        fields["Packet.SrmpOrder"] = reader.srmp.order if reader.srmp else SRMP_ORDERS[0]
    for section in (_SRMP, _COMPOUND):
        if f"{section}.Padding.Complete" in fields:
            fields[f"{section}.Counted"] = spans.get(f"{section}.Data", (0, 0))[1]


def _decode(reader: _Reader) -> str:
    """Decode everything; return the packet's kind."""
    try:
        reader.section(BASE_HEADER)
    except _Stop:
        return MALFORMED
    fields = reader.fields
    if fields["BaseHeader.Signature"] != SIGNATURE:
        reader.note("signature", "BaseHeader.Signature", 4, "BaseHeader.Signature is not 0x524F494C")
        return MALFORMED
    if fields["BaseHeader.VersionNumber"] != VERSION:
        reader.note("version", "BaseHeader.VersionNumber", 0, "BaseHeader.VersionNumber is not 0x10")
    size = int(fields["BaseHeader.PacketSize"])
    if size < BASE_SIZE or size > MAXIMUM_SIZE:
        reader.note("packet-size", "BaseHeader.PacketSize", 8, f"PacketSize {size} is outside 16 to {MAXIMUM_SIZE}")
        return MALFORMED
    if size > len(reader.data):
        reader.note(
            "truncated", "BaseHeader.PacketSize", 8, f"PacketSize is {size}, there are {len(reader.data)} bytes"
        )
    reader.end = min(size, len(reader.data))
    internal = fields["BaseHeader.Flags.IN"] and not looks_like_message(reader.data[:size])
    if internal or looks_internal(reader.data[:size]):
        return _internal(reader)
    try:
        return _user_message(reader, size)
    except _Stop:
        return USER_MESSAGE


def _internal(reader: _Reader) -> str:
    try:
        reader.section(INTERNAL_HEADER)
    except _Stop:
        return MALFORMED
    packet_type = int(reader.fields["InternalHeader.Flags.PT"])
    if reader.fields["BaseHeader.PacketSize"] == len(reader.data):
        session_header = bool(reader.fields["BaseHeader.Flags.SH"])
        packet_type = meant_type(packet_type, len(reader.data), session_header=session_header)
    found = INTERNAL_PACKETS.get(packet_type)
    if found is None:
        reader.note("packet-type", "InternalHeader.Flags.PT", 18, "InternalHeader.Flags.PT is none of 1, 2 and 3")
        return MALFORMED
    kind, section = found
    if section is SESSION_HEADER:
        # MS-MQMQ 2.2.19.1 excludes the SessionHeader from PacketSize, MS-MQQB 4.1.8 counts it: read it either way.
        inside = reader.at + SESSION_HEADER_SIZE <= reader.end
        reader.fields["Packet.SessionHeaderPlacement"] = "inside" if inside else "after"
        if not inside:
            reader.end = len(reader.data)
    with suppress(_Stop):
        reader.section(section)
        _leftover(reader, reader.at)
    return kind


def _user_message(reader: _Reader, size: int) -> str:
    for section, condition in sections_of(reader.srmp):
        if condition is None or reader.met(condition):
            reader.section(section)
            if section.name == "SecurityHeader":
                _security_items(reader)
    end = reader.at
    reader.fields["Packet.HeadersEnd"] = end
    at, length = reader.spans.get(BODY, (end, 0))
    kind = acknowledgment(reader.fields, reader.data[at + ACK_TAIL : at + length])
    if kind in ACK_BODIES:
        _ack_body(reader, kind)
    if reader.fields["BaseHeader.Flags.SH"]:
        _session_header(reader, end, size)
    _leftover(reader, end)
    if int(reader.fields["Packet.Unexplained"]) >= EXTENSION_SIZE and not reader.trouble:
        _extension(reader, end)
    return kind


def _extension(reader: _Reader, end: int) -> None:
    """Read the headers of MS-MQRR 2.2.5.2 behind the last one, as far as one mistake in them allows."""
    inner = _Reader(reader.data)
    inner.at, inner.end = end, end + int(reader.fields["Packet.Unexplained"])
    inner.section(EXTENSION_HEADER)
    flags = {section: condition for section, condition in EXTENSION_SECTIONS if condition is not None}
    announced = tuple(section for section in IN_ORDER if inner.met(flags[section]))
    if not begins(inner.data, end, inner.end, announced):
        return
    found = appended(inner.data, inner.at, inner.end, announced)
    inner.under = frozenset({DEAD_LETTER_PACKED} if found.packed else ())
    if found.path is not None:
        inner.lengths[DEAD_LETTER_HEADER.key("DeadLetterPathName")] = found.path
    with suppress(_Stop):
        for section in found.sections:
            inner.section(section)
    reader.fields.update(inner.fields)
    reader.spans.update(inner.spans)
    reader.trouble.extend(inner.trouble)
    reader.fields["Packet.ExtensionEnd"] = inner.at - end
    reader.fields["Packet.ExtensionOrder"] = found.order
    if found != Appended(announced):
        reader.note(
            "appended", "ExtensionHeader.Flags", end + 8, "what follows is not what ExtensionHeader.Flags tells"
        )
    if DEAD_LETTER_HEADER.name in inner.spans:
        reader.fields["DeadLetterHeader.Counted"] = inner.spans[DEAD_LETTER_HEADER.name][1]


def _session_header(reader: _Reader, end: int, size: int) -> None:
    """Read the SessionHeader behind PacketSize or, when only that fits, as the last 16 bytes inside it."""
    total = len(reader.data)
    if total >= size + SESSION_HEADER_SIZE:
        placement, reader.at, reader.end = "after", size, size + SESSION_HEADER_SIZE
    elif end + SESSION_HEADER_SIZE <= size <= total:
        placement, reader.at, reader.end = "inside", size - SESSION_HEADER_SIZE, size
    else:
        placement, reader.at, reader.end = "after", min(size, total), total
    reader.fields["Packet.SessionHeaderPlacement"] = placement
    reader.section(SESSION_HEADER)


def _leftover(reader: _Reader, end: int) -> None:
    """Add the facts on bytes that no header explains: inside PacketSize, and behind the packet."""
    fields = reader.fields
    size, last = int(fields["BaseHeader.PacketSize"]), end
    if fields.get("Packet.SessionHeaderPlacement") == "inside" and reader.at == size:
        last = max(end, size - SESSION_HEADER_SIZE) if "UserHeader" in reader.spans else reader.at
        fields["Packet.Unexplained"] = last - end if "UserHeader" in reader.spans else 0
    else:
        fields["Packet.Unexplained"] = max(0, min(size, len(reader.data)) - end)
    behind = len(reader.data) - max(size, reader.at)
    if behind > 0:
        reader.note("extra", "BaseHeader.PacketSize", max(size, reader.at), f"{behind} bytes follow the packet")


def _ack_body(reader: _Reader, kind: str) -> None:
    span = reader.spans.get(BODY, (reader.at, 0))
    body = _Reader(reader.data)
    body.at, body.end = span[0], span[0] + span[1]
    with suppress(_Stop):
        body.section(ACK_BODIES[kind])
    if body.trouble or body.at != body.end:
        reader.note("ack-body", BODY, span[0], f"the body of an {kind} has 36 bytes, this one {span[1]}")
    reader.fields.update(body.fields)
    reader.spans.update(body.spans)


def _security_items(reader: _Reader) -> None:
    """Read the contents of the items of SecurityData. A misfit is a fact, not trouble: the sizes hold."""
    for item in INSIDE:
        if item.key not in reader.spans or (item.condition is not None and not reader.met(item.condition)):
            continue
        at, length = reader.spans[item.key]
        inner = _Reader(reader.data)
        inner.at, inner.end = at, at + length
        with suppress(_Stop):
            inner.section(item.section)
        left = inner.end - inner.at
        if item.rest and left and not inner.trouble:
            key = item.section.key(item.rest)
            inner.fields[key] = inner.data[inner.at : inner.end]
            inner.spans[key] = (inner.at, left)
        inner.fields[item.section.key("Exact")] = not inner.trouble and (bool(item.rest) == bool(left))
        reader.fields.update(inner.fields)
        reader.spans.update(inner.spans)
    reader.fields.update(facts_of(reader.fields))


def _looks_like_ping(data: bytes) -> bool:
    return len(data) == PING_SIZE and int.from_bytes(data[2:4], "little") == PING_SIGNATURE and data[4:8] != b"LIOR"


def _ping(data: bytes) -> Packet:
    reader = _Reader(data)
    try:
        reader.section(PING)
    except _Stop:
        return reader.packet(MALFORMED)
    if reader.fields["Ping.Signature"] != PING_SIGNATURE:
        reader.note("signature", "Ping.Signature", 2, "Ping.Signature is not 0x5548")
        return reader.packet(MALFORMED)
    if len(data) > PING_SIZE:
        reader.note("extra", "Ping.QMGuid", PING_SIZE, f"{len(data) - PING_SIZE} bytes follow the Ping")
    return reader.packet(PING_KIND)


def read_section(section: Section, data: bytes, under: frozenset[str] = frozenset()) -> tuple[dict[str, Value], int]:
    """Read one section from the start of `data`: its fields by full key, as far as they fit, and the bytes read.

    under: the alternative layouts of the reading.
    """
    reader = _Reader(data, under)
    with suppress(_Stop):
        reader.section(section)
    return reader.fields, reader.at


def text_fields(key: str, raw: bytes) -> dict[str, Value]:
    """Return a text and three facts about its bytes. Lone surrogates are kept, half a WCHAR is dropped."""
    odd = len(raw) % 2
    text = raw[: len(raw) - odd].decode("utf-16-le", "surrogatepass")
    terminated = text.endswith("\0") and not odd
    shown = text[:-1] if terminated else text
    ends, inner, half = _text_facts(key)
    return {key: shown, ends: terminated, inner: "\0" in shown, half: bool(odd)}


@cache
def _text_facts(key: str) -> tuple[str, str, str]:
    return f"{key}.Terminated", f"{key}.Inner", f"{key}.Odd"
