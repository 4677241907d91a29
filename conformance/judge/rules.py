"""Packet rules: expression trees in three-valued logic, when a rule applies, and a mutation that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from conformance.spec.catalogue import requirement
from conformance.spec.versions import applies
from conformance.wire import dissect, encode, patch

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
    """True when a text is a direct format name (MS-MQMQ 2.1.2), with or without `DIRECT=`.

    late: as MSMQ 2.0 and later have it (`grammar.direct`).
    """

    key: str
    late: bool = False


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
_OPS: dict[str, tuple[str, str]] = {
    "eq": ("=", "=="), "ne": ("≠", "!="), "lt": ("<", "<"), "le": ("≤", "<="), "gt": (">", ">"), "ge": ("≥", ">="),
}  # fmt: skip
"""Each comparison for a reader, and in Python."""


def evaluate(expr: Expr, fields: Fields) -> Known:
    """Evaluate a tree; None when the result depends on a field that was not decoded."""
    return compiled(expr)(fields)


def compiled(expr: Expr) -> Run:
    """Compile a tree to one function, which is made once for a rule and run for every packet."""
    code = _Code()
    run: Run = code.function(code.of(expr))
    return run


def together(exprs: Sequence[Expr]) -> Callable[[Fields], tuple[Known, ...]]:
    """Compile trees to one function that returns the results of all."""
    code = _Code()
    run: Callable[[Fields], tuple[Known, ...]] = code.function(f"({''.join(f'{code.of(expr)}, ' for expr in exprs)})")
    return run


class _Code:
    """Trees as Python expressions in brackets. f: the fields. g: `f.get`. absent: what `Has` is of an absent field."""

    def __init__(self) -> None:
        self.names = (f"v{number}" for number in count())

    def function(self, source: str) -> Any:
        """Return the function with this result."""
        space = {"spelled": _spelled}
        head = f"def run(f):\n g = f.get\n absent = False if g({DECIDED!r}) else None\n return "
        exec(head + source, space)  # of trees alone, whose keys and values are quoted
        return space["run"]

    def of(self, expr: Expr) -> str:
        """Return the expression for a tree."""
        match expr:
            case Const(value):
                return repr(value)
            case Field(key):
                return f"g({key!r})"
            case Has(key):
                return f"(True if {key!r} in f else absent)"
            case Compare(op, left, right):
                return self.of_two(_OPS[op][1], left, right)
            case Plus(left, right):
                return self.of_two("+", left, right)
            case In(value, values):
                return self.of_kind("int", self.of(value), f"in {values!r}")
            case Masked(value, mask):
                return self.of_kind("int", self.of(value), f"& {mask}")
            case Times(value, factor):
                return self.of_kind("int", self.of(value), f"* {factor}")
            case Rest(value, by):
                return self.of_kind("int", self.of(value), f"% {by}")
            case ByteAt(key, index):
                name = next(self.names)
                found = f"isinstance({name} := g({key!r}), bytes) and {index} < len({name})"
                return f"({name}[{index}] if {found} else None)"
            case Begins(key, text):
                return self.of_kind("str", f"g({key!r})", f".lower().startswith({text.lower()!r})")
            case Spelled(key, late):
                return f"spelled(g({key!r}), {late!r})"
            case And(parts):
                return self.of_parts(parts, "False if {0} is not None and not {1}", "True")
            case Or(parts):
                return self.of_parts(parts, "True if {0}", "False")
            case Not(part):
                name = next(self.names)
                return f"(None if ({name} := {self.of(part)}) is None else not {name})"

    def of_two(self, op: str, left: Expr, right: Expr) -> str:
        """Return the expression for an operation, which is unknown when one side is."""
        known, sides = [], []
        for side in (left, right):
            if isinstance(side, Const):
                sides.append(self.of(side))
            else:
                sides.append(next(self.names))
                known.append(f"({sides[-1]} := {self.of(side)}) is None")
        unknown = f"None if {' or '.join(known)} else " if known else ""
        return f"({unknown}{sides[0]} {op} {sides[1]})"

    def of_kind(self, kind: str, value: str, then: str) -> str:
        """Return the expression for something done with a value of this kind, unknown for all others."""
        name = next(self.names)
        return f"({name} {then} if isinstance({name} := {value}, {kind}) else None)"

    def of_parts(self, parts: Sequence[Expr], decides: str, otherwise: str) -> str:
        """Return the expression for parts of which one decides, or else all."""
        out, names = [], []
        for part in parts:
            name = next(self.names)
            if isinstance(part, Compare | In | Has | Begins | Spelled | And | Or | Not) and otherwise == "True":
                out.append(f"False if ({name} := {self.of(part)}) is False else ")
            else:
                out.append(f"{decides.format(f'({name} := {self.of(part)})', name)} else ")
            names.append(f"{name} is None")
        unknown = f"None if {' or '.join(names)} else " if names else ""
        return f"({''.join(out)}{unknown}{otherwise})"


def _spelled(value: Known, late: bool) -> Known:
    from conformance.grammar.queue_format import is_direct

    return is_direct(value, late) if isinstance(value, str) else None


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
        case Spelled(key, late):
            return f"{key} is a direct format name{' of MSMQ 2.0 or later' * late}"
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


Values: TypeAlias = Mapping[str, Value]

# A message for which every rule below holds; mutations start from it unless they say otherwise.
PLAIN: dict[str, Value] = {
    "UserHeader.SourceQueueManager": "11ea26c6-b6e6-4997-9595-9150557358d1",
    "UserHeader.DestinationQueue.DirectFormatName": "OS:host\\q",
    "UserHeader.MessageID": 7,
    "MessagePropertiesHeader.Label": "label",
    "MessagePropertiesHeader.MessageBody": b"body of it",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A packet for which the rule holds, and one change that breaks the rule.

    also: values of the valid packet beside PLAIN. without: prefix of values of PLAIN that are left out. body: bytes
    of the body of the broken packet, where they are too many to be given. patch: fields overwritten in the bytes, after
    `given`; nothing is recomputed. given: values that replace those of the packet before encoding; everything is
    computed again. sections, placement: arguments of `encode` for the broken packet. cut: bytes removed from the end,
    and from PacketSize. kind: the packet's kind; only a `UserMessage` starts from PLAIN. valid_placement: placement of
    the SessionHeader in the valid packet. also_breaks: at most two other requirements that this packet breaks; declared
    from the text, not from a run.
    """

    also: Values = field(default_factory=dict)
    patch: Values = field(default_factory=dict)
    given: Values = field(default_factory=dict)
    sections: tuple[str, ...] | None = None
    placement: str = "after"
    valid_placement: str = "after"
    cut: int = 0
    kind: str = "UserMessage"
    also_breaks: tuple[str, ...] = ()
    without: str = ""
    body: int = 0

    def valid(self) -> bytes:
        """Encode the packet for which the rule holds."""
        return encode(self.kind, self._start(), placement=self.valid_placement)

    def broken(self) -> bytes:
        """Encode the packet that breaks the rule."""
        if self.patch:
            start = encode(self.kind, {**self._start(), **self.given}, placement=self.valid_placement)
            data = patch(dissect(start), self.patch)
        else:
            body = {"MessagePropertiesHeader.MessageBody": bytes(self.body)} if self.body else {}
            values = {**self._start(), **self.given, **body}
            data = encode(self.kind, values, sections=self.sections, placement=self.placement)
        if self.cut:
            size = int(dissect(data).fields["BaseHeader.PacketSize"]) - self.cut
            data = patch(dissect(data), {"BaseHeader.PacketSize": size})[: len(data) - self.cut]
        return data

    def _start(self) -> dict[str, Value]:
        plain = PLAIN if self.kind == "UserMessage" else {}
        kept = {key: value for key, value in plain.items() if not self.without or not key.startswith(self.without)}
        return {**kept, **self.also}


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of one packet.

    id: the requirement's id, followed by `/word` where several rules serve one requirement. holds: the tree that must
    be true, or one tree per alternative where a reading decides. since: the first MSMQ version that the rule is about,
    where that is a later one than its requirement's.
    """

    id: str
    applies: Expr
    holds: Expr | Mapping[str, Expr]
    breaks: Mutation
    reading: str | None = None
    since: str | None = None

    def binds(self, profile: str) -> bool:
        """Return True when the rule judges packets of this MSMQ version."""
        return requirement(self.requirement).binds(profile) and applies(profile, self.since, None)

    @property
    def requirement(self) -> str:
        """The id of the requirement that this rule judges."""
        return self.id.partition("/")[0]

    def alternatives(self) -> Mapping[str, Expr]:
        """Return every tree that can decide, by alternative; a single tree under "" when no reading decides."""
        return self.holds if isinstance(self.holds, Mapping) else {"": self.holds}
