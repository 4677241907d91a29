"""Plans about destinations, applications, management, collections, coordinated transactions, and idle members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import Final

from conformance.activex import application, management
from conformance.activex.library import interfaces
from conformance.activex.members import Member
from conformance.activex.plans import Act, Plan, call_on, create
from conformance.activex.plans_queue_info import PATH
from conformance.activex.plans_reads import READS, receives
from conformance.activex.scene_services import RESTART, SINGLE_MESSAGE, driven
from conformance.activex.scenes import COMPUTER, MANAGER, QUEUE, SMALL
from conformance.activex.services import (
    APPLICATION,
    COLLECTION,
    COORDINATED,
    DESTINATION,
    MANAGEMENT,
    PEEK,
    RECEIVE,
    SEND,
    SERVICES,
)
from conformance.activex.transactions import DISPENSER
from conformance.activex.values import MISSING, Variant, long, octets, text, truth

Plans = Mapping[str, tuple[Plan, ...]]

FIRST, SECOND, NOWHERE = PATH, f"{PATH}-b", f"{PATH}-nowhere"
ABROAD: Final = "DIRECT=OS:mqconform-elsewhere\\private$\\q"
MULTICAST: Final = "MULTICAST=234.1.1.1:8001"
PUBLIC: Final = f"{COMPUTER}\\{QUEUE}"
NULL: Final = Variant("NULL")
NOT_NOW: Final = long(0)


def direct(path: str) -> str:
    """Return the direct format name of a path name."""
    return f"DIRECT=OS:{path}"


def queue(name: str, path: str = FIRST, *, transactional: bool = False, journal: bool = False) -> Plan:
    """Return the creation of a queue by an MSMQQueueInfo."""
    made: list[Act] = [create("MSMQQueueInfo", name), call_on(name, "PathName", text(path), kind="put")]
    if journal:
        made.append(call_on(name, "Journal", long(1), kind="put"))
    return (*made, call_on(name, "Create", truth(True) if transactional else MISSING, MISSING))


def opened(info: str, access: int, gives: str) -> Act:
    return call_on(info, "Open", long(access), long(0), gives=gives)


def sent(to: str, count: int = 1, *, transactional: bool = False) -> Plan:
    """Return the sending of equal messages, each with an object of its own. to: an open queue or a destination."""
    how = long(SINGLE_MESSAGE if transactional else 0)
    names = ("m", *(f"m{number}" for number in range(2, count + 1)))
    return tuple(act for name in names for act in _one_sent(name, to, how))


def _one_sent(name: str, to: str, how: Variant) -> Plan:
    return (
        create("MSMQMessage", name),
        call_on(name, "Label", text("equal"), kind="put"),
        call_on(name, "Body", octets(b"abcd"), kind="put"),
        call_on(name, "Send", Variant("DISPATCH", to), how),
    )


def receive_act(reader: str) -> Act:
    return call_on(reader, "Receive", long(0), MISSING, MISSING, NOT_NOW)


def peeked(reader: str) -> Act:
    return call_on(reader, "Peek", MISSING, MISSING, NOT_NOW)


def looks(name: str, members: tuple[str, ...]) -> Plan:
    return tuple(call_on(name, member, kind="get") for member in members)


# Members that do nothing
def unimplemented(member: Member) -> Iterator[Plan]:
    """Yield a plan for each form of a member that does nothing."""
    for slot in member.slots:
        arguments = () if slot.kind == "get" else (Variant("DISPATCH", "a"),)
        yield (create(member.coclass), call_on("a", member.name, *arguments, kind=slot.kind))


def not_implemented() -> Plans:
    """Return plans for the members of these classes that do nothing."""
    rows = [member for members in SERVICES.values() for member in members.values() if member.unimplemented]
    return {f"{row.coclass}.{row.name}": tuple(unimplemented(row)) for row in rows if row.coclass in _SCENE}


_SCENE: Final = frozenset({DESTINATION, APPLICATION, COORDINATED})

# Destinations
_LOOKS: Final = looks("d", ("IsOpen", "PathName", "FormatName", "ADsPath", "Handle"))
_WORLD: Final[Plan] = (*queue("i"), *queue("j", SECOND), opened("i", RECEIVE, "r"), opened("j", RECEIVE, "s"))
_OTHER: Final[Plan] = (
    create(DESTINATION, "o"),
    call_on("o", "FormatName", text(direct(SECOND)), kind="put"),
    call_on("o", "Open"),
    call_on("o", "Handle", kind="get", gives="$handle"),
)


def _put(member: str, value: str) -> Act:
    return call_on("d", member, text(value), kind="put")


ACTIONS: Final[Mapping[str, Plan]] = {
    "open": (call_on("d", "Open"),),
    "close": (call_on("d", "Close"),),
    "path": (_put("PathName", FIRST),),
    "other-path": (_put("PathName", SECOND),),
    "path-of-nothing": (_put("PathName", "nothing"),),
    "format": (_put("FormatName", direct(FIRST)),),
    "other-format": (_put("FormatName", direct(SECOND)),),
    "format-abroad": (_put("FormatName", ABROAD),),
    "format-of-nothing": (_put("FormatName", direct(NOWHERE)),),
    "directory": (_put("ADsPath", "LDAP://nowhere/CN=q"),),
    "handle": (call_on("d", "Handle", Variant("I8", "$handle"), kind="put"),),
    "no-handle": (call_on("d", "Handle", Variant("I8", 0), kind="put"),),
    "invalid-handle": (call_on("d", "Handle", Variant("I8", -1), kind="put"),),
    "strange-handle": (call_on("d", "Handle", Variant("I8", 2**40), kind="put"),),
}
_ARRIVES: Final[Plan] = (*sent("d"), peeked("r"), peeked("s"))
"""A message that is sent to the destination, and a look at which queue has it."""

_NAMED: Final = ("path", "format", "other-path", "format-abroad", "path", "directory", "format")


def destinations() -> Plans:
    """Return plans with each action on a destination after each other one, closed and open."""
    named = (*_WORLD, create(DESTINATION, "d"))
    plans: dict[str, tuple[Plan, ...]] = {
        "named": ((*named, *(act for name in _NAMED for act in (*ACTIONS[name], *_LOOKS))),),
        "new": ((create(DESTINATION, "d"), *_LOOKS, call_on("d", "Open"), call_on("d", "Close")),),
    }
    for first, acts in ACTIONS.items():
        plans[first] = tuple(_pairs(acts))
    plans["arrives"] = tuple(_arrivals())
    plans["handle-of-queue"] = tuple(_handles())
    parts = (_put("PathName", f"{FIRST};part"), *_LOOKS[1:3], *ACTIONS["path"], *_LOOKS)
    plans["subqueue"] = ((*_WORLD, create(DESTINATION, "d"), *parts),)
    plans["twice"] = tuple(
        (*queue("i"), create(DESTINATION, "d"), _put("FormatName", direct(FIRST)), *acts, *_LOOKS)
        for acts in product((call_on("d", "Open"), call_on("d", "Close")), repeat=4)
    )
    return plans


def _handles() -> Iterator[Plan]:
    """Yield plans in which a destination is given the handle of a queue object, however that was opened."""
    for accesses in permutations((RECEIVE, SEND, PEEK)):
        open_all = tuple(opened("i", access, f"q{access}") for access in accesses)
        handle = call_on(f"q{accesses[-1]}", "Handle2", kind="get", gives="$handle")
        yield (*queue("i"), *open_all, handle, create(DESTINATION, "d"), *ACTIONS["handle"], *_LOOKS)


def _pairs(acts: Plan) -> Iterator[Plan]:
    """Yield a plan in which an action is followed by each other one, on a new destination and on an open one."""
    for start in ((), (*ACTIONS["format"], call_on("d", "Open")), (*ACTIONS["path"],)):
        made: list[Act] = [*_WORLD]
        for then in ACTIONS.values():
            other = _OTHER if ACTIONS["handle"] in (acts, then) else ()
            made += [*other, create(DESTINATION, "d"), *start, *acts, *_LOOKS, *then, *_LOOKS]
        yield tuple(made)


def _arrivals() -> Iterator[Plan]:
    for name in ("other-path", "other-format", "handle", "path", "format"):
        for start in ("format", "path"):
            plan = (*_WORLD, *_OTHER, create(DESTINATION, "d"), *ACTIONS[start], call_on("d", "Open"), *_LOOKS)
            yield (*plan, *ACTIONS[name], *_LOOKS, *_ARRIVES, call_on("d", "Close"), *_LOOKS)
    yield (*_WORLD, *_OTHER, create(DESTINATION, "d"), *ACTIONS["handle"], *_LOOKS, *_ARRIVES)


# Applications
_VERSIONS: Final = ("MSMQVersionMajor", "MSMQVersionMinor", "MSMQVersionBuild", "IsDsEnabled")
_LISTS: Final[Plan] = (call_on("a", "ActiveQueues"), *looks("a", ("PrivateQueues", "BytesInAllQueues")))
OF_MACHINE: Final = driven("management.get", target={"type": "machine"}, properties=list(application.ASKED))
_STATE: Final[Plan] = (OF_MACHINE, *looks("a", ("IsConnected", "IsDsEnabled", "BytesInAllQueues", "Machine")))
_CERTIFICATE: Final = octets(b"certificate")
_REGISTER: Final = (
    call_on("a", "RegisterCertificate", long(2), _CERTIFICATE),
    call_on("a", "RegisterCertificate", MISSING, MISSING),
    call_on("a", "RegisterCertificate", long(1), _CERTIFICATE),
)
_OF_ANOTHER: Final[Plan] = (
    *looks("a", ("Machine", *_VERSIONS, "IsConnected", "DirectoryServiceServer")),
    *_LISTS,
    *(call_on("a", action) for action in ("Connect", "Disconnect", "Tidy")),
    *_REGISTER,
    *looks("a", ("Machine",)),
)

_AS_HERE: Final = (
    *looks("a", ("IsConnected",)),
    call_on("a", "Disconnect"),
    call_on("a", "Connect"),
    call_on("a", "Tidy"),
    *_LISTS,
)


def applications() -> Plans:
    """Return plans about the computer itself, and about another name."""
    app = create(APPLICATION, "a")
    plans: dict[str, tuple[Plan, ...]] = {
        "versions": ((app, *looks("a", ("Machine", *_VERSIONS)), _REGISTER[0], *looks("a", _VERSIONS)),),
        "connected": (
            (
                app,
                *_STATE,
                call_on("a", "Disconnect"),
                *_STATE,
                call_on("a", "Disconnect"),
                *_STATE,
                call_on("a", "Connect"),
                *_STATE,
            ),
            (
                *(app, call_on("a", "Connect"), *_STATE, call_on("a", "Disconnect"), create(APPLICATION, "a"), *_STATE),
                *(call_on("a", "Tidy"), *_STATE, call_on("a", "Connect"), *_STATE),
            ),
        ),
        "another": tuple(
            (app, call_on("a", "Machine", text(name), kind="put"), *_OF_ANOTHER)
            for name in ("mqconform-elsewhere", "mqconform-elsewhere.example")
        ),
        "named-as-here": tuple(
            (app, call_on("a", "Machine", text(name), kind="put"), *looks("a", ("Machine", *_VERSIONS)), *_AS_HERE)
            for name in (COMPUTER, SMALL)
        ),
        "two-objects": (
            (
                *(app, create(APPLICATION, "b"), call_on("b", "Machine", text("mqconform-elsewhere"), kind="put")),
                *looks("a", ("Machine", *_VERSIONS)),
                *looks("b", ("Machine", *_VERSIONS)),
            ),
        ),
        "machine-ids": (
            (
                *(app, *(call_on("a", "MachineIdOfMachineName", one) for one in _NAMES)),
                *(call_on("a", "MachineNameOfMachineId", text(one)) for one in _IDENTIFIERS),
            ),
        ),
        "queues": tuple(_of_queues()),
    }
    return plans


_NAMES: Final = (text(COMPUTER), Variant("BSTR", None), text("mqconform-elsewhere"))
_IDENTIFIERS: Final = (MANAGER, f"{{{MANAGER}}}", "01234567-89ab-cdef-0123-456789abcdef", "nothing")


def _of_queues() -> Iterator[Plan]:
    size = (call_on("g", "Init", MISSING, text(FIRST), MISSING), call_on("g", "BytesInQueue", kind="get"))
    start = (create(APPLICATION, "a"), *_LISTS, *queue("i"), *_LISTS)
    yield (
        *start,
        opened("i", SEND, "s"),
        *_LISTS,
        *sent("s", 2),
        create(MANAGEMENT, "g"),
        *size,
        *_LISTS,
        call_on("s", "Close"),
        *_LISTS,
        opened("i", RECEIVE, "r"),
        receive_act("r"),
        *_LISTS,
        receive_act("r"),
        call_on("r", "Close"),
        *_LISTS,
        call_on("i", "Delete"),
        *_LISTS,
    )
    yield (*start, *queue("j", SECOND), opened("i", PEEK, "p"), *_LISTS, opened("j", SEND, "s"), *_LISTS, *_LISTS)
    yield (*start, *_abroad(), *_LISTS, call_on("s", "Close"), *_LISTS)
    destination = (*start, *queue("j", SECOND), create(DESTINATION, "d"), *ACTIONS["format"])
    yield (*destination, call_on("d", "Open"), *_LISTS, call_on("d", "Close"), *_LISTS)
    for name in ("other-format", "other-path", "format-abroad", "format-of-nothing", "path"):
        yield (*destination, call_on("d", "Open"), *_LISTS, *ACTIONS[name], *_LISTS, call_on("d", "Close"), *_LISTS)


# Management
def _abroad(name: str = ABROAD) -> Plan:
    """Return an outgoing queue, open as `s`."""
    return (create("MSMQQueueInfo", "w"), call_on("w", "FormatName", text(name), kind="put"), opened("w", SEND, "s"))


_GETTERS: Final = (
    *("FormatName", "Machine", "MessageCount", "ForeignStatus", "QueueType", "IsLocal"),
    *("TransactionalStatus", "BytesInQueue"),
)
_OF_JOURNALS: Final = ("JournalMessageCount", "BytesInJournal")
_OF_OUTGOING: Final = ("State", "NextHops")


def _report(name: str) -> Act:
    target = {"type": "queue", "format_name": name}
    return driven("management.get", target=target, properties=list(management.ASKED))


def _managed(name: str = direct(FIRST), *, report: bool = True) -> Plan:
    """Return looks at all that a management object tells of a queue here."""
    beside = (_report(name),) if report else ()
    return (*beside, *looks("g", (*_GETTERS, *_OF_JOURNALS)), call_on("g", "EodGetReceiveInfo"))


def _outgoing() -> Plan:
    return (_report(ABROAD), *looks("g", (*_GETTERS, *_OF_OUTGOING)), call_on("g", "EodGetSendInfo"))


def init(path: Variant = MISSING, name: Variant = MISSING, machine: Variant = MISSING) -> Act:
    return call_on("g", "Init", machine, path, name)


_ASK: Final = tuple(
    call_on("g", "QueryInterface", text(interfaces()[name].iid))
    for name in ("IMSMQQueueManagement", "IMSMQOutgoingQueueManagement")
)
_NEW: Final = create(MANAGEMENT, "g")
_UNREADY: Final[Plan] = (*looks("g", (*_GETTERS, *_OF_JOURNALS)), call_on("g", "EodGetReceiveInfo"), *_ASK)


def managements() -> Plans:
    """Return plans about management objects of queues here."""
    both = (init(text(FIRST), text(direct(FIRST))), init(NULL, NULL), init(), init(NULL, MISSING))
    ready = (*queue("i"), opened("i", SEND, "s"), _NEW)
    named = ((text(FIRST), MISSING), (MISSING, text(direct(FIRST))), (NULL, text(direct(FIRST))), (text(FIRST), NULL))
    plans: dict[str, tuple[Plan, ...]] = {
        "uninitialized": ((_NEW, *_UNREADY),),
        "refused": (
            (*ready, *(act for one in both for act in (one, *_UNREADY)), init(text(FIRST)), *_managed()),
            (*ready, init(text(NOWHERE)), *_UNREADY, init(MISSING, text(direct(NOWHERE))), *_UNREADY),
            (*ready, _report(direct(NOWHERE)), init(MISSING, text(direct(NOWHERE))), init(text(FIRST)), *_managed()),
            (*ready, create(DESTINATION, "d"), *ACTIONS["path"], *_LOOKS[2:3], init(text(FIRST)), *_managed()),
            (*ready, init(text("nothing")), init(MISSING, text("nothing")), init(MISSING, text(ABROAD)), *_UNREADY),
            (
                *ready,
                init(text(FIRST), MISSING, text("mqconform-elsewhere")),
                *looks("g", ("MessageCount", "QueueType")),
            ),
        ),
        "inactive": (
            (*queue("i"), _NEW, init(text(FIRST)), *_UNREADY, init(MISSING, text(direct(FIRST))), *_UNREADY),
            (*ready, call_on("s", "Close"), init(text(FIRST)), *_UNREADY),
        ),
        "named": tuple(
            (*ready, init(path, name, machine), *_managed(), *_ASK)
            for (path, name), machine in product(named, (MISSING, NULL, text(COMPUTER), text(SMALL)))
        ),
        "again": ((*ready, init(text(FIRST)), *_managed(), init(text(FIRST)), *_managed()),),
        "gone": (
            (*ready, init(text(FIRST)), call_on("s", "Close"), call_on("i", "Delete"), *_managed()),
            (*ready, init(text(FIRST)), call_on("s", "Close"), call_on("i", "Delete"), *_managed(report=False)),
        ),
        "counts": tuple(_counts()),
        "system": tuple(_system()),
    }
    return plans


def _counts() -> Iterator[Plan]:
    for journal, transactional in product((False, True), repeat=2):
        made = (
            *queue("i", transactional=transactional, journal=journal),
            opened("i", SEND, "s"),
            opened("i", RECEIVE, "r"),
        )
        send = sent("s", 1, transactional=transactional)
        look = _managed()
        yield (
            *(*made, _NEW, init(text(FIRST)), *look, *send, *look, *send, *send, *look),
            *(receive_act("r"), *look, receive_act("r"), receive_act("r"), *look, *send, *look),
        )
        yield (*made, *send, *send, _NEW, init(MISSING, text(direct(FIRST))), *_managed(report=False), receive_act("r"))
    both = (*queue("i"), *queue("j", SECOND, journal=True), opened("i", SEND, "s"), opened("j", SEND, "t"))
    other = (create(MANAGEMENT, "h"), call_on("h", "Init", MISSING, text(SECOND), MISSING))
    seen = looks("h", ("MessageCount", "BytesInQueue", *_OF_JOURNALS))
    plan = (*both, _NEW, init(text(FIRST)), *other, *sent("s", 2), *_managed(), *seen, *sent("t"), *seen, *_managed())
    yield (*plan, opened("j", RECEIVE, "r"), receive_act("r"), *seen, *_managed())


def _system() -> Iterator[Plan]:
    public = (*queue("i", PUBLIC), opened("i", SEND, "s"), _NEW, init(MISSING, text(direct(PUBLIC))))
    yield (*public, *_managed(direct(PUBLIC)), *_ASK, *sent("s", 2), *_managed(direct(PUBLIC)))
    name = f"MACHINE={MANAGER};DEADLETTER"
    system = (
        create("MSMQQueueInfo", "i"),
        call_on("i", "FormatName", text(name), kind="put"),
        opened("i", RECEIVE, "r"),
    )
    yield (*system, _NEW, init(MISSING, text(name)), _report(name), *looks("g", ("QueueType", "IsLocal")))


_STEPS: Final = (
    ("in_process", ["192.0.2.7", "192.0.2.8"]),
    ("socket_connect_failure", None),
    ("dns_failure", None),
    ("established", ["192.0.2.8"]),
    ("closing", None),
    ("closed", None),
)


def _step(step: str, addresses: list[str] | None) -> Act:
    given = {} if addresses is None else {"addresses": addresses}
    return driven("management.connection", format_name=ABROAD, step=step, **given)


def outgoing() -> Plans:
    """Return plans about management objects of outgoing queues."""
    start = (*_abroad(), _NEW, init(MISSING, text(ABROAD)))
    actions = ("Pause", "Resume", "EodResend")
    group = (_report(MULTICAST), *looks("g", (*_GETTERS, *_OF_OUTGOING)), *_ASK)
    plans: dict[str, tuple[Plan, ...]] = {
        "multicast": ((*_abroad(MULTICAST), _NEW, init(MISSING, text(MULTICAST)), *group, *sent("s"), *group),),
        "uninitialized": (
            (_NEW, *looks("g", _OF_OUTGOING), call_on("g", "EodGetSendInfo"), *(call_on("g", one) for one in actions)),
        ),
        "told": ((*start, *_ASK, *_outgoing(), *sent("s", 2), *_outgoing()),),
        "connection": (
            (*start, *sent("s"), *(act for one in _STEPS for act in (_step(*one), *_outgoing()))),
            (*start, *(act for one in _STEPS[:4] for act in (_step(*one), *_outgoing()))),
        ),
        "paused": tuple(
            (
                *start,
                *sent("s"),
                *before,
                *_outgoing(),
                *(act for one in order for act in (call_on("g", one), *_outgoing())),
            )
            for before in ((), (_step(*_STEPS[3]),))
            for order in (("Pause", "Resume", "Pause"), ("Pause", "EodResend", "Resume"), ("Resume", "EodResend"))
        ),
        "transfer": tuple(_transfers(start)),
    }
    return plans


def locked() -> Plans:
    """Return plans about the management object of an outgoing queue that hardened security locks from its start on."""
    start = (
        driven("harden", hardened=True),
        driven(RESTART, kill=False),
        *_abroad(),
        _NEW,
        init(MISSING, text(ABROAD)),
    )
    return {"locked": ((*start, *_outgoing(), *sent("s"), *_outgoing()),)}


def _items(name: str) -> Plan:
    """Return looks at each element of a collection, and at the collections in it."""
    made: list[Act] = [call_on(name, "Count", kind="get")]
    for key in management.ITEMS:
        if key in ("EodLastAck", "EodFirstNonAck", "EodLastNonAck", "EodNextSeq"):
            made.append(call_on(name, "Item", text(key), gives=f"{name}{key}"))
        else:
            made.append(call_on(name, "Item", text(key)))
    again = (act for act in reversed(made) if act.gives is None)
    return (
        *made,
        *again,
        call_on(name, "Item", text("nothing")),
        call_on(name, "Item", long(0)),
        call_on(name, "_NewEnum"),
    )


def _sequence(name: str) -> Plan:
    return tuple(call_on(name, "Item", text(key)) for key in ("SeqID", "SeqNo", "PrevNo"))


def _collected(name: str, *sequences: str) -> Plan:
    inner = tuple(act for key in sequences for act in _sequence(f"{name}{key}"))
    return (_report(ABROAD), call_on("g", "EodGetSendInfo", gives=name), *_items(name), *inner)


def _transfers(start: Plan) -> Iterator[Plan]:
    connect = _step(*_STEPS[3])
    send = sent("s", 3, transactional=True)
    transfer = driven("management.transfer", format_name=ABROAD, count=3)
    acknowledge = driven("management.acknowledge", format_name=ABROAD, kind="order", sequence_number=1)
    unacknowledged = ("EodFirstNonAck", "EodLastNonAck", "EodNextSeq")
    yield (
        *(*start, *_collected("c", "EodNextSeq"), *send, connect, *_collected("c", "EodNextSeq")),
        *(transfer, *_collected("c", *unacknowledged), *_outgoing()),
        *(acknowledge, *_collected("c", "EodLastAck", *unacknowledged), *_outgoing()),
        *(call_on("g", "EodResend"), transfer, *_collected("c", "EodLastAck", *unacknowledged)),
        *(call_on("g", "Pause"), *_collected("c", "EodNextSeq"), *_outgoing()),
    )


# Collections and the dispenser
def collections() -> Plans:
    """Return plans about a collection that the client makes."""
    empty = (create(COLLECTION, "c"), call_on("c", "Count", kind="get"))
    keys = (text("EodNextSeq"), text(""), text("a"), long(0), long(1))
    return {"empty": ((*empty, *(call_on("c", "Item", key) for key in keys), call_on("c", "_NewEnum"), empty[1]),)}


def interfaces_of_transactions() -> Plans:
    """Return a plan that asks what get ITransaction gives for the interface of that name."""
    begin = (
        create(DISPENSER, "x"),
        call_on("x", "BeginTransaction", gives="t"),
        call_on("t", "ITransaction", kind="get", gives="i"),
    )
    asked = call_on("i", "QueryInterface", text(interfaces()["ITransaction"].iid))
    return {"interface": ((*begin, asked, call_on("t", "Abort", MISSING, MISSING), asked),)}


def groups() -> Mapping[str, Plans]:
    """Return all plans of the scene by the suite's modules."""
    return {
        "not-implemented": not_implemented(),
        "destinations": destinations(),
        "applications": applications(),
        "managements": managements(),
        "outgoing": outgoing(),
        "collections": collections(),
        "transactions": interfaces_of_transactions(),
    }


