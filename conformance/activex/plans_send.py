"""Plans of sends: of one property, of several together, and with each kind of transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import Act, Plan, call_on, create
from conformance.activex.plans_queue_info import PATH, RECEIVE, SEND, created, format_name, get, new, opened, path, put
from conformance.activex.plans_queue_info import make as make_queue
from conformance.activex.tables import CLASSES
from conformance.activex.transactions import DISPENSER, TRANSACTION
from conformance.activex.values import MISSING, Variant, long, octets, text, truth

MEMBERS: Final[Mapping[str, Member]] = CLASSES["MSMQMessage"]
NONE, MTS, XA, SINGLE = long(0), long(1), long(2), long(3)
CONNECTOR: Final = text("{01234567-89AB-CDEF-0123-456789ABCDEF}")
CONNECTED: Final[Mapping[str, Variant]] = {
    "MsgClass": long(1),
    "SenderId": octets(b"\x01"),
    "DestinationSymmetricKey": octets(b"\x01"),
    "Signature": octets(b"\x01"),
    "AuthenticationProviderName": text("a"),
}
"""Properties that need a connector type, with a value of each."""
SENT: Final = (
    "Delivery",
    "Trace",
    "Priority",
    "Journal",
    "AppSpecific",
    "Body",
    "CorrelationId",
    "Ack",
    "Label",
    "MaxTimeToReachQueue",
    "MaxTimeToReceive",
    "HashAlgorithm",
    "EncryptAlgorithm",
    "Extension",
    "SenderIdType",
)
"""Properties that are sent with a message and shown by the one that is received."""
SET: Final = ("Id", "SourceMachineGuid", "SentTime", "Class", "MsgClass")
GETTERS: Final = tuple(
    name
    for name, row in MEMBERS.items()
    if row.slot("get") is not None and row.vt != "DISPATCH" and not row.unimplemented
)
QUEUE: Final[Plan] = (*created(), call_on("a", "Refresh"), opened("a", "s", SEND), opened("a", "q", RECEIVE))
TRANSACTIONAL: Final[Plan] = (
    new(),
    path(),
    make_queue("a", truth(True)),
    call_on("a", "Refresh"),
    opened("a", "s", SEND),
    opened("a", "q", RECEIVE),
)
WRONG_TRANSACTIONS: Final = (
    text("a"),
    Variant("EMPTY"),
    Variant("NULL"),
    Variant("I2", 0),
    Variant("R8", "1"),
    truth(True),
    octets(b"a"),
)


def message(name: str = "m") -> Act:
    return create("MSMQMessage", name)


def send(name: str = "m", to: str | None = "s", how: Variant = NONE) -> Act:
    return call_on(name, "Send", Variant("DISPATCH", to), how)


def receive(gives: str = "r", queue: str = "q") -> Act:
    """Return a receive outside of transactions that does not wait and wants everything."""
    wanted = truth(True)
    return call_on(queue, "Receive", NONE, wanted, wanted, long(0), wanted, gives=gives)


def peek(gives: str = "p", queue: str = "q") -> Act:
    """Return a peek that does not wait and wants everything."""
    wanted = truth(True)
    return call_on(queue, "Peek", wanted, wanted, long(0), wanted, gives=gives)


def property_sent(member: str) -> Iterator[Plan]:
    """Yield a plan for each value of a property: put, sent, shown by the received message.

    The last value is sent in a transaction of its own too.
    """
    row = MEMBERS[member]
    assert row.takes is not None
    shows = [name for name, other in MEMBERS.items() if other.kept_as == row.kept_as and other.slot("get") is not None]
    for value in row.takes.inside():
        if value == NONE and member.startswith("MaxTime"):
            continue  # the message is over before it can be received
        if value.vt == "ARRAY" and value.of != "UI1":
            continue  # no section has a type of body for it
        before = get("m", *shows)  # the getter is right, so that another value of the received message is not its fault
        made = (message(), put("m", member, value), *before)
        yield (*QUEUE, *made, send(), receive(), *get("r", *shows))
    if member not in ("Priority", "Delivery"):  # a transaction decides these itself: MS-MQMQ 2.2.19.1, 2.2.19.2
        yield (*TRANSACTIONAL, *made, send("m", "s", SINGLE), receive(), *get("r", *shows))


def contents() -> Mapping[str, tuple[Plan, ...]]:
    """Return the plans of what a message holds once it is sent."""
    plans: dict[str, tuple[Plan, ...]] = {f"property-{name}": tuple(property_sent(name)) for name in SENT}
    label, body = put("m", "Label", text("a")), put("m", "Body", text("b"))
    plain = (*QUEUE, message(), label, body, send())
    plans["nothing-put"] = ((*QUEUE, message(), send(), receive(), *get("r", *GETTERS)),)
    plans["set-by-send"] = (
        (*plain, *get("m", *SET), receive(), *get("r", *SET)),
        (*plain, receive(), *get("r", *SET, "ArrivedTime", "LookupId"), *get("m", *SET)),
    )
    first, second = (
        (receive(), *get("r", "Id", "LookupId", "Label")),
        (receive("t"), *get("t", "Id", "LookupId", "Label")),
    )
    other = (message("n"), put("n", "Label", text("n")), send("n"))
    plans["two-messages"] = ((*plain, *other, *first, *second, *get("m", "Id"), *get("n", "Id")),)
    plans["sent-again"] = (
        (*plain, *get("m", "Id"), send(), *get("m", "Id"), *first, *second),
        (
            *plain,
            receive(),
            put("m", "Label", text("c")),
            send(),
            receive("t"),
            *get("t", "Label", "Id"),
            *get("r", "Label", "Id"),
        ),
    )
    for member, value in CONNECTED.items():
        connected = (message(), put("m", "ConnectorTypeGuid", CONNECTOR), put("m", member, value), send(), receive())
        plans[f"connected-{member}"] = ((*QUEUE, *connected, *get("r", "ConnectorTypeGuid", member)),)
    for reach, receiving in ((100, 50), (50, 100), (100, 100), (0xFFFFFFFF, 100), (100, 0xFFFFFFFF)):
        times = (put("m", "MaxTimeToReachQueue", long(reach)), put("m", "MaxTimeToReceive", long(receiving)))
        looks = ("MaxTimeToReachQueue", "MaxTimeToReceive")
        plan = (*QUEUE, message(), *times, send(), *get("m", *looks), receive(), *get("r", *looks))
        plans[f"times-{reach}-{receiving}"] = (plan,)
    for member in ("AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"):
        attach = (message(), call_on("m", member), *get("m", "SenderId", "SenderCertificate"), send())
        plans[member] = ((*QUEUE, *attach, receive(), *get("r", "SenderId"), *get("m", "SenderId")),)
    plans["queues"] = tuple(_queues())
    single = (*TRANSACTIONAL, message(), send("m", "s", SINGLE), receive())
    parts = ("IsFirstInTransaction", "IsLastInTransaction", "IsFirstInTransaction2", "IsLastInTransaction2")
    for asked in (0, 1, 2, 4, 5, 8, 0xC, 0xE):
        plans[f"acknowledgment-{asked}"] = (_acknowledged(asked),)
    plans["single-message"] = ((*single, *get("r", "TransactionId", *parts)),)
    return plans


def _acknowledged(asked: int) -> Plan:
    """Return a plan that asks for acknowledgments and looks for them when the message is there, and is received."""
    administration = (*created("b", f"{PATH}-b"), call_on("b", "Refresh"), opened("b", "c", RECEIVE))
    refer = call_on("m", "AdminQueueInfo", Variant("DISPATCH", "b"), kind="putref")
    asks = (message(), put("m", "Ack", long(asked)), refer, send(), *get("m", "Id"))
    looks = ("Class", "MsgClass", "CorrelationId")
    first, second = receive("x", "c"), receive("y", "c")
    return (*QUEUE, *administration, *asks, first, receive(), second, *get("x" if asked & 1 else "y", *looks))


def _queues() -> Iterator[Plan]:
    """Yield plans in which a message names queues: its own, by Send, and those that the client gives it."""
    yield (
        *QUEUE,
        message(),
        send(),
        *_queue("m", "DestinationQueueInfo", "d"),
        *get("d", "Label"),
        receive(),
        *_queue("r", "DestinationQueueInfo", "e"),
        *get("e", "Label"),
    )
    for member in ("ResponseQueueInfo", "AdminQueueInfo"):
        for form in (member, f"{member}_v1", f"{member}_v2"):
            refer = call_on("m", form, Variant("DISPATCH", "b"), kind="putref")
            other = (*created("b", f"{PATH}-b"), call_on("b", "Refresh"))
            looks = (*_queue("r", member, "x"), *_queue("r", f"{member}_v1", "y"), *_queue("r", f"{member}_v2", "z"))
            yield (*QUEUE, *other, message(), refer, send(), receive(), *looks)
    named = (new("b"), format_name("b", "DIRECT=OS:$computer\\private$\\$queue"))
    refer = call_on("m", "ResponseQueueInfo", Variant("DISPATCH", "b"), kind="putref")
    yield (*QUEUE, *named, message(), refer, send(), receive(), *_queue("r", "ResponseQueueInfo", "x"))


def _queue(name: str, member: str, gives: str) -> Plan:
    return (call_on(name, member, kind="get", gives=gives), *get(gives, "FormatName"))


def refused() -> Mapping[str, Plan]:
    """Return the plans of preconditions: each alone, each with the next in both orders, and that nothing is sent."""
    nothing = (receive(),)
    null, connected = send(to=None), put("m", "MsgClass", long(1))
    connector = put("m", "ConnectorTypeGuid", CONNECTOR)
    null_provider = put("m", "AuthenticationProviderName", Variant("BSTR"))
    wrong = send(how=text("a"))
    plans: dict[str, Plan] = {
        "no-destination": (*QUEUE, message(), null, *nothing, send()),
        "no-provider": (*QUEUE, message(), connector, null_provider, send(), *nothing),
        "no-destination-then-connector": (*QUEUE, message(), connected, null, send(), *nothing),
        "connector-then-provider": (*QUEUE, message(), null_provider, send(), connector, send(), *nothing),
        "connector-then-transaction": (*QUEUE, message(), connected, wrong, connector, wrong, *nothing),
        "provider-then-transaction": (*QUEUE, message(), connector, null_provider, wrong, send(), *nothing),
        "no-destination-then-transaction": (*QUEUE, message(), send(to=None, how=text("a")), wrong, *nothing),
        "receive-access": (*QUEUE, message(), send(to="q"), *nothing),
        "closed": (*QUEUE, message(), call_on("s", "Close"), send(), *nothing),
        "blank": (*QUEUE, create("MSMQQueue", "b"), message(), send(to="b"), *nothing),
    }
    for member, value in CONNECTED.items():
        plans[f"no-connector-{member}"] = (
            *QUEUE,
            message(),
            put("m", member, value),
            send(),
            *nothing,
            connector,
            send(),
        )
        reset = put("m", "ConnectorTypeGuid", text("{00000000-0000-0000-0000-000000000000}"))
        plans[f"null-connector-{member}"] = (*QUEUE, message(), connector, put("m", member, value), reset, send())
    for at, value in enumerate(WRONG_TRANSACTIONS):
        plans[f"wrong-transaction-{at}"] = (*QUEUE, message(), send(how=value), *nothing)
    no_transaction = (Variant("DISPATCH", "m"), Variant("DISPATCH", "d"))
    others = tuple(send(how=value) for value in no_transaction)
    plans["other-objects"] = (*QUEUE, create("MSMQTransactionDispenser", "d"), message(), *others, *nothing)
    return plans


def transactional() -> Mapping[str, Plan]:
    """Return the plans of Send as part of a transaction, and of each number."""
    begin = (create("MSMQTransactionDispenser", "d"), call_on("d", "BeginTransaction", gives="t"))
    in_it = Variant("DISPATCH", "t")
    ends = {
        "commit": call_on("t", "Commit", MISSING, MISSING, MISSING),
        "abort": call_on("t", "Abort", MISSING, MISSING),
    }
    plans: dict[str, Plan] = {}
    for word, end in ends.items():
        two = (message(), put("m", "Label", text("a")), send(how=in_it), receive("w"))
        plans[word] = (*TRANSACTIONAL, *begin, *two, end, receive(), receive("x"), *get("r", "Label"))
        more = (message("n"), send("n", how=in_it), receive("w"))
        plans[f"{word}-two"] = (*TRANSACTIONAL, *begin, message(), send(how=in_it), *more, end, receive(), receive("x"))
    for word, how in (("none", NONE), ("mts", MTS), ("xa", XA), ("left-out", MISSING)):
        plans[f"number-{word}"] = (*QUEUE, message(), send(how=how), receive())
    plans["number-single"] = (*TRANSACTIONAL, message(), send(how=SINGLE), receive())
    return plans


def groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by name."""
    alone = {f"refused-{name}": (plan,) for name, plan in refused().items()}
    return {**contents(), **alone, **{f"transaction-{name}": (plan,) for name, plan in transactional().items()}}


