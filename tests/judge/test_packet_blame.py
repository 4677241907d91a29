"""What is blamed where a packet breaks several rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import packet_codecs as codecs
import pytest

from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.judge.packets.field_compare import compare_fields
from conformance.judge.packets.misplaced_fields import blamed_first
from conformance.judge.packets.packet_verdicts import ALIGNED, PADDING, by_cause, packed_items, unpadded
from conformance.spec.catalogue import assignment
from conformance.suites.packets.cases import decode_case, decode_lists_case, encode_case
from conformance.suites.packets.combinations import (
    FACTORS,
    OPTIONS,
    all_pairs,
    combine,
    forbids,
    message_of,
    pairs_in,
    pairs_of,
    rows,
    simplest,
)
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
    verdicts = blamed_first([*before, *compare_fields(message, wanted, seen)], wanted, seen)
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


RUN = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)


def quiet(*_: Any) -> None:
    return None


def test_every_pair_that_may_stand_together_does() -> None:
    wanted = set(pairs_of(OPTIONS, forbids))
    assert len(wanted) > 10_000
    assert wanted <= {pair for row in rows() for pair in pairs_in(row)}
    assert len(rows()) < 150


def test_no_row_holds_what_is_forbidden() -> None:
    for row in rows():
        assert not any(forbids(one, other) for one, other in (tuple(pair) for pair in pairs_in(row)))


def test_pairs_of_a_small_set() -> None:
    found = all_pairs({"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")}, lambda one, other: False)
    assert 4 <= len(found) <= 6
    assert simplest({"a": "1", "b": "1"}, {"a": ("0", "1"), "b": ("0", "1")}, lambda row: row["b"] == "1") == {
        "a": "0",
        "b": "1",
    }


def test_every_option_is_in_the_message() -> None:
    plain = {factor: options[0] for factor, options in OPTIONS.items()}
    for factor, options in FACTORS.items():
        seen = [message_of({**plain, "administration": "target", factor: option}) for option in options]
        assert all(one not in seen[:at] for at, one in enumerate(seen) if factor != "asked"), factor


def _all(codec: codecs.Codec) -> list[Verdict]:
    client = cast(Any, codec)
    found = []
    for row in rows():
        message, readable = message_of(row), message_of(row, readable=True)
        found += encode_case(client, message, RUN, quiet)
        if readable.get("destinations"):
            found += decode_lists_case(client, readable, RUN, quiet)
        else:
            found += decode_case(client, packet_of(readable), readable, RUN, quiet)
    return found


def test_a_right_codec_passes_all() -> None:
    assert {verdict.outcome for verdict in _all(codecs.Codec())} == {Outcome.PASS}


class ForgetsTheWindowOfTracedMessages(codecs.Codec):
    """WindowSize is 0 when a traced message carries a session acknowledgment."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        if message.get("session") and message.get("trace_queue"):
            return patch(dissect(data), {"SessionHeader.WindowSize": 0})
        return data


def test_a_defect_of_two_options_together_is_found_and_told_alone() -> None:
    judge = Recorder(RUN, lambda verdict, count: None)
    client = cast(Any, ForgetsTheWindowOfTracedMessages())
    with pytest.raises(ConformanceFailure) as failed:
        combine(
            RUN,
            judge,
            lambda message: {"case": "encode", "message": message},
            lambda message: encode_case(client, message, RUN, judge.step),
        )
    assert failed.value.verdict.requirement.startswith("MQMQ-2.2.20.4.window-size")
    message = failed.value.repro["message"]
    assert message["session"] and message["trace_queue"]
    assert not set(message) & {"transaction", "label", "body", "sender_identifier", "destinations", "response_queue"}
