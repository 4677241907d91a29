"""Stories of the objects of MC-MQAC: every member of each class, in every state, with and without its arguments."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, NOTHING, Objects, data, flag, long, text, thing
from embedded_stories import of
from embedded_talk import Talk

from conformance.embedded.objects.message import PROPERTIES as OF_MESSAGES
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import READS
from conformance.embedded.objects.queue_info import PROPERTIES as OF_QUEUES
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.variants import INTEGERS

CONNECTOR = "{0123ABCD-4567-89AB-CDEF-0123456789AB}"
TEXTS = ("x" * 250, "y", CONNECTOR, "")
NUMBERS = (32768, -1, 99, 7, 1)


class Told:
    """Objects whose answers are written down, those of calls that wait when the story ends."""

    def __init__(self, talk: Talk) -> None:
        self.objects, self.talk = Objects(talk), talk
        self.seen: list[Any] = []

    def __call__(self, target: str | None, member: str, *arguments: Any, kind: str = "method") -> Any:
        if target is None:
            return None
        answers = self.objects.start(target, member, *arguments, kind=kind)
        self.seen += [member, answers, len(answers)]
        return (answers[0] if answers else {}).get("value", {}).get("value")

    def all(self, target: str | None, part: type[Any]) -> None:
        """Every property of an object."""
        if target is not None:
            names = sorted(name for kind, name in part.MEMBERS if kind == "get")
            self.seen.append(self.talk("objects.get", object=target, members=names))


def _values(row: Any) -> tuple[Any, ...]:
    if row.taken.vt == "I4":
        return tuple(long(number) for number in NUMBERS)
    return tuple(text(each) for each in TEXTS) if row.taken.vt == "BSTR" else (data("AQ=="),)


@of("objects")
def queue_infos(talk: Talk) -> list[Any]:
    tell = Told(talk)
    for path in ("HOST\\private$\\q", "HOST\\public"):
        info = tell.objects.make("MSMQQueueInfo")
        tell.all(info, QueueInfoObject)
        tell(info, "PathName", text(path), kind="put")
        for row in OF_QUEUES:
            if row.taken is not None:
                tell(
                    info,
                    row.name,
                    text("234.1.1.1:80") if row.name == "MulticastAddress" else _values(row)[-1],
                    kind="put",
                )
        tell(info, "ServiceTypeGuid", text(CONNECTOR), kind="put")
        tell(info, "Create", *([flag(True)] if "private" in path else []))
        tell(info, "Create")
        tell.all(info, QueueInfoObject)
        for row in OF_QUEUES:
            if row.taken is not None:
                for each in _values(row)[:-1]:
                    tell(info, row.name, each, kind="put")
        tell.all(info, QueueInfoObject)
        tell(info, "MulticastAddress", text(""), kind="put")
        tell(info, "ServiceTypeGuid", text(""), kind="put")
        tell(info, "Refresh")
        tell(info, "Label", text("new"), kind="put")
        tell(info, "Update")
        for access, share in ((1, 0), (2, 0), (2, 1), (0x20, 1)):
            tell(info, "Open", long(access), long(share))
        other = tell.objects.make("MSMQQueueInfo")
        tell(other, "FormatName", text(f"DIRECT=OS:{path}"), kind="put")
        tell.all(other, QueueInfoObject)
        tell(other, "PathName", text("HOST\\private$\\none"), kind="put")
        tell.all(other, QueueInfoObject)
        tell(other, "PathName", text(path), kind="put")
        tell(other, "Refresh")
        tell(other, "FormatName", text("DIRECT=OS:HOST\\SYSTEM$;JOURNAL"), kind="put")
        tell(other, "Label", kind="get")
        tell(other, "Refresh")
        tell.all(other, QueueInfoObject)
        tell(other, "FormatName", text("DIRECT=OS:HOST\\private$\\none"), kind="put")
        tell.all(other, QueueInfoObject)
        tell(other, "FormatName", text(f"DIRECT=OS:{path}"), kind="put")
        tell(info, "Delete")
        tell.all(info, QueueInfoObject)
        tell(info, "Delete")
        tell(other, "Open", long(1), long(0))
    return tell.seen


@of("objects")
def reads(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender = tell.objects.open(info, 2)
    for read in READS:
        given = [text("5")] if read.by_identifier else []
        blank = tell.objects.make("MSMQQueue")
        for lookup in (given, [text("0")], [{"vt": "UI8", "value": "0"}]) if given else (given,):
            tell(blank, read.name, *lookup)
        closed = tell.objects.open(info, 2)
        tell(closed, read.name, *given)
        tell(closed, "Close")
        tell(closed, read.name, *given)
        message = tell.objects.message("m", Body=text("b"), ConnectorTypeGuid=text(CONNECTOR))
        for _ in range(3):
            tell(message, "Send", thing(sender))
        queue = tell.objects.open(info)
        shown = tell(queue, "PeekFirstByLookupId")
        first = text(tell.objects.get(shown, "LookupId")) if shown else text("1")
        if read.at == "next":
            tell(queue, "PeekCurrent")
        tell.all(tell(queue, read.name, *([first] if given else [])), MessageObject)
        if read.at == "next":
            tell(queue, "PeekCurrent")
        wanted = [long(0)] if read.removes else []
        rest = [
            flag(True),
            flag(False),
            *([long(0)] if read.at else []),
            *([flag(True)] if read.wants_connector else []),
        ]
        end = "First" if "Next" in read.name else "Last"
        last = text(tell.objects.get(tell.objects.call(queue, f"Peek{end}ByLookupId"), "LookupId"))
        tell.all(tell(queue, read.name, *([last] if given else []), *wanted, *rest), MessageObject)
        if given:
            tell.all(tell(queue, read.name, last), MessageObject)
        tell(queue, "Purge")
        tell(
            queue, read.name, *([first] if given else []), *wanted, *([LEFT_OUT, LEFT_OUT, long(0)] if read.at else [])
        )
        for time_out in ([], [long(20)]) if read.at else ():
            fresh = tell.objects.open(info)
            if read.at == "next":
                tell(fresh, read.name)
                tell(message, "Send", thing(sender))
                tell(fresh, "PeekCurrent")
            tell(fresh, read.name, *wanted, *([LEFT_OUT, LEFT_OUT, *time_out] if time_out else []))
            for _ in range(2):
                talk.ok("clock.advance", by_ms=20)
                tell(fresh, "PeekCurrent", LEFT_OUT, LEFT_OUT, long(0))
            tell(fresh, "Close")
            tell(queue, "Purge")
        tell(queue, "Close")
        tell(tell.objects.open(info), "Purge")
    return tell.seen


@of("objects")
def queues(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender = tell.objects.open(info, 2)
    opened = [tell.objects.open(info), str(tell.objects.call(info, "Open", long(0x20), long(0)))]
    for queue in (tell.objects.make("MSMQQueue"), sender, *opened):
        for member in ("Access", "ShareMode", "QueueInfo", "Handle", "Handle2", "IsOpen", "IsOpen2", "Properties"):
            tell(queue, member, kind="get")
        for member in ("Reset", "Purge"):
            tell(queue, member)
    tell(tell.objects.make("MSMQQueue"), "Close")
    tell.objects.send(sender, "a", "b", "c", "d")
    queue = opened[0]
    for member in ("PeekCurrent", "PeekNext", "Receive", "Peek", "ReceiveFirstByLookupId", "Reset", "PeekCurrent"):
        tell.all(tell(queue, member), MessageObject)
    tell(opened[1], "Purge")
    tell(queue, "ReceiveLastByLookupId")
    tell(queue, "Purge")
    tell(queue, "Peek", LEFT_OUT, LEFT_OUT, long(0))
    tell(queue, "Receive")
    for each in (sender, *opened):
        for member in ("Close", "Close", "Reset", "Purge"):
            tell(each, member)
        tell(each, "IsOpen", kind="get")
        tell(each, "IsOpen2", kind="get")
    exclusive = tell(info, "Open", long(1), long(1))
    tell(exclusive, "ShareMode", kind="get")
    return tell.seen


@of("objects")
def messages(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender, queue = tell.objects.open(info, 2), tell.objects.open(info)
    tell.all(tell.objects.make("MSMQMessage"), MessageObject)
    for row in OF_MESSAGES:
        if row.taken is None:
            continue
        message = tell.objects.make("MSMQMessage")
        for each in _values(row):
            tell(message, row.name, each, kind="put")
            tell.all(message, MessageObject)
            tell(message, "Send", thing(sender))
            tell(message, "ConnectorTypeGuid", text(CONNECTOR), kind="put")
            tell(message, "Send", thing(sender))
            tell.all(message, MessageObject)
            tell.all(tell(queue, "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0)), MessageObject)
    return tell.seen


@of("objects")
def bodies(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender, queue = tell.objects.open(info, 2), tell.objects.open(info)
    given = [{"vt": vt, "value": "1" if vt.endswith("I8") else 1} for vt in INTEGERS]
    given += [{"vt": vt, "value": "1"} for vt in ("R4", "R8", "CY", "DATE", "DECIMAL")]
    given += [
        text("t"),
        flag(True),
        data("AQ=="),
        {"vt": "ARRAY", "of": "I2", "value": [{"vt": "I2", "value": 3}]},
        {"vt": "EMPTY"},
    ]
    for body in given:
        message = tell.objects.make("MSMQMessage")
        tell(message, "Body", body, kind="put")
        tell(message, "Send", thing(sender))
        tell.all(tell(queue, "Receive"), MessageObject)
    return tell.seen


@of("objects")
def sends(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender = thing(tell.objects.open(info, 2))
    message = tell.objects.message("s", MsgClass=long(2), AuthenticationProviderName=text(""))
    for put in ((), ("ConnectorTypeGuid", text(CONNECTOR)), ("AuthenticationProviderName", text("p"))):
        if put:
            tell(message, *put, kind="put")
        for destination in (NOTHING, sender, thing(tell.objects.make("MSMQQueue")), thing(tell.objects.open(info))):
            for given in (LEFT_OUT, text("x")):
                tell(message, "Send", destination, given)
                tell.all(message, MessageObject)
    tell(tell.objects.make("MSMQMessage"), "AttachCurrentSecurityContext")
    plain = tell.objects.message("plain")
    for member in ("AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"):
        tell(plain, member)
        tell.all(plain, MessageObject)
    for member in ("ResponseQueueInfo", "AdminQueueInfo", "ResponseQueueInfo_v1", "AdminQueueInfo_v2"):
        tell(plain, member, thing(info), kind="putref")
        named = tell(plain, member, kind="get")
        tell(named, "FormatName", kind="get")
    return tell.seen


@of("objects")
def transactions(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info(transactional=True)
    sender, queue = tell.objects.open(info, 2), tell.objects.open(info)
    dispenser = tell.objects.make("MSMQTransactionDispenser")
    empty = tell.objects.make("MSMQTransaction")
    ends: tuple[tuple[str, list[Any]], ...] = (
        ("Commit", [flag(True)]), ("Commit", [LEFT_OUT, long(0)]), ("Commit", [LEFT_OUT, LEFT_OUT, long(1)]),
        ("Abort", [flag(True)]), ("Abort", [LEFT_OUT, flag(True)]),
    )  # fmt: skip
    for last in ("Commit", "Abort"):
        begun = str(tell(dispenser, "BeginTransaction"))
        tell(empty, "InitNew", text("x"))
        tell(empty, "InitNew", NOTHING)
        tell(empty, "InitNew", {"vt": "UNKNOWN", "value": tell(begun, "ITransaction", kind="get")})
        tell(begun, "InitNew", text("x"))
        tell(empty, "ITransaction", kind="get")
        for member, given in ends:
            tell(begun, member, *given)
        for number in (text("x"), LEFT_OUT, long(3), thing(begun)):
            message = tell.objects.message("t")
            tell(message, "Send", thing(sender), number)
            tell(queue, "Peek", LEFT_OUT, LEFT_OUT, long(0))
            tell(queue, "Receive", number, LEFT_OUT, LEFT_OUT, long(0))
            tell(queue, "ReceiveFirstByLookupId", number)
        tell(tell.objects.message("r"), "Send", thing(sender), long(3))
        shown = tell(queue, "PeekFirstByLookupId")
        found = text(tell.objects.get(shown, "LookupId")) if shown else text("1")
        tell(queue, "ReceiveByLookupIdAllowPeek", found, thing(begun))
        tell.all(tell(queue, "Peek", LEFT_OUT, LEFT_OUT, long(0)), MessageObject)
        for member in (last, "Commit", "Abort"):
            tell(begun, member)
            tell.all(tell(queue, "Peek", LEFT_OUT, LEFT_OUT, long(0)), MessageObject)
        for member, given in ends:
            tell(begun, member, *given)
        fresh = tell.objects.make("MSMQTransaction")
        for member in ("Commit", "Abort"):
            tell(fresh, member)
        again = str(tell(dispenser, "BeginTransaction"))
        tell(tell.objects.message("u"), "Send", thing(sender), thing(again))
        tell(again, last)
        tell.all(tell(queue, "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0)), MessageObject)
    return tell.seen
