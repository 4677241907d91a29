"""Plans about MSMQQueueInfo, its values, and the queues that a message names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.members import Longs, Named
from conformance.activex.message_queues import DESTINATION, NAMED_QUEUE_MEMBERS
from conformance.activex.plans import Act, Plan, call_on, create
from conformance.activex.queue_info import MEMBERS
from conformance.activex.queue_store import DEFAULTS
from conformance.activex.scenes import COMPUTER, QUEUE
from conformance.activex.tables_queue_info import COCLASS
from conformance.activex.values import MISSING, Variant, long, text, truth

PATH: Final = f"{COMPUTER}\\private$\\{QUEUE}"
DIRECT: Final = f"DIRECT=OS:{PATH}"
FORMAT: Final = "$format"

RECEIVE, SEND, PEEK = long(1), long(2), long(32)
SHARED, EXCLUSIVE = long(0), long(1)

GETTERS: Final = tuple(name for name, row in MEMBERS.items() if row.slot("get") is not None and not row.unimplemented)
REFRESHING: Final = tuple(name for name in GETTERS if name not in ("FormatName", "IsWorldReadable", "IsWorldReadable2"))
STORED: Final[Mapping[str, tuple[Variant, ...]]] = {
    "Label": (text("a"), text(" a  b "), text("x" * 124), text("Ünï€ \U0001f600")),
    "ServiceTypeGuid": (text("{01234567-89AB-CDEF-0123-456789ABCDEF}"),),
    "PrivLevel": Named("MQPRIVLEVEL").inside(),
    "Journal": (*Named("MQJOURNAL").inside(), long(2)),
    "Quota": (long(1), long(1000), long(2**31 - 1), long(0xFFFFFFFF)),
    "Authenticate": (*Named("MQAUTHENTICATE").inside(), long(2)),
    "JournalQuota": (long(1), long(1000)),
    "MulticastAddress": (text("234.1.1.1:8001"),),
}
"""Properties of a private queue with values that a queue takes."""

OTHER_PROPERTIES: Final = {
    "ServiceTypeGuid": text("{FEDCBA98-7654-3210-FEDC-BA9876543210}"),
    "MulticastAddress": text("234.1.1.1:8002"),
}
"""Second values of properties that have one above."""

SEVERAL: Final = (
    f"DIRECT=HTTP://{COMPUTER}/msmq/private$/{QUEUE}",
    "MULTICAST=234.1.1.1:8001",
    f"{DIRECT},{DIRECT}2",
)
WRONG_PATHS: Final = (
    "x",
    "",
    f"\\private$\\{QUEUE}",
    f"{COMPUTER}\\private$\\{'x' * 125}",
    f"OTHER\\private$\\{QUEUE}",
)
NO_QUEUES: Final = (DIRECT, "x", f"DIRECT=OS:OTHER\\private$\\{QUEUE}")
DEAD_LETTER: Final = f"DIRECT=OS:{COMPUTER}\\SYSTEM$;DEADLETTER"


def new(name: str = "a") -> Act:
    return create(COCLASS, name)


def path(name: str = "a", value: str = PATH) -> Act:
    return call_on(name, "PathName", text(value), kind="put")


def format_name(name: str = "a", value: str = DIRECT) -> Act:
    return call_on(name, "FormatName", text(value), kind="put")


def put(name: str, member: str, value: Variant) -> Act:
    return call_on(name, member, value, kind="put")


def get(name: str, *members: str) -> Plan:
    return tuple(call_on(name, member, kind="get") for member in members)


def make(name: str = "a", transactional: Variant = MISSING, readable: Variant = MISSING) -> Act:
    return call_on(name, "Create", transactional, readable)


def opened(name: str, queue: str, access: Variant = RECEIVE, share: Variant = SHARED) -> Act:
    return call_on(name, "Open", access, share, gives=queue)


def created(name: str = "a", value: str = PATH) -> Plan:
    return (new(name), path(name, value), make(name))


def methods(name: str = "a") -> Plan:
    """Call every method that needs a queue, and Refresh twice, so that getters after it are compared with it."""
    ways = ((RECEIVE, SHARED), (PEEK, EXCLUSIVE), (SEND, SHARED), (SEND, EXCLUSIVE))
    refused = tuple(call_on(name, "Open", *way) for way in ways)
    return (
        call_on(name, "Refresh"),
        *refused,
        call_on(name, "Update"),
        call_on(name, "Delete"),
        call_on(name, "Refresh"),
    )


def stored(member: str) -> Iterator[Plan]:
    """Yield a plan for each value of a property: put, given to a new queue, and got from it and by another object."""
    for at, value in enumerate(STORED[member]):
        name = f"{PATH}-{at}"
        before = (new(), path("a", name), put("a", member, value), make())
        yield (
            *before,
            *get("a", member),
            new("b"),
            path("b", name),
            *get("b", member),
            call_on("a", "Refresh"),
            *get("a", member),
        )


def changed(member: str) -> Iterator[Plan]:
    """Yield plans that change a property of a queue, seen at once, after Update, by others, and by an older look."""
    first, *values = STORED[member]
    default = DEFAULTS[MEMBERS[member].kept_as or ""]
    other = next((value for value in values if value != default), None) or OTHER_PROPERTIES[member]
    look, put_it = get("a", member), put("a", member, other)
    queue = (new(), path(), put("a", member, first), make())
    yield (*queue, call_on("a", "Refresh"), put_it, *look, call_on("a", "Refresh"), *look)
    yield (*queue, put_it, *look)
    yield (*queue, put_it, call_on("a", "Update"), *look, new("b"), path("b"), *get("b", member))
    watcher = (new("w"), path("w"), call_on("w", "Refresh"), *get("w", member))
    again = (*get("w", member), call_on("w", "Refresh"), *get("w", member), path("w"), *get("w", member))
    change = (call_on("a", "Refresh"), put_it, call_on("a", "Update"), *look)
    yield (*queue, *watcher, *change, *again)
    forgets = (path("w"), *get("w", member)) if member != "Label" else (format_name("w"), *get("w", member))
    yield (*queue, *watcher, *change, *forgets)
    yield (new(), path(), put_it, *look)


def getters() -> Mapping[str, Plan]:
    """Return the plans of getters: of a queue as it is made, of one that is not there, of names that mean none."""
    plans: dict[str, Plan] = {
        "new-object": (new(), *get("a", *GETTERS), call_on("a", "Refresh"), *get("a", *REFRESHING)),
        "defaults": (*created(), *get("a", *GETTERS), call_on("a", "Refresh"), *get("a", *GETTERS)),
        "defaults-to-others": (*created(), new("b"), path("b"), *get("b", *GETTERS), *get("b", *GETTERS)),
        "no-such-queue": (new(), path(), call_on("a", "Refresh"), *get("a", *REFRESHING), *get("a", "FormatName")),
        "no-such-format-name": (new(), format_name(), call_on("a", "Refresh"), *get("a", *REFRESHING)),
        "machine-queue": (new(), format_name("a", DEAD_LETTER), call_on("a", "Refresh"), *get("a", *REFRESHING)),
        "machine-queue-unrefreshed": (new(), format_name("a", DEAD_LETTER), *get("a", *reversed(REFRESHING))),
        "identifiers": (
            *created(),
            *created("b", f"{PATH}-b"),
            *get("a", "QueueGuid", "CreateTime", "ModifyTime"),
            *get("b", "QueueGuid", "CreateTime", "ModifyTime"),
            call_on("a", "Refresh"),
            *get("a", "QueueGuid", "CreateTime", "ModifyTime"),
            new("c"),
            path("c", f"{PATH}-b"),
            *get("c", "QueueGuid", "CreateTime", "ModifyTime"),
        ),
        "modified": (
            *created(),
            call_on("a", "Refresh"),
            put("a", "Label", text("b")),
            call_on("a", "Update"),
            *get("a", "ModifyTime"),
        ),
    }
    for at, name in enumerate(SEVERAL):
        plans[f"several-{at}"] = (new(), format_name("a", name), call_on("a", "Refresh"), *get("a", *REFRESHING))
    for at, name in enumerate(WRONG_PATHS):
        plans[f"wrong-path-{at}"] = (
            new(),
            path("a", name),
            call_on("a", "Refresh"),
            *get("a", "Label", "QueueGuid", "Quota"),
        )
    for name in REFRESHING:  # each alone, as the first thing that an object is asked
        plans[f"first-{name}"] = (*created(), new("b"), path("b"), *get("b", name, name), *get("a", name))
    return plans


def renamed() -> Mapping[str, Plan]:
    """Return plans in which an object that has looked at a queue, or made one, is given the name of another."""
    other = f"{PATH}-b"
    puts = tuple(put("b", member, _changed(member)) for member in STORED)
    both = (new(), path(), make("a", truth(True)), new("b"), path("b", other), *puts, make("b"))
    plans: dict[str, Plan] = {}
    for word, members in (("forwards", REFRESHING), ("backwards", tuple(reversed(REFRESHING)))):
        first, second = (path("w"), *get("w", *members)), (path("w", other), *get("w", *members))
        by_format = (format_name("w", f"{DIRECT}-b"), *get("w", *members))
        plans[f"values-{word}"] = (*both, new("w"), *first, *second, *first, *by_format)
    for member in REFRESHING:  # the first thing asked by the new name, when another one has shown that it counts
        probe = get("w", "Quota" if member == "Label" else "Label")
        asked, of_maker = get("w", member), get("a", member)
        seen = (path("w"), *probe, path("w", other), *probe, path("w"), *asked, path("w", other), *asked)
        plans[f"first-{member}"] = (*both, new("w"), *seen, *of_maker, path("a", other), *of_maker)
    befores: dict[str, Plan] = {
        "created": (),
        "shown": get("a", "FormatName"),
        "refreshed": (call_on("a", "Refresh"),),
        "opened": (call_on("a", "Open", RECEIVE, SHARED),),
        "deleted": (call_on("a", "Delete"),),
    }
    looks = (*get("a", "FormatName"), call_on("a", "Refresh"), *get("a", "FormatName", "PathName", "Label"))
    gone = (
        call_on("a", "Delete"),
        new("c"),
        path("c", other),
        call_on("c", "Refresh"),
        path("c"),
        call_on("c", "Refresh"),
    )
    for word, before in befores.items():
        for how, name in (("path", path("a", other)), ("format", format_name("a", f"{DIRECT}-b"))):
            plans[f"{word}-{how}"] = (*created("b", other), *created(), *before, name, *looks, *gone)
    return plans


def _changed(member: str) -> Variant:
    """Return a value of a property that a new queue does not have."""
    default = DEFAULTS[MEMBERS[member].kept_as or ""]
    return next(value for value in STORED[member] if value != default)


def creating() -> Mapping[str, Plan]:
    """Return the plans of Create: its preconditions, its arguments, and that the queue is there."""
    looks = ("IsTransactional", "IsTransactional2")
    plans: dict[str, Plan] = {}
    for word, argument in (("left-out", MISSING), ("true", truth(True)), ("false", truth(False))):
        before = (new(), path(), make("a", argument, argument))
        others = (new("b"), path("b"), *get("b", *looks), call_on("a", "Refresh"), *get("a", *looks))
        plans[f"transactional-{word}"] = (*before, *get("a", *looks), *others)
        readable = ("IsWorldReadable", "IsWorldReadable2")
        made_so = (new(), path(), make("a", MISSING, argument), call_on("a", "Refresh"))
        plans[f"readable-{word}"] = (*made_so, *get("a", *readable), *get("a", *readable))
        plans[f"readable-{word}-backwards"] = (*made_so, *get("a", *reversed(readable)))
    plans["no-path-name"] = (new(), make(), make("a", truth(True), truth(True)))
    plans["format-name-alone"] = (new(), format_name(), make())
    plans["path-name-forgotten"] = (new(), path(), format_name(), make(), *get("a", "FormatName"))
    plans["twice"] = (*created(), make(), new("b"), path("b"), make("b"), make("b", truth(True)))
    plans["dot"] = (
        *created("a", f".\\private$\\{QUEUE}"),
        new("b"),
        path("b"),
        make("b"),
        *get("b", "PathName", "FormatName"),
    )
    plans["other-case"] = (*created(), new("b"), path("b", PATH.replace("private$", "PRIVATE$")), make("b"))
    for at, name in enumerate(WRONG_PATHS):
        plans[f"wrong-path-{at}"] = (new(), path("a", name), make())
    return plans


def naming() -> Mapping[str, Plan]:
    """Return the plans of names: each way in which an object can mean a queue, and what FormatName shows of it."""
    plans: dict[str, Plan] = {
        "format-name-put": (new(), *get("a", "FormatName"), format_name(), *get("a", "FormatName")),
        "format-name-replaced": (new(), format_name(), format_name("a", "PRIVATE=x"), *get("a", "FormatName")),
        "path-name-replaces": (new(), format_name(), path(), *get("a", "FormatName")),
        "path-name-replaces-there": (*created(), new("b"), format_name("b"), path("b"), *get("b", "FormatName")),
        "format-name-replaces": (
            *created(),
            new("b"),
            path("b"),
            format_name("b"),
            *get("b", "FormatName", "PathName", "Label"),
        ),
        "after-create": (*created(), *get("a", "FormatName"), *get("a", "FormatName")),
        "after-path-name": (*created(), new("b"), path("b"), *get("b", "FormatName")),
    }
    for word, call in (("open", call_on("b", "Open", RECEIVE, SHARED)), ("refresh", call_on("b", "Refresh"))):
        plans[f"subqueue-{word}"] = (*created(), new("b"), path("b", f"{PATH};sub"), call, *get("b", "FormatName"))
    ways = {
        "refresh": call_on("b", "Refresh"),
        "update": call_on("b", "Update"),
        "open": call_on("b", "Open", RECEIVE, SHARED),
        "getter": call_on("b", "Label", kind="get"),
    }
    for word, way in ways.items():
        for spelling, name in (
            ("path", PATH),
            ("dot", f".\\private$\\{QUEUE}"),
            ("capitals", PATH.replace("private", "PRIVATE")),
        ):
            plans[f"{word}-{spelling}"] = (*created(), new("b"), path("b", name), way, *get("b", "FormatName"))
        plans[f"{word}-direct"] = (*created(), new("b"), format_name("b"), way, *get("b", "FormatName"))
        shown = call_on("a", "FormatName", kind="get", gives=FORMAT)
        plans[f"{word}-shown"] = (*created(), call_on("a", "Refresh"), shown, new("b"), format_name("b", FORMAT), way)
    return plans


def refusing() -> Mapping[str, Plan]:
    """Return the plans of methods whose object means no queue, in every way, and of two refusals at once."""
    plans: dict[str, Plan] = {"new-object": (new(), *methods())}
    for at, name in enumerate((PATH, *WRONG_PATHS)):
        plans[f"path-{at}"] = (new(), path("a", name), *methods())
    for at, name in enumerate((*NO_QUEUES, *SEVERAL, DEAD_LETTER)):
        plans[f"format-{at}"] = (new(), format_name("a", name), *methods())
    plans["share-mode"] = (
        *created(),
        call_on("a", "Open", SEND, EXCLUSIVE),
        opened("a", "q", SEND),
        call_on("q", "Close"),
    )
    return plans


def deleting() -> Mapping[str, Plan]:
    """Return the plans of Delete: by each name, seen by the object, by others, and by creating the queue again."""
    gone = (
        call_on("b", "Refresh"),
        call_on("b", "Open", RECEIVE, SHARED),
        call_on("b", "Update"),
        call_on("b", "Delete"),
    )
    deleted = call_on("a", "Delete")
    there = f"{COMPUTER}\\{QUEUE}"
    by_direct_name = (new("c"), format_name("c", f"DIRECT=OS:{there}"), call_on("c", "Delete"))
    filled = (*created(), opened("a", "s", SEND), *(act for name in ("m", "n") for act in _sent(name)))
    again = (*created(), opened("a", "q"), call_on("q", "Receive", long(0), MISSING, MISSING, long(0), gives="r"))
    return {
        "after-create": (
            *created(),
            deleted,
            *get("a", "FormatName", "PathName", "Label"),
            call_on("a", "Refresh"),
            make(),
            deleted,
        ),
        "after-refresh": (
            *created(),
            call_on("a", "Refresh"),
            deleted,
            *get("a", "FormatName", "PathName", "Quota", "QueueGuid"),
        ),
        "by-path": (*created(), new("c"), path("c"), call_on("c", "Delete"), new("b"), path("b"), *gone),
        "by-format-name": (
            *created(),
            new("c"),
            format_name("c"),
            call_on("c", "Delete"),
            new("b"),
            format_name("b"),
            *gone,
        ),
        "seen-by-others": (*created(), new("b"), path("b"), call_on("b", "Refresh"), deleted, *gone),
        "again": (*created(), deleted, *created("b"), *get("b", "Label"), call_on("b", "Delete")),
        "filled": (*filled, new("c"), path("c"), call_on("c", "Delete"), new("b"), path("b"), *gone),
        "filled-open": (*filled, opened("a", "q"), deleted, new("b"), path("b"), *gone),
        "filled-again": (*filled, call_on("s", "Close"), deleted, *again),
        "public": (*created("a", there), deleted, new("b"), path("b", there), call_on("b", "Refresh")),
        "public-by-direct-name": (
            *created("a", there),
            *by_direct_name,
            new("b"),
            path("b", there),
            call_on("b", "Refresh"),
        ),
        "public-watched": (
            *created("a", there),
            new("b"),
            path("b", there),
            *get("b", "PathNameDNS", "ADsPath"),
            deleted,
            *get("b", "PathNameDNS", "ADsPath"),
        ),
        "properties-reset": (
            new(),
            path(),
            put("a", "Label", text("old")),
            make(),
            deleted,
            path(),
            make(),
            *get("a", "Label", "PathName"),
        ),
    }


def _sent(name: str) -> Plan:
    return (create("MSMQMessage", name), call_on(name, "Send", Variant("DISPATCH", "s"), long(0)))


def sharing() -> Mapping[str, Plan]:
    """Return the plans of two openings of one queue: each pair of access and share modes, and after a Close."""
    modes = {
        "receive": (RECEIVE, SHARED),
        "receive-exclusive": (RECEIVE, EXCLUSIVE),
        "peek": (PEEK, SHARED),
        "peek-exclusive": (PEEK, EXCLUSIVE),
        "send": (SEND, SHARED),
    }
    plans: dict[str, Plan] = {}
    for word, (access, share) in modes.items():
        for then, (next_access, next_share) in modes.items():
            first, second = opened("a", "q", access, share), opened("b", "r", next_access, next_share)
            plans[f"{word}-then-{then}"] = (*created(), new("b"), path("b"), first, second)
    for then in ("receive", "receive-exclusive"):
        first, second = opened("a", "q", RECEIVE, EXCLUSIVE), opened("a", "r", *modes[then])
        plans[f"closed-then-{then}"] = (*created(), first, call_on("q", "Close"), second, call_on("r", "Close"))
    return plans


def priorities() -> Mapping[str, Plan]:
    """Return the plans of BasePriority, and of a public queue where the computer makes one."""
    public = "PUBLIC=01234567-89ab-cdef-0123-456789abcdef"
    limits = Longs(-32768, 32767)
    puts = tuple(put("a", "BasePriority", value) for value in (*limits.inside(), *limits.outside()))
    there = f"{COMPUTER}\\{QUEUE}"
    shown = call_on("a", "FormatName", kind="get", gives=FORMAT)
    changed = (new("b"), format_name("b", FORMAT), call_on("b", "Refresh"), put("b", "BasePriority", long(7)))
    each = tuple(
        act for value in limits.inside() for act in (put("b", "BasePriority", value), *get("b", "BasePriority"))
    )
    return {
        "named-public": (new(), format_name("a", public), *puts),
        "unnamed": (new(), *puts),
        "private": (*created(), *puts, *get("a", "BasePriority"), call_on("a", "Refresh"), *get("a", "BasePriority")),
        "public": (
            *created("a", there),
            call_on("a", "Refresh"),
            shown,
            *changed,
            *get("b", "BasePriority"),
            call_on("b", "Update"),
            call_on("b", "Refresh"),
            *get("b", "BasePriority"),
            *each,
        ),
    }


def putting(member: str) -> Plan:
    """Return a plan that puts values of a property into a new object; they all are taken."""
    row = MEMBERS[member]
    assert row.takes is not None
    return (new(), *(put("a", member, value) for value in row.takes.inside()))


def groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by the name of their group."""
    copied = (*created(), new("b"), format_name("b"), call_on("b", "Refresh"), *get("b", "PathName", "QueueGuid"))
    out: dict[str, tuple[Plan, ...]] = {"copied": (copied,)}
    out |= {f"getters-{name}": (plan,) for name, plan in getters().items()}
    for member in STORED:
        kept = put("a", member, _changed(member))
        out[f"kept-{member}"] = ((*created(), call_on("a", "Refresh"), kept, *get("a", member)),)
        out[f"stored-{member}"] = tuple(stored(member))
        out[f"changed-{member}"] = tuple(changed(member))
    for part in (creating, naming, renamed, deleting, refusing, sharing, priorities):
        out |= {f"{part.__name__}-{name}": (plan,) for name, plan in part().items()}
    putters = (name for name, row in MEMBERS.items() if row.takes is not None and name != "BasePriority")
    return out | {f"putting-{name}": (putting(name),) for name in putters}


