"""Stories of objects and plain facets in one queue: classes, delivery, access and destinations (MC-MQAC 2.2.2)."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, PEEK, SEND, flag, long, text
from embedded_stories import FAR, of
from embedded_stories_objects import Told
from embedded_talk import Talk

from conformance.spec.constants.enumerations import ENUMERATIONS

SHOWN = ("Class", "Delivery", "Journal", "Trace", "TransactionId")
SENT = (
    *({"class": number} for number in ENUMERATIONS["MQMSGCLASS"].members.values()),
    {"delivery": "recoverable"},
    {"negative_journaling": True},
    {"positive_journaling": True},
    {"trace": True},
)


def _read(tell: Told, queue: str, member: str = "Receive") -> Any:
    more = (LEFT_OUT,) if member == "Receive" else ()
    return tell(queue, member, *more, flag(True), LEFT_OUT, long(0))


@of("objects")
def objects_read_what_others_send(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    sender, queue = talk.open(access="send"), tell.objects.open(info)
    for message in SENT:
        talk.ok("messages.send", queue=sender, message=message)
        given = _read(tell, queue)
        if isinstance(given, str):
            tell.seen.append(talk("objects.get", object=given, members=list(SHOWN)))
    return tell.seen


@of("objects")
def objects_send_behind_what_others_send(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    talk.send(talk.open(access="send"), "a")
    tell.objects.send(tell.objects.open(info, SEND), "b")
    peeking, receiving = tell.objects.open(info, PEEK), tell.objects.open(info)
    for queue, member in ((peeking, "Peek"), (peeking, "Peek"), (receiving, "Receive"), (receiving, "Receive")):
        given = _read(tell, queue, member)
        tell.seen.append(given and tell(given, "Label", kind="get"))
    talk.send(talk.open(FAR, "send"), "c")
    outgoing = tell.objects.make("MSMQQueueInfo")
    tell(outgoing, "FormatName", text(FAR), kind="put")
    _read(tell, tell.objects.open(outgoing, PEEK | 0x80), "Peek")
    return tell.seen


@of("objects")
def objects_send_to_several_and_in_transactions(talk: Talk) -> list[Any]:
    tell = Told(talk)
    paths = [f"HOST\\private$\\{name}" for name in ("a", "b", "t")]
    infos = [tell.objects.info(path, transactional=path.endswith("t")) for path in paths]
    destination = tell.objects.make("MSMQDestination")
    tell(destination, "FormatName", text(",".join(f"DIRECT=OS:{path}" for path in paths[:2])), kind="put")
    tell.objects.send(destination, "c")
    tell.objects.send(tell.objects.open(infos[2], SEND), "d", transaction=long(3))
    for info in infos:
        given = _read(tell, tell.objects.open(info))
        tell(tell(given, "DestinationQueueInfo", kind="get"), "PathName", kind="get")
        tell(given, "TransactionId", kind="get")
    return tell.seen
