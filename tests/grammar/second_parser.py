"""The second opinion: the package `abnf`, given the same rules as text."""

from __future__ import annotations

from abnf import ParseError, Rule

from conformance.grammar.tree import Grammar
from tools.abnf_text import definitions


class SecondParser:
    """Accepts texts of rules of a grammar of ours: of those given, and of the ones they need."""

    def __init__(self, grammar: Grammar, *starts: str) -> None:
        self.rules: type[Rule] = type(f"Rules{id(self)}", (Rule,), {})
        for text in definitions(grammar, *starts).values():
            self.rules.create(text)
        self.start = starts[0]

    def accepts(self, text: str, rule: str | None = None) -> bool:
        """Whether the text is one of the rule, by default the first that was given."""
        try:
            self.rules(rule or self.start).parse_all(text)
        except ParseError:
            return False
        return True
