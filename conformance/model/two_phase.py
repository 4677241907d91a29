"""Second phase of a two-phase receive: MS-MQDMPR 3.1.7.1.12. Module `reads` handles the first phase, as a read.

The close of the handle may end it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.model.arrivals import KEEPS, Branch, changed, made_available
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.model.refusals import queue_gone, read_begun
from conformance.model.rules import CLOSE_BEGUN, END_TWICE, Rules
from conformance.model.state import BegunRead, Handle, Position, State
from conformance.model.tables import PositionEvent, PositionState
from conformance.model.values import replace

_12 = "MQDMPR-3.1.7.1.12"
_BEGUN = (PositionState.BEGUN, PositionState.BEGUN_PURGED)


def end_receive(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the outcomes of ending a begun receive. call.read: its name. call.acknowledge: delete the message."""
    begun = read_begun(state, call.read or "")
    handle = state.handles.get(begun.handle)
    if handle is None or not handle.is_open:
        raise BadCall(f"no section says what ends {begun.name} once its handle is closed")
    if handle.lost:
        gone = queue_gone(rules, state.put(replace(begun, ended=True)), _12)
        also = (*gone.also, f"{_12}.queue-not-available-ends")
        if begun.ended:  # the first end may have ended the read's handle, so the documents leave the code open
            yield Expected(Fails(gone.requirement), gone.requirement, state, also)
        else:
            yield replace(gone, also=also)
        return
    position = state.position(begun.queue, begun.message)
    if begun.ended:
        yield from _again(rules, state, begun.queue, position, begun.name)
        return
    event = PositionEvent.END_DELETING if call.acknowledge else PositionEvent.END_KEEPING
    for after in _ended(rules, Branch(state), begun, event):
        yield Expected(
            Succeeds(ok=True), f"{_12}.mq-ok", after.state, (), after.completions, after.readings, after.transitions
        )


def closed(rules: Rules, branch: Branch, handle: Handle) -> Iterator[Branch]:
    """Yield what becomes of the receives that this handle began and did not end, once it is closed."""
    state = branch.state
    mine = [read for read in state.begun.values() if read.handle == handle.name and not read.ended]
    begun = [read for read in mine if state.position(read.queue, read.message).state in _BEGUN]
    for alternative in rules.accepted(state, CLOSE_BEGUN) if begun else ("",):
        assumed = ((CLOSE_BEGUN, alternative),) if alternative else ()
        branches = [replace(branch, readings=(*branch.readings, *assumed))]
        for read in begun if alternative == "released" else ():
            branches = [new for each in branches for new in _ended(rules, each, read, PositionEvent.END_KEEPING)]
        yield from branches


def _ended(rules: Rules, branch: Branch, begun: BegunRead, event: PositionEvent) -> Sequence[Branch]:
    """End the second phase of this receive: its message is deleted, or available again."""
    new, row = changed(branch.state.position(begun.queue, begun.message), event)
    state = branch.state.put(replace(begun, ended=True))
    branch = replace(branch, state=state, transitions=(*branch.transitions, row))
    if not new.available:
        return (replace(branch, state=state.with_position(begun.queue, new).tick()),)
    return made_available(rules, branch, begun.queue, new, f"{_12}.restores")


def _again(rules: Rules, state: State, queue: str, position: Position, name: str) -> Iterator[Expected]:
    """End a receive a second time. For an available message this fails; it must not bring back a deleted one."""
    if position.available:
        must, leaves = f"{_12}.not-begun", f"{_12}.not-begun-ends"
        if position.claim in KEEPS.values():  # a peek has seen the message
            state = state.with_position(queue, replace(position, claim=leaves))
        # The code is the demanded one only for implementations that end the message, not a handle of the read.
        yield Expected(Fails(must), must, state, (leaves,))
        return
    if position.state is PositionState.DELETED:
        claim = position.claim
        if claim != f"{_12}.purged":  # otherwise no read has shown yet that the first end removed the message
            claim = f"{_12}.no-resurrection"
            state = state.with_position(queue, replace(position, claim=claim))
        for alternative in rules.accepted(state, END_TWICE):
            result = Fails(claim) if alternative == "refused" else Succeeds()
            yield Expected(result, claim, state, shows=False, readings=((END_TWICE, alternative),))
        return
    raise BadCall(f"no section says what ending {name} again does to a message that somebody else holds")
