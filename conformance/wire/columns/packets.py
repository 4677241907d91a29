"""Emits `decode`: one packet from its address, section after section, as `wire.decode` reads it.

`decode(p, total, udp, o, z)` returns the mask of the sections that are present, or minus a `Slow`: the reason why the
packet is left to the one-by-one path. A packet that is judged here was decoded without trouble, in the layout of the
tables.
"""

from __future__ import annotations

from conformance.wire.columns.packet_facts import (
    KINDS,
    NOT_READ,
    PLACEMENTS,
    USER,
    M,
    Slow,
    appended_lines,
    bits_of,
    classify_code,
    condition_at,
    explained_code,
    fact_places,
    items_code,
    layout_lines,
    security_lines,
    seen,
    signed_lines,
    told_code,
    unread_code,
    value_at,
)
from conformance.wire.columns.shapes import Shapes
from conformance.wire.columns.walkers import function_of, list_code, walker, ways_room
from conformance.wire.decode import BASE_SIZE, BODY
from conformance.wire.framing import INTERNAL_SIZES, UNUSED_FLAGS
from conformance.wire.headers import (
    ACK_BODIES,
    ALL_SECTIONS,
    BASE_HEADER,
    EXTENSION_HEADER,
    EXTENSION_SECTIONS,
    EXTENSION_SIZE,
    INTERNAL_HEADER,
    INTERNAL_PACKETS,
    MAXIMUM_SIZE,
    MESSAGE_PROPERTIES_HEADER,
    PING,
    PING_KIND,
    PING_SIGNATURE,
    PING_SIZE,
    SESSION_HEADER,
    SESSION_HEADER_SIZE,
    SIGNATURE,
    USER_HEADER,
    USER_MESSAGE,
    USER_MESSAGE_SECTIONS,
    VERSION,
)
from conformance.wire.layout import Condition, Elements, Octets, Section, leaves
from conformance.wire.security_items import INSIDE, PUBLIC_KEY_BLOB

SESSION = SESSION_HEADER.name
_FACTS = (
    "kind", "placement", "headers-end", "unexplained", "counted", "extension-end", "length", "letters", "signed",
    "have", "hash", "dead-letter-counted", "odd",
)  # fmt: skip
# Not a part of any packet: `wire.certificates` reads it.
ELSEWHERE = (PUBLIC_KEY_BLOB,)


def shapes_and_code() -> tuple[Shapes, str]:
    """Return the places of all keys of a packet, and the source of all walkers and of `decode`.

    Raises UnknownShapeError when the tables hold an item that cannot be emitted.
    """
    shapes = Shapes()
    for fact in _FACTS:
        shapes.slot(f"Packet.{fact}")
    code = [walker(section, shapes) for section in ALL_SECTIONS if section not in ELSEWHERE]
    code.append(items_code(shapes))
    fact_places(shapes)
    lists = [one for section in ALL_SECTIONS for one in _lists(section)]
    spare = len(shapes.slots)
    for at in range(ways_room(lists[0])):
        shapes.slot(f"spare {at}")
    head = list_code(lists, spare, shapes.slots["Packet.letters"])
    parts = (
        classify_code(shapes),
        _session(),
        explained_code(shapes),
        unread_code(shapes),
        told_code(shapes),
        _user(shapes),
        _internal(shapes),
        _whole(shapes),
    )
    return shapes, "\n\n".join([head, *code, *parts])


def implied(section: str) -> frozenset[str]:
    """Return the sections that are present when this one is, itself included."""
    behind_user = {one.name for one, _ in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS)}
    out = {section}
    if section in behind_user | {one.section.name for one in INSIDE} | {one.name for one in ACK_BODIES.values()}:
        out.add(USER)
    if section in {one.section.name for one in INSIDE}:
        out.add("SecurityHeader")
    if section in {one.name for one, _ in EXTENSION_SECTIONS}:
        out.add(EXTENSION_HEADER.name)
    if section in {one.name for one in ACK_BODIES.values()}:
        out.add(M[:-1])
    if section in {one.name for _, one in INTERNAL_PACKETS.values()} and section != SESSION:
        out.add(INTERNAL_HEADER.name)
    if section != PING.name:
        out.add(BASE_HEADER.name)
    return frozenset(out)


def _lists(section: Section) -> list[Elements]:
    return [item.elements for _, item in leaves(section) if isinstance(item, Octets) and item.elements]


def _session() -> str:
    """Emit the offset of a message's SessionHeader; minus the offset, minus one when it is inside PacketSize."""
    size = SESSION_HEADER_SIZE
    return "\n".join(
        [
            "def session_at(end, size, total):",
            f"    if total >= size + {size}:",
            "        return size",
            f"    if end + {size} <= size and size <= total:",
            f"        return -1 - (size - {size})",
            "    return -1 - total",
        ]
    )


