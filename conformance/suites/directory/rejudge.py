"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, verdicts_of
from conformance.suites.directory import stories
from conformance.suites.security.scene import Untold
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite."""
    if repro.get("kind") != stories.KIND or repro.get("story") not in stories.STORIES:
        raise NotRepeatable(f"The suite directory has no story {str(repro.get('story'))[:80]!r}.")
    if client.offers("reset"):
        client.call("reset")
    try:
        return verdicts_of(options, partial(stories.tell, str(repro["story"]), client))
    except Untold as nothing:
        raise NotRepeatable(f"The example cannot be run: {nothing}.") from None
