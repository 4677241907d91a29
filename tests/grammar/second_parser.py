"""The second opinion: the package `abnf`, given the same rules as text."""

from __future__ import annotations

from abnf import ParseError, Rule

from conformance.grammar.tree import Grammar
from conformance.grammar.writing import to_abnf


class SecondParser:
    """Accepts texts of one rule of a grammar of ours."""

    def __init__(self, grammar: Grammar, start: str) -> None:
        self.rules: type[Rule] = type(f"Rules{id(self)}", (Rule,), {})
        for text in to_abnf(grammar, start).values():
            self.rules.create(text)
        self.start = self.rules(start)

    def accepts(self, text: str) -> bool:
        try:
            self.start.parse_all(text)
        except ParseError:
            return False
        return True
