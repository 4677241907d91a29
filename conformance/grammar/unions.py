"""Recognises nodes that are always one character."""

from __future__ import annotations

from conformance.grammar.tree import Alt, Chars, Grammar, Lit, Node, Ranges, Ref, fold_case, normal


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
