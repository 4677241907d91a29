"""All cases by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.judge.dialogues.cases_carried import CARRIED
from conformance.judge.dialogues.cases_counts import AGAIN, COUNTED, SEQUENCES
from conformance.judge.dialogues.cases_fates import FATES, ONWARDS
from conformance.judge.dialogues.cases_idle import IDLE, UNANSWERED
from conformance.judge.dialogues.cases_opening import INITIATOR_STATES, OPENINGS, STATES
from conformance.judge.dialogues.cases_opening_twice import FORMS, RETRIES, WAYS_IN
from conformance.judge.dialogues.cases_passing import LISTED, PASSING
from conformance.judge.dialogues.cases_ping_bits import PING_BITS
from conformance.judge.dialogues.cases_pings import PINGS
from conformance.judge.dialogues.cases_repeated import FINALS, GOING_ON, REPEATED
from conformance.judge.dialogues.cases_rounds import ROUNDS
from conformance.judge.dialogues.cases_sent import SENT
from conformance.judge.dialogues.cases_sequences_side_by_side import ANOTHERS, SIDE_BY_SIDE
from conformance.judge.dialogues.cases_words import EXPIRED, REJECTED, TAKEN
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
