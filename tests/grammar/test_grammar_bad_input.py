"""Hostile and made-up texts are answered."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from name_answers import one_answer
from nightly import amount, fewer

from conformance.files import resource
from conformance.grammar.abnf import AbnfError, read
from conformance.grammar.automaton import MAX_CACHED, Dfa, dfa
from conformance.grammar.bulk import compiled
from conformance.grammar.names import FORMS, parser_of, tree_of
from conformance.grammar.sources import RULES, load, reading_set
from tools.grammar_files import shipped

MIB = 1 << 20
LENGTH = amount("grammar.mebibytes-of-a-text") * MIB
LONG = [
    "a" * LENGTH,
    "DIRECT=OS:" + "a" * LENGTH,
    "\\" * LENGTH,
    "," * LENGTH,
    "\x00" * (LENGTH // 10),
    "\ud800" * (LENGTH // 10),
    "DIRECT=OS:h\\q," * (MIB // 16),
    "DL=00000000-0000-0000-0000-000000000000@a," * (MIB // 64),
    "DIRECT=HTTP://h/msmq/private$/" * 1000,
]


@pytest.mark.parametrize("form", RULES)
@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_long_text_is_answered(form: str, text: str) -> None:
    rule = dfa(load("4.0"), RULES[form])
    assert not rule.accepts(text)
    assert compiled(load("4.0"), RULES[form]).fullmatch(text) is None


def test_a_long_name_is_accepted() -> None:
    text = ",".join(["DIRECT=OS:h\\q"] * 20_000)
    assert dfa(load("4.0"), "MultipleElementName").accepts(text)
    assert not dfa(load("4.0"), "MultipleElementName").accepts(text + ",")


def test_the_states_kept_are_bounded() -> None:
    """Where commas belong to domains, every comma begins a further way to read on."""
    grammar = load("4.0", reading_set("windows") | {"R-MQMQ-comma": "belongs"})
    rule: Dfa = dfa(grammar, "MultipleElementName")
    text = ",".join(f"DL={n:08x}-0000-0000-0000-000000000000@{'a' * (n % 97 + 1)}" for n in range(4000))
    assert rule.accepts(text)
    assert len(rule._states) <= MAX_CACHED + 1


@pytest.mark.parametrize("char", ["\x00", "\t", "\n", "\x1b", "\x7f", "\ud800", "\udfff", "\ufeff", "\u202e"])
@pytest.mark.parametrize("version", ["1.0", "2.0", "4.0"])
def test_odd_characters_do_not_belong_to_computers(char: str, version: str) -> None:
    rule = dfa(load(version), "QueuePathName")
    assert not rule.accepts(f"c{char}d\\q")
    assert rule.accepts("cd\\q")


def test_an_earley_parser_is_not_given_what_it_would_hang_on() -> None:
    parser = parser_of(shipped("format_name", "4.0"))
    with pytest.raises(AbnfError, match="not parsed to a tree"):
        tree_of(parser, "DIRECT=OS:" + "a" * 100_000)
    assert tree_of(parser, "DIRECT=OS:" + "\x00" * 100) is None


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
