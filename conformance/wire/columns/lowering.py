"""Translates emitted functions to LLVM code: Python syntax in which every value is a 64-bit integer.

numba would infer the type of each of some thousand statements that have only one; that took twenty times as long as all
of LLVM's work. So `ast` parses the emitted functions, and this module builds them.

Allowed are: assignments, `if`, `while`, `for NAME in range(N)`, `return`, `break`, `continue`; arithmetic, comparisons
(0 or 1), `and` and `or` that stop early; `NAME[i]` of a tuple of numbers; calls of each other, `min`, `max`, and of the
intrinsics for memory:

- `u8(address)` to `u64(address)`: an unsigned number there (64 bits wrap); `put8`, `put32`, `put64(address, value)`.
- `get(base, index)`, `put(base, index, value)`: of a row of 64-bit numbers.
- `noted(o, slot)`, `note(o, slot, value)`: a slot, a 64-bit number of one packet. Slots of `LANES` packets lie beside
  each other: the next packet's are at `o + 8`. No other intrinsic may access slots.
- `select(condition, one, other)`: both are evaluated, there is no branch. `prefetch(address)` takes any address.
- `nuls(address)`: of 32 WCHARs there, a bit for each that is zero, the lowest for the first.

A function under `@apart` stays a function, so that its values do not take the registers of its callers; LLVM may inline
others. Functions under `@wide` work on the slots of all `LANES` packets at once (see `wide`).

Addresses are unchecked: emitted walkers check every length before they read, and code for keys that may be absent reads
zeros instead (see `frames`). Anything else is an error when code is made, not when it is run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from conformance.wire.columns.llvm_module import (
    BINARY,
    BIT,
    COMPARED,
    LANES,
    PACKETS,
    PREFIX,
    SLOTS,
    WORD,
    Lowered,
    LoweringError,
    constant_of,
    number_of,
)
from conformance.wire.columns.wide import Wide

_WCHARS = 32
_LOADS = {f"u{bits}": bits for bits in (8, 16, 32, 64)}


def text_of(source: str, name: str) -> str:
    """Return the LLVM code of a source. Its function `name` is visible from outside, with PREFIX before the name."""
    module = ir.Module("emitted")
    function = build(module, source)[name]
    function.linkage = "external"
    return str(module)


def build(module: Any, source: str) -> dict[str, Any]:
    """Build the functions of a source in this LLVM module, by name. They take and return 64-bit integers."""
    out = Lowered(module)
    bodies: list[ast.FunctionDef] = []
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name):
                if name in out.functions:
                    raise LoweringError(f"two functions are called {name}")
                kind = ir.FunctionType(WORD, [WORD] * len(node.args.args))
                function = ir.Function(module, kind, name=PREFIX + name)
                function.linkage = "internal"
                function.attributes.add("nounwind")
                out.functions[name] = function
                bodies.append(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple()):
                out.tuples[name] = constant_of(module, name, ast.literal_eval(node.value))
            case ast.Assign(targets=[ast.Name(id=name)]):
                out.tuples[name] = number_of(node.value)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise LoweringError(f"no code for {ast.unparse(node)}")
    for body in bodies:
        match [ast.unparse(one) for one in body.decorator_list]:
            case []:
                _Function(out, body).build()
            case ["apart"]:
                out.functions[body.name].attributes.add("noinline")
                _Function(out, body).build()
            case ["wide"]:
                Wide(out, body).build()
            case unknown:
                raise LoweringError(f"no function is {' and '.join(unknown)}")
    return out.functions


class _Function:
    """One function being built. Its variables are slots of the stack, which LLVM turns into registers."""

    def __init__(self, lowered: Lowered, node: ast.FunctionDef) -> None:
        self.lowered, self.node = lowered, node
        self.function = lowered.functions[node.name]
        self.entry = self.function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.function.append_basic_block("body"))
        self.slots: dict[str, Any] = {}
        self.loops: list[tuple[Any, Any]] = []
        for argument, value in zip(node.args.args, self.function.args, strict=True):
            self.builder.store(value, self.slot(argument.arg))

    def build(self) -> None:
        body = self.builder.block
        self.block(self.node.body)
        if not self.builder.block.is_terminated:
            self.builder.ret(WORD(0))
        ir.IRBuilder(self.entry).branch(body)

    def slot(self, name: str) -> Any:
        found = self.slots.get(name)
        if found is None:
            found = self.slots[name] = ir.IRBuilder(self.entry).alloca(WORD)
        return found

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.builder.block.is_terminated:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=ast.Tuple(elts=values)) if isinstance(targets[0], ast.Tuple):
                found = [self.value(one) for one in values]
                for target, value in zip(targets[0].elts, found, strict=True):
                    self.assign(target, value)
            case ast.Assign(targets=targets, value=value):
                one = self.value(value)
                for target in targets:
                    self.assign(target, one)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self.assign(target, self.binary(op, self.builder.load(self.slot(name)), self.value(value)))
            case ast.Return(value=value) if value is not None:
                self.builder.ret(self.value(value))
            case ast.If():
                self.branch(node)
            case ast.While(test=test, body=body, orelse=[]):
                self.loop(lambda: self.bit(test), body, lambda: None)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[count]), orelse=[]):
                self.count(name, self.value(count), node.body)
            case ast.Break():
                self.builder.branch(self.loops[-1][1])
            case ast.Continue():
                self.builder.branch(self.loops[-1][0])
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.value(value)
            case _:
                raise LoweringError(f"no code for {ast.unparse(node)}")

    def assign(self, target: ast.expr, value: Any) -> None:
        if not isinstance(target, ast.Name):
            raise LoweringError(f"no code to assign to {ast.unparse(target)}")
        self.builder.store(value, self.slot(target.id))

    def branch(self, node: ast.If) -> None:
        then, after = self.function.append_basic_block(), self.function.append_basic_block()
        other = self.function.append_basic_block() if node.orelse else after
        self.builder.cbranch(self.bit(node.test), then, other)
        for block, body in ((then, node.body), (other, node.orelse)):
            if block is not after:
                self.builder.position_at_end(block)
                self.block(body)
                self.go_on(after)
        self.builder.position_at_end(after)

    def go_on(self, block: Any) -> None:
        if not self.builder.block.is_terminated:
            self.builder.branch(block)

    def loop(self, test: Callable[[], Any], body: list[ast.stmt], step: Callable[[], object]) -> None:
        head, inside, next_, after = (self.function.append_basic_block() for _ in range(4))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(test(), inside, after)
        self.builder.position_at_end(inside)
        self.loops.append((next_, after))
        self.block(body)
        self.loops.pop()
        self.go_on(next_)
        self.builder.position_at_end(next_)
        step()
        self.builder.branch(head)
        self.builder.position_at_end(after)

    def count(self, name: str, count: Any, body: list[ast.stmt]) -> None:
        at = self.slot(name)
        self.builder.store(WORD(0), at)
        self.loop(
            lambda: self.builder.icmp_signed("<", self.builder.load(at), count),
            body,
            lambda: self.builder.store(self.builder.add(self.builder.load(at), WORD(1)), at),
        )

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool(value)):
                return WORD(int(value))
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return WORD(number_of(node))
            case ast.Name(id=name):
                constant = self.lowered.tuples.get(name)
                if name not in self.slots and isinstance(constant, int):
                    return WORD(constant)
                if name not in self.slots:
                    raise LoweringError(f"{self.node.name} uses {name} before it has a value")
                return self.builder.load(self.slots[name])
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.builder.not_(self.value(operand))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.builder.neg(self.value(operand))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return self.builder.zext(self.bit(node), WORD)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.chosen(lambda: self.bit(test), lambda: self.value(body), lambda: self.value(orelse))
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.lowered.tuples:
                pointer = self.builder.gep(self.lowered.tuples[name], [WORD(0), self.value(index)])
                return self.builder.load(pointer)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.call(name, [self.value(one) for one in arguments])
        raise LoweringError(f"no code for {ast.unparse(node)}")

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        name = BINARY.get(type(op))
        if name is not None:
            return getattr(self.builder, name)(left, right)
        if isinstance(op, ast.Mod):  # as in Python, where the remainder has the sign of the divisor
            rest = self.builder.srem(left, right)
            other = self.builder.icmp_signed("<", self.builder.xor(rest, right), WORD(0))
            wrong = self.builder.and_(self.builder.icmp_signed("!=", rest, WORD(0)), other)
            return self.builder.select(wrong, self.builder.add(rest, right), rest)
        raise LoweringError(f"no code for the operator {type(op).__name__}")

    def bit(self, node: ast.expr) -> Any:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
                return self.builder.icmp_signed(COMPARED[type(op)], self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=[one, *rest]):
                if not rest:
                    return self.bit(one)
                other = ast.BoolOp(op, rest)
                both = isinstance(op, ast.And)
                word = self.chosen(
                    lambda: self.bit(one),
                    lambda: self.builder.zext(self.bit(other), WORD) if both else WORD(1),
                    lambda: WORD(0) if both else self.builder.zext(self.bit(other), WORD),
                )
                return self.builder.icmp_signed("!=", word, WORD(0))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.builder.not_(self.bit(operand))
            case ast.Constant(value=bool(value)):
                return BIT(int(value))
            case ast.Compare():
                raise LoweringError(f"no code for {ast.unparse(node)}")
        return self.builder.icmp_signed("!=", self.value(node), WORD(0))

    def chosen(self, test: Callable[[], Any], one: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """Select one of two values and evaluate only that one."""
        then, otherwise, after = (self.function.append_basic_block() for _ in range(3))
        self.builder.cbranch(test(), then, otherwise)
        incoming = []
        for block, value in ((then, one), (otherwise, other)):
            self.builder.position_at_end(block)
            incoming.append((value(), self.builder.block))
            self.builder.branch(after)
        self.builder.position_at_end(after)
        out = self.builder.phi(WORD)
        for value_, block in incoming:
            out.add_incoming(value_, block)
        return out

    def call(self, name: str, arguments: list[Any]) -> Any:
        function = self.lowered.functions.get(name)
        if function is not None:
            if len(function.args) != len(arguments):
                raise LoweringError(f"{self.node.name} calls {name} with {len(arguments)} values")
            return self.builder.call(function, arguments)
        if name in _LOADS:
            return self.load(arguments[0], _LOADS[name])
        match name, arguments:
            case "get", [base, index]:
                return self.builder.load(self.place(base, index))
            case "put", [base, index, value]:
                self.builder.store(value, self.place(base, index))
                return value
            case "noted", [base, slot]:
                return self.lowered.tag(self.builder.load(self.place(base, slot, LANES)), SLOTS)
            case "note", [base, slot, value]:
                self.lowered.tag(self.builder.store(value, self.place(base, slot, LANES)), SLOTS)
                return value
            case "put8" | "put32" | "put64", [address, value]:
                word = ir.IntType(int(name[3:]))
                pointer = self.builder.inttoptr(address, word.as_pointer())
                part = value if word.width == WORD.width else self.builder.trunc(value, word)
                self.builder.store(part, pointer, align=1)
                return value
            case "nuls", [address]:
                return self.nuls(address)
            case "prefetch", [address]:
                self.prefetch(address)
                return address
            case "select", [condition, one, other]:
                return self.builder.select(self.builder.icmp_signed("!=", condition, WORD(0)), one, other)
            case "min" | "max", [one, other]:
                smaller = self.builder.icmp_signed("<", one, other)
                return self.builder.select(smaller, *((one, other) if name == "min" else (other, one)))
        raise LoweringError(f"no code to call {name}")

    def load(self, address: Any, bits: int) -> Any:
        pointer = self.builder.inttoptr(address, ir.IntType(bits).as_pointer())
        value = self.lowered.tag(self.builder.load(pointer, align=1), PACKETS)
        return value if bits == 64 else self.builder.zext(value, WORD)

    def nuls(self, address: Any) -> Any:
        some = ir.VectorType(ir.IntType(16), _WCHARS)
        letters = self.lowered.tag(
            self.builder.load(self.builder.inttoptr(address, some.as_pointer()), align=1), PACKETS
        )
        found = self.builder.icmp_unsigned("==", letters, ir.Constant(some, None))
        return self.builder.zext(self.builder.bitcast(found, ir.IntType(_WCHARS)), WORD)

    def prefetch(self, address: Any) -> None:
        byte, number = ir.IntType(8), ir.IntType(32)
        pointer = byte.as_pointer()
        name = "llvm.prefetch.p0i8" if str(pointer) == "i8*" else "llvm.prefetch.p0"
        function = self.lowered.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            function = ir.Function(self.lowered.module, kind, name=name)
        self.builder.call(function, [self.builder.inttoptr(address, pointer), number(0), number(3), number(1)])

    def place(self, base: Any, index: Any, apart: int = 1) -> Any:
        at = WORD(index.constant * apart) if isinstance(index, ir.Constant) else self.builder.mul(index, WORD(apart))
        return self.builder.gep(self.builder.inttoptr(base, WORD.as_pointer()), [at])
