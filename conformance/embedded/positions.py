"""The ordered list of a queue's positions and the seeks in it (MS-MQDMPR 3.1.1.2, 3.1.7.3.2).

Positions are ordered by a key that never changes, so a removed position still has a place: the positions behind
it are those with a greater key. A cursor therefore needs no tombstone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from conformance.embedded.entities import START_KEY, Message, Position, State

SEQUENCE_BITS = 56


class PositionList:
    """Positions of one queue, higher priority nearer the front, first come first within a priority."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._items: list[Position] = []
        self._by_lookup: dict[int, Position] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Position]:
        return iter(list(self._items))

    @staticmethod
    def order(message: Message, sequence: int) -> int:
        """Return the key of the message that is placed as number `sequence`."""
        return (7 - int(message.fields["priority"])) << SEQUENCE_BITS | sequence

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        """Return the LookupIdentifier: high byte from the priority, seven low bytes from the sequence number.

        MS-MQDMPR 3.1.7.1.9 gives the priority byte to transactional messages only, which contradicts the order of
        3.1.1.2; here every message has it, so identifiers increase along the queue.
        """
        return (7 - int(message.fields["priority"])) << SEQUENCE_BITS | sequence

    def insert(self, position: Position) -> None:
        """Insert a position at its place."""
        if not self._keys or position.key > self._keys[-1]:
            self._keys.append(position.key)
            self._items.append(position)
        else:
            at = bisect_left(self._keys, position.key)
            self._keys.insert(at, position.key)
            self._items.insert(at, position)
        self._by_lookup[position.lookup] = position

    def remove(self, position: Position) -> None:
        """Remove a position. Does nothing if it is not in the list."""
        at = bisect_left(self._keys, position.key)
        if at < len(self._items) and self._items[at] is position:
            del self._keys[at]
            del self._items[at]
            self._by_lookup.pop(position.lookup, None)

    def first_available(self) -> Position | None:
        """Return the first available position of the queue."""
        return self.after(START_KEY)

    def after(self, key: int) -> Position | None:
        """Return the first available position behind `key`."""
        for at in range(bisect_right(self._keys, key), len(self._items)):
            if self._items[at].state is State.AVAILABLE:
                return self._items[at]
        return None

    def before(self, key: int) -> Position | None:
        """Return the last available position in front of `key`."""
        for at in range(bisect_left(self._keys, key) - 1, -1, -1):
            if self._items[at].state is State.AVAILABLE:
                return self._items[at]
        return None

    def find(self, lookup: int) -> Position | None:
        """Return the position with this LookupIdentifier."""
        return self._by_lookup.get(lookup)
