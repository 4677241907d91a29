"""What a message of the implementation is about, by its correlation."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from conformance.judge.dialogues.conversation import Said
from conformance.judge.dialogues.packets import Ends

REACHED: Final = 0x0002  # MQMSG_CLASS_ACK_REACH_QUEUE, MS-MQMQ 2.2.18.1.6
_CLASS: Final = "MessagePropertiesHeader.MessageClass"
_CORRELATION: Final = "MessagePropertiesHeader.CorrelationID"


def class_of(one: Said) -> int | None:
    """Return the class of a message."""
    return one.number(_CLASS)


def correlates(one: Said, ends: Ends) -> int | None:
    """Return the identifier of the message of this end that an acknowledgment names; None if it names none."""
    found = one.packet.fields.get(_CORRELATION)
    if not isinstance(found, bytes) or found[:16] != UUID(ends.client).bytes_le or len(found) < 20:
        return None
    return int.from_bytes(found[16:20], "little")
