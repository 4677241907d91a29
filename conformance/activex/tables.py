"""All members of the classes that have tables, by class, and the states of objects as transition tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.activex import tables_message, tables_queue, tables_queue_info, tables_transactions
from conformance.activex.members import Member


@dataclass(frozen=True, slots=True)
class Transition:
    """A successful call that moves an object. member: `put PathName`, or the name of a method."""

    coclass: str
    source: str
    member: str
    target: str


@dataclass(frozen=True, slots=True)
class States:
    """The states of a class's objects. new: that of an object which the client creates; None: no client creates one.

    refuses: state to the names of the checks that fail in it, whatever the arguments are.
    """

    new: str | None
    others: tuple[str, ...] = ()
    refuses: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def all(self) -> tuple[str, ...]:
        return self.others if self.new is None else (self.new, *self.others)


BLANK, OPENED, CLOSED = "Blank", "Opened", "Closed"
EMPTY, ATTACHED = "Empty", "Attached"
PENDING, COMPLETED = "Pending", "Completed"
UNNAMED, BY_PATH_NAME, BY_FORMAT_NAME = "Unnamed", "Named by path name", "Named by format name"
CREATED, REFRESHED = "Created", "Refreshed"
CLIENT_MADE, RECEIVED = "Made by the client", "Received"

STATES: Final[Mapping[str, States]] = {
    "MSMQQueueInfo": States(
        UNNAMED,
        (BY_PATH_NAME, BY_FORMAT_NAME, CREATED, REFRESHED),
        {UNNAMED: frozenset({"no-name", "no-path-name"}), BY_FORMAT_NAME: frozenset({"no-path-name"})},
    ),
    "MSMQQueue": States(BLANK, (OPENED, CLOSED), {BLANK: frozenset({"blank"}), CLOSED: frozenset({"closed"})}),
    "MSMQMessage": States(CLIENT_MADE, (RECEIVED,), {}),
    "MSMQTransactionDispenser": States("Ready", (), {}),
    "MSMQTransaction": States(EMPTY, (ATTACHED,), {EMPTY: frozenset({"empty"}), ATTACHED: frozenset({"attached"})}),
    "TransactionImpl": States(None, (PENDING, COMPLETED), {}),
}

_NAMED: Final = (UNNAMED, BY_PATH_NAME, BY_FORMAT_NAME, CREATED, REFRESHED)

TRANSITIONS: Final[tuple[Transition, ...]] = (
    *(Transition("MSMQQueueInfo", source, "put PathName", BY_PATH_NAME) for source in _NAMED),
    *(Transition("MSMQQueueInfo", source, "put FormatName", BY_FORMAT_NAME) for source in _NAMED),
    *(Transition("MSMQQueueInfo", source, "Create", CREATED) for source in (BY_PATH_NAME, CREATED, REFRESHED)),
    *(Transition("MSMQQueueInfo", source, "Refresh", REFRESHED) for source in _NAMED[1:]),
    *(Transition("MSMQQueueInfo", source, "Delete", UNNAMED) for source in _NAMED[1:]),
    Transition("MSMQQueue", OPENED, "Close", CLOSED),
    Transition("MSMQTransaction", EMPTY, "InitNew", ATTACHED),
    Transition("TransactionImpl", PENDING, "Commit", COMPLETED),
    Transition("TransactionImpl", PENDING, "Abort", COMPLETED),
)

CREATIONS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("MSMQQueueInfo", "Open"): ("MSMQQueue", OPENED),
    ("MSMQTransactionDispenser", "BeginTransaction"): ("MSMQTransaction", ATTACHED),
}
"""Class and member to the class and the state of the object that the member hands out."""

_TARGETS: Final = {(one.coclass, one.source, one.member): one.target for one in TRANSITIONS}


def after(coclass: str, state: str, member: str) -> str:
    """Return the state of an object after a successful call."""
    return _TARGETS.get((coclass, state, member), state)


def refuses(coclass: str, state: str) -> frozenset[str]:
    """Return the names of the checks that fail in a state."""
    return STATES[coclass].refuses.get(state, frozenset())


MEMBERS: Final[tuple[Member, ...]] = (
    *tables_queue_info.MEMBERS,
    *tables_queue.MEMBERS,
    *tables_message.MEMBERS,
    *tables_transactions.MEMBERS,
)

CLASSES: Final[Mapping[str, Mapping[str, Member]]] = {
    coclass: {member.name: member for member in MEMBERS if member.coclass == coclass}
    for coclass in dict.fromkeys(member.coclass for member in MEMBERS)
}
"""Class to its members by name."""
