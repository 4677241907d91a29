"""The grammars that ship: complete, agreeing with hand-written cases, unambiguous, and as the documents print them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from nightly import sample

from conformance.files import resource
from conformance.grammar.abnf import AbnfError, Grammar, Node, Rep, Rule, children, read, rebuild
from conformance.grammar.automaton import Dfa, ambiguity, dfa, difference
from conformance.grammar.sources import (
    RULES,
    SETS,
    VERSIONS,
    letter,
    load,
    load_set,
    read_overlay,
    reading_set,
    version_of,
    without,
)
from conformance.spec.catalogue import CatalogueError
from conformance.spec.versions import PROFILES, READING_SETS
from conformance.suites.names.checks import section
from tools.grammar_extract import extract

SECTIONS = ("2.1.1", "2.1.2", "2.1.3", "2.1.4", "2.1.5", "2.1.6", "2.1.7")
EACH_WAY = [(version, readings) for version in VERSIONS for readings in READING_SETS]
NEWEST = [one for one in EACH_WAY if VERSIONS[-1] in one or "windows" in one]
DOCUMENTS = ("MS-MQMQ.md", "MS-MQDMPR.md", "MC-MQAC.md")


@cache
def automaton(grammar: Grammar, rule: str) -> Dfa:
    return dfa(grammar, rule)


@pytest.mark.parametrize("number", SECTIONS)
def test_every_hand_written_case_is_taken_as_it_says(number: str) -> None:
    judged = 0
    for case in section(number).cases:
        versions = sorted({version_of(profile) for profile in PROFILES if case.binds(profile)})
        for version in sample("grammar.readings-of-older-versions", versions, versions[-1 if case.reading else 0 :]):
            for alternative, choices in case.expected.items():
                grammar = load(version, {case.reading: alternative} if case.reading else None)
                accepted = automaton(grammar, RULES[case.form]).accepts(case.text)
                assert accepted in {choice.accepted for choice in choices}, (case.text, version, alternative)
                judged += 1
    assert judged > 60


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("rule", [*RULES.values(), "MulticastAddress"])
def test_the_corrected_rules_derive_every_name_in_one_way(version: str, rule: str) -> None:
    assert ambiguity(load(version), rule) is None


@pytest.mark.parametrize(("version", "readings"), sample("grammar.reading-sets-of-older-versions", EACH_WAY, NEWEST))
def test_every_reading_set_makes_a_whole_grammar(version: str, readings: str) -> None:
    grammar = load(version, reading_set(readings))
    assert all(dfa(grammar, rule).shortest() for rule in RULES.values())


@pytest.mark.parametrize("name", SETS)
def test_every_set_loads(name: str) -> None:
    grammar = load_set(name)
    assert grammar.alphabet == SETS[name].alphabet
    assert set(grammar.reachable(*SETS[name].starts)) >= set(grammar.rules)


def shortened(grammar: Grammar, longest: int) -> Grammar:
    """The grammar with every bound above `longest` brought down to it: equality is then quick to show."""

    def node(each: Node) -> Node:
        each = rebuild(each, tuple(map(node, children(each))))
        if isinstance(each, Rep) and each.most is not None and each.most > longest:
            return replace(each, most=longest)
        return each

    return grammar.with_rules([Rule(rule.name, node(rule.node), rule.line) for rule in grammar.rules.values()])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "rule",
    ["QueuePathName", "PublicName", "PrivateName", "DistributionListName", "Machine", "Connector", "Multicast"],
)
def test_an_arrangement_changes_no_language(version: str, rule: str) -> None:
    printed = shortened(letter("names", version), 12)
    arranged = shortened(letter("names", version, arranged=True), 12)
    assert difference(dfa(printed, rule), dfa(arranged, rule)) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_letter_is_the_printed_rule(version: str) -> None:
    """With the alternatives of the text, the rules without prose have the language of the document."""
    grammar = load(
        version, reading_set("strict") | {"R-MQMQ-suffix-or-subqueue": "subqueue", "R-MQMQ-comma": "belongs"}
    )
    printed = letter("names", version)
    for rule in ("QueuePathName", "PublicName", "PrivateName", "DistributionListName", "Connector", "Multicast"):
        assert difference(dfa(shortened(printed, 9), rule), dfa(shortened(grammar, 9), rule)) is None, rule


def test_versions() -> None:
    assert [version_of(profile) for profile in PROFILES] == ["1.0", "2.0", "2.0", "4.0", "4.0", "4.0"]
    assert [dfa(load(version), "QueuePathName").accepts(r"c\a,b") for version in VERSIONS] == [True, False, False]
    assert [dfa(load(version), "QueuePathName").accepts(r"c\q;s") for version in VERSIONS] == [False, False, True]


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(AbnfError, match=r"Unknown version '3\.0'"):
        load("3.0")
    with pytest.raises(AbnfError, match="Unknown rule set 'nams'"):
        load_set("nams")
    with pytest.raises(CatalogueError, match="R-MQMQ-port"):
        load("4.0", {"R-MQMQ-prt": "all"})
    with pytest.raises(CatalogueError, match="no alternative most"):
        load("4.0", {"R-MQMQ-port": "most"})


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("[[corection]]\n", "is none of"),
        ("[[correction]]\nrules = 'a = %x41'\n", "has `when`"),
        ("[[completion]]\nrules = 'a = %x41'\n", "completion has `source`"),
        ('[[arrangement]]\nversions = ["3.0"]\nrules = "a = %x41"\n', "unknown"),
        ('[[arrangement]]\nrules = "a = "\n', "missing"),
        ("[[", "not valid TOML"),
    ],
)
def test_a_wrong_overlay_is_refused(tmp_path: Path, content: str, part: str) -> None:
    path = tmp_path / "wrong.overlay.toml"
    path.write_text(content)
    with pytest.raises(AbnfError, match=part):
        read_overlay(path)


def test_an_overlay_names_readings_that_exist(tmp_path: Path) -> None:
    path = tmp_path / "wrong.overlay.toml"
    path.write_text('[[correction]]\nwhen = { R-MQMQ-nothing = "x" }\nrules = "a = %x41"\n')
    with pytest.raises(CatalogueError, match="R-MQMQ-nothing"):
        read_overlay(path)


def test_words_taken_out() -> None:
    grammar = read('r = 1*4c\nc = %x61-63 / "D"')
    rule = grammar.rule("r")
    kept = dfa(grammar.with_rules([Rule("r", without(grammar, rule, ("AB", "abc", "d"), ("cc",)))]), "r")
    whole = dfa(grammar, "r")
    texts = [
        "a",
        "ab",
        "aB",
        "abc",
        "ABC",
        "abca",
        "abb",
        "d",
        "D",
        "da",
        "cc",
        "cca",
        "c",
        "ca",
        "abcd",
        "aaaa",
        "aaaaa",
        "",
    ]
    refused = {"ab", "aB", "abc", "d", "D", "cc", "cca"}
    assert [text for text in texts if kept.accepts(text)] == [
        text for text in texts if whole.accepts(text) and text not in refused
    ]
    assert ambiguity(grammar.with_rules([Rule("r", without(grammar, rule, ("ab", "abc"), ()))]), "r") is None


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_shipped_rules_are_those_of_the_documents(document: str, documents: Path) -> None:
    found = extract(documents / document)
    prefix = document.partition(".")[0].partition("-")[2].lower()
    shipped = {path.name for path in resource("grammars").glob(f"{prefix}-*.abnf")}
    assert set(found) == shipped
    for name, text in found.items():
        assert resource(f"grammars/{name}").read_text(encoding="utf-8") == text
