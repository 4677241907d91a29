"""Features of members of destinations, applications, management, collections, queries and events.

A table of the class says in which states its objects are, and what is around them; another one names the cases of each
argument with a value. What was called on the object before is a feature of every member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from conformance.activex.features import Feature, cited, snake
from conformance.activex.library import interfaces
from conformance.activex.members import Argument, Member, Slot, all_cells
from conformance.activex.plans import Act
from conformance.activex.plans_events import COMPUTERS, OBJECTS, VALUES
from conformance.activex.queue_store import QueueKind
from conformance.activex.scene_events import SINK, EventObjects
from conformance.activex.scene_services import ServiceObjects
from conformance.activex.scenes import COMPUTER, MANAGER, SMALL
from conformance.activex.services import (
    APPLICATION,
    COLLECTION,
    DESTINATION,
    EVENT,
    MANAGEMENT,
    PEEK,
    QUERY,
    QUEUE_INFOS,
    RECEIVE,
    SEND,
    SERVICES,
)
from conformance.activex.services_plans import ABROAD, FIRST, NOWHERE, NULL, SECOND, direct
from conformance.activex.step import REFUSED
from conformance.activex.tables import CLASSES
from conformance.activex.values import MISSING, Variant, long, octets, text

Around = tuple[str, tuple[str, ...], Callable[[Any, Act], str | None]]
"""The name of a feature, its cases, and what tells the case."""
QUEUE: Final = "MSMQQueue"
JOURNAL: Final = ";JOURNAL"


def _row(name: str, *arguments: str) -> Member:
    slot = Slot("method", 0, "", tuple(Argument(one, "VARIANT") for one in arguments))
    return Member(EVENT, "IConnectionPoint", name, (slot,))


_NOTIFICATION: Final = replace(CLASSES[QUEUE]["EnableNotification"], coclass=EVENT)
ON: Final[Mapping[tuple[str, str], str]] = {(EVENT, "EnableNotification"): QUEUE}
"""Members that are called on an object of another class."""
LOOK: Final = "look"
"""The name of the row that stands for all getters of a class."""


def _rows() -> Iterator[Member]:
    for coclass, members in SERVICES.items():
        rows = [row for row in members.values() if not row.unimplemented]
        for row in rows:
            slots = tuple(slot for slot in row.slots if slot.kind != "get")
            if slots:
                yield replace(row, slots=slots)
        getters = [slot for row in rows for slot in row.slots if slot.kind == "get"]
        if getters:
            yield Member(coclass, "", LOOK, tuple(getters[:1]))


ROWS: Final[tuple[Member, ...]] = (
    *_rows(),
    _row("Advise", "sink", "iid"),
    _row("Unadvise", "cookie", "iid"),
    _NOTIFICATION,
)
"""The members that have features: those of the classes, and the sinks and notifications of an MSMQEvent."""


def getters(coclass: str) -> tuple[str, ...]:
    """Return the names of the getters of a class."""
    rows = SERVICES[coclass].values()
    return tuple(row.name for row in rows if row.slot("get") is not None and not row.unimplemented)


def is_call_of(member: Member, act: Act) -> bool:
    """Tell whether an act calls a member, if its object is of the class."""
    if act.call is None:
        return False
    return act.call.kind == "get" if member.name == LOOK else act.call.kind != "get" and act.call.member == member.name


def _named(scene: ServiceObjects, path: str | None, name: str | None) -> str:
    """Return which sort of queue a name names."""
    said, target = name or path, scene.world.target(path, name)
    if not said:
        return "none"
    if said.endswith(JOURNAL):
        return "journal"
    if target.kind is QueueKind.HERE:
        return "nothing" if target.key not in scene.world.queues else "other" if target.key.endswith("-b") else "here"
    kinds = {QueueKind.SUBQUEUE: "subqueue", QueueKind.ELSEWHERE: "away", QueueKind.UNPARSED: "nothing"}
    return kinds.get(target.kind, "directory")


def _destination(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    return None if its is None else "closed" if its.handle is None else "open"


def destination_name(scene: ServiceObjects, act: Act) -> str | None:
    """Return which sort of queue the destination of a call names; None if that is not known."""
    its: Any = scene.states.get(act.object)
    return None if its is None or its.untold else _named(scene, its.derived, None if its.derived else its.format.value)


def _application(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    if its is None or its.machine is None:
        return None if its is None else "new"
    return "here" if its.machine.casefold() == scene.world.computer.casefold() else "elsewhere"


def _online(scene: ServiceObjects, act: Act) -> str:
    return "connected" if scene.world.online else "disconnected"


def _active(scene: ServiceObjects, act: Act) -> str:
    opened = {one.key for one in scene.world.opened.values()}
    return "open" if opened - {""} else "outgoing" if opened else "closed" if scene.world.queues else "none"


def _managed(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    if its is None or its.untold or its.system:
        return None
    return "outgoing" if its.name else "queue" if its.ready else "new"


def _content(scene: ServiceObjects, act: Act) -> str | None:
    """Return what has become of the queue of a management object."""
    its: Any = scene.states.get(act.object)
    if _managed(scene, act) == "outgoing":
        return "filled" if scene.world.outgoing[its.name.casefold()].messages else "empty"
    if _managed(scene, act) != "queue":
        return None
    queue = scene.world.queues.get(its.key)
    if queue is None:
        return "deleted"
    return "journaled" if queue.journaled else "filled" if queue.messages else "empty"


def _handles(scene: ServiceObjects, act: Act) -> str | None:
    """Return whether the queue of a management object is open."""
    its: Any = scene.states.get(act.object)
    if _managed(scene, act) not in ("queue", "outgoing"):
        return None
    held = ((one.key, one.name.casefold()) for one in scene.world.opened.values())
    return "open" if (its.key, its.name.casefold()) in held else "closed"


def _collection(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    return None if its is None else {0: "made", 3: "sequence"}.get(its.size, "report")


def _place(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    if its is None or not its.ready:
        return None if its is None else "made"
    most = len(its.found) + len(its.perhaps)
    return "end" if its.given >= most else "inside" if its.given else "start"


def _found(scene: ServiceObjects, act: Act) -> str | None:
    its: Any = scene.states.get(act.object)
    return None if its is None else {0: "none", 1: "one"}.get(len(its.found) + len(its.perhaps), "several")


def _directory(scene: ServiceObjects, act: Act) -> str:
    return "filled" if scene.entries else "empty"


def _sinks(scene: EventObjects, name: str) -> str | None:
    if name not in scene.sinks:
        return None
    none = "left" if name in scene.silent else "fresh"
    return {0: none, 1: "one"}.get(len(scene.sinks[name]), "several")


def _event(scene: EventObjects, act: Act) -> str | None:
    given = act.call.arguments[0].value if act.call is not None and act.object in scene.queues else act.object
    return _sinks(scene, str(given))


_ACCESS: Final = {None: "blank", RECEIVE: "receive", SEND: "send", PEEK: "peek"}


def _access(scene: EventObjects, act: Act) -> str | None:
    its = scene.queues.get(act.object)
    return None if its is None else "closed" if its.closed else _ACCESS[its.access]


def _cursor(scene: EventObjects, act: Act) -> str | None:
    its = scene.queues.get(act.object)
    return None if its is None else "behind" if its.behind else "fresh" if its.at is None else "moved"


def _waiting(scene: EventObjects, act: Act) -> str:
    return {0: "none", 1: "one"}.get(len(scene.waiting), "several")


def _there(scene: EventObjects, act: Act) -> str:
    return {0: "none", 1: "one"}.get(len(scene.messages), "several")


_SINKS: Final = ("fresh", "one", "several", "left")
_NAMES: Final = ("none", "here", "other", "journal", "subqueue", "away", "nothing", "directory")
AROUND: Final[Mapping[str, tuple[Around, ...]]] = {
    DESTINATION: (("object", ("closed", "open"), _destination), ("name", _NAMES, destination_name)),
    APPLICATION: (
        ("object", ("new", "here", "elsewhere"), _application),
        (
            "online",
            ("connected", "disconnected"),
            _online,
        ),
        ("queues", ("none", "closed", "open", "outgoing"), _active),
    ),
    MANAGEMENT: (
        ("object", ("new", "queue", "outgoing"), _managed),
        ("content", ("empty", "filled", "journaled", "deleted"), _content),
        ("handles", ("open", "closed"), _handles),
    ),
    COLLECTION: (("object", ("made", "report", "sequence"), _collection),),
    QUERY: (("directory", ("filled", "empty"), _directory),),
    QUEUE_INFOS: (
        ("object", ("made", "start", "inside", "end"), _place),
        ("found", ("none", "one", "several"), _found),
    ),
    EVENT: (("sinks", _SINKS, _event), ("pending", ("none", "one", "several"), _waiting)),
    QUEUE: (
        *(("sinks", _SINKS, _event), ("pending", ("none", "one", "several"), _waiting)),
        ("object", ("receive", "peek", "send", "blank", "closed"), _access),
        *(("place", ("fresh", "moved", "behind"), _cursor), ("there", ("none", "one", "several"), _there)),
    ),
}
"""Class to the states of its objects, and to what is around them."""

Cases = Mapping[str, Variant]
_GUID: Final = f"{{{OBJECTS[2]['guid']}}}"
_OUT: Final[Cases] = {"left_out": MISSING}
_BOTH: Final[Cases] = {**_OUT, "null": NULL}
_MACHINES: Final[Cases] = {"here": text(COMPUTER), "small": text(SMALL), "elsewhere": text("mqconform-elsewhere")}
_RELATIONS: Final[Cases] = {**_OUT, **{f"number_{at}": long(at) for at in range(7)}}
_FEW_RELATIONS: Final[Cases] = {**_OUT, **{f"number_{at}": long(at) for at in range(3)}}
_IIDS: Final[Cases] = {"sink": text(SINK), "other": text(interfaces()["IMSMQEvent"].iid)}
_CURSORS: Final[Cases] = {"first": long(0), "current": long(1), "next": long(2)}
_READER: Final[Cases] = {"receive": Variant("DISPATCH", "r"), "peek": Variant("DISPATCH", "q")}
CASES: Final[Mapping[tuple[str, str], Cases]] = {
    ("PathName", "bstrPathName"): {
        "here": text(FIRST), "other": text(SECOND), "subqueue": text(f"{FIRST};part"), "malformed": text("nothing")
    },
    ("FormatName", "bstrFormatName"): {
        "here": text(direct(FIRST)), "other": text(direct(SECOND)), "journal": text(direct(f"{FIRST}{JOURNAL}")),
        "subqueue": text(direct(f"{FIRST};part")), "away": text(ABROAD), "nothing": text(direct(NOWHERE)),
    },
    ("ADsPath", "bstrADsPath"): {
        "absent": text("LDAP://CN=nothing"), "queue": text(OBJECTS[0]["directory_path"]),
        "alias": text(OBJECTS[5]["directory_path"]), "list": text(OBJECTS[6]["directory_path"]),
    },
    ("Handle", "varHandle"): {
        one: Variant("I8", value) for one, value in (("null", 0), ("invalid", -1), ("known", "$handle"))
    },
    ("Machine", "bstrMachine"): _MACHINES,
    ("MachineIdOfMachineName", "MachineName"): {
        "here": text(COMPUTER), "null": Variant("BSTR", None), "elsewhere": text("mqconform-elsewhere"),
        "directory": text(COMPUTERS[0]["name"]),
    },
    ("MachineNameOfMachineId", "bstrGuid"): {
        "here": text(MANAGER), "braces": text(f"{{{MANAGER}}}"), "nothing": text("nothing"),
        "directory": text(COMPUTERS[0]["guid"]),
    },
    ("RegisterCertificate", "Flags"): {**_OUT, "always": long(1), "if_not_exist": long(2)},
    ("RegisterCertificate", "ExternalCertificate"): {**_OUT, "given": octets(b"certificate")},
    ("Init", "Machine"): {**_BOTH, **_MACHINES},
    ("Init", "Pathname"): {**_BOTH, "here": text(FIRST), "nothing": text(NOWHERE)},
    ("Init", "FormatName"): {
        **_BOTH, "here": text(direct(FIRST)), "away": text(ABROAD), "nothing": text(direct(NOWHERE))
    },
    ("Item", "Index"): {
        **{one: text(one) for one in ("EodResendCount", "EodNextSeq", "SeqNo")},
        "unknown": text("nothing"), "empty": text(""), "number": long(0),
    },
    ("", "QueueGuid"): {**_OUT, "one": text(_GUID), "capital": text(_GUID.upper())},
    **{
        ("", name): {**_OUT, **{f"value_{at}": one for at, one in enumerate(some[:2])}} for name, some in VALUES.items()
    },
    **{("", f"Rel{name}"): _RELATIONS for name in ("Label", "CreateTime", "ModifyTime")},
    **{("", f"Rel{name}"): _FEW_RELATIONS for name in ("ServiceType", "MulticastAddress")},
    ("", "pq"): _READER,
    ("", "msgcursor"): _CURSORS,
    ("", "hrStatus"): {"timed_out": Variant("ERROR", 0xC00E001B), "other": Variant("ERROR", 0x80004005)},
    ("", "sink"): {one: text(one) for one in ("events", "null", "other")},
    ("", "cookie"): {"first": Variant("UI4", "$first"), "last": Variant("UI4", "$last"), "unknown": Variant("UI4", 77)},
    ("", "iid"): _IIDS,
    ("", "Event"): {"e": Variant("DISPATCH", "e"), "f": Variant("DISPATCH", "f"), "null": Variant("DISPATCH")},
    ("", "Cursor"): {**_OUT, **_CURSORS, "unknown": long(3)},
    ("", "ReceiveTimeout"): {**_OUT, "at_once": long(0), "ends": long(1000), "infinite": long(-1)},
}  # fmt: skip
"""Member (empty for any) and argument to the values that stand for its cases."""


def cases(member: Member, name: str) -> Cases:
    """Return the cases of an argument of a member. Raises KeyError for an argument without."""
    return CASES.get((member.name, name)) or CASES["", name]


@cache
def features(member: Member) -> tuple[Feature, ...]:
    """Return the features of a member."""
    return tuple(one for one in _all(member) if len(one.values) > 1 and one.steps)


def _all(member: Member) -> Iterator[Feature]:
    looks, coclass = member.name == LOOK, ON.get((member.coclass, member.name), member.coclass)
    here = (
        _of_class(coclass) if looks else cited(member, "success", "check:", "check", "gives", "tells", "there", "end")
    )
    if looks:
        yield Feature("member", getters(coclass), _member, here)
    for name, values, of in AROUND.get(coclass, ()):
        if member.name in _ALONE.get((coclass, name), (member.name,)):
            yield Feature(name, values, of, here)
    if member.name in _ALONE.get((coclass, "last"), (member.name,)):
        yield Feature("last", _calls(member.coclass), _last, here)
    for slot in () if looks else member.slots:
        for at, one in enumerate(slot.arguments):
            if not one.result:
                told = cited(member, "success", "check:", "kept", "named", f"argument:{one.name}", f"{one.name}:")
                case = partial(_argument, cases(member, one.name), at)
                yield Feature(snake(one.name), tuple(cases(member, one.name)), case, told)


_ALONE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    (QUEUE, "last"): (),
    (EVENT, "last"): (),
    (EVENT, "pending"): ("Advise", "Unadvise"),
    (DESTINATION, "last"): ("Open", "Close", LOOK),
    (MANAGEMENT, "last"): ("Init", "Pause", "Resume", LOOK),
    (APPLICATION, "last"): (),
    (APPLICATION, "online"): ("Connect", "Disconnect", LOOK),
    (APPLICATION, "queues"): ("Connect", "Disconnect", "ActiveQueues", LOOK),
}
"""Class and feature to the members whose text the feature makes a difference of, where that is not all of them."""


def _of_class(coclass: str) -> tuple[str, ...]:
    """Return the requirements of what the getters of a class give."""
    cells = all_cells()
    forms = (cells.get(f"{coclass}.{name}.get", {}) for name in getters(coclass))
    return tuple(
        dict.fromkeys(name for form in forms for column in ("success", "gives") for name in form.get(column, ()))
    )


def _calls(coclass: str) -> tuple[str, ...]:
    """Return the calls that may have changed an object of a class, and whether one may be refused."""
    cells = (columns for name, columns in all_cells().items() if name.startswith(f"{coclass}."))
    refusing = any(column.startswith(("check", "fails")) for columns in cells for column in columns)
    rows = [row for row in ROWS if row.coclass == coclass and (coclass, row.name) not in ON]
    return ("none", *((REFUSED,) if refusing else ()), *(row.name for row in rows if row.name != LOOK))


def _member(scene: object, act: Act) -> str | None:
    return act.call.member if act.call is not None else None


def _last(scene: ServiceObjects | EventObjects, act: Act) -> str | None:
    return scene.calls.get(act.object, "none") if act.object in scene.classes else None


def _argument(known: Cases, at: int, scene: object, act: Act) -> str | None:
    if act.call is None or at >= len(act.call.arguments):
        return None
    return next((case for case, value in known.items() if value == act.call.arguments[at]), None)


def featured() -> Iterator[Member]:
    """Yield the members that have features: those of which the catalogue has requirements."""
    yield from (row for row in ROWS if features(row))
