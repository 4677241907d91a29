"""One identifier, one message (MS-MQQB 3.1.7.1.1)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.judge.session_acknowledgments import (
    Original,
    judge_acknowledgment,
    judge_against,
    judge_missing,
)
from conformance.judge.session_context import MAX_REMEMBERED, Notes, Seen
from conformance.spec.catalogue import requirement_id
from conformance.wire.decode import guid_text

_IDENTIFIER = requirement_id("MQQB-3.1.7.1.1.identifier")
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
    original: Original


@dataclass(slots=True)
class Messages:
    """The messages of a capture by their identifier: source queue manager and number."""

    _known: OrderedDict[tuple[str, int], _Known] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes) -> bool:
        """Judge a message of any kind; returns whether it is the first of its identifier."""
        source, number = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        if source is None or number is None or not seen.packet.whole:
            return False
        now = _Known(_digest(seen), Original.of(seen))
        before = self._known.setdefault((source, number), now)
        notes.judge(
            _IDENTIFIER, before.digest == now.digest, seen, f"the same message as in frame {before.original.frame}",
            "the same" if before.digest == now.digest else "another message",
        )  # fmt: skip
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        ordinary = seen.number(f"{_HEADER}.MessageClass") in (_NORMAL, _REPORT, _ORDER)
        if seen.packet.kind == "UserMessage" and not ordinary and before is now:
            self._acknowledgment(seen, notes)
        return before is now

    def _acknowledgment(self, seen: Seen, notes: Notes) -> None:
        judge_acknowledgment(seen, notes)
        correlation = seen.packet.fields.get(f"{_HEADER}.CorrelationID")
        if not isinstance(correlation, bytes) or len(correlation) != 20:
            return
        known = self._known.get((guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")))
        if known is None:
            judge_missing(seen, notes, named=any(correlation))
        else:
            judge_against(seen, notes, known.original)


def _digest(seen: Seen) -> bytes:
    fields = seen.packet.fields
    digest = hashlib.blake2b(digest_size=16)
    for key in _IDENTITY:
        digest.update(repr(fields.get(key)).encode())
    if not fields.get("SecurityHeader.Flags.EB"):  # An encrypted body may be encrypted anew.
        body = fields.get(f"{_HEADER}.MessageBody")
        digest.update(body if isinstance(body, bytes) else b"")
    return digest.digest()
