"""Parses queue names in bulk by one regular expression, made from the grammar, whose groups are the parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from conformance.grammar.abnf import (
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
    Rule,
    Seq,
    children,
    fold_case,
    normal,
    rebuild,
    single,
)
from conformance.grammar.automaton import MAX_STEPS, NotRegularError, TooLargeError
from conformance.grammar.sources import RULES
from conformance.grammar.values import CAPTURED, KINDS, MAKERS, Made, MultipleElementName, QueueName


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
    others = _complement(ranges)
    if others and ranges[-1][1] == MAX_UNIT:
        # `re` spends a step on each character below U+10000 that a class names: milliseconds on nearly all of them.
        return f"[^{_inner(others)}]"
    return f"[{_inner(ranges)}]"


def _inner(ranges: Ranges) -> str:
    return "".join(_escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}" for low, high in ranges)


def _complement(ranges: Ranges) -> Ranges:
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


PATH_NAME, FORMAT_NAME, MULTIPLE_ELEMENT = FORMS = tuple(RULES)
# Longer texts are rejected unread. The longest name of the rules that have one is below 1,000 characters; a port of
# `*(%x30-39)` and a host of RFC 3986 are unbounded.
MAX_ONE = 1 << 16
MAX_ALL = 1 << 24

_Handler: TypeAlias = Callable[[str, re.Match[str]], QueueName]
_Expression: TypeAlias = tuple[Callable[[str], "re.Match[str] | None"], list[_Handler]]
ELEMENT = "Element"  # the rule of the elements between the commas of a multiple-element name
_NOTHING: _Expression = (lambda text: None, [])
_WHOLE = "one-branch"  # the rule made of a branch


class NameError_(ValueError):
    """Raised for a text that is not a name of the requested form. text, form: the text and the form."""

    def __init__(self, text: str, form: str, why: str = "") -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        super().__init__(f"{shown!a} is not a {form.replace('_', ' ')}{why and f': {why}'}")
        self.text, self.form = text, form


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a start rule. kind: of its names; items: their sequence of nodes."""

    kind: str
    items: tuple[Node, ...]


def branches(grammar: Grammar, start: str) -> Iterator[Branch]:
    """Yield the alternatives of a rule, and of the rules that make up one alone, in order."""
    pending: list[Node] = [Ref(start)]
    while pending:
        node = pending.pop(0)
        if isinstance(node, Alt):
            pending[:0] = node.items
        elif isinstance(node, Ref):
            pending.insert(0, grammar.rule(node.name).node)
        else:
            items = node.items if isinstance(node, Seq) else (node,)
            keyword = items[0].text if isinstance(items[0], Lit) else ""
            yield Branch(KINDS[keyword.removesuffix("=").upper()] if keyword.endswith("=") else "path", items)


def begins(grammar: Grammar, node: Node) -> Ranges:
    """Return the characters that a text of a node can begin with; the node derives no empty text."""
    match node:
        case Chars(ranges):
            return ranges
        case Lit(text, sensitive):
            return ((ord(text[0]), ord(text[0])),) if sensitive else fold_case(text[0])
        case Alt(items):
            return normal(span for each in items for span in begins(grammar, each))
        case Seq(items):
            return begins(grammar, items[0])
        case Rep(least) if least:
            return begins(grammar, node.node)
        case Ref(name):
            return begins(grammar, grammar.rule(name).node)
    raise AbnfError(0, "a name begins with a part that may be empty", grammar.where)


def may_hold(grammar: Grammar, start: str, char: str) -> bool:
    """Return True when a character occurs in any rule that the start needs."""
    code = ord(char)
    pending: list[Node] = [rule.node for rule in grammar.reachable(start).values()]
    while pending:
        match pending.pop():
            case Chars(ranges) if any(low <= code <= high for low, high in ranges):
                return True
            case Lit(text, sensitive) if any(
                low <= code <= high
                for each in text
                for low, high in ([(ord(each),) * 2] if sensitive else fold_case(each))
            ):
                return True
            case Alt(items) | Seq(items):
                pending.extend(items)
            case Rep() as rep:
                pending.append(rep.node)
            case _:
                pass
    return False


