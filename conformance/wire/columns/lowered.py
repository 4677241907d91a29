"""The one way from a lowered function to machine code: its source, what else the code depends on, and its arguments."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from conformance.wire.columns import llvm_module, lowering, machine, wide


def lowered(file: str, source: str, name: str, count: int) -> machine.Wanted:
    """Return the machine code of a function of a source (`lowering`), which may exist already.

    file: its name in the cache, for readers of the folder. count: its arguments.
    """
    makers = (machine, llvm_module, lowering, wide)
    made_from = (source, *machine.texts_of(Path(str(one.__file__)) for one in makers))
    entry = llvm_module.PREFIX + name
    return machine.Wanted(file, made_from, entry, count, lambda: lowering.text_of(source, name))


def source_of(module: ModuleType, *constants: ModuleType) -> str:
    """Return the source of a module to be lowered, preceded by the numbers that these modules define."""
    numbers = {name: value for one in constants for name, value in vars(one).items() if isinstance(value, int)}
    lines = [f"{name} = {int(value)}" for name, value in numbers.items() if name.isupper()]
    return "\n".join([*lines, Path(str(module.__file__)).read_text("utf-8")])
