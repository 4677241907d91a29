"""MS-MQMQ 2.2.1 to 2.2.22: structures that must be refused, odd values, and values to be ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.structures.checks import base64_of, decode_case, forbidden_case, refuse_case
from conformance.suites.structures.malformed import FORBIDDEN, IGNORED, MALFORMED, ODD, Forbidden, Ignored, Malformed

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


def _marked(cases: tuple[Any, ...]) -> list[Any]:
    return [pytest.param(case, id=case.name, marks=pytest.mark.requirement(case.requirement)) for case in cases]


@pytest.mark.parametrize("case", _marked(MALFORMED))
def test_malformed(case: Malformed, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """A valid structure is read, the malformed one refused, and the valid one read again."""
    mq_need("structures.decode")
    _refuse(case, mq, judge, run_options)


@pytest.mark.parametrize("case", _marked(ODD))
def test_odd_values(case: Malformed, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """A value outside its table is refused or read unchanged, and never taken for another."""
    mq_need("structures.decode")
    _refuse(case, mq, judge, run_options)


def _refuse(case: Malformed, mq: Port, judge: Recorder, options: RunOptions) -> None:
    repro = {"case": "refuse", "structure": case.structure, "requirement": case.requirement}
    judge.begin_example("structure", {**repro, "data": base64_of(case.data), "instead": case.instead})
    what = case.name.replace("-", " ").replace("_", " ")
    for verdict in refuse_case(
        *(mq, case.structure, case.data, case.requirement, options, judge.step),
        value=case.instead,
        what=f"an odd ({what})",
    ):
        judge.record(verdict)


@pytest.mark.parametrize("case", _marked(IGNORED))
def test_ignored(case: Ignored, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Reserved members, gaps and the numbers of pointers change nothing."""
    mq_need("structures.decode")
    repro = {"case": "decode", "structure": case.structure, "value": case.value, "requirement": case.requirement}
    judge.begin_example("structure", {**repro, "data": base64_of(case.data)})
    for verdict in decode_case(
        *(mq, case.structure, case.value, run_options, judge.step), data=case.data, requirement=case.requirement
    ):
        judge.record(verdict)


@pytest.mark.parametrize("case", _marked(FORBIDDEN))
def test_forbidden_values_are_not_written(
    case: Forbidden, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions
) -> None:
    """A value that must not be sent is refused, or not written."""
    mq_need("structures.encode")
    mq_need("structures.decode")
    repro = {"case": "forbidden", "structure": case.structure, "value": case.value, "requirement": case.requirement}
    judge.begin_example("structure", repro)
    for verdict in forbidden_case(mq, case.structure, case.value, case.requirement, run_options, judge.step):
        judge.record(verdict)
