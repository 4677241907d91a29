"""Runs what this suite found again: a story of its own, a history of one client, or a workload with kills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall
from conformance.suites.concurrency import rejudge as workloads
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.rejudging import NotRepeatable
from conformance.suites.restart.stories import FORMAT, KIND, Step, tell_and_judge
from conformance.suites.stateful import rejudge as histories
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

TIMES = 5  # what a kill hits is a matter of luck
MAX_STEPS = 1_000


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of the stored story, ending with the failing one if there is one.

    Raises NotRepeatable when the repro data is not what this suite writes.
    """
    if "calls" in repro:
        return histories.rejudge(repro, client, options)
    if repro.get("kind") != KIND:
        return workloads.rejudge(repro, client, options)
    stored = repro.get("steps")
    if repro.get("format") != FORMAT or not isinstance(stored, list) or len(stored) > MAX_STEPS:
        raise NotRepeatable(f"The repro file holds no story of format {FORMAT}.")
    try:
        steps = [Step.from_json(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        for _ in range(TIMES):
            tell_and_judge(client, judge, steps)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts
