"""Plans for what reads refuse: each precondition alone, and with the one that the text puts behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import Plan, create, on
from conformance.activex.plans_reads import (
    HEAD,
    PEEK,
    RECEIVE,
    SEND,
    at_cursor,
    base,
    by_lookup,
    of,
    read,
    receives,
    sent,
    start,
    steps_on,
    watched,
)
from conformance.activex.values import Variant, text

WRONG_TRANSACTIONS: Final = (text("a"), Variant("BOOL", True), Variant("R8", "1"), Variant("DATE", "2"))
NO_LOOKUP: Final = (Variant("UI8", 0), text("0"))


def refused(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read is refused, and what is in the queue afterwards."""
    yield from _by_state(member)
    yield from _by_access(member)
    yield from _by_arguments(member)
    yield from _by_cursor(member)


def _by_state(member: Member) -> Iterator[Plan]:
    """Yield a blank and a closed object; both refuse before a look at the transaction, the access or the cursor."""
    identifier = {"LookupId": Variant("UI8", 1)}
    blank = create("MSMQQueue", "q")
    yield (blank, read(member, given=identifier), read(member, transaction=WRONG_TRANSACTIONS[0], given=identifier))
    for access in (RECEIVE, SEND):
        yield (
            *base("a", access=access),
            on("q", "Close"),
            read(member, given=identifier),
            read(member, transaction=WRONG_TRANSACTIONS[0], given=identifier),
        )


def _by_access(member: Member) -> Iterator[Plan]:
    """Yield opened queues that do not allow the read, and those that do."""
    for access in (SEND, *((PEEK,) if receives(member) else ())):
        found = (*watched("a", "b", "c", access=access, member=member), read(member, of=of(member)))
        wrong = (read(member, of=of(member), transaction=WRONG_TRANSACTIONS[0]),) if receives(member) else ()
        yield (*found, *wrong, HEAD)
    if not receives(member):
        yield (*watched("a", "b", "c", access=PEEK, member=member), *start(member), read(member, of=of(member)))


def _by_arguments(member: Member) -> Iterator[Plan]:
    if receives(member):
        wrong = (read(member, of=of(member), transaction=one) for one in WRONG_TRANSACTIONS)
        yield (*watched("a", "b", "c", member=member), *wrong, HEAD)
    if by_lookup(member) and of(member) is not None:
        wrong = (read(member, given={"LookupId": one}) for one in NO_LOOKUP)
        yield (*watched("a", "b", "c", member=member), *wrong, HEAD)
        for name in ("q", "s"):
            more = (on("q", "Close"),) if name == "q" else ()
            yield (
                *watched("a", member=member),
                *more,
                read(member, queue_object=name, given={"LookupId": NO_LOOKUP[0]}),
            )
        yield (create("MSMQQueue", "q"), read(member, given={"LookupId": NO_LOOKUP[0]}))


def _by_cursor(member: Member) -> Iterator[Plan]:
    if not at_cursor(member):
        return
    if steps_on(member):
        yield (*watched("a", "b", member=member), read(member), read("PeekCurrent", "p"), read(member, "m2"))
        yield (*watched("a", "b", member=member), read("PeekCurrent", "p"), on("q", "Reset"), read(member))
        yield (*watched("a", "b", member=member), read("ReceiveCurrent", "p"), read(member))
        yield (
            *watched("a", "b", member=member),
            read("PeekCurrent", "p"),
            read("Receive", "taken"),
            read(member, "m2"),
        )
        return
    gone = (*watched("a", "b", member=member), read("PeekCurrent", "p"), read("Receive", "taken"))
    yield (*gone, read(member), read("PeekNext", "next"), read(member, "m2"), HEAD)
    yield (*gone, on("q", "Reset"), read(member), HEAD)
    yield (*watched(member=member), read("PeekCurrent", "p"), *sent("a"), on("q", "Reset"), read(member))


FAMILIES: Final = (refused,)
"""Functions that yield plans for a read, each for itself."""
