"""What the harness claims to check is computed from what checks."""

from __future__ import annotations

from conformance.judge.packets.attribute_compare import REQUIREMENTS as ATTRIBUTES
from conformance.judge.packets.field_compare import REQUIREMENTS
from conformance.judge.packets.judge import ALL_RULES, rules_of
from conformance.judge.packets.optional_headers import IDS, SIGNED, UNSIGNED
from conformance.judge.sessions.mutations import MUTATIONS
from conformance.judge.structures.judge import RULES as STRUCTURE_RULES
from conformance.judge.structures.mutations import MUTATIONS as STRUCTURE_MUTATIONS
from conformance.judge.structures.mutations import QUEUE_FORMATS
from conformance.judge.structures.transfer_buffer_rules import RULES as BUFFER_RULES
from conformance.spec.catalogue import catalogue
from conformance.suites.claims_index import by_mutation, claims, literals, texts, unclaimed
from conformance.suites.packets.mistakes import MISTAKES


def test_claims_are_requirements_and_come_from_each_kind_of_check() -> None:
    found = claims()
    assert set(found) <= set(catalogue().requirements)
    kinds = {by.split(":")[0].split(".")[-1] for checks in found.values() for by in checks}
    assert {
        "suite names",
        "suite packets",
        "suite structures",
        "suite cursors",
        "suite transactions",
        "packet rule",
        "structure rule",
    } <= kinds
    assert "conformance.judge.sessions.flow" in found["MQQB-3.1.6.4.recoverable-once"]
    assert {rule.requirement for rule in rules_of("buffer")} <= {
        name for name, checks in found.items() if "packet rule" in checks
    }
    assert not set(unclaimed(found)) & set(found)


def test_calls_are_judged_by_no_sentence_on_a_field_of_a_packet() -> None:
    """What a queue manager keeps and gives back is no packet: suites that see none claim nothing of its fields."""
    known = catalogue().requirements
    seeing = {"suite packets", "suite structures", "suite outgoing", "suite sessions"}
    seeing |= {"suite situations", "suite remote"}  # they take packets too
    wrong = {
        name: by
        for name, checks in claims().items()
        if known[name].checked in ("packet", "structure")
        or (name.startswith(("MQMQ-2.2.19.", "MQMQ-2.2.20.")) and known[name].kind in ("field", "grammar-rule"))
        for by in checks
        if by.startswith("suite ") and by.partition(":")[0] not in seeing
    }
    assert wrong == {}


def test_what_no_run_can_check_has_no_check() -> None:
    """Each claimed requirement is in the denominator, and none of them waits for an environment."""
    known = catalogue().requirements
    named = {*claims(), *by_mutation()}
    assert sorted(name for name in named if not known[name].checkable) == []
    assert sorted(name for name in named if known[name].needs is not None) == []


def test_suites_and_rules_use_ids_of_the_catalogue_only() -> None:
    """A marker, a rule or a table with another id would be no claim on anything."""
    from conformance.suites.claims_index import _by_marker, _by_packet_rule

    known = catalogue().requirements
    assert {name for name, _ in (*_by_marker(), *_by_packet_rule()) if name not in known} == set()


def test_every_rule_place_attribute_and_mutation_is_discriminated() -> None:
    wanted = {rule.requirement for rule in ALL_RULES} | {*REQUIREMENTS, *ATTRIBUTES, *MUTATIONS}
    wanted |= {rule.requirement for rule in STRUCTURE_RULES} | {name for name, _ in QUEUE_FORMATS}
    wanted |= {mutation.requirement for mutation in STRUCTURE_MUTATIONS}
    wanted |= {mistake.requirement for mistake in MISTAKES} | {*IDS, UNSIGNED, *SIGNED.values()}
    wanted |= {rule.requirement for rule in BUFFER_RULES}
    assert wanted - by_mutation() == set()


def test_literals_leave_remarks_out() -> None:
    source = '"""MQMQ-1.a"""\nX = "MQMQ-1.b"\ndef f():\n    "MQMQ-1.c"\n    return {"MQMQ-1.d": ("MQMQ-1.e",)}\n'
    assert set(literals(source)) == {"MQMQ-1.b", "MQMQ-1.d", "MQMQ-1.e"}


def test_texts_are_found_in_tables() -> None:
    value = {"__doc__": "no", "a": ["b", {"c": ("d", 1)}]}
    assert set(texts(value, "m")) == {"a", "b", "c", "d"}
