"""Features of the members of MC-MQAC's objects: those of their rows, and of the calls that they stand for.

A member is named `Class.Member`. A read has the features of its row, and those of the call of the queue manager's user
that it becomes: what is in the queue, and where the cursor is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Final

from conformance.activex.events import Untold, events
from conformance.activex.features import UNPREDICTED, Feature, featured, features
from conformance.activex.members import Member
from conformance.activex.plans import Act
from conformance.activex.world import World
from conformance.histories.features.feature import Constraint, no
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


def underlying_call(world: World, act: Act) -> tuple[State, Call] | None:
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
    found = underlying_call(world, act)
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


_READS: Final = tuple(name for name in MEMBERS if name.startswith(("MSMQQueue.Receive", "MSMQQueue.Peek")))
_AT_CURSOR: Final = tuple(name for name in _READS if any(one.name == "cursor" for one in FEATURES[name]))
_SEEKING: Final = tuple(name for name in _READS if "ByLookupId" in name)
_SAME: Final = tuple(name for name in _SEEKING if name.startswith(("MSMQQueue.ReceiveBy", "MSMQQueue.PeekBy")))
_OTHERS: Final = tuple(dict.fromkeys(one.name for name in _SAME for one in FEATURES[name] if one.name != "found"))
_ALL: Final = tuple(MEMBERS)
_PATH, _FORMAT = "MSMQQueueInfo.PathName", "MSMQQueueInfo.FormatName"
_NO_QUEUE: Final = "an object that was never opened has no queue"
_REFUSED: Final = "its own argument refuses the call, so that it becomes no call of the queue manager's user"
_RESET: Final = "a name that is put takes the place of the other one"

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_ALL, "only a put has a value", form="get putref", value="*"),
    *(no(_READS, _NO_QUEUE, object="blank", **{name: "*"}) for name in ("kind", "choice", "cursor", "named", "found")),
    *(no(_READS, _REFUSED, lookup_id="zero", **{name: "*"}) for name in ("kind", "named", "found")),
    *(
        no(_READS, _REFUSED, transaction="empty wrong_type", **{name: "*"})
        for name in ("kind", "choice", "cursor", "named", "found")
    ),
    no(
        _READS,
        "no section says what a read does with an object that stands for no transaction",
        object="receive",
        transaction="empty",
    ),
    no(_AT_CURSOR, "a queue that is open for sending has no cursor", object="send", cursor="*"),
    no(_AT_CURSOR, "a cursor ends with its handle", object="closed", cursor="*"),
    no(_AT_CURSOR, "only messages of a transactional queue are held by a transaction", kind="plain", cursor="locked"),
    no(_SEEKING, "only messages of a transactional queue are held by a transaction", kind="plain", named="received"),
    no(_READS, "messages of transactions have one priority", kind="transactional", choice="lower overtaking"),
    no(
        tuple(name for name in _AT_CURSOR if "PeekNext" not in name),
        "the cursor stands at a message that can be read",
        choice="nothing",
        cursor="available",
    ),
    no(_AT_CURSOR, "messages of transactions have one priority", cursor="locked", choice="lower overtaking"),
    *(no(_SAME, "it seeks the message that is named, and no other", found="beyond", **{name: "*"}) for name in _OTHERS),
    no(_SAME, "it seeks the message that is named, and no other", named="available", found="nothing"),
    no(_SAME, "it seeks the message that is named, and no other", named="removed received", found="near"),
    no(("MSMQMessage.Send",), _NO_QUEUE, destination_queue="blank", kind="*"),
    no(("MSMQQueue.Reset",), "no section says what Reset does without a cursor", object="send"),
    no(
        ("MSMQQueueInfo.BasePriority",),
        "a queue that is not known to be a public one has no priority",
        object="unnamed named_by_path_name named_by_format_name refreshed",
        before="put",
    ),
    no((_PATH, _FORMAT), "an object that has a name is another state", object="unnamed", before="put"),
    no((_PATH,), _RESET, object="named_by_format_name", before="put"),
    no((_FORMAT,), _RESET, object="named_by_path_name created", before="put"),
    no((_PATH,), "the object is named by it", object="named_by_path_name created", before="initial"),
    no((_FORMAT,), "the object is named by it", object="named_by_format_name", before="initial"),
)


@cache
def _of(method: str) -> tuple[Constraint, ...]:
    return tuple(one for one in CONSTRAINTS if method in one.methods)


def excluded(method: str, values: Iterable[tuple[str, str]]) -> str | None:
    """Return why a situation of a member does not count; None for one that counts."""
    given = dict(values)
    return next((one.reason for one in _of(method) if one.excludes(given)), None)
