"""Name messages read from journals, dead-letter queues and administration queues.

A copy has the body of its message, and an acknowledgment has no body of its own. The queue it was read from and the
identifier it refers to decide its name. What a message sent to several queues leaves in one queue looks alike: it is
taken for what may come, otherwise for the first that is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from conformance.model.calls import Call
from conformance.model.expected import Expected, Succeeds
from conformance.model.journals import REPORTS, Keeping, ack_name, copy_name, is_kept
from conformance.model.matching import message_name
from conformance.model.observation import Answer, Observation, Scan, SeenMessage
from conformance.model.state import State
from conformance.model.values import replace


def named(
    state: State, call: Call, observation: Observation, allowed: Iterable[Iterable[Expected]] = ()
) -> Observation:
    """Return the observation with every message renamed to its name in the model. allowed: what may come of it."""
    answer = observation.answer
    if not observation.completed and (answer is None or answer.message is None):
        return observation
    due = frozenset(_messages(expected for outcomes in allowed for expected in outcomes))
    given = answer.values.get("identifier") if answer is not None else None
    if call.message is not None and isinstance(given, str):  # what a send brings about may refer to it at once
        keeping = state.keeping or Keeping()
        state = replace(state, keeping=replace(keeping, identifiers=(*keeping.identifiers, (given, call.message))))
    if answer is not None and answer.message is not None:
        handle = state.handles.get(call.handle or "")
        answer = _renamed(state, handle.queue if handle is not None else "", answer, due)
    completed: Mapping[str, Answer] = observation.completed
    if completed:
        queues = {waiter.name: waiter.queue for waiter in state.waiters}
        completed = {name: _renamed(state, queues.get(name, ""), other, due) for name, other in completed.items()}
    return Observation(answer, completed)


def _messages(outcomes: Iterable[Expected]) -> Iterable[str]:
    for expected in outcomes:
        for result in (expected.result, *(completion.result for completion in expected.completions)):
            if isinstance(result, Succeeds) and result.message is not None:
                yield result.message


def named_scan(state: State, call: Call, scan: Scan | None) -> Scan | None:
    """Return the scan with its messages renamed in the same way."""
    if scan is None or scan.queue is None:
        return scan
    names: list[str] = []
    for seen in scan.seen:
        names.append(_name(state, scan.queue, message_name(seen), seen, given=names))
    return replace(scan, messages=tuple(names))


def _renamed(state: State, queue: str, answer: Answer, due: Collection[str]) -> Answer:
    seen = answer.message
    if seen is None:
        return answer
    plain = message_name(seen)
    name = _name(state, queue, plain, seen, due)
    if name == plain:
        return answer
    return replace(answer, message=replace(seen, name=name))


def _name(
    state: State, queue: str, plain: str, seen: SeenMessage, due: Collection[str] = (), given: Collection[str] = ()
) -> str:
    if seen.klass in REPORTS and not is_kept(queue):
        about = dict(state.keeping.identifiers).get(seen.correlation or "") if state.keeping is not None else None
        return _among_several(state, queue, ack_name(seen.klass, about or "?", queue), due, given)
    copied = copy_name(plain, queue)
    if is_kept(queue):
        return _among_several(state, queue, copied, due, given)
    several = copied in due or (queue in state.queues and state.queues[queue].find(copied) is not None)
    return copied if several else plain


def _among_several(state: State, queue: str, name: str, due: Collection[str], given: Collection[str]) -> str:
    """Return the name, or that of one element's share if the message was sent to several queues."""
    if name in due:
        return name
    before, behind = name.removesuffix(queue), f"@{queue}"
    shares = [other for other in due if other.startswith(before) and other.endswith(behind)]
    if shares:
        return min(shares)
    for position in state.queues[queue].positions if queue in state.queues else ():
        other = position.message
        if other.startswith(before) and other.endswith(behind) and position.available and other not in given:
            return other
    return name
