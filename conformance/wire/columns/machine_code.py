"""Compiles LLVM code to object files, once on a machine, and loads them without the code that made them."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as functools_cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
from llvmlite import binding

from conformance.files import cache_folder, read_cached, write_cached
from conformance.wire.columns.extra import need_columns

T = TypeVar("T")

MAX_KEPT = 48
"""Files kept: some for each version of the tables and rules."""
_OLD = 86_400  # seconds after which a surplus file may be deleted
_FORMAT = 2
_FOLDER = "columns"
_SUFFIX = ".kept"
_SUM = hashlib.sha256().digest_size


def place_of(name: str, made_from: Iterable[str]) -> Path:
    """Return the file of an object that depends on these texts. Raises OSError where there is no home folder."""
    key = hashlib.sha256("\0".join([str(_FORMAT), sys.version, *made_from]).encode()).hexdigest()[:24]
    return cache_folder() / _FOLDER / f"{name}-{key}{_SUFFIX}"


def remembered(
    name: str, made_from: Iterable[str], make: Callable[[], T], to_json: Callable[[T], Any], of_json: Callable[[Any], T]
) -> T:
    """Return the value that another process has made, or that `make` returns now. It is stored as JSON; `made_from`
    must hold all code that it depends on."""
    try:
        path: Path | None = place_of(name, made_from)
    except OSError:
        path = None
    content = read(path)
    if content is not None:
        return of_json(json.loads(content))
    made = make()
    write(path, json.dumps(to_json(made), separators=(",", ":")).encode())
    return made


def stamps(folder: Path) -> Iterator[str]:
    """Yield name, size and time of the last change of each source file in a folder and its subfolders."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from stamps(Path(entry.path))
        elif entry.name.endswith(".py"):
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def read(path: Path | None) -> bytes | None:
    """Return a file's content, unless it is missing, damaged, or possibly written by another user."""
    if path is None:
        return None
    found = read_cached(path.parent.parent, f"{_FOLDER}/{path.name}")
    if found is None:
        return None
    content = found[_SUM:]
    return content if content and hashlib.sha256(content).digest() == found[:_SUM] else None


def write(path: Path | None, content: bytes) -> None:
    """Store content as a whole or not at all: if it cannot be stored, each process makes it for itself."""
    if path is None:
        return
    sealed = hashlib.sha256(content).digest() + content
    if write_cached(path.parent.parent, f"{_FOLDER}/{path.name}", sealed):
        _forget(path.parent)


def _forget(folder: Path) -> None:
    """Delete files of other versions. Another process may do the same at this moment."""
    with suppress(OSError):
        written = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in written[MAX_KEPT:]:
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)


need_columns()

_FREE = frozenset({"memcpy", "memmove", "memset", "memcmp"})
"""Functions that every process has and that LLVM calls by itself."""


class MachineError(Exception):
    """Raised for LLVM code that cannot be cached: a defect of its emitter."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Machine code of one function that may exist already.

    name: of the file, for readers of the folder. made_from: everything the code depends on, as text. entry: the
    function's symbol. count: its arguments; each is a 64-bit integer, and so is its result. make: returns its LLVM
    code.
    """

    name: str
    made_from: tuple[str, ...]
    entry: str
    count: int
    make: Callable[[], str]

    @property
    def path(self) -> Path:
        """The file. Raises OSError where there is no home folder."""
        return place_of(self.name, (llvmlite.__version__, *_machine(), *self.made_from))

    def is_kept(self) -> bool:
        """Return True when nothing has to be compiled."""
        try:
            return read(self.path) is not None
        except OSError:
            return False

    def function(self) -> Callable[..., int]:
        """Load the function from the cache, or make and cache it. It runs without the interpreter's lock."""
        try:
            path: Path | None = self.path
        except OSError:
            path = None
        code = read(path)
        if code is None:
            code = compiled(self.make(), self.entry)
            write(path, code)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * self.count)
        return kind(_loaded(code, self.entry))


@functools_cache
def _machine() -> tuple[str, str, str]:
    features = binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


def _target() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    triple, processor, features = _machine()
    # As in numba: LLVM's loader of object files needs other code only on some processors.
    place = {"x86": "static", "ppc": "pic", "pow": "pic"}.get(triple[:3], "default")
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, reloc=place, codemodel="jitdefault", jit=True
    )


def compiled(text: str, entry: str) -> bytes:
    """Compile LLVM code to an object file in which only `entry` is visible from outside.

    Raises MachineError when it calls a function that not every process has.
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
"""Code belongs to its engine, and is used until the process ends."""


def _loaded(code: bytes, entry: str) -> int:
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return int(engine.get_function_address(entry))


def texts_of(files: Iterable[Path]) -> tuple[str, ...]:
    """Return the contents of source files, for `Wanted.made_from`."""
    return tuple(path.read_text("utf-8") for path in files)
