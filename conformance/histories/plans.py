"""Plans of the suites' walks: queues, opening calls, steps with their frequencies, and what each walk judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from conformance.histories.operations.coordinator import ACTIONS as COORDINATOR_STEPS
from conformance.histories.operations.management import ACTIONS as MANAGEMENT_STEPS
from conformance.histories.operations.properties import ACTIONS as PROPERTY_STEPS
from conformance.histories.operations.table import ACTIONS
from conformance.histories.walk import Plan
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, journal_of

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
    share=0.7,
)
WAITS = Plan(
    (PLAIN, TRANSACTIONAL),
    (
        *("wait", "wait", "wait", "send", "send", "pass_time", "pass_time", "open_cursor", "receive"),
        *("begin", "end", "cancel", "close"),
    ),
    share=0.8,
)
QUEUES = Plan(
    (PLAIN,),
    (
        *("open", "open", "close", "mistake", "mistake", "send", "receive", "peek", "purge", "delete", "create"),
        *("open_cursor", "peek_next"),
    ),
    share=0.6,
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
    share=0.6,
)
LOOKUPS = Plan(
    (PLAIN, TRANSACTIONAL),
    ("send", "send", "begin", "end", "peek", "receive", "lookup", "lookup", "lookup"),
    share=0.8,
)
OUTGOING = Plan(
    (PLAIN, TRANSACTIONAL),
    (
        *("send", "send", "send", "send_out", "take", "take", "take", "pause", "resume"),
        *("begin", "end", "receive"),
    ),
    opening=tuple(Call("queues.open", name=f"s{number}", queue=f"remote{number}", access="send") for number in (1, 2)),
    share=0.5,
)

MANAGEMENT = Plan(
    (PLAIN,),
    (
        *("send", "send", "send", "send_out", "begin", "end", "end", "receive"),
        *("manage_look", "manage_look", "manage_look", "manage_look", "manage", "connect", "connect"),
        *("transfer", "transfer", "transfer", "acknowledge", "acknowledge", "acknowledge", "acknowledge"),
    ),
    opening=(
        OUTGOING.opening[0],
        Call("management.get", names=("PROPID_MGMT_MSMQ_BYTES_IN_ALL_QUEUES",)),
        Call("management.get", queue="remote1", names=("PROPID_MGMT_QUEUE_EOD_RESEND_INTERVAL",)),
        *(
            Call("management.connection", queue="remote1", step=step, addresses=("192.0.2.7",))
            for step in ("in_process", "established")
        ),
    ),
    share=0.2,
)


def _opened(queue: str, *, attributes: Call, kept: tuple[str, ...] = ()) -> tuple[Call, ...]:
    """Return the calls that create a queue, open it for send and receive, and open the queues of `kept` to receive."""
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
    share=0.5,
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
    share=0.4,
)
TWO_PHASES = Plan(
    (PLAIN,),
    (
        *("send", "send", "send", "begin_receive", "begin_receive", "begin_receive", "end_receive", "end_receive"),
        *("end_receive", "receive", "peek", "open_cursor", "peek_next", "purge", "wait"),
    ),
    share=0.5,
)
MOVES = Plan(
    (PLAIN,),
    (
        *("send", "send", "send", "peek", "peek", "peek", "move", "move", "move", "move", "receive", "receive"),
        *("wait", "lookup", "move_mistake", "open_cursor", "peek_next", "purge", "open_subqueue"),
    ),
    ("one", "two"),
    share=0.5,
)
MOVES_IN_TRANSACTIONS = Plan(
    (TRANSACTIONAL,),
    (
        *("begin", "send", "send", "peek", "peek", "move", "move", "move", "receive", "end", "end", "end"),
        *("purge", "move_mistake", "prepare", "lookup"),
    ),
    ("one",),
    share=0.5,
)
PREPARED = Plan(
    (TRANSACTIONAL,),
    ("begin", "send", "send", "receive", "receive", "prepare", "prepare", "end", "end", "peek", "mistake"),
    share=0.3,
)
COORDINATED = Plan(
    (TRANSACTIONAL,),
    (
        *("enlist", "enlist", "send", "send", "send", "receive", "receive", "receive", "begin", "end", "peek"),
        *("prepare_for_coordinator", "prepare_for_coordinator", "decide", "decide", "decide"),
    ),
    share=0.3,
)
RECOVERED = Plan(
    (TRANSACTIONAL,),
    (
        *("enlist", "enlist", "send", "send", "send", "receive", "receive", "receive", "open", "open"),
        *("prepare_for_coordinator", "prepare_for_coordinator", "decide", "recover", "recover"),
        *("ask_doubt", "answer_doubt", "answer_doubt"),
    ),
    share=0.2,
)
_PROPERTIES = (
    *("look", *["create_with"] * 3, "create_wrong", *["set"] * 5, *["set_wrong"] * 4, *["property_mistake"] * 3),
    *("use", "delete_read", *["pass_some"] * 3),
)


def properties(shown: tuple[str, ...], *, restarts: bool) -> Plan:
    """Return a plan that writes and reads these properties. restarts: the manager can be restarted."""
    actions = (*_PROPERTIES, "restart_once") if restarts else _PROPERTIES
    return Plan((), actions, opening=(Call("watch", names=shown),), share=0.5)


EVERYTHING = Plan(
    (PLAIN, TRANSACTIONAL),
    (
        *(name for name in ACTIONS if name not in PROPERTY_STEPS | MANAGEMENT_STEPS | COORDINATOR_STEPS),
        "send",
        "send",
        "send",
        "begin",
        "end",
        "receive",
        "peek",
    ),
    ("one",),
    share=0.25,
)
"""Every step on messages, all equally likely, except the more frequent ones without which the others do nothing."""

DATA = Path(__file__).with_name("claims.json")


@cache
def stored() -> Mapping[str, tuple[str, ...]]:
    """Return the requirements by the name of the walk, for example `locked cursors`."""
    found: Mapping[str, list[str]] = json.loads(DATA.read_text(encoding="utf-8"))
    return {name: tuple(judged) for name, judged in found.items()}


def judged_in(walk: str) -> tuple[str, ...]:
    """Return the requirements that the walk of this name judges."""
    return stored()[walk]
