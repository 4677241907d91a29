"""Reads and writes a structure by its table; counts, lengths and digests are computed, and can be overridden."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from conformance.wire.packet import Span, Trouble
from conformance.wire.structures.tables import structure
from conformance.wire.structures.words import (
    Array,
    Choice,
    Fields,
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
    least,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One structure that was read: the whole, or one inside it.

    path: its place, empty for the whole. fields: by key, `TA_ADDRESS.AddressLength`: int, text, bytes, and facts that
    need the raw bytes (`.Terminated`, `.MaxCount`, `.Tag`). `X.Overrun` is the member the bytes ended in, empty when
    they ended in none; `X.Size` its bytes; `X.Extra`, of the whole alone, the number of bytes behind it.
    """

    structure: str
    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A structure that was read.

    value: in the shape of the adapter protocol, without the members that could not be read. parts: the whole first,
    then the inner ones. spans: (offset, length) in bytes by path, `a_public_keys[0].ul_key_len`, `p_elems.max_count`,
    `tag`. extra: bytes behind it.
    """

    name: str
    value: Any
    parts: tuple[Part, ...]
    spans: Mapping[str, Span]
    trouble: tuple[Trouble, ...]
    extra: int
    data: bytes

    @property
    def whole(self) -> bool:
        """True when everything was read, and nothing is left."""
        return not self.trouble and not self.extra


MAX_DEPTH = 32  # structures within structures; a PROPVARIANT could nest as deep as its bytes allow
TRUE, FALSE = 0xFFFF, 0


class _Stop(Exception):
    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble


def decode(name: str, data: bytes, *, aligned: bool = False) -> Decoded:
    """Read the structure of this name at the beginning of `data`.

    aligned: the elements of a list of keys or certificates begin at multiples of 4 (R-MQMQ-key-list-alignment). Raises
    KeyError for an unknown structure, never for the bytes: their errors are in `trouble`.
    """
    table = structure(name)
    reader = _Reader(data, aligned)
    trouble: tuple[Trouble, ...] = ()
    value: dict[str, Any] = {}
    try:
        reader.structure(table, "", value, {})
        reader.referents()
    except _Stop as stop:
        trouble = (stop.trouble,)
    parts = reader.finish(complete=not trouble)
    plain = value.get(table.members[0].name) if table.bare else value
    return Decoded(name, plain, parts, reader.spans, trouble, 0 if trouble else len(data) - reader.at, data)


class _Reader:
    def __init__(self, data: bytes, aligned: bool) -> None:
        self.data = data
        self.at = 0
        self.aligned = aligned
        self.spans: dict[str, Span] = {}
        self.parts: list[tuple[Structure, str, Fields]] = []
        self.deferred: list[Callable[[], None]] = []
        self.depth = 0

    def finish(self, *, complete: bool) -> tuple[Part, ...]:
        for index, (table, _, fields) in enumerate(self.parts):
            fields.setdefault(table.key("Overrun"), "")
            ended = [found for name, found in fields.items() if name.endswith(".Terminated")]
            broken = [found for name, found in fields.items() if name.endswith((".Inner", ".Odd"))]
            fields[table.key("TextsEnd")] = all(ended) and not any(broken)
            if index == 0 and complete:
                fields[table.key("Extra")] = len(self.data) - self.at
            if table.facts is not None:
                table.facts(fields)
        return tuple(Part(table.name, path, fields) for table, path, fields in self.parts)

    def referents(self) -> None:
        """Read the referents of the construct just read, each followed by those of its own pointers."""
        waiting, self.deferred = self.deferred, []
        self.depth += 1
        for one in waiting:
            one()
            self.referents()
        self.depth -= 1

    def structure(self, table: Structure, path: str, value: dict[str, Any], above: Fields) -> None:
        if self.depth >= MAX_DEPTH:
            raise _Stop(Trouble("depth", table.name, self.at, f"structures nest deeper than {MAX_DEPTH}"))
        if table.ndr:
            self.align(alignment(Inner(table.name), structure), path)
        begin = self.at
        fields: Fields = {}
        self.parts.append((table, path, fields))
        self.depth += 1
        for member in table.members:
            try:
                self.member(table, member, path, value, fields)
            except _Stop as stop:
                if stop.trouble.code == "truncated":
                    fields.setdefault(table.key("Overrun"), member.spec)
                raise
        self.depth -= 1
        fields[table.key("Size")] = self.at - begin

    def member(self, table: Structure, member: Member, path: str, value: dict[str, Any], fields: Fields) -> None:
        where = f"{path}.{member.name}" if path and member.name else path or member.name
        if isinstance(member.word, Choice):
            self.choice(table, member, member.word, path, value, fields)
            return

        def put(found: Any) -> None:
            if not member.hidden:
                value[member.name] = found

        begin = self.at
        self.word(table, member.word, member.spec, where, put, fields, value)
        if not isinstance(member.word, Pointer):
            self.spans[where] = (begin, self.at - begin) if where not in self.spans else self.spans[where]

    def choice(
        self, table: Structure, member: Member, word: Choice, path: str, value: dict[str, Any], fields: Fields
    ) -> None:
        selector = value[word.by]
        key = table.key(member.spec)
        begin = self.align(word.tag, path)
        fields[f"{key}.Tag"] = tag = int.from_bytes(self.take(word.tag, key), "little")
        self.spans[f"{path}.tag" if path else "tag"] = (begin, word.tag)
        fields[f"{key}.TagMatches"] = tag == selector
        arm = word.arms.get(selector)
        if arm is None:
            raise _Stop(Trouble("selector", key, begin, f"{word.by} {selector} selects no member of the union"))
        if arm.word is None:
            return
        where = f"{path}.{arm.member}" if path else arm.member

        def put(found: Any) -> None:
            value[arm.member] = found

        if arm.only and isinstance(arm.word, Inner):
            inner: dict[str, Any] = {}
            self.structure(structure(arm.word.of), where, inner, fields)
            # The referent of the pointer in it is read later: the value is taken then.
            only = arm.only
            self.deferred.append(lambda: put(inner.get(only)))
            return
        at = self.at
        self.word(table, arm.word, arm.spec, where, put, fields, value)
        if not isinstance(arm.word, Pointer):
            self.spans.setdefault(where, (at, self.at - at))

    def word(
        self,
        table: Structure,
        word: Word,
        spec: str,
        path: str,
        put: Callable[[Any], None],
        fields: Fields,
        value: dict[str, Any],
    ) -> None:
        key = table.key(spec)
        if table.ndr:
            begin = self.align(alignment(word, structure), path)
            width = least(word, structure) if isinstance(word, Number | Guid | Truth) else 0
            if width and begin + width <= len(self.data):  # behind the gap that aligns it, which a caller cannot know
                self.spans[path] = (begin, width)
        match word:
            case Number():
                number = int.from_bytes(self.take(word.width, key), "little", signed=word.signed)
                fields[key] = number
                put(str(number) if word.decimal else number)
            case Truth():
                raw = int.from_bytes(self.take(2, key), "little")
                fields[key] = raw
                put(raw != FALSE)
            case Guid():
                fields[key] = text = str(uuid.UUID(bytes_le=self.take(16, key)))
                put(text)
            case Octets():
                data = self.take(value[word.by] if word.by else word.size, key)
                fields[key] = data
                put(base64.b64encode(data).decode("ascii"))
            case Wide():
                put(_text(self.take(value[word.by], key), key, fields))
            case Inner():
                inner: dict[str, Any] = {}
                self.structure(structure(word.of), path, inner, fields)
                put(inner)
            case Many():
                put(self.many(word, path, value[word.by], key, put, fields))
            case Pointer():
                self.pointer(table, word, spec, path, put, fields, value)
            case Text():
                put(self.text(path, key, fields))
            case Array():
                self.array(table, word, spec, path, put, fields, value)

    def many(self, word: Many, path: str, count: int, key: str, put: Callable[[Any], None], fields: Fields) -> Any:
        inner = structure(word.of)
        self.bounded(count, least(Inner(word.of), structure), key)
        found: list[dict[str, Any]] = []
        put(found)
        for index in range(count):
            if self.aligned:
                self.align(4, f"{path}[{index}]")
            found.append({})
            self.structure(inner, f"{path}[{index}]", found[-1], fields)
        fields[f"{key}.Count"] = count
        return found

    def pointer(
        self,
        table: Structure,
        word: Pointer,
        spec: str,
        path: str,
        put: Callable[[Any], None],
        fields: Fields,
        value: dict[str, Any],
    ) -> None:
        key = table.key(spec)
        begin = self.align(4, path)
        referent = int.from_bytes(self.take(4, key), "little")
        self.spans[f"{path}.referent"] = (begin, 4)
        fields[f"{key}.Null"] = referent == 0
        if referent == 0:
            counted = isinstance(word.to, Array)
            if counted and value[word.to.by] != 0:  # type: ignore[union-attr]
                raise _Stop(Trouble("null", key, begin, "a null pointer to elements that are counted"))
            plain = isinstance(word.to, Array) and _octets(word.to)
            put(("" if plain else []) if counted else None)
            return

        def later() -> None:
            try:
                self.word(table, word.to, spec, path, put, fields, value)
            except _Stop as stop:
                if stop.trouble.code == "truncated":
                    fields.setdefault(table.key("Overrun"), spec)
                raise

        self.deferred.append(later)

    def text(self, path: str, key: str, fields: Fields) -> str:
        begin = self.align(4, path)
        most, offset, actual = (int.from_bytes(self.take(4, key), "little") for _ in range(3))
        for index, name in enumerate(("max_count", "offset", "actual_count")):
            self.spans[f"{path}.{name}"] = (begin + 4 * index, 4)
        fields.update({f"{key}.MaxCount": most, f"{key}.Offset": offset, f"{key}.ActualCount": actual})
        if offset or actual > most:
            raise _Stop(Trouble("size", key, begin, f"{actual} characters from {offset} on in an array of {most}"))
        self.bounded(actual, 2, key)
        begin = self.at
        found = _text(self.take(2 * actual, key), key, fields)
        self.spans[path] = (begin, 2 * actual)
        return found

    def array(
        self,
        table: Structure,
        word: Array,
        spec: str,
        path: str,
        put: Callable[[Any], None],
        fields: Fields,
        value: dict[str, Any],
    ) -> None:
        key = table.key(spec)
        begin = self.align(4, path)
        count = int.from_bytes(self.take(4, key), "little")
        self.spans[f"{path}.max_count"] = (begin, 4)
        fields[f"{key}.MaxCount"] = count
        fields[f"{key}.CountMatches"] = count == value[word.by]
        self.bounded(count, least(word.of, structure), key)
        if count:
            self.align(alignment(word.of, structure), path)
        at = self.at
        if _octets(word):
            data = self.take(count, key)
            fields[key] = data
            put(base64.b64encode(data).decode("ascii"))
        else:
            found: list[Any] = [None] * count
            put(found)
            for index in range(count):
                one = f"[{index}]"
                self.word(table, word.of, spec + one, path + one, _at(found, index), fields, value)
        self.spans[path] = (at, self.at - at)

    def bounded(self, count: int, each: int, key: str) -> None:
        if count * max(1, each) > len(self.data) - self.at:
            raise _Stop(Trouble("truncated", key, self.at, f"{count} elements do not fit into the bytes left"))

    def align(self, to: int, path: str) -> int:
        """Skip the gap before an aligned item; return the offset behind it."""
        gap = -self.at % to
        if gap:
            begin = self.at
            self.take(gap, path or "padding")
            self.spans[f"{path}.gap"] = (begin, gap)
        return self.at

    def take(self, count: int, key: str) -> bytes:
        if count > len(self.data) - self.at:
            raise _Stop(Trouble("truncated", key, self.at, f"the bytes end inside {key}"))
        found = self.data[self.at : self.at + count]
        self.at += count
        return found


def _at(found: list[Any], index: int) -> Callable[[Any], None]:
    return lambda value: found.__setitem__(index, value)


def _octets(word: Array) -> bool:
    return word.of == Number(1)


def _text(data: bytes, key: str, fields: Fields) -> str:
    """Return the text without its NUL. Facts: terminated, an inner NUL, half a character left, valid UTF-16."""
    text = data[: len(data) & ~1].decode("utf-16-le", "surrogatepass")
    ended = text.endswith("\0") and not len(data) & 1
    text = text[:-1] if ended else text
    fields[f"{key}.Terminated"] = ended
    fields[f"{key}.Inner"] = "\0" in text
    fields[f"{key}.Odd"] = bool(len(data) & 1)
    fields[f"{key}.Utf16"] = not any("\ud800" <= each <= "\udfff" for each in text)
    fields[key] = text
    return text


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
