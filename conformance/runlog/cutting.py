"""Values as the JSON of a run record, and the cutting of longer ones to `MAX_EVENT` bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from operator import is_not
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict


def encode(value: Any) -> bytes:
    """Encode a value as JSON on one line, ASCII only. Raises RecursionError for a value that is nested too deep."""
    try:
        text = json.dumps(value, separators=(",", ":"), default=_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), separators=(",", ":"), default=_plain, allow_nan=False)
    return text.encode("ascii")


def _plain(value: Any) -> Any:
    """Return the JSON form of a type that occurs in verdicts and evidence. Raises TypeError for others."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Struct):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no place in a run record")


def _finite(value: Any) -> Any:
    """Return the value with NaN and infinities, which JSON does not have, as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(member) for member in value]
    return value


MAX_TEXT = 64 << 10
"""Bytes, in UTF-8, of one text outside evidence."""
MAX_EVENT = 1 << 20
"""Bytes of one event as JSON."""
MAX_CUTS = 100
"""Cuts that an event lists one by one."""

_LIMITS = ((MAX_TEXT, 1 << 40), (16 << 10, 2_000), (4 << 10, 400), (1 << 10, 80), (256, 16))
"""(bytes of a text, members of a list or object): limits tried in turn until an event fits."""
NOTE_BYTES = 200  # bytes reserved for the text that replaces a cut value
_COUNTS = frozenset({"tally", "took"})
_END_MATTERS = frozenset({"note", "progress", "driver"})
_MAX_KEY = 200


def event_lines(event: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the event as JSON: one line, or several for an event of too many counts."""
    try:
        body = encode(event)
    except RecursionError:
        event = {name: _shallow(name, member) for name, member in event.items()}
        body = encode(event)
    if len(body) <= MAX_TEXT:
        yield body
    elif len(body) > MAX_EVENT and (halves := _halved(event)):
        for half in halves:
            yield from event_lines(half)
    else:
        yield _fitted(json.loads(body), body)


def clipped(value: Any, text: int = MAX_TEXT, members: int = 1 << 40) -> Any:
    """Cut a JSON value: its texts to `text` bytes, its lists and objects to `members`. Itself where nothing is cut."""
    return value if _fits(value, text, members) else _Knife(text, members).value(value, ())


def _fits(value: Any, text: int, members: int) -> bool:
    """True for a value that is certainly within the limits: most values are, and a knife is slow."""
    if isinstance(value, str):
        return len(value) * 4 <= text
    if isinstance(value, Mapping):
        return len(value) <= members and all(_fits(each, text, members) for each in (*value, *value.values()))
    return not isinstance(value, (list, tuple)) or (
        len(value) <= members and all(_fits(each, text, members) for each in value)
    )


@dataclass(slots=True)
class _Knife:
    """Cuts values to one pair of limits. cuts: the cuts made, in the form of the event's member `cut`.

    sizes: length and digest of values that were already cut with other limits, by id.
    """

    text: int
    members: int
    end: bool = False
    sizes: dict[int, dict[str, Any]] = field(default_factory=dict)
    cuts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def value(self, value: Any, at: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, (list, tuple)):
            kept, more = self._some(value, at)
            items = [self.value(item, (*at, str(number))) for number, item in enumerate(kept)]
            if more:
                half = len(items) // 2
                items[half:half] = [{"text": more} if at == ("steps",) else more]
            return items if more or any(map(is_not, items, value)) else value
        if isinstance(value, Mapping):
            members = dict(islice(value.items(), self.members))
            found = {
                self.value(name, (*at, "(name)")): self.value(member, (*at, str(name)))
                for name, member in members.items()
            }
            if len(members) < len(value):
                found["(cut)"] = self._note(at, value, f"{len(value) - len(members):,} members")
            elif found.keys() == value.keys() and not any(map(is_not, found.values(), value.values())):
                return value
            return found
        return value

    def _some(self, value: Sequence[Any], at: tuple[str, ...]) -> tuple[Sequence[Any], str | None]:
        if len(value) <= self.members:
            return value, None
        half = self.members // 2
        gone = len(value) - 2 * half
        return [*value[:half], *value[-half:]], self._note(at, value, f"{gone:,} of {len(value):,} items")

    def _text(self, value: str, at: tuple[str, ...]) -> str:
        if len(value) * 4 <= self.text:
            return value
        data = value.encode("utf-8", "surrogatepass")
        if len(data) <= self.text:
            return value
        words = self._note(at, value, "text")
        room = max(0, self.text - NOTE_BYTES)
        if self.end:
            return f"{words} … {data[len(data) - room :].decode('utf-8', 'ignore')}"
        return f"{data[:room].decode('utf-8', 'ignore')} … {words}"

    def _note(self, at: tuple[str, ...], whole: Any, what: str) -> str:
        size = self.sizes.get(id(whole))
        if size is None:
            size = self.sizes[id(whole)] = _size(whole)
        self.cuts[_pointer(at)] = size
        return f"({what} {_cut_note(size)})"


