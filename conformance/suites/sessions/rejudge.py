"""Plays a case of this suite again, from its repro file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.playback import Playback
from conformance.harness.rejudge import NotRepeatable
from conformance.judge.dialogues.cases import CASES
from conformance.suites.sessions.dialogue import NotPlayed
from conformance.suites.sessions.playing import EXAMPLE, Player
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one case on `client`. Raises NotRepeatable for a repro of another suite or version."""
    return list(each(repro, client, options))


def each(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the same verdicts one by one."""
    case = CASES.get(str(repro.get("case"))) if repro.get("kind") == EXAMPLE else None
    if case is None:
        raise NotRepeatable(f"The suite sessions has no case {repro.get('case')!r}.")
    # A recording has the packets that were sent then; an implementation takes the time of now.
    now_s = int(repro["now_s"]) if isinstance(client, Playback) else int(time.time())
    try:
        yield from Player(client, case, now_s=now_s, tell=lambda *_: None).play(options.readings, options.profile)
    except NotPlayed as lacking:
        raise NotRepeatable(f"The example cannot be run: {lacking}.") from None
