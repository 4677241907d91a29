"""Count verdicts by requirement, outcome, readings, sender and queue, and make the texts of packets, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.capture.columns.places import OF_NUMBER
from conformance.capture.columns.reader import Rows as Found
from conformance.captures.engine import destination
from conformance.captures.meanings import Meaning
from conformance.captures.sender_readings import Key, plain_verdict
from conformance.judge.packets.signatures import CERTIFICATE
from conformance.judge.sessions.keys import HOPS, MANAGER
from conformance.pipeline.rows import plain, texts
from conformance.pipeline.schemas import VERDICTS
from conformance.verdict import FRAME, Outcome
from conformance.wire import dissect
from conformance.wire.columns.table import ColumnSet
from conformance.wire.decode import guid_text

if TYPE_CHECKING:
    import pyarrow

    from conformance.captures.batch_judge import Counted

MOST = 1 << 20
"""Counts in memory, of all senders and kinds together; beyond that they are written, and counting starts again."""
_SPARE = 64  # Room for kinds that have not occurred yet.
NEVER: int = np.iinfo(np.int64).max
"""A number greater than that of any packet, for counts without a packet."""


_KINDS: dict[Key, int] = {}
"""All kinds that occurred, each with its index. The rules' possible ends bound their number."""
_MEANT: dict[Meaning | tuple[Key, ...], tuple[Any, Any]] = {}
"""The passes of an outcome, or some kinds: their indexes, and how often each occurs."""
_MOST_MEANT = 1 << 15


