"""Applies an overlay to the rules of a document: arrangements, completions, corrections."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.grammar.abnf import read_parts
from conformance.grammar.tree import AbnfError, Alt, Chars, Grammar, Lit, Node, Rep, Rule, Seq, fold_case, normal
from conformance.grammar.unions import single
from conformance.spec.catalogue import alternative_of

VERSIONS = ("1.0", "2.0", "4.0")
KINDS = ("arrangement", "completion", "correction")
_MEMBERS = {"rules", "versions", "source", "when", "except", "prefix"}


@dataclass(frozen=True, slots=True)
class CorrectionStep:
    """One entry of an overlay. when: reading to the alternative it is for; empty for an entry that always holds."""

    kind: str
    rules: tuple[Rule, ...]
    versions: tuple[str, ...]
    when: Mapping[str, str]
    words: Mapping[str, tuple[str, ...]]
    prefixes: Mapping[str, tuple[str, ...]]

    def applies(self, version: str, readings: Mapping[str, str]) -> bool:
        """Return True when the entry holds for this version under these readings."""
        return version in self.versions and all(readings.get(name) == each for name, each in self.when.items())


def read_overlay(path: Path) -> tuple[CorrectionStep, ...]:
    """Read the steps of an overlay file: arrangements, then completions, then corrections, each in their order.

    Raises AbnfError for a file that is not as described in `grammars/names.overlay.toml`, CatalogueError for a reading
    or alternative that is not in the register.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise AbnfError(0, f"is not valid TOML: {error}", path.name) from None
    strange = set(content) - set(KINDS)
    if strange:
        raise AbnfError(0, f"{', '.join(sorted(strange))} is none of {', '.join(KINDS)}", path.name)
    return tuple(_step(kind, entry, path.name) for kind in KINDS for entry in content.get(kind, ()))


def _step(kind: str, entry: Mapping[str, object], where: str) -> CorrectionStep:
    versions = _words(entry.get("versions", VERSIONS))
    when = entry.get("when", {})
    if set(entry) - _MEMBERS or not set(versions) <= set(VERSIONS) or not isinstance(when, dict):
        raise AbnfError(0, f"a {kind} has members or versions that are unknown: {entry}", where)
    if (kind == "correction") != bool(when) or (kind == "completion") != ("source" in entry):
        raise AbnfError(0, "a correction has `when`, a completion has `source`, and no other has them", where)
    for name, alternative in when.items():
        alternative_of(name, alternative)
    text = str(entry.get("rules", ""))
    rules = read_parts(text, where=f"{where}, {kind}") if text else ()
    return CorrectionStep(kind, rules, versions, when, _lists(entry.get("except", {})), _lists(entry.get("prefix", {})))


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Iterable) else ()


def _lists(value: object) -> dict[str, tuple[str, ...]]:
    return {name: _words(words) for name, words in value.items()} if isinstance(value, dict) else {}


def apply(grammar: Grammar, steps: Iterable[CorrectionStep]) -> Grammar:
    """Return the grammar after these steps. Exclusions are applied at the end, to the rules as they are then."""
    words: dict[str, tuple[str, ...]] = {}
    prefixes: dict[str, tuple[str, ...]] = {}
    for step in steps:
        grammar = grammar.with_rules(step.rules)
        for have, more in ((words, step.words), (prefixes, step.prefixes)):
            for name, each in more.items():
                have[name] = tuple(dict.fromkeys((*have.get(name, ()), *each)))
    taken = []
    for name in dict.fromkeys((*words, *prefixes)):
        rule = grammar.rule(name)
        taken.append(Rule(rule.name, without(grammar, rule, words.get(name, ()), prefixes.get(name, ())), rule.line))
    return grammar.with_rules(taken)


def without(grammar: Grammar, rule: Rule, words: tuple[str, ...], prefixes: tuple[str, ...]) -> Node:
    """Exclude these words and all texts with these prefixes, in any case; each text keeps one derivation.

    The rule must be a repetition of one character between two bounds. Raises AbnfError for another rule.
    """
    if not isinstance(rule.node, Rep) or rule.node.most is None or (ranges := single(grammar, rule.node.node)) is None:
        raise AbnfError(rule.line, f"words can be taken out of a bounded repetition only, not of {rule.name}")
    least, most, char = rule.node.least, rule.node.most, rule.node.node
    ends = {each.upper() for each in words}
    forbidden = {each.upper() for each in prefixes}
    stems = {each[:at] for each in ends | forbidden for at in range(len(each) + 1)}

    def behind(stem: str) -> Iterator[Node]:
        """Return the node of everything that may follow the stem."""
        at = len(stem)
        if stem in forbidden:
            return
        if at >= least and stem not in ends:
            yield Seq(())
        if at == most:
            return
        nexts = sorted(each[-1] for each in stems if len(each) == at + 1 and each.startswith(stem))
        rest = _less(ranges, nexts)
        if rest:
            more = Rep(max(0, least - at - 1), most - at - 1, char)
            yield Seq((Chars(rest), more)) if at + 1 < most else Chars(rest)
        for letter in nexts:
            following = list(behind(stem + letter))
            if following:
                yield Seq((Lit(letter), _choice(following)))

    return _choice(list(behind("")))


def _choice(nodes: list[Node]) -> Node:
    """Return the alternatives; an empty one makes the others an option."""
    empty = [node for node in nodes if node == Seq(())]
    others = [node for node in nodes if node != Seq(())]
    whole: Node = others[0] if len(others) == 1 else Alt(tuple(others))
    return Rep(0, 1, whole) if empty and others else whole if others else Seq(())


def _less(ranges: Iterable[tuple[int, int]], letters: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Return the ranges without these letters, in any case."""
    holes = normal(span for letter in letters for span in fold_case(letter))
    left = list(ranges)
    for first, last in holes:
        left = [
            part
            for low, high in left
            for part in ((low, min(high, first - 1)), (max(low, last + 1), high))
            if part[0] <= part[1]
        ]
    return normal(left)
