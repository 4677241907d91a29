"""The decoded packet: plain values by key, the place of each, and decoding errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.wire.layout import Value

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A decoding error.

    code: `truncated` (the bytes end inside the field), `overrun` (PacketSize ends inside it), `signature`, `version`,
    `packet-size`, `packet-type`, `queue-type`, `size` (an impossible length field), `ack-body`, `extra` (bytes behind
    the packet), `appended` (other headers behind an ExtensionHeader than it tells), `srmp` (other headers of an HTTP
    message than the packet tells). field: full key. offset: byte offset in the data.
    """

    code: str
    field: str
    offset: int
    says: str


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet that `dissect` decoded.

    kind: `UserMessage`, `OrderAck`, `FinalAck`, `EstablishConnection`, `ConnectionParameters`, `SessionAck`, `Ping`, or
    `Malformed` when the bytes do not show it. fields: by key (`BaseHeader.PacketSize`, `UserHeader.Flags.DQ`): int,
    GUID as text, text without its NUL, or bytes; facts about the whole are `Packet.*`. spans: (offset, length) in bytes
    of each field of whole bytes and of each section; a bit field lies in the span of its flags word.
    """

    kind: str
    fields: Mapping[str, Value]
    spans: Mapping[str, Span]
    trouble: tuple[Trouble, ...]
    data: bytes

    @property
    def whole(self) -> bool:
        """True when everything was decoded."""
        return not self.trouble

    def span(self, key: str) -> Span | None:
        """Return the place of a field; for a bit field, that of its flags word. None when it was not decoded."""
        found = self.spans.get(key)
        if found is None and key in self.fields:
            found = self.spans.get(key.rpartition(".")[0])
        return found

    def has(self, section: str) -> bool:
        """Return True when decoding began a section of this name."""
        return section in self.spans
