"""Random beginnings of histories, drawn call by call, each with many conditions that no fixed setup has together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, TypeVar

from conformance.histories.operations.state_queries import message_name, names
from conformance.histories.situations.specified_calls import followed, foreseen
from conformance.model import Call, Model, State
from conformance.model.calls import INFINITE
from conformance.model.expected import Fails
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, UNLIMITED, journal_of
from conformance.model.state import Handle
from conformance.model.tables import CursorState
from conformance.model.values import replace
from tools.planner.setups import Scene

_Thing = TypeVar("_Thing")


class Draft:
    """A history that is being drawn. Calls that no section describes are left out.

    mark: in the names of what is made, if another part of the history has names too. focus: the queue that most of it
    is about. instead: handles that were closed or lost, and those opened in their place.
    """

    def __init__(self, model: Model, random: Random, mark: str = "") -> None:
        self.model = model
        self.random = random
        self.mark = mark
        self.focus = "q1"
        self.instead: dict[str, str] = {}
        self.calls: list[Call] = []
        self.state = State()

    def name(self, kind: str, taken: Iterable[str]) -> str:
        """Return an unused name."""
        return names(kind + self.mark, taken)

    def message(self) -> str:
        """Return the name of the next message."""
        name = message_name(self.state)
        return f"{name}{self.mark}" if self.mark else name

    def do(self, method: str, **members: Any) -> bool:
        """Make a call; return whether it made sense and succeeded."""
        return self.make(Call(method, **members))

    def make(self, call: Call) -> bool:
        """Make a call; return whether it made sense and succeeded."""
        outcome = foreseen(self.model, self.state, call)
        if outcome is None:
            return False
        self.calls.append(call)
        self.state = followed(outcome)
        return not isinstance(outcome.result, Fails)

    def chance(self, share: float) -> bool:
        """Return True in this share of the draws."""
        return self.random.random() < share

    def one(self, among: Sequence[_Thing]) -> _Thing | None:
        """Draw one; None if there is none."""
        return among[int(self.random.random() * len(among))] if among else None

    def handle(self, *access: str) -> Handle | None:
        """Draw a usable handle with one of these accesses."""
        every = [one for one in self.state.handles.values() if one.is_open and not one.lost and one.access in access]
        mains = [one for one in every if one.queue.startswith(self.focus)]
        return self.one(mains if mains and self.chance(0.7) else every)

    def open(self, queue: str, access: str, instead: str | None = None) -> None:
        """Open a queue. instead: the handle in whose place the new one is used."""
        name = self.name("h", self.state.handles)
        if self.do("queues.open", name=name, queue=queue, access=access) and instead is not None:
            self.instead[instead] = name

    def again(self, call: Call) -> bool:
        """Make a call of another history, by the handles that are there now."""
        handle, destination = self.instead.get(call.handle or ""), self.instead.get(call.destination or "")
        if handle is not None or destination is not None:
            call = replace(call, handle=handle or call.handle, destination=destination or call.destination)
        return self.make(call)

    def transaction(self) -> str | None:
        """Return an open transaction, perhaps a new one."""
        free = [one.name for one in self.state.transactions.values() if one.ended is None and not one.prepared]
        if free and self.chance(0.7):
            return free[0]
        name = self.name("t", self.state.transactions)
        return name if self.do("transactions.begin", name=name) else None


_WISHES: Final[tuple[dict[str, Any], ...]] = (
    {"acks": "positive_receive+negative_receive", "admin": "adm"},
    {"acks": "positive_arrival+positive_receive+negative_receive", "admin": "adm"},
    {"acks": "positive_arrival+negative_arrival", "admin": "adm"},
    *({"acks": acks, "admin": "adm"} for acks in ("positive_receive", "positive_arrival+positive_receive")),
    *({"acks": acks, "admin": "adm"} for acks in ("positive_arrival", "negative_arrival", "negative_receive")),
    {"acks": "negative_arrival+negative_receive", "admin": "adm"},
    {"dead_letter": True},
    {"dead_letter": True, "live_s": 3},
    {"live_s": 2},
    {"journal": True},
    {"size": 11 * 1024},
)
_PRIORITIES: Final = (0, 3, 5)
_JOURNAL: Final = journal_of("q1")
_KEPT: Final = (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL)
_STEPS: Final = (
    *("send", "send", "send", "receive", "peek", "peek_next", "peek_next", "open_cursor", "lookup", "close_cursor"),
    *("purge", "wait", "wait", "cancel", "mistake", "begin", "end", "end", "prepare", "begin_receive", "end_receive"),
    *("open", "close", "delete", "create", "pass_time", "move", "move", "post", "pass_seconds", "fill", "count"),
)
SCENE: Final = Scene("a mixture", (), _STEPS, 0)
"""What makes sense after a mixture."""


def _queues(draft: Draft) -> None:
    """Create queues and open them."""
    if draft.chance(0.2):
        draft.focus = draft.one((*_KEPT, _JOURNAL, "q1;one")) or "q1"
    transactional, journaling = draft.chance(0.55), draft.chance(0.35) or draft.focus == _JOURNAL
    if draft.chance(0.1):
        draft.do("limits", quota_kb=40, journal_quota_kb=UNLIMITED)
    if draft.chance(0.5):
        draft.do("queues.create", queue="adm")
    small = {"journal_quota_kb": 10} if journaling and draft.chance(0.4) else {}
    draft.do("queues.create", queue="q1", transactional=transactional, journaling=journaling, **small)
    for access in ("send", "receive"):
        draft.open("q1", access)
    if draft.chance(0.5):
        draft.open("q1", "receive" if draft.chance(0.5) else "peek")
    if draft.chance(0.5) or draft.focus == "q1;one":
        draft.open("q1", "move")
        draft.open("q1;one", "receive")
        draft.open("q1;one", "move")
        if draft.chance(0.3):
            draft.open("q1;one", "peek")
        if draft.chance(0.4):
            draft.open("q1;two", "move")
    if draft.chance(0.35):
        draft.do("queues.create", queue="q2", transactional=transactional is draft.chance(0.8), journaling=journaling)
        for access in ("send", "receive"):
            draft.open("q2", access)
        if draft.chance(0.4):
            draft.do("queues.create", queue="q3", transactional=transactional)
            for access in ("send", "receive"):
                draft.open("q3", access)
        if draft.chance(0.2):
            draft.open("q2", "move")
    for queue in (_JOURNAL, *_KEPT, "adm"):
        if draft.chance(0.15) or queue == draft.focus:
            draft.open(queue, "receive" if draft.chance(0.7) or queue == draft.focus else "peek")
    if draft.chance(0.2):
        draft.open("remote1", "send")


def _sends(draft: Draft) -> Callable[[], None]:
    """Return what sends a message, as all messages of this history are sent."""
    wishes = draft.one(_WISHES) if draft.chance(0.6) else {}
    if draft.focus in _KEPT:
        wishes = {"journal": True} if draft.focus == SYSTEM_JOURNAL else {"dead_letter": True, "live_s": 2}
    priorities, recoverable = draft.chance(0.6), draft.chance(0.5)

    def send(transaction: str | None = None) -> None:
        handle = draft.handle("send")
        if handle is None:
            return
        options = dict(wishes or {}) if draft.chance(0.8) else {}
        if options.get("admin") not in draft.state.queues:
            options.pop("admin", None)
            options.pop("acks", None)
        if recoverable and draft.chance(0.8):
            options["delivery"] = "recoverable"
        if draft.state.queues[handle.queue].transactional:
            within = transaction or draft.transaction()
            if within is None:
                return
            draft.do(
                "messages.send",
                message=draft.message(),
                handle=handle.name,
                transaction=within,
                **options,
            )
            if draft.chance(0.8):
                draft.do("transactions.commit", transaction=within)
            return
        if priorities:
            options["priority"] = draft.one(_PRIORITIES)
        draft.do("messages.send", message=draft.message(), handle=handle.name, **options)

    return send


def _cursor(draft: Draft) -> str | None:
    """Draw an open cursor that nothing waits with; open one if there is none."""
    free = [
        one.name
        for one in draft.state.cursors.values()
        if one.state is not CursorState.CLOSED and not draft.state.busy(one.name)
    ]
    if free and (len(free) > 2 or draft.chance(0.6)):
        return draft.one(free)
    handle = draft.handle("receive", "peek")
    name = draft.name("c", draft.state.cursors)
    return name if handle is not None and draft.do("cursors.open", name=name, handle=handle.name) else None


def _look(draft: Draft) -> None:
    """Move a cursor, perhaps behind the last message."""
    cursor = _cursor(draft)
    if cursor is None:
        return
    handle = draft.state.cursors[cursor].handle
    if draft.do("messages.peek", handle=handle, cursor=cursor):
        for _ in range(draft.random.randrange(4)):
            draft.do("messages.peek_next", handle=handle, cursor=cursor)


def _take(draft: Draft, *, within: bool = False) -> str | None:
    """Receive, perhaps with a cursor; return the transaction."""
    handle = draft.handle("receive")
    if handle is None:
        return None
    transaction = draft.transaction() if within else None
    own = [one.name for one in draft.state.cursors.values() if one.handle == handle.name]
    cursor = draft.one(own) if draft.chance(0.4) else None
    draft.do("messages.receive", handle=handle.name, cursor=cursor, transaction=transaction)
    return transaction


def _receive(draft: Draft) -> None:
    _take(draft)


def _hold(draft: Draft) -> None:
    transaction = _take(draft, within=True)
    if transaction is not None and draft.chance(0.2):
        draft.do("transactions.prepare", transaction=transaction)


def _return(draft: Draft) -> None:
    transaction = _take(draft, within=True)
    if transaction is not None:
        draft.do("transactions.abort", transaction=transaction)


def _send_open(draft: Draft) -> None:
    """Send in a transaction that stays open."""
    handle, transaction = draft.handle("send"), draft.transaction()
    if handle is not None and transaction is not None:
        name = draft.message()
        draft.do("messages.send", message=name, handle=handle.name, transaction=transaction)


def _begin(draft: Draft) -> None:
    """Begin a receive; some end at once, with the message kept."""
    handle = draft.handle("receive")
    if handle is None:
        return
    name = draft.name("b", {*draft.state.begun, *draft.state.waited})
    if draft.do("messages.receive_begin", name=name, handle=handle.name) and draft.chance(0.4):
        draft.do("messages.receive_end", read=name, acknowledge=draft.chance(0.3))


def _move(draft: Draft) -> None:
    """Move a message, perhaps in a transaction that stays open."""
    source = draft.handle("receive")
    if source is None:
        return
    target = draft.one(
        [
            one
            for one in draft.state.handles.values()
            if one.access == "move" and one.is_open and not one.lost and one.queue != source.queue
        ]
    )
    if target is None:
        return
    draft.do("messages.peek", handle=source.name)
    known = [one.message for one in draft.state.queues[source.queue].positions if one.available]
    message = draft.one([one for one in known if one in draft.state.lookups])
    transaction = draft.transaction() if draft.chance(0.4) else None
    if message is not None:
        draft.do("messages.move", message=message, handle=source.name, destination=target.name, transaction=transaction)


def _purge(draft: Draft) -> None:
    handle = draft.handle("receive")
    if handle is not None:
        draft.do("queues.purge", handle=handle.name)


def _restart(draft: Draft) -> None:
    """Restart, and open again what was open."""
    if draft.state.restarts > 1:
        return
    handles = [one for one in draft.state.handles.values() if one.is_open and not one.lost]
    draft.do("restart", kill=draft.chance(0.5))
    for handle in handles:
        draft.open(handle.queue, handle.access, handle.name)


def _wait(draft: Draft) -> None:
    """Let a read wait: without a message, or with a cursor behind the last one."""
    if len(draft.state.waiters) > 1:
        return
    name, timeout = draft.name("w", draft.state.waited), draft.one((INFINITE, INFINITE, 60_000, 1000))
    handle = draft.handle("receive", "peek")
    if handle is None:
        return
    there = any(one.available for one in draft.state.queues[handle.queue].positions)
    if not there:
        method = "messages.receive" if handle.access == "receive" and draft.chance(0.5) else "messages.peek"
        draft.do(method, name=name, handle=handle.name, timeout_ms=timeout)
        return
    cursor = _at_end(draft, handle.name)
    method = "messages.receive" if handle.access == "receive" and draft.chance(0.5) else "messages.peek"
    draft.do(method, name=name, handle=handle.name, cursor=cursor, timeout_ms=timeout)


def _again(draft: Draft) -> None:
    """Delete a queue, and create it again and open it, with its old handles left."""
    name = "q1" if draft.chance(0.7) else "q2"
    queue = draft.state.queues.get(name)
    if queue is None or not draft.do("queues.delete", queue=name) or draft.chance(0.2):
        return
    journaling = queue.attributes is not None and queue.attributes.journaling
    handles = [one for one in draft.state.handles.values() if one.is_open and one.lost]
    draft.do("queues.create", queue=name, transactional=queue.transactional, journaling=journaling)
    for handle in handles:
        if handle.queue.partition(";")[0] == name and draft.chance(0.9):
            draft.open(handle.queue, handle.access, handle.name)


def _purge_held(draft: Draft) -> None:
    """Purge a queue of which a message is held, so that it is purged later."""
    if draft.chance(0.5):
        _begin(draft)
    else:
        _hold(draft)
    _purge(draft)


def _pause(draft: Draft) -> None:
    if "remote1" in draft.state.queues:
        draft.do("outgoing.pause", queue="remote1")


def _close_all(draft: Draft) -> None:
    """Close every handle, as far as that can be asked."""
    for handle in list(draft.state.handles.values()):
        if handle.is_open:
            draft.do("queues.close", handle=handle.name)


def _close(draft: Draft) -> None:
    handle = draft.handle("receive", "peek", "send", "move")
    if handle is not None:
        draft.do("queues.close", handle=handle.name)


def _pass(draft: Draft) -> None:
    draft.do("clock.advance", by_ms=4000 if draft.focus in _KEPT else 2500)


def _see(draft: Draft) -> None:
    handle = draft.handle("receive", "peek")
    if handle is not None:
        draft.do("messages.peek", handle=handle.name)


_EVENTS: Final[tuple[tuple[Callable[[Draft], None], int], ...]] = (
    *((_look, 5), (_receive, 2), (_hold, 3), (_return, 2), (_send_open, 2), (_begin, 2), (_move, 6)),
    *((_purge_held, 2), (_pause, 1), (_close_all, 1)),
    *((_purge, 1), (_restart, 2), (_wait, 4), (_again, 1), (_close, 1), (_pass, 1), (_see, 1)),
)
_DRAWN: Final = tuple(event for event, weight in _EVENTS for _ in range(weight))


def _hold_middle(draft: Draft) -> None:
    """Receive a message in the middle of a queue in a transaction: one that a cursor has found."""
    handle, transaction = draft.handle("receive"), draft.transaction()
    if handle is None or transaction is None:
        return
    cursor = draft.name("c", draft.state.cursors)
    if draft.do("cursors.open", name=cursor, handle=handle.name):
        draft.do("messages.peek", handle=handle.name, cursor=cursor)
        for _ in range(1 + draft.random.randrange(2)):
            draft.do("messages.peek_next", handle=handle.name, cursor=cursor)
        draft.do("messages.receive", handle=handle.name, cursor=cursor, transaction=transaction)


def _overtake(draft: Draft) -> None:
    """Let another transaction send, receive or move, and perhaps be prepared or end."""
    handle, other = draft.handle("send"), draft.name("t", draft.state.transactions)
    if handle is None or not draft.do("transactions.begin", name=other):
        return
    if draft.chance(0.7):
        draft.do("messages.send", message=draft.message(), handle=handle.name, transaction=other)
    else:
        reader = draft.handle("receive")
        if reader is not None:
            draft.do("messages.receive", handle=reader.name, transaction=other)
    if draft.chance(0.6):
        draft.do(f"transactions.{draft.one(('commit', 'prepare', 'abort'))}", transaction=other)


def _receive_all(draft: Draft) -> None:
    """Receive from every queue in one transaction."""
    transaction = draft.transaction()
    for handle in list(draft.state.handles.values()):
        if handle.access == "receive" and transaction is not None and draft.chance(0.7):
            draft.do("messages.receive", handle=handle.name, transaction=transaction)


def _send_all(draft: Draft) -> None:
    """Send to every queue in one transaction."""
    transaction = draft.transaction()
    for handle in list(draft.state.handles.values()):
        if handle.access == "send" and transaction is not None and draft.chance(0.7):
            draft.do("messages.send", message=draft.message(), handle=handle.name, transaction=transaction)


def _move_back(draft: Draft) -> None:
    """Move a message out of a subqueue in a transaction that stays open."""
    handles = [one for one in draft.state.handles.values() if one.is_open and not one.lost]
    source = draft.one([one for one in handles if one.access == "receive" and ";" in one.queue])
    target = draft.one(
        [one for one in handles if one.access == "move" and (source is None or one.queue != source.queue)]
    )
    if source is None or target is None:
        return
    if not draft.do("messages.peek", handle=source.name):
        _move(draft)
        _move(draft)
        draft.do("messages.peek", handle=source.name)
    there = [one.message for one in draft.state.queues[source.queue].positions if one.available]
    message, transaction = draft.one([one for one in there if one in draft.state.lookups]), draft.transaction()
    if message is not None and transaction is not None:
        draft.do("messages.move", message=message, handle=source.name, destination=target.name, transaction=transaction)


def _wait_behind(draft: Draft) -> None:
    """Let reads wait with cursors behind a message that comes back only when they have passed it."""
    handle, transaction = draft.handle("receive"), draft.transaction()
    if handle is None:
        return
    within = draft.state.queues[handle.queue].transactional and draft.chance(0.7)
    read = draft.name("b", {*draft.state.begun, *draft.state.waited})
    if within:
        draft.do("messages.receive", handle=handle.name, transaction=transaction)
    elif not draft.do("messages.receive_begin", name=read, handle=handle.name):
        return
    cursors = [_at_end(draft, handle.name) for _ in range(2 if draft.chance(0.6) else 1)]
    if within and transaction is not None:
        draft.do("transactions.abort", transaction=transaction)
    else:
        draft.do("messages.receive_end", read=read, acknowledge=False)
    for cursor in cursors:
        name, method = draft.name("w", draft.state.waited), draft.one(("messages.peek_next", "messages.peek"))
        draft.do(method or "", name=name, handle=handle.name, cursor=cursor, timeout_ms=INFINITE)


def _at_end(draft: Draft, handle: str) -> str:
    """Open a cursor and move it to the last message; return its name."""
    cursor = draft.name("c", draft.state.cursors)
    if draft.do("cursors.open", name=cursor, handle=handle):
        draft.do("messages.peek", handle=handle, cursor=cursor)
        for _ in range(5):
            if not draft.do("messages.peek_next", handle=handle, cursor=cursor):
                break
    return cursor


def _wait_twice(draft: Draft) -> None:
    _wait(draft)
    _wait(draft)


def _delete_other(draft: Draft) -> None:
    draft.do("queues.delete", queue=draft.one(("q1", "q2", "q2", "q3")))


_OF_TRANSACTION: Final = (
    *(_hold, _hold, _hold_middle, _hold_middle, _send_open, _send_open, _send_open, _move, _move, _move, _overtake),
    *(_overtake, _wait, _look, _purge, _delete_other, _see, _receive_all, _receive_all, _send_all, _send_all),
    *(_move_back, _move_back, _move_back, _wait_behind, _wait_twice),
)


def mixed(model: Model, random: Random, most: int) -> tuple[tuple[Call, ...], State]:
    """Draw the beginning of a history of about `most` calls; return its calls and the state after them."""
    draft = Draft(model, random)
    _queues(draft)
    send = _sends(draft)
    for _ in range(random.randrange(6)):
        send()
    if draft.focus in _KEPT:
        _pass(draft)
    among = _OF_TRANSACTION if draft.chance(0.35) else _DRAWN
    for _ in range(random.randrange(9)):
        if len(draft.calls) >= most:
            break
        event = draft.one(among)
        if event is None or draft.chance(0.25):
            send()
            if draft.focus in _KEPT and draft.chance(0.5):
                _pass(draft)
        else:
            event(draft)
    return tuple(draft.calls), draft.state


_BESIDE: Final = (*_DRAWN, *_OF_TRANSACTION, *[_wait_behind, _wait_twice, _restart, _again] * 2)


def mutated(model: Model, random: Random, calls: Sequence[Call], most: int) -> tuple[tuple[Call, ...], State]:
    """Change a history: how its messages are sent, what its queues are, and what happens in between.

    Returns the calls that still make sense, about `most` of them, and the state after them.
    """
    draft = Draft(model, random, "x")
    changed: Sequence[Call] = calls
    if draft.chance(0.6):
        changed = _resent(draft, changed)
    if draft.chance(0.25):
        changed = _recreated(draft, changed)
    places = {random.randrange(len(calls) + 1) for _ in range(random.randrange(4))} if calls else set()
    for at, call in enumerate(changed):
        if at in places and len(draft.calls) < most:
            event = draft.one(_BESIDE)
            if event is not None:
                event(draft)
        if not draft.chance(0.02):
            draft.again(call)
    if len(changed) in places:
        event = draft.one(_BESIDE)
        if event is not None:
            event(draft)
    return tuple(draft.calls), draft.state


def _resent(draft: Draft, calls: Sequence[Call]) -> Sequence[Call]:
    """Give the messages other wishes, priorities or guarantees of delivery."""
    wishes = draft.one(_WISHES) if draft.chance(0.5) else None
    priorities, delivery = draft.chance(0.4), "recoverable" if draft.chance(0.4) else None
    share = 0.5 if draft.chance(0.5) else 1.0
    found: list[Call] = []
    if wishes is not None and "admin" in wishes and not any(call.queue == "adm" for call in calls):
        found.append(Call("queues.create", queue="adm"))
    for call in calls:
        new: dict[str, Any] = {}
        if call.message is not None and call.name is None and call.action is None and call.destination is None:
            if wishes is not None and draft.chance(share):
                new |= wishes
            if priorities and call.transaction is None:
                new["priority"] = draft.one(_PRIORITIES)
            if delivery and draft.chance(share):
                new["delivery"] = delivery
        found.append(replace(call, **new) if new else call)
    return found


def _recreated(draft: Draft, calls: Sequence[Call]) -> Sequence[Call]:
    """Let queues keep journals, perhaps full ones."""
    new: dict[str, Any] = {"journaling": True}
    if draft.chance(0.5):
        new["journal_quota_kb"] = 10
    made = [call for call in calls if call.queue in ("q1", "q2") and call.access is None and call.name is None]
    first = {call.queue: call for call in reversed(made)}
    return [replace(call, **new) if first.get(call.queue) is call and not call.values else call for call in calls]
