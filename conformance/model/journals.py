"""Values for quotas, journals, dead-letter queues, acknowledgments and times to be received.

MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.1.12. In the model, journals and dead-letter queues are ordinary queues. Their names
have a semicolon, as in format names: `q1;JOURNAL`, and `SYSTEM;...` for those of the whole manager.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from conformance.model.values import value

SYSTEM_JOURNAL: Final = "SYSTEM;JOURNAL"
DEAD_LETTER: Final = "SYSTEM;DEADLETTER"
DEAD_LETTER_TRANSACTIONAL: Final = "SYSTEM;DEADXACT"
DEAD_LETTERS: Final = (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL)
SYSTEM_QUEUES: Final = (SYSTEM_JOURNAL, *DEAD_LETTERS)
ELSEWHERE: Final = "elsewhere"  # a queue of a computer that cannot be reached
_REMOTE = "remote"  # prefix of queues of computers that the harness plays: `remote1`, `remote2`
MULTICAST: Final = "remote-multicast"  # a multicast address
HTTP: Final = "remote-http"  # a queue that messages go to over HTTP
_PUBLIC = "public"  # prefix of queues of this computer that are not private: `public1`
_SUFFIXES = (";JOURNAL", ";DEADLETTER", ";DEADXACT")
UNLIMITED: Final = 0xFFFFFFFF  # the value for "no limit": of a quota in kilobytes, and of a time in seconds
ACK_REACH, ACK_RECEIVE = 0x0002, 0x4000  # MS-MQMQ 2.2.18.1.6
NACK_REACH, NACK_DELETED, NACK_PURGED, NACK_TIMEOUT = 0x8002, 0xC000, 0xC001, 0xC002
CLASSES: Final = {
    ACK_REACH: "MQDMPR-3.1.1.12.class-ack-reach-queue",
    ACK_RECEIVE: "MQDMPR-3.1.1.12.class-ack-receive",
    NACK_REACH: "MQDMPR-3.1.1.12.class-nack-reach-queue-timeout",
    NACK_DELETED: "MQDMPR-3.1.1.12.class-nack-queue-deleted",
    NACK_PURGED: "MQDMPR-3.1.1.12.class-nack-queue-purged",
    NACK_TIMEOUT: "MQDMPR-3.1.1.12.class-nack-receive-timeout",
}
NUMBERS: Final = {  # the requirements on the numeric value of each class
    ACK_REACH: "MQMQ-2.2.18.1.6.ack-reach-queue",
    ACK_RECEIVE: "MQMQ-2.2.18.1.6.ack-receive",
    NACK_REACH: "MQMQ-2.2.18.1.6.nack-reach-queue-timeout",
    NACK_DELETED: "MQMQ-2.2.18.1.6.nack-q-deleted",
    NACK_PURGED: "MQMQ-2.2.18.1.6.nack-q-purged",
    NACK_TIMEOUT: "MQMQ-2.2.18.1.6.nack-receive-timeout",
}
REPORTS: Final = frozenset({kind + number for kind in (0, 0x4000, 0x8000, 0xC000) for number in range(0x100)} - {0, 1})
"""Classes of acknowledgments (MS-MQMQ 2.2.18.1.6); the classes of applications' own that the suites send are others."""
OVERHEAD: Final = 2048  # bytes; an upper bound for the headers of any message that the suites send

Shape: TypeAlias = tuple[int, int, bool, bool, int]
"""The properties that decide a message's size: body size in bytes, length of its name, has an administration queue,
is transactional, and what it carries beside (`carried.size_of`)."""


@value
class Wishes:
    """The options that the sender of a message asked for.

    live_ms: time to be received in milliseconds, None for no limit. lasting: the sender explicitly asked for no limit.
    sent: time of the send in model milliseconds.
    """

    size: int = 0
    journal: bool = False
    dead_letter: bool = False
    acks: frozenset[str] = frozenset()
    admin: str | None = None
    live_ms: int | None = None
    lasting: bool = False
    sent: int = 0


@value
class Attributes:
    """Attributes of a queue. The quotas are in bytes, None for no limit."""

    journaling: bool = False
    quota: int | None = None
    journal_quota: int | None = None


@value
class Keeping:
    """Account of the whole manager. quota, journal_quota: bytes in all queues, and in all journals, None for no limit.

    phase: milliseconds of the implementation's clock beyond a whole second at model time 0, None while not known.
    identifiers: message identifier and message, from the answers to sends. weights: bytes reported for a set of
    messages. shapes: bytes reported for one message of this shape.
    """

    quota: int | None = None
    journal_quota: int | None = None
    phase: int | None = None
    identifiers: tuple[tuple[str, str], ...] = ()
    weights: tuple[tuple[frozenset[str], int], ...] = ()
    shapes: tuple[tuple[Shape, int], ...] = ()


def is_kept(queue: str) -> bool:
    """Tell whether this is a journal or a dead-letter queue (a subqueue's name has a semicolon too)."""
    return queue.endswith(_SUFFIXES)


def is_remote(queue: str) -> bool:
    """Tell whether this is a queue of another computer that the harness plays."""
    return queue.startswith(_REMOTE)


def is_multicast(queue: str) -> bool:
    """Tell whether this stands for a multicast address, to which an outgoing queue leads."""
    return queue == MULTICAST


def is_public(queue: str) -> bool:
    """Tell whether this is a queue of this computer whose path name is not that of a private one."""
    return queue.startswith(_PUBLIC)


def journal_of(queue: str) -> str:
    """Return the name of a queue's journal."""
    return f"{queue};JOURNAL"


def copy_name(message: str, place: str) -> str:
    """Return the name of a message's copy: in a journal or dead-letter queue, or in one of several destinations."""
    return f"{message}@{place}"


def ack_name(klass: int, message: str, place: str) -> str:
    """Return the name of an acknowledgment of this class for a message."""
    return f"ack{klass:04X}-{message}@{place}"


def ack_class(name: str) -> int:
    """Return the class from the name of an acknowledgment."""
    return int(name[3:7], 16)


def parts_of(message: str) -> tuple[str, str, str]:
    """Split a message name into prefix, name of the sent (or acknowledged) message, and `@place` suffix."""
    head, at, place = message.partition("@")
    before, dash, sent = head.rpartition("-") if at and head.startswith("ack") else ("", "", head)
    return before + dash, sent, at + place


def plain_name(message: str) -> str:
    """Return the name under which a message was sent, without the place of a copy."""
    return message.partition("@")[0]


def attributes_of(journaling: bool, quota_kb: int | None, journal_quota_kb: int | None) -> Attributes | None:
    """Return the attributes a queue was created with; None when its creator gave none of them."""
    if not journaling and quota_kb is None and journal_quota_kb is None:
        return None
    return Attributes(journaling, in_bytes(quota_kb), in_bytes(journal_quota_kb))


def in_bytes(kilobytes: int | None) -> int | None:
    """Convert a quota from kilobytes to bytes; None for no quota or `UNLIMITED`."""
    return None if kilobytes is None or kilobytes == UNLIMITED else kilobytes * 1024