class Names:
    """Parses names by one grammar of MS-MQMQ 2.1. Reuse it: it is costly to make."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._parsers = {PATH_NAME: self.path, FORMAT_NAME: self.format_name, MULTIPLE_ELEMENT: self.multiple}

    def parse(self, text: str, form: str) -> QueueName:
        """Return the name of a text. Raises NameError_, and KeyError for a form that is not in `FORMS`."""
        return self._parsers[form](text)

    @cached_property
    def _paths(self) -> dict[str, _Expression]:
        return self._expressions(RULES[PATH_NAME])

    @cached_property
    def _ones(self) -> dict[str, _Expression]:
        return self._expressions(RULES[FORMAT_NAME])

    @cached_property
    def _elements(self) -> dict[str, _Expression]:
        return self._expressions(ELEMENT)

    @cached_property
    def _all(self) -> re.Pattern[str]:
        return compiled(self.grammar, RULES[MULTIPLE_ELEMENT])

    @cached_property
    def _rest(self) -> re.Pattern[str]:
        """One element or more, however many a whole name requires."""
        some = Seq((Ref(ELEMENT), Rep(0, None, Seq((Lit(","), Ref(ELEMENT))))))
        return compiled(self.grammar.with_rules([Rule(_WHOLE, some)]), _WHOLE)

    @cached_property
    def _commas(self) -> bool:
        return may_hold(self.grammar, ELEMENT, ",")

    def path(self, text: str) -> QueueName:
        """Parse a path name (2.1.1). Raises NameError_."""
        return self._whole(text, self._paths, PATH_NAME)

    def format_name(self, text: str) -> QueueName:
        """Parse one format name (2.1.2 to 2.1.6). Raises NameError_."""
        match, handlers = self._ones.get(text[:1]) or self._ones[""]
        found = match(text) if len(text) <= MAX_ONE else None
        if found is None:
            raise NameError_(text, FORMAT_NAME)
        return handlers[found.lastindex or 0](text, found)

    def multiple(self, text: str) -> MultipleElementName:
        """Parse a multiple-element name (2.1.7). Raises NameError_."""
        if len(text) > MAX_ALL:
            raise NameError_(text, MULTIPLE_ELEMENT)
        made: list[QueueName] = []
        expressions = self._elements
        for element in text.split(","):
            match, handlers = expressions.get(element[:1]) or expressions[""]
            found = match(element) if len(element) <= MAX_ONE else None
            if found is None:
                if not self._commas:
                    raise NameError_(text, MULTIPLE_ELEMENT)
                made = list(self._divided(text))
                break
            made.append(handlers[found.lastindex or 0](element, found))
        if len(made) == 1 and not self._all.fullmatch(text):
            raise NameError_(text, MULTIPLE_ELEMENT)
        return MultipleElementName(text, tuple(made))

    @staticmethod
    def _whole(text: str, expressions: Mapping[str, _Expression], form: str) -> QueueName:
        match, handlers = expressions.get(text[:1]) or expressions[""]
        found = match(text) if len(text) <= MAX_ONE else None
        if found is None:
            raise NameError_(text, form)
        return handlers[found.lastindex or 0](text, found)

    def _divided(self, text: str) -> Iterator[QueueName]:
        """Yield the elements where one may hold a comma: each is the longest that leaves a name behind it."""
        if len(text) > MAX_ONE or not self._all.fullmatch(text):
            raise NameError_(text, MULTIPLE_ELEMENT)
        begin = 0
        while begin <= len(text):
            ends = [len(text), *(at for at in range(len(text) - 1, begin, -1) if text[at] == ",")]
            for end in ends:
                element = text[begin:end]
                match, handlers = self._elements.get(element[:1]) or self._elements[""]
                found = match(element)
                if found and (end == len(text) or self._rest.fullmatch(text, end + 1)):
                    yield handlers[found.lastindex or 0](element, found)
                    begin = end + 1
                    break
            else:
                raise AssertionError("a text of the rule has a way through it")

    def _expressions(self, start: str) -> dict[str, _Expression]:
        """Return the expression for each first ASCII character, so that few branches are tried. "": the others."""
        grammar = _unrolled(self.grammar)
        firsts: dict[str, list[Branch]] = {"": []}
        for branch in branches(grammar, start):
            for low, high in begins(grammar, branch.items[0]):
                for code in range(low, min(high, 0x7F) + 1):
                    firsts.setdefault(chr(code), []).append(branch)
                if high > 0x7F:
                    firsts[""].append(branch)
        made: dict[tuple[int, ...], _Expression] = {(): _NOTHING}
        for some in firsts.values():
            key = tuple(map(id, some))
            if key not in made:
                made[key] = _Expressing(grammar).expression(some)
        return {char: made[tuple(map(id, some))] for char, some in firsts.items()}


class _Expressing:
    """Writes one expression for several branches; equal beginnings are tried once.

    The group around the rest of a branch closes last, so that it is the `lastindex` of a match. The group of a captured
    rule is named by its role and a number, because group names must be unique.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.count = 0
        self.ends: list[tuple[str, str, list[str]]] = []  # group of a branch, its kind, names of the groups in it

    def expression(self, some: Sequence[Branch]) -> _Expression:
        pattern = re.compile(self.together([(each, each.items) for each in some], []))
        handlers: list[_Handler] = [_never] * (pattern.groups + 1)
        for end, kind, names in self.ends:
            roles: dict[str, list[int]] = {}
            for name in pattern.groupindex:
                if any(each in name for each in names):
                    roles.setdefault(name.partition("_")[0], []).append(pattern.groupindex[name])
            handlers[pattern.groupindex[end]] = _handler(kind, roles)
        return pattern.fullmatch, handlers

    def together(self, some: Sequence[tuple[Branch, tuple[Node, ...]]], above: list[str]) -> str:
        """Write the alternatives; those with the same first node share it. above: names of the groups before them."""
        alike: dict[Node | int, list[tuple[Branch, tuple[Node, ...]]]] = {}
        for number, (branch, items) in enumerate(some):
            alike.setdefault(items[0] if items else number, []).append((branch, items))
        written = []
        for group in alike.values():
            branch, items = group[0]
            if len(group) == 1:
                self.count += 1
                end = f"branch_{self.count}_"
                inner, name = self.captured(branch.kind, Seq(items))
                self.ends.append((end, branch.kind, [*above, name]))
                written.append(f"(?P<{end}>{inner})")
            else:
                inner, name = self.captured(branch.kind, items[0])
                rest = self.together([(each, nodes[1:]) for each, nodes in group], [*above, name])
                written.append(f"{inner}(?:{rest})")
        return "|".join(written)

    def captured(self, kind: str, node: Node) -> tuple[str, str]:
        """Write a node as an expression; also return the mark behind the role in the names of its groups."""
        self.count += 1
        mark = f"_{self.count}_"
        groups = {rule: role + mark for rule, role in CAPTURED[kind].items() if rule in self.grammar}
        return regex(self.grammar.with_rules([Rule(_WHOLE, node)]), _WHOLE, groups), mark


