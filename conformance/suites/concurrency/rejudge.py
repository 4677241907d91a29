"""Runs a workload of this suite again, a few times: what goes wrong only now and then goes wrong in one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall, Call
from conformance.model.concurrent import FORMAT
from conformance.suites.concurrency.running import at_once, once, sends_at_once, storm
from conformance.suites.concurrency.workload import BadWorkload, Workload
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.rejudging import NotRepeatable
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

TIMES = 5
MAX_KILLS = 1_000
MAX_CALLS = 26  # of a story, and all at once: as many as there are letters to call clients


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of the workload in `repro`, ending with the failing one if there is one.

    Raises NotRepeatable when the repro data is not what this suite writes.
    """
    seed = repro.get("seed", 0)
    kills = repro.get("kills", 0)
    if repro.get("format") != FORMAT or type(seed) is not int or type(kills) is not int or not 0 <= kills <= MAX_KILLS:
        raise NotRepeatable(f"The repro file holds no workload of format {FORMAT}.")
    if "together" in repro:
        return _at_once(repro, client, options)
    try:
        workload = Workload.from_json(repro.get("workload"))
    except BadWorkload as bad:
        raise NotRepeatable(f"The workload of the repro file can't be run: {bad}.") from None
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        for _ in range(TIMES):
            if "sends" in repro:
                sends_at_once(client, judge, workload.clients)
            elif kills:
                storm(client, judge, workload, seed, kills=kills)
            else:
                once(client, judge, workload, seed)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts


def _at_once(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    parts = [repro.get("before"), repro.get("together")]
    try:
        before, together = ([Call.from_json(raw) for raw in part[:MAX_CALLS]] for part in parts)  # type: ignore[index]
    except (BadCall, TypeError, KeyError, AttributeError) as bad:
        raise NotRepeatable(f"The repro file holds no calls that this version knows: {bad}.") from None
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        for _ in range(TIMES):
            at_once(client, judge, before, together)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts
