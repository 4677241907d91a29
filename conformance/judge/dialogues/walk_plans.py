"""Walks over a network with faults: the table of faults, acts as pure functions, claims, and planned walks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from itertools import product
from typing import Any, Final

from conformance.judge.dialogues.machine import State
from conformance.judge.dialogues.walk_judge import (
    ACCEPTED,
    ARRIVED,
    CONNECTS,
    COUNTED,
    DISCONNECT,
    DUPLICATE,
    LISTENS,
    ORDERED,
    TOLD,
    TURN,
)
from conformance.judge.sessions.opening import STATE_CLOSES
from conformance.spec.catalogue import requirement_id
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


MOST_MESSAGES: Final = 30
"""Messages of a walk: fewer than a window has, so that no end has to wait for the other one."""


class Does(Enum):
    """The kinds of acts."""

    CONNECT = "connect"
    OPEN = "open"  # connect, and open the session without faults
    SEND = "send"
    CLOSE = "close"
    PING = "ping"
    WAIT = "wait"  # longer than an acknowledgment takes
    SETTLE = "settle"  # send what is left, and wait until all of it is acknowledged
    ACCEPT = "accept"  # take the connection that the implementation makes to deliver its words


class Offer(Enum):
    """The parameters that are proposed for a session. Recoverable messages are always acknowledged in 500 ms."""

    USUAL = "usual"
    PATIENT = "patient"  # the longest AckTimeout, the smallest window
    WIDE = "wide"  # the largest window


@dataclass(frozen=True, slots=True)
class Act:
    """One step. kind, fault, place: of the packet, for SEND and ACCEPT. how: of CLOSE, `close` or `reset`.

    long: a delay until what was sent before has been acknowledged. The next message to send is the first one that is
    not known to have come, and one of this kind if there is none.
    """

    does: Does
    kind: Kind = Kind.EXPRESS
    fault: Fault = Fault.NONE
    place: Place = Place.BEHIND
    how: str = "close"
    long: bool = False
    offer: Offer = Offer.USUAL

    @property
    def sentence(self) -> str:
        """The act in words."""
        if self.does is Does.OPEN:
            return f"open a session ({self.offer.value})"
        if self.does is Does.CLOSE:
            return f"{self.how} the connection"
        if self.does not in (Does.SEND, Does.ACCEPT):
            return str(self.does.value)
        doing = "send" if self.does is Does.SEND else "take the implementation's connection, and answer with"
        happens = "" if self.fault is Fault.NONE else f": {self.fault.value} {self.place.value.replace('-', ' ')}"
        return f"{doing} {self.kind.value}{happens}"

    def to_json(self) -> dict[str, Any]:
        """Return the act as JSON, without what it does not use."""
        found: dict[str, Any] = {"does": self.does.value}
        if self.does in (Does.SEND, Does.ACCEPT):
            found |= {"kind": self.kind.value, "fault": self.fault.value, "place": self.place.value}
            found |= {"long": True} if self.long else {}
        if self.does is Does.OPEN:
            found["offer"] = self.offer.value
        if self.does is Does.CLOSE:
            found["how"] = self.how
        return found

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Act:
        """Read what `to_json` wrote. Raises ValueError for an unknown word."""
        plain = cls(Does(raw["does"]))
        return replace(
            plain,
            kind=Kind(raw.get("kind", plain.kind.value)),
            fault=Fault(raw.get("fault", plain.fault.value)),
            place=Place(raw.get("place", plain.place.value)),
            how=str(raw.get("how", plain.how)),
            long=bool(raw.get("long")),
            offer=Offer(raw.get("offer", plain.offer.value)),
        )


@dataclass(frozen=True, slots=True)
class Stand:
    """The knowledge of this end between two acts.

    link: state of the implementation on the connection that is in use, None without one. out: the kinds of the messages
    so far, in the order of their numbers. at: index of the next one to send. settled: so many are known to have come.
    tried: so many have been sent as a whole on any connection, and may have come.
    skewed: on this connection both ends may count differently, because something came twice or out of turn. owes: the
    implementation has a recoverable word to deliver, which nobody has acknowledged.
    """

    link: State | None = None
    out: tuple[Kind, ...] = ()
    at: int = 0
    settled: int = 0
    tried: int = 0
    skewed: bool = False
    owes: bool = False


def due(stand: Stand, act: Act) -> Kind:
    """Return the kind of packet that an act sends: of a message that waits to be sent again, or as the act has it."""
    if act.kind in MESSAGES and stand.at < len(stand.out):
        return stand.out[stand.at]
    return act.kind


def sensible(stand: Stand, act: Act) -> bool:
    """Tell whether an act can be done in a state."""
    if act.does in (Does.CONNECT, Does.OPEN):
        return stand.link is None
    if act.does is Does.CLOSE:
        return stand.link is not None
    if act.does is Does.ACCEPT:
        return stand.owes and row(stand, act) is not None
    if act.does is Does.SETTLE:
        return stand.link is State.OPEN and len(stand.out) < MOST_MESSAGES
    if act.does in (Does.PING, Does.WAIT):
        return True
    if stand.link is None:
        return False
    new = act.kind in MESSAGES and stand.at == len(stand.out)
    if new and len(stand.out) + 2 > MOST_MESSAGES:
        return False
    if act.fault in (Fault.REORDER, Fault.AGAIN) and not new:
        return False
    if act.kind is Kind.SESSION_ACK and (stand.skewed or stand.link is not State.OPEN):
        return False
    if act.fault is Fault.NONE:
        opening = {State.WAITING_EC_MSG: Kind.ESTABLISH, State.WAITING_CP_MSG: Kind.PARAMETERS}.get(stand.link)
        return act.kind is opening if opening else act.kind not in (Kind.ESTABLISH, Kind.PARAMETERS)
    return row(stand, act) is not None


def row(stand: Stand, act: Act) -> Situation | None:
    """Return the situation that an act brings about in a state; None if it is none that walks bring about."""
    kind = due(stand, act)
    if act.does is Does.ACCEPT:
        states = {Kind.ESTABLISH: State.WAITING_ECR_MSG, Kind.PARAMETERS: State.WAITING_CPR_MSG}
        found = Situation(act.fault, act.place, kind, "initiator", states.get(kind, State.OPEN))
    elif stand.link is None:
        return None
    else:
        found = Situation(act.fault, act.place, kind, "acceptor", stand.link)
    return found if excluded(found) is None else None


def touched(act: Act) -> tuple[Kind, ...]:
    """Return the packets of one taken connection that a fault happens to: one that stays open shows it on all."""
    if act.fault not in (Fault.DELAY, Fault.SPLIT):
        return (act.kind,)
    opening = (Kind.ESTABLISH, Kind.PARAMETERS, Kind.SESSION_ACK)
    return tuple(kind for kind in opening[opening.index(act.kind) :] if has(kind, act.place))


def after(stand: Stand, act: Act) -> Stand:
    """Return the state behind an act that is sensible in it."""
    if act.does in (Does.CONNECT, Does.OPEN):
        state = State.WAITING_EC_MSG if act.does is Does.CONNECT else State.OPEN
        return replace(stand, link=state, at=stand.settled, skewed=False)
    if act.does is Does.CLOSE:
        return _closed(stand)
    if act.does is Does.SETTLE:
        out = (*stand.out, Kind.RECOVERABLE)
        return replace(stand, out=out, at=len(out), settled=len(out), tried=len(out), owes=False)
    if act.does is Does.WAIT:  # whatever the implementation delivers meanwhile is acknowledged
        return replace(stand, owes=False)
    if act.does is Does.ACCEPT:  # once an acknowledgment may have come as a whole, nothing need be left to deliver
        whole = Kind.SESSION_ACK in touched(act) and (act.fault not in ENDING or act.place is Place.BEHIND)
        return replace(stand, owes=stand.owes and not whole)
    if act.does is not Does.SEND:
        return stand
    if act.fault in ENDING:
        whole = act.kind in MESSAGES and act.place is Place.BEHIND
        begun = _begun(stand, act)
        return _closed(replace(begun, tried=max(begun.tried, begun.at + 1)) if whole else begun)
    if act.kind in (Kind.ESTABLISH, Kind.PARAMETERS):
        if act.fault is Fault.DOUBLE:  # the second one is out of its turn
            return _closed(stand)
        return replace(stand, link=State.WAITING_CP_MSG if act.kind is Kind.ESTABLISH else State.OPEN)
    if act.kind not in MESSAGES:
        return replace(stand, skewed=True) if act.kind is not Kind.SESSION_ACK else stand
    before = replace(stand, owes=stand.owes and not act.long)
    return _sent(_begun(before, act), act)


def _begun(stand: Stand, act: Act) -> Stand:
    """Add the messages that an act makes."""
    if act.kind not in MESSAGES or stand.at < len(stand.out):
        return stand
    return replace(stand, out=stand.out + (act.kind,) * (2 if act.fault is Fault.REORDER else 1))


def _sent(stand: Stand, act: Act) -> Stand:
    kind = due(stand, act)
    if act.fault is Fault.AGAIN:  # a recoverable message before it has all acknowledged, and all goes out again
        out = (*stand.out, Kind.RECOVERABLE)
        every = len(out)
        return replace(stand, out=out, at=every, settled=every, tried=every, skewed=True, owes=False)
    skewed = stand.skewed or stand.at < stand.tried or act.fault is Fault.DOUBLE
    owes = stand.owes or (kind is not Kind.EXPRESS and stand.at >= stand.tried)
    if act.fault is Fault.REORDER:
        first = kind is not Kind.TRANSACTIONAL  # of a transaction, the second one is not accepted, and is to come again
        at, skewed = stand.at + 1 + first, skewed or not first
        return replace(stand, at=at, tried=max(stand.tried, stand.at + 2), skewed=skewed, owes=owes)
    return replace(stand, at=stand.at + 1, tried=max(stand.tried, stand.at + 1), skewed=skewed, owes=owes)


def _closed(stand: Stand) -> Stand:
    return replace(stand, link=None, at=stand.settled, skewed=False)


def steps_of(acts: Iterable[Act]) -> Iterator[tuple[Stand, Act]]:
    """Yield each act that makes sense, with the state before it."""
    stand = Stand()
    for act in acts:
        if sensible(stand, act):
            yield stand, act
            stand = after(stand, act)


def situations_met(acts: Iterable[Act]) -> set[Situation]:
    """Return the situations that a walk brings about."""
    found: set[Situation] = set()
    for stand, act in steps_of(acts):
        kinds = touched(act) if act.does is Does.ACCEPT else (act.kind,)
        if act.does in (Does.SEND, Does.ACCEPT):
            found.update(one for kind in kinds if (one := row(stand, replace(act, kind=kind))) is not None)
    return found


def choices(stand: Stand, *, accepts: bool) -> list[Act]:
    """Return the acts that make sense in a state, for a walk of chance. accepts: the implementation connects soon.

    What opens a session and sends without a fault is there several times: a walk of faults alone gets nowhere.
    """
    opened = [Act(Does.OPEN, offer=offer) for offer in Offer]
    plain = [Act(Does.SEND, kind) for kind in Kind]
    faults = [
        Act(Does.SEND, one.kind, one.fault, one.place, long=one.fault is Fault.DELAY and one.place is Place.ALL_BUT_ONE)
        for one in situations()
        if one.role == "acceptor" and one.state is stand.link
    ]
    taken = [Act(Does.ACCEPT, one.kind, one.fault, one.place) for one in situations() if one.role == "initiator"]
    others = [
        Act(Does.PING),
        Act(Does.WAIT),
        Act(Does.SETTLE),
        Act(Does.CLOSE),
        Act(Does.CLOSE, how="reset"),
        Act(Does.CONNECT),
    ]
    weight = max(1, len(faults) // max(1, len(plain)))
    every = [*opened * 2, *others, *plain * weight, *faults, *(taken[:: max(1, len(taken) // 8)] if accepts else ())]
    return [act for act in every if sensible(stand, act)]


WERE_SENT: Final = requirement_id("MQQB-3.1.1.6.1.acknowledged-were-sent")
RECOVERABLE_WERE_SENT: Final = requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent")
_ALWAYS: Final = (LISTENS, TURN, COUNTED, TOLD, WERE_SENT)
"""A walk begins with a session that is opened as it should be, and ends with a recoverable message on another one."""
PACKETS: Final = {
    Kind.ESTABLISH: "EstablishConnection", Kind.PARAMETERS: "ConnectionParameters", Kind.SESSION_ACK: "SessionAck",
    Kind.ORDER_ACK: "OrderAck", Kind.FINAL_ACK: "FinalAck", **dict.fromkeys(MESSAGES, "UserMessage"),
}  # fmt: skip
"""The name of each when it is decoded."""


def claims(acts: Iterable[Act]) -> tuple[str, ...]:
    """Return the requirements that a walk judges, in the order in which it may find them broken."""
    found = dict.fromkeys(_ALWAYS)
    for stand, act in steps_of(acts):
        if act.does not in (Does.SEND, Does.ACCEPT):
            continue
        kind = due(stand, act)
        found |= dict.fromkeys(_plan_of_fault(act, kind))
        found |= {CONNECTS: None} if act.does is Does.ACCEPT else {}
    return tuple(found)


def _plan_of_fault(act: Act, kind: Kind) -> tuple[str, ...]:
    twice = DUPLICATE if kind is not Kind.TRANSACTIONAL else ACCEPTED
    said: tuple[str, ...] = ()
    if kind in MESSAGES and act.fault is not Fault.NONE:
        said = (ARRIVED, RECOVERABLE_WERE_SENT, twice)
    if kind is Kind.TRANSACTIONAL:
        said = (*said, ORDERED)
    if act.fault is Fault.HALF:
        return (*said, DISCONNECT)
    if act.fault in (*ENDING, Fault.NONE):
        return said
    opening = (Kind.ESTABLISH, Kind.PARAMETERS)
    looked_at = kind if act.does is Does.SEND or act.fault is Fault.DOUBLE else touched(act)[-1]
    if looked_at in opening and act.fault is not Fault.DOUBLE:  # an answer shows that it was taken
        return said
    return (*said, STATE_CLOSES[PACKETS[looked_at]])


_LONG: Final = (Place.BEHIND_SECOND, Place.ALL_BUT_ONE)
"""Where a message is held back until those before it are acknowledged: what names it is there; only a byte lacks."""

_TWO_PARTS: Final = (Fault.DELAY, Fault.SPLIT)
_STAYING: Final = (*_TWO_PARTS, Fault.DOUBLE)
_KINDS: Final = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """A walk. accepts: the implementation connects, again and again."""

    name: str
    acts: tuple[Act, ...]
    accepts: bool = False

    @property
    def parts(self) -> bool:
        """True if a part of a packet is sent by itself."""
        inside = (act for act in self.acts if act.place not in (Place.BEFORE, Place.BEHIND))
        return any(act.fault in (*ENDING, Fault.DELAY) for act in inside)


def _leading(state: State) -> tuple[Act, ...]:
    """Return the acts that lead an acceptor into a state."""
    if state is State.OPEN:
        return (Act(Does.OPEN),)
    connect = (Act(Does.CONNECT),)
    return connect if state is State.WAITING_EC_MSG else (*connect, Act(Does.SEND, Kind.ESTABLISH))


def _acts(one: Situation) -> tuple[Act, ...]:
    """Return the acts that bring about one situation of an acceptor in the state that it has."""
    act = Act(Does.SEND, one.kind, one.fault, one.place)
    if one.fault is Fault.DELAY and one.kind in MESSAGES and one.place in _LONG:
        return Act(Does.SEND, Kind.RECOVERABLE), replace(act, long=True)
    if (
        one.fault is Fault.REORDER and one.kind is Kind.TRANSACTIONAL
    ):  # what is out of its turn is not to be acknowledged meanwhile
        return act, Act(Does.WAIT)
    return (act,)


def _of_acceptor(rows: list[Situation]) -> tuple[Act, ...]:
    """Return a walk through the rows: each on a session of its own, or all on one that stays open."""
    if all(one.state is State.OPEN and one.fault in _STAYING for one in rows):
        counted = (Act(Does.SEND, Kind.RECOVERABLE),) if rows[0].kind is Kind.SESSION_ACK else ()
        rows = sorted(rows, key=lambda one: _KINDS.index(one.kind))  # session acknowledgments while both counts agree
        return (Act(Does.OPEN), *counted, *(act for one in rows for act in _acts(one)))
    each = ((*_leading(one.state), *_acts(one), Act(Does.CLOSE)) for one in rows)
    return tuple(act for acts in each for act in acts)


def _of_initiator(rows: list[Situation]) -> tuple[Act, ...]:
    """Return a walk in which each row happens to the delivery of the word that a new message asks for."""
    each = ((Act(Does.SEND, Kind.RECOVERABLE), Act(Does.ACCEPT, one.kind, one.fault, one.place)) for one in rows)
    return (Act(Does.OPEN), *(act for acts in each for act in acts))


def _group(one: Situation) -> str:
    """Return the name of the walk that a situation is in."""
    if one.role == "initiator":
        # Where the connection stays open, one fault happens to all packets of it.
        return f"{one.fault.value}-of-the-listener-{'all' if one.fault not in ENDING else one.kind.value}"
    if one.kind in MESSAGES:
        return f"{one.fault.value}-{one.kind.value}"
    return f"{one.fault.value}-{'opening' if one.state is not State.OPEN else 'acknowledgments'}"


@cache
def plans() -> Mapping[str, Plan]:
    """Return the walks by name, in the order of the table."""
    groups: dict[str, list[Situation]] = {}
    for one in situations():
        if one.role == "acceptor" or one.fault not in _TWO_PARTS or one.kind is Kind.ESTABLISH:
            groups.setdefault(_group(one), []).append(one)
    return {
        name: Plan(name, _of_initiator(rows), accepts=True)
        if rows[0].role == "initiator"
        else Plan(name, _of_acceptor(rows))
        for name, rows in groups.items()
    }


def meeting(one: Situation) -> str | None:
    """Return the name of the first planned walk that brings a situation about; None for one that is excluded."""
    return next((plan.name for plan in plans().values() if one in situations_met(plan.acts)), None)
