"""The fate of each message in a call, and the journal copies, dead letters and acknowledgments that this adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from conformance.model.arrivals import Branch, made_available
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.model.expiry import due, held_too_long
from conformance.model.journals import (
    ACK_REACH,
    ACK_RECEIVE,
    DEAD_LETTER,
    DEAD_LETTER_TRANSACTIONAL,
    ELSEWHERE,
    NACK_DELETED,
    NACK_PURGED,
    NACK_REACH,
    NACK_TIMEOUT,
    SYSTEM_JOURNAL,
    Attributes,
    ack_name,
    copy_name,
    is_kept,
    journal_of,
)
from conformance.model.message_properties import fits
from conformance.model.rules import (
    ABORT_PURGED,
    ACKNOWLEDGE_PURGED,
    DEAD_LETTER_QUEUE,
    LOCKED_EXPIRY,
    SUBQUEUE_JOURNAL,
    TARGET_JOURNAL,
    Rules,
)
from conformance.model.state import Position, Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import copied, replace

_ABSENT, _AVAILABLE, _DELETED = PositionState.ABSENT, PositionState.AVAILABLE, PositionState.DELETED
_SENDING, _LOCKED, _MOVING = PositionState.SENDING, PositionState.LOCKED, PositionState.MOVING
_PURGE_PENDING, _BEGUN_PURGED = PositionState.PURGE_PENDING, PositionState.BEGUN_PURGED
_ELSEWHERE = (PositionState.ABSENT, PositionState.DELETED, PositionState.MOVING_PURGED)
_MOVED_FROM = (_MOVING, PositionState.MOVING_PURGED)


class Fate(Enum):
    """Event that befell a message in one call."""

    ARRIVED = "arrived"
    TAKEN = "received, in a transaction that is open"
    RECEIVED = "received"
    RETURNED = "came back"
    EXPIRED = "expired"
    EXPIRED_AT_ONCE = "expired when it arrived"
    PURGED = "purged"
    PURGED_THEN_DELETED = "purged while a receive held it that then ended with delete"
    PURGED_THEN_ABORTED = "purged while a receive held it that was then aborted"
    QUEUE_DELETED = "deleted with its queue"
    SEND_DELETED = "deleted with its queue before its send or its move was committed"
    ABORTED = "purged while a move or a receive held it that a restart or an abort has ended"


def fates(old: Queue | None, new: Position, call: Call, expected: Expected) -> Iterator[Fate]:
    """Yield what befell a message in this call. old: its queue before the call; new: its position after it."""
    was = old.find(new.message) if old is not None else None
    state = _ABSENT if was is None else was.state
    if was is new or new.doubtful or (call.method == "restart" and state is new.state):
        return
    if state in _MOVED_FROM and call.method == "queues.delete":
        yield Fate.SEND_DELETED
        return
    if state is PositionState.MOVING_PURGED and call.method in ("transactions.abort", "restart"):
        yield Fate.ABORTED  # 3.1.4.5 deletes it for the reason of a receive, and it was not received
        return
    if state is _MOVING:
        if call.method != "transactions.commit":
            yield from _moved_back(new, expected)
        return
    if new.moved and (call.destination is not None or state in _ELSEWHERE):
        if call.method == "transactions.commit" and held_too_long(expected.next, new):
            raise BadCall(f"whether {new.message} expires before its move is committed or after is not settled")
        taken = new.state in (_LOCKED, _DELETED) and state in (_ABSENT, _DELETED)
        if taken and _is_given(new.message, expected):  # it came by a move, to one who waited
            yield Fate.TAKEN if new.state is _LOCKED else Fate.RECEIVED
        return
    if state is new.state:
        return
    outside = state is _ABSENT or state is _SENDING
    given = _is_given(new.message, expected)
    if outside and (given or new.state is _AVAILABLE or new.state is _LOCKED):
        if state is _SENDING and held_too_long(expected.next, new):
            raise BadCall(f"whether {new.message} expires before its commit or after is not settled")
        yield Fate.ARRIVED
    if new.state is _LOCKED:
        if new.holder in expected.next.transactions:  # a lock of a two-phase receive is not yet a receive
            yield Fate.TAKEN
    elif new.state is _AVAILABLE and state in (_LOCKED, PositionState.BEGUN):
        yield Fate.RETURNED
    elif new.state is _DELETED and state is _ABSENT and new.claim == "MQDMPR-3.1.2.4.zero":
        yield Fate.EXPIRED_AT_ONCE
    elif new.state is _DELETED:
        yield from _end(state, call, given)


def _moved_back(new: Position, expected: Expected) -> Iterator[Fate]:
    """Yield what becomes of a message whose move is undone. Its time may have ended, and a reader may wait for it."""
    if new.state is _AVAILABLE:
        yield Fate.RETURNED
    elif _is_given(new.message, expected):
        yield Fate.TAKEN if new.state is _LOCKED else Fate.RECEIVED


def _end(state: PositionState, call: Call, given: bool) -> Iterator[Fate]:
    """Yield how a message ended, judged by the call that ended it."""
    held = state in (_LOCKED, _PURGE_PENDING)
    if state is _BEGUN_PURGED and call.method == "messages.receive_end":
        yield Fate.PURGED_THEN_DELETED if call.acknowledge else Fate.PURGED
    elif given or (call.method == "transactions.commit" and held) or call.acknowledge:
        yield Fate.RECEIVED
    elif call.method == "transactions.abort" and state is _PURGE_PENDING:
        yield Fate.PURGED_THEN_ABORTED
    elif state in (_PURGE_PENDING, _BEGUN_PURGED) and call.method == "restart":
        yield Fate.ABORTED
    elif state is _SENDING:
        if call.method == "queues.delete":
            yield Fate.SEND_DELETED
    else:
        by_method = {
            "clock.advance": Fate.EXPIRED,
            "queues.purge": Fate.PURGED,
            "queues.delete": Fate.QUEUE_DELETED,
        }
        if call.method in by_method:
            yield by_method[call.method]


def _is_given(message: str, expected: Expected) -> bool:
    result = expected.result
    if isinstance(result, Succeeds) and result.message == message:
        return True
    results = (completion.result for completion in expected.completions)
    return any(isinstance(result, Succeeds) and result.message == message for result in results)


_NEW = -1  # the tie of a copy whose companions are not known yet
_ACK_NONE = "MQDMPR-3.1.1.12.ack-none"
_JOURNAL_COPY = "MQMQ-2.3.1.4.journal-copy"
_JOURNAL_NONE = "MQMQ-2.3.1.4.journal-none"
_JOURNAL_PEEK = "MQMQ-2.3.1.4.journal-peek"
_JOURNAL_QUOTA = "MQDMPR-3.1.1.2.journal-quota"
ALL_JOURNALS = "MQDMPR-3.1.1.1.journal-quota"
_NEVER_MADE = (_JOURNAL_COPY, _JOURNAL_NONE, _JOURNAL_PEEK, _JOURNAL_QUOTA, ALL_JOURNALS)


@dataclass(frozen=True, slots=True)
class _Nack:
    klass: int
    requirement: str
    dead_letter: str | None  # the requirement that a copy is in a dead-letter queue; None: it may be there or not
    kind: str = "negative_receive"  # the kind of acknowledgment that the sender must have asked for


_NACKS = {
    Fate.EXPIRED: _Nack(NACK_TIMEOUT, "MQDMPR-3.1.7.2.7.nack-receive-timeout", "MQDMPR-3.1.7.2.7.dead-letter"),
    Fate.PURGED: _Nack(NACK_PURGED, "MQDMPR-3.1.7.1.7.nack-queue-purged", None),
    Fate.QUEUE_DELETED: _Nack(NACK_DELETED, "MQDMPR-3.1.7.1.4.nack-queue-deleted", None),
}
_PURGED_READINGS = {Fate.PURGED_THEN_DELETED: ACKNOWLEDGE_PURGED, Fate.PURGED_THEN_ABORTED: ABORT_PURGED}
_NOT_REACHED = _Nack(
    NACK_REACH, "MQDMPR-3.1.1.12.ack-neg-arrival", "MQDMPR-3.1.1.12.negative-journaling", "negative_arrival"
)


def with_copies(rules: Rules, before: State, call: Call, expected: Expected) -> Sequence[Expected]:
    """Return the outcome with its copies and acknowledgments; several outcomes where readings differ in them."""
    ways = [expected]
    if call.method == "queues.create":  # no message arrives or ends, whatever happens to an earlier queue of this name
        return ways
    if call.method == "transactions.commit" and isinstance(expected.result, Fails):
        call = replace(call, method="transactions.abort")
    for name, queue, old in _touched(before, expected.next):
        if is_kept(name):
            continue
        same = set(map(id, old.positions)) if old is not None else set()
        for position in queue.positions:
            if id(position) in same:
                continue
            for fate in fates(old, position, call, expected):
                if (name == ELSEWHERE or queue.outgoing is not None) and fate is not Fate.EXPIRED:
                    continue  # a message on its way has arrived nowhere yet
                why = _reason(old, position, call) if fate is Fate.RECEIVED else None
                was = old.find(position.message) if old is not None else None
                within = was is not None and was.state in (_LOCKED, PositionState.PURGE_PENDING)
                ways = [new for way in ways for new in _consequences(rules, way, name, position, fate, why, within)]
        if call.method.startswith("messages.peek") and queue.attributes is not None and queue.attributes.journaling:
            ways = [_peeked(way, name) for way in ways]
    if len(ways) == 1 and ways[0] is expected:
        return ways
    ways = [replace(way, next=_untied(before, way.next)) for way in ways]
    return ways if not before.waiters else [woken for way in ways for woken in _woken(rules, before, way)]


def _touched(before: State, after: State) -> list[tuple[str, Queue, Queue | None]]:
    """Return the queues whose positions changed: name, queue after the call, queue before it (None: new)."""
    old = before.queues
    if after.queues is old:
        return []
    touched: list[tuple[str, Queue, Queue | None]] = []
    for name, queue in after.queues.items():
        was = old.get(name)
        if was is not queue and (was is None or was.positions is not queue.positions):
            touched.append((name, queue, was))
    return touched


def _untied(before: State, after: State) -> State:
    """Give copies that one call put into one queue the same tie: no requirement orders them."""
    for name, queue, _ in _touched(before, after):
        new = [position for position in queue.positions if position.tie == _NEW]
        for position in new:
            tie = before.events if len(new) > 1 else None
            after = after.with_position(name, replace(position, tie=tie))
    return after


def _woken(rules: Rules, before: State, way: Expected) -> Sequence[Expected]:
    """Serve the reads that wait for what this call has put into a journal, dead-letter or administration queue.

    An acknowledgment is sent as any message is (MS-MQQB 3.1.7.15). Whether a copy ends a wait is open: the event is not
    raised for system queues (R-MQDMPR-move-to-system-queue), and no section says how a queue's journal gets its copy.
    """
    ways = [way]
    for name, queue, was in _touched(before, way.next):
        new = [position for position in queue.positions if _is_report(name, position) and _is_new(was, position)]
        ended = {completion.waiter for completion in way.completions if isinstance(completion.result, Fails)}
        if new and any(waiter.queue == name and waiter.name in ended for waiter in before.waiters):
            raise BadCall(f"whether a wait on {name} ends before the copy comes or after is not settled")
        waiting = [waiter for waiter in way.next.waiters if waiter.queue == name]
        if not new or not waiting:
            continue
        journals = queue.attributes is not None and queue.attributes.journaling
        if len(new) > 1 or new[0].doubtful or journals:
            raise BadCall(f"what a read that waits on {name} gets is not settled")
        silent = ways if is_kept(name) else []
        ways = [*(after for each in ways for after in _served(rules, each, name, new[0])), *silent]
    return ways


def _is_report(queue: str, position: Position) -> bool:
    return position.available and (is_kept(queue) or (position.message.startswith("ack") and "@" in position.message))


def _is_new(was: Queue | None, position: Position) -> bool:
    old = was.find(position.message) if was is not None else None
    return old is None or not old.available


def _served(rules: Rules, way: Expected, queue: str, position: Position) -> Iterator[Expected]:
    start = Branch(way.next, way.completions, way.readings, way.transitions)
    for branch in made_available(rules, start, queue, position, None):
        yield replace(
            way,
            next=branch.state,
            completions=branch.completions,
            readings=branch.readings,
            transitions=branch.transitions,
        )


def _reason(old: Queue | None, new: Position, call: Call) -> str | None:
    """Return the requirement of the section that has this receive acknowledged; None for a plain receive."""
    was = old.find(new.message) if old is not None else None
    if call.method == "messages.receive_by_lookup_id":
        return "MQDMPR-3.1.7.1.13.deleted-reason"
    if was is None or call.method != "transactions.commit":
        return None
    if was.state is PositionState.PURGE_PENDING:
        return "MQDMPR-3.1.4.4.receive-reason"
    return "MQDMPR-3.1.7.1.13.operation-reason" if was.claim == "MQDMPR-3.1.7.1.13.transaction-locks" else None


def _consequences(
    rules: Rules,
    way: Expected,
    queue: str,
    position: Position,
    fate: Fate,
    why: str | None = None,
    within: bool = False,
) -> Iterator[Expected]:
    """Yield the outcome with what this fate leaves behind. within: a transaction held the message before the call."""
    if fate is Fate.ARRIVED:
        yield replace(way, next=_arrived(way.next, queue, position))
    elif fate is Fate.EXPIRED_AT_ONCE:
        state = _perhaps_arrived(way.next, queue, position)
        yield from _consequences(rules, replace(way, next=state), queue, position, Fate.EXPIRED)
    elif fate is Fate.RECEIVED:
        state = _delivered(way.next, position)
        way = replace(way, next=_acknowledged(state, position, ACK_RECEIVE, "positive_receive", why))
        yield from _journaled(rules, way, queue, position, at_commit=True, within=within)
    elif fate is Fate.TAKEN:
        yield from _journaled(rules, way, queue, position, at_commit=False, within=True)
    elif fate is Fate.RETURNED:
        yield from _returned(rules, _unjournaled(way, queue, position), queue, position)
    elif fate is Fate.SEND_DELETED:
        yield from _perhaps_reported(rules, way, queue, position, Fate.QUEUE_DELETED)
    elif fate is Fate.ABORTED:
        yield from _perhaps_reported(rules, way, queue, position, Fate.PURGED)
    elif fate in _PURGED_READINGS:
        yield from _purged_or_received(rules, way, queue, position, _PURGED_READINGS[fate])
    else:
        nack = _NACKS[fate] if queue != ELSEWHERE else _NOT_REACHED
        state = _not_received(way.next, queue, position)
        state = _acknowledged(state, position, nack.klass, nack.kind, nack.requirement)
        yield from _dead_letters(rules, replace(way, next=state), position, nack)


def _purged_or_received(
    rules: Rules, way: Expected, queue: str, position: Position, reading: str
) -> Iterator[Expected]:
    """Report a message that was purged while a receive held it. No section says whether one received has a copy."""
    for alternative in rules.accepted(_assumed(way.next, way), reading):
        assumed = replace(way, readings=(*way.readings, (reading, alternative)))
        if alternative == "purged":
            yield from _consequences(rules, assumed, queue, position, Fate.PURGED)
        else:
            received = _consequences(rules, assumed, queue, position, Fate.RECEIVED)
            yield from (_unjournaled(each, queue, position) for each in received)


def _arrived(state: State, queue: str, position: Position) -> State:
    wished = position.wishes is not None and position.wishes.journal
    claim = f"MQDMPR-3.1.1.12.positive-journaling{'' if wished else '-off'}"
    kept = wished and _room(state, SYSTEM_JOURNAL, position, None)
    if wished and kept is False:
        claim = _refusing(state, SYSTEM_JOURNAL, position, "MQDMPR-3.1.1.12.positive-journaling-over-quota")
    state = put_copy(state, SYSTEM_JOURNAL, position, claim, there=bool(kept is not False and wished))
    if kept is None:
        state = _doubt(state, SYSTEM_JOURNAL, position)
    return _acknowledged(state, position, ACK_REACH, "positive_arrival", None)


def _perhaps_arrived(state: State, queue: str, position: Position) -> State:
    """Leave open whether a message whose time is over when it arrives was delivered: it was there for no time."""
    wishes = position.wishes
    state = _arrived(state, queue, position)
    if wishes is None:
        return state
    if wishes.journal:
        state = _doubt(state, SYSTEM_JOURNAL, position)
    return _doubt_report(state, position, ACK_REACH)


def _perhaps_reported(rules: Rules, way: Expected, queue: str, position: Position, fate: Fate) -> Iterator[Expected]:
    """Leave open whether the sender is told what became of its message.

    3.1.7.1.4 goes through every position, also those of sends that are not committed; 3.1.3 aborts what a restart has
    interrupted, and no section says whether administration queues take reports then.
    """
    for told in _consequences(rules, way, queue, position, fate):
        yield replace(told, next=_doubt_report(told.next, position, _NACKS[fate].klass))


def _doubt_report(state: State, position: Position, klass: int) -> State:
    """Leave open whether the acknowledgment of this class was made."""
    place = position.wishes.admin or "" if position.wishes is not None else ""
    report = state.queues[place].find(ack_name(klass, position.message, place)) if place in state.queues else None
    if report is None or not report.available:
        return state
    return state.with_position(place, replace(report, doubtful=True))


def _delivered(state: State, position: Position) -> State:
    """Note that a received message is not a dead letter, even if its time ended before its transaction committed."""
    if position.wishes is None or not position.wishes.dead_letter:
        return state
    late = held_too_long(state, replace(position, state=_LOCKED))
    claim = "MQDMPR-3.1.7.2.7.locked" if late else "MQDMPR-3.1.1.12.negative-journaling"
    for place in (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL):
        state = put_copy(state, place, position, claim, there=False)
    return state


def _journaled(
    rules: Rules, way: Expected, queue: str, position: Position, *, at_commit: bool, within: bool
) -> Iterator[Expected]:
    """Put a copy into the journal of the queue. In a transaction, a reading decides when the copy is made."""
    state, place = way.next, journal_of(queue)
    attributes = state.queues[queue].attributes
    if attributes is not None and attributes.journaling:
        yield from _copied(rules, way, queue, position, at_commit=at_commit, within=within)
        return
    if at_commit and place in state.queues:
        way = replace(way, next=put_copy(state, place, position, _JOURNAL_NONE, there=False))
    above = state.queues.get(state.queues[queue].family) if ";" in queue else None
    if above is None or above.attributes is None or not above.attributes.journaling:
        yield way
        return
    for alternative in rules.accepted(_assumed(way.next, way), SUBQUEUE_JOURNAL):
        assumed = replace(way, readings=(*way.readings, (SUBQUEUE_JOURNAL, alternative)))
        if alternative == "none":
            yield assumed
        else:
            yield from _copied(rules, assumed, above.name, position, at_commit=at_commit, within=within)


def _copied(
    rules: Rules, way: Expected, queue: str, position: Position, *, at_commit: bool, within: bool
) -> Iterator[Expected]:
    """Put a copy into the journal of this queue, unless it was put there when a transaction received the message."""
    state, place = way.next, journal_of(queue)
    attributes = state.queues[queue].attributes
    made = state.queues[place].find(copy_name(position.message, place)) if place in state.queues else None
    aborted = made is not None and not (within and at_commit)  # then it is the copy of an earlier receive
    if made is not None and aborted and made.doubtful:
        state = state.with_position(place, replace(made, doubtful=False))
        yield replace(way, next=state)  # that copy was taken away again, so this receive makes the only one
        position = replace(position, message=f"{position.message}@again")
    elif made is not None and aborted and not made.available and made.claim not in _NEVER_MADE:
        yield way  # somebody has received that copy, and there may be but one
    elif made is not None and (made.available or made.claim in (_JOURNAL_QUOTA, ALL_JOURNALS)):
        yield way  # copied when it was received
        return
    for alternative in rules.accepted(_assumed(state, way), TARGET_JOURNAL) if within else ("",):
        if alternative and (alternative == "at-commit") != at_commit:
            yield replace(way, readings=(*way.readings, (TARGET_JOURNAL, alternative)))
            continue
        quota = attributes.journal_quota if attributes is not None else None
        room = _room(state, place, position, quota)
        claim = _JOURNAL_COPY
        if room is False:
            own = fits(state, [state.queues[place]] if place in state.queues else [], position, quota)
            claim = _JOURNAL_QUOTA if own is False else _refusing(state, place, position, _JOURNAL_QUOTA)
        after = put_copy(state, place, position, claim, there=room is not False)
        if room is None:
            after = _doubt(after, place, position)
        readings = ((TARGET_JOURNAL, alternative),) if alternative else ()
        yield replace(way, next=after, readings=(*way.readings, *readings))


def _assumed(state: State, way: Expected) -> State:
    """Return the state with the readings that this outcome has assumed so far."""
    taken = {reading: frozenset({alternative}) for reading, alternative in way.readings}
    return replace(state, assumed={**state.assumed, **taken}) if taken else state


def _unjournaled(way: Expected, queue: str, position: Position) -> Expected:
    """Handle the journal of an aborted receive: no section says whether a copy made at the receive is removed."""
    place = journal_of(way.next.queues[queue].family)
    if place not in way.next.queues:
        return way
    made = way.next.queues[place].find(copy_name(position.message, place))
    if made is None or not made.available:
        return replace(way, next=_not_received(way.next, queue, position))
    return replace(way, next=_doubt(way.next, place, position))


def _not_received(state: State, queue: str, position: Position) -> State:
    """Note that a message that was not received is not in the journal: it left otherwise, or came back."""
    attributes, place = state.queues[queue].attributes, journal_of(queue)
    if attributes is None or place not in state.queues:
        return state
    state = put_copy(state, place, position, _JOURNAL_NONE, there=False)
    made = state.position(place, copy_name(position.message, place))
    if made.claim not in (_JOURNAL_PEEK, _JOURNAL_NONE):
        return state
    claim = _JOURNAL_COPY if attributes.journaling else _JOURNAL_NONE
    return state.with_position(place, replace(made, claim=claim))


def _returned(rules: Rules, way: Expected, queue: str, position: Position) -> Iterator[Expected]:
    """Handle a receive aborted after the message's time was over: the message expires now, or never."""
    state, wishes = way.next, position.wishes
    window = due(state, position)
    if wishes is None or window is None or state.now < window[1]:
        yield way
    if wishes is None or window is None or state.now < window[0]:
        return
    for alternative in rules.accepted(_assumed(state, way), LOCKED_EXPIRY):
        readings = (*way.readings, (LOCKED_EXPIRY, alternative))
        current = state.position(queue, position.message)
        if alternative == "available":
            lasting = replace(current, wishes=replace(wishes, live_ms=None))
            yield replace(way, next=state.with_position(queue, lasting), readings=readings)
            continue
        gone = replace(current, state=_DELETED, claim="MQDMPR-3.1.2.4.expires")
        expired = replace(way, next=state.with_position(queue, gone), readings=readings)
        yield from _consequences(rules, expired, queue, gone, Fate.EXPIRED)


