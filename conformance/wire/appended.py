"""Finds the headers behind an ExtensionHeader (MS-MQRR 2.2.5.2 to 2.2.5.5), also where one field about them is wrong.

Flags announce them, two have a fixed size, and each begins with its own. Where what the flags announce does not take
exactly the bytes that are there, one mistake is looked for that explains them all: a wrong HeaderSize of the only
header of variable size, a lack of its padding, another order, a wrong flag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from conformance.wire.extension_headers import (
    DEAD_LETTER_HEADER,
    EXTENDED_ADDRESS_HEADER,
    EXTENDED_ADDRESS_SIZE,
    EXTENSION_SIZE,
    SUBQUEUE_HEADER,
    SUBQUEUE_SIZE,
)
from conformance.wire.layout import Section

IN_ORDER = (SUBQUEUE_HEADER, DEAD_LETTER_HEADER, EXTENDED_ADDRESS_HEADER)
SIZES = {SUBQUEUE_HEADER.name: SUBQUEUE_SIZE, EXTENDED_ADDRESS_HEADER.name: EXTENDED_ADDRESS_SIZE}
ORDERS = ("told", "moved")
_SIZE = 4  # bytes of HeaderSize


@dataclass(frozen=True, slots=True)
class Appended:
    """The headers that are there, in their order.

    path: bytes of DeadLetterPathName where HeaderSize does not tell them. packed: DeadLetterHeader lacks its padding.
    """

    sections: tuple[Section, ...]
    path: int | None = None
    packed: bool = False

    @property
    def order(self) -> str:
        """`told` in the order of the document, `moved` in another: one of ORDERS."""
        return ORDERS[self.sections != tuple(one for one in IN_ORDER if one in self.sections)]


def begins(data: bytes, at: int, end: int, announced: Sequence[Section]) -> bool:
    """Return True when these bytes begin with an ExtensionHeader.

    It states its own size or, where that is wrong, the size of the headers behind it, which fit. announced: by its
    flags.
    """
    left = end - at - EXTENSION_SIZE
    if left < 0:
        return False
    if _word(data, at) == EXTENSION_SIZE:
        return True
    return _word(data, at + _SIZE) == left > 0 and _fits(data, at + EXTENSION_SIZE, end, announced)


def appended(data: bytes, at: int, end: int, announced: tuple[Section, ...]) -> Appended:
    """Return the headers from `at` to `end`. announced: the headers that the flags tell, in the document's order."""
    if _fits(data, at, end, announced):
        return Appended(announced)
    if DEAD_LETTER_HEADER in announced:
        rest = end - at - sum(SIZES.get(one.name, _SIZE) for one in announced)
        if _fits(data, at, end, announced, rest):
            return Appended(announced, rest if rest + _SIZE != _path_size(data, at, announced) else None, rest % 4 != 0)
    for other in _others(announced):
        if _fits(data, at, end, other, paths=True):
            return Appended(other)
    return Appended(announced)


def _others(announced: tuple[Section, ...]) -> Iterator[tuple[Section, ...]]:
    """Yield other headers: the same ones in another order first, then those that differ by one flag, or by more."""
    every = [some for count in range(len(IN_ORDER) + 1) for some in permutations(IN_ORDER, count)]
    kept = [some for some in every if some != announced]
    yield from sorted(kept, key=lambda some: (len(set(some) ^ set(announced)), Appended(some).order == ORDERS[1]))


def _fits(
    data: bytes, at: int, end: int, sections: Sequence[Section], path: int | None = None, *, paths: bool = False
) -> bool:
    """Return True when these headers take exactly the bytes, and each states its size.

    path: as in `Appended`; it then holds a path. paths: it does in any case.
    """
    for section in sections:
        if at + _SIZE > end:
            return False
        size = SIZES.get(section.name)
        if size is None:
            stated = _word(data, at)
            size = stated + -stated % 4 if path is None else _SIZE + path
            there = stated if path is None else size
            if size <= _SIZE or ((paths or path is not None) and not _is_path(data, at, at + there)):
                return False
        elif _word(data, at) != size:
            return False
        at += size
    return at == end


def _path_size(data: bytes, at: int, sections: Sequence[Section]) -> int:
    """Return what the DeadLetterHeader among these states as its size."""
    before = sections[: tuple(sections).index(DEAD_LETTER_HEADER)]
    return _word(data, at + sum(SIZES[one.name] for one in before))


def _is_path(data: bytes, at: int, end: int) -> bool:
    """Return True when the bytes behind the first four are a text, its NUL, and at most padding."""
    ended, behind, zeros = filled(data[at + _SIZE : end])
    return ended and zeros and behind < 4


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def filled(raw: bytes) -> tuple[bool, int, bool]:
    """Return the facts about a text that zeros fill up: a WCHAR is a NUL, the bytes behind it, all of them are zero."""
    at = raw.find(b"\0\0")
    while at % 2 == 1 and at > 0:
        at = raw.find(b"\0\0", at + 1)
    if at < 0:
        return False, 0, True
    return True, len(raw) - at - 2, not any(raw[at + 2 :])
