"""MSMQQueueInfo: what an answer to each of its members must be (MC-MQAC 3.10.4.1, 3.10.6.1).

Getters refresh an object that was not refreshed; methods work the format name out of the path name. So what a member
answers depends on what the object holds and on the queues of the computer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from conformance.activex import queue_store as shown
from conformance.activex.expected import Invoke, Readings
from conformance.activex.members import Kind as Form
from conformance.activex.members import requirements
from conformance.activex.queue_store import Info, Names, QueueKind, Store, Stored, Target
from conformance.activex.step import ANY_FAILURE, ANY_STATUS, Choice, Option, Shape, one
from conformance.activex.tables import CLASSES
from conformance.activex.tables_queue_info import COCLASS
from conformance.activex.values import ILLEGAL_PROPERTY_VALUE, S_OK, Variant, long, text

MEMBERS: Final = CLASSES[COCLASS]

AFTER_PUT: Final = "R-MQAC-getter-after-put"
AFTER_CREATE: Final = "R-MQAC-format-name-after-create"
OF_PATH: Final = "R-MQAC-format-name-of-path-name"
CONVERSION: Final = "R-MQAC-path-name-conversion"
PRIVATE_PRIORITY: Final = "R-MQAC-private-base-priority"
QUOTA_UNIT: Final = "R-MQAC-journal-quota-unit"
READABLE: Final = "R-MQAC-world-readable"
MACHINE: Final = "R-MQAC-refresh-machine-queue"

_SEND, _DENY_NONE, _DENY = 2, 0, 1
_READS: Final = frozenset({1, 32})
_NO_REFRESH: Final = frozenset({"FormatName", "IsWorldReadable", "IsWorldReadable2"})
_DIRECTORY: Final = frozenset({"PathNameDNS", "ADsPath"})


def cell(member: str, kind: Form, *columns: str) -> Names:
    """Return the requirements of some columns of a form of a member."""
    return requirements(MEMBERS[member], kind, *columns)


def accepted(readings: Readings, name: str, *alternatives: str) -> tuple[str, ...]:
    """Return those alternatives of a reading that are accepted; all where nobody has chosen."""
    chosen = readings.get(name, alternatives)
    return tuple(one for one in alternatives if one in chosen)


def demands(info: Info, store: Store, call: Invoke, readings: Readings) -> Iterator[Choice]:
    """Yield what the text demands of the answer to a call of an MSMQQueueInfo."""
    if call.kind == "put":
        yield from _put(info, call, readings)
    elif call.kind == "get":
        yield from _get(info, store, call, readings)
    elif call.member == "Create":
        yield from _create(info, store)
    else:
        yield from _method(info, store, call, readings)


def _put(info: Info, call: Invoke, readings: Readings) -> Iterator[Choice]:
    success = one(cell(call.member, "put", "success"))
    if call.member != "BasePriority":
        yield success
        return
    inside = -32768 <= call.arguments[-1].value <= 32767
    if inside and (info.format or "").casefold().startswith("public="):
        yield success
        return
    refused = Option(cell("BasePriority", "put", "refused"), ILLEGAL_PROPERTY_VALUE)
    if inside and info.format is None and info.resolved:
        return
    if not inside:
        yield (refused,)
        return
    options = {
        "refused": Option(refused.names, refused.status, None, ((PRIVATE_PRIORITY, "refused"),)),
        "ignored": Option((), S_OK, None, ((PRIVATE_PRIORITY, "ignored"),)),
    }
    yield tuple(options[word] for word in accepted(readings, PRIVATE_PRIORITY, "refused", "ignored"))


def _get(info: Info, store: Store, call: Invoke, readings: Readings) -> Iterator[Choice]:
    name, target = call.member, store.target(info)
    if name in _NO_REFRESH:
        yield one(cell(name, "get", "success"))
        choice = _format_name(info, store, target, readings) if name == "FormatName" else None
        yield choice if choice is not None else _readable(info, store, target, name, readings)
        return
    attribute = MEMBERS[name].kept_as or name
    kept = _stored(info, name, attribute, target)
    queue = store.queue(target)
    if info.refreshed or queue is not None:
        yield from _value(info, store, target, queue, name, readings, kept)
    elif target.kind is QueueKind.MACHINE:
        yield from _machine_value(info, name, readings)
    elif target.kind not in (QueueKind.OTHER, QueueKind.SUBQUEUE) and not (
        attribute in info.unsaved and (kept is None or info.refusal is not None)
    ):
        yield from _refresh_failed(info, store, target, name, kept)


def _stored(info: Info, name: str, attribute: str, target: Target) -> Option | None:
    """Return the option that a getter shows what was put and not stored yet."""
    if attribute not in info.unsaved or attribute == "BasePriority":
        return None
    value: Variant | Shape = info.values[attribute]
    if attribute == "PathName":
        value = shown.path_name(info.path or "", None)
    elif attribute == "Type" and isinstance(value, Variant):
        value = shown.service_type(value)
    return Option(info.shows.get(attribute, ()), S_OK, value, ((AFTER_PUT, "keeps-put"),))


def _refresh_failed(info: Info, store: Store, target: Target, name: str, kept: Option | None) -> Iterator[Choice]:
    because = store.gone.get(target.key, ()) if target.kind is QueueKind.HERE else info.because
    names = (*cell(name, "get", "refresh-failure"), *_why(name, "get", target, info), *because)
    if target.kind is QueueKind.SEVERAL:
        names = (*names, *cell(name, "get", "check:several-queues"))
    readings = ((AFTER_PUT, "refreshes"),) if kept is not None else ()
    failure = Option(names, ANY_FAILURE, None, readings)
    yield (failure,) if kept is None else (kept, failure)
    if info.refusal is not None and kept is None:
        yield one(cell(name, "get", "refresh-failure-code"), info.refusal)


def _value(
    info: Info,
    store: Store,
    target: Target,
    queue: Stored | None,
    name: str,
    readings: Readings,
    kept: Option | None,
) -> Iterator[Choice]:
    attribute = MEMBERS[name].kept_as or name
    if name in _DIRECTORY:
        if not target.public:
            yield one(cell(name, "get", "check:not-public"), ANY_FAILURE)
        elif target.kind is QueueKind.HERE and queue is None:  # looked up each time, refreshed or not
            yield one(cell(name, "get", "check:gone"), ANY_FAILURE)
        return
    yield one((*info.named, *cell(name, "get", "success")))  # of a message's queue: without a name nothing is found
    if attribute in info.doubtful or (queue is not None and not info.refreshed and attribute in queue.doubtful):
        return
    if info.refreshed:
        options = tuple(_options(info, store, target, queue, name, readings, info.values, info.shows))
        if options:
            yield options
        return
    assert queue is not None
    values, shows = {**queue.values}, dict(queue.shows)
    stored = list(_options(info, store, target, queue, name, readings, values, shows))
    refresh = (*info.forgets, *cell(name, "get", "refresh"))
    if info.created and not info.refreshed:
        refresh = (*refresh, *cell("Create", "method", "flags"))
    if kept is None:
        told = bool(queue.shows.get(attribute)) and not info.forgets  # by Create or Update: theirs is the fault first
        yield tuple(replace(o, names=(*o.names, *refresh) if told else (*refresh, *o.names)) for o in stored)
        return
    words = accepted(readings, AFTER_PUT, "keeps-put", "refreshes")
    both: list[Option] = [kept] if "keeps-put" in words else []
    if "refreshes" in words:
        both += [
            Option((*o.names, *refresh), o.status, o.value, (*o.readings, (AFTER_PUT, "refreshes"))) for o in stored
        ]
    yield tuple(both)


def _options(
    info: Info,
    store: Store,
    target: Target,
    queue: Stored | None,
    name: str,
    readings: Readings,
    values: dict[str, Variant] | object,
    shows: dict[str, Names] | object,
) -> Iterator[Option]:
    """Yield the values that a getter can show of the queue an object stands for."""
    assert isinstance(values, dict) and isinstance(shows, dict)
    attribute = MEMBERS[name].kept_as or name
    because = shows.get(attribute, ())
    first = store.seen.get((target.key, attribute))
    gives = cell(name, "get", "gives")
    if attribute == "Identifier":
        others = {key: one for (key, what), one in store.seen.items() if what == attribute and key != target.key}
        yield Option((*because, *gives), S_OK, shown.guid(target.key, first, others, store.manager))
    elif attribute in ("CreateTime", "ModifyTime"):
        yield Option((*because, *gives), S_OK, shown.date(first, store.now))
    elif attribute == "PathName":
        if queue is not None:
            yield Option((*because, *gives), S_OK, shown.path_name(queue.path, info.path))
    elif attribute == "Transactional":
        if queue is not None:
            case = "gives:true" if queue.transactional else "gives:false"
            value = shown.transactional(name, queue.transactional)
            yield Option((*because, *gives, *cell(name, "get", case)), S_OK, value)
    elif attribute == "BasePriority":
        named = info.format or ""
        if named.casefold().startswith("public="):
            yield Option((*because, *gives), S_OK, values[attribute])
        elif not target.public:
            yield Option(cell(name, "get", "gives:none"), S_OK, long(0))
    elif attribute == "JournalQuota":
        yield from _journal_quota(values[attribute], (*because, *gives), readings)
    elif attribute in values:
        if info.refreshed and queue is not None and queue.values.get(attribute) != values[attribute]:
            because = (*because, *cell("Refresh", "method", "refreshed"))
        yield _plain(name, values[attribute], because)


def _plain(name: str, value: Variant, because: Names) -> Option:
    attribute = MEMBERS[name].kept_as
    case = "gives:true" if value.value else "gives:false"
    names = (*because, *cell(name, "get", "gives", case))
    if attribute == "Type":
        return Option(names, S_OK, shown.service_type(value))
    return Option(names, S_OK, shown.null_text() if attribute == "MulticastAddress" and not value.value else value)


def _journal_quota(value: Variant, names: Names, readings: Readings) -> Iterator[Option]:
    for word in accepted(readings, QUOTA_UNIT, "kilobytes", "thousandfold"):
        if value.value >= 0 or word == "kilobytes":
            yield Option(names, S_OK, value, ((QUOTA_UNIT, word),))
        else:
            yield Option(names, S_OK, long(0xFFFFFFFF // 1000), ((QUOTA_UNIT, word),))


def _machine_value(info: Info, name: str, readings: Readings) -> Iterator[Choice]:
    value = shown.of_machine(MEMBERS[name].kept_as or name)
    if value is None:
        return
    names = (*cell(name, "get", "machine", "gives:false"), *cell("Refresh", "method", "machine"))
    options = {
        "refreshed": Option(names, S_OK, value, ((MACHINE, "refreshed"),)),
        "refused": Option((), ANY_FAILURE, None, ((MACHINE, "refused"),)),
    }
    words = ("refreshed",) if info.system else accepted(readings, MACHINE, "refreshed", "refused")
    yield tuple(options[word] for word in words)


def _format_name(info: Info, store: Store, target: Target, readings: Readings) -> Choice | None:
    gives = (*info.named, *cell("FormatName", "get", "gives"))
    if info.format is not None:
        return one((*info.shows.get("QueueFormatName", ()), *gives), S_OK, text(info.format))
    null = shown.null_text()
    queue = store.queue(target)
    parent = store.parent(target)
    if parent is not None:
        if not info.resolved or info.path is None:
            return ()
        direct = f"DIRECT=OS:{parent.path};{info.path.partition(';')[2]}"
        value = Shape(text(direct), lambda seen: str(seen.value).casefold() == direct.casefold(), direct)
        return one((*cell("FormatName", "get", "format:subqueue", "format:direct", "format"), *gives), S_OK, value)
    if queue is None:
        names = (*info.because, *info.shows.get("QueueFormatName", ()))
        return one(
            (*names, *gives) if info.path is not None else (*names, *cell("FormatName", "get", "initial")), S_OK, null
        )
    before = (*info.had_format, *info.named)
    worked_out = tuple(replace(one, names=(*before, *one.names)) for one in _worked_out(store, queue, readings))
    if info.resolved:
        return worked_out
    reading, yes, no = (AFTER_CREATE, "set", "unset") if info.created else (OF_PATH, "looked-up", "null")
    words = accepted(readings, reading, yes, no)
    options: list[Option] = []
    names = (*info.shows.get("QueueFormatName", ()), *gives)
    if info.perhaps and not info.created:
        return (Option(names, S_OK, null), *worked_out)
    if no in words:
        options.append(Option(names, S_OK, null, ((reading, no),)))
    if yes in words:
        options += [Option(o.names, S_OK, o.value, (*o.readings, (reading, yes))) for o in worked_out]
    return tuple(options)


def _worked_out(store: Store, queue: Stored, readings: Readings) -> Iterator[Option]:
    words = ("public",) if queue.public else accepted(readings, CONVERSION, "private", "direct")
    for word in words:
        names = (*cell("FormatName", "get", f"format:{word}", "format", "gives"),)
        assumed = () if queue.public else ((CONVERSION, word),)
        yield Option(names, S_OK, shown.format_name(store, queue, word), assumed)


def _readable(info: Info, store: Store, target: Target, name: str, readings: Readings) -> Choice:
    queue = store.queue(target)
    if name == "FormatName" or queue is None or not info.refreshed:
        return ()
    first = store.seen.get((target.key, "Security"))
    options = {
        "receive-right": queue.readable,
        "ownership-right": None,
    }
    made = []
    for word in accepted(readings, READABLE, "receive-right", "ownership-right"):
        value = shown.world_readable(name, options[word], first)
        names = cell(name, "get", "gives", "gives:true" if value.sample.value else "gives:false")
        made.append(Option(names, S_OK, value, ((READABLE, word),)))
    return tuple(made)


def _create(info: Info, store: Store) -> Iterator[Choice]:
    target = store.target(Info(path=info.path))
    if target.kind is QueueKind.UNNAMED and (info.refreshed or info.resolved):
        if store.queue(store.target(info)) is not None:  # a refresh has told the path name, and it is that of a queue
            yield one(cell("Create", "method", "check:exists"), ANY_FAILURE)
    elif target.kind is QueueKind.UNNAMED:
        because = (*info.because, *info.shows.get("PathName", ()))
        yield one((*because, *cell("Create", "method", "check:no-path-name")), ANY_FAILURE)
    elif target.kind in (QueueKind.UNPARSED, QueueKind.NO_COMPUTER):
        yield one(cell("Create", "method", "check:path-name"), ANY_FAILURE)
    elif target.kind is QueueKind.ELSEWHERE:
        yield one(cell("Create", "method", "check:elsewhere"), ANY_FAILURE)
    elif store.queue(target) is not None:
        yield one(cell("Create", "method", "check:exists"), ANY_FAILURE)
    elif target.kind is QueueKind.HERE and not target.public:
        yield one((*store.gone.get(target.key, ()), *cell("Create", "method", "success")))


def _method(info: Info, store: Store, call: Invoke, readings: Readings) -> Iterator[Choice]:
    name, target = call.member, store.target(info)
    opens = name == "Open"
    sends = opens and call.arguments[0].value == _SEND
    queue = store.queue(target)
    if target.kind is QueueKind.UNNAMED:
        names = (*info.because, *cell(name, "method", "check:no-name"), *_why(name, "method", target, info))
        yield one(names, ANY_FAILURE)
    elif sends and call.arguments[1].value != _DENY_NONE:
        yield one(cell(name, "method", "check:share-mode"), ANY_FAILURE)
    elif target.kind is QueueKind.SEVERAL:
        if not sends:
            yield one(cell(name, "method", "check:several-queues"), ANY_FAILURE)
    elif target.kind is QueueKind.ELSEWHERE or (target.kind is QueueKind.MACHINE and name in ("Delete", "Update")):
        if not opens:
            yield one(cell(name, "method", "check:elsewhere"), ANY_FAILURE)
    elif target.kind is QueueKind.MACHINE:
        if name == "Refresh":
            refreshed = Option(cell(name, "method", "machine"), S_OK, None, ((MACHINE, "refreshed"),))
            refused = Option((), ANY_FAILURE, None, ((MACHINE, "refused"),))
            words = accepted(readings, MACHINE, "refreshed", "refused")
            yield tuple(option for option in (refreshed, refused) if option.readings[0][1] in words)
    elif target.kind not in (QueueKind.OTHER, QueueKind.SUBQUEUE) and queue is None:
        gone = store.gone.get(target.key, ())
        yield one((*gone, *_why(name, "method", target, info)), ANY_FAILURE)
    elif queue is not None:
        yield from _done(info, call, target, queue)


def _why(name: str, kind: Form, target: Target, info: Info) -> Names:
    """Return what a refusal shows whose cause is that the name means no queue."""
    of_event = {
        QueueKind.UNNAMED: "name:none",
        QueueKind.UNPARSED: "name:unparsed",
        QueueKind.NO_COMPUTER: "name:no-computer",
    }
    event = cell("Refresh", "method", of_event[target.kind]) if target.kind in of_event else ()
    if kind == "get":
        return (*event, *cell(name, "get", "check:no-name")) if target.kind is QueueKind.UNNAMED else event
    if info.format is not None:
        return cell(name, kind, "check:missing")
    return (*cell(name, kind, "check:name"), *event)


def _done(info: Info, call: Invoke, target: Target, queue: Stored) -> Iterator[Choice]:
    name = call.member
    refused = False
    if name == "Open":
        conflict = clashes(call.arguments[0].value, call.arguments[1].value, queue)
        if conflict is None:
            return
        refused = conflict
    if refused:
        yield one(cell(name, "method", f"check:sharing:{call.arguments[1].value}", "check:missing"), ANY_FAILURE)
        return
    names = cell(name, "method", "success", "done")
    if info.format is None:
        spelled = "name:dot" if (info.path or "").startswith(".\\") else "name:path"
        names = (*names, *cell(name, "method", "by-path"), *cell("Refresh", "method", "name:parsed", spelled))
    else:
        names = (*names, *cell("Refresh", "method", "name:given"))
    if name == "Open":
        value = Shape(
            Variant("DISPATCH", "queue"),
            lambda seen: seen.vt in ("DISPATCH", "UNKNOWN") and bool(seen.value),
            "an object",
        )
        yield one((*names, *cell(name, "method", "gives")), S_OK, value)
    elif not target.public or name == "Delete":
        yield one(names)
    else:
        yield one((), ANY_STATUS)


def clashes(access: int, share: int, queue: Stored) -> bool | None:
    """Tell whether the descriptors that are open refuse another one. None where the documents disagree."""
    if access == _SEND:
        return False
    if access not in _READS or share not in (_DENY_NONE, _DENY):
        return None
    readers = {(was, how) for _, was, how in queue.opened if was in _READS}
    receives, exclusive = access == 1, share == _DENY
    if (1, _DENY) in readers:
        return True if receives or exclusive else None
    if (32, _DENY) in readers:
        return True if receives else None
    if exclusive and readers:
        return True if (1, _DENY_NONE) in readers else None
    return False
