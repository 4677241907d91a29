"""The mutations of the session rules: for each requirement, edits of a clean capture that break it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from conformance.capture import Closed, Event, Frame, Hole, Opened, Trouble, read_capture
from conformance.files import resource
from conformance.judge.sessions.judge import judge_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import dissect, rebuild

Edit = Callable[[list[Event]], list[Event]]
TroubleKind = Literal["packet-size", "no-header", "ended", "aborted", "not-captured"]


def captured(name: str) -> list[Event]:
    """Read the events of a fixture capture, given by its file name without ending."""
    return list(read_capture(resource(f"fixtures/captures/{name}.pcapng")))


def frame(events: list[Event], number: float) -> Frame:
    """Return the frame of this number."""
    return next(event for event in events if isinstance(event, Frame) and event.number == number)


def on(number: float, change: Callable[[Frame], Frame]) -> Edit:
    """Change one frame."""
    return lambda events: [
        change(event) if isinstance(event, Frame) and event.number == number else event for event in events
    ]


def put(number: float, key: str, value: int | bytes) -> Edit:
    """Overwrite a field in the bytes."""

    def change(old: Frame) -> Frame:
        offset, length = dissect(old.data, transport=old.transport).spans[key]
        raw = value.to_bytes(length, "little") if isinstance(value, int) else value
        return replace(old, data=old.data[:offset] + raw + old.data[offset + len(raw) :])

    return on(number, change)


def flip(number: float, key: str, mask: int) -> Edit:
    """Invert bits of a flags word."""

    def change(old: Frame) -> Frame:
        offset, length = dissect(old.data, transport=old.transport).spans[key]
        value = int.from_bytes(old.data[offset : offset + length], "little") ^ mask
        return replace(old, data=old.data[:offset] + value.to_bytes(length, "little") + old.data[offset + length :])

    return on(number, change)


def drop(*numbers: float) -> Edit:
    """Remove frames as if they had never been sent."""
    return lambda events: [event for event in events if not (isinstance(event, Frame) and event.number in numbers)]


def add(after: float, made: Callable[[list[Event]], Frame]) -> Edit:
    """Insert another frame behind one; its number lies in between."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, after))
        between: Any = after + 0.5  # An edit can name this number, and no other frame has it.
        return [*events[: at + 1], replace(made(events), number=between), *events[at + 1 :]]

    return change


def copy(of: float, after: float, *edits: Edit, later_ns: int = 1) -> Edit:
    """Insert a copy of a frame, with edits of its own, behind another."""

    def made(events: list[Event]) -> Frame:
        base, place = frame(events, of), frame(events, after)
        one = replace(base, time_ns=place.time_ns + later_ns, offset=place.offset, number=-1)
        edited: list[Event] = [one]
        for edit in edits:
            edited = edit(edited)
        return frame(edited, -1)

    return add(after, made)


def numbered(events: Iterable[Event]) -> list[Event]:
    """Give inserted frames whole numbers, so that those behind them move up."""
    events = list(events)
    between = [one.number for one in events if isinstance(one, Frame) and one.number % 1]
    return [
        replace(one, number=int(one.number + 0.5) + sum(number < one.number for number in between))
        if isinstance(one, Frame)
        else one
        for one in events
    ]


def delayed(number: float, milliseconds: float) -> Edit:
    """Move one frame in time, forward or (negative) back; its position in the order stays."""
    return on(number, lambda old: replace(old, time_ns=old.time_ns + int(milliseconds * 1_000_000)))


