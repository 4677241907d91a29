"""The state in arrays, in the form in which the rules read and change it: connections, messages, sequences."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.layout import NONE
from conformance.judge.sessions.columns.tables import (
    Index,
    Rows,
)
from conformance.judge.sessions.context import digest_of
from conformance.judge.sessions.keys import guid_of_words, guid_words, host_words, queue_words
from conformance.judge.sessions.message_memory import (
    DIGEST,
    GROUP,
    MESSAGE,
    SENT,
    Item,
    PackedGroups,
    PackedMessages,
    PackedSent,
)
from conformance.judge.sessions.messages import Head, Known, Place
from conformance.judge.sessions.registers import signed, unsigned
from conformance.judge.sessions.sequences import Sent, Sequences
from conformance.judge.sessions.sequences import Sequence as sequences_Sequence
from conformance.judge.sessions.transactions import Group

COPIED: Final = 1024
"""Bytes of the longest body that is copied when the bytes of a capture go; of a longer one, its digest is kept."""


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

    def packed(self) -> PackedSent:
        """Return all messages as bytes."""
        rows = self._rows.rows[self._rows.numbers()]
        usual = rows[:, at.SENT_PLAIN] != 0
        rows[:, at.SENT_FRAME] *= np.where(rows[:, at.SENT_FINAL] != 0, -1, 1)
        words = [*range(at.K2 + 1), *range(at.SENT_SEQUENCE, at.SENT_FRAME + 1)]
        others = [
            ((guid_of_words(high, low), number), self._plain[row])
            for high, low, number, row in zip(
                *rows[~usual, : at.K2 + 1].T.tolist(), self._rows.numbers()[~usual].tolist(), strict=True
            )
        ]
        return PackedSent(rows[usual][:, words].astype("<i8").tobytes(), tuple(others))

    def take(self, parts: Sequence[PackedSent], forgotten: int) -> None:
        """Remember these messages after a frame; there are none so far."""
        rows = _of(SENT, parts)
        others = [one for part in parts for one in part.others]
        frames = np.abs(rows[:, -1])
        table = np.zeros((len(rows) + len(others), 3 + at.SENT_WIDTH - at.DATA), np.int64)
        table[: len(rows), :8], table[: len(rows), 3 + at.SENT_FRAME - at.DATA] = rows, frames
        table[: len(rows), 3 + at.SENT_FINAL - at.DATA] = rows[:, -1] < 0
        table[: len(rows), 3 + at.SENT_PLAIN - at.DATA] = 1
        for row, ((source, number), sent) in zip(table[len(rows) :], others, strict=True):
            row[:3], row[3 + at.SENT_FRAME - at.DATA] = (*guid_words(source), number), sent.frame
        order = _fill(self._rows, table, at.SENT_FRAME, forgotten)
        self._plain = {row: others[one][1] for row, one in _others(order, len(rows))}

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

    def packed(self) -> PackedGroups:
        """Return all transactions as bytes."""
        words = [*range(at.K2 + 1), *range(at.GROUP_FRAME, at.GROUP_CONNECTION + 1)]
        return PackedGroups(self._rows.rows[self._rows.numbers()][:, words].astype("<i8").tobytes())

    def take(self, parts: Sequence[PackedGroups], forgotten: int) -> None:
        """Remember these transactions after a frame; there are none so far."""
        _fill(self._rows, _of(GROUP, parts), at.GROUP_FRAME, forgotten)

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


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Bytes of messages. first: the number of the first packet that may be in them.

    apart: they are without their bodies, and behind each is the digest of its body.
    """

    first: int
    view: Any
    apart: bool = False


