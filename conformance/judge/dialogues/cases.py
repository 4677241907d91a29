"""All cases by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.judge.dialogues.cases_carried import CARRIED
from conformance.judge.dialogues.cases_counts import AGAIN, COUNTED, SEQUENCES
from conformance.judge.dialogues.cases_idle import IDLE, UNANSWERED
from conformance.judge.dialogues.cases_opening import INITIATOR_STATES, OPENINGS, STATES
from conformance.judge.dialogues.cases_passing import LISTED, PASSING
from conformance.judge.dialogues.cases_pings import PINGS
from conformance.judge.dialogues.cases_repeated import FINALS, GOING_ON, REPEATED
from conformance.judge.dialogues.cases_rounds import ROUNDS
from conformance.judge.dialogues.cases_sent import SENT
from conformance.judge.dialogues.cases_words import EXPIRED, REJECTED, TAKEN
from conformance.judge.dialogues.steps import Case

CASES: Final[Mapping[str, Case]] = {
    case.name: case
    for group in (
        *(OPENINGS, STATES, INITIATOR_STATES, COUNTED, SEQUENCES, REJECTED, TAKEN, EXPIRED, AGAIN, PINGS),
        *(CARRIED, REPEATED, GOING_ON, FINALS, LISTED, PASSING, SENT, IDLE, UNANSWERED, ROUNDS),
    )
    for case in group
}
