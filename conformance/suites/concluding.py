"""The verdicts on a run as a whole, once all its parts have been written."""

from __future__ import annotations

from collections.abc import Collection

from conformance.runlog import Run
from conformance.spec.assignment import Assignment
from conformance.suites.judging import RunOptions
from conformance.verdict import Verdict

CONCLUSION = "one assignment of readings"
"""The suite and the test that these verdicts are recorded under."""


def conclusion(run: Run, options: RunOptions, disabled: Collection[str] = ()) -> list[Verdict]:
    """What all verdicts of a run together say: a reading followed both ways, or another one than the default.

    disabled: requirements whose check is switched off. Then nothing is said: answers that are known to deviate would be
    taken for readings.
    """
    if disabled:
        return []
    whole = Assignment()
    for recorded in run.verdicts:
        if not recorded.provisional:
            whole.add(recorded.verdict, recorded.test)
    return whole.conclude(options.readings, level=options.level)
