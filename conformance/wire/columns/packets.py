"""The emitted `decode`: one packet from its address, section after section, as `wire.decode` reads it.

`decode(p, total, udp, o)` gives the mask of the sections that are there, or minus a `Slow`: the reasons for which a
packet is left to the one-by-one path. What is decided here was decoded without trouble, in the layout of the tables.
"""

from __future__ import annotations

from enum import IntEnum

from conformance.wire import decode as slow_path
from conformance.wire.base_header import BASE_HEADER, MAXIMUM_SIZE, SIGNATURE, VERSION
from conformance.wire.columns.letters import ends_with, equals
from conformance.wire.columns.lists import list_code, ways_room
from conformance.wire.columns.shapes import (
    NotBelowZero,
    NotEmpty,
    Place,
    Presence,
    Shapes,
    Sort,
    UnknownShapeError,
    condition_keys,
    number,
    size_of,
)
from conformance.wire.columns.walkers import function_of, met, walker
from conformance.wire.decode import BASE_SIZE, BODY, EXTENT
from conformance.wire.extension_headers import EXTENSION_HEADER, EXTENSION_SIZE
from conformance.wire.layout import Condition, Elements, Octets, Section, leaves
from conformance.wire.packet_table import (
    ACK_BODIES,
    ALL_SECTIONS,
    EXTENSION_SECTIONS,
    FINAL_ACK,
    INTERNAL_PACKETS,
    MALFORMED,
    ORDER_ACK,
    PING_KIND,
    USER_MESSAGE,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.security_items import INSIDE, PUBLIC_KEY_BLOB
from conformance.wire.session_header import SESSION_HEADER, SESSION_HEADER_SIZE
from conformance.wire.session_packets import INTERNAL_HEADER, PING, PING_SIGNATURE, PING_SIZE
from conformance.wire.soap_headers import BODY_SECTION_ID

KINDS = (USER_MESSAGE, ORDER_ACK, FINAL_ACK, *(kind for kind, _ in INTERNAL_PACKETS.values()), PING_KIND, MALFORMED)
PLACEMENTS = ("inside", "after")
LAYOUTS = ("aligned", "packed", "either")
UNITS = ("wchars", "bytes")
# Not a part of any packet: `wire.certificates` reads it.
ELSEWHERE = (PUBLIC_KEY_BLOB,)
D = "SecurityHeader.SecurityData."
_M, _SOAP, _SRMP, _COMPOUND = "MessagePropertiesHeader.", "SoapHeader", "SRMPEnvelopeHeader", "CompoundMessageHeader"
_USER, _SESSION = "UserHeader", SESSION_HEADER.name


class Slow(IntEnum):
    """Why a packet is judged one by one."""

    NOT = 0
    TROUBLE = 1  # it could not be decoded whole
    LAYOUT = 2  # only another layout may explain it
    SIGNED = 3  # a signature or a certificate is to be checked
    LETTERS = 4  # letters beyond ASCII decide a comparison of names
    INSIDE = 5  # what is in a security item does not fit it
    CROWDED = 6  # more different outcomes than the table of outcomes holds


def shapes_and_code() -> tuple[Shapes, str]:
    """Where every key of a packet is, and the source of all walkers and of `decode`.

    Raises UnknownShapeError when the tables hold something there is no code for.
    """
    shapes = Shapes()
    for fact in ("kind", "placement", "headers-end", "unexplained", "counted", "extension-end", "length", "letters"):
        shapes.slot(f"Packet.{fact}")
    code = [walker(section, shapes) for section in ALL_SECTIONS if section not in ELSEWHERE]
    code.append(_items(shapes))
    _facts(shapes)
    lists = [one for section in ALL_SECTIONS for one in _lists(section)]
    spare = len(shapes.slots)
    for at in range(ways_room(lists[0])):
        shapes.slot(f"spare {at}")
    head = list_code(lists, spare, shapes.slots["Packet.letters"])
    parts = (_classify(shapes), _session(), _explained(shapes), _user(shapes), _internal(shapes), _whole(shapes))
    return shapes, "\n\n".join([head, *code, *parts])


def implied(section: str) -> frozenset[str]:
    """The sections that are there when this one is, itself included."""
    behind_user = {one.name for one, _ in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS)}
    out = {section}
    if section in behind_user | {one.section.name for one in INSIDE} | {one.name for one in ACK_BODIES.values()}:
        out.add(_USER)
    if section in {one.section.name for one in INSIDE}:
        out.add("SecurityHeader")
    if section in {one.name for one, _ in EXTENSION_SECTIONS}:
        out.add(EXTENSION_HEADER.name)
    if section in {one.name for one in ACK_BODIES.values()}:
        out.add(_M[:-1])
    if section in {one.name for _, one in INTERNAL_PACKETS.values()} and section != _SESSION:
        out.add(INTERNAL_HEADER.name)
    if section != PING.name:
        out.add(BASE_HEADER.name)
    return frozenset(out)


