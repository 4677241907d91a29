"""Connections of the tester: what is sent, read and acknowledged on each, its time, and its limits of memory."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, Final, Literal

from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Conversation, Said
from conformance.judge.sessions.context import MESSAGES
from conformance.judge.sessions.flow_steps import SLACK_MS

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Clock, Port

SLICE_MS: Final = 50
"""How long one look at a connection lasts when nothing comes."""
MOST_PACKETS: Final = 1_024
MOST_BYTES: Final = 4 << 20
"""Packets that an implementation may send in one dialogue. The longest one is answered by some hundred packets."""

_BUSY_MS: Final = 250
"""An idle machine is not so late in a dialogue."""
BUSY: Final = "this machine was busy: mqconform itself was late, so that a time shows nothing"


@dataclass(slots=True)
class Timing:
    """The time of a dialogue, by the driver's clock as far as answers show it, and how late this end was itself.

    waited_ms: what this end asked its calls to wait. over_ms, worst_ms: how much longer they took, in all and at most.
    """

    clock: Clock
    now_ms: float = 0
    waited_ms: float = 0
    over_ms: float = 0
    worst_ms: float = 0

    def seen(self, at_ms: float) -> None:
        """Take over a time that the driver tells."""
        self.now_ms = max(self.now_ms, at_ms)

    def waited(self, asked_ms: float, began: float, *, in_vain: bool) -> None:
        """Take over a call that had to wait. began: by the clock. in_vain: nothing came, so that the time is over."""
        took_ms = (self.clock.monotonic() - began) * 1000
        over_ms = max(0.0, took_ms - asked_ms)
        self.waited_ms += asked_ms
        self.over_ms += over_ms
        self.worst_ms = max(self.worst_ms, over_ms)
        if in_vain:  # A peer of this process may wait without taking any time.
            self.now_ms += took_ms if took_ms >= 1 else asked_ms

    @property
    def busy(self) -> bool:
        """True once this end was so late itself that what came late shows nothing."""
        return self.worst_ms >= _BUSY_MS or (self.over_ms >= _BUSY_MS and self.over_ms * 4 >= self.waited_ms)


class Flooded(Exception):
    """More has come than a dialogue keeps; the message is a reason."""


class Interleaved(Exception):
    """This end was to break its own stream, which is a defect of it."""


class Patience:
    """A time that runs down while a link is read: by the looks that bring nothing, and by the driver's clock when
    something comes. So a peer that never stops sending does not stop the time, and a recording takes the same turns.
    """

    def __init__(self, ms: int) -> None:
        self.left = ms
        self._at_ms: int | None = None

    def silent(self, ms: int = SLICE_MS) -> None:
        """Let a time pass in which nothing came."""
        self.left -= ms
        if self._at_ms is not None:
            self._at_ms += ms

    def heard(self, came: Iterable[Said]) -> None:
        """Let the time pass until the newest of these came. The first ones may have waited, and only begin to count."""
        newest = max(one.at_ms for one in came)
        if self._at_ms is None:
            self._at_ms = newest
        elif newest > self._at_ms:
            self.left -= newest - self._at_ms
            self._at_ms = newest


class Allowance:
    """Counts what comes in a dialogue."""

    def __init__(self) -> None:
        self._packets = self._bytes = 0

    def take(self, data: bytes) -> None:
        """Count a packet. Raises Flooded once it is one too many."""
        self._packets += 1
        self._bytes += len(data)
        if self._packets > MOST_PACKETS or self._bytes > MOST_BYTES:
            raise Flooded(
                f"flooded: more than {self._packets - 1} packets or {MOST_BYTES >> 20} MiB came in one dialogue"
            )


_NEVER_MS: Final = 0xFFFFFFFF
_FLAGS: Final = 32
"""Recoverable messages that one acknowledgment can mark."""
_ACKNOWLEDGES = "SessionHeader.AckSequenceNumber"


@dataclass(slots=True)
class Link:
    """A connection. acknowledged: the numbers of recoverable messages that the other end has acknowledged.

    counted: the number of messages that it has counted last. owed: numbers of recoverable messages that this end has to
    acknowledge; counts: of all messages, when each of these came. opened: the handshake is done. allowance, timing: of
    the dialogue. times_ms: RecoverableAckTimeout and AckTimeout; due_ms: when this end acknowledges by them; since_ms:
    from when on; most_ms: or so long after a message, if that is sooner.
    asked_ms: when the last packet was sent; active_ms: when the session was opened, or the last message went over it,
    all by the driver's clock. made_ms: when this end took the connection over; unattended: a message had waited then.
    released: the driver has let its end go. tail: the rest of a packet that is held back.
    trip_ms: how long the last answer took. window: that of this end; peer_window: that of the other one, which sends
    as many messages unacknowledged.
    skewed: by some reading both ends count what was sent here differently. This end states no counts then, which would
    close the session (3.1.5.5.5). hurried: it acknowledged before its timer, because it closed.
    """

    mq: Port
    conversation: Conversation
    session: Any
    connection: int
    role: Literal["initiator", "acceptor"]
    allowance: Allowance
    timing: Timing
    most_ms: int = _NEVER_MS
    times_ms: tuple[int, int] = (500, 20_000)
    due_ms: float | None = None
    since_ms: float | None = None
    asked_ms: int = 0
    active_ms: float = 0
    made_ms: float = 0
    unattended: bool = False
    tail: bytes = b""
    window: int = 64
    peer_window: int = 64
    trip_ms: int = 0
    skewed: bool = False
    hurried: bool = False
    _record: int | None = None
    opened: bool = False
    ended: str | None = None
    released: bool = False
    sent: int = 0
    sent_recoverable: int = 0
    received: int = 0
    received_recoverable: int = 0
    owed: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    answered: int = 0
    counted: int = 0
    acknowledged: list[int] = field(default_factory=list)
    heard: list[Said] = field(default_factory=list)

    def send(
        self, data: bytes, *, pieces: tuple[int, ...] = (), message: bool = False, kept: bool = False
    ) -> Said | None:
        """Send a packet; None if the connection has ended. message: it is counted. kept: as a recoverable one, too.

        Raises Interleaved behind a part of a packet: nothing on a connection overtakes anything (TCP).
        """
        if self.tail:
            raise Interleaved(f"{len(self.tail)} bytes of a packet are held back, and another packet was to be sent")
        if self.ended is not None or not self._write(data, pieces).ok:
            return None
        return self._sent(data, message=message, kept=kept)

    def begin(self, data: bytes, size: int) -> Result:
        """Send so many bytes of a packet, and hold back the others: whatever is sent later waits behind them."""
        result = self._write(data[:size])
        self.tail = data[size:] if result.ok else b""
        return result

    def finish(self, data: bytes, *, message: bool = False, kept: bool = False) -> Said | None:
        """Send the rest of a packet that was held back. data: all of it."""
        tail, self.tail = self.tail, b""
        return self._sent(data, message=message, kept=kept) if self._write(tail).ok else None

    def _write(self, data: bytes, pieces: tuple[int, ...] = ()) -> Result:
        params: dict[str, Any] = {"session": self.session, "bytes": base64.b64encode(data).decode("ascii")}
        if pieces:
            params |= {"pieces": list(pieces), "gap_ms": 1}
        result = self.mq.call("sessions.send", **params)
        if result.ok:
            self.asked_ms, self._record = int(result.values["at_ms"]), result.values.get("record")
            self.timing.seen(self.asked_ms)
        return result

    def _sent(self, data: bytes, *, message: bool, kept: bool) -> Said:
        self.sent += message
        self.sent_recoverable += kept
        if message:
            self.active_ms = self.asked_ms
        said = self.conversation.sent(self.connection, data, self.asked_ms, record=self._record)
        self.window = said.number("ConnectionParametersHeader.WindowSize") or self.window
        return said

    def read(self, wait_ms: int) -> list[Said]:
        """Return what comes in this time, as soon as anything does. Raises Flooded when it is too much."""
        if self.ended is not None:
            return []
        began = self.timing.clock.monotonic()
        result = self.mq.call("sessions.received", session=self.session, wait_ms=wait_ms)
        if not result.ok:
            self.end("closed")
            return []
        came = [self._take(one) for one in result.values["packets"]]
        if result.values["ended"] is not None:
            self.end(result.values["ended"])
        self.timing.waited(wait_ms, began, in_vain=not came and self.ended is None)
        return came

    def end(self, how: str) -> None:
        """Note that the other end has closed."""
        self.ended = how
        self.conversation.ended(self.connection, ours=False, reset=how == "reset")

    def close(self, how: str = "close") -> None:
        """Close this end; the other one is no longer read. A driver holds a session until then, whoever ended it."""
        if not self.released:
            self.released = True
            self.mq.call("sessions.close", session=self.session, how=how)
        if self.ended is None:
            self.conversation.ended(self.connection, ours=True, reset=how == "reset")
            self.ended = "ours"

    @property
    def stuck(self) -> bool:
        """True when the other end may send nothing before an acknowledgment that this end cannot state, or has ended
        the session for want of it."""
        return self.skewed and self.ended != "ours" and self.full

    @property
    def full(self) -> bool:
        """True when the other end has sent as much as a window lets it (MS-MQQB 3.1.7.1: its own one)."""
        return self.received - self.answered >= min(self.window, self.peer_window)

    def session_ack(self, received: int, lowest: int = 0, flags: int = 0) -> bytes:
        """Return a SessionAck with the counts and the window of this end (MS-MQQB 3.1.6.4)."""
        return packets.session_ack(received, lowest, flags, self.sent, self.sent_recoverable, self.window)

    def acknowledge(self, *, now: bool = False, last: bool = False) -> None:
        """Acknowledge what has come once it is due (MS-MQQB 3.1.2.5, 3.1.6.4), or now. last: before this end closes.

        What is held back goes first; nothing on a connection overtakes it.
        """
        if self.received == self.answered or self.ended is not None or self.tail or (self.skewed and not last):
            return
        if not (now or last) and self.due_ms is not None and self.timing.now_ms < self.due_ms:
            return
        while len(self.owed) > _FLAGS:  # The next one makes an acknowledgment due (3.1.5.8.7).
            self.answered = self.counts[_FLAGS]
            self.send(self.session_ack(self.answered, *self.marks))
            del self.owed[:_FLAGS], self.counts[:_FLAGS]
            self.since_ms = self.timing.now_ms
            self.due_ms = self.since_ms + min(self.times_ms[0], self.most_ms)
        if last:
            self._await_timer()
            self.hurried |= self.due_ms is not None and self.timing.now_ms < self.due_ms
        elif self.due_ms is not None and self.timing.now_ms < self.due_ms and not now:
            return
        self.send(self.session_ack(self.received, *self.marks))
        self.answered, self.due_ms, self.since_ms = self.received, None, None
        self.owed.clear()
        self.counts.clear()

    def _await_timer(self) -> None:
        """Wait as long as the shorter timer, as no acknowledgment comes sooner (2.2.2.1), and no longer than is due."""
        while self.ended is None and self.since_ms is not None and self.due_ms is not None:
            soonest_ms = self.since_ms + min(self.times_ms[0], self.most_ms)
            left_ms = min(soonest_ms, self.due_ms) - self.timing.now_ms
            if left_ms <= 0:
                return
            try:
                self.read(ceil(left_ms))
            except Flooded:
                return

    @property
    def marks(self) -> tuple[int, int]:
        """RecoverableMsgAckSeqNumber and RecoverableMsgAckFlags of what is owed, as far as there is a flag for it."""
        return self.marks_of(self.owed)

    @staticmethod
    def marks_of(numbers: Sequence[int]) -> tuple[int, int]:
        """RecoverableMsgAckSeqNumber and RecoverableMsgAckFlags of these recoverable messages, in their order."""
        lowest = numbers[0] if numbers else 0
        return lowest, sum(1 << number - lowest for number in numbers[:_FLAGS])

    def _owe(self, at_ms: float, *, recoverable: bool) -> None:
        """Start the Session Ack Send Timer, or restart it for the first recoverable message (3.1.5.8.2, 3.1.5.8.7)."""
        if len(self.owed) > _FLAGS or self.full:
            self.due_ms = at_ms
        elif self.due_ms is None or (recoverable and len(self.owed) == 1):
            ms = self.times_ms[0] if recoverable else self.times_ms[1] // 2
            self.due_ms, self.since_ms = at_ms + min(ms, self.most_ms), at_ms

    def _take(self, raw: Any) -> Said:
        data, rest = base64.b64decode(raw["bytes"]), bool(raw.get("rest"))
        self.allowance.take(data)
        said = self.conversation.received(self.connection, data, int(raw["at_ms"]), rest=rest, record=raw.get("record"))
        self.heard.append(said)
        self.timing.seen(said.at_ms)
        if said.kind == "ConnectionParameters":
            names = ("RecoverableAckTimeout", "AckTimeout")
            times = (said.number(f"ConnectionParametersHeader.{name}") or 0 for name in names)
            self.times_ms, self.active_ms = (next(times), next(times)), said.at_ms
            self.peer_window = said.number("ConnectionParametersHeader.WindowSize") or self.peer_window
        if said.kind in MESSAGES:
            self.unattended |= said.at_ms + SLACK_MS < self.made_ms
            self.received += 1
            self.active_ms = said.at_ms
            recoverable = bool(said.number("UserHeader.Flags.DM"))
            if recoverable:
                self.received_recoverable += 1
                self.owed.append(self.received_recoverable)
                self.counts.append(self.received)
            self._owe(said.at_ms, recoverable=recoverable)
        counted = said.number(_ACKNOWLEDGES)
        if counted is not None:
            self.counted = counted
            lowest, flags = (
                said.number(f"SessionHeader.{key}") or 0
                for key in ("RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags")
            )
            self.acknowledged += [lowest + at for at in range(32) if lowest and flags >> at & 1]
        return said
