"""Rules of MS-MQQB 2.2 on single packets, and on pings and their relation to connections."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from conformance.capture import Endpoint
from conformance.judge.sessions.context import MAX_HOSTS, Notes, Seen
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.followed_readings import either
from conformance.verdict import Json
from conformance.wire.framing import (
    ACK_BODY_SIZE,
    INTERNAL_SIZES,
    ORDER_ACK_CLASS,
    ORDER_LABEL,
    ORDER_QUEUE_ID,
    ORDER_QUEUE_NAME,
)
from conformance.wire.headers import CONNECTION_PARAMETERS, ESTABLISH_CONNECTION, PING_SIZE, SESSION_ACK

_WORD = 0xFFFFFFFF
_DM, _DQ, _MP = 0x60, 0x1C00, 1 << 21  # Masks of UserHeader.Flags (MS-MQMQ 2.2.19.2).
_RC = 0x1F  # The hops, which routers count (MS-MQQB 3.1.5.8.2).
# MS-MQQB 2.2.5, and what 3.1.5.8.2 and 3.1.7.2.1-2 send beside it.
_LISTED = frozenset({0x4000, 0x8000, 0x8003, 0x8004, 0x8006, 0x8007, 0x8009, 0x800B, 0xC000, 0xC001, 0xC002})
CLASSES = {"listed": _LISTED, "sent": _LISTED | {0x8005, 0xC004}}
_READING_CLASS = reading_id("R-MQQB-final-ack-class")
_READING_DELIVERY = "R-MQQB-order-ack-delivery"
_READING_HEADER = reading_id("R-MQQB-acknowledgment-session-header")
_SH = 0x10  # The bit of BaseHeader.Flags (MS-MQMQ 2.2.19.1).


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule on one field: the bits of `mask` lie between `low` and `high`, and in `among` unless that is empty.

    expected: the demand, for the verdict.
    """

    requirement: str
    field: str
    expected: Json
    low: int
    high: int
    mask: int = _WORD
    among: frozenset[int] = frozenset()

    def holds(self, found: int) -> bool:
        """Return True when a value of the field fits."""
        bits = found & self.mask
        return self.low <= bits <= self.high and (not self.among or bits in self.among)


def _is(requirement: str, field: str, value: int) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, value, value, value)


def _within(requirement: str, field: str, low: int, high: int) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, {"from": low, "to": high}, low, high)


def _clear(requirement: str, field: str, mask: int) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, {"clear": f"0x{mask:04X}"}, 0, 0, mask)


def _bits(requirement: str, mask: int, value: int, expected: Json) -> FieldRule:
    return FieldRule(requirement_id(requirement), "UserHeader.Flags", expected, value, value, mask)


def _one_of(requirement: str, field: str, values: frozenset[int]) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, {"one of": sorted(values)}, 0, _WORD, among=values)


def _internal(section: str, packet_type: int) -> tuple[FieldRule, ...]:
    """Make the rules that every internal packet has. section: the one about this packet."""
    return (
        _PRESENT,
        _is(f"MQQB-{section}.internal-flag", "BaseHeader.Flags.IN", 1),
        _is(f"MQQB-{section}.packet-type", "InternalHeader.Flags.PT", packet_type),
        _is(f"MQQB-{section}.size", "Packet.Length", INTERNAL_SIZES[packet_type]),
        _is("MQQB-2.2.1.reserved", "InternalHeader.Reserved", 0),
        _clear("MQQB-2.2.1.unused-bits", "InternalHeader.Flags", 0xFFE0),
        _PACKET_TYPE,
    )


_PRESENT = FieldRule(requirement_id("MQQB-2.2.1.present"), "InternalHeader.Flags", {"bytes": 4}, 0, _WORD)
_PACKET_TYPE = _within("MQQB-2.2.1.packet-type", "InternalHeader.Flags.PT", 1, 3)


def _acknowledgment(section: str) -> tuple[FieldRule, ...]:
    return (
        _one_of(f"MQQB-{section}.destination-type", "UserHeader.Flags.DQ", frozenset({3, 7})),
        _is(f"MQQB-{section}.properties-flags", "MessagePropertiesHeader.Flags", 0),
        _is(f"MQQB-{section}.message-size", "MessagePropertiesHeader.MessageSize", ACK_BODY_SIZE),
        _is(f"MQQB-{section}.body-type", "MessagePropertiesHeader.BodyType", 0),
        _is("MQQB-3.1.7.17.privacy-level", "MessagePropertiesHeader.PrivacyLevel", 0),
    )


RULES: Mapping[str, tuple[FieldRule, ...]] = {
    "SessionAck": (
        _is("MQQB-2.2.6.session-header-flag", "BaseHeader.Flags.SH", 1),  # Without it the packet ends too soon.
        *_internal("2.2.6", SESSION_ACK),
        _is("MQQB-2.2.1.refused-elsewhere", "InternalHeader.Flags.CS", 0),
    ),
    "EstablishConnection": (
        *_internal("2.2.3", ESTABLISH_CONNECTION),
        _is("MQQB-2.2.3.1.re", "EstablishConnectionHeader.OperatingSystem.RE", 0x10),
        _is("MQQB-2.2.3.1.reserved", "EstablishConnectionHeader.Reserved", 0),
        _clear("MQQB-2.2.3.1.unused-bits", "EstablishConnectionHeader.OperatingSystem", 0xF800),
    ),
    "ConnectionParameters": (
        *_internal("2.2.2", CONNECTION_PARAMETERS),
        _within(
            "MQQB-2.2.2.1.recoverable-ack-timeout", "ConnectionParametersHeader.RecoverableAckTimeout", 500, 120_000
        ),
        _within("MQQB-2.2.2.1.ack-timeout", "ConnectionParametersHeader.AckTimeout", 20_000, 120_000),
        _is("MQQB-2.2.2.1.reserved", "ConnectionParametersHeader.Reserved", 0),
    ),
    "OrderAck": (
        *_acknowledgment("2.2.4"),
        _bits("MQQB-2.2.4.user-flags", _WORD & ~(_DQ | _DM | _RC), _MP, {"set": "MP", "any": "DQ, DM, RC"}),
        _is("MQQB-2.2.4.message-class", "MessagePropertiesHeader.MessageClass", ORDER_ACK_CLASS),
        _within("MQQB-2.2.4.1.number", "OrderAckBody.TxSequenceNumber", 1, _WORD),
    ),
    "FinalAck": (
        *_acknowledgment("2.2.5"),
        _bits("MQQB-2.2.5.user-flags", _WORD & ~(_DQ | _RC), _MP | 0x20, {"set": "MP, DM", "any": "DQ, RC"}),
        _within("MQQB-2.2.5.1.number", "FinalAckBody.TxSequenceNumber", 1, _WORD),
    ),
    "Malformed": (_PACKET_TYPE,),
    "Ping": (
        _is("MQQB-2.2.7.signature", "Ping.Signature", 0x5548),
        _is("MQQB-2.2.7.size", "Packet.Length", PING_SIZE),
    ),
}
_ACKNOWLEDGED = {
    "OrderAck": (
        requirement_id("MQQB-2.2.4.destination"),
        requirement_id("MQQB-2.2.4.label"),
        requirement_id("MQQB-2.2.4.address"),
        requirement_id("MQQB-2.2.4.base-flags"),
    ),
    "FinalAck": (
        requirement_id("MQQB-2.2.5.destination"),
        requirement_id("MQQB-2.2.5.label"),
        requirement_id("MQQB-2.2.5.address"),
        requirement_id("MQQB-2.2.5.base-flags"),
    ),
}
_PREVIOUS = requirement_id("MQQB-2.2.4.1.previous")
_RESERVED = requirement_id("MQQB-2.2.4.1.reserved")
_DELIVERY = requirement_id("MQQB-2.2.4.delivery")
_CLASS = requirement_id("MQQB-2.2.5.message-class")
_SPX_ADDRESS = re.compile(r"[0-9A-F]{8}\.[0-9A-F]{12}", re.IGNORECASE)


