"""Creating queues with quotas and journaling, and opening journals, dead-letter queues and several queues at once.

MS-MQDMPR 3.1.7.1.3 and 3.1.7.1.5, MS-MQMP 3.1.4.17. Module `queues` handles all other creations and openings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.model import outgoing, queues
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.model.journal_copies import with_kept
from conformance.model.journals import ELSEWHERE, SYSTEM_QUEUES, Keeping, copy_name, is_kept, is_remote, journal_of
from conformance.model.rules import SEND_TO_SUBQUEUE, Rules
from conformance.model.state import Handle, Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.constants import hresults

_OPEN = "MQDMPR-3.1.7.1.5"


def create(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Create Queue. With journaling or a quota, the model starts to track journals and quotas."""
    for expected in queues.create(rules, state, call):
        queue = expected.next.queues.get(call.queue or "")
        place = journal_of(call.queue or "")
        known = place in expected.next.queues  # of an earlier queue of this name
        if queue is None or isinstance(expected.result, Fails) or (queue.attributes is None and not known):
            yield expected
            continue
        after = replace(expected.next, keeping=expected.next.keeping or Keeping())
        yield replace(expected, next=_with_new_journal(after, place))


def _with_new_journal(state: State, place: str) -> State:
    """Give a new queue a new, empty journal, whatever an earlier queue of its name had in its journal.

    Under the reading that the old journal outlived its queue, no section says what a handle on it is still good for:
    the state drops such handles.
    """
    old = state.queues.get(place)
    if old is None:
        return with_kept(state, place)
    if any(waiter.queue == place for waiter in state.waiters):
        raise BadCall("no section says what becomes of a read that waits on the journal of an earlier queue")
    claim = "MQDMPR-3.1.7.1.3.journal-queue"
    gone = (replace(item, state=PositionState.DELETED, claim=claim, doubtful=False) for item in old.positions)
    handles = {name: handle for name, handle in state.handles.items() if handle.queue != place or handle.lost}
    return replace(state, handles=handles).put(replace(old, exists=True, positions=tuple(gone)))


def open_queue(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Open Queue."""
    name = call.queue or ""
    if "," in name:
        return _open_several(state, call, name.split(","))
    if name == ELSEWHERE:
        return (_open_elsewhere(state, call),)
    if is_remote(name):
        return (outgoing.open_remote(state, call),)
    return _open_kept(rules, state, call, name) if is_kept(name) else queues.open_queue(rules, state, call)


def _open_kept(rules: Rules, state: State, call: Call, name: str) -> Iterator[Expected]:
    base = name.partition(";")[0]
    if name not in SYSTEM_QUEUES and (base not in state.queues or not state.queues[base].exists):
        raise BadCall(f"no queue {base} to have a journal")
    if name in state.queues and state.queues[name].find(copy_name("used", name)) is not None:
        raise BadCall(f"what the harness has left in {name} by using the queue is not known")
    state = with_kept(replace(state, keeping=state.keeping or Keeping()), name)
    if call.access not in ("send", "move"):
        for expected in queues.open_queue(rules, state, call):
            own = isinstance(expected.result, Succeeds) and name not in SYSTEM_QUEUES
            yield replace(expected, requirement="MQDMPR-3.1.7.1.3.journal-queue") if own else expected
        return
    must = f"MQMP-3.1.4.17.{'system' if name in SYSTEM_QUEUES else 'journal'}-send-access"
    for alternative in rules.accepted(state, SEND_TO_SUBQUEUE):
        readings = ((SEND_TO_SUBQUEUE, alternative),)
        if alternative == "refused":
            yield Expected(Fails(must), must, state, readings=readings)
        else:
            opened = state.put(Handle(queues.named(call.name), name, call.access or "send", "deny_none"))
            yield Expected(Succeeds(), must, opened, readings=readings)


def _open_elsewhere(state: State, call: Call) -> Expected:
    """Open a queue of another computer for send, which succeeds even if the computer cannot be reached."""
    if call.access != "send":
        raise BadCall("a queue elsewhere is only sent to")
    state = replace(state, keeping=state.keeping or Keeping())
    state = state.put(Queue(ELSEWHERE, transactional=False)) if ELSEWHERE not in state.queues else state
    opened = state.put(Handle(queues.named(call.name), ELSEWHERE, "send", "deny_none"))
    return Expected(Succeeds(), f"{_OPEN}.success", opened)


def _open_several(state: State, call: Call, names: list[str]) -> Iterator[Expected]:
    """Open a multiple-element name: only for send, only shared, and only if every element can be opened."""
    state = replace(state, keeping=state.keeping or Keeping())
    if call.access != "send":
        must = f"{_OPEN}.multiple-element-access"
        code = (hresults.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,)
        yield Expected(Fails(must, f"{must}-code", code), must, state)
        return
    if call.share == "deny_receive":
        must = f"{_OPEN}.multiple-element-share"
        code = (hresults.MQ_ERROR_UNSUPPORTED_ACCESS_MODE,)
        yield Expected(Fails(must, f"{must}-code", code), must, state)
        return
    missing = [name for name in names if name not in state.queues or not state.queues[name].exists]
    if missing:
        must = f"{_OPEN}.multiple-element-failed-element"
        code = (hresults.MQ_ERROR_QUEUE_NOT_FOUND,)
        status = f"{_OPEN}.multiple-element-status"
        yield Expected(Fails(must, status, code), must, state)
        return
    whole = ",".join(names)
    transactional = state.queues[names[0]].transactional
    state = state.put(Queue(whole, transactional)).put(Handle(queues.named(call.name), whole, "send", "deny_none"))
    yield Expected(Succeeds(), f"{_OPEN}.multiple-element-success", state)