def _fitted(event: dict[str, Any], body: bytes) -> bytes:
    """Return the event with its long values cut. body: the whole event as JSON."""
    end = event["event"] in _END_MATTERS
    sizes: dict[int, dict[str, Any]] = {}
    for number, (text, members) in enumerate(_LIMITS):
        knife = _Knife(text, members, end, sizes)
        try:
            found = {
                name: value if number == 0 and _spared(event, name) else knife.value(value, (name,))
                for name, value in event.items()
            }
        except RecursionError:
            break
        if not knife.cuts and len(body) <= MAX_EVENT:
            return body
        line = encode({**found, "cut": _listed_cuts(knife.cuts, body)})
        if len(line) <= MAX_EVENT:
            return line
    return _emptied(event, body)


def _spared(event: Mapping[str, Any], name: str) -> bool:
    return name == "evidence" or (name == "data" and event["event"] == "evidence")


def _listed_cuts(cuts: dict[str, dict[str, Any]], body: bytes) -> dict[str, dict[str, Any]]:
    if len(cuts) <= MAX_CUTS:
        return cuts
    whole = {"length": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    tops = {f"/{name}" for name in {pointer.split("/")[1] for pointer in cuts}}
    return {**dict(islice(cuts.items(), MAX_CUTS)), **{top: cuts.get(top, whole) for top in sorted(tops)}}


def _emptied(event: dict[str, Any], body: bytes) -> bytes:
    """Return the event with its largest members replaced by their size and digest."""
    cuts: dict[str, dict[str, Any]] = {}
    line = body
    # Largest member first; the short members that identify the event are never reached.
    for name in sorted(event, key=lambda member: len(encode(event[member])), reverse=True):
        cuts[_pointer((name,))] = _size(event[name])
        event = {**event, name: _omitted(name, event[name], cuts[_pointer((name,))])}
        line = encode({**event, "cut": cuts})
        if len(line) <= MAX_EVENT:
            break
    return line


def _omitted(name: str, value: Any, cut: Mapping[str, Any]) -> Any:
    """Return the replacement for a member that is too long, in the shape that a reader expects of it."""
    words = f"({_cut_note(cut)})"
    if isinstance(value, str):
        return words
    if name == "steps":
        return [{"text": words}]
    if name == "evidence":
        return {"kind": "cut", "ref": "cut", "data": {"cut": words}}
    if isinstance(value, list):
        return []
    return {"cut": words}


def _shallow(name: str, member: Any) -> Any:
    """Return the member, or a replacement if it is nested too deep to be written."""
    try:
        encode(member)
    except RecursionError:
        if name == "steps":
            return [{"text": step["text"]} for step in member]
        words = {"omitted": "nested too deep"}
        return {"kind": "omitted", "ref": "omitted", "data": words} if name == "evidence" else words
    return member


def _halved(event: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Split an event of counts in two, which a reader adds up; None for other events and for a single count."""
    if event["event"] not in _COUNTS:
        return None
    empty: dict[str, Any] = {name: {} for name in event if name != "event"}
    for name, member in event.items():
        if isinstance(member, Mapping) and (parts := _parted(member)):
            return {"event": event["event"], **empty, name: parts[0]}, {**event, name: parts[1]}
    return None


def _parted(counts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    items, half = list(counts.items()), len(counts) // 2
    if half:
        return dict(items[:half]), dict(items[half:])
    for name, member in items:
        if isinstance(member, Mapping) and (parts := _parted(member)):
            return {name: parts[0]}, {name: parts[1]}
    return None


def _size(whole: Any) -> dict[str, Any]:
    data = whole.encode("utf-8", "surrogatepass") if isinstance(whole, str) else encode(whole)
    return {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _cut_note(size: Mapping[str, Any]) -> str:
    return f"cut when it was recorded: {size['length']:,} bytes in all, sha256 {size['sha256'][:16]}"


def _pointer(at: tuple[str, ...]) -> str:
    """Return a JSON pointer with long names shortened."""
    return "".join("/" + name[:_MAX_KEY].replace("~", "~0").replace("/", "~1") for name in at)
