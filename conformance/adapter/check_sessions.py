"""The part of `adapter check` that walks the facet `sessions`: each method once, and what must be so on any network."""

from __future__ import annotations

import base64
from contextlib import suppress

from conformance.adapter.check import DriverCheck, GiveUp
from conformance.spec.constants.codes import status_text
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT

_SHORT_MS = 50
_NO_PING = base64.b64encode(bytes(24)).decode("ascii")
"""A datagram without the signature of a ping, which nothing answers (MS-MQQB 2.2.7)."""
_ACCEPTOR_MS = 1_000


def sessions(walk: DriverCheck) -> None:
    """Connect, write nothing that means anything, read, close; then wait for a connection that does not come."""
    with suppress(GiveUp):
        walk.call("sessions.about")
    with suppress(GiveUp):
        _as_initiator(walk)
    with suppress(GiveUp):
        _nobody_connects(walk)
    with suppress(GiveUp):
        walk.call("sessions.ping", bytes=_NO_PING, wait_ms=_SHORT_MS)


def _as_initiator(walk: DriverCheck) -> None:
    first = walk.call("sessions.open", role="initiator").values.get("session")
    second = walk.call("sessions.open", role="initiator").values.get("session")
    if first is None or second is None or first == second:
        walk.say("sessions.open", "wrong", f"a session has a name of its own; two that are open have {first}, {second}")
        raise GiveUp
    walk.call("sessions.send", session=first, bytes="")
    values = walk.call("sessions.received", session=first, wait_ms=_SHORT_MS).values
    if values["packets"]:
        walk.say("sessions.received", "wrong", "gives packets of a session on which nothing was sent")
    walk.call("sessions.close", session=first, how="close")
    walk.call("sessions.close", session=second, how="reset")


def _nobody_connects(walk: DriverCheck) -> None:
    if not walk.client.offers("sessions.open"):
        raise GiveUp
    result = walk.client.call("sessions.open", role="acceptor", deadline_ms=_ACCEPTOR_MS)
    if result.ok:
        walk.call("sessions.close", session=result.values.get("session"), how="close")
    elif result.status not in (None, MQ_ERROR_IO_TIMEOUT):
        told = status_text(result.status)
        walk.say("sessions.open", "wrong", f"answered {told} where nobody connects, not MQ_ERROR_IO_TIMEOUT")
