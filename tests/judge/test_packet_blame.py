"""Of several demands a packet breaks, the one that is the cause is told first."""

from typing import Any

import pytest

from conformance.judge.packets.blame import PADDING, by_cause, unpadded
from conformance.suites.packets.building import packet_of
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

SOAP: dict[str, Any] = {"destination": "DIRECT=OS:host\\q", "body": "YQ==", "soap_header": "h", "soap_body": "b"}
PRESENT, SIZE = "MQMQ-2.2.19.2.soap-header-present", "MQMQ-2.2.20.7.header-data-length-layout"
ENDED, USER = "MQMQ-2.2.20.7.header-terminated", "MQMQ-2.2.19.2.flags-dm-layout"


def order(*names: str, data: bytes) -> list[str]:
    broken = [Verdict(name, Outcome.FAIL, "packets.encode") for name in names]
    return [verdict.requirement for verdict in by_cause(broken, dissect(data))]


def test_a_size_comes_before_what_it_makes_misread_and_a_missing_header_last() -> None:
    assert order(PRESENT, ENDED, SIZE, data=packet_of(SOAP)) == [SIZE, ENDED, PRESENT]


def test_a_size_behind_something_wrong_is_a_consequence_itself() -> None:
    assert order(PRESENT, USER, SIZE, data=packet_of(SOAP)) == [USER, SIZE, PRESENT]


def test_a_size_in_a_header_that_is_not_there_tells_nothing() -> None:
    moved = packet_of(SOAP, {"SoapHeader.HeaderSectionID": 1})
    assert order(PRESENT, ENDED, SIZE, data=moved) == [ENDED, SIZE, PRESENT]
    assert order(ENDED, SIZE, data=packet_of({"destination": SOAP["destination"]})) == [ENDED, SIZE]


@pytest.mark.parametrize("extra", [{}, {"trace": True}, {"destinations": [SOAP["destination"]]}])
def test_a_header_that_stands_where_padding_has_to_be_is_seen(extra: dict[str, Any]) -> None:
    wanted = dissect(packet_of({**SOAP, **extra}))
    at, size = wanted.spans["MessagePropertiesHeader.Padding"]
    packed = dissect(wanted.data[:at] + wanted.data[at + size :])
    junk = dissect(wanted.data[:at] + b"\xcd" * size + wanted.data[at + size :])

    assert [verdict.requirement for verdict in unpadded(wanted, packed) if verdict.outcome is Outcome.FAIL] == [PADDING]
    assert [verdict.outcome for verdict in unpadded(wanted, wanted)] == [Outcome.PASS]
    assert [verdict.outcome for verdict in unpadded(wanted, junk)] == [Outcome.PASS]
