"""Reads and builds lists of elements in a field of bytes: names of a MultiQueueFormatHeader (MS-MQMQ 2.2.18.1.4).

The document aligns the start of some names but states neither the origin of the alignment nor whether the GUID of a
public queue is aligned. A list is therefore read in every way, and the decoded facts tell which ways fit.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from conformance.wire.layout import Align, Elements, Ended, Guid, Length, UInt, Value

# Origin of alignment, and whether doubtful alignments exist. The last is not a reading: it has no alignment at all.
WAYS: tuple[str, ...] = ("header.packed", "header.aligned", "element.packed", "element.aligned", "none")
READINGS = WAYS[:-1]
MAX_SHOWN = 1000  # elements that become fields of their own; a list may have a million
SPARE = 3  # bytes behind the last element that can be padding
NO_LENGTH = Length()
_SELECTOR = 2
PREFIX = "DIRECT="
PROTOCOLS = ("OS:", "TCP:", "IPX:", "SPX:", "HTTP://", "HTTPS://")  # MS-MQMQ 2.1.2
Fields = dict[str, Value]
Spans = dict[str, tuple[int, int]]
Note = Callable[[str, Value, int, int], None]  # name, value, offset, length


@dataclass(slots=True)
class ElementWalk:
    """One way of reading a list.

    count: elements read. end: offset behind the last one. stopped: empty when the list was read to its end, `type` for
    an unknown selector, `short` when the bytes end inside an element, `unterminated` for a text without a NUL. aligned:
    an element was met whose place depends on the way.
    """

    count: int = 0
    end: int = 0
    stopped: str = ""
    selector: int = 0
    aligned: bool = False
    kinds: dict[int, int] = field(default_factory=dict)
    prefixed: int = 0
    plain: int = 0
    foreign: int = 0
    spare: int = 0
    even: bool = True  # the list ends at a multiple of 4, so that it may end with padding

    @property
    def fits(self) -> bool:
        """True when the elements take the whole list, except for padding."""
        return not self.stopped and (self.spare == 0 or (self.spare <= SPARE and self.even))


def facts(key: str, raw: bytes, at: int, start: int, count: int, elements: Elements) -> tuple[Fields, Spans]:
    """Return the fields and spans of a list and of its elements.

    key: the list's full key. at: its offset in the packet, start: that of the section. count: the packet's element
    count. Beside the elements (`KEY.0.FormatType`, ...): `.Elements` their number; `.Stopped` and, for an unknown
    selector, `.StoppedType` (see ElementWalk); `.Left` bytes behind the last; `.Way` the way of reading; `.Fits.WAY`
    for each way, True when it fits; `.OfN` the number of elements with selector N; `.Plain`, `.Prefixed`, `.Foreign`
    the numbers of direct names that begin with a protocol, with `DIRECT=`, with neither.
    """
    walks = _walks(raw, at - start, count, elements)
    way = best(walks, count)
    walk = walks[way]
    fields: Fields = {
        f"{key}.Elements": walk.count,
        f"{key}.Stopped": walk.stopped,
        f"{key}.Left": walk.spare,
        f"{key}.Way": way,
        f"{key}.Plain": walk.plain,
        f"{key}.Prefixed": walk.prefixed,
        f"{key}.Foreign": walk.foreign,
    }
    if walk.stopped == "type":
        fields[f"{key}.StoppedType"] = walk.selector
    fields.update((f"{key}.Fits.{name}", one.fits) for name, one in walks.items())
    fields.update((f"{key}.Of{selector}", walk.kinds.get(selector, 0)) for selector in elements.options)
    spans: Spans = {}

    def note(name: str, value: Value, offset: int, length: int) -> None:
        fields[f"{key}.{name}"] = value
        spans[f"{key}.{name}"] = (at + offset, length)

    _walk(raw, at - start, count, elements, way, note)
    return fields, spans


def best(walks: Mapping[str, ElementWalk], count: int) -> str:
    """Choose the most plausible way: fitting with `count` elements, else fitting, else getting furthest."""
    return max(WAYS, key=lambda name: (*_trust(walks[name], count), -WAYS.index(name)))


def _trust(walk: ElementWalk, count: int) -> tuple[bool, bool, bool, int]:
    fits = walk.fits
    return fits, fits and walk.count == count, fits and not walk.spare, walk.count


def counted(raw: bytes, offset: int, elements: Elements) -> int:
    """Return the number of elements that a list seems to have."""
    walks = _walks(raw, offset, 0, elements)
    return walks[best(walks, 0)].count


def each_way(raw: bytes, offset: int, count: int, elements: Elements) -> dict[str, list[dict[str, Value]]]:
    """Return the elements by each way that fits, with the names of their fields. offset: from the section's start."""
    out: dict[str, list[dict[str, Value]]] = {}
    for way, walk in _walks(raw, offset, count, elements).items():
        if walk.fits:
            out[way] = listed(raw, offset, count, elements, way)
    return out


