"""Texts nobody wrote, to the reader of ABNF and to the parsers of names: an answer or their own error, nothing else.

`tests/grammar/fuzz_names.py` does the same with atheris, where it is installed.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from name_answers import one_answer
from nightly import fewer

from conformance.grammar.abnf import AbnfError, read
from conformance.grammar.names import FORMS
from conformance.resources import resource

CORPUS = {
    path.stem: path.read_bytes().decode("utf-8", "surrogateescape")
    for path in sorted(resource("fixtures/names/corpus").iterdir())
}
QUICK = settings(
    database=None,
    deadline=None,
    max_examples=fewer(200),
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
PIECES = [
    *("a", "b-1", " = ", " =/ ", '"x"', '%s"y"', "%x41-5A", "%d13.10", "%b1", "*", "1*2", "0", "(", ")", "[", "]"),
    *(" / ", "\n", "\r\n", " ", "\n ", "; note\n", "<p>", '"', "%", "%x", "-", "=", "\x00", "é", "\ud800"),
    *("99999999", "a = b\n"),
]


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus(name: str) -> None:
    for form in FORMS:
        one_answer(CORPUS[name], form)


@QUICK
@given(st.sampled_from(sorted(CORPUS.values())), st.data(), st.sampled_from(FORMS))
def test_names_put_together_from_pieces_of_the_corpus(one: str, data: st.DataObject, form: str) -> None:
    other = data.draw(st.sampled_from(sorted(CORPUS.values())))
    at, behind = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(other)))
    one_answer(one[:at] + other[behind:], form)


@QUICK
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=60))
def test_the_reader_of_abnf_has_its_own_error_for_all_that_is_wrong(text: str) -> None:
    try:
        grammar = read(text)
    except AbnfError as error:
        assert str(error)
    else:
        assert grammar.rules
