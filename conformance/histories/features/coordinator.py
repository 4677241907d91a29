"""Features of a coordinator's transactions: what has become of them, what they have done, and what is in doubt."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.facts import several
from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.coordinated import of_coordinator
from conformance.model.tables import CoordinatedState, PositionState

_D = CoordinatedState
_STATES: Final = {
    _D.ENLISTED: "enlisted",
    _D.PREPARED: "prepared",
    _D.IN_DOUBT: "in_doubt",
    _D.COMMITTED: "committed",
    _D.ABORTED: "aborted",
}
_WORK: Final = {PositionState.SENDING: "sends", PositionState.LOCKED: "receives"}


def _state(state: State, call: Call) -> str:
    found = of_coordinator(state, call.identifier)
    return "unknown" if found is None else _STATES[found.coordinated]


def _work(state: State, call: Call) -> str | None:
    """Return what a transaction that is not over holds."""
    found = of_coordinator(state, call.identifier)
    if found is None or found.ended is not None:
        return None
    done = {_WORK.get(position.state, "others") for _, position in state.held_by(found.name)}
    return "none" if not done else done.pop() if len(done) == 1 else "several"


def _phases(state: State, call: Call) -> str:
    return "single" if call.single_phase else "two"


def _doubts(state: State, call: Call) -> str:
    doubtful = {one.identifier for one in state.transactions.values() if one.coordinated is _D.IN_DOUBT}
    return several(len(doubtful)) if state.transactions else "none"


def _outcome(state: State, call: Call) -> str | None:
    return call.action


_6, _7, _8 = "MQDMPR-3.1.4.6", "MQDMPR-3.1.4.7", "MQDMPR-3.1.4.8"
_OUTCOMES: Final = ("MQDMPR-3.1.4.9.commits", "MQDMPR-3.1.4.10.aborts", "MQDMPR-3.1.4.11.error-reported")


_ENLISTS: Final = ("MQMP-3.1.4.13.known", "MQMP-3.1.4.13.created", "MQMP-3.1.4.13.enlisted")


def _of(steps: tuple[str, ...], *states: str) -> tuple[Feature, ...]:
    """Return the features of a call about a transaction in one of these states, that is over, or that never was."""
    each = (*states, "committed", "aborted", "unknown")
    works = ("none", "sends", "receives", "others", "several")
    return Feature("state", each, _state, steps), Feature("work", works, _work, steps[:1])


ENLIST: Final = (Feature("state", ("unknown", "enlisted", "prepared"), _state, _ENLISTS),)
PREPARE: Final = (
    *_of((f"{_6}.prepared-reported", f"{_6}.failed-prepare-aborts"), "enlisted", "prepared"),
    Feature("phases", ("two", "single"), _phases, (f"{_6}.two-phase-only", f"{_6}.single-phase-commits")),
)
COMMIT: Final = _of((f"{_7}.commits", f"{_7}.commit-reported"), "prepared")
ABORT: Final = _of((f"{_8}.aborts", f"{_8}.abort-reported"), "enlisted", "prepared")
IN_DOUBT: Final = (Feature("in_doubt", ("none", "one", "several"), _doubts, ("MQDMPR-3.1.3.resource-manager",)),)
OUTCOME: Final = (
    *_of(_OUTCOMES[:2], "in_doubt"),
    Feature("outcome", ("committed", "aborted", "timeout"), _outcome, _OUTCOMES),
)
