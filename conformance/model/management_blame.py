"""Find the requirement that a wrong transfer of a session breaks: MS-MQDMPR 3.1.1.3 and 3.1.1.4, MS-MQQB 3.1.7.1."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.model.calls import Call
from conformance.model.expected import Expected, Transfers
from conformance.model.management_sessions import CONNECTED, STATES, session_of
from conformance.model.outgoing_blame import astray, disordered
from conformance.model.state import Outgoing, State

_ONCE = "MQDMPR-3.1.7.1.29.atomically-removed"
_TOO_SOON = "MQDMPR-3.1.1.4.eod-resend-interval"


def mistransferred(state: State, call: Call, demanded: Expected, names: Sequence[str] | None) -> str | None:
    """Return the requirement broken by a transfer; None when it has a message that nobody sent.

    names: the transferred messages, None when the call failed.
    """
    queue, session = state.queues[call.queue or ""], session_of(state, call.queue or "")
    expected = demanded.result.messages if isinstance(demanded.result, Transfers) else ()
    if names is None:
        return demanded.requirement or STATES[CONNECTED]
    if any(all(each.find(name) is None for each in state.queues.values()) for name in names):
        return None
    stranger = astray(queue, queue.outgoing or Outgoing(), names)
    if stranger is not None:
        return stranger
    for name in names:
        if name not in expected:
            if name not in session.sent or (not expected and demanded.requirement):
                return demanded.requirement or STATES[CONNECTED]
            if session.why == "EOD_RESEND":
                return "MQMR-3.1.4.2.eod-resend"
            return _TOO_SOON if name in session.awaiting else _ONCE
    missing = [name for name in expected if name not in names]
    for name in missing:
        position = queue.find(name)
        if names and name not in session.sent and position is not None:
            return position.claim
        return demanded.requirement
    for wanted, given in zip(expected, names, strict=False):
        if wanted != given:
            return disordered(queue.find(wanted), queue.find(given))
    return demanded.requirement
