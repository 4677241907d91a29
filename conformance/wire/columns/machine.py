"""Machine code kept in object files: made once on a machine, from LLVM code, and loaded without what made it.

Object files are kept as `keeping` says, under the hash of everything they were made from. Loading one takes
LLVM alone and a millisecond or two; numba, which writes some of the LLVM code, is imported where there is none yet.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.wire.columns.extra import need_columns
from conformance.wire.columns.keeping import place_of, read, write

need_columns()

import llvmlite  # noqa: E402
from llvmlite import binding  # noqa: E402

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
        return place_of(self.name, (llvmlite.__version__, *_machine(), *self.made_from))

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
        code = read(path)
        if code is None:
            code = compiled(self.make(), self.entry)
            write(path, code)
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
    # As numba has it: LLVM's loader of object files takes other code on some processors only.
    place = {"x86": "static", "ppc": "pic", "pow": "pic"}.get(triple[:3], "default")
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


def texts_of(files: Iterable[Path]) -> tuple[str, ...]:
    """The contents of source files, for `Wanted.made_from`."""
    return tuple(path.read_text("utf-8") for path in files)
