"""Small expression trees over decoded fields, in three-valued logic: true, false, unknown.

A tree is data, so that one rule can be run here, printed in a report and emitted for other engines. A field that was
not decoded makes every tree that needs it unknown (None), never false; `And` and `Or` decide without it where they can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = int | str | bytes | bool
Fields: TypeAlias = Mapping[str, Value]
Known: TypeAlias = Value | None
Run: TypeAlias = Callable[[Fields], Known]

# A key beside the decoded fields. True: a field that is absent from `fields` is known to be absent from the packet.
DECIDED = "Packet.Decided"


@dataclass(frozen=True, slots=True)
class Field:
    """The value of a declared field; unknown when the field was not decoded."""

    key: str


@dataclass(frozen=True, slots=True)
class Const:
    """A literal value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Has:
    """True when the packet has the field; unknown when decoding stopped before the field."""

    key: str


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two trees. op is one of eq, ne, lt, le, gt, ge."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class In:
    """True when a number is one of `values`."""

    value: Expr
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """A number with all bits outside the mask cleared."""

    value: Expr
    mask: int


@dataclass(frozen=True, slots=True)
class Plus:
    """The sum of two numbers."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Times:
    """A number times a constant factor."""

    value: Expr
    factor: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The remainder of a division by a constant."""

    value: Expr
    by: int


@dataclass(frozen=True, slots=True)
class ByteAt:
    """One byte of a field of bytes; unknown when the field is too short."""

    key: str
    index: int