def listed(raw: bytes, offset: int, count: int, elements: Elements, way: str) -> list[dict[str, Value]]:
    """Return the elements as read in one way, at most MAX_SHOWN."""
    found: list[dict[str, Value]] = []

    def note(name: str, value: Value, _at: int, _length: int) -> None:
        index, _, inner = name.partition(".")
        while len(found) <= int(index):
            found.append({})
        found[int(index)][inner] = value

    _walk(raw, offset, count, elements, way, note)
    return found


def _walks(raw: bytes, offset: int, count: int, elements: Elements) -> dict[str, ElementWalk]:
    first = _walk(raw, offset, count, elements, WAYS[0], None)
    if not first.aligned:  # every way reads the same
        return dict.fromkeys(WAYS, first)
    return {WAYS[0]: first} | {way: _walk(raw, offset, count, elements, way, None) for way in WAYS[1:]}


def _walk(raw: bytes, offset: int, count: int, elements: Elements, way: str, note: Note | None) -> ElementWalk:
    """Read elements until bytes or readable elements end. Unreadable bytes behind `count` elements are left."""
    walk = ElementWalk()
    at = 0
    while len(raw) - at > SPARE:
        shown = note if walk.count < MAX_SHOWN else None
        inner = _element(raw, at, offset, elements, way, walk, f"{walk.count}.", shown)
        if inner is None:
            if walk.count >= count:
                walk.stopped = ""
            break
        at = inner
        walk.count += 1
    walk.end, walk.spare, walk.even = at, len(raw) - at, (offset + len(raw)) % 4 == 0
    return walk


def _element(
    raw: bytes, at: int, offset: int, elements: Elements, way: str, walk: ElementWalk, name: str, note: Note | None
) -> int | None:
    """Return the offset behind the element at `at`; None, with the cause in `walk`, when it cannot be read."""
    begin = at
    selector = int.from_bytes(raw[at : at + _SELECTOR], "little")
    items = elements.options.get(selector)
    if items is None:
        walk.stopped, walk.selector = "type", selector
        return None
    if note:
        note(name + elements.selector, selector, at, _SELECTOR)
    at += _SELECTOR
    for item in items:
        need = pad(item, at - begin, offset + at, way) if isinstance(item, Align) else 0
        if isinstance(item, Align):
            walk.aligned = walk.aligned or item.to > _SELECTOR
            if need and note:
                note(f"{name}Padding", raw[at : at + need], at, min(need, len(raw) - at))
            at += need
            continue
        width = _width(item, raw, at)
        if width is None or at + width > len(raw):
            walk.stopped = "unterminated" if isinstance(item, Ended) else "short"
            return None
        if isinstance(item, Ended):
            text = raw[at : at + width - 2].decode("utf-16-le", "surrogatepass")
            _count_text(text, walk)
            value: Value = text
        elif isinstance(item, Guid):
            value = str(uuid.UUID(bytes_le=raw[at : at + width])) if note else ""
        else:
            value = int.from_bytes(raw[at : at + width], "little")
        if note:
            note(name + item.name, value, at, width)
        at += width
    walk.kinds[selector] = walk.kinds.get(selector, 0) + 1
    return at


def pad(item: Align, inside: int, outside: int, way: str) -> int:
    """Return the bytes of alignment. inside: offset from the element's start, outside: from the section's."""
    origin, _, doubtful = way.partition(".")
    if origin == "none" or (item.doubtful and doubtful == "packed"):
        return 0
    return -(outside if origin == "header" else inside) % item.to


