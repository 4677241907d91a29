"""Convert the state of a stream to bytes, so that a later ingest can go on from it.

It is JSON: whoever wrote it, it can run nothing. Only values of classes of this package are made of it.
"""

from __future__ import annotations

import base64
import gc
import json
import zlib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any, Final

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.store import MAX_STATE
from conformance.report.text import label

_OURS = (
    "conformance.capture.",
    "conformance.judge.sessions.",
    "conformance.captures.followed",
    "conformance.captures.senders",
    "conformance.pipeline.streams",
    "conformance.pipeline.tables_sink",
    "conformance.runlog.tally",
    "conformance.spec.assignment",
    "conformance.wire.packet",
    "conformance.verdict",
)
_SELDOM = 50_000  # Objects more than before, after which the youngest are looked through.
_SHAPE = 9
"""Version of the stored classes; raise it when a class gets other members."""
_MARK = f"mqconform {__version__} json {_SHAPE}\n".encode()


@cache
def settle() -> None:
    """Exempt what a worker loaded for its first task from garbage collection, which would scan it again and again."""
    gc.freeze()


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Collect garbage less often: a task makes many objects that stay, and few cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(_SELDOM, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def kept(value: object) -> bytes:
    """Return the state as a file of a lake, after the version that wrote it; a state that is too large is left out."""
    text = json.dumps(nodes_of(value, _OURS), separators=(",", ":")).encode()
    try:
        parsed(text)
    except UnfitError:
        text = b""
    return _MARK + zlib.compress(text, 1) if 0 < len(text) <= MAX_STATE else b"too much\n"


def resumed(data: bytes) -> Any | None:
    """Return a kept state; None if another version wrote it, or it was too large. Raises PipelineError."""
    if not data.startswith(_MARK):
        return None
    try:
        unpacked = zlib.decompressobj()
        text = unpacked.decompress(data.removeprefix(_MARK), MAX_STATE)
        if not unpacked.eof:
            raise UnfitError("is cut, or has too much in it")
        return value_of(parsed(text), _OURS)
    except (UnfitError, ValueFormError, zlib.error) as problem:
        raise PipelineError(
            f"The kept state of a stream is damaged ({label(str(problem), 200)}); ingest into a new lake."
        ) from None


Nodes = list[list[Any]]
_SIMPLE: Final = (bool, int, float, str)
_KINDS: Final[dict[type, str]] = {
    tuple: "tuple", frozenset: "frozenset", list: "list", set: "set", dict: "dict", deque: "deque",
    OrderedDict: "ordered", Counter: "counter", bytes: "bytes", bytearray: "bytearray", datetime: "time",
    timedelta: "span", float: "float",
}  # fmt: skip
_SHELLS: Final[dict[str, Callable[[], Any]]] = {
    "list": list, "set": set, "dict": dict, "deque": deque, "ordered": OrderedDict, "counter": Counter,
}  # fmt: skip
_BARE: Final = (str, bytes, bytearray, int, float, list, set, frozenset, dict, deque)
_SLOTS: Final[dict[type, tuple[str, ...]]] = {}  # By class: `_attributes`.
_PAIRS: Final = frozenset({"dict", "ordered", "counter"})


class ValueFormError(Exception):
    """The value to read was not written by this module, or the value to write cannot be stored."""


def nodes_of(value: Any, known: Sequence[str]) -> Nodes:
    """Return the nodes of a value. known: modules, or prefixes of their names, whose classes may occur in it.

    Raises ValueFormError for anything but plain containers, times and instances of those classes.
    """
    numbers: dict[int, int] = {}
    found: list[Any] = []
    nodes: Nodes = []

    def child(one: Any) -> Any:
        if one is None or (type(one) in _SIMPLE and (type(one) is not float or isfinite(one))):
            return one
        number = numbers.get(id(one))
        if number is None:
            number = numbers[id(one)] = len(found)
            found.append(one)  # keeps the object alive, so that no other gets its id
        return [number]

    child([value])
    for one in found:  # grows meanwhile
        nodes.append([_kind(one, known), *map(child, _members(one))])
    return nodes


def _kind(one: Any, known: Sequence[str]) -> str:
    kind = _KINDS.get(type(one))
    if kind is not None:
        return kind
    cls = type(one)
    if isinstance(one, _BARE) and not isinstance(one, Enum):  # it holds more than its attributes
        raise ValueFormError(f"{cls.__module__}.{cls.__qualname__} has no form")
    if not cls.__module__.startswith(tuple(known)) or "." in cls.__qualname__:
        raise ValueFormError(f"{cls.__module__}.{cls.__qualname__} has no form")
    return f"{cls.__module__}:{cls.__name__}"


def _members(one: Any) -> Iterator[Any]:
    if isinstance(one, (dict, OrderedDict, Counter)):
        for key, value in one.items():
            yield key
            yield value
    elif isinstance(one, deque):
        yield one.maxlen
        yield from one
    elif isinstance(one, (bytes, bytearray)):
        yield base64.b64encode(one).decode()
    elif isinstance(one, float):
        yield repr(one)
    elif isinstance(one, datetime):
        yield one.isoformat()
    elif isinstance(one, timedelta):
        yield from (one.days, one.seconds, one.microseconds)
    elif isinstance(one, Enum):
        yield from (one.name, one.value if type(one.value) in _SIMPLE else None)  # two flags at once have no name
    elif isinstance(one, tuple) or type(one) in _KINDS:
        yield from one
    else:
        for name in _attributes(type(one)):
            if hasattr(one, name):
                yield name
                yield getattr(one, name)
        for name, value in getattr(one, "__dict__", {}).items():
            yield name
            yield value


def _attributes(cls: type) -> tuple[str, ...]:
    """Return the slots of a class and its bases."""
    out: list[str] = []
    known = _SLOTS.get(cls)
    if known is not None:
        return known
    for each in cls.__mro__:
        slots = each.__dict__.get("__slots__", ())
        out += [slots] if isinstance(slots, str) else list(slots)
    found = tuple(name for name in dict.fromkeys(out) if name not in ("__dict__", "__weakref__"))
    return _SLOTS.setdefault(cls, found)


def value_of(nodes: Any, known: Sequence[str]) -> Any:
    """Restore the value of nodes. Raises ValueFormError."""
    try:
        (value,) = _Reading(nodes, tuple(known)).run()
    except (
        ArithmeticError,
        AttributeError,
        ImportError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as problem:
        raise ValueFormError(f"{type(problem).__name__}: {problem}") from None
    return value


class _Reading:
    """Makes immutable values (tuples, frozen instances) from their children; all others empty first, and fills them."""

    def __init__(self, nodes: Any, known: tuple[str, ...]) -> None:
        if not isinstance(nodes, list) or not all(isinstance(one, list) and one for one in nodes):
            raise ValueFormError("the value is not a list of nodes")
        self.nodes: Nodes = nodes
        self.known = known
        self.classes: dict[str, type] = {}
        self.made: dict[int, Any] = {}
        self.going: set[int] = set()
        self.later: list[int] = []

    def run(self) -> Any:
        """Return the first node, with everything in its place."""
        value = self.node(0)
        for number in self.later:  # grows meanwhile
            self.fill(number)
        return value

    def child(self, one: Any) -> Any:
        if one is None or type(one) in _SIMPLE:
            return one
        (number,) = one
        if type(number) is not int or not 0 <= number < len(self.nodes):
            raise ValueFormError("a reference leads to no node")
        return self.node(number)

    def node(self, number: int) -> Any:
        if number in self.made:
            return self.made[number]
        kind, *members = self.nodes[number]
        if kind in _SHELLS:
            shell = deque(maxlen=members[0]) if kind == "deque" else _SHELLS[kind]()
            return self.shell(number, shell)
        if ":" in kind:
            cls = self.cls(kind)
            if issubclass(cls, Enum):
                name, value = members
                self.made[number] = cls[name] if name in cls.__members__ else cls(value)
                return self.made[number]
            if not _frozen(cls) and not issubclass(cls, tuple):
                return self.shell(number, object.__new__(cls))
        if number in self.going:
            raise ValueFormError("a value is part of itself")
        self.going.add(number)
        if ":" not in kind:
            made = self.plain(kind, members)
        else:
            made = _made(self.cls(kind), [self.child(one) for one in members])
        self.going.discard(number)
        self.made[number] = made
        return made

    def shell(self, number: int, made: Any) -> Any:
        self.made[number] = made
        self.later.append(number)
        return made

    def plain(self, kind: str, members: list[Any]) -> Any:
        if kind in ("tuple", "frozenset"):
            found = [self.child(one) for one in members]
            return tuple(found) if kind == "tuple" else frozenset(found)
        if kind == "span":
            days, seconds, microseconds = members
            return timedelta(days, seconds, microseconds)
        (text,) = members
        if kind == "bytes":
            return base64.b64decode(text, validate=True)
        if kind == "bytearray":
            return bytearray(base64.b64decode(text, validate=True))
        if kind == "float":
            return float(text)
        if kind == "time":
            return datetime.fromisoformat(text)
        raise ValueFormError(f"{kind!a} is not a kind of value")

    def fill(self, number: int) -> None:
        made, (kind, *members) = self.made[number], self.nodes[number]
        found = [self.child(one) for one in (members[1:] if kind == "deque" else members)]
        if ":" in kind:
            _fill(made, found)
        elif kind in _PAIRS:
            for at in range(0, len(found), 2):
                made[found[at]] = found[at + 1]
        elif kind == "set":
            made.update(found)
        else:
            made.extend(found)

    def cls(self, kind: str) -> type:
        found = self.classes.get(kind)
        if found is None:
            module, _, name = kind.partition(":")
            if not module.startswith(self.known) or not name.isidentifier():
                raise ValueFormError(f"{module}.{name} is not part of a kept stream")
            found = getattr(import_module(module), name, None)
            if not isinstance(found, type) or found.__module__ != module or issubclass(found, BaseException):
                raise ValueFormError(f"{module}.{name} is not part of a kept stream")
            self.classes[kind] = found
        return found


def _frozen(cls: type) -> bool:
    return is_dataclass(cls) and bool(cls.__dataclass_params__.frozen)  # type: ignore[attr-defined]


def _made(cls: type, found: list[Any]) -> Any:
    """Make an immutable instance, of a named tuple or a frozen class."""
    if issubclass(cls, tuple):
        if len(found) != len(cls._fields):  # type: ignore[attr-defined]
            raise ValueFormError(f"{cls.__name__} has other members")
        return tuple.__new__(cls, found)
    made = object.__new__(cls)
    _fill(made, found)
    return made


def _fill(made: Any, found: list[Any]) -> None:
    slots = _attributes(type(made))
    for name, value in zip(found[::2], found[1::2], strict=True):
        if name not in slots and (not hasattr(made, "__dict__") or not str(name).isidentifier() or "__" in name):
            raise ValueFormError(f"{type(made).__name__} has no {name!a}")
        object.__setattr__(made, name, value)
