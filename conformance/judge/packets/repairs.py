"""Candidate packets with one deviation undone: surplus bytes, missing header bytes, wrong lengths of a part."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache

from conformance.grammar.queue_format import is_direct
from conformance.spec.catalogue import requirement_id
from conformance.wire import Packet, encode, patch
from conformance.wire.decode import read_section
from conformance.wire.headers import BODY_SECTION_ID, LISTS, SESSION_HEADER_SIZE, SIGNATURE_ID, USER_MESSAGE_SECTIONS

Guessed = tuple[str, bytes]
"""The requirement that would be broken, and the packet as it would be if it were not."""
_B, _U, _T, _D = "BaseHeader.", "UserHeader.", "TransactionHeader.", "DebugHeader."
_X, _Q = "SoapHeader.", "MultiQueueFormatHeader."
_SIZE = _B + "PacketSize"
_USER_HEADER = USER_MESSAGE_SECTIONS[0][0]
_BASE, FIXED = 16, 64  # The ends of BaseHeader and of the fixed part of UserHeader.
_LENGTHS = (2, 4, 8, 12, 16, 20)
_ANY_GUID = bytes(range(1, 17))
_ANY_NUMBER = b"\1\0\0\0"
_ANY_NAME = struct.pack("<H", 14) + "OS:h\\q\0".encode("utf-16-le")
_FORMS = {2: _ANY_NUMBER, 3: _ANY_NUMBER, 4: _ANY_NUMBER, 5: _ANY_GUID, 6: _ANY_GUID + _ANY_NUMBER, 7: _ANY_NAME}
_WORDS = {
    2: "private-source",
    3: "private-destination",
    4: "private-admin",
    5: "public",
    6: "private-other",
    7: "direct",
}
_OF_DESTINATION = {3: "private", 5: "public", 7: "direct"}
_QUEUES = (("DQ", "DestinationQueue"), ("AQ", "AdminQueue"), ("RQ", "ResponseQueue"))
FORM: dict[tuple[str, int], str] = {
    **{("DQ", number): requirement_id(f"MQMQ-2.2.19.2.destination-{word}") for number, word in _OF_DESTINATION.items()},
    **{("AQ", n): requirement_id(f"MQMQ-2.2.19.2.admin-{word}") for n, word in _WORDS.items() if n != 4},
    **{("RQ", n): requirement_id(f"MQMQ-2.2.19.2.response-{word}") for n, word in _WORDS.items()},
}
_SWAPPED = requirement_id("MQMQ-2.2.19.2.admin-queue-layout")
_CONNECTOR_PRESENT = requirement_id("MQMQ-2.2.19.2.connector-type-present")
_GROUP = requirement_id("MQMQ-2.2.20.5.connector-present")
_TRACED = requirement_id("MQMQ-2.2.20.8.queue-identifier-present")
# A header to its flag, the length of its fixed part, and what it breaks if it has less.
_HEADERS = {
    "TransactionHeader": (_U + "Flags.TH", 20, requirement_id("MQMQ-2.2.19.2.transaction-header-present")),
    "SecurityHeader": (_U + "Flags.SH", 16, requirement_id("MQMQ-2.2.19.2.security-header-present")),
    "DebugHeader": (_B + "Flags.DH", 20, requirement_id("MQMQ-2.2.19.1.debug-header-present")),
}
# The flags that are cleared with one: its bit, the bytes of the word, and the bits.
_WORDS_OF = {
    _U + "Flags.SH": (slice(60, 64), 1 << 19),
    _U + "Flags.TH": (slice(60, 64), 1 << 20),
    _B + "Flags.DH": (slice(2, 4), 1 << 5 | 1 << 8),  # A packet without DebugHeader is not traced.
}
_SOAP_BODY = requirement_id("MQMQ-2.2.20.7.body-section-id-layout")
_LIST = {name: requirement_id(f"MQMQ-2.2.20.1.{name.lower()}-layout") for name in (*LISTS, "Signature")}
_REQUIRED = requirement_id("MQMQ-2.2.20.required-headers")
_PROPERTIES = requirement_id("MQMQ-2.2.20.message-properties-header-layout")
_TRANSACTION = requirement_id("MQMQ-2.2.20.transaction-header-layout")
_USER = requirement_id("MQMQ-2.2.20.user-header-layout")
_MOVED = ("MessagePropertiesHeader", "SecurityHeader")  # Headers that may stand in the place of a UserHeader.
_SESSION = requirement_id("MQMQ-2.2.19.1.session-header-present")


def guesses(packet: Packet) -> Iterator[Guessed]:
    """Yield packets in which one part has another length."""
    if int(packet.fields[_SIZE]) > len(packet.data):
        return
    yield from _queues(packet)
    yield from _fixed(packet)
    yield from _headers(packet)
    yield from _parts(packet)
    yield from _user_header(packet)


def cut_session_header(packet: Packet) -> Iterator[Guessed]:
    """Yield the packet with all of its SessionHeader, where there is a beginning of one."""
    behind = len(packet.data) - int(packet.fields[_SIZE])
    if packet.fields.get(_B + "Flags.SH") and 0 < behind < SESSION_HEADER_SIZE:
        missing = bytearray(SESSION_HEADER_SIZE)
        missing[12] = 64
        yield _SESSION, packet.data + missing[behind:]


def instead(packet: Packet, at: int, old: int, new: bytes) -> bytes | None:
    """Return the packet with these bytes in the place of so many; None if there are no so many."""
    size = int(packet.fields[_SIZE])
    if at + old > min(size, len(packet.data)):
        return None
    whole = patch(packet, {_SIZE: size + len(new) - old})
    return whole[:at] + new + whole[at + old :]


def _lengths(packet: Packet, requirement: str, at: int, new: bytes) -> Iterator[Guessed]:
    for old in _LENGTHS:
        if old != len(new) and (right := instead(packet, at, old, new)) is not None:
            yield requirement, right


def _end(packet: Packet, prefix: str, start: int) -> int:
    """Return the end of everything below a key, padding included."""
    return max((sum(span) for key, span in packet.spans.items() if key.startswith(prefix)), default=start)


def _queues(packet: Packet) -> Iterator[Guessed]:
    admin, response = (packet.fields.get(f"{_U}Flags.{flag}") for flag in ("AQ", "RQ"))
    if admin in _FORMS and response in _FORMS and admin != response and 4 not in (admin, response):
        yield _SWAPPED, patch(packet, {_U + "Flags.AQ": int(response or 0), _U + "Flags.RQ": int(admin or 0)})
    at = FIXED
    for flag, name in _QUEUES:
        kind = packet.fields.get(f"{_U}Flags.{flag}")
        text = packet.fields.get(f"{_U}{name}.DirectFormatName")
        whole = isinstance(text, str) and is_direct(text)  # a name is what its type says
        if isinstance(kind, int) and (flag, kind) in FORM and not whole:
            yield from _lengths(packet, FORM[flag, kind], at, _FORMS[kind])
        at = _end(packet, f"{_U}{name}.", at)
    if packet.fields.get(_U + "Flags.CQ") == 1:
        yield from _lengths(packet, _CONNECTOR_PRESENT, at, _ANY_GUID)


def _fixed(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with a whole identifier behind the fixed part of a header."""
    for flag, header, fixed, requirement in (
        (_T + "Flags.CG", "TransactionHeader", 20, _GROUP),
        (_D + "Flags.QT", "DebugHeader", 4, _TRACED),
    ):
        if packet.fields.get(flag) == 1 and header in packet.spans:
            yield from _lengths(packet, requirement, packet.spans[header][0] + fixed, _ANY_GUID)


