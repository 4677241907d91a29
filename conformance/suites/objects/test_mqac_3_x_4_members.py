"""MC-MQAC 2.2.2, 3.6 to 3.11 and 3.17: constants, and each class's members by name, kind, place and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import library
from conformance.activex.library import members_claimed
from conformance.activex.tables import STATES
from conformance.suites.objects.playing import EXAMPLE, Need, NotCreated
from conformance.suites.objects.staging import LIBRARY, describe

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

COCLASSES = [
    pytest.param(
        coclass,
        marks=pytest.mark.requirement(
            *members_claimed(coclass),
            *((*library.enumerations_claimed(), *library.codes_claimed()) if coclass == LIBRARY else ()),
        ),
    )
    for coclass, states in STATES.items()
    if states.new is not None
]


@pytest.mark.parametrize("coclass", COCLASSES)
def test_a_class_has_its_members(coclass: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    mq_need("objects.describe")
    judge.begin_example(EXAMPLE, {"described": coclass})
    try:
        judge.record(*describe(coclass, mq, judge.step_told))
    except NotCreated as lacking:
        pytest.skip(str(lacking))
