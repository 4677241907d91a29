"""Runs a stored history of this suite, or a stored opening of a name, again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.histories import history as histories
from conformance.suites.cursors.opening import KIND, judge_open
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite or format."""
    if repro.get("kind") != KIND:
        return histories.rejudge(repro, client, options)
    word, code = repro.get("word"), repro.get("code")
    texts = isinstance(repro.get("name"), str) and repro.get("access") in ("send", "receive", "peek")
    if not texts or not isinstance(word, str | None) or (word is not None and type(code) is not int):
        raise NotRepeatable("The repro file holds no name to be opened.")
    if client.offers("reset"):
        client.call("reset")
    return list(judge_open(client, no_story, repro, options.readings))
