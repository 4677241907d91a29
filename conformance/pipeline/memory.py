"""Convert the state of a stream to bytes, so that a later ingest can continue it.

It is JSON, see `values`: whoever wrote it, it can run nothing.
"""

from __future__ import annotations

import gc
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.files import MAX_STATE
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.values import ValueFormError, nodes_of, value_of
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
