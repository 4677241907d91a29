"""Emits layout tables as Lua: calls of `uint`, `guid`, `octets`, `wide`, `pad`, `when` and `choice`.

`report/wireshark/words.lua` defines these functions in Lua; they read as `decode` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from conformance.wire import appended, decode, elements, framing, headers
from conformance.wire.headers import (
    ACK_BODIES,
    EXTENSION_SECTIONS,
    INTERNAL_PACKETS,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.layout import (
    Align,
    Bits,
    Choice,
    Condition,
    Elements,
    Ended,
    Guid,
    Item,
    Length,
    Octets,
    Pad,
    Section,
    UInt,
    When,
    Wide,
)

# Facts that the decoder adds beside the fields of the tables, and those `judge.packets.facts` adds; the Lua has them
# all.
FACTS = (
    "Packet.Kind",
    "Packet.Length",
    "Packet.SessionHeaderPlacement",
    "Packet.HeadersEnd",
    "Packet.Unexplained",
    "Packet.Counted",
    "Packet.Overrun",
    "Packet.Decided",
    "Packet.ExtensionEnd",
    "Packet.ExtensionOrder",
    "DeadLetterHeader.Counted",
    "SoapHeader.Layout",
    "SRMPEnvelopeHeader.Layout",
    "SRMPEnvelopeHeader.Unit",
    "SRMPEnvelopeHeader.Counted",
    "CompoundMessageHeader.Counted",
    "Packet.SrmpOrder",
)
# The sections that `report/wireshark/packet.lua` reads; the contents of fields of bytes are not among them.
SECTIONS: tuple[Section, ...] = (
    headers.BASE_HEADER,
    headers.INTERNAL_HEADER,
    *(section for section, _ in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS)),
    *dict.fromkeys(section for _, section in INTERNAL_PACKETS.values()),
    *ACK_BODIES.values(),
    headers.PING,
)
_OF_TEXT = ("Terminated", "Inner", "Odd")
_OF_LIST = ("Elements", "Stopped", "StoppedType", "Left", "Way", "Plain", "Prefixed", "Foreign")
_HALF = 32  # bits of the halves of a 64-bit word, which a Lua number holds exactly

Literal = int | str | bytes | bool


def literal(value: Literal) -> str:
    """Emit a value as Lua source. Text becomes UTF-8."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:#x}" if value > 9 else str(value)
    raw = value.encode("utf-8") if isinstance(value, str) else value
    return '"' + "".join(chr(one) if 32 <= one < 127 and one not in b'"\\' else f"\\{one:03d}" for one in raw) + '"'


def sections() -> str:
    """Emit every section as a Lua local table `SECTION`, and tables of the sections of each kind of packet."""
    lines = ["local SECTION = {}"]
    for section in SECTIONS:
        body = ",\n".join(_items(section.items, section.name, 1))
        lines += [
            f"-- {section.source}",
            f"SECTION[{literal(section.name)}] = section({literal(section.name)}, {{\n{body},\n}})",
        ]
    return "\n".join([*lines, *_packets()]) + "\n"


def declared() -> frozenset[str]:
    """Return every key that the Lua decodes, facts included."""
    out: set[str] = set(FACTS)
    for section in SECTIONS:
        out.update(_keys(section.items, section.name))
    return frozenset(out)


def displayed() -> tuple[str, ...]:
    """Return the keys that are fields in Wireshark, each once. Fields of a list's elements have no index."""
    keys = (key for section in SECTIONS for key in _fields(section.items, section.name))
    return tuple(dict.fromkeys(keys))


def whole_only() -> frozenset[str]:
    """Return the keys of 64-bit words: a Lua number does not hold them exactly, so their bit fields must be used."""
    return frozenset(
        key
        for section in SECTIONS
        for key, item in _flat(section.items, section.name)
        if isinstance(item, UInt) and 8 * item.width > _HALF
    )


def _packets() -> Iterator[str]:
    for name, order in (
        ("USER_MESSAGE_SECTIONS", USER_MESSAGE_SECTIONS),
        ("EXTENSION_SECTIONS", EXTENSION_SECTIONS),
    ):
        yield f"local {name} = {{"
        for section, condition in order:
            when = "" if condition is None else f", {_condition(condition)}"
            yield f"  {{ SECTION[{literal(section.name)}]{when} }},"
        yield "}"
    sizes = ", ".join(f"[{literal(name)}] = {size}" for name, size in appended.SIZES.items())
    yield f"local APPENDED_SIZES = {{ {sizes} }}"
    yield "local INTERNAL_PACKETS = {"
    for code, (kind, section) in INTERNAL_PACKETS.items():
        yield f"  [{code}] = {{ {literal(kind)}, SECTION[{literal(section.name)}] }},"
    yield "}"
    sizes = ", ".join(f"[{code}] = {size}" for code, size in framing.INTERNAL_SIZES.items())
    yield f"local INTERNAL_SIZES = {{ {sizes} }}"
    yield "local ACK_BODIES = {"
    for kind, section in ACK_BODIES.items():
        yield f"  [{literal(kind)}] = SECTION[{literal(section.name)}],"
    yield "}"


