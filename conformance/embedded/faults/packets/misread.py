"""Faults of reading a packet: an attribute of the message is lost or gets another value (MS-MQDMPR 3.1.7.1.31)."""

from __future__ import annotations

import base64
from collections.abc import Callable

from conformance.embedded.faults.base import fault, row
from conformance.embedded.packet_bytes import require
from conformance.embedded.packet_read import Json, PacketReader
from conformance.embedded.sending import NULL_CORRELATION

Alter = Callable[[dict[str, Json]], None]


class _Misreading(PacketReader):
    alter: Alter

    def message(self, packet: bytes) -> dict[str, Json]:
        message = super().message(packet)
        type(self).alter(message)
        return message


def _dropped(*names: str) -> Alter:
    def alter(message: dict[str, Json]) -> None:
        for name in names:
            message.pop(name, None)

    return alter


def _changed(name: str, change: Callable[[Json], Json]) -> Alter:
    def alter(message: dict[str, Json]) -> None:
        if name in message:
            message[name] = change(message[name])

    return alter


def _marks(message: dict[str, Json]) -> None:
    transaction = message.get("transaction")
    if transaction:
        transaction["first"], transaction["last"] = transaction["last"], transaction["first"]


def _without_end(text: str) -> str:
    return base64.b64encode(base64.b64decode(text)[:-1]).decode("ascii")


_OF: tuple[tuple[str, str, tuple[str, ...], Alter], ...] = (
    (
        "reads-time-to-reach-queue-short",
        "The time to reach the queue is read from the lower half of its field.",
        (
            "MQDMPR-3.1.7.1.31.time-to-reach-queue-attribute",
            "MQMQ-2.2.19.1.time-to-reach-queue-layout",
        ),
        _changed("time_to_reach_queue", lambda seconds: seconds & 0xFFFF),
    ),
    (
        "reads-no-hop-count",
        "The hop count of a packet is read as 0.",
        ("MQMQ-2.2.19.2.flags-rc-layout",),
        _changed("hop_count", lambda count: 0),
    ),
    (
        "reads-transaction-marks-swapped",
        "The first message of a transaction is read as its last, and the last as its first.",
        (
            "MQDMPR-3.1.7.1.31.first-in-transaction-attribute",
            "MQDMPR-3.1.7.1.31.last-in-transaction-attribute",
        ),
        _marks,
    ),
    (
        "reads-no-certificate",
        "The sender's certificate is passed over.",
        (
            "MQDMPR-3.1.7.1.31.sender-certificate-attribute",
            "MQDMPR-3.1.7.1.31.security-fields",
        ),
        _dropped("sender_certificate"),
    ),
    (
        "reads-no-symmetric-key",
        "The symmetric key of a message is passed over.",
        (
            "MQDMPR-3.1.7.1.31.symmetric-key-attribute",
            "MQDMPR-3.1.7.1.31.security-fields",
        ),
        _dropped("symmetric_key"),
    ),
    (
        "reads-application-tag-short",
        "The application tag is read from the lower half of its field.",
        (
            "MQDMPR-3.1.7.1.31.app-specific-attribute",
            "MQMQ-2.2.19.3.application-tag-ignored",
            "MQMQ-2.2.19.3.application-tag-layout",
        ),
        _changed("application_tag", lambda tag: tag & 0xFFFF),
    ),
    (
        "reads-body-without-its-end",
        "The last byte of a body is not read.",
        (
            "MQDMPR-3.1.7.1.31.body",
            "MQDMPR-3.1.7.1.31.body-attribute",
        ),
        _changed("body", _without_end),
    ),
    (
        "reads-no-destination-list",
        "The destinations of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.destination-multi-queue-format-name-attribute",),
        _dropped("destinations"),
    ),
    (
        "reads-no-administration-list",
        "The administration queues of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.administration-multi-queue-format-name-attribute",),
        _dropped("administration_queues"),
    ),
    (
        "reads-no-response-list",
        "The response queues of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.response-multi-queue-format-name-attribute",),
        _dropped("response_queues"),
    ),
    (
        "reads-no-multiple-signature",
        "The signature of a MultiQueueFormatHeader is passed over.",
        ("MQDMPR-3.1.7.1.31.multiple-destination-signature-attribute",),
        _dropped("multiple_destination_signature"),
    ),
    (
        "reads-none-as-sig10",
        "The authentication level of a message without signature is read as Sig10.",
        ("MQDMPR-3.1.7.1.31.authentication-level-none",),
        _changed("authentication_level", lambda told: "sig10" if told == "none" else told),
    ),
    (
        "reads-no-correlation",
        "The correlation identifier of a message is passed over.",
        (
            "MQDMPR-3.1.7.1.31.correlation-identifier-attribute",
            "MQMQ-2.2.19.3.correlation-id-ignored",
        ),
        _changed("correlation_identifier", lambda told: NULL_CORRELATION),
    ),
)


@fault(
    "refuses-packets-without-body", PacketReader.message, "MQMQ-2.2.19.3.message-body-absent", "MQDMPR-3.1.7.1.31.reads"
)
def refuses_packets_without_body(plain, self, packet):
    """A packet is refused whose message has an empty body."""
    message = plain(packet)
    require(bool(message["body"]))
    return message


@fault("reads-priority-of-transactional", PacketReader.message, "MQDMPR-3.1.7.1.32.base-header-flags-pr-ignored")
def reads_priority_of_transactional(plain, self, packet):
    """A transactional message has the priority its packet tells, not 0."""
    return {**plain(packet), "priority": packet[2] & 7}


for _name, _story, _breaks, _alter in _OF:
    row(__name__, "reader", _name, _story, _breaks, subclass_of=_Misreading, alter=staticmethod(_alter))
