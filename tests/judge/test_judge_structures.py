"""Rules on structures: each holds for its valid bytes, and its mutation breaks it and what it declares, no more."""

import base64

import pytest
from cases import all_of

from conformance.judge.structures.judge import compare_encoded, judge_structure
from conformance.judge.structures.mutations import MUTATIONS, QUEUE_FORMATS, WrittenWrong, caught
from conformance.judge.structures.rules import PLAIN, RULES, StructureRule
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire.structures import STRUCTURES, encode


def failed(name: str, data: bytes) -> set[str]:
    return {verdict.requirement for verdict in judge_structure(name, data) if verdict.outcome is Outcome.FAIL}


def test_plain_values_break_nothing() -> None:
    assert set(PLAIN) == set(STRUCTURES)
    for name, value in PLAIN.items():
        assert failed(name, encode(name, value)) == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_mutation_breaks_what_it_declares(rule: StructureRule) -> None:
    assert failed(rule.structure, rule.breaks.valid(rule.structure)) == set()
    broken = failed(rule.structure, rule.breaks.broken(rule.structure))
    assert broken == {rule.requirement, *rule.breaks.also_breaks}
    assert len(rule.breaks.also_breaks) <= 2


@pytest.mark.parametrize(("requirement", "data"), QUEUE_FORMATS, ids=lambda each: each if isinstance(each, str) else "")
def test_the_table_of_suffix_types_and_the_texts(requirement: str, data: bytes) -> None:
    assert failed("QUEUE_FORMAT", data) == {requirement}


def test_aligned_lists_follow_a_reading() -> None:
    keys = [{"ul_provider_type": 1, "s_provider_name": "ab", "a_buf": PLAIN["MQDSPUBLICKEY"]["a_buf"]}] * 2
    data = encode("MQDSPUBLICKEYS", {"a_public_keys": keys}, aligned=True)
    assert data != encode("MQDSPUBLICKEYS", {"a_public_keys": keys})
    assert failed("MQDSPUBLICKEYS", data) == set()
    strict = judge_structure("MQDSPUBLICKEYS", data, readings="strict")
    assert any(verdict.outcome is not Outcome.PASS for verdict in strict)
    assert "aligned" not in assignment("strict")["R-MQMQ-key-list-alignment"]


@all_of("mutation", MUTATIONS, ids=lambda one: f"{one.structure}-{one.requirement}")
def test_what_is_written_wrong_is_blamed(mutation: WrittenWrong) -> None:
    name, value, readings = mutation.structure, mutation.value, assignment("windows")
    found = compare_encoded(name, value, mutation.data(), readings=readings)
    assert [each.requirement for each in found if each.outcome is Outcome.FAIL] == [mutation.requirement]
    assert caught(mutation)


def test_texts_between_their_pointers_are_blamed_and_not_an_empty_array_in_front_of_them() -> None:
    """The pointer of the empty blob need not be null; what it points to is where the texts have moved it."""
    value = {"vt": 4108, "value": [{"vt": 4127, "value": ["", ""]}, {"vt": 65, "value": ""}]}
    data = base64.b64decode(
        "DBAAAAAAAAAMEAAAAgAAAAAAAgACAAAAHxAAAAAAAAAfEAAAAgAAAAQAAgAAAAAAQQAAAAAAAABBAAAAAAAAAAgAAgACAAAAAAACAAEAAAAAAAAA"
        "AQAAAAAAAAAAAAIAAQAAAAAAAAABAAAAAAAAAAAAAAA="
    )
    found = compare_encoded("PROPVARIANT", value, data, readings=assignment("windows"))
    failed = [verdict.requirement for verdict in found if verdict.outcome is Outcome.FAIL]
    assert failed == ["MQMQ-2.2.16.7.declaration"]
