"""MS-MQDMPR 3.1.7.1.3: a queue is created under a valid path name alone, and a failed attempt leaves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import ILLEGAL_PATH_NAME, INVALID_CREATION, NOTHING_CREATED, PERSISTENT
from conformance.suites.names.checks import (
    OPENED,
    Need,
    bad_queues,
    calls_alive,
    create_and_judge,
    create_and_open,
    create_restart_open,
    inconclusive,
    local_path,
    probe_queue,
    section,
)
from conformance.suites.names.families import version_of
from conformance.suites.names.generated import missed_queues

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_CASES = {
    name.split(".")[-1]: tuple(case for case in cases if case.refused_by_all)
    for name, cases in section("2.1.1").by_requirement().items()
    if any(case.refused_by_all for case in cases)
}


_VALID = {
    name: tuple(case for case in section("2.1.1").by_requirement()[name] if case.accepted_by_all)
    for name in ("MQMQ-2.1.1.queue-name-length", "MQMQ-2.1.1.queue-name-alphabet")
}


@pytest.mark.parametrize("rule", [pytest.param(name, marks=pytest.mark.requirement(name)) for name in _VALID])
def test_valid_path_name(rule: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A queue is created and opened under each name, whose length or characters are at a limit."""
    mq_need("queues.create", "queues.open", "queues.close")
    if not probe_queue(mq, create=True):
        judge.record(inconclusive(rule, "a queue under a plain path name is not created either"))
        return
    for case in _VALID[rule]:
        if case.binds(judge.profile):
            path_name = local_path(case.text, mq.hello.computer)
            judge.begin_example("create-accepted", {"path_name": path_name, "demand": rule})
            judge.record(*create_and_open(path_name, rule, mq, judge.step))


@pytest.mark.requirement(PERSISTENT)
def test_valid_path_names_after_a_kill(mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A queue is found after a kill under each name that it may be created by, however its parts are spelled."""
    mq_need("queues.create", "queues.open", "queues.close")
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    spelled = [f"{each}\\name-{number}" for number, each in enumerate(("PRIVATE$", "Private$", "pRIVATE$"))]
    groups = [[f"{mq.hello.computer}\\{name}" for name in spelled]]
    for cases in _VALID.values():
        groups.append([local_path(case.text, mq.hello.computer) for case in cases if case.binds(judge.profile)])
    for paths in groups:
        judge.begin_example("create-restart", {"path_names": paths})
        judge.record(*create_restart_open(paths, mq, judge.step))


@pytest.mark.requirement(INVALID_CREATION, NOTHING_CREATED, ILLEGAL_PATH_NAME, OPENED)
@pytest.mark.parametrize("rule", _CASES)
def test_malformed_path_name(rule: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Creation fails, and the name opens nothing afterwards."""
    mq_need("queues.create", "queues.open", "queues.close")
    cases = [case for case in _CASES[rule] if case.binds(judge.profile)]
    if not cases:
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    if not probe_queue(mq, create=True):
        judge.record(inconclusive(INVALID_CREATION, "a queue under a valid path name is not created either"))
        return
    for case in cases:
        path_name = local_path(case.text, mq.hello.computer)
        judge.begin_example("create-name", {"path_name": path_name})
        judge.record(*create_and_judge(path_name, mq, judge.step))
    judge.begin_example("alive")
    judge.record(calls_alive(mq), phase="liveness")


@pytest.mark.requirement(INVALID_CREATION, NOTHING_CREATED, ILLEGAL_PATH_NAME, OPENED)
def test_generated_malformed_path_name(mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """Creation under a generated invalid name fails, and neither the name nor a part of it opens anything."""
    mq_need("queues.create", "queues.open", "queues.close")
    if not probe_queue(mq, create=True):
        judge.record(inconclusive(INVALID_CREATION, "a queue under a valid path name is not created either"))
        return

    @from_options(run_options, share=0.5)
    @given(bad_queues(version_of(judge.profile)) | missed_queues(judge.profile))
    def run(queue: str) -> None:
        path_name = f"{mq.hello.computer}\\private$\\{queue}"
        judge.begin_example("create-name", {"path_name": path_name})
        judge.record(*create_and_judge(path_name, mq, judge.step))

    run()
    judge.begin_example("alive")
    judge.record(calls_alive(mq), phase="liveness")
