"""MS-MQMP 3.1.4.17 and MS-MQMQ 2.1.7: names that cannot be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import ILLEGAL_FORMAT_NAME, MALFORMED_OPEN
from conformance.spec.catalogue import requirement, requirement_id
from conformance.suites.names.checks import (
    OPENED,
    PROBE,
    Need,
    calls_alive,
    inconclusive,
    open_and_judge,
    probe_queue,
    refused_by_all,
)
from conformance.suites.names.direct_families import DIRECT_FAMILIES, MACHINE_FAMILIES, MULTIPLE_FAMILIES
from conformance.suites.names.families import LIST_FAMILIES, PRIVATE_FAMILIES, PUBLIC_FAMILIES, Family, version_of
from conformance.suites.names.generated import BLAME, miss_cases

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

READ_ONLY = requirement_id("MQMQ-2.1.7.read-only-reject")
MULTIPLE = "2.1.7"

_FAMILIES: dict[str, tuple[Family, ...]] = {
    "2.1.2": DIRECT_FAMILIES,
    "2.1.3": PUBLIC_FAMILIES,
    "2.1.4": PRIVATE_FAMILIES,
    "2.1.5": LIST_FAMILIES,
    "2.1.6": MACHINE_FAMILIES,
    MULTIPLE: MULTIPLE_FAMILIES,
}


@pytest.mark.requirement(MALFORMED_OPEN, ILLEGAL_FORMAT_NAME, OPENED)
@pytest.mark.parametrize("number", ["2.1.2", "2.1.3", "2.1.4", "2.1.5", "2.1.6", MULTIPLE])
def test_malformed_format_name(number: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Opening a malformed name fails, for reading and for sending."""
    mq_need("queues.create", "queues.open", "queues.close")
    cases = refused_by_all(number, judge.profile)
    if not cases:
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    if not probe_queue(mq, create=True):
        judge.record(inconclusive(MALFORMED_OPEN, "a valid format name is not opened either"))
        return
    # Any multiple-element name is refused for reading (MS-MQDMPR 3.1.7.1.5).
    for access in ("send",) if number == MULTIPLE else ("receive", "send"):
        for case in cases:
            judge.begin_example("open-name", {"format_name": case.text, "access": access, "demand": MALFORMED_OPEN})
            judge.record(*open_and_judge(case.text, access, MALFORMED_OPEN, mq, judge.step))
    judge.begin_example("alive")
    judge.record(calls_alive(mq), phase="liveness")


@pytest.mark.requirement(MALFORMED_OPEN, ILLEGAL_FORMAT_NAME, OPENED)
@pytest.mark.parametrize("number", _FAMILIES)
def test_generated_malformed_format_name(
    number: str, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions
) -> None:
    """Opening a generated name that no reading accepts fails, for reading and for sending."""
    mq_need("queues.create", "queues.open", "queues.close")
    families = [each for each in _FAMILIES[number] if not each.accepting and each.binds(judge.profile)]
    if not families:
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    if not probe_queue(mq, create=True):
        judge.record(inconclusive(MALFORMED_OPEN, "a valid format name is not opened either"))
        return
    near = [miss_cases(rule, judge.profile) for rule, (_, section) in BLAME.items() if section == number]
    cases = st.one_of([each.cases(version_of(judge.profile)) for each in families]) | st.one_of(near)
    ways = st.just("send") if number == MULTIPLE else st.sampled_from(("receive", "send"))

    @from_options(run_options, share=0.5)
    @given(cases.map(lambda case: case.text), ways)
    def run(name: str, access: str) -> None:
        judge.begin_example("open-name", {"format_name": name, "access": access, "demand": MALFORMED_OPEN})
        judge.record(*open_and_judge(name, access, MALFORMED_OPEN, mq, judge.step))

    run()
    judge.begin_example("alive")
    judge.record(calls_alive(mq), phase="liveness")


@pytest.mark.requirement(READ_ONLY)
@pytest.mark.parametrize("suffix_first", [True, False], ids=["first", "last"])
def test_read_only_element(suffix_first: bool, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A multiple-element name with a journal or a dead-letter queue in it cannot be opened."""
    mq_need("queues.create", "queues.open", "queues.close")
    if not requirement(READ_ONLY).binds(judge.profile):
        judge.not_demanded(f"{judge.profile} has no multiple-element format names")
    mq.need("format_names", "multiple_element", "journal", "dead_letter")
    probe_queue(mq, create=True)
    valid = f"DIRECT=OS:{mq.hello.computer}\\private$\\{PROBE}"
    other = f"DIRECT=OS:{mq.hello.computer}\\private$\\{PROBE}-2"
    mq.call("queues.create", path_name=f"{mq.hello.computer}\\private$\\{PROBE}-2")
    if not mq.call("queues.open", format_name=f"{valid},{other}", access="send").ok:
        judge.record(inconclusive(READ_ONLY, "a valid multiple-element format name is not opened either"))
        return
    for read_only in (f"{other};JOURNAL", f"DIRECT=OS:{mq.hello.computer}\\SYSTEM$;DEADLETTER"):
        elements = (read_only, valid) if suffix_first else (valid, read_only)
        name = ",".join(elements)
        judge.begin_example("open-name", {"format_name": name, "access": "send", "demand": READ_ONLY})
        judge.record(*open_and_judge(name, "send", READ_ONLY, mq, judge.step))