def constants() -> str:
    """Emit the numbers and names that the decoder decides by, as the Lua local table `C`."""
    values: Mapping[str, Literal] = {
        "signature": headers.SIGNATURE,
        "version": headers.VERSION,
        "maximum_size": headers.MAXIMUM_SIZE,
        "base_size": decode.BASE_SIZE,
        "session_header_size": headers.SESSION_HEADER_SIZE,
        "session_ack": headers.SESSION_ACK,
        "ping_signature": headers.PING_SIGNATURE,
        "ping_size": headers.PING_SIZE,
        "order_queue_id": framing.ORDER_QUEUE_ID,
        "order_queue_name": framing.ORDER_QUEUE_NAME,
        "order_label": framing.ORDER_LABEL,
        "order_ack_class": framing.ORDER_ACK_CLASS,
        "ack_receive_class": framing.ACK_RECEIVE_CLASS,
        "nack_classes": framing.NACK_CLASSES,
        "ack_body_size": framing.ACK_BODY_SIZE,
        "ack_marks": framing.ACK_MARKS,
        "ack_tail": framing.ACK_TAIL,
        "establish_connection": headers.ESTABLISH_CONNECTION,
        "system_at": framing.SYSTEM_AT,
        "system_mark": framing.SYSTEM_MARK,
        "used_flags": 0xFFFF - framing.UNUSED_FLAGS,
        "flags_at": framing.FLAGS_AT,
        "message_bits": framing.MESSAGE_BITS,
        "message_flags": framing.MESSAGE_FLAGS,
        "destination_bit": framing.DESTINATION_BIT,
        "body": decode.BODY,
        "extent": decode.EXTENT,
        "user_message": headers.USER_MESSAGE,
        "order_ack": headers.ORDER_ACK,
        "final_ack": headers.FINAL_ACK,
        "ping": headers.PING_KIND,
        "malformed": headers.MALFORMED,
        "extension_size": headers.EXTENSION_SIZE,
        "dead_letter_packed": headers.DEAD_LETTER_PACKED,
        "body_section_id": headers.BODY_SECTION_ID,
        "header_section_id": headers.HEADER_SECTION_ID,
        "destination_id": headers.DESTINATION_ID,
        "srmp_least": appended.LEAST,
        "body_allocated": decode.BODY_ALLOCATED,
        "soap_packed": headers.SOAP_PACKED,
        "soap_unpadded": headers.SOAP_UNPADDED,
        "srmp_packed": headers.SRMP_PACKED,
        "srmp_bytes": headers.SRMP_BYTES,
        "most_elements": elements.MAX_SHOWN,
        "spare": elements.SPARE,
    }
    lines = "".join(f"  {name} = {literal(value)},\n" for name, value in values.items())
    ways = ", ".join(map(literal, elements.WAYS))
    return f"local C = {{\n{lines}}}\nlocal WAYS = {{ {ways} }}\n"


def _items(items: tuple[Item, ...], prefix: str, depth: int) -> Iterator[str]:
    for item in items:
        yield "  " * depth + _item(item, prefix, depth)


def _item(item: Item, prefix: str, depth: int) -> str:
    if isinstance(item, When):
        return f"when({_condition(item.condition)}, {_block(item.items, prefix, depth)})"
    key = f"{prefix}.{item.name}"
    match item:
        case UInt():
            named = "".join(f", {_bits(one, item, key)}" for one in item.bits)
            return f"uint({literal(key)}, {item.width}{named})"
        case Guid():
            return f"guid({literal(key)})"
        case Octets():
            if item.filled:
                return f"filled({literal(key)}, {_length(item.length, prefix)})"
            inside = f", {_elements(item.elements, prefix)}" if item.elements else ""
            return f"octets({literal(key)}, {_length(item.length, prefix)}{inside})"
        case Wide():
            return f"wide({literal(key)}, {_length(item.length, prefix)})"
        case Pad():
            packed = f", {literal(item.not_under)}" if item.not_under else ""
            return f"pad({literal(key)}, {item.to}{packed})"
        case Choice():
            options = ", ".join(
                f"[{value}] = {_block(option, key, depth)}" for value, option in sorted(item.options.items())
            )
            return f"choice({literal(item.by)}, {{ {options} }})"
    assert_never(item)


def _block(items: tuple[Item, ...], prefix: str, depth: int) -> str:
    if not items:
        return "{}"
    return "{\n" + ",\n".join(_items(items, prefix, depth + 1)) + ",\n" + "  " * depth + "}"


def _bits(one: Bits, word: UInt, key: str) -> str:
    if word.width * 8 > _HALF and one.low // _HALF != (one.low + one.width - 1) // _HALF:
        raise ValueError(f"{key}.{one.name} crosses the halves of a 64-bit word, which the Lua cannot read")
    return f"{{ {literal(f'{key}.{one.name}')}, {one.low}, {one.width} }}"


def _length(length: Length, prefix: str) -> str:
    if not length.of:
        return f"{{ fixed = {length.fixed} }}"
    times = f", times = {length.times}" if length.times != 1 else ""
    minus = f", minus = {length.minus}" if length.minus else ""
    under = f", bytes_under = {literal(length.bytes_under)}" if length.bytes_under else ""
    return f"{{ of = {literal(f'{prefix}.{length.of}')}{times}{minus}{under} }}"


def _elements(inside: Elements, prefix: str) -> str:
    options = ", ".join(f"[{code}] = {{ {_element(items)} }}" for code, items in inside.options.items())
    count, selector = literal(f"{prefix}.{inside.count}"), literal(inside.selector)
    return f"{{ count = {count}, selector = {selector}, options = {{ {options} }} }}"


def _element(items: tuple[UInt | Guid | Align | Ended, ...]) -> str:
    out = []
    for item in items:
        match item:
            case Align():
                out.append(f"{{ align = {item.to}, doubtful = {literal(item.doubtful)} }}")
            case Ended():
                out.append(f'{{ type = "text", name = {literal(item.name)} }}')
            case Guid():
                out.append(f'{{ type = "guid", width = 16, name = {literal(item.name)} }}')
            case UInt():
                out.append(f'{{ type = "uint", width = {item.width}, name = {literal(item.name)} }}')
    return ", ".join(out)


def _condition(condition: Condition) -> str:
    values = ", ".join(f"[{value}] = true" for value in condition.values)
    negate = ", negate = true" if condition.negate else ""
    return f"{{ key = {literal(condition.key)}, values = {{ {values} }}{negate} }}"


def _flat(items: tuple[Item, ...], prefix: str) -> Iterator[tuple[str, Item]]:
    for item in items:
        match item:
            case When():
                yield from _flat(item.items, prefix)
            case Choice():
                for option in item.options.values():
                    yield from _flat(option, f"{prefix}.{item.name}")
            case _:
                yield f"{prefix}.{item.name}", item


def _fields(items: tuple[Item, ...], prefix: str) -> Iterator[str]:
    for key, item in _flat(items, prefix):
        yield key
        if isinstance(item, UInt):
            yield from (f"{key}.{one.name}" for one in item.bits)
        elif isinstance(item, Octets) and item.elements:
            yield from (f"{key}.{name}" for name in (item.elements.selector, "Padding"))
            for option in item.elements.options.values():
                yield from (f"{key}.{name}" for name in elements.names_of(option))


def _keys(items: tuple[Item, ...], prefix: str) -> Iterator[str]:
    yield from _fields(items, prefix)
    for key, item in _flat(items, prefix):
        match item:
            case Wide():
                yield from (f"{key}.{fact}" for fact in _OF_TEXT)
            case Pad():
                yield f"{key}.Complete"
            case Octets() if item.elements:
                yield from (f"{key}.{fact}" for fact in _OF_LIST)
                yield from (f"{key}.Fits.{way}" for way in elements.WAYS)
                yield from (f"{key}.Of{code}" for code in item.elements.options)
            case Octets() if item.filled:
                yield from (f"{key}.{fact}" for fact in decode.FILLED)
            case _:
                pass


def filter_name(key: str) -> str:
    """Return the display filter name of a key: `BaseHeader.Flags.PR` is `msmq.base_header.flags.pr`."""
    out = ""
    for at, char in enumerate(key):
        before, after = key[at - 1 : at], key[at + 1 : at + 2]
        begins = char.isupper() and before.isalnum() and (not before.isupper() or after.islower())
        out += ("_" if begins else "") + char.lower()
    return f"msmq.{out}"
