"""Send with quotas, journals, acknowledgments and times to be received, and send to several queues at once.

MS-MQDMPR 3.1.7.1.9 and 3.1.7.1.27. Module `sends_and_commits` handles all other sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.model import outgoing, sends_and_commits
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Either, Expected, Fails, Succeeds
from conformance.model.journals import ELSEWHERE, UNLIMITED, Keeping, Wishes, copy_name, in_bytes, is_kept, is_remote
from conformance.model.message_properties import fits, options_of
from conformance.model.rules import QUOTA_UNCOMMITTED, SEND_AFTER_DELETE, SEVERAL_PARTIAL, Rules
from conformance.model.state import Handle, Position, Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import replace

_SEND = "MQDMPR-3.1.7.1.9"
_TO_HANDLE = "MQDMPR-3.1.7.1.27"
_EXPIRED = "MQDMPR-3.1.2.4.zero"
_SENDING = PositionState.SENDING


def send(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Enqueue Message To An Open Queue."""
    handle = state.handles.get(call.handle or "")
    if handle is not None and handle.is_open:
        if "," in handle.queue:
            return _to_several(rules, state, call, handle.queue.split(","))
        if handle.queue == ELSEWHERE:
            return _to_elsewhere(state, call)
    if call.admin is not None and is_kept(call.admin):
        raise BadCall(f"no section says whether {call.admin} takes acknowledgments")
    wishes = wishes_of(state, call)
    if handle is not None and is_remote(handle.queue):
        if call.acks or call.admin or ((wishes is not None or call.reach_s is not None) and state.management is None):
            raise BadCall("a queue of another computer is sent plain messages")
        return outgoing.send(rules, state, call, _on_its_way(state, call, wishes))
    if wishes is not None and state.keeping is None:
        state = replace(state, keeping=Keeping())
    if state.keeping is None or handle is None or not handle.is_open or handle.lost or handle.access != "send":
        return sends_and_commits.send(rules, state, call)
    return _to_one(rules, state, call, wishes or Wishes(sent=state.now))


def _on_its_way(state: State, call: Call, wishes: Wishes | None) -> Wishes | None:
    """Return the options of a message to another computer: the sooner of its two times ends its wait (3.1.2.4)."""
    if call.reach_s is None or call.reach_s == UNLIMITED:
        return wishes
    wishes = wishes or Wishes(sent=state.now)
    reach_ms = call.reach_s * 1000
    return replace(wishes, live_ms=reach_ms if wishes.live_ms is None else min(reach_ms, wishes.live_ms), lasting=False)


def wishes_of(state: State, call: Call) -> Wishes | None:
    """Return the options that this send asks for beside delivery; None for none."""
    if not (call.size or call.journal or call.dead_letter or call.acks or call.admin or call.live_s is not None):
        return None
    live_ms = None if call.live_s is None or call.live_s == UNLIMITED else call.live_s * 1000
    acks = frozenset(call.acks.split("+")) if call.acks else frozenset()
    lasting = call.live_s == UNLIMITED
    return Wishes(call.size, call.journal, call.dead_letter, acks, call.admin, live_ms, lasting, state.now)


def _to_one(rules: Rules, state: State, call: Call, wishes: Wishes) -> Iterator[Expected]:
    handle = state.handles[call.handle or ""]
    queue = state.queues[handle.queue]
    if queue.transactional != (call.transaction is not None) or call.message is None:
        yield from sends_and_commits.send(rules, state, call)  # the message reaches no queue
        return
    if wishes.live_ms == 0 and any(waiter.queue == queue.name for waiter in state.waiters):
        raise BadCall("whether a reader that waits gets a message with time to be received zero is not settled")
    if call.transaction is not None and call.transaction not in state.transactions:
        raise BadCall(f"no transaction {call.transaction}")
    uncertain = _limited(state, queue) and any(position.state is _SENDING for position in queue.positions)
    for alternative in rules.accepted(state, QUOTA_UNCOMMITTED) if uncertain else ("at-send",):
        readings = ((QUOTA_UNCOMMITTED, alternative),) if uncertain else ()
        room, refusal = _admitted(state, queue, call, wishes, uncommitted=alternative == "at-send")
        if room is not False:
            for expected in sends_and_commits.send(rules, state, call, wishes):
                yield _expired_at_once(expected, queue.name, call.message, wishes, readings)
        if room is not True:
            yield _refused(state, queue, call, wishes, refusal, readings)


