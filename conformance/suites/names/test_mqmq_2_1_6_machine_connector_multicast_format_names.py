"""MS-MQMQ 2.1.6: machine, connector and multicast format names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.names.checks import Need, check, requirements_of
from conformance.suites.names.direct_families import MACHINE_FAMILIES
from conformance.suites.names.families import Family, explore, parameters

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.parametrize("requirement", requirements_of("2.1.6"))
def test_machine_connector_multicast(requirement: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Each text of the fixture is accepted, taken apart or refused as the requirement says."""
    check("2.1.6", requirement, mq, judge, mq_need)


@pytest.mark.parametrize("family", parameters(MACHINE_FAMILIES))
def test_generated_machine_connector_multicast(
    family: Family, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions
) -> None:
    """Generated names are accepted, taken apart or refused as the requirement says."""
    explore(family, mq, judge, mq_need, run_options)
