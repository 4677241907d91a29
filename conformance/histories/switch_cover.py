"""Switch cover: histories in which each kind of step follows each other one, with a look at everything after each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.harness.recorder import ConformanceFailure
from conformance.histories.examples import ADDRESS, GET, REMOTE, step
from conformance.histories.findings import Findings, raised
from conformance.histories.history import History
from conformance.histories.operations.operation import Action, Offer, action
from conformance.histories.operations.state_queries import (
    handles,
    kind_of,
    listed,
    message_name,
    named_alone,
    names,
    where,
)
from conformance.histories.operations.state_queries import working_transactions as working
from conformance.histories.operations.table import ACTIONS, stored_call
from conformance.histories.walk import Choice, chooser, offer_of
from conformance.model import BadCall, Call, Model, State
from conformance.model.journals import ELSEWHERE, SYSTEM_QUEUES, is_kept, journal_of
from conformance.model.management_rows import MACHINE, QUEUE
from conformance.model.state import Queue

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_START: Final = "the opening"
_MOST_DEAR: Final = 2
_MOST_FINDINGS: Final = 3  # histories that deviate; more would show little that these do not


@dataclass(frozen=True, slots=True)
class Tour:
    """Setting of a tour.

    opening: calls that begin every history. actions: the kinds of steps; one named twice is taken twice as often.
    looks: makes the calls that follow each step of one history. late: steps after which little is left to see, which
    wait for the second half of a history. dear: steps that take long, which are taken a few times alone. steps: of the
    whole tour. length: of a history, without its looks. kind: of a state, in which a step may show something else.
    """

    opening: tuple[Call, ...]
    actions: tuple[Action, ...]
    looks: Callable[[], Callable[[State], Sequence[Call]]]
    steps: int
    late: frozenset[str] = frozenset()
    dear: frozenset[str] = frozenset()
    length: int = 20
    kind: Callable[[State], object] = kind_of


@dataclass(slots=True)
class _Taken:
    """Counts of what a tour has done. failed: steps, each with the place it was taken at, that have shown a failure."""

    pairs: Counter[tuple[str, str]]
    places: Counter[object]
    failed: set[tuple[str, str]]
    weights: Mapping[str, int]
    kind: Callable[[State], object]

    def place(self, name: str, state: State, call: Call) -> object:
        """Return what a step meets."""
        return name, where(state, call), self.kind(state)

    def next(self, choices: Mapping[str, Choice], before: str, state: State) -> Iterator[tuple[str, Call]]:
        """Yield the steps that this state lets one take, the rarest first, each with the call that is rarest here."""

        def rarity(name: str) -> float:
            return (self.pairs[before, name] * len(choices) + self.pairs[name, ""]) / self.weights[name]

        for name in sorted(choices, key=rarity):
            calls = [call for call in choices[name](state) if (name, where(state, call)) not in self.failed]
            calls.sort(key=lambda call: (self.places[self.place(name, state, call)], self.places[_shape(name, call)]))
            yield from ((name, call) for call in calls[:3])

    def few(self, name: str) -> bool:
        """Tell whether a step that takes long may be taken once more."""
        return self.pairs[name, ""] < _MOST_DEAR

    def took(self, before: str, name: str, place: object, shape: object) -> None:
        """Note a step."""
        self.pairs[before, name] += 1
        self.pairs[name, ""] += 1
        self.places[place] += 1
        self.places[shape] += 1


def tour(client: Port, judge: Recorder, options: RunOptions, plan: Tour) -> None:
    """Make a tour. Raises ConformanceFailure, with the shortest story found, or ConformanceFailures for several."""
    offer = offer_of(client)
    choices = {one.name: chooser(one, offer) for one in plan.actions if one.offered(offer)}
    early = {name: choice for name, choice in choices.items() if name not in plan.late}
    weights = Counter(one.name for one in plan.actions)
    taken, findings, model = _Taken(Counter(), Counter(), set(), weights, plan.kind), Findings(), Model(judge.readings)
    left, deviating = plan.steps, 0
    while left > 0 and not judge.cut and deviating < (1 if options.first_only else _MOST_FINDINGS):
        history = History(client, judge, model)
        before, looks = _START, plan.looks()
        try:
            history.run(*plan.opening)
            for at in range(min(left, plan.length)):
                now = choices if 2 * at >= plan.length else early
                now = {name: one for name, one in now.items() if name not in plan.dear or taken.few(name)}
                step = None if history.over else _next_step(history, now, taken, before)
                if step is None:
                    break
                if time.monotonic() > judge.until:
                    judge.cut = True
                    break
                left, before = left - 1, step[0]
                history.attempt(step[1])
                history.run(*looks(history.state))
        except ConformanceFailure as failure:
            deviating += 1
            call = stored_call(failure.repro["calls"][-1])
            findings.add(failure, history, call)
            taken.failed.add((before, where(history.state, call)))
        history.driving.leave()
        if before == _START:
            break  # nothing can be done here
    raised(findings.told(client, judge, options))


def _next_step(history: History, choices: Mapping[str, Choice], taken: _Taken, before: str) -> tuple[str, Call] | None:
    """Return the next step and its call; None where there is none."""
    state = history.state
    for name, call in taken.next(choices, before, state):
        try:
            history.model.allowed(state, call)
        except BadCall:
            continue
        taken.took(before, name, taken.place(name, state, call), _shape(name, call))
        return name, call
    return None


def _shape(name: str, call: Call) -> object:
    """Return the values of a call, without the names in it."""
    return (
        name,
        call.access,
        call.share,
        call.step,
        call.acknowledge,
        call.action,
        call.priority,
        call.delivery,
        call.kill,
    )


_PERSISTENT: Final = tuple(
    f"{QUEUE}{word}" for word in ("TYPE", "LOCATION", "MESSAGE_COUNT", "BYTES_IN_QUEUE", "STATE")
)
_JOURNAL: Final = "PROPID_Q_JOURNAL"
_SEVERAL: Final = "q1,q3"
_MOST_MESSAGES: Final = 12
_SELDOM: Final = 4  # steps after which a queue that nothing was done to is looked at again


class Looking:
    """Looks at the machine, at each queue that may have changed, and now and then at each that should not have."""

    def __init__(self, shown: Iterable[str]) -> None:
        names = tuple(shown)
        self.of_queue = tuple(name for name in names if name.startswith(QUEUE))
        self.of_kept = tuple(name for name in self.of_queue if name in _PERSISTENT)
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


def remaining_after(shown: Iterable[str], *, restarts: bool = True) -> Tour:
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
    {"plain": plain, "transactional": transactional, "kept": remaining_after, "outgoing": outgoing}
)
"""By name."""

_ADMIN: Final = "adm"
_READER: Final = "ra"
_KINDS: Final = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")
_ASKED: Final = tuple("+".join(kinds) for size in (2, 1, 3, 4) for kinds in combinations(_KINDS, size))
_MOST_ACKNOWLEDGED: Final = 10


def posts(state: State) -> list[Call]:
    """Send a message that asks for some kinds of acknowledgments, and ends by itself after some time or never."""
    if sum(one.available for queue in state.queues.values() for one in queue.positions) >= _MOST_ACKNOWLEDGED:
        return []
    name, sent = message_name(state), sum(len(queue.positions) for queue in state.queues.values())
    return [
        listed(
            "messages.send",
            message=name,
            handle=handle.name,
            transaction=transaction,
            acks=_ASKED[(sent + at) % len(_ASKED)],
            admin=_ADMIN,
            live_s=(None, 4)[(sent + at) // 2 % 2],
        )
        for handle in handles(state, "send")
        for transaction in (working(state) if state.queues[handle.queue].transactional else (None,))
        for at in (0, 1, 4, 7)
    ]


class _Reading:
    """Reads the administration queue until it is empty; opens it again where a restart has closed it."""

    def __call__(self, state: State) -> list[Call]:
        reader = state.handles.get(_READER)
        if reader is None or not reader.is_open:
            return [Call("queues.open", name=_READER, queue=_ADMIN, access="receive")]
        left = sum(one.available for one in state.queues[_ADMIN].positions)
        return [Call("messages.receive", handle=_READER)] * (left + 1)


def _sparing(each: Action) -> Action:
    """Return an action that leaves the administration queue and its reader alone."""

    def choose(state: State, offer: Offer) -> list[Call]:
        return [call for call in each.choose(state, offer) if call.queue != _ADMIN and call.handle != _READER]

    return replace(each, choose=choose)


def acknowledged(*, restarts: bool) -> Tour:
    """Return the tour. restarts: the manager can be restarted."""
    own = {one.name: one for one in (*OWN, action("post_asking", posts, "messages.send"))}
    wanted = (
        *(
            "post_asking",
            "post_asking",
            "post_asking",
            "post_asking",
            "receive",
            "receive",
            "begin_receive",
            "end_receive",
        ),
        *("begin", "begin", "end", "end", "peek", "move", "move", "purge", "pass_seconds", "open_again", "delete"),
        *("create_again", "close", *(("restart_now",) if restarts else ())),
    )
    return Tour(
        (
            Call("clock.now"),
            Call("queues.create", queue=_ADMIN),
            Call("queues.open", name=_READER, queue=_ADMIN, access="receive"),
            Call("queues.create", queue="q1"),
            Call("queues.create", queue="q2", transactional=True),
            *(
                Call("queues.open", name=f"{access[0]}{queue[1]}", queue=queue, access=access)
                for queue in ("q1", "q2")
                for access in ("send", "receive")
            ),
            Call("queues.open", name="h1", queue="q1;one", access="move"),
            Call("messages.send", message="a", handle="s1", acks="negative_receive", admin=_ADMIN),
            *(Call("messages.peek", handle="r1"), Call("messages.peek", handle="r1")),
        ),
        tuple(_sparing(own.get(name) or ACTIONS[name]) for name in wanted),
        _Reading,
        steps=220,
        late=frozenset({"restart_now", "delete", "create_again", "close"}),
        dear=frozenset({"restart_now"}),
        length=16,
    )
