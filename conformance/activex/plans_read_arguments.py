"""Plans of the arguments and conditions of reads, and of opened queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import DIRECT_NAME, LOOKUP, PATH_NAME, Act, Plan, call_on, create, passes
from conformance.activex.plans_reads import (
    AT_ONCE,
    PEEK,
    READS,
    RECEIVE,
    SEND,
    at_cursor,
    base,
    by_lookup,
    dispatch,
    drain,
    message,
    of,
    opened,
    peeks_at_all,
    place,
    queue,
    read,
    receives,
    send,
    sent,
    start,
    steps_on,
    sweep,
    watched,
)
from conformance.activex.tables import CLASSES
from conformance.activex.tables_queue import MEMBERS
from conformance.activex.values import MISSING, Variant, long, text, truth
from conformance.activex.world import WANTS

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


FAMILIES: Final = (transactions, beside_held, identifier_as_text, wants, journals, cursor)
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
