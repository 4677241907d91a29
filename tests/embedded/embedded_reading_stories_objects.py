"""Stories of objects in which implementations of other readings of MC-MQAC go another way."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, data, flag, long, text, thing
from embedded_stories_objects import Told
from embedded_stories_objects_events import events_read_otherwise
from embedded_stories_objects_managing import managed_transfers
from embedded_stories_objects_queries import queries_read_otherwise
from embedded_talk import Talk

CONNECTION_POINT = "b196b286-bab4-101a-b69c-00aa00341d07"
PATH = "HOST\\private$\\q"
POLL = (LEFT_OUT, LEFT_OUT, long(0))


def _made(tell: Told, path: str = PATH, *, transactional: bool = False) -> str:
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", text(path), kind="put")
    tell(info, "Create", flag(transactional))
    return info


def queue_infos_read_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell)
    for member in ("FormatName", "IsWorldReadable", "IsWorldReadable2"):
        tell(info, member, kind="get")
    for member, value in (("BasePriority", long(5)), ("JournalQuota", long(7)), ("Label", text("put"))):
        tell(info, member, value, kind="put")
    tell(info, "Update")
    stored = talk("queues.get", format_name="DIRECT=OS:HOST\\private$\\q", properties=["PROPID_Q_JOURNAL_QUOTA"])
    tell.seen.append(stored)
    other = tell.objects.make("MSMQQueueInfo")
    tell(other, "PathName", text(PATH), kind="put")
    tell(other, "Label", text("new"), kind="put")
    for member in ("Label", "JournalQuota"):
        tell(other, member, kind="get")
    public = _made(tell, "HOST\\" + "p" * 70)
    tell(public, "Refresh")
    return tell.seen


def queues_opened_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell)
    tell(info, "Open", long(2), long(0))
    queue = tell(info, "Open", long(1), long(1))
    tell(queue, "Close")
    tell(queue, "Access", kind="get")
    tell(queue, "Close")
    return tell.seen


def reads_read_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell)
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    message = tell.objects.make("MSMQMessage")
    tell(message, "Send", thing(sender), long(0))
    shown = tell(queue, "PeekCurrent")
    found = text(tell.objects.get(shown, "LookupId")) if shown else text("1")
    tell(queue, "PeekNext", *POLL)
    tell(queue, "PeekByLookupId", text("99999999"))
    tell(queue, "PeekByLookupId", found)
    tell(queue, "ReceiveByLookupId", found, long(3))
    tell(queue, "Receive", long(1), *POLL)
    tell(message, "Send", thing(sender), long(3))
    return tell.seen


def transactions_end_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    _made(tell, transactional=True)
    dispenser = tell.objects.make("MSMQTransactionDispenser")
    tell(str(tell(dispenser, "BeginTransaction")), "Commit", LEFT_OUT, long(0))
    begun = str(tell(dispenser, "BeginTransaction"))
    for number in range(30):
        talk("transactions.abort", transaction=f"t{number}")
    tell(begun, "Commit")
    return tell.seen


def messages_read_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, transactional=True)
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    message = tell.objects.make("MSMQMessage")
    for member in ("MaxTimeToReachQueue", "CorrelationId", "AuthenticationProviderName", "ResponseQueueInfo"):
        tell(message, member, kind="get")
    tell(message, "Body", {"vt": "EMPTY"}, kind="put")
    tell(message, "Ack", long(3), kind="put")
    tell(message, "MaxTimeToReceive", long(60), kind="put")
    tell(message, "Send", thing(sender), long(3))
    tell(message, "MaxTimeToReceive", kind="get")
    tell.seen.append(repr(tell(tell(queue, "Receive", long(3), *POLL), "IsFirstInTransaction2", kind="get")))
    tell(message, "CorrelationId", data("AQ=="), kind="put")
    tell(message, "Send", thing(sender))
    return tell.seen


def managers_asked_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    _made(tell)
    tell(tell.objects.make("MSMQManagement"), "Init", LEFT_OUT, text(PATH))
    application = tell.objects.make("MSMQApplication")
    tell(application, "MachineIdOfMachineName", text(None))
    for kind in ("method", "get"):
        tell(application, "ActiveQueues", kind=kind)
    return tell.seen


def sends_and_sinks_taken_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    sender = tell(_made(tell), "Open", long(2), long(0))
    tell(tell.objects.message("m"), "Send", thing(sender), {"vt": "EMPTY"})
    tell.seen.append(talk("objects.query", object=tell.objects.make("MSMQEvent"), iid=CONNECTION_POINT))
    return tell.seen


def units_of_work_taken_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = _made(tell, transactional=True)
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    tell(queue, "Receive", long(0), *POLL)
    ended = str(tell(tell.objects.make("MSMQTransactionDispenser"), "BeginTransaction"))
    tell(ended, "Commit")
    for unit in (ended, tell.objects.make("MSMQTransaction")):
        tell(tell.objects.message("m"), "Send", thing(sender), thing(unit))
    message = tell.objects.message("m")
    for _ in "ab":
        tell(message, "Send", thing(sender), long(3))
    tell(tell(queue, "Receive", long(0), LEFT_OUT, flag(False), long(0)), "Body", kind="get")
    return tell.seen


def names_looked_up_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    _made(tell)
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", text(PATH), kind="put")
    tell(info, "FormatName", kind="get")
    tell(info, "FormatName", text("DIRECT=OS:HOST\\SYSTEM$;JOURNAL"), kind="put")
    tell(info, "Refresh")
    return tell.seen


OF_OBJECTS = [
    units_of_work_taken_otherwise,
    names_looked_up_otherwise,
    managers_asked_otherwise,
    sends_and_sinks_taken_otherwise,
    queue_infos_read_otherwise,
    queues_opened_otherwise,
    reads_read_otherwise,
    transactions_end_otherwise,
    messages_read_otherwise,
    events_read_otherwise,
    managed_transfers,
    queries_read_otherwise,
]
