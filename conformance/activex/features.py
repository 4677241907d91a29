"""Features of members: what the text of a member, or of the object's states, makes a difference of.

They are derived from the rows: a row's forms, checks, arguments and domain say which cases there are, and its cells
which requirements they come from. A situation is a call with the cases of two of its member's features.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from conformance.activex.events import ACCESS, OBJECT, argument
from conformance.activex.members import Argument, Domain, Longs, Member, Named, Texts, all_cells, requirements
from conformance.activex.plans import Act
from conformance.activex.plans_queue_info import STORED
from conformance.activex.tables import CLASSES, CLOSED, EMPTY, OPENED, RECEIVED, STATES
from conformance.activex.values import Variant
from conformance.activex.world import World

UNPREDICTED: Final = frozenset({"EnableNotification"})
"""Methods whose outcome other plans judge: what they start is told by events."""
PLACED: Final = "messages."
"""The calls whose place among the transactions of the client is told apart: sends and reads begin so.

A peek at a cursor is not placed: what is at the cursor tells what a transaction holds.
"""
ENDS: Final = frozenset({"transactions.commit", "transactions.abort"})
"""The calls that end a transaction: the operations before them are told apart."""
TOO_LONG: Final = 124
"""Characters of a text that no property of a queue takes."""
UNCALLED: Final = frozenset({"TransactionImpl"})
"""Classes whose members no client calls by name."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A distinction of a member's text, and the cases that it makes.

    name: in snake case, unique within a member. values: every case, the plainest first. of: returns the case that holds
    when an act is done in a world, or in a scene; None if the feature means nothing for it. steps: the requirements
    that make the distinction.
    """

    name: str
    values: tuple[str, ...]
    of: Callable[[Any, Act], str | None]
    steps: tuple[str, ...]


@cache
def features(member: Member) -> tuple[Feature, ...]:
    """Return the features of a member; none for one that does nothing, or that no client calls."""
    if member.unimplemented or member.coclass in UNCALLED:
        return ()
    return tuple(one for one in _all(member) if len(one.values) > 1)


def _all(member: Member) -> Iterator[Feature]:
    kinds = tuple(slot.kind for slot in member.slots)
    yield Feature("form", kinds, _form, cited(member, "exists"))
    yield Feature("object", _OBJECTS[member.coclass], _object, cited(member, "success", "check:"))
    if member.coclass == "MSMQQueue" and member.name in ("Access", "ShareMode"):
        yield Feature("share", ("deny_none", "deny_receive"), _shared, cited(member, "gives:"))
    if member.name == "Send":
        yield Feature("kind", ("plain", "transactional"), _kind, cited(member, "arrives", "check:enqueue"))
    event = member.event.call if member.event is not None else ""
    peeks_at_cursor = member.event is not None and member.event.cursor and member.name.startswith("Peek")
    if event.startswith(PLACED) and not (peeks_at_cursor or member.name in UNPREDICTED):
        yield Feature(
            "unit", ("none", "left", "committed", "aborted"), partial(_unit, member), cited(member, "enlists")
        )
    if event in ENDS:
        last = ("none", *(one.name for one in ENLISTING))
        yield Feature("last", last, _last, cited(member, "commits", "aborts"))
        yield Feature("operations", ("one", "several"), _operations, cited(member, "commits", "aborts"))
    if any(one.kept_as == member.kept_as and one.takes is not None for one in CLASSES[member.coclass].values()):
        yield Feature("before", ("initial", "put"), partial(_before, member), cited(member, "initial", "kept", "gives"))
    if member.takes is not None:
        cases = tuple(dict.fromkeys(case_of(member.takes, one) for one in values(member)))
        yield Feature("value", cases, partial(_value, member.takes), cited(member, "refused", "gives", "type:"))
    for slot in member.slots:
        if slot.kind == "method":
            for one in slot.arguments:
                found = None if one.result else _of_argument(member, one)
                if found is not None:
                    yield found


def values(member: Member) -> tuple[Variant, ...]:
    """Return a value for each case of a put: those that the member takes, and one of those that it refuses."""
    assert member.takes is not None
    taken = member.takes.inside()
    if member.coclass == "MSMQQueueInfo":  # an object takes more than a queue does
        stored = STORED.get(member.name) or [one for one in taken if one.vt != "BSTR" or len(one.value) < TOO_LONG]
        taken = tuple(one for one in stored if member.takes.admits(one))
    return (*taken, *(member.takes.outside()[:1] if member.refusal is not None else ()))


def case_of(domain: Domain, value: Variant) -> str:
    """Return the case of a value that is put."""
    if not domain.admits(value):
        return "refused"
    if isinstance(domain, Longs):
        return {domain.low: "least", domain.high: "most"}.get(value.value, "between")
    if isinstance(domain, Named):
        return f"number_{value.value}"
    if isinstance(domain, Texts):
        length = len(value.value or "")
        return "empty" if not length else "long" if length > 100 else "plain" if value.value.isascii() else "wide"
    return (value.vt if value.of is None else f"{value.vt}_of_{value.of}").lower()


def cited(member: Member, *columns: str) -> tuple[str, ...]:
    """Return the requirements of a member's cells. columns: their names, or the beginning of names with a colon."""
    found: dict[str, None] = {}
    for slot in member.slots:
        cells = all_cells().get(f"{member.coclass}.{member.name}.{slot.kind}", {})
        for column in cells:
            if column in columns or any(one.endswith(":") and column.startswith(one) for one in columns):
                found.update(dict.fromkeys(requirements(member, slot.kind, column)))
    return tuple(found) or tuple(_of_forms(member))


