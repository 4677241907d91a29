"""Encodes packets from values by key. Sizes, flags and padding are computed; given values take precedence.

So a wrong packet is made by giving the wrong value: `encode("UserMessage", {..., "BaseHeader.PacketSize": 7})`.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from conformance.wire import elements as lists
from conformance.wire.decode import BASE_SIZE
from conformance.wire.framing import ORDER_ACK_CLASS, ORDER_LABEL, ORDER_QUEUE_ID
from conformance.wire.headers import (
    ACK_BODIES,
    BASE_HEADER,
    EXTENSION_SECTIONS,
    FINAL_ACK,
    INTERNAL_HEADER,
    INTERNAL_PACKETS,
    ORDER_ACK,
    PING,
    PING_KIND,
    SECTION,
    SESSION_HEADER,
    SESSION_HEADER_SIZE,
    SOAP_PACKED,
    SOAP_UNPADDED,
    SRMP_PACKED,
    USER_MESSAGE,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.layout import Blob, Branch, Condition, Padding, Run, Section, Step, Value, steps_of
from conformance.wire.packet import Packet
from conformance.wire.security_items import INSIDE

_MPH = "MessagePropertiesHeader"
_INTERNAL = {kind: (code, section) for code, (kind, section) in INTERNAL_PACKETS.items()}
Values = Mapping[str, Value]


class EncodeError(ValueError):
    """Raised for a value that its field cannot hold, or a key that no table has."""


def encode(
    kind: str,
    values: Values | None = None,
    *,
    sections: Collection[str] | None = None,
    placement: str = "after",
) -> bytes:
    """Encode one packet of `kind` (as `Packet.kind`), little-endian, ready for the wire.

    values: by key; values left out are computed (sizes, presence flags, padding) or take their defaults. A given number
    is written unchanged, text gets its NUL, bytes in place of text are written unchanged. sections: exactly these
    optional headers, whatever the flags are; None writes those whose flag is given as set or that have values.
    placement: a UserMessage's SessionHeader is `after` the bytes PacketSize counts, or `inside` them. Raises
    EncodeError for an unknown kind or key and for a value that does not fit its field.
    """
    writer = _Writer(dict(values or {}))
    if kind == PING_KIND:
        packet = writer.section(PING)
    elif kind in _INTERNAL:
        packet = _internal(writer, kind)
    elif kind in (USER_MESSAGE, ORDER_ACK, FINAL_ACK):
        packet = _user_message(writer, kind, sections, placement)
    else:
        raise EncodeError(f"Unknown packet kind '{kind}'")
    unused = [key for key in writer.values if key not in writer.known]
    if unused:
        raise EncodeError(f"a {kind} has no field {', '.join(sorted(unused))}")
    return packet


def write_section(section: Section, values: Values) -> bytes:
    """Encode one section from values by full key; lengths, selectors and padding are computed when not given.

    Raises EncodeError for a value that does not fit its field.
    """
    return _Writer(dict(values)).section(section)


def patch(packet: Packet, changes: Values) -> bytes:
    """Overwrite fields in the packet's bytes; nothing is recomputed.

    A number must fit its field, bytes must have the field's length. Raises EncodeError otherwise.
    """
    data = bytearray(packet.data)
    for key, value in changes.items():
        at, width, low, mask = _place(packet, key)
        if isinstance(value, bytes):
            if len(value) != width:
                raise EncodeError(f"{key} has {width} bytes, not {len(value)}")
            data[at : at + width] = value
        elif isinstance(value, str):
            data[at : at + width] = _guid_bytes(key, value)
        else:
            word = int.from_bytes(data[at : at + width], "little")
            if not 0 <= value <= mask:
                raise EncodeError(f"{key} cannot be {value}")
            data[at : at + width] = (word & ~(mask << low) | value << low).to_bytes(width, "little")
    return bytes(data)


def rebuild(packet: Packet, changes: Values | None = None, *, without: Collection[str] = ()) -> bytes:
    """Encode a packet again with changes; sizes, presence flags and padding follow unless `changes` gives them.

    without: keys, or names of sections, left out. The packet must have been decoded whole (EncodeError otherwise).
    """
    if not packet.whole:
        raise EncodeError(f"the packet was not decoded whole: {packet.trouble[0].says}")
    changes = dict(changes or {})
    values = {key: value for key, value in _explicit_values(packet) if not _covered(key, without)}
    for key in changes:
        _reopen(packet, key, values)
        for other in [other for other in values if other.startswith(f"{key}.") and not other.startswith("Packet.")]:
            del values[other]
    values.update(changes)
    placement = str(packet.fields.get("Packet.SessionHeaderPlacement", "after"))
    return encode(packet.kind, values, placement=placement)


def _reopen(packet: Packet, key: str, values: dict[str, Value]) -> None:
    """Replace a list by its elements when `changes` changes one of them, so that the list is written anew."""
    for step in all_steps(steps_of(SECTION[key.partition(".")[0]])) if key.partition(".")[0] in SECTION else ():
        if isinstance(step, Blob) and step.elements and list(lists.names_in(step.key, step.elements, (key,))):
            values.pop(step.key, None)
            values.pop(step.count, None)
            for inner in lists.names_in(step.key, step.elements, packet.fields):
                if not inner.endswith(".Padding"):
                    values.setdefault(inner, packet.fields[inner])


def _explicit_values(packet: Packet) -> Iterator[tuple[str, Value]]:
    """Yield the values of a decoded packet that `encode` would not compute."""
    for name in packet.spans:
        section = SECTION.get(name)
        if section is None or name in _INSIDE:
            continue  # the contents of an item come with the item
        for key in keys_of(steps_of(section)):
            if key in _COMPUTED or key not in packet.fields:
                continue
            if f"{key}.Terminated" in packet.fields:
                at, length = packet.spans[key]
                yield key, packet.data[at : at + length]
            elif not any(isinstance(step, Padding) and step.key == key for step in all_steps(steps_of(section))):
                yield key, packet.fields[key]
        yield from _layout_values(packet, section)


def _layout_values(packet: Packet, section: Section) -> Iterator[tuple[str, Value]]:
    """Yield the lengths and missing paddings of a section in an alternative layout, which `encode` would not write."""
    in_bytes = packet.fields.get(f"{section.name}.Unit") == "bytes"
    for step in all_steps(steps_of(section)):
        if isinstance(step, Padding) and step.not_under:
            if packet.fields.get(_LAYOUT.get(step.not_under, "")) == "packed" and step.key not in packet.spans:
                yield step.key, b""
        elif isinstance(step, Blob) and step.length.bytes_under and in_bytes:
            yield step.of, packet.fields[step.of]


_LAYOUT = {
    SOAP_PACKED: "SoapHeader.Layout",
    SOAP_UNPADDED: "SoapHeader.Layout",
    SRMP_PACKED: "SRMPEnvelopeHeader.Layout",
}


def _covered(key: str, names: Collection[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in names)


def _place(packet: Packet, key: str) -> tuple[int, int, int, int]:
    """Return offset, width in bytes, lowest bit and mask of a field."""
    span = packet.spans.get(key)
    if span is not None:
        return span[0], span[1], 0, (1 << 8 * span[1]) - 1
    section = SECTION.get(key.split(".", 1)[0])
    for step in all_steps(steps_of(section)) if section else ():
        if isinstance(step, Run):
            for bit_key, word, low, mask in step.bits:
                if bit_key == key and word in packet.spans:
                    at, width = packet.spans[word]
                    return at, width, low, mask
    raise EncodeError(f"the packet has no field {key}")


def _internal(writer: _Writer, kind: str) -> bytes:
    code, section = _INTERNAL[kind]
    writer.default("BaseHeader.Flags.PR", 3)
    writer.default("BaseHeader.Flags.IN", 1)
    writer.default("BaseHeader.Flags.SH", int(section is SESSION_HEADER))
    writer.default("InternalHeader.Flags.PT", code)
    rest = writer.section(INTERNAL_HEADER) + writer.section(section)
    writer.default("BaseHeader.PacketSize", BASE_SIZE + len(rest))
    return writer.section(BASE_HEADER) + rest


def _user_message(writer: _Writer, kind: str, sections: Collection[str] | None, placement: str) -> bytes:
    if kind in ACK_BODIES:
        _ack_defaults(writer, kind)
    _security_items(writer)
    chosen = [
        section
        for section, condition in USER_MESSAGE_SECTIONS
        if condition is None or writer.wants(section, condition, sections)
    ]
    for section, condition in USER_MESSAGE_SECTIONS:
        if condition is not None:
            writer.default(condition.key, int(section in chosen))
    session = writer.wants(SESSION_HEADER, Condition("BaseHeader.Flags.SH"), sections)
    writer.default("BaseHeader.Flags.SH", int(session))
    transactional = any(section.name == "TransactionHeader" for section in chosen)
    writer.default("BaseHeader.Flags.PR", 0 if transactional or kind in ACK_BODIES else 3)
    writer.default("UserHeader.Flags.DM", int(transactional or kind == FINAL_ACK))
    body = writer.values.get(f"{_MPH}.MessageBody", b"")
    writer.default(f"{_MPH}.AllocationBodySize", len(body) if isinstance(body, bytes) else 0)
    rest = b"".join(writer.section(section) for section in chosen) + _extension(writer)
    tail = writer.section(SESSION_HEADER) if session else b""
    counted = BASE_SIZE + len(rest) + (SESSION_HEADER_SIZE if session and placement == "inside" else 0)
    writer.default("BaseHeader.PacketSize", counted)
    for section, _ in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS, (SESSION_HEADER, None)):
        writer.known.update(_keys(section))
    return writer.section(BASE_HEADER) + rest + tail


def _extension(writer: _Writer) -> bytes:
    """Encode the headers of MS-MQRR 2.2.5.2 behind the message, when values of any of them are given."""
    wanted = {key.partition(".")[0] for key in writer.values}
    if not wanted & {section.name for section, _ in EXTENSION_SECTIONS}:
        return b""
    for section, condition in EXTENSION_SECTIONS:
        if condition is not None:
            writer.default(condition.key, int(section.name in wanted))
    chosen = [section for section, condition in EXTENSION_SECTIONS if condition and writer.values[condition.key]]
    following = b"".join(writer.section(section) for section in chosen)
    writer.default("ExtensionHeader.RemainingHeadersSize", len(following))
    return writer.section(EXTENSION_SECTIONS[0][0]) + following


def _ack_defaults(writer: _Writer, kind: str) -> None:
    """Set the defaults of the two acknowledgment packets (MS-MQQB 2.2.4 and 2.2.5)."""
    if not any(key.startswith("UserHeader.DestinationQueue.") for key in writer.values):
        writer.default("UserHeader.DestinationQueue.PrivateQueueIdentifier", ORDER_QUEUE_ID)
    writer.default(f"{_MPH}.Label", ORDER_LABEL)
    writer.default(f"{_MPH}.MessageClass", ORDER_ACK_CLASS if kind == ORDER_ACK else 0x4000)
    section = ACK_BODIES[kind]
    body = writer.section(section)
    writer.default(f"{_MPH}.MessageBody", body)


def _security_items(writer: _Writer) -> None:
    """Encode the items of SecurityData whose contents are given."""
    for item in INSIDE:
        rest = item.section.key(item.rest) if item.rest else ""
        if any(key.startswith(f"{item.section.name}.") for key in writer.values):
            tail = writer.values.get(rest, b"")
            writer.default(item.key, writer.section(item.section) + (tail if isinstance(tail, bytes) else b""))
            writer.known.add(rest)


_INSIDE = frozenset(item.section.name for item in INSIDE)


class _Writer:
    """Computes values that were not given, then writes section by section."""

    def __init__(self, values: dict[str, Value]) -> None:
        self.values = values
        self.known: set[str] = set()
        for word, bit_key, low, mask in _WORDS:
            given = values.get(word)
            if isinstance(given, int):
                values.setdefault(bit_key, given >> low & mask)

    def default(self, key: str, value: Value) -> None:
        self.values.setdefault(key, value)
        self.known.add(key)

    def wants(self, section: Section, condition: Condition, sections: Collection[str] | None) -> bool:
        if sections is not None:
            return section.name in sections
        if condition.key in self.values:
            return bool(self.values[condition.key])
        if section.name == _MPH:
            return True  # MS-MQMQ 2.2.19.2: Flags.MP is always set
        return any(key.startswith(f"{section.name}.") for key in self.values)

    def section(self, section: Section) -> bytes:
        steps = steps_of(section)
        self.known.update(_keys(section))
        self.lists(steps)
        self.resolve(steps)
        out = bytearray()
        self.write(steps, out)
        return bytes(out)

    def lists(self, steps: tuple[Step, ...]) -> None:
        """Write the lists whose elements are given, and count the elements of other lists."""
        for step in steps:
            if not isinstance(step, Blob) or step.elements is None:
                continue
            inner = list(lists.names_in(step.key, step.elements, self.values))
            self.known.update(inner)
            count = 0
            if step.key not in self.values and inner:
                try:
                    # A list begins at a multiple of 4 of its section: the headers before it are padded to one.
                    self.values[step.key], count = lists.build(step.key, self.values, 0, step.elements)
                except ValueError as wrong:
                    raise EncodeError(str(wrong)) from None
            elif isinstance(raw := self.values.get(step.key), bytes):
                count = lists.counted(raw, 0, step.elements)
            self.values.setdefault(step.count, count)

    def resolve(self, steps: tuple[Step, ...]) -> None:
        """Set the selectors and lengths that were not given, from the fields they describe."""
        for step in steps:
            if isinstance(step, Branch):
                self.select(step)
                self.resolve(self.chosen(step))
            elif isinstance(step, Blob) and step.of and step.of not in self.values:
                length = len(self.raw(step)) + step.length.minus
                self.values[step.of] = -(-length // step.length.times)

    def select(self, step: Branch) -> None:
        if step.by in self.values:
            return
        present = [
            value
            for value, option in step.options.items()
            if any(key in self.values for key in keys_of(option)) or (not option and step.condition is None)
        ]
        wanted = {key for key in self.values if key.startswith(f"{step.key}.")} if step.condition is None else set()
        fitting = [value for value in present if wanted <= set(keys_of(step.options[value]))]
        if step.condition is None:
            self.values[step.by] = fitting[0] if fitting else 0
        elif present and not step.condition.negate:
            self.values[step.by] = step.condition.values[0]

    def chosen(self, step: Branch) -> tuple[Step, ...]:
        if step.condition is None:
            return step.options.get(int(self.values[step.by]), ())
        if step.condition.negate and step.by not in self.values:
            return step.options[1] if any(key in self.values for key in keys_of(step.options[1])) else ()
        met = (self.values.get(step.by, 0) in step.condition.values) != step.condition.negate
        return step.options[1] if met else ()

    def write(self, steps: tuple[Step, ...], out: bytearray) -> None:
        for step in steps:
            if isinstance(step, Run):
                out += self.run(step)
            elif isinstance(step, Blob):
                out += self.raw(step)
            elif isinstance(step, Padding):
                need = -len(out) % step.to
                given = self.values.get(step.key, bytes(need))
                out += given if isinstance(given, bytes) else bytes(need)
            else:
                self.write(self.chosen(step), out)

    def run(self, step: Run) -> bytes:
        packed: list[int | bytes] = []
        for (key, _, width, is_guid), default in zip(step.fields, step.defaults, strict=True):
            if is_guid:
                packed.append(_guid_bytes(key, self.values.get(key, _NULL_GUID)))
                continue
            number = self.number(key, default, 8 * width)
            for bit_key, word, low, mask in step.bits:
                if word == key and bit_key in self.values:
                    bit = self.number(bit_key, 0, mask.bit_length())
                    number = number & ~(mask << low) | bit << low
            packed.append(number)
        return step.struct.pack(*packed)

    def number(self, key: str, default: int, width: int) -> int:
        value = self.values.get(key, default)
        if not isinstance(value, int) or not 0 <= value < 1 << width:
            raise EncodeError(f"{key} holds {width} bits, {value!r} does not fit")
        return int(value)

    def raw(self, step: Blob) -> bytes:
        value = self.values.get(step.key, b"" if step.of else bytes(step.length.fixed))
        if isinstance(value, str) and step.text:
            return (value + "\0").encode("utf-16-le", "surrogatepass") if value else b""
        if not isinstance(value, bytes):
            raise EncodeError(f"{step.key} holds bytes{' or text' if step.text else ''}, not {value!r}")
        if not step.of and len(value) != step.length.fixed:
            raise EncodeError(f"{step.key} has {step.length.fixed} bytes, not {len(value)}")
        return value


_NULL_GUID = "00000000-0000-0000-0000-000000000000"


def _guid_bytes(key: str, value: Value) -> bytes:
    try:
        return uuid.UUID(str(value)).bytes_le
    except ValueError:
        raise EncodeError(f"{key} holds a GUID, not {value!r}") from None


def all_steps(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps, including those of every branch."""
    for step in steps:
        yield step
        if isinstance(step, Branch):
            for option in step.options.values():
                yield from all_steps(option)


