"""One connection of a dialogue: its packets, and the counts that both ends keep (MS-MQQB 3.1.1.4)."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Conversation, Said
from conformance.judge.sessions.context import MESSAGES
from conformance.suites.sessions.waiting import Allowance

if TYPE_CHECKING:
    from conformance.harness.port import Port

_ACKNOWLEDGES = "SessionHeader.AckSequenceNumber"


@dataclass(slots=True)
class Link:
    """A connection. acknowledged: the numbers of recoverable messages that the other end has acknowledged.

    counted: the number of messages that it has counted last. owed: numbers of recoverable messages that this end has to
    acknowledge. opened: the handshake is done. allowance: of the whole dialogue.
    asked_ms: when the last packet was sent, by the driver's clock. released: the driver has let its end go.
    """

    mq: Port
    conversation: Conversation
    session: Any
    connection: int
    role: Literal["initiator", "acceptor"]
    allowance: Allowance
    asked_ms: int = 0
    opened: bool = False
    ended: str | None = None
    released: bool = False
    sent: int = 0
    sent_recoverable: int = 0
    received: int = 0
    received_recoverable: int = 0
    owed: list[int] = field(default_factory=list)
    answered: int = 0
    counted: int = 0
    acknowledged: list[int] = field(default_factory=list)
    heard: list[Said] = field(default_factory=list)

    def send(
        self, data: bytes, *, pieces: tuple[int, ...] = (), message: bool = False, kept: bool = False
    ) -> Said | None:
        """Send a packet; None if the connection has ended. message: it is counted. kept: as a recoverable one, too."""
        params: dict[str, Any] = {"session": self.session, "bytes": base64.b64encode(data).decode("ascii")}
        if pieces:
            params |= {"pieces": list(pieces), "gap_ms": 1}
        result = self.mq.call("sessions.send", **params)
        if not result.ok:
            return None
        self.asked_ms = int(result.values["at_ms"])
        self.sent += message
        self.sent_recoverable += kept
        return self.conversation.sent(self.connection, data, self.asked_ms)

    def read(self, wait_ms: int) -> list[Said]:
        """Return what comes in this time, as soon as anything does. Raises Flooded when it is too much."""
        if self.ended is not None:
            return []
        result = self.mq.call("sessions.received", session=self.session, wait_ms=wait_ms)
        if not result.ok:
            self.end("closed")
            return []
        came = [self._take(one) for one in result.values["packets"]]
        if result.values["ended"] is not None:
            self.end(result.values["ended"])
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

    def acknowledge(self) -> None:
        """Acknowledge everything that has come and is not acknowledged (MS-MQQB 3.1.6.4)."""
        if self.received == self.answered or self.ended is not None:
            return
        lowest, flags = 0, 0
        if self.owed:
            lowest = self.owed[0]
            flags = sum(1 << number - lowest for number in self.owed if number - lowest < 32)
        self.send(packets.session_ack(self.received, lowest, flags, self.sent, self.sent_recoverable))
        self.answered = self.received
        self.owed.clear()

    def _take(self, raw: Any) -> Said:
        data, rest = base64.b64decode(raw["bytes"]), bool(raw.get("rest"))
        self.allowance.take(data)
        said = self.conversation.received(self.connection, data, int(raw["at_ms"]), rest=rest)
        self.heard.append(said)
        if said.kind in MESSAGES:
            self.received += 1
            if said.number("UserHeader.Flags.DM"):
                self.received_recoverable += 1
                self.owed.append(self.received_recoverable)
        counted = said.number(_ACKNOWLEDGES)
        if counted is not None:
            self.counted = counted
            lowest, flags = (
                said.number(f"SessionHeader.{key}") or 0
                for key in ("RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags")
            )
            self.acknowledged += [lowest + at for at in range(32) if lowest and flags >> at & 1]
        return said
