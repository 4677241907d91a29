"""Convert an adapter's results into answers of the model."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.model import Answer, SeenMessage
from conformance.model.carried import name_without_body
from conformance.model.values import replace
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.adapter.client import Result

_TOLD = frozenset({"messages", "bytes", "journal_messages", "journal_bytes", "time_ms"})
_IDENTIFIER_BYTES = 20  # MS-MQMQ 2.2.8: a GUID and a number of four bytes


def answer_of(result: Result) -> Answer:
    """Return an adapter's result as an answer of the model."""
    failed = not result.ok if result.status is not None else result.failure is not None
    text = f"{result.failure.kind}: {result.failure.text}" if result.failure is not None else ""
    values = result.values
    if not values:
        return Answer(result.status, failed, None, text)
    raw = values.get("message")
    seen = _seen(raw) if raw is not None and not failed else None
    return Answer(result.status, failed, seen, text, _told(values))


def _seen(raw: Any) -> SeenMessage:
    lookup, identifier = raw.get("lookup_identifier"), raw.get("identifier")
    seen = SeenMessage(
        body=binascii.a2b_base64(raw.get("body", "")),
        label=raw.get("label"),
        priority=raw.get("priority"),
        delivery=raw.get("delivery"),
        lookup_identifier=int(lookup) if lookup is not None else None,
        identifier=_identifier(identifier) if identifier is not None else None,
        klass=raw.get("class"),
        correlation=_correlation(raw.get("correlation_identifier")),
        first_in_transaction=raw.get("first_in_transaction"),
        last_in_transaction=raw.get("last_in_transaction"),
        shown=raw,
    )
    return seen if seen.name else replace(seen, name=name_without_body(raw))


def _told(values: Mapping[str, Any]) -> dict[str, Json]:
    """Return the values of an answer beside status, handles and messages: counts, times and the identifier."""
    found: dict[str, Json] = {name: values[name] for name in values if name in _TOLD}
    identifier = values.get("identifier")
    if identifier is not None:
        found["identifier"] = _identifier(identifier)
    return found


def _identifier(raw: Mapping[str, Any]) -> str:
    return f"{raw['source'].lower()}\\{raw['ordinal']}"


def _correlation(raw: str | None) -> str | None:
    """Return the message identifier in a message's correlation identifier; None if it has none."""
    if not raw:
        return None
    try:
        value = base64.b64decode(raw)
    except (binascii.Error, ValueError):
        return None
    if len(value) != _IDENTIFIER_BYTES or not any(value):
        return None
    return f"{uuid.UUID(bytes_le=value[:16])}\\{int.from_bytes(value[16:], 'little')}"
