"""Both directions of a dialogue as the events of a capture, so that one judge serves captures and dialogues."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from conformance.capture import Closed, Ended, Endpoint, Event, Frame, Opened, Side, Trouble
from conformance.judge.dialogues.packets import Ends
from conformance.judge.packets.judge import judge_dissected
from conformance.judge.sessions.context import DUTIES, MESSAGES, NOTICED_NS, Readings
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.packets import PING_PORT
from conformance.spec.catalogue import assignment
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet, dissect, frame_length
from conformance.wire.framing import BASE_SIZE

_MS: Final = 1_000_000
_PING_FROM: Final = 49_152


@dataclass(frozen=True, slots=True)
class Said:
    """A packet of a conversation. at_ms: by the driver's clock. ours: this end has sent it. record: of the driver's
    capture, where it keeps one."""

    frame: Frame
    packet: Packet
    at_ms: int
    ours: bool
    record: int | None = None

    @property
    def kind(self) -> str:
        """The kind of packet, as `Packet.kind`."""
        return self.packet.kind

    def number(self, key: str) -> int | None:
        """Return a numeric field; None if it was not decoded."""
        value = self.packet.fields.get(key)
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """Return a text field; None if it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, str) else None

    def sentence(self, number: int) -> str:
        """Say what went where, with which flags and numbers. number: of the packet in its dialogue."""
        place = f"packet {number}" if self.record is None else f"packet {number}, Wireshark frame {self.record}"
        way = f"{self.frame.source} > {self.frame.destination}"
        fields = self.packet.fields
        keys = (key for key in _TOLD if fields.get(key) not in _NO and (fields[key] or "umber" in key))
        told = ", ".join(f"{_TOLD[key]} {_shown(fields[key])}" for key in keys)
        trouble = "" if self.frame.trouble is None else f" ({self.frame.trouble.text})"
        return f"{'sent' if self.ours else 'came'} {place}: {way}: {self.kind}{trouble}{': ' if told else ''}{told}"


_NO: Final = (None, b"", bytes(20), str(UUID(int=0)), 0xFFFFFFFF)
"""Values that a sentence leaves out; of flags and classes, it leaves out 0."""
_TOLD: Final = {
    key: key.rpartition(".")[2] if "Flags" not in key and "System" not in key else key.partition(".")[2]
    for key in (
        *("InternalHeader.Flags.CS", "EstablishConnectionHeader.ServerGuid", "EstablishConnectionHeader.TimeStamp"),
        *(f"EstablishConnectionHeader.OperatingSystem.{bit}" for bit in ("SE", "OS", "QS")),
        *(f"ConnectionParametersHeader.{name}" for name in ("RecoverableAckTimeout", "AckTimeout", "WindowSize")),
        *(f"UserHeader.{name}" for name in ("MessageID", "Flags.DM", "Flags.TH", "Flags.RC", "QueueManagerAddress")),
        *("BaseHeader.TimeToReachQueue", "UserHeader.DestinationQueue.DirectFormatName"),
        *(f"MessagePropertiesHeader.{name}" for name in ("MessageClass", "Flags", "CorrelationID", "Label")),
        *(f"TransactionHeader.{name}" for name in ("TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber")),
        *(f"OrderAckBody.{name}" for name in ("TxSequenceID", "TxSequenceNumber", "TxPreviousSequenceNumber")),
        *(f"FinalAckBody.{name}" for name in ("TxSequenceNumber", "MessageID")),
        *("SessionHeader.AckSequenceNumber", "SessionHeader.RecoverableMsgAckSeqNumber"),
        *("SessionHeader.RecoverableMsgAckFlags", "SessionHeader.UserMsgSequenceNumber"),
        *("SessionHeader.RecoverableMsgSeqNumber", "SessionHeader.WindowSize"),
        *(f"Ping.{name}" for name in ("Flags.RC", "Flags.RF", "Cookie", "QMGuid")),
    )
}
"""The fields that a sentence tells, by key, each with its name there."""


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return value[:24].hex()
    return f"{value:#x}" if isinstance(value, int) and value > 0xFFFF else str(value)


def endpoint(text: str) -> Endpoint:
    """Read `127.0.0.1:1801` or `[::1]:1801`; a missing port is 0."""
    host, colon, port = text.rpartition(":")
    return Endpoint(host.strip("[]"), int(port)) if colon and port.isdecimal() else Endpoint(text, 0)


