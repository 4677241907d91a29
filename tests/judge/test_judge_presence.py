"""Optional fields that take bytes where there are none, or none where there are some: each mistake and its demand."""

from __future__ import annotations

import pytest

from conformance.judge.packets.field_compare import S, U
from conformance.judge.packets.misplaced_fields import DEMANDS, compare_presence
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
