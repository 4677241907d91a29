"""Building blocks of short histories about journals, quotas and acknowledgments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.histories.examples import NEEDS, opened
from conformance.histories.history import History
from conformance.model import Call
from conformance.model.journals import UNLIMITED, journal_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KEEPS = (*NEEDS, "reset")  # a journal of the whole manager has to be empty at the start
ADMIN = "adm"
TARGET_JOURNAL = journal_of("q1")
EVERY_ACK = "positive_arrival+positive_receive+negative_arrival+negative_receive"
REAL_MS = 2_500  # on a real clock: a time to be received of one second, the second it may take longer, and a margin


def begin_keeping(
    mq: Port,
    judge: Recorder,
    mq_need: Callable[..., None],
    *needs: str,
    reads: tuple[str, ...] = (),
    admin: bool = False,
    **how: object,
) -> History:
    """Begin a history with queue `q1`, open as `s` and `r`, and the queues of `reads`, open as `j1`, `j2`.

    how: attributes of `q1`. reads: journals and dead-letter queues. admin: add a queue for acknowledgments, open for
    receive as `ra`.
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
    """Return a send with further options: see `Call`."""
    return Call("messages.send", message=message, handle=to, transaction=within, **wishes)  # type: ignore[arg-type]


def taken(handle: str, times: int = 1) -> tuple[Call, ...]:
    """Return this many receives by a handle."""
    return (Call("messages.receive", handle=handle),) * times


def passes(milliseconds: int) -> Call:
    """Return a passing of time."""
    return Call("clock.advance", by_ms=milliseconds)


def counted(queue: str = "q1") -> Call:
    """Return a count of a queue's messages."""
    return Call("queues.counts", queue=queue)


def unlimited() -> dict[str, int]:
    """Return the limits of a manager without quotas."""
    return {"message_quota_kb": UNLIMITED, "journal_quota_kb": UNLIMITED}
