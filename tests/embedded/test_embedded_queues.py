"""Queues: arrivals, places of messages, and races of clients."""

from __future__ import annotations

import base64
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded_process import Process
from embedded_talk import NAME, Talk

from conformance.adapter.connectors import connect
from conformance.adapter.protocol import validator
from conformance.embedded import scheduler
from conformance.spec.constants import hresults as hr
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
)


def test_every_name_of_a_queue_opens_it(talk: Talk) -> None:
    send, _ = talk.queue()
    talk.queue("pub")
    values = talk.ok("queues.get", format_name="DIRECT=OS:host\\PUB", properties=["PROPID_Q_INSTANCE"])["properties"]
    talk.send(send, "here")
    for name in (
        NAME,
        "direct=tcp:127.0.0.1\\PRIVATE$\\Q",
        "DIRECT=OS:.\\private$\\q",
        "DIRECT=OS:HOST.local\\private$\\q",
    ):
        handle = talk.open(name, "peek")
        assert talk.ok("messages.peek", queue=handle, timeout_ms=0)["message"]["label"] == "here"
    talk.open(f"PUBLIC={values['PROPID_Q_INSTANCE']}", "peek")


def test_a_path_is_used_once(talk: Talk) -> None:
    talk.queue()
    again = talk("queues.create", path_name="host\\PRIVATE$\\Q")
    assert again["status"] == hr.MQ_ERROR_QUEUE_EXISTS


@pytest.mark.parametrize("path", ["HOST\\private$\\q;sub", "HOST\\system$;JOURNAL", "OTHER\\q", "q", "HOST\\a+b"])
def test_paths_under_which_no_queue_is_created(talk: Talk, path: str) -> None:
    assert talk("queues.create", path_name=path)["status"] == hr.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


def test_properties(talk: Talk) -> None:
    talk.queue(PROPID_Q_LABEL="orders", PROPID_Q_JOURNAL=True)
    asked = ["PROPID_Q_LABEL", "PROPID_Q_JOURNAL", "PROPID_Q_QUOTA", "PROPID_Q_TRANSACTION", "PROPID_Q_PRIV_LEVEL"]
    assert list(talk.ok("queues.get", format_name=NAME, properties=asked)["properties"].values()) == [
        "orders",
        1,
        0xFFFFFFFF,
        0,
        1,
    ]
    talk.ok("queues.set", format_name=NAME, properties={"PROPID_Q_LABEL": "bills"})
    assert talk.ok("queues.get", format_name=NAME, properties=["PROPID_Q_LABEL"])["properties"] == {
        "PROPID_Q_LABEL": "bills"
    }
    for name, value, status in (
        ("PROPID_Q_TRANSACTION", 1, hr.MQ_ERROR_PROPERTY_NOTALLOWED),
        ("PROPID_Q_PATHNAME", "x", hr.MQ_ERROR_PROPERTY_NOTALLOWED),
        ("PROPID_Q_NONE", 1, hr.MQ_ERROR_ILLEGAL_PROPID),
        ("PROPID_Q_QUOTA", -1, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_LABEL", "x" * 125, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_LABEL", "\U0001f600" * 63, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_MULTICAST_ADDRESS", "223.1.1.1:80", hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_MULTICAST_ADDRESS", "224.01.1.1:80", hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_MULTICAST_ADDRESS", "224.1.1.1:080", hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ("PROPID_Q_MULTICAST_ADDRESS", "224.1.1.1:65536", hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
    ):
        assert talk("queues.set", format_name=NAME, properties={name: value})["status"] == status
    for name, value in (("PROPID_Q_LABEL", "\U0001f600" * 62), ("PROPID_Q_MULTICAST_ADDRESS", "239.0.10.255:0")):
        talk.ok("queues.set", format_name=NAME, properties={name: value})
        assert talk.ok("queues.get", format_name=NAME, properties=[name])["properties"] == {name: value}


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        (("receive", "deny_receive"), ("receive", "deny_none"), False),
        (("receive", "deny_receive"), ("receive", "deny_receive"), False),
        (("receive", "deny_receive"), ("peek", "deny_none"), True),
        (("receive", "deny_receive"), ("send", "deny_none"), True),
        (("receive", "deny_none"), ("receive", "deny_receive"), False),
        (("receive", "deny_receive"), ("move", "deny_receive"), False),
        (("receive", "deny_receive"), ("move", "deny_none"), True),
        (("receive", "deny_none"), ("move", "deny_receive"), False),
        (("peek", "deny_receive"), ("move", "deny_receive"), True),
        (("receive", "deny_none"), ("receive", "deny_none"), True),
        (("peek", "deny_receive"), ("receive", "deny_none"), False),
        (("peek", "deny_receive"), ("send", "deny_none"), True),
    ],
)
def test_sharing(talk: Talk, first: tuple[str, str], second: tuple[str, str], fits: bool) -> None:
    talk.ok("queues.create", path_name="HOST\\private$\\q")
    handle = talk.open(NAME, first[0], share=first[1])
    status = talk("queues.open", format_name=NAME, access=second[0], share=second[1])["status"]
    assert status == (0 if fits else hr.MQ_ERROR_SHARING_VIOLATION)
    talk.ok("queues.close", queue=handle)
    talk.open(NAME, second[0], share=second[1] if not fits else "deny_none")