class KnownView:
    """See `Messages.known`.

    A message is remembered by the place of its bytes: in the capture, as long as it is there, and then in a copy.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._kept: dict[int, Known] = {}
        self._copies: list[_Bytes] = []
        self._file: _Bytes | None = None
        self.owner: object = None
        """Keeps the bytes of the capture in their place."""
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

    def read_from(self, buffer: Any, first: int, owner: object) -> None:
        """Take notice that packets from the number `first` on are in this buffer, as long as the owner lives.

        Those in another buffer so far were copied (`settle`).
        """
        if self._file is None or self.owner is not owner or owner is None:
            self._file, self.owner = _Bytes(first, memoryview(buffer)), owner

    def settle(self) -> None:
        """Copy all messages that are in the capture, because its bytes go."""
        if self._file is not None:
            numbers = self._rows.by(at.FRAME)
            found = self._rows.rows[numbers, at.FRAME : at.FRAME + 5]
            here = (found[:, 0] >= self._file.first) & (found[:, 1] >= 0)
            numbers, found = numbers[here], found[here]
            for row in numbers[found[:, 4] > COPIED].tolist():
                self.keep(row, self._known(row))
            short = found[:, 4] <= COPIED
            self._copy(numbers[short], found[short])
        oldest = self._rows.rows[self._rows.ends[at.OLDEST], at.FRAME] if len(self) else 1 << 62
        while len(self._copies) > 1 and self._copies[1].first <= oldest:
            del self._copies[0]
        self.leave()

    def _copy(self, numbers: Any, found: Any) -> None:
        """Copy messages from the capture. numbers: their rows. found: the words of these from FRAME on."""
        assert self._file is not None
        if not len(numbers):
            return
        begins, sizes, view = found[:, 1], found[:, 2], self._file.view
        parts = [view[begin:end] for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True)]
        self._rows.rows[numbers, at.WHERE] = np.cumsum(sizes) - sizes
        self._copies.append(_Bytes(self._file.first, memoryview(b"".join(parts))))

    def leave(self) -> None:
        """Let go of the bytes of the capture."""
        self._file = self.owner = None

    def packed(self) -> PackedMessages:
        """Return all messages as bytes."""
        rows: list[bytes] = []
        heads: list[Any] = []
        others: list[Item] = []
        numbers = self._rows.by(at.FRAME)
        for row, found in zip(numbers.tolist(), self._rows.rows[numbers].tolist(), strict=True):
            key, (frame, where, size, body_at, body_size) = found[: at.K2 + 1], found[at.FRAME : at.FRAME + 5]
            body_at = body_at if body_size else 0
            if where >= 0:
                buffer = self._buffer(frame)
                begin = where + body_at
                if buffer.apart:
                    heads.append(buffer.view[where : where + size - body_size + DIGEST])
                else:
                    end, view = begin + body_size, buffer.view
                    heads += (view[where:begin], view[end : where + size], digest_of(view[begin:end]))
            else:
                known = self._kept[row]
                head = known.kept
                if not isinstance(head, Head):
                    others.append(((guid_of_words(*key[:2]), key[2]), known))
                    continue
                heads += (head.data, known.body)
                size, body_at, body_size = len(head.data) + head.size, head.at, head.size
            rows.append(MESSAGE.pack(*key, frame, size, body_at, body_size))
        return PackedMessages(b"".join(rows), b"".join(heads), tuple(others))

    def take(self, parts: Sequence[PackedMessages], forgotten: int) -> None:
        """Remember these messages after a frame; there are none so far."""
        rows = _of(MESSAGE, parts)
        others = [one for part in parts for one in part.others]
        table = np.zeros((len(rows) + len(others), 3 + at.KNOWN_WIDTH - at.DATA), np.int64)
        table[: len(rows), :4], table[: len(rows), 5:] = rows[:, :4], rows[:, 4:]
        kept = rows[:, 4] - rows[:, 6] + DIGEST
        table[: len(rows), 4] = np.cumsum(kept) - kept
        for row, ((source, number), known) in zip(table[len(rows) :], others, strict=True):
            row[:5] = (*guid_words(source), number, known.frame, -1)
        order = _fill(self._rows, table, at.FRAME, forgotten)
        self._copies = [_Bytes(0, memoryview(b"".join([part.heads for part in parts])), apart=True)]
        self._kept = {row: others[one][1] for row, one in _others(order, len(rows))}

    def items(self) -> Iterator[tuple[tuple[str, int], Known]]:
        """Yield all messages, the oldest first."""
        self.looked = True
        for row in self._rows.in_order():
            high, low, number = self._rows.rows[row, at.K0 : at.K2 + 1].tolist()
            yield (guid_of_words(high, low), number), self._known(row)

    def _buffer(self, frame: int) -> _Bytes:
        """Return the bytes that a packet is in."""
        if self._file is not None and frame >= self._file.first:
            return self._file
        return self._copies[max(0, bisect_right(self._copies, frame, key=lambda one: one.first) - 1)]

    def _known(self, row: int) -> Known:
        frame, where, size, body_at, body_size = self._rows.rows[row, at.FRAME : at.FRAME + 5].tolist()
        if where < 0:
            return self._kept[row]
        body_at, buffer = body_at if body_size else 0, self._buffer(frame)
        if buffer.apart:
            end = where + size - body_size
            head = Head(bytes(buffer.view[where:end]), body_at, body_size)
            return Known(frame, head, bytes(buffer.view[end : end + DIGEST]))
        return known_in(buffer.view, frame, where, size, where + body_at, body_size)


def _of(form: Any, parts: Sequence[Any]) -> Any:
    """Return the rows of all parts. form: that of a row."""
    return np.frombuffer(b"".join([part.rows for part in parts]), "<i8").astype(np.int64).reshape(-1, form.size // 8)


def _fill(rows: Rows, table: Any, frame: int, forgotten: int) -> Any:
    """Fill a table in the order of its frames; return which of the given rows each is.

    table: a key of three words and the content. frame: the word with the number. forgotten: frames up to here are left
    out.
    """
    frames = table[:, 3 + frame - at.DATA]
    order = np.argsort(frames, kind="stable")
    order = order[frames[order] > forgotten]
    rows.fill(table[order, :3], table[order, 3:])
    return order


def _others(order: Any, first: int) -> Iterator[tuple[int, int]]:
    """Yield the row of each one that has an object, and the number of the object. first: rows without objects."""
    for row in np.flatnonzero(order >= first).tolist():
        yield row, int(order[row]) - first


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


class LastView:
    """The last identifiers, see `Lifetimes.last`."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rows: OrderedDict[Place, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> Iterator[tuple[Place, int]]:
        """Yield all places."""
        for key, row in self._rows.items():
            yield key, int(self._index.rows[row, at.LAST])

    def get(self, key: Place) -> int | None:
        """Return the last identifier of a place."""
        row = self._rows.get(key)
        return None if row is None else int(self._index.rows[row, at.LAST])

    def __setitem__(self, key: Place, number: int) -> None:
        row = self._rows.get(key)
        if row is None:
            connection, source, queue, priority = key
            (s0, s1), (q0, q1) = guid_words(source), queue_words(queue)
            last = at.OF_LAST | (priority or 0) << 3 | (connection or 0) << 8
            row = self._rows[key] = self._index.row((s0 ^ q0, s1 ^ q1, last), ())
        self._index.rows[row, at.LAST] = number

    def popitem(self, *, last: bool) -> None:
        """Forget the first place."""
        _, row = self._rows.popitem(last=last)
        self._index.remove(row)


