"""The faults of a network as a table: fault, place in the packet, packet, role and state of the implementation.

`SITUATIONS` is the whole product; `excluded` tells of each row that no walk brings about why it need not. The places
are classes of bytes: between two of them nothing in the text of MS-MQQB 2.2 and MS-MQMQ 2.2.19 and 2.2.20 changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Final

from conformance.judge.dialogues.machine import State
from conformance.wire import dissect

METHOD: Final = "sessions.faults"
"""The name of the table among the operations of `situations list`."""
FEATURES: Final = ("fault", "place", "packet", "role", "state")


class Fault(Enum):
    """A thing that happens to a packet on its way."""

    NONE = "none"
    CUT = "cut"  # the connection ends with a FIN
    RESET = "reset"  # the connection ends with a RST
    HALF = "half-close"  # this end's direction ends, the other one stays
    DELAY = "delay"  # the rest of the packet comes later
    SPLIT = "split"  # the packet comes in two pieces
    DOUBLE = "double"  # the packet comes twice
    REORDER = "reorder"  # the packet behind it comes first
    AGAIN = "again"  # all that was sent is sent again on another connection


class Place(Enum):
    """How much of a packet has been sent when the fault happens."""

    BEFORE = "before"
    FIRST_BYTE = "first-byte"
    WITHIN_BASE = "within-the-base-header"
    BEHIND_BASE = "behind-the-base-header"
    WITHIN_SECOND = "within-the-second-header"
    BEHIND_SECOND = "behind-the-second-header"
    WITHIN_THIRD = "within-the-third-header"
    BEHIND_THIRD = "behind-the-third-header"
    WITHIN_FOURTH = "within-the-fourth-header"
    BEHIND_FOURTH = "behind-the-fourth-header"
    WITHIN_BODY = "within-the-body"
    ALL_BUT_ONE = "all-but-the-last-byte"
    BEHIND = "behind"


class Kind(Enum):
    """A packet of this end, by what the text makes a difference of when it is lost or comes twice."""

    ESTABLISH = "establish"
    PARAMETERS = "parameters"
    SESSION_ACK = "session-ack"
    EXPRESS = "express"
    RECOVERABLE = "recoverable"
    TRANSACTIONAL = "transactional"
    ORDER_ACK = "order-ack"
    FINAL_ACK = "final-ack"


MESSAGES: Final = (Kind.EXPRESS, Kind.RECOVERABLE, Kind.TRANSACTIONAL)
ENDING: Final = (Fault.CUT, Fault.RESET, Fault.HALF)
"""Faults after which nothing more goes out on the connection."""
_PARTED: Final = (*ENDING, Fault.DELAY, Fault.SPLIT)
_INTERNAL: Final = (Kind.ESTABLISH, Kind.PARAMETERS, Kind.SESSION_ACK)
_HEADERS: Final = {
    **dict.fromkeys(_INTERNAL, 3),
    **dict.fromkeys(MESSAGES, 3),
    Kind.TRANSACTIONAL: 4,
    Kind.ORDER_ACK: 3,
    Kind.FINAL_ACK: 3,
}
_ROLES: Final = ("acceptor", "initiator")
_OF_ACCEPTOR: Final = (State.WAITING_EC_MSG, State.WAITING_CP_MSG, State.OPEN)
_OF_INITIATOR: Final = (State.WAITING_ECR_MSG, State.WAITING_CPR_MSG, State.OPEN)
_TURNS: Final = {
    State.WAITING_EC_MSG: (Kind.ESTABLISH,),
    State.WAITING_CP_MSG: (Kind.PARAMETERS,),
    State.WAITING_ECR_MSG: (Kind.ESTABLISH,),
    State.WAITING_CPR_MSG: (Kind.PARAMETERS,),
    State.OPEN: tuple(kind for kind in Kind if kind not in (Kind.ESTABLISH, Kind.PARAMETERS)),
}


@dataclass(frozen=True, slots=True)
class Situation:
    """One row. role, state: those of the implementation, as in `machine`."""

    fault: Fault
    place: Place
    kind: Kind
    role: str
    state: State

    @property
    def name(self) -> str:
        """The row in words that are the same in every version: `cut/first-byte/express/acceptor/open`."""
        return "/".join((self.fault.value, self.place.value, self.kind.value, self.role, self.state.value))

    @property
    def values(self) -> dict[str, str]:
        """The features with their values."""
        return dict(zip(FEATURES, self.name.split("/"), strict=True))


def has_body(kind: Kind) -> bool:
    """Tell whether a packet has a body behind its headers."""
    return kind not in _INTERNAL


def has(kind: Kind, place: Place) -> bool:
    """Tell whether a packet of this kind has such a place."""
    headers = _HEADERS[kind]
    if place is Place.WITHIN_BODY:
        return has_body(kind)
    if place is Place.WITHIN_FOURTH:
        return headers >= 4
    if place is Place.BEHIND_THIRD:  # behind the last header of a packet without a body, all of it is sent
        return headers > 3 or has_body(kind)
    if place is Place.BEHIND_FOURTH:
        return headers >= 4 and has_body(kind)
    return True


def excluded(one: Situation) -> str | None:
    """Return why no walk brings a situation about; None if walks do. The first reason that holds."""
    of_role = _OF_ACCEPTOR if one.role == "acceptor" else _OF_INITIATOR
    if one.state not in of_role:
        return "a session of this role has no such state (3.1.1.1.1)"
    if one.kind not in _TURNS[one.state]:
        return "out of its turn the packet ends the session, whole or not: the table of states has it"
    if one.role == "initiator" and one.state is State.OPEN and one.kind is not Kind.SESSION_ACK:
        return "an open session takes it alike in both roles (3.1.5.6 to 3.1.5.8): an acceptor's has it"
    if one.fault is Fault.NONE:
        return "nothing happens to the packet: the cases of the other tests have it"
    if not has(one.kind, one.place):
        return "the packet has no such place"
    return _of_fault(one)


def _of_fault(one: Situation) -> str | None:
    if one.fault not in _PARTED:
        return _of_whole(one)
    inside = one.place not in (Place.BEFORE, Place.BEHIND)
    if one.fault not in ENDING and not inside:
        return "a pause between packets is a wait, and no fault"
    first = Kind.EXPRESS if (one.role, one.state) == ("acceptor", State.OPEN) else _TURNS[one.state][0]
    if one.place is Place.BEFORE and one.kind is not first:
        return "no byte of the packet is sent, so that its kind makes no difference"
    return None


def _of_whole(one: Situation) -> str | None:
    if one.place is not Place.BEHIND:
        return "it happens to a whole packet"
    if one.fault is Fault.DOUBLE:
        return None
    if one.fault is Fault.AGAIN:
        return None if one.kind in MESSAGES else "only messages are sent again on another session (3.1.6.1)"
    if one.kind in MESSAGES:
        return None
    if one.state is not State.OPEN:
        return "the packet behind it is out of its turn: the table of states has it"
    if one.kind is Kind.SESSION_ACK:
        return "it counts a message that has not come (3.1.5.5.5): the table of states has it"
    return "two of them are told apart by nothing, as they are about no message of the implementation"


SITUATIONS: Final[tuple[Situation, ...]] = tuple(
    Situation(*row) for row in product(Fault, Place, Kind, _ROLES, State) if row[0] is not Fault.NONE
)
"""Every fault at every place of every packet in every state."""


@cache
def situations() -> tuple[Situation, ...]:
    """Return the situations that walks bring about."""
    return tuple(one for one in SITUATIONS if excluded(one) is None)


def offset(data: bytes, place: Place) -> int:
    """Return how many bytes of a whole packet are sent up to a place that it has."""
    if place in (Place.BEFORE, Place.BEHIND):
        return 0 if place is Place.BEFORE else len(data)
    if place is Place.FIRST_BYTE:
        return 1
    if place is Place.ALL_BUT_ONE:
        return len(data) - 1
    ends = _ends(data)
    words = ("base", "second", "third", "fourth", "body")
    within, _, at = place.value.partition("-the-")
    header = words.index(at.removesuffix("-header"))
    if place is Place.WITHIN_BODY:
        header = len(ends) - 1
    start = ends[header - 1] if header else 0
    return ends[header] if within == "behind" else (start + ends[header]) // 2


def _ends(data: bytes) -> list[int]:
    """Return where the headers of a packet end, and its body if it has one."""
    packet = dissect(data)
    spans = [span for key, span in packet.spans.items() if "." not in key]
    bodies = ("MessagePropertiesHeader.MessageBody", "OrderAckBody", "FinalAckBody")
    body = next((packet.spans[key][0] for key in bodies if key in packet.spans), None)
    starts = sorted({start for start, _ in spans} | ({body} if body is not None else set()))
    return [*starts[1:], len(data)]
