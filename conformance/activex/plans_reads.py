"""Plans of reads: refused ones, their arguments and conditions, and opened queues (MC-MQAC 3.11.4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import DIRECT_NAME, LOOKUP, PATH_NAME, Act, Plan, call_on, create, passes
from conformance.activex.tables import CLASSES
from conformance.activex.tables_queue import MEMBERS
from conformance.activex.values import MISSING, Variant, long, octets, text, truth
from conformance.activex.world import WANTS

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
    first = read("PeekCurrent", f"w_{names[0]}", queue_object="w")
    return (first, *(read("PeekNext", f"w_{name}", queue_object="w") for name in names[1:]))


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

CONNECTOR: Final = text("{01234567-89AB-CDEF-0123-456789ABCDEF}")
CONSTANTS: Final = (0, 1, 2)
BEGIN: Final[Plan] = (create("MSMQTransactionDispenser", "d"), call_on("d", "BeginTransaction", gives="t"))
COMMIT: Final = call_on("t", "Commit", MISSING, MISSING, MISSING)
ABORT: Final = call_on("t", "Abort", MISSING, MISSING)


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
        (*start(member), _read(member, flags, f"m{at}"), *(call_on(f"m{at}", one, kind="get") for one in getters))
        for at, flags in enumerate(each)
    ]
    if receives(member):
        yield from ((*_with_connector(member), *part) for part in parts)
    else:  # what is peeked at stays, so that it can be peeked at again
        again = call_on("q", "Reset")
        yield (*_with_connector(member), *(act for part in parts for act in (again, *part)))


def _read(member: Member, flags: dict[str, Variant], gives: str) -> Act:
    return read(member, gives, of=of(member), given=flags)


def _with_connector(member: Member) -> Plan:
    """Return a queue with three messages that have a connector type."""
    acts: list[Act] = [*watched(member=member)]
    for name in ("a", "b", "c"):
        acts += message(name, body=True)
        acts += [call_on(name, "ConnectorTypeGuid", CONNECTOR, kind="put"), send(name)]
    return (*acts, *peeks_at_all("a", "b", "c")) if by_lookup(member) else tuple(acts)


def journals(member: Member) -> Iterator[Plan]:
    """Yield plans with a queue whose journal keeps what a receive takes."""
    if not receives(member):
        return
    journal = (create("MSMQQueueInfo", "j"), call_on("j", "FormatName", text(f"{DIRECT_NAME};JOURNAL"), kind="put"))
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
        call_on("q", "Reset"),
        read("PeekCurrent", "m2"),
    )
    yield (
        *watched("a", "b", "c", member=member),
        *start(member),
        read(member),
        read("PeekNext", "m2"),
        read("PeekNext", "m3"),
    )


ARGUMENT_FAMILIES: Final = (transactions, beside_held, identifier_as_text, wants, journals, cursor)
"""Functions that yield plans for a read, each for itself."""

SINGLE: Final = long(3)
_DECIDING: Final = frozenset({"Label", "Body", "Priority", "MaxTimeToReachQueue", "MaxTimeToReceive"})
"""Properties that tell messages apart, or decide which is read and whether it is there."""
_SECURITY: Final = frozenset({"AuthLevel", "PrivLevel", "SenderCertificate"})
"""Properties that have Send ask for something that not every computer has."""
NAMES: Final = ("a", "b", "c")


def _end(act: Act, name: str) -> Act:
    assert act.call is not None
    return call_on(name, act.call.member, *act.call.arguments)


def asked(member: Member) -> Iterator[tuple[tuple[str, ...], dict[str, Variant]]]:
    """Yield getters with Want arguments: each flag differs from the others once, and all are left out."""
    given = {one.name for one in member.slots[0].arguments}
    flags = {name: want for name, want in WANTS.items() if want in given}
    for alone in flags:
        yield tuple(flags), {want: truth(name == alone) for name, want in flags.items()}
    for left_out in flags:
        yield (
            tuple(flags),
            {want: MISSING if name == left_out else truth(name != "Body") for name, want in flags.items()},
        )
    yield tuple(flags), dict.fromkeys(flags.values(), MISSING)


def _connected(*, transactional: bool) -> Plan:
    """Return a queue with three messages that have a body and a connector type, and `w`, which has seen them."""
    acts: list[Act] = [*watched(transactional=transactional)]
    for name in NAMES:
        acts += [*message(name, body=True), call_on(name, "ConnectorTypeGuid", CONNECTOR, kind="put")]
        acts.append(send(name, SINGLE if transactional else long(0)))
    return (*acts, *peeks_at_all(*NAMES))


def wants_in_transactions(member: Member) -> Iterator[Plan]:
    """Yield plans in which a receive asks for one property after the other, each in a transaction of its own."""
    if not receives(member):
        return
    acts: list[Act] = [*_connected(transactional=True), create("MSMQTransactionDispenser", "d")]
    each = list(asked(member))
    for at, (getters, flags) in enumerate((*each[:3], each[-1])):
        transaction, gives = f"t{at}", f"m{at}"
        acts += [call_on("d", "BeginTransaction", gives=transaction), call_on("q", "Reset"), *start(member)]
        acts.append(read(member, gives, of=of(member), transaction=dispatch(transaction), given=flags))
        acts += [call_on(gives, one, kind="get") for one in getters]
        acts.append(_end(ABORT, transaction))
    yield tuple(acts)


def wants_in_single_messages(member: Member) -> Iterator[Plan]:
    """Yield plans in which a receive that is a transaction of its own asks for a property."""
    if not receives(member):
        return
    parts: list[Plan] = []
    for at, (getters, flags) in enumerate(list(asked(member))[:3]):
        one = read(member, f"m{at}", of=of(member), transaction=SINGLE, given=flags)
        parts.append((*start(member), one, *(call_on(f"m{at}", name, kind="get") for name in getters)))
    base = _connected(transactional=True)
    if of(member) is None:  # the next read finds the next message
        yield (*base, *(act for part in parts for act in (call_on("q", "Reset"), *part)))
    else:
        yield from ((*base, *part) for part in parts)


def wants_one_after_another(member: Member) -> Iterator[Plan]:
    """Yield plans in which reads of one queue object, opened by a format name, ask for different properties."""
    by_name = (create("MSMQQueueInfo", "f"), call_on("f", "FormatName", text(DIRECT_NAME), kind="put"))
    base = (*_connected(transactional=False), *by_name, opened(RECEIVE, "o", "f"))
    each = list(asked(member))
    if receives(member):
        each = each[:3]
    if receives(member) and by_lookup(member):
        each = each[:1]
    acts: list[Act] = [*base]
    for at, (getters, flags) in enumerate(each):
        acts.append(call_on("o", "Reset"))
        if steps_on(member):
            acts.append(read("PeekCurrent", f"at{at}", queue_object="o"))
        acts.append(read(member, f"m{at}", queue_object="o", of=of(member), given=flags))
        acts += [call_on(f"m{at}", one, kind="get") for one in getters]
    yield tuple(acts)


def single_message_stays_gone(member: Member) -> Iterator[Plan]:
    """Yield plans in which a message received alone stays gone: for others, after Close, after a later Abort."""
    if not receives(member):
        return
    taken = read(member, of=of(member), transaction=SINGLE)
    later = (read("Receive", "later", transaction=dispatch("t")), ABORT)
    look = (opened(PEEK, "x"), read("Peek", "head", queue_object="x"), *(_look(name) for name in NAMES))
    yield (*watched(*NAMES, transactional=True), *start(member), taken, *BEGIN, *later, *look, *drain(3))
    yield (*watched(*NAMES, transactional=True), *BEGIN, *start(member), taken, ABORT, call_on("q", "Close"), *look)


def _look(name: str) -> Act:
    return read("PeekByLookupId", f"look{name}", queue_object="x", of=name)


def two_in_a_transaction(member: Member) -> Iterator[Plan]:
    """Yield plans in which a transaction has a receive and a second operation, in one queue and in two, and ends."""
    if not receives(member):
        return
    taken = read(member, of=of(member), transaction=dispatch("t"))
    other = (
        create("MSMQQueueInfo", "i2"),
        call_on("i2", "PathName", text(f"{PATH_NAME}-2"), kind="put"),
        call_on("i2", "Create", truth(True), MISSING),
        opened(SEND, "s2", "i2"),
        opened(RECEIVE, "q2", "i2"),
    )
    seconds: tuple[Plan, ...] = (
        (read("Receive", "m2", transaction=dispatch("t")),),
        (*message("n"), send("n", dispatch("t"))),
    )
    for end in (COMMIT, ABORT):
        for second in seconds:
            before = (*watched(*NAMES, transactional=True, member=member), *BEGIN, *start(member))
            yield (*before, taken, *second, end, *(read("Receive", f"then{at}") for at in range(4)))
    two = (*message("n"), send("n", SINGLE, "s2"), *BEGIN, *start(member), taken)
    both = (
        read("Receive", "m2", queue_object="q2", transaction=dispatch("t")),
        *message("o"),
        send("o", dispatch("t"), "s2"),
    )
    for end in (COMMIT, ABORT):
        yield (
            *watched(*NAMES, transactional=True, member=member),
            *other,
            *two,
            *both,
            end,
            read("Receive", "then"),
            *(read("Receive", f"other{at}", queue_object="q2") for at in range(3)),
        )


def allowed_peeks(member: Member) -> Iterator[Plan]:
    """Yield plans in which a message that another transaction holds is received with leave to peek, or was so."""
    if not member.name.endswith("AllowPeek"):
        return
    begin = (*BEGIN, call_on("d", "BeginTransaction", gives="u"))
    within = dispatch("t")
    both = (
        read(member, "m1", of="a", transaction=within),
        read(member, "m2", of="b", transaction=within),
    )
    looks = tuple(
        act for peek in _peeks() for act in (call_on("q", "Reset"), *start(peek), read(peek, "p", of=of(peek)))
    )
    yield (*watched(*NAMES, transactional=True), *BEGIN, *both, *looks, ABORT, *drain(3))
    for first in ("Receive", member.name):
        taken = read(first, of="a" if "LookupId" in first else None, transaction=dispatch("t"))
        held = (*watched(*NAMES, transactional=True), *begin, read("Peek", "before"), taken)
        for end in (COMMIT, ABORT):
            again = read(member, "m3", of="a", transaction=dispatch("u"))
            yield (
                *held,
                read(member, "m2", of="a", transaction=dispatch("u")),
                read("Peek", "during"),
                end,
                again,
                read("Peek", "after"),
                _end(ABORT, "u"),
                *drain(3),
            )


def _peeks() -> Iterator[Member]:
    """Yield the peeks at a lookup identifier, from the head and at the cursor: that which names its message first."""
    peeks = [one for one in READS if not receives(one)]
    yield from (one for one in peeks if one.name == "PeekByLookupId")
    yield from (one for one in peeks if not by_lookup(one))


PROPERTIES: Final = {
    name: value
    for name, row in CLASSES["MSMQMessage"].items()
    if row.takes is not None
    and not row.unimplemented
    and name not in _DECIDING | _SECURITY
    and row.slot("get") is not None
    for value in reversed(row.takes.inside())
    if value.value and value != row.initial
}
"""Properties of a message that it is sent with, with a value that a new one does not have."""


def what_is_left(member: Member) -> Iterator[Plan]:
    """Yield a plan in which a read asks for nothing: all else that the message was sent with is there."""
    given = {one.name for one in member.slots[0].arguments}
    names = place(member)
    puts = (call_on(names, name, value, kind="put") for name, value in PROPERTIES.items())
    looks = tuple(call_on(names, name, kind="get") for name in PROPERTIES)
    of_read = tuple(call_on("m", name, kind="get") for name in PROPERTIES if name not in WANTS)
    acts: list[Act] = [*watched()]
    for name in NAMES:
        acts += message(name, body=True)
        acts += (*puts, *looks) if name == names else ()
        acts.append(send(name))
    flags = {want: truth(False) for want in WANTS.values() if want in given}
    yield (*acts, *peeks_at_all(*NAMES), *start(member), read(member, "m", of=of(member), given=flags), *of_read)


def times_that_pass(member: Member) -> Iterator[Plan]:
    """Yield a plan in which a message waits for a while: it shows the times sent, not what is left of them."""
    if member.name not in ("Receive", "Peek"):
        return
    times = {"MaxTimeToReachQueue": long(500), "MaxTimeToReceive": long(1000)}
    puts = tuple(call_on("a", name, value, kind="put") for name, value in times.items())
    looks = tuple(call_on("m", name, kind="get") for name in times)
    yield (*watched(), *message("a"), *puts, send("a"), passes(2_000), read(member), *looks)


CONDITION_FAMILIES: Final = (
    wants_in_transactions,
    wants_in_single_messages,
    wants_one_after_another,
    single_message_stays_gone,
    two_in_a_transaction,
    allowed_peeks,
    what_is_left,
    times_that_pass,
)
"""Functions that yield plans for a read, each for itself."""

DENY_RECEIVE: Final = 1
CURSORS: Final = tuple(long(number) for number in (0, 1, 2))
NO_CURSORS: Final = tuple(long(number) for number in (3, -1, 0x7FFFFFFF))
GETTERS: Final = tuple(member for member in MEMBERS if member.slot("get") is not None and not member.unimplemented)


def getter(member: Member) -> Iterator[Plan]:
    """Yield plans that look at a property of a queue opened in each way, and again when it is closed."""
    look = call_on("q", member.name, kind="get")
    for access in (RECEIVE, SEND, PEEK):
        yield (*queue(), opened(access, "q"), look, call_on("q", "Close"), look)
    yield (
        *queue(),
        call_on("i", "Open", long(RECEIVE), long(DENY_RECEIVE), gives="q"),
        look,
        call_on("q", "Close"),
        look,
    )
    each = {name: call_on(name, member.name, kind="get") for name in ("q", "p", "s")}
    several = (opened(RECEIVE, "q"), each["q"], opened(RECEIVE, "p"), each["p"], opened(SEND, "s"), each["s"])
    yield (*queue(), *several, *each.values(), call_on("p", "Close"), each["q"], each["s"])


def methods() -> Mapping[str, Plan]:
    """Return plans of Close, Reset and Purge by name."""
    three = watched("a", "b", "c")
    plans: dict[str, Plan] = {
        "close": (
            *base("a"),
            call_on("q", "Close"),
            read("Receive"),
            call_on("q", "Reset"),
            call_on("q", "Purge"),
            opened(RECEIVE, "q2"),
        ),
        "close-other": (*three, call_on("q", "Close"), *sweep(3), opened(RECEIVE, "q"), *drain(3)),
        "close-frees": (
            *_exclusive(),
            call_on("q", "Close"),
            opened(RECEIVE, "q2"),
            read("Receive", queue_object="q2"),
        ),
        "close-twice": (*base("a"), call_on("q", "Close"), call_on("q", "Close")),
        "purge": (*three, call_on("q", "Purge"), *sweep(3), read("Receive"), *sent("d"), *drain(1)),
        "purge-empty": (*watched(), call_on("q", "Purge"), *sent("d"), *drain(1)),
        "purge-access": (
            *base("a", access=SEND),
            call_on("q", "Purge"),
            opened(RECEIVE, "q2"),
            read("Peek", queue_object="q2"),
        ),
        "purge-closed-access": (*base("a", access=SEND), call_on("q", "Close"), call_on("q", "Purge")),
        "purge-access-peek": (*base("a", access=PEEK), call_on("q", "Purge"), read("Peek")),
        "purge-locked-commit": (*_locked(), call_on("q", "Purge"), COMMIT, read("Peek", "p")),
        "purge-locked": (*_locked(), call_on("q", "Purge"), read("Peek", "p"), ABORT, read("Peek", "p2")),
    }
    for member in MEMBERS:
        if at_cursor(member) and member.name.startswith("Peek") and "Next" not in member.name:
            moved = (read("PeekCurrent", "p1"), read("PeekNext", "p2"))
            plans[f"reset-{member.name}"] = (*three, *moved, call_on("q", "Reset"), read(member, "again"))
    plans["reset-gone"] = (
        *three,
        read("PeekCurrent", "p"),
        read("Receive", "taken"),
        call_on("q", "Reset"),
        read("PeekCurrent"),
    )
    plans["reset-next"] = (*three, read("PeekCurrent", "p"), call_on("q", "Reset"), read("PeekNext"))
    return plans


def notification() -> Mapping[str, Plan]:
    """Return plans in which EnableNotification is refused before it looks at the event object, by name."""
    nothing = Variant("DISPATCH")
    calls = [
        call_on("q", "EnableNotification", nothing, cursor, AT_ONCE) for cursor in (MISSING, *CURSORS, *NO_CURSORS)
    ]
    blank = create("MSMQQueue", "q")
    return {
        "blank": (blank, *calls),
        "closed": (*queue(), opened(PEEK, "q"), call_on("q", "Close"), *calls),
        "no-event": (*queue(), opened(PEEK, "q"), *calls),
        "no-event-for-sending": (*queue(), opened(SEND, "q"), *calls),
    }


def _exclusive() -> Plan:
    """Return a queue that `q` has for itself: another opening for receiving is refused."""
    alone = call_on("i", "Open", long(RECEIVE), long(DENY_RECEIVE), gives="q")
    return (*queue(), opened(SEND, "s"), *sent("a"), alone, opened(RECEIVE, "refused"))


def _locked() -> Plan:
    taken = read("Receive", "taken", transaction=dispatch("t"))
    return (*watched("a", "b", transactional=True), *BEGIN, taken)