def _headers(packet: Packet) -> Iterator[Guessed]:
    """Yield packets without the beginning of a header, and without the flag that announces it."""
    for header, (flag, fixed, requirement) in _HEADERS.items():
        if packet.fields.get(flag) != 1 or header not in packet.spans:
            continue
        for old in range(4, fixed, 4):
            right = instead(packet, packet.spans[header][0], old, b"")
            if right is not None:
                yield requirement, _cleared(right, flag)


def _cleared(data: bytes, flag: str) -> bytes:
    place, bits = _WORDS_OF[flag]
    word = int.from_bytes(data[place], "little") & ~bits
    return data[: place.start] + word.to_bytes(place.stop - place.start, "little") + data[place.stop :]


def _parts(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with a part of a header that seems to be left out."""
    if packet.fields.get(_U + "Flags.HH") == 1 and _X + "HeaderDataLength" in packet.spans:
        at = max(_end(packet, _X + "Header", 0), sum(packet.spans[_X + "HeaderDataLength"]))
        right = instead(packet, at, 0, struct.pack("<HHI", BODY_SECTION_ID, 0, 0))
        if right is not None:
            yield _SOAP_BODY, right
    if packet.fields.get(_U + "Flags.MQ") != 1:
        return
    for name in LISTS:
        key = f"{_Q}{name}.HeaderSize"
        if key in packet.spans:
            right = instead(packet, packet.spans[key][0], 0, _empty_list(name))
            if right is not None:
                yield _LIST[name], right
    if packet.spans.get(_Q + "Response.ElementCount"):
        right = instead(packet, _end(packet, _Q + "Response", 0), 0, struct.pack("<HHI", SIGNATURE_ID, 0, 0))
        if right is not None:
            yield _LIST["Signature"], right


@cache
def _empty_list(name: str) -> bytes:
    packet = _message()
    at = packet.spans[f"{_Q}{name}.HeaderSize"][0]
    return packet.data[at : sum(packet.spans[f"{_Q}{name}.ElementCount"])]


@cache
def _message() -> Packet:
    from conformance.wire import dissect

    return dissect(encode("UserMessage", {**_PLAIN, _Q + "Destination.ElementCount": 0}), transport="buffer")


_PLAIN: dict[str, int | str | bytes | bool] = {
    _U + "SourceQueueManager": "00000001-0000-0000-0000-000000000001",
    _U + "DestinationQueue.DirectFormatName": "OS:h\\q",
    _U + "MessageID": 1,
}


def _user_header(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with a UserHeader, with one only, and with one in its place."""
    if int(packet.fields[_SIZE]) < FIXED:
        return
    _, size = read_section(_USER_HEADER, packet.data[_BASE:])
    once = packet.data[_BASE : _BASE + size]
    if once == packet.data[_BASE + size : _BASE + 2 * size] and (right := instead(packet, _BASE, size, b"")):
        yield _PROPERTIES, right
    for length in (20, 36):
        _, size = read_section(_USER_HEADER, packet.data[_BASE + length :])
        rest = packet.data[_BASE + length + size :]
        moved = packet.data[_BASE + length : _BASE + length + size] + packet.data[_BASE : _BASE + length]
        yield _TRANSACTION, packet.data[:_BASE] + moved + rest
    for section, _ in USER_MESSAGE_SECTIONS:
        if section.name in _MOVED:
            _, length = read_section(section, packet.data[_BASE : int(packet.fields[_SIZE])])
            _, size = read_section(_USER_HEADER, packet.data[_BASE + length :])
            moved = packet.data[_BASE + length : _BASE + length + size] + packet.data[_BASE : _BASE + length]
            yield _USER, packet.data[:_BASE] + moved + packet.data[_BASE + length + size :]
    model = _message()
    at, size = model.spans["UserHeader"]
    flags = int(model.fields[_U + "Flags"]) & ~(1 << 23)  # without the lists
    header = bytearray(model.data[at : at + size])
    header[44:48] = flags.to_bytes(4, "little")
    right = instead(packet, _BASE, 0, bytes(header))
    if right is not None:
        yield _REQUIRED, right


_SURPLUS_U, _S = "UserHeader.", "SecurityHeader."
_SURPLUS_SIZE = "BaseHeader.PacketSize"
_LAYOUT = {
    name: requirement_id(f"MQMQ-2.2.20.{word}-header-layout")
    for name, word in (
        ("TransactionHeader", "transaction"),
        ("SecurityHeader", "security"),
        ("MessagePropertiesHeader", "message-properties"),
        ("DebugHeader", "debug"),
        ("SoapHeader", "soap"),
        ("MultiQueueFormatHeader", "multi-queue"),
    )
}
_NAME = requirement_id("MQMQ-2.2.18.1.5.2.layout")
_CONNECTOR = requirement_id("MQMQ-2.2.19.2.connector-type-layout")
_AGAIN = requirement_id("MQMQ-2.2.19.2.response-queue-none")
_SESSION_LAYOUT = requirement_id("MQMQ-2.2.20.session-header-layout")
_SURPLUS_BASE, _WINDOW, _MOST_WINDOW = 16, 12, 64  # The end of BaseHeader; the place of WindowSize, and the usual one.
_NUMBERED = (2, 3, 4)  # Types of queues that are a number alone.
_ZEROS = (4, 8, 2, 6, 12, 16)
_GUID, _NUMBER, _SMALL = 16, 4, 1 << 16
# A header to what it breaks if it has less, the flag that announces one behind it, and the longest cut that is tried.
_CUT = {
    "TransactionHeader": (requirement_id("MQMQ-2.2.19.2.transaction-header-present"), 32),
    "SecurityHeader": (requirement_id("MQMQ-2.2.20.6.security-data-fits"), 64),
    "DebugHeader": (requirement_id("MQMQ-2.2.19.1.debug-header-present"), 16),
    "SoapHeader": (requirement_id("MQMQ-2.2.19.2.soap-header-present"), 64),
}


def surplus(packet: Packet) -> Iterator[Guessed]:
    """Yield packets without what seems to be there twice, or to be no more than zeros."""
    if int(packet.fields[_SURPLUS_SIZE]) > len(packet.data):
        return
    yield from _early_session_header(packet)
    yield from _owned(packet)
    yield from _repeated(packet)
    yield from _zeros(packet)


def cuts(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with more bytes at the end of a header. What these are is made up."""
    if int(packet.fields[_SURPLUS_SIZE]) > len(packet.data):
        return
    for header, (requirement, most) in _CUT.items():
        at, length = packet.spans.get(header, (0, 0))
        for missing in range(4, min(most, length) + 1, 4):
            right = instead(packet, at + length - missing, 0, bytes(missing))
            if right is not None:
                yield requirement, right


def _ends(packet: Packet) -> Iterator[tuple[str, int]]:
    """Yield the ends of queues and headers, each with what it breaks that something stands behind it."""
    form = _NAME
    at = FIXED
    for flag, name in _QUEUES:
        kind = packet.fields.get(f"{_SURPLUS_U}Flags.{flag}")
        end = max(
            (sum(span) for key, span in packet.spans.items() if key.startswith(f"{_SURPLUS_U}{name}.")), default=at
        )
        if isinstance(kind, int) and end > at:
            form = _NAME if kind == 7 else FORM.get((flag, kind), form)
            yield form, end
        at = end
    if _SURPLUS_U + "ConnectorType" in packet.spans:
        yield _CONNECTOR, sum(packet.spans[_SURPLUS_U + "ConnectorType"])
    for header, requirement in _LAYOUT.items():
        if header in packet.spans:
            yield requirement, sum(packet.spans[header])


def _zeros(packet: Packet) -> Iterator[Guessed]:
    end = min(int(packet.fields[_SURPLUS_SIZE]), len(packet.data))
    for requirement, at in _ends(packet):
        for more in _ZEROS:
            if at + more < end and not any(packet.data[at : at + more]):
                right = instead(packet, at, more, b"")
                if right is not None:
                    yield requirement, right


def _early_session_header(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with the SessionHeader at their end, where it may stand before another header."""
    data, size = packet.data, SESSION_HEADER_SIZE
    if packet.fields.get("BaseHeader.Flags.SH") != 1:
        return
    for at in dict.fromkeys((_SURPLUS_BASE, *(end for _, end in _ends(packet)))):
        if 0 < int.from_bytes(data[at + _WINDOW : at + _WINDOW + 2], "little") <= _MOST_WINDOW:
            yield _SESSION_LAYOUT, data[:at] + data[at + size :] + data[at : at + size]


def _owned(packet: Packet) -> Iterator[Guessed]:
    """Yield packets without an identifier before the number of a queue.

    It is one that the header names, or what is behind it is a small number, and it begins with none.
    """
    known = [packet.data[16:32], packet.data[32:48]]  # SourceQueueManager and QueueManagerAddress.
    at = FIXED
    for flag, name in _QUEUES:
        kind = packet.fields.get(f"{_SURPLUS_U}Flags.{flag}")
        owner = packet.data[at : at + _GUID]
        number, first = (packet.data[here : here + _NUMBER] for here in (at + _GUID, at))
        small = int.from_bytes(number, "little") < _SMALL <= int.from_bytes(first, "little") and len(number) == _NUMBER
        if kind in _NUMBERED and (flag, kind) in FORM and any(owner) and (owner in known or small):
            right = instead(packet, at, _GUID, b"")
            if right is not None:
                yield FORM[flag, int(kind or 0)], right
        at = max(
            (sum(span) for key, span in packet.spans.items() if key.startswith(f"{_SURPLUS_U}{name}.")), default=at
        )


def _repeated(packet: Packet) -> Iterator[Guessed]:
    """Yield packets in which a header, or the queue before, does not stand twice."""
    begin, end = packet.spans.get(_SURPLUS_U + "AdminQueue", (0, 0))
    end += begin
    if (
        begin
        and packet.fields.get(_SURPLUS_U + "Flags.RQ") in (0, 1)
        and packet.data[begin:end] == packet.data[end:][: end - begin]
    ):
        right = instead(packet, end, end - begin, b"")
        if right is not None:
            yield _AGAIN, right
    at, size = packet.spans.get(_SURPLUS_U[:-1], (0, 0))
    here = at + size
    for section, condition in USER_MESSAGE_SECTIONS[1:]:
        if condition is None or packet.fields.get(condition.key) not in condition.values:
            continue
        _, length = read_section(section, packet.data[here : int(packet.fields[_SURPLUS_SIZE])])
        once, behind = packet.data[here : here + length], here + 2 * length < int(packet.fields[_SURPLUS_SIZE])
        if behind and section.name in _LAYOUT and length and once == packet.data[here + length : here + 2 * length]:
            right = instead(packet, here, length, b"")
            if right is not None:
                yield _LAYOUT[section.name], right
        here += length
