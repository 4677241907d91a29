"""The planned walks: together they bring about every situation that is not excluded, whatever is drawn by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from conformance.judge.dialogues.machine import State
from conformance.judge.dialogues.walk_faults import ENDING, MESSAGES, Fault, Kind, Place, Situation, wanted
from conformance.judge.dialogues.walk_model import Act, Does, met

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
    for one in wanted():
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
    return next((plan.name for plan in plans().values() if one in met(plan.acts)), None)
