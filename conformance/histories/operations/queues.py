"""Queues and handles: create, delete, open, close, purge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.histories.operations.handles import Handles, kind_of_name
from conformance.histories.operations.operation import (
    NEEDED,
    Kind,
    Member,
    Operation,
    action,
    asked,
    gives,
    in_brackets,
    queue_of,
    refers,
    value,
)
from conformance.histories.operations.properties import in_words, written
from conformance.histories.operations.state_queries import handles, listed, named_alone, names, worth
from conformance.model import Answer, Call, State
from conformance.model.journals import ELSEWHERE, is_kept
from conformance.model.values import replace

_OPENINGS = (
    ("receive", None),
    ("send", None),
    ("peek", None),
    ("receive", "deny_receive"),
    ("peek", "deny_receive"),
)


def _property(name: str, plain: bool | None = None) -> Member:
    return asked("properties", name, plain, sent=lambda given, *_: int(given))


def attributes(call: Call) -> list[str]:
    """Describe the journaling and the quotas that a call sets for a queue or the manager."""
    how = ["with journaling"] if call.journaling else []
    how += [f"quota {call.quota_kb} KB"] if call.quota_kb is not None else []
    return how + ([f"journal quota {call.journal_quota_kb} KB"] if call.journal_quota_kb is not None else [])


def _created(call: Call, state: State) -> str:
    kind = "transactional " if call.transactional else ""
    return f"create {kind}queue {call.queue}{in_brackets([*attributes(call), *in_words(call)])}"


def _opened(call: Call, state: State) -> str:
    alone = ", denying receive to others," if call.share == "deny_receive" else ""
    return f"open {call.queue} for {call.access}{alone} as {call.name}"


def _path(queue: str, call: Call, handles: Handles) -> str:
    return handles.path(queue)


def _named_so(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    path = {"path_name": handles.path(call.queue or "")}
    name = {"format_name": values["format_name"]} if "format_name" in values else {}
    return replace(answer, values={**answer.values, **path, **name})


def _named(queue: str, call: Call, handles: Handles) -> str:
    kind = kind_of_name(queue)
    if kind is not None:
        handles.need("format_names", kind)
    return handles.format(queue)


def _name_accepted(queue: str | None) -> tuple[str, str] | None:
    kind = kind_of_name(queue or "")
    return ("format_names", kind) if kind is not None else None


def creations(state: State) -> list[Call]:
    """Create a deleted queue again, or one that exists, which must fail."""
    return [
        listed("queues.create", queue=queue.name, transactional=queue.transactional)
        for queue in sorted(state.queues.values(), key=lambda queue: queue.exists)
        if named_alone(queue)
    ]


def deletions(state: State) -> list[Call]:
    """Delete a queue on which no read waits and in which nothing holds a message."""
    busy = {waiter.queue for waiter in state.waiters}
    held = {queue.family for queue in state.queues.values() if any(position.holder for position in queue.positions)}
    busy |= {state.queues[name].family for name in busy}
    return [
        listed("queues.delete", queue=queue.name)
        for queue in state.queues.values()
        if queue.exists
        and named_alone(queue)
        and queue.name not in busy | held
        and queue.name != ELSEWHERE
        and queue.outgoing is None
    ]


def openings(state: State) -> list[Call]:
    """Open a queue once more, perhaps with an access it is open for already."""
    name = names("h", state.handles)
    calls: list[Call] = []
    for queue in state.queues.values():
        opened = sum(handle.queue == queue.name and handle.is_open for handle in state.handles.values())
        family = state.queues.get(queue.family)  # no format name reaches a subqueue whose queue was deleted
        if queue.exists and family is not None and family.exists and opened < 5 and not is_kept(queue.name):
            calls += [
                listed("queues.open", name=name, queue=queue.name, access=access, share=share)
                for access, share in _OPENINGS
            ]
    return calls


def closings(state: State) -> list[Call]:
    """Close a handle."""
    busy = {waiter.handle for waiter in state.waiters if waiter.cursor is not None or waiter.transaction is not None}
    busy |= {read.handle for read in state.begun.values() if not read.ended}
    return [
        listed("queues.close", handle=handle.name)
        for handle in state.handles.values()
        if handle.is_open and handle.name not in busy
    ]


def purges(state: State) -> list[Call]:
    """Purge a queue that holds something."""
    return [
        listed("queues.purge", handle=handle.name)
        for handle in handles(state, "receive")
        if worth(state.queues[handle.queue]) > 1
    ]


OPERATIONS = (
    Operation(
        "queues.create",
        {
            "queue": gives(Kind.QUEUE, parameter="path_name", sent=_path, result="format_name"),
            "values": written(),  # the others are added to these
            "transactional": _property("PROPID_Q_TRANSACTION", False),
            "journaling": _property("PROPID_Q_JOURNAL", False),
            "quota_kb": _property("PROPID_Q_QUOTA"),
            "journal_quota_kb": _property("PROPID_Q_JOURNAL_QUOTA"),
        },
        _created,
        (action("create", creations, "queues.create"),),
        answer=_named_so,
        timed=True,
    ),
    Operation(
        "queues.delete",
        {"queue": refers(Kind.QUEUE, "format_name")},
        lambda call, state: f"delete queue {call.queue}",
        (action("delete", deletions, "queues.delete"),),
        timed=True,
    ),
    Operation(
        "queues.open",
        {
            "name": gives(Kind.HANDLE, result="queue"),
            "queue": refers(Kind.QUEUE, "format_name", sent=_named, accepted=_name_accepted),
            "access": value(
                NEEDED,
                parameter="access",
                default="receive",
                accepted=lambda access: ("access", access or "receive"),
            ),
            "share": value(parameter="share", accepted=lambda share: ("share", share or "deny_none")),
        },
        _opened,
        (action("open", openings, "queues.open"),),
    ),
    Operation(
        "queues.close",
        {"handle": refers(Kind.HANDLE, "queue")},
        lambda call, state: f"close {call.handle} ({queue_of(call, state)})",
        (action("close", closings, "queues.close"),),
    ),
    Operation(
        "queues.purge",
        {"handle": refers(Kind.HANDLE, "queue")},
        lambda call, state: f"purge {queue_of(call, state)}",
        (action("purge", purges, "queues.purge"),),
    ),
)
