"""Dialogues of fixtures as bytes, for tests that send them over real sockets."""

from __future__ import annotations

from pathlib import Path

from conformance.capture import Event, Frame, read_capture

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
CONSISTENT = CAPTURES / "consistent-session.pcapng"
"""Two queue managers that do everything right."""
PINGED = CAPTURES / "mqqb-4.1.pcapng"
"""The example of MS-MQQB 4.1, with its ping."""


def events(path: Path) -> list[Event]:
    return list(read_capture(path))


def frames(path: Path) -> list[Frame]:
    return [event for event in events(path) if isinstance(event, Frame)]


def shown(path: Path) -> list[tuple[str, str | None, bytes]]:
    """What a reader of captures finds: transport, side and bytes of each packet."""
    return [(frame.transport, frame.side, frame.data) for frame in frames(path)]
