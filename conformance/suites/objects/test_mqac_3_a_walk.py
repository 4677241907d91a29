"""MC-MQAC 3: walks over queue objects, messages and transactions, with fixed seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.reference_answers import judged
from conformance.activex.walk import walk
from conformance.suites.objects.playing import Need, check, claimed

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

WALKS = 60


def _judged(seed: int) -> tuple[str, ...]:
    return claimed(("walk", seed), lambda: judged([walk(seed)]))


ROWS = [pytest.param(seed, id=str(seed), marks=pytest.mark.requirement(*_judged(seed))) for seed in range(WALKS)]


@pytest.mark.parametrize("seed", ROWS)
def test_a_walk(seed: int, mq: Port, judge: Recorder, mq_need: Need) -> None:
    check([walk(seed)], mq, judge, mq_need)
