"""What the test modules of this suite share: a case becomes a test with its claims, and its verdicts are recorded."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.harness.guarded_client import NOT_OFFERED
from conformance.judge.dialogues.groups import reaches
from conformance.judge.dialogues.steps import Case, demanded, handshake
from conformance.spec.catalogue import requirement, requirement_id
from conformance.suites.sessions.dialogue import NotPlayed
from conformance.suites.sessions.playing import EXAMPLE, METHODS, Player
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_ELSEWHERE: Final = frozenset(
    requirement_id(f"MQQB-3.1.7.15.{word}") for word in ("correlation", "delivery", "requested")
)
"""What administration acknowledgments show without a network, too."""


_COMMON: Final = frozenset((*demanded(handshake()), *demanded((reaches(""),))))
"""What nearly every case demands on its way: other cases judge it where one cannot be played."""


def cases(some: Iterable[Case]) -> list[Any]:
    """Return pytest parameters, marked with what each case judges."""
    return [pytest.param(case, id=case.name, marks=pytest.mark.requirement(*case.claims)) for case in some]


def check(case: Case, mq: Port, judge: Recorder) -> None:
    """Play a case and record its verdicts. Skips the test, with the reason, where it cannot be played.

    A driver without a network leaves unjudged what only a network shows; the rest is for the other suites.
    """
    missing = [method for method in METHODS if not mq.offers(method)]
    if missing:
        why = f"{NOT_OFFERED}{', '.join(missing)}"
        shown = (name for name in case.claims if requirement(name).checked == "session" and name not in _ELSEWHERE)
        judge.record(*(Verdict(name, Outcome.SKIP, "dialogue", reason=why) for name in shown))
        judge.flush()
        judge.not_demanded(why)
    now_s = int(time.time())
    judge.begin_example(EXAMPLE, {"case": case.name, "now_s": now_s})

    def tell(text: str, call: Mapping[str, Any] | None) -> None:
        judge.step(text, {"method": "dialogue", "params": dict(call or {})})

    try:
        judge.record(*Player(mq, case, now_s=now_s, tell=tell).play(judge.readings, judge.profile))
    except NotPlayed as lacking:
        own = dict.fromkeys(name for name in demanded(case.steps) if name not in _COMMON)
        judge.record(*(Verdict(name, Outcome.SKIP, "dialogue", reason=str(lacking)) for name in own))
        judge.flush()
        judge.not_demanded(str(lacking))
