"""MS-MQMQ 2.1.7: multiple-element format names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.names.checks import Need, check, requirements_of

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge


@pytest.mark.parametrize("requirement", requirements_of("2.1.7"))
def test_multiple_element_format_names(requirement: str, mq: GuardedClient, judge: Judge, mq_need: Need) -> None:
    """Each text of the fixture is accepted, taken apart or refused as the requirement says."""
    check("2.1.7", requirement, mq, judge, mq_need)
