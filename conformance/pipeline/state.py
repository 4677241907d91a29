"""Convert the state of a stream to bytes, so that a later ingest can go on from it.

It is JSON: whoever wrote it, it can run nothing. Only values of classes of this package are made of it.
"""

from __future__ import annotations

import base64
import json
import zlib
from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from conformance import __version__
from conformance.judge.sessions.judge import SessionJudge
from conformance.pipeline.store import MAX_STATE
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.text import label
from conformance.untrusted import UnfitError, parsed

_ALLOWED_MODULES = (
    "conformance.capture.",
    "conformance.judge.sessions.",
    "conformance.captures.sender_readings",
    "conformance.captures.senders",
    "conformance.pipeline.streams",
    "conformance.pipeline.tables_sink",
    "conformance.runlog.counts",
    "conformance.spec.followed_readings",
    "conformance.wire.packet",
    "conformance.verdict",
)
_SHAPE = 14
"""Version of the stored classes; raise it when a class gets other members."""
_DAMAGE: Final = (
    UnfitError, zlib.error, ArithmeticError, AttributeError, ImportError, LookupError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
_MARK = f"mqconform {__version__} json {_SHAPE}\n".encode()


def dump(value: object) -> bytes:
    """Return the state as a file of a lake, after the version that wrote it; a state that is too large is left out.

    Raises UnfitError for anything but plain containers, times and instances of our classes.
    """
    text = json.dumps(_nodes(value), separators=(",", ":"), allow_nan=False).encode()
    try:
        parsed(text)
    except UnfitError:
        text = b""
    return _MARK + zlib.compress(text, 1) if 0 < len(text) <= MAX_STATE else b"too much\n"


def load(data: bytes) -> Any | None:
    """Return a kept state; None if another version wrote it, or it was too large. Raises PipelineError."""
    if not data.startswith(_MARK):
        return None
    try:
        unpacked = zlib.decompressobj()
        text = unpacked.decompress(data.removeprefix(_MARK), MAX_STATE)
        if not unpacked.eof:
            raise UnfitError("is cut, or has too much in it")
        return _Decoder(parsed(text)).run()
    except _DAMAGE as problem:
        raise _damaged(problem) from None


def restore(sessions: SessionJudge) -> None:
    """Make the state of sessions that was loaded fit for use. Raises PipelineError for a damaged one."""
    try:
        sessions.restore()
    except _DAMAGE as problem:
        raise _damaged(problem) from None


def _damaged(problem: Exception) -> PipelineError:
    return PipelineError(f"The kept state of a stream is damaged ({label(str(problem), 200)}); ingest into a new lake.")


def _encoded(one: bytes) -> list[Any]:
    return [base64.b64encode(one).decode()]


def _decoded(found: list[Any]) -> bytes:
    (text,) = found
    return base64.b64decode(text, validate=True)


def _pairs(one: dict[Any, Any]) -> list[Any]:
    return [part for pair in one.items() for part in pair]


def _fill_pairs(made: dict[Any, Any], found: list[Any]) -> None:
    for key, value in zip(found[::2], found[1::2], strict=True):
        made[key] = value


class _Form(NamedTuple):
    """How a type is stored. make: a value of what is in it. fill: for those that begin empty, as they may be in it."""

    type: Any
    members: Callable[[Any], list[Any]]
    make: Callable[[list[Any]], Any] | None = None
    fill: Callable[[Any, list[Any]], None] | None = None


_FORMS: Final[dict[str, _Form]] = {
    "tuple": _Form(tuple, list, tuple),
    "frozenset": _Form(frozenset, list, frozenset),
    "bytes": _Form(bytes, _encoded, _decoded),
    "bytearray": _Form(bytearray, _encoded, lambda found: bytearray(_decoded(found))),
    "time": _Form(datetime, lambda one: [one.isoformat()], lambda found: datetime.fromisoformat(*found)),
    "numbers": _Form(array, lambda one: _encoded(one.tobytes()), lambda found: array("q", _decoded(found))),
    "list": _Form(list, list, fill=list.extend),
    "set": _Form(set, list, fill=set.update),
    "deque": _Form(deque, lambda one: [one.maxlen, *one], fill=lambda made, found: made.__init__(found[1:], found[0])),
    "dict": _Form(dict, _pairs, fill=_fill_pairs),
    "ordered": _Form(OrderedDict, _pairs, fill=_fill_pairs),
    "counter": _Form(Counter, _pairs, fill=_fill_pairs),
}
_KINDS: Final = {form.type: kind for kind, form in _FORMS.items()}
_SIMPLE: Final = (bool, int, float, str, type(None))
_BARE: Final = (str, bytes, bytearray, int, float, list, set, frozenset, dict, deque)


def _nodes(value: Any) -> list[list[Any]]:
    """Return every value once: its kind and its members, which are simple or the number of another in a list."""
    numbers: dict[int, int] = {}
    found: list[Any] = []

    def child(one: Any) -> Any:
        if type(one) in _SIMPLE:
            return one
        number = numbers.get(id(one))
        if number is None:
            number = numbers[id(one)] = len(found)
            found.append(one)  # keeps the object alive, so that no other gets its id
        return [number]

    def node(one: Any) -> list[Any]:
        kind = _KINDS.get(type(one))
        kind, members = _instance(one) if kind is None else (kind, _FORMS[kind].members(one))
        return [kind, *map(child, members)]

    child(value)
    return [node(one) for one in found]  # grows meanwhile


def _instance(one: Any) -> tuple[str, list[Any]]:
    """Return the kind and the members of an instance of our classes."""
    cls: Any = type(one)
    bare = isinstance(one, _BARE) and not isinstance(one, Enum)  # it holds more than its attributes
    if bare or not cls.__module__.startswith(_ALLOWED_MODULES) or "." in cls.__qualname__:
        raise UnfitError(f"{cls.__module__}.{cls.__qualname__} has no form")
    kind = f"{cls.__module__}:{cls.__name__}"
    if isinstance(one, Enum):
        return kind, [one.name, one.value if type(one.value) in _SIMPLE else None]  # two flags at once have no name
    if isinstance(one, tuple):
        return kind, list(one)
    slots = {name: getattr(one, name) for name in _attributes(cls) if hasattr(one, name)}
    return kind, _pairs(slots | getattr(one, "__dict__", {}))


@cache
def _attributes(cls: Any) -> tuple[str, ...]:
    """Return the slots of a class and its bases."""
    out: list[str] = []
    for each in cls.__mro__:
        slots = each.__dict__.get("__slots__", ())
        out += [slots] if isinstance(slots, str) else list(slots)
    return tuple(name for name in dict.fromkeys(out) if name not in ("__dict__", "__weakref__"))


class _Decoder:
    """Makes immutable values (tuples, frozen instances) from their children; all others empty first, and fills them."""

    def __init__(self, nodes: Any) -> None:
        if not isinstance(nodes, list) or not all(isinstance(one, list) and one for one in nodes):
            raise UnfitError("the value is not a list of nodes")
        self.nodes: list[list[Any]] = nodes
        self.made: dict[int, Any] = {}
        self.going: set[int] = set()
        self.later: list[tuple[int, Callable[[Any, list[Any]], None]]] = []

    def run(self) -> Any:
        """Return the first node, with everything in its place."""
        value = self.node(0)
        for number, fill in self.later:  # grows meanwhile
            fill(self.made[number], self.members(number))
        return value

    def members(self, number: int) -> list[Any]:
        return [one if type(one) in _SIMPLE else self.node(*one) for one in self.nodes[number][1:]]

    def node(self, number: int) -> Any:
        if number in self.made:
            return self.made[number]
        if type(number) is not int or number < 0 or number in self.going:
            raise UnfitError("a reference leads to no value, or to one that is part of itself")
        form = _FORMS.get(self.nodes[number][0]) or _form_of(self.nodes[number][0])
        if form.make is None:
            assert form.fill is not None
            self.later.append((number, form.fill))
            made = self.made[number] = object.__new__(form.type) if form.type not in _KINDS else form.type()
            return made
        self.going.add(number)
        made = self.made[number] = form.make(self.members(number))
        self.going.discard(number)
        return made


@cache
def _form_of(kind: str) -> _Form:
    """Return how instances of one of our classes are made. Raises UnfitError for any other."""
    module, _, name = kind.partition(":")
    ours = module.startswith(_ALLOWED_MODULES) and all(map(str.isidentifier, (*module.split("."), name)))
    found = getattr(import_module(module), name, None) if ours else None
    if not isinstance(found, type) or found.__module__ != module or issubclass(found, BaseException):
        raise UnfitError(f"{module}.{name} is not part of a kept stream")
    cls: Any = found

    def made(members: list[Any]) -> Any:
        if issubclass(cls, Enum):
            return cls[members[0]] if members[0] in cls.__members__ else cls(members[1])
        if issubclass(cls, tuple):
            if len(members) != len(cls._fields):
                raise UnfitError(f"{cls.__name__} has other members")
            return tuple.__new__(cls, members)
        one = object.__new__(cls)
        _fill(one, members)
        return one

    parameters = getattr(cls, "__dataclass_params__", None)  # those of a base, if it is none itself
    whole = issubclass(cls, (Enum, tuple)) or (parameters is not None and parameters.frozen)
    return _Form(cls, list, made) if whole else _Form(cls, list, fill=_fill)


def _fill(made: Any, found: list[Any]) -> None:
    cls: Any = type(made)
    slots = _attributes(cls)
    for name, value in zip(found[::2], found[1::2], strict=True):
        if name not in slots and (not hasattr(made, "__dict__") or not str(name).isidentifier() or "__" in name):
            raise UnfitError(f"{cls.__name__} has no {name!a}")
        object.__setattr__(made, name, value)
