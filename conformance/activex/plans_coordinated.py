"""Plans of objects that work in transactions of a coordinator, which mqconform plays.

MC-MQAC 2.2.2.1, 3.7.4.1.1, 3.8.4.1, 3.11.4.1, 3.17.4.1.48, MS-MQMP 3.1.4.13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.library import interfaces
from conformance.activex.members import Member
from conformance.activex.plans import Act, Plan, call_on, create
from conformance.activex.plans_reads import (
    NONE,
    PEEK,
    READS,
    RECEIVE,
    SEND,
    by_lookup,
    dispatch,
    named_by,
    place,
    receives,
)
from conformance.activex.scene_coordinated import CODES, MTS, SINGLE, XA
from conformance.activex.scene_services import driven
from conformance.activex.scenes import CONTEXTS, REQUESTS
from conformance.activex.services import COORDINATED
from conformance.activex.services_plans import opened, queue
from conformance.activex.transactions import DISPENSER
from conformance.activex.values import MISSING, Variant, long, text
from conformance.model.values import replace

X1, X2 = CONTEXTS
MESSAGES: Final = ("a", "b", "c")
COMMIT: Final = call_on("t", "Commit", MISSING, MISSING, MISSING)
ABORT: Final = call_on("t", "Abort", MISSING, MISSING)
ASKED: Final = replace(driven(REQUESTS), gives="$g")
"""A look at what the coordinator was asked. `$g` stands for the identifier of the transaction begun last."""
BEGUN: Final = (create(COORDINATED, "x"), call_on("x", "BeginTransaction", gives="t"), ASKED)
INFORMED: Final = (call_on("t", "ITransaction", kind="get", gives="n"), call_on("n", "GetTransactionInfo"))
RECEIVES: Final = tuple(member for member in READS if receives(member))
HOW: Final[Mapping[str, Variant]] = {"mts": long(MTS), "xa": long(XA), "left-out": MISSING}


def context(identifier: str | None) -> Act:
    return driven("coordinator.context", transaction=identifier)


def refuse(what: str, refused: bool = True) -> Act:
    return driven("coordinator.refuse", what=what, refused=refused)


def told(what: str, identifier: str) -> Act:
    return driven(f"coordinator.{what}", identifier=identifier)


def enlist(identifier: str) -> Act:
    return driven("coordinator.enlist", transaction=identifier)


def sent(name: str, how: Variant) -> Plan:
    return (create("MSMQMessage", name), call_on(name, "Send", dispatch("s"), how))


def taken(member: str, how: Variant, of: str | None = None, gives: str = "m") -> Act:
    """Return a receive or a peek of `q`. of: the message whose lookup identifier is given."""
    row = next(one for one in READS if one.name == member)
    known = {"Transaction": how, "ReceiveTimeout": NONE, "LookupId": text(f"$id{of}")}
    return call_on("q", member, *(known.get(one.name, MISSING) for one in row.slots[0].arguments[:-1]), gives=gives)


def look(of: str | None = None) -> Act:
    """Return a peek at a message, or at the head of the queue."""
    act = taken("Peek", NONE) if of is None else taken("PeekByLookupId", NONE, of)
    return replace(act, object="w", gives=None)


def filled(*names: str) -> Plan:
    """Return a transactional queue, open as `s`, `q` and `w`, with messages, and their lookup identifiers."""
    acts: list[Act] = [*queue("i", transactional=True)]
    acts += [opened("i", SEND, "s"), opened("i", RECEIVE, "q"), opened("i", PEEK, "w")]
    acts += [act for name in names for act in sent(name, long(SINGLE))]
    for at, name in enumerate(names):
        member = "PeekNextByLookupId" if at else "PeekFirstByLookupId"
        acts.append(taken(member, NONE, names[at - 1], f"p{name}"))
        acts.append(call_on(f"p{name}", "LookupId", kind="get", gives=f"$id{name}"))
    return tuple(acts)


def _received(member: Member, how: Variant, *, known: bool) -> Iterator[Plan]:
    """Yield plans in which a receive is made in a context, which is aborted and then committed."""
    wanted = place(member)
    of = named_by(member, wanted) if by_lookup(member) else None
    held = () if member.name.endswith("AllowPeek") else (look(wanted),)
    for end in ((told("abort", X1),), (told("prepare", X1), told("commit", X1))):
        joins = (enlist(X1),) if known else ()
        work = (context(X1), taken(member.name, how, of), context(None), *held)
        yield (*filled(*MESSAGES), *joins, *work, *end, look(wanted))


def _sent(how: Variant, *, known: bool) -> Iterator[Plan]:
    for end in ((told("prepare", X1), told("commit", X1)), (told("abort", X1),)):
        joins = (enlist(X1),) if known else ()
        yield (*filled(), *joins, context(X1), *sent("a", how), context(None), look(), *end, look())


def in_context(*, known: bool) -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of operations in the transaction of their caller, by name. known: the manager is enlisted in it."""
    plans = {
        f"{member.name}-{word}": tuple(_received(member, how, known=known))
        for member in RECEIVES
        for word, how in HOW.items()
    }
    return plans | {f"Send-{word}": tuple(_sent(how, known=known)) for word, how in HOW.items() if how != MISSING}