def _of_forms(member: Member) -> Iterator[str]:
    """Yield the requirements that a member is there in its forms: those of a member of which no more is demanded."""
    for slot in member.slots:
        yield from requirements(member, slot.kind, "success", "exists")


def _form(world: World, act: Act) -> str | None:
    return act.call.kind if act.call is not None else None


_QUEUE: Final = ("receive", "peek", "send", "blank", "closed")
_OBJECTS: Final = {
    "MSMQQueueInfo": tuple(one.lower().replace(" ", "_") for one in STATES["MSMQQueueInfo"].all),
    "MSMQQueue": _QUEUE,
    "MSMQMessage": ("made", "sent", "received"),
    "MSMQTransactionDispenser": ("fresh", "used"),
    "MSMQTransaction": ("working", "ended", "empty"),
}
"""The states of an object that the text tells apart, with what its calls before have made of it."""


def _object(world: World, act: Act) -> str | None:
    return state_of(world, act.object)


def state_of(world: World, name: str) -> str | None:
    """Return the state of an object; None for one that the client has not got."""
    held = world.known.held.get(name)
    if held is None:
        return None
    if held.coclass == "MSMQQueue":
        if held.state == OPENED:
            return world.known.link(name).access or None
        return "closed" if held.state == CLOSED else "blank"
    if held.coclass == "MSMQMessage":
        sent = any(one.partition("#")[0] == name for one in world.known.sent)
        return "received" if held.state == RECEIVED else "sent" if sent else "made"
    if held.coclass == "MSMQTransaction":
        return "empty" if held.state == EMPTY else _of_transaction(world, name)
    if held.coclass == "MSMQTransactionDispenser":
        return "used" if world.states.likely.transactions else "fresh"
    return held.state.lower().replace(" ", "_")


def _of_transaction(world: World, name: str) -> str | None:
    transaction = world.states.likely.transactions.get(world.known.link(name).transaction or "")
    return None if transaction is None else "working" if transaction.ended is None else "ended"


def _shared(world: World, act: Act) -> str | None:
    return world.known.link(act.object).share or None


def _kind(world: World, act: Act) -> str | None:
    """Return the kind of the queue that a message is sent to."""
    target = act.call.arguments[0] if act.call is not None and act.call.arguments else None
    link = world.known.link(str(target.value)) if target is not None and target.vt in OBJECT else None
    queue = world.states.likely.queues.get(link.queue) if link is not None else None
    return None if queue is None else "transactional" if queue.transactional else "plain"


