"""MSMQQuery and MSMQQueueInfos over a directory that the plan gives (MC-MQAC 3.13, 3.14, 2.2.2.20).

A query finds the queues of the directory that meet each constraint it names. The text gives no order, so a collection
is judged as a set: each queue once in a pass, and no other one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.activex.expected import Invoke, Seen
from conformance.activex.services import QUERY, QUEUE_INFOS, SERVICES, Names, cell
from conformance.activex.step import ANY_FAILURE, Choice, Option, Shape, one
from conformance.activex.values import E_NOTIMPL, MISSING, S_OK, Variant, hollow, text

WITHOUT: Final = "R-MQAC-query-without-multicast"
NOP, EQ = 0, 1
_OLE_DAYS, _DAY = 25569, 86_400
NULL_GUID: Final = "00000000-0000-0000-0000-000000000000"
_SOME_GUID: Final = "01234567-89ab-cdef-0123-456789abcdef"
_PUBLIC: Final = re.compile(r"PUBLIC=[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", re.IGNORECASE)
_OBJECT: Final = Shape(Variant("DISPATCH", "x"), lambda shown: bool(shown.value), "an object")
_NOTHING: Final = Shape(Variant("DISPATCH"), hollow, "no object")
_OPERATORS: Final[Mapping[int, Callable[[Any, Any], bool]]] = {
    1: lambda its, asked: bool(its == asked),
    2: lambda its, asked: bool(its != asked),
    3: lambda its, asked: bool(its < asked),
    4: lambda its, asked: bool(its > asked),
    5: lambda its, asked: bool(its <= asked),
    6: lambda its, asked: bool(its >= asked),
}
"""Members of RELOPS, but REL_NOP, with what they stand for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of the directory. sort: `queue`, `alias` or `distribution_list`. created, modified: OLE dates.

    guid: empty for a queue that the plan has created: the queue manager chooses it. Its times are not known either.
    """

    guid: str
    sort: str = "queue"
    path: str = ""
    dns: str = ""
    ads: str = ""
    format: str = ""
    label: str = ""
    type: str = NULL_GUID
    created: float = _OLE_DAYS
    modified: float = _OLE_DAYS
    multicast: str = ""

    def is_named(self, name: str) -> bool:
        """Tell whether a public format name may be that of this queue."""
        guid = name.casefold().removeprefix("public=")
        if self.guid:
            return guid == self.guid and guid != name.casefold()
        return _PUBLIC.fullmatch(name) is not None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entry:
        """Return the object that the protocol's `directory_object` describes."""
        return cls(
            str(data["guid"]).lower(),
            str(data.get("class", "queue")),
            str(data.get("path_name", "")),
            str(data.get("path_name_dns", "")),
            str(data.get("directory_path", "")),
            str(data.get("format_name", "")),
            str(data.get("label", "")),
            str(data.get("service_type", NULL_GUID)).lower(),
            _OLE_DAYS + int(data.get("create_time", 0)) / _DAY,
            _OLE_DAYS + int(data.get("modify_time", 0)) / _DAY,
            str(data.get("multicast_address") or ""),
        )


@dataclass(frozen=True, slots=True)
class Constraint:
    """One condition of a query. column: the argument, which names its cells. value, operator: as they are compared."""

    column: str
    value: Any
    operator: int
    default: bool

    def holds(self, entry: Entry) -> bool:
        """Tell whether a queue meets it."""
        its = {
            "QueueGuid": entry.guid,
            "ServiceTypeGuid": entry.type,
            "Label": entry.label,
            "CreateTime": entry.created,
            "ModifyTime": entry.modified,
            "MulticastAddress": entry.multicast,
        }[self.column]
        return _OPERATORS[self.operator](its, self.value)


