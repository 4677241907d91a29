"""Proves that a generated text is a name, or is none, under every reading.

Two parsers must agree: the automaton of the grammar's rule, and the compiled `re` that bulk judging uses. They are made
from one ABNF in different ways (sets of positions against backtracking) and share only the grammar's tree. Lark on the
shipped files would be a third way; at 30 ms a name and seconds to load, it serves the project's tests, like the package
`abnf`. If the two disagree, the harness is at fault and judges nothing.
"""

from __future__ import annotations

import re
from functools import cache

from conformance.grammar.automaton import Dfa, dfa
from conformance.grammar.extremes import narrowest, widest
from conformance.grammar.regex import compiled
from conformance.grammar.sources import RULES, version_of
from conformance.grammar.tree import Grammar


class ParsersDisagree(Exception):
    """The two parsers of the harness disagree on a text, so neither can support a verdict."""

    def __init__(self, text: str, form: str, where: str, automaton: bool) -> None:
        accepts, refuses = ("automaton", "expression") if automaton else ("expression", "automaton")
        shown = ascii(text if len(text) <= 80 else text[:77] + "...")
        super().__init__(f"As a {form} of {where}, {shown} is accepted by our {accepts} and refused by our {refuses}.")


def is_none(text: str, form: str, version: str) -> bool:
    """Return True if no reading takes a text for a name. version: `4.0` or a profile. Raises ParsersDisagree."""
    return not _accepts(text, form, widest(version_of(version)))


def is_sure(text: str, form: str, version: str) -> bool:
    """Return True if all readings take a text for a name, keywords apart. Raises ParsersDisagree."""
    return _accepts(text, form, narrowest(version_of(version)))


def _accepts(text: str, form: str, grammar: Grammar) -> bool:
    automaton, expression = _parsers(grammar, form)
    accepts = automaton.accepts(text)
    if accepts != bool(expression.fullmatch(text)):
        raise ParsersDisagree(text, form, grammar.where, accepts)
    return accepts


@cache
def _parsers(grammar: Grammar, form: str) -> tuple[Dfa, re.Pattern[str]]:
    return dfa(grammar, RULES[form]), compiled(grammar, RULES[form])
