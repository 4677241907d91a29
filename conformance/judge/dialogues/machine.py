"""The session's state machine as seen by whoever connects (MS-MQQB 3.1.1.1.1, 3.1.5.1 to 3.1.5.8), as a table.

Each state of the implementation meets each kind of packet: `SITUATIONS` is the whole product. What a pair does follows
from three facts: the packet that a state waits for, the packets that an open session takes, and the sentence that
closes the session on any other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Final

from conformance.spec.catalogue import requirement_id


class State(Enum):
    """SessionState of the implementation (MS-MQQB 3.1.1.3.1). The first three are those of an acceptor."""

    WAITING_EC_MSG = "waiting-ec"
    WAITING_CP_MSG = "waiting-cp"
    OPEN = "open"
    WAITING_ECR_MSG = "waiting-ecr"
    WAITING_CPR_MSG = "waiting-cpr"


class Says(Enum):
    """A kind of packet, by what the text makes a difference of."""

    ESTABLISH = "establish"  # a request, or the response to one, that is valid in its turn
    STRANGE_ESTABLISH = "strange-establish"  # it asks for another queue manager, or comes from one
    REFUSED_ESTABLISH = "refused-establish"  # InternalHeader.Flags.CS is set
    PARAMETERS = "parameters"
    SESSION_ACK = "session-ack"
    MISCOUNTED_ACK = "miscounted-ack"  # it counts messages that were not sent
    MISCOUNTED_KEPT = "miscounted-recoverable-ack"  # it counts recoverable messages that were not sent
    USER_MESSAGE = "user-message"
    ORDER_ACK = "order-ack"
    FINAL_ACK = "final-ack"
    UNKNOWN_TYPE = "unknown-type"
    WRONG_SIGNATURE = "wrong-signature"
    WRONG_VERSION = "wrong-version"
    MALFORMED = "malformed"


class Then(Enum):
    """An act of the implementation: it answers with the packet of its state, refuses in its answer, goes on, closes."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    STAYS = "stays"
    CLOSES = "closes"


@dataclass(frozen=True, slots=True)
class Situation:
    """One pair. requirement: the sentence that a wrong reaction breaks. features: what the text distinguishes in it."""

    state: State
    says: Says
    then: Then
    requirement: str
    features: Mapping[str, str]

    @property
    def name(self) -> str:
        """The pair in words that are the same in every version: `waiting-cp/establish`."""
        return f"{self.state.value}/{self.says.value}"


_WAITS: Final = {
    State.WAITING_EC_MSG: Says.ESTABLISH,
    State.WAITING_CP_MSG: Says.PARAMETERS,
    State.WAITING_ECR_MSG: Says.ESTABLISH,
    State.WAITING_CPR_MSG: Says.PARAMETERS,
}
_TURN: Final = requirement_id("MQQB-2.1.1.initialization")
_CS: Final = requirement_id("MQQB-3.1.5.3.1.cs")
_INVALID: Final = requirement_id("MQQB-3.1.5.3.2.invalid-closes")
_MISCOUNTED: Final = requirement_id("MQQB-3.1.5.5.5.counts-closes")
_ANY_STATE: Final = {
    Says.UNKNOWN_TYPE: requirement_id("MQQB-2.2.1.packet-type-closes"),
    Says.WRONG_SIGNATURE: requirement_id("MQQB-3.1.5.1.2.signature-closes"),
    Says.WRONG_VERSION: requirement_id("MQQB-3.1.5.1.2.signature-closes"),
    Says.MALFORMED: requirement_id("MQQB-3.1.5.1.3.malformed-closes"),
}
_OUT_OF_TURN: Final = {
    Says.ESTABLISH: requirement_id("MQQB-3.1.5.3.state-closes"),
    Says.STRANGE_ESTABLISH: requirement_id("MQQB-3.1.5.3.state-closes"),
    Says.REFUSED_ESTABLISH: requirement_id("MQQB-3.1.5.3.state-closes"),
    Says.PARAMETERS: requirement_id("MQQB-3.1.5.4.state-closes"),
    Says.SESSION_ACK: requirement_id("MQQB-3.1.5.5.state-closes"),
    Says.MISCOUNTED_ACK: requirement_id("MQQB-3.1.5.5.state-closes"),
    Says.ORDER_ACK: requirement_id("MQQB-3.1.5.6.state-closes"),
    Says.FINAL_ACK: requirement_id("MQQB-3.1.5.7.state-closes"),
    Says.MISCOUNTED_KEPT: requirement_id("MQQB-3.1.5.5.state-closes"),
    Says.USER_MESSAGE: requirement_id("MQQB-3.1.5.8.state-closes"),
}
_TAKEN_WHEN_OPEN: Final = (Says.SESSION_ACK, Says.USER_MESSAGE, Says.ORDER_ACK, Says.FINAL_ACK)
_INITIATOR: Final = (State.WAITING_ECR_MSG, State.WAITING_CPR_MSG)


def _situation(state: State, says: Says) -> Situation:
    features = {
        "role": "initiator" if state in _INITIATOR else "acceptor",
        "turn": "in" if _WAITS.get(state) is says else "out",
        "packet": "unreadable" if says in _ANY_STATE else "readable",
    }
    then, requirement = _reaction(state, says)
    return Situation(state, says, then, requirement, features)


def _reaction(state: State, says: Says) -> tuple[Then, str]:
    """Return what a pair does and the sentence that says so."""
    if says in _ANY_STATE:
        return Then.CLOSES, _ANY_STATE[says]
    if says in (Says.STRANGE_ESTABLISH, Says.REFUSED_ESTABLISH):
        if state is State.WAITING_ECR_MSG:
            return Then.CLOSES, _INVALID
        if state is State.WAITING_EC_MSG:  # CS of a request is nothing that the receiver looks at (3.1.5.3.1).
            strange = says is Says.STRANGE_ESTABLISH
            return (Then.REFUSES, _CS) if strange else (Then.ANSWERS, _CS)
    if state is State.OPEN:
        if says in (Says.MISCOUNTED_ACK, Says.MISCOUNTED_KEPT):
            return Then.CLOSES, _MISCOUNTED
        if says in _TAKEN_WHEN_OPEN:
            return Then.STAYS, _OUT_OF_TURN[says]
    if _WAITS.get(state) is says:
        return (Then.STAYS if state is State.WAITING_CPR_MSG else Then.ANSWERS), _TURN
    return Then.CLOSES, _OUT_OF_TURN[says]


SITUATIONS: Final[tuple[Situation, ...]] = tuple(_situation(*pair) for pair in product(State, Says))
"""Every state of the implementation with every kind of packet."""


def of_acceptor() -> tuple[Situation, ...]:
    """Return those in which the implementation was connected to."""
    return tuple(one for one in SITUATIONS if one.state not in _INITIATOR)


def of_initiator() -> tuple[Situation, ...]:
    """Return those in which the implementation has connected."""
    return tuple(one for one in SITUATIONS if one.state in _INITIATOR)