@dataclass(slots=True)
class Conversation:
    """All packets between this end and an implementation, over some connections. base_ns: time of the driver's 0."""

    base_ns: int
    said: list[Said] = field(default_factory=list)
    _opened: list[Opened] = field(default_factory=list)
    _closed: list[tuple[int, Closed]] = field(default_factory=list)
    _ours: dict[int, Side] = field(default_factory=dict)
    _last_ms: int = 0
    _pings: int = 0

    def lasts_ms(self, now_ms: float) -> int:
        """The time since the first packet of this end: what came may have waited before. now_ms: as for `opened`."""
        now = max(self._last_ms, int(now_ms))
        return now - min((one.at_ms for one in self.said if one.ours), default=now)

    @property
    def inward(self) -> bool:
        """True once a message has come on a session that this end has opened."""
        ours = (one for one in self.said if not one.ours and one.kind in MESSAGES)
        return any(self._ours.get(one.frame.connection or 0) == "initiator" for one in ours)

    def opened(self, role: Side, local: str, remote: str, at_ms: float = 0) -> int:
        """Add a connection; return its number. at_ms: the time by now, as far as this end knows it."""
        number = len(self._opened) + 1
        here, there = endpoint(local), endpoint(remote)
        ends = (here, there) if role == "initiator" else (there, here)
        now_ms = max(self._last_ms, int(at_ms))
        self._opened.append(Opened(number, self._ns(now_ms), *ends, complete=True))
        self._ours[number] = role
        return number

    def sent(self, connection: int, data: bytes, at_ms: int, *, record: int | None = None) -> Said:
        """Add a packet of this end. record: of the driver's capture."""
        return self._add(connection, data, at_ms, ours=True, record=record)

    def received(
        self, connection: int, data: bytes, at_ms: int, *, rest: bool = False, record: int | None = None
    ) -> Said:
        """Add a packet of the implementation. rest: the bytes are no whole packet. record: of the driver's capture."""
        return self._add(connection, data, at_ms, ours=False, rest=rest, record=record)

    def ended(self, connection: int, *, ours: bool, reset: bool = False) -> None:
        """Note who ended a connection, if nobody did before."""
        if any(closed.connection == connection for _, closed in self._closed):
            return
        mine = self._ours[connection]
        by: Side = mine if ours else ("acceptor" if mine == "initiator" else "initiator")
        closed = Closed(connection, self._ns(self._last_ms), by, "rst" if reset else "fin")
        self._closed.append((self._last_ms, closed))

    @property
    def ends_ms(self) -> list[int]:
        """When connections ended, by the last packet that any of them had until then."""
        return [at_ms for at_ms, _ in self._closed]

    def pinged(self, data: bytes, at_ms: int, ends: tuple[str, str]) -> Said:
        """Add a ping of this end. ends: addresses of this end and of the implementation."""
        self._pings += 1
        here, there = Endpoint(ends[0], _PING_FROM + self._pings % 16_000), Endpoint(ends[1], PING_PORT)
        return self._datagram(data, at_ms, here, there, ours=True)

    def answered(self, ping: Said, data: bytes, at_ms: int) -> Said:
        """Add a datagram that came back to the port of a ping."""
        return self._datagram(data, at_ms, ping.frame.destination, ping.frame.source, ours=False)

    def verdicts(self, readings: Readings, profile: str, *, of_ours: bool = False) -> Iterator[Verdict]:
        """Yield the verdicts that concern the implementation, or those of this end. See `judged`."""
        return (verdict for ours, verdict in self.judged(readings, profile) if ours == of_ours)

    def judged(self, readings: Readings, profile: str) -> Iterator[tuple[bool, Verdict]]:
        """Judge everything by the rules of packets and of sessions; yield verdicts, and whether they concern this end.

        What the rules could not decide is among them, with its reason.
        """
        judge = SessionJudge(readings)
        ours = {}
        for event in self._events():
            packet = None
            if isinstance(event, Frame):
                at = self._index[event.number]
                packet, ours[event.number] = self.said[at].packet, self.said[at].ours
            for verdict in judge.feed(event, packet):
                yield self._of_ours(verdict, ours), verdict
            if packet is None or not isinstance(event, Frame):
                continue
            if event.transport == "tcp" and event.trouble is None:
                of_packet = _alone(packet, f"frame {event.number}", readings, profile)
                yield from ((ours[event.number], verdict) for verdict in of_packet)

    @property
    def _order(self) -> list[int]:
        return sorted(range(len(self.said)), key=lambda at: (self.said[at].at_ms, at))

    def numbers(self) -> dict[int, int]:
        """Return the number of each packet, as `judged` has it, by its place in `said`."""
        return {at: number for number, at in enumerate(self._order, 1)}

    def at(self, frame: int | None) -> Said | None:
        """Return the packet that `judged` has given this number."""
        return self.said[self._index[frame]] if frame in self._index else None

    @staticmethod
    def _of_ours(verdict: Verdict, ours: dict[int, bool]) -> bool:
        of_ours = verdict.frame is not None and ours.get(verdict.frame, False)
        duty = verdict.requirement.endswith(DUTIES) and verdict.outcome in (Outcome.PASS, Outcome.INCONCLUSIVE)
        return of_ours != duty

    def _events(self) -> Iterator[Event]:
        """Yield the events by their times. Packets are numbered in this order."""
        order = self._order
        closed = list(self._closed)
        begun = [(self._begun(event), event) for event in self._opened]
        opened = [
            (at_ms, replace(event, time_ns=self._ns(at_ms) - self._unnoticed_ns(event)))
            for at_ms, event in sorted(begun, key=lambda one: one[0])
        ]
        seen: dict[int, dict[bool, int]] = {}
        self._index.clear()
        for number, at in enumerate(order, 1):
            one = self.said[at]
            while opened and (opened[0][1].connection == one.frame.connection or opened[0][0] <= one.at_ms):
                yield opened.pop(0)[1]
            streams = seen.setdefault(one.frame.connection or 0, {True: 0, False: 0})
            heard = 0 if one.frame.connection is None else streams[not one.ours]
            offset = 0 if one.frame.connection is None else streams[one.ours]
            frame = replace(one.frame, number=number, record=number, offset=offset, heard=heard)
            streams[one.ours] += len(frame.data)
            self._index[number] = at
            yield frame
        yield from (event for _, event in opened)
        yield from (event for _, event in closed)
        yield Ended(len(order), ())

    _index: dict[int, int] = field(default_factory=dict)

    def _add(
        self, connection: int, data: bytes, at_ms: int, *, ours: bool, rest: bool = False, record: int | None = None
    ) -> Said:
        opened = self._opened[connection - 1]
        mine = self._ours[connection]
        side: Side = mine if ours else ("acceptor" if mine == "initiator" else "initiator")
        ends = (opened.initiator, opened.acceptor)
        source, destination = ends if side == "initiator" else ends[::-1]
        trouble = _trouble(data, rest)
        frame = Frame(0, 0, self._ns(at_ms), source, destination, "tcp", data, connection, side, trouble=trouble)
        return self._keep(Said(frame, dissect(data), at_ms, ours, record))

    def _datagram(self, data: bytes, at_ms: int, source: Endpoint, destination: Endpoint, *, ours: bool) -> Said:
        frame = Frame(0, 0, self._ns(at_ms), source, destination, "udp", data)
        return self._keep(Said(frame, dissect(data, transport="udp"), at_ms, ours))

    def _keep(self, said: Said) -> Said:
        self.said.append(said)
        self._last_ms = max(self._last_ms, said.at_ms)
        return said

    def _begun(self, event: Opened) -> int:
        """Return when a connection was there, in milliseconds: it may have waited before this end took it."""
        noticed = (event.time_ns - self.base_ns) // _MS
        return min([noticed, *(one.at_ms for one in self.said if one.frame.connection == event.connection)])

    def _unnoticed_ns(self, event: Opened) -> int:
        """Return how long a connection may have been there before: one of the implementation waits to be taken."""
        return NOTICED_NS if self._ours[event.connection] == "acceptor" else 0

    def _ns(self, at_ms: int) -> int:
        return self.base_ns + at_ms * _MS


