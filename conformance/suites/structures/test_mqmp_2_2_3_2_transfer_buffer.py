"""MS-MQMP 2.2.3.2: writing, reading and refusing CACTransferBufferV1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.structures.transfer_buffer_rules import WHOLE, BufferRule, plain
from conformance.suites.structures.checks import base64_of
from conformance.suites.structures.transfer_buffer_cases import (
    READ,
    WRITTEN,
    Ignored,
    Malformed,
    decode_case,
    encode_case,
    examples,
    forbidden,
    forbidden_case,
    ignored,
    is_forbidden,
    limits,
    malformed,
    odd_case,
    refuse_case,
    values,
    written,
)
from conformance.wire.transfer_buffer import STRUCTURE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]
_SHARE = 0.3


def _repro(case: str, value: Any, data: bytes | None = None, requirement: str | None = None) -> dict[str, Any]:
    held = {"case": case, "structure": STRUCTURE, "value": value}
    held |= {} if data is None else {"data": base64_of(data)}
    return held if requirement is None else {**held, "requirement": requirement}


@pytest.mark.requirement(*WRITTEN)
def test_written(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is written in place, with the given value and with permitted values only."""
    mq_need("structures.encode")

    def check(value: dict[str, Any]) -> None:
        judge.begin_example("structure", _repro("encode", value))
        for verdict in encode_case(mq, value, run_options, judge.step):
            judge.record(verdict)

    for example in (*limits(), *examples(run_options.readings)):
        check(example)
    from_options(run_options, share=_SHARE)(given(values(run_options.readings))(check))()


@pytest.mark.requirement(*READ, WHOLE)
def test_read(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is read as it was written."""
    mq_need("structures.decode")

    def check(value: dict[str, Any]) -> None:
        judge.begin_example("structure", _repro("decode", value, written(value)))
        for verdict in decode_case(mq, value, run_options, judge.step):
            judge.record(verdict)

    for example in (*limits(), *examples(run_options.readings)):
        check(example)
    from_options(run_options, share=_SHARE)(given(values(run_options.readings))(check))()


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=pytest.mark.requirement(case.requirement)) for case in malformed()],
)
def test_malformed(case: Malformed, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """A valid structure is read, the malformed one refused, and the valid one read again."""
    mq_need("structures.decode")
    judge.begin_example("structure", _repro("refuse", None, case.data, case.requirement))
    what = case.name.replace("-", " ")
    for verdict in refuse_case(mq, case.data, case.requirement, run_options, judge.step, what=what):
        judge.record(verdict)


@pytest.mark.requirement(WHOLE)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ignored()])
def test_ignored(case: Ignored, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """The bytes in a gap and the number of a pointer change nothing (C706 14.2.2 and 14.3.10)."""
    mq_need("structures.decode")
    value = plain()
    judge.begin_example("structure", _repro("decode", value, case.data, WHOLE))
    judge.record(*decode_case(mq, value, run_options, judge.step, requirement=WHOLE))
    for verdict in decode_case(mq, value, run_options, judge.step, data=case.data, requirement=WHOLE):
        judge.record(verdict)


_FORBIDDEN = [pytest.param(rule, id=rule.id, marks=pytest.mark.requirement(rule.requirement)) for rule in forbidden()]


@pytest.mark.parametrize("rule", _FORBIDDEN)
def test_forbidden_values_are_not_written(
    rule: BufferRule, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions
) -> None:
    """A value that must not be sent is refused, or not written."""
    mq_need("structures.encode")
    mq_need("structures.decode")
    if not is_forbidden(rule, run_options):
        pytest.skip("the readings of this run allow the value")
    value = rule.breaks.value()
    judge.begin_example("structure", _repro("forbidden", value, None, rule.requirement))
    for verdict in forbidden_case(mq, value, rule.requirement, run_options, judge.step):
        judge.record(verdict)


@pytest.mark.parametrize("rule", _FORBIDDEN)
def test_forbidden_values_are_not_misread(
    rule: BufferRule, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions
) -> None:
    """A value that must not be sent is refused, or read unchanged."""
    mq_need("structures.decode")
    data = rule.breaks.broken()
    judge.begin_example("structure", _repro("odd", None, data, rule.requirement))
    for verdict in odd_case(mq, data, rule.requirement, run_options, judge.step):
        judge.record(verdict)
