"""Remembered messages and transactions as bytes, which become objects once one of them is asked for.

A capture remembers tens of thousands of them where it ends or goes on elsewhere, and hardly any is ever asked for. What
is usual of them is in rows of 64-bit numbers, the least significant byte first; anything else is an object from the
beginning (`others`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final, Protocol

from conformance.judge.sessions.keys import guid_of_words
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.sequences import Sent
from conformance.judge.sessions.transactions import Group

MESSAGE: Final = Struct("<7q")
"""The two words of the queue manager, number, frame, bytes with the body, and the place and size of the body."""
SENT: Final = Struct("<8q")
"""The two words of the queue manager, number of the message, sequence, number in it, previous number, connection,
frame; a final acknowledgment is wanted if the frame is below 0."""
GROUP: Final = Struct("<7q")
"""The three words of the key, frame, ended, sequence, connection."""
DIGEST: Final = 16
"""Bytes of the digest of a body."""
_WORD = 0xFFFFFFFF_FFFFFFFF

Item = tuple[Any, Any]


class Packed(Protocol):
    """Entries of one table."""

    def items(self) -> Iterator[Item]:
        """Yield keys and entries; each entry has a `frame`."""


@dataclass(frozen=True, slots=True)
class PackedMessages:
    """Messages of `Messages.known`. rows: of MESSAGE. heads: of each its bytes without the body, then a digest."""

    rows: bytes
    heads: bytes
    others: tuple[Item, ...] = ()

    def items(self) -> Iterator[Item]:
        """See `Packed.items`."""
        at = 0
        for high, low, number, frame, size, body_at, body_size in MESSAGE.iter_unpack(self.rows):
            end = at + size - body_size
            head = Head(self.heads[at:end], body_at, body_size)
            at = end + DIGEST
            yield (guid_of_words(high, low), number), Known(frame, head, self.heads[end:at])
        yield from self.others


@dataclass(frozen=True, slots=True)
class PackedSent:
    """Messages of `Transactions.sent`. rows: of SENT."""

    rows: bytes
    others: tuple[Item, ...] = ()

    def items(self) -> Iterator[Item]:
        """See `Packed.items`."""
        for high, low, message, sequence, number, previous, connection, frame in SENT.iter_unpack(self.rows):
            given = frozenset((previous,))
            sent = Sent(sequence & _WORD, number, previous, connection, abs(frame), given, frame < 0)
            yield (guid_of_words(high, low), message), sent
        yield from self.others


@dataclass(frozen=True, slots=True)
class PackedGroups:
    """Transactions of `Groups.groups`. rows: of GROUP."""

    rows: bytes

    def items(self) -> Iterator[Item]:
        """See `Packed.items`."""
        for *key, frame, ended, sequence, connection in GROUP.iter_unpack(self.rows):
            yield tuple(key), Group(frame, bool(ended), sequence & _WORD, connection)


class Unopened:
    """A table in the order of its frames, of which no entry was asked for so far.

    parts: what it has; None afterwards. forgotten: entries up to this frame are none of the table any more.
    """

    __slots__ = ("_opened", "forgotten", "parts")

    def __init__(self, parts: Iterable[Any]) -> None:
        self.parts: Sequence[Any] | None = tuple(parts)
        self.forgotten = -1
        self._opened: OrderedDict[Any, Any] = OrderedDict()

    @property
    def table(self) -> OrderedDict[Any, Any]:
        """The table itself."""
        if self.parts is not None:
            found = [one for part in self.parts for one in part.items() if one[1].frame > self.forgotten]
            found.sort(key=lambda one: one[1].frame)
            self.parts, self._opened = None, OrderedDict(found)
        return self._opened

    def forget(self, oldest: int) -> None:
        """Forget the entries up to this frame."""
        if self.parts is not None:
            self.forgotten = max(self.forgotten, oldest)
            return
        table = self._opened
        while table and next(iter(table.values())).frame <= oldest:
            table.popitem(last=False)

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table)

    def __contains__(self, key: object) -> bool:
        return key in self.table

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.table[key] = value

    def get(self, key: Any, default: Any = None) -> Any:
        """Return an entry."""
        return self.table.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return an entry, which is `default` if there is none."""
        return self.table.setdefault(key, default)

    def items(self) -> Iterable[Item]:
        """Return all keys and entries, the oldest first."""
        return self.table.items()

    def values(self) -> Iterable[Any]:
        """Return all entries, the oldest first."""
        return self.table.values()

    def move_to_end(self, key: Any) -> None:
        """Make an entry the newest."""
        self.table.move_to_end(key)

    def popitem(self, last: bool = True) -> Item:
        """Forget the oldest entry, or the newest one."""
        return self.table.popitem(last=last)


def together(tables: Iterable[Any]) -> Unopened | None:
    """Return a table of the entries of all of these; None if one was opened. They must not be used any more."""
    found = list(tables)
    if not all(isinstance(one, Unopened) and one.parts is not None for one in found):
        return None
    made = Unopened(part for one in found for part in one.parts)
    made.forgotten = max((one.forgotten for one in found), default=-1)
    return made
