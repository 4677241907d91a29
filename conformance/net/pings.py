"""Pings over UDP (MS-MQQB 2.1.2): a datagram that is sent, and those that come back."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from conformance.net.addresses import Place
from conformance.net.recording import Recording

MAX_ANSWERS: Final = 64
"""Datagrams that are kept of the answers to one ping."""
_GRACE_S = 0.1  # Time for a second answer to come.
_LONGEST = 65_535


@dataclass(frozen=True, slots=True)
class Answer:
    """A datagram that came from the host that was pinged. at_ms: as in the clock that was given."""

    data: bytes
    at_ms: float


def ping(
    place: Place,
    data: bytes,
    wait_s: float,
    *,
    source: str | None = None,
    recording: Recording | None = None,
    now_ms: Callable[[], float] = lambda: time.monotonic() * 1000,
) -> list[Answer]:
    """Send one datagram and return the answers: all that come until shortly after the first, or in the time given.

    Only the pinged host and port are heard. Raises OSError when it cannot be sent.
    """
    answers: list[Answer] = []
    with socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET, socket.SOCK_DGRAM) as ours:
        if source is not None:
            ours.bind((source, 0))
        ours.connect(place.pair)
        local = ours.getsockname()[:2]
        if recording is not None:
            recording.datagram(local, place.pair, data)
        ours.send(data)
        until = time.monotonic() + wait_s
        while (left := until - time.monotonic()) > 0 and len(answers) < MAX_ANSWERS:
            ours.settimeout(left)
            try:
                got = ours.recv(_LONGEST)
            except TimeoutError:
                break
            except OSError:  # Nothing listens there, says the host.
                break
            if recording is not None:
                recording.datagram(place.pair, local, got, answer=True)
            answers.append(Answer(got, now_ms()))
            until = min(until, time.monotonic() + _GRACE_S)
    return answers
