"""Stories of the management of MC-MQAC: queues and their transfers, collections, and the queue manager."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, data, long, text
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_talk import Talk

QUEUE, ELSEWHERE = "HOST\\private$\\q", "DIRECT=TCP:192.0.2.7\\private$\\q"
GETTERS = (
    "FormatName", "Machine", "MessageCount", "ForeignStatus", "QueueType", "IsLocal", "TransactionalStatus",
    "BytesInQueue", "JournalMessageCount", "BytesInJournal", "State", "NextHops",
)  # fmt: skip
METHODS = ("EodGetReceiveInfo", "EodGetSendInfo", "Resume", "Pause", "EodResend")
FACES = ("64c478fb-f9b0-4695-8a7f-439ac94326d3", "7fbe7759-5760-444d-b8a5-5e7ab9a84cce")
KEYS = (
    "EodLastAck", "EodLastAckTime", "EodLastAckCount", "EodFirstNonAck", "EodLastNonAck", "EodNextSeq",
    "EodNoReadCount", "EodNoAckCount", "EodResendTime", "EodResendInterval", "EodResendCount", "none",
)  # fmt: skip


def look(tell: Told, talk: Talk, target: str) -> None:
    for member in GETTERS:
        tell(target, member, kind="get")
    for member in METHODS:
        found = tell(target, member)
        tell(target, "State", kind="get")
        if isinstance(found, str):
            for key in KEYS:
                inner = tell(found, "Item", text(key))
                if isinstance(inner, str):
                    tell(inner, "Item", text("SeqNo"))
            tell(found, "Count", kind="get")
    for iid in FACES:
        tell.seen.append(talk("objects.query", object=target, iid=iid)["status"])


@of("objects")
def managed_queues(talk: Talk) -> list[Any]:
    tell = Told(talk)
    info = tell.objects.info()
    tell.objects.info("HOST\\private$\\t", transactional=True)
    tell.objects.info("HOST\\pub")
    sender = tell.objects.open(info, 2)
    tell.objects.send(sender, "a", "b")
    given = [
        [], [LEFT_OUT, text(QUEUE), text(f"DIRECT=OS:{QUEUE}")], [LEFT_OUT, text(QUEUE)],
        [text("host"), LEFT_OUT, text(f"DIRECT=OS:{QUEUE}")], [text("ANOTHER"), text(QUEUE)],
        [LEFT_OUT, text("HOST\\private$\\none")], [LEFT_OUT, text("HOST\\private$\\t")], [LEFT_OUT, text("HOST\\pub")],
        [LEFT_OUT, text("none")], [LEFT_OUT, LEFT_OUT, text(ELSEWHERE)],
    ]  # fmt: skip
    for name in ("MSMQManagement", "MSMQQueueManagement", "MSMQOutgoingQueueManagement"):
        look(tell, talk, tell.objects.make(name))
    for each in given:
        target = tell.objects.make("MSMQManagement")
        tell(target, "Init", *each)
        look(tell, talk, target)
    return tell.seen


@of("objects")
def managed_transfers(talk: Talk) -> list[Any]:
    tell = Told(talk)
    out = talk.open(ELSEWHERE, "send")
    transaction = talk.begin()
    for label in "ab":
        talk.send(out, label, transaction)
    talk.ok("transactions.commit", transaction=transaction)
    target = tell.objects.make("MSMQManagement")
    tell(target, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    look(tell, talk, target)
    tell(target, "Resume")
    for step in ("dns_failure", "in_process", "established", "closing", "closed", "established"):
        talk.ok("management.connection", format_name=ELSEWHERE, step=step, addresses=["192.0.2.7"])
        tell(target, "State", kind="get")
        tell(target, "NextHops", kind="get")
    talk.ok("management.transfer", format_name=ELSEWHERE)
    for member in ("Pause", "Resume"):
        tell(target, member)
        tell(target, "State", kind="get")
    look(tell, talk, target)
    tell(target, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    collection = tell.objects.make("MSMQCollection")
    for index in (text("x"), long(1)):
        tell(collection, "Item", index)
    tell(collection, "Count", kind="get")
    tell(collection, "_NewEnum")
    return tell.seen


@of("objects")
def applications(talk: Talk) -> list[Any]:
    tell = Told(talk)
    queue = tell.objects.open(tell.objects.info(), 2)
    tell.objects.send(queue, "a")
    application = tell.objects.make("MSMQApplication")
    guid = talk.driver.manager.guid
    for machine in (None, "HOST", "ANOTHER"):
        if machine:
            tell(application, "Machine", text(machine), kind="put")
        for member in (
            "MSMQVersionMajor", "MSMQVersionMinor", "MSMQVersionBuild", "IsDsEnabled", "Properties", "PrivateQueues",
            "DirectoryServiceServer", "IsConnected", "BytesInAllQueues", "Machine",
        ):  # fmt: skip
            tell(application, member, kind="get")
        tell(application, "ActiveQueues")
        for name in (None, "HOST", "ANOTHER"):
            tell(application, "MachineIdOfMachineName", text(name))
        for given in (guid, f"{{{guid}}}", "x", None):
            tell(application, "MachineNameOfMachineId", text(given))
        for flags in ([], [long(2)], [long(2), data("AQ==")], [LEFT_OUT, data("AQ==")]):
            tell(application, "RegisterCertificate", *flags)
        for action in ("Disconnect", "Connect", "Tidy"):
            tell(application, action)
            tell(application, "IsConnected", kind="get")
    return tell.seen
