"""Why a call cannot write or read properties, and what its refusal is judged by.

MS-MQMP 3.1.1.12, 3.1.4.5, 3.1.4.9 and 3.1.4.10, MS-MQMQ 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from conformance.model.calls import Answer
from conformance.model.properties import OF_DIRECTORY, ROWS, Problem
from conformance.model.rules import PROPERTY_NOT_APPLICABLE, PROPERTY_STATUS, Rules
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants import hresults
from conformance.spec.followed_readings import either
from conformance.verdict import Json, Outcome, Verdict

CREATE, SET, GET = "queues.create", "queues.set", "queues.get"
Found: TypeAlias = tuple[str, Problem, str]
"""A property that a call cannot write, why, and the demand that it fails for it."""

_REFUSED: Final[Mapping[tuple[str, Problem], str]] = {
    (CREATE, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.5.unknown-property"),
    (CREATE, Problem.NOT_APPLICABLE): requirement_id("MQMP-3.1.1.12.create-not-applicable"),
    (CREATE, Problem.DIRECTORY): requirement_id("MQMP-3.1.1.12.create-not-applicable"),
    (CREATE, Problem.TYPE): requirement_id("MQMP-3.1.4.5.property-type"),
    (SET, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.10.unknown-property"),
    (SET, Problem.NOT_APPLICABLE): requirement_id("MQMP-3.1.1.12.set-not-applicable"),
    (SET, Problem.DIRECTORY): requirement_id("MQMP-3.1.1.12.set-not-applicable"),
    (SET, Problem.TYPE): requirement_id("MQMP-3.1.4.10.property-type"),
    (GET, Problem.UNKNOWN): requirement_id("MQMP-3.1.4.9.unknown-property"),
}
_CODES: Final[Mapping[Problem, tuple[str, int]]] = {
    Problem.UNKNOWN: (requirement_id("MQMQ-2.4.mq-error-illegal-propid"), hresults.MQ_ERROR_ILLEGAL_PROPID),
    Problem.NOT_APPLICABLE: (
        requirement_id("MQMQ-2.4.mq-error-property-notallowed"),
        hresults.MQ_ERROR_PROPERTY_NOTALLOWED,
    ),
    Problem.VALUE: (
        requirement_id("MQMQ-2.4.mq-error-illegal-property-value"),
        hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    ),
}
_PASS, _FAIL = Outcome.PASS, Outcome.FAIL
_TYPE_CODE = requirement_id("MQMP-3.1.4.10.property-type-code")
# No variant type crosses the adapter protocol: a text where a number belongs may as well be a wrong value.
_TYPE_CODES = (
    hresults.MQ_ERROR_PROPERTY,
    hresults.MQ_ERROR_ILLEGAL_PROPERTY_VT,
    hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
)
_IGNORABLE = frozenset({Problem.UNKNOWN, Problem.DIRECTORY, Problem.NOT_APPLICABLE})


def problems(method: str, values: Mapping[str, Json]) -> list[Found]:
    """The properties that a creation or setting cannot write."""
    return list(_problems(method, values))


def _problems(method: str, values: Mapping[str, Json]) -> Iterator[Found]:
    for name, value in values.items():
        row = ROWS.get(name)
        if row is None:
            problem, demand = Problem.DIRECTORY if name in OF_DIRECTORY else Problem.UNKNOWN, ""
        elif (row.given if method == CREATE else row.kept) is None:
            problem, demand = Problem.NOT_APPLICABLE, ""
        else:
            found = row.problem(value)
            if found is None:
                continue
            problem, demand = found
        yield name, problem, _REFUSED.get((method, problem), demand)


def unknown(names: Sequence[str]) -> list[Found]:
    """The names that a get cannot read."""
    return [(name, Problem.UNKNOWN, _REFUSED[GET, Problem.UNKNOWN]) for name in names if name not in ROWS]


def demand_of(found: Sequence[Found]) -> str:
    """The demand broken if a call with these problems succeeds: of the first that nothing lets an API pass over."""
    return next((each for each in found if each[1] not in _IGNORABLE), found[0])[2]


def refusal(rules: Rules, subject: str, found: Sequence[Found], answer: Answer) -> list[Verdict]:
    """Judge the answer to a call with these problems, of which there is at least one."""
    kinds = {problem for _, problem, _ in found}
    demand = demand_of(found)
    if kinds <= _IGNORABLE:
        # MQ_OK would say that it was written; an API may have no way to tell
        said = answer.status != hresults.MQ_OK
        fits = {"refused": answer.failed, "ignored": not answer.failed and said}
        expected: Json = {"refused": {"fails": True}, "ignored": {"fails": False, "status": "not MQ_OK"}}
        out = [by_reading(rules, demand, PROPERTY_NOT_APPLICABLE, fits, subject, expected, _failure_text(answer))]
    else:
        out = [must_fail(demand, subject, answer)]
    if answer.failed and len(kinds) == 1 and kinds != {Problem.DIRECTORY}:  # either code fits what a queue never has
        out.append(_refusal_code(rules, kinds.pop(), subject, answer))
    return out


def _refusal_code(rules: Rules, problem: Problem, subject: str, answer: Answer) -> Verdict:
    if problem is Problem.TYPE:
        return coded(_TYPE_CODE, subject, answer, _TYPE_CODES)
    demand, code = _CODES[problem]
    if answer.status is None:
        return _no_code(demand, subject)
    fits = {"reason": answer.status == code, "summary": answer.status == hresults.MQ_ERROR_PROPERTY}
    expected: Json = {"reason": [_code_name(code)], "summary": "MQ_ERROR_PROPERTY"}
    return by_reading(rules, demand, PROPERTY_STATUS, fits, subject, expected, _failure_text(answer))


def by_reading(
    rules: Rules,
    demand: str,
    reading: str,
    fits: Mapping[str, bool],
    subject: str,
    expected: Json,
    actual: Json,
) -> Verdict:
    """A verdict where a reading decides. fits: for each alternative, whether what came is what it wants."""
    allowed = rules.known(reading)
    usable = [name for name in allowed if fits[name]]
    if not usable:
        return Verdict(demand, Outcome.FAIL, subject, expected, actual, ((reading, allowed[0]),))
    outcome = Outcome.PASS if allowed[0] in usable else Outcome.READING
    one_sided = len(usable) < len(allowed) or sum(fits.values()) == 1
    assumed = ((reading, either(usable)),) if one_sided else ()
    return Verdict(demand, outcome, subject, expected, actual, assumed)


def must_fail(demand: str, subject: str, answer: Answer) -> Verdict:
    """The call fails."""
    return equal(demand, subject, answer.failed, {"fails": True}, _failure_text(answer))


def must_succeed(demand: str, subject: str, answer: Answer) -> Verdict:
    """The call succeeds."""
    return equal(demand, subject, not answer.failed, {"fails": False}, _failure_text(answer))


def coded(demand: str, subject: str, answer: Answer, codes: Sequence[int]) -> Verdict:
    """The call has one of these status codes."""
    if answer.status is None:
        return _no_code(demand, subject)
    return equal(demand, subject, answer.status in codes, [_code_name(code) for code in codes], _failure_text(answer))


def equal(demand: str, subject: str, holds: bool, expected: Json, actual: Json) -> Verdict:
    """The demand holds or does not."""
    return Verdict(demand, _PASS if holds else _FAIL, subject, expected, actual)


def _no_code(demand: str, subject: str) -> Verdict:
    return Verdict(demand, Outcome.SKIP, subject, reason="the driver's API has no HRESULTs")


def _failure_text(answer: Answer) -> Json:
    if answer.status is None:
        return {"fails": answer.failed}
    return {"fails": answer.failed, "status": _code_name(answer.status)}


def _code_name(code: int) -> str:
    name = hresults.name_of(code)
    return f"0x{code:08X}" + (f" {name}" if name else "")
