"""Attributes of fields, and fields that are absent or present."""

from __future__ import annotations

from typing import Any

import pytest
from cases import all_of

from conformance.judge.packets.attribute_compare import (
    PACKED_ATTRIBUTES,
    REQUIREMENTS,
    Attribute,
    caught,
    compare_attributes,
    compare_plain,
    misread,
    packet_for,
    part,
)
from conformance.judge.packets.field_compare import S, U
from conformance.judge.packets.misplaced_fields import DEMANDS, compare_presence
from conformance.judge.packets.user_messages import plain_of_packet
from conformance.suites.packets.combinations import message_of, rows
from conformance.suites.packets.messages import packet_of
from conformance.suites.packets.mistakes import (
    AT_ADMINISTRATION,
    PRESENCE_MISTAKES,
    SENDER,
    PresenceMistake,
    blamed,
    presence_caught,
)
from conformance.verdict import Outcome
from conformance.wire import dissect


def failing(wanted: Any, found: Any, packet: Any) -> set[str]:
    return {one.requirement for one in compare_plain(wanted, found, packet) if one.outcome is not Outcome.PASS}


@all_of("attribute", [pytest.param(one, id=one.requirement) for one in PACKED_ATTRIBUTES])
def test_a_wrong_attribute_is_seen(attribute: Attribute) -> None:
    packet = packet_for(attribute)
    plain = plain_of_packet(packet)
    judged = {one.requirement for one in compare_plain(plain, plain, packet)}
    assert attribute.requirement in judged
    assert failing(plain, plain, packet) == set()
    broken = failing(plain, misread(plain, attribute.member), packet)
    assert attribute.requirement in broken
    assert broken <= {
        one.requirement for one in PACKED_ATTRIBUTES if one.member.strip(":") == attribute.member.strip(":")
    }


def test_each_demand_is_there_once() -> None:
    assert len(REQUIREMENTS) == len(set(REQUIREMENTS))
    assert caught() == set(REQUIREMENTS)


def test_what_the_message_leaves_open_and_headers_that_are_missing_are_not_judged() -> None:
    message = {
        "identifier": {"source": "909ea0fc-9078-4445-8f11-394c43cd8907", "ordinal": 1},
        "destination": "DIRECT=OS:h\\q",
    }
    packet = dissect(packet_of(message))
    answer = {**message, "time_to_reach_queue": 7, "hash_algorithm": 0x8004}
    verdicts = compare_attributes(message, answer, packet)
    assert {one.outcome for one in verdicts} == {Outcome.PASS}
    judged = {one.requirement.rpartition(".")[2] for one in verdicts}
    assert not judged & {"time-to-reach-queue-attribute", "first-in-transaction-attribute"}
    assert part({"transaction": None}, "transaction.first") is None


def test_another_queue_of_the_same_type_is_not_blamed_on_the_type() -> None:
    message = {
        "identifier": {"source": "909ea0fc-9078-4445-8f11-394c43cd8907", "ordinal": 1},
        "destination": "DIRECT=OS:h\\q",
    }
    verdicts = compare_attributes(message, {**message, "destination": "DIRECT=OS:h"}, dissect(packet_of(message)))
    assert [one.requirement.rpartition(".")[2] for one in verdicts if one.outcome is Outcome.FAIL] == [
        "destination-queue-format-name-attribute"
    ]


def test_a_queue_that_was_made_up_is_seen() -> None:
    message = {
        "identifier": {"source": "909ea0fc-9078-4445-8f11-394c43cd8907", "ordinal": 1},
        "destination": "DIRECT=OS:h\\q",
    }
    packet = dissect(packet_of(message))
    verdicts = compare_attributes(message, {**message, "response_queue": "DIRECT=OS:h\\r"}, packet)
    assert {one.requirement.rpartition(".")[2] for one in verdicts if one.outcome is Outcome.FAIL} == {
        "response-queue-type-attribute",
        "response-queue-format-name-attribute",
        "response-queue-type-none",
    }


@pytest.mark.parametrize("mistake", PRESENCE_MISTAKES, ids=lambda mistake: mistake.requirement)
def test_a_mistake_is_blamed_on_its_demand_alone(mistake: PresenceMistake) -> None:
    assert not blamed(mistake.message, packet_of(mistake.message))
    assert blamed(mistake.message, mistake.made(mistake.message)) == {mistake.requirement}


def test_every_demand_has_its_mistake() -> None:
    assert presence_caught() == set(DEMANDS)


def test_a_response_queue_beside_the_administration_queue_is_right() -> None:
    data = packet_of(AT_ADMINISTRATION, {U + "Flags.RQ": 4})
    assert dissect(data).fields[U + "Flags.RQ"] == 4
    assert not blamed(AT_ADMINISTRATION, data)


def test_a_size_written_backwards_is_in_another_place_and_no_other_size() -> None:
    packet = dissect(packet_of(SENDER))
    at, length = packet.spans[S + "SenderIdSize"]
    data = packet.data[:at] + packet.data[at : at + length][::-1] + packet.data[at + length :]
    assert not blamed(SENDER, data)


def test_right_packets_of_every_combination_break_nothing() -> None:
    judged = set()
    for row in rows()[:120]:
        message = message_of(row)
        wanted = dissect(packet_of(message), transport="buffer")
        for verdict in compare_presence(message, wanted, wanted):
            judged.add(verdict.requirement)
            assert verdict.outcome is Outcome.PASS
    assert judged == set(DEMANDS)