def _dead_letters(rules: Rules, way: Expected, position: Position, nack: _Nack) -> Iterator[Expected]:
    wished = position.wishes is not None and position.wishes.dead_letter
    alternatives: tuple[str, ...] = ("",)
    if position.transactional and wished:
        alternatives = rules.accepted(_assumed(way.next, way), DEAD_LETTER_QUEUE)
    for alternative in alternatives:
        other = position.transactional and alternative != "one-for-all"
        place = DEAD_LETTER_TRANSACTIONAL if other else DEAD_LETTER
        elsewhere = DEAD_LETTER if other else DEAD_LETTER_TRANSACTIONAL
        claim = nack.dead_letter or "MQDMPR-3.1.1.12.negative-journaling"
        if wished and position.transactional and nack.dead_letter:
            claim = "MQDMPR-3.1.1.12.negative-journaling-transactional"
        room = _room(way.next, place, position, None) if wished else True
        if wished and room is False:
            claim = _refusing(way.next, place, position, "MQDMPR-3.1.1.12.negative-journaling-over-quota")
        kept = claim if wished else "MQDMPR-3.1.1.12.negative-journaling-off"
        state = put_copy(way.next, place, position, kept, there=wished and room is not False)
        if wished and (nack.dead_letter is None or room is None):
            state = _doubt(state, place, position)
        wrong = "MQDMPR-3.1.1.12.negative-journaling-transactional" if wished else claim
        state = put_copy(state, elsewhere, position, wrong, there=False)
        readings = ((DEAD_LETTER_QUEUE, alternative),) if alternative else ()
        yield replace(way, next=state, readings=(*way.readings, *readings))


