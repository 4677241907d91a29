"""MS-MQMQ 2.1.3: public format names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.names.checks import Need, check, requirements_of
from conformance.suites.names.families import PUBLIC_FAMILIES, Family, explore, parameters

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.parametrize("requirement", requirements_of("2.1.3"))
def test_public_format_names(requirement: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Each text of the fixture is accepted, taken apart or refused as the requirement says."""
    check("2.1.3", requirement, mq, judge, mq_need)


@pytest.mark.parametrize("family", parameters(PUBLIC_FAMILIES))
def test_generated_public_format_names(
    family: Family, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions
) -> None:
    """Generated names are accepted, taken apart or refused as the requirement says."""
    explore(family, mq, judge, mq_need, run_options)
