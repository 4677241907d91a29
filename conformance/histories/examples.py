"""Building blocks of short hand-written histories: reads, journals, quotas, acknowledgments, management."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from conformance.histories.history import History
from conformance.model import Call
from conformance.model.journals import UNLIMITED, journal_of
from conformance.model.management_rows import MACHINE, QUEUE, ROWS, SINCE
from conformance.spec.versions import applies

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")
EXPIRY_MS = 1_000  # on a virtual clock, where waiting takes no time
REAL_EXPIRY_MS = 60  # on a real clock


def begin(mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str, transactional: bool = False) -> History:
    """Begin a history with queue `q1`, open for send as `s` and for receive as `r`.

    Skips the test if the driver does not offer all of `needs`.
    """
    mq_need(*NEEDS, *needs)
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1", transactional=transactional), *opened())
    return history


def opened() -> tuple[Call, Call]:
    """Return the calls that open `q1` for send as `s` and for receive as `r`."""
    return (
        Call("queues.open", name="s", queue="q1", access="send"),
        Call("queues.open", name="r", queue="q1", access="receive"),
    )


def send(message: str, *, priority: int | None = None, delivery: str | None = None, within: str | None = None) -> Call:
    """Return a send to q1."""
    return Call("messages.send", message=message, handle="s", priority=priority, delivery=delivery, transaction=within)


def receive(cursor: str | None = None, *, within: str | None = None, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a receive from q1."""
    return Call("messages.receive", name=name, handle="r", cursor=cursor, transaction=within, timeout_ms=wait_ms)


def peek(cursor: str | None = None, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a peek in q1."""
    return Call("messages.peek", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def peek_next(cursor: str, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a peek-next in q1."""
    return Call("messages.peek_next", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def begin_transaction(name: str) -> Call:
    """Return the beginning of a transaction."""
    return Call("transactions.begin", name=name)


def commit(name: str) -> Call:
    """Return the commit of a transaction."""
    return Call("transactions.commit", transaction=name)


def abort(name: str) -> Call:
    """Return the abort of a transaction."""
    return Call("transactions.abort", transaction=name)


def cursor(name: str) -> Call:
    """Return the opening of a cursor on q1."""
    return Call("cursors.open", name=name, handle="r")


def expiry_ms(mq: Port) -> int:
    """Return the time-out, in milliseconds, of an example's read that finds no message."""
    return EXPIRY_MS if mq.hello.clock == "virtual" and mq.offers("clock.advance") else REAL_EXPIRY_MS


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


def receives(handle: str, times: int = 1) -> tuple[Call, ...]:
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


GET, ACT = "management.get", "management.act"
PLAYED: Final = ("management.connection", "management.transfer", "management.acknowledge")
ADDRESS: Final = "192.0.2.7"  # RFC 5737: reserved for documentation
REMOTE: Final = "remote1"


def properties_of(prefix: str, profile: str) -> tuple[str, ...]:
    """Return the properties of the machine or of queues that a version of MSMQ has."""
    return tuple(name for name in ROWS if name.startswith(prefix) and applies(profile, SINCE.get(name), None))


def of_machine(judge: Recorder, *words: str) -> Call:
    """Return a get of these properties of the machine; of all of them, where none is named."""
    names = properties_of(MACHINE, judge.profile)
    return Call(GET, names=tuple(name for name in names if not words or name.removeprefix(MACHINE) in words))


def of_queue(judge: Recorder, queue: str, *words: str) -> Call:
    """Return a get of these properties of a queue; of all of them, where none is named."""
    names = properties_of(QUEUE, judge.profile)
    return Call(GET, queue=queue, names=tuple(name for name in names if not words or name.removeprefix(QUEUE) in words))


def acting(action: str, queue: str | None = None) -> Call:
    """Return an action on a queue or on the machine."""
    return Call(ACT, queue=queue, action=action)


def step(name: str, *addresses: str, error: int = 0, queue: str = REMOTE) -> Call:
    """Return a step of the connection of an outgoing queue."""
    return Call("management.connection", queue=queue, step=name, addresses=addresses or None, error=error)


def connected(queue: str = REMOTE) -> tuple[Call, ...]:
    """Return the steps that connect an outgoing queue."""
    return step("in_process", ADDRESS, queue=queue), step("established", ADDRESS, queue=queue)


def transfer(count: int | None = None, queue: str = REMOTE) -> Call:
    """Return a transfer of messages to the destination."""
    return Call("management.transfer", queue=queue, count=count)


def stored(count: int, queue: str = REMOTE) -> Call:
    """Return a session acknowledgment of the oldest messages."""
    return Call("management.acknowledge", queue=queue, action="session", count=count)


def in_order(number: int, queue: str = REMOTE) -> Call:
    """Return an order acknowledgment up to a number."""
    return Call("management.acknowledge", queue=queue, action="order", number=number)


def final(message: str, klass: int, queue: str = REMOTE) -> Call:
    """Return the final acknowledgment of a message."""
    return Call("management.acknowledge", queue=queue, action="final", message=message, klass=klass)


def within(name: str, *messages: str, to: str = "s1", **wishes: object) -> tuple[Call, ...]:
    """Return a transaction that sends these messages to another computer."""
    return (
        Call("transactions.begin", name=name),
        *(
            Call("messages.send", message=message, handle=to, transaction=name, **wishes)  # type: ignore[arg-type]
            for message in messages
        ),
        Call("transactions.commit", transaction=name),
    )


def creates_public(mq: Port) -> bool:
    """Tell whether the driver creates a public queue, for which many managers need a directory."""
    made = mq.call("queues.create", path_name=f"{mq.hello.computer}\\mqconform-public{mq.unique()}")
    if made.ok:
        mq.call("queues.delete", format_name=made.values["format_name"])
    return bool(made.ok)


def begin_managed(
    mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str, queues: tuple[str, ...] = (REMOTE,)
) -> History:
    """Begin a history of outgoing queues, open for send as `s1`, `s2`. Skips the test if the driver lacks a method."""
    mq_need("queues.open", "messages.send", GET, *needs)
    mq.need("format_names", "remote")
    history = History(mq, judge)
    history.run(*(Call("queues.open", name=f"s{queue[-1]}", queue=queue, access="send") for queue in queues))
    return history
