"""Of several demands a packet breaks, the one that is the cause is told first."""

from typing import Any

import pytest

from conformance.judge.packets.field_compare import compare_fields
from conformance.judge.packets.misplaced_fields import told_apart
from conformance.judge.packets.packet_verdicts import ALIGNED, PADDING, by_cause, packed_items, unpadded
from conformance.suites.packets.messages import packet_of
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, patch

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


PLAIN: dict[str, Any] = {"destination": "DIRECT=OS:host\\q", "body": "YQ=="}


def blamed(message: dict[str, Any], found: bytes, *more: str) -> str:
    """The first requirement broken by this packet. more: requirements that other checks found broken before."""
    wanted, seen = dissect(packet_of(message)), dissect(found)
    before = [Verdict(name, Outcome.FAIL, "packets.encode") for name in more]
    verdicts = told_apart([*before, *compare_fields(message, wanted, seen)], wanted, seen)
    return next(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)


def test_a_wrong_value_in_its_place_is_not_blamed_on_the_place() -> None:
    wanted = packet_of(PLAIN)
    assert blamed(PLAIN, patch(dissect(wanted), {"UserHeader.Flags.DM": 1})) == "MQMQ-2.2.19.2.express"


def test_a_flag_among_others_that_are_wrong_is_blamed_on_its_place() -> None:
    message = {**PLAIN, "delivery": "recoverable"}
    moved = {"UserHeader.Flags.DM": 2, "UserHeader.Flags.JN": 1}
    assert blamed(message, patch(dissect(packet_of(message)), moved)) == "MQMQ-2.2.19.2.flags-dm-layout"


def test_bytes_in_another_order_are_out_of_place() -> None:
    message = {**PLAIN, "application_tag": 0x01020304}
    moved = patch(dissect(packet_of(message)), {"MessagePropertiesHeader.ApplicationTag": 0x04030201})
    assert blamed(message, moved) == "MQMQ-2.2.19.3.application-tag-layout"


def test_lists_in_the_place_of_one_another_are_blamed_on_their_places() -> None:
    message = {**PLAIN, "destinations": [PLAIN["destination"]]}
    wanted = dissect(packet_of(message))
    at = wanted.spans["MultiQueueFormatHeader.Administration.HeaderSize"][0]
    swapped = wanted.data[:at] + wanted.data[at + 12 : at + 24] + wanted.data[at : at + 12] + wanted.data[at + 24 :]
    place, value = "MQMQ-2.2.20.1.administration-layout", "MQMQ-2.2.20.2.header-id"
    assert blamed(message, swapped, value, place) == place
    wrong = patch(wanted, {"MultiQueueFormatHeader.Response.HeaderID": 200})
    assert blamed(message, wrong, value, "MQMQ-2.2.20.1.response-layout") == value


def test_items_of_security_data_without_padding_are_seen() -> None:
    message = {**PLAIN, "sender_identifier_type": "sid", "sender_identifier": "AQEAAAAAAAUSAAAA", "signature": "YWJj"}
    message |= {"sender_certificate": "YWJjZGU=", "provider_type": 1, "provider_name": "b"}
    wanted = dissect(packet_of(message))
    at, size = wanted.spans["SecurityHeader.SecurityData.Signature.Padding"]
    end = sum(wanted.spans["SecurityHeader"])
    packed = dissect(wanted.data[:at] + wanted.data[at + size : end] + bytes(size) + wanted.data[end:])
    assert [(one.requirement, one.outcome) for one in packed_items(wanted, packed)] == [(ALIGNED, Outcome.FAIL)]
    assert [one.outcome for one in packed_items(wanted, wanted)] == [Outcome.PASS]
