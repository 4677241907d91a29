"""What a packet would be without bytes that are too many, and with bytes that one of its headers lacks.

Zeros between two headers, a header or a queue that is there twice, and the identifier of a queue manager before the
number of a queue move everything behind them, as does a header that is cut short.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.packets.lengths import FIXED, FORM, Guessed, instead
from conformance.spec.catalogue import requirement_id
from conformance.wire import Packet
from conformance.wire.decode import read_section
from conformance.wire.packet_table import USER_MESSAGE_SECTIONS
from conformance.wire.session_header import SESSION_HEADER_SIZE

_U, _S = "UserHeader.", "SecurityHeader."
_SIZE = "BaseHeader.PacketSize"
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
_SESSION = requirement_id("MQMQ-2.2.20.session-header-layout")
_BASE, _WINDOW, _MOST_WINDOW = 16, 12, 64  # The end of BaseHeader; the place of WindowSize, and the usual one.
_QUEUES = (("DQ", "DestinationQueue"), ("AQ", "AdminQueue"), ("RQ", "ResponseQueue"))
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
    if int(packet.fields[_SIZE]) > len(packet.data):
        return
    yield from _early_session_header(packet)
    yield from _owned(packet)
    yield from _repeated(packet)
    yield from _zeros(packet)


def cuts(packet: Packet) -> Iterator[Guessed]:
    """Yield packets with more bytes at the end of a header. What these are is made up."""
    if int(packet.fields[_SIZE]) > len(packet.data):
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
        kind = packet.fields.get(f"{_U}Flags.{flag}")
        end = max((sum(span) for key, span in packet.spans.items() if key.startswith(f"{_U}{name}.")), default=at)
        if isinstance(kind, int) and end > at:
            form = _NAME if kind == 7 else FORM.get((flag, kind), form)
            yield form, end
        at = end
    if _U + "ConnectorType" in packet.spans:
        yield _CONNECTOR, sum(packet.spans[_U + "ConnectorType"])
    for header, requirement in _LAYOUT.items():
        if header in packet.spans:
            yield requirement, sum(packet.spans[header])


def _zeros(packet: Packet) -> Iterator[Guessed]:
    end = min(int(packet.fields[_SIZE]), len(packet.data))
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
    for at in dict.fromkeys((_BASE, *(end for _, end in _ends(packet)))):
        if 0 < int.from_bytes(data[at + _WINDOW : at + _WINDOW + 2], "little") <= _MOST_WINDOW:
            yield _SESSION, data[:at] + data[at + size :] + data[at : at + size]


def _owned(packet: Packet) -> Iterator[Guessed]:
    """Yield packets without an identifier before the number of a queue.

    It is one that the header names, or what is behind it is a small number, and it begins with none.
    """
    known = [packet.data[16:32], packet.data[32:48]]  # SourceQueueManager and QueueManagerAddress.
    at = FIXED
    for flag, name in _QUEUES:
        kind = packet.fields.get(f"{_U}Flags.{flag}")
        owner = packet.data[at : at + _GUID]
        number, first = (packet.data[here : here + _NUMBER] for here in (at + _GUID, at))
        small = int.from_bytes(number, "little") < _SMALL <= int.from_bytes(first, "little") and len(number) == _NUMBER
        if kind in _NUMBERED and (flag, kind) in FORM and any(owner) and (owner in known or small):
            right = instead(packet, at, _GUID, b"")
            if right is not None:
                yield FORM[flag, int(kind or 0)], right
        at = max((sum(span) for key, span in packet.spans.items() if key.startswith(f"{_U}{name}.")), default=at)


def _repeated(packet: Packet) -> Iterator[Guessed]:
    """Yield packets in which a header, or the queue before, does not stand twice."""
    begin, end = packet.spans.get(_U + "AdminQueue", (0, 0))
    end += begin
    if (
        begin
        and packet.fields.get(_U + "Flags.RQ") in (0, 1)
        and packet.data[begin:end] == packet.data[end:][: end - begin]
    ):
        right = instead(packet, end, end - begin, b"")
        if right is not None:
            yield _AGAIN, right
    at, size = packet.spans.get(_U[:-1], (0, 0))
    here = at + size
    for section, condition in USER_MESSAGE_SECTIONS[1:]:
        if condition is None or packet.fields.get(condition.key) not in condition.values:
            continue
        _, length = read_section(section, packet.data[here : int(packet.fields[_SIZE])])
        once, behind = packet.data[here : here + length], here + 2 * length < int(packet.fields[_SIZE])
        if behind and section.name in _LAYOUT and length and once == packet.data[here + length : here + 2 * length]:
            right = instead(packet, here, length, b"")
            if right is not None:
                yield _LAYOUT[section.name], right
        here += length