def _acknowledged(state: State, position: Position, klass: int, kind: str, requirement: str | None) -> State:
    """Put the acknowledgment of this class into the administration queue, or note its absence if not asked for."""
    wishes = position.wishes
    if wishes is None or wishes.admin is None:
        return state
    queue = state.queues.get(wishes.admin)
    if queue is None or not queue.exists:  # MS-MQQB 3.1.7.15: it is not opened, so there is no acknowledgment
        return state
    asked = kind in wishes.acks
    word = kind.replace("positive", "pos").replace("negative", "neg").replace("_", "-")
    claim = requirement or f"MQDMPR-3.1.1.12.ack-{word}"
    if not asked:
        claim = "MQQB-3.1.7.15.requested" if wishes.acks else _ACK_NONE
    event = state.events + 1
    name = ack_name(klass, position.message, wishes.admin)
    where = _AVAILABLE if asked else _DELETED
    delivery = "recoverable" if position.recoverable else "express"
    tie = _NEW if asked else None
    doubtful = asked and queue.transactional  # no section says whether such a queue takes an acknowledgment
    report = Position(name, (4, event), where, claim, event, False, None, delivery, tie=tie, doubtful=doubtful)
    return state.later(wishes.admin, report)


def put_copy(state: State, place: str, position: Position, claim: str, *, there: bool) -> State:
    """Put a copy of this message into a journal or dead-letter queue, or note (`there` false) that there is none."""
    state = with_kept(state, place)
    name = copy_name(position.message, place)
    made = state.queues[place].find(name)
    if made is not None and (made.available or there is False):
        return state
    kept: Any = copied(position)
    kept.message, kept.claim, kept.tie = name, claim, _NEW if there else None
    kept.since = state.events + 1
    kept.rank = (position.rank[0], kept.since)
    kept.state = _AVAILABLE if there else _DELETED
    kept.holder, kept.doubtful, kept.purged = None, False, False
    return state.later(place, kept)


