"""Cases made from the grammar: an honest parser passes them, and a fault breaks by them what it declares."""

from __future__ import annotations

from functools import cache

import pytest
from cases import all_of
from hypothesis import given
from nightly import fewer, nightly_only, sample

from conformance.embedded.entities import MqError
from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.embedded.names import Name, NameParser
from conformance.grammar.automaton import dfa
from conformance.grammar.sources import NARROW, RULES, WIDE, load, narrowest, ordinary, readings_of, widest
from conformance.harness.hypothesis_settings import suite_settings
from conformance.judge.names import FORMAT_NAME, FORMS, PATH_NAME, NameCase, NameObservation, judge_name
from conformance.spec.catalogue import assignment, catalogue
from conformance.spec.versions import PROFILES
from conformance.suites.names.checks import section
from conformance.suites.names.generated import (
    BLAME,
    ParsersDisagree,
    _names,
    _parsers,
    _unusual,
    is_none,
    is_sure,
    lookalike_cases,
    miss_cases,
    other_version_cases,
    sure_cases,
    witness_cases,
)
from conformance.verdict import Outcome

READINGS = assignment("windows")
PARSER_FAULTS = sorted(
    name for name, fault in FAULTS.items() if fault.suite == "names" and fault.replaces[0][0] == "names"
)


@cache
def cases(profile: str) -> tuple[NameCase, ...]:
    found: list[NameCase] = []
    strategies = [miss_cases(rule, profile) for rule in BLAME]
    strategies += [sure_cases(form, profile) for form in FORMS]
    strategies += [other_version_cases(form, profile) for form in FORMS[:2]]
    for strategy in strategies:

        @suite_settings(max_examples=fewer(60), derandomize=True)
        @given(strategy)
        def collect(case: NameCase) -> None:
            found.append(case)

        collect()
    for rule in BLAME:
        found += lookalike_cases(rule, profile)
    for form in FORMS:
        found += witness_cases(form, profile)
    return tuple(found)


def broken(parser: NameParser, profile: str) -> dict[str, str]:
    """Requirement to the first text by which it is broken."""
    out: dict[str, str] = {}
    for case in cases(profile):
        try:
            name = parser.parse(case.text, case.form)
            seen = NameObservation(True, 0, name.kind, name.parts)
        except MqError as error:
            seen = NameObservation(False, error.status)
        for verdict in judge_name(case, seen, READINGS):
            if verdict.outcome is Outcome.FAIL and catalogue().requirements[verdict.requirement].binds(profile):
                out.setdefault(verdict.requirement, ascii(case.text))
    return out


@pytest.mark.parametrize("profile", sample("names.profiles", [PROFILES[0], PROFILES[2], PROFILES[3]], [PROFILES[3]]))
def test_the_embedded_parser_breaks_nothing(profile: str) -> None:
    assert broken(NameParser(profile), profile) == {}


@all_of("name", PARSER_FAULTS)
def test_a_fault_breaks_what_it_declares(name: str) -> None:
    fault = FAULTS[name]
    parser = fault.replaces[0][1]
    known = {*fault.breaks, *shows_as(fault)}
    assert {key: text for key, text in broken(parser("msmq-4.0"), "msmq-4.0").items() if key not in known} == {}


class _KeywordsAlone(NameParser):
    """As the letter has it: `system$` is a keyword, no letter beyond ASCII is one of its, and subqueues are free."""

    def path(self, text: str) -> Name:
        name, semicolon, subqueue = text.rpartition(";")
        if not semicolon or name.lower().endswith("system$"):
            return super().path(text)
        plain = super().path(f"{name};x")
        return Name(text, plain.kind, plain.parts | {"subqueue": subqueue})


@pytest.mark.parametrize("readings", ["windows", "permissive"])
def test_a_letter_beyond_ascii_may_be_one_of_a_queue(readings: str) -> None:
    parser, accepted = _KeywordsAlone("msmq-4.0"), assignment(readings)
    taken = 0
    for case in lookalike_cases("QueuePathName", "msmq-4.0"):
        try:
            name = parser.parse(case.text, case.form)
        except MqError as error:
            seen = NameObservation(False, error.status)
        else:
            seen = NameObservation(True, 0, name.kind, name.parts)
            taken += 1
        assert {each.outcome for each in judge_name(case, seen, accepted)} == {Outcome.PASS}, ascii(case.text)
    assert taken >= 3


