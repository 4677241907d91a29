"""The book: planned histories with the situations that each step meets, and which a run plays in which test."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from conformance.files import write_bytes
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.probe import room
from conformance.histories.situations.situation import Space, space
from conformance.model import BadCall, Call

DATA: Final = Path(__file__).with_name("book.zlib")
_FORMAT: Final = 1
_AGAIN: Final = "make it again with `python -m tools.situations plan`"


class BookError(ValueError):
    """The file of the book is missing, damaged, or made from other feature tables."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One history. number: its place in the book, the most valuable first. calls: all calls, the scene included.

    met: for each call the numbers of the situations that it meets and that nothing before it in the book meets. A
    history meets many more, which histories before it meet too. virtual: it needs a virtual clock. methods: those a
    driver must offer. wait_ms: how long its waits take on a real clock.
    """

    number: int
    calls: tuple[Call, ...]
    met: tuple[tuple[int, ...], ...]
    virtual: bool
    methods: frozenset[str]
    wait_ms: int


@dataclass(frozen=True, slots=True)
class Book:
    """All planned histories, in the order in which they are played, and what became of the situations no history meets.

    digest: of the feature tables that it was made from. unreachable: situation to the scope in which it was proven, or
    the reason of the constraint. Situations in neither are not met.
    """

    digest: str
    histories: tuple[Planned, ...]
    unreachable: Mapping[int, str]


def packed(book: Book) -> bytes:
    """Return the book as bytes, the same for the same book."""
    calls: dict[Call, int] = {}
    places = array("I", [calls.setdefault(call, len(calls)) for one in book.histories for call in one.calls])
    met = [numbers for one in book.histories for numbers in one.met]
    reasons = sorted(set(book.unreachable.values()))
    proven = [sorted(number for number, why in book.unreachable.items() if why == reason) for reason in reasons]
    columns = {
        "lengths": array("I", [len(one.calls) for one in book.histories]),
        "virtual": array("I", [one.virtual for one in book.histories]),
        "wait_ms": array("I", [one.wait_ms for one in book.histories]),
        "calls": places,
        "met": array("I", [len(numbers) for numbers in met]),
        "numbers": array("I", [gap for numbers in met for gap in _gaps(numbers)]),
        "unreachable": array("I", [gap for numbers in proven for gap in _gaps(numbers)]),
    }
    head = {
        "format": _FORMAT,
        "digest": book.digest,
        "calls": [call.to_json() for call in calls],
        "reasons": list(zip(reasons, map(len, proven), strict=True)),
        "columns": {name: len(column) for name, column in columns.items()},
    }
    if sys.byteorder == "big":
        for column in columns.values():
            column.byteswap()
    raw = json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n"
    return zlib.compress(raw + b"".join(column.tobytes() for column in columns.values()), 9)


def unpacked(raw: bytes, where: str) -> Book:
    """Return the book from its bytes. Raises BookError. where: the name of the file, for the sentence."""
    try:
        first, _, rest = zlib.decompress(raw).partition(b"\n")
        head = json.loads(first)
        if head["format"] != _FORMAT:
            raise BookError(f"{where} has another format; {_AGAIN}")
        return _read(head, rest)
    except BookError:
        raise
    except (zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError, BadCall) as error:
        raise BookError(f"{where} is damaged ({type(error).__name__}); install it anew, or {_AGAIN}") from None


def _read(head: Mapping[str, Any], rest: bytes) -> Book:
    columns, at = {}, 0
    for name, count in head["columns"].items():
        column = columns[name] = array("I")
        column.frombytes(rest[at : at + 4 * count])
        if len(column) != count:
            raise ValueError("cut short")
        if sys.byteorder == "big":
            column.byteswap()
        at += 4 * count
    calls = [Call.from_json(raw) for raw in head["calls"]]
    needs = [call.method for call in calls]
    numbers = columns["numbers"].tolist()
    met, at = [], 0
    for count in columns["met"]:
        met.append(tuple(accumulate(numbers[at : at + count])) if count else ())
        at += count
    places, histories, at = columns["calls"].tolist(), [], 0
    rows = zip(columns["lengths"], columns["virtual"], columns["wait_ms"], strict=True)
    for number, (length, virtual, wait_ms) in enumerate(rows):
        mine = places[at : at + length]
        made = tuple([calls[place] for place in mine])
        methods = frozenset([needs[place] for place in mine])
        histories.append(Planned(number, made, tuple(met[at : at + length]), bool(virtual), methods, wait_ms))
        at += length
    unreachable: dict[int, str] = {}
    gaps, at = columns["unreachable"].tolist(), 0
    for reason, count in head["reasons"]:
        unreachable |= dict.fromkeys(accumulate(gaps[at : at + count]), reason)
        at += count
    return Book(head["digest"], tuple(histories), unreachable)


def _gaps(numbers: Sequence[int]) -> list[int]:
    return [number - before for before, number in zip((0, *numbers), numbers, strict=False)]


def save(book: Book, path: Path = DATA) -> None:
    """Write the book."""
    write_bytes(path, packed(book))


def read(path: Path) -> Book:
    """Read a book from a file. Raises BookError for one that is missing, damaged or stale."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BookError(f"{path.name} cannot be read ({error.strerror}); install it anew, or {_AGAIN}") from None
    book = unpacked(raw, path.name)
    if book.digest != space().digest:
        raise BookError(f"{path.name} was made from other feature tables; {_AGAIN}")
    return book


