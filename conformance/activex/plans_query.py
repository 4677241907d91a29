"""Plans over a directory that they give: queries by each constraint and operator, names, other computers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from conformance.activex.plans import Act, Plan, create, on
from conformance.activex.plans_further import OF_MACHINE, looks, queue
from conformance.activex.scene_further import driven
from conformance.activex.tables_further import APPLICATION, DESTINATION, FURTHER, QUERY, QUEUE_INFOS
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

_ROWS: Final = {name: FURTHER[QUERY][name].slots[0].arguments for name in ("LookupQueue_v2", "LookupQueue")}
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
    return on("q", member, *arguments, gives="f")


def walked(count: int = 8, *, names: bool = True) -> Plan:
    """Return a pass over a collection, to its end and one step further."""
    made: list[Act] = []
    for at in range(count):
        made.append(on("f", "Next", gives=f"n{at}"))
        if names:
            made.append(on(f"n{at}", "FormatName", kind="get"))
    return tuple(made)


def queries(member: str) -> Iterator[Plan]:
    """Yield queries with each constraint by each operator, with the operator left out, and two constraints together."""
    columns = [column for column in VALUES if any(one.name == column for one in _ROWS[member])]
    pass_over = (*walked(), on("f", "Reset"), *walked())
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
    name = on("i", "PathName", text("$computer\\$queue"), kind="put")
    made = (create("MSMQQueueInfo", "i"), name, on("i", "Label", text(label), kind="put"))
    create_it = on("i", "Create", MISSING, MISSING)
    for member in ("LookupQueue", "LookupQueue_v2"):
        asked = (lookup(member, Label=text(label)), *walked(2))
        shown = (*asked[:3], *looks("n0", ("PathName", "Label")), *asked[3:])
        yield (*_QUERY, *asked, *made, create_it, *shown, on("i", "Delete"), *asked)


_MADE: Final = (
    create(QUEUE_INFOS, "f"),
    on("f", "Properties", kind="get"),
    on("f", "Reset"),
    on("f", "Next"),
    on("f", "Reset"),
)


def without_directory() -> Plans:
    """Return plans that need no directory: what no query made, and members that do nothing."""
    return {"made-by-the-client": (_MADE, (create(QUERY, "q"), on("q", "Properties", kind="get")))}


def collections() -> Iterator[Plan]:
    """Yield plans about Reset and Next at each place of a collection, and about one that no query made."""
    yield (GIVEN, *_MADE)
    yield (EMPTY, create(QUERY, "q"), lookup("LookupQueue"), *walked(2), on("f", "Reset"), *walked(2))
    for count in range(5):
        again = (on("f", "Reset"), *walked(7))
        yield (*_QUERY, lookup("LookupQueue_v2"), *walked(count), *again, *again)
    yield (
        *_QUERY,
        on("f", "Next"),
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
        seen += [on("f", "Next", gives=f"n{at}"), *looks(f"n{at}", members)]
    yield (*_QUERY, lookup("LookupQueue_v2"), *seen)


_LOOKS: Final = looks("d", ("FormatName", "ADsPath", "PathName", "IsOpen"))


def names() -> Iterator[Plan]:
    """Yield plans about names of directory objects that a destination is given."""
    paths = [str(one["directory_path"]) for one in OBJECTS]
    public = [str(one["path_name"]) for one in OBJECTS if "path_name" in one]
    put_paths = [on("d", "ADsPath", text(path), kind="put") for path in (*paths, "LDAP://CN=nothing")]
    put_names = [on("d", "PathName", text(path), kind="put") for path in (public[0], public[1], f"{OTHER}\\nothing")]
    start = (GIVEN, create(DESTINATION, "d"))
    yield (*start, *(act for one in put_paths for act in (one, *_LOOKS)))
    yield (*start, *(act for one in put_names for act in (one, *_LOOKS)))
    format_name = on("d", "FormatName", text(f"DIRECT=OS:{OTHER}\\private$\\q"), kind="put")
    for one in (*put_paths, *put_names, format_name):
        for other in (put_paths[0], put_paths[5], put_paths[7], put_names[0], put_names[2], format_name):
            yield (*start, one, *_LOOKS, other, *_LOOKS)
    lists = (on("a", "ActiveQueues"),)
    away = on("d", "FormatName", text("DIRECT=OS:$computer\\private$\\$queue"), kind="put")
    opened_here = (create(APPLICATION, "a"), *lists, *queue("i"), create(DESTINATION, "d"), away, on("d", "Open"))
    yield (GIVEN, *opened_here, *lists, put_paths[0], *lists, *_LOOKS)
    private = on("d", "PathName", text("$computer\\private$\\$queue"), kind="put")
    yield (*start, *queue("i"), private, *_LOOKS, put_paths[6], *_LOOKS, private, *_LOOKS)


def computers() -> Iterator[Plan]:
    """Yield plans about other computers of the directory, and about its server."""
    app = create(APPLICATION, "a")
    names_of = (text(OTHER), text(OTHER.upper()), text("mqconform-nobody"))
    identifiers = (text(OTHER_ID), text(f"{{{OTHER_ID}}}"), text(f"{{{OTHER_ID.upper()}}}"), text(OTHER_ID[:-1] + "1"))
    asked = (
        *(on("a", "MachineIdOfMachineName", one) for one in names_of),
        *(on("a", "MachineNameOfMachineId", one) for one in identifiers),
    )
    served = (OF_MACHINE, *looks("a", ("DirectoryServiceServer", "IsDsEnabled")))
    yield (GIVEN, app, *asked, *served, EMPTY, *asked, *served)


def groups() -> Plans:
    """Return all plans by name."""
    return {
        "lookup-queue": tuple(queries("LookupQueue")),
        "lookup-queue-v2": tuple(queries("LookupQueue_v2")),
        "collections": tuple(collections()),
        "of-this-manager": tuple(of_this_manager()),
        "names": tuple(names()),
        "computers": tuple(computers()),
    }