def _lists(section: Section) -> list[Elements]:
    return [item.elements for _, item in leaves(section) if isinstance(item, Octets) and item.elements]


def _facts(shapes: Shapes) -> None:
    """The places of what `dissect` and `judge.packets.facts` add beside the fields."""

    def slot(key: str, name: str, section: str = "", *conditions: Presence, words: tuple[str, ...] = ()) -> None:
        sort = Sort.WORD if words else Sort.NUMBER
        shapes.add(Place(key, section, sort, conditions, shapes.slots[f"Packet.{name}"], fact="slot", words=words))

    slot("Packet.Kind", "kind", words=KINDS)
    slot("Packet.Length", "length")
    placement = shapes.slots["Packet.placement"]
    slot("Packet.SessionHeaderPlacement", "placement", "", NotBelowZero(placement), words=PLACEMENTS)
    slot("Packet.HeadersEnd", "headers-end", _USER)
    slot("Packet.Unexplained", "unexplained", BASE_HEADER.name)
    slot("Packet.Counted", "counted", BASE_HEADER.name)
    slot("Packet.ExtensionEnd", "extension-end", EXTENSION_HEADER.name)
    # A packet decoded without trouble ended in no field.
    shapes.add(Place("Packet.Overrun", BASE_HEADER.name, Sort.WORD, fact="const", words=("",)))
    shapes.add(Place("Packet.Decided", BASE_HEADER.name, Sort.FLAG, size=1, fact="const"))
    for section in (_SOAP, _SRMP):
        shapes.slot(f"Packet.{section}")
        slot(f"{section}.Layout", section, section, words=LAYOUTS)
    data = shapes.places[f"{_SRMP}.Data"]
    unit = Place(f"{_SRMP}.Unit", _SRMP, Sort.WORD, data.conditions, fact="const", words=UNITS)
    shapes.add(unit)
    is_manager = Condition("SecurityHeader.Flags.ST", (2,))
    sixteen = shapes.slot("Packet.sixteen")
    guid = Place(
        D + "SecurityID.Guid",
        "SecurityHeader",
        Sort.GUID,
        (is_manager, NotEmpty(sixteen)),
        shapes.slot("Packet.sender-guid"),
        width=16,
        size=16,
    )
    shapes.add(guid)


def _value(shapes: Shapes, key: str) -> str:
    """The value of a number outside its walker, where its section is known to be there."""
    place = shapes.place(key)
    return number(place).replace(f"a{place.anchor}", f"(p + get(o, {place.anchor}))", 1)


def _length(shapes: Shapes, key: str) -> str:
    return f"get(o, {shapes.place(key).length})"


def _address(shapes: Shapes, key: str) -> str:
    return f"(p + get(o, {shapes.place(key).anchor}))"


def _has(shapes: Shapes, section: str) -> str:
    return f"(have & {1 << shapes.bit(section):#x})"


