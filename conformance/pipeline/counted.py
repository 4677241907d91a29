"""Count verdicts by sender and kind, as arrays, and write them as one Arrow table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.captures.followed import Key, plain_verdict
from conformance.captures.meanings import Meaning
from conformance.pipeline.rows import plain, texts
from conformance.pipeline.schemas import VERDICTS
from conformance.verdict import FRAME, Outcome

if TYPE_CHECKING:
    import pyarrow

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
class _Sender:
    """By kind: the count, the first packet's number, and the times of the first and the last. span: of all kinds."""

    counts: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    firsts: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    first_ns: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    last_ns: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    span: tuple[int, int] = (NEVER, 0)

    def grow(self, kinds: int) -> None:
        """Make room for so many kinds."""
        more = kinds - len(self.counts)
        self.counts = np.concatenate((self.counts, np.zeros(more, np.int64)))
        self.last_ns = np.concatenate((self.last_ns, np.zeros(more, np.int64)))
        self.firsts = np.concatenate((self.firsts, np.full(more, NEVER)))
        self.first_ns = np.concatenate((self.first_ns, np.full(more, NEVER)))

    def add(self, places: Any, counts: Any, first: int, first_ns: int, last_ns: int) -> None:
        """Count kinds: so many verdicts of each."""
        self.counts[places] += counts
        self.firsts[places] = np.minimum(self.firsts[places], first)
        self.first_ns[places] = np.minimum(self.first_ns[places], first_ns)
        self.last_ns[places] = np.maximum(self.last_ns[places], last_ns)


@dataclass(slots=True)
class Counts:
    """The counts of one capture."""

    _senders: dict[str | None, _Sender] = field(default_factory=dict)
    _noted: dict[tuple[str | None, str | None, Key], tuple[int, int]] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """The counts have reached MOST and must be written."""
        return len(self._senders) * len(_KINDS) + len(self._noted) > MOST

    def meant(self, sender: str, meaning: Meaning, count: int, first: int, first_ns: int, last_ns: int) -> None:
        """Count the passes of so many packets of a sender with this meaning.

        first: the number of the first one. first_ns, last_ns: their times.
        """
        found = _MEANT.get(meaning)
        if found is None:
            found = _places(meaning, [key for key in meaning.keys if key[1] is Outcome.PASS])
        self._sender(sender, first_ns, last_ns).add(found[0], found[1] * count, first, first_ns, last_ns)

    def more(
        self, sender: str | None, keys: tuple[Key, ...], count: int, first: int, first_ns: int, last_ns: int
    ) -> None:
        """Count so many verdicts of each of these kinds."""
        places, times = _MEANT.get(keys) or _places(keys, keys)
        self._sender(sender, first_ns, last_ns).add(places, times * count, first, first_ns, last_ns)

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
        self._sender(sender, first_ns, last_ns)
        for key in keys:
            known = self._noted.get((sender, queue, key), (0, NEVER))
            self._noted[sender, queue, key] = (known[0] + count, min(known[1], first))

    def _sender(self, name: str | None, first_ns: int, last_ns: int) -> _Sender:
        one = self._senders.get(name)
        if one is None:
            one = self._senders[name] = _Sender()
        if len(one.counts) < len(_KINDS):
            one.grow(len(_KINDS) + _SPARE)
        one.span = (min(one.span[0], first_ns), max(one.span[1], last_ns))
        return one

    def outcomes(self) -> Counter[str]:
        """Return the number of verdicts by outcome."""
        found: Counter[str] = Counter()
        total = np.zeros(len(_KINDS), np.int64)
        for one in self._senders.values():
            used = min(len(total), len(one.counts))
            total[:used] += one.counts[:used]
        for key, number in _KINDS.items():
            found[key[1].value] += int(total[number])
        for (_, _, key), (count, _) in self._noted.items():
            found[key[1].value] += count
        return +found

    def table(self, same: Mapping[str, Any]) -> pyarrow.Table | None:
        """Return the counts as rows of `verdicts` without `date`, None if there are none. same: values of all rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = {name: at for at, name in enumerate(self._senders)}
        noted = [(names[name], queue, key, *many) for (name, queue, key), many in self._noted.items() if many[0]]
        for _, _, key, _, _ in noted:
            _KINDS.setdefault(key, len(_KINDS))
        kinds = list(_KINDS)
        found = np.zeros((4, len(names), len(kinds)), np.int64)
        spans = [one.span for one in self._senders.values()]
        for at, one in enumerate(self._senders.values()):
            used = min(len(kinds), len(one.counts))
            found[:, at, :used] = [part[:used] for part in (one.counts, one.firsts, one.first_ns, one.last_ns)]
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
        self._senders.clear()
        self._noted.clear()


def _places(name: Meaning | tuple[Key, ...], keys: Iterable[Key]) -> tuple[Any, Any]:
    if len(_MEANT) >= _MOST_MEANT:
        _MEANT.clear()
    found = Counter(_KINDS.setdefault(key, len(_KINDS)) for key in keys)
    _MEANT[name] = np.array(list(found), np.int64), np.array(list(found.values()), np.int64)
    return _MEANT[name]
