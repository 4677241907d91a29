"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.model import BadCall
from conformance.model.property_calls import PropertyCall
from conformance.suites.judging import ConformanceFailure, Judge
from conformance.suites.properties.history import FORMAT, KIND, QUEUES, PropertyHistory
from conformance.suites.rejudging import NotRepeatable
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

MAX_CALLS = 10_000  # a walk makes a few dozen


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of one example on `client`. Raises NotRepeatable for a repro this suite could not have written."""
    if repro.get("kind") == KIND:
        return _calls(repro, client, options)
    if repro.get("kind") == "message":
        from conformance.suites.properties.messages import rejudge_message

        return rejudge_message(repro, client, options)
    raise NotRepeatable(f"The suite properties has no examples of the kind {repro.get('kind')!r}.")


def _calls(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    stored = repro.get("calls")
    if not isinstance(stored, list) or len(stored) > MAX_CALLS or repro.get("format") != FORMAT:
        raise NotRepeatable(f"The repro file holds no list of calls of format {FORMAT}, {MAX_CALLS:,} at most.")
    try:
        calls = [PropertyCall.from_json(raw) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None
    if any(call.queue not in ("", *QUEUES) for call in calls):
        raise NotRepeatable("The repro file names a queue that this suite does not use.")
    verdicts: list[Verdict] = []
    judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
    try:
        PropertyHistory(client, judge).run(*calls)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts
