"""MC-MQAC 3: walks over queue objects, messages and transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.reference_answers import judged
from conformance.activex.walk import walks
from conformance.run_options import RunRequest
from conformance.suites.objects.playing import Need, claimed, wander

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

SHARE = 1.6
"""The walks' part of the examples that a run asks for."""


def _judged() -> tuple[str, ...]:
    asked = RunRequest()
    return judged(walks(asked.seed, asked.max_examples * SHARE, asked.steps))


@pytest.mark.requirement(*claimed("walks", _judged))
def test_walks(mq: Port, judge: Recorder, mq_need: Need) -> None:
    wander(mq, judge, mq_need, SHARE)
