"""Fuzzes the parser of names with atheris: python tests/grammar/fuzz_names.py fixtures/names/corpus [libFuzzer options].

Not collected by pytest: atheris has no wheel for every platform.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from test_grammar_fuzz import one_answer

    from conformance.grammar.names import FORMS


def once(data: bytes) -> None:
    """One input, as each form."""
    text = data.decode("utf-8", "surrogateescape")
    for form in FORMS:
        one_answer(text, form)


if __name__ == "__main__":
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()
