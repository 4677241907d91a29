"""A SecurityHeader field in another place or form is blamed on that field."""

import pytest

from conformance.judge.packets.optional_headers import IDS, SIGNED, UNSIGNED
from conformance.suites.claims_index import by_mutation
from conformance.suites.packets.cases import without_consequences
from conformance.suites.packets.messages import packet_of
from conformance.suites.packets.mistakes import MESSAGE, WRONG, WrongField, failing, security_caught
from conformance.verdict import Outcome, Verdict


def test_the_right_packet_breaks_nothing() -> None:
    assert failing(packet_of(MESSAGE), MESSAGE) == set()


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.breaks)
def test_a_wrong_field_breaks_its_requirement(wrong: WrongField) -> None:
    right, broken = wrong.packets()
    assert right != broken
    assert wrong.breaks in failing(broken, MESSAGE)
    if wrong.mask:
        assert failing(broken, MESSAGE) <= {
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
