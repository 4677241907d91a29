"""Durations of a run, and of judging each requirement, for report formats that demand them."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from conformance.runlog import Run

Times: TypeAlias = dict[tuple[str, str], float]
"""Seconds by suite and requirement."""


def times(run: Run) -> Times:
    """Return the time spent on each requirement: a test's time is shared evenly among the requirements it judged.

    The sum is the time of all tests. Empty for a record without times.
    """
    judged: dict[str, set[tuple[str, str]]] = {}
    for number, said in run.numbered() if run.took else ():
        test = run.verdicts.at(number).test
        if test in run.took:
            judged.setdefault(test, set()).add((said.suite, said.requirement))
    spent: Times = {}
    for test, keys in judged.items():
        for key in keys:
            spent[key] = spent.get(key, 0.0) + run.took[test] / 1000 / len(keys)
    return spent


def seconds(run: Run) -> float | None:
    """Return the seconds from the start to the end of the run; None if no end is recorded, or a time is invalid."""
    if run.footer is None:
        return None
    try:
        began, ended = (datetime.fromisoformat(at) for at in (run.header.started, run.footer.ended))
        return max(0.0, round((ended - began).total_seconds(), 3))
    except (ValueError, TypeError):
        return None


def in_words(duration: float) -> str:
    """Format a duration in seconds: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if duration < 10:
        return f"{duration:.1f} s"
    whole = round(duration)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"