def test_access_is_kept_to(talk: Talk) -> None:
    send, receive = talk.queue()
    peek = talk.open(access="peek")
    denied = hr.MQ_ERROR_ACCESS_DENIED
    assert talk("messages.send", queue=receive, message={})["status"] == denied
    assert talk("messages.send", queue=peek, message={})["status"] == denied
    assert talk("messages.receive", queue=peek, timeout_ms=0)["status"] == denied
    assert talk("messages.receive", queue=send, timeout_ms=0)["status"] == denied
    assert talk("messages.peek", queue=send, timeout_ms=0)["status"] == denied
    assert talk("queues.purge", queue=peek)["status"] == denied
    assert talk("cursors.open", queue=send)["status"] == denied


def test_delete_ends_reads_and_takes_the_messages(talk: Talk) -> None:
    send, receive = talk.queue()
    waiting = talk.start("messages.receive", queue=receive, timeout_ms=0xFFFFFFFF)
    talk.ok("queues.delete", format_name=NAME)
    gone = hr.MQ_ERROR_QUEUE_NOT_AVAILABLE
    assert waiting == [{"status": gone}]
    assert talk("messages.peek", queue=receive, timeout_ms=0)["status"] == gone
    assert talk("cursors.open", queue=receive)["status"] == gone
    talk.send(send, "lost")
    talk.ok("queues.close", queue=receive)
    assert talk("queues.open", format_name=NAME, access="receive")["status"] == hr.MQ_ERROR_QUEUE_NOT_FOUND
    _, fresh = talk.queue()
    assert talk.drain(fresh) == []


def test_several_destinations(talk: Talk) -> None:
    _, one = talk.queue("private$\\one")
    _, two = talk.queue("private$\\two")
    names = "DIRECT=OS:HOST\\private$\\one,DIRECT=OS:HOST\\private$\\two"
    assert talk("queues.open", format_name=names, access="receive")["status"] == (
        hr.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
    )
    both = talk.open(names, "send")
    talk.send(both, "m")
    assert (talk.drain(one), talk.drain(two)) == (["m"], ["m"])
    talk.ok("queues.close", queue=both)
    broken = names + ",DIRECT=OS:HOST\\private$\\none"
    assert talk("queues.open", format_name=broken, access="send")["status"] == hr.MQ_ERROR_QUEUE_NOT_FOUND


def test_quotas(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_QUOTA=1)
    sent = 0
    while talk("messages.send", queue=send, message={"body": "A" * 400})["status"] == 0:
        sent += 1
    assert sent == 2  # of 300 bytes and headers each, in 1024
    talk.receive(receive)
    talk.send(send, "fits again")
    talk.ok("limits", message_quota_kb=0)
    assert talk("messages.send", queue=send, message={})["status"] == hr.MQ_ERROR_INSUFFICIENT_RESOURCES


def test_remote_queues_are_kept_for_sending(talk: Talk) -> None:
    name = "DIRECT=OS:elsewhere\\private$\\q"
    assert talk("queues.open", format_name=name, access="receive")["status"] == hr.MQ_ERROR_QUEUE_NOT_FOUND
    talk.send(talk.open(name, "send"), "out", negative_journaling=True, time_to_reach_queue=1)
    talk.send(talk.open(name, "send"), "patient")
    assert talk.ok("queues.counts", format_name=name)["messages"] == 2
    talk.ok("outgoing.pause", format_name=name)
    talk.ok("outgoing.resume", format_name=name)
    talk.ok("clock.advance", by_ms=1000)
    assert talk.drain(talk.open("DIRECT=OS:HOST\\SYSTEM$;DEADLETTER")) == ["out"]