@cache
def load() -> Book:
    """Return the book of this version. Raises BookError for a file that is missing, damaged or stale."""
    return read(DATA)


CHUNKS: Final = 40
"""Tests that share the book, so that two workers share it, and so that a budget cuts it at its end."""
DEFAULT_CALLS: Final = 70_000
"""Calls, those of the probes included, of a default run: a minute over stdio with two workers."""
DEFAULT: Final = "default"
DEFAULT_RESTARTS: Final = 120
"""Restarts of the planned histories of a default run: the start of a process takes as long as some hundred calls."""
_PROBED: Final = 0.75  # part of its room that a probe takes


def selection(histories: Sequence[Planned], words: str, space: Space) -> Sequence[Planned]:
    """Return the histories that a run plays: the beginning of the book, as far as the words ask for.

    `default`: as many calls as fit a minute, without histories that restart the manager once enough of them have.
    `pairs`: up to the last history that is the first to meet a pair. A number: until so many situations are met.
    """
    if words == "all":
        return histories
    if words == "pairs":
        pairs = {number for method in space.features for number in space.pairs(method)}
        meets = [place for place, one in enumerate(histories, 1) if any(not pairs.isdisjoint(met) for met in one.met)]
        return histories[: max(meets, default=0)]
    if words == DEFAULT:
        return tuple(_affordable(histories))
    left = int(words)
    for place, planned in enumerate(histories):
        if left <= 0:
            return histories[:place]
        left -= sum(map(len, planned.met))
    return histories


def _affordable(histories: Iterable[Planned]) -> Iterator[Planned]:
    calls, restarts = 0.0, 0
    for planned in histories:
        wanted = sum(OPERATIONS[call.method].manner is Manner.RESTART for call in planned.calls)
        if wanted and restarts + wanted > DEFAULT_RESTARTS:
            continue
        calls += len(planned.calls) + _PROBED * room(len(planned.calls))
        restarts += wanted
        if calls > DEFAULT_CALLS:
            return
        yield planned


def chunk(histories: Sequence[Planned], number: int) -> Sequence[Planned]:
    """Return the histories of a test: those of all tests in turn are the book in its order."""
    begin, end = (round(len(histories) * place / CHUNKS) for place in (number, number + 1))
    return histories[begin:end]


CLAIMS: Final = Path(__file__).with_name("claims.json")


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CLAIMS.read_text(encoding="utf-8"))
    return found


def judged_in(number: int) -> tuple[str, ...]:
    """Return the requirements that the test of this number judges."""
    stored = _stored()
    return tuple(stored["requirements"][place] for place in stored["tests"][number])
