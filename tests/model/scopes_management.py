"""Small managers that are managed: what is read and acted on, and a queue whose connection somebody plays."""

from __future__ import annotations

from collections.abc import Iterator

from exploring import Scope

from conformance.model import Call, State
from conformance.model.management_rows import MACHINE, QUEUE, ROWS
from conformance.model.outgoing import session_of
from conformance.model.tables import OutgoingState

OPENED = (
    Call("queues.open", name="s1", queue="remote1", access="send"),
    Call("management.get", queue="remote1", names=(f"{QUEUE}EOD_RESEND_INTERVAL",)),
)
LOCAL = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.create", queue="gone"),
    Call("queues.delete", queue="gone"),
)
CONNECTED = tuple(
    Call("management.connection", queue="remote1", step=step, addresses=("192.0.2.7",))
    for step in ("in_process", "established")
)


def managing_calls(state: State) -> Iterator[Call]:
    """Read and act on what there is, and on what there is not."""
    if not state.queues["q"].positions:
        yield Call("messages.send", message="a", handle="s")
    names = tuple(name for name in ROWS if name.startswith(QUEUE))
    for queue in ("q", "gone", "remote1", None):
        yield Call("management.get", queue=queue, names=names[-1:] if queue else (f"{MACHINE}CONNECTED",))
        for action in ("PAUSE", "tidy", "EOD_RESEND", "RESUME", "connect", "DISCONNECT", "nothing"):
            yield Call("management.act", queue=queue, action=action)
    yield Call("management.get", queue="q", names=("number #99",))
    yield Call("management.get", names=(names[-1],))
    yield Call("management.get", target="session", names=(names[0],))
    yield Call("management.act", target="session", action="CONNECT")
    if state.restarts < 1:
        yield Call("restart", kill=True)


def session_calls(state: State) -> Iterator[Call]:
    """Connect, send, transfer, acknowledge."""
    queue, session = state.queues["remote1"], session_of(state, "remote1")
    if len(queue.positions) < 2 and "s1" in state.handles:
        name = "ab"[len(queue.positions)]
        yield Call("messages.send", message=name, handle="s1", journal=name == "a", dead_letter=name == "a")
    if len(session.steps) < 3:
        for step in ("in_process", "established", "dns_failure"):
            addresses = None if step == "dns_failure" else ("192.0.2.7",)
            yield Call("management.connection", queue="remote1", step=step, addresses=addresses)
    yield Call("management.connection", queue="remote1", step="closed")
    yield Call("management.transfer", queue="remote1")
    yield Call("management.act", action="DISCONNECT")
    yield Call("management.act", queue="remote1", action="PAUSE")
    yield Call("management.act", queue="remote1", action="RESUME")
    if queue.outgoing is not None and queue.outgoing.state is not OutgoingState.ON_HOLD:
        yield Call("management.acknowledge", queue="remote1", action="session", count=1)
    if state.restarts < 1:
        yield Call("restart", kill=False)


def ordered_calls(state: State) -> Iterator[Call]:
    """Transfer transactional messages and acknowledge them in order, to the end."""
    session = session_of(state, "remote1")
    yield Call("management.transfer", queue="remote1")
    yield Call("management.transfer", queue="remote1", count=1)
    yield Call("management.act", queue="remote1", action="EOD_RESEND")
    yield Call("management.acknowledge", queue="remote1", action="session", count=2)
    for number in range(1, session.following):
        yield Call("management.acknowledge", queue="remote1", action="order", number=number)
    for message in session.unread:
        for klass in (0x4000, 0x8004):
            yield Call("management.acknowledge", queue="remote1", action="final", message=message, klass=klass)
    if state.now < 40_000:
        yield Call("clock.advance", by_ms=40_000)


SCOPES = (
    Scope("management", (*LOCAL, OPENED[0]), managing_calls, 3),
    Scope("sessions", OPENED, session_calls, 5),
    Scope("offline", (*OPENED, *CONNECTED, Call("management.act", action="DISCONNECT")), session_calls, 3),
    Scope("online", (*OPENED, *CONNECTED, Call("management.act", action="CONNECT")), session_calls, 3),
    Scope(
        "order",
        (
            *OPENED,
            *CONNECTED,
            Call("transactions.begin", name="t"),
            *(
                Call("messages.send", message=name, handle="s1", transaction="t", journal=True, dead_letter=True)
                for name in "ab"
            ),
            Call("transactions.commit", transaction="t"),
        ),
        ordered_calls,
        6,
    ),
)
