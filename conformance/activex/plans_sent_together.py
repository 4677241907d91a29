"""Plans of what several sends leave: in one transaction, in two queues, through two objects of one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.plans import Act, Plan, create, on
from conformance.activex.plans_queue_info import PATH, RECEIVE, SEND, get, new, opened, path, put
from conformance.activex.plans_queue_info import make as make_queue
from conformance.activex.plans_send import (
    CONNECTED,
    CONNECTOR,
    GETTERS,
    QUEUE,
    SET,
    TRANSACTIONAL,
    message,
    peek,
    receive,
    send,
)
from conformance.activex.values import MISSING, Variant, long, text, truth

SECOND: Final[Plan] = (
    new("b"),
    path("b", f"{PATH}-b"),
    make_queue("b", truth(True)),
    on("b", "Refresh"),
    opened("b", "s2", SEND),
    opened("b", "q2", RECEIVE),
)
BEGIN: Final[Plan] = (create("MSMQTransactionDispenser", "d"), on("d", "BeginTransaction", gives="t"))
ATTACH: Final[Plan] = (
    on("t", "ITransaction", kind="get", gives="i"),
    create("MSMQTransaction", "u"),
    on("u", "InitNew", Variant("UNKNOWN", "i")),
)
ARGUMENTS: Final = {"Commit": (MISSING,) * 3, "Abort": (MISSING,) * 2}


def _labelled(name: str, to: str, how: str) -> Plan:
    return (message(name), put(name, "Label", text(name)), send(name, to, Variant("DISPATCH", how)))


def _looks() -> Plan:
    return (receive(), receive("x"), receive("y", "q2"), *get("r", "Label"), *get("x", "Label"), *get("y", "Label"))


def together() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of transactions with sends to one and to two queues, ended by each object that stands for them."""
    plans: dict[str, tuple[Plan, ...]] = {}
    for member, arguments in ARGUMENTS.items():
        word = member.lower()
        base = (*TRANSACTIONAL, *SECOND, *BEGIN)
        end = on("t", member, *arguments)
        two = (*_labelled("m", "s", "t"), *_labelled("n", "s2", "t"))
        plans[f"{word}-two-queues"] = ((*base, *two, receive("w"), receive("v", "q2"), end, *_looks()),)
        three = (*two, *_labelled("o", "s", "t"))
        plans[f"{word}-three"] = ((*base, *three, receive("w"), end, *_looks()),)
        by_other = on("u", member, *arguments)
        both = (*_labelled("m", "s", "t"), *_labelled("n", "s", "u"))
        plans[f"{word}-attached"] = tuple(_attached(base, both, end, by_other))
        first = (on("d", "BeginTransaction", gives="v"), *_labelled("m", "s", "t"), *_labelled("n", "s2", "v"))
        plans[f"{word}-one-of-two"] = ((*base, *first, end, receive(), *get("r", "Label"), receive("y", "q2")),)
    return plans


def _attached(base: Plan, sends: Plan, *ends: Act) -> Iterator[Plan]:
    for end in ends:
        yield (*base, *ATTACH, *sends, receive("w"), end, receive(), receive("x"))


def times() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of what is shown of a message before any send, and after a second."""
    again = (message(), send(), *get("m", *SET), send(), *get("m", *SET))
    looks = (receive(), *get("r", *SET, "ArrivedTime"), receive("x"), *get("x", *SET, "ArrivedTime"), *get("m", *SET))
    peeked = (peek(), *get("p", *GETTERS), receive(), *get("r", *GETTERS), *get("p", *GETTERS))
    puts = (put("m", "ConnectorTypeGuid", CONNECTOR), *(put("m", name, value) for name, value in CONNECTED.items()))
    waiting = (put("m", "MaxTimeToReachQueue", long(100)), put("m", "MaxTimeToReceive", long(200)))
    plain = (put("m", "Label", text("a")), put("m", "Body", text("b")))
    attach = on("m", "AttachCurrentSecurityContext2")
    return {
        "peeked-nothing-put": ((*QUEUE, message(), send(), *peeked),),
        "peeked-label-and-body": ((*QUEUE, message(), *plain, *waiting, send(), *peeked),),
        "peeked-connected": ((*QUEUE, message(), *puts, send(), *peeked),),
        "peeked-attached": ((*QUEUE, message(), attach, send(), *peeked),),
        "sent-twice": ((*QUEUE, *again, *looks),),
        "received-nothing-put": ((*QUEUE, message(), send(), receive(), *get("r", *reversed(GETTERS))),),
    }


def groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by name."""
    return {**together(), **times()}
