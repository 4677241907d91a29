"""Lark, the reference, and the bulk path: the same names belong, and are taken apart alike.

LALR is quick, and has the kinds of names it can have in thousands. The other grammars need Earley, which takes
seconds to make and a millisecond a character: one parser a file of `grammars/`, kept, and as many names as there is
time for. A name is drawn once, inside or one edit outside, and long ones are left to the automaton.
"""

from __future__ import annotations

import tomllib
from functools import cache

import pytest
from drawn import drawn
from lark import Lark
from nightly import amount, nightly_only, sample

from conformance.files import resource
from conformance.grammar.automaton import Dfa, dfa
from conformance.grammar.names import (
    FORMAT_NAME,
    FORMS,
    NameError_,
    QueueName,
    bulk,
    name_of,
    parser_of,
    to_lark,
    tree_of,
)
from conformance.grammar.sources import RULES, VERSIONS, WITNESSES, load, reading_set
from conformance.spec.catalogue import catalogue
from conformance.suites.names.checks import section
from tools.grammar_files import shipped
from tools.grammar_witnesses import Witness

NEWEST = VERSIONS[-1]
QUICK_KINDS = ("PublicName", "PrivateName", "DistributionListName", "Machine", "Connector")
LENGTH = 60  # of a drawn text, about
LONGEST = 120  # of a text from a fixture
SECTIONS = ("2.1.1", "2.1.2", "2.1.3", "2.1.4", "2.1.5", "2.1.6", "2.1.7")


def many(version: str) -> int:
    """How many names of a form are drawn for an Earley parser."""
    return amount("grammar.names-for-earley")


@cache
def earley(form: str, version: str, readings: str = "windows") -> Lark:
    return parser_of(shipped(form, version, readings))


@cache
def automaton(version: str, rule: str) -> Dfa:
    return dfa(load(version), rule)


def by_lark(lark: Lark, text: str, form: str) -> QueueName | None:
    tree = tree_of(lark, text)
    return None if tree is None else name_of(tree, text, form)


def in_bulk(text: str, form: str, version: str, readings: str = "windows") -> QueueName | None:
    try:
        return bulk(version, reading_set(readings)).parse(text, form)
    except NameError_:
        return None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("rule", QUICK_KINDS)
def test_the_kinds_that_lalr_can_have(rule: str, version: str) -> None:
    chosen = to_lark(load(version), rule)
    assert chosen.parser == "lalr"
    lark = parser_of(chosen)
    inside, outside = drawn(automaton(version, rule), amount("grammar.names-for-lalr"))
    for text in inside:
        name = by_lark(lark, text, FORMAT_NAME)
        assert name is not None and name == in_bulk(text, FORMAT_NAME, version), ascii(text)
    for text in outside:
        assert tree_of(lark, text) is None, ascii(text)
        assert in_bulk(text, FORMAT_NAME, version) is None, ascii(text)


@pytest.mark.parametrize("version", sample("grammar.earley-of-older-versions", VERSIONS, [NEWEST]))
@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str, version: str) -> None:
    inside, outside = drawn(automaton(version, RULES[form]), many(version), length=LENGTH)
    assert len(inside) + len(outside) == many(version)
    for text in inside:
        name = by_lark(earley(form, version), text, form)
        assert name is not None and name == in_bulk(text, form, version), ascii(text)
    for text in outside:
        assert by_lark(earley(form, version), text, form) is None, ascii(text)
        assert in_bulk(text, form, version) is None, ascii(text)


@cache
def listed() -> list[Witness]:
    entries = tomllib.loads(resource(WITNESSES).read_text(encoding="utf-8"))["witness"]
    return [
        Witness(*(each[key] for key in ("reading", "set", "version", "rule", "text", "accepts"))) for each in entries
    ]


@cache
def of_the_fixtures() -> dict[str, list[str]]:
    """The texts of the corpus, of the hand-written cases and of the witnesses, by the form they are asked about."""
    found: dict[str, dict[str, None]] = {form: {} for form in FORMS}
    for path in sorted(resource("fixtures/names/corpus").iterdir()):
        for form in FORMS:
            found[form][path.read_bytes().decode("utf-8", "surrogateescape")] = None
    for number in SECTIONS:
        for case in section(number).cases:
            found[case.form][case.text] = None
    rules = {rule: form for form, rule in RULES.items()}
    for witness in listed():
        if witness.rule in rules:
            found[rules[witness.rule]][witness.text] = None
    return {form: [text for text in texts if len(text) <= LONGEST] for form, texts in found.items()}


@pytest.mark.parametrize("version", sample("grammar.fixtures-of-older-versions", VERSIONS, [NEWEST]))
@pytest.mark.parametrize("form", FORMS)
def test_every_text_of_the_fixtures(form: str, version: str) -> None:
    texts = of_the_fixtures()[form]
    assert len(texts) > 60
    for text in texts:
        assert by_lark(earley(form, version), text, form) == in_bulk(text, form, version), ascii(text)


@nightly_only("grammar.strict-readings")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("form", FORMS)
def test_strict_readings(form: str, version: str) -> None:
    """The letter can be ambiguous, so that only what belongs is compared."""
    for text in of_the_fixtures()[form]:
        accepted = tree_of(earley(form, version, "strict"), text) is not None
        assert accepted == (in_bulk(text, form, version, "strict") is not None), ascii(text)


def test_witnesses_in_bulk() -> None:
    """Every alternative of every reading, without Lark: what a witness says of it."""
    rules = {rule: form for form, rule in RULES.items()}
    judged = 0
    for witness in listed():
        form = rules.get(witness.rule)
        if form is None or witness.version not in sample("grammar.witnesses-of-older-versions", VERSIONS, [NEWEST]):
            continue
        assert set(witness.accepts) == set(catalogue().readings[witness.reading].alternatives)
        for alternative, accepts in witness.accepts.items():
            try:
                bulk(witness.version, {witness.reading: alternative}).parse(witness.text, form)
            except NameError_:
                assert not accepts, (witness, alternative)
            else:
                assert accepts, (witness, alternative)
            judged += 1
    assert judged > 40
