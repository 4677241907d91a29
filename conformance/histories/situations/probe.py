"""The probe: the calls a history ends with, so that what went wrong inside the implementation is seen outside.

It first restarts the manager in a share of the histories. Then it uses everything that the model says is there: it
counts the queues, reads on with the cursors, ends waits, begun reads and transactions, tries share modes, reads
attributes, takes outgoing messages, empties every queue and closes every handle. It ends what is open, and empties the
queues, whatever room it has; the dead-letter queues and a journal that must be empty are among them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.histories.operations.operation import Offer
from conformance.histories.operations.properties import look
from conformance.histories.operations.state_queries import message_name, names
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.specified_calls import tied
from conformance.model import Call, State
from conformance.model.journals import DEAD_LETTERS, ELSEWHERE, SYSTEM_JOURNAL, is_kept, journal_of
from conformance.model.state import Handle, Queue, Waiter
from conformance.model.tables import CursorState, PositionState

Probing: TypeAlias = Generator[Call, State, None]
"""Yields the next call; the state after it is sent back."""

RESTARTS = 8  # one history in so many is restarted or killed before the probe
RESTARTS_DEAR = 32  # where a restart starts a process, which takes as long as some hundred calls
JOURNALS = 4  # in one history of so many, the probe reads a journal that nobody used
LEAST = 12  # calls that even the shortest history may spend on its probe
MOST = 48  # calls of one probe
_FAR = 6  # steps of one cursor
_DEEP = 12  # messages received from one queue
_READERS = 3  # handles of one queue that receive in turn
_AGAIN = 2  # ended transactions and closed cursors that are used once more
_SETTLED = (PositionState.AVAILABLE, PositionState.DELETED)
_GONE = (PositionState.DELETED, PositionState.SENDING)
_READING = ("receive", "peek")


def room(calls: int) -> int:
    """Return the most calls that the probe of a history with so many calls makes: a third of all."""
    return min(MOST, max(LEAST, calls // 2))


def restarts(number: int, *, cheap: bool) -> bool:
    """Tell whether the probe of the history of this number begins with a restart, if the manager can be restarted."""
    share = RESTARTS if cheap else RESTARTS_DEAR
    return number % share == share - 1


def probe(number: int, state: State, offer: Offer, *, most: int, restart: bool = False) -> Probing:
    """Yield the calls of the probe, each for the state after the one before.

    number: of the history; it decides between ways to end what is open. most: number of calls. restart: begin with a
    restart. The model may refuse a call with BadCall: the caller leaves it out and sends the state as it was.
    """
    yield from _Probe(number, state, offer, most).run(restart)


@dataclass(slots=True)
class _Probe:
    number: int
    state: State
    offer: Offer
    left: int
    tried: set[str] = field(default_factory=set)

    def run(self, restart: bool) -> Probing:
        """Yield every phase in turn. What comes first takes what `left` allows, but leaves room to empty queues."""
        if restart:
            yield from self._ask(Call("restart", kill=bool(self.number // RESTARTS & 1)))
        yield from self._properties()
        yield from self._waits()
        yield from self._cursors()
        yield from self._walks()
        yield from self._begun()
        yield from self._transactions()
        yield from self._counts()
        yield from self._shares()
        yield from self._accesses()
        yield from self._outgoing()
        yield from self._absent()
        names = [queue.name for queue in self._queues() if queue.name not in DEAD_LETTERS]
        for name in (*names, *self._unasked(), *DEAD_LETTERS):
            yield from self._emptied(name)
        yield from self._closings()

    def _ask(self, call: Call, *, sure: bool = False) -> Probing:
        """Make a call if there is room for it. sure: in any case."""
        if (self.left <= 0 and not sure) or not self.offer.has(*OPERATIONS[call.method].needs):
            return
        if call.cursor is not None and tied(self.state, call.handle or ""):
            return
        self.left -= 1
        self.state = yield call

    @property
    def _spare(self) -> bool:
        """True while there is room for more than what it takes to empty the queues."""
        need = sum(1 + min(_DEEP, _there(queue)) for queue in self._queues())
        return self.left > need

    def _queues(self) -> list[Queue]:
        """Return the queues to empty: those for reports first, those with messages, then journals, then the others.

        A report that comes where none is due is seen nowhere else.
        """
        admins = {one.wishes.admin for queue in self.state.queues.values() for one in queue.positions if one.wishes}
        found = [
            queue
            for queue in self.state.queues.values()
            if queue.exists and queue.outgoing is None and queue.name != ELSEWHERE and "," not in queue.name
        ]
        return sorted(
            found,
            key=lambda queue: (queue.name not in admins, not _there(queue), not queue.positions, is_kept(queue.name)),
        )

    def _unasked(self) -> list[str]:
        """Return a journal that nothing was put into as far as the model knows: one of them, in some histories."""
        if self.number % JOURNALS:
            return []
        queues = self.state.queues.values()
        own = [one.name for one in queues if one.exists and one.parent is None and one.outgoing is None]
        journals = [journal_of(name) for name in own if name != ELSEWHERE and "," not in name and not is_kept(name)]
        found = [name for name in (SYSTEM_JOURNAL, *journals) if name not in self.state.queues]
        return found[self.number // JOURNALS % len(found) :][:1] if found else []

    def _bit(self, place: int) -> bool:
        return bool(self.number >> (place % 16) & 1)

    def _properties(self) -> Probing:
        properties = self.state.properties
        if properties is None:
            return
        for queue in list(self.state.queues.values()):
            if queue.exists and queue.parent is None and not is_kept(queue.name):
                yield from self._ask(look(self.state, queue.name))

    def _waits(self) -> Probing:
        """End each wait: by cancelling it, by a message, or by its time-out."""
        for place, waiter in enumerate(self.state.waiters):
            if waiter.name not in {other.name for other in self.state.waiters}:
                continue
            for call in self._endings(waiter, (self.number + place) % 3):
                yield from self._ask(call, sure=True)

    def _endings(self, waiter: Waiter, how: int) -> Iterator[Call]:
        queue = self.state.queues[waiter.queue]
        sender = next((each for each in _open(self.state, queue.name, "send")), None)
        if how == 1 and sender is not None and not queue.transactional:
            yield Call("messages.send", message=message_name(self.state), handle=sender.name)
        elif how == 2 and waiter.deadline is not None and self.offer.virtual and waiter.deadline > self.state.now:
            yield Call("clock.advance", by_ms=waiter.deadline - self.state.now)
        else:
            yield Call("messages.cancel", request=waiter.name)

    def _cursors(self) -> Probing:
        """Read on with every open cursor: what is at it, then what follows, to the end."""
        for cursor in list(self.state.cursors.values()):
            handle = self.state.handles.get(cursor.handle)
            usable = handle is not None and handle.is_open and not handle.lost and handle.access in _READING
            if cursor.state is CursorState.CLOSED or not usable or self.state.busy(cursor.name) or not self._spare:
                continue
            if not self._bit(0):  # in the others peek-next comes first, which an unread cursor refuses
                yield from self._ask(Call("messages.peek", handle=cursor.handle, cursor=cursor.name))
            yield from self._onward(cursor.name)
        closed = [each for each in self.state.cursors.values() if each.state is CursorState.CLOSED]
        for cursor in closed[-_AGAIN:]:
            handle = self.state.handles.get(cursor.handle)
            if handle is not None and handle.is_open and not handle.lost and self._spare:
                yield from self._ask(Call("messages.peek", handle=handle.name, cursor=cursor.name))

    def _onward(self, cursor: str) -> Probing:
        for _ in range(_FAR):
            found = self.state.cursors.get(cursor)
            if found is None or not self._spare:
                return
            handle = self.state.handles[found.handle]
            behind = any(each.available and each.rank > found.at for each in self.state.queues[handle.queue].positions)
            yield from self._ask(Call("messages.peek_next", handle=found.handle, cursor=cursor))
            if not behind:
                return

    def _walks(self) -> Probing:
        """Walk queues whose messages are held, before their holders end: a new cursor must not see those."""
        for queue in self._queues():
            held = any(each.state not in (PositionState.AVAILABLE, PositionState.DELETED) for each in queue.positions)
            reader = next(_open(self.state, queue.name, *_READING), None)
            if not held or reader is None or not self._spare:
                continue
            name = names("c", self.state.cursors)
            yield from self._ask(Call("cursors.open", name=name, handle=reader.name))
            if name in self.state.cursors:
                yield from self._ask(Call("messages.peek", handle=reader.name, cursor=name))
                if any(each.available for each in self.state.queues[queue.name].positions):
                    yield from self._onward(name)

    def _begun(self) -> Probing:
        """End each begun read; ending one that is over must fail."""
        for place, read in enumerate(list(self.state.begun.values())):
            handle = self.state.handles.get(read.handle)
            if handle is None or not handle.is_open:
                continue
            over = read.ended and self.state.position(read.queue, read.message).state in _SETTLED
            if not read.ended or (over and self._spare):
                ends = Call("messages.receive_end", read=read.name, acknowledge=self._bit(place))
                yield from self._ask(ends, sure=not read.ended)

    def _transactions(self) -> Probing:
        """End each open transaction; committing one of the last that ended must fail."""
        every = list(self.state.transactions.values())
        for place, found in enumerate(every):
            if found.ended is None:
                how = "commit" if self._bit(place) else "abort"
                yield from self._ask(Call(f"transactions.{how}", transaction=found.name), sure=True)
                if self.state.transactions[found.name].ended is None:  # what a commit does is not settled
                    yield from self._ask(Call("transactions.abort", transaction=found.name), sure=True)
        for found in [each for each in every if each.ended in ("commit", "abort")][-_AGAIN:]:
            if self._spare:
                yield from self._ask(Call("transactions.commit", transaction=found.name))

    def _counts(self) -> Probing:
        for queue in self._queues():
            if not is_kept(queue.name) and self._spare:
                yield from self._ask(Call("queues.counts", queue=queue.name))

    def _shares(self) -> Probing:
        """Open a queue in two modes that its open handles refuse or allow, and close what was opened.

        One queue, and those with handles that are unusual.
        """
        plain = [queue for queue in self._queues() if not is_kept(queue.name) and queue.parent is None]
        for place, queue in enumerate(plain):
            mine = [handle for handle in self.state.handles.values() if handle.queue == queue.name]
            unusual = len(mine) > 2 or any(not handle.is_open or handle.share != "deny_none" for handle in mine)
            if place != self.number % len(plain) and not unusual:
                continue
            for access, share in (("receive", "deny_receive"), ("receive", None)):
                if self._spare:
                    yield from self._tried(queue.name, access, share)

    def _accesses(self) -> Probing:
        """Read by handles that are not for that, or whose queue is gone."""
        for handle in list(self.state.handles.values()):
            if not handle.is_open or handle.access == "move" or not self._spare:
                continue
            if handle.access != "receive" or handle.lost:
                yield from self._ask(Call("messages.peek", handle=handle.name))
            if handle.access == "peek" and not handle.lost:
                yield from self._ask(Call("messages.receive", handle=handle.name))

    def _tried(self, queue: str, access: str, share: str | None) -> Probing:
        name = names("h", self.state.handles)
        yield from self._ask(Call("queues.open", name=name, queue=queue, access=access, share=share))
        if name in self.state.handles:
            self.tried.add(name)
            yield from self._ask(Call("queues.close", handle=name))

    def _outgoing(self) -> Probing:
        for queue in list(self.state.queues.values()):
            if queue.outgoing is None:
                continue
            if not any(_open(self.state, queue.name, "send")):
                name = names("h", self.state.handles)
                yield from self._ask(Call("queues.open", name=name, queue=queue.name, access="send"))
            yield from self._ask(Call("outgoing.take", queue=queue.name))
            if self._bit(0):
                yield from self._ask(Call("outgoing.resume", queue=queue.name))
                yield from self._ask(Call("outgoing.take", queue=queue.name))

    def _absent(self) -> Probing:
        """Open the queues that were deleted, which must fail."""
        for queue in list(self.state.queues.values()):
            if not queue.exists and queue.parent is None and not is_kept(queue.name) and self._spare:
                name = names("h", self.state.handles)
                access = "send" if self._bit(0) else "receive"
                yield from self._ask(Call("queues.open", name=name, queue=queue.name, access=access))

    def _emptied(self, queue: str) -> Probing:
        """Receive everything, by all handles in turn, and once more, which must find nothing."""
        if not any(_open(self.state, queue, "receive")):
            name = names("h", self.state.handles)
            yield from self._ask(Call("queues.open", name=name, queue=queue, access="receive"), sure=True)
            self.tried.add(name)
        for turn in range(_DEEP + 1):
            readers = list(_open(self.state, queue, "receive"))[:_READERS]
            if not readers:
                return
            none_left = not any(each.available for each in self.state.queues[queue].positions)
            last = none_left and turn + 1 >= len(readers)
            yield from self._ask(Call("messages.receive", handle=readers[turn % len(readers)].name), sure=True)
            if last:
                return

    def _closings(self) -> Probing:
        """Close every handle: an open one closes, a closed one refuses."""
        for handle in list(self.state.handles.values()):
            if handle.name not in self.tried and not (handle.lost and handle.is_open):
                yield from self._ask(Call("queues.close", handle=handle.name))


def _open(state: State, queue: str, *access: str) -> Iterator[Handle]:
    for handle in state.handles.values():
        if handle.queue == queue and handle.access in access and handle.is_open and not handle.lost:
            yield handle


def _there(queue: Queue) -> int:
    """Return the number of messages that may come out of a queue: available ones, and held ones that may come back."""
    return sum(each.state not in _GONE for each in queue.positions)
