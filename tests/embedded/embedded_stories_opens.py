"""Stories of opens that are refused, of several names, of cursors and of reads in two phases with them."""

from __future__ import annotations

from typing import Any

from embedded_stories import FAR, NAME, SECOND, WAIT, Teller, begun, of
from embedded_talk import Talk

GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"


def _open(tell: Teller, name: str, access: str, share: str = "deny_none") -> str:
    return str(tell("queues.open", format_name=name, access=access, share=share).get("queue"))


@of("cursors")
def opened_by_other_names(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue()
    own = talk.driver.manager.guid
    for name in (
        "DIRECT=HTTP://elsewhere/msmq/q",
        "234.1.1.1:8001",
        "MULTICAST=234.1.1.1:8001",
        f"MACHINE={own};JOURNAL",
        f"PRIVATE={own}\\00ffffff",
        FAR,
        "DIRECT=OS:HOST\\private$\\missing",
    ):
        for access in ("receive", "peek", "send"):
            _open(tell, name, access)
    return tell.seen


@of("cursors")
def a_queue_created_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    for _ in range(2):
        tell("queues.create", path_name="HOST\\private$\\q")
    return tell.seen


@of("cursors")
def exclusive_beside_peeks(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue("private$\\second")
    talk.ok("queues.create", path_name="HOST\\private$\\q")
    exclusive = _open(tell, NAME, "receive", "deny_receive")
    _open(tell, NAME, "peek")
    tell("queues.close", queue=exclusive)
    orphan, other = _open(tell, NAME, "receive"), _open(tell, SECOND, "receive")
    cursor = str(tell("cursors.open", queue=other).get("cursor"))
    tell("queues.delete", format_name=NAME)
    tell("cursors.open", queue=orphan)
    tell("queues.close", queue=orphan)
    tell.peek(other)
    for _ in range(2):
        tell("cursors.close", cursor=cursor)
    return tell.seen


@of("cursors")
def cursors_after_waits_and_failures(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab")
    cursors = [str(tell("cursors.open", queue=receive).get("cursor")) for _ in range(2)]
    tell.peek(receive, cursor=cursors[0])
    tell.take(receive)
    tell.take(receive, cursor=cursors[0])
    tell("messages.peek_next", queue=receive, cursor=cursors[0], timeout_ms=0)
    tell("messages.peek_next", queue=receive, cursor=None, timeout_ms=0)
    tell.few(receive)
    tell.take(receive, cursor=cursors[1])
    tell.send(send, "c")
    tell.peek(receive, cursor=cursors[1])
    tell.few(receive)
    tell.send(send, "w")
    tell.peek(receive, cursor=(stands := str(tell("cursors.open", queue=receive).get("cursor"))))
    tell("messages.peek_next", queue=receive, cursor=stands, timeout_ms=WAIT)
    tell.send(send, "x")
    tell("messages.peek_next", queue=receive, cursor=stands, timeout_ms=0)
    tell.few(receive)
    waits = str(tell("cursors.open", queue=receive).get("cursor"))
    tell("messages.receive", queue=receive, cursor=waits, timeout_ms=WAIT)
    for label in "def":
        tell.send(send, label)
    tell("messages.peek_next", queue=receive, cursor=waits, timeout_ms=0)
    tell.peek(receive, cursor=waits)
    return tell.seen


@of("subqueues")
def begun_with_cursors(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc")
    cursor, behind = (str(tell("cursors.open", queue=receive).get("cursor")) for _ in range(2))
    for _ in range(3):
        begun(tell, receive, cursor=behind)
        tell.peek(receive, cursor=behind)
    tell("queues.delete", format_name=NAME)
    _, receive, _ = tell.filled("abc")
    cursor, behind = (str(tell("cursors.open", queue=receive).get("cursor")) for _ in range(2))
    tell.peek(receive, cursor=cursor)
    tell.take(receive)
    begun(tell, receive, cursor=cursor)
    for name in ("peek", "peek_next"):
        tell(f"messages.{name}", queue=receive, cursor=behind, timeout_ms=0)
    tell.take(receive, cursor=behind)
    begun(tell, receive, cursor=behind)
    tell.few(receive)
    begun(tell, receive)
    return tell.seen


@of("quotas")
def opened_by_several_names(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    _, there = talk.queue("private$\\second")
    both, missing = f"{NAME},{SECOND}", f"{NAME},DIRECT=OS:HOST\\private$\\missing"
    for name in (both, missing):
        _open(tell, name, "receive")
        _open(tell, name, "send", "deny_receive")
        tell.send(_open(tell, name, "send"), "several", application_tag=7)
    tell.few(receive)
    tell.few(there)
    return tell.seen


@of("journals")
def sent_beside_others(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _, there = talk.queue("private$\\second")
    tell.send(send, "a")
    tell.few(receive)
    tell.few(there)
    return tell.seen


@of("properties")
def numbers_and_priorities(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    for path, given in (
        ("HOST\\private$\\one", {}),
        ("HOST\\private$\\two", {}),
        ("HOST\\three", {}),
        ("HOST\\four", {"PROPID_Q_BASEPRIORITY": 5}),
    ):
        made = tell("queues.create", path_name=path, properties=given)
        tell("queues.get", format_name=made["format_name"], properties=["PROPID_Q_BASEPRIORITY", "PROPID_Q_PATHNAME"])
    return tell.seen


@of("cursors")
def one_queue_named_twice(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, second = talk.queue("private$\\second")
    send, receive = talk.queue()
    tell.send(send, "a")
    tell.few(_open(tell, f"{NAME},{NAME.lower()}", "receive"))
    tell.send(_open(tell, f"{NAME},{SECOND},{NAME.lower()}", "send"), "b")
    tell.few(receive)
    tell.few(second)
    for queue in ("JOURNAL", "DEADLETTER", "DEADXACT"):
        _open(tell, f"DIRECT=OS:HOST\\SYSTEM$;{queue}", "receive")
    return tell.seen
