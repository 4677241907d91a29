"""All packet rules as machine code: two bits for each tree that can decide, one for true and one for false."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, assert_never

from conformance.judge.packets.judge import ALL_RULES
from conformance.judge.packets.message_facts import ODD, SENDER, TARGET
from conformance.judge.packets.signatures import PLACES
from conformance.judge.rules import (
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
    Rule,
    Spelled,
    Times,
    describe,
    keys_in,
)
from conformance.wire.columns.frames import Reads, Truth, WideFrame, closed, every, opposite, some
from conformance.wire.columns.shapes import Place, Shapes, Sort, UnknownShapeError, is_among
from conformance.wire.columns.table import Judged
from conformance.wire.columns.walkers import direct_name, equals, starts_with

# Facts that only a certificate gives. Packets with one are judged elsewhere; no other packet has these facts.
OF_CERTIFICATES = (*(f"{prefix}." for _, prefix, _ in PLACES), "Packet.Certificate.")
# Facts that no packet judged here has: those, and the headers of HTTP messages, the queue that a report names, and an
# address in the place of an identifier, which are left to the other path.
UNTOLD = (
    *OF_CERTIFICATES, "Packet.Envelope", "Packet.SrmpOrder", "SRMPEnvelopeHeader.", "CompoundMessageHeader.",
    TARGET, SENDER,
)  # fmt: skip
_OPS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NUMBERS = (Sort.NUMBER, Sort.FLAG)


class Tri(NamedTuple):
    """The conditions under which a tree is true and under which it is false."""

    true: Truth
    false: Truth


class Number(NamedTuple):
    """A number, and the condition under which it is known."""

    known: Truth
    source: str


@dataclass(slots=True)
class Texts:
    """The functions that compare with one text, made once for all rules. source: by name."""

    source: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def function(self, what: str, text: str) -> str:
        """Return the name of the function that checks whether a text `is` or `begins` with this one, or is a
        `direct` format name."""
        name = self._names.setdefault((what, text), f"{what}_{len(self._names)}")
        made = (
            direct_name(name) if what == "direct" else equals(name, text) if what == "is" else starts_with(name, text)
        )
        self.source[name] = made
        return name


@dataclass(slots=True)
class Trees:
    """Rule trees emitted into one frame."""

    frame: WideFrame
    texts: Texts

    def tri(self, expr: Expr) -> Tri:
        """Emit a tree as two conditions. Raises UnknownShapeError for a tree that cannot be emitted."""
        match expr:
            case Const(value):
                return Tri(bool(value), not value)
            case Has(key):
                there = self._presence(key)
                return Tri(there, opposite(there))
            case Compare():
                return self._compare(expr)
            case In(value, values):
                return self._known(self._number(value), lambda source: self.frame.name(is_among(source, values)))
            case Begins(key, text):
                return self._begins(key, text)
            case Spelled(key):
                return self._begins(key, "", "direct")
            case And(parts):
                found = [self.tri(part) for part in parts]
                return Tri(self._all(one.true for one in found), self._any(one.false for one in found))
            case Or(parts):
                found = [self.tri(part) for part in parts]
                return Tri(self._any(one.true for one in found), self._all(one.false for one in found))
            case Not(part):
                inner = self.tri(part)
                return Tri(inner.false, inner.true)
            case Field() | Masked() | Plus() | Times() | Rest() | ByteAt():
                return self._known(self._number(expr), lambda source: f"({source} != 0)")
        assert_never(expr)

    def _all(self, truths: object) -> Truth:
        return self.frame.truth(every(*truths))  # type: ignore[misc]

    def _any(self, truths: object) -> Truth:
        return self.frame.truth(some(*truths))  # type: ignore[misc]

    def _known(self, number: Number, of: object) -> Tri:
        if number.known is False:
            return Tri(False, False)
        source = of(number.source)  # type: ignore[operator]
        return self._settled(number.known, source)

    def _settled(self, known: Truth, source: str) -> Tri:
        true = self.frame.truth(every(known, source))
        return Tri(true, opposite(true) if known is True else self.frame.truth(every(known, opposite(source))))

    def _place(self, key: str) -> Place | None:
        """Return the place of a key; None for a key that no packet judged here has."""
        return None if key.startswith(UNTOLD) else self.frame.shapes.place(key)

    def _presence(self, key: str) -> Truth:
        place = self._place(key)
        return False if place is None else self.frame.presence(place)

    def _number(self, expr: Expr) -> Number:
        match expr:
            case Const(value) if isinstance(value, int):
                return Number(True, str(int(value)))
            case Field(key):
                there = self._presence(key)
                if there is False:
                    return Number(False, "0")
                place = self.frame.shapes.place(key)
                if place.sort not in _NUMBERS:
                    raise UnknownShapeError(f"{key} is taken for a number")
                return Number(there, self.frame.value(place))
            case Masked(value, mask):
                return self._of(value, f"({{}} & {mask:#x})")
            case Times(value, factor):
                return self._of(value, f"({{}} * {factor})")
            case Rest(value, by):
                return self._of(value, f"({{}} & {by - 1})" if by & (by - 1) == 0 else f"({{}} % {by})")
            case Plus(left, right):
                one, other = self._number(left), self._number(right)
                return Number(self.frame.truth(every(one.known, other.known)), f"({one.source} + {other.source})")
            case ByteAt(key, index):
                return self._byte(key, index)
        raise UnknownShapeError(f"no code for {describe(expr)} as a number")

    def _of(self, value: Expr, source: str) -> Number:
        inner = self._number(value)
        return Number(inner.known, self.frame.name(source.format(inner.source)))

    def _byte(self, key: str, index: int) -> Number:
        there = self._presence(key)
        if there is False:
            return Number(False, "0")
        place = self.frame.shapes.place(key)
        if place.sort is not Sort.BYTES:
            raise UnknownShapeError(f"{key} is taken for bytes")
        known = self.frame.truth(every(there, f"({self.frame.size(place)} > {index})"))
        return Number(known, self.frame.reads.byte(place, index))

    def _begins(self, key: str, text: str, what: str = "begins") -> Tri:
        there = self._presence(key)
        if there is False:
            return Tri(False, False)
        place = self.frame.shapes.place(key)
        return self._settled(there, self._text(place, what, text))

    def _text(self, place: Place, what: str, text: str) -> str:
        """Emit whether a text `is` or `begins` with this one, or is a `direct` name; unusual letters may decide the
        latter two."""
        if place.sort is not Sort.TEXT:
            raise UnknownShapeError(f"{place.key} is taken for a text")
        call = f"{self.texts.function(what, text)}({{at}}, {{chars}})"
        return self.frame.name(f"({self.frame.reads.text(place, call, decides=what != 'is')} == 1)")

    def _compare(self, expr: Compare) -> Tri:
        left, right = expr.left, expr.right
        if isinstance(left, Const) and not isinstance(right, Const):
            raise UnknownShapeError(f"write {describe(expr)} with the field in front")
        if isinstance(left, Field):
            place = self._place(left.key)
            if place is None:
                return Tri(False, False)
            if place.sort not in _NUMBERS:
                return self._compare_whole(expr, place)
            if isinstance(right, Const) and not isinstance(right.value, int):
                raise UnknownShapeError(f"{describe(expr)} compares a number with no number")
        one, other = self._number(left), self._number(right)
        for side in (left, right):
            if isinstance(side, Field) and (place := self._place(side.key)) and place.width == 8 and not place.mask:
                raise UnknownShapeError(f"{describe(expr)} compares 64 bits, which wrap")
        known = every(one.known, other.known)
        if known is False:
            return Tri(False, False)
        return self._settled(known, self.frame.name(f"({one.source} {_OPS[expr.op]} {other.source})"))

    def _compare_whole(self, expr: Compare, place: Place) -> Tri:
        """Emit equality of values that are not numbers: enumeration words, GUIDs, texts."""
        right = expr.right
        if expr.op not in ("eq", "ne"):
            raise UnknownShapeError(f"no code for {describe(expr)}")
        there = self.frame.presence(place)
        if isinstance(right, Field):
            other = self._place(right.key)
            there = every(there, False if other is None else self.frame.presence(other))
        else:
            other = None
        if there is False:
            return Tri(False, False)
        same: Truth
        if place.sort is Sort.WORD and isinstance(right, Const) and isinstance(right.value, str):
            same = self._word(place, right.value)
        elif place.sort is Sort.TEXT and isinstance(right, Const) and isinstance(right.value, str):
            same = self._text(place, "is", right.value)
        elif place.sort is Sort.GUID:
            same = self._guid(place, right, other)
        else:
            raise UnknownShapeError(f"no code for {describe(expr)}")
        true, false = every(there, same), every(there, opposite(same))
        true, false = self.frame.truth(true), self.frame.truth(false)
        return Tri(true, false) if expr.op == "eq" else Tri(false, true)

    def _word(self, place: Place, word: str) -> Truth:
        if place.fact == "const":
            return place.words[place.size] == word
        if word not in place.words:
            raise UnknownShapeError(f"{place.key} is never {word}")
        return self.frame.name(f"({self.frame.value(place)} == {place.words.index(word)})")

    def _guid(self, place: Place, right: Expr, other: Place | None) -> Truth:
        reads = self.frame.reads
        if other is not None and other.sort is Sort.GUID:
            halves = [reads.half(other, by) for by in (0, 8)]
        elif isinstance(right, Const) and isinstance(right.value, str):
            raw = uuid.UUID(right.value).bytes_le
            halves = [str(int.from_bytes(raw[by : by + 8], "little", signed=True)) for by in (0, 8)]
        else:
            raise UnknownShapeError(f"{place.key} is a GUID and is compared with none")
        same = [f"({reads.half(place, by)} == {half})" for by, half in zip((0, 8), halves, strict=True)]
        return self.frame.name(f"({' & '.join(same)})")


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