@dataclass(slots=True)
class Counts:
    """The counts of one capture.

    names: the senders, each with its row. table: int64[4, rows, kinds], the count, the first packet's number, and the
    times of the first and the last packet. spans: int64[2, rows], the times of all kinds.
    """

    _names: dict[str | None, int] = field(default_factory=dict)
    _table: Any = field(default_factory=lambda: np.zeros((4, 0, 0), np.int64))
    _spans: Any = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    _noted: dict[tuple[str | None, str | None, Key], tuple[int, int]] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """The counts have reached MOST and must be written."""
        return len(self._names) * len(_KINDS) + len(self._noted) > MOST

    def meant(self, sender: str, meaning: Meaning, count: int, first: int, first_ns: int, last_ns: int) -> None:
        """Count the passes of so many packets of a sender with this meaning.

        first: the number of the first one. first_ns, last_ns: their times.
        """
        self._add_to(self._row(sender), _meant(meaning), count, first, first_ns, last_ns)

    def more(
        self, sender: str | None, keys: tuple[Key, ...], count: int, first: int, first_ns: int, last_ns: int
    ) -> None:
        """Count so many verdicts of each of these kinds."""
        self._add_to(self._row(sender), _kinds(keys), count, first, first_ns, last_ns)

    def many(self, counted: Sequence[Counted]) -> None:
        """Count the passes in all of these, and what the session rules say, as `meant` and `more` do one by one."""
        groups: dict[tuple[int, int], tuple[Any, Any, list[int], list[tuple[int, int, int, int]]]] = {}
        for one in counted:
            row = self._row(one.sender)
            group = groups.get((id(one.meaning), id(one.session)))  # Both are alive as long as `counted` is.
            if group is None:
                said = _kinds(one.session) if one.session else None
                group = groups[id(one.meaning), id(one.session)] = (_meant(one.meaning), said, [], [])
            group[2].append(row)
            group[3].append((one.count, one.first, one.first_ns, one.last_ns))
        for meant, said, rows, spans in groups.values():
            if len(set(rows)) < len(rows):
                each = [([row], [span]) for row, span in zip(rows, spans, strict=True)]
            else:
                each = [(rows, spans)]
            for some, its in each:
                numbers = np.array(its, np.int64).T[:, :, None]
                self._add(some, meant, *numbers)
                if said is not None:
                    self._add(some, said, *numbers)

    def _add(
        self, rows: list[int], kinds: tuple[Any, Any], counts: Any, firsts: Any, first_ns: Any, last_ns: Any
    ) -> None:
        """Count kinds for senders, which differ. counts and so on: int64[rows, 1]."""
        self._grow()
        table, spans = self._table, self._spans
        places, times = kinds
        where = np.array(rows)[:, None], places
        table[(0, *where)] += times * counts
        table[(1, *where)] = np.minimum(table[(1, *where)], firsts)
        table[(2, *where)] = np.minimum(table[(2, *where)], first_ns)
        table[(3, *where)] = np.maximum(table[(3, *where)], last_ns)
        spans[0, rows] = np.minimum(spans[0, rows], first_ns[:, 0])
        spans[1, rows] = np.maximum(spans[1, rows], last_ns[:, 0])

    def _add_to(self, row: int, kinds: tuple[Any, Any], count: int, first: int, first_ns: int, last_ns: int) -> None:
        """Count kinds for one sender."""
        self._grow()
        counts, firsts, begins, ends = self._table[:, row]
        places, times = kinds
        counts[places] += times * count
        firsts[places] = np.minimum(firsts[places], first)
        begins[places] = np.minimum(begins[places], first_ns)
        ends[places] = np.maximum(ends[places], last_ns)
        spans = self._spans
        spans[0, row], spans[1, row] = min(spans[0, row], first_ns), max(spans[1, row], last_ns)

    def note(
        self,
        sender: str,
        queue: str | None,
        keys: Iterable[Key],
        count: int,
        first: int,
        first_ns: int = NEVER,
        last_ns: int = 0,
    ) -> None:
        """Count kinds other than pass for so many packets of a sender to this queue."""
        row = self._row(sender)
        self._grow()
        spans = self._spans
        spans[0, row], spans[1, row] = min(spans[0, row], first_ns), max(spans[1, row], last_ns)
        for key in keys:
            known = self._noted.get((sender, queue, key), (0, NEVER))
            self._noted[sender, queue, key] = (known[0] + count, min(known[1], first))

    def _row(self, name: str | None) -> int:
        return self._names.setdefault(name, len(self._names))

    def _grow(self) -> None:
        """Make room for all senders and kinds."""
        _, rows, kinds = self._table.shape
        if rows >= len(self._names) and kinds >= len(_KINDS):
            return
        if rows < len(self._names):
            rows = max(2 * rows, len(self._names))
        if kinds < len(_KINDS):
            kinds = len(_KINDS) + _SPARE
        table, spans = np.zeros((4, rows, kinds), np.int64), np.zeros((2, rows), np.int64)
        table[1:3], spans[0] = NEVER, NEVER
        _, before, width = self._table.shape
        table[:, :before, :width], spans[:, :before] = self._table, self._spans
        self._table, self._spans = table, spans

    def outcomes(self) -> Counter[str]:
        """Return the number of verdicts by outcome."""
        found: Counter[str] = Counter()
        total = self._table[0].sum(axis=0)
        for key, number in _KINDS.items():
            found[key[1].value] += int(total[number]) if number < len(total) else 0
        for (_, _, key), (count, _) in self._noted.items():
            found[key[1].value] += count
        return +found

    def table(self, same: Mapping[str, Any]) -> pyarrow.Table | None:
        """Return the counts as rows of `verdicts` without `date`, None if there are none. same: values of all rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = self._names
        noted = [(names[name], queue, key, *many) for (name, queue, key), many in self._noted.items() if many[0]]
        for _, _, key, _, _ in noted:
            _KINDS.setdefault(key, len(_KINDS))
        kinds = list(_KINDS)
        self._grow()
        found, spans = self._table[:, : len(names), : len(kinds)], self._spans.T.tolist()
        sender, kind = np.nonzero(found[0])
        count, first, *times = found[:, sender, kind]
        queues = pa.nulls(len(sender), pa.string())
        if noted:
            who, where, what, many, begin = zip(*noted, strict=True)
            queues = pa.concat_arrays([queues, pa.array(where, pa.string())])
            sender = np.concatenate((sender, who))
            kind = np.concatenate((kind, [_KINDS[key] for key in what]))
            count, first = np.concatenate((count, many)), np.concatenate((first, begin))
            times = [np.concatenate((one, [spans[at][end] for at in who])) for end, one in enumerate(times)]
        if not len(sender):
            return None
        schema = VERDICTS.arrow()
        of_kind, numbers = pa.array(kind), pa.array(first)
        out: dict[str, Any] = {name: pa.repeat(value, len(sender)) for name, value in same.items()}
        for name, values in {
            "requirement": [key[0] for key in kinds],
            "outcome": [key[1].value for key in kinds],
            "readings": [texts(dict(key[2])) for key in kinds],
            "reason": [plain_verdict(key, 0).reason for key in kinds],
        }.items():
            out[name] = pa.array(values, schema.field(name).type).take(of_kind)
        out["count"], out["queue"] = pa.array(count), queues
        senders = pa.array([name and plain(name) for name in names], pa.string())
        out["sender"] = senders.take(pa.array(sender))
        out["subject"] = pc.binary_join_element_wise(pa.scalar(FRAME), numbers.cast(pa.string()), " ")
        for name, times_ns in zip(("first_time", "last_time"), times, strict=True):
            out[name] = pa.array(times_ns // 1000).cast(schema.field(name).type)
            out[name.replace("_time", "_ns")] = pa.array(times_ns)
        missing = [name for name in schema.names if name not in out]
        out |= {name: pa.nulls(len(sender), schema.field(name).type) for name in missing}
        return pa.table([out[name] for name in schema.names], schema=schema)

    def clear(self) -> None:
        """Remove all counts."""
        self._names.clear()
        self._noted.clear()
        self._table, self._spans = np.zeros((4, 0, 0), np.int64), np.zeros((2, 0), np.int64)


def _meant(meaning: Meaning) -> tuple[Any, Any]:
    found = _MEANT.get(meaning)
    return _places(meaning, [key for key in meaning.keys if key[1] is Outcome.PASS]) if found is None else found


def _kinds(keys: tuple[Key, ...]) -> tuple[Any, Any]:
    return _MEANT.get(keys) or _places(keys, keys)


def _places(name: Meaning | tuple[Key, ...], keys: Iterable[Key]) -> tuple[Any, Any]:
    if len(_MEANT) >= _MOST_MEANT:
        _MEANT.clear()
    found = Counter(_KINDS.setdefault(key, len(_KINDS)) for key in keys)
    _MEANT[name] = np.array(list(found), np.int64), np.array(list(found.values()), np.int64)
    return _MEANT[name]


KIND, NUMBER, CLASS = "Packet.Kind", "UserHeader.MessageID", "MessagePropertiesHeader.MessageClass"
TRANSACTION = "TransactionHeader.Flags"
_PREFIX = "UserHeader.DestinationQueue."
_QUEUE = (
    f"{_PREFIX}DirectFormatName#",
    f"{_PREFIX}PublicQueueIdentifier",
    f"{_PREFIX}PrivateQueueIdentifier",
    "UserHeader.QueueManagerAddress",
)
KEYS = (HOPS, MANAGER, CERTIFICATE, KIND, NUMBER, CLASS, TRANSACTION, *_QUEUE)
_MOST = 1 << 18
"""Texts in the cache; when there are more, it is emptied."""
_ODD = 0x9E3779B97F4A7C15


class Texts:
    """Texts by number, each made once. make: returns the text of one row."""

    def __init__(self) -> None:
        self.known: dict[int, str | None] = {}

    def of(self, numbers: Any, make: Callable[[int], str | None]) -> pyarrow.Array:
        """Return the text of each row. numbers: int64, equal for equal texts."""
        import pyarrow as pa

        found = pa.array(numbers).dictionary_encode()
        if len(self.known) > _MOST:
            self.known.clear()
        known, different = self.known, found.dictionary.to_pylist()
        for number in different:
            if number not in known:
                known[number] = make(int((numbers == number).argmax()))
        return pa.array([known[number] for number in different], pa.string()).take(found.indices)

    def one(self, number: int, make: Callable[[], str | None]) -> str | None:
        """Return the text of one number."""
        if number not in self.known:
            if len(self.known) > _MOST:
                self.known.clear()
            self.known[number] = make()
        return self.known[number]


QUEUES, MANAGERS = Texts(), Texts()
"""Shared by all captures, because the numbers depend only on the bytes of the packets."""


class Numbers:
    """Reads such numbers from columns. columns: the place of each key."""

    def __init__(self, columns: ColumnSet) -> None:
        self.columns = columns

    def there(self, values: Any, key: str) -> Any:
        """Return which packets have the key."""
        column = self.columns[key]
        return (values[column.flags] >> column.bit & 1).astype(bool)

    def of(self, values: Any, key: str) -> Any:
        """Return a number for each row, the same for the same value; 0 if there is none."""
        return mixed(self.parts(values, key), self.there(values, key))

    def parts(self, values: Any, key: str) -> list[Any]:
        """Return the columns of a value."""
        column = self.columns[key]
        return [values[column.at + at] for at in range(column.width)]

    def queue(self, values: Any) -> Any:
        """Return a number for each row, the same for the same destination queue."""
        total = np.zeros(values.shape[1], np.int64)
        for number, key in enumerate(_QUEUE):
            there = self.there(values, key)
            total ^= mixed([*self.parts(values, key), np.full(len(total), number + 1)], there)
        return total

    def manager(self, values: Any, row: int) -> str:
        """Return the SourceQueueManager of a row."""
        column = self.columns[MANAGER]
        return guid_text(values[column.at : column.at + 2, row].tobytes())


def mixed(parts: Sequence[Any], there: Any) -> Any:
    """Mix several numbers into one; 0 for rows where they are absent."""
    with np.errstate(over="ignore"):
        total = np.full(len(there), _ODD, np.uint64)  # So that a value of zeros is not 0.
        for part in parts:
            total = (total ^ part.astype(np.uint64)) * np.uint64(_ODD)
            total ^= total >> np.uint64(29)
    return np.where(there, total.astype(np.int64), 0)


def numbered(senders: Any, managers: Any) -> Any:
    """Return a number for each sender.

    senders: the number of its name, or -1 for the queue manager that made the packet. managers: the number of
    that queue manager.
    """
    return np.where(senders >= 0, senders, managers | np.int64(-1 << 63))  # Numbers of names are below 2**31.


def queue_text(data: bytes) -> str | None:
    """Return the destination queue of a packet."""
    found = destination(dissect(data, transport="tcp"))
    return None if found is None else plain(found)


MOST_QUEUES = 1 << 16
"""Combinations of sender, queue and outcome in a range; packets beyond that are counted without their queue."""


@dataclass(slots=True)
class Deviating:
    """The number of packets of a sender, to a queue, with an outcome. first: the lowest of their numbers."""

    sender: str
    queue: str | None
    outcome: int
    count: int
    first: int


class ByQueue:
    """The counts of a range. numbers: reads the columns."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.known: dict[int | tuple[str, int], Deviating] = {}

    def add(self, found: Found, rows: Any, values: Any, outcomes: Any, senders: Any, names: Sequence[str]) -> None:
        """Count these rows of a batch.

        values: their columns. senders: for each the number of a name, or -1 for the queue manager that made the packet.
        """
        queues = self.numbers.queue(values)
        who = numbered(senders, self.numbers.of(values, MANAGER))
        whole = mixed([who, queues, outcomes], np.ones(len(rows), bool))
        keys, at, counts = np.unique(whole, return_index=True, return_counts=True)

        def name(row: int) -> str:
            return names[senders[row]] if senders[row] >= 0 else self.numbers.manager(values, row)

        firsts = found.meta[rows[at], OF_NUMBER]
        for key, row, count, first in zip(keys.tolist(), at.tolist(), counts.tolist(), firsts.tolist(), strict=True):
            known = self.known.get(key)
            if known is None:
                known = self._new(key, found, int(rows[row]), int(queues[row]), int(outcomes[row]), first, name(row))
            known.count += count
            known.first = min(known.first, first)

    def _new(self, key: int, found: Found, row: int, queue: int, outcome: int, first: int, sender: str) -> Deviating:
        if len(self.known) >= MOST_QUEUES:
            return self.known.setdefault((sender, outcome), Deviating(sender, None, outcome, 0, first))
        text = QUEUES.one(queue, lambda: queue_text(found.data(row)))
        return self.known.setdefault(key, Deviating(sender, text, outcome, 0, first))
