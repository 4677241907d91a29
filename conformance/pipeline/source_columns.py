"""The rows of `msmq_pcap` as Arrow batches: compiled code decodes and judges, and only chosen columns are made.

Packets that compiled code leaves undecided are judged one by one by the same rules, and take their places among the
others. Conditions are checked first, on the columns that they need; the other columns are made of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from conformance.capture import Event
from conformance.captures.in_place import Counted, Decoded, InPlace, code_for
from conformance.captures.judge import PACKET, CaptureJudge, Managers, Told
from conformance.captures.meanings import Meaning
from conformance.captures.packet_rules import PacketRules
from conformance.captures.senders import Ends
from conformance.captures.summary import CaptureSummary
from conformance.judge.sessions.context import Seen
from conformance.pipeline.packet_columns import Chosen, PacketColumns
from conformance.pipeline.parts import batches_of
from conformance.pipeline.rows import Row, plain
from conformance.pipeline.rows_writer import packet_row
from conformance.pipeline.schemas import SOURCE
from conformance.pipeline.source_filters import Test
from conformance.pipeline.streams import How
from conformance.pipeline.texts import KEYS

if TYPE_CHECKING:
    import pyarrow

OF_RANGE: Final = ("path", "start")
"""The columns that are the same in all rows of a range."""
_DEAR: Final = ("source", "destination", "worst", "source_manager", "queue")
"""Columns of which conditions are checked last, the dearest one at the end."""


@lru_cache
def schema(names: tuple[str, ...]) -> pyarrow.Schema:
    """Return the schema of batches with these columns, as Spark wants it: every column nullable."""
    import pyarrow as pa

    own = {"deviating": pa.list_(pa.field("element", pa.string()))}
    found = SOURCE.arrow()
    return pa.schema([pa.field(name, own.get(name, found.field(name).type)) for name in names])


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns of the rows, in their order, and the conditions that all of them fulfil."""

    names: tuple[str, ...] = SOURCE.names
    tests: tuple[Test, ...] = ()

    def of_range(self, path: str, start: int) -> bool:
        """Tell whether rows of a range can fulfil the conditions on `path` and `start`."""
        import pyarrow as pa

        found = {"path": pa.array([plain(path)]), "start": pa.array([start])}
        return all(one.keeps(found[one.column]).all() for one in self.tests if one.column in found)

    def in_order(self) -> list[Test]:
        """Return the other conditions, the cheap ones first."""
        found = [one for one in self.tests if one.column not in OF_RANGE]
        return sorted(found, key=lambda one: _DEAR.index(one.column) if one.column in _DEAR else -1)


def packets(path: str, start: int, stop: int, how: How, wanted: Wanted) -> Iterator[pyarrow.RecordBatch]:
    """Yield the packets that begin in the range [start, stop) of a capture. Raises CaptureError."""
    if not wanted.of_range(path, start):
        return
    rules = PacketRules(how.profile, how.readings, how.level)
    sink = _Rows(plain(path), start, wanted)
    judge = CaptureJudge((), rules, None, _Nobody(), sink, CaptureSummary(path))
    in_place = judge.in_place = InPlace(judge, rules, sink, Ends())
    for batch in batches_of(path, start, stop):
        in_place.batch(batch)
        yield from sink.taken()


class _Nobody:
    """Tells no senders: the rows have none."""

    def of(self, seen: Seen) -> str:
        """Return no name."""
        return ""

    def see(self, seen: Seen) -> None:
        """Do nothing."""

    def event(self, event: Event) -> None:
        """Do nothing."""

    def managers(self, connection: int) -> Managers:
        """Return nothing."""
        return None, None


@dataclass(slots=True)
class _Rows:
    """A sink that makes rows of the packets of one batch at a time."""

    path: str
    start: int
    wanted: Wanted
    keys: tuple[str, ...] = KEYS
    full: bool = True
    tests: list[Test] = field(init=False)
    maker: PacketColumns = field(init=False)
    singly: list[Row] = field(default_factory=list)
    """Packets that were judged by themselves."""
    parts: list[tuple[Any, list[pyarrow.Array]]] = field(default_factory=list)
    """Numbers and columns of packets."""

    def __post_init__(self) -> None:
        self.tests = self.wanted.in_order()
        self.maker = PacketColumns(code_for(sessions=False, keys=self.keys).chunks.columns)

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Take a packet that was judged by itself."""
        verdicts = [one for one in told[PACKET] if not isinstance(one, tuple)]
        self.singly.append(packet_row(seen.frame, seen.packet, verdicts))
        return False

    def event(self, event: Event, verdicts: Sequence[Any], managers: Managers, before: int) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""

    def enough(self, meaning: Meaning) -> bool:
        """No packet needs to be looked at: its outcome says all."""
        return True

    def decoded(self, found: Decoded) -> None:
        """Do nothing."""

    def judged(self, found: Decoded) -> None:
        """Make columns of the packets of a batch."""
        for table, results, given in zip(found.tables, found.results, found.given, strict=True):
            if not table.count:
                continue
            values = table.columns[:, : table.count]
            rows = self.maker.rows(table.rows, values, results, given, found.ends, found.meanings)
            self._add(rows)

    def many(self, counted: Iterable[Counted]) -> None:
        """Do nothing."""

    def taken(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows of the batch, in the order of their numbers."""
        import pyarrow as pa

        if self.singly:
            self._add_singly()
        parts, self.parts = self.parts, []
        if not parts:
            return
        columns = [pa.concat_arrays(some) for some in zip(*(found for _, found in parts), strict=True)]
        if len(parts) > 1:
            order = pa.array(np.argsort(np.concatenate([numbers for numbers, _ in parts])))
            columns = [one.take(order) for one in columns]
        yield pa.RecordBatch.from_arrays(columns, schema=schema(self.wanted.names))

    def _add(self, rows: Chosen) -> None:
        for test in self.tests:
            kept = test.keeps(rows.column(test.column))
            if not kept.all():
                rows = rows.take(np.flatnonzero(kept))
        if len(rows):
            self._keep(rows.numbers, rows.column)

    def _add_singly(self) -> None:
        import pyarrow as pa

        names = tuple(name for name in SOURCE.names if name not in OF_RANGE)
        rows = pa.RecordBatch.from_pylist(self.singly, schema=schema(names))
        self.singly = []
        for test in self.tests:
            rows = rows.filter(pa.array(test.keeps(rows[test.column])))
        if len(rows):
            self._keep(rows["number"].to_numpy(), rows.column)

    def _keep(self, numbers: Any, column: Callable[[str], pyarrow.Array]) -> None:
        import pyarrow as pa

        own = {"path": pa.scalar(self.path), "start": pa.scalar(self.start, pa.int64())}
        found = []
        for one in schema(self.wanted.names):
            same = own.get(one.name)
            made = column(one.name) if same is None else pa.repeat(same, len(numbers))
            found.append(made.cast(one.type))
        self.parts.append((numbers, found))