_RELATIVE: Final = ("ReceiveNextByLookupId", "ReceivePreviousByLookupId")


def coordinated() -> Plans:
    """Return plans about the dispenser of coordinated transactions, whoever coordinates them."""
    asked = call_on("t", "QueryInterface", text(interfaces()["IMSMQTransaction3"].iid))
    begin = call_on("x", "BeginTransaction", gives="t")
    ends = (call_on("t", "Abort", MISSING, MISSING), call_on("t", "Abort", MISSING, MISSING))
    plans: dict[str, tuple[Plan, ...]] = {
        "begun": ((create(COORDINATED, "x"), begin, asked, *ends, begin, asked, *ends),)
    }
    made = (*queue("i", transactional=True), opened("i", SEND, "s"), opened("i", RECEIVE, "r"))
    filled = (*made, *sent("s", 1, transactional=True), create(COORDINATED, "x"), begin)
    known = (
        call_on("r", "Peek", MISSING, MISSING, NOT_NOW, gives="p"),
        call_on("p", "LookupId", kind="get", gives="$id"),
    )
    given = {"Transaction": Variant("DISPATCH", "t"), "LookupId": text("$id"), "ReceiveTimeout": NOT_NOW}
    for member in (one for one in READS if receives(one) and one.name not in _RELATIVE):
        arguments = [given.get(one.name, MISSING) for one in member.slots[0].arguments if not one.result]
        taken_so = call_on("r", member.name, *arguments, gives="m1")
        plans[f"received-{member.name}"] = ((*filled, *known, taken_so, peeked("r"), ends[0], peeked("r")),)
    return plans
