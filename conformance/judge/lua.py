"""Emits packet rules as Lua, with the same trees and the same operator names.

`report/wireshark/rules.lua` defines these operators in Lua; they decide as `expr.compiled` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from conformance.judge.expr import (
    And,
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    In,
    Masked,
    Not,
    Or,
    Plus,
    Rest,
    Spelled,
    Times,
    describe,
    keys_in,
    parts_of,
)
from conformance.judge.packets.judge import rules_of
from conformance.judge.rules import Rule
from conformance.judge.sessions import mutations, packets
from conformance.judge.sessions.packets import FieldRule
from conformance.spec.catalogue import Requirement, requirement, requirement_id
from conformance.spec.versions import LEVELS
from conformance.wire.headers import MALFORMED
from conformance.wire.lua import declared, literal, whole_only


@dataclass(frozen=True, slots=True)
class LuaRules:
    """Rules in Lua. source: calls that declare them. written: ids of the emitted rules.

    left_out: ids of the other rules, with the reason.
    """

    source: str
    written: tuple[str, ...]
    left_out: Mapping[str, str]


def lua_rules(
    *, profile: str, readings: Mapping[str, tuple[str, ...]], level: str, rules: Iterable[Rule] = rules_of("buffer")
) -> LuaRules:
    """Emit the packet rules that bind a profile.

    readings: accepted alternatives, the default first. level: a broken rule weaker than this level warns.
    """
    known, inexact = declared(), whole_only()
    written: list[str] = []
    left_out: dict[str, str] = {}
    lines: list[str] = []
    for rule in rules:
        if not rule.binds(profile):
            continue
        trees = (rule.applies, *rule.alternatives().values())
        missing = {key for tree in trees for key in keys_in(tree)} - known
        whole = {key for tree in trees for key in _value_of(tree) & inexact}
        if any(map(_spelled, trees)):
            left_out[rule.id] = _GRAMMAR
        elif missing:
            left_out[rule.id] = _lacks(min(missing))
        elif whole:
            left_out[rule.id] = "needs a number of 64 bits"
        else:
            written.append(rule.id)
            lines.append(_rule(rule, readings, level))
    return LuaRules("\n".join(lines) + "\n", tuple(written), left_out)


_GRAMMAR = "needs the grammar of names"
_LACKING = (
    ("Packet.Signature.", "needs the signature to be verified"),
    ("Packet.MultipleSignature.", "needs the signature to be verified"),
    ("Packet.Certificate.", "needs the certificate to be decoded"),
    ("SecurityHeader.SecurityData.", "needs the inside of SecurityData"),
    ("SID.", "needs the inside of SecurityData"),
    ("SIMPLEBLOB.", "needs the inside of SecurityData"),
)
"""Beginnings of the fields that the Lua does not decode, and what a rule about them needs."""


def _lacks(key: str) -> str:
    """Return what a rule about a field that the Lua does not decode needs."""
    if key.endswith((".Misspelled", ".Outdated")):
        return _GRAMMAR
    return next((why for begin, why in _LACKING if key.startswith(begin)), f"needs {key}, which is not decoded here")


def weak(demand: Requirement, level: str) -> bool:
    """Return True when a broken requirement only warns at this level."""
    return LEVELS.index(demand.level) > LEVELS.index(level)


def lua_tree(expr: Expr) -> str:
    """Emit one tree as a Lua expression."""
    match expr:
        case Field(key):
            return f"field({literal(key)})"
        case Const(value):
            return f"const({literal(value)})"
        case Has(key):
            return f"has({literal(key)})"
        case Compare(op, left, right):
            return f"compare({literal(op)}, {lua_tree(left)}, {lua_tree(right)})"
        case In(value, values):
            return f"one_of({lua_tree(value)}, {{ {', '.join(map(literal, values))} }})"
        case Masked(value, mask):
            return f"masked({lua_tree(value)}, {literal(mask)})"
        case Plus(left, right):
            return f"plus({lua_tree(left)}, {lua_tree(right)})"
        case Times(value, factor):
            return f"times({lua_tree(value)}, {literal(factor)})"
        case Rest(value, by):
            return f"rest({lua_tree(value)}, {literal(by)})"
        case ByteAt(key, index):
            return f"byte_at({literal(key)}, {index})"
        case Begins(key, text):
            return f"begins({literal(key)}, {literal(text.lower())})"
        case Spelled(key):
            raise ValueError(f"Lua has no grammar to parse {key} with")
        case And(parts):
            return f"all_of({', '.join(map(lua_tree, parts))})"
        case Or(parts):
            return f"any_of({', '.join(map(lua_tree, parts))})"
        case Not(part):
            return f"opposite({lua_tree(part)})"
    assert_never(expr)


def _rule(rule: Rule, readings: Mapping[str, tuple[str, ...]], level: str) -> str:
    demand = requirement(rule.requirement)
    keys = dict.fromkeys(key for tree in rule.alternatives().values() for key in keys_in(tree))
    lines = [
        "rule({",
        f"  id = {literal(rule.requirement)},",
        f"  says = {literal(demand.says)},",
        f"  broken = {literal('warn' if weak(demand, level) else 'fail')},",
        f"  fields = {{ {', '.join(map(literal, keys))} }},",
        f"  applies = {lua_tree(rule.applies)},",
    ]
    if rule.reading is None:
        tree = rule.alternatives()[""]
        lines += [f"  -- {_comment(tree)}", f"  holds = {lua_tree(tree)},"]
    else:
        lines += [f"  reading = {literal(rule.reading)},"]
        lines += [f"  accepted = {{ {', '.join(map(literal, readings[rule.reading]))} }},", "  alternatives = {"]
        for name, tree in rule.alternatives().items():
            lines += [f"    -- {_comment(tree)}", f"    [{literal(name)}] = {lua_tree(tree)},"]
        lines += ["  },"]
    return "\n".join([*lines, "})"])


def _comment(tree: Expr) -> str:
    return " ".join(describe(tree).split())


def _spelled(tree: Expr) -> bool:
    """Return True when the tree needs the grammar of names, which Lua lacks."""
    return isinstance(tree, Spelled) or any(map(_spelled, parts_of(tree)))


def _value_of(tree: Expr) -> frozenset[str]:
    """Return the keys whose number the tree needs, not only their presence."""
    if isinstance(tree, Field):
        return frozenset({tree.key})
    return frozenset(key for part in parts_of(tree) for key in _value_of(part))


SEVERAL_PACKETS = "needs other packets of the session, or several fields at once"
_PRESENT = requirement_id("MQQB-2.2.1.present")


def lua_session_packets(*, profile: str, level: str) -> LuaRules:
    """Emit the rules on single fields, by kind of packet. left_out: all other rules of sessions."""
    known, written, lines = declared(), dict[str, None](), list[str]()
    for kind, rules in packets.RULES.items():
        for rule in rules:
            if requirement(rule.requirement).binds(profile) and rule.field in known:
                written[rule.requirement] = None
                lines.append(_field_rule(kind, rule, level))
    if requirement(_PRESENT).binds(profile):
        lines.append(_absent(level))
    left_out = {
        name: SEVERAL_PACKETS
        for name in mutations.MUTATIONS
        if name not in written and requirement(name).binds(profile)
    }
    return LuaRules("\n".join(lines) + "\n", tuple(written), left_out)


def _field_rule(kind: str, rule: FieldRule, level: str) -> str:
    among = ", ".join(f"[{value:#x}] = true" for value in sorted(rule.among))
    return _alone(
        kind,
        rule.requirement,
        rule.field,
        f"low = {rule.low:#x}, high = {rule.high:#x}, mask = {rule.mask:#x}"
        + (f", among = {{ {among} }}" if among else ""),
        level,
    )


def _absent(level: str) -> str:
    """Emit the rule that an internal packet has its header: a packet that ends before it has no field to look at."""
    return _alone(MALFORMED, _PRESENT, "InternalHeader.Flags", 'announced = "BaseHeader.Flags.IN"', level)


def _alone(kind: str, name: str, field: str, condition: str, level: str) -> str:
    demand = requirement(name)
    broken = "warn" if weak(demand, level) else "fail"
    return (
        f"alone({literal(kind)}, {{ id = {literal(name)}, broken = {literal(broken)}, fields = {{ {literal(field)} }}, "
        f"{condition},\n  says = {literal(demand.says)} }})"
    )