def test_who_takes_ascii_alone_refuses_a_letter_beyond_it() -> None:
    letter = assignment("windows", {"R-MQMQ-queue-name-alphabet": "letter"})
    [case] = [
        each for each in lookalike_cases("QueuePathName", "msmq-4.0") if each.text == "HOST\\\u017fystem$;DEADXACT"
    ]
    name = _KeywordsAlone("msmq-4.0").parse(case.text, case.form)
    [verdict] = judge_name(case, NameObservation(True, 0, name.kind, name.parts), letter)
    assert (verdict.requirement, verdict.outcome) == ("MQMQ-2.1.1.keyword-case", Outcome.FAIL)


def test_what_is_refused_undisputed_is_none_under_any_reading() -> None:
    """Names written by hand: a text that one reading accepts says so, and is judged under each."""
    for profile in (PROFILES[0], PROFILES[1], PROFILES[3]):
        for number in range(1, 8):
            for case in section(f"2.1.{number}").cases:
                if case.binds(profile) and case.reading is None and case.given is None and case.refused_by_all:
                    assert is_none(case.text, case.form, profile), (profile, ascii(case.text))


def test_folding_is_found() -> None:
    texts = " ".join(broken(FAULTS["folds-the-long-s"].replaces[0][1]("msmq-4.0"), "msmq-4.0").values())
    assert "\\u017f" in texts or "\\u0131" in texts


def test_every_reading_has_its_extremes() -> None:
    unread = {"R-MQMQ-multicast-address"}  # of a property, in no form of names
    assert set(readings_of("names")) - unread == set(WIDE) == set(NARROW)


@nightly_only("names.extremes")
@pytest.mark.parametrize("version", ["1.0", "4.0"])
@pytest.mark.parametrize("form", FORMS)
def test_extremes_hold_for_every_single_reading(form: str, version: str) -> None:
    """Each text of the suite that is proven a name, or none, is that under each alternative of each reading."""
    profile = {"1.0": "msmq-1.0", "4.0": "msmq-4.0"}[version]
    known = [case for case in cases(profile) if case.form == form and case.reading is None]
    for reading in readings_of("names"):
        for alternative in catalogue().readings[reading].alternatives:
            if alternative == READINGS[reading][0] or (form == PATH_NAME and reading == "R-MQMQ-suffix-or-subqueue"):
                continue
            automaton = dfa(load(version, {reading: alternative}), RULES[form])
            for case in known:
                assert automaton.accepts(case.text) == (not case.refused_by_all), (reading, alternative, case.text)


def test_parsers_that_disagree_are_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = widest("4.0")
    automaton, _ = _parsers(grammar, PATH_NAME)
    _, other = _parsers(narrowest("4.0"), PATH_NAME)
    monkeypatch.setattr("conformance.suites.names.generated._parsers", lambda *_: (automaton, other))
    with pytest.raises(ParsersDisagree, match="accepted by our automaton"):
        is_none("HOST\\my queue", PATH_NAME, "4.0")


def test_sure_names_are_no_misses() -> None:
    assert is_sure("HOST\\q", PATH_NAME, "4.0")
    assert not is_none("HOST\\q", PATH_NAME, "4.0")
    assert ordinary("4.0").rule("WebSeparator")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PRIVATE=0123ABCD-4567-89ab-CDEF-0123456789ab\\10af", []),
        ("PRIVATE=0123ABCD-4567-89ab-CDEF-0123456789ab\\10af;JOURNAL", ["journal"]),
        ("private=0123ABCD-4567-89ab-CDEF-0123456789ab\\10af", ["case"]),
        ("PRIVATE=0123ABCD-4567-89ab-CDEF-0123456789ab\\10af;Journal", ["case", "journal"]),
    ],
)
def test_a_private_name_is_claimed_by_what_is_unusual_in_it(text: str, words: list[str]) -> None:
    assert list(_unusual(_names("4.0").parse(text, FORMAT_NAME))) == words