def _to_elsewhere(state: State, call: Call) -> Iterator[Expected]:
    """Send to a computer that cannot be reached: the message waits until its time to reach the queue is over."""
    if call.message is None or call.transaction is not None:
        raise BadCall("a queue elsewhere is sent plain messages")
    reach_ms = None if call.reach_s is None or call.reach_s == UNLIMITED else call.reach_s * 1000
    wishes = replace(wishes_of(state, call) or Wishes(sent=state.now), live_ms=reach_ms, lasting=False)
    after = state.tick()
    waits = replace(_position(after, call, wishes), state=PositionState.AVAILABLE, delivery=call.delivery)
    yield Expected(Succeeds(), "", after.with_position(ELSEWHERE, waits))
    gone = replace(waits, state=PositionState.DELETED, claim=f"{_SEND}.manager-quota-ends")
    limited = state.keeping is not None and state.keeping.quota is not None
    refused = after.with_position(ELSEWHERE, gone) if limited else state
    yield Expected(Fails(""), "", refused)  # no requirement demands that the send is accepted


def _limited(state: State, queue: Queue) -> bool:
    keeping = state.keeping
    own = queue.attributes is not None and queue.attributes.quota is not None
    return own or (keeping is not None and keeping.quota is not None)


def _admitted(state: State, queue: Queue, call: Call, wishes: Wishes, *, uncommitted: bool) -> tuple[bool | None, str]:
    """Tell whether this send stays within the quotas (None: unknown), and the requirement that refuses it if not."""
    if not _limited(state, queue):
        return True, "queue-quota"
    new = _position(state, call, wishes)
    whole = state.keeping.quota if state.keeping is not None else None
    every = [other for other in state.queues.values() if not is_kept(other.name)]
    room = fits(state, every, new, whole, uncommitted=uncommitted)
    if room is False:
        return False, "manager-quota"
    own = queue.attributes.quota if queue.attributes is not None else None
    mine = fits(state, [queue], new, own, uncommitted=uncommitted)
    if mine is True and room is None:
        return None, "manager-quota"
    return (None if room is None else mine), "queue-quota"


def _position(state: State, call: Call, wishes: Wishes) -> Position:
    in_transaction = call.transaction is not None
    rank = (0, state.events)
    new = Position(call.message or "", rank, PositionState.ABSENT, "", 0, in_transaction)
    return replace(new, wishes=wishes, carries=call.carries, options=options_of(call))


def _refused(
    state: State,
    queue: Queue,
    call: Call,
    wishes: Wishes,
    refusal: str,
    readings: tuple[tuple[str, str], ...],
) -> Expected:
    must = f"{_SEND}.{refusal}"
    state = state.tick()
    gone = replace(
        _position(state, call, wishes), rank=(4, state.events), state=PositionState.DELETED, claim=f"{must}-ends"
    )
    return Expected(Fails(must), must, state.with_position(queue.name, gone), readings=readings)


def _expired_at_once(
    expected: Expected, queue: str, message: str, wishes: Wishes, readings: tuple[tuple[str, str], ...]
) -> Expected:
    """Complete the outcome of a send: with a time to be received of zero, nobody may receive the message."""
    state = expected.next
    position = state.queues[queue].find(message) if readings or wishes.live_ms == 0 else None
    if position is None:
        return expected
    if wishes.live_ms == 0 and position.available:
        gone = replace(position, state=PositionState.DELETED, claim=_EXPIRED)
        state = state.with_position(queue, gone)
    return replace(expected, next=state, readings=(*expected.readings, *readings))


def _to_several(rules: Rules, state: State, call: Call, queues: list[str]) -> Iterator[Expected]:
    """Send one copy to each element of the name, in their order; to one that was deleted, as to a deleted queue."""
    handle = state.handles[call.handle or ""]
    if not handle.gone:
        yield from _to_each(rules, state, call, queues)
        return
    for alternative in rules.accepted(state, SEND_AFTER_DELETE):
        assumed = replace(state, assumed={**state.assumed, SEND_AFTER_DELETE: frozenset({alternative})})
        how = (SEND_AFTER_DELETE, alternative)
        for way in _to_each(rules, assumed, call, queues):
            yield way if how in way.readings else replace(way, readings=(how, *way.readings))


