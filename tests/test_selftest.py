"""The oracle is worth what it catches: every named fault is caught by a check it declares, and by nothing else."""

from __future__ import annotations

import pytest

from conformance.embedded.faults import FAULTS
from conformance.selftest import CONTROL, UnknownFault, selftest
from conformance.spec.catalogue import requirement_id
from conformance.suites.registry import suites


def test_every_fault_declares_requirements_and_a_suite_that_exist() -> None:
    assert len(FAULTS) >= 12
    for name, fault in FAULTS.items():
        assert fault.breaks, name
        assert fault.suite in suites(), name
        assert fault.__doc__, name
        for requirement in fault.breaks:
            requirement_id(requirement)


def test_every_fault_is_caught_and_nothing_else_is() -> None:
    trials = selftest()
    assert {trial.fault for trial in trials} == {CONTROL, *FAULTS}
    assert not [(trial.fault, trial.text) for trial in trials if not trial.ok]


def test_an_unknown_fault_names_the_nearest() -> None:
    with pytest.raises(UnknownFault, match="ignores-priority"):
        selftest(["ignore-priority"])