@dataclass(slots=True)
class Addresses:
    """How one side of a connection names the order queue at the other end, which has one address (MS-MQQB 3.1.7.17).

    right: once by the address that the capture shows. stray: the first one by an unknown address, and that; None where
    it was blamed.
    """

    right: bool = False
    stray: tuple[Seen, str, str] | None = None
    blamed: bool = False

    def see(self, seen: Seen, notes: Notes, requirement: str, address: str, *, right: bool) -> None:
        """Take notice of an address. Where the right one is named too, nothing is translated on the way."""
        if right:
            self.right = True
        elif self.stray is None and not self.blamed:
            self.stray = seen.kept(), requirement, address
        if self.right and self.stray is not None:
            stray, broken, named = self.stray
            self.stray, self.blamed = None, True
            notes.judge_late(broken, False, stray, stray.hosts[1], named)


def judge_alone(seen: Seen, notes: Notes, addresses: Addresses | None = None) -> None:
    """Judge a packet by the rules of its kind whose fields were decoded. addresses: of its side."""
    kind = "Ping" if seen.connection is None else seen.kind
    for rule in RULES.get(kind, ()):
        found = seen.number(rule.field)
        if found is not None:
            notes.judge(rule.requirement, rule.holds(found), seen, rule.expected, found)
    if kind in _ACKNOWLEDGED:
        _acknowledges(seen, notes, addresses or Addresses(), *_ACKNOWLEDGED[kind])
    if kind == "OrderAck":
        _order_ack(seen, notes)
    elif kind == "FinalAck":
        _final_ack(seen, notes)
    elif kind == "Malformed" and seen.number("BaseHeader.Flags.IN") and seen.number("InternalHeader.Flags") is None:
        notes.judge(_PRESENT.requirement, False, seen, _PRESENT.expected, "fewer")


def _acknowledges(
    seen: Seen, notes: Notes, addresses: Addresses, to: str, labelled: str, addressed: str, flagged: str
) -> None:
    _flags(seen, notes, flagged)
    notes.same(labelled, seen, ORDER_LABEL, seen.text("MessagePropertiesHeader.Label"))
    kind = seen.number("UserHeader.Flags.DQ")
    if kind == 7:
        name = seen.text("UserHeader.DestinationQueue.DirectFormatName") or ""
        notes.judge(to, _names_order_queue(name), seen, "TCP:address\\PRIVATE$\\order_queue$", name)
        if name[:4].upper() == "TCP:" and _names_order_queue(name):
            _addressed(seen, notes, addresses, addressed, name[4 : -len(ORDER_QUEUE_NAME)])
    elif kind == 3:
        found = seen.number("UserHeader.DestinationQueue.PrivateQueueIdentifier")
        notes.same(to, seen, ORDER_QUEUE_ID, found)


def _flags(seen: Seen, notes: Notes, requirement: str) -> None:
    """Judge that no bit of BaseHeader.Flags is set; by a reading, SH is where a SessionHeader is carried."""
    found = seen.number("BaseHeader.Flags")
    if found is None:
        return
    carries = found == _SH
    readings = ((_READING_HEADER, "late"),) if carries else ()
    holds = not found or (carries and "late" in notes.accepted(_READING_HEADER))
    notes.judge(requirement, holds, seen, 0, found, readings)


def _addressed(seen: Seen, notes: Notes, addresses: Addresses, requirement: str, address: str) -> None:
    """Judge the address of an order queue: the acknowledging host's own one is no address of the queue's host."""
    own, other = map(_address, seen.hosts)
    named = _address(address)
    if named == other:
        notes.judge(requirement, True, seen, str(other), address)
        addresses.see(seen, notes, requirement, address, right=True)
    elif named == own:
        notes.judge(requirement, False, seen, str(other), address)
    else:
        notes.undecided(requirement, seen, "a router may pass it on, or addresses are translated on the way")
        addresses.see(seen, notes, requirement, address, right=False)


@lru_cache(maxsize=1024)
def _address(text: str) -> IPv4Address | IPv6Address:
    return ip_address(text.partition("%")[0].removeprefix("[").removesuffix("]"))


