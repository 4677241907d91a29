"""Sends: of plain messages, of messages with options, of large ones, and to other computers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from conformance.histories.operations.operation import (
    NEEDED,
    Handles,
    Kind,
    Operation,
    Role,
    action,
    asked,
    gives,
    in_brackets,
    queue_of,
    refers,
    value,
)
from conformance.histories.operations.state_queries import (
    MAX_MESSAGES,
    handles,
    listed,
    message_name,
    open_transactions,
    working_transactions,
)
from conformance.model import Call, State, message_properties
from conformance.model.journals import is_kept, is_remote

ADMIN = "adm"
_MANNERS = ((None, None), (5, None), (1, None), (None, "recoverable"), (7, None))  # priority and delivery
_ACKS = "positive_arrival+positive_receive+negative_receive"
_WISHES: tuple[dict[str, Any], ...] = (
    {"live_s": 3, "dead_letter": True},
    {"journal": True},
    {"live_s": 2},
    {"acks": _ACKS, "admin": ADMIN},
    {},
    {"live_s": 5, "dead_letter": True, "acks": "negative_receive", "admin": ADMIN},
    {"dead_letter": True, "journal": True, "delivery": "recoverable"},
    {"acks": "positive_receive", "admin": ADMIN, "priority": 5},
)
_SIZES = (11 * 1024, 18 * 1024, 1024)  # a quota of 40 KB holds three of the first, two of the second, many of the third


@lru_cache(1 << 14)
def _send(message: str, handle: str, transaction: str | None, priority: int | None, delivery: str | None) -> Call:
    return Call(
        "messages.send", message=message, handle=handle, transaction=transaction, priority=priority, delivery=delivery
    )


def sends(state: State) -> list[Call]:
    """Send one more message. Its priority matters outside transactions only."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    calls: list[Call] = []
    for handle in handles(state, "send"):
        if state.queues[handle.queue].transactional:
            calls += [
                _send(name, handle.name, transaction, priority, None)
                for transaction in working_transactions(state)
                for priority in (None, 6)
            ]
        else:
            calls += [_send(name, handle.name, None, priority, delivery) for priority, delivery in _MANNERS]
    return calls


def posts(state: State) -> list[Call]:
    """Send one more message with options: journaling, acknowledgments, a time to be received."""
    if sum(len(queue.positions) for queue in state.queues.values() if not is_kept(queue.name)) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        listed("messages.send", message=name, handle=handle.name, transaction=transaction, **wishes)
        for handle in handles(state, "send")
        for transaction in (open_transactions(state) if state.queues[handle.queue].transactional else [None])
        for wishes in _WISHES
        if not (transaction and ("priority" in wishes or "delivery" in wishes))
    ]


def fillings(state: State) -> list[Call]:
    """Send one more message, large or small, to fill a quota."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        listed("messages.send", message=name, handle=handle.name, transaction=transaction, size=size)
        for handle in handles(state, "send")
        for transaction in (open_transactions(state) if state.queues[handle.queue].transactional else [None])
        for size in _SIZES
    ]


def transactional_sends(state: State) -> list[Call]:
    """Send one more message to another computer in a transaction; `sends` has those outside transactions."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        _send(name, handle.name, transaction, None, None)
        for handle in handles(state, "send")
        if is_remote(handle.queue)
        for transaction in working_transactions(state)
    ]


@lru_cache(256)
def _body(name: str, size: int) -> str:
    return base64.b64encode(name.encode("ascii").ljust(size)).decode("ascii")


def _body_of(size: int, call: Call, handles: Handles) -> str:
    return _body(call.message or "", size)


def _carried(carries: int, call: Call, handles: Handles) -> Mapping[str, Any]:
    """Return the further properties of the message; those without a body keep one that a size asks for."""
    if not carries:
        return {}
    return message_properties.values(
        carries & ~message_properties.NO_BODY if call.size else carries, call.message or ""
    )


def _send_text(call: Call, state: State) -> str:
    how = [] if call.priority is None else [f"priority {call.priority}"]
    how += [name.replace("_", " ") for name, bit in message_properties.BITS.items() if call.carries & bit]
    how += ["no body"] if call.carries & message_properties.NO_BODY and not call.size else []
    how += [call.delivery] if call.delivery else []
    how += [f"transaction {call.transaction}"] if call.transaction else []
    how += [f"{call.size} bytes"] if call.size else []
    how += ["to be kept in the journal"] if call.journal else []
    how += ["to be kept if it is lost"] if call.dead_letter else []
    how += [f"time to be received {call.live_s} s"] if call.live_s is not None else []
    how += [f"time to reach its queue {call.reach_s} s"] if call.reach_s is not None else []
    if call.acks:
        how.append(f"acknowledgments {call.acks.replace('+', ', ').replace('_', ' ')} to {call.admin}")
    return f"send '{call.message}' to {queue_of(call, state)}{in_brackets(how)}"


OPERATIONS = (
    Operation(
        "messages.send",
        {
            "handle": refers(Kind.HANDLE, "queue"),
            "message": gives(Kind.MESSAGE, parameter="label", group="message", sent=lambda name, *_: name),
            "size": value(0, parameter="body", group="message", sent=_body_of),
            "carries": value(0, parameter="", group="message", sent=_carried, spread=True),
            "priority": asked("message", "priority", decides=True),
            "delivery": asked("message", "delivery"),
            "journal": asked("message", "positive_journaling", False),
            "dead_letter": asked("message", "negative_journaling", False),
            "acks": asked("message", "acknowledgements", along=("admin",), sent=lambda acks, *_: acks.split("+")),
            "admin": asked("message", "administration_queue", NEEDED, role=Role.REFERS, kind=Kind.QUEUE),
            "live_s": asked("message", "time_to_be_received"),
            "reach_s": asked("message", "time_to_reach_queue"),
            "transaction": refers(Kind.TRANSACTION, "transaction", None),
        },
        _send_text,
        (
            action("send", sends, "messages.send"),
            action("post", posts, "messages.send"),
            action("fill", fillings, "messages.send"),
            action("send_out", transactional_sends, "messages.send", "transactions.begin"),
        ),
        settles=True,
        late=True,
        subject="message",
    ),
)
