"""What a queue manager keeps beside the messages of its queues: quotas, journals, reports and times (values only).

MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.1.12. A journal and a dead-letter queue are queues of the model like any other; their
names have a semicolon, as in format names: `q1;JOURNAL`, and `SYSTEM;...` for those of the whole manager.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from conformance.model.values import value

SYSTEM_JOURNAL: Final = "SYSTEM;JOURNAL"
DEAD_LETTER: Final = "SYSTEM;DEADLETTER"
DEAD_LETTER_TRANSACTIONAL: Final = "SYSTEM;DEADXACT"
SYSTEM_QUEUES: Final = (SYSTEM_JOURNAL, DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL)
ELSEWHERE: Final = "elsewhere"  # a queue of a computer that nobody can reach
_REMOTE = "remote"  # queues of computers whose transfer the harness stands in for: `remote1`, `remote2`
_SUFFIXES = (";JOURNAL", ";DEADLETTER", ";DEADXACT")
UNLIMITED: Final = 0xFFFFFFFF  # of a quota, kilobytes; and of a time, seconds
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
NUMBERS: Final = {  # the same classes by the number that stands for each
    ACK_REACH: "MQMQ-2.2.18.1.6.ack-reach-queue",
    ACK_RECEIVE: "MQMQ-2.2.18.1.6.ack-receive",
    NACK_REACH: "MQMQ-2.2.18.1.6.nack-reach-queue-timeout",
    NACK_DELETED: "MQMQ-2.2.18.1.6.nack-q-deleted",
    NACK_PURGED: "MQMQ-2.2.18.1.6.nack-q-purged",
    NACK_TIMEOUT: "MQMQ-2.2.18.1.6.nack-receive-timeout",
}
OVERHEAD: Final = 2048  # more bytes than the headers of any message of the suites take

Shape: TypeAlias = tuple[int, int, bool, bool]
"""What the size of a message depends on: its body's size, its name's length, has it an administration queue, is it
transactional."""


@value
class Wishes:
    """What the sender of a message asked for.

    live_ms: time to be received, None for ever. lasting: for ever, and said so. sent: model milliseconds.
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
    """Of a queue. The quotas are bytes, None for no limit."""

    journaling: bool = False
    quota: int | None = None
    journal_quota: int | None = None


@value
class Keeping:
    """Of the manager. quota, journal_quota: bytes in all queues, and in all journals, None for no limit.

    phase: milliseconds of the implementation's clock beyond a whole second at model time 0, None while not known.
    identifiers: message identifier to message, as the sends told. weights: bytes told for a set of messages.
    shapes: bytes told for one message of this shape.
    """

    quota: int | None = None
    journal_quota: int | None = None
    phase: int | None = None
    identifiers: tuple[tuple[str, str], ...] = ()
    weights: tuple[tuple[frozenset[str], int], ...] = ()
    shapes: tuple[tuple[Shape, int], ...] = ()


def is_kept(queue: str) -> bool:
    """Whether this is a journal or a dead-letter queue, and no subqueue."""
    return queue.endswith(_SUFFIXES)


def is_remote(queue: str) -> bool:
    """Whether this is a queue of another computer, whose messages the harness takes in its place."""
    return queue.startswith(_REMOTE)


def journal_of(queue: str) -> str:
    """The journal of a queue."""
    return f"{queue};JOURNAL"


def copy_name(message: str, place: str) -> str:
    """The name of the copy of a message in a journal or dead-letter queue, and of what is sent to several queues."""
    return f"{message}@{place}"


def ack_name(klass: int, message: str, place: str) -> str:
    """The name of an acknowledgment of this class for a message."""
    return f"ack{klass:04X}-{message}@{place}"


def ack_class(name: str) -> int:
    """The class in the name of an acknowledgment."""
    return int(name[3:7], 16)


def plain_name(message: str) -> str:
    """The name a message was sent by."""
    return message.partition("@")[0]


def attributes_of(journaling: bool, quota_kb: int | None, journal_quota_kb: int | None) -> Attributes | None:
    """The attributes a queue was created with; None when its creator gave none of them."""
    if not journaling and quota_kb is None and journal_quota_kb is None:
        return None
    return Attributes(journaling, in_bytes(quota_kb), in_bytes(journal_quota_kb))


def in_bytes(kilobytes: int | None) -> int | None:
    """A quota given in kilobytes; None for none, and for the number that stands for none."""
    return None if kilobytes is None or kilobytes == UNLIMITED else kilobytes * 1024