def _width(item: UInt | Guid | Ended, raw: bytes, at: int) -> int | None:
    if isinstance(item, UInt):
        return item.width
    if isinstance(item, Guid):
        return 16
    found = raw.find(b"\0\0", at)
    while found >= 0 and (found - at) % 2:
        found = raw.find(b"\0\0", found + 1)
    return None if found < 0 else found + 2 - at


def _count_text(text: str, walk: ElementWalk) -> None:
    upper = text[:16].upper()
    if upper.startswith(PREFIX):
        walk.prefixed += 1
    elif upper.startswith(PROTOCOLS):
        walk.plain += 1
    else:
        walk.foreign += 1


def build(
    key: str, values: Mapping[str, Value], offset: int, elements: Elements, way: str = READINGS[0]
) -> tuple[bytes, int]:
    """Build a list from values by element key (`KEY.0.DirectFormatName`); return its bytes and number of elements.

    offset: of the list from the section's start. way: how elements are aligned, unless `.Padding` is given. The
    selector follows from the given fields. Raises ValueError for values that cannot be written: a missing index, a
    mixture no layout has, a value that does not fit.
    """
    given: dict[int, dict[str, Value]] = {}
    for full in names_in(key, elements, values):
        number, _, name = full[len(key) + 1 :].partition(".")
        given.setdefault(int(number), {})[name] = values[full]
    out = bytearray()
    for index in range(len(given)):
        if index not in given:
            raise ValueError(f"{key} has no element {index}")
        _build_element(out, given[index], offset, elements, f"{key}.{index}", way)
    return bytes(out), len(given)


def _build_element(
    out: bytearray, given: dict[str, Value], offset: int, elements: Elements, key: str, way: str
) -> None:
    selector = given.get(elements.selector)
    if selector is None:
        wanted = set(given) - {"Padding"}
        fitting = [one for one, items in elements.options.items() if wanted <= set(names_of(items))]
        if not wanted or not fitting:
            raise ValueError(f"{key} is not an element that a FormatType describes")
        selector = fitting[0]
    begin = len(out)
    out += _number(f"{key}.{elements.selector}", selector, _SELECTOR)
    # An unknown or deliberately different selector: the given fields are written in the order of their own layout.
    items = elements.options.get(int(selector), ())
    if not set(given) - {elements.selector, "Padding"} <= set(names_of(items)):
        items = _items_for(given, elements)
    for item in items:
        if isinstance(item, Align):
            need = pad(item, len(out) - begin, offset + len(out), way)
            padding = given.get("Padding", bytes(need))
            out += padding if isinstance(padding, bytes) else bytes(need)
        elif isinstance(item, UInt):
            out += _number(f"{key}.{item.name}", given.get(item.name, 0), item.width)
        elif isinstance(item, Guid):
            out += _guid(f"{key}.{item.name}", given.get(item.name, uuid.UUID(int=0).hex))
        else:
            text = given.get(item.name, "")
            out += text if isinstance(text, bytes) else (f"{text}\0").encode("utf-16-le", "surrogatepass")


def _items_for(given: Mapping[str, Value], elements: Elements) -> tuple[UInt | Guid | Align | Ended, ...]:
    return next((items for items in elements.options.values() if set(given) & set(names_of(items))), ())


def names_of(items: tuple[UInt | Guid | Align | Ended, ...]) -> Iterator[str]:
    """Yield the fields of an element with these items."""
    return (item.name for item in items if not isinstance(item, Align))


def names_in(key: str, elements: Elements, values: Iterable[str]) -> Iterator[str]:
    """Yield the keys in `values` that belong to elements of this list."""
    inner = {elements.selector, "Padding", *(name for items in elements.options.values() for name in names_of(items))}
    for full in values:
        if full.startswith(f"{key}."):
            index, _, name = full[len(key) + 1 :].partition(".")
            if index.isdecimal() and name in inner:
                yield full


def _number(key: str, value: Value, width: int) -> bytes:
    if not isinstance(value, int) or not 0 <= value < 1 << 8 * width:
        raise ValueError(f"{key} holds {8 * width} bits, {value!r} does not fit")
    return int(value).to_bytes(width, "little")


def _guid(key: str, value: Value) -> bytes:
    try:
        return uuid.UUID(str(value)).bytes_le
    except ValueError:
        raise ValueError(f"{key} holds a GUID, not {value!r}") from None
