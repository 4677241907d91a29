"""The syntax tree of ABNF: rules made of alternatives, sequences, repetitions, literals and characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # (first, last) code points or code units, both included

MAX_UNIT = 0x10FFFF  # the largest terminal, the largest code point


class AbnfError(ValueError):
    """Raised for a grammar that cannot be used. line: 1-based line of `where`, 0 when no single line is the cause."""

    def __init__(self, line: int, text: str, where: str = "") -> None:
        place = ":".join(part for part in (where, str(line) if line else "") if part)
        super().__init__(f"{place}: {text}" if place else text)
        self.line, self.text, self.where = line, text, where


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several nodes; an empty Alt derives nothing at all."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Seq:
    """One node after the other; an empty Seq derives the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Rep:
    """A node least to most times (most None: unbounded). An option is a Rep of 0 to 1."""

    least: int
    most: int | None
    node: Node


@dataclass(frozen=True, slots=True)
class Lit:
    """A text; its ASCII letters match in either case unless it is sensitive (RFC 5234 2.3, RFC 7405)."""

    text: str
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of the ranges."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule by its name, as written; names are case-insensitive."""

    name: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Prose:
    """`<text>`: a description in words. A grammar that still has one cannot be compiled."""

    text: str
    line: int = 0


Node: TypeAlias = Alt | Seq | Rep | Lit | Chars | Ref | Prose


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. name: as first written; node: the node it derives; line: where it begins."""

    name: str
    node: Node
    line: int = 0


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node."""
    match node:
        case Alt(items) | Seq(items):
            return items
        case Rep():
            return (node.node,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything in it, from left to right."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(children(here)))


def rebuild(node: Node, parts: tuple[Node, ...]) -> Node:
    """Return the node with other parts."""
    match node:
        case Alt():
            return Alt(parts)
        case Seq():
            return Seq(parts)
        case Rep():
            return replace(node, node=parts[0])
    return node


def fold_case(char: str) -> Ranges:
    """Return the ranges of a character of an insensitive literal: only ASCII letters have two cases in ABNF."""
    if char.isascii() and char.isalpha():
        upper, lower = ord(char.upper()), ord(char.lower())
        return ((upper, upper), (lower, lower))
    return ((ord(char), ord(char)),)


def normal(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same characters as sorted ranges that neither overlap nor touch."""

    done: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if done and low <= done[-1][1] + 1:
            done[-1] = (done[-1][0], max(done[-1][1], high))
        else:
            done.append((low, high))
    return tuple(done)


class Grammar:
    """Rules by name. Names are case-insensitive; the core rules of RFC 5234 B.1 exist unless a rule takes their name.

    rules: the rules themselves, without the core, in order. where: the name of the text in messages. alphabet: the unit
    of a terminal: `unicode` (code points), `utf16` (code units) or `octets`.
    """

    def __init__(self, rules: Iterable[Rule], *, where: str = "grammar", alphabet: str = "unicode") -> None:
        self.where, self.alphabet = where, alphabet
        self._rules: dict[str, Rule] = {rule.name.casefold(): rule for rule in rules}

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by their case-folded names."""
        return self._rules

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._rules or name.casefold() in CORE

    def rule(self, name: str) -> Rule:
        """Return the rule of this name, else the core rule. Raises AbnfError when there is none."""
        key = name.casefold()
        found = self._rules.get(key) or CORE.get(key)
        if found is None:
            raise AbnfError(0, f"there is no rule {name}", self.where)
        return found

    def reachable(self, *starts: str) -> dict[str, Rule]:
        """Return the rules that the starts need, in order of first use. Raises AbnfError for a missing rule."""
        seen: dict[str, Rule] = {}
        pending = list(reversed(starts))
        while pending:
            name = pending.pop()
            if name.casefold() in seen:
                continue
            rule = seen[name.casefold()] = self.rule(name)
            pending.extend(node.name for node in reversed(list(walk(rule.node))) if isinstance(node, Ref))
        return seen

    def with_rules(self, rules: Iterable[Rule], *, where: str | None = None) -> Grammar:
        """Return these rules and the given ones; a given one replaces one with the same name."""
        merged = self._rules | {rule.name.casefold(): rule for rule in rules}
        return Grammar(merged.values(), where=where or self.where, alphabet=self.alphabet)


def _core() -> dict[str, Rule]:
    def chars(*ranges: tuple[int, int]) -> Node:
        return Chars(ranges)

    digits = (0x30, 0x39)
    rules: dict[str, Node] = {
        "ALPHA": chars((0x41, 0x5A), (0x61, 0x7A)),
        "BIT": chars((0x30, 0x31)),
        "CHAR": chars((0x01, 0x7F)),
        "CR": chars((0x0D, 0x0D)),
        "CRLF": Seq((Ref("CR"), Ref("LF"))),
        "CTL": chars((0x00, 0x1F), (0x7F, 0x7F)),
        "DIGIT": chars(digits),
        "DQUOTE": chars((0x22, 0x22)),
        "HEXDIG": chars(digits, (0x41, 0x46), (0x61, 0x66)),
        "HTAB": chars((0x09, 0x09)),
        "LF": chars((0x0A, 0x0A)),
        "LWSP": Rep(0, None, Alt((Ref("WSP"), Seq((Ref("CRLF"), Ref("WSP")))))),
        "OCTET": chars((0x00, 0xFF)),
        "SP": chars((0x20, 0x20)),
        "VCHAR": chars((0x21, 0x7E)),
        "WSP": Alt((Ref("SP"), Ref("HTAB"))),
    }
    return {name.casefold(): Rule(name, node) for name, node in rules.items()}


CORE: Mapping[str, Rule] = _core()


def single(
    grammar: Grammar, node: Node, *, keep: frozenset[str] = frozenset(), distinct: bool = False
) -> Ranges | None:
    """Return the ranges of a node that is always one character; None for any other.

    keep: case-folded rule names that are not expanded. distinct: also None when alternatives overlap, so that a
    character could be derived in two ways.
    """
    return _single(grammar, node, keep, distinct)


def _single(grammar: Grammar, node: Node, closed: frozenset[str], distinct: bool) -> Ranges | None:
    match node:
        case Chars(ranges):
            return normal(ranges)
        case Lit(text, sensitive) if len(text) == 1:
            return normal(((ord(text), ord(text)),) if sensitive else fold_case(text))
        case Alt(items):
            found: list[tuple[int, int]] = []
            for item in items:
                part = _single(grammar, item, closed, distinct)
                if part is None:
                    return None
                if distinct and any(low <= last and first <= high for low, high in part for first, last in found):
                    return None
                found.extend(part)
            return normal(found)
        case Ref(name) if name.casefold() not in closed and name in grammar:
            return _single(grammar, grammar.rule(name).node, closed | {name.casefold()}, distinct)
    return None
