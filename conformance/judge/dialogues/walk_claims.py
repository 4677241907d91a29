"""Derives the requirements that a walk can judge from the acts in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.judge.dialogues.walk_faults import ENDING, MESSAGES, Fault, Kind
from conformance.judge.dialogues.walk_judge import (
    ACCEPTED,
    ARRIVED,
    CONNECTS,
    COUNTED,
    DISCONNECT,
    DUPLICATE,
    LISTENS,
    ORDERED,
    TOLD,
    TURN,
)
from conformance.judge.dialogues.walk_model import Act, Does, done, due, touched
from conformance.judge.sessions.opening import STATE_CLOSES
from conformance.spec.catalogue import requirement_id

WERE_SENT: Final = requirement_id("MQQB-3.1.1.6.1.acknowledged-were-sent")
RECOVERABLE_WERE_SENT: Final = requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent")
_ALWAYS: Final = (LISTENS, TURN, COUNTED, TOLD, WERE_SENT)
"""A walk begins with a session that is opened as it should be, and ends with a recoverable message on another one."""
PACKETS: Final = {
    Kind.ESTABLISH: "EstablishConnection", Kind.PARAMETERS: "ConnectionParameters", Kind.SESSION_ACK: "SessionAck",
    Kind.ORDER_ACK: "OrderAck", Kind.FINAL_ACK: "FinalAck", **dict.fromkeys(MESSAGES, "UserMessage"),
}  # fmt: skip
"""The name of each when it is decoded."""


def claims(acts: Iterable[Act]) -> tuple[str, ...]:
    """Return the requirements that a walk judges, in the order in which it may find them broken."""
    found = dict.fromkeys(_ALWAYS)
    for stand, act in done(acts):
        if act.does not in (Does.SEND, Does.ACCEPT):
            continue
        kind = due(stand, act)
        found |= dict.fromkeys(_of_fault(act, kind))
        found |= {CONNECTS: None} if act.does is Does.ACCEPT else {}
    return tuple(found)


def _of_fault(act: Act, kind: Kind) -> tuple[str, ...]:
    twice = DUPLICATE if kind is not Kind.TRANSACTIONAL else ACCEPTED
    said: tuple[str, ...] = ()
    if kind in MESSAGES and act.fault is not Fault.NONE:
        said = (ARRIVED, RECOVERABLE_WERE_SENT, twice)
    if kind is Kind.TRANSACTIONAL:
        said = (*said, ORDERED)
    if act.fault is Fault.HALF:
        return (*said, DISCONNECT)
    if act.fault in (*ENDING, Fault.NONE):
        return said
    opening = (Kind.ESTABLISH, Kind.PARAMETERS)
    looked_at = kind if act.does is Does.SEND or act.fault is Fault.DOUBLE else touched(act)[-1]
    if looked_at in opening and act.fault is not Fault.DOUBLE:  # an answer shows that it was taken
        return said
    return (*said, STATE_CLOSES[PACKETS[looked_at]])
