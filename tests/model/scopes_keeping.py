"""Small managers with quotas, journals, reports and times to be received."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exploring import Scope

from conformance.model import Call, State
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, ELSEWHERE, SYSTEM_JOURNAL, journal_of
from conformance.model.tables import PositionState

JOURNAL = journal_of("q")
ADMIN = "adm"
BIG = 11 * 1024
EVERY_ACK = "positive_arrival+positive_receive+negative_receive"


def opening(*more: Call, reads: tuple[str, ...] = (), **how: Any) -> tuple[Call, ...]:
    """A queue, open for send and for receive, and others open for receive as j1, j2, ..."""
    return (
        Call("clock.now"),
        Call("queues.create", queue=ADMIN),
        Call("queues.create", queue="q", **how),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
        *(Call("queues.open", name=f"j{n}", queue=place, access="receive") for n, place in enumerate(reads, 1)),
        *more,
    )


def posts(state: State, most: int, *wishes: dict[str, Any], transaction: str | None = None) -> Iterator[Call]:
    """The next message, with each of these wishes."""
    sent = len(state.queues["q"].positions)
    if sent < most:
        for each in wishes:
            yield Call("messages.send", message="abcd"[sent], handle="s", transaction=transaction, **each)


def kept_reads(state: State) -> Iterator[Call]:
    """Receive from each journal and dead-letter queue, and from the queue of reports."""
    for name in state.handles:
        if name.startswith("j"):
            yield Call("messages.receive", handle=name)


def journal_calls(state: State) -> Iterator[Call]:
    """What is in the journal of the manager and in that of the queue."""
    yield from posts(state, 2, {"journal": True}, {"size": 2})
    yield Call("messages.receive", handle="r")
    yield Call("messages.peek", handle="r")
    yield from kept_reads(state)


def plain_calls(state: State) -> Iterator[Call]:
    """A queue that does not journal."""
    yield from posts(state, 1, {"journal": True})
    yield Call("messages.receive", handle="r")
    yield from kept_reads(state)


def expiry_calls(state: State) -> Iterator[Call]:
    """Times to be received that pass or do not, and what becomes of dead letters."""
    lasting = {"live_s": 0xFFFFFFFF, "dead_letter": True}
    yield from posts(
        state, 2, {"live_s": 1, "dead_letter": True, "journal": True}, {"live_s": 3}, lasting, {"live_s": 0}
    )
    yield Call("clock.advance", by_ms=500)
    yield Call("clock.advance", by_ms=2000)
    yield Call("messages.receive", handle="r")
    yield Call("messages.peek", handle="j1")
    yield Call("queues.purge", handle="r")
    yield from kept_reads(state)


def report_calls(state: State) -> Iterator[Call]:
    """Acknowledgments that were asked for, and those that were not."""
    yield from posts(state, 2, {"acks": EVERY_ACK, "admin": ADMIN, "live_s": 1}, {"admin": ADMIN})
    yield Call("messages.receive", handle="r")
    yield Call("queues.purge", handle="r")
    yield Call("clock.advance", by_ms=2000)
    yield Call("messages.receive", handle="j1")
    yield Call("queues.delete", queue="q")


def deleted_calls(state: State) -> Iterator[Call]:
    """A message whose queue is deleted."""
    yield from posts(state, 1, {"acks": EVERY_ACK, "admin": ADMIN})
    yield Call("queues.delete", queue="q")
    yield Call("messages.receive", handle="j1")


def transactional_calls(state: State) -> Iterator[Call]:
    """A message in the queue, a transaction that takes it, and its time."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if not live and len(state.transactions) < 2:
        yield Call("transactions.begin", name="u")
    for name in live:
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
        yield Call("queues.purge", handle="r")
    yield Call("clock.advance", by_ms=2500)
    yield from kept_reads(state)