def with_kept(state: State, place: str) -> State:
    """Return the state with this journal or dead-letter queue added, if it was not there."""
    return state if place in state.queues else state.put(Queue(place, transactional=False, attributes=Attributes()))


def _peeked(way: Expected, queue: str) -> Expected:
    """Note that a peek at a message of a journaling queue makes no copy."""
    message = getattr(way.result, "message", None)
    position = way.next.queues[queue].find(message) if message is not None else None
    if position is None:
        return way
    return replace(way, next=put_copy(way.next, journal_of(queue), position, _JOURNAL_PEEK, there=False))


def _room(state: State, place: str, position: Position, quota: int | None) -> bool | None:
    """Tell whether a copy fits its queue's quota and the quota of all journals; None when that is open."""
    limits = [(quota, [state.queues[place]] if place in state.queues else [])]
    if state.keeping is not None:
        limits.append((state.keeping.journal_quota, [queue for queue in state.queues.values() if is_kept(queue.name)]))
    found: set[bool | None] = {fits(state, queues, position, limit) for limit, queues in limits}
    return False if False in found else None if None in found else True


def _refusing(state: State, place: str, position: Position, claim: str) -> str:
    """Return the requirement by which there is no room for a copy: `claim`, unless other journals take the room."""
    quota = state.keeping.journal_quota if state.keeping is not None else None
    alone = fits(state, [state.queues[place]] if place in state.queues else [], position, quota)
    return claim if alone is False else ALL_JOURNALS


def _doubt(state: State, place: str, position: Position) -> State:
    made = state.position(place, copy_name(position.message, place))
    return state.with_position(place, replace(made, doubtful=True)) if made.available else state
