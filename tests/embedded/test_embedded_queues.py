"""Queues: created, found by any of their names, opened beside others, deleted, limited."""

from __future__ import annotations

import pytest
from embedded_talk import NAME, Talk

from conformance.spec.constants import hresults as hr


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