def test_reset_forgets_everything_and_answers_who_waits(talk: Talk) -> None:
    send, receive = talk.queue()
    before = int(talk.send(send, "a")["lookup_identifier"])
    talk.receive(receive)
    waiting = talk.start("messages.receive", queue=receive, timeout_ms=0xFFFFFFFF)
    talk.ok("reset")
    assert waiting == [{"status": hr.MQ_ERROR_OPERATION_CANCELLED}]
    assert talk("queues.close", queue=receive)["status"] == hr.MQ_ERROR_INVALID_HANDLE
    send, receive = talk.queue()
    assert int(talk.send(send, "b")["lookup_identifier"]) > before


def test_namespaces_are_apart(talk: Talk) -> None:
    send, _ = talk.queue()
    talk.send(send, "a")
    talk.ok("attach", namespace="w1")
    assert talk("queues.open", format_name=NAME, access="receive")["status"] == hr.MQ_ERROR_QUEUE_NOT_FOUND
    _, receive = talk.queue()
    assert talk.drain(receive) == []
    talk.ok("attach", namespace="")
    assert talk.drain(talk.open()) == ["a"]


def test_odd_but_possible_input(talk: Talk) -> None:
    talk.ok("attach", namespace="\ud800 odd")
    send, receive = talk.queue()
    talk.send(send, "half a pair: \udc00", delivery="recoverable")
    assert talk.receive(receive) == "half a pair: \udc00"
    assert talk("clock.advance", by_ms=1 << 53)["status"] == hr.MQ_ERROR_INVALID_PARAMETER


@pytest.mark.parametrize("again", ["HOST\\private$\\named", ".\\private$\\named", "host\\PRIVATE$\\Named"])
def test_a_creation_may_say_its_path_name_twice(talk: Talk, again: str) -> None:
    made = {"path_name": "HOST\\private$\\named", "properties": {"PROPID_Q_PATHNAME": again}}
    name = talk.ok("queues.create", **made)["format_name"]
    got = talk.ok("queues.get", format_name=name, properties=["PROPID_Q_PATHNAME"])
    assert got["properties"] == {"PROPID_Q_PATHNAME": "HOST\\private$\\named"}
    assert talk("queues.create", **made)["status"] == hr.MQ_ERROR_QUEUE_EXISTS


@pytest.mark.parametrize("again", ["HOST\\private$\\other", "ELSEWHERE\\private$\\named", "HOST\\named", 5, None])
def test_a_creation_with_another_path_name_makes_no_queue(talk: Talk, again: object) -> None:
    refused = talk("queues.create", path_name="HOST\\private$\\named", properties={"PROPID_Q_PATHNAME": again})
    assert refused["status"] == hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE
    opened = talk("queues.open", format_name="DIRECT=OS:HOST\\private$\\named", access="receive")
    assert opened["status"] == hr.MQ_ERROR_QUEUE_NOT_FOUND


def test_a_path_name_is_not_set_later(talk: Talk) -> None:
    name = talk.ok("queues.create", path_name="HOST\\private$\\named")["format_name"]
    refused = talk("queues.set", format_name=name, properties={"PROPID_Q_PATHNAME": "HOST\\private$\\named"})
    assert refused["status"] == hr.MQ_ERROR_PROPERTY_NOTALLOWED


SOURCE = "909ea0fc-9078-4445-8f11-394c43cd8907"
ADMIN = "DIRECT=OS:HOST\\private$\\admin"
TRANSACTION = {
    "sequence_identifier": {"ordinal": 1, "timestamp": 1},
    "sequence_number": 1,
    "previous_sequence_number": 0,
    "index": 1,
    "first": True,
    "last": False,
}


def deliver(talk: Talk, label: str = "m", **message: Any) -> int:
    asked = {"destination": NAME, "identifier": {"source": SOURCE, "ordinal": 9}, "label": label, **message}
    packet = talk.ok("packets.encode", message=asked)["packet"]
    answer = talk("packets.deliver", packet=packet, source="10.0.0.1")
    validator("packets.deliver", "result")(answer)
    return int(answer["status"])


