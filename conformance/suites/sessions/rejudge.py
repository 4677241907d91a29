"""Plays a case or a walk of this suite again, from its repro file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.playback import Playback
from conformance.harness.recorder import HarnessDefect
from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.judge.dialogues.cases_counts import AGAIN, CARRIED, COUNTED, ROUNDS, SEQUENCES
from conformance.judge.dialogues.cases_fates import EXPIRED, FATES, ONWARDS, REJECTED, TAKEN
from conformance.judge.dialogues.cases_sequences import ANOTHERS, FINALS, GOING_ON, REPEATED, SENT, SIDE_BY_SIDE
from conformance.judge.dialogues.cases_sessions import (
    FORMS,
    IDLE,
    INITIATOR_STATES,
    LISTED,
    OPENINGS,
    PASSING,
    PING_BITS,
    PINGS,
    RETRIES,
    STATES,
    UNANSWERED,
    WAYS_IN,
)
from conformance.judge.dialogues.exchanges import planned
from conformance.judge.dialogues.steps import Case
from conformance.judge.dialogues.walk_plans import Act
from conformance.suites.sessions.dialogue import NotPlayed
from conformance.suites.sessions.playing import EXAMPLE, Player
from conformance.suites.sessions.walking import KIND as WALK
from conformance.suites.sessions.walking import Walker
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

CASES: Final[Mapping[str, Case]] = {
    case.name: case
    for group in (
        *(OPENINGS, STATES, INITIATOR_STATES, COUNTED, SEQUENCES, REJECTED, TAKEN, EXPIRED, AGAIN, PINGS),
        *(CARRIED, REPEATED, GOING_ON, FINALS, LISTED, PASSING, SENT, IDLE, UNANSWERED, ROUNDS),
        *(WAYS_IN, FORMS, RETRIES, PING_BITS, FATES, ONWARDS, SIDE_BY_SIDE, ANOTHERS, planned()),
    )
    for case in group
}


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts of one case or walk. Raises NotRepeatable for a repro of another suite or version."""
    try:
        yield from _judged(repro, client, options)
    except HarnessDefect as defect:
        raise NotRepeatable(f"The harness failed: {defect}.") from None


def _judged(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    if repro.get("kind") == WALK:
        yield from _walk(repro, client, options)
        return
    case = CASES.get(str(repro.get("case"))) if repro.get("kind") == EXAMPLE else None
    if case is None:
        raise NotRepeatable(f"The suite sessions has no case {repro.get('case')!r}.")
    try:
        yield from Player(client, case, now_s=_now_s(repro, client), tell=no_story).play(
            options.readings, options.profile
        )
    except NotPlayed as lacking:
        raise NotRepeatable(f"The example cannot be run: {lacking}.") from None


def _walk(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts on a walk over a network with faults. Raises NotRepeatable for acts of another version."""
    try:
        acts = tuple(Act.from_json(raw) for raw in repro["acts"])
    except (KeyError, TypeError, ValueError):
        raise NotRepeatable("The repro file has an act that this version of mqconform does not know.") from None
    now_s, accepts = _now_s(repro, client), bool(repro.get("accepts"))
    try:
        walker = Walker(client, acts, accepts=accepts, now_s=now_s, tell=no_story)
        yield from walker.play(options.readings, options.profile)
    except NotPlayed as lacking:
        raise NotRepeatable(f"The walk cannot be taken: {lacking}.") from None


def _now_s(repro: Mapping[str, Any], client: Port) -> int:
    """Return the time: a recording has the packets that were sent then; an implementation takes the time of now."""
    return int(repro["now_s"]) if isinstance(client, Playback) else int(time.time())
