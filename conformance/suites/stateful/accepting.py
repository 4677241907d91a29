"""What a call of the model gives its method, in the words of `accepts` in hello: a driver may take less than MSMQ."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model import Call
from conformance.model.keeping import ELSEWHERE, is_kept, is_remote

_WISHES = (
    ("priority", "priority"),
    ("delivery", "delivery"),
    ("journal", "positive_journaling"),
    ("dead_letter", "negative_journaling"),
    ("acks", "acknowledgements"),
    ("admin", "administration_queue"),
    ("live_s", "time_to_be_received"),
    ("reach_s", "time_to_reach_queue"),
)
_PROPERTIES = (
    ("transactional", "PROPID_Q_TRANSACTION"),
    ("journaling", "PROPID_Q_JOURNAL"),
    ("quota_kb", "PROPID_Q_QUOTA"),
    ("journal_quota_kb", "PROPID_Q_JOURNAL_QUOTA"),
)


def given(call: Call) -> Iterator[tuple[str, str]]:
    """Kind and name of everything out of the ordinary that a call asks for."""
    if call.method == "messages.send":
        for member, name in _WISHES:
            if _asked(getattr(call, member)):
                yield "message", name
    elif call.method == "queues.create":
        for member, name in _PROPERTIES:
            if _asked(getattr(call, member)):
                yield "properties", name
    elif call.method == "queues.open":
        yield "access", call.access or "receive"
        yield "share", call.share or "deny_none"
        kind = kind_of_name(call.queue or "")
        if kind is not None:
            yield "format_names", kind


def _asked(value: object) -> bool:
    return value is not None and value is not False  # a priority or a time of 0 is asked for


def kind_of_name(queue: str) -> str | None:
    """The kind of format name a queue of the model is opened by; None for the plain one of a local queue."""
    if queue == ELSEWHERE or is_remote(queue):
        return "remote"
    if "," in queue:
        return "multiple_element"
    if is_kept(queue):
        return "dead_letter" if queue.startswith("SYSTEM;") else "journal"
    return "subqueue" if ";" in queue else None
