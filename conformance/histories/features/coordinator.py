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


def _waiting(state: State, call: Call) -> str:
    found = of_coordinator(state, call.identifier)
    queues = {queue for queue, _ in state.held_by(found.name)} if found is not None else set[str]()
    return "some" if any(waiter.queue in queues for waiter in state.waiters) else "none"


def _phases(state: State, call: Call) -> str:
    return "single" if call.single_phase else "two"


def _doubts(state: State, call: Call) -> str:
    doubtful = {one.identifier for one in state.transactions.values() if one.coordinated is _D.IN_DOUBT}
    return several(len(doubtful)) if state.transactions else "none"


def _told(state: State, call: Call) -> str:
    """Return how transactions ended that have been in doubt."""
    ends = {one.ended for one in state.transactions.values() if one.asked and one.ended is not None}
    return "none" if not ends else f"{ends.pop()}" if len(ends) == 1 else "both"


def _outcome(state: State, call: Call) -> str | None:
    return call.action


_6, _7, _8 = "MQDMPR-3.1.4.6", "MQDMPR-3.1.4.7", "MQDMPR-3.1.4.8"
_OVER: Final = ("committed", "aborted", "unknown")
ENLIST: Final = (
    Feature("state", ("unknown", "enlisted", "prepared"), _state, ("MQMP-3.1.4.13.known", "MQMP-3.1.4.13.created")),
)
PREPARE: Final = (
    Feature(
        "state",
        ("enlisted", "prepared", *_OVER),
        _state,
        (f"{_6}.prepared-reported", f"{_6}.failed-prepare-aborts"),
    ),
    Feature("phases", ("two", "single"), _phases, (f"{_6}.two-phase-only", f"{_6}.single-phase-commits")),
    Feature("work", ("none", "sends", "receives", "others", "several"), _work, (f"{_6}.prepares",)),
    Feature("waiting", ("none", "some"), _waiting, (f"{_6}.single-phase-commits",)),
)
COMMIT: Final = (
    Feature("state", ("prepared", *_OVER), _state, (f"{_7}.commits", f"{_7}.commit-reported")),
    Feature("work", ("none", "sends", "receives", "others", "several"), _work, (f"{_7}.commits",)),
    Feature("waiting", ("none", "some"), _waiting, (f"{_7}.commits",)),
)
ABORT: Final = (
    Feature("state", ("enlisted", "prepared", *_OVER), _state, (f"{_8}.aborts", f"{_8}.abort-reported")),
    Feature("work", ("none", "sends", "receives", "others", "several"), _work, (f"{_8}.aborts",)),
    Feature("waiting", ("none", "some"), _waiting, (f"{_8}.aborts",)),
)
IN_DOUBT: Final = (
    Feature("in_doubt", ("none", "one", "several"), _doubts, ("MQDMPR-3.1.3.resource-manager",)),
    Feature(
        "told",
        ("none", "commit", "abort", "both"),
        _told,
        ("MQDMPR-3.1.3.reenlist-commit", "MQDMPR-3.1.3.reenlist-abort"),
    ),
)
OUTCOME: Final = (
    Feature("state", ("in_doubt", *_OVER), _state, ("MQDMPR-3.1.4.9.commits", "MQDMPR-3.1.4.10.aborts")),
    Feature("outcome", ("committed", "aborted", "timeout"), _outcome, ("MQDMPR-3.1.4.11.error-reported",)),
    Feature("work", ("none", "sends", "receives", "others", "several"), _work, ("MQDMPR-3.1.4.9.commits",)),
)