def _items(shapes: Shapes) -> str:
    """What is inside the items of SecurityData: bytes that do not fit are a matter for the other path."""
    out: list[str] = []
    for item in INSIDE:
        section, place = item.section, shapes.place(item.key)
        exact = shapes.slot(f"{section.name}.Exact")
        shapes.add(Place(f"{section.name}.Exact", section.name, Sort.FLAG, (), exact, fact="slot"))
        out += [
            "@inner",
            f"def inside_{section.name}(p, o):",
            f"    at = get(o, {place.anchor})",
            f"    end = at + get(o, {place.length})",
            f"    at = {function_of(section)}(p, at, end, o)",
            "    if at < 0:",
            "        return -1",
        ]
        if item.rest:
            anchor, length = shapes.slot(f"{section.name}.{item.rest}@"), shapes.slot(f"{section.name}.{item.rest}#")
            key = section.key(item.rest)
            shapes.add(Place(key, section.name, Sort.BYTES, (NotEmpty(length),), anchor, length=length))
            out += [f"    put(o, {anchor}, at)", f"    put(o, {length}, end - at)"]
        out += [f"    put(o, {exact}, 1 if at {'<' if item.rest else '=='} end else 0)", "    return 0", "", ""]
    return "\n".join(out)


def _classify(shapes: Shapes) -> str:
    """As `decode._classify`. It says which acknowledgment a message is; -1 when letters beyond ASCII decide."""
    label, name = _M + "Label", "UserHeader.DestinationQueue.DirectFormatName"
    number_place = shapes.place("UserHeader.DestinationQueue.PrivateQueueIdentifier")
    selector = next(one for one in number_place.conditions if isinstance(one, Condition))
    named = next(one for one in shapes.place(name).conditions if isinstance(one, Condition))
    if selector.key != named.key:
        raise UnknownShapeError("the two ways to name the order queue hang on different fields")
    kinds = {kind: KINDS.index(kind) for kind in (USER_MESSAGE, ORDER_ACK, FINAL_ACK)}
    lines = [
        equals("is_order_label", slow_path.ORDER_LABEL),
        ends_with("is_order_queue", slow_path.ORDER_QUEUE_NAME),
        "@inner",
        "def classify(p, o, have):",
        f"    if {_has(shapes, _M[:-1])} == 0 or {_length(shapes, label)} == 0:",
        f"        return {kinds[USER_MESSAGE]}",
        f"    at = {_address(shapes, label)}",
        f"    if is_order_label(at, shown(at, {_length(shapes, label)})) == 0:",
        f"        return {kinds[USER_MESSAGE]}",
        f"    by = {_value(shapes, selector.key)}",
        "    ordered = 0",
        f"    if {met('by', selector)} != 0:",
        f"        ordered = 1 if {_value(shapes, number_place.key)} == {slow_path.ORDER_QUEUE_ID} else 0",
        f"    elif {met('by', named)} != 0 and {_length(shapes, name)} != 0:",
        f"        at = {_address(shapes, name)}",
        f"        ordered = is_order_queue(at, shown(at, {_length(shapes, name)}))",
        "    if ordered == 2:",
        "        return -1",
        f"    kind = {_value(shapes, _M + 'MessageClass')}",
        "    if ordered == 0:",
        f"        return {kinds[USER_MESSAGE]}",
        f"    if kind == {slow_path.ORDER_ACK_CLASS}:",
        f"        return {kinds[ORDER_ACK]}",
        f"    if kind == {slow_path.ACK_RECEIVE_CLASS} or kind >= {slow_path.NACK_CLASSES}:",
        f"        return {kinds[FINAL_ACK]}",
        f"    return {kinds[USER_MESSAGE]}",
    ]
    return "\n".join(lines)


def _session() -> str:
    """Where the SessionHeader of a message is: its offset, negative minus one when it is inside PacketSize."""
    size = SESSION_HEADER_SIZE
    return "\n".join(
        [
            "@inner",
            "def session_at(end, size, total):",
            f"    if total >= size + {size}:",
            "        return size",
            f"    if end + {size} <= size and size <= total:",
            f"        return -1 - (size - {size})",
            "    return -1 - total",
        ]
    )


