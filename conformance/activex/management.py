"""MSMQManagement and the two interfaces it answers to: what they tell of a queue (MC-MQAC 3.3, 3.4, 3.5, 2.2.4).

What they tell is what the queue manager reports. Where a driver also offers the facet `management`, the plan asks for
the same properties beside the object, and the report decides; for queues here the plan's own calls decide as well.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.activex.expected import Invoke, Seen
from conformance.activex.identity import E_NOINTERFACE
from conformance.activex.library import interfaces
from conformance.activex.queue_store import QueueKind
from conformance.activex.services import BOTH, COLLECTION, MANAGEMENT, NEITHER, UNINITIALIZED, Computer, Names, cell
from conformance.activex.step import ANY_FAILURE, Choice, Option, Shape, one
from conformance.activex.values import MISSING, NOTHING, S_OK, Variant, long, text, truth
from conformance.spec.constants.properties import PROPERTIES

AGAIN: Final = "R-MQAC-init-again"
INACTIVE: Final = "R-MQAC-init-inactive-queue"
TYPES: Final = "R-MQAC-management-number-types"
CONVERSION: Final = "R-MQAC-path-name-conversion"
QUERY: Final = "QueryInterface"
OF_QUEUES, OF_OUTGOING = interfaces()["IMSMQQueueManagement"].iid, interfaces()["IMSMQOutgoingQueueManagement"].iid
_OUTGOING_ONLY: Final = frozenset({"State", "NextHops", "EodGetSendInfo", "Resume", "Pause", "EodResend"})
_QUEUES_ONLY: Final = frozenset({"JournalMessageCount", "BytesInJournal", "EodGetReceiveInfo"})
_NO_REPORT: Final = frozenset({"FormatName", "Machine"})

Report = Mapping[int, Any] | int
"""The queue manager's answer about a queue: values of properties by number, or the status of its refusal."""


def number(name: str) -> int:
    """Return the number of a property of MS-MQMQ 2.3.12."""
    return PROPERTIES[f"PROPID_MGMT_QUEUE_{name}"].value


ITEMS: Final[Mapping[str, str]] = {
    "EodLastAck": "LAST_ACK",
    "EodLastAckTime": "LAST_ACK_TIME",
    "EodLastAckCount": "LAST_ACK_COUNT",
    "EodFirstNonAck": "FIRST_NON_ACK",
    "EodLastNonAck": "LAST_NON_ACK",
    "EodNextSeq": "NEXT_SEQ",
    "EodNoReadCount": "NO_READ_COUNT",
    "EodNoAckCount": "NO_ACK_COUNT",
    "EodResendTime": "RESEND_TIME",
    "EodResendInterval": "RESEND_INTERVAL",
    "EodResendCount": "RESEND_COUNT",
}
"""Keys of the collection of an outgoing queue, with the properties they come from (2.2.4.2)."""
_TIMES: Final = frozenset({"EodLastAckTime", "EodResendTime"})
_SEQUENCES: Final = frozenset({"EodLastAck", "EodFirstNonAck", "EodLastNonAck", "EodNextSeq"})
_NUMBERS: Final = frozenset({"seqno", "prevno"})
_SEQUENCE: Final = struct.Struct("<QII")
ASKED: Final = tuple(
    number(name)
    for name in (
        *("TYPE", "LOCATION", "XACT", "FOREIGN", "MESSAGE_COUNT", "BYTES_IN_QUEUE"),
        *("JOURNAL_MESSAGE_COUNT", "BYTES_IN_JOURNAL", "STATE", "NEXTHOPS"),
        *(f"EOD_{name}" for name in ITEMS.values()),
    )
)
"""The properties that a plan asks the queue manager for."""
_WORDS: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "QueueType": ("TYPE", {"PUBLIC": 0, "PRIVATE": 1, "MACHINE": 2, "CONNECTOR": 3, "MULTICAST": 4}),
    "ForeignStatus": ("FOREIGN", {"YES": 0, "NO": 1, "UNKNOWN": 2}),
    "TransactionalStatus": ("XACT", {"YES": 0, "NO": 1, "UNKNOWN": 2}),
    "State": (
        "STATE",
        {
            "LOCAL CONNECTION": 0,
            "DISCONNECTED": 1,
            "WAITING": 2,
            "NEED VALIDATION": 3,
            "ONHOLD": 4,
            "INACTIVE": 5,
            "CONNECTED": 6,
            "DISCONNECTING": 7,
            "LOCKED": 8,
        },
    ),
}
"""Members that give a number for a word of the report."""
_COUNTS: Final = {"MessageCount": "MESSAGE_COUNT", "JournalMessageCount": "JOURNAL_MESSAGE_COUNT"}
_SIZES: Final = {"BytesInQueue": "BYTES_IN_QUEUE", "BytesInJournal": "BYTES_IN_JOURNAL"}


