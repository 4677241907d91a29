"""The facts on a range, for the buckets that judge its connections: where each packet is, and the events between them.

Packets that lie in the file in one piece are told by their place; those joined from several segments by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from conformance.capture import Frame
from conformance.capture.columns.places import CHUNK, OF_CONNECTION, OF_NUMBER, OF_TIME, SLACK
from conformance.capture.columns.reader import Batch, Rows
from conformance.pipeline.connections_groups import Buckets
from conformance.pipeline.connections_openings import Told
from conformance.pipeline.connections_server import Overheard
from conformance.pipeline.connections_walk import Clocked, FactsWork, Parting, Walked
from conformance.pipeline.memory import packed, thaw, unpacked
from conformance.report.text import label

SCHEMA = pa.schema(
    [
        pa.field("bucket", pa.int64(), False), pa.field("at", pa.int64(), False),
        pa.field("stream", pa.string(), False), pa.field("facts", pa.binary(), False),
    ]
)  # fmt: skip
"""bucket: of all streams. at: the order. stream: the place of the `Parting`. facts: a `Facts`."""
PER_STREAM = 1 << 20
"""Buckets of a stream, at most: the number of a bucket is that of its stream times this, and its own."""
_MOST_EVENTS, _MOST_BYTES = 1 << 11, 4 << 20
_PER_RANGE = 1 << 32


@dataclass(slots=True)
class Facts:
    """Packets and events of one bucket, of one capture. in_file: offsets, lengths and meta. arena: bytes, and the same.

    capture: its index in the stream.
    """

    capture: int
    in_file: tuple[Any, Any, Any]
    arena: Any
    in_arena: tuple[Any, Any, Any]
    events: list[Clocked]

    @property
    def last(self) -> int:
        """The greatest number of a packet or an event; 0 without any."""
        numbers = [int(meta[:, OF_NUMBER].max()) for meta in (self.in_file[2], self.in_arena[2]) if len(meta)]
        return max(numbers + [one.number for one in self.events], default=0)

    def batch(self, file: Any, more: Sequence[tuple[int, Any]] = ()) -> Batch:
        """Return them as a batch. file: the bytes of the file. more: further events."""
        events = [*((one.number, one.event) for one in self.events), *more]
        return Batch(Rows(file, *self.in_file), Rows(self.arena, *self.in_arena), events)


@dataclass(slots=True)
class _Gathering:
    """The facts of a bucket that were not sent yet."""

    in_file: list[tuple[Any, Any, Any]] = field(default_factory=list)
    arena: list[bytes] = field(default_factory=list)
    in_arena: list[Any] = field(default_factory=list)
    events: list[Clocked] = field(default_factory=list)
    rows: int = 0
    size: int = 0

    @property
    def full(self) -> bool:
        """True when they are enough to be judged together."""
        return self.rows >= CHUNK // 2 or len(self.events) >= _MOST_EVENTS or self.size >= _MOST_BYTES

    def facts(self, capture: int) -> Facts:
        """Return all of them."""
        lengths = np.array([len(one) for one in self.arena], np.int64)
        arena = np.frombuffer(bytearray(b"".join([*self.arena, bytes(SLACK)])), np.uint8)
        meta = np.array(self.in_arena, np.int64).reshape(-1, 8)
        parts = self.in_file or [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 8), np.int64))]
        offsets, sizes, metas = (np.concatenate([one[at] for one in parts]) for at in range(3))
        return Facts(
            capture, (offsets, sizes, metas), arena, (np.cumsum(lengths) - lengths, lengths, meta), self.events
        )


@lru_cache(maxsize=2)
def parting_at(place: str, root: Any) -> Parting:
    """Return the plan of a stream. root: the target of the batch."""
    found: Parting = thaw(root.carried(place))
    return found


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands where the facts on a range end before their time. reason: why, a clause."""

    reason: str


def facts_of(target: Any, work: FactsWork) -> Iterator[pa.RecordBatch]:
    """Yield the facts on a range, a row each, and after an error a `Broken` for one of the buckets."""
    try:
        yield from _facts_of(target, work)
    except Exception as error:
        reason = f"a range of it could not be told ({type(error).__name__}: {label(str(error), 200)})"
        yield _row(work, 0, _PER_RANGE - 1, packed(Broken(reason)))


def _row(work: FactsWork, bucket: int, number: int, data: bytes) -> pa.RecordBatch:
    values = (work.index * PER_STREAM + bucket, work.number * _PER_RANGE + number, work.stream, data)
    return pa.RecordBatch.from_arrays([pa.array([one], of.type) for one, of in zip(values, SCHEMA, strict=True)],
                                      schema=SCHEMA)  # fmt: skip


def _facts_of(target: Any, work: FactsWork) -> Iterator[pa.RecordBatch]:
    parting = parting_at(work.stream, target)
    of_connection = parting.buckets.of_connection
    gathering: dict[int, _Gathering] = {}
    waiting: list[Clocked] = []
    count = 0

    def row(bucket: int) -> pa.RecordBatch:
        nonlocal count
        count += 1
        return _row(work, bucket, count, packed(gathering.pop(bucket).facts(work.capture)))

    told = unpacked(target.carried(work.told)) if work.told else None
    for batch in unpacked(target.carried(work.carry)):
        first_ns = _first_ns(batch)
        if first_ns is not None:
            for one in waiting:
                one.after_ns = first_ns
            waiting.clear()
        if not waiting:
            for bucket in [bucket for bucket, found in gathering.items() if found.full]:
                yield row(bucket)
        for bucket, one in placed(batch.events, next(told) if told is not None else [], parting.buckets):
            gathering.setdefault(bucket, _Gathering()).events.append(one)
        waiting += [one for one in batch.events if one.after_ns is None]
        _gather(batch, of_connection, gathering)
    for one in waiting:
        one.after_ns = work.next_ns
    for bucket in sorted(gathering):
        yield row(bucket)


def placed(events: Sequence[Clocked], told: Iterable[Told], buckets: Buckets) -> Iterator[tuple[int, Clocked]]:
    """Yield the events of a batch with their buckets, and what each bucket overhears."""
    for one in events:
        yield buckets.of(one.event), one
    for found in told:
        for bucket in (found.bucket,) if found.alone else range(len(buckets.filled)):
            if found.alone or bucket != found.bucket:
                yield bucket, Clocked(found.number, Overheard(found.event), None)


def _first_ns(batch: Walked) -> int | None:
    """Return the time of the first packet of a batch."""
    first = [
        (int(meta[0, OF_NUMBER]), int(meta[0, OF_TIME])) for meta in (batch.in_file[2], batch.in_arena) if len(meta)
    ]
    first += [(one.event.number, one.event.time_ns) for one in batch.events if isinstance(one.event, Frame)]
    return min(first)[1] if first else None


def _gather(batch: Walked, of_connection: Any, gathering: dict[int, _Gathering]) -> None:
    """Spread the packets of a batch over the buckets."""
    offsets, lengths, meta = batch.in_file
    if len(meta):
        whose = of_connection[meta[:, OF_CONNECTION]]
        for bucket in np.unique(whose).tolist():
            mine = np.flatnonzero(whose == bucket)
            into = gathering.setdefault(bucket, _Gathering())
            into.in_file.append((offsets[mine], lengths[mine], meta[mine]))
            into.rows += len(mine)
    whose = of_connection[batch.in_arena[:, OF_CONNECTION]].tolist() if len(batch.in_arena) else ()
    for bucket, data, about in zip(whose, batch.arena, batch.in_arena, strict=True):
        into = gathering.setdefault(bucket, _Gathering())
        into.arena.append(data)
        into.in_arena.append(about)
        into.rows += 1
        into.size += len(data)
