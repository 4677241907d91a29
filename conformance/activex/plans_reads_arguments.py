"""Plans for the arguments of reads: transactions, and what is wanted of a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import DIRECT_NAME, LOOKUP, Act, Plan, create, on
from conformance.activex.plans_reads import (
    RECEIVE,
    at_cursor,
    by_lookup,
    dispatch,
    drain,
    known,
    message,
    of,
    opened,
    place,
    read,
    receives,
    send,
    start,
    steps_on,
    watched,
)
from conformance.activex.received import WANTS
from conformance.activex.values import MISSING, Variant, long, text, truth

CONNECTOR: Final = text("{01234567-89AB-CDEF-0123-456789ABCDEF}")
CONSTANTS: Final = (0, 1, 2)
BEGIN: Final[Plan] = (create("MSMQTransactionDispenser", "d"), on("d", "BeginTransaction", gives="t"))
COMMIT: Final = on("t", "Commit", MISSING, MISSING, MISSING)
ABORT: Final = on("t", "Abort", MISSING, MISSING)


def transactions(member: Member) -> Iterator[Plan]:
    """Yield plans in which a receive is part of a transaction, or of none."""
    if not receives(member):
        return
    for value in (*(long(one) for one in CONSTANTS), MISSING):
        yield (*watched("a", "b", "c", member=member), read(member, of=of(member), transaction=value), *drain(3))
    names = "a", "b", "c"
    within = (*watched(*names, transactional=True), *BEGIN)
    taken = read(member, of=of(member), transaction=dispatch("t"))
    yield (*within, taken, *_heads(), ABORT, *_heads("then"))
    yield (*within, taken, *_heads(), COMMIT, *_heads("then"))
    alone = (*watched(*names, transactional=True), read(member, of=of(member), transaction=long(3)))
    yield (*alone, *_heads())
    for end in (COMMIT, ABORT):
        yield (*within, end, taken, *_heads())


def beside_held(member: Member) -> Iterator[Plan]:
    """Yield plans in which a transaction holds the first message when another client reads."""
    held = (
        *watched("a", "b", "c", "d", transactional=True),
        *BEGIN,
        read("Receive", "taken", transaction=dispatch("t")),
    )
    after = (*start(member), read(member, "m", of=of(member, names=("b", "c", "d"), wanted=_beside(member))))
    yield (*held, *after, ABORT, read("Peek", "head"))
    if any(one.name == "LookupId" for one in member.slots[0].arguments):
        yield (*held, read(member, "m", of="a"), ABORT, read(member, "m2", of="a"))
    if at_cursor(member) and not steps_on(member):
        at = (*watched("a", "b", transactional=True), *BEGIN, read("PeekCurrent", "at"))
        yield (*at, read("Receive", "taken", transaction=dispatch("t")), read(member, "m"), ABORT, read(member, "m2"))


def _beside(member: Member) -> str:
    """Return which of the messages behind the held one is read."""
    return {"a": "b", "b": "c", "c": "d"}[place(member)]


def _heads(again: str = "") -> Plan:
    """Return peeks at both ends of the queue and at each of its messages: one that is held is not seen."""
    looks = [read("PeekByLookupId", f"look{again}{name}", of=name) for name in ("a", "b", "c")]
    return (read("Peek", f"head{again}"), read("PeekLastByLookupId", f"last{again}"), *looks)


def identifier_as_text(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read is given the lookup identifier as the text that a message tells it by."""
    told = of(member)
    if told is not None:
        yield (*watched("a", "b", "c"), read(member, given={"LookupId": text(f"{LOOKUP}{told}")}), *drain(3))


def wants(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read asks for a property, does not, or leaves the argument out."""
    given = {one.name for one in member.slots[0].arguments}
    getters = [name for name, want in WANTS.items() if want in given]
    each: list[dict[str, Variant]] = [
        {want: value for want in WANTS.values() if want in given} for value in (truth(True), truth(False))
    ]
    if len(getters) > 1:  # each differs from the others, said before it is left out beside them
        each += [
            {WANTS[name]: truth((name == one) == value) for name in getters}
            for value in (True, False)
            for one in getters
        ]
    each += [{}, *({WANTS[name]: truth(name != "Body")} for name in getters)]
    parts = [
        (*start(member), _read(member, flags, f"m{at}"), *(on(f"m{at}", one, kind="get") for one in getters))
        for at, flags in enumerate(each)
    ]
    if receives(member):
        yield from ((*_with_connector(member), *part) for part in parts)
    else:  # what is peeked at stays, so that it can be peeked at again
        again = on("q", "Reset")
        yield (*_with_connector(member), *(act for part in parts for act in (again, *part)))


def _read(member: Member, flags: dict[str, Variant], gives: str) -> Act:
    return read(member, gives, of=of(member), given=flags)


def _with_connector(member: Member) -> Plan:
    """Return a queue with three messages that have a connector type."""
    acts: list[Act] = [*watched(member=member)]
    for name in ("a", "b", "c"):
        acts += message(name, body=True)
        acts += [on(name, "ConnectorTypeGuid", CONNECTOR, kind="put"), send(name)]
    return (*acts, *known("a", "b", "c")) if by_lookup(member) else tuple(acts)


def journals(member: Member) -> Iterator[Plan]:
    """Yield plans with a queue whose journal keeps what a receive takes."""
    if not receives(member):
        return
    journal = (create("MSMQQueueInfo", "j"), on("j", "FormatName", text(f"{DIRECT_NAME};JOURNAL"), kind="put"))
    look = (opened(RECEIVE, "o", "j"), read("Peek", "kept", queue_object="o"))
    for kept in (True, False):
        made = (*watched("a", "b", "c", journal=kept, member=member), *journal)
        yield (*made, *look, read(member, of=of(member)), read("Receive", "copy", queue_object="o"), *drain(3))
    for how in (long(0), long(3)):  # the receive is complete at once: the copy is there
        made = (*watched("a", "b", "c", journal=True, transactional=True), *journal)
        taken = read(member, of=of(member), transaction=how)
        yield (*made, opened(RECEIVE, "o", "j"), taken, read("Peek", "copy", queue_object="o"), *_heads(), *drain(3))


def cursor(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read at the cursor is followed by others there."""
    if not at_cursor(member):
        return
    for then in ("PeekCurrent", "ReceiveCurrent"):
        yield (
            *watched("a", "b", "c", member=member),
            *start(member),
            read(member),
            read(then, "m2"),
            read(then, "m3"),
            *drain(3),
        )
    yield (
        *watched("a", "b", "c", member=member),
        *start(member),
        read(member),
        on("q", "Reset"),
        read("PeekCurrent", "m2"),
    )
    yield (
        *watched("a", "b", "c", member=member),
        *start(member),
        read(member),
        read("PeekNext", "m2"),
        read("PeekNext", "m3"),
    )


FAMILIES: Final = (transactions, beside_held, identifier_as_text, wants, journals, cursor)
"""Functions that yield plans for a read, each for itself."""
