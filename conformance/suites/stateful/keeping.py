"""How calls that have to do with quotas, journals, reports and times to be received are asked of a driver."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.model import Call
from conformance.model.keeping import ELSEWHERE
from conformance.verdict import Json

METHODS: Final = frozenset({"queues.counts", "limits", "clock.now"})
_TOLD = frozenset({"messages", "bytes", "journal_messages", "journal_bytes", "time_ms"})
_IDENTIFIER_BYTES = 20  # MS-MQMQ 2.2.8: a GUID and a number of four bytes


def properties(call: Call) -> dict[str, int]:
    """The properties a queue is created with (MS-MQMQ 2.3.1)."""
    found: dict[str, int] = {}
    if call.transactional:
        found["PROPID_Q_TRANSACTION"] = 1
    if call.journaling:
        found["PROPID_Q_JOURNAL"] = 1
    if call.quota_kb is not None:
        found["PROPID_Q_QUOTA"] = call.quota_kb
    if call.journal_quota_kb is not None:
        found["PROPID_Q_JOURNAL_QUOTA"] = call.journal_quota_kb
    return found


def request(call: Call, format_of: Callable[[str | None], str]) -> tuple[str, dict[str, Any]]:
    """The method and its parameters, for one of METHODS."""
    if call.method == "queues.counts":
        return call.method, {"format_name": format_of(call.queue)}
    if call.method == "clock.now":
        return call.method, {}
    given = {"message_quota_kb": call.quota_kb, "journal_quota_kb": call.journal_quota_kb}
    return call.method, {name: value for name, value in given.items() if value is not None}


def wishes(call: Call, format_of: Callable[[str | None], str]) -> dict[str, Any]:
    """What a sender asks for beside delivery, as members of a message."""
    found: dict[str, Any] = {}
    if call.journal:
        found["positive_journaling"] = True
    if call.dead_letter:
        found["negative_journaling"] = True
    if call.acks:
        found["acknowledgements"] = call.acks.split("+")
    if call.admin is not None:
        found["administration_queue"] = format_of(call.admin)
    if call.live_s is not None:
        found["time_to_be_received"] = call.live_s
    if call.reach_s is not None:
        found["time_to_reach_queue"] = call.reach_s
    return found


def format_name(queue: str, computer: str, format_of: Callable[[str | None], str]) -> str:
    """The format name of a journal or dead-letter queue, or of several queues (MS-MQMQ 2.1.2, 2.1.7)."""
    if queue == ELSEWHERE:
        return "DIRECT=OS:mqconform-elsewhere\\private$\\nobody"
    if "," in queue:
        return ",".join(format_of(element) for element in queue.split(","))
    base, _, suffix = queue.partition(";")
    return f"DIRECT=OS:{computer}\\SYSTEM$;{suffix}" if base == "SYSTEM" else f"{format_of(base)};{suffix}"


def told(values: Mapping[str, Any]) -> dict[str, Json]:
    """What an answer tells beside status, handles and messages."""
    found: dict[str, Json] = {name: values[name] for name in values if name in _TOLD}
    identifier = values.get("identifier")
    if identifier is not None:
        found["identifier"] = f"{identifier['source'].lower()}\\{identifier['ordinal']}"
    return found


def correlation(raw: str | None) -> str | None:
    """The message identifier that a message names as the one it is about; None for none."""
    if not raw:
        return None
    try:
        value = base64.b64decode(raw)
    except (binascii.Error, ValueError):
        return None
    if len(value) != _IDENTIFIER_BYTES or not any(value):
        return None
    return f"{uuid.UUID(bytes_le=value[:16])}\\{int.from_bytes(value[16:], 'little')}"