def _to_each(rules: Rules, state: State, call: Call, queues: list[str]) -> Iterator[Expected]:
    ways = [Expected(Succeeds(), f"{_TO_HANDLE}.multiple-destinations", state)]
    full = [queue for queue in queues if not _takes(rules, state, call, queue)]
    if full:
        yield from _to_some(rules, state, call, queues, full)
        return
    for queue in queues:
        ways = [after for way in ways for after in _one_more(rules, way, call, queue)]
    yield from ways


def _takes(rules: Rules, state: State, call: Call, queue: str) -> bool:
    """Tell whether the send to this element succeeds. Raises BadCall when that is open."""
    single = _single(state.handles[call.handle or ""], queue)
    outcomes = list(send(rules, state.put(single), replace(call, message=copy_name(call.message or "", queue))))
    fails = {isinstance(expected.result, Fails) for expected in outcomes}
    if len(fails) > 1:
        raise BadCall(f"whether {queue} takes this message is not settled")
    return fails == {False}


def _single(handle: Handle, queue: str) -> Handle:
    return replace(handle, queue=queue, lost=queue in handle.gone, gone=frozenset())


def _one_more(rules: Rules, way: Expected, call: Call, queue: str) -> Iterator[Expected]:
    """Add the copy for one element to the copies for the elements before it."""
    handle = way.next.handles[call.handle or ""]
    own = replace(call, message=copy_name(call.message or "", queue))
    for expected in send(rules, way.next.put(_single(handle, queue)), own):
        yield replace(
            expected,
            requirement=way.requirement,
            also=(),
            next=_claimed(expected.next.put(handle), queue, own.message or ""),
            completions=(*way.completions, *expected.completions),
            readings=(*way.readings, *expected.readings),
            transitions=(*way.transitions, *expected.transitions),
        )


def _to_some(rules: Rules, state: State, call: Call, queues: list[str], full: list[str]) -> Iterator[Expected]:
    """Fail the whole send because one element fails. A reading decides which copies stay in the other queues."""
    must = f"{_TO_HANDLE}.failing-element"
    before = queues[: queues.index(full[0])]
    kept = {"prefix": before, "none": [], "others": [queue for queue in queues if queue not in full]}
    for alternative in rules.accepted(state, SEVERAL_PARTIAL):
        ways = [Expected(Fails(must), must, state)]
        for queue in kept[alternative]:
            ways = [after for way in ways for after in _one_more(rules, way, call, queue)]
        for way in ways:
            after = way.next
            for queue in queues:
                if queue not in kept[alternative]:
                    after = _without_copy(after, call, queue, must)
            readings = (*way.readings, (SEVERAL_PARTIAL, alternative))
            yield replace(way, result=Fails(must), requirement=must, also=(), next=after, readings=readings)


def _without_copy(state: State, call: Call, queue: str, claim: str) -> State:
    state = state.tick()
    own = replace(call, message=copy_name(call.message or "", queue))
    gone = replace(_position(state, own, Wishes()), rank=(4, state.events), state=PositionState.DELETED, claim=claim)
    return state.with_position(queue, gone)


def _claimed(state: State, queue: str, message: str) -> State:
    """Set the claim of the copy in this queue: it is there because of the send to several queues."""
    position = state.position(queue, message)
    if not position.available:
        return state
    return state.with_position(queue, replace(position, claim=f"{_TO_HANDLE}.multiple-destinations"))


def limits(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Set the quotas of the manager (MS-MQDMPR 3.1.1.1). The adapter does this; the documents demand no answer."""
    keeping = state.keeping or Keeping()
    if call.quota_kb is not None:
        keeping = replace(keeping, quota=in_bytes(call.quota_kb))
    if call.journal_quota_kb is not None:
        keeping = replace(keeping, journal_quota=in_bytes(call.journal_quota_kb))
    yield Expected(Either(), "", replace(state, keeping=keeping))
