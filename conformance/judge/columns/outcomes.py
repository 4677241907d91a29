"""All packet rules as emitted code: what each says of a packet, two bits for each tree that can decide.

The pair of bits is 0 not applicable, 1 holds, 2 broken, 3 undecided. A rule that a reading decides has a pair for each
alternative, so that the code is the same whatever the readings, profile and level are; `findings` puts them together
as `judge.packets` does. Pairs fill `WORDS` words of 31 each, the *outcome* of the packet; packets have few different
ones, so they are numbered in a table and counted there (see `kernel`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.judge.columns.trees import Texts, Trees
from conformance.judge.expr import keys_in
from conformance.judge.packets import REMOTE_RULES, RULES
from conformance.judge.rules import Rule
from conformance.wire.columns.frames import PARAMETERS, Frame, closed, written
from conformance.wire.columns.shapes import Shapes, UnknownShapeError

PAIRS = 31
"""Pairs of bits in a word: a word stays positive."""
MOST_LINES = 60
"""Trees in one function: what a compiler needs for a function grows faster than the function."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Where a tree's two bits are."""

    rule: Rule
    alternative: str
    word: int
    shift: int


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that can only apply where these sections are. name: of the function that judges them."""

    name: str
    sections: frozenset[str]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeCode:
    """source: the functions. groups: in the order they are to be called. pairs: of all rules. words: how many."""

    source: str
    groups: tuple[Group, ...]
    pairs: tuple[Pair, ...]
    words: int


def all_rules() -> tuple[Rule, ...]:
    """The rules of every transport, each once."""
    return (*RULES, *REMOTE_RULES)


def pairs_of(groups: Iterable[Group]) -> tuple[Pair, ...]:
    """A pair of bits for each tree of the rules, group after group."""
    out: list[Pair] = []
    for group in groups:
        for rule in group.rules:
            for name in rule.alternatives():
                word, at = divmod(len(out), PAIRS)
                out.append(Pair(rule, name, word, 2 * at))
    return tuple(out)


def groups_of(rules: Iterable[Rule], shapes: Shapes) -> tuple[Group, ...]:
    """Rules by the sections they need to apply, few enough together to be compiled as one function.

    Rules that never apply to a packet judged by columns are left out: those about signatures.
    """
    by: dict[frozenset[str], list[Rule]] = {}
    for rule in rules:
        sections = needed(rule, shapes)
        if Trees(Frame(shapes, sections), Texts(0)).tri(rule.applies).true is not False:
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
    """The sections without which the rule never applies."""
    out: set[str] = set()
    for key in keys_in(rule.applies):
        place = shapes.places.get(key)
        if place is None or not place.section or place.section in out:
            continue
        trial = Trees(Frame(shapes, absent=frozenset({place.section})), Texts(0))
        if trial.tri(rule.applies).true is False:
            out.add(place.section)
    # Every rule is about a packet with a BaseHeader: a Ping has none and is not judged.
    return closed({"BaseHeader", *out})


def outcome_code(shapes: Shapes, first: int, rules: Iterable[Rule] | None = None) -> OutcomeCode:
    """The functions that judge. first: the slot the words begin at.

    Raises UnknownShapeError for a rule there is no code for.
    """
    groups = groups_of(all_rules() if rules is None else rules, shapes)
    pairs = pairs_of(groups)
    texts = Texts(shapes.slots["Packet.letters"])
    at = {(pair.rule.id, pair.alternative): pair for pair in pairs}
    if len(at) != len(pairs):
        raise UnknownShapeError("two rules have one id")
    functions = [_function(group, shapes, texts, at, first) for group in groups]
    return OutcomeCode(
        "\n\n".join([*texts.source.values(), *functions]),
        groups,
        pairs,
        pairs[-1].word + 1 if pairs else 0,
    )


def _function(group: Group, shapes: Shapes, texts: Texts, at: Mapping[tuple[str, str], Pair], first: int) -> str:
    frame = Frame(shapes, group.sections)
    trees = Trees(frame, texts)
    words: dict[int, list[str]] = {}
    for rule in group.rules:
        applies = trees.tri(rule.applies).true
        if applies is False:
            continue
        for name, tree in rule.alternatives().items():
            true, false = trees.tri(tree)
            pair = at[rule.id, name]
            code = _pair(written(true), written(false), total=_total(true, false))
            code = frame.name(code)
            code = code if applies is True else f"{written(applies)} * {code}"
            words.setdefault(pair.word, []).append(frame.name(f"(({code}) << {pair.shift})"))
    lines = [f"    {line}" for line in frame.lines]
    for word, parts in words.items():
        lines.append(f"    w = get(o, {first + word})")
        lines += [f"    w |= {part}" for part in parts]
        lines.append(f"    put(o, {first + word}, w)")
    title = ", ".join(sorted(group.sections, key=shapes.bit))
    return "\n".join(
        [f"def {group.name}({PARAMETERS}):", f'    """Rules that need {title}"""', *lines, "    return 0", ""]
    )


def _total(true: object, false: object) -> bool:
    """Whether the two truths are each other's opposite as they are written."""
    return (isinstance(true, bool) and true is not false) or false == f"(1 - {true})" or true == f"(1 - {false})"


def _pair(true: str, false: str, *, total: bool) -> str:
    """1 when true, 2 when false, 3 when neither; without a branch."""
    return f"(2 - {true})" if total else f"(3 - 2 * {true} - {false})"
