"""Packets that must be refused, and packets whose odd values must change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.spec.catalogue import requirement_id
from conformance.suites.packets.messages import packet_of
from conformance.wire import Packet, dissect, patch
from conformance.wire.headers import LISTS

_FULL: dict[str, Any] = {
    "destination": "DIRECT=OS:host\\private$\\q",
    "identifier": {"source": "11ea26c6-b6e6-4997-9595-9150557358d1", "ordinal": 2},
    "label": "label",
    "body": "Ym9keQ==",
    "time_to_reach_queue": 345600,
}
_TRANSACTION: dict[str, Any] = {
    "sequence_identifier": {"ordinal": 1, "timestamp": 2},
    "sequence_number": 1,
    "previous_sequence_number": 0,
    "index": 1,
    "first": True,
    "last": True,
}
_SENDER: dict[str, Any] = {
    "sender_identifier_type": "queue_manager",
    "sender_identifier": "AAECAwQFBgcICQoLDA0ODw==",
}


@dataclass(frozen=True, slots=True)
class Malformed:
    """A packet to refuse. name: for the test id. requirement: demands its refusal. make: makes it from a valid one."""

    name: str
    requirement: str
    make: Callable[[Packet], bytes]

    def data(self) -> bytes:
        """The packet."""
        return self.make(dissect(packet_of(_FULL)))


@dataclass(frozen=True, slots=True)
class Ignored:
    """A packet with a value that receivers ignore. It still decodes to `message`."""

    name: str
    requirement: str
    message: Mapping[str, Any]
    make: Callable[[Packet], bytes]

    def data(self) -> bytes:
        """The packet."""
        return self.make(dissect(packet_of(self.message)))


def _patched(**values: int) -> Callable[[Packet], bytes]:
    return lambda packet: patch(packet, {key.replace("__", "."): value for key, value in values.items()})


def _cut(to: str) -> Callable[[Packet], bytes]:
    """Cut a packet in the middle of a field, with PacketSize unchanged."""

    def make(packet: Packet) -> bytes:
        at, length = packet.spans[to]
        return packet.data[: at + length // 2]

    return make


_VERSION = requirement_id("MQQB-3.1.5.1.2.version-refused")
_SIGNATURE = requirement_id("MQQB-3.1.5.1.2.signature-refused")
_MALFORMED = requirement_id("MQQB-3.1.5.1.3.malformed-refused")

MALFORMED: tuple[Malformed, ...] = (
    Malformed("version-0x11", _VERSION, _patched(BaseHeader__VersionNumber=0x11)),
    Malformed("version-0", _VERSION, _patched(BaseHeader__VersionNumber=0)),
    Malformed("signature-big-endian", _SIGNATURE, _patched(BaseHeader__Signature=0x4C494F52)),
    Malformed("signature-0", _SIGNATURE, _patched(BaseHeader__Signature=0)),
    *(
        Malformed(
            f"destination-type-{value}",
            requirement_id("MQMQ-2.2.19.2.destination-type-refused"),
            _patched(UserHeader__Flags__DQ=value),
        )
        for value in (1, 2, 4, 6)
    ),
    *(
        Malformed(
            f"admin-type-{value}",
            requirement_id("MQMQ-2.2.19.2.admin-type-refused"),
            _patched(UserHeader__Flags__AQ=value),
        )
        for value in (1, 4)
    ),
    Malformed("packet-size-0", _MALFORMED, _patched(BaseHeader__PacketSize=0)),
    Malformed("packet-size-0xffffffff", _MALFORMED, _patched(BaseHeader__PacketSize=0xFFFFFFFF)),
    Malformed("packet-size-beyond-the-packet", _MALFORMED, lambda p: patch(p, {_SIZE: len(p.data) + 4})),
    Malformed("packet-size-inside-the-body", _MALFORMED, lambda p: patch(p, {_SIZE: len(p.data) - 8})),
    Malformed("body-beyond-the-packet", _MALFORMED, _patched(MessagePropertiesHeader__MessageSize=4000)),
    Malformed("body-0xffffffff", _MALFORMED, _patched(MessagePropertiesHeader__MessageSize=0xFFFFFFFF)),
    Malformed("extension-beyond-the-packet", _MALFORMED, _patched(MessagePropertiesHeader__ExtensionSize=4000)),
    Malformed("name-beyond-the-packet", _MALFORMED, _patched(UserHeader__DestinationQueue__Count=0xFFFE)),
    Malformed("nothing", _MALFORMED, lambda p: b""),
    Malformed("half-a-base-header", _MALFORMED, lambda p: p.data[:8]),
    Malformed("base-header-only", _MALFORMED, lambda p: p.data[:16]),
    Malformed("cut-in-user-header", _MALFORMED, _cut("UserHeader.QueueManagerAddress")),
    Malformed("cut-in-destination", _MALFORMED, _cut("UserHeader.DestinationQueue.DirectFormatName")),
    Malformed("cut-in-properties", _MALFORMED, _cut("MessagePropertiesHeader.CorrelationID")),
    Malformed("cut-in-label", _MALFORMED, _cut("MessagePropertiesHeader.Label")),
    Malformed("cut-in-body", _MALFORMED, _cut("MessagePropertiesHeader.MessageBody")),
)
_SIZE = "BaseHeader.PacketSize"
_TX = {**_FULL, "transaction": _TRANSACTION}
_SENT = {**_FULL, **_SENDER}
# The body of _FULL has four bytes and its label six WCHARs: one more byte of body makes three bytes of padding.
_PADDED = {**_FULL, "body": "Ym9keSE="}
# Texts and names that have the same packet under every alignment.
_SOAP = {**_FULL, "soap_header": "h", "soap_body": "b"}
_LISTED = {
    **_FULL,
    "destinations": [_FULL["destination"]],
    "administration_queues": ["DIRECT=OS:host\\a"],
    "response_queues": ["DIRECT=OS:host\\r"],
}
_TRACED = {**_FULL, "trace": True, "trace_queue": "909ea0fc-9078-4445-8f11-394c43cd8907"}
_IN_SESSION = {
    **_FULL,
    "session": {
        "ack_sequence_number": 2,
        "recoverable_ack_sequence_number": 1,
        "recoverable_ack_flags": 1,
        "user_message_sequence_number": 3,
        "recoverable_message_sequence_number": 1,
        "window_size": 64,
    },
}

IGNORED: tuple[Ignored, ...] = (
    Ignored("reserved", "MQMQ-2.2.19.1.reserved-ignored", _FULL, _patched(BaseHeader__Reserved=0xCD)),
    *(
        Ignored(
            f"base-flags-{bit.lower()}",
            "MQMQ-2.2.19.1.flags-reserved-ignored",
            _FULL,
            _patched(**{f"BaseHeader__Flags__{bit}": 1}),
        )
        for bit in ["X0", "X1", "X2", "X3", "X4", "X5", "X6", "X8", "X9"]
    ),
    *(
        Ignored(
            f"user-flags-{bit.lower()}",
            "MQMQ-2.2.19.2.flags-reserved-ignored",
            _FULL,
            _patched(**{f"UserHeader__Flags__{bit}": 1}),
        )
        for bit in ["X1", "X2", "X3", "X4"]
    ),
    Ignored(
        "properties-flags",
        "MQMQ-2.2.19.3.flags-unused-ignored",
        _FULL,
        _patched(MessagePropertiesHeader__Flags__X=15),
    ),
    Ignored(
        "padding",
        "MQMQ-2.2.19.3.padding-ignored",
        _PADDED,
        lambda p: patch(
            p, {"MessagePropertiesHeader.Padding": b"\xde" * p.spans["MessagePropertiesHeader.Padding"][1]}
        ),
    ),
    *(
        Ignored(
            f"security-flags-{bit.lower()}",
            "MQMQ-2.2.20.6.flags-reserved-ignored",
            _SENT,
            _patched(**{f"SecurityHeader__Flags__{bit}": 1}),
        )
        for bit in ["X12", "X13", "X14", "X15"]
    ),
    Ignored("soap-reserved", "MQMQ-2.2.20.7.reserved-ignored", _SOAP, _patched(SoapHeader__Reserved=0xCDCD)),
    Ignored("soap-reserved1", "MQMQ-2.2.20.7.reserved1-ignored", _SOAP, _patched(SoapHeader__Reserved1=0xCDCD)),
    *(
        Ignored(
            f"{name.lower()}-reserved",
            "MQMQ-2.2.20.2.reserved-ignored",
            _LISTED,
            _patched(**{f"MultiQueueFormatHeader__{name}__Reserved": 0xCDCD}),
        )
        for name in LISTS
    ),
    Ignored(
        "list-signature-reserved",
        "MQMQ-2.2.20.3.reserved-ignored",
        _LISTED,
        _patched(MultiQueueFormatHeader__Signature__Reserved=0xCDCD),
    ),
    *(
        Ignored(
            f"debug-flags-x{at}",
            "MQMQ-2.2.20.8.flags-reserved-ignored",
            _TRACED,
            _patched(**{f"DebugHeader__Flags__X{at}": 1}),
        )
        for at in range(2, 16)
    ),
    Ignored("debug-reserved", "MQMQ-2.2.20.8.reserved-ignored", _TRACED, _patched(DebugHeader__Reserved=0xCDCD)),
    Ignored("session-reserved", "MQMQ-2.2.20.4.reserved-ignored", _IN_SESSION, _patched(SessionHeader__Reserved=0xCD)),
)
# A receiver may also refuse a packet with these: reading R-MQMQ-transaction-reserved-bits.
TRANSACTION_BITS: tuple[Ignored, ...] = tuple(
    Ignored(
        f"transaction-flags-x{at}",
        "MQMQ-2.2.20.5.flags-reserved-ignored",
        _TX,
        _patched(**{f"TransactionHeader__Flags__X{at}": 1}),
    )
    for at in range(1, 9)
)
for _case in (*IGNORED, *TRANSACTION_BITS):
    requirement_id(_case.requirement)