def ruled(data: bytes) -> tuple[str, ...]:
    """Return the requirements that rules judge of a packet by itself, for one like this."""
    found = _alone(dissect(data), "", assignment("windows"), "msmq-4.0")
    return tuple(dict.fromkeys(verdict.requirement for verdict in found))


def _alone(packet: Packet, subject: str, readings: Readings, profile: str) -> Iterator[Verdict]:
    evidence = Evidence("packet", subject, {"packet": packet.data.hex()})
    yield from judge_dissected(
        packet, profile=profile, readings=readings, transport="tcp", level="may", subject=subject, evidence=evidence
    )


def _trouble(data: bytes, rest: bool) -> Trouble | None:
    if len(data) < BASE_SIZE:
        return Trouble("ended", "the sender closed within a header")
    found = frame_length(data[:BASE_SIZE]).trouble
    if found is not None:
        return Trouble("packet-size" if found.code == "packet-size" else "no-header", found.says)
    return Trouble("ended", "the sender closed within a packet") if rest else None


REACHED: Final = 0x0002  # MQMSG_CLASS_ACK_REACH_QUEUE, MS-MQMQ 2.2.18.1.6
_CLASS: Final = "MessagePropertiesHeader.MessageClass"
_CORRELATION: Final = "MessagePropertiesHeader.CorrelationID"


def class_of(one: Said) -> int | None:
    """Return the class of a message."""
    return one.number(_CLASS)


def correlates(one: Said, ends: Ends) -> int | None:
    """Return the identifier of the message of this end that an acknowledgment names; None if it names none."""
    found = one.packet.fields.get(_CORRELATION)
    if not isinstance(found, bytes) or found[:16] != UUID(ends.client).bytes_le or len(found) < 20:
        return None
    return int.from_bytes(found[16:20], "little")
