"""Features of the members of MC-MQAC's objects: those of their rows, and of the calls that they stand for.

A member is named `Class.Member`. A read has the features of its row, and those of the call of the queue manager's user
that it becomes: what is in the queue, and where the cursor is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from conformance.activex.events import Untold, events
from conformance.activex.features import UNPREDICTED, Feature, featured, features
from conformance.activex.members import Member
from conformance.activex.plans import Act
from conformance.activex.world import World
from conformance.histories.features.feature import Feature as CallFeature
from conformance.histories.features.table import FEATURES as OF_CALLS
from conformance.model import BadCall, Call, State

TAKEN_OVER: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "messages.receive": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "removed", "locked", "behind"),
        },
        "messages.peek": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "removed", "locked", "behind"),
        },
        "messages.peek_next": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "removed", "locked", "behind"),
        },
        "messages.receive_by_lookup_id": {
            "kind": ("plain", "transactional"),
            "named": ("available", "removed", "received"),
            "found": ("near", "beyond", "nothing"),
        },
        "messages.peek_by_lookup_id": {
            "kind": ("plain", "transactional"),
            "named": ("available", "removed", "received"),
            "found": ("near", "beyond", "nothing"),
        },
    }
)
"""The call that a read becomes to its features, with the cases that an object can bring about."""
_met: list[tuple[World, Act, tuple[State, Call] | None] | None] = [None]


def met(world: World, act: Act) -> tuple[State, Call] | None:
    """Return the call that an act becomes, and the state in which it is made; None if the objects do not tell."""
    known = _met[0]
    if known is not None and known[0] is world and known[1] is act:
        return known[2]
    found: tuple[State, Call] | None = None
    if act.call is not None:
        try:
            told = events(world.known, act.object, act.call, act.gives)
            found = world.before(told).likely, told.main
        except (Untold, BadCall):
            found = None
    _met[0] = (world, act, found)
    return found


def _taken_over(of: Callable[[State, Call], str | None], values: tuple[str, ...], world: World, act: Act) -> str | None:
    found = met(world, act)
    case = None if found is None else of(*found)
    return case if case in values else None


def _of_call(member: Member) -> tuple[Feature, ...]:
    if member.event is None or member.event.call not in TAKEN_OVER or member.name in UNPREDICTED:
        return ()
    wanted = TAKEN_OVER[member.event.call]
    there: Mapping[str, CallFeature] = {one.name: one for one in OF_CALLS[member.event.call]}
    identified = any(one.name == "LookupId" for slot in member.slots for one in slot.arguments)
    return tuple(
        Feature(name, values, partial(_taken_over, there[name].of, values), there[name].steps)
        for name, values in wanted.items()
        if (name != "cursor" or member.event.cursor) and (name != "named" or identified)
    )


def named(member: Member) -> str:
    """Return the name of a member as its situations have it: `MSMQQueue.Receive`."""
    return f"{member.coclass}.{member.name}"


MEMBERS: Final[Mapping[str, Member]] = MappingProxyType({named(member): member for member in featured()})
"""The members that have features, by name."""
FEATURES: Final[Mapping[str, tuple[Feature, ...]]] = MappingProxyType(
    {name: (*features(member), *_of_call(member)) for name, member in MEMBERS.items()}
)
"""Member to its features."""


def vector(name: str, world: World, act: Act) -> tuple[str | None, ...]:
    """Return the case of each feature of a member when an act calls it in a world."""
    return tuple(one.of(world, act) for one in FEATURES[name])
