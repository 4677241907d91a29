"""The catalogue's data keeps its own rules."""

from __future__ import annotations

import re

from conformance.spec.catalogue import catalogue
from conformance.spec.versions import READING_SETS

# A code of a timer that only shows in the calls that wait, where "must fail" stands.
CODES_ALONE = {"MQDMPR-3.1.6.3.io-timeout-code"}
REQUIREMENTS = list(catalogue())


def test_a_demand_for_a_code_stands_beside_the_demand_to_fail() -> None:
    known = catalogue().requirements
    alone = {name for name in known if name.endswith("-code") and name.removesuffix("-code") not in known}
    assert alone <= CODES_ALONE


def test_says_is_one_plain_sentence() -> None:
    # The documents' keywords would mean that a sentence was copied rather than said.
    keywords = re.compile(r"\b(MUST|SHOULD|MAY)\b")
    wrong = [
        entry.id
        for entry in REQUIREMENTS
        if not entry.says.endswith(".") or "\n" in entry.says or keywords.search(entry.says)
    ]
    assert wrong == []


def test_no_two_demands_of_a_section_say_the_same() -> None:
    said = [(requirement.document, requirement.section, requirement.says) for requirement in REQUIREMENTS]
    assert len(set(said)) == len(said)


def test_every_reading_is_decided_by_every_set() -> None:
    for reading in catalogue().readings.values():
        assert set(reading.defaults) == set(READING_SETS)
        assert set(reading.defaults["windows"]) <= set(reading.defaults["permissive"])


def test_a_settled_reading_has_one_alternative_under_windows() -> None:
    accepting_more = {
        name
        for name, reading in catalogue().readings.items()
        if reading.sure == "settled" and len(reading.defaults["windows"]) > 1
    }
    assert accepting_more == set()
