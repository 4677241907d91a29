"""Blame a message that is missing, too many or in the wrong queue before what it makes of its neighbours.

A count, and the marks of the first and the last message of a transaction, also go wrong where a message was lost. So
nothing is said of them before a scan of the queue has shown whether the messages are those that must be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from conformance.model import counts
from conformance.model.blame import lost
from conformance.model.calls import Call
from conformance.model.expected import Expected
from conformance.model.observation import Observation, Scan
from conformance.model.repeated import repeated
from conformance.model.rules import Rules
from conformance.model.state import State
from conformance.model.stray_blame import stranger
from conformance.verdict import Outcome, Verdict

Found: TypeAlias = tuple[State, State, list[Verdict]]
"""An outcome that fits the answer: the states before and after the call, and the verdicts on what the answer holds."""

Ways: TypeAlias = Iterable[Iterable[Expected]]
"""Every allowed outcome in each possible state before the call."""

_MARKS: Final = frozenset({"MQDMPR-3.1.4.3.first-in-transaction", "MQDMPR-3.1.4.3.last-in-transaction"})


def content_blame(
    rules: Rules, call: Call, observation: Observation, ways: Sequence[Found], scan: Scan | None, allowed: Ways
) -> tuple[list[Verdict], str | None]:
    """Return the verdicts on an answer that fails in every way, and the queue to scan before they are certain.

    scan: the content of that queue after the call. A message is blamed only if it is wrong in every way, also in those
    of `allowed` that the answer does not fit: it may be that answer which is wrong.
    """
    before, after, verdicts = ways[0]
    place = _place(rules, before, after, call, observation, verdicts)
    if place is None:
        return verdicts, None
    if scan is None:
        return verdicts, place
    if scan.queue != place:
        return verdicts, None
    broken = [shown(state, place, scan) for _, state, _ in ways]
    possible = (expected.next for outcomes in allowed for expected in outcomes)
    if broken[0] is None or None in broken or any(shown(state, place, scan) is None for state in possible):
        return verdicts, None
    expected = [position.message for position in after.queues[place].positions if position.available]
    blamed = Verdict(broken[0], Outcome.FAIL, call.method, expected, list(scan.messages))
    return [*(verdict for verdict in verdicts if verdict.outcome is not Outcome.FAIL), blamed], None


def shown(state: State, place: str, scan: Scan) -> str | None:
    """Return the requirement that the messages of a queue break; None if they are those that must be there."""
    queue, seen = state.queues[place], scan.messages
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        return repeated(queue, twice)
    for wanted in queue.positions:
        if wanted.available and not wanted.doubtful and wanted.message not in seen:
            return lost(queue, scan, wanted)
    for name in seen:
        position = queue.find(name)
        if position is None:
            return stranger(state, name)
        if not position.available and not position.doubtful:
            return position.claim
    return None


def _place(
    rules: Rules, before: State, after: State, call: Call, observation: Observation, verdicts: Iterable[Verdict]
) -> str | None:
    """Return the queue that the first failure is about, if a lost message may be behind it; None for all others."""
    failed = next(verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    if call.method == "management.get":
        counted = failed.requirement.startswith("MQMQ-2.3.12.7.") and before.queues[call.queue or ""].outgoing is None
        return call.queue if counted else None
    if call.method == "queues.counts":
        return counts.miscounted(rules, before, call, observation.answer) if observation.answer is not None else None
    if failed.requirement not in _MARKS:
        return None
    waiting = next((waiter.queue for waiter in before.waiters if waiter.name == failed.subject), None)
    handle = after.handles.get(call.handle or "")
    return waiting or (handle.queue if handle is not None else None)