@dataclass(frozen=True, slots=True)
class Begins:
    """True when a text begins with `text`, ignoring letter case."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Spelled:
    """True when a text is a direct format name (MS-MQMQ 2.1.2), with or without `DIRECT=`."""

    key: str


@dataclass(frozen=True, slots=True)
class And:
    """True when all parts are true; false when one part is false, even if others are unknown."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True when one part is true, even if others are unknown; false when all parts are false."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a tree; unknown stays unknown."""

    part: Expr


Expr: TypeAlias = (
    Field | Const | Has | Compare | In | Masked | Plus | Times | Rest | ByteAt | Begins | Spelled | And | Or | Not
)
ALWAYS = Const(True)
_OPS: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    "eq": ("=", lambda a, b: a == b),
    "ne": ("≠", lambda a, b: a != b),
    "lt": ("<", lambda a, b: a < b),
    "le": ("≤", lambda a, b: a <= b),
    "gt": (">", lambda a, b: a > b),
    "ge": ("≥", lambda a, b: a >= b),
}


def evaluate(expr: Expr, fields: Fields) -> Known:
    """Evaluate a tree; None when the result depends on a field that was not decoded."""
    return compiled(expr)(fields)


def compiled(expr: Expr) -> Run:
    """Compile a tree to one callable, which is made once for a rule and run for every packet."""
    match expr:
        case Const():
            return _constant(expr.value)
        case Field(key):
            return lambda fields: fields.get(key)
        case Has(key):
            return lambda fields: key in fields or (False if fields.get(DECIDED) else None)
        case Compare(op, left, right):
            return _compare(_OPS[op][1], compiled(left), compiled(right))
        case In(value, values):
            return _number(compiled(value), lambda a: a in values)
        case Masked(value, mask):
            return _number(compiled(value), lambda a: a & mask)
        case Times(value, factor):
            return _number(compiled(value), lambda a: a * factor)
        case Rest(value, by):
            return _number(compiled(value), lambda a: a % by)
        case Plus(left, right):
            return _compare(lambda a, b: a + b, compiled(left), compiled(right))
        case ByteAt(key, index):
            return _byte_at(key, index)
        case Begins(key, text):
            return _begins(key, text.lower())
        case Spelled(key):
            return _spelled(key)
        case And(parts):
            return _junction([compiled(part) for part in parts], False)
        case Or(parts):
            return _junction([compiled(part) for part in parts], True)
        case Not(part):
            return _not(compiled(part))


def _constant(value: Value) -> Run:
    return lambda fields: value


def _compare(op: Callable[[int, int], Known], left: Run, right: Run) -> Run:
    def run(fields: Fields) -> Known:
        a, b = left(fields), right(fields)
        return None if a is None or b is None else op(a, b)  # type: ignore[arg-type]

    return run


def _number(value: Run, of: Callable[[int], Known]) -> Run:
    def run(fields: Fields) -> Known:
        a = value(fields)
        return of(a) if isinstance(a, int) else None

    return run


def _byte_at(key: str, index: int) -> Run:
    def run(fields: Fields) -> Known:
        value = fields.get(key)
        return value[index] if isinstance(value, bytes) and index < len(value) else None

    return run


def _begins(key: str, text: str) -> Run:
    def run(fields: Fields) -> Known:
        value = fields.get(key)
        return value.lower().startswith(text) if isinstance(value, str) else None

    return run


def _spelled(key: str) -> Run:
    from conformance.grammar.direct import is_direct

    def run(fields: Fields) -> Known:
        value = fields.get(key)
        return is_direct(value) if isinstance(value, str) else None

    return run


def _junction(parts: list[Run], decisive: bool) -> Run:
    def run(fields: Fields) -> Known:
        unknown = False
        for part in parts:
            value = part(fields)
            if value is None:
                unknown = True
            elif bool(value) is decisive:
                return decisive
        return None if unknown else not decisive

    return run


def _not(part: Run) -> Run:
    def run(fields: Fields) -> Known:
        value = part(fields)
        return None if value is None else not value

    return run


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """Return the trees directly below this one."""
    match expr:
        case Compare(_, left, right) | Plus(left, right):
            return (left, right)
        case In(value, _) | Masked(value, _) | Times(value, _) | Rest(value, _):
            return (value,)
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
    return ()


def keys_in(expr: Expr) -> Iterator[str]:
    """Yield the fields that a tree reads, each once, in the order of reading."""
    seen: set[str] = set()
    waiting = [expr]
    while waiting:
        here = waiting.pop(0)
        if isinstance(here, Field | Has | ByteAt | Begins | Spelled) and here.key not in seen:
            seen.add(here.key)
            yield here.key
        waiting[:0] = parts_of(here)


def describe(expr: Expr) -> str:
    """Render a tree for a reader: `BaseHeader.Signature = 0x524f494c`."""
    match expr:
        case Field(key):
            return key
        case Const(value):
            return _literal(value)
        case Has(key):
            return f"{key} present"
        case Compare(op, left, right):
            return f"{describe(left)} {_OPS[op][0]} {describe(right)}"
        case In(value, values):
            return f"{describe(value)} one of {', '.join(map(_literal, values))}"
        case Masked(value, mask):
            return f"{describe(value)} & {mask:#x}"
        case Plus(left, right):
            return f"{describe(left)} + {describe(right)}"
        case Times(value, factor):
            return f"{factor} × {describe(value)}"
        case Rest(value, by):
            return f"{describe(value)} mod {by}"
        case ByteAt(key, index):
            return f"{key}[{index}]"
        case Begins(key, text):
            return f"{key} begins with {text}"
        case Spelled(key):
            return f"{key} is a direct format name"
        case And(parts):
            return " and ".join(map(_inner, parts))
        case Or(parts):
            return " or ".join(map(_inner, parts))
        case Not(part):
            return f"not {_inner(part)}"


def _inner(expr: Expr) -> str:
    return f"({describe(expr)})" if isinstance(expr, And | Or) else describe(expr)


def _literal(value: Value) -> str:
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:#x}" if value > 9 else str(value)


# Constructors for rules. They are short and read aloud as the table does.


def eq(key: str, value: Value | Expr) -> Compare:
    """The field equals a literal or another tree."""
    return Compare("eq", Field(key), _lift(value))


def ne(key: str, value: Value | Expr) -> Compare:
    """The field differs from a literal or another tree."""
    return Compare("ne", Field(key), _lift(value))


def at_most(key: str, value: int | Expr) -> Compare:
    """The field is at most `value`."""
    return Compare("le", Field(key), _lift(value))


def at_least(key: str, value: int | Expr) -> Compare:
    """The field is at least `value`."""
    return Compare("ge", Field(key), _lift(value))


def is_set(key: str) -> Compare:
    """The bit field is not zero."""
    return ne(key, 0)


def is_clear(key: str) -> Compare:
    """The bit field is zero."""
    return eq(key, 0)


def one_of(key: str, *values: int) -> In:
    """The field is one of `values`."""
    return In(Field(key), values)


def both(*parts: Expr) -> And:
    """All parts hold."""
    return And(parts)


def either(*parts: Expr) -> Or:
    """At least one part holds."""
    return Or(parts)


def _lift(value: Value | Expr) -> Expr:
    return Const(value) if isinstance(value, int | str | bytes) else value
