"""Judges pings: requests, responses, and the relation to EstablishConnection packets (MS-MQQB 2.2.7)."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from conformance.capture import Endpoint
from conformance.judge.sessions.context import MAX_HOSTS, Notes, Seen
from conformance.spec.catalogue import requirement_id

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
