"""Compares acknowledgments of administration with the messages they are about (MS-MQQB 3.1.7.15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from conformance.judge.sessions.context import LOST, Notes, Path, Seen, digest_of
from conformance.spec.catalogue import requirement_id
from conformance.wire.layout import guid_text

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
INFINITE = 0xFFFFFFFF
_NULL = "00000000-0000-0000-0000-000000000000"
HEADER = "MessagePropertiesHeader"
REACHED: Final = 0x0002
RECEIVED: Final = 0x4000
PA: Final = 1
PR: Final = 2
NA: Final = 4
NR: Final = 8
NO_BODY = digest_of(b"")
_NAMES = "the acknowledged message is not in the capture"

Queue = tuple[str, ...]

FINAL_WANTED: Final = ("UserHeader.Flags.JN", "UserHeader.Flags.JP", "TransactionHeader.Flags.FA")
"""The bits that ask for a final acknowledgment of a transactional message."""
ORIGINAL: Final[tuple[str, ...]] = (
    "UserHeader.Flags.DM", "UserHeader.Flags.TH", f"{HEADER}.Flags", "UserHeader.Flags.DQ", "UserHeader.Flags.AQ",
    *FINAL_WANTED, "SecurityHeader.Flags.EB", "BaseHeader.TimeToReachQueue", "UserHeader.TimeToBeReceived",
    "UserHeader.SentTime", "UserHeader.SourceQueueManager", "UserHeader.QueueManagerAddress",
    "DebugHeader.Queue.QueueIdentifier",
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
    queue manager of its queue, None for a direct name. final: it asks for a final acknowledgment. sent, lasts: SentTime
    and TimeToBeReceived.
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
    final: bool
    sent: int | None
    lasts: int | None

    @classmethod
    def of(cls, frame: int, values: Values, body: bytes) -> Original:
        """Make it from the values of `ORIGINAL` of the message in this frame. body: its digest."""
        return cls(
            frame,
            values.number("UserHeader.Flags.DM"),
            (values.number(f"{HEADER}.Flags") or 0) & 15,
            queue(values, "DestinationQueue", "DQ"),
            queue(values, "AdminQueue", "AQ"),
            body,
            bool(values.number("SecurityHeader.Flags.EB")),
            bool(values.number("UserHeader.Flags.TH")),
            any(
                values.number(key) != INFINITE for key in ("BaseHeader.TimeToReachQueue", "UserHeader.TimeToBeReceived")
            ),
            _addressee(values),
            any(map(values.number, FINAL_WANTED)),
            values.number("UserHeader.SentTime"),
            values.number("UserHeader.TimeToBeReceived"),
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
    message_class = seen.number(f"{HEADER}.MessageClass") or 0
    if message_class in _REASONS:
        requirement, expected, shows = _REASONS[message_class]
        shown = shows(seen, original)
        notes.judge(requirement, shown, seen, expected, "one" if shown else "another")


def wanted_bit(message_class: int) -> int:
    """Return the bit that requests acknowledgments of this class: of arrival or of receipt, positive or negative."""
    positive = {REACHED: PA, RECEIVED: PR}.get(message_class)
    return positive if positive is not None else NR if message_class >= 0xC000 else NA


def judge_acknowledgment(seen: Seen, notes: Notes) -> None:
    """Judge the demands on an acknowledgment that do not depend on the acknowledged message."""
    times = [seen.number("BaseHeader.TimeToReachQueue"), seen.number("UserHeader.TimeToBeReceived")]
    notes.same(_TIMES, seen, [INFINITE, INFINITE], times)
    asked = {
        "acknowledgments": seen.number(f"{HEADER}.Flags"),
        "JN": seen.number("UserHeader.Flags.JN"),
        "JP": seen.number("UserHeader.Flags.JP"),
        "PrivacyLevel": seen.number(f"{HEADER}.PrivacyLevel"),
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
    bit = wanted_bit(seen.number(f"{HEADER}.MessageClass") or 0)
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
    where = f"packet {original.frame}"
    notes.judge(_CORRELATION, True, seen, where, where)
    notes.same(_DELIVERY, seen, original.delivery, seen.number("UserHeader.Flags.DM"))
    message_class = seen.number(f"{HEADER}.MessageClass") or 0
    bit = wanted_bit(message_class)
    notes.judge(_REQUESTED, bool(original.asked & bit), seen, {"asked for": bit}, {"asked for": original.asked})
    _same_queue(notes, _DESTINATION, seen, original.admin_queue, queue(seen, "DestinationQueue", "DQ"))
    _same_queue(notes, _RESPONSE, seen, original.destination, queue(seen, "ResponseQueue", "RQ"))
    if message_class in (REACHED, RECEIVED):
        if original.addressee is not None:
            notes.same(_ADDRESSEE, seen, original.addressee, seen.text("UserHeader.SourceQueueManager"))
        return
    judge_reason(seen, notes, original)
    if original.encrypted:
        empty = seen.body() == NO_BODY
        notes.judge(_BODY, empty, seen, "no body, since that of the message is encrypted", "none" if empty else "one")
    elif not seen.number("SecurityHeader.Flags.EB"):
        holds = seen.body() == original.body
        notes.judge(_BODY, holds, seen, f"the body of {where}", "the same" if holds else "another one")


def _same_queue(notes: Notes, requirement: str, seen: Seen, expected: Queue | None, actual: Queue | None) -> None:
    if expected is None and requirement == _DESTINATION:
        notes.judge(requirement, False, seen, "no acknowledgment without an administration queue", list(actual or ()))
    elif expected is not None:
        notes.judge(requirement, expected == actual, seen, list(expected), list(actual or ()))


LOOKED_AT = 4_096  # Messages that are compared with an acknowledgment whose message is unknown.
Name = tuple[str, int]


class Message(Values, Protocol):
    """See `messages.Known`."""

    frame: int
    body: bytes


class Remembered(Protocol):
    """See `messages.Messages.known`."""

    def __len__(self) -> int: ...

    def get(self, key: Name, /) -> Message | None:
        """Return a message."""

    def items(self) -> Iterable[tuple[Name, Message]]:
        """Yield all messages, the oldest first."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The message whose name should stand in a CorrelationID. sure: no message that the capture lacks has the name."""

    frame: int
    sure: bool


