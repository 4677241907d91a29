"""The positions of a regular rule: one for each character of its fully expanded form, and those that may follow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.grammar.tree import (
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

# The largest rule shipped, a multiple-element name with its bounds of 255 and 256, has 26,000 positions.
MAX_POSITIONS = 100_000
MAX_STEPS = 500_000  # nodes expanded: rules that only refer to each other can double without any position


class NotRegularError(AbnfError):
    """Raised for a rule that refers to itself: it has no finite automaton."""


class TooLargeError(AbnfError):
    """Raised for a rule, or a comparison of rules, beyond the limits of this room."""


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of a rule. ranges[p]: the characters of position p; follow[p]: positions that may come next;
    last[p]: True where a text may end. first: the first positions. empty: the rule derives the empty text."""

    ranges: tuple[Ranges, ...]
    follow: tuple[tuple[int, ...], ...]
    last: tuple[bool, ...]
    first: tuple[int, ...]
    empty: bool


@dataclass(slots=True)
class _Part:
    first: list[int]
    last: list[int]
    empty: bool


class _Builder:
    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.ranges: list[Ranges] = []
        self.follow: list[list[int]] = []
        self.open: list[str] = []
        self.steps = 0

    def build(self, node: Node) -> _Part:
        self.step(1)
        match node:
            case Chars(ranges):
                return self.position(normal(ranges))
            case Lit(text, sensitive):
                units = [((ord(each), ord(each)),) if sensitive else fold_case(each) for each in text]
                return self.sequence([self.position(normal(each)) for each in units])
            case Seq(items):
                return self.sequence([self.build(each) for each in items])
            case Alt(items):
                if together := single(self.grammar, node, keep=frozenset(self.open), distinct=True):
                    return self.position(together)
                parts = [self.build(each) for each in items]
                return _Part(
                    [at for part in parts for at in part.first],
                    [at for part in parts for at in part.last],
                    any(part.empty for part in parts),
                )
            case Rep():
                return self.repeated(node)
            case Ref(name, line):
                return self.referred(name, line)
            case Prose(text, line):
                raise AbnfError(line, f"<{text}> is prose; replace it by a rule", self.grammar.where)

    def referred(self, name: str, line: int) -> _Part:
        key = name.casefold()
        if key in self.open:
            raise NotRegularError(line, f"{name} refers to itself", self.grammar.where)
        self.open.append(key)
        part = self.build(self.grammar.rule(name).node)
        self.open.pop()
        return part

    def position(self, ranges: Ranges) -> _Part:
        self.room(1)
        self.ranges.append(ranges)
        self.follow.append([])
        at = len(self.ranges) - 1
        return _Part([at], [at], False)

    def step(self, number: int) -> None:
        self.steps += number
        if self.steps > MAX_STEPS:
            raise TooLargeError(0, f"a rule of more than {MAX_STEPS} parts", self.grammar.where)

    def room(self, number: int) -> None:
        if len(self.ranges) + number > MAX_POSITIONS:
            raise TooLargeError(0, f"a rule with more than {MAX_POSITIONS} positions", self.grammar.where)

    def link(self, before: Iterable[int], after: Iterable[int]) -> None:
        targets = list(after)
        for at in before:
            self.follow[at].extend(targets)

    def sequence(self, parts: list[_Part]) -> _Part:
        whole = _Part([], [], True)
        for part in parts:
            self.link(whole.last, part.first)
            if whole.empty:
                whole.first = whole.first + part.first
            whole.last = whole.last + part.last if part.empty else part.last
            whole.empty = whole.empty and part.empty
        return whole

    def copies(self, node: Node) -> Iterator[_Part]:
        """Yield the parts of a node that is built again and again: what was built first is copied."""
        begin, steps = len(self.ranges), self.steps
        part = self.build(node)
        ranges, steps = self.ranges[begin:], self.steps - steps
        follow = [tuple(each) for each in self.follow[begin:]]  # what is linked later leads out of the part
        yield _Part(part.first, part.last, part.empty)
        while True:
            self.step(steps)
            shift = len(self.ranges) - begin
            self.room(len(ranges))
            self.ranges.extend(ranges)
            self.follow.extend([at + shift for at in each] for each in follow)
            yield _Part([at + shift for at in part.first], [at + shift for at in part.last], part.empty)

    def repeated(self, node: Rep) -> _Part:
        if node.most == 0:
            return _Part([], [], True)
        copies = self.copies(node.node)
        must = [next(copies) for _ in range(node.least)]
        if node.most is None:
            again = must[-1] if must else next(copies)
            self.link(again.last, again.first)
            if must:
                return self.sequence(must)
            return _Part(again.first, again.last, True)
        may: _Part | None = None
        # From the inside out, x{0,3} is [x [x [x]]]: a text has one way through it, not one for each choice of copies.
        for _ in range(node.most - node.least):
            part = next(copies)
            if may is not None:
                part = self.sequence([part, may])
            may = _Part(part.first, part.last, True)
        return self.sequence([*must, may] if may else must)


def positions(grammar: Grammar, rule: str) -> Positions:
    """Return a rule's positions. Raises NotRegularError, TooLargeError; AbnfError for prose, missing rules."""
    builder = _Builder(grammar)
    whole = builder.referred(rule, 0)
    ends = set(whole.last)
    return Positions(
        tuple(builder.ranges),
        tuple(tuple(dict.fromkeys(each)) for each in builder.follow),
        tuple(at in ends for at in range(len(builder.ranges))),
        tuple(dict.fromkeys(whole.first)),
        whole.empty,
    )