def _explained(shapes: Shapes) -> str:
    """As `decode._explained`, for a packet without trouble, and whether another layout could explain it instead."""
    lines = ["@inner", "def explained(p, o, have):"]
    for section, paddings in (
        (_SOAP, ("HeaderPadding", "BodyPadding")),
        (_SRMP, ("Padding",)),
        (_COMPOUND, ("Padding",)),
    ):
        lines.append(f"    if {_has(shapes, section)} != 0:")
        lines += [
            f"        if {_value(shapes, f'{section}.{padding}.Complete')} == 0:\n            return 0"
            for padding in paddings
        ]
        if section == _SOAP:
            lines += [f"        if {_value(shapes, 'SoapHeader.BodySectionID')} != {BODY_SECTION_ID}:", _NO]
        if section == _SRMP:
            data = f"{_SRMP}.Data"
            at, length = _address(shapes, data), _length(shapes, data)
            lines += [
                f"        if {length} != 0:",
                f"            if terminated({at}, {length}) == 0 or inner_nul({at}, {length}) != 0:",
                "                return 0",
            ]
    unexplained = shapes.slots["Packet.unexplained"]
    appended = _value(shapes, "ExtensionHeader.RemainingHeadersSize")
    lines += [
        f"    left = get(o, {unexplained})",
        "    if left == 0:",
        "        return 1",
        f"    if {_has(shapes, EXTENSION_HEADER.name)} != 0 and left == {EXTENSION_SIZE} + {appended}:",
        "        return 1",
        "    return 0",
        "",
        "",
        "@inner",
        "def doubted(p, o, have):",
        f"    if {_value(shapes, 'UserHeader.Flags.HH')} != 0 or {_value(shapes, 'UserHeader.Flags.AH')} != 0:",
        "        return 1",
        f"    if {_has(shapes, _M[:-1])} == 0 or {_value(shapes, _M + 'PrivacyLevel')} == 0:",
        "        return 0",
        f"    return 1 if {_value(shapes, EXTENT)} > {_value(shapes, _M + 'MessageSize')} else 0",
    ]
    return "\n".join(lines)


_NO = "            return 0"


def _condition(shapes: Shapes, condition: Condition) -> str:
    return met(_value(shapes, condition.key), condition)


