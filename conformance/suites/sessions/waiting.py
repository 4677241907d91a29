"""How long a dialogue waits, and how much of what comes it keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.judge.dialogues.conversation import Said

SLICE_MS: Final = 50
"""How long one look at a connection lasts when nothing comes."""
MOST_PACKETS: Final = 1_024
MOST_BYTES: Final = 4 << 20
"""What an implementation may send in one dialogue. The longest one is answered by some hundred packets."""


class Flooded(Exception):
    """More has come than a dialogue keeps; the message is a reason."""


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