def quota_calls(state: State) -> Iterator[Call]:
    """Large messages, with and without transaction, until there is no room."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    for transaction in live if state.queues["q"].transactional else [None]:
        yield from posts(state, 3, {"size": BIG}, {"size": 9 * 1024}, transaction=transaction)
    for name in live:
        yield Call("transactions.commit", transaction=name)
    yield Call("messages.receive", handle="r")
    yield Call("queues.counts", queue="q")


def limit_calls(state: State) -> Iterator[Call]:
    """Limits of the whole manager."""
    yield Call("limits", quota_kb=14)
    yield Call("limits", journal_quota_kb=14)
    yield from posts(state, 3, {"size": BIG, "journal": True})
    yield Call("messages.receive", handle="r")
    yield from kept_reads(state)


def journal_quota_calls(state: State) -> Iterator[Call]:
    """A journal that is full."""
    yield from posts(state, 2, {"size": BIG})
    yield Call("messages.receive", handle="r")
    yield from kept_reads(state)


def dead_letter_quota_calls(state: State) -> Iterator[Call]:
    """Dead letters that have no room."""
    yield from posts(state, 2, {"size": BIG, "live_s": 1, "dead_letter": True})
    yield Call("clock.advance", by_ms=2500)
    yield from kept_reads(state)


def all_journals_calls(state: State) -> Iterator[Call]:
    """Copies in two places that have room for one of them together."""
    yield from posts(state, 2, {"size": BIG, "journal": True}, {"size": BIG, "live_s": 1, "dead_letter": True})
    yield Call("clock.advance", by_ms=2500)
    yield from kept_reads(state)


def several_calls(state: State) -> Iterator[Call]:
    """Two queues at once, one of which may be full."""
    for access, share in (("send", "deny_none"), ("receive", "deny_none"), ("send", "deny_receive")):
        if "m" not in state.handles:
            yield Call("queues.open", name="m", queue="q,p", access=access, share=share)
    yield Call("queues.open", name="x", queue="q,none", access="send")
    sent = sum(position.state is not PositionState.ABSENT for position in state.queues["q"].positions)
    if "m" in state.handles and sent < 2:
        yield Call("messages.send", message="ab"[sent], handle="m", size=BIG)
    for name in ("r", "rp"):
        yield Call("messages.receive", handle=name)


def read_only_calls(state: State) -> Iterator[Call]:
    """Journals that somebody wants to send to."""
    for number, place in enumerate((JOURNAL, SYSTEM_JOURNAL)):
        yield Call("queues.open", name=f"x{number}", queue=place, access="send")
        yield Call("queues.open", name=f"y{number}", queue=place, access="receive")


def restart_calls(state: State) -> Iterator[Call]:
    """A copy that survives."""
    if not state.restarts:
        yield from posts(state, 1, {"journal": True, "delivery": "recoverable"})
        yield Call("restart", kill=True)
    elif "j1" not in state.handles:
        yield Call("queues.open", name="j1", queue=SYSTEM_JOURNAL, access="receive")
    else:
        yield Call("messages.receive", handle="j1")


def other_calls(state: State) -> Iterator[Call]:
    """A message that a peek has shown, and what happens to another queue."""
    yield from posts(state, 1, {})
    yield Call("messages.peek", handle="r")
    yield Call("clock.now")
    yield Call("queues.purge", handle="rp")
    yield Call("queues.delete", queue="p")
    yield Call("queues.close", handle="rp")
    yield Call("messages.receive", handle="r")


def elsewhere_calls(state: State) -> Iterator[Call]:
    """Messages for a computer that is not there."""
    if "e" not in state.handles:
        yield Call("queues.open", name="e", queue=ELSEWHERE, access="send")
        return
    for wishes in ({"reach_s": 1, "acks": "negative_arrival", "admin": ADMIN, "dead_letter": True}, {"reach_s": 60}):
        if not state.queues[ELSEWHERE].positions:
            yield Call("messages.send", message="a", handle="e", **wishes)
    yield Call("clock.advance", by_ms=2500)
    yield from kept_reads(state)


def taking_calls(state: State) -> Iterator[Call]:
    """A message that is taken by its lookup identifier or first of all, in a transaction or not, and its report."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    for name in (*live, None):
        yield Call("messages.receive_by_lookup_id", handle="r", message="a", action="current", transaction=name)
    for name in live:
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
    yield Call("queues.purge", handle="r")
    yield Call("messages.receive", handle="j1")


OTHER = (Call("queues.create", queue="p"), Call("queues.open", name="rp", queue="p", access="receive"))
COMMITTED = (
    Call("transactions.begin", name="t"),
    Call("messages.send", message="a", handle="s", transaction="t", live_s=1, dead_letter=True, journal=True),
    Call("transactions.commit", transaction="t"),
)
ASKING = (
    Call("transactions.begin", name="t"),
    Call("messages.send", message="a", handle="s", transaction="t", acks="positive_receive", admin=ADMIN),
    Call("transactions.commit", transaction="t"),
    Call("messages.peek", handle="r"),
    Call("transactions.begin", name="u"),
)
SEEN = (Call("messages.send", message="a", handle="s"), Call("messages.peek", handle="r"))
EVERY = (JOURNAL, SYSTEM_JOURNAL, DEAD_LETTER)
BEGUN = Call("transactions.begin", name="t")

SCOPES = (
    Scope("journals", opening(reads=EVERY, journaling=True), journal_calls, 4),
    Scope("no journal", opening(reads=(JOURNAL, SYSTEM_JOURNAL)), plain_calls, 4),
    Scope("expiry", opening(reads=(SYSTEM_JOURNAL, DEAD_LETTER)), expiry_calls, 5),
    Scope("reports", opening(reads=(ADMIN,)), report_calls, 5),
    Scope("reports of what is taken", opening(*ASKING, reads=(ADMIN,), transactional=True), taking_calls, 4),
    Scope("reports of a deletion", opening(reads=(ADMIN,)), deleted_calls, 3),
    Scope(
        "journals and transactions",
        opening(*COMMITTED, reads=(JOURNAL, DEAD_LETTER_TRANSACTIONAL), journaling=True, transactional=True),
        transactional_calls,
        5,
    ),
    Scope("quota", opening(quota_kb=24), quota_calls, 4),
    Scope("quota and transactions", opening(BEGUN, quota_kb=24, transactional=True), quota_calls, 4),
    Scope("limits", opening(reads=(SYSTEM_JOURNAL,)), limit_calls, 5),
    Scope("journal quota", opening(reads=(JOURNAL,), journaling=True, journal_quota_kb=14), journal_quota_calls, 6),
    Scope(
        "quota of dead letters",
        opening(Call("limits", journal_quota_kb=14), reads=(DEAD_LETTER,)),
        dead_letter_quota_calls,
        4,
    ),
    Scope(
        "quota of all journals",
        opening(Call("limits", journal_quota_kb=14), reads=(SYSTEM_JOURNAL, DEAD_LETTER)),
        all_journals_calls,
        4,
    ),
    Scope("several queues", opening(*OTHER, quota_kb=14), several_calls, 4),
    Scope("read-only queues", opening(), read_only_calls, 2),
    Scope("journals and a restart", opening(), restart_calls, 5),
    Scope("elsewhere", opening(reads=(ADMIN, DEAD_LETTER)), elsewhere_calls, 4),
    Scope("other queues", opening(*OTHER, *SEEN), other_calls, 5),
)
