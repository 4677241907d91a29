"""All operations by method, and functions that work on any call by looking up its operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.histories.operations import properties, sends, transactions
from conformance.histories.operations.coordinator import COORDINATOR
from conformance.histories.operations.management import MANAGEMENT, OUTGOING
from conformance.histories.operations.operation import NEEDED, Action, Kind, Member, Offer, Operation, Role
from conformance.histories.operations.queues import JOURNALS, MOVES, QUEUES
from conformance.histories.operations.reads import CURSORS, LOOKUPS, READS, TWO_PHASE
from conformance.histories.operations.state_queries import numbered
from conformance.model import BadCall, Call, State
from conformance.model.journals import is_kept, parts_of, plain_name
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace

_FAMILIES = (
    *(
        QUEUES,
        sends.OPERATIONS,
        READS,
        LOOKUPS,
        TWO_PHASE,
        MOVES,
        CURSORS,
        transactions.TRANSACTIONS,
        JOURNALS,
        OUTGOING,
    ),
    *(transactions.CLOCK, properties.OPERATIONS, MANAGEMENT, COORDINATOR),
)
OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.method: operation for family in _FAMILIES for operation in family
}
ACTIONS: Final[Mapping[str, Action]] = MappingProxyType(
    {
        action.name: action
        for action in (*(one for each in OPERATIONS.values() for one in each.choices), transactions.ACTION)
    }
)
"""The actions a walk may take, by name."""
METHODS: Final = frozenset(method for operation in OPERATIONS.values() for method in operation.needs)
"""The methods that walks may call."""


def needed_features(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the features that a call needs and a driver may lack, as kind and name in `accepts` of hello."""
    for name, member in OPERATIONS[call.method].members.items():
        yield from member.asks(getattr(call, name))


def takes(offer: Offer, call: Call) -> bool:
    """Return True if a driver accepts every feature that a call needs."""
    return not offer.accepts or all(
        kind not in offer.accepts or name in offer.accepts[kind] for kind, name in needed_features(call)
    )


def without(call: Call, accepted: Callable[[str, str], bool]) -> tuple[Call, list[str]]:
    """Return the call without the optional members that a driver does not accept, and these in a few words.

    accepted: called with kind and name, as in `accepts` of hello. What the call can't be made without stays.
    """
    operation = OPERATIONS[call.method]
    lacking: list[str] = []
    for name in operation.not_plain(call):
        member = operation.members[name]
        refused = [asked for asked in member.asks(getattr(call, name)) if not accepted(*asked)]
        if refused and member.group is not None and not member.each:
            call = operation.plain(call, name)
            lacking += [f"{asked} (of a {_OF.get(kind, kind)})" for kind, asked in refused]
    return call, lacking


_OF: Final = {"properties": "queue"}


def fitting(accepted: Callable[[str, str], bool], call: Call) -> Call | None:
    """Return the call with the elements that a driver accepts; None if it needs elements and none is left."""
    for name, member in OPERATIONS[call.method].members.items():
        given = getattr(call, name)
        if member.each and given is not None:
            left = tuple(one for one in given if all(accepted(*asked) for asked in member.asks((one,))))
            if not left and member.plain is NEEDED:
                return None
            call = replace(call, **{name: left or None})
    return call


def stored_call(raw: Mapping[str, Any]) -> Call:
    """Read a call of a repro file. Raises BadCall for a method or a member that no operation has."""
    return checked_call(Call.from_json(raw))


def checked_call(call: Call) -> Call:
    """Return the call unchanged. Raises BadCall for a method or a member that no operation has."""
    operation = OPERATIONS.get(call.method)
    if operation is None:
        raise BadCall(f"not a call of the model: {call.method!r}")
    for name in call.to_json():
        if name != "method" and name not in operation.members:
            raise BadCall(f"{call.method} has no {name}")
    return call


def given_name(call: Call, kind: Kind) -> str | None:
    """Return the name that a call gives to a thing of this kind; None if it creates none."""
    return next((name for _, member, name in named(call, Role.GIVES) if member.kind is kind), None)


