"""Translates emitted functions to LLVM code: Python syntax in which every value is a 64-bit integer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from llvmlite import ir

from conformance.wire.columns import machine_code

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


_WCHARS = 32
_LOADS = {f"u{bits}": bits for bits in (8, 16, 32, 64)}
_SWAPPED = {f"be{bits}": bits for bits in (16, 32, 64)}


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
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
                name = ast.unparse(target)
                is_tuple = isinstance(value, ast.Tuple)
                out.tuples[name] = constant_of(module, name, ast.literal_eval(value)) if is_tuple else number_of(value)
            case ast.Expr(value=ast.Constant()):
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
            case ast.Attribute() if isinstance(constant := self.lowered.tuples.get(ast.unparse(node)), int):
                return WORD(constant)
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
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.slots:
                return self.load(self.builder.add(self.builder.load(self.slots[name]), self.value(index)), 8)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments, keywords=[]):
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
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple(elts=others)]):
                value = self.value(left)
                equal = [self.builder.icmp_signed("==", value, self.value(other)) for other in others]
                found = reduce(self.builder.or_, equal)
                return found if isinstance(op, ast.In) else self.builder.not_(found)
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
            return self.load(reduce(self.builder.add, arguments), _LOADS[name])
        if name in _SWAPPED:
            return self.load(arguments[0], _SWAPPED[name], swapped=True)
        match name, arguments:
            case "get", [base, index]:
                return self.builder.load(self.place(base, index))
            case "put", [base, index, *values]:
                for at, value in enumerate(values):
                    self.builder.store(value, self.place(base, self.builder.add(index, WORD(at)) if at else index))
                return values[-1]
            case "add", [base, index, value]:
                place = self.place(base, index)
                total = self.builder.add(self.builder.load(place), value)
                self.builder.store(total, place)
                return total
            case "move", [to, source, count]:
                byte = ir.IntType(8).as_pointer()
                function = self.lowered.module.declare_intrinsic("llvm.memcpy", [byte, byte, WORD])
                pointers = [self.builder.inttoptr(address, byte) for address in (to, source)]
                self.builder.call(function, [*pointers, count, BIT(0)])
                return count
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

    def load(self, address: Any, bits: int, *, swapped: bool = False) -> Any:
        pointer = self.builder.inttoptr(address, ir.IntType(bits).as_pointer())
        value = self.lowered.tag(self.builder.load(pointer, align=1), PACKETS)
        value = self.builder.bswap(value) if swapped else value
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


def lowered(file: str, source: str, name: str, count: int) -> machine_code.Wanted:
    """Return the machine code of a function of a source (`lowering`), which may exist already.

    file: its name in the cache, for readers of the folder. count: its arguments.
    """
    made_from = (source, *machine_code.texts_of([Path(str(machine_code.__file__)), Path(__file__)]))
    entry = PREFIX + name
    return machine_code.Wanted(file, made_from, entry, count, lambda: text_of(source, name))


def source_of(*modules: ModuleType) -> str:
    """Return the functions of modules as one source to be lowered, behind the constants that they use.

    A constant is a number, or a tuple of numbers, of such a module or of a module that it has imported. Raises
    LoweringError where two modules have different constants of one name.
    """
    constants: dict[str, int | tuple[int, ...]] = {}
    functions: list[str] = []
    for module in modules:
        text = Path(str(module.__file__)).read_text("utf-8")
        lines = text.splitlines(keepends=True)
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                functions += lines[first - 1 : node.end_lineno]
        for name, value in _constants(module, text):
            if constants.setdefault(name, value) != value:
                raise LoweringError(f"{name} is {constants[name]} and, in {module.__name__}, {value}")
    return "\n".join([*(f"{name} = {value!r}" for name, value in constants.items()), "".join(functions)])


def _constants(module: ModuleType, text: str) -> Iterator[tuple[str, int | tuple[int, ...]]]:
    for name, value in vars(module).items():
        inner = {}
        if isinstance(value, ModuleType):
            inner = {f"{name}.{one}": getattr(value, one) for one in re.findall(rf"\b{name}\.([A-Z]\w*)", text)}
        for key, number in (inner or {name: value}).items():
            if isinstance(number, int):
                yield key, int(number)
            elif isinstance(number, tuple) and all(isinstance(one, int) for one in number):
                yield key, number
