"""Tours of what management shows: of a local queue, of a transactional one, of journals, and of an outgoing queue.

MS-MQMQ 2.3.11 and 2.3.12, MS-MQMR 3.1.4, MS-MQDMPR 3.1.1.1 to 3.1.1.4. After each step all that management tells of the
machine and of every queue is read: what one property says must hold in every state, however it came about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from conformance.histories.examples_management import ADDRESS, GET, REMOTE, step
from conformance.histories.operations.operation import Action, action
from conformance.histories.operations.state_queries import handles, listed, message_name, named_alone, names
from conformance.histories.operations.state_queries import working_transactions as working
from conformance.histories.operations.table import ACTIONS
from conformance.histories.steering import kind_of
from conformance.histories.tour import Tour
from conformance.model import Call, State
from conformance.model.journals import ELSEWHERE, SYSTEM_QUEUES, is_kept, journal_of
from conformance.model.management_rows import MACHINE, QUEUE
from conformance.model.state import Queue

_KEPT: Final = tuple(f"{QUEUE}{word}" for word in ("TYPE", "LOCATION", "MESSAGE_COUNT", "BYTES_IN_QUEUE", "STATE"))
_JOURNAL: Final = "PROPID_Q_JOURNAL"
_SEVERAL: Final = "q1,q3"
_MOST_MESSAGES: Final = 12
_SELDOM: Final = 4  # steps after which a queue that nothing was done to is looked at again


class Looking:
    """Looks at the machine, at each queue that may have changed, and now and then at each that should not have."""

    def __init__(self, shown: Iterable[str]) -> None:
        names = tuple(shown)
        self.of_queue = tuple(name for name in names if name.startswith(QUEUE))
        self.of_kept = tuple(name for name in self.of_queue if name in _KEPT)
        self.machine = Call(GET, names=tuple(name for name in names if name.startswith(MACHINE)))
        self.seen: dict[str, tuple[object, ...]] = {}
        self.turn = 0

    def __call__(self, state: State) -> list[Call]:
        """Return the calls."""
        self.turn += 1
        found = []
        first = self.turn == 1  # a count that is always wrong is to show at a queue, one of copies at its journal
        for at, queue in enumerate(sorted(state.queues.values(), key=lambda queue: is_kept(queue.name) is first)):
            if not queue.exists or "," in queue.name or queue.name == ELSEWHERE or "(left" in queue.name:
                continue
            if queue.outgoing is not None and state.restarts and not _opened(state, queue.name):
                continue
            now = self._parts(state, queue)
            same = all(one is other for one, other in zip(now, self.seen.get(queue.name, (None,)), strict=False))
            if same and (self.turn + at) % _SELDOM and queue.name not in SYSTEM_QUEUES:
                continue
            self.seen[queue.name] = now
            found.append(listed(GET, queue=queue.name, names=self.of_kept if ";" in queue.name else self.of_queue))
        return [*found, self.machine]

    @staticmethod
    def _parts(state: State, queue: Queue) -> tuple[object, ...]:
        """Return all that what is told of a queue depends on."""
        sessions = state.management.sessions if state.management is not None else {}
        its = (
            other
            for other in state.queues.values()
            if other.family == queue.name or other.name == journal_of(queue.name)
        )
        return (queue, sessions.get(queue.name), *its)


def _opened(state: State, queue: str) -> bool:
    return any(handle.queue == queue for handle in state.handles.values())


def switches(state: State) -> list[Call]:
    """Switch the journaling of a queue on or off."""
    return [
        listed("queues.set", queue=queue.name, values=((_JOURNAL, int(not _journals(state, queue.name))),))
        for queue in state.queues.values()
        if queue.exists and named_alone(queue) and queue.outgoing is None
    ]


def _journals(state: State, queue: str) -> bool:
    attributes = state.queues[queue].attributes
    return attributes is not None and attributes.journaling


def restarts(state: State) -> list[Call]:
    """Restart the manager, once in a history, while nothing waits."""
    if state.restarts or state.waiters:
        return []
    return [listed("restart", kill=True), listed("restart", kill=False)]


def creations(state: State) -> list[Call]:
    """Create a queue again that was deleted."""
    return [
        listed("queues.create", queue=queue.name, transactional=queue.transactional, journaling=journaling)
        for queue in state.queues.values()
        if not queue.exists and named_alone(queue) and queue.outgoing is None
        for journaling in (True, False)
    ]


def openings(state: State) -> list[Call]:
    """Open what nobody has open any more, and a queue once more."""
    name = names("h", state.handles)
    found = []
    for queue in state.queues.values():
        if not queue.exists or is_kept(queue.name) or "," in queue.name or len(state.handles) > 16:
            continue
        parent = state.queues.get(queue.family)
        if parent is None or not parent.exists:
            continue
        accesses: tuple[str, ...] = ("send",) if queue.outgoing is not None else ("receive", "send", "peek")
        accesses = ("receive", "move") if queue.parent is not None else accesses
        mine = [handle for handle in handles(state, *accesses) if handle.queue == queue.name]
        found += [
            listed("queues.open", name=name, queue=queue.name, access=access)
            for access in accesses
            if not any(handle.access == access for handle in mine) or len(mine) < 4
        ]
    return sorted(
        found, key=lambda call: any(handle.queue == call.queue for handle in handles(state, call.access or ""))
    )


def wishes(state: State) -> list[Call]:
    """Send a message with source journaling, a dead letter asked for, or a time to be received."""
    if sum(one.available for queue in state.queues.values() for one in queue.positions) >= _MOST_MESSAGES:
        return []
    name = message_name(state)
    how: tuple[dict[str, object], ...] = (
        {"journal": True},
        {"dead_letter": True, "live_s": 5},
        {"journal": True, "dead_letter": True, "delivery": "recoverable"},
        {"dead_letter": True},
    )
    return [
        listed("messages.send", message=name, handle=handle.name, transaction=transaction, **wish)
        for handle in handles(state, "send")
        for transaction in _within(state, state.queues[handle.queue])
        for wish in how
        if not (transaction and "delivery" in wish)
    ]


def _within(state: State, queue: Queue) -> tuple[str | None, ...]:
    """Return the transactions in which a message can be sent to a queue; any, and none, for one of another computer."""
    found = tuple(working(state))
    if queue.outgoing is not None:
        return (*found, None)
    return found if queue.transactional else (None,)


def openings_of_several(state: State) -> list[Call]:
    """Open two queues by one handle."""
    there = all(name in state.queues and state.queues[name].exists for name in _SEVERAL.split(","))
    opened = any(handle.queue == _SEVERAL for handle in handles(state, "send"))
    return (
        [listed("queues.open", name=names("h", state.handles), queue=_SEVERAL, access="send")]
        if there and not opened
        else []
    )


def stage(state: State) -> object:
    """Return how far the sessions have come, beside the kind of the state."""
    sessions = state.management.sessions if state.management is not None else {}
    found = {
        (one.state, one.torn, bool(one.due), bool(one.numbers), len(one.sent) > len(one.numbers), bool(one.stored))
        for one in sessions.values()
    }
    held = frozenset(queue.outgoing.state for queue in state.queues.values() if queue.outgoing is not None)
    return frozenset(found), held, kind_of(state)


def machine_actions(state: State) -> list[Call]:
    """Perform an action on the machine."""
    return [listed("management.act", action=name) for name in ("DISCONNECT", "CONNECT", "TIDY", "tidy")]


OWN: Final = (
    action("switch_journal", switches, "queues.set"),
    action("restart_now", restarts),
    action("open_again", openings),
    action("wish", wishes),
    action("open_several", openings_of_several, "queues.open"),
    action("create_again", creations, "queues.create"),
    action("machine", machine_actions, "management.act"),
)


def _actions(*wanted: str, restarts: bool) -> tuple[Action, ...]:
    own = {one.name: one for one in OWN}
    return tuple(own.get(name) or ACTIONS[name] for name in wanted if restarts or name != "restart_now")


_LATE: Final = frozenset({"restart_now", "close", "delete", "create_again"})
_DEAR: Final = frozenset({"restart_now"})
_FLOOR: Final = (Call("clock.now"), Call(GET, names=(f"{MACHINE}BYTES_IN_ALL_QUEUES",)))


def plain(shown: Iterable[str], *, restarts: bool = True) -> Tour:
    """Return the tour of a plain queue, its journal and its subqueue."""
    return Tour(
        (
            *_FLOOR,
            Call("queues.create", queue="q1", journaling=True),
            Call("queues.create", queue="q3"),
            Call("queues.open", name="s1", queue="q1", access="send"),
            Call("queues.open", name="r1", queue="q1", access="receive"),
            Call("queues.open", name="h1", queue="q1;one", access="move"),
            *(Call("messages.send", message=name, handle="s1") for name in "ab"),
            *(Call("messages.peek", handle="r1"), Call("messages.peek", handle="r1")),
        ),
        _actions(
            *("send", "send", "send", "receive", "receive", "begin_receive", "begin_receive", "end_receive", "purge"),
            *("peek", "peek", "open_subqueue", "move", "move", "switch_journal", "switch_journal", "machine"),
            *("restart_now", "open_several", "open_again", "open_again", "close", "delete", "create_again"),
            restarts=restarts,
        ),
        partial(Looking, tuple(shown)),
        steps=110,
        late=_LATE,
        dear=_DEAR,
    )


def transactional(shown: Iterable[str], *, restarts: bool = True) -> Tour:
    """Return the tour of a transactional queue, its journal and its subqueue."""
    return Tour(
        (
            *_FLOOR,
            Call("queues.create", queue="q2", transactional=True, journaling=True),
            Call("queues.open", name="s2", queue="q2", access="send"),
            Call("queues.open", name="r2", queue="q2", access="receive"),
            Call("queues.open", name="h1", queue="q2;one", access="move"),
            Call("transactions.begin", name="t1"),
            *(Call("messages.send", message=name, handle="s2", transaction="t1") for name in "ab"),
            Call("transactions.commit", transaction="t1"),
            *(Call("messages.peek", handle="r2"), Call("messages.peek", handle="r2")),
        ),
        _actions(
            *("begin", "begin", "send", "send", "receive", "receive", "end", "end", "purge", "peek", "move", "move"),
            *("open_subqueue", "switch_journal", "restart_now", "open_again", "open_again", "close", "delete"),
            "create_again",
            restarts=restarts,
        ),
        partial(Looking, tuple(shown)),
        steps=90,
        late=_LATE,
        dear=_DEAR,
    )


def kept(shown: Iterable[str], *, restarts: bool = True) -> Tour:
    """Return the tour of what is kept: journals, dead letters and times to be received, of two queues."""
    return Tour(
        (
            *_FLOOR,
            Call("queues.create", queue="q1", journaling=True),
            Call("queues.create", queue="q2", transactional=True),
            *(
                Call("queues.open", name=f"{access[0]}{queue[1]}", queue=queue, access=access)
                for queue in ("q1", "q2")
                for access in ("send", "receive")
            ),
            Call("queues.open", name="h1", queue="q1;one", access="move"),
            *(
                Call("queues.open", name=f"j{at}", queue=name, access="receive")
                for at, name in enumerate(SYSTEM_QUEUES)
            ),
        ),
        _actions(
            *("wish", "wish", "wish", "send", "receive", "receive", "begin_receive", "end_receive", "begin", "end"),
            *("pass_seconds", "pass_seconds", "purge", "peek", "move", "switch_journal", "machine"),
            *("restart_now", "open_again", "open_again", "close", "delete", "create_again"),
            restarts=restarts,
        ),
        partial(Looking, tuple(shown)),
        steps=90,
        late=_LATE,
        dear=_DEAR,
    )


def outgoing(shown: Iterable[str], *, restarts: bool = True) -> Tour:
    """Return the tour of two outgoing queues, their sessions and their acknowledgments."""
    return Tour(
        (
            *_FLOOR,
            *(Call("queues.open", name=f"s{queue[-1]}", queue=queue, access="send") for queue in (REMOTE, "remote2")),
            Call(GET, queue=REMOTE, names=(f"{QUEUE}EOD_RESEND_INTERVAL",)),
            step("in_process", ADDRESS),
            step("established", ADDRESS),
            *(
                Call("queues.open", name=f"j{at}", queue=name, access="receive")
                for at, name in enumerate(SYSTEM_QUEUES)
            ),
            Call("transactions.begin", name="t1"),
            *(Call("messages.send", message=name, handle="s1", transaction="t1") for name in "ab"),
            Call("transactions.commit", transaction="t1"),
        ),
        _actions(
            *("send", "send", "begin", "send_out", "send_out", "end", "end", "wish", "manage", "manage"),
            *("connect", "connect", "connect", "transfer", "transfer", "transfer", "acknowledge", "acknowledge"),
            *("acknowledge", "machine", "pass_seconds", "peek", "receive", "restart_now", "open_again", "close"),
            restarts=restarts,
        ),
        partial(Looking, tuple(shown)),
        steps=50,
        late=_LATE,
        dear=_DEAR,
        kind=stage,
    )


TOURS: Final[Mapping[str, Callable[..., Tour]]] = MappingProxyType(
    {"plain": plain, "transactional": transactional, "kept": kept, "outgoing": outgoing}
)
"""By name."""
