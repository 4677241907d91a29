"""Plans for the reads of MSMQQueue: what is in the queue is known, because the plan has put it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import LOOKUP, PATH_NAME, Act, Plan, create, on
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
    made: list[Act] = [create("MSMQQueueInfo", "i"), on("i", "PathName", text(path), kind="put")]
    if journal:
        made.append(on("i", "Journal", long(1), kind="put"))
    return (*made, on("i", "Create", truth(True) if transactional else MISSING, MISSING))


def opened(access: int, gives: str, info: str = "i") -> Act:
    """Return the opening of the queue."""
    return on(info, "Open", long(access), long(0), gives=gives)


def message(name: str, *, body: bytes | None = None) -> Plan:
    """Return the making of a message with a label and a body of its own."""
    return (
        create("MSMQMessage", name),
        on(name, "Label", text(f"label of {name}"), kind="put"),
        on(name, "Body", octets(body if body is not None else f"body of {name}".encode()), kind="put"),
    )


def send(name: str, transaction: Variant = NONE, to: str = "s") -> Act:
    """Return the sending of a message."""
    return on(name, "Send", dispatch(to), transaction)


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
    **others: Variant,
) -> Act:
    """Return a call of a read. of: the message whose lookup identifier is given. others: arguments by their names."""
    row = next(one for one in READS if one.name == member) if isinstance(member, str) else member
    known = {"ReceiveTimeout": timeout, "Transaction": transaction, **others}
    if of is not None:
        known.setdefault("LookupId", text(f"{LOOKUP}{of}"))
    arguments = [known.get(one.name, MISSING) for one in row.slots[0].arguments if not one.result]
    return on(queue_object, row.name, *arguments, gives=gives)


def plain(member: Member) -> Iterator[Plan]:
    """Yield plans in which a read finds a message at once."""
    yield (*base("a", "b"), read("Peek", "p"), read(member, "m", of="a"))