def meant_by(seen: Seen, correlation: bytes, known: Remembered) -> Meant | None:
    """Return the message whose name should stand in this CorrelationID; None when it may be unseen."""
    number = int.from_bytes(correlation[:4], "little")
    exchanged = known.get((guid_text(correlation[4:]), number))
    if exchanged is not None:
        return Meant(exchanged.frame, sure=True)
    if len(known) > LOOKED_AT:
        return None
    source, number = guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")
    own = source == seen.text("UserHeader.SourceQueueManager")
    others = list(islice(known.items(), LOOKED_AT))
    reached = max((name[1] for name, _ in others if name[0] == source), default=None)
    found = [
        (name, one)
        for name, one in others
        if (name[1] == number if own else name[0] == source) and fits(seen, Original.of(one.frame, one, one.body))
    ]
    if len(found) != 1 or not (own or (reached is not None and number > reached)):
        return None
    return Meant(found[0][1].frame, sure=False)


def fitting(seen: Seen, known: Remembered) -> Message | None:
    """Return the only message that agrees with an acknowledgment in all but its name; None for none or several."""
    if len(known) > LOOKED_AT:
        return None
    found = [one for _, one in known.items() if fits(seen, Original.of(one.frame, one, one.body))]
    return found[0] if len(found) == 1 else None


def judge_misnamed(seen: Seen, notes: Notes, meant: Meant, there: Path) -> None:
    """Judge an acknowledgment with a name that is not the meant message's. there: the path that messages come on."""
    actual = (seen.raw(f"{HEADER}.CorrelationID") or b"").hex()
    expected = f"the name of packet {meant.frame}"
    if meant.sure:
        notes.judge(_CORRELATION, False, seen, expected, actual)
    elif there.generation:
        notes.undecided(_CORRELATION, seen, LOST)
    else:
        notes.suspect(_CORRELATION, seen, expected, actual, (there,))
