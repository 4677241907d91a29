"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.activex.plans import Act, Plan
from conformance.activex.underlying_calls import Done
from conformance.harness.playback import NotStored
from conformance.harness.repro_files import NotRepeatable, no_story, verdicts_of
from conformance.histories.situations.service_clients import STAGES
from conformance.suites.objects import beside, playing, services, staging
from conformance.suites.objects.playing import EXAMPLE, NotCreated, play
from conformance.suites.objects.senders import EVERY_STORY
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite or format."""
    if repro.get("kind") != EXAMPLE:
        raise NotRepeatable(f"The suite objects has no examples of the kind {repro.get('kind')!r}.")
    if client.offers("reset"):
        client.call("reset")
    try:
        if "described" in repro:
            return list(staging.describe(repro["described"], client, no_story))
        if "identity" in repro:
            return list(playing.identify(repro["identity"], client, options.readings, no_story))
        if "beside" in repro:
            return verdicts_of(options, partial(beside.tell, str(repro["beside"]), EVERY_STORY, client))
        plan = tuple(Act.from_json(act) for act in repro["acts"])
        if repro.get("scene") in STAGES:
            return _services(plan, client, options, repro["scene"])
        history: list[Done] = []
        if "scene" in repro:
            played = staging.play(plan, client, options.readings, no_story, repro["scene"], history)
        else:
            played = play(plan, client, options.readings, no_story, history)
        found: list[Verdict] = []
        for verdicts in playing.judged_twin(played, history, client, options, no_story):
            found += verdicts
            if any(verdict.outcome is Outcome.FAIL for verdict in verdicts):
                with suppress(NotStored):
                    played.close()
                break  # the example ended there
        return found
    except (KeyError, TypeError, ValueError) as wrong:
        raise NotRepeatable(f"The repro file holds acts that the suite objects does not know: {wrong}.") from None
    except NotCreated as lacking:
        raise NotRepeatable(f"The example cannot run again: {lacking}.") from None


def _services(plan: Plan, client: Port, options: RunOptions, scene: str) -> list[Verdict]:
    played = services.play(plan, client, options.readings, no_story, scene)
    found: list[Verdict] = []
    for verdicts in played:
        found += verdicts
        if any(verdict.outcome is Outcome.FAIL for verdict in verdicts):
            with suppress(NotStored):  # a recording that went on has other calls here than those that let go
                played.close()
            break  # the example ended there
    return found
