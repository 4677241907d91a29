"""The model of queue properties: a call and its answer in, the next state and verdicts out.

MS-MQDMPR 3.1.1.2, 3.1.7.1.3 and .33, MS-MQMQ 2.3.1 and 2.4, MS-MQMP 3.1.1.12, 3.1.4.5, 3.1.4.9 and 3.1.4.10. Whoever
drives it reads a queue after each call that writes, so that what reads otherwise is the doing of that call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.model.properties import BASE_PRIORITY, NO_GUID, ROWS, Problem, Row, same
from conformance.model.property_calls import CREATE, DELETE, GET, RESTART, SET, PropertyAnswer, PropertyCall
from conformance.model.property_state import Known, PropertyState, QueueState, Times
from conformance.spec.assignment import either
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.constants import hresults
from conformance.verdict import Json, Outcome, Verdict

NOT_APPLICABLE = reading_id("R-MQMP-property-not-applicable")
STATUS = reading_id("R-MQMP-property-status")

GET_SUCCEEDS = requirement_id("MQMP-3.1.4.9.get")
SET_SUCCEEDS = requirement_id("MQMP-3.1.4.10.set")
CREATED = requirement_id("MQDMPR-3.1.7.1.3.success")
RETURNED = requirement_id("MQDMPR-3.1.7.1.3.returned")
SCOPE = requirement_id("MQDMPR-3.1.1.2.scope-enterprise")
EXISTS = requirement_id("MQMP-3.1.4.5.queue-exists")
EXISTS_CODE = requirement_id("MQMP-3.1.4.5.queue-exists-code")
UNALTERED = requirement_id("MQMP-3.1.4.5.existing-queue-unaltered")
NO_QUEUE = requirement_id("MQMP-3.1.4.5.refused-no-queue")
NO_QUEUE_TO_GET = requirement_id("MQMP-3.1.4.9.unknown-queue")
NO_QUEUE_TO_SET = requirement_id("MQMP-3.1.4.10.unknown-queue")
EVERY = requirement_id("MQMP-3.1.4.10.every-property")
OTHERS = requirement_id("MQMP-3.1.4.10.others-unchanged")
REFUSED_UNCHANGED = requirement_id("MQMP-3.1.4.10.refused-unchanged")
UNSETTABLE = requirement_id("MQMP-3.1.1.12.set-not-applicable-unchanged")
PERSISTENT = requirement_id("MQDMPR-3.1.1.2.private-attributes-persistent")
PATH_NAME = requirement_id("MQDMPR-3.1.7.1.3.attribute-pathname")
QUALIFIED = requirement_id("MQDMPR-3.1.7.1.3.qualified-pathname")
CREATE_TIME = requirement_id("MQDMPR-3.1.7.1.3.create-time")
NEW_MODIFY_TIME = requirement_id("MQDMPR-3.1.7.1.3.modify-time")
MODIFY_TIME = requirement_id("MQDMPR-3.1.1.2.modify-time")
TYPE_CODE = requirement_id("MQMP-3.1.4.10.property-type-code")

_REFUSED: Mapping[tuple[str, Problem], str] = {
    (CREATE, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.5.unknown-property"),
    (CREATE, Problem.NOT_APPLICABLE): requirement_id("MQMP-3.1.1.12.create-not-applicable"),
    (CREATE, Problem.TYPE): requirement_id("MQMP-3.1.4.5.property-type"),
    (SET, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.10.unknown-property"),
    (SET, Problem.NOT_APPLICABLE): requirement_id("MQMP-3.1.1.12.set-not-applicable"),
    (SET, Problem.TYPE): requirement_id("MQMP-3.1.4.10.property-type"),
    (GET, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.9.unknown-property"),
}
_CODES: Mapping[Problem, tuple[str, tuple[int, ...]]] = {
    Problem.UNKNOWN: (requirement_id("MQMQ-2.4.mq-error-illegal-propid"), (hresults.MQ_ERROR_ILLEGAL_PROPID,)),
    Problem.NOT_APPLICABLE: (
        requirement_id("MQMQ-2.4.mq-error-property-notallowed"),
        (hresults.MQ_ERROR_PROPERTY_NOTALLOWED,),
    ),
    Problem.VALUE: (
        requirement_id("MQMQ-2.4.mq-error-illegal-property-value"),
        (hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,),
    ),
}
# No variant type crosses the adapter protocol: a text where a number belongs may as well be a wrong value.
_TYPE_CODES = (
    hresults.MQ_ERROR_PROPERTY,
    hresults.MQ_ERROR_ILLEGAL_PROPERTY_VT,
    hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
)
_IGNORABLE = frozenset({Problem.UNKNOWN, Problem.NOT_APPLICABLE})
_INSTANCE = "PROPID_Q_INSTANCE"
_TIMES = ("PROPID_Q_CREATE_TIME", "PROPID_Q_MODIFY_TIME")


@dataclass(frozen=True, slots=True)
class PropertyModel:
    """Judges the calls of one manager.

    readings: the accepted alternatives of each, the default first. shown: the properties this manager shows at all.
    paths: how the path name of a history's queue is written. queue_manager: the manager's GUID, None where unknown.
    """

    readings: Mapping[str, tuple[str, ...]]
    shown: Collection[str]
    paths: Mapping[str, str]
    queue_manager: str | None = None

    def step(
        self, state: PropertyState, call: PropertyCall, answer: PropertyAnswer
    ) -> tuple[PropertyState, list[Verdict]]:
        """The state after a call, and the verdicts on its answer."""
        if call.method == CREATE:
            return self._create(state, call, answer)
        if call.method == SET:
            return self._set(state, call, answer)
        if call.method == GET:
            return self._get(state, call, answer)
        if call.method == DELETE and not answer.failed:
            return state.without(call.queue, NO_QUEUE_TO_GET), []
        if call.method == RESTART:
            return state.blaming(PERSISTENT), []
        return state, []

    def _create(
        self, state: PropertyState, call: PropertyCall, answer: PropertyAnswer
    ) -> tuple[PropertyState, list[Verdict]]:
        subject = f"create {call.queue}"
        if call.queue in state.queues:
            old = state.queues[call.queue].blaming(UNALTERED)
            verdicts = [_must_fail(EXISTS, subject, answer)]
            if answer.failed and not any(True for _ in self._problems(call)):
                verdicts.append(_code(EXISTS_CODE, subject, answer, (hresults.MQ_ERROR_QUEUE_EXISTS,)))
            return state.having(call.queue, old), verdicts
        problems = list(self._problems(call))
        if problems:
            verdicts = self._refusal(call, subject, problems, answer)
            if answer.failed:
                return state.without(call.queue, NO_QUEUE), verdicts
        else:
            verdicts = [_must_succeed(CREATED, subject, answer)]
        if answer.failed:
            return state, verdicts
        bad = {name for name, _, _ in problems}
        return state.having(call.queue, self._new(call, bad, answer)), verdicts

    def _new(self, call: PropertyCall, bad: Collection[str], answer: PropertyAnswer) -> QueueState:
        known: dict[str, Known] = {}
        given = {name: value for name, value in call.values.items() if name not in bad}
        for name, row in ROWS.items():
            if name in given and row.given is not None:
                known[name] = Known(given[name], row.given, given[name])
            elif row.default is not None:
                known[name] = Known(row.default[0], row.default[1], row.default[0])
        known["PROPID_Q_PATHNAME"] = Known(self.paths[call.queue], PATH_NAME)
        if self.queue_manager is not None:
            known["PROPID_Q_QMID"] = Known(self.queue_manager, ROWS["PROPID_Q_QMID"].shown)
        now = _times(answer)
        return QueueState(known, now, now, NEW_MODIFY_TIME)

    def _set(
        self, state: PropertyState, call: PropertyCall, answer: PropertyAnswer
    ) -> tuple[PropertyState, list[Verdict]]:
        subject = f"set {', '.join(call.values)} of {call.queue}"
        queue = state.queues.get(call.queue)
        if queue is None:
            return state, [_must_fail(NO_QUEUE_TO_SET, subject, answer)]
        problems = list(self._problems(call))
        verdicts = self._refusal(call, subject, problems, answer) if problems else []
        unsettable = [name for name, problem, _ in problems if problem is Problem.NOT_APPLICABLE]
        if not problems:
            verdicts = [_must_succeed(SET_SUCCEEDS, subject, answer)]
        if answer.failed:
            unchanged = queue.blaming(REFUSED_UNCHANGED).blaming(UNSETTABLE, unsettable)
            return state.having(call.queue, unchanged), verdicts
        bad = {name for name, _, _ in problems}
        written = {name: value for name, value in call.values.items() if name not in bad}
        after = queue.blaming(OTHERS).blaming(UNSETTABLE, unsettable)
        known = dict(after.known)
        changed = False
        for name, value in written.items():
            row, old = ROWS[name], queue.known[name]
            changed = changed or not same(row, old.value, value)
            known[name] = Known(value, row.blamed(value), value, ((old.value, EVERY),) if len(written) > 1 else ())
        now = _times(answer)
        sure = changed and set(written) - {"PROPID_Q_BASEPRIORITY"}
        modified = now if sure or not now or not queue.modified else (*queue.modified, *now)
        after = replace(after, known=known, modified=modified, timed=MODIFY_TIME)
        blamed_on_others = {other: each.blaming(OTHERS) for other, each in state.queues.items()}
        return replace(state, queues={**blamed_on_others, call.queue: after}), verdicts

    def _get(
        self, state: PropertyState, call: PropertyCall, answer: PropertyAnswer
    ) -> tuple[PropertyState, list[Verdict]]:
        subject = f"get of {call.queue}"
        queue = state.queues.get(call.queue)
        if queue is None:
            return state, [_must_fail(state.gone.get(call.queue, NO_QUEUE_TO_GET), subject, answer)]
        unknown = [(name, Problem.UNKNOWN, "") for name in call.names if name not in ROWS]
        if unknown:
            return state, self._refusal(call, subject, unknown, answer)
        if answer.failed:
            return state, [_must_succeed(GET_SUCCEEDS, subject, answer)]
        verdicts = [_must_succeed(GET_SUCCEEDS, subject, answer)]
        known = dict(queue.known)
        for name in call.names:
            if name not in answer.values:
                verdicts.append(Verdict(GET_SUCCEEDS, Outcome.FAIL, subject, {"gives": name}, sorted(answer.values)))
                continue
            value = answer.values[name]
            verdicts += self._value(ROWS[name], queue, f"{name} of {call.queue}", value)
            if name == _INSTANCE:
                verdicts += self._own(state, call.queue, value)
            known.setdefault(name, Known(value, ROWS[name].shown))  # what is the manager's to choose stays so
        return state.having(call.queue, replace(queue, known=known)), verdicts

    def _own(self, state: PropertyState, queue: str, value: Json) -> Iterator[Verdict]:
        """The GUID of a queue is no other queue's, unless it has none."""
        others = [
            each.known[_INSTANCE].value
            for name, each in state.queues.items()
            if name != queue and _INSTANCE in each.known
        ]
        subject, shown = f"{_INSTANCE} of {queue}", ROWS[_INSTANCE]
        taken = value != NO_GUID and any(same(shown, other, value) for other in others)
        yield _equal(shown.shown, subject, not taken, "a GUID of its own", value)

    def _value(self, row: Row, queue: QueueState, subject: str, value: Json) -> Iterator[Verdict]:
        fits = row.kind.holds(value) or (value is None and row.nothing)
        yield _equal(row.shown, subject, fits, {"type": row.kind.name}, value)
        if row.among is not None:
            yield _equal(row.among, subject, value in row.values, {"one of": list(row.values)}, value)
        if row.name in _TIMES:
            created = row.name == _TIMES[0]
            times, demand = (queue.created, CREATE_TIME) if created else (queue.modified, queue.timed)
            if queue.timed == PERSISTENT:
                demand = PERSISTENT
            if times and isinstance(value, int):
                within = any(first <= value <= last for first, last in times)
                yield _equal(demand, subject, within, {"seconds": [list(each) for each in times]}, value)
            return
        known = queue.known.get(row.name)
        if row.name == "PROPID_Q_SCOPE":
            yield _equal(SCOPE, subject, value == 1, {"value": 1}, value)
        if row.name == "PROPID_Q_PATHNAME_DNS":
            path = queue.known["PROPID_Q_PATHNAME"].value
            yield _equal(QUALIFIED, subject, _qualifies(str(value), str(path)), {"qualifies": path}, value)
        if known is None:
            return
        if row.name == "PROPID_Q_BASEPRIORITY" and known.written != 0:
            allowed: dict[str, Json] = {"ignored": 0, "kept": known.written}
            fits_reading = {name: value == wanted for name, wanted in allowed.items()}
            yield self._by_reading(known.demand, BASE_PRIORITY, fits_reading, subject, allowed, value)
            return
        holds = same(row, known.value, value)
        for mistaken, demand in known.instead:
            yield _equal(demand, subject, holds or not same(row, mistaken, value), {"value": known.value}, value)
        yield _equal(known.demand, subject, holds, {"value": known.value}, value)

    def _problems(self, call: PropertyCall) -> Iterator[tuple[str, Problem, str]]:
        """The properties a call cannot write, why, and the demand that it fails for them."""
        for name, value in call.values.items():
            row = ROWS.get(name)
            if row is None:
                problem, demand = Problem.UNKNOWN, ""
            elif (row.given if call.method == CREATE else row.kept) is None:
                problem, demand = Problem.NOT_APPLICABLE, ""
            else:
                found = row.problem(value)
                if found is None:
                    continue
                problem, demand = found
            yield name, problem, _REFUSED.get((call.method, problem), demand)

    def _refusal(
        self, call: PropertyCall, subject: str, problems: Sequence[tuple[str, Problem, str]], answer: PropertyAnswer
    ) -> list[Verdict]:
        kinds = {problem for _, problem, _ in problems}
        first = next((each for each in problems if each[1] not in _IGNORABLE), problems[0])
        demand = first[2] or _REFUSED[call.method, first[1]]
        if kinds <= _IGNORABLE:
            said = (
                answer.status != hresults.MQ_OK
            )  # MQ_OK would say that it was written; an API may have no way to tell
            fits = {"refused": answer.failed, "ignored": not answer.failed and said}
            expected: Json = {"refused": {"fails": True}, "ignored": {"fails": False, "status": "not MQ_OK"}}
            out = [self._by_reading(demand, NOT_APPLICABLE, fits, subject, expected, _told(answer))]
        else:
            out = [_must_fail(demand, subject, answer)]
        if answer.failed and len(kinds) == 1:
            out.append(self._refusal_code(first[1], subject, answer))
        return out

    def _refusal_code(self, problem: Problem, subject: str, answer: PropertyAnswer) -> Verdict:
        if problem is Problem.TYPE:
            return _code(TYPE_CODE, subject, answer, _TYPE_CODES)
        demand, codes = _CODES[problem]
        if answer.status is None:
            return _no_code(demand, subject)
        fits = {"reason": answer.status in codes, "summary": answer.status == hresults.MQ_ERROR_PROPERTY}
        expected: Json = {"reason": [_code_name(code) for code in codes], "summary": "MQ_ERROR_PROPERTY"}
        return self._by_reading(demand, STATUS, fits, subject, expected, _told(answer))

    def _by_reading(
        self, demand: str, reading: str, fits: Mapping[str, bool], subject: str, expected: Json, actual: Json
    ) -> Verdict:
        allowed = self.readings[reading]
        usable = [name for name in allowed if fits[name]]
        if not usable:
            return Verdict(demand, Outcome.FAIL, subject, expected, actual, ((reading, allowed[0]),))
        outcome = Outcome.PASS if allowed[0] in usable else Outcome.READING
        one_sided = len(usable) < len(allowed) or sum(fits.values()) == 1
        assumed = ((reading, either(usable)),) if one_sided else ()
        return Verdict(demand, outcome, subject, expected, actual, assumed)


