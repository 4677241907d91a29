"""The walks of the suites: what each is about, and which steps it takes how often."""

from __future__ import annotations

from conformance.model import Call
from conformance.model.keeping import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, journal_of
from conformance.suites.stateful.machine import ACTIONS, Plan

PLAIN, TRANSACTIONAL = ("q1", False), ("q2", True)

CURSORS = Plan(
    (PLAIN,),
    (
        *("send", "send", "open_cursor", "peek", "peek", "peek_next", "peek_next"),
        *("receive", "receive", "close_cursor", "mistake"),
    ),
)
LOCKED_CURSORS = Plan(
    (TRANSACTIONAL,),
    (
        *("begin", "send", "send", "end", "end", "open_cursor", "peek", "peek_next", "peek_next"),
        *("receive", "receive"),
    ),
)
WAITS = Plan(
    (PLAIN, TRANSACTIONAL),
    (
        *("wait", "wait", "wait", "send", "send", "pass_time", "pass_time", "open_cursor", "receive"),
        *("begin", "end", "cancel", "close"),
    ),
)
QUEUES = Plan(
    (PLAIN,),
    (
        *("open", "open", "close", "mistake", "mistake", "send", "receive", "peek", "purge", "delete", "create"),
        *("open_cursor", "peek_next"),
    ),
)
TRANSACTIONS = Plan(
    (TRANSACTIONAL,),
    (
        *("begin", "send", "send", "send", "receive", "receive", "receive", "end", "end", "end", "peek", "peek"),
        "mistake",
    ),
)
SEVERAL_QUEUES = Plan(
    (TRANSACTIONAL, ("q3", True)),
    (
        *("begin", "send", "send", "send", "receive", "receive", "receive", "end", "end", "peek", "peek"),
        *("purge", "mistake"),
    ),
)
LOOKUPS = Plan(
    (PLAIN, TRANSACTIONAL),
    ("send", "send", "begin", "end", "peek", "receive", "lookup", "lookup", "lookup"),
)
OUTGOING = Plan(
    (PLAIN, TRANSACTIONAL),
    (
        *("send", "send", "send", "send_out", "take", "take", "take", "pause", "resume"),
        *("begin", "end", "receive"),
    ),
    opening=tuple(Call("queues.open", name=f"s{number}", queue=f"remote{number}", access="send") for number in (1, 2)),
)


def _opened(queue: str, *, attributes: Call, kept: tuple[str, ...] = ()) -> tuple[Call, ...]:
    """A queue made as `attributes` say, open for send and receive, and further queues open for receive."""
    number = queue.removeprefix("q")
    reads = tuple(
        Call("queues.open", name=f"j{number}{place}", queue=name, access="receive")
        for place, name in enumerate(kept, 1)
    )
    return (
        attributes,
        Call("queues.open", name=f"s{number}", queue=queue, access="send"),
        Call("queues.open", name=f"r{number}", queue=queue, access="receive"),
        *reads,
    )


JOURNALS = Plan(
    (),
    (
        *("post", "post", "post", "receive", "receive", "receive", "pass_seconds", "purge", "peek"),
        *("begin", "end", "end"),
    ),
    opening=(
        Call("clock.now"),
        Call("queues.create", queue="adm"),
        Call("queues.open", name="ra", queue="adm", access="receive"),
        *_opened(
            "q1",
            attributes=Call("queues.create", queue="q1", journaling=True),
            kept=(journal_of("q1"), SYSTEM_JOURNAL, DEAD_LETTER),
        ),
        *_opened(
            "q2",
            attributes=Call("queues.create", queue="q2", transactional=True, journaling=True),
            kept=(journal_of("q2"), DEAD_LETTER_TRANSACTIONAL),
        ),
    ),
)
QUOTAS = Plan(
    (),
    ("fill", "fill", "fill", "receive", "receive", "purge", "peek", "begin", "end", "end", "count", "count"),
    opening=(
        *_opened("q1", attributes=Call("queues.create", queue="q1", quota_kb=40)),
        *_opened(
            "q2",
            attributes=Call("queues.create", queue="q2", transactional=True, quota_kb=40),
        ),
    ),
)
TWO_PHASES = Plan(
    (PLAIN,),
    (
        *("send", "send", "send", "begin_receive", "begin_receive", "begin_receive", "end_receive", "end_receive"),
        *("end_receive", "receive", "peek", "open_cursor", "peek_next", "purge", "wait"),
    ),
)
MOVES = Plan(
    (PLAIN,),
    (
        *("send", "send", "send", "peek", "peek", "peek", "move", "move", "move", "move", "receive", "receive"),
        *("wait", "lookup", "move_mistake", "open_cursor", "peek_next", "purge", "open_subqueue"),
    ),
    ("one", "two"),
)
MOVES_IN_TRANSACTIONS = Plan(
    (TRANSACTIONAL,),
    (
        *("begin", "send", "send", "peek", "peek", "move", "move", "move", "receive", "end", "end", "end"),
        *("purge", "move_mistake", "prepare", "lookup"),
    ),
    ("one",),
)
PREPARED = Plan(
    (TRANSACTIONAL,),
    ("begin", "send", "send", "receive", "receive", "prepare", "prepare", "end", "end", "peek", "mistake"),
)
EVERYTHING = Plan(
    (PLAIN, TRANSACTIONAL),
    (*ACTIONS, "send", "send", "send", "begin", "end", "receive", "peek"),
    ("one",),
)
"""Every step there is, each as likely as any, but for those without which there is nothing to do."""
