"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.harness.recorder import Recorder
from conformance.harness.repro_files import NotRepeatable, verdicts_of
from conformance.histories.history import MAX_CALLS, Watched
from conformance.histories.history import rejudge as rejudge_calls
from conformance.histories.operations.properties import QUEUES
from conformance.histories.operations.table import stored_call
from conformance.model import BadCall, Call
from conformance.model.properties import ROWS
from conformance.suites.properties import stories
from conformance.suites.properties.mailbox import Mailbox, Unopened
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

WATCHED, FORMAT = "properties", 1
"""The kind and the format of repro files that hold the writing calls and leave out the reads after them."""
_METHODS = frozenset({"queues.create", "queues.set", "queues.get", "queues.delete", "use", "restart", "clock.advance"})


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite or format."""
    if repro.get("kind") == "calls":
        return rejudge_calls(repro, client, options)

    def play(judge: Recorder) -> None:
        if repro.get("kind") == WATCHED:
            calls = _calls(repro)
            Watched.begun(client, judge, _shown(repro)).run(*calls)
            return
        act = _story(repro)
        if client.offers("reset"):
            client.call("reset")
        act(client, judge)

    try:
        return verdicts_of(options, play)
    except Unopened as nothing:
        raise NotRepeatable(f"The example cannot be run: {nothing}.") from None


def _story(repro: Mapping[str, Any]) -> Callable[[Port, Recorder], None]:
    kind, message = repro.get("kind"), repro.get("message")
    if kind in (stories.STORY_KIND, stories.LARGE_KIND) and repro.get("story") in stories.STORIES:
        return partial(stories.tell, str(repro["story"]))
    if kind != stories.KIND or not isinstance(message, dict):
        raise NotRepeatable(f"The suite properties has no example of the kind {kind!r} that says no more than this.")

    def exchange(client: Port, judge: Recorder) -> None:
        box = Mailbox(client, judge)
        for each in (stories.EVERYTHING, message, message):  # the first shows which attributes the driver returns
            box.exchange(each)

    return exchange


def _shown(repro: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the properties that the example knew to be shown; None if the example finds them out itself."""
    shown = repro.get("shown")
    if shown is None:
        return None
    if not isinstance(shown, list) or not all(isinstance(name, str) and name in ROWS for name in shown):
        raise NotRepeatable("The repro file names properties to be shown that this version does not know.")
    return tuple(shown)


def _calls(repro: Mapping[str, Any]) -> list[Call]:
    stored = repro.get("calls")
    if not isinstance(stored, list) or len(stored) > MAX_CALLS or repro.get("format") != FORMAT:
        raise NotRepeatable(f"The repro file holds no list of calls of format {FORMAT}, {MAX_CALLS:,} at most.")
    try:
        return [_call(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None


def _call(raw: Any) -> Call:
    """Read a call of such a file, in which q1, q2 and q3 name the queues."""
    if not isinstance(raw, dict) or raw.get("method") not in _METHODS:
        raise BadCall(f"there is no call {str(raw)[:80]}")
    named = {**raw, "queue": f"p{raw['queue']}"} if raw.get("queue") else dict(raw)
    call = stored_call(named)
    if call.queue is not None and call.queue not in QUEUES:
        raise BadCall(f"this suite has no queue {raw['queue']}")
    return call
