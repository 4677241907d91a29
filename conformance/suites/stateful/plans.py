"""The walks of the suites: what each is about, and which steps it takes how often."""

from __future__ import annotations

from conformance.suites.stateful.machine import Plan

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
