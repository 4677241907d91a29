"""Find the requirement that a wrong answer or a wrong transfer breaks, also by an unexpected message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from conformance.model.arrivals import IN_ORDER
from conformance.model.calls import LOOKUPS, READS, Answer, Call, Observation, Scan, SeenMessage
from conformance.model.coordinated import IN_DOUBT, misnamed
from conformance.model.expected import (
    Blocks,
    Completion,
    Either,
    Expected,
    Fails,
    Result,
    Succeeds,
    Tells,
    Transfers,
    message_name,
)
from conformance.model.journal_copies import ALL_JOURNALS
from conformance.model.journals import (
    CLASSES,
    ELSEWHERE,
    NACK_TIMEOUT,
    NUMBERS,
    SYSTEM_JOURNAL,
    SYSTEM_QUEUES,
    ack_class,
    copy_name,
    is_kept,
    plain_name,
)
from conformance.model.outgoing import CONNECTED, EACH, STATES, locked_claims, session_of
from conformance.model.state import TAKING, Outgoing, Position, Queue, State
from conformance.model.tables import ABORTS, COMMITS, CursorState, OutgoingState, PositionState
from conformance.model.values import replace
from conformance.spec.constants import hresults
from conformance.verdict import Json

_ON_HOLD, _AVAILABLE = OutgoingState.ON_HOLD, PositionState.AVAILABLE


def misdirected(state: State, call: Call, demanded: Expected, names: Sequence[str] | None) -> str | None:
    """Return the requirement broken by a transfer; None when it has a message that nobody sent.

    names: the transferred messages, None when the call failed.
    """
    queue = state.queues[call.queue or ""]
    found = queue.outgoing or Outgoing()
    expected = demanded.result.messages if isinstance(demanded.result, Transfers) else ()
    if names is None:
        return demanded.requirement or "MQDMPR-3.1.7.1.5.remote-send"
    if any(all(queue.find(name) is None for queue in state.queues.values()) for name in names):
        return None
    stranger = astray(queue, found, names)
    if stranger is not None:
        return stranger
    if found.state is _ON_HOLD:
        return _in_spite_of_the_hold(state, queue, found, names)
    if found.state is OutgoingState.LOCKED:
        return _in_spite_of_the_lock(state, queue, found)
    missing = [position for position in map(queue.find, expected) if position and position.message not in names]
    sure = [position for position in missing if not position.doubtful]
    if sure and not names:
        return _nothing(state, queue, demanded, sure)
    for position in sure:
        return _lost(found, position)
    for wanted, given in zip([name for name in expected if name in names], names, strict=False):
        if wanted != given:
            return disordered(queue.find(wanted), queue.find(given))
    return demanded.requirement


def refused(queue: Queue | None, demanded: Expected) -> str:
    """Return the requirement broken by the refusal of a send, which the state of an outgoing queue does not excuse."""
    remote = queue is not None and queue.outgoing is not None and demanded.requirement.endswith("3.1.7.1.9.success")
    return "MQDMPR-3.1.1.17.send-access" if remote else demanded.requirement  # 3.1.7.1.9 speaks of local queues there


def astray(queue: Queue, found: Outgoing, names: Sequence[str]) -> str | None:
    """Return the requirement broken by a message that this queue must not transfer, or not twice; None for none."""
    for name in names:
        position = queue.find(name)
        if position is None:
            return "MQDMPR-3.1.7.1.9.only-destination"
        if position.state is not _AVAILABLE:
            return position.claim
        if list(names).count(name) > 1:
            waited = found.paused is not None and position.since <= found.paused and found.by != "queues.open"
            return "MQDMPR-3.1.7.1.34.removed" if waited else "MQDMPR-3.1.7.1.29.atomically-removed"
    return None


def _in_spite_of_the_hold(state: State, queue: Queue, found: Outgoing, names: Sequence[str]) -> str:
    """Return the requirement broken by a transfer from a queue that is on hold."""
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.held and any(other.by == "outgoing.resume" and other.since > found.since for other in others):
        return "MQDMPR-3.1.4.15.resumed-queue"  # it stayed on hold until another queue was resumed
    before = [item for item in queue.positions if item.available and item.since <= (found.paused or 0)]
    if before and not any(position.message in names for position in before):
        return before[0].claim if state.restarts else "MQDMPR-3.1.1.3.state-on-hold"
    if found.held:
        return "MQDMPR-3.1.7.2.3.on-hold" if before else "MQDMPR-3.1.1.3.state-on-hold"
    everything = len(names) == sum(position.available for position in queue.positions)
    return "MQDMPR-3.1.4.14.pauses" if everything else "MQDMPR-3.1.7.2.3.on-hold"


def _in_spite_of_the_lock(state: State, queue: Queue, found: Outgoing) -> str:
    """Return the requirement broken by a transfer from a queue that hardened security locks."""
    if found.held:
        return STATES["LOCKED"]
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.by == "restart" and any(other.by == "restart" and other.held for other in others):
        return EACH
    return locked_claims(state, queue, found)[0]


def _nothing(state: State, queue: Queue, demanded: Expected, missing: Sequence[Position]) -> str:
    """Return the requirement broken when no message came: the queue is wrongly on hold, or all messages are lost."""
    found = queue.outgoing or Outgoing()
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.by not in ("outgoing.resume", "restart") and any(other.state is _ON_HOLD for other in others):
        return "MQDMPR-3.1.4.14.paused-queue"
    if found.by == "restart" and found.paused is None:
        return missing[0].claim
    return demanded.requirement


def _lost(found: Outgoing, position: Position) -> str:
    """Return the requirement broken when other messages came and this one did not."""
    if found.paused is None or found.by == "restart":
        return position.claim
    if position.since <= found.paused:
        return "MQDMPR-3.1.7.2.3.on-hold"  # a pause sets a state and removes no message
    # A queue on hold holds its messages back; it takes and keeps new ones as ever.
    return "MQDMPR-3.1.1.17.send-access" if position.since <= found.since else position.claim


def disordered(wanted: Position | None, given: Position | None) -> str:
    """Return the requirement broken by a message that came in place of another."""
    if wanted is not None and given is not None and wanted.priority != given.priority:
        return "MQDMPR-3.1.7.3.9.highest-priority"
    return "MQDMPR-3.1.1.2.arrival-order"


_ONCE = "MQDMPR-3.1.7.1.29.atomically-removed"
_TOO_SOON = "MQDMPR-3.1.1.4.eod-resend-interval"


def mistransferred(state: State, call: Call, demanded: Expected, names: Sequence[str] | None) -> str | None:
    """Return the requirement broken by a transfer; None when it has a message that nobody sent.

    names: the transferred messages, None when the call failed.
    """
    queue, session = state.queues[call.queue or ""], session_of(state, call.queue or "")
    expected = demanded.result.messages if isinstance(demanded.result, Transfers) else ()
    if names is None:
        return demanded.requirement or STATES[CONNECTED]
    if any(all(each.find(name) is None for each in state.queues.values()) for name in names):
        return None
    stranger = astray(queue, queue.outgoing or Outgoing(), names)
    if stranger is not None:
        return stranger
    for name in names:
        if name not in expected:
            if name not in session.sent or (not expected and demanded.requirement):
                return demanded.requirement or STATES[CONNECTED]
            if session.why == "EOD_RESEND":
                return "MQMR-3.1.4.2.eod-resend"
            return _TOO_SOON if name in session.awaiting else _ONCE
    missing = [name for name in expected if name not in names]
    for name in missing:
        position = queue.find(name)
        if names and name not in session.sent and position is not None:
            return position.claim
        return demanded.requirement
    for wanted, given in zip(expected, names, strict=False):
        if wanted != given:
            return disordered(queue.find(wanted), queue.find(given))
    return demanded.requirement


def repeated(queue: Queue, name: str) -> str:
    """Return the requirement broken by a message that is in a queue twice; for copies and reports, by their maker."""
    position, place = queue.find(name), queue.name
    if position is not None and position.moved:  # a move left the message behind, and it was moved back
        return "MQDMPR-3.1.7.1.16.moved"
    if name.startswith("ack"):
        return CLASSES[ack_class(name)]
    if place == SYSTEM_JOURNAL:
        return "MQDMPR-3.1.1.12.positive-journaling"
    if place in SYSTEM_QUEUES:
        return "MQDMPR-3.1.1.12.negative-journaling"
    return "MQMQ-2.3.1.4.journal-copy" if is_kept(place) else "MQDMPR-3.1.7.1.9.once"


NOT_EARLY: Final = "MQDMPR-3.1.2.4.not-early"


def fate_of(state: State, message: str) -> tuple[Queue, Position] | None:
    """Return the queue and position of a message, in any queue: where it is now, otherwise where it was last."""
    found = [(queue, position) for queue in state.queues.values() if (position := queue.find(message)) is not None]
    there = [item for item in found if item[1].state is not PositionState.DELETED]
    return there[-1] if there else found[-1] if found else None


def stranger(state: State, name: str) -> str:
    """Return the requirement broken by a message that was never sent to this queue."""
    copied = _stray_copy(state, name)
    if copied is not None:
        return copied
    found = fate_of(state, name)
    if found is not None:
        position = found[1]
        if position.claim == "MQDMPR-3.1.4.5.purged-deleted":  # deleted, but found in another queue
            return "MQDMPR-3.1.4.5.move"
        moves = position.target is not None or position.moved or position.claim == "MQDMPR-3.1.4.5.move"
        return position.claim if moves else "MQDMPR-3.1.7.1.9.only-destination"
    return "MQDMPR-3.1.1.12.body-unchanged"


def _stray_copy(state: State, name: str) -> str | None:
    """Return the requirement broken by an unexpected copy or acknowledgment; None for any other message."""
    plain, _, place = name.partition("@")
    if plain.startswith("ack"):
        about = plain.partition("-")[2]
        if about == "?":
            return "MQQB-3.1.7.15.correlation"
        others = [
            position
            for position in (state.queues[place].positions if place in state.queues else ())
            if position.message.startswith("ack") and plain_name(position.message).partition("-")[2] == about
        ]
        if others and _early(state, plain):
            return NOT_EARLY
        meant = next((ack_class(other.message) for other in others if other.available), None)
        return _other_class(meant, ack_class(name)) if meant is not None else "MQQB-3.1.7.15.requested"
    if not is_kept(place) or not plain:
        return None
    found = fate_of(state, plain)
    asked = found[1].wishes if found is not None else None
    if place == SYSTEM_JOURNAL:
        journaled = asked is not None and asked.journal  # but not delivered, or not at its destination yet
        return "MQDMPR-3.1.1.12.positive-journaling" if journaled else "MQDMPR-3.1.1.12.positive-journaling-off"
    if place in SYSTEM_QUEUES and _is_to_expire(state, plain):
        return NOT_EARLY
    if place in SYSTEM_QUEUES:
        mourned = asked is not None and asked.dead_letter  # but not lost
        return "MQDMPR-3.1.1.12.negative-journaling" if mourned else "MQDMPR-3.1.1.12.negative-journaling-off"
    return "MQMQ-2.3.1.4.journal-none"


def _is_to_expire(state: State, message: str) -> bool:
    """Tell whether a message that has not expired yet will be kept in a dead-letter queue when it does."""
    found = fate_of(state, message)
    if found is None or found[1].state is PositionState.DELETED:
        return False
    wishes = found[1].wishes
    return wishes is not None and wishes.live_ms is not None and wishes.dead_letter


def wrong_class(state: State, result: Result, came: str) -> str | None:
    """Return the requirement broken by an acknowledgment of the wrong class for the right message, or None.

    The class for an expired time to be received is right if the message expired too early: then that is the defect.
    """
    wanted = result.message if isinstance(result, Succeeds) else None
    if wanted is None or not wanted.startswith("ack") or not came.startswith("ack"):
        return None
    if wanted.partition("-")[2] != came.partition("-")[2]:
        return None
    return NOT_EARLY if _early(state, plain_name(came)) else _other_class(ack_class(wanted), ack_class(came))


def _other_class(wanted: int, came: int) -> str:
    """Return the requirement broken by a report of another class: its meaning, or the number of the class."""
    return CLASSES[wanted] if came in CLASSES else NUMBERS[wanted]


def _early(state: State, ack: str) -> bool:
    """Tell whether this acknowledgment reports a timeout of a message that has a time to be received."""
    about = fate_of(state, ack.partition("-")[2])
    wishes = about[1].wishes if about is not None else None
    return ack_class(ack) == NACK_TIMEOUT and wishes is not None and wishes.live_ms is not None


_RETURNS = "MQDMPR-3.1.4.5.receives-return"
_LOST_BY_MOVE = {
    "MQDMPR-3.1.7.1.16.wakes-readers": "MQDMPR-3.1.7.1.16.moved",
    "MQDMPR-3.1.4.4.move-wakes-readers": "MQDMPR-3.1.4.4.move",
}
_GIVEN_BACK = "MQDMPR-3.1.7.1.12.restores"  # the message returns to its place, so a cursor there still points to it
_DELETED_QUEUE = "MQDMPR-3.1.7.1.4.removed"
_LOCKED = "MQDMPR-3.1.7.3.3.locked"
_RECEIVED = ("MQDMPR-3.1.7.1.10.removes", "MQDMPR-3.1.7.1.13.receive-removes", "MQDMPR-3.1.4.4.receives-gone")
WAITING_IN_ORDER = "MQDMPR-3.1.1.16.waiting-reads-in-order"
_TIMED = frozenset({NOT_EARLY, "MQDMPR-3.1.2.4.infinite"})
_NEIGHBOURS = ("next", "previous")
_POSITION = f"{_RETURNS}-position"
_PLACED = {  # the claim of what put a message in its place -> the requirement that it stands there
    _RETURNS: _POSITION,
    "MQDMPR-3.1.4.5.move": _POSITION,
    "MQDMPR-3.1.1.12.recoverable-survives": "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.4.4.durable": "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.4.4.sends-appear": "MQDMPR-3.1.4.4.send-order",
    **dict.fromkeys(COMMITS, "MQDMPR-3.1.4.4.send-order"),
    **dict.fromkeys(ABORTS, _POSITION),
}


@dataclass(frozen=True, slots=True)
class Blame:
    """A broken requirement with the expected and the actual result. ask: the queue to scan before this is certain."""

    requirement: str
    expected: Json
    actual: Json
    ask: str | None = None


def blame(state: State, call: Call, demanded: Expected, observation: Observation, scan: Scan | None) -> Blame:
    """Return what `observation` breaks. demanded: the outcome that the text demands. state: before the call."""
    wanted = [completion.waiter for completion in demanded.completions if not isinstance(completion.result, Either)]
    for completion in demanded.completions:
        answer = observation.completed.get(completion.waiter)
        if completion.waiter in wanted and not _done(completion, answer):
            if _of_the_same_work(state, call, answer):
                expected, actual = say_result(completion.result), say_answer(answer)
                return Blame(IN_ORDER, {completion.waiter: expected}, {completion.waiter: actual})
            if answer is None and _overtaken(state, completion, observation):
                expected = {completion.waiter: say_result(completion.result)}
                return Blame(
                    WAITING_IN_ORDER, expected, {name: say_answer(one) for name, one in observation.completed.items()}
                )
            if answer is None and completion.also and _woke_another(demanded, observation):
                completion = replace(completion, requirement=completion.also[0])  # the reader's own requirement
            return _blame_completion(state, completion, answer, scan)
    for name, answer in observation.completed.items():
        if name not in wanted:
            return _blame_extra(state, call, demanded, name, answer)
    found = _blame_answer(state, call, demanded, observation.answer, scan)
    cursor = state.cursors.get(call.cursor or "")
    of_cursor = found.requirement == demanded.requirement or found.requirement.startswith("MQDMPR-3.2.7.")
    if cursor is not None and cursor.refused is not None and of_cursor:
        return Blame(
            cursor.refused, found.expected, found.actual, found.ask
        )  # an action that was refused has moved it all the same
    return found


def _overtaken(state: State, completion: Completion, observation: Observation) -> bool:
    """Tell whether a later read by the same handle was given the message that a waiting read was to be given."""
    names = [waiter.name for waiter in state.waiters]
    if completion.waiter not in names or not isinstance(completion.result, Succeeds):
        return False
    first = state.waiters[names.index(completion.waiter)]
    later = [
        waiter.name for waiter in state.waiters[names.index(completion.waiter) + 1 :] if waiter.handle == first.handle
    ]
    return any(_done(replace(completion, waiter=name), observation.completed.get(name)) for name in later)


def _woke_another(demanded: Expected, observation: Observation) -> bool:
    """Tell whether at least one demanded reader was served correctly: then the call does wake readers."""
    return any(_done(completion, observation.completed.get(completion.waiter)) for completion in demanded.completions)


def _of_the_same_work(state: State, call: Call, answer: Answer | None) -> bool:
    """Tell whether the end of a transaction woke a reader with a later message of the transaction, not the first."""
    if call.method not in ("transactions.commit", "transactions.abort") or answer is None or answer.message is None:
        return False
    found = fate_of(state, message_name(answer.message))
    wakes = PositionState.SENDING if call.method == "transactions.commit" else PositionState.LOCKED
    return found is not None and found[1].holder == call.transaction and found[1].state is wakes


def confused_cursor(state: State, call: Call, answer: Answer | None) -> str | None:
    """Return the requirement broken when a read fails as if its cursor were in another state, or None."""
    cursor = state.cursors.get(call.cursor or "")
    if cursor is None or answer is None or cursor.ended is not None:
        return None
    if answer.status == hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED and cursor.state is CursorState.UNREAD:
        return f"MQDMPR-3.2.7.{4 if call.method == 'messages.receive' else 2}.unread-seeks"
    if answer.status == hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION and cursor.state is CursorState.READ:
        return "MQDMPR-3.2.7.2.becomes-read"
    return None


def _unknown_transaction(state: State, call: Call, answer: Answer | None) -> str | None:
    """Return the requirement broken when a transaction of the coordinator is no transaction for the work in it."""
    found = state.transactions.get(call.transaction or "")
    if found is None or found.identifier is None or found.ended is not None or answer is None:
        return None
    return "MQMP-3.1.4.13.created" if answer.status == hresults.MQ_ERROR_TRANSACTION_SEQUENCE else None


def _done(completion: Completion, answer: Answer | None) -> bool:
    if answer is None:
        return False
    result = completion.result
    if isinstance(result, Succeeds):
        return not answer.failed and answer.message is not None and message_name(answer.message) == result.message
    return answer.failed


def _blame_completion(state: State, completion: Completion, answer: Answer | None, scan: Scan | None) -> Blame:
    expected = {completion.waiter: say_result(completion.result)}
    actual = {completion.waiter: say_answer(answer)}
    if answer is not None and answer.message is not None:
        found = fate_of(state, message_name(answer.message))
        if found is not None and found[1].state is not PositionState.AVAILABLE:
            if _came_again(state, found[1], answer.message):
                return Blame(repeated(found[0], found[1].message), expected, actual)
            return Blame(found[1].claim or completion.requirement, expected, actual)
    waiter = next((waiter for waiter in state.waiters if waiter.name == completion.waiter), None)
    if answer is None and waiter is not None and isinstance(completion.result, Succeeds):
        ended_reader = state.queues[waiter.queue].ended_reader or _LOST_BY_MOVE.get(completion.requirement)
        missed = completion.result.message
        if ended_reader is not None and (scan is None or missed not in scan.messages):
            # Unless the message is still there, a reader that no longer waits got it, or it was lost on the way.
            return Blame(ended_reader, expected, actual, ask=waiter.queue if scan is None else None)
    return Blame(completion.requirement, expected, actual)


def _blame_extra(state: State, call: Call, demanded: Expected, name: str, answer: Answer) -> Blame:
    """Blame a waiting read that ended without a reason."""
    expected, actual = {name: "goes on waiting"}, {name: say_answer(answer)}
    if not answer.failed and answer.message is not None:
        position = fate_of(demanded.next, message_name(answer.message))
        if position is not None and position[1].state is PositionState.SENDING:
            return Blame(position[1].claim, expected, actual)
        if position is not None and position[1].state is PositionState.DELETED and not demanded.completions:
            return Blame(position[1].claim, expected, actual)  # it was already gone, or this call should have ended it
        if demanded.completions:
            return Blame("MQDMPR-3.1.7.2.2.one-destructive", expected, actual)
        return Blame("MQDMPR-3.1.7.2.2.others-remain", expected, actual)
    if call.method == "clock.advance":
        return Blame("MQDMPR-3.1.7.3.1.no-early-timeout", expected, actual)
    if call.method == "messages.cancel":
        return Blame("MQDMPR-3.1.7.1.17.others-kept", expected, actual)
    if call.method == "cursors.close":
        return Blame("MQDMPR-3.1.7.1.2.own-reads-only", expected, actual)
    if call.method == "queues.close":
        return Blame("MQDMPR-3.1.7.1.6.pending-read-others-kept", expected, actual)
    return Blame("MQDMPR-3.1.7.2.2.others-remain", expected, actual)


def _blame_answer(state: State, call: Call, demanded: Expected, answer: Answer | None, scan: Scan | None) -> Blame:
    expected, actual = say_result(demanded.result), say_answer(answer)
    result = demanded.result
    if isinstance(result, Transfers):
        came = answer.messages if answer is not None and not answer.failed else None
        names = None if came is None else [message_name(seen) for seen in came]
        whose = mistransferred if call.method == "management.transfer" else misdirected
        broken = whose(state, call, demanded, names) or "MQDMPR-3.1.1.12.body-unchanged"
        return Blame(broken, expected, actual)
    if isinstance(result, Tells) and answer is not None and not answer.failed:
        broken = misnamed(state, answer) if call.method == IN_DOUBT else (*result.shown, demanded.requirement)[0]
        return Blame(broken, expected, actual)
    confused = confused_cursor(state, call, answer) or _unknown_transaction(state, call, answer)
    if confused is not None:
        return Blame(confused, expected, actual)
    if call.method == "messages.move" and answer is not None and answer.status == hresults.MQ_ERROR_MESSAGE_NOT_FOUND:
        source = state.queues[state.handles[call.handle or ""].queue]
        wanted = source.find(call.message or "")
        if isinstance(result, Succeeds) and wanted is not None:  # blame the reason why it must be there to be moved
            return _missing(call, demanded, source, wanted, expected, actual, scan)
    if _DELETED_QUEUE in demanded.also and answer is not None and not answer.failed:
        return Blame(_DELETED_QUEUE, expected, actual)  # the queue is back: that it was not found was its deletion
    if call.method == "messages.send" and isinstance(result, Succeeds) and answer is not None and answer.failed:
        return _refused(state, call, demanded, expected, actual, scan)
    if call.method not in READS | LOOKUPS or (answer is not None and not answer.failed and answer.message is None):
        return Blame(result.must if isinstance(result, Fails) else demanded.requirement, expected, actual)
    queue = state.queues[state.handles[call.handle or ""].queue]
    if answer is not None and answer.message is not None:
        name = message_name(answer.message)
        given = queue.find(name)
        if given is None:
            return Blame(stranger(state, name), expected, actual)
        if not given.available:
            if _came_again(state, given, answer.message):
                return Blame(repeated(queue, name), expected, actual)
            other_class = wrong_class(state, result, name)
            if other_class is not None:
                return Blame(other_class, expected, actual)
            return _visible(call, queue, given, expected, actual, scan)
        if isinstance(result, Succeeds) and result.message is not None:
            wanted = queue.find(result.message)
            if wanted is not None:
                return _instead(call, demanded, queue, wanted, given, expected, actual, scan)
        return Blame(_too_many(demanded, queue, call, given), expected, actual)
    if isinstance(result, Succeeds) and result.message is not None:
        wanted = queue.find(result.message)
        if wanted is not None:
            return _missing(call, demanded, queue, wanted, expected, actual, scan)
    return Blame(result.must if isinstance(result, Fails) else demanded.requirement, expected, actual)


def _refused(state: State, call: Call, demanded: Expected, expected: Json, actual: Json, scan: Scan | None) -> Blame:
    """Blame the refusal of a send that fits the quota: an earlier refused message may have stayed in the queue.

    A copy that does not fit the quota of the journals is dropped, and is no reason to refuse the message.
    """
    journal = demanded.next.queues.get(SYSTEM_JOURNAL)
    copy = journal.find(copy_name(call.message or "", SYSTEM_JOURNAL)) if journal is not None else None
    if copy is not None and copy.claim.endswith(("-over-quota", ALL_JOURNALS)):
        return Blame(copy.claim, expected, actual)
    handle = state.handles.get(call.handle or "")
    queue = state.queues.get(handle.queue) if handle is not None else None
    own = [] if queue is None else [queue]
    others = [other for other in state.queues.values() if other is not queue and other.exists]
    for place in (*own, *others):
        ends = "-quota-ends" if place is queue else ".manager-quota-ends"
        earlier = [item for item in place.positions if item.claim.endswith(ends)]
        if not earlier:
            continue
        if (
            place.outgoing is not None or place.name == ELSEWHERE
        ):  # nobody can look into it, and a message that was refused takes no room
            return Blame(earlier[0].claim, expected, actual)
        if scan is None:
            return Blame(demanded.requirement, expected, actual, ask=place.name)
        stayed = next((item.claim for item in earlier if item.message in scan.messages), None)
        return Blame(stayed or demanded.requirement, expected, actual)
    return Blame(refused(queue, demanded), expected, actual)


def _visible(call: Call, queue: Queue, given: Position, expected: Json, actual: Json, scan: Scan | None) -> Blame:
    """Blame a read that gives a message no reader may see: a plain receive tells whether it is hidden from others."""
    own = _own_duty(call, given)
    if own is None:
        return Blame(_appears(given, call), expected, actual)
    seen = scan.messages if scan is not None else ()
    held = [other for other in (given, *queue.positions) if other.state is given.state and other.message in seen]
    return Blame(held[0].claim if held else own, expected, actual, ask=queue.name if scan is None else None)


def _came_again(state: State, given: Position, seen: SeenMessage) -> bool:
    """Tell by its lookup identifier whether this is another copy of a message that a receive has removed."""
    number, bound = seen.lookup_identifier, state.lookups.get(given.message)
    return given.claim in _RECEIVED and not given.moved and None not in (number, bound) and number != bound


def _own_duty(call: Call, given: Position) -> str | None:
    """Return what a read breaks that goes to a message another read holds, where it has a demand of its own."""
    if call.method == "messages.peek_next" and given.state is not PositionState.DELETED:
        return "MQDMPR-3.2.7.3.skips-unavailable"
    if call.method in LOOKUPS and given.state is PositionState.LOCKED:
        return "MQDMPR-3.1.7.1.13.transaction-locks"
    return None


def _appears(given: Position, call: Call) -> str:
    """Return the requirement broken by a message that is gone, or that everybody sees too early."""
    removed = given.claim == "MQDMPR-3.1.7.1.10.removes"
    if removed and is_kept(given.message) and SYSTEM_JOURNAL not in given.message:
        return "MQMQ-2.3.1.4.journal-copy" if "@SYSTEM" not in given.message else "MQDMPR-3.1.7.2.7.dead-letter"
    if removed and call.method == "messages.receive":
        return "MQDMPR-3.1.7.1.10.removes"
    return given.claim


def _too_many(demanded: Expected, queue: Queue, call: Call, given: Position) -> str:
    """Return the requirement broken by an available message where the text demands none."""
    if call.method in LOOKUPS and given.message == call.message and call.action in _NEIGHBOURS:
        return f"MQDMPR-3.1.7.3.3.seek-{call.action}"
    if isinstance(demanded.result, Fails) and demanded.result.must.endswith(("illegal-cursor-action", "received")):
        return demanded.result.must
    if call.method == "messages.peek_next":
        return "MQDMPR-3.2.7.3.not-before-cursor"
    if any(name.startswith("R-MQDMPR-parked") for name, _ in demanded.readings):
        return "MQDMPR-3.2.7.6.receive-at-end"
    if call.cursor is not None:
        return "MQDMPR-3.2.7.4.continues"
    return demanded.result.must if isinstance(demanded.result, Fails) else demanded.requirement


def _instead(
    call: Call,
    demanded: Expected,
    queue: Queue,
    wanted: Position,
    given: Position,
    expected: Json,
    actual: Json,
    scan: Scan | None,
) -> Blame:
    """Blame a read that gives another available message than the demanded one."""
    if scan is None:
        return Blame(_misplaced(call, demanded, wanted, given), expected, actual, ask=queue.name)
    taken = call.method in TAKING | {"messages.receive_by_lookup_id"}
    found = _found_out(call, queue, scan, given.message if taken else None)
    if found is not None:
        return Blame(found, expected, actual)
    if wanted.message not in scan.messages or wanted.claim == _GIVEN_BACK:
        given_too = scan.messages if not taken else (*scan.messages, given.message)
        return Blame(lost(queue, replace(scan, messages=given_too), wanted), expected, actual)
    named = queue.find(call.message) if call.action in _NEIGHBOURS and call.message is not None else None
    if named is not None and named.was_locked and _crossed(call, named, given, scan):
        return Blame(_POSITION, expected, actual)
    if given.message in scan.messages:
        swapped = scan.messages.index(given.message) < scan.messages.index(wanted.message)
    else:  # taken by this read: the remaining explanation is that arrival went before priority
        swapped = call.action not in _NEIGHBOURS and wanted.priority > given.priority and wanted.rank[1] > given.rank[1]
    if swapped and wanted.rank < given.rank:
        return Blame(_disordered(wanted, given), expected, actual)
    return Blame(_misplaced(call, demanded, wanted, given), expected, actual)


def _crossed(call: Call, named: Position, given: Position, scan: Scan) -> bool:
    """Tell whether `given` is the neighbour of `named` only if these two have changed places, and may have."""
    if (given.rank > named.rank) is (call.action == "next"):
        return False
    seen = scan.messages
    if given.message not in seen or named.message not in seen:
        return True
    return (seen.index(given.message) > seen.index(named.message)) is (call.action == "next")


def _swapped(scan: Scan, one: Position, other: Position) -> bool:
    """Tell whether the scan shows two messages in the wrong order."""
    seen = scan.messages
    if (
        (one.tie is not None and one.tie == other.tie)
        or one is other
        or one.message not in seen
        or other.message not in seen
    ):
        return False
    return (seen.index(one.message) < seen.index(other.message)) is not (one.rank < other.rank)


def _found_out(call: Call, queue: Queue, scan: Scan, taken: str | None) -> str | None:
    """Return the requirement that the scan alone shows to be broken, whatever the read gave; None for none."""
    seen = list(scan.messages) + ([taken] if taken is not None else [])
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        return repeated(queue, twice)
    if call.method in LOOKUPS and call.message is not None:
        named = queue.find(call.message)
        if named is not None and named.available and named.message not in seen:
            return named.claim  # the read asked for a neighbour of this message, and the message is gone
    return None


def _disordered(wanted: Position, given: Position) -> str:
    """Return the requirement broken by two messages in the wrong order in the queue."""
    if wanted.moved or given.moved:
        return "MQDMPR-3.1.7.1.16.target-order"
    if wanted.priority > given.priority:
        return "MQMQ-2.2.19.1.higher-priority-nearer-front"
    return _PLACED.get(wanted.claim, "MQDMPR-3.1.1.2.arrival-order")


def _misplaced(call: Call, demanded: Expected, wanted: Position, given: Position) -> str:
    """Return the requirement broken by a read that chose the wrong one of two messages in the queue."""
    if call.method == "messages.peek_next" and given.rank < wanted.rank:
        return "MQDMPR-3.2.7.3.not-before-cursor"
    plain = call.cursor is None and call.method not in LOOKUPS
    if plain and (wanted.moved or given.moved):
        return _disordered(wanted, given)
    if plain and wanted.priority == given.priority:
        return demanded.requirement if wanted.claim not in _PLACED else _disordered(wanted, given)
    return demanded.requirement


def _missing(
    call: Call, demanded: Expected, queue: Queue, wanted: Position, expected: Json, actual: Json, scan: Scan | None
) -> Blame:
    """Blame a read that gives no message at all."""
    if scan is None:
        return Blame(wanted.claim, expected, actual, ask=queue.name)
    found = _found_out(call, queue, scan, None)
    if found is not None:
        return Blame(found, expected, actual)
    named = queue.find(call.message) if call.action in _NEIGHBOURS and call.message is not None else None
    unseen = named is not None and named.message not in scan.messages
    if unseen and wanted.was_locked and wanted.message in scan.messages:
        return Blame(_POSITION, expected, actual)  # nothing shows where the named one stands that a transaction holds
    swapped = [other for other in queue.positions if other.available and _swapped(scan, other, wanted)]
    if swapped and (named is not None or call.cursor is not None):
        front, back = sorted((swapped[-1], wanted), key=lambda position: position.rank)
        returned = any(position.was_locked for position in (*swapped, wanted))
        return Blame(_POSITION if returned else _disordered(front, back), expected, actual)
    there = wanted.message in scan.messages and wanted.claim != _GIVEN_BACK
    requirement = demanded.requirement if there else lost(queue, scan, wanted)
    return Blame(requirement, expected, actual)


def lost(queue: Queue, scan: Scan, wanted: Position) -> str:
    """Return the reason why a missing message must be there.

    Its time to be received is not the cause where a message without such a time is missing as well.
    """
    if _timed(wanted):
        for other in queue.positions:
            sure = other.available and not other.doubtful and not _timed(other)
            if sure and other.message not in scan.messages and not is_kept(other.message):
                return other.claim
        return wanted.claim if wanted.claim in _TIMED else NOT_EARLY
    return wanted.claim


def _timed(position: Position) -> bool:
    """Tell whether a message may be missing because it expired: nothing but its time is known, or its send alone."""
    if position.claim in _TIMED:
        return True
    has_time = position.wishes is not None and position.wishes.live_ms is not None
    return has_time and position.claim == "MQDMPR-3.1.7.1.9.available"


def say_result(result: Result) -> Json:
    """Return the expected result as JSON."""
    if isinstance(result, Succeeds):
        return {"message": result.message} if result.message is not None else "MQ_OK" if result.ok else "success"
    if isinstance(result, Blocks):
        return "waits"
    if isinstance(result, Either):
        return "any answer"
    if isinstance(result, Transfers):
        return {"messages": list(result.messages)}
    if isinstance(result, Tells):
        return {result.member: result.value}
    codes = [f"0x{code:08X}" for code in result.codes]
    codes += sorted({f"0x{code:08X}" for _, code in result.by_reading if code is not None})
    return {"fails with": codes} if codes else "fails"


def say_answer(answer: Answer | None) -> Json:
    """Return the actual answer as JSON."""
    return "waits" if answer is None else answer.to_json()
