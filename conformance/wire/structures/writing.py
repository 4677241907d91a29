"""Writes a structure by its table; every count, length and digest is computed, and each can be overridden."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping
from hashlib import md5
from typing import Any

from conformance.wire.structures.reading import Decoded
from conformance.wire.structures.tables import structure
from conformance.wire.structures.words import (
    Array,
    Choice,
    Guid,
    Inner,
    Many,
    Member,
    Number,
    Octets,
    Pointer,
    Structure,
    Text,
    Truth,
    Wide,
    Word,
    alignment,
)

_FIRST_REFERENT = 0x00020000  # the usual first pointer number of NDR engines; any number but 0 will do


class StructureError(ValueError):
    """Raised for a value that the structure cannot hold. The message is one sentence."""


def complete(name: str, value: Any, *, aligned: bool = False) -> Any:
    """Return the value with every member that encoding computes, in the form that decoding returns."""
    table = structure(name)
    return _completed(table, value, aligned)


def encode(
    name: str, value: Any, given: Mapping[str, int] | None = None, *, aligned: bool = False, junk: int = 0
) -> bytes:
    """Encode a value in the shape of the adapter protocol.

    given: numbers that replace computed ones, by path (`a_public_keys[0].ul_key_len`, `p_elems.max_count`,
    `m_p_direct_id.actual_count`, `tag`, `m_reserved`). aligned: as for `decode`. junk: the byte that fills gaps. Raises
    StructureError for a value that does not fit, KeyError for an unknown name.
    """
    writer = _Writer(given or {}, aligned, junk)
    try:
        writer.structure(structure(name), "", value)
        writer.referents()
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise StructureError(f"{name} cannot hold this value: {error!r}") from error
    return bytes(writer.out)


def patch(decoded: Decoded, numbers: Mapping[str, int]) -> bytes:
    """Overwrite numbers at their paths; nothing else is computed again. Raises KeyError for an unknown path."""
    out = bytearray(decoded.data)
    for path, number in numbers.items():
        at, length = decoded.spans[path]
        out[at : at + length] = (number % (1 << 8 * length)).to_bytes(length, "little")
    return bytes(out)


class _Writer:
    def __init__(self, given: Mapping[str, int], aligned: bool, junk: int) -> None:
        self.out = bytearray()
        self.given = given
        self.aligned = aligned
        self.junk = junk
        self.pointers = 0
        self.deferred: list[Callable[[], None]] = []

    def referents(self) -> None:
        waiting, self.deferred = self.deferred, []
        for one in waiting:
            one()
            self.referents()

    def structure(self, table: Structure, path: str, value: Any) -> None:
        if table.ndr:
            self.align(alignment(Inner(table.name), structure))
        value = _completed(table, value, self.aligned, shallow=True)
        for member in table.members:
            if isinstance(member.word, Choice):
                self.choice(table, member.word, path, value)
                continue
            where = f"{path}.{member.name}" if path else member.name
            self.word(table, member.word, where, value[member.name], value)

    def choice(self, table: Structure, word: Choice, path: str, value: Mapping[str, Any]) -> None:
        selector = value[word.by]
        self.align(word.tag)
        self.number(f"{path}.tag" if path else "tag", selector, word.tag)
        arm = word.arms.get(selector)
        if arm is None:
            raise StructureError(f"{word.by} {selector} selects no member of the union of {table.name}")
        if arm.word is None:
            return
        held = value[arm.member]
        self.word(table, arm.word, f"{path}.{arm.member}" if path else arm.member, held, value, arm.only)

    def word(
        self, table: Structure, word: Word, path: str, value: Any, around: Mapping[str, Any], only: str = ""
    ) -> None:
        if table.ndr:
            self.align(alignment(word, structure))
        match word:
            case Number():
                self.number(path, int(value), word.width, signed=word.signed)
            case Truth():
                self.number(path, 0xFFFF if value else 0, 2)
            case Guid():
                self.out += uuid.UUID(value).bytes_le
            case Octets():
                self.out += base64.b64decode(value, validate=True)
            case Wide():
                self.out += f"{value}\0".encode("utf-16-le", "surrogatepass")
            case Inner():
                self.structure(structure(word.of), path, {only: value} if only else value)
            case Many():
                for index, each in enumerate(value):
                    if self.aligned:
                        self.align(4)
                    self.structure(structure(word.of), f"{path}[{index}]", each)
            case Pointer():
                self.pointer(table, word, path, value, around)
            case Text():
                self.text(path, value)
            case Array():
                self.array(table, word, path, value, around)

    def pointer(self, table: Structure, word: Pointer, path: str, value: Any, around: Mapping[str, Any]) -> None:
        null = value is None or (isinstance(word.to, Array) and not value)
        self.pointers += not null
        self.number(f"{path}.referent", 0 if null else _FIRST_REFERENT + 4 * (self.pointers - 1), 4)
        if not null:
            self.deferred.append(lambda: self.word(table, word.to, path, value, around))

    def text(self, path: str, value: str) -> None:
        data = f"{value}\0".encode("utf-16-le", "surrogatepass")
        self.number(f"{path}.max_count", len(data) // 2, 4)
        self.number(f"{path}.offset", 0, 4)
        self.number(f"{path}.actual_count", len(data) // 2, 4)
        self.out += data

    def array(self, table: Structure, word: Array, path: str, value: Any, around: Mapping[str, Any]) -> None:
        if word.of == Number(1):
            data = base64.b64decode(value, validate=True)
            self.number(f"{path}.max_count", len(data), 4)
            self.out += data
            return
        self.number(f"{path}.max_count", len(value), 4)
        for index, each in enumerate(value):
            self.word(table, word.of, f"{path}[{index}]", each, around)

    def number(self, path: str, value: int, width: int, *, signed: bool = False) -> None:
        if path in self.given:
            self.out += (self.given[path] % (1 << 8 * width)).to_bytes(width, "little")
        else:
            self.out += value.to_bytes(width, "little", signed=signed)

    def align(self, to: int) -> None:
        self.out += bytes([self.junk]) * (-len(self.out) % to)


def _completed(table: Structure, value: Any, aligned: bool, *, shallow: bool = False) -> Any:
    if table.bare:
        return {table.members[0].name: value} if shallow else value
    out = dict(value)
    for member in table.members:
        inner = member.word.of if isinstance(member.word, Many) else None
        if inner is not None and not shallow:
            out[member.name] = [_completed(structure(inner), each, aligned) for each in value[member.name]]
        if member.computed and member.name not in out and not (member.hidden and not shallow):
            out[member.name] = _computed(table, member, value, aligned)
    return out


def _computed(table: Structure, member: Member, value: Mapping[str, Any], aligned: bool) -> Any:
    rule = member.computed
    if rule == "0":
        return 0
    if rule == "*":
        return _size(table, value, aligned)
    if rule.startswith("md5:"):
        octets = base64.b64decode(value[rule[4:]], validate=True)
        return base64.b64encode(md5(octets, usedforsecurity=False).digest()).decode("ascii")
    counted, word = value[rule], table.member(rule).word
    if isinstance(word, Wide):
        return len(f"{counted}\0".encode("utf-16-le", "surrogatepass"))
    as_base64 = isinstance(word, Octets) or (isinstance(word, Pointer) and word.to == Array(Number(1), member.name))
    return len(base64.b64decode(counted, validate=True)) if as_base64 else len(counted)


def _size(table: Structure, value: Mapping[str, Any], aligned: bool) -> int:
    own = next(member.name for member in table.members if member.computed == "*")
    writer = _Writer({}, aligned, 0)
    writer.structure(table, "", {**value, own: 0})
    return len(writer.out)
