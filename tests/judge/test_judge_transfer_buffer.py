"""Each rule of CACTransferBufferV1 is broken by its mutation, and only what the mutation declares breaks with it."""

from __future__ import annotations

import pytest
from cases import all_of

from conformance.judge.structures.transfer_buffer import (
    ASPECTS,
    Change,
    caught,
    changes,
    compare_values,
    judge_transfer_buffer,
)
from conformance.judge.structures.transfer_buffer_rules import RULES, SECTION, BufferRule, plain
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome
from conformance.wire.transfer_buffer import read_transfer_buffer, value_of
from conformance.wire.transfer_buffer_layers import write_transfer_buffer

PROFILE = "msmq-3.0"


def failing(data: bytes, **readings: str) -> list[str]:
    verdicts = judge_transfer_buffer(data, profile=PROFILE, **readings)
    return sorted({verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL})


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
def test_the_plain_value_breaks_nothing(kind: int, readings: str) -> None:
    verdicts = judge_transfer_buffer(write_transfer_buffer(plain(kind)), profile=PROFILE, readings=readings)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


@all_of("rule", [pytest.param(rule, id=rule.id) for rule in RULES])
def test_a_mutation_breaks_what_it_declares_and_no_more(rule: BufferRule) -> None:
    assert len(rule.breaks.also_breaks) <= 2
    assert failing(rule.breaks.broken()) == sorted({rule.requirement, *rule.breaks.also_breaks})


def test_every_structure_requirement_of_the_section_has_a_check() -> None:
    wanted = {
        one.id for one in catalogue().requirements.values() if one.id.startswith(SECTION) and one.checked == "structure"
    }
    checked = {rule.requirement for rule in RULES} | {word for aspect in ASPECTS for word in aspect.requirements}
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
    assert caught() == {rule.requirement for rule in RULES} | {word for one in ASPECTS for word in one.requirements}