def beside_context() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans in which an argument, a second context or a refusal decides, by name."""
    mts, own = long(MTS), (create(DISPENSER, "d"), call_on("d", "BeginTransaction", gives="t"))
    ends = (told("abort", X1), look("a"))
    barred = [
        (*filled("a"), refuse(what), context(X1), *doing, look("a"), refuse(what, False), told("abort", X1), look("a"))
        for what in CODES
        for doing in (sent("n", mts), (taken("Receive", mts),))
    ]
    return {
        "argument": (
            (*filled("a"), *own, context(X1), taken("Receive", dispatch("t")), look("a"), *ends, ABORT, look("a")),
        ),
        "alone": ((*filled("a"), context(X1), taken("Receive", long(SINGLE)), look("a"), *ends),),
        "together": tuple(
            (*filled("a"), context(X1), taken("Receive", mts), *sent("n", mts), look(), *end, look("a"), look())
            for end in ((told("abort", X1),), (told("prepare", X1), told("commit", X1)))
        ),
        "two": (
            (
                *filled("a", "b"),
                *(context(X1), taken("Receive", mts), context(X2), taken("Receive", mts), look()),
                *(told("abort", X1), look("a"), look("b"), told("abort", X2), look("b")),
            ),
        ),
        "refused": tuple(barred),
    }


def dispensed() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of transactions that a dispenser begins at the coordinator, by name."""
    again = (call_on("x", "BeginTransaction", gives="u"), ASKED)
    asks = call_on("t", "QueryInterface", text(interfaces()["IMSMQTransaction3"].iid))
    within, held = dispatch("t"), taken("Receive", dispatch("t"))
    return {
        "begun": ((*BEGUN, asks, call_on("t", "ITransaction", kind="get", gives="n"), *again, told("abort", "$g")),),
        "refused": tuple(
            (create(COORDINATED, "x"), refuse(what), begin, refuse(what, False), begin, ASKED, told("abort", "$g"))
            for what in ("begin", "connect")
            for begin in (call_on("x", "BeginTransaction", gives="t"),)
        ),
        "announced": ((*BEGUN, told("prepare", "$g"), told("abort", "$g")),),
        "identified": (
            (*filled("a"), *BEGUN, held, look("a"), told("abort", "$g"), look("a")),
            (*filled("a"), *BEGUN, held, look("a"), told("prepare", "$g"), told("commit", "$g"), look("a")),
            (*filled(), *BEGUN, *sent("n", within), look(), told("prepare", "$g"), told("commit", "$g"), look()),
        ),
        "external": (
            (
                *filled("a", "b"),
                *(*BEGUN, held, call_on("x", "BeginTransaction", gives="u"), driven(REQUESTS)),
                *(taken("Receive", dispatch("u"), gives="m2"), COMMIT, replace(ABORT, object="u"), driven(REQUESTS)),
                *(look("a"), look("b")),
            ),
        ),
    }


def ended() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of Commit, Abort and GetTransactionInfo of a transaction of the coordinator, by name."""
    held = taken("Receive", dispatch("t"))
    plans: dict[str, tuple[Plan, ...]] = {}
    for word, end in (("commit", COMMIT), ("abort", ABORT)):
        before = (*filled("a"), *BEGUN, held, look("a"))
        plans[word] = ((*before, end, driven(REQUESTS), look("a")), (*before, end, end))
        plans[f"{word}-refused"] = tuple(
            (*before, refuse(what), end, look("a"), refuse(what, False), end, driven(REQUESTS), look("a"))
            for what in (word, "connect")
        )
        plans[f"{word}-too-late"] = ((*before, told("abort", "$g"), end, look("a")),)
    plans["information"] = ((*BEGUN, *INFORMED, driven(REQUESTS), ABORT),)
    own = (create(DISPENSER, "d"), call_on("d", "BeginTransaction", gives="t"))
    plans["information-internal"] = ((*own, *INFORMED, ABORT, driven(REQUESTS)),)
    return plans


def enlistments() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans in which the manager cannot take part in a transaction, by what the coordinator refuses."""
    return {
        what: (
            (enlist(X1), refuse(what), enlist(X2), told("prepare", X2), refuse(what, False), enlist(X2)),
            (refuse(what), enlist(X2), refuse(what, False), enlist(X2), told("abort", X2)),
        )
        for what in CODES
    }


def groups() -> Mapping[str, Mapping[str, tuple[Plan, ...]]]:
    """Return all plans by group and name."""
    return {
        "known": in_context(known=True),
        "unknown": in_context(known=False),
        "beside": beside_context(),
        "dispensed": dispensed(),
        "ended": ended(),
        "enlistments": enlistments(),
    }
