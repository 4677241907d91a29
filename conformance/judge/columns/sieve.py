"""Tells which of many packets surely cannot be decoded whole, so that the search for causes need not decode them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.judge.columns.kernel import Chunk, ColumnJudge, Slow
from conformance.judge.packets.causes import AT_ONCE
from conformance.wire.columns.chunks import TCP

_OUTCOMES = 1 << 10
_SPARE = bytes(64)  # Behind the last packet: compiled code reads whole words.
_UNREADABLE = int(Slow.UNREADABLE)


class Sieve:
    """Sorts out packets that cannot be decoded whole in any layout."""

    def __init__(self, code: ColumnJudge) -> None:
        self.code = code
        self._chunk: Chunk | None = None

    def __call__(self, packets: Sequence[bytes]) -> Sequence[bool]:
        """Return for each packet whether it is sorted out; all others have to be decoded. At most AT_ONCE packets."""
        if self._chunk is None:
            self._chunk, self._counts = self.code.chunk(AT_ONCE), self.code.counts(_OUTCOMES)
            self._chunk.transport[:] = TCP
        chunk, count = self._chunk, len(packets)
        lengths = np.fromiter(map(len, packets), np.int64, count)
        chunk.lengths[:count], chunk.offsets[:count] = lengths, np.cumsum(lengths) - lengths
        self.code.judge(np.frombuffer(b"".join((*packets, _SPARE)), np.uint8), chunk, count, self._counts)
        return [why == _UNREADABLE for why in chunk.slow[:count].tolist()]
