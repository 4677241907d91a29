"""Verdicts on a run as a whole, once all its parts have been written."""

from __future__ import annotations

from collections.abc import Collection

from conformance.harness.recorder import RunOptions
from conformance.runlog import Run
from conformance.spec.followed_readings import FollowedReadings
from conformance.verdict import Verdict

CONCLUSION = "one assignment of readings"
"""The suite and the test under which these verdicts are recorded."""


def conclusion(run: Run, options: RunOptions, disabled: Collection[str] = ()) -> list[Verdict]:
    """Judge all verdicts of a run together: readings followed in two ways, or in another way than the default.

    disabled: requirements whose check is switched off. If there are any, the result is empty: answers that are known to
    deviate would be taken for readings.
    """
    if disabled:
        return []
    whole = FollowedReadings()
    for said in run.said:
        if not said.provisional:
            first = run.first(said)
            whole.add(first.verdict, first.test)
    return whole.conclude(options.readings, level=options.level)
