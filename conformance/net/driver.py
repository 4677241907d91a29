"""The facet `sessions` of the adapter protocol, played on a real network: `wire:HOST` as a driver in our process."""

from __future__ import annotations

import socket
import struct
import threading
import time
import uuid
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from conformance import __version__
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.host import MethodNotFound
from conformance.capture.recording_mark import OwnEnd
from conformance.net.addresses import Place, Target
from conformance.net.ends import (
    MAX_MESSAGE_S,
    PER_SECOND,
    Arrived,
    Ends,
    NotConnectedError,
    Pace,
    Session,
    Sort,
    TooManyError,
    packets_in,
    ping,
    refusal,
)
from conformance.net.proxy import Recording
from conformance.net.rpc.binding import RpcError
from conformance.net.rpc.finding import found_plane
from conformance.net.rpc.plane import Plane
from conformance.net.rpc.sending import Sender
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE,
)
from conformance.wire import dissect, encode, frame_length
from conformance.wire.framing import BASE_SIZE

PROTOCOL = "1.4"  # The first version that has all that is offered.
_METHODS = ("about", "open", "send", "received", "close", "ping")
_DEADLINE_MS = 10_000
_BEFORE_MS = 300  # A call that waits answers so long before its deadline.
_REACH_S = 5.0
_LISTENERS = 12  # Addresses of this machine that are tried for a listener.
_CLOCKS = 15  # Messages of the host that tell its clock.
_APART_S = 2.5  # Clocks that differ by less are the same: times of messages are whole seconds.
_EARLIEST_S = 1_000_000_000  # No host is set to a time before 2001.
_PING = struct.Struct("<HHI16s")  # MS-MQQB 2.2.7: flags, signature, cookie, queue manager.
_PING_SIGNATURE, _RC = 0x5548, 1
_REACHED = "nothing speaks TCP at {}: {} Start the server, name its port with ?qm=PORT, or open its firewall."
_NO_ANSWER = "{} {} where a session was begun: is it a queue manager of MSMQ?"

_PACES: dict[str, Pace] = {}
"""The pace of all our drivers together, by host."""

Params = Mapping[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """The owner's words about a host.

    qm, ping, peer: ports of its sessions and pings, and the one it connects to. rpc: of its calls; None to ask its
    endpoint mapper. timers_ms: by name of MS-MQQB 3.1.2. consumes_ms: by queue, when a message is received. listeners:
    our addresses, none to choose one. others: addresses from which it connects beside the one it has. replies: queues
    whose messages are answered to their response queues.
    reports: identifier of a public queue that its directory has at our address; None without one. settings: what it is
    set up with, as `sessions.about` has it: `ack_timeout_ms`, `window_size`, `server_class`.
    """

    qm: int
    ping: int
    peer: int
    queues: tuple[str, ...]
    timers_ms: Mapping[str, int]
    consumes_ms: Mapping[str, int]
    packets: Sort
    profile: str
    listeners: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    reports: str | None = None
    settings: Mapping[str, int] = field(default_factory=dict)
    rpc: int | None = None

    def stranger(self, addresses: tuple[str, ...], host: str) -> str | None:
        """Return what connections from addresses that nobody named mean, as a sentence; None without any."""
        if not addresses:
            return None
        known = " and ".join((host, *self.others))
        return (
            f"{', '.join(addresses)} connected to us and was turned away, because only {known} is expected: if it is"
            f" the same server, name it with ?from={addresses[0]}"
        )


@dataclass(slots=True)
class WireDriver:
    """See `conformance.adapter.host.Driver`. Made by `opened`.

    without: why there is no plane of remote read. count: of calls. pings: that were answered; rc: a bit of the last.
    """

    target: Target
    declared: Declared
    ends: Ends
    listener: str
    recording: Recording | None = None
    pace: Pace = field(default_factory=Pace)
    plane: Plane | None = None
    without: str = ""
    count: int = 0
    manager: uuid.UUID = field(default_factory=uuid.uuid4)
    sessions: dict[str, Session] = field(default_factory=dict)
    pings: int = 0
    rc: bool = False
    ahead_s: deque[float] = field(default_factory=lambda: deque(maxlen=_CLOCKS))

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        """Answer one request."""
        calls: dict[str, Callable[[Params], Result]] = {
            "hello": self._hello,
            "stop": self._stop,
            "sessions.about": self._about,
            "sessions.open": self._open,
            "sessions.send": self._send,
            "sessions.received": self._received,
            "sessions.close": self._close,
            "sessions.ping": self._ping,
        }
        self.count += 1
        call = calls.get(method)
        if call is None:
            if self.plane is None or method not in self.plane.calls():
                raise MethodNotFound
            self.plane.handle(method, params, self.count, reply)
            return
        reply(call(params))

    @property
    def several(self) -> bool:
        """True if another driver may stand beside this one: a host tells ours apart by their addresses."""
        return len(_addresses(self.target, self.declared)) > 1

    def close(self) -> None:
        """Close every connection and the recording."""
        if self.plane is not None:
            with suppress(RpcError):
                self.plane.close()
        _shut(self.ends, self.recording)

    def _hello(self, params: Params) -> Result:
        plane = {} if self.plane is None else self.plane.hello()
        facets: dict[str, list[str]] = {"manager": ["hello", "stop"], "sessions": list(_METHODS)}
        for name in () if self.plane is None else self.plane.calls():
            facet, _, method = name.rpartition(".")
            facets.setdefault(facet or "manager", []).append(method)
        return {
            "status": 0,
            "protocol": PROTOCOL if PROTOCOL in params["versions"] else params["versions"][0],
            "name": f"wire:{self.target.word}",
            "version": __version__,
            "profile": self.declared.profile,
            "computer": self.target.address,
            "facets": facets,
            "clock": "real",
            "slack_ms": 500 if self.target.loopback else 2_000,
            **plane,
        }

    def _stop(self, params: Params) -> Result:
        for session in self.sessions.values():
            self.ends.close(session, "close")
        self.sessions.clear()
        return {"status": 0}

    def _about(self, params: Params) -> Result:
        declared = self.declared
        now = {} if (now_ms := self._now_ms()) is None else {"now_ms": now_ms}
        return {
            **now,
            "status": 0,
            "host": self.target.address,
            "listener": self.listener,
            "queues": [f"private$\\{queue}" for queue in declared.queues],
            "timers_ms": dict(declared.timers_ms),
            "consumes_ms": dict(declared.consumes_ms),
            "replies": list(declared.replies),
            **({} if declared.reports is None else {"reports": declared.reports}),
            **declared.settings,
            "max_message_ms": MAX_MESSAGE_S * 1000,
            "packets": declared.packets,
        }

    def _now_ms(self) -> int | None:
        """Return the host's time, if its messages show that it is not ours: the median, as one may be late or wrong."""
        apart = median(self.ahead_s) if self.ahead_s else 0.0
        now_s = time.time() + apart
        return int(now_s * 1000) if abs(apart) > _APART_S and now_s > _EARLIEST_S else None

    def _look_at_clock(self, arrived: Arrived) -> None:
        """Note by how much the SentTime of a message, in whole seconds, is ahead of when it came."""
        sent = None if arrived.rest else dissect(arrived.data, transport="tcp").fields.get("UserHeader.SentTime")
        if isinstance(sent, int):
            came = time.time() - (self.ends.now_ms() - arrived.at_ms) / 1000
            self.ahead_s.append(sent + 0.5 - came)

    def _open(self, params: Params) -> Result:
        within = _within_s(params)
        heard = False
        try:
            if params["role"] == "initiator":
                place = Place(self.target.address, self.declared.qm)
                session: Session | None = self.ends.connect(place, within, params.get("address"))
            else:
                host = params.get("address", self.listener)
                with self._answering(host) if params.get("ping") else nullcontext(False) as heard:
                    session = self.ends.accept(host, within)
        except NotConnectedError:
            return {"status": MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE}
        except TooManyError as error:
            return _not_expressible(str(error))
        strangers = self.ends.strangers() if params["role"] == "acceptor" else ()
        if session is None:
            why = self.declared.stranger(strangers, self.target.address)
            return {"status": MQ_ERROR_IO_TIMEOUT} if why is None else _not_expressible(f"{why}.")
        name = f"S{session.number}"
        self.sessions[name] = session
        came = {"pings": self.pings} if heard else {}
        came |= {"last_ping_rc": self.rc} if heard and self.pings else {}
        return {"status": 0, "session": name, "local": str(session.local), "remote": str(session.remote), **came}

    def _send(self, params: Params) -> Result:
        session = self.sessions.get(params["session"])
        if session is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        data = b64decode(params["bytes"])
        why = refusal(data, self.target, self.declared.packets)
        if why is not None:
            return _not_expressible(f"This would send {why}.")
        if not self.target.loopback:
            packets = packets_in(data)
            if packets > PER_SECOND * _within_s(params):
                return _not_expressible(
                    f"{packets} packets at once take longer than the call may, at {PER_SECOND} a second."
                )
            self.pace.wait(packets)
        gap_s = params.get("gap_ms", 0) / 1000
        try:
            at_ms = self.ends.send(session, data, tuple(params.get("pieces", ())), gap_s, _within_s(params))
        except NotConnectedError:
            return {"status": MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE}
        return {"status": 0, "at_ms": int(at_ms), **_record_of(session.sent)}

    def _received(self, params: Params) -> Result:
        session = self.sessions.get(params["session"])
        if session is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        wait_s = min(params["wait_ms"] / 1000, _within_s(params))
        packets, ended = self.ends.received(session, wait_s, params.get("packets", 1))
        for each in packets[-_CLOCKS:]:
            self._look_at_clock(each)
        return {"status": 0, "packets": [_packet(each) for each in packets], "ended": ended}

    def _close(self, params: Params) -> Result:
        session = self.sessions.get(params["session"])
        if session is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        self.ends.close(session, params["how"])
        if params["how"] != "half":
            del self.sessions[params["session"]]
        return {"status": 0}

    def _ping(self, params: Params) -> Result:
        data = b64decode(params["bytes"])
        if not self.target.loopback:
            self.pace.wait()
        place = Place(self.target.address, self.declared.ping)
        wait_s = min(params["wait_ms"] / 1000, _within_s(params))
        try:
            answers = ping(place, data, wait_s, source=self.listener, recording=self.recording, now_ms=self.ends.now_ms)
        except OSError:
            return {"status": MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE}
        return {"status": 0, "answers": [{"bytes": _text(each.data), "at_ms": int(each.at_ms)} for each in answers]}

    @contextmanager
    def _answering(self, host: str) -> Iterator[bool]:
        """Answer pings of the host while the context lasts; False when the port is taken: somebody else does."""
        ours = socket.socket(self.target.family, socket.SOCK_DGRAM)
        try:
            ours.bind((host, self.declared.ping))
        except OSError:
            ours.close()
            yield False
            return
        ours.settimeout(0.05)
        over = threading.Event()
        answering = threading.Thread(target=self._answer, args=(ours, over), daemon=True)
        answering.start()
        try:
            yield True
        finally:
            over.set()
            answering.join()
            ours.close()

    def _answer(self, ours: socket.socket, over: threading.Event) -> None:
        while not over.is_set():
            try:
                data, peer = ours.recvfrom(65_535)
            except OSError:
                continue
            if len(data) != _PING.size or not (
                self.target.loopback or peer[0] in (self.target.address, *self.declared.others)
            ):
                continue
            flags, signature, cookie, _ = _PING.unpack(data)
            if signature != _PING_SIGNATURE:
                continue
            self.pings, self.rc = self.pings + 1, bool(flags & _RC)
            answer = _PING.pack(flags & _RC, _PING_SIGNATURE, cookie, self.manager.bytes_le)
            local = ours.getsockname()[:2]
            if self.recording is not None:
                self.recording.datagram(peer[:2], local, data)
                self.recording.datagram(local, peer[:2], answer, answer=True)
            with suppress(OSError):
                ours.sendto(answer, peer)


def opened(target: Target, declared: Declared, record: Path | None, *, greet: bool = True) -> WireDriver:
    """Look whether a queue manager can be reached, listen for it, and return its driver.

    record: where the recording goes. greet: a packet of MSMQ must answer the begin of a session, which is not
    recorded; else a port that is open is enough. Raises DriverUnusable, and ConnectorError for the listener of another
    machine.
    """
    for ours in declared.listeners:
        _require_ours(ours, target)
    place = Place(target.address, declared.qm)
    try:
        socket.create_connection(place.pair, _REACH_S).close()
    except OSError as error:
        why = f"{error.strerror or error}.".replace("..", ".")
        raise DriverUnusable(_REACHED.format(place, why[0].upper() + why[1:])) from None
    if greet:
        _greet(place, next(iter(declared.listeners), None))
    recording = None
    if record is not None:
        try:
            comment = f"wire:{target.word}: sessions at port {declared.qm}"
            recording = Recording(record, comment=comment, own=OwnEnd("client", target.address))
        except OSError as error:
            raise DriverUnusable(f"the recording {record} cannot be written ({error.strerror})") from None
    ends = Ends(recording)
    listener = _listen(ends, target, declared)
    if listener is None:
        _shut(ends, recording)
        where = " and of ".join(declared.listeners) or "any of our addresses"
        raise DriverUnusable(
            f"port {declared.peer} of {where} is taken, where {target.word} would connect to: end what listens there, "
            "or name an address of this machine with ?listener=ADDRESS"
        )
    pace = _PACES.setdefault(target.address, Pace())
    plane, without = None, ""
    try:
        sender = Sender(ends, place, listener, None if target.loopback else pace)
        plane = found_plane(target.address, declared.rpc, sender, declared.queues, listener)
    except RpcError as error:
        without = str(error)
        if declared.rpc is not None:
            _shut(ends, recording)
            raise DriverUnusable(without) from None
    return WireDriver(target, declared, ends, listener, recording, pace, plane, without)


def _require_ours(listener: str, target: Target) -> None:
    """Look that an address is one of this machine. Raises ConnectorError."""
    with socket.socket(target.family, socket.SOCK_DGRAM) as trying:
        try:
            trying.bind((listener, 0))
        except OSError as error:
            why = f"listener={listener} is no address of this machine, at which {target.word} would connect to us"
            raise ConnectorError(f"{why} ({error.strerror})") from None


def _greet(place: Place, source: str | None) -> None:
    """Begin a session, and leave it once a packet has come, right or wrong. Raises DriverUnusable."""
    head = "EstablishConnectionHeader."
    values: dict[str, int | str | bytes | bool] = {
        f"{head}ClientGuid": str(uuid.uuid4()),
        f"{head}OperatingSystem.RE": 0x10,
        f"{head}Padding": bytes(512),
    }
    ends = Ends()
    try:
        session = ends.connect(place, _REACH_S, source)
        ends.send(session, encode("EstablishConnection", values), (), 0.0, _REACH_S)
        packets, ended = ends.received(session, _REACH_S, 1)
    except NotConnectedError as error:
        raise DriverUnusable(str(error)) from None
    finally:
        ends.end()
    if not any(frame_length(each.data[:BASE_SIZE]).trouble is None for each in packets if len(each.data) >= BASE_SIZE):
        what = (
            f"sent bytes that are no packet ({packets[0].data[:16].hex(' ')})"
            if packets
            else f"said nothing within {_REACH_S:g} s" if ended is None else f"has {ended} the connection"
        )  # fmt: skip
        raise DriverUnusable(_NO_ANSWER.format(place, what))


def _listen(ends: Ends, target: Target, declared: Declared) -> str | None:
    """Listen for connections of the host. Returns the address; None when none is free."""
    allowed = frozenset({target.address, *declared.others})
    for address in _addresses(target, declared):
        try:
            if target.loopback:
                allowed |= {"127.0.0.1", "::1", address}
            return ends.listen(Place(address, declared.peer), allowed).host
        except OSError:
            continue
    return None


def _addresses(target: Target, declared: Declared) -> Sequence[str]:
    return declared.listeners or _ours(target)


def _ours(target: Target) -> list[str]:
    """Return addresses of this machine at which the host can reach us, the best first. Sends nothing."""
    if target.loopback:
        return [f"127.0.0.{last}" for last in range(2, 2 + _LISTENERS) if f"127.0.0.{last}" != target.address]
    with socket.socket(target.family, socket.SOCK_DGRAM) as asking:
        asking.connect((target.address, 9))
        return [asking.getsockname()[0]]


def _shut(ends: Ends, recording: Recording | None) -> None:
    with suppress(OSError):
        ends.end()
    if recording is not None:
        recording.close()


def _within_s(params: Params) -> float:
    deadline: int = params.get("deadline_ms", _DEADLINE_MS)
    return max(deadline - _BEFORE_MS, deadline / 2) / 1000


def _not_expressible(text: str) -> Result:
    return {"status": None, "failure": {"kind": "NotExpressible", "text": text}}


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _record_of(record: int | None) -> Result:
    return {} if record is None else {"record": record}


def _packet(arrived: Arrived) -> Result:
    told: Result = {"bytes": _text(arrived.data), "at_ms": int(arrived.at_ms), **_record_of(arrived.record)}
    return {**told, "rest": True} if arrived.rest else told
