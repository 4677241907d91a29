"""Runs a stored example of this suite again: a story, a history of one client, or a workload with kills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, verdicts_of
from conformance.histories import history as histories
from conformance.model import BadCall
from conformance.suites.concurrency import rejudge as workloads
from conformance.suites.restart.stories import FORMAT, KIND, StoryStep, tell_and_judge
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

TIMES = 5  # a kill meets the call at a different point each time
MAX_STEPS = 1_000


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of the stored story, ending with the failing one if there is one.

    Raises NotRepeatable for data that this suite does not write.
    """
    if "calls" in repro:
        return histories.rejudge(repro, client, options)
    if repro.get("kind") != KIND:
        return workloads.rejudge(repro, client, options)
    stored = repro.get("steps")
    if repro.get("format") != FORMAT or not isinstance(stored, list) or len(stored) > MAX_STEPS:
        raise NotRepeatable(f"The repro file holds no story of format {FORMAT}.")
    try:
        steps = [StoryStep.from_json(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None

    def play(judge: Recorder) -> None:
        for _ in range(TIMES):
            tell_and_judge(client, judge, steps)

    return verdicts_of(options, play)