@dataclass(frozen=True, slots=True)
class Infos:
    """An MSMQQueueInfos. ready: a query has made it. found: queues that it has to give; perhaps: those that it gives in
    one reading. told: those that a pass has shown; given: how many objects it has handed out. names: what they show.
    """

    ready: bool = False
    found: tuple[Entry, ...] = ()
    perhaps: tuple[Entry, ...] = ()
    told: tuple[str, ...] = ()
    given: int = 0
    names: Names = ()
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """An MSMQQueueInfo that Next gave. infos: the collection. entry: which queue it is, once its FormatName told."""

    infos: str
    entry: Entry | None = None


def constraints(call: Invoke, *, idle: bool = False) -> Iterator[Constraint]:
    """Yield what a call of LookupQueue asks for. idle: those with REL_NOP too, which ask for nothing."""
    row = SERVICES[QUERY][call.member].slots[0].arguments
    values = {one.name: value for one, value in zip(row, call.arguments, strict=False)}
    for column in ("QueueGuid", "ServiceTypeGuid", "Label", "CreateTime", "ModifyTime", "MulticastAddress"):
        value = values.get(column, MISSING)
        if value == MISSING:
            continue
        relation = values.get(f"Rel{'ServiceType' if column == 'ServiceTypeGuid' else column}", MISSING)
        operator = EQ if relation == MISSING or column == "QueueGuid" else int(relation.value)
        if operator != NOP or idle:
            default = relation == MISSING and column != "QueueGuid"
            yield Constraint(column, _asked(column, value), operator, default)


def _asked(column: str, value: Variant) -> Any:
    if column.endswith("Guid"):
        return str(value.value or "").strip("{}").lower()
    return float(value.value) if column.endswith("Time") else str(value.value or "")