def _unrolled(grammar: Grammar) -> Grammar:
    """Return rules of the same languages with equal nodes unified and small fixed repetitions of sequences unrolled.

    `re` is slow with repeated groups.
    """

    def unroll(node: Node) -> Node:
        if isinstance(node, Ref):
            return Ref(node.name.casefold())
        node = rebuild(node, tuple(map(unroll, children(node))))
        if isinstance(node, Rep) and node.least == node.most and node.least <= 4 and isinstance(node.node, Seq):
            return Seq((node.node,) * node.least)
        return node

    return grammar.with_rules([Rule(rule.name, unroll(rule.node)) for rule in grammar.rules.values()])


def _never(text: str, found: re.Match[str]) -> QueueName:
    raise AssertionError(f"no branch matched: {text!a}")


def _handler(kind: str, roles: Mapping[str, list[int]]) -> _Handler:
    """Return the function that makes a name from the groups of one branch."""
    make: Made = MAKERS[kind]
    order = tuple(dict.fromkeys(CAPTURED[kind].values()))
    groups = [roles.get(role, []) for role in order]
    if all(len(each) <= 1 for each in groups):
        indexes = [each[0] if each else None for each in groups]
        return make(indexes)
    return _several(make, groups)


def _several(make: Made, groups: list[list[int]]) -> _Handler:
    """Return the handler of a branch in which a rule has several places: it looks for the one that matched."""
    known: dict[tuple[int | None, ...], _Handler] = {}

    def handle(text: str, found: re.Match[str]) -> QueueName:
        key = tuple(next((at for at in each if found.start(at) >= 0), None) for each in groups)
        if key not in known:
            known[key] = make(list(key))
        return known[key](text, found)

    return handle


__all__ = ["compiled", "regex"]
