"""All cases by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
from conformance.judge.dialogues.steps import Case

CASES: Final[Mapping[str, Case]] = {
    case.name: case
    for group in (
        *(OPENINGS, STATES, INITIATOR_STATES, COUNTED, SEQUENCES, REJECTED, TAKEN, EXPIRED, AGAIN, PINGS),
        *(CARRIED, REPEATED, GOING_ON, FINALS, LISTED, PASSING, SENT, IDLE, UNANSWERED, ROUNDS),
        *(WAYS_IN, FORMS, RETRIES, PING_BITS, FATES, ONWARDS, SIDE_BY_SIDE, ANOTHERS),
    )
    for case in group
}
