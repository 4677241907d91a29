"""Count verdicts by sender and kind, as arrays, and write them as one Arrow table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.captures.verdict_counts import Key, Meaning, plain_verdict
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
_MEANT: dict[Meaning, tuple[Any, Any]] = {}
"""The passes of an outcome: the indexes of their kinds, and how often each occurs in it."""
_MOST_MEANT = 1 << 15


@dataclass(slots=True)
class _Sender:
    """By kind, the count and the first packet's number. first_ns, last_ns: of the ranges in which the sender occurs."""

    counts: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    firsts: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    first_ns: int = NEVER
    last_ns: int = 0

    def grow(self, kinds: int) -> None:
        """Make room for so many kinds."""
        more = kinds - len(self.counts)
        self.counts = np.concatenate((self.counts, np.zeros(more, np.int64)))
        self.firsts = np.concatenate((self.firsts, np.full(more, NEVER)))


@dataclass(slots=True)
class Counts:
    """The counts of one capture."""

    _senders: dict[str, _Sender] = field(default_factory=dict)
    _noted: dict[tuple[str, str | None, Key], tuple[int, int]] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    """The senders of this range."""

    @property
    def full(self) -> bool:
        """The counts have reached MOST and must be written."""
        return len(self._senders) * len(_KINDS) + len(self._noted) > MOST

    def meant(self, sender: str, meaning: Meaning, count: int, first: int) -> None:
        """Count the passes of so many packets of a sender with this outcome. first: the number of the first one."""
        places, times = _MEANT.get(meaning) or _places(meaning)
        one = self._sender(sender)
        one.counts[places] += times * count
        one.firsts[places] = np.minimum(one.firsts[places], first)

    def note(self, sender: str, queue: str | None, keys: Iterable[Key], count: int, first: int) -> None:
        """Count kinds other than pass for so many packets of a sender to this queue."""
        self._sender(sender)
        for key in keys:
            known = self._noted.get((sender, queue, key))
            if known is None:
                self._noted[sender, queue, key] = (count, first)
            else:
                self._noted[sender, queue, key] = (known[0] + count, min(known[1], first))

    def more(self, sender: str, key: Key, count: int, first: int) -> None:
        """Count so many verdicts of a kind."""
        place = _KINDS.setdefault(key, len(_KINDS))
        one = self._sender(sender)
        one.counts[place] += count
        one.firsts[place] = min(one.firsts[place], first)

    def _sender(self, name: str) -> _Sender:
        one = self._senders.get(name)
        if one is None:
            one = self._senders[name] = _Sender()
        if len(one.counts) < len(_KINDS):
            one.grow(len(_KINDS) + _SPARE)
        self._seen.add(name)
        return one

    def seen(self, first_ns: int, last_ns: int) -> None:
        """End a range. first_ns, last_ns: its times."""
        for name in self._seen:
            one = self._senders[name]
            one.first_ns, one.last_ns = min(one.first_ns, first_ns), max(one.last_ns, last_ns)
        self._seen.clear()

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
        counts, firsts = np.zeros((2, len(names), len(kinds)), np.int64)
        times = np.zeros((2, len(names)), np.int64)
        for at, one in enumerate(self._senders.values()):
            used = min(len(kinds), len(one.counts))
            counts[at, :used], firsts[at, :used] = one.counts[:used], one.firsts[:used]
            times[:, at] = one.first_ns // 1000, one.last_ns // 1000
        sender, kind = np.nonzero(counts)
        count, first = counts[sender, kind], firsts[sender, kind]
        queues = pa.nulls(len(sender), pa.string())
        if noted:
            who, where, what, many, begin = zip(*noted, strict=True)
            queues = pa.concat_arrays([queues, pa.array(where, pa.string())])
            sender = np.concatenate((sender, who))
            kind = np.concatenate((kind, [_KINDS[key] for key in what]))
            count, first = np.concatenate((count, many)), np.concatenate((first, begin))
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
        out["sender"] = pa.array([plain(name) for name in names]).take(pa.array(sender))
        out["subject"] = pc.binary_join_element_wise(pa.scalar(FRAME), numbers.cast(pa.string()), " ")
        for name, micros in zip(("first_time", "last_time"), times, strict=True):
            out[name] = pa.array(micros[sender]).cast(schema.field(name).type)
        missing = [name for name in schema.names if name not in out]
        out |= {name: pa.nulls(len(sender), schema.field(name).type) for name in missing}
        return pa.table([out[name] for name in schema.names], schema=schema)

    def clear(self) -> None:
        """Remove all counts."""
        self._senders.clear()
        self._noted.clear()


def _places(meaning: Meaning) -> tuple[Any, Any]:
    if len(_MEANT) >= _MOST_MEANT:
        _MEANT.clear()
    found = Counter(_KINDS.setdefault(key, len(_KINDS)) for key in meaning.keys if key[1] is Outcome.PASS)
    _MEANT[meaning] = np.array(list(found), np.int64), np.array(list(found.values()), np.int64)
    return _MEANT[meaning]