_UNITS: Final[Mapping[str | None, str]] = {None: "left", "commit": "committed", "abort": "aborted"}


def _unit(member: Member, world: World, act: Act) -> str | None:
    """Return what has become of the transaction that the client has begun last, beside the one of this call."""
    given = argument(member, act.call, "Transaction") if act.call is not None else None
    own = world.known.link(str(given.value)).transaction if given is not None else None
    begun = {link.transaction for link in world.known.links.values()} - {own}
    others = [one for one in world.states.likely.transactions.values() if one.name in begun]
    return _UNITS[others[-1].ended] if others else "none"


ENLISTING: Final = tuple(
    member
    for coclass in ("MSMQMessage", "MSMQQueue")
    for member in CLASSES[coclass].values()
    if any(one.name == "Transaction" for slot in member.slots for one in slot.arguments)
)
"""Sends and receives: the members whose effect may be part of a transaction."""


def _held(world: World, name: str) -> list[str]:
    """Return the messages that an open transaction has sent or received."""
    if state_of(world, name) != "working":
        return []
    own = world.known.link(name).transaction or ""
    return [one.message for _, one in world.states.likely.held_by(own)]


def _last(world: World, act: Act) -> str | None:
    """Return the last operation of the transaction that a call ends."""
    messages = _held(world, act.object)
    found = (
        one for (name, kind), one in reversed(tuple(world.doers.items())) if name in messages and kind in _OPERATIONS
    )
    last = next(found, None)
    return None if state_of(world, act.object) != "working" else "none" if last is None else last.member.name


_OPERATIONS: Final = frozenset({"send", "read"})


def _operations(world: World, act: Act) -> str | None:
    return {0: None, 1: "one"}.get(len(_held(world, act.object)), "several")


def _before(member: Member, world: World, act: Act) -> str | None:
    held = world.known.held.get(act.object)
    return None if held is None else "put" if member.kept_as in held.values else "initial"


def _value(domain: Domain, world: World, act: Act) -> str | None:
    put = act.call is not None and act.call.kind == "put"
    return case_of(domain, act.call.arguments[-1]) if put and act.call is not None else None


Case = Callable[[World, Variant | None], str | None]


def _of_argument(member: Member, one: Argument) -> Feature | None:
    """Return the feature of an argument; None if the table tells no cases of it."""
    known = _ARGUMENTS.get((member.name, one.name)) or _ARGUMENTS.get(("", one.name))
    if known is None:
        return None
    cases, case = known
    if one.name == "Transaction" and member.name == "Send":
        cases = tuple(case for case in cases if case != "wrong_type")  # see the plans of sends that are refused
    columns = (f"default:{one.name}", f"want:{one.name}:", f"argument:{one.name}", *_COLUMNS.get(one.name, ()))
    name = snake(one.name)
    return Feature(name, cases, partial(_argument, member, one.name, case), cited(member, *columns))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _argument(member: Member, name: str, case: Case, world: World, act: Act) -> str | None:
    if act.call is None or act.call.kind != "method":
        return None
    return case(world, argument(member, act.call, name))


def _flag(world: World, value: Variant | None) -> str:
    return "left_out" if value is None else "true" if value.value else "false"


def _timeout(world: World, value: Variant | None) -> str:
    if value is None:
        return "left_out"
    return {0: "at_once", -1: "infinite"}.get(int(value.value), "ends")


def _identifier(world: World, value: Variant | None) -> str | None:
    if value is None:
        return None
    return "zero" if value.value in (0, "0") else "text" if value.vt == "BSTR" else "number"


def _transaction(world: World, value: Variant | None) -> str | None:
    if value is None:
        return "left_out"
    if value.vt in OBJECT:
        name = str(value.value)
        if state_of(world, name) != "working":
            return state_of(world, name)
        own = world.known.link(name).transaction or ""
        return "working" if any(True for _ in world.states.likely.held_by(own)) else "fresh"
    numbers = {0: "none", 1: "of_caller", 2: "of_caller", 3: "single"}
    return numbers.get(value.value) if value.vt == "I4" else "wrong_type"


