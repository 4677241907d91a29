"""The grammars that ship in the package `abnf`, as it has them and as our reader reads them."""

from __future__ import annotations

import importlib
import pkgutil

import abnf.grammars
from abnf import Rule

from conformance.grammar.abnf import read_parts
from conformance.grammar.sources import renamed
from conformance.grammar.tree import Grammar, Prose, Ref, walk
from conformance.grammar.tree import Rule as Rule_

MODULES = tuple(name for _, name, _ in pkgutil.iter_modules(abnf.grammars.__path__) if name.startswith(("rfc", "cors")))


def second(module: str) -> type[Rule]:
    """The package's own rules."""
    found = importlib.import_module(f"abnf.grammars.{module}").Rule
    assert issubclass(found, Rule)
    return found


def ours(module: str, above: tuple[str, ...] = ()) -> Grammar:
    """The same text read by us; rules taken over from other modules come from our reading of those.

    A rule taken over from a module that itself is waiting for this one stays as its own module has it.
    """
    rules = second(module)
    text = rules.grammar if isinstance(rules.grammar, str) else "\n".join(rules.grammar)
    grammar = Grammar(read_parts(text, where=module), where=module)
    for name, source in getattr(rules, "_imported_rules", ()):
        origin = type(source).__module__.rsplit(".", 1)[-1]
        if origin in (*above, module) or origin not in MODULES:
            continue
        other = ours(origin, (*above, module))
        # What a rule taken over refers to is meant as its own module means it, whatever has that name here.
        theirs = {key: rule for key, rule in other.reachable(source.name).items() if key in other.rules}
        names = {
            key: rule.name if rule.name.startswith("from-") else f"from-{origin}-{rule.name}"
            for key, rule in theirs.items()
        }
        moved = [Rule_(names[key], renamed(rule.node, names), rule.line) for key, rule in theirs.items()]
        alias = Rule_(name, Ref(names.get(source.name.casefold(), source.name)))
        grammar = grammar.with_rules([*moved, alias], where=module)
    return grammar


def prose(grammar: Grammar, rule: str) -> bool:
    """Whether the rule needs one that is only described in words."""
    return any(isinstance(node, Prose) for each in grammar.reachable(rule).values() for node in walk(each.node))
