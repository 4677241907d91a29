"""The mutations of the session rules: for each requirement, edits of a clean capture that break it.

What else such a session breaks by its nature is declared beside the edits, and nothing more may fail.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from conformance.capture import Event, Frame
from conformance.judge.session_edits import (
    Edit,
    add,
    bytes_of,
    captured,
    copy,
    flip,
    frame,
    put,
    trouble,
)
from conformance.judge.sessions import judge_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import encode

CONSISTENT = "consistent-session"
ESTABLISH, PARAMETERS, PROPERTIES = "EstablishConnectionHeader", "ConnectionParametersHeader", "MessagePropertiesHeader"
SYSTEM, INTERNAL, USER = f"{ESTABLISH}.OperatingSystem", "InternalHeader.Flags", "UserHeader.Flags"
TX = "TransactionHeader"
# What stands in the consistent session (fixtures/build_captures.py).
SEQUENCE = 0x65535000_00000001
ALPHA, BETA = UUID("5b0f9c1e-7a42-4d0e-9c55-3f6f2a1d8e01"), UUID("c1a7e6d4-2b93-4f18-8a6e-90d4b7c3f502")
STRANGER = UUID("0d9f1f5e-8e3b-4f0e-9f0a-4c5b6d7e8f90")
ORDER_QUEUE = "TCP:192.0.2.31\\PRIVATE$\\order_queue$"


@dataclass(frozen=True, slots=True)
class SessionMutation:
    """A clean capture and edits that break a requirement. also_breaks: what else fails, at most two."""

    edits: tuple[Edit, ...]
    also_breaks: tuple[str, ...] = ()
    capture: str = CONSISTENT

    def valid(self) -> list[Event]:
        """The events of the clean capture."""
        return captured(self.capture)

    def broken(self) -> list[Event]:
        """The events of the spoiled one."""
        events = self.valid()
        for edit in self.edits:
            events = edit(events)
        return events


def _acknowledgment(kind: str, number: int, values: Mapping[str, int | str | bytes]) -> bytes:
    return encode(
        kind,
        {
            "BaseHeader.TimeToReachQueue": 0xFFFFFFFF,
            "UserHeader.SourceQueueManager": str(BETA),
            "UserHeader.SentTime": 1700000001,
            "UserHeader.TimeToBeReceived": 0xFFFFFFFF,
            "UserHeader.MessageID": number,
            "UserHeader.DestinationQueue.DirectFormatName": ORDER_QUEUE,
            f"{PROPERTIES}.BodyType": 0,
            **values,
        },
    )


def final_ack(values: Mapping[str, int | str | bytes] | None = None) -> bytes:
    """A FinalAck for the first transactional message of the consistent session, or one that differs in some values."""
    body: dict[str, int | str | bytes] = {
        "FinalAckBody.TxSequenceID": SEQUENCE,
        "FinalAckBody.TxSequenceNumber": 1,
        "FinalAckBody.TxPreviousSequenceNumber": 0,
        "FinalAckBody.SourceGUID": str(ALPHA),
        "FinalAckBody.MessageID": 7003,
    }
    if values and f"{PROPERTIES}.MessageBody" in values:
        body = {}
    return _acknowledgment("FinalAck", 305, {**body, **(values or {})})


def with_final_ack(data: bytes | None = None) -> Edit:
    """Behind the OrderAck, on Beta's session, a FinalAck."""
    return copy(20, 20, bytes_of(-1, data or final_ack()))


def _other_port(after: int) -> Edit:
    """A copy of a frame to another port of the same host."""

    def made(events: list[Event]) -> Frame:
        old = frame(events, after)
        return replace(old, destination=replace(old.destination, port=old.destination.port + 1))

    return add(after, made)


_LONG_ORDER_ACK = _acknowledgment(
    "OrderAck", 302, {f"{PROPERTIES}.MessageBody": struct.pack("<QII24x", SEQUENCE, 3, 2)}
)
WITH_FINAL = 20.5
# One more message of Alpha on the first session: its counts in frame 24 go up with it.
ONE_MORE = (put(24, "SessionHeader.UserMsgSequenceNumber", 7), put(24, "SessionHeader.RecoverableMsgSeqNumber", 6))

