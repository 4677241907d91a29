"""All packet rules as emitted code: two bits for each tree that can decide.

The pair of bits is 0 not applicable, 1 holds, 2 broken, 3 undecided. A rule that a reading decides has a pair for each
alternative, so that the code does not depend on readings, profile and level; `findings` combines them as
`judge.packets` does. Pairs fill `WORDS` words of 31 each, the *outcome* of the packet. Packets have few different
outcomes, so a table numbers and counts them (see `kernel`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from conformance.judge.columns.trees import OF_CERTIFICATES, Texts, Trees
from conformance.judge.expr import keys_in
from conformance.judge.packets.judge import ALL_RULES
from conformance.judge.packets.odd import ODD
from conformance.judge.rules import Rule
from conformance.wire.columns.chunks import Judged
from conformance.wire.columns.frames import Truth, closed
from conformance.wire.columns.reads import Reads, WideFrame
from conformance.wire.columns.shapes import Shapes, UnknownShapeError

PAIRS = 31
"""Pairs of bits in a word; 31 keep the word positive."""
MOST_LINES = 60
"""The most trees in one function: compile time grows faster than the function."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The place of a tree's two bits."""

    rule: Rule
    alternative: str
    word: int
    shift: int


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that can apply only where all these sections are present. name: the function that judges them."""

    name: str
    sections: frozenset[str]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeCode:
    """The emitted code. source: the functions. groups: in calling order. pairs: of all rules. words: words of an
    outcome. slots: the words, and the slots that the functions read."""

    source: str
    groups: tuple[Group, ...]
    pairs: tuple[Pair, ...]
    words: int
    slots: int

    def judged(self, shapes: Shapes) -> Judged:
        """Return the functions, and the condition for calling each."""
        calls = [(sum(1 << shapes.bit(one) for one in group.sections), group.name) for group in self.groups]
        return Judged(self.source, calls, self.words, self.slots)


@cache
def signature_rules() -> frozenset[str]:
    """Return the ids of rules that read a certificate; a packet with one has no bits for them."""
    return frozenset(
        rule.id
        for rule in ALL_RULES
        for tree in (rule.applies, *rule.alternatives().values())
        if any(key.startswith(OF_CERTIFICATES) for key in keys_in(tree))
    )


def pairs_of(groups: Iterable[Group]) -> tuple[Pair, ...]:
    """Assign a pair of bits to each tree of the rules, group after group."""
    out: list[Pair] = []
    for group in groups:
        for rule in group.rules:
            for name in rule.alternatives():
                word, at = divmod(len(out), PAIRS)
                out.append(Pair(rule, name, word, 2 * at))
    return tuple(out)


def groups_of(rules: Iterable[Rule], shapes: Shapes) -> tuple[Group, ...]:
    """Group rules by the sections they need, in groups small enough to compile as one function.

    Rules that never apply to a packet judged by columns are left out: those about signatures and HTTP messages.
    """
    by: dict[frozenset[str], list[Rule]] = {}
    for rule in rules:
        sections = needed(rule, shapes)
        trial = Trees(WideFrame(shapes, sections, reads=Reads(shapes, 0)), Texts())
        if trial.tri(rule.applies).true is not False:
            by.setdefault(sections, []).append(rule)
    out: list[Group] = []
    for sections, found in sorted(by.items(), key=lambda item: sorted(shapes.bit(one) for one in item[0])):
        part: list[Rule] = []
        for rule in found:
            if part and sum(len(one.alternatives()) for one in (*part, rule)) > MOST_LINES:
                out.append(Group(f"judge_{len(out)}", sections, tuple(part)))
                part = []
            part.append(rule)
        out.append(Group(f"judge_{len(out)}", sections, tuple(part)))
    return tuple(out)


def needed(rule: Rule, shapes: Shapes) -> frozenset[str]:
    """Return the sections without which the rule never applies."""
    out: set[str] = set()
    for key in keys_in(rule.applies):
        place = shapes.places.get(key)
        if place is None or not place.section or place.section in out:
            continue
        absent = frozenset({place.section})
        trial = Trees(WideFrame(shapes, absent=absent, reads=Reads(shapes, 0)), Texts())
        if trial.tri(rule.applies).true is False:
            out.add(place.section)
    # Every rule is about a packet with a BaseHeader: a Ping has none and is not judged.
    return closed({"BaseHeader", *out})


def outcome_code(shapes: Shapes, first: int, rules: Iterable[Rule] | None = None) -> OutcomeCode:
    """Emit the functions that judge. first: the first slot of the words.

    Raises UnknownShapeError for a rule that cannot be emitted.
    """
    groups = groups_of(ALL_RULES if rules is None else rules, shapes)
    pairs = pairs_of(groups)
    words = pairs[-1].word + 1 if pairs else 0
    texts, reads = Texts(), Reads(shapes, first + words)
    at = {(pair.rule.id, pair.alternative): pair for pair in pairs}
    if len(at) != len(pairs):
        raise UnknownShapeError("two rules have one id")
    groups += (Group("odd_packets", closed({"BaseHeader", "UserHeader"}), ()),)
    functions = [
        _function(group, shapes, texts, reads, at, first) if group.rules else _odd(group, shapes, texts, reads)
        for group in groups
    ]
    source = "\n\n".join([*texts.source.values(), reads.code(), *functions])
    return OutcomeCode(source, groups, pairs, words, words + len(reads.slots))


def _function(
    group: Group, shapes: Shapes, texts: Texts, reads: Reads, at: Mapping[tuple[str, str], Pair], first: int
) -> str:
    frame = WideFrame(shapes, group.sections, reads=reads)
    trees = Trees(frame, texts)
    words: dict[int, dict[Truth, _Sum]] = {}
    for rule in group.rules:
        applies = trees.tri(rule.applies).true
        if applies is False:
            continue
        for name, tree in rule.alternatives().items():
            true, false = trees.tri(tree)
            pair = at[rule.id, name]
            words.setdefault(pair.word, {}).setdefault(applies, _Sum()).pair(true, false, pair.shift)
    mask = sum(1 << shapes.bit(section) for section in group.sections)
    lines = [f"have = noted(o, {shapes.slots['Packet.have']})", f"m = ((have & {mask:#x}) == {mask:#x})", *frame.lines]
    for word, sums in words.items():
        lines.append("w = 0")
        for applies, one in sums.items():
            lines += [f"v = {one.constant}", *(f"v -= {part}" for part in one.less)]
            lines.append("w += v" if applies is True else f"w += ({applies} * v)")
        lines.append(f"note(o, {first + word}, noted(o, {first + word}) + (m * w))")
    title = ", ".join(sorted(group.sections, key=shapes.bit))
    body = [f"    {line}" for line in lines]
    return "\n".join(["@wide", f"def {group.name}(o):", f'    """Rules that need {title}"""', *body, ""])


def _odd(group: Group, shapes: Shapes, texts: Texts, reads: Reads) -> str:
    """Emit the function that marks odd packets, which are judged one by one."""
    frame = WideFrame(shapes, group.sections, reads=reads)
    found = Trees(frame, texts).tri(ODD).true
    mask, slot = sum(1 << shapes.bit(section) for section in group.sections), shapes.slots["Packet.odd"]
    lines = [f"have = noted(o, {shapes.slots['Packet.have']})", f"m = ((have & {mask:#x}) == {mask:#x})", *frame.lines]
    lines.append(f"note(o, {slot}, m * {int(found) if isinstance(found, bool) else found})")
    body = [f"    {line}" for line in lines]
    return "\n".join(
        ["@wide", f"def {group.name}(o):", '    """Packets that another understanding may explain."""', *body, ""]
    )


@dataclass(slots=True)
class _Sum:
    """The pairs of bits under one condition: a constant, and the terms subtracted from it."""

    constant: int = 0
    less: list[str] = field(default_factory=list)

    def pair(self, true: Truth, false: Truth, shift: int) -> None:
        """Add a pair: 1 when true, 2 when false, 3 when neither. This is 2 - true when one truth is the negation of
        the other, else 3 - 2 true - false."""
        if (isinstance(true, bool) and true is not false) or false == f"(1 - {true})" or true == f"(1 - {false})":
            self.constant += 2 << shift
            self._take(true, shift)
        else:
            self.constant += 3 << shift
            self._take(true, shift + 1)
            self._take(false, shift)

    def _take(self, truth: Truth, shift: int) -> None:
        if isinstance(truth, bool):
            self.constant -= truth << shift
        else:
            self.less.append(f"({truth} << {shift})")
