"""Compares administration acknowledgments with the acknowledged messages (MS-MQQB 3.1.7.15, 3.1.5.8.10, 3.1.7.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from conformance.judge.sessions.context import Notes, Seen, digest_of
from conformance.spec.catalogue import requirement_id

_CORRELATION = requirement_id("MQQB-3.1.7.15.correlation")
_DELIVERY = requirement_id("MQQB-3.1.7.15.delivery")
_TIMES = requirement_id("MQQB-3.1.7.15.times")
_PLAIN = requirement_id("MQQB-3.1.7.15.plain")
_UNSIGNED = requirement_id("MQQB-3.1.7.15.unsigned")
_DESTINATION = requirement_id("MQQB-3.1.7.15.destination")
_RESPONSE = requirement_id("MQQB-3.1.7.15.response-queue")
_BODY = requirement_id("MQQB-3.1.7.15.body")
_REQUESTED = requirement_id("MQQB-3.1.7.15.requested")
_IN_TIME = requirement_id("MQMQ-2.2.18.1.6.nack-reach-queue-timeout")
_HOPS = requirement_id("MQMQ-2.2.18.1.6.nack-hop-count-exceeded")
_ADDRESSEE = requirement_id("MQQB-3.1.5.8.10.addressee")
_NO_TRANSACTIONAL_QUEUE = requirement_id("MQQB-3.1.5.8.2.not-transactional-queue")
_NO_TRANSACTIONAL_MESSAGE = requirement_id("MQQB-3.1.5.8.2.not-transactional-message")
_INFINITE = 0xFFFFFFFF
_NULL = "00000000-0000-0000-0000-000000000000"
_HEADER = "MessagePropertiesHeader"
_REACHED, _RECEIVED = 0x0002, 0x4000
_PA, _PR, _NA, _NR = 1, 2, 4, 8
_NO_BODY = digest_of(b"")
_NAMES = "the acknowledged message is not in the capture"

Queue = tuple[str, ...]


ORIGINAL: Final[tuple[str, ...]] = (
    "UserHeader.Flags.DM", "UserHeader.Flags.TH", f"{_HEADER}.Flags", "UserHeader.Flags.DQ", "UserHeader.Flags.AQ",
    "SecurityHeader.Flags.EB", "BaseHeader.TimeToReachQueue", "UserHeader.TimeToBeReceived",
    "UserHeader.SourceQueueManager", "UserHeader.QueueManagerAddress", "DebugHeader.Queue.QueueIdentifier",
    *(
        f"UserHeader.{queue}Queue.{name}"
        for queue in ("Destination", "Admin")
        for name in ("DirectFormatName", "PublicQueueIdentifier", "SourceQueueManager", "PrivateQueueIdentifier")
    ),
)  # fmt: skip
"""The values of a message that its acknowledgment is compared with; keys that no packet has are not requested."""


@dataclass(frozen=True, slots=True)
class Original:
    """The values of a message that its acknowledgment is compared with.

    asked: the four acknowledgment bits of MessagePropertiesHeader.Flags. expires: it has a time to live. addressee: the
    queue manager of its queue, None for a direct name.
    """

    frame: int
    delivery: int | None
    asked: int
    destination: Queue | None
    admin_queue: Queue | None
    body: bytes
    encrypted: bool
    transactional: bool
    expires: bool
    addressee: str | None

    @classmethod
    def of(cls, frame: int, values: Values, body: bytes) -> Original:
        """Make it from the values of `ORIGINAL` of the message in this frame. body: its digest."""
        return cls(
            frame,
            values.number("UserHeader.Flags.DM"),
            (values.number(f"{_HEADER}.Flags") or 0) & 15,
            queue(values, "DestinationQueue", "DQ"),
            queue(values, "AdminQueue", "AQ"),
            body,
            bool(values.number("SecurityHeader.Flags.EB")),
            bool(values.number("UserHeader.Flags.TH")),
            any(
                values.number(key) != _INFINITE
                for key in ("BaseHeader.TimeToReachQueue", "UserHeader.TimeToBeReceived")
            ),
            _addressee(values),
        )


def _addressee(values: Values) -> str | None:
    named = values.text("UserHeader.QueueManagerAddress")
    return None if named in (None, _NULL) or values.number("UserHeader.Flags.DQ") == 7 else named


class Values(Protocol):
    """The values of a packet, or of a remembered message."""

    def number(self, key: str) -> int | None:
        """Return a numeric field, as `Seen.number`."""

    def text(self, key: str) -> str | None:
        """Return a text field, as `Seen.text`."""


def queue(seen: Values, name: str, selector: str) -> Queue | None:
    """Return a queue of the UserHeader, equal for every way of naming it; None for no queue or a meaningless form."""
    kind = seen.number(f"UserHeader.Flags.{selector}")
    prefix = f"UserHeader.{name}."
    if kind == 7:
        return "direct", (seen.text(prefix + "DirectFormatName") or "").lower()
    if kind == 5:
        return "public", seen.text(prefix + "PublicQueueIdentifier") or ""
    manager = {
        2: "UserHeader.SourceQueueManager",
        3: "UserHeader.QueueManagerAddress",
        6: prefix + "SourceQueueManager",
    }
    if kind in manager:
        return "private", seen.text(manager[kind]) or "", str(seen.number(prefix + "PrivateQueueIdentifier"))
    return None


# The reasons of some negative acknowledgments show in the message itself (MS-MQQB 3.1.5.8.2, MS-MQMQ 2.2.18.1.6).
# Others do not: a queue that takes only signed or encrypted messages has any other message reported like one whose
# signature is wrong.
_REASONS: Final[Mapping[int, tuple[str, str, Callable[[Seen, Original], bool]]]] = {
    0x8002: (_IN_TIME, "a message with a time to live", lambda _, one: one.expires),
    0x8005: (
        _HOPS, "no rejection by the addressee",
        lambda seen, one: one.addressee is None or one.addressee != seen.text("UserHeader.SourceQueueManager"),
    ),
    0x8009: (_NO_TRANSACTIONAL_QUEUE, "a transactional message", lambda _, one: one.transactional),
    0x800A: (_NO_TRANSACTIONAL_MESSAGE, "a message without a transaction", lambda _, one: not one.transactional),
}  # fmt: skip


def judge_reason(seen: Seen, notes: Notes, original: Original) -> None:
    """Judge that a negative acknowledgment, or a negative FinalAck, has a reason that its message can give."""
    message_class = seen.number(f"{_HEADER}.MessageClass") or 0
    if message_class in _REASONS:
        requirement, expected, shows = _REASONS[message_class]
        shown = shows(seen, original)
        notes.judge(requirement, shown, seen, expected, "one" if shown else "another")


def wanted_bit(message_class: int) -> int:
    """Return the bit that requests acknowledgments of this class: of arrival or of receipt, positive or negative."""
    positive = {_REACHED: _PA, _RECEIVED: _PR}.get(message_class)
    return positive if positive is not None else _NR if message_class >= 0xC000 else _NA


def judge_acknowledgment(seen: Seen, notes: Notes) -> None:
    """Judge the demands on an acknowledgment that do not depend on the acknowledged message."""
    times = [seen.number("BaseHeader.TimeToReachQueue"), seen.number("UserHeader.TimeToBeReceived")]
    notes.same(_TIMES, seen, [_INFINITE, _INFINITE], times)
    asked = {
        "acknowledgments": seen.number(f"{_HEADER}.Flags"),
        "JN": seen.number("UserHeader.Flags.JN"),
        "JP": seen.number("UserHeader.Flags.JP"),
        "PrivacyLevel": seen.number(f"{_HEADER}.PrivacyLevel"),
    }
    notes.same(_PLAIN, seen, dict.fromkeys(asked, 0), asked)
    notes.same(_UNSIGNED, seen, 0, seen.number("SecurityHeader.SignatureSize") or 0)


def judge_itself(seen: Seen, notes: Notes) -> None:
    """Judge an acknowledgment that names itself, or another message of its own queue manager that it does not fit."""
    notes.judge(_CORRELATION, False, seen, "the identifier of the acknowledged message", "one of its sender's own")


def judge_missing(seen: Seen, notes: Notes, *, named: bool) -> None:
    """Judge an acknowledgment whose message was not seen. named: the acknowledgment names a message."""
    if named:
        notes.undecided(_CORRELATION, seen, _NAMES)
    else:
        notes.judge(_CORRELATION, False, seen, "the identifier of a message", "zeros")


def fits(seen: Seen, original: Original) -> bool:
    """Tell whether an acknowledgment agrees with a message in all that it takes over, its name apart."""
    bit = wanted_bit(seen.number(f"{_HEADER}.MessageClass") or 0)
    return (
        bool(original.asked & bit)
        and original.delivery == seen.number("UserHeader.Flags.DM")
        and original.admin_queue is not None
        and original.admin_queue == queue(seen, "DestinationQueue", "DQ")
        and original.destination is not None
        and original.destination == queue(seen, "ResponseQueue", "RQ")
    )


def judge_against(seen: Seen, notes: Notes, original: Original) -> None:
    """Judge the values that an acknowledgment takes over from its message."""
    where = f"frame {original.frame}"
    notes.judge(_CORRELATION, True, seen, where, where)
    notes.same(_DELIVERY, seen, original.delivery, seen.number("UserHeader.Flags.DM"))
    message_class = seen.number(f"{_HEADER}.MessageClass") or 0
    bit = wanted_bit(message_class)
    notes.judge(_REQUESTED, bool(original.asked & bit), seen, {"asked for": bit}, {"asked for": original.asked})
    _same_queue(notes, _DESTINATION, seen, original.admin_queue, queue(seen, "DestinationQueue", "DQ"))
    _same_queue(notes, _RESPONSE, seen, original.destination, queue(seen, "ResponseQueue", "RQ"))
    if message_class in (_REACHED, _RECEIVED):
        if original.addressee is not None:
            notes.same(_ADDRESSEE, seen, original.addressee, seen.text("UserHeader.SourceQueueManager"))
        return
    judge_reason(seen, notes, original)
    if original.encrypted:
        empty = seen.body() == _NO_BODY
        notes.judge(_BODY, empty, seen, "no body, since that of the message is encrypted", "none" if empty else "one")
    elif not seen.number("SecurityHeader.Flags.EB"):
        holds = seen.body() == original.body
        notes.judge(_BODY, holds, seen, f"the body of {where}", "the same" if holds else "another one")


def _same_queue(notes: Notes, requirement: str, seen: Seen, expected: Queue | None, actual: Queue | None) -> None:
    if expected is None and requirement == _DESTINATION:
        notes.judge(requirement, False, seen, "no acknowledgment without an administration queue", list(actual or ()))
    elif expected is not None:
        notes.judge(requirement, expected == actual, seen, list(expected), list(actual or ()))
