"""Remembered messages and transactions in arrays, in the form in which the rules read and change them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.rows import Rows, signed, unsigned
from conformance.judge.sessions.context import digest_of
from conformance.judge.sessions.groups import Group
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.sequences import Sent
from conformance.judge.sessions.words import guid_of_words, guid_words


class SentView:
    """See `Transactions.sent`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._plain: dict[int, Sent] = {}
        self.missing: Callable[[tuple[str, int]], None] | None = None
        """Called with what was asked for in vain."""
        self.looked = False
        """True when all messages were asked for."""

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: tuple[str, int]) -> Sent | None:
        """Return the last transmission of a message."""
        row = self._rows.find((*guid_words(key[0]), key[1]))
        if row < 0:
            if self.missing is not None:
                self.missing(key)
            return None
        *numbers, final, plain = self._rows.rows[row, at.DATA :].tolist()
        if not plain:
            return self._plain[row]
        sequence, number, previous, connection, frame = numbers
        return Sent(unsigned(sequence), number, previous, connection, frame, frozenset((previous,)), bool(final))

    def items(self) -> Iterator[tuple[tuple[str, int], Sent]]:
        """Yield all messages."""
        self.looked = True
        for row in self._rows.in_order():
            high, low, number = self._rows.rows[row, at.K0 : at.K2 + 1].tolist()
            key = (guid_of_words(high, low), number)
            sent = self.get(key)
            if sent is not None:
                yield key, sent

    def __setitem__(self, key: tuple[str, int], sent: Sent) -> None:
        words = (*guid_words(key[0]), key[1])
        row = self._rows.find(words)
        row = self._rows.add(words) if row < 0 else row
        self._rows.rows[row, [at.SENT_FRAME, at.SENT_PLAIN]] = sent.frame, 0
        self._plain[row] = sent

    def move_to_end(self, key: tuple[str, int]) -> None:
        """Note that a message was sent again."""
        tables.touch(self._rows.ends, self._rows.rows, self._rows.find((*guid_words(key[0]), key[1])))

    def popitem(self, *, last: bool) -> None:
        """Forget the first message."""
        assert not last
        self._rows.remove(int(self._rows.ends[at.OLDEST]))


class GroupsView:
    """See `Groups.groups`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: Any) -> Group | None:
        """Return a transaction."""
        row = self._rows.find(key)
        if row < 0:
            return None
        return _group(self._rows.rows[row])

    def __setitem__(self, key: Any, group: Group) -> None:
        row = self._rows.find(key)
        row = self._rows.add(key) if row < 0 else row
        content = group.frame, group.ended, signed(group.sequence), group.connection
        self._rows.rows[row, at.DATA : at.DATA + 4] = content

    def items(self) -> Iterator[tuple[tuple[int, int, int], Group]]:
        """Yield all transactions, the oldest first."""
        for row in self._rows.in_order():
            k0, k1, k2 = self._rows.rows[row, : at.K2 + 1].tolist()
            yield (k0, k1, k2), _group(self._rows.rows[row])

    def move_to_end(self, key: Any) -> None:
        """Note that a transaction goes on."""
        tables.touch(self._rows.ends, self._rows.rows, self._rows.find(key))

    def popitem(self, *, last: bool) -> None:
        """Forget the first transaction."""
        assert not last
        self._rows.remove(int(self._rows.ends[at.OLDEST]))


def _group(row: Any) -> Group:
    frame, ended, sequence, connection = row[at.DATA : at.DATA + 4].tolist()
    return Group(frame, bool(ended), unsigned(sequence), connection)


class KnownView:
    """See `Messages.known`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._kept: dict[int, Known] = {}
        self.buffer: Any = None
        """The bytes of the file that messages are remembered by their place in."""
        self.owner: object = None
        self.missing: Callable[[tuple[str, int]], Known | None] | None = None
        """Called with what is not there; returns it where others remember it."""
        self.looked = False
        """True when all messages were asked for."""

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: tuple[str, int]) -> Known | None:
        """Return a remembered message."""
        row = self._rows.find((*guid_words(key[0]), key[1]))
        if row < 0:
            return None if self.missing is None else self.missing(key)
        return self._known(row)

    def __contains__(self, key: tuple[str, int]) -> bool:
        return self._rows.find((*guid_words(key[0]), key[1])) >= 0

    def setdefault(self, key: tuple[str, int], new: Known) -> Known:
        """Return a remembered message, which is `new` if none has the key."""
        words = (*guid_words(key[0]), key[1])
        row = self._rows.find(words)
        if row >= 0:
            return self._known(row)
        row = self._rows.add(words)
        self._rows.rows[row, [at.FRAME, at.WHERE]] = new.frame, -1
        self._kept[row] = new
        return new

    def popitem(self, *, last: bool) -> None:
        """Forget the first message."""
        assert not last
        self._rows.remove(int(self._rows.ends[at.OLDEST]))

    def keep(self, row: int, known: Known) -> None:
        """Keep a message whose bytes are about to go."""
        self._rows.rows[row, at.WHERE] = -1
        self._kept[row] = known

    def settle(self) -> None:
        """Keep all messages that are remembered by their place."""
        for row in self._rows.in_order():
            if self._rows.rows[row, at.WHERE] >= 0:
                self.keep(row, self._known(row))
        self.buffer = self.owner = None

    def items(self) -> Iterator[tuple[tuple[str, int], Known]]:
        """Yield all messages, the oldest first."""
        self.looked = True
        for row in self._rows.in_order():
            high, low, number = self._rows.rows[row, at.K0 : at.K2 + 1].tolist()
            yield (guid_of_words(high, low), number), self._known(row)

    def _known(self, row: int) -> Known:
        frame, where, size, body_at, body_size = self._rows.rows[row, at.FRAME : at.FRAME + 5].tolist()
        if where < 0:
            return self._kept[row]
        body_at = body_at if body_size else 0
        return known_in(self.buffer, frame, where, size, where + body_at, body_size)


def known_in(buffer: Any, frame: int, start: int, size: int, body_at: int, body_size: int) -> Known:
    """Return the message at a place in a buffer. body_at, body_size: of its body."""
    whole = memoryview(buffer)
    data = bytes(whole[start:body_at]) + bytes(whole[body_at + body_size : start + size])
    return Known(frame, Head(data, body_at - start, body_size), digest_of(whole[body_at : body_at + body_size]))


class Passes(OrderedDict[Any, Any]):
    """See `Resends.passes`. forgotten: called with a connection that is forgotten."""

    forgotten: Callable[[Any], None]

    def popitem(self, last: bool = True) -> Any:
        """Forget the first connection."""
        found = super().popitem(last=last)
        self.forgotten(found[0])
        return found
