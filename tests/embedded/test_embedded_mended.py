"""Mistakes of the embedded implementation that were mended do not come back."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded_objects import NOTHING, Objects, data, flag, long, text, thing
from embedded_talk import NAME, Talk

from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_TRANSACTION_USAGE,
)

FAR = "DIRECT=OS:ELSEWHERE\\private$\\q"


def test_admin_access_purges_an_outgoing_queue(talk: Talk) -> None:
    talk.send(talk.open(FAR, "send"), "a")
    assert talk("queues.purge", queue=talk.open(FAR, "peek_admin"))["status"] == MQ_ERROR_ACCESS_DENIED
    talk.ok("queues.purge", queue=talk.open(FAR, "receive_admin"))
    assert talk.ok("queues.counts", format_name=FAR)["messages"] == 0


def test_all_journals_together_are_not_limited_unless_told(talk: Talk) -> None:
    assert talk.driver.manager.journal_quota_kb == 0xFFFFFFFF  # MS-MQDMPR 3.1.1.1


def test_the_base_priority_of_a_private_queue_stays_zero(talk: Talk) -> None:
    talk.queue(PROPID_Q_BASEPRIORITY=7)
    talk.queue("public", PROPID_Q_BASEPRIORITY=7)
    asked = ["PROPID_Q_BASEPRIORITY"]
    talk.ok("queues.set", format_name=NAME, properties={"PROPID_Q_BASEPRIORITY": 5})
    assert talk.ok("queues.get", format_name=NAME, properties=asked)["properties"] == {asked[0]: 0}
    public = talk.ok("queues.get", format_name="DIRECT=OS:HOST\\public", properties=asked)
    assert public["properties"] == {asked[0]: 7}


def test_a_deleted_queue_leaves_no_bytes_when_it_was_its_own_administration_queue(talk: Talk) -> None:
    send, _ = talk.queue()
    talk.send(send, "a", administration_queue=NAME, acknowledgements=["negative_receive"])
    talk.ok("queues.delete", format_name=NAME)
    assert talk.driver.manager.message_bytes == 0


def test_what_expired_under_a_lock_is_gone_after_a_restart(talk: Talk, tmp_path: Path) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill, hold = talk.begin(), talk.begin()
    talk.send(send, "a", fill, time_to_be_received=5)
    talk.ok("transactions.commit", transaction=fill)
    talk.receive(receive, transaction=hold)
    talk.ok("clock.advance", by_ms=6000)
    talk.driver.close()
    again = Talk(tmp_path)
    assert again.drain(again.open()) == []
    again.driver.close()


def test_a_journal_takes_no_part_in_moves(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    lookup = talk.send(send, "a")["lookup_identifier"]
    talk.receive(receive)
    journal, queue = talk.open(NAME + ";JOURNAL"), talk.open(NAME, "move")
    lookup = talk.ok("messages.peek", queue=journal, timeout_ms=0)["message"]["lookup_identifier"]
    moved = talk("messages.move", queue=journal, lookup_identifier=lookup, destination=queue)
    assert moved["status"] == MQ_ERROR_INVALID_PARAMETER


def test_threads_that_share_a_driver_get_each_message_once(talk: Talk) -> None:
    send, receive = talk.queue()
    taken: list[str] = []

    def work(call: Callable[[], Any]) -> None:
        for _ in range(50):
            call()

    def take() -> None:
        answers: list[dict[str, Any]] = []
        params = {"queue": receive, "timeout_ms": 0}
        talk.driver.handle("messages.receive", params, answers.append)
        taken.extend(answer["message"]["label"] for answer in answers if answer["status"] == 0)

    numbers = iter(range(100))
    threads = [threading.Thread(target=work, args=(lambda: talk.send(send, str(next(numbers))),))]
    threads += [threading.Thread(target=work, args=(take,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted([*taken, *talk.drain(receive)], key=int) == [str(number) for number in range(50)]


def test_a_move_looks_for_its_transaction_last(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    lookup = talk.send(send, "a", fill)["lookup_identifier"]
    talk.ok("transactions.commit", transaction=fill)
    part, target = talk.open(NAME + ";one"), talk.open(NAME + ";one", "move")

    def moved(at: str, to: str, transaction: str = fill) -> int:
        given = {"queue": at, "lookup_identifier": lookup, "destination": to, "transaction": transaction}
        return int(talk("messages.move", **given)["status"])

    assert moved(receive, target) == MQ_ERROR_TRANSACTION_SEQUENCE  # MS-MQRR 3.1.4.10
    assert moved(receive, part) == MQ_ERROR_ACCESS_DENIED
    assert moved(part, talk.open(NAME, "move")) == MQ_ERROR_MESSAGE_NOT_FOUND
    talk.receive(receive, transaction=talk.begin())
    assert moved(receive, target) == MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION
    talk.queue("private$\\plain")
    plain = talk.open("DIRECT=OS:HOST\\private$\\plain")
    other = talk.open("DIRECT=OS:HOST\\private$\\plain;one", "move")
    assert moved(plain, other) == MQ_ERROR_TRANSACTION_USAGE


def test_a_handle_with_a_begun_receive_is_closed_after_its_queue_was_deleted(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "a")
    read = talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
    talk.ok("queues.delete", format_name=NAME)
    talk.ok("queues.close", queue=receive)  # MS-MQDMPR 3.1.7.1.6
    assert talk("queues.close", queue=receive)["status"] == MQ_ERROR_INVALID_HANDLE
    assert talk("messages.receive_end", read=read, acknowledge=True)["status"] == MQ_ERROR_INVALID_HANDLE


@pytest.mark.parametrize("two_phase", [True, False])
def test_what_was_purged_under_a_lock_is_gone_after_a_restart(talk: Talk, tmp_path: Path, two_phase: bool) -> None:
    report = "DIRECT=OS:HOST\\private$\\report"
    talk.queue("private$\\report")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    talk.send(send, "a", fill, acknowledgements=["negative_receive"], administration_queue=report)
    talk.send(send, "b", fill)
    talk.ok("transactions.commit", transaction=fill)
    if two_phase:
        talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)
    else:
        talk.receive(receive, transaction=talk.begin())
    talk.ok("queues.purge", queue=receive)  # MS-MQDMPR 3.1.7.1.7
    talk.driver.close()
    again = Talk(tmp_path)
    assert again.drain(again.open()) == []
    told = again.ok("messages.receive", queue=again.open(report), timeout_ms=0)["message"]
    assert told["class"] == 0xC001
    assert again.driver.manager.message_bytes == 0
    again.driver.close()
    last = Talk(tmp_path)
    assert last.drain(last.open(report)) == []
    last.driver.close()


def test_the_quotas_of_the_manager_survive_a_restart(talk: Talk, tmp_path: Path) -> None:
    talk.ok("limits", message_quota_kb=1)
    talk.ok("limits", journal_quota_kb=0)
    talk.driver.close()
    again = Talk(tmp_path)  # MS-MQDMPR 3.1.1.1
    send, receive = again.queue(PROPID_Q_JOURNAL=1)
    too_long = {"label": "a", "body": "A" * 2000}
    assert again("messages.send", queue=send, message=too_long)["status"] == MQ_ERROR_INSUFFICIENT_RESOURCES
    again.send(send, "b")
    assert again.drain(receive) == ["b"]
    assert again.drain(again.open(NAME + ";JOURNAL")) == []
    again.ok("reset")
    again.driver.close()
    last = Talk(tmp_path)
    last.ok("messages.send", queue=last.queue()[0], message=too_long)
    last.driver.close()


def test_the_journal_of_a_queue_keeps_what_is_received_from_its_subqueues(talk: Talk) -> None:
    send, source = talk.queue(PROPID_Q_JOURNAL=1)
    parked, target = talk.open(f"{NAME};parked", "receive"), talk.open(f"{NAME};parked", "move")
    lookup = talk.send(send, "a")["lookup_identifier"]
    talk.ok("messages.move", queue=source, lookup_identifier=lookup, destination=target)
    assert talk.ok("queues.counts", format_name=NAME)["journal_messages"] == 0
    assert talk.receive(parked) == "a"
    assert talk.receive(talk.open(f"{NAME};JOURNAL")) == "a"


def test_an_identifier_of_17_bytes_is_no_guid_of_a_sender(talk: Talk) -> None:
    guid = "AAECAwQFBgcICQoLDA0ODw=="
    message = {"destination": NAME, "sender_identifier_type": "queue_manager", "sender_identifier": guid}
    packet = bytearray(base64.b64decode(talk.ok("packets.encode", message=message)["packet"]))
    told = talk.ok("packets.decode", packet=base64.b64encode(packet).decode())["message"]
    assert told["sender_identifier"] == guid
    packet[packet.index(b"\x10\x00", packet.index(b"q\0\0\0"))] = 17
    assert talk("packets.decode", packet=base64.b64encode(packet).decode())["status"] == MQ_ERROR_INVALID_PARAMETER


NONE = "{00000000-0000-0000-0000-000000000000}"
CONNECTOR = "{0123ABCD-4567-89AB-CDEF-0123456789AB}"


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def test_a_message_is_addressed_as_its_sender_named_the_queue(objects: Objects) -> None:
    info, named = objects.info(), objects.make("MSMQQueueInfo")
    objects.put(named, "FormatName", text("DIRECT=OS:HOST\\private$\\q"))
    objects.send(objects.open(named, 2), "a")
    found = objects.call(objects.open(info), "Receive", long(0), flag(True))
    addressed = objects.get(objects.get(found, "DestinationQueueInfo"), "FormatName")
    assert addressed == "DIRECT=OS:HOST\\private$\\q"
    assert str(objects.get(info, "FormatName")).startswith("PRIVATE=")


def test_a_send_outside_a_transaction_forgets_the_last_one(objects: Objects) -> None:
    plain, transacted = objects.info(), objects.info("HOST\\private$\\t", transactional=True)
    message = objects.message("m")
    objects.call(message, "Send", thing(objects.open(transacted, 2)), long(3))
    assert objects.typed(message, "TransactionId")["vt"] == "ARRAY"
    objects.call(message, "Send", thing(objects.open(plain, 2)))
    found = objects.call(objects.open(plain), "Receive")
    assert objects.typed(message, "TransactionId") == objects.typed(found, "TransactionId") == {"vt": "EMPTY"}


def test_a_label_ends_at_its_first_null(objects: Objects) -> None:
    info = objects.info()
    objects.send(objects.open(info, 2), "a\0b")
    assert objects.read(objects.open(info)) == "a"


def test_a_message_without_body_has_none(objects: Objects) -> None:
    info = objects.info()
    objects.send(objects.open(info, 2), "a")
    queue = objects.open(info)
    found = objects.call(queue, "Peek")
    assert objects.typed(found, "Body") == {"vt": "EMPTY"}
    objects.call(objects.message("b", Body=data("")), "Send", thing(objects.open(info, 2)))
    objects.call(queue, "Receive")
    assert objects.typed(objects.call(queue, "Receive"), "Body") == data("")


@pytest.mark.parametrize(("member", "told"), [("Receive_v1", CONNECTOR), ("Receive", NONE)])
def test_a_read_that_does_not_ask_for_the_connector_type_shows_it(objects: Objects, member: str, told: str) -> None:
    info = objects.info()
    message = objects.message("c", ConnectorTypeGuid=text(CONNECTOR))
    objects.call(message, "Send", thing(objects.open(info, 2)))
    assert objects.get(objects.call(objects.open(info), member, long(0)), "ConnectorTypeGuid") == told


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e+300"])
def test_numbers_that_are_none_are_told_by_name(objects: Objects, value: str) -> None:
    message = objects.make("MSMQMessage")
    assert objects.put(message, "Body", {"vt": "R8", "value": value}) == 0
    assert objects.typed(message, "Body") == {"vt": "R8", "value": value}


def test_currency_is_told_without_exponent(objects: Objects) -> None:
    message = objects.make("MSMQMessage")
    for value in ("0.0001", "-922337203685477.5808", "0"):
        assert objects.put(message, "Body", {"vt": "CY", "value": value}) == 0
        assert objects.get(message, "Body") == value
    assert objects.put(message, "Body", {"vt": "CY", "value": "922337203685477.5808"}) == 0x80070057


def test_a_service_type_that_is_empty_stays_empty(objects: Objects) -> None:
    info = objects.make("MSMQQueueInfo")
    assert objects.put(info, "ServiceTypeGuid", text("")) == 0
    assert objects.typed(info, "ServiceTypeGuid") == text("")


def test_an_external_transaction_takes_every_argument(objects: Objects) -> None:
    info = objects.info(transactional=True)
    begun = objects.call(objects.make("MSMQCoordinatedTransactionDispenser"), "BeginTransaction")
    objects.send(objects.open(info, 2), "a", transaction=thing(begun))
    assert objects.status(begun, "Commit", flag(True), long(0), long(7)) == 0
    assert objects.status(begun, "Commit") >> 31  # it has ended: the coordinator refuses
    assert objects.get(objects.call(objects.open(info), "Receive", long(3)), "Label") == "a"


def test_a_message_that_was_sent_has_a_destination(objects: Objects) -> None:
    info = objects.info()
    sender, queue = objects.open(info, 2), objects.open(info)
    objects.send(sender, "a")
    found = objects.call(queue, "Receive", long(0))
    assert objects.typed(found, "DestinationQueueInfo") == NOTHING
    objects.call(found, "Send", thing(sender))
    assert str(objects.get(objects.get(found, "DestinationQueueInfo"), "FormatName")).startswith("PRIVATE=")


def test_management_stands_for_a_queue(objects: Objects) -> None:
    info, management = objects.info(), objects.make("MSMQManagement")
    assert objects.status(management, "MessageCount", kind="get") == 0xC00E0094
    assert objects.status(management, "Init") == 0xC00E0006
    path = text("HOST\\private$\\q")
    assert objects.status(management, "Init", {"vt": "EMPTY"}, path, text("DIRECT=OS:x\\q")) == 0xC00E0006
    objects.call(management, "Init", {"vt": "EMPTY"}, path)
    objects.send(objects.open(info, 2), "a", "b")
    names = ("MessageCount", "QueueType", "IsLocal", "TransactionalStatus")
    told = {name: objects.get(management, name) for name in names}
    assert told == {"MessageCount": 2, "QueueType": 1, "IsLocal": True, "TransactionalStatus": 1}
    assert objects.status(management, "State", kind="get") == 0x80020006


def test_an_application_tells_of_its_queue_manager(objects: Objects) -> None:
    objects.info()
    application = objects.make("MSMQApplication")
    assert objects.get(application, "PrivateQueues") == [text("HOST\\private$\\q")]
    assert [objects.get(application, f"MSMQVersion{part}") for part in ("Major", "Minor", "Build")] == [4, 1, 6000]
    objects.call(application, "Disconnect")
    assert objects.get(application, "IsConnected") is False
    assert objects.put(application, "Machine", text("ANOTHER")) == 0
    assert objects.status(application, "MSMQVersionMajor", kind="get") == 0xC00E0006
    assert objects.status(application, "RegisterCertificate") == 0x80004001
    assert objects.status(application, "Connect") >= 0x80000000
