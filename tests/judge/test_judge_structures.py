"""Structures, security values and transfer buffers that are wrong are blamed."""

from __future__ import annotations

import base64

import pytest
from cases import all_of

from conformance.judge.packets.optional_headers import IDS, SIGNED, UNSIGNED
from conformance.judge.structures.judge import PLAIN, RULES, StructureRule, compare_encoded, judge_structure
from conformance.judge.structures.mutations import MUTATIONS, QUEUE_FORMATS, WrittenWrong, caught
from conformance.judge.structures.transfer_buffer import ASPECTS, Change, changes, compare_values, judge_transfer_buffer
from conformance.judge.structures.transfer_buffer import caught as caught_in_a_buffer
from conformance.judge.structures.transfer_buffer_rules import RULES as TRANSFER_BUFFER_RULES
from conformance.judge.structures.transfer_buffer_rules import SECTION, BufferRule, plain
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.claims_index import by_mutation
from conformance.suites.packets.cases import without_consequences
from conformance.suites.packets.messages import packet_of
from conformance.suites.packets.mistakes import MESSAGE, WRONG, WrongField, security_caught
from conformance.suites.packets.mistakes import failing as failing_of_mistakes
from conformance.verdict import Outcome, Verdict
from conformance.wire.structures import STRUCTURES, encode
from conformance.wire.transfer_buffer import read_transfer_buffer, value_of
from conformance.wire.transfer_buffer_layers import write_transfer_buffer


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


def test_the_right_packet_breaks_nothing() -> None:
    assert failing_of_mistakes(packet_of(MESSAGE), MESSAGE) == set()


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.breaks)
def test_a_wrong_field_breaks_its_requirement(wrong: WrongField) -> None:
    right, broken = wrong.packets()
    assert right != broken
    assert wrong.breaks in failing_of_mistakes(broken, MESSAGE)
    if wrong.mask:
        assert failing_of_mistakes(broken, MESSAGE) <= {
            wrong.breaks,
            "MQMQ-2.2.20.6.flags-layout",
            "MQMQ-2.2.20.6.flags-st-layout",
            "MQDMPR-3.1.1.12.sender-identifier-type-values",
        }


def test_every_requirement_judged_here_is_told_apart() -> None:
    assert set(IDS) | {UNSIGNED, *SIGNED.values()} == set(security_caught())
    assert security_caught() <= by_mutation()


def test_a_signature_spoiled_by_another_field_is_no_second_failure() -> None:
    signature = Verdict("MQDMPR-3.1.1.12.signature", Outcome.FAIL, "packets.encode")
    field = Verdict("MQDMPR-3.1.7.1.32.user-header-fields", Outcome.FAIL, "packets.encode")
    hold = Verdict("MQMQ-2.5.2.order", Outcome.PASS, "packets.encode")
    assert list(without_consequences([signature, hold, field])) == [hold, field]
    assert list(without_consequences([signature, hold])) == [signature, hold]


PROFILE = "msmq-3.0"


def failing(data: bytes, **readings: str) -> list[str]:
    verdicts = judge_transfer_buffer(data, profile=PROFILE, **readings)
    return sorted({verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL})


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
def test_the_plain_value_breaks_nothing(kind: int, readings: str) -> None:
    verdicts = judge_transfer_buffer(write_transfer_buffer(plain(kind)), profile=PROFILE, readings=readings)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


@all_of("rule", [pytest.param(rule, id=rule.id) for rule in TRANSFER_BUFFER_RULES])
def test_a_mutation_breaks_what_it_declares_and_no_more(rule: BufferRule) -> None:
    assert len(rule.breaks.also_breaks) <= 2
    assert failing(rule.breaks.broken()) == sorted({rule.requirement, *rule.breaks.also_breaks})


def test_every_structure_requirement_of_the_section_has_a_check() -> None:
    wanted = {
        one.id for one in catalogue().requirements.values() if one.id.startswith(SECTION) and one.checked == "structure"
    }
    checked = {rule.requirement for rule in TRANSFER_BUFFER_RULES} | {
        word for aspect in ASPECTS for word in aspect.requirements
    }
    assert checked == wanted


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_a_value_equals_itself(kind: int) -> None:
    value = plain(kind)
    got = value_of(read_transfer_buffer(write_transfer_buffer(value)))
    assert got == value
    verdicts = compare_values(value, got, profile=PROFILE, subject="structures.encode")
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


@all_of("change", [pytest.param(change, id=change.name) for change in changes()])
def test_a_change_of_a_member_is_seen_and_blamed(change: Change) -> None:
    got = value_of(read_transfer_buffer(change.data))
    verdicts = compare_values(change.value, got, profile=PROFILE, subject="structures.encode")
    assert {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL} == change.breaks
    assert 1 <= len(change.breaks) <= 3


def test_every_compared_requirement_is_broken_by_a_change() -> None:
    compared = {word for aspect in ASPECTS for word in aspect.requirements}
    assert compared <= {word for change in changes() for word in change.breaks}


def test_the_number_of_128_bit_privacy_is_a_reading() -> None:
    two, three = (write_transfer_buffer(plain(given={"pul_priv_level": level})) for level in (2, 3))
    values = f"{SECTION}priv-level-values"
    assert failing(two, readings="windows") == [values]
    assert failing(three, readings="strict") == [values]
    assert failing(two, readings="permissive") == failing(three, readings="permissive") == []


def test_aes_is_followed_as_a_reading() -> None:
    data = write_transfer_buffer(plain(given={"pul_encrypt_alg": 0x6610, "pul_priv_level": 5}))
    assert failing(data, readings="windows") == []
    assert failing(data, readings="strict") == [f"{SECTION}encrypt-alg-values", f"{SECTION}priv-level-values"]


@pytest.mark.parametrize("got", [None, [], "text", {}, {"u_transfer_type": True}, {"send": 5, "pp_body": 7}])
def test_answers_of_any_shape_are_compared(got: object) -> None:
    verdicts = compare_values(plain(), got, profile=PROFILE, subject="structures.decode")
    assert any(verdict.outcome is Outcome.FAIL for verdict in verdicts)


def test_a_null_where_something_was_asked_for_fails_and_the_other_way_round() -> None:
    asked, got = plain(given={"pp_body": None}), plain()
    for one, other in ((asked, got), (got, asked)):
        verdicts = compare_values(one, other, profile=PROFILE, subject="structures.encode")
        assert {v.requirement for v in verdicts if v.outcome is Outcome.FAIL} == {f"{SECTION}pp-body"}


def test_everything_that_is_checked_is_seen_to_break() -> None:
    assert caught_in_a_buffer() == {rule.requirement for rule in TRANSFER_BUFFER_RULES} | {
        word for one in ASPECTS for word in one.requirements
    }
