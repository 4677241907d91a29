"""Faults that are tried on tapes are seen as in a run: by the first check of each example that does not hold."""

from __future__ import annotations

from functools import cache

import pytest

from conformance.embedded.faults import EVERY_FAULT
from conformance.fault_tapes import Port, Taped, _agrees, _in_rounds, failures, taped, touched

LIBRARY = "queue4-receive-has-another-name"


@cache
def blank() -> tuple[Taped, ...]:
    return taped("objects", module="test_mqac_3_11_3_queue")


@cache
def members() -> tuple[Taped, ...]:
    return taped("objects", module="test_mqac_1_9_identity")


def test_a_tape_is_answered_the_same_again() -> None:
    assert len(blank()) > 20
    with Port() as port:
        for one in blank():
            port.renew()
            assert _agrees(one, port)


@pytest.mark.parametrize("name", [LIBRARY, "queue4-receive-has-another-slot"])
def test_a_fault_is_seen_as_what_it_breaks(name: str) -> None:
    fault = EVERY_FAULT[name]
    found = failures("objects", members(), fault)
    assert next(iter(found)) in fault.breaks
    assert found[next(iter(found))].endswith("[MSMQQueue]")


def test_examples_that_a_fault_cannot_change_are_left_out() -> None:
    fault = EVERY_FAULT[LIBRARY]
    assert touched(members(), fault) and touched(blank(), fault) == []
    assert failures("objects", blank(), fault) == {}


def test_each_round_shows_the_first_of_every_test_that_is_new() -> None:
    assert list(_in_rounds({"a": ["x", "y"], "b": ["x", "z"], "c": ["z"]})) == ["x", "z", "y"]
