"""The oracle is worth what it catches: a named fault is caught by a check it declares, and by nothing else."""

from __future__ import annotations

import os

import pytest

from conformance.embedded.faults import FAULTS
from conformance.selftest import CONTROL, UnknownFault, selftest
from conformance.spec.catalogue import requirement_id
from conformance.suites.registry import suites

# Some of every suite, and of every kind of wrong: content, order, status, waits, cursors, restart, bytes, names.
SOME = (
    "loses-message-on-abort",
    "cursor-moves-on-peek",
    "ignores-priority",
    "wrong-timeout-status",
    "big-endian-packet-size",
    "object-id-guid-big-endian",
    "accepts-plus-in-queue-name",
    "uncommitted-send-visible",
    "recoverable-lost-on-restart",
    "move-leaves-copy",
    "queue-quota-ignored",
    "target-journal-missing",
    "set-changes-nothing",
    "begun-read-lost",
    "oldest-waiter-starves",
    "pause-ignored",
)


def test_every_fault_declares_requirements_and_a_suite_that_exist() -> None:
    assert len(FAULTS) >= 12
    for name, fault in FAULTS.items():
        assert fault.breaks, name
        assert fault.suite in suites(), name
        assert fault.__doc__, name
        for requirement in fault.breaks:
            requirement_id(requirement)


def test_some_faults_are_caught_and_nothing_else_is() -> None:
    trials = selftest(SOME)
    assert not [(trial.fault, trial.text) for trial in trials if not trial.ok]
    assert {FAULTS[trial.fault].suite for trial in trials} == set(suites())


@pytest.mark.skipif(not os.environ.get("MQ_NIGHTLY"), reason="takes minutes: tox -e nightly")
def test_every_fault_is_caught_and_nothing_else_is() -> None:
    trials = selftest()
    assert {trial.fault for trial in trials} == {CONTROL, *FAULTS}
    assert not [(trial.fault, trial.text) for trial in trials if not trial.ok]


def test_an_unknown_fault_names_the_nearest() -> None:
    with pytest.raises(UnknownFault, match="ignores-priority"):
        selftest(["ignore-priority"])
