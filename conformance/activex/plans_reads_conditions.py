"""Plans for reads under a second condition: what is asked for, part of a transaction, after another read (3.11.4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import DIRECT_NAME, PATH_NAME, Act, Plan, create, on, passes
from conformance.activex.plans_reads import (
    PEEK,
    READS,
    RECEIVE,
    SEND,
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
from conformance.activex.plans_reads_arguments import ABORT, BEGIN, COMMIT, CONNECTOR
from conformance.activex.received import WANTS
from conformance.activex.tables import CLASSES
from conformance.activex.values import MISSING, Variant, long, text, truth

SINGLE: Final = long(3)
_DECIDING: Final = frozenset({"Label", "Body", "Priority", "MaxTimeToReachQueue", "MaxTimeToReceive"})
"""Properties that tell messages apart, or decide which is read and whether it is there."""
_SECURITY: Final = frozenset({"AuthLevel", "PrivLevel", "SenderCertificate"})
"""Properties that have Send ask for something that not every computer has."""
NAMES: Final = ("a", "b", "c")


def _end(act: Act, name: str) -> Act:
    assert act.call is not None
    return on(name, act.call.member, *act.call.arguments)


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
        acts += [*message(name, body=True), on(name, "ConnectorTypeGuid", CONNECTOR, kind="put")]
        acts.append(send(name, SINGLE if transactional else long(0)))
    return (*acts, *known(*NAMES))


def wants_in_transactions(member: Member) -> Iterator[Plan]:
    """Yield plans in which a receive asks for one property after the other, each in a transaction of its own."""
    if not receives(member):
        return
    acts: list[Act] = [*_connected(transactional=True), create("MSMQTransactionDispenser", "d")]
    each = list(asked(member))
    for at, (getters, flags) in enumerate((*each[:3], each[-1])):
        transaction, gives = f"t{at}", f"m{at}"
        acts += [on("d", "BeginTransaction", gives=transaction), on("q", "Reset"), *start(member)]
        acts.append(read(member, gives, of=of(member), transaction=dispatch(transaction), given=flags))
        acts += [on(gives, one, kind="get") for one in getters]
        acts.append(_end(ABORT, transaction))
    yield tuple(acts)


def wants_in_single_messages(member: Member) -> Iterator[Plan]:
    """Yield plans in which a receive that is a transaction of its own asks for a property."""
    if not receives(member):
        return
    parts: list[Plan] = []
    for at, (getters, flags) in enumerate(list(asked(member))[:3]):
        one = read(member, f"m{at}", of=of(member), transaction=SINGLE, given=flags)
        parts.append((*start(member), one, *(on(f"m{at}", name, kind="get") for name in getters)))
    base = _connected(transactional=True)
    if of(member) is None:  # the next read finds the next message
        yield (*base, *(act for part in parts for act in (on("q", "Reset"), *part)))
    else:
        yield from ((*base, *part) for part in parts)


def wants_one_after_another(member: Member) -> Iterator[Plan]:
    """Yield plans in which reads of one queue object, opened by a format name, ask for different properties."""
    by_name = (create("MSMQQueueInfo", "f"), on("f", "FormatName", text(DIRECT_NAME), kind="put"))
    base = (*_connected(transactional=False), *by_name, opened(RECEIVE, "o", "f"))
    each = list(asked(member))
    if receives(member):
        each = each[:3]
    if receives(member) and by_lookup(member):
        each = each[:1]
    acts: list[Act] = [*base]
    for at, (getters, flags) in enumerate(each):
        acts.append(on("o", "Reset"))
        if steps_on(member):
            acts.append(read("PeekCurrent", f"at{at}", queue_object="o"))
        acts.append(read(member, f"m{at}", queue_object="o", of=of(member), given=flags))
        acts += [on(f"m{at}", one, kind="get") for one in getters]
    yield tuple(acts)


def single_message_stays_gone(member: Member) -> Iterator[Plan]:
    """Yield plans in which a message received alone stays gone: for others, after Close, after a later Abort."""
    if not receives(member):
        return
    taken = read(member, of=of(member), transaction=SINGLE)
    later = (read("Receive", "later", transaction=dispatch("t")), ABORT)
    look = (opened(PEEK, "x"), read("Peek", "head", queue_object="x"), *(_look(name) for name in NAMES))
    yield (*watched(*NAMES, transactional=True), *start(member), taken, *BEGIN, *later, *look, *drain(3))
    yield (*watched(*NAMES, transactional=True), *BEGIN, *start(member), taken, ABORT, on("q", "Close"), *look)


def _look(name: str) -> Act:
    return read("PeekByLookupId", f"look{name}", queue_object="x", of=name)


def two_in_a_transaction(member: Member) -> Iterator[Plan]:
    """Yield plans in which a transaction has a receive and a second operation, in one queue and in two, and ends."""
    if not receives(member):
        return
    taken = read(member, of=of(member), transaction=dispatch("t"))
    other = (
        create("MSMQQueueInfo", "i2"),
        on("i2", "PathName", text(f"{PATH_NAME}-2"), kind="put"),
        on("i2", "Create", truth(True), MISSING),
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
    begin = (*BEGIN, on("d", "BeginTransaction", gives="u"))
    within = dispatch("t")
    both = (
        read(member, "m1", of="a", transaction=within),
        read(member, "m2", of="b", transaction=within),
    )
    looks = tuple(act for peek in _peeks() for act in (on("q", "Reset"), *start(peek), read(peek, "p", of=of(peek))))
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
    puts = (on(names, name, value, kind="put") for name, value in PROPERTIES.items())
    looks = tuple(on(names, name, kind="get") for name in PROPERTIES)
    of_read = tuple(on("m", name, kind="get") for name in PROPERTIES if name not in WANTS)
    acts: list[Act] = [*watched()]
    for name in NAMES:
        acts += message(name, body=True)
        acts += (*puts, *looks) if name == names else ()
        acts.append(send(name))
    flags = {want: truth(False) for want in WANTS.values() if want in given}
    yield (*acts, *known(*NAMES), *start(member), read(member, "m", of=of(member), given=flags), *of_read)


def times_that_pass(member: Member) -> Iterator[Plan]:
    """Yield a plan in which a message waits for a while: it shows the times sent, not what is left of them."""
    if member.name not in ("Receive", "Peek"):
        return
    times = {"MaxTimeToReachQueue": long(500), "MaxTimeToReceive": long(1000)}
    puts = tuple(on("a", name, value, kind="put") for name, value in times.items())
    looks = tuple(on("m", name, kind="get") for name in times)
    yield (*watched(), *message("a"), *puts, send("a"), passes(2_000), read(member), *looks)


FAMILIES: Final = (
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
