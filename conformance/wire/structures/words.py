"""The vocabulary of structure tables: members in order, packed or in NDR 2.0 (C706 chapter 14).

A table is data only: `reading` and `writing` follow it. Structures refer to each other by name, so that one can
contain itself (PROPVARIANT does, by CAPROPVARIANT).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Fields: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Number:
    """A little-endian number of `width` bytes. decimal: text in JSON, whose numbers end at 53 bits."""

    width: int
    signed: bool = False
    decimal: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """A VARIANT_BOOL: 0xFFFF or 0 in 2 bytes."""


@dataclass(frozen=True, slots=True)
class Guid:
    """Sixteen bytes in MS-DTYP 2.3.4.2 layout, in JSON as lower-case text."""


@dataclass(frozen=True, slots=True)
class Octets:
    """Bytes, in JSON as base64: `size` of them, or the number in member `by`."""

    size: int = 0
    by: str = ""


@dataclass(frozen=True, slots=True)
class Wide:
    """UTF-16LE text with a NUL at its end; member `by` counts its bytes, the NUL included."""

    by: str


@dataclass(frozen=True, slots=True)
class Many:
    """Packed structures one behind the other; member `by` counts them."""

    of: str
    by: str


@dataclass(frozen=True, slots=True)
class Inner:
    """Another structure in place."""

    of: str


@dataclass(frozen=True, slots=True)
class Text:
    """An NDR conformant and varying string of WCHARs with a NUL at its end."""


@dataclass(frozen=True, slots=True)
class Array:
    """An NDR conformant array; member `by` counts its elements. Unsigned bytes are base64 in JSON."""

    of: Word
    by: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """An NDR unique pointer embedded in a structure: its referent is deferred."""

    to: Word


@dataclass(frozen=True, slots=True)
class Arm:
    """One member of a union. only: the member of a structure that represents the whole structure in JSON."""

    member: str
    spec: str
    word: Word | None = None
    only: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An NDR non-encapsulated union: the tag repeats member `by` in `tag` bytes, the selected member follows."""

    by: str
    tag: int
    arms: Mapping[int, Arm]


Word: TypeAlias = Number | Truth | Guid | Octets | Wide | Many | Inner | Text | Array | Pointer | Choice


@dataclass(frozen=True, slots=True)
class Member:
    """A member: its name in JSON and in the document. computed: how to compute it from the written value if left out.

    hidden: reserved, absent in JSON.
    """

    name: str
    spec: str
    word: Word
    computed: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure. source: document and section. ndr: aligned by C706 chapter 14; otherwise packed.

    bare: the value of its only member is the value of the structure. facts: adds to the decoded fields the facts that
    need the raw bytes.
    """

    name: str
    source: str
    members: tuple[Member, ...]
    ndr: bool = False
    bare: bool = False
    facts: Callable[[Fields], None] | None = field(default=None, compare=False)

    def key(self, spec: str) -> str:
        """Return the full key of a member, `TA_ADDRESS.AddressLength`."""
        return f"{self.name}.{spec}"

    def member(self, name: str) -> Member:
        """Return the member with this name in JSON."""
        return next(each for each in self.members if each.name == name)


def alignment(word: Word, of: Callable[[str], Structure]) -> int:
    """Return the NDR alignment of a word: that of the largest primitive in it (C706 14.2.2 and 14.3)."""
    match word:
        case Number():
            return word.width
        case Truth():
            return 2
        case Guid() | Text() | Pointer() | Array():
            return 4  # of an array, this is its conformance; the elements align by themselves (C706 14.3.3.1)
        case Inner():
            return max(alignment(each.word, of) for each in of(word.of).members)
        case Choice():
            arms = [alignment(arm.word, of) for arm in word.arms.values() if arm.word is not None]
            return max(word.tag, *arms)
        case _:
            return 1


def least(word: Word, of: Callable[[str], Structure]) -> int:
    """Return the fewest bytes that a word takes in place, which bounds counts by the bytes present."""
    match word:
        case Number():
            return word.width
        case Truth():
            return 2
        case Guid():
            return 16
        case Octets():
            return word.size
        case Pointer() | Array():
            return 4
        case Text():
            return 12
        case Inner():
            return sum(least(each.word, of) for each in of(word.of).members)
        case Choice():
            return word.tag
        case _:
            return 0