def _user(shapes: Shapes) -> str:
    """As `decode._user_message`."""
    slots = shapes.slots
    lines = ["@inner", "def user_message(p, size, total, o):", f"    at, have = {BASE_SIZE}, {_bits(shapes, 'BaseHeader')}"]
    for section, condition in USER_MESSAGE_SECTIONS:
        depth = "    "
        if condition is not None:
            lines.append(f"    if {_condition(shapes, condition)} != 0:")
            depth += "    "
        lines += [
            f"{depth}at = {function_of(section)}(p, at, size, o)",
            f"{depth}if at < 0:",
            f"{depth}    return -{Slow.TROUBLE:d}",
            f"{depth}have |= {_bits(shapes, section.name)}",
        ]
        if section.name == "SecurityHeader":
            lines += _security(shapes, depth)
    lines += [
        f"    put(o, {slots['Packet.headers-end']}, at)",
        "    end = at",
        "    kind = classify(p, o, have)",
        "    if kind < 0:",
        f"        return -{Slow.LETTERS:d}",
        f"    put(o, {slots['Packet.kind']}, kind)",
    ]
    body = shapes.place(BODY)
    for kind, section in ACK_BODIES.items():
        lines += [
            f"    if kind == {KINDS.index(kind)}:",
            # An empty body has no span: `dissect` then looks at the end of the headers, and finds nothing.
            f"        first = get(o, {body.anchor})",
            f"        last = first + get(o, {body.length})",
            f"        if {function_of(section)}(p, first, last, o) != last:",
            f"            return -{Slow.TROUBLE:d}",
            f"        have |= {_bits(shapes, section.name)}",
        ]
    lines += [
        f"    put(o, {slots['Packet.placement']}, -1)",
        "    behind = 0",
        "    last = size",
        f"    if {_condition(shapes, Condition('BaseHeader.Flags.SH'))} != 0:",
        "        first = session_at(end, size, total)",
        f"        put(o, {slots['Packet.placement']}, {PLACEMENTS.index('after')} if first >= 0 else 0)",
        "        if first < 0:",
        "            first = -1 - first",
        f"            last = max(end, size - {SESSION_HEADER_SIZE})",
        "        else:",
        f"            behind = {SESSION_HEADER_SIZE}",
        f"        at = {function_of(SESSION_HEADER)}(p, first, min(first + {SESSION_HEADER_SIZE}, total), o)",
        "        if at < 0:",
        f"            return -{Slow.TROUBLE:d}",
        f"        have |= {_bits(shapes, _SESSION)}",
        "    if total > max(size, at):",
        f"        return -{Slow.TROUBLE:d}",
        "    left = max(0, last - end)",
        f"    put(o, {slots['Packet.unexplained']}, left)",
        f"    put(o, {slots['Packet.counted']}, total - behind)",
        f"    if left >= {EXTENSION_SIZE} and u32(p + end) == {EXTENSION_SIZE}:",
        "        last = end + left",
        "        at = end",
    ]
    for section, condition in EXTENSION_SECTIONS:
        depth = "        "
        if condition is not None:
            lines.append(f"        if {_condition(shapes, condition)} != 0:")
            depth += "    "
        lines += [
            f"{depth}at = {function_of(section)}(p, at, last, o)",
            f"{depth}if at < 0:",
            f"{depth}    return -{Slow.TROUBLE:d}",
            f"{depth}have |= {_bits(shapes, section.name)}",
        ]
    lines += [
        f"        put(o, {slots['Packet.extension-end']}, at - end)",
        f"    if kind == {KINDS.index(USER_MESSAGE)} and explained(p, o, have) == 0 and doubted(p, o, have) != 0:",
        f"        return -{Slow.LAYOUT:d}",
        *_layouts(shapes),
        *_signed(shapes),
        "    return have",
    ]
    return "\n".join(lines)


def _security(shapes: Shapes, depth: str) -> list[str]:
    """What is inside the items, and whether SecurityID has the length of a GUID."""
    lines = []
    for item in INSIDE:
        condition = f"{_length(shapes, item.key)} != 0"
        if item.condition is not None:
            condition += f" and {_condition(shapes, item.condition)} != 0"
        lines += [
            f"{depth}if {condition}:",
            f"{depth}    if inside_{item.section.name}(p, o) < 0:",
            f"{depth}        return -{Slow.INSIDE:d}",
            f"{depth}    have |= {_bits(shapes, item.section.name)}",
        ]
    sixteen = f"1 if {_length(shapes, D + 'SecurityID')} == 16 else 0"
    sender = shapes.place(D + "SecurityID").anchor
    return [
        *lines,
        f"{depth}put(o, {shapes.slots['Packet.sixteen']}, {sixteen})",
        f"{depth}put(o, {shapes.slots['Packet.sender-guid']}, get(o, {sender}))",
    ]


def _layouts(shapes: Shapes) -> list[str]:
    lines = []
    for section, texts in (
        (_SOAP, (f"{_SOAP}.Header", f"{_SOAP}.Body")),
        (_SRMP, (f"{_SRMP}.Data", f"{_COMPOUND}.Data")),
    ):
        told = " | ".join(_length(shapes, text) for text in texts)
        layout = f"{LAYOUTS.index('aligned')} if ({told}) & 3 != 0 else {LAYOUTS.index('either')}"
        lines += [
            f"    if {_has(shapes, section)} != 0:",
            f"        put(o, {shapes.slots[f'Packet.{section}']}, {layout})",
        ]
    return lines


def _signed(shapes: Shapes) -> list[str]:
    lines = [f"    if {_has(shapes, 'SecurityHeader')} != 0:"]
    for key in (D + "Signature", D + "SenderCert"):
        lines += [f"        if {_length(shapes, key)} != 0:", f"            return -{Slow.SIGNED:d}"]
    multiple = "MultiQueueFormatHeader"
    signature = _length(shapes, f"{multiple}.Signature.Signature")
    lines += [
        f"        if {_has(shapes, multiple)} != 0 and {signature} != 0:",
        f"            return -{Slow.SIGNED:d}",
    ]
    return lines


