"""Building blocks of short histories about management: properties, actions, and sessions of outgoing queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from conformance.histories.history import History
from conformance.model import Call
from conformance.model.management_rows import MACHINE, QUEUE, ROWS, SINCE
from conformance.spec.versions import applies

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

GET, ACT = "management.get", "management.act"
PLAYED: Final = ("management.connection", "management.transfer", "management.acknowledge")
ADDRESS: Final = "192.0.2.7"  # RFC 5737: reserved for documentation
REMOTE: Final = "remote1"


def shown(prefix: str, profile: str) -> tuple[str, ...]:
    """Return the properties of the machine or of queues that a version of MSMQ has."""
    return tuple(name for name in ROWS if name.startswith(prefix) and applies(profile, SINCE.get(name), None))


def of_machine(judge: Recorder, *words: str) -> Call:
    """Return a get of these properties of the machine; of all of them, where none is named."""
    names = shown(MACHINE, judge.profile)
    return Call(GET, names=tuple(name for name in names if not words or name.removeprefix(MACHINE) in words))


def of_queue(judge: Recorder, queue: str, *words: str) -> Call:
    """Return a get of these properties of a queue; of all of them, where none is named."""
    names = shown(QUEUE, judge.profile)
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
