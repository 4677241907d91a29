"""The state of a stream as bytes, so that a later ingest can go on with it.

Only values of the classes named here come back: what a lake holds can run nothing.
"""

from __future__ import annotations

import gc
import io
import pickle
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.pipeline.errors import PipelineError

_OURS = (
    "conformance.capture.",
    "conformance.judge.session",
    "conformance.pipeline.compiled",
    "conformance.pipeline.fast",
    "conformance.pipeline.identity",
    "conformance.pipeline.memos",
    "conformance.pipeline.streams",
    "conformance.replay.engine",
    "conformance.runlog.tally",
    "conformance.spec.assignment",
    "conformance.wire.packet",
    "conformance.verdict",
)
_PLAIN = {
    "builtins": {"set", "frozenset", "bytearray", "object"},
    "collections": {"OrderedDict", "deque", "Counter", "defaultdict"},
    "datetime": {"datetime", "timezone", "timedelta"},
    "copyreg": {"_reconstructor", "__newobj__"},
}


_MARK = f"mqconform {__version__}\n".encode()
_DAMAGE = (
    pickle.UnpicklingError, zlib.error, EOFError, AttributeError, ImportError, IndexError, KeyError, TypeError,
    ValueError,
)  # fmt: skip


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Our own classes and plain containers."""
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if module.startswith(_OURS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a kept stream")


@cache
def settle() -> None:
    """What a worker has loaded for its first task stays: the collector need not go through it again and again."""
    gc.freeze()


def freeze(value: object) -> bytes:
    """The value as bytes, with the version that wrote it in front."""
    return _MARK + zlib.compress(pickle.dumps(value, protocol=5), 1)


def resumed(path: str | Path) -> Any | None:
    """The kept state in a file; None where another version wrote it. Raises PipelineError."""
    try:
        data = Path(path).read_bytes()
    except OSError as problem:
        raise PipelineError(f"The kept state {path} cannot be read: {problem.strerror}.") from None
    return thaw(data) if data.startswith(_MARK) else None


def thaw(data: bytes) -> Any:
    """The inverse. Raises PipelineError for anything `freeze` has not written."""
    try:
        return _Reader(io.BytesIO(zlib.decompress(data.removeprefix(_MARK)))).load()
    except _DAMAGE as problem:
        raise PipelineError(f"The kept state of a stream is damaged ({problem}); ingest into a new lake.") from None
