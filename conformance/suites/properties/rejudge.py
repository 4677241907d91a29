"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall
from conformance.model.property_calls import PropertyCall
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.properties import messages, stories
from conformance.suites.properties.history import FORMAT, KIND, QUEUES, PropertyHistory
from conformance.suites.properties.messages import Unopened
from conformance.suites.rejudging import NotRepeatable
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

MAX_CALLS = 10_000  # a walk makes a few dozen


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of one example on `client`. Raises NotRepeatable for a repro this suite could not have written."""
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        if repro.get("kind") == KIND:
            calls = _calls(repro)
            PropertyHistory(client, judge).run(*calls)
        else:
            act = _story(repro)
            if client.offers("reset"):
                client.call("reset")
            act(client, judge)
    except Unopened as nothing:
        raise NotRepeatable(f"The example cannot be run: {nothing}.") from None
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts


def _story(repro: Mapping[str, Any]) -> Callable[[Client, Judge], None]:
    kind, message = repro.get("kind"), repro.get("message")
    if kind == stories.KIND and repro.get("story") in stories.STORIES:
        return partial(stories.tell, str(repro["story"]))
    if kind != messages.KIND or not isinstance(message, dict):
        raise NotRepeatable(f"The suite properties has no example of the kind {kind!r} that says no more than this.")

    def exchange(client: Client, judge: Judge) -> None:
        box = messages.Mailbox(client, judge)
        for each in (messages.EVERYTHING, message, message):  # the first tells which attributes are shown at all
            box.exchange(each)

    return exchange


def _calls(repro: Mapping[str, Any]) -> list[PropertyCall]:
    stored = repro.get("calls")
    if not isinstance(stored, list) or len(stored) > MAX_CALLS or repro.get("format") != FORMAT:
        raise NotRepeatable(f"The repro file holds no list of calls of format {FORMAT}, {MAX_CALLS:,} at most.")
    try:
        calls = [PropertyCall.from_json(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None
    if any(call.queue not in ("", *QUEUES) for call in calls):
        raise NotRepeatable("The repro file names a queue that this suite does not use.")
    return calls
