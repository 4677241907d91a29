"""Emits the steps of the session rules (`judge.sessions.flow_steps`) as Lua.

They are written in a part of Python in which every value is an integer, or an array of them. What this part lacks is
refused. Numbers of Lua are exact up to 2**53.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import modules
from typing import Any, Final

_EXACT: Final = 1 << 53
_RESERVED: Final = frozenset({"end", "function", "goto", "local", "nil", "repeat", "then", "until"})
_COMPARED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "~=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_BINARY: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "({} + {})", ast.Sub: "({} - {})", ast.Mult: "({} * {})", ast.Mod: "({} % {})",
    ast.FloorDiv: "math.floor({} / {})", ast.LShift: "({} * 2 ^ {})", ast.RShift: "math.floor({} / 2 ^ {})",
    ast.BitAnd: "both({}, {})", ast.BitOr: "either({}, {})",
}  # fmt: skip
_UNARY: Final[Mapping[type[ast.unaryop], str]] = {ast.USub: "(-{})", ast.Invert: "(-1 - {})"}
_BUILTIN: Final = {"min": "math.min", "max": "math.max"}
_TRUTHS = (ast.Compare, ast.BoolOp)


class UntranslatableError(Exception):
    """Raised for a step that has no translation: a defect of the step or of this module."""


def lua_steps(functions: Sequence[Callable[..., Any]], table: str) -> str:
    """Emit functions as members of a Lua table. They may call each other, and read constants of their modules.

    Raises UntranslatableError for what has no translation.
    """
    trees: dict[str, dict[str, ast.FunctionDef]] = {}
    for module in dict.fromkeys(function.__module__ for function in functions):
        nodes = ast.parse(Path(str(modules[module].__file__)).read_text("utf-8")).body
        trees[module] = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    names = {function: f"{table}.{function.__name__}" for function in functions}
    if len(set(names.values())) != len(names):
        raise UntranslatableError("two steps have one name")
    return "\n".join(
        "\n".join(_Step(trees[one.__module__][one.__name__], vars(modules[one.__module__]), names).lines(names[one]))
        for one in functions
    )


class _Step:
    """One function. known: the names of its module. names: those of the functions that it may call."""

    def __init__(
        self, node: ast.FunctionDef, known: Mapping[str, Any], names: Mapping[Callable[..., Any], str]
    ) -> None:
        self.node, self.known, self.names = node, known, names
        self.parameters = [one.arg for one in node.args.args]
        stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        self.locals = [one for one in dict.fromkeys(each.id for each in stored) if one not in self.parameters]

    def refuse(self, node: ast.AST) -> UntranslatableError:
        return UntranslatableError(f"{self.node.name}: no Lua for {ast.unparse(node)}")

    def lines(self, name: str) -> Iterator[str]:
        yield f"function {name}({', '.join(map(_named, self.parameters))})"
        if self.locals:
            yield f"  local {', '.join(map(_named, self.locals))}"
        yield from self.block(self.node.body)
        yield "end"

    def block(self, statements: list[ast.stmt]) -> Iterator[str]:
        for statement in statements:
            yield from (f"  {line}" for line in self.statement(statement))

    def statement(self, node: ast.stmt) -> Iterator[str]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Expr(value=ast.Call() as call):
                yield self.call(call)
            case ast.Return(value=value) if value is not None:
                yield f"return {self.number(value)}"
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield f"{self.target(target)} = {self.number(value)}"
            case ast.AugAssign(target=target, op=op, value=value):
                place = self.target(target)
                yield f"{place} = {self.binary(op, place, value)}"
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                yield f"{', '.join(map(self.target, targets))} = {', '.join(map(self.number, values))}"
            case ast.Assign(targets=[target], value=value):
                yield f"{self.target(target)} = {self.number(value)}"
            case ast.Assign(targets=targets, value=value):
                yield f"do local value = {self.number(value)}"
                yield from (f"  {self.target(target)} = value" for target in targets)
                yield "end"
            case ast.If():
                yield f"if {self.truth(node.test)} then"
                yield from self.block(node.body)
                if node.orelse:
                    yield "else"
                    yield from self.block(node.orelse)
                yield "end"
            case ast.While(orelse=[]):
                yield f"while {self.truth(node.test)} do"
                yield from self.loop(node.body)
            case ast.For(target=ast.Name(id=name), orelse=[]):
                yield self.each(name, node.iter)
                # The variable of a loop in Lua is its own.
                yield f"  {_named(name)} = each"
                yield from self.loop(node.body)
            case ast.Continue():
                yield "goto continue"
            case _:
                raise self.refuse(node)

    def loop(self, body: list[ast.stmt]) -> Iterator[str]:
        yield from self.block(body)
        if any(isinstance(one, ast.Continue) for statement in body for one in ast.walk(statement)):
            yield "  ::continue::"
        yield "end"

    def each(self, name: str, over: ast.expr) -> str:
        match over:
            case ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]):
                return f"for each = 0, {self.number(count)} - 1 do"
            case ast.Call(func=ast.Name(id="range"), args=[first, end], keywords=[]):
                return f"for each = {self.number(first)}, {self.number(end)} - 1 do"
            case ast.Tuple(elts=values):
                return f"for _, each in ipairs({{ {', '.join(map(self.number, values))} }}) do"
        raise self.refuse(over)

    def target(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return _named(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.parameters:
                return f"{_named(name)}[{self.number(index)}]"
        raise self.refuse(node)

    def constant(self, node: ast.expr) -> Any:
        """Return a constant of the module, or of one that it has imported; None for another expression."""
        match node:
            case ast.Name(id=name) if name not in self.parameters and name not in self.locals:
                return self.known.get(name)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return getattr(self.known.get(module), name, None)
        return None

    def number(self, node: ast.expr) -> str:
        """Emit an expression as a number; a truth is 1 or 0."""
        found = self.constant(node)
        match node:
            case ast.Constant(value=int(value)):
                return exact(int(value))
            case ast.Name() | ast.Attribute() if isinstance(found, int):
                return exact(found)
            case ast.Name(id=name) if name in self.parameters or name in self.locals:
                return _named(name)
            case ast.Subscript(value=value, slice=index) if isinstance(found := self.constant(value), tuple):
                return f"({{ {', '.join(map(exact, found))} }})[{self.number(index)} + 1]"
            case ast.Subscript():
                return self.target(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.number(left), right)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)].format(self.number(operand))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"({self.truth(test)} and {self.number(body)} or {self.number(orelse)})"
            case ast.BoolOp(values=values) if not all(map(self.told, values)):
                raise self.refuse(node)  # It may be a number other than 1.
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return f"({self.truth(node)} and 1 or 0)"
            case ast.Call():
                return self.call(node)
        raise self.refuse(node)

    def told(self, node: ast.expr) -> bool:
        """Tell whether an expression is a truth in Python, too."""
        return isinstance(node, _TRUTHS) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))

    def binary(self, op: ast.operator, left: str, right: ast.expr) -> str:
        if type(op) not in _BINARY:
            raise UntranslatableError(f"{self.node.name}: no Lua for the operator {type(op).__name__}")
        found = right.value if isinstance(right, ast.Constant) else self.constant(right)
        if isinstance(op, ast.BitAnd) and isinstance(found, int) and found > 0 and found & (found + 1) == 0:
            return f"({left} % {exact(found + 1)})"
        return _BINARY[type(op)].format(left, self.number(right))

    def truth(self, node: ast.expr) -> str:
        """Emit an expression as a condition: in Lua, 0 is none that fails."""
        match node:
            case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=values)]):
                return f"({' or '.join(f'{self.number(left)} == {self.number(value)}' for value in values)})"
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARED for op in ops):
                # A value in the middle is emitted twice: no step that is called there changes anything.
                told = [self.number(one) for one in (left, *others)]
                pairs = zip(told, ops, told[1:], strict=False)
                return f"({' and '.join(f'{one} {_COMPARED[type(op)]} {other}' for one, op, other in pairs)})"
            case ast.BoolOp(op=op, values=values):
                return f"({(' and ' if isinstance(op, ast.And) else ' or ').join(map(self.truth, values))})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(not {self.truth(operand)})"
        return f"({self.number(node)} ~= 0)"

    def call(self, node: ast.Call) -> str:
        if node.keywords:
            raise self.refuse(node)
        name = self.names.get(self.constant(node.func))
        if name is None and isinstance(node.func, ast.Name):
            name = _BUILTIN.get(node.func.id)
        if name is None:
            raise self.refuse(node)
        return f"{name}({', '.join(map(self.number, node.args))})"


def _named(name: str) -> str:
    return f"{name}_" if name in _RESERVED else name


def exact(number: int) -> str:
    """Emit a number that Lua holds exactly. Raises UntranslatableError for another one."""
    if abs(number) <= _EXACT:
        return str(int(number))
    if abs(number) & (abs(number) - 1):
        raise UntranslatableError(f"{number} is no exact number in Lua")
    return f"({'-' if number < 0 else ''}2 ^ {abs(number).bit_length() - 1})"