def keys_of(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield every key that these steps read or write, bit fields and padding included."""
    for step in all_steps(steps):
        if isinstance(step, Run):
            yield from (key for key, *_ in step.fields)
            yield from (key for key, *_ in step.bits)
        elif not isinstance(step, Branch):
            yield step.key


@cache
def _keys(section: Section) -> frozenset[str]:
    return frozenset(keys_of(steps_of(section)))


def _computed() -> frozenset[str]:
    """Return the keys that `rebuild` leaves to `encode`: lengths, words made of bits, and presence flags."""
    out = {
        "BaseHeader.PacketSize",
        "BaseHeader.Flags.SH",
        f"{_MPH}.AllocationBodySize",
        "ExtensionHeader.RemainingHeadersSize",
    }
    out.update(condition.key for _, condition in USER_MESSAGE_SECTIONS if condition is not None)
    for section in SECTION.values():
        for step in all_steps(steps_of(section)):
            if isinstance(step, Run):
                out.update(word for _, word, _, _ in step.bits)
            elif isinstance(step, Blob) and step.of:
                out.add(step.of)
            elif isinstance(step, Branch) and step.condition is not None:
                out.add(step.by)
    return frozenset(out)


_COMPUTED = _computed()
_WORDS = tuple(
    (word, bit_key, low, mask)
    for section in SECTION.values()
    for step in all_steps(steps_of(section))
    if isinstance(step, Run)
    for bit_key, word, low, mask in step.bits
)
