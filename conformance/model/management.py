"""Management of the queue manager, its queues and its outgoing queues: read properties, perform actions.

MS-MQMR 3.1.4.1 and 3.1.4.2, MS-MQDMPR 3.1.4.12 to 3.1.4.15. What properties say is judged in `management_told`; what an
action does to the session of an outgoing queue is in `management_sessions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.model import outgoing, queues
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.model.journals import Keeping, is_kept
from conformance.model.management_rows import MACHINE, QUEUE, ROWS
from conformance.model.management_sessions import again, held, resumed
from conformance.model.management_state import Management
from conformance.model.rules import RESUME, TIDY, Rules
from conformance.model.state import Handle, State
from conformance.model.tables import OutgoingState, PositionState
from conformance.model.values import replace

GET, ACT = "management.get", "management.act"
SESSION = "session"
MACHINE_ACTIONS: Final = ("CONNECT", "DISCONNECT", "TIDY")
QUEUE_ACTIONS: Final = ("PAUSE", "RESUME", "EOD_RESEND")
_ANY_CASE: Final = "MQMR-3.1.4.2.any-case"


def managed(state: State) -> State:
    """Return the state with management judged, and with the account of counts that it needs."""
    if state.management is not None:
        return state
    return replace(state, management=Management(), keeping=state.keeping or Keeping())


def slice_of(state: State) -> Management:
    """Return the part of the state that management shows."""
    return state.management or Management()


def get(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Get properties of the machine, or of a queue."""
    if not call.names:
        raise BadCall("no properties to get")
    state = managed(state)
    must = _refused(state, call)
    if must is not None:
        yield Expected(Fails(must), must, state)
        return
    kept = slice_of(state).tidied and call.queue is not None and not _is_open(state, call.queue)
    yield Expected(Succeeds(), "MQMR-3.1.4.2.tidy" if kept else "MQMR-3.1.4.1.get", state)


def _is_open(state: State, queue: str) -> bool:
    return any(handle.is_open and queue in handle.queue.split(",") for handle in state.handles.values())


def _refused(state: State, call: Call) -> str | None:
    """Return the requirement that a get of properties fails; None where it succeeds."""
    if call.target == SESSION:
        return "MQMR-3.1.4.1.session"
    if call.queue is not None and not _there(state, call.queue):
        return "MQMR-3.1.4.1.unknown-queue"
    prefix = MACHINE if call.queue is None else QUEUE
    own = {row.number for row in ROWS.values() if row.name.startswith(prefix)}
    foreign = [name for name in call.names or () if not name.startswith(prefix)]
    if any(number_of(name) in own for name in foreign):
        raise BadCall("the number of this property is another property of what is asked")
    if foreign:
        return "MQMR-3.1.4.1.machine-properties" if call.queue is None else "MQMR-3.1.4.1.queue-properties"
    return None


def number_of(name: str) -> int:
    """Return the number of a property; of one that no table has, the number that its name ends in."""
    row = ROWS.get(name)
    if row is not None:
        return row.number
    digits = name.rpartition("#")[2]
    if not digits.isascii() or not digits.isdigit():
        raise BadCall(f"{name} is no management property")
    return int(digits)


def _there(state: State, name: str) -> bool:
    queue = state.queues.get(name)
    if queue is None:
        return False
    if queue.outgoing is not None and state.restarts:
        outgoing.known(state, name)  # raises BadCall
    return queue.exists


