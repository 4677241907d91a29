"""Runs a workload of this suite again, a few times: what goes wrong only now and then goes wrong in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall, Call
from conformance.model.concurrent import FORMAT
from conformance.suites.concurrency.running import at_once, in_a_row, once, sends_at_once, storm
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

# By the part that only this story has: its other parts after the calls before it, and what runs it.
_STORIES: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "together": ((), at_once),
    "then": (("waits",), in_a_row),
}


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of the workload in `repro`, ending with the failing one if there is one.

    Raises NotRepeatable when the repro data is not what this suite writes.
    """
    seed = repro.get("seed", 0)
    kills = repro.get("kills", 0)
    if repro.get("format") != FORMAT or type(seed) is not int or type(kills) is not int or not 0 <= kills <= MAX_KILLS:
        raise NotRepeatable(f"The repro file holds no workload of format {FORMAT}.")
    for last, story in _STORIES.items():
        if last in repro:
            return _story(repro, ("before", *story[0], last), story[1], client, options)
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


def _story(
    repro: Mapping[str, Any], parts: tuple[str, ...], run: Callable[..., None], client: Client, options: RunOptions
) -> list[Verdict]:
    try:
        calls = [[Call.from_json(raw) for raw in repro[part][:MAX_CALLS]] for part in parts]
    except (BadCall, TypeError, KeyError, AttributeError) as bad:
        raise NotRepeatable(f"The repro file holds no calls that this version knows: {bad}.") from None
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        for _ in range(TIMES):
            run(client, judge, *calls)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts
