"""Features of setting and reading queue properties (MS-MQMP 3.1.1.12, 3.1.4.5, 3.1.4.9 and 3.1.4.10)."""

from __future__ import annotations

from conformance.histories.features.feature import Feature
from conformance.histories.features.views import several
from conformance.model import Call, State
from conformance.model.properties import ROWS, Problem

_PROBLEMS = {Problem.TYPE: "type", Problem.VALUE: "value"}


def _queue(state: State, call: Call) -> str:
    queue = state.queues.get(call.queue or "")
    properties = state.properties
    if properties is not None:
        return "there" if (call.queue or "") in properties.queues else "deleted" if queue is not None else "never"
    return "never" if queue is None else "there" if queue.exists else "deleted"


def _first(call: Call) -> str | None:
    return call.values[0][0] if call.values else call.names[0] if call.names else None


def _kind(state: State, call: Call) -> str | None:
    """Return the type of the first property that the call gives: a number, a choice, a text or an identifier."""
    row = ROWS.get(_first(call) or "")
    if row is None:
        return "unknown"
    if row.values:
        return "choice"
    kind = row.kind.name
    return "text" if kind == "TEXT" else "identifier" if kind == "GUID" else "number"


def _many(state: State, call: Call) -> str:
    return several(len(call.values or call.names or ()))


def _problem(state: State, call: Call) -> str:
    """Return what is wrong with a property, the first one that is."""
    for name, value in call.values or ():
        row = ROWS.get(name)
        if row is None:
            return "unknown"
        if row.kept is None:
            return "not_applicable"
        found = row.problem(value)
        if found is not None:
            return _PROBLEMS[found[0]]
    return "none"


def _clears(state: State, call: Call) -> str:
    """Return whether the call empties a text that is not empty."""
    properties = state.properties
    known = properties.queues.get(call.queue or "") if properties is not None else None
    if known is None:
        return "no"
    emptied = [known.known.get(name) for name, value in call.values or () if value == ""]
    return "yes" if any(one is not None and one.value for one in emptied) else "no"


def _wrong_at(state: State, call: Call) -> str:
    """Return where a wrong property stands among right ones."""
    wrong = []
    for name, value in call.values or ():
        row = ROWS.get(name)
        wrong.append(row is None or row.kept is None or row.problem(value) is not None)
    if True not in wrong:
        return "nowhere"
    if len(wrong) == 1:
        return "alone"
    return "first" if wrong[0] else "behind"


def _unknown(state: State, call: Call) -> str:
    unknown = [name not in ROWS for name in call.names or ()]
    return "none" if True not in unknown else "only" if all(unknown) else "beside_known"


def _time(state: State, call: Call) -> str:
    return "start" if state.now == 0 else "later"


def _restarts(state: State, call: Call) -> str:
    return "some" if state.restarts else "none"


_SET, _GET = "MQMP-3.1.4.10", "MQMP-3.1.4.9"
_WHERE = Feature(
    "queue",
    ("there", "deleted", "never"),
    _queue,
    ("MQDMPR-3.1.7.1.4.removed", f"{_SET}.unknown-queue", f"{_GET}.unknown-queue"),
)
_RESTARTS = Feature("restarts", ("none", "some"), _restarts, ("MQDMPR-3.1.1.2.private-attributes-persistent",))
_TIME = Feature("time", ("start", "later"), _time, ("MQDMPR-3.1.7.1.3.modify-time",))
SET = (
    _WHERE,
    Feature("kind", ("choice", "number", "text", "identifier", "unknown"), _kind, (f"{_SET}.property-type",)),
    Feature("many", ("one", "several"), _many, (f"{_SET}.every-property", f"{_SET}.others-unchanged")),
    Feature(
        "problem",
        ("none", "unknown", "not_applicable", "type", "value"),
        _problem,
        (
            *(f"{_SET}.{step}" for step in ("set", "unknown-property", "property-type", "refused-unchanged")),
            *("MQMP-3.1.1.12.set-not-applicable", "MQMP-3.1.1.12.set-not-applicable-unchanged"),
        ),
    ),
    Feature("wrong", ("nowhere", "alone", "first", "behind"), _wrong_at, (f"{_SET}.unknown-property",)),
    Feature("clears", ("no", "yes"), _clears, (f"{_SET}.set", "MQDMPR-3.1.1.2.label")),
    _TIME,
    _RESTARTS,
)
GET = (
    _WHERE,
    Feature("kind", ("choice", "number", "text", "identifier", "unknown"), _kind, (f"{_GET}.unknown-property",)),
    Feature("many", ("one", "several"), _many, (f"{_GET}.get",)),
    Feature("unknown", ("none", "only", "beside_known"), _unknown, (f"{_GET}.unknown-property",)),
    _TIME,
    _RESTARTS,
)


def _used(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    return None if queue is None else "transactional" if queue.transactional else "plain"


def _shown(state: State, call: Call) -> str:
    return "all" if len(call.names or ()) == len(ROWS) else "some"


WATCH = (Feature("shown", ("all", "some"), _shown, (f"{_GET}.unknown-property",)),)
USE = (
    Feature("kind", ("plain", "transactional"), _used, ("MQDMPR-3.1.7.1.3.openable",)),
    _RESTARTS,
)