def act(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Perform an action."""
    name = (call.action or "").upper()
    if call.target == SESSION:
        yield _refusal(managed(state), "MQMR-3.1.4.2.session")
        return
    if name not in (*MACHINE_ACTIONS, *QUEUE_ACTIONS):
        yield _refusal(managed(state), "MQMR-3.1.4.2.unknown-action")
        return
    if (call.queue is None) != (name in MACHINE_ACTIONS):
        yield _refusal(managed(state), "MQMR-3.1.4.2.kind-of-target")
        return
    if call.queue is None:
        for expected in _of_the_machine(rules, managed(state), name):
            yield _cased(call, expected)
        return
    queue = state.queues.get(call.queue)
    if queue is None or not queue.exists:
        yield _refusal(managed(state), "MQMR-3.1.4.2.unknown-queue")
        return
    if queue.outgoing is None:
        yield _refusal(managed(state), "MQMR-3.1.4.2.outgoing-only")
        return
    if name == "EOD_RESEND":
        outgoing.known(state, call.queue)
        state = again(managed(state), call.queue)
        yield _cased(call, Expected(Succeeds(), "MQMR-3.1.4.2.eod-resend", state.tick()))
        return
    perform = pause if name == "PAUSE" else resume
    for expected in perform(rules, managed(state), replace(call, method=f"outgoing.{name.lower()}")):
        yield _cased(call, expected)


def _refusal(state: State, must: str) -> Expected:
    return Expected(Fails(must), must, state)


def _cased(call: Call, expected: Expected) -> Expected:
    """Return what is expected of an action that succeeds: its case is to blame first where it is not in capitals."""
    if (call.action or "").isupper():
        return expected
    return replace(expected, requirement=_ANY_CASE, also=(expected.requirement, *expected.also))


def _of_the_machine(rules: Rules, state: State, name: str) -> Iterator[Expected]:
    management = slice_of(state)
    if name != "TIDY":
        after = replace(management, connected=name == "CONNECT", by=name)
        required = "MQDMPR-3.1.4.13.connected" if name == "CONNECT" else "MQDMPR-3.1.4.12.disconnected"
        yield Expected(Succeeds(), required, replace(state, management=after).tick())
        return
    must = "MQMR-3.1.4.2.tidy"
    state = replace(state, management=replace(management, tidied=True))
    held = any(one.available for queue in state.queues.values() if queue.exists for one in queue.positions)
    if not held:
        yield Expected(Succeeds(), must, state)
        return
    for alternative in rules.accepted(state, TIDY):
        after_it = state if alternative == "files" else _purged(rules, state)
        yield Expected(Succeeds(), must, after_it, readings=((TIDY, alternative),))


def _purged(rules: Rules, state: State) -> State:
    """Return the state after a Purge Queue event for each queue."""
    for queue in list(state.queues.values()):
        if not queue.exists or is_kept(queue.name) or queue.parent is not None or queue.outgoing is not None:
            continue
        if all(position.state is PositionState.DELETED for position in queue.positions):
            continue
        handle = Handle("(tidy)", queue.name, "receive", "deny_none")
        purge = Call("queues.purge", handle=handle.name)
        for expected in queues.purge(rules, state.put(handle), purge):
            handles = {name: one for name, one in expected.next.handles.items() if name != handle.name}
            state = replace(expected.next, handles=handles)
    return state


def pause(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Pause Queue, with what it does to the session."""
    for expected in outgoing.pause(rules, state, call):
        yield replace(expected, next=held(expected.next, call.queue or ""))


def resume(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Resume Queue, with what it does to the session."""
    name = call.queue or ""
    for expected in outgoing.resume(rules, state, call):
        session = slice_of(state).sessions.get(name)
        _, found = outgoing.known(state, name)
        if session is None or session.state == "INACTIVE" or found.state is OutgoingState.ON_HOLD:
            yield replace(expected, next=resumed(expected.next, name))
            continue
        for alternative in rules.accepted(state, RESUME):
            after = resumed(expected.next, name) if alternative == "inactive" else expected.next
            yield replace(expected, next=after, readings=(*expected.readings, (RESUME, alternative)))


def take(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transfer messages of a queue that has no session."""
    session = slice_of(state).sessions.get(call.queue or "")
    if session is not None and session.used:
        raise BadCall("what of this queue was transferred is not acknowledged by a further transfer")
    queue = state.queues.get(call.queue or "")
    if queue is not None and any(position.available and position.wishes is not None for position in queue.positions):
        raise BadCall("which acknowledgments such a transfer stands for is not said")
    yield from outgoing.take(rules, state, call)


def restart(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Restart the manager: connections are gone, sequences and their numbers are not."""
    management = state.management
    for expected in outgoing.restart(rules, state, call):
        if management is None:
            yield expected
            continue
        after = expected.next.management or management
        if after.connected is not None:
            after = replace(after, connected=None, by="restart")
        sessions = {
            name: replace(
                session,
                state="INACTIVE",
                hops=(),
                steps=(),
                stored=frozenset(),
                due=frozenset(session.sent),
                why="restart",
                acked=None,
                acks=None,
                place=None,
                emptied=False,
                acked_at=None,
                sent_ms=None,
                sent_at=None,
                waits=None,
                torn=session.torn or bool(session.sent),
            )
            for name, session in after.sessions.items()
        }
        yield replace(expected, next=replace(expected.next, management=replace(after, sessions=sessions, weights=())))
