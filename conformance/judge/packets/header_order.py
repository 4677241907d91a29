"""Rules about what only shows in the rest of the packet: a header that no flag announces, a size, an order."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judge.rules import Mutation
from conformance.wire import dissect, patch

_SIZES = ("BaseHeader.PacketSize", "ExtensionHeader.RemainingHeadersSize")


@dataclass(frozen=True, slots=True)
class Rearranged(Mutation):
    """A mutation whose broken packet has other headers than the valid one.

    region: names of headers of the valid packet, which follow one another. order: names of those that stand in the
    region instead. The sizes that count the region follow; `given` is not used, `patch` is done first.
    """

    region: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def broken(self) -> bytes:
        """Make the packet with the other headers."""
        packet = dissect(self.valid())
        data = patch(packet, self.patch)
        spans = [packet.spans[name] for name in self.region]
        first, last = min(at for at, _ in spans), max(at + length for at, length in spans)
        new = b"".join(data[at : at + length] for at, length in (packet.spans[name] for name in self.order))
        more = len(new) - (last - first)
        for key in _SIZES:
            at, width = packet.spans.get(key, (last, 0))
            if at < first and width:
                size = int.from_bytes(data[at : at + width], "little") + more
                data = data[:at] + size.to_bytes(width, "little") + data[at + width :]
        return data[:first] + new + data[last:]
