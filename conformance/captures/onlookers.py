"""Onlookers: what analysts ask of a capture beside the verdicts. Each is told of every packet and event that is judged.

`Watched` puts them in front of the sink of a `CaptureJudge`; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance.capture import Event, Frame
from conformance.captures.judge import Managers, Sink, Told
from conformance.judge.hints import hints
from conformance.judge.packets.packet_verdicts import deviating
from conformance.judge.sessions.context import Seen
from conformance.verdict import Verdict
from conformance.wire import Packet
from conformance.wire.headers import ESTABLISH_CONNECTION, INTERNAL_PACKETS


class NotWrittenError(Exception):
    """Raised when an onlooker cannot write what was asked for. The message is one sentence for the user."""


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn errors of the system into NotWrittenError. target: what the user named."""
    try:
        yield
    except OSError as problem:
        raise NotWrittenError(f"{target} cannot be written ({problem.strerror or problem}).") from None


class Onlooker(Protocol):
    """Looks at all captures of a replay, one after the other. path: of the capture."""

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Look at a packet with the verdicts that it allowed, some of which may be on earlier packets."""

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Look at an event that is no packet."""


@dataclass(slots=True)
class Watched:
    """Tells the onlookers, and hands everything on."""

    sink: Sink
    path: str
    onlookers: Sequence[Onlooker]
    keys: tuple[str, ...] = ()

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Hand on a packet."""
        verdicts = [one for said in told.values() for one in said if isinstance(one, Verdict)]
        for onlooker in self.onlookers:
            onlooker.packet(self.path, seen, sender, verdicts)
        return self.sink.packet(seen, sender, told, counted=counted)

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on an event."""
        for onlooker in self.onlookers:
            onlooker.event(self.path, event, verdicts)
        self.sink.event(event, verdicts, managers, before)

    def end(self) -> None:
        """End the sink."""
        self.sink.end()


_OPENS = INTERNAL_PACKETS[ESTABLISH_CONNECTION][0]


def hints_on(frame: Frame, packet: Packet, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the ids of the hints on a packet, if it deviates, cannot be decoded, or opens a session."""
    trouble = frame.trouble
    if trouble is None and packet.kind != _OPENS and not deviating(verdicts):
        return ()
    return hints(packet, verdicts, complete=trouble is None or trouble.kind == "ended")