def _user(shapes: Shapes) -> str:
    """Emit `decode._user_message`."""
    lines = [
        "def user_message(p, size, total, o, z):",
        f"    at, have = {BASE_SIZE}, {bits_of(shapes, BASE_HEADER.name)}",
        f"    {seen(BASE_HEADER.name)}",
        *_header_lines(shapes),
        f"    note(o, {shapes.slots['Packet.headers-end']}, at)",
        "    end = at",
        "    kind = classify(p, o, have)",
        "    if kind < 0:",
        "        return kind",
        f"    note(o, {shapes.slots['Packet.kind']}, kind)",
        "    if told_whole(p, o, have) != 0:",
        f"        return -{Slow.LAYOUT:d}",
        *_body_lines(shapes),
        *_end_lines(shapes),
        f"    if kind == {KINDS.index(USER_MESSAGE)} and explained(p, o, have) == 0 and doubted(p, o, have) != 0:",
        f"        return -{Slow.LAYOUT:d}",
        *layout_lines(shapes),
        *signed_lines(shapes),
        "    return have",
    ]
    return "\n".join(lines)


def _header_lines(shapes: Shapes) -> list[str]:
    """Emit the reading of the headers, one behind the other."""
    lines: list[str] = []
    behind = False
    for section, condition in USER_MESSAGE_SECTIONS:
        if section.name in NOT_READ:
            continue
        depth = "    "
        if condition is not None:
            lines.append(f"    if {condition_at(shapes, condition)} != 0:")
            depth += "    "
        if section is MESSAGE_PROPERTIES_HEADER:
            behind, unread = True, "unread(p, o, first, size)"
        else:
            unread = "unread_behind(p, o, have, size)" if behind else f"-{Slow.UNREADABLE:d}"
        lines += [
            f"{depth}first = at",
            f"{depth}at = {function_of(section)}(p, at, size, o)",
            f"{depth}if at < 0:",
            f"{depth}    return {unread}",
            f"{depth}have |= {bits_of(shapes, section.name)}",
        ]
        if section.name == "SecurityHeader":
            lines += security_lines(shapes, depth)
        lines.append(f"{depth}{seen(section.name)}")
        if section is USER_HEADER:  # the envelope of an HTTP message is read as XML
            http = condition_at(shapes, Condition("UserHeader.Flags.AH"))
            lines += [f"    if {http} != 0:", f"        return -{Slow.LAYOUT:d}"]
    return lines


def _body_lines(shapes: Shapes) -> list[str]:
    """Emit the reading of a body that is an acknowledgment."""
    lines: list[str] = []
    body = shapes.place(BODY)
    for kind, section in ACK_BODIES.items():
        lines += [
            f"    if kind == {KINDS.index(kind)}:",
            # An empty body has no span: `dissect` then looks at the end of the headers, and finds nothing.
            f"        first = noted(o, {body.anchor})",
            f"        last = first + noted(o, {body.length})",
            f"        if {function_of(section)}(p, first, last, o) != last:",
            f"            return -{Slow.TROUBLE:d}",
            f"        have |= {bits_of(shapes, section.name)}",
            f"        {seen(section.name)}",
        ]
    return lines


def _end_lines(shapes: Shapes) -> list[str]:
    """Emit the reading of what stands behind the body: the SessionHeader and an extension."""
    slots = shapes.slots
    return [
        f"    note(o, {slots['Packet.placement']}, -1)",
        "    behind = 0",
        "    last = size",
        f"    if {condition_at(shapes, Condition('BaseHeader.Flags.SH'))} != 0:",
        "        first = session_at(end, size, total)",
        f"        note(o, {slots['Packet.placement']}, {PLACEMENTS.index('after')} if first >= 0 else 0)",
        "        if first < 0:",
        "            first = -1 - first",
        f"            last = max(end, size - {SESSION_HEADER_SIZE})",
        "        else:",
        f"            behind = {SESSION_HEADER_SIZE}",
        f"        at = {function_of(SESSION_HEADER)}(p, first, min(first + {SESSION_HEADER_SIZE}, total), o)",
        "        if at < 0:",
        "            return unread_behind(p, o, have, size)",
        f"        have |= {bits_of(shapes, SESSION)}",
        f"        {seen(SESSION)}",
        "    if total > max(size, at):",
        "        return unread_behind(p, o, have, size)",
        "    left = max(0, last - end)",
        f"    note(o, {slots['Packet.unexplained']}, left)",
        f"    note(o, {slots['Packet.counted']}, total - behind)",
        f"    if left >= {EXTENSION_SIZE}:",
        *(f"        {line}" for line in appended_lines(shapes)),
    ]


