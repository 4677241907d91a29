"""One identifier, one message; and administration acknowledgments (MS-MQQB 3.1.7.1.1, 3.1.7.15)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.judge.session_context import MAX_REMEMBERED, Notes, Seen
from conformance.spec.catalogue import requirement_id
from conformance.wire.decode import guid_text

_IDENTIFIER = requirement_id("MQQB-3.1.7.1.1.identifier")
_CORRELATION = requirement_id("MQQB-3.1.7.15.correlation")
_DELIVERY = requirement_id("MQQB-3.1.7.15.delivery")
_TIMES = requirement_id("MQQB-3.1.7.15.times")
_PLAIN = requirement_id("MQQB-3.1.7.15.plain")
_INFINITE = 0xFFFFFFFF
_NORMAL, _REPORT, _ORDER = 0x0000, 0x0001, 0x00FF  # Classes that are no administration acknowledgment.
_HEADER = "MessagePropertiesHeader"
# What makes a message the one it is. What a router or a second transmission may change is left out: hop count,
# SessionHeader, previous number, padding, and the times.
_IDENTITY = (
    "UserHeader.QueueManagerAddress",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier",
    "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.DirectFormatName",
    "UserHeader.AdminQueue.PrivateQueueIdentifier",
    "UserHeader.AdminQueue.DirectFormatName",
    "UserHeader.ResponseQueue.PrivateQueueIdentifier",
    "UserHeader.ResponseQueue.DirectFormatName",
    "UserHeader.Flags.DM",
    "UserHeader.Flags.TH",
    f"{_HEADER}.MessageClass",
    f"{_HEADER}.CorrelationID",
    f"{_HEADER}.ApplicationTag",
    f"{_HEADER}.BodyType",
    f"{_HEADER}.Label",
    f"{_HEADER}.ExtensionData",
)


@dataclass(frozen=True, slots=True)
class _Known:
    digest: bytes
    delivery: int | None
    frame: int


@dataclass(slots=True)
class Messages:
    """The messages of a capture by their identifier: source queue manager and number."""

    _known: OrderedDict[tuple[str, int], _Known] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes) -> None:
        """Judge a message of any kind."""
        source, number = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        if source is None or number is None or not seen.packet.whole:
            return
        now = _Known(_digest(seen), seen.number("UserHeader.Flags.DM"), seen.frame.number)
        before = self._known.setdefault((source, number), now)
        notes.judge(
            _IDENTIFIER, before.digest == now.digest, seen, f"the same message as in frame {before.frame}",
            "the same" if before.digest == now.digest else "another message",
        )  # fmt: skip
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        if seen.packet.kind == "UserMessage" and seen.number(f"{_HEADER}.MessageClass") not in (
            _NORMAL,
            _REPORT,
            _ORDER,
        ):
            self._acknowledgment(seen, notes)

    def _acknowledgment(self, seen: Seen, notes: Notes) -> None:
        times = [seen.number("BaseHeader.TimeToReachQueue"), seen.number("UserHeader.TimeToBeReceived")]
        notes.same(_TIMES, seen, [_INFINITE, _INFINITE], times)
        asked = {
            "acknowledgments": seen.number(f"{_HEADER}.Flags"),
            "JN": seen.number("UserHeader.Flags.JN"),
            "JP": seen.number("UserHeader.Flags.JP"),
            "PrivacyLevel": seen.number(f"{_HEADER}.PrivacyLevel"),
        }
        notes.same(_PLAIN, seen, dict.fromkeys(asked, 0), asked)
        correlation = seen.packet.fields.get(f"{_HEADER}.CorrelationID")
        if not isinstance(correlation, bytes) or len(correlation) != 20:
            return
        original = self._known.get((guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")))
        if original is None:
            if any(correlation):
                notes.undecided(_CORRELATION, seen, "the acknowledged message is not in the capture")
            else:
                notes.judge(_CORRELATION, False, seen, "the identifier of a message", correlation.hex())
            return
        notes.judge(_CORRELATION, True, seen, f"frame {original.frame}", f"frame {original.frame}")
        notes.same(_DELIVERY, seen, original.delivery, seen.number("UserHeader.Flags.DM"))


def _digest(seen: Seen) -> bytes:
    fields = seen.packet.fields
    digest = hashlib.blake2b(digest_size=16)
    for key in _IDENTITY:
        digest.update(repr(fields.get(key)).encode())
    if not fields.get("SecurityHeader.Flags.EB"):  # An encrypted body may be encrypted anew.
        body = fields.get(f"{_HEADER}.MessageBody")
        digest.update(body if isinstance(body, bytes) else b"")
    return digest.digest()
