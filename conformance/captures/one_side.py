"""Judges what the clients of one server sent, and leaves out what the server sent.

A verdict belongs to the sender of the packet it names; session rules name earlier packets, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.capture import Event, Frame
from conformance.captures.followed import Key
from conformance.captures.judge import IMPLEMENTATION, PACKET, SESSION, Managers, Sink, Told
from conformance.judge.sessions.context import Seen
from conformance.verdict import Verdict

_REMEMBERED = 1 << 20
"""Packets whose sender is remembered; verdicts on earlier ones are left out."""


def from_client(frame: Frame, server: str) -> bool:
    """Tell whether a client sent a packet. server: the address of the server, which also connects to its clients."""
    acceptor = frame.source if frame.side == "acceptor" else frame.destination
    if frame.side is None:
        return frame.destination.address == server
    return (frame.side == "initiator") == (acceptor.address == server)


@dataclass(slots=True)
class OfClients:
    """Hands on the verdicts on what clients sent, and all events."""

    sink: Sink
    server: str
    keys: tuple[str, ...] = ()
    last: int = 0
    senders: bytearray = field(default_factory=lambda: bytearray(_REMEMBERED))

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Hand on a packet with the verdicts that are on clients. A packet of the server goes on without its own."""
        ours = from_client(seen.frame, self.server)
        self.last = seen.frame_number
        self.senders[self.last % _REMEMBERED] = ours
        said = {part: self._of_clients(told[part]) for part in told if part != PACKET}
        alone = told[PACKET] if ours else ()
        if not ours and not said.get(SESSION) and not said.get(IMPLEMENTATION):
            return False
        return self.sink.packet(seen, sender, {**said, PACKET: alone}, counted=counted)

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on an event."""
        self.sink.event(event, [one for one in verdicts if self._is_client(one)], managers, before)

    def end(self) -> None:
        """End the sink."""
        self.sink.end()

    def _of_clients(self, said: Sequence[Verdict | Key]) -> list[Verdict | Key]:
        return [one for one in said if isinstance(one, Verdict) and self._is_client(one)]

    def _is_client(self, verdict: Verdict) -> bool:
        number = verdict.frame
        if number is None or not self.last - _REMEMBERED < number <= self.last:
            return False
        return bool(self.senders[number % _REMEMBERED])
