"""Walks over a network with faults: acts as pure functions, the claims of each walk, and the planned walks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Final

from conformance.judge.dialogues.machine import State
from conformance.judge.dialogues.walk_faults import (
    ENDING,
    MESSAGES,
    Fault,
    Kind,
    Place,
    Situation,
    excluded,
    has,
    situations,
)
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
        found |= dict.fromkeys(_of_fault(act, kind))
        found |= {CONNECTS: None} if act.does is Does.ACCEPT else {}
    return tuple(found)


def _of_fault(act: Act, kind: Kind) -> tuple[str, ...]:
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

_PARTED: Final = (Fault.DELAY, Fault.SPLIT)
_STAYING: Final = (*_PARTED, Fault.DOUBLE)
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
        if one.role == "acceptor" or one.fault not in _PARTED or one.kind is Kind.ESTABLISH:
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
