"""Name the states of the specification's machine by what the model has in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.histories.learning.alphabets import QUEUE, SUBQUEUE
from conformance.histories.learning.letters import Alphabet, Memory
from conformance.histories.learning.machine import Machine
from conformance.histories.learning.sides import Playing, Specification
from conformance.model import State
from conformance.model.journals import is_kept, plain_name
from conformance.model.state import PARKED, START, Cursor, Queue
from conformance.model.tables import CursorState, PositionState

_HOLDS = {
    PositionState.SENDING: "{} sent in it",
    PositionState.LOCKED: "{} received in it",
    PositionState.BEGUN: "{} begun",
    PositionState.MOVING: "{} moving",
    PositionState.PURGE_PENDING: "{} received, purged",
    PositionState.BEGUN_PURGED: "{} begun, purged",
    PositionState.MOVING_PURGED: "{} moving, purged",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A state in words. there: the messages that reads can see. how: what the letters are about."""

    there: str
    how: str

    def __str__(self) -> str:
        return f"{self.there}; {self.how}" if self.how else self.there


def names(alphabet: Alphabet, machine: Machine, choice: Mapping[str, str]) -> tuple[Name, ...]:
    """Return the name of each state of the specification's machine. Several states may have the same one."""
    found = []
    for access in machine.access:
        playing = Playing(alphabet, Specification(choice))
        playing.word(access)
        memory, state = playing.mark()
        assert state is not None
        found.append(_name(alphabet, state, memory))
    return tuple(found)


def _name(alphabet: Alphabet, state: State, memory: Memory) -> Name:
    there = []
    held = []
    for queue in state.queues.values():
        seen = " ".join(plain_name(one.message) for one in queue.positions if one.available)
        if seen:
            there.append(seen if queue.name == QUEUE else f"{seen} in the {_place(queue)}")
        held += [_HOLDS[one.state].format(one.message) for one in queue.positions if one.state in _HOLDS]
    how = [*held]
    if alphabet.what == "cursor":
        cursor = state.cursors.get(memory.cursor or "")
        how.append(_cursor(cursor, state.queues[QUEUE]) if cursor is not None else "no cursor")
    elif alphabet.what == "transaction":
        how.insert(0, _transaction(state, memory.transaction) if memory.transaction is not None else "none")
    else:
        there = there if memory.sent else ["not sent"]
        how.insert(0, "open" if memory.open else "")
        how.append("once begun" if memory.begun is not None and not memory.reading else "")
        how.append("once moved" if "rs" in memory.seen and SUBQUEUE not in _busy(state) else "")
    return Name(", ".join(there) or "nothing to see", ", ".join(filter(None, how)))


def _busy(state: State) -> set[str]:
    return {queue.name for queue in state.queues.values() if any(one.available for one in queue.positions)}


def _place(queue: Queue) -> str:
    if is_kept(queue.name):
        return "journal" if queue.name.endswith("JOURNAL") else "dead-letter queue"
    return "subqueue"


def _transaction(state: State, name: str) -> str:
    transaction = state.transactions[name]
    if transaction.ended is not None:
        return {"commit": "committed", "abort": "aborted"}.get(transaction.ended, transaction.ended)
    return "prepared" if transaction.prepared else "open"


def _cursor(cursor: Cursor, queue: Queue) -> str:
    if cursor.state is CursorState.CLOSED:
        return "cursor closed"
    if cursor.ended is not None or cursor.at == PARKED:
        return "cursor at the end"
    if cursor.state is CursorState.READ:
        found = queue.find(cursor.message or "")
        return f"cursor at {cursor.message}" + ("" if found is not None and found.available else ", which is gone")
    if cursor.at == START:
        return "cursor at the start"
    passed = [one.message for one in queue.positions if one.rank <= cursor.at]
    return f"cursor where {passed[-1]} was" if passed else "cursor at the start"