class Sources:
    """The queue managers of a capture: `Lifetimes.smallest` and `Transactions.views` have a row in common."""

    def __init__(self, index: Index, cursor: Any) -> None:
        self.index, self.cursor = index, cursor
        self.smallest: OrderedDict[str, int] = OrderedDict()
        self.views: dict[str, tuple[int, list[Sequences]]] = {}
        self.watch: Callable[[str, list[Sequences]], None] | None = None
        """Called with the views of a queue manager that has sent a message."""

    def row(self, source: str) -> int:
        """Return the row of a queue manager, a new one if it is unknown."""
        key = (*guid_words(source), at.OF_SOURCE)
        found = self.index.find(key)
        return found if found >= 0 else self.index.row(key, (NONE,))

    def tell(self, source: str) -> None:
        """Tell compiled code about the views of a queue manager."""
        found = self.views.get(source)
        if found is not None:
            row, views = found
            if self.watch is not None:
                self.watch(source, views)
            word = len(views)
            for position, view in enumerate(views):
                word |= (SCOPES.index(view.scope) | view.failed << 2) << (2 + 3 * position)
            self.index.rows[row, at.VIEWS] = word

    def leave(self, source: str, row: int) -> None:
        """Remove a row that is no longer needed."""
        if source not in self.smallest and source not in self.views:
            self.index.remove(row)


