"""Finite automata of regular rules: positions, membership, shortest texts, and differences between rules."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

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
    Seq,
    fold_case,
    normal,
    single,
)

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


MAX_CACHED = 100_000  # deterministic states kept; beyond that the cache starts anew
MAX_PAIRS = 1_000_000  # states that a comparison examines

State: TypeAlias = tuple[tuple[int, ...], bool]  # positions that may come next, and True where the text may end here
_S = TypeVar("_S", bound=Hashable)


class Classes:
    """The characters, partitioned into classes that no position distinguishes.

    of(char): the class, or -1 for a character that nothing matches. sample[c]: a readable character of the class.
    within[ranges]: the classes that make up these ranges.
    """

    def __init__(self, every: Iterable[Ranges]) -> None:
        distinct = list(dict.fromkeys(every))
        edges = sorted(
            {0, MAX_UNIT + 1} | {edge for each in distinct for low, high in each for edge in (low, high + 1)}
        )
        signatures: dict[tuple[int, ...], int] = {}
        self._edges = edges
        self._class: list[int] = []
        spans: list[list[tuple[int, int]]] = []
        inside: list[set[int]] = [set() for _ in edges]
        for number, each in enumerate(distinct):
            for low, high in each:
                for at in range(bisect_right(edges, low) - 1, bisect_right(edges, high)):
                    inside[at].add(number)
        for at, low in enumerate(edges[:-1]):
            signature = tuple(sorted(inside[at]))
            if not signature:
                self._class.append(-1)
                continue
            number = signatures.setdefault(signature, len(signatures))
            self._class.append(number)
            if number == len(spans):
                spans.append([])
            spans[number].append((low, edges[at + 1] - 1))
        self._class.append(-1)
        self.spans: tuple[Ranges, ...] = tuple(normal(each) for each in spans)
        self.sample = tuple(_sample(each) for each in self.spans)
        self.within: Mapping[Ranges, tuple[int, ...]] = {
            each: tuple(number for signature, number in signatures.items() if index in signature)
            for index, each in enumerate(distinct)
        }

    def __len__(self) -> int:
        return len(self.spans)

    def of(self, char: str) -> int:
        """Return the class of a character."""
        return self._class[bisect_right(self._edges, ord(char)) - 1]


def _sample(ranges: Ranges) -> str:
    for low, high in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0x20, 0x20), (0xA1, 0xD7FF)):
        for first, last in ranges:
            if first <= high and last >= low:
                return chr(max(first, low))
    return chr(ranges[0][0])


class Dfa:
    """The deterministic automaton of one rule; its states are made on first use."""

    def __init__(self, rule: Positions, name: str = "") -> None:
        self.positions, self.name = rule, name
        self.classes = Classes(rule.ranges)
        self._moves: dict[tuple[int, int], int] = {}
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        self.begin = self._number((rule.first, rule.empty))

    def _number(self, state: State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number

    def ends(self, state: int) -> bool:
        """Return True when a text may end in this state."""
        return self._states[state][1]

    def dead(self, state: int) -> bool:
        """Return True when nothing may follow."""
        return not self._states[state][0]

    def step(self, state: int, kind: int) -> int:
        """Return the state behind a character of this class (`classes.of`)."""
        key = (state, kind)
        found = self._moves.get(key)
        if found is None:
            found = self._moves[key] = self._number(self._after(self._states[state][0], kind))
        return found

    def _after(self, candidates: tuple[int, ...], kind: int) -> State:
        rule, within = self.positions, self.classes.within
        hit = [at for at in candidates if kind in within[rule.ranges[at]]]
        if len(hit) == 1:
            return rule.follow[hit[0]], rule.last[hit[0]]
        following = {to for at in hit for to in rule.follow[at]}
        return tuple(sorted(following)), any(rule.last[at] for at in hit)

    def accepts(self, text: str) -> bool:
        """Return True when the rule derives the text."""
        return self.stuck(text) is None

    def stuck(self, text: str) -> int | None:
        """Return None for a text of the rule, else the index of the first wrong character; len(text) if cut short."""
        state, of, step = self.begin, self.classes.of, self.step
        for at, char in enumerate(text):
            kind = of(char)
            if kind < 0:
                return at
            state = step(state, kind)
            candidates, ends = self._states[state]
            if not candidates and (not ends or at + 1 < len(text)):
                return at + 1 if ends else at
            if len(self._states) > MAX_CACHED:
                state = self._forget(state)
        return None if self._states[state][1] else len(text)

    def _forget(self, state: int) -> int:
        """Start the cache anew with one state; return its number."""
        kept = self._states[state]
        self._moves, self._numbers, self._states = {}, {}, []
        self.begin = self._number((self.positions.first, self.positions.empty))
        return self._number(kept)

    def expected(self, text: str) -> Ranges:
        """Return the characters that may follow a text; none when no text of the rule begins with it."""
        state = self.begin
        for char in text:
            kind = self.classes.of(char)
            if kind < 0:
                return ()
            state = self.step(state, kind)
        return normal(span for at in self._states[state][0] for span in self.positions.ranges[at])

    def kinds(self, state: int) -> list[int]:
        """Return the classes that lead on from a state, the readable ones first."""
        within, ranges = self.classes.within, self.positions.ranges
        found = {kind for at in self._states[state][0] for kind in within[ranges[at]]}
        return sorted(found, key=lambda kind: _order(self.classes.sample[kind]))

    def shortest(self) -> str | None:
        """Return a shortest text of the rule; None when it has none."""
        return _search(self.begin, self._branches, self.ends, self.name)

    def _branches(self, state: int) -> Iterator[tuple[str, int]]:
        for kind in self.kinds(state):
            yield self.classes.sample[kind], self.step(state, kind)

    def finite(self) -> bool:
        """Return True when there is a longest text: no position can recur."""
        follow = self.positions.follow
        colour = bytearray(len(follow))
        for root in self.positions.first:
            stack: list[tuple[int, int]] = [(root, 0)]
            while stack:
                at, child = stack.pop()
                if child == 0:
                    if colour[at] == 2:
                        continue
                    colour[at] = 1
                if child < len(follow[at]):
                    stack.append((at, child + 1))
                    to = follow[at][child]
                    if colour[to] == 1:
                        return False
                    if colour[to] == 0:
                        stack.append((to, 0))
                else:
                    colour[at] = 2
        return True


def _order(char: str) -> tuple[bool, bool, str]:
    return (not (char.isascii() and char.isalnum()), not (char.isascii() and char.isprintable()), char)


def dfa(grammar: Grammar, rule: str) -> Dfa:
    """Make the automaton of a rule. Raises NotRegularError, TooLargeError, or AbnfError for prose and missing rules."""
    return Dfa(positions(grammar, rule), rule)


def difference(a: Dfa, b: Dfa) -> str | None:
    """Return a shortest text that only one of the two derives; None when they derive the same texts."""
    return _apart(a, b, lambda left, right: left != right)


def missing(a: Dfa, b: Dfa) -> str | None:
    """Return a shortest text that `a` derives and `b` does not; None when `b` derives all texts of `a`."""
    return _apart(a, b, lambda left, right: left and not right)


def _apart(a: Dfa, b: Dfa, differ: Callable[[bool, bool], bool]) -> str | None:
    joint = Classes((*a.positions.ranges, *b.positions.ranges))
    kinds = [(char, a.classes.of(char), b.classes.of(char)) for char in sorted(joint.sample, key=_order)]

    def branches(pair: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        left, right = set(a.kinds(pair[0])), set(b.kinds(pair[1]))
        for char, one, other in kinds:
            if one in left or other in right:
                yield char, (a.step(pair[0], one), b.step(pair[1], other))

    return _search(
        (a.begin, b.begin), branches, lambda pair: differ(a.ends(pair[0]), b.ends(pair[1])), f"{a.name}, {b.name}"
    )


def ambiguity(grammar: Grammar, rule: str) -> str | None:
    """Return a shortest text that the rule derives in two ways; None when each text has one.

    Two ways are two different sequences of characters of the rules; derivations that differ only in the empty parts
    left out count as one. Raises the errors of `dfa`.
    """
    whole = positions(grammar, rule)
    classes = Classes(whole.ranges)
    common: dict[tuple[Ranges, Ranges], str | None] = {}

    def shared(one: int, other: int) -> str | None:
        key = whole.ranges[one], whole.ranges[other]
        if key not in common:
            both = set(classes.within[key[0]]) & set(classes.within[key[1]])
            common[key] = min((classes.sample[kind] for kind in both), key=_order, default=None)
        return common[key]

    def after(at: int) -> tuple[int, ...]:
        return whole.first if at < 0 else whole.follow[at]

    def branches(pair: tuple[int, int, bool]) -> Iterator[tuple[str, tuple[int, int, bool]]]:
        left, right, parted = pair
        for one in after(left):
            for other in after(right):
                # Until the two ways part they are one, and the order of the pair has no meaning.
                if (parted or one <= other) and (char := shared(one, other)) is not None:
                    low, high = (one, other) if one <= other else (other, one)
                    yield char, (low, high, parted or one != other)

    def goal(pair: tuple[int, int, bool]) -> bool:
        left, right, parted = pair
        return parted and whole.last[left] and whole.last[right]

    return _search((-1, -1, False), branches, goal, rule)


def _search(
    start: _S, branches: Callable[[_S], Iterable[tuple[str, _S]]], goal: Callable[[_S], bool], name: str
) -> str | None:
    """Search breadth-first; return the text of the nearest goal, None when there is none."""
    came: dict[_S, tuple[_S, str]] = {}
    seen = {start}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if goal(here):
            text: list[str] = []
            while here != start:
                here, char = came[here]
                text.append(char)
            return "".join(reversed(text))
        for char, to in branches(here):
            if to not in seen:
                seen.add(to)
                came[to] = (here, char)
                waiting.append(to)
        if len(seen) > MAX_PAIRS:
            raise TooLargeError(0, f"more than {MAX_PAIRS} states to examine", name)
    return None


__all__ = ["Classes", "Dfa", "NotRegularError", "TooLargeError", "ambiguity", "dfa", "difference", "missing"]