# Requirement to the edits of the consistent session that break it; what else they break stands in _ALSO.
_EDITS: dict[str, list[Edit]] = {
    "MQQB-2.2.1.reserved": [put(12, "InternalHeader.Reserved", 1)],
    "MQQB-2.2.1.unused-bits": [flip(12, INTERNAL, 0x8000)],
    "MQQB-2.2.1.packet-type": [put(26, INTERNAL, 9)],
    "MQQB-2.2.1.refused-elsewhere": [flip(12, INTERNAL, 0x10)],
    "MQQB-2.2.1.packet-type-closes": [copy(24, 7, put(-1, INTERNAL, 9))],
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
    "MQQB-2.2.4.properties-flags": [put(20, f"{PROPERTIES}.Flags", 1)],
    "MQQB-2.2.4.message-size": [bytes_of(20, _LONG_ORDER_ACK)],
    "MQQB-2.2.4.body-type": [put(20, f"{PROPERTIES}.BodyType", 8)],
    "MQQB-2.2.4.1.previous": [put(20, "OrderAckBody.TxPreviousSequenceNumber", 1)],
    "MQQB-2.2.4.1.number": [
        put(25, "OrderAckBody.TxSequenceNumber", 0),
        put(25, "OrderAckBody.TxPreviousSequenceNumber", 0xFFFFFFFF),
    ],
    "MQQB-2.2.4.1.sequence": [put(25, "OrderAckBody.TxSequenceID", SEQUENCE + 2)],
    "MQQB-2.2.5.base-flags": [with_final_ack(), flip(WITH_FINAL, "BaseHeader.Flags", 0x100)],
    "MQQB-2.2.5.user-flags": [with_final_ack(), flip(WITH_FINAL, USER, 0x20)],
    "MQQB-2.2.5.destination": [
        with_final_ack(),
        put(WITH_FINAL, "UserHeader.DestinationQueue.DirectFormatName", b"U\0"),
    ],
    "MQQB-2.2.5.properties-flags": [with_final_ack(), put(WITH_FINAL, f"{PROPERTIES}.Flags", 8)],
    "MQQB-2.2.5.message-size": [with_final_ack(final_ack({f"{PROPERTIES}.MessageBody": bytes(40)}))],
    "MQQB-2.2.5.body-type": [with_final_ack(final_ack({f"{PROPERTIES}.BodyType": 8}))],
    "MQQB-2.2.5.message-class": [with_final_ack(final_ack({f"{PROPERTIES}.MessageClass": 0x8001}))],
    "MQQB-2.2.5.1.sequence": [with_final_ack(), put(WITH_FINAL, "FinalAckBody.TxSequenceNumber", 2)],
    "MQQB-2.2.7.signature": [put(1, "Ping.Signature", 0x5549)],
    "MQQB-2.2.7.request-rf": [flip(1, "Ping.Flags", 2)],
    "MQQB-2.2.7.response-cookie": [put(2, "Ping.Cookie", 77)],
    "MQQB-2.2.7.response-rc": [flip(2, "Ping.Flags", 1)],
    "MQQB-2.1.2.response-address": [_other_port(2)],
    "MQQB-3.1.7.6.cookie": [copy(1, 12, flip(-1, "Ping.Flags", 0x100))],
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
    "MQQB-3.1.5.8.state-closes": [copy(7, 3), *ONE_MORE[:1]],
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
    "MQQB-3.1.7.1.3.resent-number": [copy(9, 11, put(-1, f"{TX}.TxSequenceNumber", 3)), *ONE_MORE],
    "MQQB-3.1.1.5.all-acknowledged": [
        put(20, "OrderAckBody.TxSequenceNumber", 2), put(20, "OrderAckBody.TxPreviousSequenceNumber", 1),
    ],
    "MQQB-3.1.1.5.next-sequence": [
        put(22, f"{TX}.TxSequenceID", SEQUENCE + 2), put(25, "OrderAckBody.TxSequenceID", SEQUENCE + 2),
    ],
    "MQQB-3.1.1.6.2.in-order": [
        put(20, "OrderAckBody.TxSequenceNumber", 4), put(20, "OrderAckBody.TxPreviousSequenceNumber", 3),
    ],
    "MQQB-3.1.1.6.2.never-decreases": [
        copy(20, 20, put(-1, "OrderAckBody.TxSequenceNumber", 2), put(-1, "OrderAckBody.TxPreviousSequenceNumber", 1),
             put(-1, "UserHeader.MessageID", 399)),
    ],
    "MQQB-3.1.7.1.1.identifier": [put(8, "UserHeader.MessageID", 7001)],
    "MQQB-3.1.7.15.correlation": [put(19, f"{PROPERTIES}.CorrelationID", bytes(20))],
    "MQQB-3.1.7.15.delivery": [
        flip(19, USER, 0x20), put(21, "SessionHeader.RecoverableMsgAckSeqNumber", 0),
        put(21, "SessionHeader.RecoverableMsgAckFlags", 0),
    ],
    "MQQB-3.1.7.15.times": [put(19, "BaseHeader.TimeToReachQueue", 5)],
    "MQQB-3.1.7.15.plain": [flip(19, USER, 0x100)],
}  # fmt: skip

_ORDER = "MQQB-2.1.1.initialization"
_ALSO: dict[str, tuple[str, ...]] = {
    # Two sentences about one event: the packet is out of turn, and its receiver has to close.
    "MQQB-2.2.1.packet-type-closes": ("MQQB-2.2.1.packet-type",),
    "MQQB-2.1.1.initialization": ("MQQB-3.1.5.3.state-closes",),
    "MQQB-3.1.5.3.state-closes": (_ORDER,),
    "MQQB-3.1.5.4.state-closes": (_ORDER,),
    "MQQB-3.1.5.5.state-closes": (_ORDER,),
    "MQQB-3.1.5.8.state-closes": (_ORDER,),
    # The response is invalid, and the initiator goes on all the same.
    "MQQB-3.1.5.3.1.client-guid": ("MQQB-3.1.5.3.2.invalid-closes",),
    # Somebody is asked for, though the messages go to direct names.
    "MQQB-3.1.5.3.1.cs": ("MQQB-3.1.5.2.3.server-guid",),
}

MUTATIONS: Mapping[str, SessionMutation] = {
    requirement: SessionMutation(tuple(edits), _ALSO.get(requirement, ())) for requirement, edits in _EDITS.items()
}


def failed(events: Collection[Event], readings: str = "windows") -> set[str]:
    """The requirements that fail for these events."""
    verdicts = judge_sessions(events, readings=assignment(readings))
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
