"""Objects beside the plain facets: what one side sends or opens, the other one shows (MC-MQAC 2.2.2, 2.2.4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.activex.expected import Invoke, Seen
from conformance.activex.plans import Act
from conformance.activex.values import MISSING, Variant, failed, long, text
from conformance.histories.operations.objects import CREATE, GET, INVOKE, each_got
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.management import incoming_story
from conformance.suites.management.incoming_story import SENDER, Incoming, Source
from conformance.suites.objects.playing import EXAMPLE, NotCreated
from conformance.suites.story_table import Untold
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS: Final = ("objects.create", "objects.invoke", "objects.get", "queues.create", "queues.open")
_ROWS: Final = "MQAC-2.2.2."
RECEIVE, SEND, _PEEK, _ADMIN, _SHARED = 1, 2, 0x20, 0x80, 0
_SINGLE_MESSAGE: Final = 3
CONNECTOR: Final = "{01234567-89ab-cdef-0123-456789abcdef}"
PUBLIC: Final[Mapping[str, Mapping[str, Json]]] = MappingProxyType(
    {
        name: {
            "guid": f"5b2f3f9a-100{number}-4d6f-9a57-6f5b2f3f9a10",
            "path_name": f"mqconform-elsewhere\\{name}",
            "path_name_dns": f"mqconform-elsewhere.example\\{name}",
            "directory_path": f"LDAP://CN={name},CN=msmq,CN=mqconform-elsewhere",
            "label": name[:9],
        }
        for number, name in enumerate(("public", "other", "x" * 64))
    }
)
"""Public queues of another computer, by name: the last one is longer than MC-MQAC 3.10.6.1 has it."""
ELSEWHERE: Final = "DIRECT=OS:mqconform-elsewhere\\private$\\q"


@dataclass(frozen=True, slots=True)
class Row:
    """A constant of the objects: number of a property, and the value of a member of plain messages it stands for."""

    demand: str
    property: str
    number: int
    member: str
    value: Json


_CLASSES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "normal": 0x0000,
        "report": 0x0001,
        "nack-bad-dst-q": 0x8000,
        "nack-deleted": 0x8001,
        "nack-reach-queue-timeout": 0x8002,
        "nack-exceed-quota": 0x8003,
        "nack-access-denied": 0x8004,
        "nack-hop-count-exceeded": 0x8005,
        "nack-bad-signature": 0x8006,
        "nack-bad-encryption": 0x8007,
        "nack-not-transactional-q": 0x8009,
        "nack-not-transactional-msg": 0x800A,
        "nack-unsupported-crypto-provider": 0x800B,
        "nack-source-computer-guid-changed": 0x800C,
        "nack-q-deleted": 0xC000,
        "nack-q-purged": 0xC001,
        "nack-receive-timeout": 0xC002,
    }
)
ROWS: Final = (
    *(Row(f"{_ROWS}9.mqmsg-class-{word}-row", "MsgClass", one, "class", one) for word, one in _CLASSES.items()),
    Row(f"{_ROWS}10.mqmsgdelivery-express-row", "Delivery", 0, "delivery", "express"),
    Row(f"{_ROWS}10.mqmsg-delivery-recoverable-row", "Delivery", 1, "delivery", "recoverable"),
    Row(f"{_ROWS}12.mqmsg-deadletter-enumeration-message-negative", "Journal", 1, "negative_journaling", True),
    Row(f"{_ROWS}12.mqmsg-journal-enumeration-message-positive", "Journal", 2, "positive_journaling", True),
    Row(f"{_ROWS}13.mqmsg-trace-none-row", "Trace", 0, "trace", False),
    Row(f"{_ROWS}13.mqmsg-send-route-to-report-queue-row", "Trace", 1, "trace", True),
)


class Sides:
    """A manager that both sides use."""

    def __init__(self, mq: Port, judge: Recorder) -> None:
        self.mq, self.judge = mq, judge
        self._caller: dict[str, str] = {}

    @contextmanager
    def by(self, user: str) -> Iterator[None]:
        """Make all calls on objects in the body as this user."""
        before, self._caller = self._caller, {"as": user}
        try:
            yield
        finally:
            self._caller = before

    def plain(self, method: str, **params: Any) -> Result:
        """Make a call of a plain facet. Raises NotCreated if it fails."""
        result = self.mq.call(method, **params)
        self.judge.step(method, {"method": method, "params": params}, {"status": result.status})
        if not result.ok:
            raise NotCreated(f"{method} fails with {result.status}")
        return result

    def queue(self, name: str = "a", **properties: Json) -> str:
        """Create a queue; return its path name. name: the end of it, of each queue of a story another."""
        path = f"{self.mq.hello.computer}\\private$\\{self.mq.unique()}-{name}"
        self.plain("queues.create", path_name=path, properties=properties)
        return path

    def handle(self, path: str, access: str) -> Any:
        """Open a queue by the plain facet."""
        return self.plain("queues.open", format_name=f"DIRECT=OS:{path}", access=access).values["queue"]

    def received(self, handle: Any, method: str = "messages.receive") -> Mapping[str, Json] | None:
        """Return the message that a plain receive or peek gives, None if there is none."""
        result = self.mq.call(method, queue=handle, timeout_ms=self.mq.hello.settle_ms)
        self.judge.step(method, {"method": method}, {"status": result.status})
        return result.values["message"] if result.ok else None

    def created(self, coclass: str) -> str:
        """Create an object. Raises NotCreated if there is no such class."""
        made = self.mq.call(CREATE.method, **{"class": coclass}, **self._caller)
        self.judge.step(f"New {coclass}", {"method": CREATE.method}, {"status": made.status})
        if not made.ok:
            raise NotCreated(f"the driver creates no {coclass}")
        return str(made.values["object"])

    def invoke(self, target: str, member: str, *arguments: Variant, kind: str = "method") -> Seen:
        """Call a member of an object."""
        act = Act(target, Invoke(member, kind, arguments))  # type: ignore[arg-type]
        handles = {target: target, **{str(one.value): str(one.value) for one in arguments if one.vt == "DISPATCH"}}
        seen = INVOKE.answer(self.mq.call(INVOKE.method, **INVOKE.request(act, handles), **self._caller), {})
        who = f" as {self._caller['as']}" if self._caller else ""
        self.judge.step(f"{kind} {member} {list(arguments)}{who}", {"method": INVOKE.method}, seen.to_json())
        return seen

    def given(self, target: str, member: str, *arguments: Variant, kind: str = "method") -> str:
        """Call a member that gives an object. Raises NotCreated if it gives none."""
        seen = self.invoke(target, member, *arguments, kind=kind)
        if seen.value is None or not seen.value.value:
            raise NotCreated(f"{member} gives nothing")
        return str(seen.value.value)

    def put(self, target: str, **values: Variant) -> None:
        """Put properties of an object."""
        for member, value in values.items():
            self.invoke(target, member, value, kind="put")

    def shown(self, target: str, member: str) -> Variant | None:
        """Return a property of an object, None if it is not told."""
        told = self.mq.call(GET.method, object=target, members=[member], **self._caller)
        return each_got(told, (member,))[member].value

    def opened(self, access: int, path: str = "", format_name: str = "") -> str:
        """Open a queue by an object; return the open queue's."""
        info = self.created("MSMQQueueInfo")
        self.put(info, **({"PathName": text(path)} if path else {"FormatName": text(format_name)}))
        return self.given(info, "Open", long(access), long(_SHARED))

    def read(self, queue: str, member: str = "Receive") -> str | None:
        """Read a message by an object with its destination; return its object, None if there is none."""
        left_out = (MISSING,) if member == "Receive" else ()
        wait = long(self.mq.hello.settle_ms)
        seen = self.invoke(queue, member, *left_out, Variant("BOOL", True), MISSING, wait)
        return None if seen.value is None or not seen.value.value else str(seen.value.value)

    def sent(self, queue: str, *transaction: Variant, **values: Variant) -> int:
        """Send a message by an object; return the status."""
        message = self.created("MSMQMessage")
        self.put(message, **values)
        return self.invoke(message, "Send", Variant("DISPATCH", queue), *transaction).status

    def expect(self, demand: str, expected: Json, actual: Json, readings: tuple[tuple[str, str], ...] = ()) -> None:
        """Record whether what is seen is what is expected."""
        outcome = Outcome.PASS if actual == expected else Outcome.FAIL
        self.judge.record(Verdict(demand, outcome, "object and plain facet", expected, actual, readings))