LENGTHS: Final = (1, 124, 125, 126, 249, 250, 251, 1000)
NUMBERS: Final = (-(2**31), -32769, -1, 0, 3, 4, 100, 32768, 2**31 - 1)
STATES: Final[Mapping[str, Plan]] = {
    "new": (new(),),
    "path": (new(), path()),
    "format": (new(), format_name()),
    "created": created(),
    "refreshed": (*created(), call_on("a", "Refresh")),
    "updated": (*created(), call_on("a", "Update")),
    "deleted": (*created(), call_on("a", "Delete")),
}
"""States of an object, by the acts that lead to them."""
PUTTERS: Final = tuple(
    name
    for name, row in MEMBERS.items()
    if row.slot("put") is not None
    and not row.unimplemented
    and row.refusal is None
    and name not in ("PathName", "FormatName")
)
TEXTS: Final = tuple(name for name in STORED if MEMBERS[name].vt == "BSTR")


def any_value(member: str) -> tuple[Variant, ...]:
    """Return values of the type of a property, sensible or not."""
    if MEMBERS[member].vt == "BSTR":
        return (text(""), Variant("BSTR"), *(text("x" * length) for length in LENGTHS), text("{0}"))
    return tuple(long(number) if number >= 0 else Variant("I4", number) for number in NUMBERS)


