"""Translates functions under `@wide`: branch-free code, evaluated for the slots of `LANES` packets at once.

A value is a number per packet, or a truth per packet, which LLVM keeps as a mask of bits; constants are the same for
all packets. Allowed are: assignments to names, `noted`, `note`, arithmetic and comparisons as in any lowered function,
`1 - truth`, `truth * number` and `select`. `o` is the address of the first packet's slots.
"""

from __future__ import annotations

import ast
from typing import Any

from llvmlite import ir

from conformance.wire.columns.llvm_module import (
    BINARY,
    BIT,
    COMPARED,
    LANES,
    SLOTS,
    WORD,
    Lowered,
    LoweringError,
    number_of,
)

NUMBERS, TRUTHS = ir.VectorType(WORD, LANES), ir.VectorType(BIT, LANES)
_ALIGN = 8 * LANES


class Wide:
    """One such function being built. Each name has one value, for there is no branch."""

    def __init__(self, lowered: Lowered, node: ast.FunctionDef) -> None:
        self.lowered, self.node = lowered, node
        self.function = lowered.functions[node.name]
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.names: dict[str, Any] = {
            one.arg: value for one, value in zip(node.args.args, self.function.args, strict=True)
        }

    def build(self) -> None:
        for statement in self.node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.names[name] = self.value(value)
                case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                    self.names[name] = self.binary(op, self.value(target), self.value(value))
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=ast.Call(func=ast.Name(id="note"), args=[base, slot, value])):
                    self.put(base, slot, value)
                case _:
                    raise LoweringError(f"no code for many packets for {ast.unparse(statement)}")
        self.builder.ret(WORD(0))

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return WORD(number_of(node))
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
                return self.compare(COMPARED[type(op)], self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id="noted"), args=[base, slot]):
                return self.lowered.tag(self.builder.load(self.place(base, slot), align=_ALIGN), SLOTS)
            case ast.Call(func=ast.Name(id="select"), args=[condition, one, other]):
                values = self.number(self.value(one)), self.number(self.value(other))
                return self.builder.select(self.truth(self.value(condition)), *values)
        raise LoweringError(f"no code for many packets for {ast.unparse(node)}")

    def put(self, base: ast.expr, slot: ast.expr, value: ast.expr) -> None:
        stored = self.builder.store(self.number(self.value(value)), self.place(base, slot), align=_ALIGN)
        self.lowered.tag(stored, SLOTS)

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        name = BINARY.get(type(op))
        match op:
            case ast.BitAnd() if TRUTHS in (left.type, right.type):
                return self.builder.and_(self.lowest(left), self.lowest(right))
            case ast.BitOr() if left.type == right.type == TRUTHS:
                return self.builder.or_(left, right)
            case ast.Sub() if right.type == TRUTHS and _is(left, 1):
                return self.builder.not_(right)
            case ast.Mult() if TRUTHS in (left.type, right.type):
                truth, other = (left, right) if left.type == TRUTHS else (right, left)
                return self.builder.select(truth, self.number(other), NUMBERS(None))
            case ast.LShift() if left.type == TRUTHS and isinstance(right, ir.Constant) and right.type == WORD:
                one = self.number(WORD(1 << right.constant))
                return self.builder.select(left, one, NUMBERS(None))
            case ast.Mod():
                return self.rest(self.number(left), self.number(right))
        if name is None:
            raise LoweringError(f"no code for the operator {type(op).__name__}")
        return getattr(self.builder, name)(self.number(left), self.number(right))

    def rest(self, left: Any, right: Any) -> Any:
        """Return the remainder with the sign of the divisor, as in Python."""
        zero = NUMBERS(None)
        rest = self.builder.srem(left, right)
        other = self.builder.icmp_signed("<", self.builder.xor(rest, right), zero)
        wrong = self.builder.and_(self.builder.icmp_signed("!=", rest, zero), other)
        return self.builder.select(wrong, self.builder.add(rest, right), rest)

    def compare(self, op: str, left: Any, right: Any) -> Any:
        for truth, other in ((left, right), (right, left)):
            if truth.type == TRUTHS and op in ("==", "!=") and (_is(other, 0) or _is(other, 1)):
                return truth if _is(other, 1) == (op == "==") else self.builder.not_(truth)
        return self.builder.icmp_signed(op, self.number(left), self.number(right))

    def number(self, value: Any) -> Any:
        """Convert a value to a number per packet."""
        if value.type == NUMBERS:
            return value
        if value.type == TRUTHS:
            return self.builder.zext(value, NUMBERS)
        if isinstance(value, ir.Constant):
            return ir.Constant(NUMBERS, [value.constant] * LANES)
        raise LoweringError(f"{self.node.name} takes an address for a number of each packet")

    def truth(self, value: Any) -> Any:
        return value if value.type == TRUTHS else self.builder.icmp_signed("!=", self.number(value), NUMBERS(None))

    def lowest(self, value: Any) -> Any:
        """Convert a number to a truth: its lowest bit."""
        return value if value.type == TRUTHS else self.builder.trunc(self.number(value), TRUTHS)

    def place(self, base: ast.expr, slot: ast.expr) -> Any:
        at = self.builder.add(self.value(base), WORD(number_of(slot) * _ALIGN))
        return self.builder.inttoptr(at, NUMBERS.as_pointer())


def _is(value: Any, number: int) -> bool:
    return isinstance(value, ir.Constant) and value.type == WORD and value.constant == number
