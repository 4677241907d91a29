"""Finds headers added to a message by remote reading and by HTTP (MS-MQRR 2.2.5), also where one field is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from conformance.wire.headers import (
    COMPOUND_MESSAGE_HEADER,
    DEAD_LETTER_HEADER,
    DESTINATION_ID,
    EXTENDED_ADDRESS_HEADER,
    EXTENDED_ADDRESS_SIZE,
    EXTENSION_SIZE,
    HEADER_SECTION_ID,
    MULTI_QUEUE_FORMAT_HEADER,
    SOAP_HEADER,
    SRMP_BYTES,
    SRMP_ENVELOPE_HEADER,
    SRMP_PACKED,
    SUBQUEUE_HEADER,
    SUBQUEUE_SIZE,
    USER_MESSAGE_SECTIONS,
)
from conformance.wire.layout import Condition, Section

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
    for other in _other_headers(announced):
        if _fits(data, at, end, other, paths=True):
            return Appended(other)
    return Appended(announced)


def _other_headers(announced: tuple[Section, ...]) -> Iterator[tuple[Section, ...]]:
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


UNDERS = tuple(frozenset(one) for one in ((), (SRMP_BYTES,), (SRMP_PACKED,), (SRMP_BYTES, SRMP_PACKED)))
ENVELOPE_SIZE, COMPOUND_SIZE = 8, 16  # bytes before Data
LEAST = ENVELOPE_SIZE + COMPOUND_SIZE
# Where a header that may follow has its mark, and the mark.
MARKS = {SOAP_HEADER.name: (0, HEADER_SECTION_ID), MULTI_QUEUE_FORMAT_HEADER.name: (4, DESTINATION_ID)}
_E, _C = SRMP_ENVELOPE_HEADER, COMPOUND_MESSAGE_HEADER


@dataclass(frozen=True, slots=True)
class Srmp:
    """The headers that are there, in their order. lengths: bytes of fields whose size is wrong, by key. under: the
    alternative layouts."""

    sections: tuple[Section, ...]
    lengths: dict[str, int] = field(default_factory=dict)
    under: frozenset[str] = frozenset()

    @property
    def order(self) -> str:
        """`moved` when the second header stands before the first: one of ORDERS."""
        return ORDERS[self.sections == (_C, _E)]


@dataclass(frozen=True, slots=True)
class _Mistake:
    """by_text: DataLength is wrong. by_rest: HTTPBodySize is. xml: the envelope must look like one."""

    sections: tuple[Section, ...]
    by_text: bool = False
    by_rest: bool = False
    xml: bool = False


_ANNOUNCED = (
    _Mistake((_E, _C), by_text=True),
    _Mistake((_E, _C), by_rest=True),
    _Mistake((_C, _E)),
    _Mistake((_E,)),
    _Mistake((_C,)),
    _Mistake(()),
)
_UNANNOUNCED = (_Mistake((_E, _C), xml=True),)


def sections_of(found: Srmp | None) -> Iterator[tuple[Section, Condition | None]]:
    """Yield the sections of a user message, with those that were found in place of those that flags announce."""
    for section, condition in USER_MESSAGE_SECTIONS:
        if found is None or section not in (_E, _C):
            yield section, condition
        elif section is _E:
            yield from ((one, None) for one in found.sections)


def srmp(data: bytes, at: int, end: int, following: str, *, announced: bool) -> Srmp | None:
    """Return the headers from `at` on, read with one mistake; None when no mistake explains the bytes.

    end: of the packet. following: the name of the header that flags announce behind them, empty for none. announced:
    Flags.AH.
    """
    for mistake in _ANNOUNCED if announced else _UNANNOUNCED:
        for under in UNDERS:
            lengths: dict[str, int] = {}
            last = _end(data, at, end, mistake, under, lengths)
            if last >= 0 and _goes_on(data, last, end, following):
                return Srmp(mistake.sections, lengths, under)
    return None


def _end(data: bytes, at: int, end: int, mistake: _Mistake, under: frozenset[str], lengths: dict[str, int]) -> int:
    """Return the offset behind the headers, and note `lengths`; -1 where one does not fit."""
    for section in mistake.sections:
        size = (_envelope if section is _E else _compound)(data, at, end, mistake, under)
        if size < 0:
            return -1
        if section is _E and mistake.by_text:
            lengths[section.key("Data")] = size - ENVELOPE_SIZE
        elif section is _C and mistake.by_rest:
            lengths[section.key("Data")] = size - COMPOUND_SIZE
        at += size + (0 if SRMP_PACKED in under else -size % 4)
        if at > end:
            return -1
    return at


def _goes_on(data: bytes, at: int, end: int, following: str) -> bool:
    """Return True when what must follow begins here: a header by its mark, an ExtensionHeader, or nothing."""
    if following:
        offset, mark = MARKS[following]
        return int.from_bytes(data[at + offset : at + offset + 2], "little") == mark
    return at == end or (_word(data, at) == EXTENSION_SIZE and at + EXTENSION_SIZE <= end)


def _envelope(data: bytes, at: int, end: int, mistake: _Mistake, under: frozenset[str]) -> int:
    """Return the bytes of an SRMPEnvelopeHeader without padding; -1 where it does not fit or its text has no NUL."""
    first = at + ENVELOPE_SIZE
    size = _word(data, at + 4) * (1 if SRMP_BYTES in under else 2)
    if first > end or (not mistake.by_text and (size < 2 or first + size > end)):
        return -1
    nul = _nul(data, first, end)
    if nul < 0 or (not mistake.by_text and nul != size - 2) or (mistake.xml and data[first : first + 2] != b"<\0"):
        return -1
    return ENVELOPE_SIZE + nul + 2


def _compound(data: bytes, at: int, end: int, mistake: _Mistake, under: frozenset[str]) -> int:
    """Return the bytes of a CompoundMessageHeader without padding; -1 where it does not fit."""
    if at + COMPOUND_SIZE > end:
        return -1
    size, body = _word(data, at + 4), _word(data, at + 8) + _word(data, at + 12)
    rest = end - at - COMPOUND_SIZE
    if mistake.by_rest:
        return COMPOUND_SIZE + rest if size < body <= rest else -1
    return COMPOUND_SIZE + size if body <= size <= rest else -1


def _nul(data: bytes, at: int, end: int) -> int:
    """Return the bytes before the first NUL WCHAR; -1 when there is none."""
    found = data.find(b"\0\0", at, end)
    while found >= 0 and (found - at) % 2:
        found = data.find(b"\0\0", found + 1, end)
    return found - at if found >= 0 else -1
