"""Queue properties of MSMQMessage: an MSMQQueueInfo is put by reference, and a new one that names its queue is got.

ResponseQueueInfo and AdminQueueInfo have three forms each, which share an attribute (MC-MQAC 3.17.4.1.15 and others);
ResponseDestination takes and gives an MSMQDestination instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from conformance.activex.cells import requirements
from conformance.activex.choices import ANY_FAILURE, Choice, Option, Shape, one
from conformance.activex.expected import Invoke, Readings
from conformance.activex.members import Member
from conformance.activex.queue_effects import refreshed
from conformance.activex.queue_info import accepted
from conformance.activex.queue_store import Info, Names, Store
from conformance.activex.statuses import S_OK
from conformance.activex.tables import CLASSES
from conformance.activex.values import Variant, hollow

COCLASS: Final = "MSMQMessage"
DESTINATION: Final = "MSMQDestination"
MEMBERS: Final = {name: row for name, row in CLASSES[COCLASS].items() if row.vt == "DISPATCH" and not row.unimplemented}
REFRESH: Final = "R-MQAC-queue-getter-refresh"


@dataclass(frozen=True, slots=True)
class Kept:
    """The queue that a message holds. info: the object that was put, as it named the queue then. shows: requirements
    that the name shows. told: members that have handed out an object with it.
    """

    info: Info
    shows: Names
    told: frozenset[str] = frozenset()


Messages = dict[tuple[str, str], Kept]
"""Name of a message and attribute to what is kept there."""


def wanted(
    name: str, messages: Messages, store: Store, call: Invoke, known: Collection[str], readings: Readings
) -> Iterator[Choice]:
    """Yield what the text demands of the answer to a queue property. known: names of the plan's objects."""
    row = MEMBERS[call.member]
    success = requirements(row, call.kind, "success")
    if call.kind == "putref":
        yield one(success)
        return
    kept = messages.get((name, row.kept_as or ""))
    objects = tuple(known)
    if kept is None:
        yield from _unnamed(row, success, objects, readings)
        return
    value = Shape(
        Variant("DISPATCH", "new"),
        lambda seen: seen.vt in ("DISPATCH", "UNKNOWN") and bool(seen.value) and seen.value not in objects,
        "a new object",
    )
    gives = requirements(row, "get", "new", "gives")
    if store.queue(store.target(kept.info)) is not None or row.name == "ResponseDestination":
        yield one(success)
        yield one(gives, S_OK, value)
        return
    options = {
        "object": Option((*success, *gives), S_OK, value, ((REFRESH, "object"),)),
        "fails": Option((), ANY_FAILURE, None, ((REFRESH, "fails"),)),
    }
    yield tuple(options[word] for word in accepted(readings, REFRESH, "object", "fails"))


def _unnamed(row: Member, success: Names, objects: tuple[str, ...], readings: Readings) -> Iterator[Choice]:
    """Yield what a getter answers for a name that is NULL: an object without a name, none, or a failure."""
    initial, gives = requirements(row, "get", "initial"), requirements(row, "get", "gives", "new")

    def holds(seen: Variant) -> bool:
        return hollow(seen) or (seen.vt in ("DISPATCH", "UNKNOWN") and seen.value not in objects)

    value = Shape(Variant("DISPATCH", "new"), holds, "a new object, or none")
    options = {
        "object": Option((*success, *initial, *gives), S_OK, value, ((REFRESH, "object"),)),
        "fails": Option((), ANY_FAILURE, None, ((REFRESH, "fails"),)),
    }
    yield tuple(options[word] for word in accepted(readings, REFRESH, "object", "fails"))


def put(name: str, messages: Messages, call: Invoke, info: Info | None) -> Messages:
    """Return what the messages hold after a putref. info: the object that was given, None for none."""
    row = MEMBERS[call.member]
    at = (name, row.kept_as or "")
    if info is None or not (info.resolved or info.format):
        return {where: kept for where, kept in messages.items() if where != at}
    return {**messages, at: Kept(info, requirements(row, "putref", "kept"))}


def told(name: str, messages: Messages, call: Invoke) -> Messages:
    """Return what the messages hold after a getter has handed out an object."""
    at = (name, MEMBERS[call.member].kept_as or "")
    kept = messages.get(at)
    return messages if kept is None else {**messages, at: replace(kept, told=kept.told | {call.member})}


def given(name: str, messages: Messages, store: Store, call: Invoke) -> Info:
    """Return the object that a getter hands out."""
    row = MEMBERS[call.member]
    kept = messages.get((name, row.kept_as or ""))
    if kept is None:
        initial = (*requirements(row, "get", "initial"), *requirements(row, "get", "named"))
        return Info(because=initial, named=initial)
    named = requirements(row, "get", "named")
    names = (*named, *kept.shows) if kept.told - {call.member} else (*kept.shows, *named)  # another one has shown it
    source = kept.info
    info = Info(path=source.path, format=source.format, resolved=True)
    queue = store.queue(store.target(info))
    if queue is not None:
        info = refreshed(info, queue, requirements(row, "get", "refresh"))
    return replace(info, named=names)
