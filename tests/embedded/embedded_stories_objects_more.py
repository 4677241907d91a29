"""Further stories of objects: what reads do, what queues are called, and how classes describe themselves."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, long, text, thing
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_talk import Talk

from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import READS
from conformance.embedded.objects.queue_info import QueueInfoObject

CLASSES = (
    "MSMQQuery", "MSMQQueueInfos",
    "MSMQQueueInfo", "MSMQQueue", "MSMQMessage", "MSMQTransaction", "MSMQTransactionDispenser",
    "MSMQCoordinatedTransactionDispenser", "MSMQDestination", "MSMQEvent",
    "MSMQManagement", "MSMQQueueManagement", "MSMQOutgoingQueueManagement", "MSMQApplication", "MSMQCollection",
)  # fmt: skip
POLL = (LEFT_OUT, LEFT_OUT, long(0))
QUEUE = "HOST\\private$\\q"


def _made(tell: Told, path: str = QUEUE, *arguments: Any, **puts: Any) -> str:
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", text(path), kind="put")
    for member, value in puts.items():
        tell(info, member, value, kind="put")
    tell(info, "Create", *arguments)
    return info


def _identifiers(tell: Told, queue: str) -> list[Any]:
    found = [tell(queue, f"Peek{end}ByLookupId") for end in ("First", "Last")]
    return [text(tell.objects.get(each, "LookupId")) if each else text("1") for each in found]


@of("objects")
def journaled_reads(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, Journal=long(1))
    journal = tell.objects.make("MSMQQueueInfo")
    tell(journal, "FormatName", text(f"DIRECT=OS:{QUEUE};JOURNAL"), kind="put")
    sender, copies = tell(info, "Open", long(2), long(0)), tell(journal, "Open", long(1), long(0))
    for read in READS:
        queue = tell(info, "Open", long(1), long(0))
        for _ in range(3):
            tell(tell.objects.message("j"), "Send", thing(sender), long(0))
        first, last = _identifiers(tell, queue)
        given = [last if "Previous" in read.name else first] if read.by_identifier else []
        if read.by_identifier:
            tell(queue, read.name, text("0"))
        if read.at == "next":
            tell(queue, "PeekCurrent")
        tell.all(tell(queue, read.name, *given, *([long(0)] if read.removes else [])), MessageObject)
        tell.all(tell(queue, "Receive", long(0), *POLL), MessageObject)
        tell.all(tell(copies, "Receive", long(0), *POLL), MessageObject)
        for each in (queue, copies):
            tell(each, "Purge")
        if read.at not in ("", "head"):
            tell(sender, read.name)
        tell(queue, "Close")
    return tell.seen


@of("objects")
def reads_of_gone_messages(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell)
    sender = tell(info, "Open", long(2), long(0))
    for read in READS:
        if read.at == "current":
            queue, other = tell(info, "Open", long(1), long(0)), tell(info, "Open", long(1), long(0))
            for _ in range(2):
                tell(tell.objects.message("g"), "Send", thing(sender), long(0))
            tell(queue, "PeekCurrent")
            tell(other, "Receive", long(0))
            tell(queue, read.name, *([long(0)] if read.removes else []), *POLL)
            tell(queue, "Reset")
            tell(queue, read.name, *([long(0)] if read.removes else []), *POLL)
            tell(queue, "Purge")
    return tell.seen


@of("objects")
def transacted_reads(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, QUEUE, {"vt": "BOOL", "value": True})
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    dispenser = tell.objects.make("MSMQTransactionDispenser")
    for read in READS:
        if not read.removes:
            continue
        begun = thing(tell(dispenser, "BeginTransaction"))
        tell(tell.objects.message("t"), "Send", thing(sender), begun)
        tell(tell.objects.message("u"), "Send", thing(sender), begun)
        tell(begun["value"], "Commit")
        begun = thing(tell(dispenser, "BeginTransaction"))
        first, last = _identifiers(tell, queue)
        given = [last if "Previous" in read.name else first] if read.by_identifier else []
        for transaction in (text("x"), begun):
            poll = POLL if read.at else ()
            tell.all(tell(queue, read.name, *given, transaction, *poll), MessageObject)
            tell.all(tell(queue, "Peek", *POLL), MessageObject)
        tell(begun["value"], "Abort")
        tell.all(tell(queue, "Peek", *POLL), MessageObject)
        tell(queue, "Purge")
        tell(queue, "Reset")
    return tell.seen


@of("objects")
def names_of_queues(talk: Talk) -> list[Any]:
    tell = Told(talk)
    made = [_made(tell), _made(tell, "HOST\\pub"), _made(tell, "HOST\\" + "p" * 64), _made(tell, PrivLevel=long(9))]
    tell(_made(tell, "HOST\\private$\\q9", PrivLevel=long(9)), "Refresh")
    tell.all(made[0], QueueInfoObject)
    for member in ("Journal", "Authenticate"):
        for number in (1, 0):
            tell(made[0], member, long(number), kind="put")
            tell(made[0], member, kind="get")
    texts = [
        ("FormatName", "DIRECT=OS:HOST\\private$\\q,DIRECT=OS:HOST\\pub"), ("FormatName", "MULTICAST=234.1.1.1:80"),
        ("FormatName", "DIRECT=HTTP://HOST/msmq/q"), ("FormatName", "DIRECT=OS:HOST\\private$\\none"),
        ("FormatName", "DIRECT=OS:OTHER\\private$\\q"), ("FormatName", "DIRECT=OS:HOST\\private$\\q"),
        ("PathName", "OTHER\\private$\\q"), ("PathName", "HOST\\private$\\none"), ("PathName", "q"),
        ("PathName", "\\q"), ("PathName", ".\\private$\\q"),
        ("PathName", "HOST\\private$\\q;s"), ("PathName", "HOST\\pub"),
    ]  # fmt: skip
    made.append(_made(tell, "HOST\\private$\\w", LEFT_OUT, {"vt": "BOOL", "value": True}, Journal=long(7)))
    for info in (tell.objects.make("MSMQQueueInfo"), *made):
        for member in ("FormatName", "IsWorldReadable", "IsWorldReadable2", "Security", "Properties", "QueueGuid"):
            tell(info, member, kind="get")
        tell(info, "Security", long(0), kind="put")
    for member, value in [("", ""), *texts]:
        info = tell.objects.make("MSMQQueueInfo")
        if member:
            tell(info, member, text(value), kind="put")
        tell(info, "FormatName", kind="get")
        for access in (1, 2):
            tell(info, "Open", long(access), long(0))
        for method in ("Refresh", "Update", "Create"):
            tell(info, method)
        for property_of in ("PathNameDNS", "IsWorldReadable", "IsWorldReadable2", "Label"):
            tell(info, property_of, kind="get")
        tell(info, "Delete")
        _made(tell)
    return tell.seen


@of("objects")
def queues_of_messages(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell)
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    kinds = ("ResponseQueueInfo", "AdminQueueInfo")
    set_by_clients = [kind + version for kind in kinds for version in ("_v1", "_v2", "")]
    message = tell.objects.make("MSMQMessage")

    def look(seen: str | None) -> None:
        for member in (*set_by_clients, "DestinationQueueInfo", "TransactionStatusQueueInfo"):
            tell(tell(seen, member, kind="get"), "FormatName", kind="get")

    look(message)
    for member in set_by_clients:
        tell(message, member, thing(info), kind="putref")
        look(message)
        tell(message, member, thing(None), kind="putref")
    for number in (0, 1, 2, 3, 0):
        tell(message, "Journal", long(number), kind="put")
        tell(message, "Journal", kind="get")
    tell(message, "Send", thing(sender), long(0))
    look(message)
    look(tell(queue, "Receive", long(0), {"vt": "BOOL", "value": True}))
    return tell.seen


@of("objects")
def descriptions(talk: Talk) -> list[Any]:
    tell = Told(talk)
    for name in CLASSES:
        tell.seen.append(talk("objects.describe", **{"class": name}))
    return tell.seen


@of("objects")
def transactions_of_a_coordinator(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, QUEUE, {"vt": "BOOL", "value": True})
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    for name in ("MSMQTransactionDispenser", "MSMQCoordinatedTransactionDispenser", "MSMQTransaction", "MSMQQueue"):
        tell(tell.objects.make(name), "Properties", kind="get")
    dispenser = tell.objects.make("MSMQCoordinatedTransactionDispenser")
    fresh = tell.objects.make("MSMQTransaction")
    for member in ("Transaction", "ITransaction"):
        tell(fresh, member, kind="get")
    for member in ("Commit", "Abort"):
        tell(fresh, member)
    for end, given in (("Commit", [LEFT_OUT, long(0)]), ("Abort", [])):
        begun = tell(dispenser, "BeginTransaction")
        inner = tell(begun, "ITransaction", kind="get")
        for vt in ("UNKNOWN", "DISPATCH"):
            tell(tell.objects.make("MSMQTransaction"), "InitNew", {"vt": vt, "value": inner})
        tell(tell.objects.message("c"), "Send", thing(sender), thing(begun))
        for _ in range(2):
            tell(begun, end, *given)
        tell.all(tell(queue, "Receive", long(3), *POLL), MessageObject)
    for each in (sender, queue):
        tell(each, "Close")
        for member in ("Purge", "Reset"):
            tell(each, member)
        for member in ("Access", "ShareMode", "QueueInfo", "Handle", "Handle2", "IsOpen2", "IsOpen"):
            tell(each, member, kind="get")
    tell(tell(info, "Open", long(1), long(1)), "IsOpen2", kind="get")
    return tell.seen


@of("objects")
def sent_again(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info, named = _made(tell), tell.objects.make("MSMQQueueInfo")
    tell(named, "FormatName", text(f"DIRECT=OS:{QUEUE}"), kind="put")
    transacted = _made(tell, "HOST\\private$\\t", {"vt": "BOOL", "value": True})
    message = tell.objects.message("again")
    for target, number in ((transacted, 3), (named, 0), (info, 0), (transacted, 3)):
        tell(message, "Send", thing(tell(target, "Open", long(2), long(0))), long(number))
        tell.all(message, MessageObject)
        found = tell(tell(info, "Open", long(1), long(0)), "Receive", long(0), {"vt": "BOOL", "value": True}, *POLL[1:])
        tell(tell(found, "DestinationQueueInfo", kind="get") if found else None, "FormatName", kind="get")
        tell(found, "TransactionId", kind="get")
    return tell.seen


@of("objects")
def dead_letters_of_transactions(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info, dead = _made(tell, "HOST\\private$\\t", {"vt": "BOOL", "value": True}), tell.objects.make("MSMQQueueInfo")
    tell(dead, "FormatName", text("DIRECT=OS:HOST\\SYSTEM$;DEADXACT"), kind="put")
    message = tell.objects.message("m", Journal=long(1), MaxTimeToReachQueue=long(1), MaxTimeToReceive=long(1))
    tell(message, "Send", thing(tell(info, "Open", long(2), long(0))), long(3))
    talk("clock.advance", by_ms=2000)
    tell(tell(tell(dead, "Open", long(1), long(0)), "Receive", LEFT_OUT, *POLL), "Label", kind="get")
    return tell.seen


@of("objects")
def two_conditions_at_once(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, "HOST\\private$\\t", {"vt": "BOOL", "value": True}, Journal=long(1))
    journal, dispenser = tell.objects.make("MSMQQueueInfo"), tell.objects.make("MSMQTransactionDispenser")
    tell(journal, "FormatName", text("DIRECT=OS:HOST\\private$\\t;JOURNAL"), kind="put")
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    copies = tell(journal, "Open", long(1), long(0))
    small = text("{01234567-89ab-cdef-0123-456789abcdef}")
    tell(tell.objects.make("MSMQMessage"), "ConnectorTypeGuid", small, kind="put")
    for end in ("Commit", "Abort"):
        message = tell.objects.message("a")
        for number in (1, 2):
            tell(message, "AppSpecific", long(number), kind="put")
        for _ in range(3):
            tell(message, "Send", thing(sender), long(3))
        first, second = (tell(dispenser, "BeginTransaction") for _ in range(2))
        for _ in range(2):
            tell(tell.objects.message("b"), "Send", thing(sender), thing(first))
        tell(queue, "Receive", thing(first), *POLL)
        tell(queue, "Receive", LEFT_OUT, LEFT_OUT, {"vt": "BOOL", "value": False}, long(0))
        for member in ("PeekCurrent", "Reset", "PeekCurrent", "Reset", "PeekNext"):
            tell(queue, member, *(() if member == "Reset" else POLL))
        for each in (first, second):
            tell(each, end)
            tell(tell(queue, "PeekLastByLookupId"), "Label", kind="get")
        for each in (*[queue] * 6, *[copies] * 6):
            tell.all(tell(each, "Receive", LEFT_OUT, *POLL), MessageObject)
    return tell.seen