def any_values() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans that put any value, by property and state of the object."""
    return {
        f"any-{member}": tuple(
            (*state, *(put("a", member, value) for value in any_value(member))) for state in STATES.values()
        )
        for member in PUTTERS
    }


def emptied() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans that put nothing over a value: before Create, before Update, and seen by others."""
    plans: dict[str, tuple[Plan, ...]] = {}
    for member in TEXTS:
        full, empty = put("a", member, STORED[member][0]), put("a", member, _empty(member))
        look = get("a", member)
        other: tuple[Act, ...] = (new("b"), path("b"), *get("b", member))
        again = (call_on("a", "Refresh"), *look)
        queue = (new(), path(), full, make())
        plans[f"emptied-{member}"] = (
            (new(), path(), full, empty, make(), *look, *other, *again),
            (*queue, call_on("a", "Refresh"), *look, empty, *look, call_on("a", "Update"), *look, *other, *again),
            (*queue, empty, call_on("a", "Update"), *look, *other, *again, full, call_on("a", "Update"), *again),
        )
    return plans


def _empty(member: str) -> Variant:
    return text("{00000000-0000-0000-0000-000000000000}") if member == "ServiceTypeGuid" else text("")


def value_groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by the name of their group."""
    return {**any_values(), **emptied()}


MESSAGE: Final = create("MSMQMessage", "m")
FORMS: Final = {
    name: [other for other, row in NAMED_QUEUE_MEMBERS.items() if row.kept_as == NAMED_QUEUE_MEMBERS[name].kept_as]
    for name, row in NAMED_QUEUE_MEMBERS.items()
    if row.slot("putref") is not None and name != "ResponseDestination"
}
"""Property of a queue to all forms that show it."""


def refer(member: str, name: str | None) -> Act:
    return call_on("m", member, Variant("DISPATCH", name), kind="putref")


def handed(member: str, name: str) -> Act:
    return call_on("m", member, kind="get", gives=name)


def _property(member: str) -> Iterator[Plan]:
    queue = (*created(), put("a", "Label", text("a")), call_on("a", "Refresh"))
    looks = tuple(act for form in FORMS[member] for act in (handed(form, "r"), *get("r", "FormatName", "Label")))
    yield (*queue, MESSAGE, refer(member, "a"), *looks)
    yield (
        *queue,
        new("b"),
        format_name("b"),
        MESSAGE,
        refer(member, "b"),
        handed(member, "r"),
        *get("r", "FormatName"),
    )
    changed = (handed(member, "r"), call_on("a", "Refresh"), put("a", "Label", text("b")), call_on("a", "Update"))
    yield (*queue, MESSAGE, refer(member, "a"), *changed, *get("r", "Label"), handed(member, "s"), *get("s", "Label"))
    other = (
        new("b"),
        format_name("b", f"{DIRECT}-none"),
        refer(member, "b"),
        handed(member, "r"),
        *get("r", "FormatName"),
    )
    yield (*queue, MESSAGE, refer(member, "a"), *other)
    renamed = (refer(member, "a"), path("a"), handed(member, "r"), *get("r", "FormatName"))
    yield (*queue, MESSAGE, *renamed)
    yield (*queue, MESSAGE, refer(member, "a"), refer(member, None))


def message_queues() -> Mapping[str, tuple[Plan, ...]]:
    """Return the plans by the property that they put."""
    plans = {member: tuple(_property(member)) for member in FORMS}
    both = (refer("ResponseQueueInfo", "a"), refer("AdminQueueInfo", "b"))
    looks = tuple(
        act
        for form in (form for forms in (FORMS["ResponseQueueInfo"], FORMS["AdminQueueInfo"]) for form in forms)
        for act in (handed(form, form), *get(form, "FormatName"))
    )
    named = (new(), format_name("a"), new("b"), format_name("b", f"{DIRECT}-admin"))
    plans["both"] = ((*named, MESSAGE, *both, *looks),)
    for member in NAMED_QUEUE_MEMBERS:
        looks = get("r", "FormatName") if member.endswith(("Info", "_v1", "_v2")) else ()
        plans[f"new-{member}"] = ((MESSAGE, handed(member, "r"), *looks),)
    return plans


def destinations() -> Mapping[str, tuple[Plan, ...]]:
    """Return the plans of ResponseDestination, and of messages sent to one, for a driver that has destinations."""
    destination = (create(DESTINATION, "a"), call_on("a", "FormatName", text(f"{DIRECT},{DIRECT}2"), kind="put"))
    member = "ResponseDestination"
    refers = (*destination, MESSAGE, refer(member, "a"), handed(member, "r"), *get("r", "FormatName"))
    looks = (handed("DestinationQueueInfo", "x"), *get("x", "PathName"))
    two = (*created("i"), call_on("i", "Open", SEND, SHARED, gives="s"), *created("j", f"{PATH}-b"))
    other = (
        create(DESTINATION, "d"),
        call_on("d", "FormatName", text(f"{DIRECT}-b"), kind="put"),
        call_on("d", "Open"),
    )
    sent = {name: call_on("m", "Send", Variant("DISPATCH", name), long(0)) for name in ("s", "d")}
    each: list[Plan] = [
        tuple(act for name in names for act in (sent[name], *looks)) for names in ("sd", "ds", "sds", "dd")
    ]
    return {member: (refers,), "sent": tuple((*two, *other, MESSAGE, *acts) for acts in each)}