SECOND: Final[Plan] = (
    new("b"),
    path("b", f"{PATH}-b"),
    make_queue("b", truth(True)),
    call_on("b", "Refresh"),
    opened("b", "s2", SEND),
    opened("b", "q2", RECEIVE),
)
BEGIN: Final[Plan] = (create("MSMQTransactionDispenser", "d"), call_on("d", "BeginTransaction", gives="t"))
ATTACH: Final[Plan] = (
    call_on("t", "ITransaction", kind="get", gives="i"),
    create("MSMQTransaction", "u"),
    call_on("u", "InitNew", Variant("UNKNOWN", "i")),
)
ARGUMENTS: Final = {"Commit": (MISSING,) * 3, "Abort": (MISSING,) * 2}


def _labelled(name: str, to: str, how: str) -> Plan:
    return (message(name), put(name, "Label", text(name)), send(name, to, Variant("DISPATCH", how)))


def _looks() -> Plan:
    return (receive(), receive("x"), receive("y", "q2"), *get("r", "Label"), *get("x", "Label"), *get("y", "Label"))


def together() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of transactions with sends to one and to two queues, ended by each object that stands for them."""
    plans: dict[str, tuple[Plan, ...]] = {}
    for member, arguments in ARGUMENTS.items():
        word = member.lower()
        base = (*TRANSACTIONAL, *SECOND, *BEGIN)
        end = call_on("t", member, *arguments)
        two = (*_labelled("m", "s", "t"), *_labelled("n", "s2", "t"))
        plans[f"{word}-two-queues"] = ((*base, *two, receive("w"), receive("v", "q2"), end, *_looks()),)
        three = (*two, *_labelled("o", "s", "t"))
        plans[f"{word}-three"] = ((*base, *three, receive("w"), end, *_looks()),)
        by_other = call_on("u", member, *arguments)
        both = (*_labelled("m", "s", "t"), *_labelled("n", "s", "u"))
        plans[f"{word}-attached"] = tuple(_attached(base, both, end, by_other))
        first = (call_on("d", "BeginTransaction", gives="v"), *_labelled("m", "s", "t"), *_labelled("n", "s2", "v"))
        plans[f"{word}-one-of-two"] = ((*base, *first, end, receive(), *get("r", "Label"), receive("y", "q2")),)
    return plans


def _attached(base: Plan, sends: Plan, *ends: Act) -> Iterator[Plan]:
    for end in ends:
        yield (*base, *ATTACH, *sends, receive("w"), end, receive(), receive("x"))


def times() -> Mapping[str, tuple[Plan, ...]]:
    """Return plans of what is shown of a message before any send, and after a second."""
    again = (message(), send(), *get("m", *SET), send(), *get("m", *SET))
    looks = (receive(), *get("r", *SET, "ArrivedTime"), receive("x"), *get("x", *SET, "ArrivedTime"), *get("m", *SET))
    peeked = (peek(), *get("p", *GETTERS), receive(), *get("r", *GETTERS), *get("p", *GETTERS))
    puts = (put("m", "ConnectorTypeGuid", CONNECTOR), *(put("m", name, value) for name, value in CONNECTED.items()))
    waiting = (put("m", "MaxTimeToReachQueue", long(100)), put("m", "MaxTimeToReceive", long(200)))
    plain = (put("m", "Label", text("a")), put("m", "Body", text("b")))
    attach = call_on("m", "AttachCurrentSecurityContext2")
    return {
        "peeked-nothing-put": ((*QUEUE, message(), send(), *peeked),),
        "peeked-label-and-body": ((*QUEUE, message(), *plain, *waiting, send(), *peeked),),
        "peeked-connected": ((*QUEUE, message(), *puts, send(), *peeked),),
        "peeked-attached": ((*QUEUE, message(), attach, send(), *peeked),),
        "sent-twice": ((*QUEUE, *again, *looks),),
        "received-nothing-put": ((*QUEUE, message(), send(), receive(), *get("r", *reversed(GETTERS))),),
    }


def together_groups() -> Mapping[str, tuple[Plan, ...]]:
    """Return all plans by name."""
    return {**together(), **times()}


LEFT_OUT: Final = {"Commit": (MISSING,) * 3, "Abort": (MISSING,) * 2}
GIVEN: Final = {"Commit": (truth(False), long(2), long(0)), "Abort": (truth(False), truth(False))}
NOT_SUPPORTED: Final = {
    "Commit": (
        (truth(True), long(2), long(0)),
        (truth(False), long(2), long(1)),
        (truth(False), long(1), long(0)),
        (truth(False), long(4), long(0)),
        (truth(False), long(0), long(0)),
        (MISSING, long(4), MISSING),
        (MISSING, MISSING, long(1)),
        (truth(True), MISSING, MISSING),
    ),
    "Abort": (
        (truth(True), truth(False)),
        (truth(False), truth(True)),
        (truth(True), truth(True)),
        (MISSING, truth(True)),
        (truth(True), MISSING),
    ),
}
NO_TRANSACTIONS: Final = (
    text("a"),
    Variant("R8", "1"),
    Variant("EMPTY"),
    Variant("NULL"),
    truth(True),
    Variant("I2", 1),
    Variant("UI4", 1),
    Variant("UI1", 1),
    octets(b"a"),
    Variant("CY", "1"),
    Variant("DATE", "1"),
)
"""Values that InitNew refuses for their type. Numbers that stand for pointers are left out: nobody may follow them."""

BEGIN_TRANSACTION: Final[Plan] = (create(DISPENSER, "d"), call_on("d", "BeginTransaction", gives="t"))


def end(name: str, member: str, arguments: tuple[Variant, ...] | None = None) -> Act:
    return call_on(name, member, *(LEFT_OUT[member] if arguments is None else arguments))


def get_handle(name: str, gives: str) -> Plan:
    """Return two looks at the ITransaction of an object."""
    return (call_on(name, "ITransaction", kind="get", gives=gives), call_on(name, "ITransaction", kind="get"))


_HANDLE: Final = call_on("t", "ITransaction", kind="get", gives="i")
_ATTACHED: Final = (create(TRANSACTION, "u"), call_on("u", "InitNew", Variant("UNKNOWN", "i")))


def transactions() -> Mapping[str, Plan]:
    """Return the plans of transactions by name."""
    return {**_with_arguments(), **_ended_twice(), **_attached_handles(), **_attached_values()}


def _with_arguments() -> dict[str, Plan]:
    plans: dict[str, Plan] = {}
    for first, given in GIVEN.items():
        word = first.lower()
        plans[f"{word}-with-arguments"] = (*BEGIN_TRANSACTION, end("t", first, given))
        for at in range(len(given)):
            arguments = tuple(MISSING if at == place else value for place, value in enumerate(given))
            plans[f"{word}-without-{at}"] = (*BEGIN_TRANSACTION, end("t", first, arguments))
        plans[word] = (*BEGIN_TRANSACTION, end("t", first))
    plans["handles"] = (
        *BEGIN_TRANSACTION,
        call_on("d", "BeginTransaction", gives="u"),
        _HANDLE,
        *get_handle("u", "j"),
        _HANDLE,
    )
    return plans


def _ended_twice() -> dict[str, Plan]:
    """Return plans in which a transaction is ended again, also by another object that stands for it."""
    plans: dict[str, Plan] = {}
    for first in ("Commit", "Abort"):
        word = first.lower()
        plans[f"{word}-nothing"] = (create(TRANSACTION, "t"), end("t", first), end("t", first, GIVEN[first]))
        refused = tuple(end("t", first, arguments) for arguments in NOT_SUPPORTED[first])
        plans[f"{word}-not-supported"] = (*BEGIN_TRANSACTION, *refused, end("t", first), *refused)
        for second in ("Commit", "Abort"):
            plans[f"{word}-then-{second.lower()}"] = (
                *BEGIN_TRANSACTION,
                end("t", first),
                end("t", second),
                end("t", second),
            )
            shared = (end("u", first), end("t", second), end("u", second))
            plans[f"{word}-by-another-then-{second.lower()}"] = (*BEGIN_TRANSACTION, _HANDLE, *_ATTACHED, *shared)
    plans["two-transactions"] = (
        *BEGIN_TRANSACTION,
        call_on("d", "BeginTransaction", gives="u"),
        end("t", "Commit"),
        end("u", "Abort"),
        end("t", "Abort"),
        end("u", "Commit"),
    )
    return plans


def _attached_handles() -> dict[str, Plan]:
    """Return plans in which an object takes over the transaction of another."""
    plans: dict[str, Plan] = {}
    plans["handle-of-nothing"] = (create(TRANSACTION, "t"), call_on("t", "ITransaction", kind="get"))
    plans["attach"] = (
        *BEGIN_TRANSACTION,
        _HANDLE,
        *_ATTACHED,
        call_on("u", "ITransaction", kind="get"),
        end("u", "Commit"),
    )
    for last in ("Commit", "Abort"):
        refused = tuple(end("u", last, arguments) for arguments in NOT_SUPPORTED[last])
        plans[f"attach-{last.lower()}-not-supported"] = (
            *BEGIN_TRANSACTION,
            _HANDLE,
            *_ATTACHED,
            *refused,
            end("u", last),
            *refused,
        )
        begins = (call_on("d", "BeginTransaction", gives=f"t{at}") for at in range(3))
        plans[f"one-after-another-{last.lower()}"] = (
            BEGIN_TRANSACTION[0],
            *(act for at, begin in enumerate(begins) for act in (begin, end(f"t{at}", last))),
        )
    return plans


def _attached_values() -> dict[str, Plan]:
    """Return plans in which an object is to take over what is no transaction, or one that has ended."""
    plans: dict[str, Plan] = {}
    plans["attach-other-types"] = (
        create(TRANSACTION, "t"),
        *(call_on("t", "InitNew", value) for value in NO_TRANSACTIONS),
        end("t", "Commit"),
    )
    no_transaction = (Variant("UNKNOWN", "d"), Variant("DISPATCH", "d"), Variant("UNKNOWN", "u"))
    attempts = tuple(call_on("u", "InitNew", value) for value in no_transaction)
    plans["attach-other-objects"] = (
        *BEGIN_TRANSACTION,
        create(TRANSACTION, "u"),
        *attempts,
        end("u", "Commit"),
        end("t", "Commit"),
    )
    again = (Variant("UNKNOWN", "i"), text("a"), Variant("UNKNOWN", "d"))
    plans["attach-twice"] = (
        *BEGIN_TRANSACTION,
        _HANDLE,
        *(call_on("t", "InitNew", value) for value in again),
        end("t", "Commit"),
    )
    plans["attach-after-commit"] = (
        *BEGIN_TRANSACTION,
        _HANDLE,
        end("t", "Commit"),
        *_ATTACHED,
        end("u", "Commit"),
        end("u", "Abort"),
    )
    return plans
