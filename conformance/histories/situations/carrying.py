"""Fill the messages of planned histories: every property of a message, in the ways that a manager takes them.

The book says nothing of it, so that a driver that lacks a property is asked for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from conformance.histories.operations.table import OPERATIONS
from conformance.model import Call, State
from conformance.model.carried import ALL, BITS, JUDGED, NAMING, NO_BODY, QUEUES_SHOWN
from conformance.model.journals import is_remote
from conformance.model.values import replace

_CLASS, _CORRELATION, _EXTENSION = BITS["class"], BITS["correlation_identifier"], BITS["extension"]
WAYS: Final = (
    ALL,
    ALL | NO_BODY,
    ALL & ~_CLASS,
    ALL & ~_EXTENSION,
    (ALL & ~_EXTENSION) | NO_BODY,
    (ALL & ~_CORRELATION) | NO_BODY,
    ALL & ~BITS["response_queue"],
    _CLASS | _CORRELATION,
    _EXTENSION | BITS["application_tag"] | NO_BODY,
    BITS["response_queue"] | BITS["application_tag"],
    BITS["body_type"] | _EXTENSION,
    0,
)
"""The ways to fill a message, as bits of `conformance.model.carried`."""


def trial(carries: int) -> tuple[Call, ...]:
    """Return a history that tells whether messages can be filled in this way, in a transaction and without."""
    return (
        Call("queues.create", queue="q1"),
        Call("queues.open", name="h1", queue="q1", access="send"),
        Call("queues.open", name="h2", queue="q1", access="receive"),
        Call("messages.send", message="a", handle="h1", carries=carries),
        Call("messages.peek", handle="h2"),
        Call("messages.receive", handle="h2"),
        Call("queues.create", queue="q2", transactional=True),
        Call("queues.open", name="h3", queue="q2", access="send"),
        Call("queues.open", name="h4", queue="q2", access="receive"),
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="b", handle="h3", transaction="t1", carries=carries),
        Call("transactions.commit", transaction="t1"),
        Call("messages.receive", handle="h4"),
    )


def offered(accepted: Sequence[str] | frozenset[str] | None, shown: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the ways for a driver. accepted: the members it takes, None for all. shown: a message as it shows it."""
    able = sum(bit for member, bit in BITS.items() if accepted is None or member in accepted)
    alone = ("extension", "response_queue")  # tell the name of a message without a body
    named = sum(BITS[member] for member in alone if member in shown)
    if "label" in shown:
        named |= sum(BITS[member] for member in NAMING if member in shown and not BITS[member] & named)
    always = JUDGED | (QUEUES_SHOWN if "response_queue" in shown else 0)
    found: dict[int, None] = {}
    for way in WAYS:
        fits = way & able & ALL
        if way & NO_BODY:
            if not fits & named:
                continue
            fits |= NO_BODY
        found[fits | always] = None
    return tuple(found)


def filled(call: Call, state: State, ways: Sequence[int], history: int) -> Call:
    """Return a send with what its message carries, by its name and the number of the history; other calls unchanged.

    A message for another computer is of no class of its own: its packet may have none (MS-MQMQ 2.2.19.3).
    """
    if not ways or "carries" not in OPERATIONS[call.method].members:
        return call
    way = ways[(crc32((call.message or "").encode()) + history) % len(ways)]
    handle = state.handles.get(call.handle or "")
    away = handle is not None and is_remote(handle.queue)
    return replace(call, carries=way & ~_CLASS if away else way)
