"""Count verdicts by requirement, outcome, readings and sender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.captures.meanings import Meaning
from conformance.captures.sender_readings import VerdictKind, plain_verdict
from conformance.pipeline.rows import plain, texts
from conformance.pipeline.schemas import VERDICTS
from conformance.verdict import FRAME, Outcome

if TYPE_CHECKING:
    from conformance.captures.batch_judge import Counted

MOST = 1 << 20
"""Counts in memory, of all senders and kinds together; beyond that they are written, and counting starts again."""
_SPARE = 64  # Room for kinds that have not occurred yet.
NEVER: int = np.iinfo(np.int64).max
"""A number greater than that of any packet, and a time later than any."""
_KINDS: dict[VerdictKind, int] = {}
"""All kinds that occurred, each with its index. The rules' possible ends bound their number."""
_MOST_MEANT = 1 << 15


@dataclass(slots=True)
class Counts:
    """The counts of one capture.

    names: the senders, each with its row. table: int64[4, rows, kinds], the count, the first packet's number, and the
    times of the first and the last packet.
    """

    _names: dict[str | None, int] = field(default_factory=dict)
    _table: Any = field(default_factory=lambda: np.zeros((4, 0, 0), np.int64))

    @property
    def full(self) -> bool:
        """The counts have reached MOST and must be written."""
        return len(self._names) * len(_KINDS) > MOST

    def more(
        self, sender: str | None, keys: tuple[VerdictKind, ...], count: int, first: int = NEVER, first_ns: int = NEVER,
        last_ns: int = 0,
    ) -> None:  # fmt: skip
        """Count so many verdicts of each of these kinds; a count below 0 takes away.

        first: the number of the first packet. first_ns, last_ns: the times of the first and the last.
        """
        self._add([self._row(sender)], _places(keys), [(count, first, first_ns, last_ns)])

    def many(self, counted: Sequence[Counted], *, passes: bool) -> None:
        """Count what the packet rules say in all of these (only passes, or all), and what the session rules say."""
        groups: dict[tuple[int, int], tuple[list[Any], list[int], list[tuple[int, int, int, int]]]] = {}
        for one in counted:
            group = groups.get((id(one.meaning), id(one.session)))  # Both are alive as long as `counted` is.
            if group is None:
                said = [_passes(one.meaning) if passes else _places(one.meaning.keys)]
                said += [_places(one.session)] if one.session else []
                group = groups[id(one.meaning), id(one.session)] = (said, [], [])
            group[1].append(self._row(one.sender))
            group[2].append((one.count, one.first, one.first_ns, one.last_ns))
        for said, rows, spans in groups.values():
            each = [(rows, spans)]
            if len(set(rows)) < len(rows):
                each = [([row], [span]) for row, span in zip(rows, spans, strict=True)]
            for some, its in each:
                for kinds in said:
                    self._add(some, kinds, its)

    def _add(self, rows: list[int], kinds: tuple[Any, Any], spans: Sequence[tuple[int, int, int, int]]) -> None:
        """Count kinds for senders, which differ."""
        self._grow()
        (places, times), table = kinds, self._table
        counts, firsts, first_ns, last_ns = np.array(spans, np.int64).T[:, :, None]
        where = np.array(rows)[:, None], places
        table[(0, *where)] += times * counts
        table[(1, *where)] = np.minimum(table[(1, *where)], firsts)
        table[(2, *where)] = np.minimum(table[(2, *where)], first_ns)
        table[(3, *where)] = np.maximum(table[(3, *where)], last_ns)

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
        table = np.zeros((4, rows, kinds), np.int64)
        table[1:3] = NEVER
        _, before, width = self._table.shape
        table[:, :before, :width] = self._table
        self._table = table

    def outcomes(self) -> Counter[str]:
        """Return the number of verdicts by outcome."""
        found: Counter[str] = Counter()
        total = self._table[0].sum(axis=0)
        for key, number in _KINDS.items():
            found[key[1].value] += int(total[number]) if number < len(total) else 0
        return +found

    def table(self, same: Mapping[str, Any]) -> pa.Table | None:
        """Return the counts as rows of `verdicts` without `date`, None if there are none. same: values of all rows."""
        kinds = list(_KINDS)
        sender, kind = np.nonzero(self._table[0])
        if not len(sender):
            return None
        count, first, *times = self._table[:, sender, kind]
        schema = VERDICTS.arrow()
        of_kind = pa.array(kind)
        out: dict[str, Any] = {name: pa.repeat(value, len(sender)) for name, value in same.items()}
        for name, values in {
            "requirement": [key[0] for key in kinds],
            "outcome": [key[1].value for key in kinds],
            "readings": [texts(dict(key[2])) for key in kinds],
            "reason": [plain_verdict(key, 0).reason for key in kinds],
        }.items():
            out[name] = pa.array(values, schema.field(name).type).take(of_kind)
        out["count"] = pa.array(count)
        senders = pa.array([name and plain(name) for name in self._names], pa.string())
        out["sender"] = senders.take(pa.array(sender))
        out["subject"] = pc.binary_join_element_wise(pa.scalar(FRAME), pa.array(first).cast(pa.string()), " ")
        for name, times_ns in zip(("first_time", "last_time"), times, strict=True):
            out[name] = pa.array(times_ns // 1000).cast(schema.field(name).type)
            out[name.replace("_time", "_ns")] = pa.array(times_ns)
        missing = [name for name in schema.names if name not in out]
        out |= {name: pa.nulls(len(sender), schema.field(name).type) for name in missing}
        return pa.table([out[name] for name in schema.names], schema=schema)

    def clear(self) -> None:
        """Remove all counts."""
        self._names.clear()
        self._table = np.zeros((4, 0, 0), np.int64)


@lru_cache(_MOST_MEANT)
def _passes(meaning: Meaning) -> tuple[Any, Any]:
    return _places(tuple(key for key in meaning.keys if key[1] is Outcome.PASS))


@lru_cache(_MOST_MEANT)
def _places(keys: tuple[VerdictKind, ...]) -> tuple[Any, Any]:
    """Return the indexes of kinds, and how often each occurs."""
    found = Counter(_KINDS.setdefault(key, len(_KINDS)) for key in keys)
    return np.array(list(found), np.int64), np.array(list(found.values()), np.int64)
