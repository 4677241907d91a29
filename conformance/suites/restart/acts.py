"""The acts that must last: what is there before each, the act itself, and where its effect shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.histories.examples import (
    TARGET_JOURNAL,
    abort,
    begin_transaction,
    commit,
    opened,
    peek,
    receive,
    receives,
    send,
)
from conformance.model import Call
from conformance.suites.concurrency.running import NEEDS
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.harness.port import Port

TRANSACTIONS: Final = ("transactions.begin", "transactions.commit")
TWO_PHASES: Final = ("messages.receive_begin", "messages.receive_end")
SUBQUEUE: Final = "q1;one"
SURVIVES: Final = "MQDMPR-3.1.1.12.recoverable-survives"
PERSISTENT: Final = "MQDMPR-3.1.1.11.recoverable-persistent"
ONCE: Final = "MQDMPR-3.1.1.12.received-not-redelivered"
DURABLE: Final = "MQDMPR-3.1.4.4.durable"
ATTRIBUTES: Final = "MQDMPR-3.1.1.2.private-attributes-persistent"
KILL: Final = Call("restart", kill=True)
FORMER: Final[Mapping[str, Json]] = {"PROPID_Q_LABEL": "former", "PROPID_Q_QUOTA": 55, "PROPID_Q_JOURNAL": 0}
LATER: Final[Mapping[str, Json]] = {"PROPID_Q_LABEL": "orders", "PROPID_Q_QUOTA": 77, "PROPID_Q_JOURNAL": 1}


@dataclass(frozen=True, slots=True)
class Act:
    """An act on `q1`, which is open for send as `s` and for receive as `r`.

    before: calls that write what it works on. ready: calls of the same life of the manager without which it is not
    possible. making: how `q1` is made; None where the act makes it. left: where it shows what has become of messages.
    look: calls that show it otherwise, before these. needs: methods beside those of every act. shows: requirements.
    """

    name: str
    call: Call
    shows: tuple[str, ...]
    before: tuple[Call, ...] = ()
    ready: tuple[Call, ...] = ()
    needs: tuple[str, ...] = ()
    making: Call | None = field(default=Call("queues.create", queue="q1"))
    left: tuple[str, ...] = ("q1",)
    look: tuple[Call, ...] = ()
    renamed: Callable[[Call], Call] = field(default=lambda call: call)

    def start(self) -> tuple[Call, ...]:
        """Return the calls that make and open the queue, and write."""
        return (*(() if self.making is None else (self.making,)), *self.opens(), *self.before)

    def opens(self) -> tuple[Call, ...]:
        """Return the calls that open the queue, at first and after a restart."""
        return () if self.making is None else tuple(map(self.renamed, opened()))

    def end(self) -> tuple[Call, ...]:
        """Return the calls that look at everything after a restart."""
        return (*self.look, *(call for place in self.left for call in drain(place)))

    def twin(self) -> Act:
        """Return the same act on another queue, with other messages, handles and transactions."""
        return replace(
            self,
            call=_renamed(self.call),
            before=tuple(map(_renamed, self.before)),
            ready=tuple(map(_renamed, self.ready)),
            making=None if self.making is None else _renamed(self.making),
            left=tuple(map(_other, self.left)),
            look=tuple(map(_renamed, self.look)),
            renamed=_renamed,
        )


OTHER: Final = (
    Call("queues.create", queue="q2"),
    Call("queues.open", name="s2", queue="q2", access="send"),
    Call("messages.send", message="o", handle="s2", delivery="recoverable"),
)
"""These calls write what has to stay, whatever the act."""


def drain(place: str) -> tuple[Call, ...]:
    """Return the calls that open a queue and receive all it may have."""
    return (Call("queues.open", name=f"e-{place}", queue=place, access="receive"), *receives(f"e-{place}", 4))


def need_kills(mq: Port, mq_need: Callable[..., None], *methods: str) -> None:
    """Skip if the driver lacks a method, or if the connection does not keep the state."""
    mq_need(*NEEDS, *methods)
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")


_NAMING: Final = ("name", "queue", "handle", "message", "transaction", "destination", "read")


def _other(name: str) -> str:
    return name.replace("q1", "q3") if "q1" in name else f"{name}3"


def _renamed(call: Call) -> Call:
    given = ((name, getattr(call, name)) for name in _NAMING)
    others: dict[str, Any] = {name: _other(value) for name, value in given if value is not None}
    return replace(call, **others)


def _kept(*messages: str) -> tuple[Call, ...]:
    return tuple(send(message, delivery="recoverable") for message in messages)


def _committed(*messages: str) -> tuple[Call, ...]:
    """Send each in a transaction of its own."""
    return tuple(
        call
        for message in messages
        for call in (begin_transaction(f"t{message}"), send(message, within=f"t{message}"), commit(f"t{message}"))
    )


def _moves(message: str, within: str | None = None) -> Call:
    return Call("messages.move", message=message, handle="r", destination="m1", transaction=within)


def _begins(name: str) -> Call:
    return Call("messages.receive_begin", name=name, handle="r")


def _ends(name: str, *, deletes: bool) -> Call:
    return Call("messages.receive_end", read=name, acknowledge=deletes)


_MOVING: Final = (Call("queues.open", name="m1", queue=SUBQUEUE, access="move"), peek())
_TRANSACTIONAL: Final = Call("queues.create", queue="q1", transactional=True)
_IN_TRANSACTION: Final = Act("", commit("t1"), (DURABLE,), making=_TRANSACTIONAL, needs=TRANSACTIONS)

ACTS: Final = (
    Act("create", Call("queues.create", queue="q1"), (ATTRIBUTES,), making=None),
    Act(
        "delete",
        Call("queues.delete", queue="q1"),
        ("MQDMPR-3.1.7.1.5.not-found", "MQDMPR-3.1.7.1.4.removed", "MQDMPR-3.1.7.1.4.messages-deleted"),
        _kept("a", "b"),
        needs=("queues.delete",),
        look=(
            Call("queues.open", name="gone", queue="q1", access="receive"),
            Call("queues.create", queue="q1"),
        ),
    ),
    Act(
        "set",
        Call("queues.set", queue="q1", values=tuple(LATER.items())),
        (ATTRIBUTES,),
        needs=("queues.set", "queues.get"),
        making=Call("queues.create", queue="q1", values=tuple(FORMER.items())),
        look=(Call("queues.get", queue="q1", names=tuple(LATER)),),
    ),
    Act("send", _kept("b")[0], (SURVIVES,), _kept("a")),
    Act("receive", receive(), (ONCE, SURVIVES), _kept("a", "b")),
    Act(
        "receive with a copy",
        receive(),
        (ONCE, "MQDMPR-3.1.1.2.system-queues-kept"),
        _kept("a", "b"),
        needs=("reset",),
        making=Call("queues.create", queue="q1", journaling=True),
        left=(TARGET_JOURNAL, "q1"),
    ),
    Act(
        "receive by lookup identifier",
        Call("messages.receive_by_lookup_id", handle="r", message="a", action="current"),
        (ONCE,),
        _kept("a", "b"),
        (peek(),),
        ("messages.receive_by_lookup_id", "messages.peek"),
    ),
    Act(
        "acknowledge",
        _ends("b1", deletes=True),
        (ONCE, SURVIVES),
        _kept("a", "b", "c"),
        (_begins("b1"), _begins("b2"), _ends("b2", deletes=False)),
        TWO_PHASES,
    ),
    Act(
        "move",
        _moves("a"),
        (SURVIVES, PERSISTENT),
        _kept("a", "b"),
        _MOVING,
        ("messages.move", "messages.peek"),
        left=(SUBQUEUE, "q1"),
    ),
    Act("purge", Call("queues.purge", handle="r"), (PERSISTENT,), _kept("a", "b"), needs=("queues.purge",)),
    replace(
        _IN_TRANSACTION,
        name="commit of sends",
        ready=(begin_transaction("t1"), send("a", within="t1"), send("b", within="t1")),
    ),
    replace(
        _IN_TRANSACTION,
        name="commit of receives",
        before=_committed("a", "b", "c"),
        ready=(begin_transaction("t1"), receive(within="t1"), receive(within="t1")),
    ),
    replace(
        _IN_TRANSACTION,
        name="commit of a move",
        before=_committed("a", "b"),
        ready=(
            *_MOVING,
            *(begin_transaction("t1"), _moves("a", "t1"), peek()),
            *(begin_transaction("t2"), _moves("b", "t2")),
        ),
        needs=(*TRANSACTIONS, "messages.move", "messages.peek"),
        left=(SUBQUEUE, "q1"),
    ),
    replace(
        _IN_TRANSACTION,
        name="abort",
        call=abort("t1"),
        shows=(DURABLE, "MQDMPR-3.1.3.uncommitted-send-lost"),
        before=_committed("a", "b"),
        ready=(begin_transaction("t1"), receive(within="t1"), send("c", within="t1")),
        needs=(*TRANSACTIONS, "transactions.abort"),
    ),
)