def renamed(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Return the calls with names counted from one again, each given once: a name refers to the last that had it.

    Names of queues stay, because they tell the kind of queue.
    """
    new: dict[tuple[bool, str], str] = {}
    counts: Counter[str] = Counter()
    found: list[Call] = []
    for call in calls:
        changed = {at: _other(new, member.kind, name) for at, member, name in named(call, Role.REFERS)}
        for at, member, name in named(call, Role.GIVES):
            if member.kind is not Kind.QUEUE:
                message = member.kind is Kind.MESSAGE
                prefix = "" if message else name.rstrip("0123456789")
                counts[prefix] += 1
                fresh = numbered(counts[prefix] - 1) if message else f"{prefix}{counts[prefix]}"
                changed[at] = new[message, name] = fresh
        found.append(replace(call, **changed))
    return tuple(found)


def _other(new: Mapping[tuple[bool, str], str], kind: Kind | None, name: str) -> str:
    if kind is not Kind.MESSAGE:
        return name if kind is Kind.QUEUE else new.get((False, name), name)
    before, sent, after = parts_of(name)
    return before + new.get((True, sent), sent) + after


def well_formed(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Return the calls without those that give a name once more, or refer to one that none of the others gave.

    A queue may be created again, and one that was never created may be asked for: that has answers of its own.
    """
    given: set[tuple[bool, str]] = set()
    found: list[Call] = []
    for call in calls:
        names = {
            (member.role, member.kind is Kind.MESSAGE, parts_of(name)[1] if member.kind is Kind.MESSAGE else name)
            for _, member, name in named(call)
            if member.kind is not Kind.QUEUE
        }
        if all((role is Role.REFERS) == ((message, name) in given) for role, message, name in names):
            given |= {(message, name) for role, message, name in names if role is Role.GIVES}
            found.append(call)
    return tuple(found)


def named(call: Call, *roles: Role) -> Iterator[tuple[str, Member, str]]:
    """Yield each member of a call that holds a name, and the name; only members of these roles, if any are given."""
    for at, member in OPERATIONS[call.method].members.items():
        if member.kind is not None and (not roles or member.role in roles):
            name = getattr(call, at)
            if name is not None:
                yield at, member, name


def reused(call: Call, state: State) -> str | None:
    """Return the name that a call gives although something alive has it; None if it gives no such name.

    Queues are left out: to create one again is a call with an answer of its own.
    """
    for _, member, name in named(call, Role.GIVES):
        if member.kind is not None and _ALIVE[member.kind](state, name):
            return name
    return None


def _message_there(state: State, name: str) -> bool:
    """Tell whether the message is there, or an identifier of it is known: another one of that name would be it."""
    return (
        name in state.lookups
        or name in state.identifiers
        or any(
            position.state is not PositionState.DELETED and plain_name(position.message) == name
            for queue in state.queues.values()
            if not is_kept(queue.name)
            for position in queue.positions
        )
    )


_ALIVE: Final[Mapping[Kind, Callable[[State, str], bool]]] = MappingProxyType(
    {
        Kind.QUEUE: lambda state, name: False,
        Kind.HANDLE: lambda state, name: name in state.handles and state.handles[name].is_open,
        Kind.CURSOR: lambda state, name: name in state.cursors and state.cursors[name].state is not CursorState.CLOSED,
        Kind.TRANSACTION: lambda state, name: name in state.transactions and state.transactions[name].ended is None,
        Kind.MESSAGE: _message_there,
        Kind.WAIT: lambda state, name: any(waiter.name == name for waiter in state.waiters),
        Kind.READ: lambda state, name: name in state.begun and not state.begun[name].ended,
    }
)


def plainest(call: Call) -> Call:
    """Return the call with every member plain that can be."""
    operation = OPERATIONS[call.method]
    return operation.plain(call, *operation.not_plain(call))


def plainer(call: Call) -> Iterator[tuple[Call, bool]]:
    """Yield calls with one member plainer, and True if such a call may break another requirement (`Member.decides`)."""
    operation = OPERATIONS[call.method]
    for name in operation.not_plain(call):
        yield operation.plain(call, name), operation.members[name].decides
    for name, member in operation.members.items():
        for fewer in member.fewer(getattr(call, name)):
            yield replace(call, **{name: fewer}), member.decides
