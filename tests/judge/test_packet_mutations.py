"""What is changed in a packet is what is blamed: a sample of all changes of fields, headers and parts."""

from __future__ import annotations

import pytest
from nightly import amount
from packet_mutations import Changed, changes, first_blamed, fits, measure, shapes

from conformance.judge.packets.judge import judge_packet
from conformance.verdict import Outcome

RIGHT = 0.97
EVERY = 100 // amount("packets.changed-percent")


def test_what_is_changed_is_blamed_first() -> None:
    groups, misses = measure(EVERY)
    right, wrong = (sum(getattr(one, word) for one in groups.values()) for word in ("right", "wrong"))
    assert right >= RIGHT * (right + wrong), [str(one) for one, first in misses if first]


@pytest.mark.parametrize("name", [name for name, _ in shapes()])
def test_the_unchanged_packets_break_nothing(name: str) -> None:
    packet = next(one for shape, one in shapes() if shape == name)
    verdicts = judge_packet(packet.data, profile="msmq-6.0", transport="buffer", level="may")
    assert not [one.requirement for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.WARN)]


def test_a_change_is_told_from_what_it_does_not_concern() -> None:
    one = Changed("", "plain", "SecurityHeader.SignatureSize", b"", "zero")
    assert fits(one, "MQMQ-2.2.20.6.signature-size")
    assert not fits(one, "MQMQ-2.2.19.1.version-number")


def test_bytes_of_no_packet_at_all_are_never_raised_for() -> None:
    for one in list(changes())[:: EVERY * 3]:
        for end in (0, 7, len(one.data) // 2):
            first_blamed(one.data[:end])