def test_the_message_arrives_as_it_was_sent(talk: Talk) -> None:
    _, receive = talk.queue()
    sent = {"body": "aGVsbG8=", "class": 2, "application_tag": 7, "priority": 6, "sent_time": 1000, "extension": "AAEC"}
    assert deliver(talk, **sent, destinations=[NAME, ADMIN], soap_body="x") == 0
    answer = talk.ok("messages.receive", queue=receive, timeout_ms=0)
    validator("messages.receive", "result")(answer)
    message = answer["message"]
    assert {name: message[name] for name in sent} == sent
    assert message["identifier"] == {"source": SOURCE, "ordinal": 9}
    assert message["label"] == "m"


def test_order_is_by_priority_and_then_by_arrival(talk: Talk) -> None:
    _, receive = talk.queue()
    for label, priority in (("a", 1), ("b", 5), ("c", 5), ("d", 3)):
        assert deliver(talk, label, priority=priority) == 0
    assert talk.drain(receive) == ["b", "c", "d", "a"]


def test_a_reader_that_waits_gets_it(talk: Talk) -> None:
    _, receive = talk.queue()
    waits = talk.start("messages.receive", queue=receive, timeout_ms=1000)
    assert deliver(talk) == 0
    assert waits[0]["message"]["label"] == "m"


@pytest.mark.parametrize("packet", ["", "AAAA", "====", "\u00e9"])
def test_what_is_no_packet_is_refused(talk: Talk, packet: str) -> None:
    assert talk("packets.deliver", packet=packet)["status"] == MQ_ERROR_INVALID_PARAMETER


def test_a_recoverable_message_survives(talk: Talk) -> None:
    talk.queue()
    assert deliver(talk, "kept", delivery="recoverable") == 0
    assert deliver(talk, "lost") == 0
    talk.driver.close()
    again = Talk(talk.state_dir)
    assert again.drain(again.open()) == ["kept"]
    again.driver.close()


def _told(talk: Talk, admin: str) -> list[int]:
    classes = []
    while (answer := talk("messages.receive", queue=admin, timeout_ms=0))["status"] == 0:
        classes.append(answer["message"]["class"])
        raw = base64.b64decode(answer["message"]["correlation_identifier"])
        assert raw[16:] == b"\x09\0\0\0"
    return classes


def _asking(talk: Talk) -> tuple[str, dict[str, Any]]:
    _, admin = talk.queue("private$\\admin")
    return admin, {"administration_queue": ADMIN, "acknowledgements": ["positive_arrival", "negative_arrival"]}


