"""One text to both parsers of names: they give the same answer, or their own error."""

from __future__ import annotations

from conformance.grammar.automaton import dfa
from conformance.grammar.names import FORMS, NameError_, bulk
from conformance.grammar.sources import RULES, load

GRAMMAR, NAMES = load("4.0"), bulk("4.0")
AUTOMATA = {form: dfa(GRAMMAR, RULES[form]) for form in FORMS}


def one_answer(text: str, form: str) -> bool:
    """Whether the text is a name, which the automaton must answer alike."""
    try:
        name = NAMES.parse(text, form)
    except NameError_:
        belongs = False
    else:
        belongs = True
        assert str(name) == text
        assert name.parts
    assert AUTOMATA[form].accepts(text) == belongs
    return belongs
