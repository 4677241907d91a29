"""The grammars that ship in the package `abnf`, as it has them and as our reader reads them."""

from __future__ import annotations

import importlib
import pkgutil

import abnf.grammars
from abnf import Rule

from conformance.grammar.abnf import read_parts
from conformance.grammar.tree import Grammar, Prose

MODULES = tuple(
    name for _, name, _ in pkgutil.iter_modules(abnf.grammars.__path__) if name.startswith(("rfc", "cors"))
)


def second(module: str) -> type[Rule]:
    """The package's own rules."""
    found = importlib.import_module(f"abnf.grammars.{module}").Rule
    assert issubclass(found, Rule)
    return found


def ours(module: str) -> Grammar:
    """The same text read by us; rules taken over from other modules come from our reading of those."""
    rules = second(module)
    text = rules.grammar if isinstance(rules.grammar, str) else "\n".join(rules.grammar)
    grammar = Grammar(read_parts(text, where=module), where=module)
    for name, source in getattr(rules, "_imported_rules", ()):
        other = ours(type(source).__module__.rsplit(".", 1)[-1])
        needed = {key: rule for key, rule in other.reachable(source.name).items() if key in other.rules}
        taken = needed.pop(source.name.casefold())
        missing = [rule for key, rule in needed.items() if key not in grammar.rules]
        grammar = grammar.with_rules([*missing, type(taken)(name, taken.node, taken.line)], where=module)
    return grammar


def prose(grammar: Grammar, rule: str) -> bool:
    """Whether the rule needs one that is only described in words."""
    from conformance.grammar.tree import walk

    return any(isinstance(node, Prose) for each in grammar.reachable(rule).values() for node in walk(each.node))
