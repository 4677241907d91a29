"""`column_judge`: applies every packet rule to chunks of packets, in machine code, and names what the bits mean."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import is_not
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from conformance.judge.columns.rule_trees import Group, OutcomeCode, Pair, outcome_code
from conformance.judge.packets.diagnosis import AT_ONCE, Sifted
from conformance.judge.packets.judge import ALL_RULES, PacketFinding, Readings, Result, decide, outcome_of, rules_of
from conformance.judge.rules import Rule
from conformance.spec.catalogue import assignment, requirement
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.verdict import Outcome
from conformance.wire.columns.machine_code import remembered, stamps
from conformance.wire.columns.packets import Slow
from conformance.wire.columns.shapes import Shapes
from conformance.wire.columns.table import TCP, Chunks, ColumnSet, Judged, chunks

_RESULTS = (Result.NOT_APPLICABLE, Result.HOLDS, Result.BROKEN, Result.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Said:
    """The result of a rule that applies to a packet: a `Verdict` without its subject and evidence."""

    requirement: str
    outcome: Outcome
    readings: tuple[tuple[str, str], ...] = ()
    rule: str = ""


class _Bound(NamedTuple):
    """A rule that binds the profile. weak: the rule is below the requested level. names, places: its alternatives,
    and the word and shift of the bits of each. known: its results, by those bits."""

    rule: Rule
    weak: bool
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    known: dict[int, Said | None]


@dataclass(slots=True)
class Outcomes:
    """Translates outcomes and remembers the result for each sequence of words.

    readings: reading id to accepted alternatives, the default first, or the name of a reading set. transport: `tcp`,
    `buffer` or `remote`; the first two give the same results for a packet that was decoded whole.
    """

    code: OutcomeCode
    profile: str
    readings: Readings | str = "windows"
    level: str = "must"
    transport: str = "buffer"
    _pairs: Mapping[str, list[Pair]] = field(init=False)
    _bound: tuple[_Bound, ...] = field(init=False)
    _known: dict[tuple[int, ...], tuple[Said, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by: dict[str, list[Pair]] = {}
        for pair in self.code.pairs:
            by.setdefault(pair.rule.id, []).append(pair)
        self._pairs = by
        if isinstance(self.readings, str):
            self.readings = assignment(self.readings)
        rank = LEVELS.index(self.level)
        bound = []
        for rule in rules_of(self.transport):
            demand = requirement(rule.requirement)
            pairs = by.get(rule.id)
            if pairs and rule.binds(self.profile):
                places = tuple((pair.word, pair.shift) for pair in pairs)
                names = tuple(pair.alternative for pair in pairs)
                bound.append(_Bound(rule, LEVELS.index(demand.level) > rank, names, places, {}))
        self._bound = tuple(bound)

    def said(self, words: Sequence[int]) -> tuple[Said, ...]:
        """Return the results of all rules that apply, in the order of `judge_packet`. words: of an outcome."""
        key = tuple(map(int, words))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._each(key))
        return found

    def finding(self, rule: Rule, words: Sequence[int]) -> PacketFinding:
        """Return the result of one rule, whatever the profile, in the form of `judge.packets.find`."""
        results = {
            pair.alternative: _RESULTS[int(words[pair.word]) >> pair.shift & 3] for pair in self._pairs.get(rule.id, ())
        }
        return self._decided(rule, results)

    def _decided(self, rule: Rule, results: Mapping[str, Result]) -> PacketFinding:
        if not results or Result.NOT_APPLICABLE in results.values():
            return PacketFinding(Result.NOT_APPLICABLE)
        assert not isinstance(self.readings, str)
        return decide(rule, results, self.readings)

    def _each(self, words: tuple[int, ...]) -> Iterator[Said]:
        """Look up the result of each rule by its own bits: a rule has few results, an outcome has many bits."""
        for rule, weak, names, places, known in self._bound:
            bits = 0
            for word, shift in places:
                bits = bits << 2 | words[word] >> shift & 3
            try:
                result = known[bits]
            except KeyError:
                results = [_RESULTS[words[word] >> shift & 3] for word, shift in places]
                result = known[bits] = self._said(rule, weak, dict(zip(names, results, strict=True)))
            if result is not None:
                yield result

    def _said(self, rule: Rule, weak: bool, results: Mapping[str, Result]) -> Said | None:
        """Return the result of one rule; None when the rule does not apply. results: by alternative."""
        finding = self._decided(rule, results)
        if finding.result is Result.NOT_APPLICABLE:
            return None
        followed = ((rule.reading, finding.alternative),) if rule.reading and finding.alternative else ()
        return Said(rule.requirement, outcome_of(finding, weak=weak), followed, rule.id)


CHUNK = 2048
"""Packets judged at a time: their rows stay in the CPU cache."""
CAPACITY = 1 << 14
"""The number of different outcomes that are distinguished; packets with further ones are judged one by one."""
_PAD = 16  # int64s added to a row of columns whose length is a power of two, so that rows do not share a place in L1


@dataclass(slots=True)
class Chunk:
    """The arrays of one chunk, reused for the next. `wire.columns.chunks.chunk_code` describes what each array holds.

    room: scratch memory of the code. own, addresses: arrays and addresses of the last call, because looking up the
    address of an array is slow.
    """

    offsets: Any
    lengths: Any
    transport: Any
    columns: Any
    results: Any
    slow: Any
    room: Any
    own: tuple[Any, ...] = (None,) * 6
    addresses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ColumnJudge:
    """The compiled loop (chunks), and the bits of an outcome that belong to each rule (code)."""

    chunks: Chunks
    code: OutcomeCode

    def chunk(self, rows: int = CHUNK) -> Chunk:
        """Allocate arrays for `rows` packets at a time."""
        wide = self.chunks.columns.width
        return Chunk(
            np.zeros(rows, np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            np.zeros((wide, rows + _PAD if wide else 0), np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            self.chunks.room(),
        )

    def counts(self, capacity: int = CAPACITY) -> Any:
        """Allocate an empty table of outcomes. capacity: a power of two. Raises ValueError for another number."""
        if capacity < 2 or capacity & (capacity - 1):
            raise ValueError(f"Invalid capacity {capacity} of a table of outcomes: it must be a power of two")
        return np.zeros((capacity + 1, 2 + self.chunks.words), np.int64)

    def judge(self, buffer: Any, chunk: Chunk, n: int, counts: Any) -> int:
        """Judge the first n packets of a chunk; return how many are left to the one-by-one path.

        buffer: uint8; `chunk.offsets` count from its start. It must extend at least the length of each packet.
        """
        own, rows = (chunk.lengths, chunk.transport, chunk.columns, chunk.results, counts, chunk.slow), chunk.columns
        if any(map(is_not, own, chunk.own)):
            chunk.own, chunk.addresses = own, tuple(one.ctypes.data for one in own)
        lengths, transport, columns, results, table, slow = chunk.addresses
        return self.chunks.loop(
            buffer.ctypes.data, chunk.offsets.ctypes.data, lengths, transport, n, columns, 8 * rows.shape[1],
            rows.shape[0], results, table, len(counts) - 2, slow, chunk.room.ctypes.data,
        )  # fmt: skip

    def words(self, counts: Any, number: int) -> tuple[int, ...]:
        """Return the words of an outcome."""
        return tuple(map(int, counts[number, 2:]))

    def seen(self, counts: Any) -> dict[int, int]:
        """Return how often each outcome was seen, by its number."""
        numbers = np.flatnonzero(counts[:-1, 0])
        return dict(zip(map(int, numbers), map(int, counts[numbers, 0]), strict=True))

    def warm(self, tell: Callable[[str], object] | None = None) -> float:
        """Make sure that the machine code exists; return the seconds taken. tell: called before and after compiling."""
        say = tell if tell is not None else lambda text: print(text, file=sys.stderr)
        make = not self.chunks.wanted.is_kept()
        if make:
            say("Compiling the packet rules; this is done once.")
        start = time.perf_counter()
        self.judge(np.zeros(8, np.uint8), self.chunk(1), 0, self.counts(2))
        took = time.perf_counter() - start
        if make:
            wanted = self.chunks.wanted
            where = f"; the code is kept in {wanted.path.parent}" if wanted.is_kept() else ""
            say(f"Compiled the packet rules in {took:.1f} s{where}.")
        return took


@cache
def _column_judge(keys: tuple[str, ...]) -> ColumnJudge:
    """Return the judge emitted by another process, unless a table, rule or emitter of the two rooms changed."""
    package = Path(__file__).parents[2]
    made_from = (repr(keys), *(stamp for room in ("wire", "judge") for stamp in stamps(package / room)))
    return remembered("rules", made_from, lambda: emitted(keys), to_json, of_json)


def to_json(judge: ColumnJudge) -> dict[str, Any]:
    """Store the emitted code for `of_json` in a process with the same tables and rules; rules become numbers."""
    made, code = judge.chunks, judge.code
    number = {rule.id: at for at, rule in enumerate(ALL_RULES)}
    return {
        "chunks": [made.source, made.words, made.scratch],
        "shapes": made.shapes.to_json(),
        "columns": made.columns.to_json(),
        "code": [code.source, code.words, code.slots],
        "groups": [[one.name, sorted(one.sections), [number[rule.id] for rule in one.rules]] for one in code.groups],
        "pairs": [[number[one.rule.id], one.alternative, one.word, one.shift] for one in code.pairs],
    }


def of_json(value: Any) -> ColumnJudge:
    """Read what `to_json` wrote."""
    rules, shapes = ALL_RULES, Shapes.of_json(value["shapes"])
    source, words, scratch = value["chunks"]
    groups = tuple(
        Group(name, frozenset(sections), tuple(rules[at] for at in some)) for name, sections, some in value["groups"]
    )
    pairs = tuple(Pair(rules[at], alternative, word, shift) for at, alternative, word, shift in value["pairs"])
    code, each, slots = value["code"]
    columns = ColumnSet.of_json(value["columns"], shapes)
    return ColumnJudge(Chunks(source, shapes, columns, words, scratch), OutcomeCode(code, groups, pairs, each, slots))


def emitted(keys: tuple[str, ...]) -> ColumnJudge:
    """Emit the judge that fills the columns of these keys."""
    made: list[OutcomeCode] = []

    def judging(shapes: Shapes, first: int) -> Judged:
        made.append(outcome_code(shapes, first))
        return made[0].judged(shapes)

    return ColumnJudge(chunks(keys, judging), made[0])


def column_judge(keys: Sequence[str] = ()) -> ColumnJudge:
    """Return the judge that fills the columns of these keys; the same keys give the same object.

    Raises `UnknownShapeError` for a key that no packet has, and for a table or rule that cannot be emitted.
    """
    return _column_judge(tuple(keys))


_OUTCOMES = 1 << 12
_SPARE = bytes(64)  # Behind the last packet: compiled code reads whole words.
_UNREADABLE = int(Slow.UNREADABLE)


class Sieve:
    """Tells what compiled code knows of packets. Those that it leaves open have to be decoded."""

    def __init__(self, code: ColumnJudge) -> None:
        self.code = code
        self._chunk: Chunk | None = None
        self._known: dict[int, _Broken] = {}

    def __call__(self, packets: Sequence[bytes]) -> Sequence[Sifted]:
        """Judge at most AT_ONCE packets."""
        if self._chunk is None:
            self._chunk, self._counts = self.code.chunk(AT_ONCE), self.code.counts(_OUTCOMES)
            self._chunk.transport[:] = TCP
        chunk, count = self._chunk, len(packets)
        lengths = np.fromiter(map(len, packets), np.int64, count)
        chunk.lengths[:count], chunk.offsets[:count] = lengths, np.cumsum(lengths) - lengths
        self.code.judge(np.frombuffer(b"".join((*packets, _SPARE)), np.uint8), chunk, count, self._counts)
        slow, results = chunk.slow[:count].tolist(), chunk.results[:count].tolist()
        return [why == _UNREADABLE if why else self._broken(number) for why, number in zip(slow, results, strict=True)]

    def _broken(self, number: int) -> _Broken:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = _Broken(self.code.code, self.code.words(self._counts, number))
        return found


class _Broken:
    """Returns the requirements of a level that packets with this outcome break under a set of readings."""

    def __init__(self, code: OutcomeCode, words: tuple[int, ...]) -> None:
        self.code, self.words = code, words
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def __call__(self, readings: str, level: str) -> frozenset[str]:
        found = self._known.get((readings, level))
        if found is None:
            how = _outcomes(self.code, readings)
            found = self._known[readings, level] = frozenset(
                rule.requirement for rule in _rules()[level] if how.finding(rule, self.words).result is Result.BROKEN
            )
        return found


@cache
def _outcomes(code: OutcomeCode, readings: str) -> Outcomes:
    return Outcomes(code, DEFAULT_PROFILE, readings)


@cache
def _rules() -> Mapping[str, Sequence[Rule]]:
    """Return the rules of packets by the level of their requirement."""
    found: dict[str, list[Rule]] = {level: [] for level in LEVELS}
    for rule in rules_of("buffer"):
        found[requirement(rule.requirement).level].append(rule)
    return found


__all__ = ["CAPACITY", "CHUNK", "Chunk", "ColumnJudge", "Slow", "column_judge"]
