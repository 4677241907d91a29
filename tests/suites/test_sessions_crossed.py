"""The crossed tables of openings and pings leave nothing out."""

from __future__ import annotations

from itertools import product

import pytest

from conformance.judge.dialogues.cases_sessions import FORMS, KINDS, PING_BITS, WAYS, WAYS_IN
from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.steps import Establish, Parameters, Ping

_SYSTEM = "EstablishConnectionHeader.OperatingSystem."
_PROPOSED = "ConnectionParametersHeader."


def test_each_way_into_a_state_meets_each_packet_but_the_open_one() -> None:
    pairs = {f"{way}/{says.value}" for way, says in product(WAYS, Says)}
    assert pairs - {case.name for case in WAYS_IN} == {"refused/parameters"}
    assert len(WAYS_IN) == len(pairs) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_session_meets_each_value_of_a_request(kind: str) -> None:
    steps = [step for case in FORMS if case.name.startswith(f"{kind}/") for step in case.steps]
    asked = [step for step in steps if isinstance(step, Establish) and step.link == "a"]
    bits = {tuple(step.values[_SYSTEM + bit] for bit in ("SE", "OS", "QS")) for step in asked}
    assert bits == set(product((0, 1), repeat=3))
    assert {step.server for step in asked} == {"null", "own", "stranger"}
    stamps = {step.values["EstablishConnectionHeader.TimeStamp"] for step in asked}
    assert len(stamps) == len(asked) and {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} <= stamps
    assert {"EstablishConnectionHeader.Reserved" in step.values for step in asked} == {False, True}
    proposed = [step.values for step in steps if isinstance(step, Parameters) and step.link == "a"]
    assert len({one[_PROPOSED + "RecoverableAckTimeout"] for one in proposed}) >= 3
    assert len({one[_PROPOSED + "WindowSize"] for one in proposed}) >= 2


def test_the_pings_have_all_bits_together_and_each_kind_has_a_type_beside_unused_ones() -> None:
    each = {
        case.name: [
            (step.values["Ping.Flags.RC"], step.values["Ping.Flags.RF"], step.values["Ping.Flags.X"])
            for step in case.steps
            if isinstance(step, Ping) and not step.control
        ]
        for case in PING_BITS
    }
    found = [bits for some in each.values() for bits in some]
    unused = {bits[2] for bits in found}
    assert sorted(found) == sorted(product((0, 1), (0, 1), unused)) and {0, 1, 0x2000, 0x3FFF} <= unused
    for some in each.values():
        assert {(rc, bool(x)) for rc, _, x in some} >= {(0, True), (1, True)}
