"""Checks that a grammar of valid ABNF is usable as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from conformance.grammar.tree import CORE, AbnfError, Alt, Chars, Grammar, Lit, Node, Prose, Ref, Rep, Seq, walk
from conformance.grammar.unions import single

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