_UNREADY: Final = cell(MANAGEMENT, "Initialization.new", "uninitialized", "bound")


@dataclass(frozen=True, slots=True)
class Managed:
    """An MSMQManagement. key: of a queue here; name: of an outgoing one; neither before Init. computer: the argument of
    Init. given: the format name of Init; path: the path name. because: what its state shows. untold: Init was called
    again in a way that leaves its state open. system: it is about a queue of the system.
    """

    key: str = ""
    name: str = ""
    computer: str | None = None
    given: str | None = None
    path: str | None = None
    ready: bool = False
    because: Names = _UNREADY
    untold: bool = False
    system: bool = False

    @property
    def asked(self) -> str:
        """The format name by which the queue manager is asked."""
        return (self.given or f"DIRECT=OS:{self.path}").casefold()


@dataclass(frozen=True, slots=True)
class Collected:
    """An MSMQCollection. values: by key in small letters, None where no report tells. known: whether these are all.
    names: the requirements that a look at a key shows. size: the number of elements.
    """

    values: Mapping[str, Variant | None]
    names: Mapping[str, Names]
    size: int | None
    because: Names = ()


EMPTY: Final = Collected({}, {}, 0, cell(COLLECTION, "Initialization.new", "empty"))


def named(member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a form of a member."""
    return cell(MANAGEMENT, member, *columns)


def demands(world: Computer, its: Managed, call: Invoke, reports: Mapping[str, Report]) -> Iterator[Choice]:
    """Yield what an answer has to be."""
    form = f"{call.member}.{call.kind}"
    if call.member == QUERY:
        yield from _query(its, str(call.arguments[0].value).lower())
    elif call.member == "Init":
        yield from _init(world, its, call, reports)
    elif its.untold:
        return
    elif not its.ready:
        check = named(form, "check")
        yield one((*check, *its.because), ANY_FAILURE)
        yield one(named(form, "code"), int(UNINITIALIZED.status or 0))
    elif call.member in _NO_REPORT:
        yield _success(form)
        yield from _getter_demands(world, its, call.member)
    elif (call.member in _OUTGOING_ONLY and not its.name) or (call.member in _QUEUES_ONLY and its.name):
        return
    elif _represents(world, its):
        yield from _reported(world, its, call, reports.get(its.asked))


def _represents(world: Computer, its: Managed) -> bool:
    """Tell whether the queue is deleted or active: of another one MC-MQAC 3.3 does not tell."""
    if its.key:
        return its.key not in world.queues or world.is_open(its.key)
    return not its.name or world.is_active(its.name)


def _success(form: str) -> Choice:
    """Return that a member succeeds; if it takes the object for a new one, Init has not initialized it."""
    return (Option(named(form, "success"), blames=((int(UNINITIALIZED.status or 0), named("Init.method", "ready")),)),)


def _query(its: Managed, iid: str) -> Iterator[Choice]:
    if its.untold:
        return
    outgoing = bool(its.name) if its.ready else False
    if iid == OF_QUEUES:
        column, fits = "queue", not outgoing
    elif iid == OF_OUTGOING:
        column, fits = "outgoing", outgoing
    else:
        return
    names = named(f"{QUERY}.method", column)
    if fits:
        names = (*names, *(named(f"{QUERY}.method", "outgoing-too") if outgoing else ()))
        new = cell(MANAGEMENT, "Initialization.new", "incoming") if not its.ready else ()
        yield one((*names, *new), S_OK, _OBJECT)
    else:
        names = (*names, *named(f"{QUERY}.method", f"{column}-code"))
        yield one((*names, *(its.because if not its.ready else ())), E_NOINTERFACE)


_OBJECT: Final = Shape(
    Variant("DISPATCH", "x"), lambda shown: shown.vt in ("DISPATCH", "UNKNOWN") and bool(shown.value), "an object"
)


def optional_text(value: Variant) -> str | None:
    """Return the text of an optional argument; None if it is left out or NULL."""
    return None if value == MISSING or value.vt in NOTHING or value.value is None else str(value.value)


def _init(world: Computer, its: Managed, call: Invoke, reports: Mapping[str, Report]) -> Iterator[Choice]:
    form = "Init.method"
    machine, path, name = map(optional_text, call.arguments)
    for check, broken in ((NEITHER, path is None and name is None), (BOTH, path is not None and name is not None)):
        if broken:
            yield one(named(form, f"check:{check.name}"), ANY_FAILURE)
            yield one(named(form, f"code:{check.name}"), int(check.status or 0))
            return
    if machine is not None and machine.casefold() != world.computer.casefold():
        yield one(named(form, "unbound"), ANY_FAILURE)
        return
    found = _named_queue(world, path, name)
    if found == _SYSTEM:
        return
    if found is None:
        yield one(named(form, "unknown" if path is not None else "fails", "inactive"), ANY_FAILURE)
        report = None if name is None else reports.get(name.casefold())
        if isinstance(report, int):
            yield one(named(form, "fails"), report)
    elif not (world.is_active(found[1]) if found[1] else world.is_open(found[0])):
        refused = Option(named(form, "inactive"), ANY_FAILURE, readings=((INACTIVE, "refused"),))
        yield (refused, Option((), S_OK, readings=((INACTIVE, "initialized"),)))
    elif its.ready:
        again = Option(named(form, "success"), S_OK, readings=((AGAIN, "again"),))
        yield (again, Option(named(form, "success"), ANY_FAILURE, readings=((AGAIN, "refused"),)))
    else:
        yield one((*named(form, "success", "active"), *_how(machine, path)))


def _how(machine: str | None, path: str | None) -> Names:
    return named(
        "Init.method", "no-machine" if machine is None else "machine", "path" if path is not None else "format"
    )


_SYSTEM: Final = ("", "")


def _named_queue(world: Computer, path: str | None, name: str | None) -> tuple[str, str] | None:
    """Return key or outgoing name of the queue that Init is about; None if there is none."""
    if name is not None and name.casefold() in world.outgoing:
        return "", name
    target = world.target(path, name)
    if target.kind in (QueueKind.MACHINE, QueueKind.OTHER):
        return _SYSTEM
    return (target.key, "") if target.kind is QueueKind.HERE and target.key in world.queues else None


def _getter_demands(world: Computer, its: Managed, member: str) -> Iterator[Choice]:
    form = f"{member}.get"
    if member == "Machine":
        column = "local" if its.computer is None else "named"
        names = (
            *named(form, "gives", column),
            *cell(MANAGEMENT, "Initialization.new", *(("local",) if its.computer is None else ())),
        )
        if its.computer is not None:
            names = (*names, *named("Init.method", "machine"))
        yield one(names, S_OK, text(its.computer or world.computer))
        return
    if its.given is not None:
        yield one((*named(form, "gives"), *named("Init.method", "format")), S_OK, text(its.given))
        return
    names = (*named(form, "gives"), *named("Init.method", "path"))
    before = world.converted.get(str(its.path).casefold())
    if before is not None:
        yield one(names, S_OK, text(before))
        return
    sample = text(f"PRIVATE={world.manager}\\1")
    private = Shape(
        sample, lambda shown: world.names_private(str(shown.value or ""), its.key), "its private format name"
    )
    direct = f"direct=os:{its.path}".casefold()
    shape = Shape(text(direct), lambda shown: str(shown.value or "").casefold() == direct, "its direct format name")
    yield (
        Option(names, S_OK, private, ((CONVERSION, "private"),)),
        Option(names, S_OK, shape, ((CONVERSION, "direct"),)),
    )


def _reported(world: Computer, its: Managed, call: Invoke, report: Report | None) -> Iterator[Choice]:
    form = f"{call.member}.{call.kind}"
    gone = bool(its.key) and its.key not in world.queues
    if isinstance(report, int):
        yield one(named(form, "gone"), ANY_FAILURE)
        yield one(named(form, "gone:code"), report)
        return
    if gone:
        yield one(named(form, "gone"), ANY_FAILURE)
        return
    yield _success(form)
    if call.member in ("Pause", "Resume", "EodResend"):
        yield one(named(form, "does"))
    elif call.member == "EodGetSendInfo":
        yield one((*named(form, "gives"), *its_items()), S_OK, _OBJECT)
    elif call.member == "EodGetReceiveInfo":
        yield one(named(form, "gives"), S_OK, Variant("ARRAY", (), "VARIANT"))
    else:
        yield from _values(world, its, call.member, report)


def its_items() -> Names:
    """Return the requirements of the properties that a collection is made of."""
    return tuple(name for item in ITEMS.values() for name in named("EodGetSendInfo.method", f"item:{item}"))


def _values(world: Computer, its: Managed, member: str, report: Mapping[int, Any] | None) -> Iterator[Choice]:
    form = f"{member}.get"
    queue = world.queues.get(its.key)
    told = {} if report is None else report
    if member in _WORDS:
        name, words = _WORDS[member]
        value = words.get(str(told.get(number(name))))
        if value is None and queue is not None:
            public = "private$" not in queue.path.casefold()
            value = {"QueueType": 0 if public else 1, "TransactionalStatus": 0 if queue.transactional else 1}.get(
                member
            )
        if member == "State":
            yield from _managed_values(world, its)
        if value is not None:
            yield one((*named(form, f"gives:{value}"), *named(form, "gives")), S_OK, long(value))
    elif member == "IsLocal":
        local = not its.name
        column = "gives:true" if local else "gives:false"
        because = () if local else named("Init.method", "outgoing")
        if not local and its.ready:
            because = (*because,)
        yield one((*named(form, column), *because), S_OK, truth(local))
    elif member in _COUNTS:
        yield from _count(world, its, member, told.get(number(_COUNTS[member])))
    elif member in _SIZES:
        yield from _size(world, its, member, told.get(number(_SIZES[member])))
    elif member == "NextHops" and report is not None:
        hops = tuple(text(str(hop)) for hop in told.get(number("NEXTHOPS")) or ())
        yield one(named(form, "gives"), S_OK, Variant("ARRAY", hops, "BSTR"))


_ON_HOLD: Final = 4


def _managed_values(world: Computer, its: Managed) -> Iterator[Choice]:
    """Yield what the state shows of the last Pause or Resume."""
    queue = world.outgoing.get(its.name.casefold())
    if queue is None or queue.held is None:
        return
    if queue.held:
        yield one(named("Pause.method", "does"), S_OK, long(_ON_HOLD))
    else:
        other = Shape(long(5), lambda shown: shown.vt == "I4" and shown.value != _ON_HOLD, "any state but ONHOLD")
        yield one(named("Resume.method", "does"), S_OK, other)


def _count(world: Computer, its: Managed, member: str, reported: Any) -> Iterator[Choice]:
    names = named(f"{member}.get", "gives")
    if reported is not None:
        yield one(names, S_OK, long(int(reported)))
    queue = world.queues.get(its.key)
    if queue is not None:
        yield one(names, S_OK, long(queue.messages if member == "MessageCount" else queue.journaled))


def _size(world: Computer, its: Managed, member: str, reported: Any) -> Iterator[Choice]:
    names = named(f"{member}.get", "gives")
    if reported is not None:
        yield _sized(names, int(reported))
    queue = world.queues.get(its.key)
    if queue is None:
        return
    messages = queue.messages if member == "BytesInQueue" else queue.journaled
    unit = world.units.get("here")
    if unit is not None or not messages:
        yield _sized(names, messages * (unit or 0))
    else:
        yield (
            Option(names, S_OK, _multiple("UI8", messages), ((TYPES, "as-declared"),)),
            Option(names, S_OK, _multiple("UI4", messages), ((TYPES, "as-stored"),)),
        )


def _multiple(vt: str, messages: int) -> Shape:
    """Return the size of some equal messages of which none has been shown yet."""
    return Shape(
        Variant(vt, 100 * messages),
        lambda shown: shown.vt == vt and int(shown.value) > 0 and int(shown.value) % messages == 0,
        f"{messages} times the size of one message",
    )


def _sized(names: Names, size: int) -> Choice:
    stored = Option(names, S_OK, Variant("UI4", size), ((TYPES, "as-stored"),))
    return (Option(names, S_OK, Variant("UI8", size), ((TYPES, "as-declared"),)), stored)


def after(world: Computer, its: Managed, call: Invoke, seen: Seen) -> tuple[Computer, Managed]:
    """Return the world and the object as a call has left them."""
    if call.member == "Init":
        machine, path, name = map(optional_text, call.arguments)
        if seen.status != S_OK:
            return world, replace(its, untold=True) if its.ready else replace(its, because=_left(path, name))
        found = _named_queue(world, path, name)
        if found is None or (
            its.ready and (found != (its.key, its.name) or (machine is None and its.computer is not None))
        ):
            return world, replace(its, untold=True)
        system = found == _SYSTEM
        ready = replace(
            its,
            system=system,
            key=found[0],
            name=found[1],
            given=name,
            path=path,
            computer=machine,
            ready=True,
            because=(),
        )
        return world, ready
    if call.member == "EodResend" and seen.status == S_OK and its.name.casefold() in world.outgoing:
        return world.with_outgoing(replace(world.outgoing[its.name.casefold()], resent=True)), its
    if call.member == "FormatName" and its.path is not None and seen.status == S_OK and seen.value is not None:
        return world.with_converted(its.path, str(seen.value.value or "")), its
    if call.member in ("Pause", "Resume") and seen.status == S_OK and its.name.casefold() in world.outgoing:
        outgoing = world.outgoing[its.name.casefold()]
        return world.with_outgoing(replace(outgoing, held=call.member == "Pause")), its
    if call.member == "BytesInQueue" and its.ready and seen.value is not None and "here" not in world.units:
        queue = world.queues.get(its.key)
        if queue is not None and queue.messages and isinstance(seen.value.value, int):
            world = replace(world, units={**world.units, "here": seen.value.value // queue.messages})
    return world, its


def _left(path: str | None, name: str | None) -> Names:
    return named("Init.method", "inactive", "before") if (path is None) != (name is None) else ()


def collected(report: Mapping[int, Any] | None) -> Collected:
    """Return what EodGetSendInfo gives."""
    values: dict[str, Variant | None] = {}
    names: dict[str, Names] = {}
    for key, item in ITEMS.items():
        names[key.casefold()] = (
            *named("EodGetSendInfo.method", f"item:{item}"),
            *cell(COLLECTION, f"{key}.item", "item"),
        )
        told = None if report is None else report.get(number(f"EOD_{item}"))
        values[key.casefold()] = None
        if told is not None and key not in _SEQUENCES:
            values[key.casefold()] = long(int(told)) if key in _TIMES else Variant("UI4", int(told))
    return Collected(values, names, len(ITEMS), its_items())


def sequence(key: str, report: Mapping[int, Any] | None) -> Collected | None:
    """Return the collection behind one of the four keys that give sequence numbers; None where no report tells."""
    told = None if report is None else report.get(number(f"EOD_{ITEMS[key]}"))
    if not isinstance(told, str):
        return None
    numbered = _SEQUENCE.unpack(base64.b64decode(told))
    values = (Variant("UI8", numbered[0]), long(numbered[1]), long(numbered[2]))
    keys = ("SeqID", "SeqNo", "PrevNo")
    source = cell(COLLECTION, f"{key}.item", "item")
    names = {each.casefold(): (*cell(COLLECTION, f"{each}.item", "item"), *source) for each in keys}
    return Collected({each.casefold(): value for each, value in zip(keys, values, strict=True)}, names, len(keys))


def looked_up(its: Collected, call: Invoke) -> Iterator[Choice]:
    """Yield what a collection has to answer."""
    form = f"{call.member}.{call.kind}"
    if call.member == "Count":
        yield one(cell(COLLECTION, form, "success"))
        if its.size is not None:
            yield one((*cell(COLLECTION, form, "gives"), *its.because), S_OK, long(its.size))
    elif call.member == "_NewEnum":
        yield one(cell(COLLECTION, form, "success"))
        yield one(cell(COLLECTION, form, "gives"), S_OK, _OBJECT)
    else:
        key = call.arguments[0].value
        value = its.values.get(key.casefold()) if isinstance(key, str) else None
        if not isinstance(key, str) or key.casefold() not in its.values:
            numbered = () if isinstance(key, str) else cell(COLLECTION, form, "numbered")
            yield one((*numbered, *cell(COLLECTION, form, "check:key"), *its.because), ANY_FAILURE)
            yield one(cell(COLLECTION, form, "code:key"), 0xC00E0006)
            return
        of_key = its.names.get(key.casefold(), ())
        names = (*of_key, *cell(COLLECTION, form, "gives"))
        yield one((*of_key, *cell(COLLECTION, form, "success")))
        if key in _SEQUENCES:
            yield one(names, S_OK, _OBJECT)
        elif value is not None and key.casefold() in _NUMBERS:
            stored = Option(names, S_OK, Variant("UI4", int(value.value) & 0xFFFFFFFF), ((TYPES, "as-stored"),))
            yield (Option(names, S_OK, value, ((TYPES, "as-declared"),)), stored)
        elif value is not None:
            yield one(names, S_OK, value)