def later(number: float, milliseconds: float) -> Edit:
    """Move everything from this frame on to a later time."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, number))
        shift = int(milliseconds * 1_000_000)
        moved = [
            replace(one, time_ns=one.time_ns + shift) if isinstance(one, Frame | Hole | Opened | Closed) else one
            for one in events[at:]
        ]
        return [*events[:at], *moved]

    return change


def outlasting(milliseconds: int) -> Edit:
    """Move the ends of all connections to a later time."""
    return lambda events: [
        replace(one, time_ns=one.time_ns + milliseconds * 1_000_000) if isinstance(one, Closed) else one
        for one in events
    ]


def lasting(connection: int, milliseconds: int) -> Edit:
    """Move the end of one connection to a later time."""
    return lambda events: [
        replace(one, time_ns=one.time_ns + milliseconds * 1_000_000)
        if isinstance(one, Closed) and one.connection == connection
        else one
        for one in events
    ]


def opening(connection: int, milliseconds: int) -> Edit:
    """Move the beginning of one connection to a later time."""
    return lambda events: [
        replace(one, time_ns=one.time_ns + milliseconds * 1_000_000)
        if isinstance(one, Opened) and one.connection == connection
        else one
        for one in events
    ]


def left(connection: int) -> Edit:
    """Let the acceptor close a connection."""
    return lambda events: [
        replace(one, by="acceptor") if isinstance(one, Closed) and one.connection == connection else one
        for one in events
    ]


def repeated(of: float, at: float) -> Edit:
    """Insert the bytes of one frame before another, on the connection of that one."""

    def change(events: list[Event]) -> list[Event]:
        before: Any = at - 0.5  # An edit can name this number, and no other frame has it.
        place = events.index(frame(events, at))
        made = replace(frame(events, at), data=frame(events, of).data, number=before)
        return [*events[:place], made, *events[place:]]

    return change


def swap(one: float, other: float) -> Edit:
    """Exchange the bytes of two frames of one direction."""

    def change(events: list[Event]) -> list[Event]:
        first, second = frame(events, one).data, frame(events, other).data
        return bytes_of(other, first)(bytes_of(one, second)(events))

    return change


def rebuilt(number: float, changes: Mapping[str, int | str | bytes]) -> Edit:
    """Encode a frame again with other values; sizes follow."""
    return on(number, lambda old: replace(old, data=rebuild(dissect(old.data), changes)))


def resized(number: float, length: int) -> Edit:
    """Cut a frame to this many bytes, or fill it up with zeros; PacketSize of a packet of a connection follows."""

    def change(old: Frame) -> Frame:
        data = old.data[:length].ljust(length, b"\0")
        return replace(old, data=data if old.transport == "udp" else data[:8] + struct.pack("<I", length) + data[12:])

    return on(number, change)


def bytes_of(number: float, data: bytes) -> Edit:
    """Give a frame other bytes."""
    return on(number, lambda old: replace(old, data=data))


def trouble(number: float, kind: TroubleKind) -> Edit:
    """Mark a frame as no whole packet."""
    return on(number, lambda old: replace(old, trouble=Trouble(kind, "an edit")))


def lost(number: int) -> Edit:
    """Lose a frame: a hole in its place, and a gap before the next frame of its direction."""

    def change(events: list[Event]) -> list[Event]:
        victim = frame(events, number)
        if victim.connection is None or victim.side is None:
            return [event for event in events if event is not victim]
        hole = Hole(victim.connection, victim.side, victim.time_ns, len(victim.data))
        kept: list[Event] = [hole if event is victim else event for event in events]
        for at, event in enumerate(kept):
            if not isinstance(event, Frame) or event.number <= number:
                continue
            if (event.connection, event.side) == (victim.connection, victim.side):
                kept[at] = replace(event, gap_before=event.gap_before + len(victim.data))
                return kept
        return kept

    return change


CONSISTENT, RESENDING, RECONNECTING = "consistent-session", "resending-session", "reconnecting-session"
ESTABLISH, PARAMETERS, PROPERTIES = "EstablishConnectionHeader", "ConnectionParametersHeader", "MessagePropertiesHeader"
SYSTEM, INTERNAL, USER = f"{ESTABLISH}.OperatingSystem", "InternalHeader.Flags", "UserHeader.Flags"
BASE, TX, SESSION = "BaseHeader.Flags", "TransactionHeader", "SessionHeader"
IN, SH = 0x08, 0x10  # Bits of BaseHeader.Flags.
TO_A_PUBLIC_QUEUE: dict[str, int | str | bytes] = {
    "UserHeader.Flags.DQ": 5,
    "UserHeader.DestinationQueue.PublicQueueIdentifier": str(UUID(int=7)),
}
TO_A_DIRECT_QUEUE: dict[str, int | str | bytes] = {
    "UserHeader.Flags.DQ": 7, "UserHeader.DestinationQueue.DirectFormatName": "OS:host\\q",
}  # fmt: skip
TO_QUEUE_4: dict[str, int | str | bytes] = {
    "UserHeader.Flags.DQ": 3, "UserHeader.DestinationQueue.PrivateQueueIdentifier": 4,
}  # fmt: skip
FA, FM, LM = 2, 4, 8  # Bits of TransactionHeader.Flags.
# Values of the consistent session (fixtures/build_captures.py).
SEQUENCE = 0x65535000_00000001
ROUTED = UUID("7f1d9a40-5f0c-4b57-9d3e-2a8c6be0d203")  # It has made a message that another one sends.
ALPHA, BETA = UUID("5b0f9c1e-7a42-4d0e-9c55-3f6f2a1d8e01"), UUID("c1a7e6d4-2b93-4f18-8a6e-90d4b7c3f502")
ACKNOWLEDGER = "TCP:192.0.2.32".encode("utf-16-le")  # The name of its own order queue begins so.
STRANGER = UUID("0d9f1f5e-8e3b-4f0e-9f0a-4c5b6d7e8f90")


@dataclass(frozen=True, slots=True)
class SessionMutation:
    """A clean capture and edits that break a requirement. also_breaks: at most two other requirements that fail.

    readings: the reading set under which the requirement fails. before: edits that give the clean capture what it needs
    to show the requirement.
    """

    edits: tuple[Edit, ...]
    also_breaks: tuple[str, ...] = ()
    capture: str = CONSISTENT
    readings: str = "windows"
    before: tuple[Edit, ...] = ()

    def valid(self) -> list[Event]:
        """Read the events of the clean capture."""
        return numbered(_edited(captured(self.capture), self.before))

    def broken(self) -> list[Event]:
        """Return the events after the edits."""
        return numbered(_edited(_edited(captured(self.capture), self.before), self.edits))


def _edited(events: list[Event], edits: Iterable[Edit]) -> list[Event]:
    for edit in edits:
        events = edit(events)
    return events


def _other_port(after: int) -> Edit:
    """Insert a copy of a frame to another port of the same host."""

    def made(events: list[Event]) -> Frame:
        old = frame(events, after)
        return replace(old, destination=replace(old.destination, port=old.destination.port + 1))

    return add(after, made)


def _renamed(number: float, old: str, new: str) -> Edit:
    """Replace a word in the UTF-16 texts of a frame by one of the same length."""
    before, after = old.encode("utf-16-le"), new.encode("utf-16-le")
    return on(number, lambda one: replace(one, data=one.data.replace(before, after)))


def with_session_header(number: float, *, sent: int) -> Edit:
    """Give a message a SessionHeader that acknowledges nothing, behind the bytes that PacketSize counts."""
    header = struct.pack("<HHIHHHH", 0, 0, 0, sent, 0, 64, 0)
    added = on(number, lambda old: replace(old, data=old.data + header))

    def change(events: list[Event]) -> list[Event]:
        return added(flip(number, "BaseHeader.Flags", 0x10)(events))

    return change


NO_RECOVERABLE = (
    put(-1, "SessionHeader.RecoverableMsgAckSeqNumber", 0), put(-1, "SessionHeader.RecoverableMsgAckFlags", 0),
)  # fmt: skip
# Requirement to the edits of the consistent session that break it; _ALSO holds what else they break.
_EDITS: dict[str, list[Edit]] = {
    "MQQB-2.2.1.reserved": [put(12, "InternalHeader.Reserved", 1)],
    "MQQB-2.2.1.unused-bits": [flip(12, INTERNAL, 0x8000)],
    "MQQB-2.2.1.packet-type": [put(26, INTERNAL, 9)],
    "MQQB-2.2.1.refused-elsewhere": [flip(12, INTERNAL, 0x10)],
    "MQQB-2.2.1.packet-type-closes": [copy(24, 7, put(-1, INTERNAL, 9))],
    "MQQB-2.2.1.present": [copy(24, 24, resized(-1, 16))],
    "MQQB-2.2.2.internal-flag": [flip(5, BASE, IN)],
    "MQQB-2.2.2.packet-type": [put(5, INTERNAL, 1)],
    "MQQB-2.2.2.size": [resized(5, 36)],
    "MQQB-2.2.3.internal-flag": [flip(3, BASE, IN)],
    "MQQB-2.2.3.packet-type": [put(3, INTERNAL, 3)],
    "MQQB-2.2.3.size": [resized(3, 571)],
    "MQQB-2.2.6.internal-flag": [flip(12, BASE, IN)],
    "MQQB-2.2.6.session-header-flag": [flip(12, BASE, SH)],
    "MQQB-2.2.6.packet-type": [put(12, INTERNAL, 2)],
    "MQQB-2.2.6.size": [resized(12, 40)],
    "MQQB-2.2.2.1.recoverable-ack-timeout": [put(n, f"{PARAMETERS}.RecoverableAckTimeout", 499) for n in (5, 6)],
    "MQQB-2.2.2.1.ack-timeout": [put(n, f"{PARAMETERS}.AckTimeout", 120_001) for n in (5, 6)],
    "MQQB-2.2.2.1.reserved": [put(6, f"{PARAMETERS}.Reserved", 1)],
    "MQQB-2.2.3.1.re": [flip(3, SYSTEM, 0x01)],
    "MQQB-2.2.3.1.reserved": [put(3, f"{ESTABLISH}.Reserved", 784)],
    "MQQB-2.2.3.1.unused-bits": [flip(3, SYSTEM, 0x8000)],
    "MQQB-2.2.3.1.padding": [put(4, f"{ESTABLISH}.Padding", b"\x5b")],
    "MQQB-2.2.3.1.se": [flip(3, SYSTEM, 0x100), flip(4, SYSTEM, 0x100)],
    "MQQB-2.2.3.1.os": [flip(3, SYSTEM, 0x200)],
    "MQQB-2.2.4.base-flags": [flip(20, "BaseHeader.Flags", 0x01)],
    "MQQB-2.2.4.user-flags": [flip(20, USER, 0x100)],
    "MQQB-2.2.4.delivery": [flip(20, USER, 0x40)],
    "MQQB-2.2.4.destination": [put(20, "UserHeader.DestinationQueue.DirectFormatName", b"U\0")],
    "MQQB-2.2.4.address": [put(20, "UserHeader.DestinationQueue.DirectFormatName", ACKNOWLEDGER)],
    "MQQB-2.2.4.properties-flags": [put(20, f"{PROPERTIES}.Flags", 1)],
    "MQQB-2.2.4.message-size": [
        rebuilt(20, {f"{PROPERTIES}.MessageBody": struct.pack("<QII24x", SEQUENCE, 3, 2)}),
    ],
    "MQQB-2.2.4.body-type": [put(20, f"{PROPERTIES}.BodyType", 8)],
    "MQQB-2.2.4.destination-type": [rebuilt(20, TO_A_PUBLIC_QUEUE)],
    "MQQB-2.2.4.label": [put(20, f"{PROPERTIES}.Label", b"q")],
    "MQQB-2.2.4.message-class": [put(20, f"{PROPERTIES}.MessageClass", 0)],
    "MQQB-2.2.4.1.reserved": [put(20, "OrderAckBody.Reserved", b"\1")],
    "MQQB-3.1.7.17.privacy-level": [put(20, f"{PROPERTIES}.PrivacyLevel", 1)],
    "MQQB-2.2.4.1.previous": [put(20, "OrderAckBody.TxPreviousSequenceNumber", 1)],
    "MQQB-2.2.4.1.number": [
        put(25, "OrderAckBody.TxSequenceNumber", 0),
        put(25, "OrderAckBody.TxPreviousSequenceNumber", 0xFFFFFFFF),
    ],
    "MQQB-2.2.4.1.sequence": [put(25, "OrderAckBody.TxSequenceID", SEQUENCE + 2)],
    "MQQB-2.2.7.signature": [put(2, "Ping.Signature", 0x5549)],
    "MQQB-2.2.7.signature-ignored": [put(1, "Ping.Signature", 0x5549)],
    "MQQB-2.2.7.request-rf": [flip(1, "Ping.Flags", 2)],
    "MQQB-2.2.7.response-cookie": [put(2, "Ping.Cookie", 77)],
    "MQQB-2.2.7.response-rc": [flip(2, "Ping.Flags", 1)],
    "MQQB-2.1.2.response-address": [_other_port(2)],
    "MQQB-2.1.1.initialization": [copy(3, 6)],
    "MQQB-3.1.5.1.2.signature-closes": [copy(24, 7, trouble(-1, "no-header"))],
    "MQQB-3.1.5.1.3.malformed-closes": [copy(24, 7, trouble(-1, "packet-size"))],
    "MQQB-3.1.5.2.3.cs": [flip(3, INTERNAL, 0x10)],
    "MQQB-3.1.5.2.3.server-guid": [put(3, f"{ESTABLISH}.ServerGuid", BETA.bytes_le)],
    "MQQB-3.1.5.3.state-closes": [copy(3, 7)],
    "MQQB-3.1.5.3.1.client-guid": [put(4, f"{ESTABLISH}.ClientGuid", STRANGER.bytes_le)],
    "MQQB-3.1.5.3.1.server-guid": [put(4, f"{ESTABLISH}.ServerGuid", STRANGER.bytes_le)],
    "MQQB-3.1.5.3.1.time-stamp": [put(4, f"{ESTABLISH}.TimeStamp", 5)],
    "MQQB-3.1.5.3.1.se": [flip(4, SYSTEM, 0x100)],
    "MQQB-3.1.5.3.1.cs": [put(n, f"{ESTABLISH}.ServerGuid", STRANGER.bytes_le) for n in (3, 4)],
    "MQQB-3.1.5.3.2.invalid-closes": [flip(4, INTERNAL, 0x10)],
    "MQQB-3.1.5.3.2.cs": [flip(5, INTERNAL, 0x10)],
    "MQQB-3.1.5.4.state-closes": [copy(5, 7)],
    "MQQB-3.1.5.4.1.cs": [flip(6, INTERNAL, 0x10)],
    "MQQB-3.1.5.4.1.recoverable-ack-timeout": [put(6, f"{PARAMETERS}.RecoverableAckTimeout", 600)],
    "MQQB-3.1.5.4.1.ack-timeout": [put(6, f"{PARAMETERS}.AckTimeout", 30_000)],
    "MQQB-3.1.5.5.state-closes": [
        copy(24, 3, put(-1, "SessionHeader.AckSequenceNumber", 0), put(-1, "SessionHeader.UserMsgSequenceNumber", 0),
             put(-1, "SessionHeader.RecoverableMsgSeqNumber", 0)),
    ],
    "MQQB-3.1.5.6.state-closes": [copy(20, 15)],
    "MQQB-3.1.5.5.5.counts-closes": [put(12, "SessionHeader.UserMsgSequenceNumber", 3)],
    "MQQB-3.1.6.4.something-to-acknowledge": [copy(12, 12, *NO_RECOVERABLE)],
    "MQQB-3.1.6.4.window-size": [put(12, "SessionHeader.WindowSize", 65)],
    "MQQB-3.1.7.11.header-included": [with_session_header(7, sent=1)],
    "MQMQ-2.2.20.4.recoverable-ack-flags": [
        put(12, f"{SESSION}.RecoverableMsgAckSeqNumber", 0), put(12, f"{SESSION}.RecoverableMsgAckFlags", 0),
        outlasting(20_000),
    ],
    "MQMQ-2.2.20.4.ack-sequence-number": [put(12, "SessionHeader.AckSequenceNumber", 3)],
    "MQMQ-2.2.19.2.sent-time": [put(8, "UserHeader.SentTime", 0)],
    "MQQB-3.1.7.17.destination-form": [rebuilt(20, TO_QUEUE_4)],
    "MQQB-3.1.7.17.private-name": [put(20, "UserHeader.QueueManagerAddress", BETA.bytes_le)],
    "MQQB-3.1.5.8.10.addressee": [put(8, "UserHeader.QueueManagerAddress", STRANGER.bytes_le)],
    "MQQB-3.1.5.8.state-closes": [copy(7, 3), put(24, "SessionHeader.UserMsgSequenceNumber", 7)],
    "MQQB-3.1.1.6.1.acknowledged-were-sent": [put(12, "SessionHeader.AckSequenceNumber", 6)],
    "MQQB-3.1.1.6.1.never-decreases": [
        copy(12, 12, put(-1, "SessionHeader.AckSequenceNumber", 4),
             put(-1, "SessionHeader.RecoverableMsgAckSeqNumber", 0),
             put(-1, "SessionHeader.RecoverableMsgAckFlags", 0)),
    ],
    "MQQB-3.1.7.1.3.user-messages-sent": [put(24, "SessionHeader.UserMsgSequenceNumber", 5)],
    "MQQB-3.1.7.1.3.recoverable-messages-sent": [put(24, "SessionHeader.RecoverableMsgSeqNumber", 6)],
    "MQQB-3.1.6.4.recoverable-none": [put(12, "SessionHeader.RecoverableMsgAckFlags", 0)],
    "MQQB-3.1.6.4.recoverable-lowest": [put(12, "SessionHeader.RecoverableMsgAckFlags", 0b1110)],
    "MQQB-3.1.6.4.recoverable-once": [put(23, "SessionHeader.RecoverableMsgAckSeqNumber", 4)],
    "MQQB-3.1.1.6.1.recoverable-were-sent": [put(23, "SessionHeader.RecoverableMsgAckFlags", 0b11)],
    "MQQB-3.1.1.5.older-sequence": [
        put(22, f"{TX}.TxSequenceID", SEQUENCE - 1), put(25, "OrderAckBody.TxSequenceID", SEQUENCE - 1),
    ],
    "MQQB-3.1.1.5.first-number": [put(22, f"{TX}.TxSequenceNumber", 2), put(22, f"{TX}.PreviousTxSequenceNumber", 1)],
    "MQQB-3.1.7.1.3.next-number": [
        put(11, f"{TX}.TxSequenceNumber", 5), put(11, f"{TX}.PreviousTxSequenceNumber", 4),
        put(20, "OrderAckBody.TxSequenceNumber", 5), put(20, "OrderAckBody.TxPreviousSequenceNumber", 4),
    ],
    "MQQB-3.1.7.1.3.previous-number": [put(11, f"{TX}.PreviousTxSequenceNumber", 1)],
    "MQQB-3.1.1.5.all-acknowledged": [
        put(20, "OrderAckBody.TxSequenceNumber", 2), put(20, "OrderAckBody.TxPreviousSequenceNumber", 1),
    ],
    "MQQB-3.1.1.5.next-sequence": [
        put(22, f"{TX}.TxSequenceID", SEQUENCE + 2), put(25, "OrderAckBody.TxSequenceID", SEQUENCE + 2),
    ],
    "MQQB-3.1.1.6.2.in-order": [
        put(20, "OrderAckBody.TxSequenceNumber", 4), put(20, "OrderAckBody.TxPreviousSequenceNumber", 3),
    ],
    "MQQB-3.1.7.1.1.identifier": [put(8, "UserHeader.MessageID", 7001)],
    "MQQB-3.1.7.15.correlation": [put(19, f"{PROPERTIES}.CorrelationID", bytes(20))],
    "MQQB-3.1.7.15.delivery": [
        flip(19, USER, 0x20), put(21, "SessionHeader.RecoverableMsgAckSeqNumber", 0),
        put(21, "SessionHeader.RecoverableMsgAckFlags", 0),
    ],
    "MQQB-3.1.7.15.times": [put(19, "BaseHeader.TimeToReachQueue", 5)],
    "MQQB-3.1.7.15.plain": [flip(19, USER, 0x100)],
    "MQQB-3.1.5.8.6.accepted": [put(10, f"{TX}.PreviousTxSequenceNumber", 5)],
    "MQQB-3.1.3.2.order-ack-delay": [delayed(25, -800)],
    "MQQB-3.1.1.6.2.scheduled": [delayed(25, 1_500)],
    "MQQB-3.1.7.13.paused": [
        copy(12, 22, put(-1, f"{SESSION}.WindowSize", 1), *NO_RECOVERABLE), put(23, f"{PROPERTIES}.MessageClass", 0),
    ],
    "MQMQ-2.2.19.3.flags-pa": [
        put(19, f"{PROPERTIES}.MessageClass", 0x4000), put(8, f"{PROPERTIES}.Flags", 15), outlasting(90_000),
    ],
    "MQMQ-2.2.18.1.6.ack-receive": [
        copy(19, 19, put(-1, "UserHeader.MessageID", 305), put(-1, f"{PROPERTIES}.MessageClass", 0xC001)),
        put(21, f"{SESSION}.AckSequenceNumber", 3), put(21, f"{SESSION}.RecoverableMsgAckFlags", 0b11),
        put(26, f"{SESSION}.AckSequenceNumber", 4),
    ],
    "MQQB-3.1.5.8.1.duplicate": [
        copy(19, 19, put(-1, "UserHeader.MessageID", 305)), put(21, f"{SESSION}.AckSequenceNumber", 3),
        put(21, f"{SESSION}.RecoverableMsgAckFlags", 0b11), put(26, f"{SESSION}.AckSequenceNumber", 4),
    ],
    "MQMQ-2.2.18.1.6.nack-receive-timeout": [put(8, "UserHeader.TimeToBeReceived", 30)],
    # A side with a narrow window may have to wait for acknowledgments before it sends another message.
    "MQQB-3.1.6.9.sent": [
        put(5, f"{PARAMETERS}.WindowSize", 10), put(24, f"{SESSION}.WindowSize", 10), drop(25, 26), outlasting(90_000),
    ],
    "MQQB-3.1.6.5.resent": [
        put(6, f"{PARAMETERS}.WindowSize", 10), *(put(n, f"{SESSION}.WindowSize", 10) for n in (12, 23)), drop(25, 26),
        outlasting(90_000),
    ],
    "MQQB-3.1.6.3.closes": [put(21, f"{SESSION}.WindowSize", 1), drop(26), outlasting(200_000)],
    "MQMQ-2.2.20.5.first-in-transaction": [flip(10, f"{TX}.Flags", FM)],
    "MQMQ-2.2.20.5.last-in-transaction": [flip(10, f"{TX}.Flags", LM)],
    "MQMQ-2.2.20.5.transaction-identifier": [flip(10, f"{TX}.Flags", 0b100 << 4)],
    "MQMQ-2.2.20.5.transaction-identifier-unique": [flip(22, f"{TX}.Flags", 0b11 << 4)],
}  # fmt: skip

_ORDER = "MQQB-2.1.1.initialization"
_WINDOWS = (*((n, PARAMETERS) for n in (5, 6)), *((n, SESSION) for n in (9, 13, 16, 59, 61)))
# The same for the session that resends. Its frames: 3-6 opening, 7-8 express, 10-12 transactional, 14-15 those again,
# 21-22 OrderAcks, 23 administration acknowledgment, 24 FinalAck, 25 with a SessionHeader, 26-58 recoverable.
_RESENDING_EDITS: dict[str, list[Edit]] = {
    "MQQB-2.2.5.base-flags": [flip(24, "BaseHeader.Flags", 0x100)],
    "MQQB-2.2.5.user-flags": [flip(24, USER, 0x100)],
    "MQQB-2.2.5.destination": [put(24, "UserHeader.DestinationQueue.DirectFormatName", b"U\0")],
    "MQQB-2.2.5.address": [put(24, "UserHeader.DestinationQueue.DirectFormatName", ACKNOWLEDGER)],
    "MQQB-2.2.5.properties-flags": [put(24, f"{PROPERTIES}.Flags", 8)],
    "MQQB-2.2.5.message-size": [
        rebuilt(24, {f"{PROPERTIES}.MessageBody": struct.pack("<QII16sI4x", SEQUENCE, 1, 0, ALPHA.bytes_le, 7103)}),
    ],
    "MQQB-2.2.5.body-type": [put(24, f"{PROPERTIES}.BodyType", 8)],
    "MQQB-2.2.5.message-class": [put(24, f"{PROPERTIES}.MessageClass", 0x8001)],
    "MQQB-2.2.5.destination-type": [rebuilt(24, TO_A_PUBLIC_QUEUE)],
    "MQQB-2.2.5.label": [put(24, f"{PROPERTIES}.Label", b"q")],
    "MQQB-2.2.5.1.number": [put(24, "FinalAckBody.TxSequenceNumber", 0)],
    "MQQB-2.2.7.size": [resized(1, 20)],
    "MQQB-2.2.5.1.sequence": [put(24, "FinalAckBody.TxSequenceID", SEQUENCE + 1)],
    "MQQB-2.2.5.1.sequence-number": [put(24, "FinalAckBody.TxSequenceNumber", 2)],
    "MQQB-2.2.5.1.source-guid": [put(24, "FinalAckBody.SourceGUID", STRANGER.bytes_le)],
    "MQQB-2.2.5.1.message-id": [put(24, "FinalAckBody.MessageID", 99)],
    "MQQB-2.2.5.1.previous": [put(24, "FinalAckBody.TxPreviousSequenceNumber", 7)],
    "MQQB-3.1.7.2.2.wanted": [flip(n, f"{TX}.Flags", FA) for n in (10, 14)],
    "MQQB-2.2.7.qm-guid": [put(1, "Ping.QMGuid", STRANGER.bytes_le)],
    "MQQB-3.1.2.9.one-second": [delayed(1, -3_000)],
    "MQQB-2.2.7.response-qm-guid": [put(63, "Ping.QMGuid", STRANGER.bytes_le)],
    "MQQB-3.1.5.7.state-closes": [copy(24, 17), later(25, 200)],
    "MQQB-3.1.7.6.refused": [flip(2, "Ping.Flags", 2)],
    "MQQB-3.1.7.6.cookie": [put(n, "Ping.Cookie", 5) for n in (62, 63)],
    "MQQB-3.1.5.3.2.round-trip": [put(n, f"{PARAMETERS}.RecoverableAckTimeout", 800) for n in (5, 6)],
    "MQQB-3.1.7.1.window": [put(n, f"{section}.WindowSize", 2) for n, section in _WINDOWS],
    "MQQB-3.1.5.8.2.acknowledged-in-time": [later(13, 3_000)],
    "MQQB-3.1.6.4.expired": [later(12, -300)],
    "MQQB-3.1.5.8.7.recoverable-at-once": [drop(59)],
    "MQQB-3.1.7.1.3.resent-number": [put(15, f"{TX}.TxSequenceNumber", 4)],
    "MQQB-3.1.7.1.3.resent-previous": [put(14, f"{TX}.PreviousTxSequenceNumber", 1)],
    "MQQB-3.1.6.5.resend-interval": [later(14, -20_000)],
    "MQQB-3.1.6.5.resend-order": [swap(14, 15)],
    "MQQB-3.1.1.6.2.discarded": [copy(15, 22, later_ns=1_500_000_000), later(23, 2_000)],
    "MQQB-3.1.1.6.2.never-decreases": [
        put(21, "OrderAckBody.TxSequenceNumber", 3), put(21, "OrderAckBody.TxPreviousSequenceNumber", 2),
        put(22, "OrderAckBody.TxSequenceNumber", 1), put(22, "OrderAckBody.TxPreviousSequenceNumber", 0),
    ],
    "MQQB-3.1.7.1.1.ordinal": [swap(57, 58)],
    "MQQB-3.1.7.1.2.expired": [put(26, "UserHeader.SentTime", 1_699_600_000)],
    "MQQB-3.1.7.15.unsigned": [rebuilt(23, {"SecurityHeader.SecurityData.Signature": bytes(128)})],
    "MQQB-3.1.7.15.requested": [put(7, f"{PROPERTIES}.Flags", 1)],
    "MQQB-3.1.7.15.destination": [put(23, "UserHeader.DestinationQueue.DirectFormatName", b"P\0")],
    "MQQB-3.1.7.15.response-queue": [put(23, "UserHeader.ResponseQueue.DirectFormatName", b"P\0")],
    "MQQB-3.1.7.15.body": [put(23, f"{PROPERTIES}.MessageBody", b"X")],
}  # fmt: skip

# The same for the initiator that connects twice. Its frames: 1-4 opening, 5 express, 6 transactional, 7 routed, 8
# SessionAck, 9-12 opening of the connection back, 13 OrderAck, 14 FinalAck, 15-16 administration acknowledgments, 17
# report, 18 SessionAck, 19-22 opening again, 23 express, 24 SessionAck.
_RECONNECTING_EDITS: dict[str, list[Edit]] = {
    "MQQB-3.1.5.2.3.client-guid": [put(n, f"{ESTABLISH}.ClientGuid", STRANGER.bytes_le) for n in (19, 20)],
    "MQQB-3.1.5.2.3.time-stamp": [put(n, f"{ESTABLISH}.TimeStamp", 5_100_000) for n in (19, 20)],
    "MQQB-3.1.5.8.2.hop-count": [flip(7, USER, 1)],
    "MQQB-3.1.1.5.passed-on": [put(17.5, f"{TX}.TxSequenceNumber", 2)],
    "MQQB-3.1.5.8.2.not-transactional-queue": [put(16, f"{PROPERTIES}.MessageClass", 0x8009)],
    "MQQB-3.1.5.8.2.not-transactional-message": [put(15, f"{PROPERTIES}.MessageClass", 0x800A)],
    "MQMQ-2.2.18.1.6.nack-reach-queue-timeout": [
        put(16, f"{PROPERTIES}.MessageClass", 0x8002), put(5, "BaseHeader.TimeToReachQueue", 0xFFFFFFFF),
    ],
    "MQQB-3.1.7.1.7.delivery": [
        flip(17, USER, 0x20), put(18, "SessionHeader.RecoverableMsgAckFlags", 0b111),
    ],
    "MQQB-3.1.7.1.7.destination": [rebuilt(17, TO_A_DIRECT_QUEUE)],
    "MQQB-3.1.7.1.7.label": [put(17, f"{PROPERTIES}.Label", b"q")],
    "MQQB-3.1.7.1.7.body": [put(17, f"{PROPERTIES}.MessageBody", b"[")],
    "MQQB-3.1.7.1.7.message-id": [put(17, f"{PROPERTIES}.Label", "5B0F:00001C22".encode("utf-16-le"))],
    "MQQB-3.1.7.1.7.computer": [put(17, f"{PROPERTIES}.Label", "5B1F".encode("utf-16-le"))],
    "MQQB-3.1.7.1.7.target": [_renamed(17, "ledger", "ledges")],
    "MQQB-3.1.7.1.7.queue": [rebuilt(17, TO_A_PUBLIC_QUEUE)],
    "MQDMPR-3.1.1.12.tracing-not-requested": [rebuilt(5, {"BaseHeader.Flags.DH": 0, "BaseHeader.Flags.TR": 0})],
    "MQQB-3.1.1.6.1.discarded": [repeated(5, 23), put(24, f"{SESSION}.AckSequenceNumber", 2)],
    "MQMQ-2.2.18.1.6.nack-hop-count-exceeded": [put(15, f"{PROPERTIES}.MessageClass", 0x8005)],
    "MQQB-3.1.5.9.retried": [drop(8), left(1), opening(3, 200_000), later(19, 200_000)],
    "MQQB-3.1.7.2.2.sent": [
        drop(14), put(18, f"{SESSION}.AckSequenceNumber", 4), put(18, f"{SESSION}.RecoverableMsgAckFlags", 1),
    ],
    "MQQB-3.1.6.1.retransmitted": [
        put(8, f"{SESSION}.AckSequenceNumber", 2), put(23, "UserHeader.SourceQueueManager", ROUTED.bytes_le),
        flip(23, USER, 1), lasting(3, 90_000), lasting(2, 90_000),
    ],
}  # fmt: skip

_ALSO: dict[str, tuple[str, ...]] = {
    "MQQB-3.1.1.6.2.discarded": ("MQQB-3.1.6.5.resend-interval",),
    # Two sentences about one event: the packet is out of turn, and its receiver has to close.
    "MQQB-2.2.1.packet-type-closes": ("MQQB-2.2.1.packet-type",),
    "MQQB-2.2.7.signature-ignored": ("MQQB-2.2.7.signature",),
    # Everything else of the session goes to direct names.
    "MQQB-3.1.7.17.private-name": ("MQQB-3.1.7.17.destination-form",),
    "MQQB-2.1.1.initialization": ("MQQB-3.1.5.3.state-closes",),
    "MQQB-3.1.5.3.state-closes": (_ORDER,),
    "MQQB-3.1.5.4.state-closes": (_ORDER,),
    "MQQB-3.1.5.5.state-closes": (_ORDER,),
    "MQQB-3.1.5.6.state-closes": (_ORDER,),
    "MQQB-3.1.5.7.state-closes": (_ORDER,),
    "MQQB-3.1.5.8.state-closes": (_ORDER,),
    "MQQB-3.1.5.5.5.counts-closes": ("MQQB-3.1.7.1.3.user-messages-sent",),
    # The response is invalid, but the initiator goes on.
    "MQQB-3.1.5.3.1.client-guid": ("MQQB-3.1.5.3.2.invalid-closes",),
    # The request names a server although the messages go to direct names.
    "MQQB-3.1.5.3.1.cs": ("MQQB-3.1.5.2.3.server-guid",),
    # A number that leaves a gap is not accepted, so that its acknowledgment is wrong too.
    "MQQB-3.1.7.1.3.next-number": ("MQQB-3.1.5.8.6.accepted",),
    "MQQB-3.1.5.8.6.accepted": ("MQQB-3.1.7.1.3.previous-number",),
    # What the number leaves out is only acknowledged by a later one.
    "MQMQ-2.2.20.4.ack-sequence-number": ("MQQB-3.1.5.8.2.acknowledged-in-time",),
}

_TO_BETA: dict[str, int | str | bytes] = {**TO_A_PUBLIC_QUEUE, "UserHeader.QueueManagerAddress": str(BETA)}
_OF_A_PUBLIC_QUEUE: dict[str, int | str | bytes] = {
    "UserHeader.Flags.RQ": 5, "UserHeader.ResponseQueue.PublicQueueIdentifier": str(UUID(int=7)),
}  # fmt: skip
# What the fixtures lack: a message to a public queue, and an order queue without a direct name.
_BEFORE: dict[str, list[Edit]] = {
    "MQQB-3.1.7.17.private-name": [
        rebuilt(20, {**TO_QUEUE_4, "UserHeader.QueueManagerAddress": str(ALPHA)}),
    ],
    "MQQB-3.1.7.2.2.sent": [
        rebuilt(6, {"UserHeader.Flags.AQ": 2, "UserHeader.AdminQueue.PrivateQueueIdentifier": 4}),
        rebuilt(15, {**TO_QUEUE_4, "UserHeader.QueueManagerAddress": str(ALPHA)}),
    ],
    "MQQB-3.1.5.8.10.addressee": [rebuilt(8, _TO_BETA), rebuilt(19, _OF_A_PUBLIC_QUEUE)],
    "MQMQ-2.2.18.1.6.nack-receive-timeout": [
        rebuilt(8, {f"{PROPERTIES}.MessageBody": b"", f"{PROPERTIES}.Flags": 0b1010, "UserHeader.TimeToBeReceived": 1}),
        put(19, f"{PROPERTIES}.MessageClass", 0xC002),
    ],
    "MQMQ-2.2.18.1.6.ack-receive": [
        rebuilt(8, {f"{PROPERTIES}.MessageBody": b"", f"{PROPERTIES}.Flags": 0b1010}),
        put(19, f"{PROPERTIES}.MessageClass", 0x4000),
    ],
    "MQQB-3.1.1.5.passed-on": [
        add(17, lambda events: replace(frame(events, 17), data=frame(events, 6).data)), flip(17.5, USER, 1),
        put(18, "SessionHeader.AckSequenceNumber", 6), put(18, "SessionHeader.RecoverableMsgAckFlags", 0b111),
    ],
    "MQMQ-2.2.18.1.6.nack-hop-count-exceeded": [rebuilt(6, _TO_BETA), rebuilt(15, _OF_A_PUBLIC_QUEUE)],
}  # fmt: skip

# An open reading, of which every other set of readings accepts all alternatives.
_UNDER: dict[str, str] = {"MQQB-3.1.7.11.header-included": "strict"}

MUTATIONS: Mapping[str, SessionMutation] = {
    requirement: SessionMutation(
        tuple(edits),
        _ALSO.get(requirement, ()),
        capture,
        _UNDER.get(requirement, "windows"),
        tuple(_BEFORE.get(requirement, ())),
    )
    for capture, table in (
        (CONSISTENT, _EDITS),
        (RESENDING, _RESENDING_EDITS),
        (RECONNECTING, _RECONNECTING_EDITS),
    )
    for requirement, edits in table.items()
}


def failed(events: Collection[Event], readings: str = "windows") -> set[str]:
    """Return the requirements that fail for these events."""
    verdicts = judge_sessions(numbered(events), readings=assignment(readings))
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
