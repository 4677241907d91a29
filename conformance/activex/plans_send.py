"""Plans about Send: preconditions alone and in pairs, what a message holds then, transactions (MC-MQAC 3.17.4.1.48)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.members import Member
from conformance.activex.plans import Act, Plan, create, on
from conformance.activex.plans_queue_info import PATH, RECEIVE, SEND, format_name, get, made, new, opened, path, put
from conformance.activex.plans_queue_info import make as make_queue
from conformance.activex.tables import CLASSES
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
QUEUE: Final[Plan] = (*made(), on("a", "Refresh"), opened("a", "s", SEND), opened("a", "q", RECEIVE))
TRANSACTIONAL: Final[Plan] = (
    new(),
    path(),
    make_queue("a", truth(True)),
    on("a", "Refresh"),
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
    return on(name, "Send", Variant("DISPATCH", to), how)


def receive(gives: str = "r", queue: str = "q") -> Act:
    """Return a receive outside of transactions that does not wait and wants everything."""
    wanted = truth(True)
    return on(queue, "Receive", NONE, wanted, wanted, long(0), wanted, gives=gives)


def peek(gives: str = "p", queue: str = "q") -> Act:
    """Return a peek that does not wait and wants everything."""
    wanted = truth(True)
    return on(queue, "Peek", wanted, wanted, long(0), wanted, gives=gives)


def property_sent(member: str) -> Iterator[Plan]:
    """Yield a plan for each value of a property: put, sent, shown by the received message."""
    row = MEMBERS[member]
    assert row.takes is not None
    shows = [name for name, other in MEMBERS.items() if other.kept_as == row.kept_as and other.slot("get") is not None]
    for value in row.takes.inside():
        if value == NONE and member.startswith("MaxTime"):
            continue  # the message is over before it can be received
        if value.vt == "ARRAY" and value.of != "UI1":
            continue  # no section has a type of body for it
        before = get("m", *shows)  # the getter is right, so that another value of the received message is not its fault
        yield (*QUEUE, message(), put("m", member, value), *before, send(), receive(), *get("r", *shows))


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
        attach = (message(), on("m", member), *get("m", "SenderId", "SenderCertificate"), send())
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
    administration = (*made("b", f"{PATH}-b"), on("b", "Refresh"), opened("b", "c", RECEIVE))
    refer = on("m", "AdminQueueInfo", Variant("DISPATCH", "b"), kind="putref")
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
            refer = on("m", form, Variant("DISPATCH", "b"), kind="putref")
            other = (*made("b", f"{PATH}-b"), on("b", "Refresh"))
            looks = (*_queue("r", member, "x"), *_queue("r", f"{member}_v1", "y"), *_queue("r", f"{member}_v2", "z"))
            yield (*QUEUE, *other, message(), refer, send(), receive(), *looks)
    named = (new("b"), format_name("b", "DIRECT=OS:$computer\\private$\\$queue"))
    refer = on("m", "ResponseQueueInfo", Variant("DISPATCH", "b"), kind="putref")
    yield (*QUEUE, *named, message(), refer, send(), receive(), *_queue("r", "ResponseQueueInfo", "x"))


def _queue(name: str, member: str, gives: str) -> Plan:
    return (on(name, member, kind="get", gives=gives), *get(gives, "FormatName"))


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
        "closed": (*QUEUE, message(), on("s", "Close"), send(), *nothing),
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
    begin = (create("MSMQTransactionDispenser", "d"), on("d", "BeginTransaction", gives="t"))
    in_it = Variant("DISPATCH", "t")
    ends = {"commit": on("t", "Commit", MISSING, MISSING, MISSING), "abort": on("t", "Abort", MISSING, MISSING)}
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
