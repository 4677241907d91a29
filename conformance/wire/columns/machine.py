"""Machine code kept in object files: made once on a machine, from LLVM code, and loaded without what made it.

An object file stands in the user's cache folder, under the hash of everything it was made from. Loading one takes
LLVM alone and a millisecond or two; numba, which writes some of the LLVM code, is imported where there is none yet.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.spec.compiled import cache_folder
from conformance.wire.columns.extra import need_columns

need_columns()

import llvmlite  # noqa: E402
from llvmlite import binding  # noqa: E402

MAX_KEPT = 48
"""Object files kept: some for each version of the tables and rules."""
_OLD = 86_400  # seconds after which a file beyond those may go
_FORMAT = 1
_SUFFIX = ".code"
_SUM = hashlib.sha256().digest_size
_FREE = frozenset({"memcpy", "memmove", "memset", "memcmp"})
"""What every process has and LLVM calls by itself."""


class MachineError(Exception):
    """LLVM code that cannot be kept: a defect of what wrote it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Machine code of one function, that may be there already.

    name: of the file, for whoever looks into the folder. made_from: whatever the code depends on, as text. entry: the
    function's symbol. count: its arguments; each is a 64-bit integer, and so is what it returns. make: its LLVM code.
    """

    name: str
    made_from: tuple[str, ...]
    entry: str
    count: int
    make: Callable[[], str]

    @property
    def path(self) -> Path:
        """The file. Raises OSError where there is no home folder."""
        parts = (str(_FORMAT), sys.version, llvmlite.__version__, *_machine(), *self.made_from)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
        return cache_folder() / "columns" / f"{self.name}-{key}{_SUFFIX}"

    def is_kept(self) -> bool:
        """Whether nothing has to be compiled."""
        try:
            return self.path.is_file()
        except OSError:
            return False

    def function(self) -> Callable[..., int]:
        """The function, called without the interpreter's lock. What is kept of it is used, or it is made and kept."""
        try:
            path: Path | None = self.path
        except OSError:
            path = None
        code = _read(path)
        if code is None:
            code = compiled(self.make(), self.entry)
            _write(path, code)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * self.count)
        return kind(_loaded(code, self.entry))


@cache
def _machine() -> tuple[str, str, str]:
    features = binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


def _target() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    triple, processor, features = _machine()
    # Positions are as numba has them: code is loaded anywhere, and calls what is far away.
    place = "default" if triple.startswith(("x86", "i386", "i686")) else "static"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, reloc=place, codemodel="jitdefault", jit=True
    )


def compiled(text: str, entry: str) -> bytes:
    """LLVM code as an object file in which only `entry` is seen from outside.

    Raises MachineError where it calls what not every process has.
    """
    machine = _target()
    module = binding.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    binding.create_pass_builder(machine, tuning).getModulePassManager().run(
        module, binding.create_pass_builder(machine, tuning)
    )
    needed = [one.name for one in (*module.functions, *module.global_variables) if one.is_declaration]
    foreign = [name for name in needed if not name.startswith("llvm.") and name not in _FREE]
    if foreign:
        raise MachineError(f"{entry} cannot be kept, for it calls {', '.join(sorted(foreign))}")
    return bytes(machine.emit_object(module))


_ENGINES: list[Any] = []
"""Code goes with its engine, and is used until the process ends."""


def _loaded(code: bytes, entry: str) -> int:
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return int(engine.get_function_address(entry))


def _read(path: Path | None) -> bytes | None:
    """The object file, unless it is not there or not as it was written."""
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    code = content[_SUM:]
    return code if code and hashlib.sha256(code).digest() == content[:_SUM] else None


def _write(path: Path | None, code: bytes) -> None:
    """Keep an object file, as a whole or not at all: where it cannot be, each process compiles for itself."""
    if path is None:
        return
    import tempfile  # not where the code is there already

    part = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(number, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(part).replace(path)
    except OSError:
        if part:
            with suppress(OSError):
                Path(part).unlink()
        return
    _forget(path.parent)


def _forget(folder: Path) -> None:
    """Delete what other versions left behind. Another process may do the same at this moment."""
    with suppress(OSError):
        written = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in written[MAX_KEPT:]:
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)


def texts_of(files: Iterable[Path]) -> tuple[str, ...]:
    """The contents of source files, for `Wanted.made_from`."""
    return tuple(path.read_text("utf-8") for path in files)
