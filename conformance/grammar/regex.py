"""Writes a regular rule as one pattern of the `re` module, for parsing names in bulk.

The pattern has exactly the language of the rule. Where the rule is unambiguous (`automaton.ambiguity`), a text has at
most one way into each position, so that matching takes at most len(text) times len(pattern) steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.grammar.positions import MAX_STEPS, NotRegularError, TooLargeError
from conformance.grammar.tree import (
    MAX_UNIT,
    AbnfError,
    Alt,
    Chars,
    Grammar,
    Lit,
    Node,
    Prose,
    Ranges,
    Ref,
    Rep,
    Seq,
    fold_case,
    normal,
)
from conformance.grammar.unions import single

__all__ = ["compiled", "regex"]


def regex(grammar: Grammar, rule: str, groups: Mapping[str, str] | None = None) -> str:
    """Return the pattern of a rule, without anchors: use it with `fullmatch`.

    groups: rule name to the name of the group that captures it; a rule reached in several ways gets a number behind the
    second and further ones (`queue`, `queue2`). Raises NotRegularError for a rule that refers to itself.
    """
    return _Writer(grammar, {name.casefold(): group for name, group in (groups or {}).items()}).referred(rule, 0)


def compiled(grammar: Grammar, rule: str, groups: Mapping[str, str] | None = None) -> re.Pattern[str]:
    """Return `regex`, compiled."""
    return re.compile(regex(grammar, rule, groups))


class _Writer:
    def __init__(self, grammar: Grammar, groups: Mapping[str, str]) -> None:
        self.grammar, self.groups = grammar, groups
        self.used: dict[str, int] = {}
        self.open: list[str] = []
        self.steps = 0

    def write(self, node: Node) -> str:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooLargeError(0, f"a rule of more than {MAX_STEPS} parts", self.grammar.where)
        ranges = self.one(node)
        if ranges is not None:
            return character(ranges)
        match node:
            case Lit(text, sensitive):
                each = [((ord(char), ord(char)),) if sensitive else fold_case(char) for char in text]
                return "".join(character(normal(ranges)) for ranges in each)
            case Seq(items):
                return "".join(map(self.write, items))
            case Alt(items):
                return f"(?:{'|'.join(map(self.write, items))})"
            case Rep(least, most):
                return self.repeated(self.write(node.node), self.one(node.node) is not None, least, most)
            case Ref(name, line):
                return self.referred(name, line)
            case Prose(text, line):
                raise AbnfError(line, f"<{text}> is prose; replace it by a rule", self.grammar.where)
            case Chars(ranges):
                return character(normal(ranges))

    @staticmethod
    def repeated(inner: str, single: bool, least: int, most: int | None) -> str:
        body = inner if single else f"(?:{inner})"
        if (least, most) == (0, 1):
            return f"{body}?"
        if most is None and least < 2:
            return body + ("*" if least == 0 else "+")
        if least == most:
            return f"{body}{{{least}}}"
        return f"{body}{{{least},{'' if most is None else most}}}"

    def referred(self, name: str, line: int) -> str:
        key = name.casefold()
        if key in self.open:
            raise NotRegularError(line, f"{name} refers to itself", self.grammar.where)
        self.open.append(key)
        inner = self.write(self.grammar.rule(name).node)
        self.open.pop()
        group = self.groups.get(key)
        if group is None:
            return inner
        count = self.used[group] = self.used.get(group, 0) + 1
        return f"(?P<{group}{count if count > 1 else ''}>{inner})"

    def one(self, node: Node) -> Ranges | None:
        """Return the ranges of a node that is always one character and not captured: it becomes a class."""
        return single(self.grammar, node, keep=frozenset((*self.groups, *self.open)))


def character(ranges: Ranges) -> str:
    """Return a character class of the `re` module for these ranges."""
    if not ranges:
        return r"(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(ranges[0][0])
    others = _others(ranges)
    if others and ranges[-1][1] == MAX_UNIT:
        # `re` spends a step on each character below U+10000 that a class names: milliseconds on nearly all of them.
        return f"[^{_inner(others)}]"
    return f"[{_inner(ranges)}]"


def _inner(ranges: Ranges) -> str:
    return "".join(_escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}" for low, high in ranges)


def _others(ranges: Ranges) -> Ranges:
    """Return the ranges between these, and before the first."""
    begins = (0, *(high + 1 for _, high in ranges))
    return tuple((begin, low - 1) for begin, (low, _) in zip(begins, ranges, strict=False) if begin < low)


def _escaped(unit: int) -> str:
    char = chr(unit)
    if char.isascii() and char.isalnum():
        return char
    if unit <= 0xFF:
        return f"\\x{unit:02X}"
    return f"\\u{unit:04X}" if unit <= 0xFFFF else f"\\U{unit:08X}"