@lru_cache(maxsize=1024)
def _names_order_queue(name: str) -> bool:
    """Return True for the direct name of an order queue, as MS-MQQB 2.2.4 spells it; letters in either case."""
    head, queue = name[: -len(ORDER_QUEUE_NAME)], name[-len(ORDER_QUEUE_NAME) :]
    protocol, address = head[:4].upper(), head[4:]
    if queue.lower() != ORDER_QUEUE_NAME or protocol not in ("TCP:", "SPX:"):
        return False
    if protocol == "SPX:":
        return _SPX_ADDRESS.fullmatch(address) is not None
    try:
        _address(address)
    except ValueError:
        return False
    return True


def _final_ack(seen: Seen, notes: Notes) -> None:
    found = seen.number("MessagePropertiesHeader.MessageClass")
    if found is None:
        return
    fitting = [name for name in notes.accepted(_READING_CLASS) if found in CLASSES[name]]
    readings = ((_READING_CLASS, either(fitting)),) if fitting else ()
    notes.judge(_CLASS, bool(fitting), seen, {"one of": sorted(CLASSES["sent"])}, found, readings)


def _order_ack(seen: Seen, notes: Notes) -> None:
    number, previous = (
        seen.number("OrderAckBody.TxSequenceNumber"),
        seen.number("OrderAckBody.TxPreviousSequenceNumber"),
    )
    if number is not None and previous is not None:
        notes.same(_PREVIOUS, seen, (number - 1) & 0xFFFFFFFF, previous)
    reserved = seen.raw("OrderAckBody.Reserved")
    if reserved is not None:
        notes.judge(_RESERVED, not any(reserved), seen, "20 bytes 0x00", reserved.hex())
    delivery = seen.number("UserHeader.Flags.DM")
    if delivery is None:
        return
    followed = {0: "express", 1: "recoverable"}.get(delivery)
    holds = followed in notes.accepted(_READING_DELIVERY)
    readings = ((_READING_DELIVERY, followed),) if followed else ()
    notes.judge(
        _DELIVERY, holds, seen, {"one of": list(notes.accepted(_READING_DELIVERY))}, followed or delivery, readings
    )


PING_PORT = 3527
_RELATED_NS = 60 * 1_000_000_000  # A ping belongs to a connection that follows within this time.
_REPEATED_NS = 100_000_000  # The same bytes within this time are one packet captured twice.
_LATE_NS = 5 * 1_000_000_000  # A response comes within this time of its request.
_KEPT = 64  # Requests remembered per address and port.

_REQUEST_RF = requirement_id("MQQB-2.2.7.request-rf")
_COOKIE_ECHO = requirement_id("MQQB-2.2.7.response-cookie")
_RC_ECHO = requirement_id("MQQB-2.2.7.response-rc")
_ADDRESS = requirement_id("MQQB-2.1.2.response-address")
_MANAGER = requirement_id("MQQB-2.2.7.qm-guid")
_RESPONSE_MANAGER = requirement_id("MQQB-2.2.7.response-qm-guid")
_NEXT_COOKIE = requirement_id("MQQB-3.1.7.6.cookie")
_IGNORED = requirement_id("MQQB-2.2.7.signature-ignored")


@dataclass(frozen=True, slots=True)
class Answer:
    """The first response to a request."""

    time_ns: int
    refuses: bool


@dataclass(slots=True)
class Request:
    """A Ping request. rc: its RC bit. manager: the queue manager that sent it. host: whom it asks.

    used: a connection was made with it. signed: it has the signature of a ping. fell: its cookie is lower than the one
    before.
    """

    cookie: int
    rc: int
    time_ns: int
    data: bytes
    manager: str
    host: str
    answer: Answer | None = None
    used: bool = False
    signed: bool = True
    fell: bool = False

    def waits(self, now_ns: int) -> bool:
        """Tell whether a response may still come."""
        return self.answer is None and 0 <= now_ns - self.time_ns < _LATE_NS


@dataclass(slots=True)
class Pings:
    """All pings of a capture."""

    _requests: OrderedDict[tuple[Endpoint, str], deque[Request]] = field(default_factory=OrderedDict)
    _latest: OrderedDict[tuple[str, str], Request] = field(default_factory=OrderedDict)  # By the two hosts.
    _cookies: OrderedDict[str, Request] = field(default_factory=OrderedDict)  # By queue manager.
    _managers: OrderedDict[str, tuple[str, Seen]] = field(default_factory=OrderedDict)  # Host to its last response.
    _named: OrderedDict[str, str] = field(default_factory=OrderedDict)  # Host to its GUID by the initialization.

    def watch(self, named: OrderedDict[str, str]) -> None:
        """Keep the names by the initialization in this table."""
        self._named = named

    @property
    def sizes(self) -> dict[str, int]:
        """The entries of each table; of `_named`, which also loses some, those that ever entered it if it counts."""
        return {
            "requests": len(self._requests), "latest": len(self._latest), "cookies": len(self._cookies),
            "managers": len(self._managers), "named": getattr(self._named, "entered", len(self._named)),
        }  # fmt: skip

    @property
    def managers(self) -> frozenset[str]:
        """The queue managers that have sent requests."""
        return frozenset(self._cookies)

    def request_before(self, seen: Seen, notes: Notes) -> Request | None:
        """Return the last request from one host to another if it is recent enough for a connection made now."""
        found = self._latest.get(seen.hosts)
        if found is None or notes.timeless(found.time_ns, seen.time_ns) is not None:
            return None
        return found if 0 <= seen.time_ns - found.time_ns <= _RELATED_NS else None

    def answers_after(self, seen: Seen, answer: Answer) -> bool:
        """Tell whether another response than this one came last from the acceptor to the initiator of a request."""
        _, last = self._managers.get(seen.hosts[1], ("", seen))
        return last.hosts == seen.hosts[::-1] and last.time_ns > answer.time_ns

    @property
    def any(self) -> bool:
        """True when the capture has pings at all."""
        return bool(self._latest)

    def manager_at(self, host: str, time_ns: int) -> str | None:
        """Return the queue manager that answered a ping at this host; None for no recent answer.

        An address can move to another queue manager, as in a cluster.
        """
        found = self._managers.get(host)
        return found[0] if found is not None and 0 <= time_ns - found[1].time_ns <= _RELATED_NS else None

    def misnamed(self, host: str, notes: Notes, named: str) -> None:
        """Blame the last response of a host: a session accepted right after it names another queue manager."""
        manager, response = self._managers[host]
        notes.judge_late(_RESPONSE_MANAGER, False, response, named, manager)
        self._managers[host] = named, response

    def name(self, host: str, manager: str) -> None:
        """Record that the initialization of a session has named the queue manager of a host."""
        self._named[host] = manager
        while len(self._named) > MAX_HOSTS:
            self._named.popitem(last=False)

    def forget(self, host: str, manager: str | None) -> None:
        """Record that a session has ended: its host may now be another queue manager's, as in a cluster."""
        if self._named.get(host) == manager:
            self._named.pop(host, None)

    def see(self, seen: Seen, notes: Notes) -> None:
        """Judge a ping."""
        cookie, rc, refuses = (seen.number(f"Ping.{name}") for name in ("Cookie", "Flags.RC", "Flags.RF"))
        manager = seen.text("Ping.QMGuid")
        if cookie is None or rc is None or refuses is None or manager is None:
            return
        source, destination = seen.frame.source, seen.frame.destination
        if seen.packet.kind != "Ping":
            if destination.port == PING_PORT != source.port:  # It has another signature.
                other = Request(cookie, rc, seen.time_ns, b"", manager, destination.address, signed=False)
                self._requests.setdefault((source, destination.address), deque(maxlen=_KEPT)).append(other)
                self._bound()
            return
        misled = self._misled(seen, cookie)
        answered = (destination, source.address) in self._requests
        if destination.port == PING_PORT and not (source.port == PING_PORT and answered) and not misled:
            request = Request(cookie, rc, seen.frame.time_ns, seen.frame.data, manager, destination.address)
            notes.same(_REQUEST_RF, seen, 0, refuses)
            self._same_manager(_MANAGER, seen, notes, manager)
            self._sequence(seen, notes, manager, request)
            self._requests.setdefault((source, destination.address), deque(maxlen=_KEPT)).append(request)
            self._latest[source.address, destination.address] = request
        else:
            self._same_manager(_RESPONSE_MANAGER, seen, notes, manager)
            self._managers[source.address] = manager, seen.kept()
            self._response(seen, notes, cookie, rc, refuses=bool(refuses))
        self._bound()

    def _bound(self) -> None:
        for table in (self._requests, self._latest, self._cookies, self._managers):
            while len(table) > MAX_HOSTS:
                table.popitem(last=False)

    def _same_manager(self, requirement: str, seen: Seen, notes: Notes, manager: str) -> None:
        named = self._named.get(seen.frame.source.address)
        if named is not None:
            notes.same(requirement, seen, named, manager)

    def _sequence(self, seen: Seen, notes: Notes, manager: str, request: Request) -> None:
        last = self._cookies.get(manager)
        self._cookies[manager] = request
        if last is None or (last.data == request.data and abs(request.time_ns - last.time_ns) < _REPEATED_NS):
            return
        expected = (last.cookie + 1) & 0xFFFFFFFF
        same_host = request.host == last.host
        repeated = request.cookie == last.cookie > 1 and same_host
        soon = 0 <= request.time_ns - last.time_ns < _RELATED_NS
        soon = soon and notes.timeless(last.time_ns, request.time_ns) is None
        request.fell = same_host and soon and 1 < request.cookie < last.cookie
        # A restart begins with 1, and no queue manager is restarted twice within seconds.
        if repeated or (request.fell and last.fell) or request.cookie == expected:
            notes.same(_NEXT_COOKIE, seen, expected, request.cookie)
        else:  # Requests to hosts outside the capture, or a restart or a new session, which may begin with 1 again.
            notes.undecided(_NEXT_COOKIE, seen, "requests between this one and the last may not be in the capture")

    def _misled(self, seen: Seen, cookie: int) -> bool:
        """Tell whether a packet answers a request that came from another port, or from that port of another host."""
        source, client = seen.frame.source, seen.frame.destination
        if source.port != PING_PORT or (client, source.address) in self._requests:
            return False
        here = self._latest.get((client.address, source.address))
        if here is not None and client.port != PING_PORT:
            return here.cookie == cookie
        waiting = [here] if here is not None else self._waiting(source.address, client.port)
        return any(one.cookie == cookie and one.waits(seen.frame.time_ns) for one in waiting)

    def _waiting(self, host: str, port: int) -> list[Request]:
        """Return the last requests to a host that came from this port."""
        if port == PING_PORT:
            return []
        return [asked[-1] for (client, to), asked in self._requests.items() if to == host and client.port == port]

    def _response(self, seen: Seen, notes: Notes, cookie: int, rc: int, *, refuses: bool) -> None:
        host, client = seen.frame.source.address, seen.frame.destination
        asked = self._requests.get((client, host))
        if asked is None:
            if self._misled(seen, cookie):
                notes.judge(_ADDRESS, False, seen, "the port the request came from", client.port)
            else:
                notes.undecided(_COOKIE_ECHO, seen, "the request is not in the capture")
            return
        notes.judge(_ADDRESS, True, seen, client.port, client.port)
        same = [one for one in asked if one.cookie == cookie]
        if not same and not any(one.waits(seen.time_ns) for one in asked):
            notes.undecided(_COOKIE_ECHO, seen, "the request is not in the capture")
            return
        notes.judge(_COOKIE_ECHO, bool(same), seen, asked[-1].cookie, cookie)
        if same:
            notes.same(_RC_ECHO, seen, same[-1].rc, rc)
            signed = any(one.signed for one in same)
            notes.judge(_IGNORED, signed, seen, "no response to a datagram with another signature", "a response")
            same[-1].answer = same[-1].answer or Answer(seen.frame.time_ns, refuses)
