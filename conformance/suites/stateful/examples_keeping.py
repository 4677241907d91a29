"""Short histories of journals, quotas and reports: the calls they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.model import Call
from conformance.model.keeping import UNLIMITED, journal_of
from conformance.suites.stateful.examples import NEEDS, opened
from conformance.suites.stateful.history import History

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge

KEEPS = (*NEEDS, "reset")  # a journal of the whole manager has to be empty at the start
ADMIN = "adm"
TARGET_JOURNAL = journal_of("q1")
EVERY_ACK = "positive_arrival+positive_receive+negative_arrival+negative_receive"
REAL_MS = 2_500  # on a real clock: longer than a time to be received of one second by the second it may take beyond


def begin_keeping(
    mq: Client,
    judge: Judge,
    mq_need: Callable[..., None],
    *needs: str,
    reads: tuple[str, ...] = (),
    admin: bool = False,
    **how: object,
) -> History:
    """A queue `q1` with the attributes in `how`, open as `s` and `r`; `reads` (journals and such) open as `j1`, `j2`.

    admin: a queue for acknowledgments, open for receive as `ra`.
    """
    mq_need(*KEEPS, *needs)
    history = History(mq, judge)
    if mq.hello.clock == "virtual" and mq.offers("clock.now"):
        history.do(Call("clock.now"))
    history.run(Call("queues.create", queue="q1", **how), *opened())  # type: ignore[arg-type]
    if admin:
        history.run(Call("queues.create", queue=ADMIN), Call("queues.open", name="ra", queue=ADMIN, access="receive"))
    for number, place in enumerate(reads, 1):
        history.do(Call("queues.open", name=f"j{number}", queue=place, access="receive"))
    return history


def post(message: str, *, within: str | None = None, to: str = "s", **wishes: object) -> Call:
    """Send with wishes: see `Call`."""
    return Call("messages.send", message=message, handle=to, transaction=within, **wishes)  # type: ignore[arg-type]


def taken(handle: str, times: int = 1) -> tuple[Call, ...]:
    """Receive this often by a handle."""
    return (Call("messages.receive", handle=handle),) * times


def passes(milliseconds: int) -> Call:
    """Time passes."""
    return Call("clock.advance", by_ms=milliseconds)


def counted(queue: str = "q1") -> Call:
    """Count what is in a queue."""
    return Call("queues.counts", queue=queue)


def unlimited() -> dict[str, int]:
    """The limits of a manager without limits."""
    return {"message_quota_kb": UNLIMITED, "journal_quota_kb": UNLIMITED}
