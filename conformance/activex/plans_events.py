"""Plans about queries for queues and about events (MC-MQAC 3.13, 3.16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any, Final

from conformance.activex.library import interfaces
from conformance.activex.plans import Act, Plan, call_on, create, passes
from conformance.activex.scene_events import CURRENT, FIRST, INFINITE, NEXT, SINK
from conformance.activex.scene_services import driven
from conformance.activex.services import (
    APPLICATION,
    DESTINATION,
    EVENT,
    PEEK,
    QUERY,
    QUEUE_INFOS,
    RECEIVE,
    SEND,
    SERVICES,
)
from conformance.activex.services_plans import OF_MACHINE, looks, opened, queue
from conformance.activex.values import MISSING, Variant, long, text

Plans = Mapping[str, tuple[Plan, ...]]

_DAY: Final = 86_400
_FIRST_DAY: Final = 45_000  # an OLE date in 2023
_GUID: Final = "{:08x}-9078-4445-8f11-394c43cd8907"
_TYPE: Final = "{:08x}-0000-4445-8f11-394c43cd8907"
OTHER: Final = "mqconform-other"
OTHER_ID: Final = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"


def _queue(
    number: int, label: str, kind: int, created: int, modified: int, multicast: str | None = None
) -> dict[str, Any]:
    return {
        "guid": _GUID.format(0xABCDEF00 + number),
        "path_name": f"{OTHER}\\queue-{number}",
        "path_name_dns": f"{OTHER}.example\\queue-{number}",
        "directory_path": f"LDAP://CN=queue-{number},CN=msmq,CN={OTHER}",
        "label": label,
        "service_type": _TYPE.format(kind),
        "create_time": (_FIRST_DAY - 25_569 + created) * _DAY,
        "modify_time": (_FIRST_DAY - 25_569 + modified) * _DAY,
        "multicast_address": multicast,
    }


OBJECTS: Final[tuple[dict[str, Any], ...]] = (
    _queue(1, "b", 1, 1, 10),
    _queue(2, "a", 1, 2, 30),
    _queue(3, "c", 2, 3, 20),
    _queue(4, "b", 2, 2, 20),
    _queue(5, "d", 3, 4, 40, "234.1.1.1:8001"),
    {
        "class": "alias",
        "guid": _GUID.format(0xABCDEF10),
        "directory_path": "LDAP://CN=alias",
        "format_name": f"DIRECT=OS:{OTHER}\\private$\\orders",
    },
    {"class": "distribution_list", "guid": _GUID.format(0xABCDEF11), "directory_path": "LDAP://CN=list"},
)
COMPUTERS: Final = ({"name": OTHER, "guid": OTHER_ID},)
GIVEN: Final = driven("directory", objects=list(OBJECTS), computers=list(COMPUTERS), server="mqconform-server")
EMPTY: Final = driven("directory", objects=[])
_QUERY: Final[Plan] = (GIVEN, create(QUERY, "q"))

_ROWS: Final = {name: SERVICES[QUERY][name].slots[0].arguments for name in ("LookupQueue_v2", "LookupQueue")}
_RELATIONS: Final = {
    "ServiceTypeGuid": "RelServiceType",
    "Label": "RelLabel",
    "CreateTime": "RelCreateTime",
    "ModifyTime": "RelModifyTime",
    "MulticastAddress": "RelMulticastAddress",
}


def date(day: int) -> Variant:
    return Variant("DATE", str(_FIRST_DAY + day))


VALUES: Final[Mapping[str, tuple[Variant, ...]]] = {
    "ServiceTypeGuid": (text(f"{{{_TYPE.format(1)}}}"), text(f"{{{_TYPE.format(9)}}}")),
    "Label": (text("b"), text("aa"), text("e")),
    "CreateTime": (date(2), date(0), date(5)),
    "ModifyTime": (date(20), date(25)),
    "MulticastAddress": (text("234.1.1.1:8001"), text(""), text("234.1.1.1:8002")),
}


def lookup(member: str, **given: Variant) -> Act:
    """Return a query. given: its arguments by name; the others are left out."""
    arguments = [given.get(one.name, MISSING) for one in _ROWS[member] if not one.result]
    return call_on("q", member, *arguments, gives="f")


def walked(count: int = 8, *, names: bool = True) -> Plan:
    """Return a pass over a collection, to its end and one step further."""
    made: list[Act] = []
    for at in range(count):
        made.append(call_on("f", "Next", gives=f"n{at}"))
        if names:
            made.append(call_on(f"n{at}", "FormatName", kind="get"))
    return tuple(made)


def queries(member: str) -> Iterator[Plan]:
    """Yield queries with each constraint by each operator, with the operator left out, and two constraints together."""
    columns = [column for column in VALUES if any(one.name == column for one in _ROWS[member])]
    pass_over = (*walked(), call_on("f", "Reset"), *walked())
    yield (*_QUERY, lookup(member), *pass_over)
    for guid in (_GUID.format(0xABCDEF03), _GUID.format(0xABCDEF03).upper(), _GUID.format(0xABCDEF7F)):
        yield (*_QUERY, lookup(member, QueueGuid=text(f"{{{guid}}}")), *walked())
    bare = _GUID.format(0xABCDEF03)
    for wrong in (bare, "{" + bare, bare + "}", "rubbish"):
        yield (*_QUERY, lookup(member, QueueGuid=text(wrong)), *walked(2))
        yield (*_QUERY, lookup(member, ServiceTypeGuid=text(wrong.replace(bare, _TYPE.format(1)))), *walked(3))
    for column in columns:
        operators = range(3) if column == "ServiceTypeGuid" else (1, 2, 0) if column == "MulticastAddress" else range(7)
        made: list[Act] = [*_QUERY]
        for value in VALUES[column]:
            made += [lookup(member, **{column: value}), *walked()]
            for operator in operators:
                made += [lookup(member, **{column: value, _RELATIONS[column]: long(operator)}), *walked()]
        yield tuple(made)
    for one, other in combinations(columns, 2):
        made = [*_QUERY]
        for first, second in ((1, 1), (2, 1), (1, 2), (0, 1), (1, 0)):
            pair = {one: VALUES[one][0], other: VALUES[other][0]}
            relations = {_RELATIONS[one]: long(first), _RELATIONS[other]: long(second)}
            made += [lookup(member, **pair, **relations), *walked()]
        yield tuple(made)


def of_this_manager() -> Iterator[Plan]:
    """Yield plans in which a query asks for a public queue that an object of this computer has created."""
    label = "of this manager"
    name = call_on("i", "PathName", text("$computer\\$queue"), kind="put")
    made = (create("MSMQQueueInfo", "i"), name, call_on("i", "Label", text(label), kind="put"))
    create_it = call_on("i", "Create", MISSING, MISSING)
    for member in ("LookupQueue", "LookupQueue_v2"):
        asked = (lookup(member, Label=text(label)), *walked(2))
        shown = (*asked[:3], *looks("n0", ("PathName", "Label")), *asked[3:])
        yield (*_QUERY, *asked, *made, create_it, *shown, call_on("i", "Delete"), *asked)


_CREATED: Final = (
    create(QUEUE_INFOS, "f"),
    call_on("f", "Properties", kind="get"),
    call_on("f", "Reset"),
    call_on("f", "Next"),
    call_on("f", "Reset"),
)


def without_directory() -> Plans:
    """Return plans that need no directory: what no query made, and members that do nothing."""
    return {"made-by-the-client": (_CREATED, (create(QUERY, "q"), call_on("q", "Properties", kind="get")))}


def collections() -> Iterator[Plan]:
    """Yield plans about Reset and Next at each place of a collection, and about one that no query made."""
    yield (GIVEN, *_CREATED)
    yield (EMPTY, create(QUERY, "q"), lookup("LookupQueue"), *walked(2), call_on("f", "Reset"), *walked(2))
    for count in range(5):
        again = (call_on("f", "Reset"), *walked(7))
        yield (*_QUERY, lookup("LookupQueue_v2"), *walked(count), *again, *again)
    yield (
        *_QUERY,
        call_on("f", "Next"),
        lookup("LookupQueue"),
        *walked(2),
        lookup("LookupQueue_v2", Label=text("b")),
        *walked(3),
    )
    members = (
        "FormatName",
        "PathName",
        "Label",
        "QueueGuid",
        "ServiceTypeGuid",
        "ADsPath",
        "PathNameDNS",
        "MulticastAddress",
    )
    seen: list[Act] = []
    for at in range(5):
        seen += [call_on("f", "Next", gives=f"n{at}"), *looks(f"n{at}", members)]
    yield (*_QUERY, lookup("LookupQueue_v2"), *seen)


_LOOKS: Final = looks("d", ("FormatName", "ADsPath", "PathName", "IsOpen"))


def names() -> Iterator[Plan]:
    """Yield plans about names of directory objects that a destination is given."""
    paths = [str(one["directory_path"]) for one in OBJECTS]
    public = [str(one["path_name"]) for one in OBJECTS if "path_name" in one]
    put_paths = [call_on("d", "ADsPath", text(path), kind="put") for path in (*paths, "LDAP://CN=nothing")]
    put_names = [
        call_on("d", "PathName", text(path), kind="put") for path in (public[0], public[1], f"{OTHER}\\nothing")
    ]
    start = (GIVEN, create(DESTINATION, "d"))
    yield (*start, *(act for one in put_paths for act in (one, *_LOOKS)))
    yield (*start, *(act for one in put_names for act in (one, *_LOOKS)))
    format_name = call_on("d", "FormatName", text(f"DIRECT=OS:{OTHER}\\private$\\q"), kind="put")
    for one in (*put_paths, *put_names, format_name):
        for other in (put_paths[0], put_paths[5], put_paths[7], put_names[0], put_names[2], format_name):
            yield (*start, one, *_LOOKS, other, *_LOOKS)
    lists = (call_on("a", "ActiveQueues"),)
    away = call_on("d", "FormatName", text("DIRECT=OS:$computer\\private$\\$queue"), kind="put")
    opened_here = (create(APPLICATION, "a"), *lists, *queue("i"), create(DESTINATION, "d"), away, call_on("d", "Open"))
    yield (GIVEN, *opened_here, *lists, put_paths[0], *lists, *_LOOKS)
    private = call_on("d", "PathName", text("$computer\\private$\\$queue"), kind="put")
    yield (*start, *queue("i"), private, *_LOOKS, put_paths[6], *_LOOKS, private, *_LOOKS)


def computers() -> Iterator[Plan]:
    """Yield plans about other computers of the directory, and about its server."""
    app = create(APPLICATION, "a")
    names_of = (text(OTHER), text(OTHER.upper()), text("mqconform-nobody"))
    identifiers = (text(OTHER_ID), text(f"{{{OTHER_ID}}}"), text(f"{{{OTHER_ID.upper()}}}"), text(OTHER_ID[:-1] + "1"))
    asked = (
        *(call_on("a", "MachineIdOfMachineName", one) for one in names_of),
        *(call_on("a", "MachineNameOfMachineId", one) for one in identifiers),
    )
    served = (OF_MACHINE, *looks("a", ("DirectoryServiceServer", "IsDsEnabled")))
    yield (GIVEN, app, *asked, *served, EMPTY, *asked, *served)


def query_groups() -> Plans:
    """Return all plans by name."""
    return {
        "lookup-queue": tuple(queries("LookupQueue")),
        "lookup-queue-v2": tuple(queries("LookupQueue_v2")),
        "collections": tuple(collections()),
        "of-this-manager": tuple(of_this_manager()),
        "names": tuple(names()),
        "computers": tuple(computers()),
    }


NONE: Final = long(0)
SOON: Final = long(1_000)
_OTHER_POINT: Final = interfaces()["IMSMQEvent"].iid
_CURSORS: Final = (MISSING, long(FIRST), long(CURRENT), long(NEXT))
_CODE: Final = Variant("ERROR", 0xC00E001B)


def advise(event: str = "e", gives: str = "$cookie", *, sink: str = "events", iid: str = SINK) -> Act:
    return call_on(event, "Advise", text(sink), text(iid), gives=gives)


def unadvise(cookie: str | int = "$cookie", event: str = "e", *, iid: str = SINK) -> Act:
    return call_on(event, "Unadvise", Variant("UI4", cookie), text(iid))


def notify(reader: str = "q", cursor: Variant = MISSING, timeout: Variant = MISSING, event: str | None = "e") -> Act:
    return call_on(reader, "EnableNotification", Variant("DISPATCH", event), cursor, timeout)


def fire(event: str = "e", reader: str = "q", cursor: int = FIRST) -> Plan:
    """Return acts in which the client itself has an event object tell of an arrival and of an error."""
    queue_object = Variant("DISPATCH", reader)
    return (
        call_on(event, "FireArrivedEvent", queue_object, long(cursor)),
        call_on(event, "FireArrivedErrorEvent", queue_object, _CODE, long(cursor)),
    )


SENT: Final = call_on("m", "Send", Variant("DISPATCH", "s"), NONE)
RECEIVED: Final = call_on("r", "Receive", NONE, MISSING, MISSING, NONE)


def scene(access: int = PEEK, *, transactional: bool = False) -> Plan:
    """Return a queue, open as `s`, `r` and `q`, a message, and an event object."""
    made = (*queue("i", transactional=transactional), opened("i", SEND, "s"), opened("i", RECEIVE, "r"))
    return (*made, opened("i", access, "q"), create("MSMQMessage", "m"), create(EVENT, "e"))


def sinks() -> Iterator[Plan]:
    """Yield plans about Advise and Unadvise."""
    start = (*scene(), create(EVENT, "f"))
    yield (create(EVENT, "e"), call_on("e", "Properties", kind="get"), call_on("e", "Hwnd", kind="get"))
    yield (*start, *fire(), advise(), *fire(), *fire(cursor=NEXT), unadvise(), *fire())
    yield (*start, advise(), advise(gives="$second"), *fire(), unadvise("$second"), *fire(), unadvise(), *fire())
    yield (*start, advise(), advise(gives="$second"), unadvise(), *fire(), unadvise(), unadvise("$second"), *fire())
    yield (*start, advise(), advise("f", "$other"), *fire(), *fire("f"), unadvise(), *fire(), *fire("f"))
    yield (*start, advise(), unadvise(), unadvise(), advise(gives="$second"), *fire(), unadvise(0x7FFFFFFF), *fire())
    yield (*start, unadvise(1), unadvise(0), advise(), unadvise(0xFFFFFFFF), *fire())
    for before in ((), (advise(gives="$first"),)):
        wrong = (
            advise(sink="null"),
            advise(sink="other"),
            advise(iid=_OTHER_POINT),
            advise(sink="null", iid=_OTHER_POINT),
        )
        yield (*start, *before, *(act for one in wrong for act in (one, *fire())), advise(), *fire())
    yield (*start, advise(), unadvise(iid=_OTHER_POINT), *fire())


def arrivals() -> Iterator[Plan]:
    """Yield plans in which a message is there, or comes in time, or never."""
    quiet = (SENT, passes(5_000), SENT)
    for access, cursor, timeout in product(
        (PEEK, RECEIVE), (MISSING, long(FIRST)), (MISSING, NONE, SOON, long(INFINITE))
    ):
        start = (*scene(access), advise())
        yield (*start, SENT, notify("q", cursor, timeout), *quiet)
        yield (*start, notify("q", cursor, timeout), passes(999), *quiet, notify("q", cursor, timeout), *quiet)
        yield (*start, notify("q", cursor, timeout), passes(999), passes(1), *quiet)
    start = (*scene(), advise())
    yield (*start, SENT, notify(), notify(), RECEIVED, notify(), SENT, notify(timeout=NONE))
    yield (*start, notify(timeout=SOON), notify(timeout=long(3_000)), passes(1_000), SENT, passes(5_000))
    yield (*start, notify(timeout=SOON), notify(), passes(500), notify(timeout=SOON), passes(600), passes(5_000), SENT)
    yield (*start, notify(timeout=SOON), SENT, RECEIVED, notify(timeout=SOON), passes(999), SENT, passes(5_000))


def two_objects() -> Iterator[Plan]:
    """Yield plans with two event objects, two queue objects, and sinks that come and go while one waits."""
    start = (*scene(), create(EVENT, "f"), opened("i", PEEK, "p"), advise(), advise("f", "$other"))
    yield (*start, notify(), notify("p", event="f"), SENT, SENT)
    yield (*start, notify(), notify("p"), SENT, SENT, notify("p", timeout=SOON, event="f"))
    yield (
        *start,
        notify("q", timeout=SOON),
        notify("p", timeout=long(2_000), event="f"),
        passes(1_000),
        passes(1_000),
        SENT,
    )
    yield (*start, notify(), unadvise(), SENT, advise(), SENT, notify())
    yield (*start, notify(timeout=SOON), unadvise(), passes(1_000), advise(), notify(timeout=SOON), passes(1_000))
    yield (*start, notify(), advise(gives="$second"), SENT, unadvise(), notify(), unadvise("$second"), notify())
    yield (*scene(), notify(), SENT, advise(), SENT, notify())
    yield (*scene(), SENT, notify(), advise(), notify(), SENT)


def at_the_cursor() -> Iterator[Plan]:
    """Yield plans in which a registration looks at the queue object's own cursor."""
    first = call_on("q", "PeekCurrent", MISSING, MISSING, NONE)
    for access, timeout in product((PEEK, RECEIVE), (MISSING, NONE, SOON)):
        start = (*scene(access), advise())
        yield (*start, SENT, SENT, first, notify("q", long(CURRENT), timeout), SENT)
        yield (*start, SENT, SENT, first, notify("q", long(NEXT), timeout), SENT)
        yield (*start, SENT, first, notify("q", long(NEXT), timeout), passes(999), SENT, first, passes(1), SENT)
        yield (*start, SENT, first, notify("q", long(NEXT), timeout), passes(1_000), SENT)
        yield (*start, notify("q", long(CURRENT), timeout), passes(999), passes(1), SENT)
    start = (*scene(transactional=True), advise(), create("MSMQTransactionDispenser", "d"))
    sent = call_on("m", "Send", Variant("DISPATCH", "s"), long(3))
    held = call_on("r", "ReceiveCurrent", Variant("DISPATCH", "t"), MISSING, MISSING, NONE)
    begin = call_on("d", "BeginTransaction", gives="t")
    yield (*start, sent, begin, held, notify("q", MISSING, NONE), call_on("t", "Abort"), notify("q", MISSING, NONE))
    yield (*start, sent, begin, held, notify("q", MISSING, SOON), passes(500), call_on("t", "Abort"), passes(5_000))
    yield (*start, sent, begin, held, notify("q", MISSING, SOON), passes(500), call_on("t", "Commit"), passes(5_000))


