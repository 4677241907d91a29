"""Emits code that derives facts of a packet beside its fields: its kind, security items, doubts about its layout.

The functions decide as `wire.decode` does, for a packet that was decoded without trouble.
"""

from __future__ import annotations

from enum import IntEnum

from conformance.wire.appended import LEAST, ORDERS, SIZES
from conformance.wire.appended import ORDERS as SRMP_ORDERS
from conformance.wire.columns.shapes import (
    NotBelowZero,
    NotEmpty,
    Place,
    Presence,
    Shapes,
    Sort,
    UnknownShapeError,
    number,
)
from conformance.wire.columns.walkers import ends_with, equals, function_of, met
from conformance.wire.decode import EXTENT
from conformance.wire.framing import (
    ACK_BODY_SIZE,
    ACK_MARKS,
    ACK_RECEIVE_CLASS,
    NACK_CLASSES,
    ORDER_ACK_CLASS,
    ORDER_LABEL,
    ORDER_QUEUE_ID,
    ORDER_QUEUE_NAME,
)
from conformance.wire.headers import (
    BASE_HEADER,
    BODY_SECTION_ID,
    COMPOUND_MESSAGE_HEADER,
    DEAD_LETTER_HEADER,
    EXTENSION_HEADER,
    EXTENSION_SECTIONS,
    EXTENSION_SIZE,
    FINAL_ACK,
    INTERNAL_PACKETS,
    MALFORMED,
    MESSAGE_PROPERTIES_HEADER,
    ORDER_ACK,
    PING_KIND,
    SRMP_ENVELOPE_HEADER,
    USER_MESSAGE,
)
from conformance.wire.layout import Blob, Condition, Run, Section, steps_of
from conformance.wire.security_items import INSIDE

KINDS = (USER_MESSAGE, ORDER_ACK, FINAL_ACK, *(kind for kind, _ in INTERNAL_PACKETS.values()), PING_KIND, MALFORMED)
PLACEMENTS = ("inside", "after")
LAYOUTS = ("aligned", "packed", "either")
UNITS = ("wchars", "bytes")
# The headers of HTTP messages: their packets are left to the other path, so that no code fills the columns they have.
NOT_READ = (SRMP_ENVELOPE_HEADER.name, COMPOUND_MESSAGE_HEADER.name)
D = "SecurityHeader.SecurityData."
M, _SOAP = "MessagePropertiesHeader.", "SoapHeader"
USER = "UserHeader"
_NO = "            return 0"
_LISTS = "MultiQueueFormatHeader."
_REPORT = 1  # The class of a report (MS-MQMQ 2.2.18.1.6).
_ADDRESS, _QUEUE = 32, 64  # The places of QueueManagerAddress and DestinationQueue in a packet.


class Slow(IntEnum):
    """The reason why a packet is judged one by one."""

    NOT = 0
    TROUBLE = 1  # it could not be decoded whole
    LAYOUT = 2  # only another layout may explain it
    SIGNED = 3  # it has a certificate, which must be read and may verify a signature
    LETTERS = 4  # unusual letters decide a comparison of names, or the grammar of names does
    INSIDE = 5  # the contents of a security item do not fit it
    CROWDED = 6  # more different outcomes than the table of outcomes holds
    ODD = 7  # it was decoded, and holds what no header explains
    UNREADABLE = 8  # it cannot be decoded whole in any layout


def value_at(shapes: Shapes, key: str) -> str:
    """Return the value of a number outside its walker, where its section is known to be present."""
    place = shapes.place(key)
    return number(place).replace(f"a{place.anchor}", f"(p + noted(o, {place.anchor}))", 1)


def length_at(shapes: Shapes, key: str) -> str:
    return f"noted(o, {shapes.place(key).length})"


def address_at(shapes: Shapes, key: str) -> str:
    return f"(p + noted(o, {shapes.place(key).anchor}))"


def seen(section: str) -> str:
    """Return the call of the function that reads a section (see `reads`); its packet must be decoded so far."""
    return f"see_{section}(p, o, have, z)"


def has(shapes: Shapes, section: str) -> str:
    return f"(have & {1 << shapes.bit(section):#x})"


