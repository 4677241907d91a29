"""Refuse reads on a closed handle, with the wrong access, in an ended transaction or on a deleted queue."""

from __future__ import annotations

from conformance.model.calls import LOOKUPS, BadCall, Call
from conformance.model.expected import Expected, Fails
from conformance.model.rules import DELETED_QUEUE, Rules
from conformance.model.state import TAKING, BegunRead, Cursor, State, Transaction
from conformance.model.tables import CursorState
from conformance.model.values import value
from conformance.spec.constants import hresults

_SECTION = {
    "messages.receive": "MQDMPR-3.1.7.1.10",
    "messages.receive_begin": "MQDMPR-3.1.7.1.11",
    "messages.peek": "MQDMPR-3.1.7.1.15",
    "messages.peek_next": "MQDMPR-3.1.7.1.14",
    "messages.receive_by_lookup_id": "MQDMPR-3.1.7.1.13",
    "messages.peek_by_lookup_id": "MQDMPR-3.1.7.1.13",
}
_DESTRUCTIVE = TAKING | {"messages.receive_by_lookup_id"}
_ENDS = {
    "commit": "MQDMPR-3.1.4.4.transaction-ends",
    "abort": "MQDMPR-3.1.4.5.transaction-ends",
}


@value
class Refusal:
    """Refusal of a call. outcomes: the allowed failures. final: no other outcome is allowed."""

    outcomes: tuple[Expected, ...] = ()
    final: bool = False


_FREE = Refusal()
_CLOSED = CursorState.CLOSED


def refused(rules: Rules, state: State, call: Call) -> Refusal:
    """Return the refusals of a read before it looks at any message. Raises BadCall for an unknown name."""
    handle = state.handles.get(call.handle or "")
    if handle is None:
        raise BadCall(f"no handle {call.handle}")
    if not handle.is_open:
        return _must(state, "MQDMPR-3.1.7.1.6.handle-closed")
    if call.cursor is not None:
        cursor = state.cursors.get(call.cursor)
        if cursor is None:
            raise BadCall(f"no cursor {call.cursor}")
        if cursor.state is _CLOSED:
            return _must(state, closed_cursor(state, cursor))
        if cursor.handle != handle.name:
            raise BadCall(f"no section says what {call.cursor} does on {handle.name}")
        if state.busy(cursor.name):
            raise BadCall(f"a read waits with {cursor.name}: what a second one does is not described")
    if handle.access == "send" or handle.access == "move":
        return _must(state, f"MQDMPR-3.1.1.17.{handle.access}-access-no-receive")
    if handle.access == "peek" and call.method in _DESTRUCTIVE:
        return _must(state, "MQDMPR-3.1.1.17.peek-access-no-receive")
    if handle.lost:
        return Refusal(_gone_or_ended(rules, state, call), final=True)
    if call.transaction is not None:
        ended = transaction(state, call.transaction).ended
        if ended is not None:
            return _must(state, _ENDS[ended])
        if call.method in _DESTRUCTIVE and not state.queues[handle.queue].transactional:
            # No section of MS-MQDMPR refuses this, but the protocols above it may: both answers are allowed.
            locks = f"{_SECTION[call.method]}.transaction-locks"
            return Refusal((Expected(Fails(locks), locks, state),))
    if call.method in LOOKUPS and call.message not in state.lookups and call.action not in ("first", "last"):
        raise BadCall(f"the lookup identifier of {call.message} is not known")
    return _FREE


def _gone_or_ended(rules: Rules, state: State, call: Call) -> tuple[Expected, ...]:
    """Refuse a read on a deleted queue. In a transaction that has ended, either refusal may come first.

    The event of the read looks at the queue, but it is given the transaction: whoever raises it looks that up before.
    """
    gone = queue_gone(rules, state, _SECTION[call.method])
    found = state.transactions.get(call.transaction or "")
    ends = _ENDS.get(found.ended or "") if found is not None else None
    return (gone,) if ends is None else (gone, *_must(state, ends).outcomes)


def closed_cursor(state: State, cursor: Cursor) -> str:
    """Return the requirement that refuses a closed cursor: one closed itself, or closed with its handle."""
    by_itself = state.handles[cursor.handle].is_open
    return "MQDMPR-3.1.7.1.2.closed" if by_itself else "MQDMPR-3.1.7.1.6.cursors-closed"


def transaction(state: State, name: str) -> Transaction:
    """Return the transaction of this name. Raises BadCall when there never was one, or a restart dropped its name."""
    found = state.transactions.get(name)
    if found is None or found.ended == "restart":
        raise BadCall(f"no transaction {name}")
    return found


def read_begun(state: State, name: str) -> BegunRead:
    """Return the two-phase receive begun under this name. Raises BadCall when there is none."""
    found = state.begun.get(name)
    if found is None:
        raise BadCall(f"no receive {name} was begun")
    return found


def _must(state: State, requirement: str) -> Refusal:
    return Refusal((Expected(Fails(requirement), requirement, state),), final=True)


def queue_gone(rules: Rules, state: State, section: str) -> Expected:
    """Return the failure of a call on a handle whose queue was deleted."""
    codes = {
        "queue-not-available": hresults.MQ_ERROR_QUEUE_NOT_AVAILABLE,
        "queue-deleted": hresults.MQ_ERROR_QUEUE_DELETED,
    }
    must = f"{section}.queue-not-available"
    each = tuple((name, codes[name]) for name in rules.accepted(state, DELETED_QUEUE))
    fails = Fails(must, f"{must}-code", reading=DELETED_QUEUE, by_reading=each)
    return Expected(fails, must, state, ("MQDMPR-3.1.7.1.4.handle-invalidated",))
