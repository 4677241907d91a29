"""Convert the state of a stream to bytes, so that a later ingest can continue it.

State that stays in a lake is JSON, see `values`: whoever wrote it, it can run nothing. The tasks of one ingest exchange
pickles below the staging folder that it has just made, and only of the classes named here.
"""

from __future__ import annotations

import gc
import io
import json
import pickle
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.lakes.store import read_named
from conformance.pipeline.values import ValueFormError, nodes_of, value_of
from conformance.report.text import label

MAX_STATE = 256 << 20
"""Bytes of the state of a stream, compressed or not."""

_OURS = (
    "conformance.capture.",
    "conformance.judge.sessions.",
    "conformance.captures.followed",
    "conformance.captures.senders",
    "conformance.pipeline.identity",
    "conformance.pipeline.lakes.target",
    "conformance.pipeline.ranges",
    "conformance.pipeline.streams",
    "conformance.pipeline.tables_sink",
    "conformance.runlog.tally",
    "conformance.spec.assignment",
    "conformance.wire.packet",
    "conformance.verdict",
)
_TOLD = (*_OURS, "conformance.pipeline.log", "conformance.runlog.incomplete")
"""Modules of the classes that processes of one ingest tell one another; a state that stays in a lake has fewer."""
_PLAIN = {
    "builtins": {"set", "frozenset", "bytearray", "object"},
    "collections": {"OrderedDict", "deque", "Counter", "defaultdict"},
    "datetime": {"datetime", "timezone", "timedelta"},
    "copyreg": {"_reconstructor", "__newobj__"},
    "numpy": {"dtype", "ndarray"},
    **{f"numpy.{core}.{module}": {"_frombuffer", "_reconstruct", "scalar"}
       for core in ("core", "_core") for module in ("multiarray", "numeric")},
}  # fmt: skip


_SELDOM = 50_000  # Objects more than before, after which the youngest are looked through.
_SHAPE = 9
"""Version of the stored classes; raise it when a class gets other members."""
_MARK = f"mqconform {__version__} json {_SHAPE}\n".encode()
_DAMAGE = (
    pickle.UnpicklingError, zlib.error, EOFError, AttributeError, ImportError, IndexError, KeyError, TypeError,
    ValueError,
)  # fmt: skip


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a class if it is a plain container or one of this package's."""
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if module.startswith(_TOLD) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a kept stream")


@cache
def settle() -> None:
    """Exempt what a worker loaded for its first task from garbage collection, which would scan it again and again."""
    gc.freeze()


def packed(value: object) -> bytes:
    """Return a value as bytes for another process of the same ingest; such bytes may stand behind one another."""
    return pickle.dumps(value, protocol=5)


def unpacked(data: bytes) -> Iterator[Any]:
    """Yield the values in bytes of `packed`. Raises PipelineError for any others."""
    file = io.BytesIO(data)
    try:
        while file.tell() < len(data):
            yield _Reader(file).load()
    except _DAMAGE as problem:
        raise PipelineError(f"What the processes of an ingest tell one another is damaged ({problem}).") from None


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Collect garbage less often: a task makes many objects that stay, and few cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(_SELDOM, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def freeze(value: object) -> bytes:
    """Return a value as bytes for another task of the same ingest, compressed."""
    return zlib.compress(packed(value), 1)


def kept(value: object) -> bytes:
    """Return the state as a file of a lake, after the version that wrote it; a state that is too large is left out."""
    text = json.dumps(nodes_of(value, _OURS), separators=(",", ":")).encode()
    try:
        parsed(text)
    except UnfitError:
        text = b""
    return _MARK + zlib.compress(text, 1) if 0 < len(text) <= MAX_STATE else b"too much\n"


def resumed(path: str | Path) -> Any | None:
    """Read the kept state in a file; None if another version wrote it, or it was too large. Raises PipelineError."""
    try:
        data = read_named(str(path), MAX_STATE)
        if not data.startswith(_MARK):
            return None
        unpacked = zlib.decompressobj()
        text = unpacked.decompress(data.removeprefix(_MARK), MAX_STATE)
        if not unpacked.eof:
            raise UnfitError("is cut, or has too much in it")
        return value_of(parsed(text), _OURS)
    except OSError as problem:
        raise PipelineError(f"The kept state {path} cannot be read: {problem.strerror}.") from None
    except (UnfitError, ValueFormError, zlib.error) as problem:
        raise PipelineError(
            f"The kept state of a stream is damaged ({path}: {label(str(problem), 200)}); ingest into a new lake."
        ) from None


def thaw(data: bytes) -> Any:
    """Restore a value. Raises PipelineError for anything that `freeze` has not written."""
    try:
        return _Reader(io.BytesIO(zlib.decompress(data))).load()
    except _DAMAGE as problem:
        raise PipelineError(f"The kept state of a stream is damaged ({problem}); ingest into a new lake.") from None
