"""Fuzzes the parser of names with atheris: python tests/grammar/fuzz_names.py NEW fixtures/names/corpus.

libFuzzer writes what it finds into the folder NEW. Not collected by pytest: atheris has no wheel for every platform.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["conformance.grammar"]):
    from name_answers import one_answer

    from conformance.grammar.names import FORMS


def once(data: bytes) -> None:
    """One input, as each form."""
    text = data.decode("utf-8", "surrogateescape")
    for form in FORMS:
        one_answer(text, form)


if __name__ == "__main__":
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()
