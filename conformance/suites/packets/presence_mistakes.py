"""Mistakes of encoders with optional fields, each with the demand of `presence` that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.judge.packets.field_compare import M, S, U
from conformance.judge.packets.misplaced_fields import compare_presence
from conformance.suites.packets.building import base64_of, packet_of
from conformance.verdict import Outcome
from conformance.wire import dissect, patch

Message = dict[str, Any]
_GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
_OCTETS = base64_of(b"body")
PLAIN: Message = {"destination": "DIRECT=OS:host\\q", "label": "label", "body": _OCTETS, "extension": _OCTETS}
QUEUES: Message = {**PLAIN, "administration_queue": "DIRECT=OS:h\\a", "response_queue": "DIRECT=OS:h\\r"}
SENDER: Message = {
    **PLAIN,
    "sender_identifier_type": "sid",
    "sender_identifier": base64_of(bytes(range(28))),
    "sender_certificate": base64_of(bytes(range(99))),
}
LISTED: Message = {**PLAIN, "destinations": ["DIRECT=OS:h\\one", f"PUBLIC={_GUID}", "DIRECT=OS:h\\two"]}
AT_ADMINISTRATION: Message = {
    **PLAIN,
    "administration_queue": f"PRIVATE={_GUID}\\00000001",
    "response_queue": f"PRIVATE={_GUID}\\00000002",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """requirement: the demand it breaks. message: the message to encode. made: the mistaken bytes."""

    requirement: str
    message: Message
    made: Callable[[Message], bytes]


def blamed(message: Message, data: bytes) -> set[str]:
    """Return the demands broken in these bytes."""
    wanted = dissect(packet_of(message), transport="buffer")
    found = compare_presence(message, wanted, dissect(data, transport="buffer"))
    return {verdict.requirement for verdict in found if verdict.outcome is Outcome.FAIL}


def put_in(behind: str, extra: bytes) -> Callable[[Message], bytes]:
    """Return a mistake with extra bytes after a field."""

    def made(message: Message) -> bytes:
        data = packet_of(message)
        spans = dissect(data).spans
        at = max(sum(span) for key, span in spans.items() if key == behind or key.startswith(behind + "."))
        return data[:at] + extra + data[at:]

    return made


def left_out(field: str) -> Callable[[Message], bytes]:
    """Return a mistake that omits the bytes of a field."""

    def made(message: Message) -> bytes:
        data = packet_of(message)
        spans = [span for key, span in dissect(data).spans.items() if key.startswith(field + ".")]
        return data[: min(at for at, _ in spans)] + data[max(map(sum, spans)) :]

    return made


def padded(field: str) -> Callable[[Message], bytes]:
    """Return a mistake with a size that includes padding."""

    def made(message: Message) -> bytes:
        packet = dissect(packet_of(message))
        size = packet.fields[field]
        assert isinstance(size, int)
        at, length = packet.spans[field]
        return packet.data[:at] + (size + 4).to_bytes(length, "little") + packet.data[at + length :]

    return made


def _misnumbered(message: Message) -> bytes:
    packet = dissect(packet_of(message, {U + "Flags.RQ": 4}))
    return patch(packet, {U + "ResponseQueue.PrivateQueueIdentifier": 3})


def _shortened(message: Message) -> bytes:
    return packet_of({**message, "destinations": message["destinations"][:2]})


_U, _M, _S = "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3.", "MQMQ-2.2.20.6."
MISTAKES: tuple[Mistake, ...] = (
    Mistake(_U + "admin-queue-none", PLAIN, put_in(U + "DestinationQueue", bytes(4))),
    Mistake(_U + "response-queue-none", {**QUEUES, "response_queue": None}, put_in(U + "AdminQueue", bytes(4))),
    Mistake(_U + "admin-queue-present", QUEUES, left_out(U + "AdminQueue")),
    Mistake(_U + "response-queue-present", QUEUES, left_out(U + "ResponseQueue")),
    Mistake(_U + "response-queue-admin-host", AT_ADMINISTRATION, _misnumbered),
    Mistake(_M + "label-absent", {**PLAIN, "label": ""}, put_in(M + "ExtensionSize", bytes(2))),
    Mistake(_M + "extension-data-absent", {**PLAIN, "extension": ""}, put_in(M + "Label", b"\x01")),
    Mistake(_M + "message-body-absent", {**PLAIN, "body": ""}, put_in(M + "ExtensionData", bytes(4))),
    Mistake(_S + "sender-id-size", SENDER, padded(S + "SenderIdSize")),
    Mistake(_S + "sender-cert-size-exact", SENDER, padded(S + "SenderCertSize")),
    Mistake("MQMQ-2.2.20.1.destination-complete", LISTED, _shortened),
)


@cache
def caught() -> frozenset[str]:
    """Return the requirements that fail for a mistake whose right packet fails nothing."""
    return frozenset(
        one.requirement
        for one in MISTAKES
        if not blamed(one.message, packet_of(one.message))
        and one.requirement in blamed(one.message, one.made(one.message))
    )