def results(call: Invoke, directory: tuple[Entry, ...]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Return the queues that a query finds, and those that it finds in one reading."""
    if not well_formed(call):
        return (), ()
    asked = list(constraints(call))
    found = [entry for entry in directory if entry.sort == "queue" and all(one.holds(entry) for one in asked)]
    row = SERVICES[QUERY][call.member].slots[0].arguments
    given = {one.name for one, value in zip(row, call.arguments, strict=False) if value != MISSING}
    if call.member != "LookupQueue" or "MulticastAddress" in given:
        return tuple(found), ()
    return tuple(one for one in found if not one.multicast), tuple(one for one in found if one.multicast)


def named(call: Invoke) -> Names:
    """Return the requirements that the results of a query show."""
    form = f"{call.member}.method"
    names: list[str] = []
    for one_asked in constraints(call, idle=True):
        names += cell(QUERY, form, f"by:{one_asked.column}")
        names += cell(QUERY, form, f"default:{one_asked.column}") if one_asked.default else ()
        if one_asked.column != "QueueGuid":
            names += cell(QUERY, form, "op")
            names += cell(QUERY, "LookupQueue.method", f"op:{one_asked.operator}")
    if _without_address(call):
        names += cell(QUERY, form, "without")
    return tuple(
        dict.fromkeys((*names, *cell(QUERY, form, "gives"), *cell(QUEUE_INFOS, "Initialization.new", "given")))
    )


def _without_address(call: Invoke) -> bool:
    """Tell whether a query is for queues without a multicast address, as the text of the argument has it."""
    row = SERVICES[QUERY][call.member].slots[0].arguments
    given = {one.name: value for one, value in zip(row, call.arguments, strict=False)}
    address = given.get("MulticastAddress", MISSING)
    return call.member == "LookupQueue" and (address == MISSING or not address.value)


def looked_up(call: Invoke) -> Iterator[Choice]:
    """Yield what an MSMQQuery has to answer."""
    form = f"{call.member}.{call.kind}"
    if SERVICES[QUERY][call.member].unimplemented:
        yield one(cell(QUERY, form, "unimplemented"), E_NOTIMPL)
    elif well_formed(call):
        yield one(cell(QUERY, form, "success"), S_OK, _OBJECT)


def well_formed(call: Invoke) -> bool:
    """Tell whether the texts of GUIDs in a query have the form that the text gives; of others nothing is told."""
    row = SERVICES[QUERY][call.member].slots[0].arguments
    given = {one.name: value for one, value in zip(row, call.arguments, strict=False)}
    texts = [given[name] for name in ("QueueGuid", "ServiceTypeGuid") if given.get(name, MISSING) != MISSING]
    return all(_IN_BRACES.fullmatch(str(value.value or "")) for value in texts)


_IN_BRACES: Final = re.compile(r"\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")


def demands(its: Infos, call: Invoke) -> Iterator[Choice]:
    """Yield what an MSMQQueueInfos has to answer."""
    form = f"{call.member}.{call.kind}"
    if SERVICES[QUEUE_INFOS][call.member].unimplemented:
        yield one(cell(QUEUE_INFOS, form, "unimplemented"), E_NOTIMPL)
    elif not its.ready:
        made = cell(QUEUE_INFOS, "Initialization.new", "made")
        yield one((*cell(QUEUE_INFOS, form, "check:initialized"), *made), ANY_FAILURE)
    elif call.member == "Reset":
        yield one(cell(QUEUE_INFOS, form, "success"))
    else:
        yield one(cell(QUEUE_INFOS, form, "success"))
        yield _next(its)


def _next(its: Infos) -> Choice:
    form = "Next.method"
    head = cell(QUEUE_INFOS, "Reset.method", "head") if its.restarted else ()
    gives = (*its.names, *cell(QUEUE_INFOS, form, "gives"), *head)
    end = (*its.names, *cell(QUEUE_INFOS, form, "end"))
    if its.given < len(its.found):
        return (Option(gives, S_OK, _OBJECT),)
    if its.given >= len(its.found) + len(its.perhaps):
        return (Option(end, S_OK, _NOTHING),)
    return (
        Option(end, S_OK, _NOTHING, ((WITHOUT, "none"),)),
        Option(gives, S_OK, _OBJECT, ((WITHOUT, "any"),)),
    )


def info_demands(its: Found, infos: Infos, call: Invoke) -> Iterator[Choice]:
    """Yield what an MSMQQueueInfo that Next gave has to answer."""
    filled = cell("MSMQQueueInfo", "DirectoryEntry.get", "filled")
    refresh = (*cell(QUEUE_INFOS, "Next.method", "refresh"), *filled)
    if call.member == "FormatName":
        left = [one_left for one_left in (*infos.found, *infos.perhaps) if one_left.guid not in infos.told]
        if its.entry is not None:
            left = [its.entry]
        sample = text(f"PUBLIC={left[0].guid or _SOME_GUID}" if left else "")
        shape = Shape(
            sample,
            lambda it: any(entry.is_named(str(it.value or "")) for entry in left),
            "the name of a queue that is asked for",
        )
        yield one((*cell(QUEUE_INFOS, "Next.method", "format"), *infos.names), S_OK, shape)
    elif its.entry is not None:
        column = {"ADsPath": "ads", "PathNameDNS": "dns"}.get(call.member)
        value = _value(its.entry, call.member)
        names = cell("MSMQQueueInfo", "DirectoryEntry.get", column) if column is not None else refresh
        if value is not None:
            yield one(names, S_OK, value)


def _value(entry: Entry, member: str) -> Variant | Shape | None:
    texts = {
        "PathName": entry.path,
        "Label": entry.label,
        "ADsPath": entry.ads,
        "PathNameDNS": entry.dns,
        "MulticastAddress": entry.multicast,
    }
    guids = {"QueueGuid": entry.guid, "ServiceTypeGuid": entry.type}
    if member in guids and not entry.guid:
        return None
    if member in guids:
        wanted_text = f"{{{guids[member]}}}"
        return Shape(text(wanted_text), lambda it: str(it.value or "").casefold() == wanted_text, wanted_text)
    value = texts.get(member)
    return text(value) if value else None


def next_given(its: Infos, call: Invoke, seen: Seen) -> Infos:
    """Return a collection as Reset or Next has left it."""
    if not its.ready or seen.status != S_OK:
        return its
    if call.member == "Reset":
        return replace(its, given=0, told=(), restarted=True)
    return replace(its, given=its.given + 1) if seen.gives and call.member == "Next" else its