def constant(sides: Sides, row: Row) -> None:
    """An object sends with the number and a plain receive shows the value; and the other way round."""
    sides.mq.need("message", row.member)
    path = sides.queue()
    numbered = {row.property: long(row.number)}
    marks = {"ConnectorTypeGuid": text(CONNECTOR)} if row.property == "MsgClass" else {}
    status = sides.sent(sides.opened(SEND, path), **marks, **numbered)
    message = sides.received(sides.handle(path, "receive"))
    if message is not None and row.member not in message:
        raise NotCreated(f"the driver shows no {row.member}")
    sides.expect(
        row.demand, {row.member: row.value}, {row.member: message[row.member]} if message else {"send": status}
    )
    sides.plain("messages.send", queue=sides.handle(path, "send"), message={row.member: row.value})
    given = sides.read(sides.opened(RECEIVE, path))
    value = None if given is None else sides.shown(given, row.property)
    sides.expect(row.demand, {row.property: row.number}, {row.property: None if value is None else value.value})


def queue_privacy(sides: Sides, number: int) -> None:
    """A queue has a privacy level by either side; the other one shows it."""
    demand, name = f"{_ROWS}7.mq-priv-level-{QUEUE_PRIVACY[number]}-row", "PROPID_Q_PRIV_LEVEL"
    sides.mq.need("properties", name)
    info = sides.created("MSMQQueueInfo")
    sides.put(info, PathName=text(sides.queue("a", **{name: number})))
    sides.invoke(info, "Refresh")
    shown = sides.shown(info, "PrivLevel")
    sides.expect(demand, {"PrivLevel": number}, {"PrivLevel": None if shown is None else shown.value})
    other, path = sides.created("MSMQQueueInfo"), f"{sides.mq.hello.computer}\\private$\\{sides.mq.unique()}-b"
    sides.put(other, PathName=text(path), PrivLevel=long(number))
    if sides.invoke(other, "Create").status:
        raise NotCreated("no queue could be created by an object")
    got = sides.plain("queues.get", format_name=f"DIRECT=OS:{path}", properties=[name]).values["properties"]
    sides.expect(demand, {name: number}, {name: got.get(name)})


