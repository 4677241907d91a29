"""Finds the two headers of a message that was sent over HTTP (MS-MQRR 2.2.5.1.2) where one thing about them is wrong.

It is asked where no layout that the documents allow explains a packet. Then one mistake is looked for that does: a
DataLength that misses the NUL, an HTTPBodySize that stops short of the message body, the headers in the other order,
one or both missing, or both there without UserHeader.Flags.AH.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.wire.extension_headers import EXTENSION_SIZE
from conformance.wire.layout import Condition, Section
from conformance.wire.multi_queue_format_header import DESTINATION_ID, MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.packet_table import USER_MESSAGE_SECTIONS
from conformance.wire.soap_headers import (
    COMPOUND_MESSAGE_HEADER,
    HEADER_SECTION_ID,
    SOAP_HEADER,
    SRMP_BYTES,
    SRMP_ENVELOPE_HEADER,
    SRMP_PACKED,
)

ORDERS = ("told", "moved")
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


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
