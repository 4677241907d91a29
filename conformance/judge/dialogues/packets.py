"""Packets that a dialogue sends: values by key, made from a few facts about both ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid5

from conformance.judge.dialogues.machine import Says
from conformance.wire import dissect, encode, patch
from conformance.wire.layout import Value

NULL: Final = str(UUID(int=0))
STRANGER: Final = "8d6f0b52-4f0e-4b9d-9a57-0c2e5f1a7d33"
"""A queue manager that nobody is."""
_NAMESPACE: Final = UUID("0f3b6a5e-2c1d-4e7f-8a90-1b2c3d4e5f60")
INFINITE: Final = 0xFFFFFFFF
PLAIN, TRANSACTIONAL, JOURNAL = "mqconform-plain", "mqconform-transactional", "mqconform-journal"
AUTHENTICATED, PRIVATE = "mqconform-authenticated", "mqconform-private"
ABSENT: Final = "mqconform-never-created"
PA, PR, NA, NR = 1, 2, 4, 8  # MessagePropertiesHeader.Flags, MS-MQMQ 2.2.19.3
_U, _M, _T, _B = "UserHeader.", "MessagePropertiesHeader.", "TransactionHeader.", "BaseHeader."
_E, _P, _S = "EstablishConnectionHeader.", "ConnectionParametersHeader.", "SessionHeader."
_LIST: Final = "MultiQueueFormatHeader.{}.FormatNameList.{}.DirectFormatName"
_SE, _RE = "OperatingSystem.SE", "OperatingSystem.RE"
Values = Mapping[str, Value]
OWN: Final = b"own"
"""In the values of a message: the bytes of the identifier of its queue manager."""
OTHER: Final = "other"
"""In the values of a request for a session: the identifier of the second queue manager that this end plays."""
REPORTS: Final = "reports"
"""In the values of a message: the identifier of the public queue that reports go to."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a dialogue.

    name: for later steps. queue: one of the implementation's, without `private$\\`; None for a public queue that does
    not exist. asks: acknowledgment bits. number: of a transactional message, in the sequence `sequence` after
    `previous` (default: one less). again: it is this earlier message, as it was, a second time. age_s: how long ago it
    was sent. answer: it names a response queue, too. manager: QueueManagerAddress, `null`, `own` (of the
    implementation), `client` (this end's) or `stranger`. source: who has sent it first, `client` or `other`. shares:
    its MessageID is that of this earlier message, from which it differs. later_s: added to the time of its sequence.
    listed: queues of the list of destinations, in its order; one that is None is this end's.
    more: further values by key; OWN and REPORTS stand for values of the ends.
    """

    name: str
    queue: str | None = PLAIN
    recoverable: bool = False
    asks: int = 0
    admin: bool = True
    answer: bool = False
    number: int | None = None
    previous: int | None = None
    sequence: int = 1
    again: str | None = None
    age_s: int = 0
    reach_s: int = INFINITE
    receive_s: int = INFINITE
    manager: str = "null"
    source: str = "client"
    shares: str | None = None
    later_s: int = 0
    listed: tuple[str | None, ...] = ()
    body: bytes = b"mqconform"
    more: Values = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        """True for a recoverable message, which a transactional one is."""
        return self.recoverable or self.number is not None


@dataclass(frozen=True, slots=True)
class Ends:
    """The names of both ends. word: unlike that of any earlier dialogue. now_s: seconds since 1970.

    host, listener: addresses as direct names have them. server: the implementation's identifier, once it is known.
    most_s: the longest time to be received that a message may have. reports: a public queue, for reports.
    """

    word: str
    now_s: int
    host: str
    listener: str
    server: str = NULL
    most_s: int = INFINITE
    reports: str = "2e6a8c14-90d7-4f3b-b1a5-c7e9f3d80514"

    @property
    def client(self) -> str:
        """The identifier of this end's queue manager."""
        return str(uuid5(_NAMESPACE, self.word))

    def source(self, message: Message) -> str:
        """The identifier of the queue manager that has sent a message first."""
        return self.other if message.source == OTHER else self.client

    @property
    def other(self) -> str:
        """The identifier of a second queue manager, which this end plays as well."""
        return str(uuid5(_NAMESPACE, f"{self.word} other"))

    @property
    def first_id(self) -> int:
        """The identifier of the first message: higher than those of dialogues a moment ago, because a queue manager may
        tell messages apart by this number alone (MS-MQQB 3.1.5.8.1)."""
        return (self._moment // 1_000 * 16) % 0xFFFF0000 + 1

    @property
    def _moment(self) -> int:
        """When the dialogue began, in microseconds."""
        try:
            return int(self.word, 16) // 1_000  # nanoseconds, as a client's word is
        except ValueError:
            return uuid5(_NAMESPACE, self.word).int

    @property
    def sequence_stamp(self) -> int:
        """TxSequenceID.TimeStamp: grows from second to second (MS-MQQB 3.1.1.3.1)."""
        return self.now_s

    def sequence_ordinal(self, sequence: int) -> int:
        """TxSequenceID.Ordinal of a sequence of this dialogue, from 1 to 15: grows from dialogue to dialogue within a
        second, so that no two of them share a sequence."""
        return (self._moment // 100 % 0x0FFFFFFF + 1) * 16 + sequence

    @property
    def admin_queue(self) -> str:
        """The direct name, without `DIRECT=`, of the queue that acknowledgments go to."""
        return f"TCP:{self.listener}\\private$\\mqconform-admin"

    def direct(self, queue: str) -> str:
        """Return the direct name of one of the implementation's queues."""
        return f"TCP:{self.host}\\private$\\{queue}"


def _receive_s(message: Message, ends: Ends) -> int:
    """Return TimeToBeReceived. It counts from SentTime (MS-MQDMPR 3.1.1.12): none that is short is given to a message
    that is older than it, which would be over on arrival."""
    return message.receive_s if message.age_s > ends.most_s else min(message.receive_s, ends.most_s)


def user_values(message: Message, ends: Ends, number: int) -> dict[str, Value]:
    """Return the values of a UserMessage. number: its MessageID."""
    manager = {"null": NULL, "own": ends.server, "client": ends.client, "stranger": STRANGER}[message.manager]
    values: dict[str, Value] = {
        _B + "TimeToReachQueue": message.reach_s,
        _U + "SourceQueueManager": ends.source(message),
        _U + "QueueManagerAddress": manager,
        _U + "TimeToBeReceived": _receive_s(message, ends),
        _U + "SentTime": ends.now_s - message.age_s,
        _U + "MessageID": number,
        _U + "Flags.DM": int(message.kept),
        _M + "Flags": message.asks,
        _M + "Label": f"mqconform {message.name}",
        _M + "MessageBody": message.body,
    }
    if message.queue is None:
        values |= {_U + "Flags.DQ": 5, _U + "DestinationQueue.PublicQueueIdentifier": STRANGER}
    else:
        values |= {_U + "Flags.DQ": 7, _U + "DestinationQueue.DirectFormatName": ends.direct(message.queue)}
    if message.admin:
        values |= {_U + "Flags.AQ": 7, _U + "AdminQueue.DirectFormatName": ends.admin_queue}
    if message.answer:
        values |= {_U + "Flags.RQ": 7, _U + "ResponseQueue.DirectFormatName": f"{ends.admin_queue}-not"}
    if message.number is not None:
        before = message.number - 1 if message.previous is None else message.previous
        values |= {
            _T + "TxSequenceID.Ordinal": ends.sequence_ordinal(message.sequence),
            _T + "TxSequenceID.TimeStamp": ends.sequence_stamp + message.later_s,
            _T + "TxSequenceNumber": message.number,
            _T + "PreviousTxSequenceNumber": before,
            _T + "Flags.FM": 1,
            _T + "Flags.LM": 1,
            _T + "Flags.ID": (number & 0xFFFFF) or 1,
        }
    for at, queue in enumerate(message.listed):
        name = f"{ends.admin_queue}-not" if queue is None else ends.direct(queue)
        values[_LIST.format("Destination", at)] = name
    if message.listed and message.admin:
        values[_LIST.format("Administration", 0)] = ends.admin_queue
    meant: dict[Value, Value] = {OWN: UUID(ends.client).bytes_le, REPORTS: ends.reports}
    return {**values, **{key: meant.get(value, value) for key, value in message.more.items()}}


def user_message(message: Message, ends: Ends, number: int) -> bytes:
    """Return a UserMessage as bytes."""
    return encode("UserMessage", user_values(message, ends, number))


def establish(
    ends: Ends, server: str, values: Values | None = None, *, answer: bool = False, later_ms: int = 0
) -> bytes:
    """Return an EstablishConnection packet: a request to `server`, or the answer of the listener to one (values).

    later_ms: the time since the first one, by which TimeStamp grows.
    """
    base: dict[str, Value] = {
        _E + "ClientGuid": ends.client,
        _E + "ServerGuid": server,
        _E + "TimeStamp": (ends.first_id & 0x7FFFFFFF) + later_ms,
        _E + _RE: 0x10,
        _E + _SE: 1,
        _E + "OperatingSystem.OS": 1,
        _E + "Padding": (b"\x5a" if answer else b"\0") * 512,
    }
    more = {key: ends.other if value == OTHER else value for key, value in (values or {}).items()}
    return encode("EstablishConnection", {**base, **more})


def parameters(values: Values | None = None) -> bytes:
    """Return a ConnectionParameters packet: 500 ms, 20 s, a window of 64, unless the values say otherwise."""
    return encode("ConnectionParameters", dict(values or {}))


def session_ack(
    received: int, lowest: int, flags: int, sent: int, recoverable_sent: int, window: int = 64, **more: int
) -> bytes:
    """Return a SessionAck. lowest, flags: the recoverable messages that it acknowledges."""
    return encode(
        "SessionAck",
        {
            _S + "AckSequenceNumber": received & 0xFFFF,
            _S + "RecoverableMsgAckSeqNumber": lowest & 0xFFFF,
            _S + "RecoverableMsgAckFlags": flags,
            _S + "UserMsgSequenceNumber": sent & 0xFFFF,
            _S + "RecoverableMsgSeqNumber": recoverable_sent & 0xFFFF,
            _S + "WindowSize": window,
            **more,
        },
    )


def session_values(received: int, sent: int, recoverable_sent: int, window: int = 64) -> dict[str, Value]:
    """Return the values of a SessionHeader that acknowledges no recoverable message, within a message."""
    return {
        _S + "AckSequenceNumber": received & 0xFFFF,
        _S + "UserMsgSequenceNumber": sent & 0xFFFF,
        _S + "RecoverableMsgSeqNumber": recoverable_sent & 0xFFFF,
        _S + "WindowSize": window,
    }


def transactional_ack(kind: str, ends: Ends, number: int, more: Values | None = None) -> bytes:
    """Return an OrderAck or a FinalAck for a sequence on which the implementation has sent nothing."""
    body = "OrderAckBody." if kind == "OrderAck" else "FinalAckBody."
    values: dict[str, Value] = {
        _U + "SourceQueueManager": ends.client,
        _U + "SentTime": ends.now_s,
        _U + "MessageID": number,
        _U + "Flags.DQ": 7,
        _U + "DestinationQueue.DirectFormatName": f"TCP:{ends.host}\\PRIVATE$\\order_queue$",
        body + "TxSequenceID.Ordinal": 1,
        body + "TxSequenceID.TimeStamp": 1,
        body + "TxSequenceNumber": 1,
        body + "TxPreviousSequenceNumber": 0,
    }
    if kind == "FinalAck":
        values |= {
            _U + "Flags.DM": 1,
            _M + "MessageClass": 0x4000,
            body + "SourceGUID": STRANGER,
            body + "MessageID": 1,
        }
    return encode(kind, {**values, **(more or {})})


def packet_of(
    says: Says, ends: Ends, number: int, *, answering: Values | None = None, more: Values | None = None
) -> bytes:
    """Return a packet of this kind. number: identifier for a message.

    answering: where the implementation has connected, the values by which its request is answered. more: further
    values of an OrderAck or FinalAck.
    """
    acceptor = answering is None
    if says in (Says.ESTABLISH, Says.STRANGE_ESTABLISH, Says.REFUSED_ESTABLISH):
        values = dict(answering or {})
        if says is Says.REFUSED_ESTABLISH:
            values["InternalHeader.Flags.CS"] = 1
        if acceptor:
            server = STRANGER if says is Says.STRANGE_ESTABLISH else NULL
            return establish(ends, server, values)
        if says is Says.STRANGE_ESTABLISH:
            values[_E + "ClientGuid"] = STRANGER
        return establish(ends, ends.client, values, answer=True)
    if says is Says.PARAMETERS:
        return parameters()
    if says in (Says.SESSION_ACK, Says.MISCOUNTED_ACK, Says.MISCOUNTED_KEPT):
        return session_ack(0, 0, 0, 7 * (says is Says.MISCOUNTED_ACK), 7 * (says is Says.MISCOUNTED_KEPT))
    if says is Says.USER_MESSAGE:
        return user_message(Message("out of turn"), ends, number)
    if says in (Says.ORDER_ACK, Says.FINAL_ACK):
        return transactional_ack("OrderAck" if says is Says.ORDER_ACK else "FinalAck", ends, number, more)
    if says is Says.WRONG_SIGNATURE:
        return encode("SessionAck", {_B + "Signature": 0x4C494F53})
    if says is Says.WRONG_VERSION:
        return encode("SessionAck", {_B + "VersionNumber": 0x20})
    if says is Says.MALFORMED:
        whole = user_message(Message("malformed"), ends, number)
        return patch(dissect(whole), {_M + "MessageSize": 0x7FFFFFFF})
    return encode("SessionAck", {"InternalHeader.Flags.PT": 9})


def ping(ends: Ends, cookie: int, values: Values | None = None) -> bytes:
    """Return a Ping request."""
    return encode("Ping", {"Ping.Cookie": cookie, "Ping.QMGuid": ends.client, **(values or {})})
