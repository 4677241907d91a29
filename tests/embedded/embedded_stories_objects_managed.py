"""Stories of managed queues that are deleted, that get transfers, and whose transfers are acknowledged in part."""

from __future__ import annotations

import base64
from typing import Any

from embedded_objects import LEFT_OUT, text
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_stories_objects_managing import ELSEWHERE, FACES, KEYS, QUEUE, look
from embedded_talk import Talk

RECEIVED = ("QueueFormatName", "SenderId", "SeqID", "SeqNo", "LastAccessTime", "RejectCount")


@of("objects")
def managed_queues_that_go(talk: Talk) -> list[Any]:
    tell = Told(talk)
    tell.objects.info()
    target = tell.objects.make("MSMQManagement")
    tell(target, "Init", LEFT_OUT, LEFT_OUT, text("DIRECT=OS:HOST\\private$\\none"))
    look(tell, talk, target)
    tell(target, "Init", LEFT_OUT, text(QUEUE))
    talk.ok("queues.delete", format_name=f"DIRECT=OS:{QUEUE}")
    look(tell, talk, target)
    for name, given in (("MSMQOutgoingQueueManagement", "HOST\\private$\\t"), ("MSMQManagement", "HOST\\pub")):
        tell.objects.info(given)
        alone = tell.objects.make(name)
        tell(alone, "Init", LEFT_OUT, text(given))
        look(tell, talk, alone)
    for name in ("DIRECT=OS:HOST\\system$;DEADLETTER", "MULTICAST=234.1.1.1:1801"):
        if name.startswith("MULTICAST"):
            talk.open(name, "send")
        other = tell.objects.make("MSMQManagement")
        tell(other, "Init", LEFT_OUT, LEFT_OUT, text(name))
        tell(other, "QueueType", kind="get")
        tell(other, "Machine", kind="get")
    fresh = tell.objects.make("MSMQManagement")
    for iid in FACES:
        tell.seen.append(talk("objects.query", object=fresh, iid=iid)["status"])
    tell(fresh, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    tell(fresh, "Machine", kind="get")
    return tell.seen


@of("objects")
def managed_transfers_in_part(talk: Talk) -> list[Any]:
    tell = Told(talk)
    out = talk.open(ELSEWHERE, "send")
    talk.ok("management.connection", format_name=ELSEWHERE, step="established", addresses=["192.0.2.7"])
    for label in "abc":
        transaction = talk.begin()
        talk.send(out, label, transaction, positive_journaling=True)
        talk.ok("transactions.commit", transaction=transaction)
    talk.ok("management.transfer", format_name=ELSEWHERE)
    talk.ok("management.acknowledge", format_name=ELSEWHERE, kind="order", sequence_number=1)
    target = tell.objects.make("MSMQManagement")
    tell(target, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    for _ in range(2):
        look(tell, talk, target)
        found = tell(target, "EodGetSendInfo")
        for key in KEYS:
            place = tell(found, "Item", text(key))
            for part in ("SeqID", "SeqNo", "PrevNo") if isinstance(place, str) else ():
                tell(place, "Item", text(part))
        tell(target, "Resume")
        talk.ok("management.connection", format_name=ELSEWHERE, step="established", addresses=["192.0.2.7"])
        tell.seen.append(len(talk.ok("management.transfer", format_name=ELSEWHERE)["packets"]))
        tell(target, "EodResend")
        tell.seen.append(len(talk.ok("management.transfer", format_name=ELSEWHERE)["packets"]))
    return tell.seen


@of("objects")
def managed_queues_that_fill(talk: Talk) -> list[Any]:
    tell = Told(talk)
    for name in ("HOST\\private$\\q", "HOST\\pub"):
        tell.objects.info(name)
    talk.ok("queues.set", format_name=f"DIRECT=OS:{QUEUE}", properties={"PROPID_Q_JOURNAL": 1})
    local, far = tell.objects.make("MSMQManagement"), tell.objects.make("MSMQManagement")
    application = tell.objects.make("MSMQApplication")
    out = talk.open(ELSEWHERE, "send")
    tell(local, "Init", LEFT_OUT, text(QUEUE))
    tell(far, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    send, receive = talk.open(f"DIRECT=OS:{QUEUE}", "send"), talk.open(f"DIRECT=OS:{QUEUE}")
    for label in "abc":
        for target, getters in (
            (local, ("MessageCount", "BytesInQueue", "JournalMessageCount", "BytesInJournal")),
            (far, ("State", "NextHops")),
        ):
            for getter in getters:
                tell(target, getter, kind="get")
        tell(application, "ActiveQueues")
        tell(application, "PrivateQueues", kind="get")
        talk.send(send, label)
        talk.send(send, label)
        talk.receive(receive)
        talk.send(out, label)
        step = "in_process" if label == "a" else "established"
        talk.ok("management.connection", format_name=ELSEWHERE, step=step, addresses=["192.0.2.7", "192.0.2.8"])
    destination = tell.objects.make("MSMQDestination")
    for member, name in (("PathName", QUEUE), ("FormatName", f"DIRECT=OS:{QUEUE}")):
        tell(destination, member, text(name), kind="put")
        tell(destination, "IsOpen", kind="get")
    return tell.seen


@of("objects")
def managed_queues_that_get_transfers(talk: Talk) -> list[Any]:
    tell = Told(talk)
    tell.objects.info("HOST\\private$\\t", transactional=True)
    message = {
        "destination": "DIRECT=OS:HOST\\private$\\t",
        "label": "a",
        "identifier": {"source": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10", "ordinal": 1},
        "transaction": {
            "sequence_identifier": {"ordinal": 3, "timestamp": 9},
            "sequence_number": 1,
            "previous_sequence_number": 0,
            "first": True,
            "last": True,
        },
    }
    packet = talk.ok("packets.encode", message=message)["packet"]
    assert base64.b64decode(packet)
    tell.seen.append(talk("packets.deliver", packet=packet))
    target = tell.objects.make("MSMQManagement")
    tell(target, "Init", LEFT_OUT, text("HOST\\private$\\t"))
    for each in tell(target, "EodGetReceiveInfo") or ():
        for key in RECEIVED:
            tell(each["value"], "Item", text(key))
        tell(each["value"], "Count", kind="get")
    return tell.seen