SCOPES = ("session", "queue")


class SmallestView:
    """See `Lifetimes.smallest`."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources.smallest)

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield all queue managers."""
        for source, row in self._sources.smallest.items():
            yield source, int(self._sources.index.rows[row, at.SMALLEST])

    def get(self, source: str) -> int | None:
        """Return the smallest age of a queue manager's messages."""
        row = self._sources.smallest.get(source)
        return None if row is None else int(self._sources.index.rows[row, at.SMALLEST])

    def __setitem__(self, source: str, age: int) -> None:
        row = self._sources.smallest.get(source)
        if row is None:
            row = self._sources.smallest[source] = self._sources.row(source)
        self._sources.index.rows[row, at.SMALLEST] = age

    def popitem(self, *, last: bool) -> None:
        """Forget the first queue manager."""
        source, row = self._sources.smallest.popitem(last=last)
        self._sources.index.rows[row, at.SMALLEST] = NONE
        self._sources.leave(source, row)


class ViewsView:
    """See `Transactions.views`; the one used longest ago is forgotten first."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources.views)

    def items(self) -> Iterator[tuple[str, list[Sequences]]]:
        """Yield all queue managers, the one used longest ago first."""
        rows = self._sources.index.rows
        for source, (_, views) in sorted(self._sources.views.items(), key=lambda one: int(rows[one[1][0], at.TICK])):
            yield source, views

    def get(self, source: str) -> list[Sequences] | None:
        """Return the views of a queue manager."""
        found = self._sources.views.get(source)
        return None if found is None else found[1]

    def __setitem__(self, source: str, views: list[Sequences]) -> None:
        row = self._sources.row(source)
        for view in views:
            view.current = CurrentView(self._sources.index, source, view.scope)  # type: ignore[assignment]
        self._sources.views[source] = (row, views)
        self.move_to_end(source)

    def move_to_end(self, source: str) -> None:
        """Note that the views are used."""
        self._sources.cursor[at.TICKS] += 1
        self._sources.index.rows[self._sources.views[source][0], at.TICK] = self._sources.cursor[at.TICKS]

    def popitem(self, *, last: bool) -> None:
        """Forget the views used longest ago."""
        assert not last
        rows = self._sources.index.rows
        source = min(self._sources.views, key=lambda one: int(rows[self._sources.views[one][0], at.TICK]))
        row, views = self._sources.views.pop(source)
        rows[row, at.VIEWS] = 0
        for view in views:
            while len(view.current):
                view.current.popitem(last=False)
        self._sources.leave(source, row)


class CurrentView:
    """See `Sequences.current`."""

    def __init__(self, index: Index, source: str, scope: str) -> None:
        self._index, self._source, self._scope = index, source, SCOPES.index(scope)
        self._rows: OrderedDict[tuple[str, ...], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> Iterator[tuple[tuple[str, ...], sequences_Sequence]]:
        """Yield all sequences."""
        for key in self._rows:
            found = self.get(key)
            assert found is not None
            yield key, found

    def get(self, key: tuple[str, ...]) -> sequences_Sequence | None:
        """Return the current sequence."""
        row = self._rows.get(key)
        if row is None:
            return None
        identifier, highest, connection, generation = self._index.rows[row, at.DATA : at.DATA + 4].tolist()
        return sequences_Sequence(unsigned(identifier), highest, connection, generation)

    def __setitem__(self, key: tuple[str, ...], new: sequences_Sequence) -> None:
        content = (signed(new.identifier), new.highest, new.connection or 0, new.generation)
        row = self._rows.get(key)
        if row is None:
            (s0, s1), (h0, h1) = guid_words(self._source), host_words((key[0], key[1]))
            q0, q1 = queue_words(key[2]) if len(key) > 2 else (0, 0)
            where = (s0 ^ q0 ^ h0, s1 ^ q1 ^ h1, at.OF_CURRENT | self._scope << 3)
            row = self._rows[key] = self._index.row(where, content)
        self._index.rows[row, at.DATA : at.DATA + 4] = content

    def popitem(self, *, last: bool) -> None:
        """Forget the first one."""
        _, row = self._rows.popitem(last=last)
        self._index.remove(row)