def _qualifies(qualified: str, path: str) -> bool:
    host, _, rest = path.casefold().partition("\\")
    name, _, tail = qualified.casefold().partition("\\")
    return tail == rest and name.split(".")[0] == host.split(".")[0]


def _times(answer: PropertyAnswer) -> Times:
    if answer.began_ms is None or answer.ended_ms is None:
        return ()
    return ((answer.began_ms // 1000, -(-answer.ended_ms // 1000)),)


def _must_fail(demand: str, subject: str, answer: PropertyAnswer) -> Verdict:
    return _equal(demand, subject, answer.failed, {"fails": True}, _told(answer))


def _must_succeed(demand: str, subject: str, answer: PropertyAnswer) -> Verdict:
    return _equal(demand, subject, not answer.failed, {"fails": False}, _told(answer))


def _code(demand: str, subject: str, answer: PropertyAnswer, codes: Sequence[int]) -> Verdict:
    if answer.status is None:
        return _no_code(demand, subject)
    return _equal(demand, subject, answer.status in codes, [_code_name(code) for code in codes], _told(answer))


def _no_code(demand: str, subject: str) -> Verdict:
    return Verdict(demand, Outcome.SKIP, subject, reason="the driver's API has no HRESULTs")


def _equal(demand: str, subject: str, holds: bool, expected: Json, actual: Json) -> Verdict:
    return Verdict(demand, Outcome.PASS if holds else Outcome.FAIL, subject, expected, actual)


def _told(answer: PropertyAnswer) -> Json:
    if answer.status is None:
        return {"fails": answer.failed}
    return {"fails": answer.failed, "status": _code_name(answer.status)}


def _code_name(code: int) -> str:
    name = hresults.name_of(code)
    return f"0x{code:08X}" + (f" {name}" if name else "")