def _internal(shapes: Shapes) -> str:
    """As `decode._internal`."""
    slots = shapes.slots
    lines = [
        "@inner",
        "def internal(p, size, total, o):",
        f"    have = {_bits(shapes, BASE_HEADER.name, INTERNAL_HEADER.name)}",
        f"    at = {function_of(INTERNAL_HEADER)}(p, {BASE_SIZE}, size, o)",
        "    if at < 0:",
        f"        return -{Slow.TROUBLE:d}",
        f"    put(o, {slots['Packet.placement']}, -1)",
        "    behind = 0",
        f"    by = {_value(shapes, 'InternalHeader.Flags.PT')}",
    ]
    word = "if"
    for code, (kind, section) in INTERNAL_PACKETS.items():
        lines += [
            f"    {word} by == {code}:",
            f"        put(o, {slots['Packet.kind']}, {KINDS.index(kind)})",
            "        end = size",
        ]
        if section is SESSION_HEADER:
            lines += [
                f"        if at + {SESSION_HEADER_SIZE} <= size:",
                f"            put(o, {slots['Packet.placement']}, {PLACEMENTS.index('inside')})",
                "        else:",
                f"            put(o, {slots['Packet.placement']}, {PLACEMENTS.index('after')})",
                f"            behind = {SESSION_HEADER_SIZE}",
                "            end = total",
            ]
        lines += [
            f"        at = {function_of(section)}(p, at, end, o)",
            f"        have |= {_bits(shapes, section.name)}",
        ]
        word = "elif"
    lines += [
        "    else:",
        "        at = -1",
        "    if at < 0 or total > max(size, at):",
        f"        return -{Slow.TROUBLE:d}",
        f"    put(o, {slots['Packet.unexplained']}, max(0, size - at))",
        f"    put(o, {slots['Packet.counted']}, total - behind)",
        "    return have",
    ]
    return "\n".join(lines)


def _whole(shapes: Shapes) -> str:
    """As `dissect`, with the transport given; a datagram is a Ping, or nothing the walkers know."""
    slots = shapes.slots
    trouble = f"        return -{Slow.TROUBLE:d}"
    lines = [
        "@inner",
        "def decode(p, total, udp, o):",
        f"    put(o, {slots['Packet.length']}, total)",
        f"    put(o, {slots['Packet.letters']}, 0)",
        "    if udp != 0:",
        f"        if total != {PING_SIZE} or {function_of(PING)}(p, 0, total, o) < 0:",
        "    " + trouble,
        f"        if {_value(shapes, 'Ping.Signature')} != {PING_SIGNATURE}:",
        "    " + trouble,
        f"        put(o, {slots['Packet.kind']}, {KINDS.index(PING_KIND)})",
        f"        put(o, {slots['Packet.placement']}, -1)",
        f"        return {_bits(shapes, PING.name)}",
        f"    if {function_of(BASE_HEADER)}(p, 0, total, o) < 0:",
        trouble,
        f"    if {_value(shapes, 'BaseHeader.Signature')} != {SIGNATURE}:",
        trouble,
        f"    if {_value(shapes, 'BaseHeader.VersionNumber')} != {VERSION}:",
        trouble,
        f"    size = {_value(shapes, 'BaseHeader.PacketSize')}",
        f"    if size < {BASE_SIZE} or size > {MAXIMUM_SIZE} or size > total:",
        trouble,
        f"    if {_condition(shapes, Condition('BaseHeader.Flags.IN'))} != 0:",
        "        return internal(p, size, total, o)",
        "    return user_message(p, size, total, o)",
    ]
    return "\n".join(lines)


def _bits(shapes: Shapes, *sections: str) -> str:
    return f"{sum(1 << shapes.bit(section) for section in sections):#x}"


__all__ = ["KINDS", "Slow", "condition_keys", "implied", "shapes_and_code", "size_of"]
