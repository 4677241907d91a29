"""Which message of a dialogue a packet of the implementation is about, and why a packet may be missing by default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from conformance.judge.dialogues.conversation import Said
from conformance.judge.dialogues.packets import Ends, Message
from conformance.net.windows import INSECURE_NACKS, PING
from conformance.spec.catalogue import requirement_id

INSECURE: Final = f"no such acknowledgment came, which is the default: {INSECURE_NACKS.path} switches it on"
NO_PINGS: Final = f"no ping was answered, which is a default: {PING.path} switches it on"
DUMB: Final = "no word came of a message that was sent after it, so that silence shows nothing"
NOT_SENT: Final = "the connection had ended before the packet was sent that this is about"
NOBODYS: Final = (
    "by the reading letter of R-MQQB-null-queue-manager-address the message is for nobody, as it names no queue manager"
    "; a message for another one was answered"
)
_REPORTS: Final = "<MESSAGE ID>".encode("utf-16-le")
"""The begin of a report's body (MS-MQQB 3.1.7.1.7)."""


_ASKING: Final = tuple(requirement_id(f"MQMQ-2.2.19.3.flags-{word}") for word in ("pa", "pr", "nr"))
_ARRIVAL: Final = 0x0002  # MQMSG_CLASS_ACK_REACH_QUEUE, MS-MQMQ 2.2.18.1.6


def asked_first(
    requirements: tuple[str, ...], message_class: int | None, came: Iterable[int | None]
) -> tuple[str, ...]:
    """Return the requirements of a word that did not come in the order in which they are broken.

    Silence breaks what asks for it, and another class the one it should have. came: classes of the words that came of
    the message; that of its arrival says nothing of what happens to it later. What asks for word of a failure is not
    first: silence is as well that of a message that was taken.
    """
    silent = all(one == _ARRIVAL != message_class for one in came)
    return tuple(sorted(requirements, key=lambda one: one not in _ASKING)) if silent else requirements


def class_of(one: Said) -> int | None:
    """Return the class of a message."""
    return one.number("MessagePropertiesHeader.MessageClass")


def is_about(one: Said, number: int, message: Message, ends: Ends) -> bool:
    """Tell whether an acknowledgment or a report is about this message. number: its MessageID.

    An OrderAck is about each message of its sequence up to its number.
    """
    if one.kind == "OrderAck":
        place = (one.number("OrderAckBody.TxSequenceID.Ordinal"), one.number("OrderAckBody.TxSequenceID.TimeStamp"))
        acknowledged = one.number("OrderAckBody.TxSequenceNumber") or 0
        return place == _place(message, ends) and acknowledged >= (message.number or 1)
    if one.kind == "FinalAck":
        return (one.text("FinalAckBody.SourceGUID"), one.number("FinalAckBody.MessageID")) == (
            ends.source(message),
            number,
        )
    body = one.packet.fields.get("MessagePropertiesHeader.MessageBody")
    if isinstance(body, bytes) and body.startswith(_REPORTS):  # whatever its class
        return f"{number:08X}" in body.decode("utf-16-le", "replace").upper()
    return _correlation(one) == UUID(ends.source(message)).bytes_le + number.to_bytes(4, "little")


def _place(message: Message, ends: Ends) -> tuple[int, int]:
    """Return the halves of the TxSequenceID of a message, the ordinal first."""
    return ends.sequence_ordinal(message.sequence), ends.sequence_stamp + message.later_s


def is_misnamed(one: Said, number: int, ends: Ends) -> bool:
    """Tell whether an acknowledgment means the message with this number, or nobody's, and names it wrongly.

    Those that were made for an earlier dialogue, and come late, name another queue manager and another number.
    """
    correlation = _correlation(one)
    if not isinstance(correlation, bytes):
        return False
    nobody = (UUID(ends.server).bytes_le, bytes(16))
    return number.to_bytes(4, "little") in correlation or correlation[:16] in nobody


def _correlation(one: Said) -> object:
    return one.packet.fields.get("MessagePropertiesHeader.CorrelationID")