def _internal(shapes: Shapes) -> str:
    """Emit `decode._internal`."""
    slots = shapes.slots
    lines = [
        "def internal(p, size, total, o, z):",
        f"    have = {bits_of(shapes, BASE_HEADER.name, INTERNAL_HEADER.name)}",
        f"    at = {function_of(INTERNAL_HEADER)}(p, {BASE_SIZE}, size, o)",
        "    if at < 0:",
        f"        return -{Slow.TROUBLE:d}",
        *(f"    {seen(one.name)}" for one in (BASE_HEADER, INTERNAL_HEADER)),
        f"    note(o, {slots['Packet.placement']}, -1)",
        "    behind = 0",
        f"    by = {value_at(shapes, 'InternalHeader.Flags.PT')}",
    ]
    word = "if"
    for code, (kind, section) in INTERNAL_PACKETS.items():
        lines += [
            f"    {word} by == {code}:",
            # Another size may show another packet.
            f"        if total != {INTERNAL_SIZES[code]}:",
            f"            return -{Slow.TROUBLE:d}",
            f"        note(o, {slots['Packet.kind']}, {KINDS.index(kind)})",
            "        end = size",
        ]
        if section is SESSION_HEADER:
            lines += [
                f"        if at + {SESSION_HEADER_SIZE} <= size:",
                f"            note(o, {slots['Packet.placement']}, {PLACEMENTS.index('inside')})",
                "        else:",
                f"            note(o, {slots['Packet.placement']}, {PLACEMENTS.index('after')})",
                f"            behind = {SESSION_HEADER_SIZE}",
                "            end = total",
            ]
        lines += [
            f"        at = {function_of(section)}(p, at, end, o)",
            f"        have |= {bits_of(shapes, section.name)}",
            # Of a packet that ends too soon, which is not judged.
            "        if at < 0:",
            f"            return -{Slow.TROUBLE:d}",
            f"        {seen(section.name)}",
        ]
        word = "elif"
    lines += [
        "    else:",
        "        at = -1",
        "    if at < 0 or total > max(size, at):",
        f"        return -{Slow.TROUBLE:d}",
        f"    note(o, {slots['Packet.unexplained']}, max(0, size - at))",
        f"    note(o, {slots['Packet.counted']}, total - behind)",
        "    return have",
    ]
    return "\n".join(lines)


def _whole(shapes: Shapes) -> str:
    """Emit `dissect` with the transport given; a datagram is a Ping, or unknown to the walkers."""
    slots = shapes.slots
    trouble, unreadable = f"        return -{Slow.TROUBLE:d}", f"        return -{Slow.UNREADABLE:d}"
    lines = [
        "@apart",
        "def decode(p, total, udp, o, z):",
        f"    note(o, {slots['Packet.length']}, total)",
        f"    note(o, {slots['Packet.letters']}, 0)",
        f"    note(o, {slots['Packet.signed']}, 0)",
        f"    note(o, {slots['Packet.odd']}, 0)",
        "    if udp != 0:",
        f"        if total != {PING_SIZE} or {function_of(PING)}(p, 0, total, o) < 0:",
        "    " + trouble,
        f"        if {value_at(shapes, 'Ping.Signature')} != {PING_SIGNATURE}:",
        "    " + trouble,
        f"        note(o, {slots['Packet.kind']}, {KINDS.index(PING_KIND)})",
        f"        note(o, {slots['Packet.placement']}, -1)",
        f"        return {bits_of(shapes, PING.name)}",
        f"    if {function_of(BASE_HEADER)}(p, 0, total, o) < 0:",
        unreadable,
        f"    if {value_at(shapes, 'BaseHeader.Signature')} != {SIGNATURE}:",
        unreadable,
        f"    if {value_at(shapes, 'BaseHeader.VersionNumber')} != {VERSION}:",
        unreadable,
        f"    size = {value_at(shapes, 'BaseHeader.PacketSize')}",
        f"    if size < {BASE_SIZE} or size > {MAXIMUM_SIZE} or size > total:",
        unreadable,
        f"    if {condition_at(shapes, Condition('BaseHeader.Flags.IN'))} != 0:",
        "        return internal(p, size, total, o, z)",
        # An internal packet may lack only the mark that says so.
        f"    if size == {' or size == '.join(map(str, INTERNAL_SIZES.values()))}:",
        f"        if {function_of(INTERNAL_HEADER)}(p, {BASE_SIZE}, size, o) > 0:",
        f"            by = {value_at(shapes, 'InternalHeader.Flags')}",
        f"            if by & {UNUSED_FLAGS} == 0 and {value_at(shapes, 'InternalHeader.Reserved')} == 0:",
        f"                return -{Slow.TROUBLE:d}",
        "    return user_message(p, size, total, o, z)",
    ]
    return "\n".join(lines)


__all__ = ["KINDS", "Slow", "implied", "shapes_and_code"]
