"""Plans: calls that show what a row of a table demands, each from a new object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.activex import tables_message, tables_queue, tables_queue_info
from conformance.activex.expected import Invoke
from conformance.activex.members import Kind, Member
from conformance.activex.tables import CLASSES
from conformance.activex.values import MISSING, Variant, long, text
from conformance.model.values import value

PATH_NAME: Final = "$path"
"""Stands for the path name of a private queue of this example, in a BSTR. What follows is added to the name."""
DIRECT_NAME: Final = "$direct"
"""Stands for a direct format name of that queue; `;JOURNAL` may follow."""
SYSTEM_NAME: Final = "$system"
"""Stands for a direct format name of the queue manager's own queues; `;DEADLETTER` or `;DEADXACT` follows."""
LOOKUP: Final = "$lookup "
"""Stands, with the name of a message, for its lookup identifier: a text in a BSTR, a number otherwise."""


@value
class Act:
    """One step of a plan on the object of this name. call: None to create it, of the class. gives: name of the object
    that the call hands out. Arguments name objects of the plan as `DISPATCH` or `UNKNOWN`. passes_ms: this time passes,
    and nothing is called.
    """

    object: str
    call: Invoke | None = None
    coclass: str | None = None
    gives: str | None = None
    passes_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        if self.passes_ms:
            return {"passes_ms": self.passes_ms}
        out: dict[str, Any] = {"object": self.object}
        if self.call is None:
            return out | {"class": self.coclass}
        values = [value.to_json() for value in self.call.arguments]
        out |= {"member": self.call.member, "kind": self.call.kind, "arguments": values}
        return out if self.gives is None else out | {"gives": self.gives}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Act:
        """The inverse of `to_json`. Raises KeyError or ValueError for another object."""
        if "passes_ms" in data:
            return passes(data["passes_ms"])
        if "class" in data:
            return cls(data["object"], coclass=data["class"])
        values = tuple(Variant.from_json(value) for value in data["arguments"])
        return cls(data["object"], Invoke(data["member"], data["kind"], values), gives=data.get("gives"))


Plan = tuple[Act, ...]


def passes(by_ms: int) -> Act:
    """Return the act in which time passes."""
    return Act("", passes_ms=by_ms)


def create(coclass: str, name: str = "a") -> Act:
    return Act(name, coclass=coclass)


def call_on(name: str, member: str, *arguments: Variant, kind: Kind = "method", gives: str | None = None) -> Act:
    return Act(name, Invoke(member, kind, arguments), gives=gives)


def unimplemented(member: Member) -> Iterator[Plan]:
    """Yield a plan for each form of a member that does nothing."""
    for slot in member.slots:
        arguments = () if slot.kind == "get" else (text("a"),)
        yield (create(member.coclass), Act("a", Invoke(member.name, slot.kind, arguments)))


def message_property(member: Member) -> Iterator[Plan]:
    """Yield plans for a property of a message: a new one's value, each value put and got, each refused."""
    if member.unimplemented:
        yield from unimplemented(member)
        return
    readers = [
        other.name
        for other in CLASSES[member.coclass].values()
        if other.slot("get") is not None and member.kept_as is not None and other.kept_as == member.kept_as
    ]
    looks = tuple(
        call_on("a", reader, kind="get") for reader in readers or [member.name] if member.slot("get") or readers
    )
    new = (create(member.coclass), *looks)
    if member.takes is None:
        yield new
        return
    inside = [put(member, value) for value in member.takes.inside()]
    yield (create(member.coclass), *(act for one in inside for act in (one, *looks)))
    yield (create(member.coclass), *(act for one in reversed(inside) for act in (one, *looks)))
    yield new  # where a getter shows what was put, another value of a new object is the object's fault
    if member.refusal is not None:
        outside = [put(member, value) for value in member.takes.outside()]
        yield (create(member.coclass), *(act for one in outside for act in (one, *looks)))
        yield (create(member.coclass), inside[0], *(act for one in outside for act in (one, *looks)))


def put(member: Member, value: Variant) -> Act:
    return call_on("a", member.name, value, kind="put")


MESSAGE_PROPERTIES: Final = tuple(
    member
    for member in tables_message.MEMBERS
    if member.unimplemented or (member.slots[0].kind in ("get", "put") and member.vt != "DISPATCH")
)


def tables(name: str) -> Member:
    return CLASSES[tables_queue_info.COCLASS][name]


BLANK_QUEUE: Final = tuple(
    member
    for member in tables_queue.MEMBERS
    if member.unimplemented or any(check.name == "blank" for check in member.checks)
)
NEEDS_OBJECT: Final = frozenset({"EnableNotification"})


def blank_queue(member: Member) -> Iterator[Plan]:
    """Yield plans that call a member of a queue object that was never opened, and of one that is closed."""
    if member.unimplemented:
        yield from unimplemented(member)
        return
    slot = member.slots[0]
    arguments = _arguments(member)
    yield (create(member.coclass), Act("a", Invoke(member.name, slot.kind, arguments)))
    if any(check.name == "closed" for check in member.checks):
        named = put(tables("PathName"), text(PATH_NAME))
        receive_access = 1
        yield (
            create(tables_queue_info.COCLASS),
            named,
            call_on("a", "Create", MISSING, MISSING),
            call_on("a", "Open", long(receive_access), long(0), gives="q"),
            call_on("q", "Close"),
            *(call_on("q", name, kind="get") for name in ("IsOpen", "IsOpen2")),  # if all take it for a new one
            Act("q", Invoke(member.name, slot.kind, arguments)),
        )


def _arguments(member: Member) -> tuple[Variant, ...]:
    """Return arguments that meet the preconditions of a read: no transaction, a lookup identifier, no waiting."""
    known = {"LookupId": text("1"), "Transaction": long(0), "ReceiveTimeout": long(0)}
    return tuple(known.get(one.name, MISSING) for one in member.slots[0].arguments if not one.result)
