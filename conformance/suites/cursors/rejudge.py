"""Runs a history of this suite again, or the opening of a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.suites.cursors.opening import KIND, tried
from conformance.suites.rejudging import NotRepeatable
from conformance.suites.stateful import rejudge as histories
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of one example on `client`. Raises NotRepeatable for a repro this suite could not have written."""
    if repro.get("kind") != KIND:
        return histories.rejudge(repro, client, options)
    word, code = repro.get("word"), repro.get("code")
    texts = isinstance(repro.get("name"), str) and repro.get("access") in ("send", "receive", "peek")
    if not texts or not isinstance(word, str | None) or (word is not None and type(code) is not int):
        raise NotRepeatable("The repro file holds no name to be opened.")
    if client.offers("reset"):
        client.call("reset")
    return list(tried(client, _untold, repro))


def _untold(*_: Any) -> None:
    """Nobody reads the story of an example that is run again."""
