"""Judges an initiator's requests by its ping and by the round trip before them (MS-MQQB 3.1.5.2.2, 3.1.5.3.2)."""

from __future__ import annotations

from conformance.capture import Opened
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.pings import Request
from conformance.spec.catalogue import requirement_id

_ROUND_TRIP = requirement_id("MQQB-3.1.5.3.2.round-trip")
_REFUSED = requirement_id("MQQB-3.1.7.6.refused")
_ONE_SECOND = requirement_id("MQQB-3.1.2.9.one-second")
_MANAGER = requirement_id("MQQB-2.2.7.qm-guid")
_CLIENT = requirement_id("MQQB-3.1.5.2.3.client-guid")
_SHORTEST, _LONGEST, _FACTOR = 500, 120_000, 8
_TICK_MS = 32  # The system clock may lag behind by its resolution, at both ends of a time.
_SLACK_MS = 100  # Records of two interfaces are in order only so far.
_LATE_MS = 150  # A timer may be late by this much.
_MS = 1_000_000


def judge_round_trip(opened: Opened, request: Seen, response: Seen, parameters: Seen, notes: Notes) -> None:
    """Judge that RecoverableAckTimeout is eight round trips, within its limits; the capture bounds the round trip.

    A request may have been lost before the capture, and sent again by TCP; it was not made before the connection, nor
    was the response taken after what follows it, so that no delay on the way lengthens the time between the two.
    """
    timeout = parameters.number("ConnectionParametersHeader.RecoverableAckTimeout")
    if timeout is None or not _SHORTEST <= timeout <= _LONGEST:
        return
    whole = timeout in (_SHORTEST, _LONGEST) or timeout % _FACTOR == 0
    began_ns, now_ns = opened.time_ns, parameters.frame.time_ns
    why = notes.timeless(began_ns, now_ns, lambda taken: taken >= now_ns - began_ns)
    if why is not None and whole:
        notes.undecided(_ROUND_TRIP, parameters, why, anywhere=True)
        return
    least = _clamped((response.frame.time_ns - request.frame.time_ns) // _MS - _TICK_MS)
    most = _clamped((now_ns - began_ns) // _MS + _SLACK_MS)
    expected = {"from": least, "to": most, "multiple of": _FACTOR}
    notes.judge(_ROUND_TRIP, whole and least <= timeout <= most, parameters, expected, timeout)


def judge_ping(seen: Seen, notes: Notes, ping: Request) -> None:
    """Judge a connection after a ping: the response allowed it, in time."""
    if ping.answer is None:
        for requirement in (_REFUSED, _ONE_SECOND):
            notes.undecided(requirement, seen, "the response to the ping is not in the capture")
        return
    notes.judge(
        _REFUSED,
        not ping.answer.refuses,
        seen,
        "a response that accepts",
        "RF set" if ping.answer.refuses else "RF clear",
    )
    most_ns = (1_000 + _LATE_MS + 1) * _MS
    within = {"within, ms": 1_000}
    notes.interval(_ONE_SECOND, seen, ping.time_ns, ping.answer.time_ns, lambda taken: taken < most_ns, within)


def judge_manager(request: Seen, notes: Notes, pinged: str, client: str | None, echoed: str | None) -> bool:
    """Judge that a ping and the request after it name the same queue manager; False blames the request.

    pinged, client, echoed: the names in the ping, the request and the response. Two of them outvote the third.
    """
    if client != pinged and pinged == echoed:
        notes.judge_late(_CLIENT, False, request, pinged, client)
        return False
    notes.judge_late(_MANAGER, client == pinged, request, pinged, client)
    return True


def _clamped(round_trip_ms: int) -> int:
    return min(_LONGEST, max(_SHORTEST, round_trip_ms * _FACTOR))