def test_the_sender_is_told_of_the_arrival(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue()
    assert deliver(talk, **asking) == 0
    assert _told(talk, admin) == [0x0002]


def test_a_queue_that_is_not_there(talk: Talk) -> None:
    admin, asking = _asking(talk)
    assert deliver(talk, **asking) == MQ_ERROR_QUEUE_NOT_FOUND
    assert _told(talk, admin) == [0x8000]
    assert deliver(talk, destination="DIRECT=OS:elsewhere\\q") == MQ_ERROR_QUEUE_NOT_FOUND
    assert _told(talk, admin) == []


def test_transactional_messages_and_queues_have_to_agree(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue()
    _, receive = talk.queue("private$\\t", PROPID_Q_TRANSACTION=1)
    there = {"destination": "DIRECT=OS:HOST\\private$\\t"}
    assert deliver(talk, **asking, transaction=TRANSACTION) == MQ_ERROR_TRANSACTION_USAGE
    assert deliver(talk, **there, **asking) == MQ_ERROR_TRANSACTION_USAGE
    assert _told(talk, admin) == [0x8009, 0x800A]
    assert deliver(talk, **there, transaction=TRANSACTION) == 0
    message = talk.ok("messages.receive", queue=receive, timeout_ms=0)["message"]
    assert (message["first_in_transaction"], message["last_in_transaction"]) == (True, False)


def test_a_full_queue(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue(PROPID_Q_QUOTA=0)
    assert deliver(talk, negative_journaling=True, **asking) == MQ_ERROR_INSUFFICIENT_RESOURCES
    assert _told(talk, admin) == [0x8003]
    assert talk.drain(talk.open("DIRECT=OS:HOST\\system$;DEADLETTER")) == ["m"]


def test_a_message_for_another_manager_goes_on(talk: Talk) -> None:
    admin, asking = _asking(talk)
    away = {"destination": f"PRIVATE={SOURCE}\\00000007"}
    assert deliver(talk, **away) == 0
    assert talk.ok("queues.counts", format_name=away["destination"])["messages"] == 1
    assert deliver(talk, **away, **asking, hop_count=29) == MQ_ERROR_INSUFFICIENT_RESOURCES
    assert _told(talk, admin) == [0x8005]


def test_a_message_that_has_lived_too_long(talk_with: Callable[..., Talk]) -> None:
    talk = talk_with()
    _, receive = talk.queue()
    now = talk.ok("clock.now")["time_ms"] // 1000
    assert deliver(talk, "late", sent_time=now - 20, time_to_be_received=10) == 0
    assert deliver(talk, "soon", sent_time=now - 5, time_to_be_received=10) == 0
    assert talk("messages.peek", queue=receive, timeout_ms=0)["message"]["label"] == "soon"
    talk.ok("clock.advance", by_ms=6000)
    assert talk.drain(receive) == []


ROUNDS = 40


def _together(work: Process, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests written in one go; their results, by number of the request."""
    lines = b"".join(work.line(method, **params) for method, params in requests)
    assert work.process.stdin is not None
    work.process.stdin.write(lines)
    work.process.stdin.flush()
    return [work.read() for _ in requests]


@pytest.mark.parametrize("faults", [(), ("two-receivers-one-message",)])
def test_two_receives_in_one_write(tmp_path: Path, faults: tuple[str, ...]) -> None:
    work = Process(tmp_path, faults)
    made = work("queues.create", path_name="HOST\\private$\\q")["format_name"]
    send, take = (work("queues.open", format_name=made, access=access)["queue"] for access in ("send", "receive"))
    for number in range(4):
        work("messages.send", queue=send, message={"label": str(number)})
    receive = ("messages.receive", {"queue": take, "timeout_ms": 0})
    labels = [answer["message"]["label"] for answer in _together(work, receive, receive, receive)]
    assert (len(set(labels)) < 3) is bool(faults)
    work.kill()


def test_threads_that_receive(talk: Talk) -> None:
    send, receive = talk.queue()
    for number in range(ROUNDS):
        talk.send(send, str(number))
    taken: list[str] = []

    def take() -> None:
        for _ in range(ROUNDS // 2):
            answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
            talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.put)
            taken.append(answers.get(timeout=10)["message"]["label"])

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(number) for number in range(ROUNDS)]


def _raced(talk: Talk) -> list[str]:
    """The labels that receives get of which three are always begun together, in the order of the answers."""
    send, receive = talk.queue()
    for number in range(ROUNDS):
        talk.driver.handle("messages.send", {"queue": send, "message": {"label": str(number)}}, lambda result: None)
    answers: list[dict[str, Any]] = []
    for _ in range(ROUNDS // 3):
        for _ in range(3):
            talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.append)
        talk.driver.while_idle(waits=False)
    while talk.driver.while_idle():
        pass
    return [answer["message"]["label"] for answer in answers]


def test_a_seed_decides_who_meets(talk_with: Callable[..., Talk]) -> None:
    of_seed = [[_raced(talk_with("two-receivers-one-message", seed=seed)) for _ in range(2)] for seed in range(3)]
    assert all(first == second for first, second in of_seed)
    assert len({tuple(first) for first, _ in of_seed}) == 3
    assert all(len(set(first)) < len(first) == ROUNDS // 3 * 3 for first, _ in of_seed)


def test_a_request_goes_on_when_its_caller_never_comes_back(
    talk_with: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LONGEST_S", 0.001)
    talk = talk_with("two-receivers-one-message")
    send, receive = talk.queue()
    talk.send(send, "left alone")
    answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.put)
    assert answers.get(timeout=10)["message"]["label"] == "left alone"
    assert not talk.driver.while_idle()


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("faults", ["", "+two-receivers-one-message"])
def test_calls_started_together(tmp_path: Path, faults: str, in_process: bool) -> None:
    with connect(f"embedded{faults}", state_dir=tmp_path / "state", in_process=in_process) as client:
        made = client.call("queues.create", path_name="HOST\\private$\\q").values["format_name"]
        send, take = (
            client.call("queues.open", format_name=made, access=access).values["queue"]
            for access in ("send", "receive")
        )
        for number in range(8):
            client.call("messages.send", queue=send, message={"label": str(number)})
        calls = [client.start("messages.receive", queue=take, timeout_ms=0) for _ in range(8)]
        answers = [call.result(10_000) for call in calls]
        labels = [answer.values["message"]["label"] for answer in answers if answer.ok]
        assert (len(set(labels)) < len(labels)) is bool(faults)
