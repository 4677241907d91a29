"""Queues and handles: create, delete, open, close, purge; moves to subqueues, counts and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.histories.operations.operation import (
    NEEDED,
    Handles,
    Kind,
    Member,
    Operation,
    action,
    asked,
    gives,
    in_brackets,
    kind_of_name,
    queue_of,
    refers,
    value,
)
from conformance.histories.operations.properties import in_words, written
from conformance.histories.operations.state_queries import (
    ended_transactions,
    handles,
    listed,
    named_alone,
    names,
    open_transactions,
    working_transactions,
    worth,
)
from conformance.model import Answer, Call, State
from conformance.model.journals import ELSEWHERE, is_kept
from conformance.model.state import Handle
from conformance.model.tables import PositionState
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


QUEUES = (
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


def counts(state: State) -> list[Call]:
    """Count the messages of a queue in which nothing holds one, so that its content is certain."""
    return [
        listed("queues.counts", queue=queue.name)
        for queue in state.queues.values()
        if queue.exists and not is_kept(queue.name) and not any(position.holder for position in queue.positions)
    ]


JOURNALS = (
    Operation(
        "queues.counts",
        {"queue": refers(Kind.QUEUE, "format_name")},
        lambda call, state: f"count what is in {call.queue}",
        (action("count", counts, "queues.counts"),),
    ),
    Operation(
        "limits",
        {"quota_kb": value(parameter="message_quota_kb"), "journal_quota_kb": value(parameter="journal_quota_kb")},
        lambda call, state: f"set the limits of the queue manager{in_brackets(attributes(call))}",
    ),
    Operation(
        "harden",
        {"hardened": value(NEEDED, parameter="hardened")},
        lambda call, state: f"turn hardened security {'on' if call.hardened else 'off'} from the next start on",
    ),
)

SUBQUEUES = ("one",)


def subqueue_openings(state: State) -> list[Call]:
    """Open a queue or its subqueue to move messages there or to receive from it."""
    name = names("h", state.handles)
    calls: list[Call] = []
    for queue in state.queues.values():
        if not queue.exists or not named_alone(queue):
            continue
        family = [queue.name, *(f"{queue.name};{subqueue}" for subqueue in SUBQUEUES)]
        for member in family:
            opened = {(handle.access) for handle in state.handles.values() if handle.queue == member and handle.is_open}
            missing = [access for access in ("move", "receive") if access not in opened]
            calls += [listed("queues.open", name=name, queue=member, access=access) for access in missing]
    if len(calls) < 2:  # all handles that moves need are open
        for handle in state.handles.values():
            parent = state.queues.get(handle.queue.partition(";")[0])
            there = parent is not None and parent.exists
            if ";" in handle.queue and handle.access == "receive" and handle.is_open and there:
                calls.append(listed("queues.open", name=name, queue=handle.queue, access="peek"))
                break
    return calls if len(state.handles) < 16 else []


def moves(state: State) -> list[Call]:
    """Move a message whose lookup identifier is known: mostly an available one, sometimes one held or gone."""
    targets = handles(state, "move")
    fine: list[Call] = []
    refused: list[Call] = []
    for source in handles(state, "receive"):
        queue = state.queues[source.queue]
        for position in queue.positions:
            if position.message not in state.lookups or position.doubtful:
                continue
            for target in targets:
                if target.queue == source.queue:
                    continue
                related = state.queues[target.queue].family == queue.family
                calls = [_move(source, target, position.message, within) for within in _within(state, target)]
                if related and position.available:
                    fine += calls
                elif position.state is not PositionState.BEGUN and position.state is not PositionState.BEGUN_PURGED:
                    refused += calls[:1]
    return fine * 3 + refused


def _within(state: State, target: Handle) -> list[str | None]:
    free = working_transactions(state)
    return [*free, *free, None] if state.queues[target.queue].transactional else [None]


def _move(source: Handle, target: Handle, message: str, within: str | None) -> Call:
    return listed("messages.move", message=message, handle=source.name, destination=target.name, transaction=within)


def move_mistakes(state: State) -> list[Call]:
    """Move or read in a way that must fail: wrong access, an ended transaction, an unrelated queue."""
    calls: list[Call] = []
    known = [
        (source, position.message)
        for source in handles(state, "receive")
        for position in state.queues[source.queue].positions
        if position.message in state.lookups and position.available and not position.doubtful
    ]
    for source, message in known[:3]:
        family = state.queues[source.queue].family
        others = [handle for handle in handles(state, "receive", "peek") if handle.queue != source.queue]
        calls += [_move(source, other, message, None) for other in others[:1]]
        ended = ended_transactions(state)
        for target in handles(state, "move"):
            queue = state.queues[target.queue]
            if queue.family == family and target.queue != source.queue:
                wrong = ended if queue.transactional else open_transactions(state)
                calls += [_move(source, target, message, name) for name in wrong[:1]]
    calls += [listed("messages.receive", handle=handle.name) for handle in handles(state, "move")[:1]]
    calls += [listed("messages.peek", handle=handle.name) for handle in handles(state, "move")[:1]]
    return calls


def _move_text(call: Call, state: State) -> str:
    to = state.handles[call.destination or ""].queue if call.destination in state.handles else call.destination
    within = f" (transaction {call.transaction})" if call.transaction else ""
    return f"move '{call.message}' from {queue_of(call, state)} to {to}{within}"


MOVES = (
    Operation(
        "messages.move",
        {
            "handle": refers(Kind.HANDLE, "queue"),
            "message": refers(Kind.MESSAGE, "lookup_identifier"),
            "destination": refers(Kind.HANDLE, "destination"),
            "transaction": refers(Kind.TRANSACTION, "transaction", None),
        },
        _move_text,
        (
            action("open_subqueue", subqueue_openings, "messages.move"),
            action("move", moves, "messages.move"),
            action("move_mistake", move_mistakes, "messages.move"),
        ),
        late=True,
    ),
)
