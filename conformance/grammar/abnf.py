"""ABNF (RFC 5234 with RFC 7405): its syntax tree, its reader, and checks that a grammar is usable as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

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


_ALONE = Grammar(())  # only the core rules


def check(grammar: Grammar, *, starts: Iterable[str] | None = None, externals: Iterable[str] = ()) -> None:
    """Raise AbnfError for the first rule that is undefined, unreachable, endless or conflicts with a core rule.

    starts, externals: as in `abnf.read`.
    """
    outside = {name.casefold() for name in externals}
    _defined(grammar, outside)
    _core_kept(grammar)
    _finite(grammar, outside)
    _no_empty_cycle(grammar)
    _reached(grammar, starts)


def _defined(grammar: Grammar, outside: set[str]) -> None:
    for rule in grammar.rules.values():
        for node in walk(rule.node):
            if isinstance(node, Ref) and node.name not in grammar and node.name.casefold() not in outside:
                raise AbnfError(node.line, f"{rule.name} uses {node.name}, which is undefined", grammar.where)


def _core_kept(grammar: Grammar) -> None:
    """Require that a rule named like a core rule equals it: other spellings of the name mean the core rule."""
    for key, rule in grammar.rules.items():
        core = CORE.get(key)
        if core and (single(grammar, rule.node) or rule.node) != (single(_ALONE, core.node) or core.node):
            raise AbnfError(rule.line, f"{rule.name} redefines the core rule {core.name} differently", grammar.where)


def _reached(grammar: Grammar, starts: Iterable[str] | None) -> None:
    if starts is None:
        used = {
            node.name.casefold()
            for key, rule in grammar.rules.items()
            for node in walk(rule.node)
            if isinstance(node, Ref) and node.name.casefold() != key
        }
        starts = [rule.name for key, rule in grammar.rules.items() if key not in used]
    pending, seen = [name.casefold() for name in starts], set[str]()
    while pending:
        key = pending.pop()
        if key in seen or key not in grammar.rules:
            continue
        seen.add(key)
        pending.extend(node.name.casefold() for node in walk(grammar.rules[key].node) if isinstance(node, Ref))
    for key, rule in grammar.rules.items():
        if key not in seen:
            raise AbnfError(rule.line, f"{rule.name} is unreachable: no start rule needs it", grammar.where)


def _fixpoint(grammar: Grammar, holds: Callable[[Node, set[str]], bool]) -> set[str]:
    """Return the names of the rules for which `holds` becomes true, given those already found."""
    found: set[str] = set()
    grew = True
    while grew:
        grew = False
        for key, rule in grammar.rules.items():
            if key not in found and holds(rule.node, found):
                found.add(key)
                grew = True
    return found


def _finite(grammar: Grammar, outside: set[str]) -> None:
    def ends(node: Node, known: set[str]) -> bool:
        match node:
            case Alt(items):
                return any(ends(each, known) for each in items)
            case Seq(items):
                return all(ends(each, known) for each in items)
            case Rep(least):
                return least == 0 or ends(node.node, known)
            case Ref(name):
                key = name.casefold()
                return key in known or key in outside or key not in grammar.rules
        return True

    finite = _fixpoint(grammar, ends)
    for key, rule in grammar.rules.items():
        if key not in finite:
            raise AbnfError(
                rule.line,
                f"{rule.name} never ends: every way through it needs another {rule.name}",
                grammar.where,
            )


def _no_empty_cycle(grammar: Grammar) -> None:
    """Reject rules that can derive exactly themselves: every text would have infinitely many derivations."""

    def empty(node: Node, known: set[str]) -> bool:
        match node:
            case Alt(items):
                return any(empty(each, known) for each in items)
            case Seq(items):
                return all(empty(each, known) for each in items)
            case Rep(least):
                return least == 0 or empty(node.node, known)
            case Lit(text):
                return not text
            case Ref(name):
                key = name.casefold()
                return key in known or (key in CORE and key not in grammar.rules and key == "lwsp")
            case Prose() | Chars():
                return False

    nullable = _fixpoint(grammar, empty)

    def alone(node: Node) -> set[str]:
        """Return the rules that can derive the whole of the node."""
        match node:
            case Alt(items):
                return set().union(*map(alone, items))
            case Seq(items):
                found: set[str] = set()
                for at, each in enumerate(items):
                    if all(empty(other, nullable) for other in (*items[:at], *items[at + 1 :])):
                        found |= alone(each)
                return found
            case Rep(least, most):
                once = most != 0 and (least <= 1 or empty(node.node, nullable))
                return alone(node.node) if once else set()
            case Ref(name) if name.casefold() in grammar.rules:
                return {name.casefold()}
        return set()

    units = {key: alone(rule.node) for key, rule in grammar.rules.items()}
    for key, rule in grammar.rules.items():
        pending, seen = list(units[key]), set[str]()
        while pending:
            other = pending.pop()
            if other == key:
                raise AbnfError(rule.line, f"{rule.name} never ends: it can derive itself alone", grammar.where)
            if other not in seen:
                seen.add(other)
                pending.extend(units[other])


# The largest grammar of the RFCs has 40,000 characters and the largest bound of the documents is 256; larger input is
# an error or an attack, and must not fill the memory.
MAX_TEXT = 1 << 20
MAX_RULES = 2_000
MAX_BOUND = 100_000
MAX_DEPTH = 64

_BASES = {"x": (16, "0-9A-Fa-f"), "d": (10, "0-9"), "b": (2, "01")}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_REPEAT = re.compile(r"(\d+)?(\*)?(\d+)?")
_STRING = re.compile(r'(%[sSiI])?"([\x20\x21\x23-\x7E]*)"')
_CODE = re.compile(r'"[^"]*"|<[^>]*>|;.*')
_CONTROL = re.compile(r"[\x00-\x08\x0B-\x1F\x7F]")
_PROSE = re.compile(r"<([\x20-\x3D\x3F-\x7E]*)>")


def read(
    text: str,
    *,
    where: str = "grammar",
    starts: Iterable[str] | None = None,
    externals: Iterable[str] = (),
    alphabet: str = "unicode",
) -> Grammar:
    """Return the grammar of an ABNF text.

    starts: the rules meant to be used from outside; None means those that no other uses. A rule that none of them needs
    is an error. externals: names that are defined elsewhere and may be used here without a rule. Raises AbnfError, with
    the line, for invalid ABNF, and for rules that are undefined, redefined, unreachable, without any finite text, or
    whose names differ only in case.
    """
    if len(text) > MAX_TEXT:
        raise AbnfError(0, f"longer than {MAX_TEXT} characters", where)
    grammar = Grammar(read_parts(text, where=where), where=where, alphabet=alphabet)
    check(grammar, starts=starts, externals=externals)
    return grammar


def read_parts(text: str, *, where: str) -> tuple[Rule, ...]:
    """Return the rules of a text without checking the whole: for rules that complete or correct another grammar."""
    if len(text) > MAX_TEXT:
        raise AbnfError(0, f"longer than {MAX_TEXT} characters", where)
    return tuple(_joined(_Reader(text, where).rules(), where))


def _joined(definitions: Iterable[_Definition], where: str) -> list[Rule]:
    """Return the rules with incremental alternatives joined; reject a second definition."""
    rules: dict[str, Rule] = {}
    for each in definitions:
        key = each.name.casefold()
        known = rules.get(key)
        if each.more:
            if known is None:
                raise AbnfError(each.line, f"{each.name} =/ adds to a rule that has not been defined above", where)
            before = known.node.items if isinstance(known.node, Alt) else (known.node,)
            after = each.node.items if isinstance(each.node, Alt) else (each.node,)
            rules[key] = Rule(known.name, Alt((*before, *after)), known.line)
        elif known is None:
            rules[key] = Rule(each.name, each.node, each.line)
        elif known.name == each.name:
            raise AbnfError(each.line, f"{each.name} is redefined; its first definition is on line {known.line}", where)
        else:
            raise AbnfError(
                each.line,
                f"{each.name} and {known.name} on line {known.line} are the same name: rule names are case-insensitive",
                where,
            )
    return list(rules.values())


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    more: bool  # =/ rather than =
    node: Node
    line: int


class _Reader:
    """Reads the text once. Line ends are LF inside."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.where, self.at, self.line, self.depth = where, 0, 1, 0
        self.indent = 0
        self._refuse_foreign()

    def _refuse_foreign(self) -> None:
        """Reject characters that are not ASCII, except in comments, which may hold anything but control characters."""
        if self.text.isascii() and not _CONTROL.search(self.text):
            return
        for number, content in enumerate(self.text.split("\n"), 1):
            code = _CODE.sub(lambda found: "" if found[0].startswith(";") else found[0], content)
            bad = re.search(r"[^\t\x20-\x7E]", code) or _CONTROL.search(content)
            if bad:
                raise AbnfError(number, f"U+{ord(bad[0]):04X} is not allowed in ABNF", self.where)

    def fail(self, text: str) -> NoReturn:
        raise AbnfError(self.line, text, self.where)

    def rules(self) -> list[_Definition]:
        found: list[_Definition] = []
        self.blank_lines()
        self.indent = self.column()
        while self.at < len(self.text):
            if self.column() != self.indent:
                self.fail("a rule begins at another indentation than the first one")
            found.append(self.definition())
            if len(found) > MAX_RULES:
                self.fail(f"more than {MAX_RULES} rules")
            self.blank_lines()
        if not found:
            raise AbnfError(0, "the text has no rules", self.where)
        return found

    def column(self) -> int:
        begin = self.text.rfind("\n", 0, self.at) + 1
        return len(self.text[begin : self.at].expandtabs(8))

    def blank_lines(self) -> None:
        """Skip white space, comments and line ends, up to the next rule or the end."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ";":
                self.comment()
            elif char in " \t":
                self.at += 1
            elif char == "\n":
                self.at, self.line = self.at + 1, self.line + 1
            else:
                return

    def comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def space(self) -> None:
        """Skip white space and comments, and a line end if the next line with content is indented."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t":
                self.at += 1
                continue
            if char not in ";\n":
                return
            before = self.at, self.line
            self.blank_lines()
            if self.at >= len(self.text) or self.column() <= self.indent:
                self.at, self.line = before
                return

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def definition(self) -> _Definition:
        line = self.line
        name = _NAME.match(self.text, self.at)
        if not name:
            self.fail(f"a rule begins with its name, not with {self.peek()!r}")
        self.at = name.end()
        self.space()
        if self.text.startswith("=/", self.at):
            more, self.at = True, self.at + 2
        elif self.peek() == "=":
            more, self.at = False, self.at + 1
        else:
            self.fail(f"{name[0]} is not followed by = or =/")
        self.space()
        node = self.alternation()
        self.space()
        if self.peek() == ";":
            self.comment()
        if self.peek() not in ("", "\n"):
            self.fail(f"{self.peek()!r} is out of place in {name[0]}")
        return _Definition(name[0], more, node, line)

    def alternation(self) -> Node:
        items = [self.concatenation()]
        while True:
            self.space()
            if self.peek() != "/":
                return items[0] if len(items) == 1 else Alt(tuple(items))
            self.at += 1
            self.space()
            items.append(self.concatenation())

    def concatenation(self) -> Node:
        items = [self.repetition()]
        while True:
            before = self.at
            self.space()
            if self.peek() in ("", "\n", ";", "/", ")", "]"):
                return items[0] if len(items) == 1 else Seq(tuple(items))
            if self.at == before and self.peek() not in '"<%([':
                # RFC 5234 requires white space here; without it "1*256(VCHAR)VCHAR" would hide a lost line end.
                self.fail(f"white space is missing before {self.peek()!r}")
            items.append(self.repetition())

    def repetition(self) -> Node:
        found = _REPEAT.match(self.text, self.at)
        assert found  # every part of the pattern is optional
        low, star, high = found.groups()
        self.at = found.end()
        if star is None:
            if low is None:
                return self.element()
            return Rep(self.bound(low), self.bound(low), self.element())
        least = self.bound(low) if low else 0
        most = self.bound(high) if high else None
        if most is not None and most < least:
            self.fail(f"{found[0]} repeats at least {least} and at most {most} times")
        return Rep(least, most, self.element())

    def bound(self, digits: str) -> int:
        if len(digits) > 7 or int(digits) > MAX_BOUND:
            self.fail(f"a repetition bound is larger than {MAX_BOUND}")
        return int(digits)

    def element(self) -> Node:
        char = self.peek()
        if char in ("(", "["):
            return self.group(char)
        if string := _STRING.match(self.text, self.at):
            self.at = string.end()
            return Lit(string[2], sensitive=(string[1] or "").lower() == "%s")
        if char == "%":
            return self.number()
        if prose := _PROSE.match(self.text, self.at):
            self.at = prose.end()
            return Prose(prose[1], self.line)
        if name := _NAME.match(self.text, self.at):
            self.at = name.end()
            return Ref(name[0], self.line)
        return self.no_element(char)

    def no_element(self, char: str) -> NoReturn:
        if char == '"':
            self.fail("a string is not closed on its line, or holds a character beyond ASCII")
        if char == "<":
            self.fail("a prose value is not closed on its line")
        self.fail("something is missing at the end of the line" if char in ("", "\n") else f"{char!r} is out of place")

    def group(self, opening: str) -> Node:
        line, closing = self.line, {"(": ")", "[": "]"}[opening]
        self.at, self.depth = self.at + 1, self.depth + 1
        if self.depth > MAX_DEPTH:
            self.fail(f"groups are nested deeper than {MAX_DEPTH}")
        self.space()
        node = self.alternation()
        self.space()
        if self.peek() != closing:
            raise AbnfError(line, f"{opening} is not closed by {closing}", self.where)
        self.at, self.depth = self.at + 1, self.depth - 1
        return node if opening == "(" else Rep(0, 1, node)

    def number(self) -> Node:
        base = _BASES.get(self.text[self.at + 1 : self.at + 2].lower())
        if base is None:
            self.fail("% is followed by x, d or b and digits, or by s or i and a string")
        radix, digits = base
        found = re.compile(rf"%.([{digits}]+)(?:-([{digits}]+)|((?:\.[{digits}]+)+))?").match(self.text, self.at)
        if not found:
            self.fail(f"a number of base {radix} is expected here")
        self.at = found.end()
        if self.peek() in ("-", ".") or re.match(r"[A-Za-z0-9]", self.peek()):
            self.fail(f"{self.peek()!r} is out of place in a number of base {radix}")
        first = self.unit(found[1], radix)
        if found[3]:
            units = [first, *(self.unit(each, radix) for each in found[3][1:].split("."))]
            return Lit("".join(map(chr, units)), sensitive=True)
        last = self.unit(found[2], radix) if found[2] else first
        if last < first:
            self.fail(f"the range {found[0]} ends before it begins")
        return Chars(((first, last),))

    def unit(self, digits: str, radix: int) -> int:
        if len(digits.lstrip("0")) > 21 or (value := int(digits, radix)) > MAX_UNIT:
            self.fail(f"a terminal is larger than {MAX_UNIT:X}")
        return value


__all__ = ["AbnfError", "Alt", "Chars", "Grammar", "Lit", "Node", "Prose", "Ref", "Rep", "Rule", "Seq", "read"]
