"""Effects of members on queues, and the queues that a message names (MC-MQAC 3.17.4.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.members import Member, requirements
from conformance.activex.queue_info import AFTER_PUT, MEMBERS, accepted, cell, demands
from conformance.activex.queue_store import DEFAULTS, Info, Names, QueueKind, Store, Stored, Target
from conformance.activex.step import ANY_FAILURE, Choice, Option, Shape, allowed, fitting, one
from conformance.activex.tables import CLASSES
from conformance.activex.values import S_OK, Variant, hollow, long

_FLAGS: Final = frozenset({"Journaling", "Authentication"})
_BOUND: Final = frozenset({"Identifier", "CreateTime", "ModifyTime", "Security"})
_ONCE: Final = frozenset({"PathName", "QueueFormatName"})


def new_info() -> Info:
    """Return an object that the client has just created."""
    return Info(because=cell("Refresh", "method", "initial"))


_DIRECT: Final = "DIRECT=OS:"


def after(
    info: Info, store: Store, call: Invoke, seen: Seen, readings: Readings, gives: str | None = None
) -> tuple[Info, Store]:
    """Return object and queues as an answered call has left them. gives: the name of the queue object it hands out."""
    target = store.target(info)
    if call.kind == "put":
        return (_put(info, call) if seen.status == S_OK else info), store
    if call.kind == "get":
        return _got(info, store, target, call, seen, readings)
    if seen.status != S_OK:
        refusal = seen.status if call.member == "Refresh" else info.refusal
        # Delete, Open, Refresh and Update work the format name out before they fail; Create does not (3.10.4.1.26).
        there = None if call.member == "Create" else store.queue(target) or store.parent(target)
        return replace(info, refusal=refusal, resolved=info.resolved or there is not None), store
    if call.member == "Create":
        return _created(info, store, call)
    if call.member == "Delete":
        return _deleted(store, target)
    queue = store.queue(target)
    if queue is None:
        system = info.system or (call.member == "Refresh" and target.kind is QueueKind.MACHINE)
        return replace(info, refreshed=False, resolved=store.parent(target) is not None, system=system), store
    info = replace(info, resolved=True, refusal=None)
    if call.member == "Refresh":
        return refreshed(info, queue, cell("Refresh", "method", "retrieve")), store
    if call.member == "Update":
        return _updated(info, store, target, queue)
    access, share = (argument.value for argument in call.arguments)
    opened = replace(queue, opened=(*queue.opened, (gives or "", access, share)))
    return info, replace(store, queues={**store.queues, target.key: opened})


def closed(store: Store, name: str) -> Store:
    """Return the queues after a queue object is closed."""
    return replace(
        store,
        queues={
            key: replace(queue, opened=tuple(one for one in queue.opened if one[0] != name))
            for key, queue in store.queues.items()
        },
    )


def _put(info: Info, call: Invoke) -> Info:
    value, name = call.arguments[-1], call.member
    if name in ("PathName", "FormatName"):
        forgets = cell(name, "put", "forgets") if info.refreshed and not info.forgetful else ()
        named = Info(
            values=info.values,
            shows=dict(info.shows),
            unsaved=info.unsaved,
            forgets=forgets,
            forgetful=info.forgetful,
        )
        kept, resets = cell(name, "put", "kept"), cell(name, "put", "resets")
        by_path = name == "PathName"
        if by_path and (info.format is not None or info.resolved or info.created):
            named = replace(named, had_format=resets)
        shown = {"PathName": kept if by_path else resets, "QueueFormatName": resets if by_path else kept}
        shows = {**named.shows, **shown}
        if name == "FormatName":
            return replace(named, format=value.value or "", shows=shows, unsaved=named.unsaved - {"PathName"})
        values = {**named.values, "PathName": value}
        return replace(named, path=value.value or "", shows=shows, values=values, unsaved=named.unsaved | {"PathName"})
    attribute = MEMBERS[name].kept_as or name
    if attribute in _FLAGS:
        value = long(int(bool(value.value)))
    return replace(
        info,
        values={**info.values, attribute: value},
        shows={**info.shows, attribute: cell(name, "put", "kept", f"kept:{value.value}")},
        unsaved=info.unsaved | {attribute},
        doubtful=info.doubtful - {attribute},
    )


def _got(info: Info, store: Store, target: Target, call: Invoke, seen: Seen, readings: Readings) -> tuple[Info, Store]:
    queue = store.queue(target)
    if seen.status != S_OK or queue is None:
        return info, store
    attribute = MEMBERS[call.member].kept_as or call.member
    if attribute == "QueueFormatName":
        if info.format is None and seen.value is not None and seen.value.value:
            formats = {**store.formats, str(seen.value.value).casefold(): target.key}
            return replace(info, resolved=True), replace(store, formats=formats)
        return info, store
    if attribute == "Security" and not info.refreshed:
        return info, store
    fits = [
        option for choice in demands(info, store, call, readings) for option in fitting(allowed(choice, readings), seen)
    ]
    if attribute in _BOUND and seen.value is not None:
        first = store.seen.get((target.key, attribute), seen.value)
        store = replace(store, seen={**store.seen, (target.key, attribute): first})
    if info.refreshed or attribute == "Security":
        return info, store
    if any((AFTER_PUT, "keeps-put") in option.readings for option in fits):
        return replace(info, perhaps=True), store
    puts = info.unsaved - {"PathName"}
    if puts and attribute not in puts:
        return replace(info, resolved=True, doubtful=info.doubtful | puts), store
    forgetful = info.forgetful or bool(info.forgets and fits)
    return replace(refreshed(info, queue, ()), resolved=True, forgetful=forgetful), store


def refreshed(info: Info, queue: Stored, names: Names) -> Info:
    """Return an object that has the properties of its queue. names: requirements that they show."""
    attributes = {*DEFAULTS, "Identifier", "PathName", "Transactional", "CreateTime", "ModifyTime"}
    return replace(
        info,
        refreshed=True,
        forgets=(),
        values={**info.values, **DEFAULTS, **queue.values},
        shows={one: (*names, *queue.shows.get(one, ())) for one in attributes},
        unsaved=frozenset(),
        doubtful=queue.doubtful,
        refusal=None,
    )


def _created(info: Info, store: Store, call: Invoke) -> tuple[Info, Store]:
    path = info.path
    if path is None and (info.refreshed or info.resolved) and (info.format or "").upper().startswith(_DIRECT):
        path = (info.format or "")[len(_DIRECT) :]  # a refresh has told it
    target = store.target(Info(path=path))
    if target.kind is not QueueKind.HERE:
        return info, store
    arguments = {**dict.fromkeys(("IsTransactional", "IsWorldReadable")), **_arguments(call)}
    transactional, readable = (bool(one.value) if one is not None else False for one in arguments.values())
    how = "argument" if arguments["IsTransactional"] is None else "transactional"
    creates, defaults = cell("Create", "method", "creates"), cell("Create", "method", "defaults")
    put = {one for one in info.values if info.shows.get(one) and one not in _ONCE}
    shows = {one: (*creates, *info.shows[one]) if one in put else defaults for one in DEFAULTS}
    shows["Transactional"] = cell("Create", "method", how)
    values = {one: value for one, value in info.values.items() if one not in _ONCE}
    rest = (path or "").partition("\\")[2]
    queue = Stored(f"{store.computer}\\{rest}", target.public, transactional, readable, values, shows)
    gone = {key: names for key, names in store.gone.items() if key != target.key}
    seen = {at: value for at, value in store.seen.items() if at[0] != target.key}
    store = replace(store, queues={**store.queues, target.key: queue}, gone=gone, seen=seen)
    unsaved: frozenset[str] = frozenset()
    return replace(info, created=True, refreshed=False, unsaved=unsaved, refusal=None, because=()), store


def _arguments(call: Invoke) -> dict[str, Variant]:
    names = ("IsTransactional", "IsWorldReadable")
    return {name: one for name, one in zip(names, call.arguments, strict=False) if one.vt != "ERROR"}


def _deleted(store: Store, target: Target) -> tuple[Info, Store]:
    reset = cell("Delete", "method", "reset")
    info = Info(because=reset, shows={"QueueFormatName": reset, "PathName": reset})
    if store.queue(target) is None:
        return info, store
    queues = {key: queue for key, queue in store.queues.items() if key != target.key}
    formats = {name: key for name, key in store.formats.items() if key != target.key}
    gone = {**store.gone, target.key: cell("Delete", "method", "success")[::-1]}
    return info, replace(store, queues=queues, formats=formats, gone=gone)


def _updated(info: Info, store: Store, target: Target, queue: Stored) -> tuple[Info, Store]:
    stores = cell("Update", "method", "stores")
    put = {one: value for one, value in info.values.items() if one in info.unsaved and one not in _ONCE}
    others = frozenset() if info.refreshed else frozenset(DEFAULTS) - set(put)
    doubtful = (queue.doubtful | others) - set(put)
    shows = {**queue.shows, **{one: (*stores, *info.shows.get(one, ())) for one in put}}
    updated = replace(queue, values={**queue.values, **put}, shows=shows, doubtful=doubtful)
    seen = {at: value for at, value in store.seen.items() if at != (target.key, "ModifyTime")}
    info = replace(info, unsaved=frozenset(), doubtful=info.doubtful - set(put))
    return info, replace(store, queues={**store.queues, target.key: updated}, seen=seen)


COCLASS: Final = "MSMQMessage"
DESTINATION: Final = "MSMQDestination"
NAMED_QUEUE_MEMBERS: Final = {
    name: row for name, row in CLASSES[COCLASS].items() if row.vt == "DISPATCH" and not row.unimplemented
}
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


def wanted_queue(
    name: str, messages: Messages, store: Store, call: Invoke, known: Collection[str], readings: Readings
) -> Iterator[Choice]:
    """Yield what the text demands of the answer to a queue property. known: names of the plan's objects."""
    row = NAMED_QUEUE_MEMBERS[call.member]
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
    row = NAMED_QUEUE_MEMBERS[call.member]
    at = (name, row.kept_as or "")
    if info is None or not (info.resolved or info.format):
        return {where: kept for where, kept in messages.items() if where != at}
    return {**messages, at: Kept(info, requirements(row, "putref", "kept"))}


def reported(name: str, messages: Messages, call: Invoke) -> Messages:
    """Return what the messages hold after a getter has handed out an object."""
    at = (name, NAMED_QUEUE_MEMBERS[call.member].kept_as or "")
    kept = messages.get(at)
    return messages if kept is None else {**messages, at: replace(kept, told=kept.told | {call.member})}


def info_of(name: str, messages: Messages, store: Store, call: Invoke) -> Info:
    """Return the object that a getter hands out."""
    row = NAMED_QUEUE_MEMBERS[call.member]
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
