"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.histories.history import rejudge as rejudge_calls
from conformance.suites.management import incoming_story, unmodelled_stories

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions
    from conformance.verdict import Verdict

_TABLES = {each.kind: each for each in (incoming_story.TABLE, unmodelled_stories.TABLE)}


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite."""
    table = _TABLES.get(str(repro.get("kind")))
    return rejudge_calls(repro, client, options) if table is None else table.rejudge(repro, client, options)