def condition_at(shapes: Shapes, condition: Condition) -> str:
    return met(value_at(shapes, condition.key), condition)


def bits_of(shapes: Shapes, *sections: str) -> str:
    return f"{sum(1 << shapes.bit(section) for section in sections):#x}"


def fact_places(shapes: Shapes) -> None:
    """Add the places of the facts that `dissect` and `judge.packets.facts` add beside the fields."""

    def slot(key: str, name: str, section: str = "", *conditions: Presence, words: tuple[str, ...] = ()) -> None:
        sort = Sort.WORD if words else Sort.NUMBER
        shapes.add(Place(key, section, sort, conditions, shapes.slots[f"Packet.{name}"], fact="slot", words=words))

    slot("Packet.Kind", "kind", words=KINDS)
    slot("Packet.Length", "length")
    placement = shapes.slots["Packet.placement"]
    slot("Packet.SessionHeaderPlacement", "placement", "", NotBelowZero(placement), words=PLACEMENTS)
    slot("Packet.HeadersEnd", "headers-end", USER)
    slot("Packet.Unexplained", "unexplained", BASE_HEADER.name)
    slot("Packet.Counted", "counted", BASE_HEADER.name)
    slot("Packet.ExtensionEnd", "extension-end", EXTENSION_HEADER.name)
    slot("DeadLetterHeader.Counted", "dead-letter-counted", DEAD_LETTER_HEADER.name)
    shapes.add(Place("Packet.ExtensionOrder", EXTENSION_HEADER.name, Sort.WORD, fact="const", words=ORDERS))
    # A packet decoded without trouble ended in no field.
    shapes.add(Place("Packet.Overrun", BASE_HEADER.name, Sort.WORD, fact="const", words=("",)))
    shapes.add(Place("Packet.Decided", BASE_HEADER.name, Sort.FLAG, size=1, fact="const"))
    shapes.slot(f"Packet.{_SOAP}")
    slot(f"{_SOAP}.Layout", _SOAP, _SOAP, words=LAYOUTS)
    shapes.slot("Packet.http")
    envelope, compound = NOT_READ
    slot(f"{envelope}.Layout", "http", envelope, words=LAYOUTS)
    slot(f"{envelope}.Unit", "http", envelope, words=UNITS)
    slot(f"{envelope}.Counted", "http", envelope)
    slot(f"{compound}.Counted", "http", compound)
    slot("Packet.SrmpOrder", "http", compound, words=SRMP_ORDERS)
    # A list without the destination as it is written there is left to the other path.
    names = f"{_LISTS}Destination.FormatNameList"
    told = (
        Condition(f"{USER}.Flags.DQ", (3, 5, 7)),
        Condition(f"{names}.Stopped", (0,)),
        Condition(f"{names}.Of6", (0,)),
    )
    shapes.add(Place("Packet.DestinationListed", _LISTS[:-1], Sort.FLAG, told, size=1, fact="const"))
    # An odd packet is left to the other path, so no cause explains one that is judged here.
    shapes.add(Place("Packet.Cause", BASE_HEADER.name, Sort.WORD, fact="const", words=("",)))
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


def items_code(shapes: Shapes) -> str:
    """Emit code for the contents of the items of SecurityData; bytes that do not fit are left to the other path."""
    out: list[str] = []
    for item in INSIDE:
        section, place = item.section, shapes.place(item.key)
        exact = shapes.slot(f"{section.name}.Exact")
        shapes.add(Place(f"{section.name}.Exact", section.name, Sort.FLAG, (), exact, fact="slot"))
        out += [
            f"def inside_{section.name}(p, o):",
            f"    at = noted(o, {place.anchor})",
            f"    end = at + noted(o, {place.length})",
            f"    at = {function_of(section)}(p, at, end, o)",
            "    if at < 0:",
            "        return -1",
        ]
        if item.rest:
            anchor, length = shapes.slot(f"{section.name}.{item.rest}@"), shapes.slot(f"{section.name}.{item.rest}#")
            key = section.key(item.rest)
            shapes.add(Place(key, section.name, Sort.BYTES, (NotEmpty(length),), anchor, length=length))
            out += [f"    note(o, {anchor}, at)", f"    note(o, {length}, end - at)"]
        out += [f"    note(o, {exact}, 1 if at {'<' if item.rest else '=='} end else 0)", "    return 0", "", ""]
    return "\n".join(out)


def classify_code(shapes: Shapes) -> str:
    """Emit `recognition.acknowledgment`; below 0 is why that decides: a mark is wrong, or letters beyond ASCII."""
    label, name = M + "Label", "UserHeader.DestinationQueue.DirectFormatName"
    number_place = shapes.place("UserHeader.DestinationQueue.PrivateQueueIdentifier")
    selector = next(one for one in number_place.conditions if isinstance(one, Condition))
    named = next(one for one in shapes.place(name).conditions if isinstance(one, Condition))
    if selector.key != named.key:
        raise UnknownShapeError("the two ways to name the order queue hang on different fields")
    user, order, final = (f"        return {KINDS.index(kind)}" for kind in (USER_MESSAGE, ORDER_ACK, FINAL_ACK))
    lines = [
        equals("is_order_label", ORDER_LABEL),
        ends_with("is_order_queue", ORDER_QUEUE_NAME),
        "def classify(p, o, have):",
        f"    if {has(shapes, M[:-1])} == 0:",
        user,
        f"    kind = {value_at(shapes, M + 'MessageClass')}",
        f"    known = 1 if kind == {ORDER_ACK_CLASS} or kind == {ACK_RECEIVE_CLASS} or kind >= {NACK_CLASSES} else 0",
        f"    marks = known + (1 if {value_at(shapes, M + 'MessageSize')} == {ACK_BODY_SIZE} else 0)",
        f"    if marks + 2 < {ACK_MARKS}:",
        user,
        f"    if {length_at(shapes, label)} != 0:",
        f"        at = {address_at(shapes, label)}",
        f"        marks += is_order_label(at, shown(at, {length_at(shapes, label)}))",
        f"    if marks + 1 < {ACK_MARKS}:",
        user,
        f"    by = {value_at(shapes, selector.key)}",
        "    ordered = 0",
        f"    if {met('by', selector)} != 0:",
        f"        ordered = 1 if {value_at(shapes, number_place.key)} == {ORDER_QUEUE_ID} else 0",
        f"    elif {met('by', named)} != 0 and {length_at(shapes, name)} != 0:",
        f"        at = {address_at(shapes, name)}",
        f"        ordered = is_order_queue(at, shown(at, {length_at(shapes, name)}))",
        "    if ordered == 2:",
        f"        return -{Slow.LETTERS:d}",
        f"    if marks + ordered < {ACK_MARKS}:",
        user,
        f"    if known == 0 or marks + ordered == {ACK_MARKS}:",
        f"        return -{Slow.TROUBLE:d}",
        f"    if kind == {ORDER_ACK_CLASS}:",
        order,
        f"    if {value_at(shapes, 'UserHeader.Flags.DM')} == 0:",
        f"        return -{Slow.TROUBLE:d}",
        final.removeprefix("    "),
    ]
    return "\n".join(lines)


def explained_code(shapes: Shapes) -> str:
    """Emit `decode._explained`, for a packet without trouble, and a check whether another layout could explain it."""
    lines, unexplained = ["def explained(p, o, have):"], shapes.slots["Packet.unexplained"]
    lines.append(f"    if {has(shapes, _SOAP)} != 0:")
    lines += [
        f"        if {value_at(shapes, f'{_SOAP}.{padding}.Complete')} == 0:\n            return 0"
        for padding in ("HeaderPadding", "BodyPadding")
    ]
    lines += [
        f"        if {value_at(shapes, f'{_SOAP}.BodySectionID')} != {BODY_SECTION_ID}:",
        _NO,
        f"    if noted(o, {unexplained}) == 0:",
        "        return 1",
        # Headers behind an ExtensionHeader that were judged here take all the bytes there are.
        f"    return 1 if {has(shapes, EXTENSION_HEADER.name)} != 0 else 0",
        "",
        "",
        "def doubted(p, o, have):",
        # The bytes that no header explains can be those of an HTTP message.
        f"    if {value_at(shapes, 'UserHeader.Flags.HH')} != 0 or noted(o, {unexplained}) >= {LEAST}:",
        "        return 1",
        f"    if {has(shapes, M[:-1])} == 0 or {value_at(shapes, M + 'PrivacyLevel')} == 0:",
        "        return 0",
        f"    return 1 if {value_at(shapes, EXTENT)} > {value_at(shapes, M + 'MessageSize')} else 0",
    ]
    return "\n".join(lines)


def unread_code(shapes: Shapes) -> str:
    """Emit what a message is that cannot be decoded on: whether another layout, of its body or of SoapHeader, could be.

    first: where its MessagePropertiesHeader begins, or its end.
    """
    lines = [
        "def unread(p, o, first, size):",
        f"    if first + {_fixed(MESSAGE_PROPERTIES_HEADER)} > size:",
        f"        return -{Slow.UNREADABLE:d}",
        f"    if {value_at(shapes, M + 'PrivacyLevel')} == 0:",
        f"        return -{Slow.UNREADABLE:d}",
        f"    more = {value_at(shapes, EXTENT)} > {value_at(shapes, M + 'MessageSize')}",
        f"    return -{Slow.TROUBLE:d} if more else -{Slow.UNREADABLE:d}",
        "",
        "",
        "def unread_behind(p, o, have, size):",
        f"    if {value_at(shapes, 'UserHeader.Flags.HH')} != 0:",
        f"        return -{Slow.TROUBLE:d}",
        f"    if {has(shapes, M[:-1])} == 0:",
        f"        return -{Slow.UNREADABLE:d}",
        "    return unread(p, o, 0, size)",
    ]
    return "\n".join(lines)


def _fixed(section: Section) -> int:
    """Return the bytes of a section before the first field whose size depends on another one."""
    size = 0
    for step in steps_of(section):
        if isinstance(step, Run):
            size += step.struct.size
        elif isinstance(step, Blob) and not step.of:
            size += step.length.fixed
        else:
            break
    return size


def told_code(shapes: Shapes) -> str:
    """Emit the check whether a message has to be looked at one by one: it reports on another one, has an address in the
    place of an identifier, or a list of destinations without its own one, written as it is there."""
    names, own = f"{_LISTS}Destination.FormatNameList", f"{USER}.DestinationQueue.DirectFormatName"
    kind = value_at(shapes, f"{USER}.Flags.DQ")
    stopped, lists, *of = (
        f"noted(o, {shapes.place(f'{names}.{fact}').anchor})" for fact in ("Stopped", "Of6", "Of1", "Of2", "Of3")
    )
    lines = [
        "def is_at(at, other, count):",
        "    i = 0",
        "    while i < count and u16(at + i) == u16(other + i):",
        "        i += 2",
        "    return 1 if i >= count else 0",
        "",
        "",
        "def told_whole(p, o, have):",
        f"    if {has(shapes, M[:-1])} != 0 and {value_at(shapes, M + 'MessageClass')} == {_REPORT}:",
        "        return 1",
        f"    kind = {kind}",
        f"    if kind == 7 and u64(p + {_ADDRESS}) | u64(p + {_ADDRESS + 8}) != 0:",
        "        return 1",
        f"    if {has(shapes, _LISTS[:-1])} == 0:",
        "        return 0",
        f"    if (kind != 3 and kind != 5 and kind != 7) or {stopped} != 0 or {lists} != 0:",
        "        return 0",
        f"    at = {address_at(shapes, names)}",
        f"    end = at + {length_at(shapes, names)}",
        f"    first, size = p + {_QUEUE}, 0",
        f"    if kind == 5 and {of[0]} != 0:",
        "        size = 16",
        f"    elif kind == 3 and {of[1]} != 0:",
        f"        first, size = p + {_ADDRESS}, 16",
        f"    elif kind == 7 and {of[2]} != 0:",
        f"        first, size = {address_at(shapes, own)}, {length_at(shapes, own)}",
        "    if size == 0 or size & 1 != 0:",
        "        return 1",
        "    while at + size <= end:",
        "        if is_at(at, first, size) != 0:",
        "            if kind != 3:",
        "                return 0",
        f"            if at + 20 <= end and is_at(at + 16, p + {_QUEUE}, 4) != 0:",
        "                return 0",
        "        at += 2",
        "    return 1",
    ]
    return "\n".join(lines)


def appended_lines(shapes: Shapes) -> list[str]:
    """Emit the headers of MS-MQRR 2.2.5.2 behind the last one; what does not fit together is left to the other path."""
    slots = shapes.slots
    leave = f"return -{Slow.LAYOUT:d}"
    lines = [
        f"if u32(p + end) != {EXTENSION_SIZE} and u32(p + end + 4) == left - {EXTENSION_SIZE}:",
        f"    {leave}",
        f"if u32(p + end) == {EXTENSION_SIZE}:",
        "    last = end + left",
        "    at = end",
    ]
    for section, condition in EXTENSION_SECTIONS:
        depth = "    "
        if condition is not None:
            lines.append(f"    if {condition_at(shapes, condition)} != 0:")
            depth += "    "
        size = value_at(shapes, section.key("HeaderSize"))
        unfit = f"{size} != {SIZES[section.name]}" if section.name in SIZES else f"{size} <= 4"
        lines += [
            f"{depth}first = at",
            f"{depth}at = {function_of(section)}(p, at, last, o)",
            f"{depth}if at < 0:",
            f"{depth}    {leave}",
            *([f"{depth}if {unfit}:", f"{depth}    {leave}"] if condition is not None else []),
            f"{depth}have |= {bits_of(shapes, section.name)}",
            f"{depth}{seen(section.name)}",
        ]
        if section is DEAD_LETTER_HEADER:
            complete = value_at(shapes, section.key("Padding.Complete"))
            lines += [
                f"{depth}if {complete} == 0:",
                f"{depth}    {leave}",
                f"{depth}note(o, {slots['Packet.dead-letter-counted']}, at - first)",
            ]
    return [
        *lines,
        "    if at != last:",
        f"        {leave}",
        f"    note(o, {slots['Packet.extension-end']}, at - end)",
    ]


def security_lines(shapes: Shapes, depth: str) -> list[str]:
    """Emit code for the contents of the items, and for whether SecurityID has the length of a GUID."""
    lines = []
    for item in INSIDE:
        condition = f"{length_at(shapes, item.key)} != 0"
        if item.condition is not None:
            condition += f" and {condition_at(shapes, item.condition)} != 0"
        lines += [
            f"{depth}if {condition}:",
            f"{depth}    if inside_{item.section.name}(p, o) < 0:",
            f"{depth}        return -{Slow.INSIDE:d}",
            f"{depth}    have |= {bits_of(shapes, item.section.name)}",
            f"{depth}    {seen(item.section.name)}",
        ]
    sixteen = f"1 if {length_at(shapes, D + 'SecurityID')} == 16 else 0"
    sender = shapes.place(D + "SecurityID").anchor
    return [
        *lines,
        f"{depth}note(o, {shapes.slots['Packet.sixteen']}, {sixteen})",
        f"{depth}note(o, {shapes.slots['Packet.sender-guid']}, noted(o, {sender}))",
    ]


def layout_lines(shapes: Shapes) -> list[str]:
    lengths = " | ".join(length_at(shapes, f"{_SOAP}.{text}") for text in ("Header", "Body"))
    layout = f"{LAYOUTS.index('aligned')} if ({lengths}) & 3 != 0 else {LAYOUTS.index('either')}"
    return [f"    if {has(shapes, _SOAP)} != 0:", f"        note(o, {shapes.slots[f'Packet.{_SOAP}']}, {layout})"]


def signed_lines(shapes: Shapes) -> list[str]:
    """Emit the mark of certificates: their signatures are verified one by one, others are not judged."""
    return [
        f"    if {has(shapes, 'SecurityHeader')} != 0 and {length_at(shapes, D + 'SenderCert')} != 0:",
        f"        note(o, {shapes.slots['Packet.signed']}, 1)",
    ]
