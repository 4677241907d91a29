"""Plans for what an open MSMQQueue tells of itself, and for Close, Reset and Purge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import Plan, create, on
from conformance.activex.plans_reads import (
    AT_ONCE,
    PEEK,
    RECEIVE,
    SEND,
    at_cursor,
    base,
    dispatch,
    drain,
    opened,
    queue,
    read,
    sent,
    sweep,
    watched,
)
from conformance.activex.plans_reads_arguments import ABORT, BEGIN, COMMIT
from conformance.activex.tables_queue import MEMBERS
from conformance.activex.values import MISSING, Variant, long

DENY_RECEIVE: Final = 1
CURSORS: Final = tuple(long(number) for number in (0, 1, 2))
NO_CURSORS: Final = tuple(long(number) for number in (3, -1, 0x7FFFFFFF))
GETTERS: Final = tuple(member for member in MEMBERS if member.slot("get") is not None and not member.unimplemented)


def getter(member: Member) -> Iterator[Plan]:
    """Yield plans that look at a property of a queue opened in each way, and again when it is closed."""
    look = on("q", member.name, kind="get")
    for access in (RECEIVE, SEND, PEEK):
        yield (*queue(), opened(access, "q"), look, on("q", "Close"), look)
    yield (*queue(), on("i", "Open", long(RECEIVE), long(DENY_RECEIVE), gives="q"), look, on("q", "Close"), look)
    each = {name: on(name, member.name, kind="get") for name in ("q", "p", "s")}
    several = (opened(RECEIVE, "q"), each["q"], opened(RECEIVE, "p"), each["p"], opened(SEND, "s"), each["s"])
    yield (*queue(), *several, *each.values(), on("p", "Close"), each["q"], each["s"])


def methods() -> Mapping[str, Plan]:
    """Return plans of Close, Reset and Purge by name."""
    three = watched("a", "b", "c")
    plans: dict[str, Plan] = {
        "close": (
            *base("a"),
            on("q", "Close"),
            read("Receive"),
            on("q", "Reset"),
            on("q", "Purge"),
            opened(RECEIVE, "q2"),
        ),
        "close-other": (*three, on("q", "Close"), *sweep(3), opened(RECEIVE, "q"), *drain(3)),
        "close-frees": (*_exclusive(), on("q", "Close"), opened(RECEIVE, "q2"), read("Receive", queue_object="q2")),
        "close-twice": (*base("a"), on("q", "Close"), on("q", "Close")),
        "purge": (*three, on("q", "Purge"), *sweep(3), read("Receive"), *sent("d"), *drain(1)),
        "purge-empty": (*watched(), on("q", "Purge"), *sent("d"), *drain(1)),
        "purge-access": (
            *base("a", access=SEND),
            on("q", "Purge"),
            opened(RECEIVE, "q2"),
            read("Peek", queue_object="q2"),
        ),
        "purge-closed-access": (*base("a", access=SEND), on("q", "Close"), on("q", "Purge")),
        "purge-access-peek": (*base("a", access=PEEK), on("q", "Purge"), read("Peek")),
        "purge-locked-commit": (*_locked(), on("q", "Purge"), COMMIT, read("Peek", "p")),
        "purge-locked": (*_locked(), on("q", "Purge"), read("Peek", "p"), ABORT, read("Peek", "p2")),
    }
    for member in MEMBERS:
        if at_cursor(member) and member.name.startswith("Peek") and "Next" not in member.name:
            moved = (read("PeekCurrent", "p1"), read("PeekNext", "p2"))
            plans[f"reset-{member.name}"] = (*three, *moved, on("q", "Reset"), read(member, "again"))
    plans["reset-gone"] = (
        *three,
        read("PeekCurrent", "p"),
        read("Receive", "taken"),
        on("q", "Reset"),
        read("PeekCurrent"),
    )
    plans["reset-next"] = (*three, read("PeekCurrent", "p"), on("q", "Reset"), read("PeekNext"))
    return plans


def notification() -> Mapping[str, Plan]:
    """Return plans in which EnableNotification is refused before it looks at the event object, by name."""
    nothing = Variant("DISPATCH")
    calls = [on("q", "EnableNotification", nothing, cursor, AT_ONCE) for cursor in (MISSING, *CURSORS, *NO_CURSORS)]
    blank = create("MSMQQueue", "q")
    return {
        "blank": (blank, *calls),
        "closed": (*queue(), opened(PEEK, "q"), on("q", "Close"), *calls),
        "no-event": (*queue(), opened(PEEK, "q"), *calls),
        "no-event-for-sending": (*queue(), opened(SEND, "q"), *calls),
    }


def _exclusive() -> Plan:
    """Return a queue that `q` has for itself: another opening for receiving is refused."""
    alone = on("i", "Open", long(RECEIVE), long(DENY_RECEIVE), gives="q")
    return (*queue(), opened(SEND, "s"), *sent("a"), alone, opened(RECEIVE, "refused"))


def _locked() -> Plan:
    taken = read("Receive", "taken", transaction=dispatch("t"))
    return (*watched("a", "b", transactional=True), *BEGIN, taken)
