"""Names of messages, handles and identifiers: which the implementation gives, and which of ours they stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance.model.calls import Answer, Call, Observation, Scan, SeenMessage
from conformance.model.expected import Expected, Succeeds, message_name
from conformance.model.journals import REPORTS, Keeping, ack_name, copy_name, is_kept
from conformance.model.state import State
from conformance.model.tables import CursorState
from conformance.model.values import replace
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json, Outcome, Verdict, held

UNIQUE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "queues.open": requirement_id("MQDMPR-3.1.1.16.handle-unique"),
        "cursors.open": requirement_id("MQDMPR-3.2.1.2.handle-unique"),
        "transactions.begin": requirement_id("MQDMPR-3.1.1.14.identifier-unique"),
        "coordinator.enlist": requirement_id("MQDMPR-3.1.1.14.identifier-unique"),
    }
)
"""The method that gives a handle or an identifier, and the requirement that nothing else of its kind has it."""


def told_apart(state: State, call: Call, known: Mapping[str, Json]) -> Iterator[Verdict]:
    """Judge what a successful call gave: nothing of its kind that is open has it too. Nothing else open: no verdict.

    state: after the call. known: name to the handle or identifier that the implementation gave for it.
    """
    requirement = UNIQUE.get(call.method)
    if requirement is None or call.name is None or call.name not in known:
        return
    given = known[call.name]
    others = [name for name in _open(state, call) if name != call.name and name in known]
    if not others:
        return
    same = next((name for name in others if known[name] == given), None)
    if same is None:
        yield held(requirement, call.method)
        return
    yield Verdict(requirement, Outcome.FAIL, call.method, f"another handle than that of {same}", str(given))


def _open(state: State, call: Call) -> Collection[str]:
    if call.method == "queues.open":
        return [handle.name for handle in state.handles.values() if handle.is_open]
    if call.method == "cursors.open":
        return [cursor.name for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED]
    each = [found for found in state.transactions.values() if found.ended is None]
    return [found.name for found in each if call.identifier is None or found.identifier != call.identifier]


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
