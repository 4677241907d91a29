"""The LLVM module that emitted functions are built into, and the operators of their code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir

WORD, BIT = ir.IntType(64), ir.IntType(1)
LANES = 8
"""Packets whose slots are adjacent."""
PREFIX = "mqconform."
SLOTS, PACKETS = "slots", "packets"
BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class LoweringError(Exception):
    """Raised for emitted code that cannot be translated to LLVM code: a defect of the emitter."""


@dataclass(slots=True)
class Lowered:
    """The functions of one source, built into one LLVM module. tuples: constants by name."""

    module: Any
    functions: dict[str, Any] = field(default_factory=dict)
    tuples: dict[str, Any] = field(default_factory=dict)
    _tags: dict[str, Any] = field(default_factory=dict)

    def tag(self, access: Any, what: str) -> Any:
        """Tag an access as to slots or to packets, so that LLVM knows that neither changes the other."""
        found = self._tags.get(what)
        if found is None:
            root = self.module.add_metadata(["mqconform"])
            kind = self.module.add_metadata([what, root, WORD(0)])
            found = self._tags[what] = self.module.add_metadata([kind, kind, WORD(0)])
        access.set_metadata("tbaa", found)
        return access


def number_of(node: ast.expr) -> int:
    """Return the value of a numeric literal."""
    value = ast.literal_eval(node)
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63:
        raise LoweringError(f"{ast.unparse(node)} is no 64-bit number")
    return value


def constant_of(module: Any, name: str, values: tuple[int, ...]) -> Any:
    """Make a tuple of numbers a constant in memory."""
    kind = ir.ArrayType(WORD, len(values))
    out = ir.GlobalVariable(module, kind, name=PREFIX + name)
    out.linkage, out.global_constant = "internal", True
    out.initializer = ir.Constant(kind, list(values))
    return out
