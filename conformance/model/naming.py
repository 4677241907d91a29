"""Name messages read from journals, dead-letter queues and administration queues.

A copy has the body of its message, and an acknowledgment has no body of its own. The queue it was read from and the
identifier it refers to decide its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.model.calls import Call
from conformance.model.journals import ack_name, copy_name, is_kept
from conformance.model.matching import message_name
from conformance.model.observation import Answer, Observation, Scan, SeenMessage
from conformance.model.state import State
from conformance.model.values import replace

_FIRST_ACK = 0x0002  # MS-MQMQ 2.2.18.1.6: 0 is an ordinary message, 1 a report of tracing


def named(state: State, call: Call, observation: Observation) -> Observation:
    """Return the observation with every message renamed to its name in the model."""
    answer = observation.answer
    if not observation.completed and (answer is None or answer.message is None):
        return observation
    if answer is not None and answer.message is not None:
        handle = state.handles.get(call.handle or "")
        answer = _renamed(state, handle.queue if handle is not None else "", answer)
    completed: Mapping[str, Answer] = observation.completed
    if completed:
        queues = {waiter.name: waiter.queue for waiter in state.waiters}
        completed = {name: _renamed(state, queues.get(name, ""), other) for name, other in completed.items()}
    return Observation(answer, completed)


def named_scan(state: State, call: Call, scan: Scan | None) -> Scan | None:
    """Return the scan with its messages renamed in the same way."""
    if scan is None or scan.queue is None:
        return scan
    return replace(scan, messages=tuple(_name(state, scan.queue, message_name(seen), seen) for seen in scan.seen))


def _renamed(state: State, queue: str, answer: Answer) -> Answer:
    seen = answer.message
    if seen is None:
        return answer
    plain = message_name(seen)
    name = _name(state, queue, plain, seen)
    if name == plain:
        return answer
    return replace(answer, message=replace(seen, name=name))


def _name(state: State, queue: str, plain: str, seen: SeenMessage) -> str:
    if seen.klass is not None and seen.klass >= _FIRST_ACK and not is_kept(queue):
        about = dict(state.keeping.identifiers).get(seen.correlation or "") if state.keeping is not None else None
        return ack_name(seen.klass, about or "?", queue)
    copied = copy_name(plain, queue)
    if is_kept(queue):
        return copied
    several = queue in state.queues and state.queues[queue].find(copied) is not None
    return copied if several else plain
