"""Rules on structures: each holds for its valid bytes, and its mutation breaks it and what it declares, no more."""

import pytest

from conformance.judge.structure_rules import PLAIN, RULES, StructureRule
from conformance.judge.structures import judge_structure
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


# m_SuffixAndFlags and m_qft, and the one demand of the table of 2.2.7 that they break.
TABLE = (
    (3, 0x80, "suffix-none-flags"),
    (4, 0x00, "suffix-none-type"),
    (1, 0x01, "suffix-journal-flags"),
    (5, 0x81, "suffix-journal-type"),
    (3, 0x02, "suffix-deadletter-flags"),
    (1, 0x82, "suffix-deadletter-type"),
    (4, 0x03, "suffix-deadxact-flags"),
    (2, 0x83, "suffix-deadxact-type"),
    (3, 0x04, "suffix-xactonly-type"),
    (8, 0x85, "suffix-subqueue-flags"),
    (3, 0x05, "suffix-subqueue-type"),
    (3, 0x06, "m-suffix-and-flags"),
)
ARMS = {
    1: ("m_g_public_id", PLAIN["OBJECTID"]["lineage"]),
    2: ("m_o_private_id", PLAIN["OBJECTID"]),
    3: ("m_p_direct_id", "OS:host\\q"),
    4: ("m_g_machine_id", PLAIN["OBJECTID"]["lineage"]),
    5: ("m_g_connector_id", PLAIN["OBJECTID"]["lineage"]),
    8: ("m_p_direct_subqueue_id", "OS:host\\q;s"),
}


@pytest.mark.parametrize(("qft", "both", "word"), TABLE)
def test_the_table_of_suffix_types(qft: int, both: int, word: str) -> None:
    member, held = ARMS[qft]
    data = encode("QUEUE_FORMAT", {"m_qft": qft, "m_suffix_and_flags": both, member: held})
    assert failed("QUEUE_FORMAT", data) == {f"MQMQ-2.2.7.{word}"}


def test_a_reserved_member_sent_is_told() -> None:
    data = encode("QUEUE_FORMAT", {**PLAIN["QUEUE_FORMAT"], "m_reserved": 1})
    assert failed("QUEUE_FORMAT", data) == {"MQMQ-2.2.7.m-reserved-sender"}


def test_aligned_lists_follow_a_reading() -> None:
    keys = [{"ul_provider_type": 1, "s_provider_name": "ab", "a_buf": PLAIN["MQDSPUBLICKEY"]["a_buf"]}] * 2
    data = encode("MQDSPUBLICKEYS", {"a_public_keys": keys}, aligned=True)
    assert data != encode("MQDSPUBLICKEYS", {"a_public_keys": keys})
    assert failed("MQDSPUBLICKEYS", data) == set()
    strict = judge_structure("MQDSPUBLICKEYS", data, readings="strict")
    assert any(verdict.outcome is not Outcome.PASS for verdict in strict)
    assert "aligned" not in assignment("strict")["R-MQMQ-key-list-alignment"]
