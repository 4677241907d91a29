"""What the test modules of this suite share: a case becomes a test with its claims, and its verdicts are recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from conformance.judge.dialogues.steps import Case
from conformance.suites.sessions.playing import EXAMPLE, METHODS, NotPlayed, Player

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

Need = Callable[..., None]


def cases(some: Iterable[Case]) -> list[Any]:
    """Return pytest parameters, marked with what each case judges."""
    return [pytest.param(case, id=case.name, marks=pytest.mark.requirement(*case.claims)) for case in some]


def check(case: Case, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Play a case and record its verdicts. Skips the test, with the reason, where it cannot be played."""
    mq_need(*METHODS)
    now_s = int(time.time())
    judge.begin_example(EXAMPLE, {"case": case.name, "now_s": now_s})

    def tell(text: str, call: Mapping[str, Any] | None) -> None:
        judge.step(text, {"method": "dialogue", "params": dict(call or {})})

    try:
        judge.record(*Player(mq, case, now_s=now_s, tell=tell).play(judge.readings, judge.profile))
    except NotPlayed as lacking:
        pytest.skip(str(lacking))
