"""Scenes: the calls that planned histories begin with, each with what makes sense there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.model import Call
from conformance.model.journals import (
    DEAD_LETTER,
    DEAD_LETTER_TRANSACTIONAL,
    ELSEWHERE,
    SYSTEM_JOURNAL,
    UNLIMITED,
    journal_of,
)
from conformance.model.properties import ROWS


@dataclass(frozen=True, slots=True)
class Scene:
    """How histories begin. steps: the actions of walks (`ACTIONS`) that get somewhere here, the usual ones repeated.

    weight: how many walks begin here, beside the other scenes.
    """

    name: str
    opening: tuple[Call, ...]
    steps: tuple[str, ...]
    weight: int = 1


def _create(queue: str, *, transactional: bool = False, journaling: bool = False, quota_kb: int | None = None) -> Call:
    return Call("queues.create", queue=queue, transactional=transactional, journaling=journaling, quota_kb=quota_kb)


def _opened(queue: str, *access: str, first: int = 1) -> tuple[Call, ...]:
    return tuple(
        Call("queues.open", name=f"h{number}", queue=queue, access=each) for number, each in enumerate(access, first)
    )


_READS: Final = ("receive", "receive", "peek", "peek_next", "peek_next", "open_cursor", "lookup", "close_cursor")
_USUAL: Final = ("send", "send", "send", *_READS, "purge", "wait", "wait", "cancel", "mistake")
_TRANSACTIONS: Final = ("begin", "end", "end", "prepare")
_TWO_PHASES: Final = ("begin_receive", "end_receive")
_SCENE: Final = ("open", "close", "delete", "create")
_TIMES: Final = ("pass_time",)
_PLAIN: Final = (_create("q1"), *_opened("q1", "send", "receive"))
_TRANSACTIONAL: Final = (_create("q1", transactional=True), *_opened("q1", "send", "receive"))
_JOURNALS: Final = (
    _create("adm"),
    _create("q1", journaling=True),
    *_opened("q1", "send", "receive"),
    *_opened("adm", "receive", first=3),
    *_opened(journal_of("q1"), "receive", first=4),
    *_opened(SYSTEM_JOURNAL, "receive", first=5),
    *_opened(DEAD_LETTER, "receive", first=6),
)
_JOURNALS_TRANSACTIONAL: Final = (
    _create("adm"),
    _create("q1", transactional=True, journaling=True),
    *_opened("q1", "send", "receive"),
    *_opened("adm", "receive", first=3),
    *_opened(journal_of("q1"), "receive", first=4),
    *_opened(DEAD_LETTER_TRANSACTIONAL, "receive", first=5),
)
_SUBQUEUES: Final = (
    _create("q1"),
    *_opened("q1", "send", "receive", "move"),
    *_opened("q1;one", "receive", "move", first=4),
)
_SUBQUEUES_TRANSACTIONAL: Final = (
    _create("q1", transactional=True),
    *_opened("q1", "send", "receive", "move"),
    *_opened("q1;one", "receive", "move", first=4),
)
_REMOTES: Final = (*_opened("remote1", "send"), *_opened("remote2", "send", first=2))

_SEEN: Final = (
    Call("cursors.open", name="c1", handle="h2"),
    Call("messages.peek", handle="h2", cursor="c1"),
    Call("messages.peek_next", handle="h2", cursor="c1"),
    Call("messages.peek_next", handle="h2", cursor="c1"),
)


def _three(*, transactional: bool) -> tuple[Call, ...]:
    """Return the calls that send three messages to `q1`, which a cursor has seen all, and begin two transactions."""
    within = "t1" if transactional else None
    sent = tuple(
        Call(
            "messages.send",
            message=message,
            handle="h1",
            transaction=within,
            priority=None if transactional or message == "b" else 5,
        )
        for message in "abc"
    )
    if not transactional:
        return (*sent, *_SEEN)
    return (
        Call("transactions.begin", name="t1"),
        *sent,
        Call("transactions.commit", transaction="t1"),
        *_SEEN,
        Call("transactions.begin", name="t2"),
        Call("transactions.begin", name="t3"),
    )


_MOVING: Final = Call("messages.move", message="b", handle="h2", destination="h5", transaction="t2")
_PROPERTIES: Final = (Call("watch", names=tuple(ROWS)),)

SCENES: Final = (
    Scene("plain", _PLAIN, (*_USUAL, *_SCENE, *_TWO_PHASES, *_TIMES), 4),
    Scene("transactional", _TRANSACTIONAL, (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, *_TWO_PHASES, *_TIMES), 5),
    Scene("bare", (_create("q1"),), (*_SCENE, "open", "open", "send", "receive", "peek", "mistake"), 1),
    Scene(
        "two handles",
        (*_PLAIN, *_opened("q1", "receive", "peek", first=3)),
        (*_USUAL, *_SCENE, *_TWO_PHASES, *_TIMES),
        2,
    ),
    Scene(
        "two handles, transactional",
        (*_TRANSACTIONAL, *_opened("q1", "receive", "peek", first=3)),
        (*_USUAL, *_TRANSACTIONS, *_SCENE, *_TWO_PHASES, *_TIMES),
        2,
    ),
    Scene(
        "two queues",
        (*_PLAIN, _create("q2", transactional=True), *_opened("q2", "send", "receive", first=3)),
        (*_USUAL, *_TRANSACTIONS, *_SCENE, *_TIMES),
        2,
    ),
    Scene(
        "two transactional queues",
        (*_TRANSACTIONAL, _create("q2", transactional=True), *_opened("q2", "send", "receive", first=3)),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, *_SCENE),
        2,
    ),
    Scene(
        "a transaction with work in two queues",
        (
            *_TRANSACTIONAL,
            _create("q2", transactional=True),
            *_opened("q2", "send", "receive", first=3),
            Call("transactions.begin", name="t1"),
            *(Call("messages.send", message=message, handle="h1", transaction="t1") for message in "ab"),
            *(Call("messages.send", message=message, handle="h3", transaction="t1") for message in "cd"),
            Call("transactions.commit", transaction="t1"),
            Call("transactions.begin", name="t2"),
            Call("messages.receive", handle="h2", transaction="t2"),
            Call("messages.receive", handle="h4", transaction="t2"),
            Call("messages.send", message="e", handle="h3", transaction="t2"),
        ),
        (*_USUAL, *_TRANSACTIONS, *_SCENE, "delete"),
        2,
    ),
    Scene("subqueues", _SUBQUEUES, (*_USUAL, "move", "move", "move", "move_mistake", "open_subqueue", *_SCENE), 3),
    Scene(
        "subqueues, transactional",
        _SUBQUEUES_TRANSACTIONAL,
        (*_USUAL, *_TRANSACTIONS, "begin", "end", *["move"] * 8, "move_mistake", "peek", "peek", *_SCENE),
        4,
    ),
    Scene(
        "journals",
        _JOURNALS,
        (*_USUAL, "post", "post", "post", "pass_seconds", "pass_seconds", *_SCENE, *_TWO_PHASES, "count"),
        3,
    ),
    Scene(
        "journals, transactional",
        _JOURNALS_TRANSACTIONAL,
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, "post", "post", "pass_seconds", "pass_seconds", *_SCENE, "count"),
        3,
    ),
    Scene(
        "quotas",
        (_create("q1", quota_kb=40, journaling=True), *_opened("q1", "send", "receive")),
        (*_USUAL, "fill", "fill", "fill", "count", *_SCENE),
        2,
    ),
    Scene(
        "quotas, transactional",
        (_create("q1", transactional=True, quota_kb=40), *_opened("q1", "send", "receive")),
        (*_USUAL, *_TRANSACTIONS, "fill", "fill", "fill", "count"),
        1,
    ),
    Scene(
        "limits",
        (Call("limits", quota_kb=40, journal_quota_kb=UNLIMITED), *_PLAIN),
        (*_USUAL, "fill", "fill", "count"),
        1,
    ),
    Scene(
        "several queues at once",
        (
            *_PLAIN,
            _create("q2"),
            *_opened("q2", "receive", first=3),
            *_opened("q1,q2", "send", first=4),
            *_opened(ELSEWHERE, "send", first=5),
            *_opened(DEAD_LETTER, "receive", first=6),
        ),
        (*_USUAL, "post", "pass_seconds", "fill", *_SCENE),
        1,
    ),
    Scene(
        "outgoing",
        (*_REMOTES, _create("q1", transactional=True), *_opened("q1", "send", first=3)),
        ("send", "send", "send_out", "send_out", *_TRANSACTIONS, "take", "take", "pause", "resume"),
        2,
    ),
    Scene(
        "properties",
        _PROPERTIES,
        (
            *("look", "look", "look", *["create_with"] * 3, "create_wrong", *["set"] * 5, *["set_wrong"] * 4),
            *("property_mistake", "property_mistake", "use", "delete_read", "pass_some", "restart_once"),
        ),
        1,
    ),
    Scene(
        "properties of what was there",
        (*_PLAIN, *_PROPERTIES),
        ("look", "look", "create_with", "set", "set_wrong", "property_mistake", "use", "delete_read", "restart_once"),
        1,
    ),
    Scene(
        "a few properties",
        (Call("watch", names=tuple(ROWS)[:6]),),
        ("look", "look", "look", "create_with", "create_with", "set", "set_wrong", "property_mistake", "delete_read"),
        1,
    ),
    Scene("three messages", (*_PLAIN, *_three(transactional=False)), (*_USUAL, *_SCENE, *_TWO_PHASES, *_TIMES), 2),
    Scene(
        "three messages, transactional",
        (*_TRANSACTIONAL, *_three(transactional=True)),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, *_SCENE, *_TWO_PHASES, *_TIMES),
        4,
    ),
    Scene(
        "a message on its way to a subqueue",
        (*_SUBQUEUES_TRANSACTIONAL, *_three(transactional=True), _MOVING),
        (*_USUAL, *_TRANSACTIONS, *_SCENE, *_TWO_PHASES, "move", "move", "move_mistake"),
        4,
    ),
    Scene(
        "three messages and journals",
        (*_JOURNALS, *_three(transactional=False)),
        (*_USUAL, "post", "pass_seconds", *_SCENE, *_TWO_PHASES),
        2,
    ),
    Scene(
        "three messages and journals, transactional",
        (*_JOURNALS_TRANSACTIONAL, *_three(transactional=True)),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, "post", "pass_seconds", *_SCENE),
        3,
    ),
    Scene(
        "acknowledgments",
        (
            _create("adm"),
            _create("q1"),
            *_opened("q1", "send", "receive"),
            *_opened("adm", "receive", first=3),
            *_opened(DEAD_LETTER, "receive", first=4),
        ),
        (*_USUAL, "post", "post", "post", "pass_seconds", "pass_seconds", *_SCENE, *_TWO_PHASES),
        2,
    ),
    Scene(
        "acknowledgments, transactional",
        (
            _create("adm"),
            _create("q1", transactional=True),
            *_opened("q1", "send", "receive"),
            *_opened("adm", "receive", first=3),
            *_opened(DEAD_LETTER_TRANSACTIONAL, "receive", first=4),
        ),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, "post", "post", "pass_seconds", "pass_seconds", *_SCENE),
        3,
    ),
    Scene(
        "acknowledged on their way, and journaling switched",
        (
            _create("adm"),
            _create("q1", journaling=True),
            *_opened("q1", "send", "receive"),
            Call("messages.send", message="a", handle="h1", acks="positive_arrival", admin="adm"),
            Call("messages.send", message="b", handle="h1", acks="positive_receive", admin="adm"),
            Call("messages.send", message="c", handle="h1", acks="negative_receive", admin="adm"),
            Call("queues.set", queue="q1", values=(("PROPID_Q_JOURNAL", 0),)),
        ),
        (*_USUAL, "post", "post", *_SCENE, *_TWO_PHASES),
        2,
    ),
    Scene(
        "asked for the arrival alone",
        (
            _create("adm"),
            *_PLAIN,
            Call("messages.send", message="a", handle="h1", acks="negative_arrival", admin="adm"),
            Call(
                "messages.send",
                message="b",
                handle="h1",
                acks="negative_arrival+negative_receive",
                admin="adm",
                live_s=3,
            ),
        ),
        (*_USUAL, "post", "pass_seconds", *_SCENE, *_TWO_PHASES),
        2,
    ),
    Scene(
        "journaling switched in a transaction",
        (
            *_TRANSACTIONAL,
            Call("transactions.begin", name="t1"),
            *(Call("messages.send", message=message, handle="h1", transaction="t1") for message in "ab"),
            Call("transactions.commit", transaction="t1"),
            Call("queues.set", queue="q1", values=(("PROPID_Q_JOURNAL", 1),)),
            Call("transactions.begin", name="t2"),
            Call("messages.receive", handle="h2", transaction="t2"),
        ),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS),
        2,
    ),
    Scene(
        "copies and a restart",
        (
            *_JOURNALS,
            Call("messages.send", message="a", handle="h1", dead_letter=True, live_s=2, delivery="recoverable"),
            Call("messages.send", message="b", handle="h1", journal=True, delivery="recoverable"),
            Call("messages.send", message="c", handle="h1", dead_letter=True, live_s=2),
            Call("messages.receive", handle="h2"),
            Call("clock.advance", by_ms=4000),
        ),
        (*_USUAL, "post", "pass_seconds", *_SCENE),
        2,
    ),
    Scene(
        "copies and a restart, transactional",
        (
            *_JOURNALS_TRANSACTIONAL,
            Call("transactions.begin", name="t1"),
            Call("messages.send", message="a", handle="h1", transaction="t1", journal=True),
            Call("messages.send", message="b", handle="h1", transaction="t1", dead_letter=True, live_s=2),
            Call("transactions.commit", transaction="t1"),
            Call("messages.receive", handle="h2"),
            Call("clock.advance", by_ms=4000),
        ),
        (*_USUAL, *_TRANSACTIONS, "post", "pass_seconds", *_SCENE),
        2,
    ),
    Scene(
        "more than a quota",
        (
            *_PLAIN,
            Call("messages.send", message="a", handle="h1", size=11 * 1024),
            Call("messages.send", message="b", handle="h1", size=18 * 1024, delivery="recoverable"),
            Call("queues.set", queue="q1", values=(("PROPID_Q_QUOTA", 20),)),
        ),
        (*_USUAL, *_TWO_PHASES, *_SCENE, "fill", "count"),
        1,
    ),
    Scene(
        "more than a quota, transactional",
        (
            *_TRANSACTIONAL,
            Call("transactions.begin", name="t1"),
            *(
                Call("messages.send", message=message, handle="h1", transaction="t1", size=18 * 1024)
                for message in "abc"
            ),
            Call("transactions.commit", transaction="t1"),
            Call("transactions.begin", name="t2"),
            Call("messages.receive", handle="h2", transaction="t2"),
            Call("queues.set", queue="q1", values=(("PROPID_Q_QUOTA", 20),)),
        ),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS),
        1,
    ),
    Scene(
        "several transactional queues at once",
        (
            _create("adm"),
            *_TRANSACTIONAL,
            _create("q2", transactional=True),
            *_opened("q2", "receive", first=3),
            *_opened("q1,q2", "send", first=4),
            *_opened("adm", "receive", first=5),
        ),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, "post", "post"),
        2,
    ),
    Scene(
        "several queues at once, acknowledged",
        (
            _create("adm"),
            *_PLAIN,
            _create("q2"),
            *_opened("q2", "receive", first=3),
            *_opened("q1,q2", "send", first=4),
            *_opened("adm", "receive", first=5),
        ),
        (*_USUAL, "post", "post", "post", "pass_seconds", *_SCENE),
        2,
    ),
    Scene(
        "two readers of a queue and of its subqueue",
        (*_SUBQUEUES_TRANSACTIONAL, *_opened("q1", "peek", first=6), *_opened("q1;one", "peek", first=7)),
        (*_USUAL, *_TRANSACTIONS, *_TRANSACTIONS, *["move"] * 6, "wait", "wait", "open_cursor", "peek_next"),
        3,
    ),
    Scene(
        "three messages and a restart",
        (
            *_TRANSACTIONAL,
            *_three(transactional=True),
            Call("restart", kill=True),
            *_opened("q1", "send", "receive"),
        ),
        (*_USUAL, *_TRANSACTIONS, *_SCENE, *_TWO_PHASES),
        2,
    ),
)
