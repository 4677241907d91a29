"""Plans of reads, and of reads that are refused (MC-MQAC 3.11.4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import LOOKUP, PATH_NAME, Act, Plan, call_on, create, passes
from conformance.activex.tables_queue import MEMBERS
from conformance.activex.values import MISSING, Variant, long, octets, text, truth

RECEIVE, SEND, PEEK = 1, 2, 0x20
SOON, LONG = long(1_000), long(60_000)
AT_ONCE: Final = long(0)
NONE: Final = long(0)

READS: Final = tuple(member for member in MEMBERS if member.name.startswith(("Receive", "Peek")))


def dispatch(name: str) -> Variant:
    """Return an object of the plan as an argument."""
    return Variant("DISPATCH", name)


def queue(*, transactional: bool = False, journal: bool = False, path: str = PATH_NAME) -> Plan:
    """Return the creation of a queue by an MSMQQueueInfo `i`."""
    made: list[Act] = [create("MSMQQueueInfo", "i"), call_on("i", "PathName", text(path), kind="put")]
    if journal:
        made.append(call_on("i", "Journal", long(1), kind="put"))
    return (*made, call_on("i", "Create", truth(True) if transactional else MISSING, MISSING))


def opened(access: int, gives: str, info: str = "i") -> Act:
    """Return the opening of the queue."""
    return call_on(info, "Open", long(access), long(0), gives=gives)


def message(name: str, *, body: bool = False) -> Plan:
    """Return the making of a message with a label of its own, which tells it, and with a body."""
    made = (create("MSMQMessage", name), call_on(name, "Label", text(f"label of {name}"), kind="put"))
    return (*made, call_on(name, "Body", octets(f"body of {name}".encode()), kind="put")) if body else made


def send(name: str, transaction: Variant = NONE, to: str = "s") -> Act:
    """Return the sending of a message."""
    return call_on(name, "Send", dispatch(to), transaction)


def sent(*names: str, transaction: Variant = NONE) -> Plan:
    """Return the making and sending of messages."""
    return tuple(act for name in names for act in (*message(name), send(name, transaction)))


def base(*names: str, access: int = RECEIVE, transactional: bool = False, journal: bool = False) -> Plan:
    """Return a queue, open as `s` and `q`, with messages in it."""
    transaction = long(3) if transactional else NONE
    made = queue(transactional=transactional, journal=journal)
    return (*made, opened(SEND, "s"), opened(access, "q"), *sent(*names, transaction=transaction))


def read(
    member: Member | str,
    gives: str = "m",
    *,
    queue_object: str = "q",
    of: str | None = None,
    timeout: Variant = AT_ONCE,
    transaction: Variant = NONE,
    given: Mapping[str, Variant] | None = None,
) -> Act:
    """Return a call of a read. of: the message whose lookup identifier is given. given: further arguments by name."""
    row = next(one for one in READS if one.name == member) if isinstance(member, str) else member
    known = {"ReceiveTimeout": timeout, "Transaction": transaction, **(given or {})}
    if of is not None:
        known.setdefault("LookupId", Variant("UI8", f"{LOOKUP}{of}"))
    arguments = [known.get(one.name, MISSING) for one in row.slots[0].arguments if not one.result]
    return call_on(queue_object, row.name, *arguments, gives=gives)


HEAD: Final = read("Peek", "head", queue_object="w")
"""A peek of `w` at the head of the queue."""


def peeks_at_all(*names: str) -> Plan:
    """Return peeks of a second queue object `w` at every message, so that their lookup identifiers are known."""
    first = read("PeekCurrent", f"w-{names[0]}", queue_object="w")
    return (first, *(read("PeekNext", f"w-{name}", queue_object="w") for name in names[1:]))


def sweep(most: int, again: str = "") -> Plan:
    """Return what `w` sees from the head of the queue on: one peek more than there can be messages."""
    later = (read("PeekNext", f"seen{again}{at}", queue_object="w") for at in range(1, most + 1))
    return (call_on("w", "Reset"), read("PeekCurrent", f"seen{again}0", queue_object="w"), *later)


def drain(most: int) -> Plan:
    """Return what receives from the head of the queue take: one more than there can be messages."""
    return tuple(read("Receive", f"drained{at}") for at in range(most + 1))


def watched(
    *names: str,
    access: int = RECEIVE,
    transactional: bool = False,
    journal: bool = False,
    member: Member | None = None,
) -> Plan:
    """Return a queue with messages, and `w`, which has seen them all, so that a read which does not is wrong itself."""
    made = (*base(*names, access=access, transactional=transactional, journal=journal), opened(PEEK, "w"))
    return (*made, *peeks_at_all(*names)) if names else made


def by_lookup(member: Member) -> bool:
    """Tell whether a read seeks by lookup identifier."""
    return "LookupId" in member.name


def steps_on(member: Member) -> bool:
    """Tell whether a read goes on from a message at its cursor."""
    return member.name.startswith("PeekNext") and not by_lookup(member)


def at_cursor(member: Member) -> bool:
    """Tell whether a read reads at the cursor of the queue object."""
    return member.event is not None and member.event.cursor


def receives(member: Member) -> bool:
    """Tell whether a read removes the message."""
    return member.name.startswith("Receive")


def named_by(member: Member, wanted: str, names: tuple[str, ...] = ("a", "b", "c")) -> str | None:
    """Return the message whose lookup identifier leads a read to the wanted one; None if there is none."""
    at = names.index(wanted)
    step = -1 if "Next" in member.name else 1 if "Previous" in member.name else 0
    return names[at + step] if 0 <= at + step < len(names) else None


def place(member: Member) -> str:
    """Return which of the messages a, b and c a read gives first."""
    if not by_lookup(member):
        return "b" if steps_on(member) else "a"
    if "First" in member.name or "Previous" in member.name:
        return "a"
    return "c" if "Last" in member.name or "Next" in member.name else "b"


def start(member: Member) -> Plan:
    """Return what a read needs before it can be called: a message at the cursor of the queue object."""
    return (read("PeekCurrent", "at"),) if steps_on(member) else ()


def of(member: Member, wanted: str | None = None, names: tuple[str, ...] = ("a", "b", "c")) -> str | None:
    """Return the `of` of a call of a read that gives this message, or the first that it can."""
    return named_by(member, wanted or place(member), names) if by_lookup(member) else None


def gives_at_once(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read finds a message at once, among others, and what is then in the queue.

    Other reads have shown the messages before, so that one that does not find them is wrong itself.
    """
    yield (
        *base("a", "b", "c"),
        opened(PEEK, "w"),
        HEAD,
        *peeks_at_all("a", "b", "c"),
        *start(member),
        read(member, "m1", of=of(member)),
        *sweep(3),
        *drain(3),
    )
    if not by_lookup(member) and not at_cursor(member):
        moved = (read("PeekCurrent", "p1"), read("PeekNext", "p2"))
        yield (*watched("a", "b", "c", member=member), *moved, read(member, "m"), read("PeekCurrent", "p3"))
    if by_lookup(member) and "First" not in member.name and "Last" not in member.name:
        for wanted in sorted({"a", "b", "c"} - {place(member)}):
            one = named_by(member, wanted)
            if one is not None:
                yield (*watched("a", "b", "c", member=member), read(member, "m", of=one), *drain(3))


def finds_nothing(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read that does not wait finds no message."""
    if steps_on(member):
        yield (*watched("a", member=member), *start(member), read(member))
        yield (*watched("a", member=member), *start(member), read(member), *sent("b"), HEAD)
    elif not by_lookup(member) or (named_by(member, "a") == "a" and place(member) != "b"):
        yield (*watched(member=member), read(member), *sent("a"), HEAD)
    else:
        last = {"Next": "b", "Previous": "a"}
        end = next((one for word, one in last.items() if word in member.name), None)
        if end is not None:
            yield (*watched("a", "b", member=member), read(member, of=end), HEAD)
        yield (
            *watched("a", "b", member=member),
            read("Receive", "taken"),
            read(member, of="a" if end is None else end),
            HEAD,
        )


def waits(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read waits: without end or not, until a message comes, time is over, or Close ends it."""
    if by_lookup(member):
        return
    names = ("a",) if steps_on(member) else ()
    empty = (*watched(*names, member=member), *start(member))
    for timeout in (long(-1), MISSING, LONG):
        yield (*empty, read(member, timeout=timeout), *sent("b", "c"), HEAD)
    yield (*empty, read(member, timeout=SOON), passes(500), passes(500), *sent("b"), HEAD)
    yield (*empty, read(member, timeout=MISSING), call_on("q", "Close"), *sent("b"), HEAD)
    if receives(member):
        begin = (call_on("d", "BeginTransaction", gives=name) for name in ("t", "u"))
        empty = (*watched(*names, transactional=True), create("MSMQTransactionDispenser", "d"), *begin, *start(member))
        comes = (*sent("b", "c", transaction=dispatch("u")), call_on("u", "Commit", MISSING, MISSING, MISSING))
        for how, timeout in product((NONE, long(3), dispatch("t")), (MISSING, LONG)):
            waiting = read(member, timeout=timeout, transaction=how)
            yield (*empty, waiting, *comes, HEAD, call_on("t", "Abort", MISSING, MISSING), *drain(2))


FAMILIES: Final = (gives_at_once, finds_nothing, waits)
"""Functions that yield plans for a read, each for itself."""

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
            call_on("q", "Close"),
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
            more = (call_on("q", "Close"),) if name == "q" else ()
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
        yield (*watched("a", "b", member=member), read("PeekCurrent", "p"), call_on("q", "Reset"), read(member))
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
    yield (*gone, call_on("q", "Reset"), read(member), HEAD)
    yield (*watched(member=member), read("PeekCurrent", "p"), *sent("a"), call_on("q", "Reset"), read(member))


REFUSED_FAMILIES: Final = (refused,)
"""Functions that yield plans for a read, each for itself."""
