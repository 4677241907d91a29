"""Runs a stored workload or story of this suite again, several times, to catch a failure that shows only sometimes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, verdicts_of
from conformance.histories.operations.table import stored_call
from conformance.model import BadCall
from conformance.model.linearizability.history import FORMAT
from conformance.suites.concurrency.running import at_once, in_a_row, once, sends_at_once, storm
from conformance.suites.concurrency.workload import BadWorkload, Workload
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

REPEATS = 5
MAX_KILLS = 1_000
MAX_CALLS = 26  # of each part of a story; clients are named by the 26 letters

# Part that only this story has, to its parts between `before` and that one, and the function that runs it.
_STORIES: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "together": ((), at_once),
    "then": (("waits",), in_a_row),
}


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of the workload in `repro`, ending with the failing one if there is one.

    Raises NotRepeatable for data that this suite does not write.
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

    def play(judge: Recorder) -> None:
        for _ in range(REPEATS):
            if "sends" in repro:
                sends_at_once(client, judge, workload.clients)
            elif kills:
                storm(client, judge, workload, seed, kills=kills)
            else:
                once(client, judge, workload, seed)

    return verdicts_of(options, play)


def _story(
    repro: Mapping[str, Any], parts: tuple[str, ...], run: Callable[..., None], client: Port, options: RunOptions
) -> list[Verdict]:
    try:
        calls = [[stored_call(raw) for raw in repro[part][:MAX_CALLS]] for part in parts]
    except (BadCall, TypeError, KeyError, AttributeError) as bad:
        raise NotRepeatable(f"The repro file holds no calls that this version knows: {bad}.") from None

    def play(judge: Recorder) -> None:
        for _ in range(REPEATS):
            run(client, judge, *calls)

    return verdicts_of(options, play)