def receive_access(sides: Sides) -> None:
    """A queue opened with MQ_RECEIVE_ACCESS gives a message away."""
    path = sides.queue()
    sides.plain("messages.send", queue=sides.handle(path, "send"), message={"label": "a"})
    given = sides.read(sides.opened(RECEIVE, path))
    left = sides.received(sides.handle(path, "receive"))
    actual = {"received": given is not None, "left": left is not None}
    sides.expect(f"{_ROWS}3.mq-receive-access-row", {"received": True, "left": False}, actual)


def send_access(sides: Sides) -> None:
    """A queue opened with MQ_SEND_ACCESS takes a message behind that of another client, and shows none."""
    path = sides.queue()
    sides.plain("messages.send", queue=sides.handle(path, "send"), message={"label": "a"})
    queue = sides.opened(SEND, path)
    sides.sent(queue, Label=text("b"))
    shown, reader = sides.read(queue, "Peek"), sides.handle(path, "receive")
    labels = [message.get("label") for message in (sides.received(reader), sides.received(reader)) if message]
    actual = {"labels": labels, "peeked": shown is not None}
    sides.expect(f"{_ROWS}3.mq-send-access-row", {"labels": ["a", "b"], "peeked": False}, actual)


def peek_access(sides: Sides) -> None:
    """A queue opened with MQ_PEEK_ACCESS shows a message and leaves it, also to a receive."""
    path = sides.queue()
    sides.plain("messages.send", queue=sides.handle(path, "send"), message={"label": "a"})
    queue = sides.opened(_PEEK, path)
    peeked, taken = sides.read(queue, "Peek"), sides.read(queue)
    left = sides.received(sides.handle(path, "receive"))
    actual = {"peeked": peeked is not None, "received": taken is not None, "left": left is not None}
    sides.expect(f"{_ROWS}3.mq-peek-access-row", {"peeked": True, "received": False, "left": True}, actual)


def admin_access(sides: Sides) -> None:
    """MQ_ADMIN_ACCESS opens the outgoing queue, in which a message to another computer waits."""
    sender = sides.plain("queues.open", format_name=ELSEWHERE, access="send").values["queue"]
    sides.plain("messages.send", queue=sender, message={"label": "a"})
    given = sides.read(sides.opened(_PEEK | _ADMIN, format_name=ELSEWHERE), "Peek")
    label = None if given is None else sides.shown(given, "Label")
    actual = {"label": None if label is None else label.value}
    sides.expect(f"{_ROWS}3.mq-admin-access-row", {"label": "a"}, actual)


def transaction_id(sides: Sides) -> None:
    """TransactionId has the GUID of the manager, as an OBJECTID has it, and another number for each transaction."""
    if sides.mq.hello.queue_manager is None:
        raise NotCreated("the driver does not tell the identifier of its queue manager")
    path = sides.queue(PROPID_Q_TRANSACTION=1)
    numbers: set[bytes] = set()
    lineage = UUID(sides.mq.hello.queue_manager).bytes_le.hex()
    for number in (1, 2):
        sides.sent(sides.opened(SEND, path), long(_SINGLE_MESSAGE))
        given = sides.read(sides.opened(RECEIVE, path))
        value = None if given is None else sides.shown(given, "TransactionId")
        found = value.value if value is not None and isinstance(value.value, bytes) else b""
        numbers.add(found[16:])
        actual = {"bytes": len(found), "lineage": found[:16].hex(), "transactions": len(numbers)}
        sides.expect("MQAC-3.17.4.1.68.guidelines", {"bytes": 20, "lineage": lineage, "transactions": number}, actual)


def copies(sides: Sides) -> None:
    """Each copy of a message for two queues names the queue it is in as its destination, and both queues."""
    paths = (sides.queue("a"), sides.queue("b"))
    destination, whole = sides.created("MSMQDestination"), ",".join(f"DIRECT=OS:{path}" for path in paths)
    sides.put(destination, FormatName=text(whole))
    if sides.sent(destination):
        raise NotCreated("the driver sends to no list of queues")
    for path in paths:
        given = sides.read(sides.opened(RECEIVE, path))
        shown = (
            None if given is None else sides.shown(sides.given(given, "DestinationQueueInfo", kind="get"), "PathName")
        )
        actual = {"destination": None if shown is None else str(shown.value).casefold()}
        for demand in COPIES[:2]:
            sides.expect(demand, {"destination": path.casefold()}, actual)
        several = None if given is None else sides.shown(sides.given(given, "Destination", kind="get"), "FormatName")
        sides.expect(COPIES[2], whole.casefold(), None if several is None else str(several.value).casefold())


def directory_path(sides: Sides) -> None:
    """ADsPath is asked for of queues that have none, and of a public one of another computer that nobody refreshed."""
    sides.plain("directory", objects=[dict(one) for one in PUBLIC.values()])
    local, rows = sides.queue(), "MQAC-3.10.4.1.39."
    several = ("DIRECT=HTTP://host/msmq/q", "MULTICAST=234.1.1.1:8001", f"{ELSEWHERE},{ELSEWHERE}2")
    names = {
        "variable-queue-format-name-queue-http": several,
        "return-hresult-error-after-else": (f"DIRECT=OS:{local}",),
        "refresh-failure": (f"DIRECT=OS:{local}-none",),
        "variable-queue-format-name-null": ("",),
    }
    for word, some in names.items():
        for name in some:
            info = _info(sides, **({"FormatName": name} if name else {}))
            status = sides.invoke(info, "ADsPath", kind="get").status
            sides.expect(rows + word, {"fails": True}, {"fails": failed(status)})
            if word == "refresh-failure":
                refreshed = sides.invoke(info, "Refresh").status
                sides.expect(f"{rows}refresh-failure-code", {"status": refreshed}, {"status": status})
    for demand, member, key in (
        (f"{rows}call-is-refreshed-false-refresh", "ADsPath", "directory_path"),
        ("MQAC-3.10.4.1.31.call-is-refreshed-false-refresh", "PathNameDNS", "path_name_dns"),
    ):
        info = _info(sides, FormatName=f"PUBLIC={PUBLIC['public']['guid']}")
        told = sides.invoke(info, member, kind="get")
        expected = {member: str(PUBLIC["public"][key]).casefold()}
        sides.expect(demand, expected, {member: None if told.value is None else str(told.value.value).casefold()})


def lookups(sides: Sides) -> None:
    """Queues of another computer are looked up in the directory by path name, and one of them is updated there."""
    sides.plain("directory", objects=[dict(one) for one in PUBLIC.values()])
    for name, queue in PUBLIC.items():
        info = _info(sides, PathName=str(queue["path_name"]))
        status = sides.invoke(info, "Refresh").status
        if len(name) > 63:
            followed, fails = ("63" if failed(status) else "124"), failed(status)
            known = followed in sides.judge.readings[_LENGTH]
            taken = ((_LENGTH, followed),) if known else ()
            sides.expect(LOOKUPS[4], {"fails": fails if known else not fails}, {"fails": fails}, taken)
            continue
        shown = sides.shown(info, "FormatName")
        for demand in LOOKUPS[:2]:
            actual = {"name": None if shown is None else str(shown.value).casefold()}
            sides.expect(demand, {"name": f"public={queue['guid']}"}, actual)
    for demand, path in (
        (LOOKUPS[2], "mqconform-elsewhere\\none"),
        (LOOKUPS[3], "mqconform-elsewhere\\private$\\none"),
    ):
        status = sides.invoke(_info(sides, PathName=path), "Refresh").status
        sides.expect(demand, {"fails": True}, {"fails": failed(status)})
    info = _info(sides, FormatName=f"PUBLIC={PUBLIC['public']['guid']}")
    sides.invoke(info, "Refresh")
    sides.put(info, Label=text("anew"))
    sides.invoke(info, "Update")
    for demand, name, label in ((LOOKUPS[5], "public", "anew"), (LOOKUPS[6], "other", "other")):
        info = _info(sides, FormatName=f"PUBLIC={PUBLIC[name]['guid']}")
        sides.invoke(info, "Refresh")
        shown = sides.shown(info, "Label")
        sides.expect(demand, {"label": label}, {"label": None if shown is None else shown.value})


def deleted(sides: Sides) -> None:
    """A queue is deleted of which an object tells: the object fails as management does."""
    sides.mq.need("access", "receive")
    path = sides.queue()
    name, management, handle = f"DIRECT=OS:{path}", sides.created("MSMQManagement"), sides.handle(path, "receive")
    if sides.invoke(management, "Init", MISSING, MISSING, text(name)).status:
        raise NotCreated("the object takes no queue")
    sides.plain("queues.close", queue=handle)
    sides.plain("queues.delete", format_name=name)
    target = {"type": "queue", "format_name": name}
    wanted = sides.mq.call("management.get", target=target, properties=[_QUEUE_TYPE]).status
    if not wanted:
        raise NotCreated("management tells of a queue that is deleted")
    found = sides.invoke(management, "QueueType", kind="get").status
    sides.expect(DELETED, {"status": wanted}, {"status": found})


_QUEUE_TYPE: Final = PROPERTIES["PROPID_MGMT_QUEUE_TYPE"].value
DELETED: Final = "MQAC-3.3.4.1.6.return-status-mq-ok-0x00000000"


def _info(sides: Sides, **values: str) -> str:
    info = sides.created("MSMQQueueInfo")
    sides.put(info, **{name: text(value) for name, value in values.items()})
    return info


_LENGTH: Final = "R-MQAC-public-name-length"
LOOKUPS: Final = (
    "MQAC-3.10.6.1.generate-read-directory-arguments",
    "MQAC-3.10.6.1.pathname-equals-expanded-path-name",
    "MQAC-3.10.6.1.return-status-directory-operation-result-success",
    "MQAC-3.10.6.1.failed-hresult-return-error",
    "MQAC-3.10.6.1.path-pathname-queue-queue-name",
    "MQAC-3.10.4.1.30.generate-write-directory-arguments",
    "MQAC-3.10.4.1.30.identifier-equals-application-queue-identifier",
)
DIRECTORY_PATH: Final = (
    "MQAC-3.10.4.1.31.call-is-refreshed-false-refresh",
    "MQAC-3.10.4.1.39.call-is-refreshed-false-refresh",
    *(f"MQAC-3.10.4.1.39.variable-queue-format-name-{word}" for word in ("null", "queue-http")),
    *(
        f"MQAC-3.10.4.1.39.{word}"
        for word in ("refresh-failure", "refresh-failure-code", "return-hresult-error-after-else")
    ),
)
COPIES: Final = (
    "MQDMPR-3.1.1.12.destination-one-of-several",
    "MQAC-3.17.4.1.48.result-queue-format-name-msmq-destination",
    "MQAC-3.17.4.1.82.variable-queue-format-name-msmq-destination",
)


TYPES: Final = {
    "QueueFormatName": ("BSTR", "queue-format-name", "format-name"),
    "SenderId": ("BSTR", "sender-id", "sender-identifier"),
    "SeqID": ("UI8", "seq-id", "sequence-identifier"),
    "SeqNo": ("I4", "seq-no", "sequence-number"),
    "LastAccessTime": ("I4", "last-access-time", "last-access-time"),
    "RejectCount": ("I4", "reject-count", "reject-count"),
}
"""Items of a collection: type, the words of its demands in 2.2.4.1, those of the attribute in MS-MQDMPR 3.1.1.5."""


def incoming(sides: Sides) -> None:
    """Packets of a sequence come, the second after it was rejected twice: EodGetReceiveInfo tells of it."""
    sides.mq.need("properties", "PROPID_Q_QUOTA")
    queue = Incoming(sides.mq, sides.judge, "objects", PROPID_Q_QUOTA=1)
    sequence = Source(queue.name, SENDER, 5)
    opened = sides.opened(RECEIVE, queue.path)
    if not queue.deliver(sequence, 1):
        raise Untold("no transactional packet could be made and delivered")
    for _ in range(2):
        queue.deliver(sequence, 2, b"x" * 2000)
    sides.plain("queues.set", format_name=queue.name, properties={"PROPID_Q_QUOTA": 100})
    if not queue.deliver(sequence, 2, b"x" * 2000, rejects=2):
        raise Untold("a message that was rejected is not taken later")
    management = sides.created("MSMQManagement")
    sides.invoke(management, "Init", MISSING, MISSING, text(queue.name))
    told = sides.invoke(management, "EodGetReceiveInfo").value
    collections = told.value if told is not None and told.vt == "ARRAY" and told.value else ()
    values = [_item(sides, str(collections[0].value), name) if collections else None for name in TYPES]
    plain = [None if one is None else str(one.value) if one.vt == "UI8" else one.value for one in values]
    holds = incoming_story.holds(queue.came[sequence], plain)
    for (vt, words, item), value, right in zip(TYPES.values(), values, holds, strict=True):
        sides.expect(f"MQAC-2.2.4.1.{words}-type", vt, None if value is None else value.vt)
        wanted, shown = queue.came[sequence].items()[item], None if value is None else value.value
        sides.expect(f"MQAC-2.2.4.1.{words}-source", wanted, wanted if right else shown)
    sides.invoke(opened, "Close")


def _item(sides: Sides, collection: str, name: str) -> Variant | None:
    return sides.invoke(collection, "Item", text(name)).value


QUEUE_PRIVACY: Final = ("none", "optional", "body")  # MQPRIVLEVEL, by its number
Story = Callable[[Sides], None]
Stories = Mapping[str, tuple[Story, tuple[str, ...]]]
STORIES: Final[Stories] = MappingProxyType(
    {
        **{row.demand.removeprefix(_ROWS): (partial(constant, row=row), (row.demand,)) for row in ROWS},
        **{
            f"queue-privacy-{word}": (partial(queue_privacy, number=n), (f"{_ROWS}7.mq-priv-level-{word}-row",))
            for n, word in enumerate(QUEUE_PRIVACY)
        },
        "receive-access": (receive_access, (f"{_ROWS}3.mq-receive-access-row",)),
        "send-access": (send_access, (f"{_ROWS}3.mq-send-access-row",)),
        "peek-access": (peek_access, (f"{_ROWS}3.mq-peek-access-row",)),
        "admin-access": (admin_access, (f"{_ROWS}3.mq-admin-access-row",)),
        "transaction-id": (transaction_id, ("MQAC-3.17.4.1.68.guidelines",)),
        "copies": (copies, COPIES),
        "directory-path": (directory_path, DIRECTORY_PATH),
        "lookups": (lookups, LOOKUPS),
        "deleted": (deleted, (DELETED,)),
        "incoming": (
            incoming,
            tuple(f"MQAC-2.2.4.1.{words}-{of}" for _, words, _ in TYPES.values() for of in ("type", "source")),
        ),
    }
)
"""Stories by name, with the requirements that they judge."""


def tell(name: str, stories: Stories, mq: Port, judge: Recorder) -> None:
    """Run a story. Raises ConformanceFailure, and NotCreated if the driver does not let it happen."""
    judge.begin_example(EXAMPLE, {"beside": name})
    story, _ = stories[name]
    try:
        story(Sides(mq, judge))
    except Untold as nothing:
        raise NotCreated(str(nothing)) from None