def interrupted() -> Iterator[Plan]:
    """Yield plans in which what a registration waits for goes away: told or not, nothing hangs."""
    start = (*scene(), create(EVENT, "f"), opened("i", PEEK, "p"), advise(), advise("f", "$other"))
    waits = (notify(timeout=SOON), notify("p", event="f"))
    for act in (call_on("q", "Close"), call_on("e", "Release"), call_on("q", "Release"), call_on("i", "Release")):
        yield (*start, *waits, act, SENT, passes(5_000), SENT)
    yield (*start, *waits, call_on("q", "Purge"), SENT, passes(5_000))
    yield (*start, *waits, call_on("q", "Reset"), SENT, passes(5_000))


def refused() -> Iterator[Plan]:
    """Yield plans in which a registration breaks each precondition alone, and with those after it."""
    made = (*scene(), opened("i", SEND, "o"), opened("i", PEEK, "c"), call_on("c", "Close"), create("MSMQQueue", "b"))
    start = (*made, opened("i", SEND, "x"), call_on("x", "Close"), advise())
    bad = (long(3), long(-1), long(7))
    for reader, cursor, event in product(("b", "c", "o", "x"), (MISSING, *bad), ("e", None)):
        yield (*start, notify(reader, cursor, SOON, event), SENT, passes(1_000))
    yield (
        *start,
        *(notify("q", cursor, SOON) for cursor in bad),
        notify("q", MISSING, SOON, None),
        SENT,
        passes(5_000),
    )


def event_groups() -> Plans:
    """Return all plans by name."""
    return {
        "arrivals": tuple(arrivals()),
        "sinks": tuple(sinks()),
        "two-objects": tuple(two_objects()),
        "at-the-cursor": tuple(at_the_cursor()),
        "interrupted": tuple(interrupted()),
        "refused": tuple(refused()),
    }
