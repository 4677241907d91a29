"""The requirements that tests of queue properties judge, computed from the table of properties."""

from __future__ import annotations

from conformance.histories.operations.properties import bad, good
from conformance.model.properties import APART, ROWS, Problem, PropertyRow
from conformance.model.property_refusals import CREATE, SET

_ILLEGAL_VALUE = "MQMQ-2.4.mq-error-illegal-property-value"
_TYPE_CODE = "MQMP-3.1.4.10.property-type-code"

ALL_READ = (
    *dict.fromkeys(
        name
        for row in ROWS.values()
        if row.name not in APART
        for name in (row.shown, row.among, row.default[1] if row.default else None)
        if name is not None
    ),
    "MQMP-3.1.4.9.get",
    "MQDMPR-3.1.7.1.3.success",
    "MQDMPR-3.1.7.1.3.returned",
    "MQDMPR-3.1.7.1.3.private-type",
    "MQDMPR-3.1.7.1.3.private-queue-number",  # judged if names show numbers
    "MQDMPR-3.1.1.2.scope-enterprise",
    "MQDMPR-3.1.1.identifier-unique",
    "MQDMPR-3.1.7.1.3.attribute-pathname",
    "MQDMPR-3.1.7.1.3.qualified-pathname",
    "MQMQ-2.3.1.22.path-name",
)
"""Judged on a queue created without properties."""

SETTING = ("MQMP-3.1.4.10.set", "MQMP-3.1.4.10.every-property", "MQMP-3.1.4.10.others-unchanged")
REFUSING = ("MQMP-3.1.4.10.refused-unchanged",)
CREATING = (
    "MQMP-3.1.1.12.create-not-applicable",
    "MQMQ-2.4.mq-error-property-notallowed",
    "MQMP-3.1.4.5.refused-no-queue",
)
BY_KIND: dict[Problem, tuple[str, ...]] = {
    Problem.VALUE: (_ILLEGAL_VALUE,),
    Problem.TYPE: ("MQMP-3.1.4.10.property-type", _TYPE_CODE),
    Problem.NOT_APPLICABLE: (
        "MQMP-3.1.1.12.set-not-applicable",
        "MQMP-3.1.1.12.set-not-applicable-unchanged",
        "MQMQ-2.4.mq-error-property-notallowed",
    ),
    Problem.UNKNOWN: (
        "MQMP-3.1.4.9.unknown-property",
        "MQMP-3.1.4.10.unknown-property",
        "MQMP-3.1.4.5.unknown-property",
        "MQMQ-2.4.mq-error-illegal-propid",
    ),
}
"""Kind of problem to the requirements that judge its refusal."""

WALKED = tuple(
    dict.fromkeys((*ALL_READ, *SETTING, *REFUSING, *CREATING, *(each for kind in BY_KIND.values() for each in kind)))
)
"""The requirements that a walk over all properties judges."""


def claimed(row: PropertyRow, method: str) -> tuple[str, ...]:
    """Return the requirements that judge a method (CREATE or SET) with a property's good and bad values."""
    out = [row.shown]
    problems = [found for value in bad(row) if (found := row.problem(value)) is not None]
    out += [demand for problem, demand in problems if problem is not Problem.TYPE]
    kinds = {problem for problem, _ in problems}
    if Problem.VALUE in kinds:
        out.append(_ILLEGAL_VALUE)
    if Problem.TYPE in kinds:
        out += [f"MQMP-3.1.4.{5 if method == CREATE else 10}.property-type", _TYPE_CODE]
    if method == SET:
        out += [row.blamed(value) for value in good(row)]
        out += ["MQMP-3.1.4.10.set", *(REFUSING if kinds else ())]
    else:
        out += [row.given or row.shown, *(("MQMP-3.1.4.5.refused-no-queue",) if kinds else ())]
    return tuple(dict.fromkeys(out))