def _access(world: World, value: Variant | None) -> str | None:
    return None if value is None else ACCESS.get(int(value.value))


def _share(world: World, value: Variant | None) -> str | None:
    return None if value is None else {0: "deny_none", 1: "deny_receive"}.get(int(value.value))


def _target(world: World, value: Variant | None) -> str | None:
    return None if value is None or value.vt not in OBJECT else state_of(world, str(value.value))


def _number(usual: int, world: World, value: Variant | None) -> str:
    return "left_out" if value is None else "usual" if value.value == usual else "other"


def _attached(world: World, value: Variant | None) -> str | None:
    if value is None or value.vt in ("I4", "I8"):
        return None  # it stands for a pointer that nobody may follow
    if value.vt not in OBJECT:
        return "wrong_type"
    return "transaction" if str(value.value) not in world.known.held else "other_object"


def _cursor(world: World, value: Variant | None) -> str:
    return "left_out" if value is None else {0: "first", 1: "current", 2: "next"}.get(value.value, "unknown")


_FLAGS: Final = ("left_out", "true", "false")
TRANSACTIONS: Final = (
    *("left_out", "none", "of_caller", "single", "fresh", "working"),
    *("ended", "empty", "wrong_type"),
)
_ARGUMENTS: Final[dict[tuple[str, str], tuple[tuple[str, ...], Case]]] = {
    ("", "Transaction"): (TRANSACTIONS, _transaction),
    ("", "ReceiveTimeout"): (("left_out", "at_once", "ends", "infinite"), _timeout),
    ("", "WantBody"): (_FLAGS, _flag),
    ("", "WantDestinationQueue"): (_FLAGS, _flag),
    ("", "WantConnectorType"): (_FLAGS, _flag),
    ("", "LookupId"): (("number", "text", "zero"), _identifier),
    ("", "IsTransactional"): (_FLAGS, _flag),
    ("", "IsWorldReadable"): (_FLAGS, _flag),
    ("", "Access"): (("receive", "send", "peek"), _access),
    ("", "ShareMode"): (("deny_none", "deny_receive"), _share),
    ("", "DestinationQueue"): (("send", "receive", "peek", "blank", "closed"), _target),
    ("", "fRetaining"): (_FLAGS, _flag),
    ("", "fAsync"): (_FLAGS, _flag),
    ("", "grfTC"): (("left_out", "usual", "other"), partial(_number, 2)),
    ("", "grfRM"): (("left_out", "usual", "other"), partial(_number, 0)),
    ("InitNew", "varTransaction"): (("transaction", "other_object", "wrong_type"), _attached),
    ("EnableNotification", "Cursor"): (("left_out", "first", "current", "next", "unknown"), _cursor),
}
"""Method (empty for any) and argument to the cases of its values."""
_COLUMNS: Final = {
    "Transaction": ("transaction:", "check:transaction-type", "enlists", "locks"),
    "ReceiveTimeout": ("blocks", "waits", "expired", "not-found", "gives:"),
    "LookupId": ("check:lookup-identifier", "seeks", "not-found"),
    "IsTransactional": ("transactional", "defaults", "argument"),
    "IsWorldReadable": ("flags", "defaults", "argument"),
    "Access": ("gives", "check:sharing:"),
    "ShareMode": ("check:share-mode", "check:sharing:"),
    "DestinationQueue": ("check:destination", "check:enqueue", "arrives"),
    "varTransaction": ("check:type", "check:not-transaction", "attaches", "type:"),
    "Cursor": ("check:cursor-name",),
}
"""Argument to the columns of its cells, beside those that are named after it."""


def of(member: Member, name: str) -> Feature:
    """Return the feature of a member with this name. Raises KeyError."""
    return {one.name: one for one in features(member)}[name]


def featured() -> Iterator[Member]:
    """Yield the members that have features."""
    yield from (member for rows in CLASSES.values() for member in rows.values() if features(member))
