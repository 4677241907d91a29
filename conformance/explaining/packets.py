"""Packets that an outgoing queue gave, as members that two implementations can be compared by."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.wire import dissect

_SIZES: Final = (".PacketSize", ".Count", "Length", ".HeadersEnd", ".Unexplained")
"""Ends of the names of fields that depend on how long the implementation's own names are."""
_OWN: Final = frozenset(
    {
        "UserHeader.SourceQueueManager",
        "UserHeader.MessageID",
        "UserHeader.SentTime",
        "UserHeader.QueueManagerAddress",
        "MessagePropertiesHeader.CorrelationID",
        "TransactionHeader.TxSequenceID",
    }
)
"""Fields that are told otherwise, or that each implementation counts on its own."""


def members(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer of `outgoing.take` with the fields of each packet in place of its bytes."""
    packets = answer.get("packets")
    if not isinstance(packets, list) or not all(isinstance(raw, str) for raw in packets):
        return answer
    return {**answer, "packets": [_fields(raw) for raw in packets]}


@lru_cache(256)
def _fields(raw: str) -> Any:
    """Return the fields of a packet, named so that identifiers and times are known as such; its text if it is none."""
    try:
        fields = dissect(binascii.a2b_base64(raw), transport="buffer").fields
    except (binascii.Error, ValueError):
        return raw
    told: dict[str, Any] = {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in fields.items()
        if name not in _OWN and not name.endswith(_SIZES)
    }
    told["identifier"] = {
        "source": str(fields.get("UserHeader.SourceQueueManager")),
        "ordinal": fields.get("UserHeader.MessageID"),
    }
    told["sent_time"] = fields.get("UserHeader.SentTime")
    correlated = fields.get("MessagePropertiesHeader.CorrelationID")
    told["correlation_identifier"] = base64.b64encode(correlated).decode() if isinstance(correlated, bytes) else ""
    return told
