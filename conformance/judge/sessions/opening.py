"""Judges how a session begins, its requests and their times, and who must close it (MS-MQQB 3.1.5.1 to 3.1.5.4)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.capture import Closed, Opened, Side
from conformance.judge.sessions.context import MAX_HOSTS, MESSAGES, Notes, Seen, verdict_on
from conformance.judge.sessions.flow_steps import after
from conformance.judge.sessions.packets import Pings, Request
from conformance.judge.sessions.registers import Connection
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome

_CLOCK = requirement_id("MQQB-3.1.5.2.3.time-stamp")
_HEADER = "EstablishConnectionHeader"
_LATE_MS = 30_000  # A request may be lost and sent again by TCP this long after it was made.
_SLACK_MS = 5_000  # The clock of the capture may be set by this much.
_DRIFT = 1_000  # Clocks differ by less than one part in this many.
_MS = 1_000_000
_HALF = 1 << 31


@dataclass(slots=True)
class Clocks:
    """The last TimeStamp of each initiator, by queue manager and host, and the first and last times it can be of."""

    last: OrderedDict[tuple[str, str], tuple[int, int, int]] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, opened: Opened) -> None:
        """Judge an EstablishConnection request. opened: its connection."""
        manager, stamp = seen.text(f"{_HEADER}.ClientGuid"), seen.number(f"{_HEADER}.TimeStamp")
        if manager is None or stamp is None:
            return
        key = manager, seen.hosts[0]
        _, begun_ns, ended_ns = self.last.get(key, (0, 0, 0))
        grown, most = self.take(key, stamp, seen.time_ns, opened)
        if most is None:
            return
        why = notes.timeless(begun_ns, seen.time_ns)
        if why is not None:
            notes.undecided(_CLOCK, seen, why, anywhere=True)
            return
        later = opened.complete and opened.time_ns - ended_ns > _SLACK_MS * _MS  # Made after the one before came.
        if grown == 0 and later:
            least = {"grows by at least, ms": (opened.time_ns - ended_ns) // _MS}
            notes.judge(_CLOCK, stamp <= most, seen, least, {"ms": grown})
            return
        if grown >= _HALF and stamp > most and not later:
            notes.undecided(_CLOCK, seen, "the request may have been made before the one that was seen last")
            return
        notes.judge(_CLOCK, min(grown, stamp) <= most, seen, {"grows by at most, ms": most}, {"ms": grown})

    def take(self, key: tuple[str, str], stamp: int, time_ns: int, opened: Opened) -> tuple[int, int | None]:
        """Take a request; return by how much its time has grown, in ms, and by how much at most; None for the first.

        key: the queue manager and its host. opened: as for `see`.
        """
        soonest_ns = opened.time_ns if opened.complete else time_ns - _LATE_MS * _MS
        soonest_ns = min(time_ns, max(soonest_ns, time_ns - _LATE_MS * _MS))
        before = self.last.get(key)
        if before is None:
            self.last[key] = (stamp, soonest_ns, time_ns)
            while len(self.last) > MAX_HOSTS:
                self.last.popitem(last=False)
            return 0, None
        elapsed = max(0, time_ns - before[1]) // _MS
        most = elapsed + elapsed // _DRIFT + _SLACK_MS
        grown = (stamp - before[0]) & 0xFFFFFFFF
        if not (grown >= _HALF and stamp > most):
            self.last[key] = (stamp, soonest_ns, time_ns)
        return grown, most


_ROUND_TRIP = requirement_id("MQQB-3.1.5.3.2.round-trip")
_PING_REFUSED = requirement_id("MQQB-3.1.7.6.refused")
_ONE_SECOND = requirement_id("MQQB-3.1.2.9.one-second")
_MANAGER = requirement_id("MQQB-2.2.7.qm-guid")
_CLIENT = requirement_id("MQQB-3.1.5.2.3.client-guid")
_SHORTEST, _LONGEST, _FACTOR = 500, 120_000, 8
_TICK_MS = 32  # The system clock may lag behind by its resolution, at both ends of a time.
_ORDER_SLACK_MS = 100  # Records of two interfaces are in order only so far.
_TIMER_LATE_MS = 150  # A timer may be late by this much.


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
    most = _clamped((now_ns - began_ns) // _MS + _ORDER_SLACK_MS)
    expected = {"from": least, "to": most, "multiple of": _FACTOR}
    notes.judge(_ROUND_TRIP, whole and least <= timeout <= most, parameters, expected, timeout)


def judge_ping(seen: Seen, notes: Notes, ping: Request) -> None:
    """Judge a connection after a ping: the response allowed it, in time."""
    if ping.answer is None:
        for requirement in (_PING_REFUSED, _ONE_SECOND):
            notes.undecided(requirement, seen, "the response to the ping is not in the capture")
        return
    notes.judge(
        _PING_REFUSED,
        not ping.answer.refuses,
        seen,
        "a response that accepts",
        "RF set" if ping.answer.refuses else "RF clear",
    )
    most_ns = (1_000 + _TIMER_LATE_MS + 1) * _MS
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


# Figure 3 of MS-MQQB: the sender and packet of each step; after the last one the session is open.
STAGES: tuple[tuple[Side, str], ...] = (
    ("initiator", "EstablishConnection"),
    ("acceptor", "EstablishConnection"),
    ("initiator", "ConnectionParameters"),
    ("acceptor", "ConnectionParameters"),
)
OPEN = len(STAGES)
NULL_GUID = "00000000-0000-0000-0000-000000000000"
_ESTABLISH, _PARAMETERS = "EstablishConnectionHeader", "ConnectionParametersHeader"
_IN_FLIGHT_NS = 1_000_000_000  # Packets queued before the reason to close was read may still leave for this long.
_AGAIN_NS = 4_000_000_000  # A connection that fails is tried again after this long, which may be 5 seconds.
_UNANSWERED_NS = 1_000_000_000  # A ping without an answer has failed after this long (MS-MQQB 3.1.2.9).
_READING_NULL = "R-MQQB-null-server-guid"

_ORDER = requirement_id("MQQB-2.1.1.initialization")
_REFUSED = {
    0: requirement_id("MQQB-3.1.5.2.3.cs"),
    2: requirement_id("MQQB-3.1.5.3.2.cs"),
    3: requirement_id("MQQB-3.1.5.4.1.cs"),
}
_ECHOES = (
    (requirement_id("MQQB-3.1.5.3.1.client-guid"), f"{_ESTABLISH}.ClientGuid"),
    (requirement_id("MQQB-3.1.5.3.1.time-stamp"), f"{_ESTABLISH}.TimeStamp"),
    (requirement_id("MQQB-3.1.5.3.1.se"), f"{_ESTABLISH}.OperatingSystem.SE"),
)
_PARAMETER_ECHOES = (
    (requirement_id("MQQB-3.1.5.4.1.recoverable-ack-timeout"), f"{_PARAMETERS}.RecoverableAckTimeout"),
    (requirement_id("MQQB-3.1.5.4.1.ack-timeout"), f"{_PARAMETERS}.AckTimeout"),
)
_SERVER_GUID = requirement_id("MQQB-3.1.5.3.1.server-guid")
_CS = requirement_id("MQQB-3.1.5.3.1.cs")
_PADDING = requirement_id("MQQB-2.2.3.1.padding")
_SE = requirement_id("MQQB-2.2.3.1.se")
_OS = requirement_id("MQQB-2.2.3.1.os")
_DIRECT = requirement_id("MQQB-3.1.5.2.3.server-guid")
_INVALID_CLOSES = requirement_id("MQQB-3.1.5.3.2.invalid-closes")
STATE_CLOSES = {
    "EstablishConnection": requirement_id("MQQB-3.1.5.3.state-closes"),
    "ConnectionParameters": requirement_id("MQQB-3.1.5.4.state-closes"),
    "SessionAck": requirement_id("MQQB-3.1.5.5.state-closes"),
    "OrderAck": requirement_id("MQQB-3.1.5.6.state-closes"),
    "FinalAck": requirement_id("MQQB-3.1.5.7.state-closes"),
    "UserMessage": requirement_id("MQQB-3.1.5.8.state-closes"),
}
"""The requirement that a packet out of turn ends the session, by the kind of the packet."""
_TROUBLE_CLOSES = {
    "no-header": requirement_id("MQQB-3.1.5.1.2.signature-closes"),
    "packet-size": requirement_id("MQQB-3.1.5.1.3.malformed-closes"),
}
_COUNTS_CLOSE = requirement_id("MQQB-3.1.5.5.5.counts-closes")
_TYPE_CLOSES = requirement_id("MQQB-2.2.1.packet-type-closes")


@dataclass(frozen=True, slots=True)
class Duty:
    """`side` has to close the connection because of `cause`. sure: everything it sends now follows the cause.

    sent: the messages that the other side has sent before the cause; None for an unknown number. early: the cause comes
    before the ConnectionParameters of the initiator.
    """

    requirement: str
    side: Side
    cause: Seen
    sure: bool = False
    sent: int | None = None
    early: bool = False


@dataclass(slots=True)
class Opening:
    """The beginning of a connection. stage: packets of STAGES that have come; judging stops at the first wrong one.

    began: the number of the last packet before the connection. registers: those of the connection.
    duty: one of its ends had to close it.
    doubted: what the acceptor's ping has named it, while the response that accepts names it as it was asked for.
    """

    opened: Opened
    stage: int = 0
    known: bool = True
    derailed: bool = False
    request: Seen | None = None
    response: Seen | None = None
    parameters: Seen | None = None
    duties: list[Duty] = field(default_factory=list)
    direct_judged: bool = False
    client: str | None = None
    server: str | None = None
    pinged: str | None = None
    doubted: str | None = None
    began: int = 0
    registers: Connection | None = None
    duty: bool = False

    def manager(self, side: Side) -> str | None:
        """Return the queue manager on this side that the initialization named; None before."""
        return self.client if side == "initiator" else self.server

    @property
    def settled(self) -> bool:
        """True when further messages and acknowledgments no longer matter to the opening."""
        if self.duties or self.doubted is not None:
            return False
        return (self.known and self.derailed) or (self.stage == OPEN and (self.direct_judged or not self.known))

    def lose(self) -> None:
        """Record that part of the connection is missing from the capture."""
        self.known = self.known and self.stage == OPEN

    def see(self, seen: Seen, notes: Notes, pings: Pings) -> None:
        """Judge a packet's place in the opening of this connection."""
        side, kind = seen.side, seen.kind
        assert side is not None
        if self.duties:
            self._duties(seen, notes)
        if seen.trouble is not None:
            self._trouble(seen)
            return
        if kind == "Malformed":
            typed = seen.number("InternalHeader.Flags.PT") is not None
            self._owe(_TYPE_CLOSES if typed else _TROUBLE_CLOSES["packet-size"], seen)
            self.derailed = self.derailed or self.stage < OPEN
            return
        if not self.known:
            if self.stage < OPEN:
                notes.undecided(_ORDER, seen, "the beginning of the connection is not in the capture")
                self.stage = OPEN
            return
        if self.derailed:
            return
        if self.stage < OPEN and (side, kind) == STAGES[self.stage]:
            notes.judge(_ORDER, True, seen, kind, kind)
            self._step(seen, notes, pings)
            self.stage += 1
        elif self.stage < OPEN or kind in ("EstablishConnection", "ConnectionParameters"):
            expected = (
                f"{STAGES[self.stage][1]} from the {STAGES[self.stage][0]}" if self.stage < OPEN else "no other one"
            )
            notes.judge(_ORDER, False, seen, expected, f"{kind} from the {side}")
            self.derailed = True
            self._owe(STATE_CLOSES[kind], seen)
        elif kind in MESSAGES and side == "initiator" and not self.direct_judged:
            self._direct(seen, notes)

    def miscounted(self, seen: Seen) -> None:
        """Record that a packet counts otherwise than its side has sent: the other side has to close (3.1.5.5.5)."""
        self._owe(_COUNTS_CLOSE, seen)

    def decide(self, seen: Seen, notes: Notes, pings: Pings) -> None:
        """Decide by a message of the acceptor whether its ping or its response has named it wrongly."""
        source, named = seen.text("UserHeader.SourceQueueManager"), self._answered()
        if seen.number("UserHeader.Flags.RC") or source not in (self.doubted, named):
            return
        if source == named:
            self.doubted, self.server = None, named
            pings.misnamed(seen.hosts[0], notes, named)
        else:
            self._accepts_another(notes)

    def _accepts_another(self, notes: Notes) -> None:
        """Blame the response for accepting a request for another queue manager than the pinged one."""
        assert self.response is not None
        self.doubted, self.server = None, self.doubted
        notes.judge_late(_CS, False, self.response, "refused", "accepted")

    def _answered(self) -> str:
        assert self.response is not None
        return self.response.text(f"{_ESTABLISH}.ServerGuid") or ""

    def end(self, closed: Closed, notes: Notes) -> None:
        """Judge what is left when the connection ends, such as the duties to close."""
        if self.doubted is not None:
            self._accepts_another(notes)
        for duty in self.duties:
            if closed.by == duty.side:
                notes.judge_late(duty.requirement, True, duty.cause, "the connection is closed", "closed")
            else:
                why = "the other side closed first" if closed.by else "the capture ends before the connection"
                notes.tell(verdict_on(duty.cause, duty.requirement, Outcome.INCONCLUSIVE, reason=why))
        self.duties.clear()

    def _step(self, seen: Seen, notes: Notes, pings: Pings) -> None:
        if self.stage in _REFUSED:
            notes.same(_REFUSED[self.stage], seen, 0, seen.number("InternalHeader.Flags.CS"))
        if self.stage == 0:
            self.request = seen.kept()
            self.client = seen.text(f"{_ESTABLISH}.ClientGuid")
            self._pinged(seen, notes, pings)
        elif self.stage == 1:
            self.response = seen.kept()
            self._response(seen, notes, pings)
        elif self.stage == 2:
            self.parameters = seen.kept()
            assert self.request is not None and self.response is not None
            judge_round_trip(self.opened, self.request, self.response, seen, notes)
        else:
            assert self.parameters is not None
            for requirement, key in _PARAMETER_ECHOES:
                if key in seen.packet.fields:
                    notes.same(requirement, seen, self.parameters.number(key), seen.number(key))

    def _pinged(self, seen: Seen, notes: Notes, pings: Pings) -> None:
        session, server_class = (seen.number(f"{_ESTABLISH}.OperatingSystem.{bit}") for bit in ("SE", "OS"))
        ping = pings.request_before(seen, notes)
        failed = ping is not None and (ping.answer is None or ping.answer.refuses)
        wait = _UNANSWERED_NS if failed else _AGAIN_NS
        if ping is not None and session == 1 and (ping.used or seen.time_ns - ping.time_ns > wait):
            # A connection tried again, or made anew, is made without a ping (MS-MQQB 3.1.5.2.2).
            notes.judge(_SE, True, seen, 1, session)
        elif ping is not None and ping.used and ping.answer and seen.time_ns - ping.time_ns > _AGAIN_NS:
            if pings.answers_after(seen, ping.answer):
                notes.undecided(_SE, seen, "the request of a ping is not in the capture")
            else:  # Of this session there is no ping, though others have theirs.
                notes.judge(_SE, False, seen, 1, session)
        elif ping is not None:
            ping.used = True
            notes.same(_SE, seen, 0, session)
            notes.same(_OS, seen, 1 - ping.rc, server_class)
            if session == 0:
                self.pinged = ping.manager
                judge_ping(seen, notes, ping)
        elif session == 0:
            notes.undecided(_SE, seen, "no ping in the capture is known to be of this session")
        else:
            notes.judge(_SE, True, seen, 1, session)

    def _response(self, seen: Seen, notes: Notes, pings: Pings) -> None:
        assert self.request is not None
        echoed, misnames = seen.text(f"{_ESTABLISH}.ClientGuid"), False
        if self.pinged is not None:
            misnames = not judge_manager(self.request, notes, self.pinged, self.client, echoed)
            self.client = self.pinged if misnames else self.client
        for requirement, key in _ECHOES[misnames:]:
            if key in seen.packet.fields:  # Not behind the end of a packet that is cut short.
                notes.same(requirement, seen, self.request.packet.fields.get(key), seen.packet.fields[key])
        padding = seen.packet.fields.get(f"{_ESTABLISH}.Padding")
        if isinstance(padding, bytes):
            wrong = len(padding) - padding.count(0x5A)
            notes.judge(_PADDING, not wrong, seen, "512 bytes 0x5A", f"{wrong} of {len(padding)} bytes differ")
        asked, answered = self.request.text(f"{_ESTABLISH}.ServerGuid"), seen.text(f"{_ESTABLISH}.ServerGuid")
        refused = bool(seen.number("InternalHeader.Flags.CS"))
        own = pings.manager_at(seen.frame.source.address, seen.time_ns)
        if own is not None and not refused and own != answered != NULL_GUID:
            if own == self.client:  # The ping has repeated the name of who asked.
                pings.misnamed(seen.frame.source.address, notes, answered or "")
                own = answered
            elif asked == answered:
                self.doubted = own
                return
        self.server = own or answered  # Its ping came first; what follows is compared with one of them only.
        if not refused:
            wanted = asked if asked != NULL_GUID else own or answered
            notes.judge(_SERVER_GUID, answered == wanted != NULL_GUID, seen, wanted, answered)
        elif own is not None:  # A refusal repeats what was asked for, or names who refuses.
            notes.judge(_SERVER_GUID, answered in (asked, own), seen, [asked, own], answered)
        self._refusal(seen, notes, asked, own or answered, refused)
        misnamed = asked != NULL_GUID and answered != asked
        stranger = self.client != echoed
        if refused or misnamed or stranger:
            # The initiator sends nothing before the response, so that everything it sends now follows the response.
            self.duties.append(Duty(_INVALID_CLOSES, "initiator", seen.kept(), sure=True))

    def _refusal(self, seen: Seen, notes: Notes, asked: str | None, own: str | None, refused: bool) -> None:
        if asked == NULL_GUID:
            alternatives = notes.accepted(_READING_NULL)
            followed = "refused" if refused else "accepted"
            if followed in alternatives:
                notes.judge(_CS, True, seen, list(alternatives), followed, ((_READING_NULL, followed),))
            elif refused:
                notes.undecided(_CS, seen, "a policy of the acceptor may have refused the connection")
            else:
                notes.judge(_CS, False, seen, list(alternatives), followed, ((_READING_NULL, followed),))
        elif asked == own:
            if refused:
                notes.undecided(_CS, seen, "a policy of the acceptor may have refused the connection")
            else:
                notes.judge(_CS, True, seen, "accepted", "accepted")
        else:
            notes.judge(_CS, refused, seen, "refused", "refused" if refused else "accepted")

    def _direct(self, seen: Seen, notes: Notes) -> None:
        kind = seen.number("UserHeader.Flags.DQ")
        if self.request is None or kind not in (3, 5, 7):
            return
        self.direct_judged = True
        asked = self.request.text(f"{_ESTABLISH}.ServerGuid")
        expected = "null" if kind == 7 else "the acceptor's identifier"
        notes.judge_late(_DIRECT, (asked == NULL_GUID) == (kind == 7), self.request, expected, asked)

    def _trouble(self, seen: Seen) -> None:
        trouble = seen.frame.trouble
        assert trouble is not None
        if trouble.of_capture:
            self.lose()
            return
        self.derailed = self.derailed or self.stage < OPEN
        if trouble.kind in _TROUBLE_CLOSES:
            self._owe(_TROUBLE_CLOSES[trouble.kind], seen)

    def _owe(self, requirement: str, seen: Seen) -> None:
        other: Side = "acceptor" if seen.side == "initiator" else "initiator"
        self.duty = True
        if len(self.duties) < 8:
            its = None if self.registers is None or seen.side is None else self.registers.end(seen.side)
            sent = its.sent if its is not None and its.known else None
            self.duties.append(Duty(requirement, other, seen.kept(), sent=sent, early=self.stage < OPEN - 1))

    def _duties(self, seen: Seen, notes: Notes) -> None:
        """Judge packets of a side that had to close: were they sent after it knew the reason?

        One that acknowledges the reason, or a message behind it, was.
        """
        acknowledged = seen.number("SessionHeader.AckSequenceNumber") if seen.trouble is None else None
        for duty in list(self.duties):
            cause = duty.cause.frame
            answers = duty.early and duty.side == "acceptor" and seen.kind == "ConnectionParameters"
            counts = duty.sent is not None and acknowledged is not None and after(acknowledged, duty.sent) > 0
            late = (
                seen.frame.heard >= cause.offset + len(cause.data)
                and seen.frame.time_ns - cause.time_ns > _IN_FLIGHT_NS
            )
            if seen.frame.side == duty.side and (duty.sure or late or answers or counts):
                notes.judge(
                    duty.requirement, False, seen, f"the connection is closed because of packet {cause.number}",
                    f"{seen.packet.kind} from the {duty.side}",
                )  # fmt: skip
                self.duties.remove(duty)
