"""Dialogues about what becomes of a message, and about the acknowledgment that reports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from conformance.judge.dialogues.cases_sessions import CONNECTING
from conformance.judge.dialogues.groups import (
    ADMIN,
    ATTRIBUTE,
    BAD_ENCRYPTION,
    BAD_QUEUE,
    BAD_SIGNATURE,
    CLASS,
    DUPLICATE,
    FINAL,
    FOUND,
    LATE,
    NOT_RECEIVED,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    ORDERED,
    REACHED,
    RECEIVED,
    REPORT,
    TOO_MANY_HOPS,
    opening_with,
    order,
    reaches,
)
from conformance.judge.dialogues.packets import (
    ABSENT,
    AUTHENTICATED,
    JOURNAL,
    NA,
    NR,
    OTHER,
    OWN,
    PA,
    PLAIN,
    PR,
    PRIVATE,
    REPORTS,
    TRANSACTIONAL,
    Message,
    Values,
)
from conformance.judge.dialogues.steps import Case, Comes, Never, Passed, Step, Tell, handshake
from conformance.spec.catalogue import reading_id

_NO_DIRECTORY: Final = "no FinalAck came: it goes to a private name, whose host the directory has to have"


def _rejected(
    name: str, message: Message, message_class: int, requirements: tuple[str, ...], *, insecure: bool = False,
    judged: tuple[str, ...] = (), packets: str = "correct",
) -> Case:  # fmt: skip
    """A message that asks for word of its failure, and gets it; a transactional one also gets a FinalAck."""
    steps: list[Step] = [*handshake("control"), *handshake(), Tell((message,))]
    if message.manager == "stranger":
        steps.append(Passed(message.name, requirements[0], 0, within_ms=300))
    if message.number is not None:
        may = _NO_DIRECTORY if message.queue is None else None
        steps.append(Comes("FinalAck", message.name, requirements, message_class, may=may))
    asked = (*requirements, "MQMQ-2.2.19.3.flags-na")
    steps.append(Comes("UserMessage", message.name, asked, message_class, insecure=insecure))
    steps += [Never("UserMessage", message.name, (f"{CLASS}ack-reach-queue",), REACHED, for_ms=300)]
    queues = tuple(one for one in (message.queue,) if one not in (None, ABSENT))
    of_class = (*ADMIN, "MQQB-3.1.7.15.body", *(FINAL if message.number is not None else ()))
    return Case(name, tuple(steps), (*of_class, *judged), queues=queues, packets=packets)


_HASH, _CIPHER, _PRIVACY = (
    f"MessagePropertiesHeader.{name}" for name in ("HashAlgorithm", "EncryptionAlgorithm", "PrivacyLevel")
)
SIGNED: Final[Values] = {
    "SecurityHeader.Flags.ST": 0,
    "SecurityHeader.Flags.AU": 1,
    "SecurityHeader.Flags.AI": 1,
    "SecurityHeader.Flags.DE": 1,
    "SecurityHeader.SecurityData.Signature": b"\x5a" * 128,
    "SecurityHeader.SecurityData.SenderCert": b"\x30\x03\x02\x01\x05",
}
_ENCRYPTED: Final[Values] = {
    "SecurityHeader.Flags.EB": 1,
    "SecurityHeader.Flags.AI": 1,
    "SecurityHeader.SecurityData.EncryptionKey": b"\x5a" * 64,
    _PRIVACY: 9,
}
_UNKNOWN_PRIVACY: Final = ("MQMQ-2.2.19.3.privacy-level-refused", "MQMQ-2.2.19.3.privacy-level-refused-code")
_NO_QUEUE: Final = ("MQQB-3.1.5.8.2.no-such-queue", f"{CLASS}nack-bad-dst-q")
_HOPS: Final = ("MQQB-3.1.5.8.2.hop-count-exceeded", f"{ATTRIBUTE}class-nack-hop-count-exceeded")
_ONWARDS: Final[Values] = {"UserHeader.Flags.RC": 0x1D}  # the most that there may be, MS-MQMQ 2.2.19.2
_CONNECTOR: Final = "2e6a8c14-90d7-4f3b-b1a5-c7e9f3d80514"
_TRACED: Final[Values] = {
    "BaseHeader.Flags.TR": 1,
    "BaseHeader.Flags.DH": 1,
    "DebugHeader.Flags.QT": 1,
    "DebugHeader.Queue.QueueIdentifier": REPORTS,
}
_TRACING: Final = (
    *("MQQB-3.1.5.8.9.sent", "MQQB-3.1.5.8.9.report-queue"),
    *(f"{ATTRIBUTE}{word}" for word in ("class-report", "tracing-requested", "tracing-queue-identifier")),
)
_REPORTED: Final = tuple(
    f"MQQB-3.1.7.1.7.{word}"
    for word in ("delivery", "destination", "label", "body", "message-id", "computer", "target", "queue")
)
_NO_REPORT: Final = "no report came: its queue is a public one, and the directory has to have it: declare reports"
REJECTED: Final[tuple[Case, ...]] = (
    _rejected("no-such-queue", Message("lost", ABSENT, recoverable=True, asks=NA), BAD_QUEUE, _NO_QUEUE, insecure=True),
    _rejected(
        "no-such-queue-transactional", Message("lost", ABSENT, number=1, asks=NA), BAD_QUEUE, _NO_QUEUE, insecure=True
    ),
    _rejected(
        "not-a-transactional-queue",
        Message("wrong", PLAIN, number=1, asks=NA),
        NOT_TRANSACTIONAL_Q,
        ("MQQB-3.1.5.8.2.not-transactional-queue",),
        judged=("MQQB-3.1.5.8.2.not-transactional-queue",),
    ),
    _rejected(
        "not-a-transactional-message",
        Message("wrong", TRANSACTIONAL, recoverable=True, asks=NA),
        NOT_TRANSACTIONAL_MSG,
        ("MQQB-3.1.5.8.2.not-transactional-message",),
        judged=("MQQB-3.1.5.8.2.not-transactional-message",),
    ),
    _rejected(
        "too-many-hops",
        Message("far", None, recoverable=True, asks=NA, manager="stranger", more=_ONWARDS),
        TOO_MANY_HOPS,
        _HOPS,
    ),
    _rejected(
        "too-many-hops-transactional",
        Message("far", None, number=1, asks=NA, manager="stranger", more=_ONWARDS),
        TOO_MANY_HOPS,
        _HOPS,
    ),
    _rejected(
        "a-signature-that-is-wrong",
        Message("signed", TRANSACTIONAL, number=1, asks=NA, more=SIGNED),
        BAD_SIGNATURE,
        (f"{CLASS}nack-bad-signature", f"{ATTRIBUTE}class-nack-bad-signature"),
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "an-unknown-privacy-level",
        Message("encrypted", TRANSACTIONAL, number=1, asks=NA, more=_ENCRYPTED),
        BAD_ENCRYPTION,
        (*_UNKNOWN_PRIVACY, f"{CLASS}nack-bad-encryption", f"{ATTRIBUTE}class-nack-bad-encryption"),
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "an-unknown-privacy-level-of-a-clear-body",
        Message("clear", TRANSACTIONAL, number=1, asks=NA, more={_PRIVACY: 9}),
        BAD_SIGNATURE,
        _UNKNOWN_PRIVACY,
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "an-unknown-hash",
        Message("signed", TRANSACTIONAL, number=1, asks=NA, more={**SIGNED, _HASH: 0x9999}),
        BAD_SIGNATURE,
        ("MQMQ-2.2.19.3.hash-algorithm-refused",),
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "a-key-that-is-none",
        Message("encrypted", TRANSACTIONAL, number=1, asks=NA, more={**_ENCRYPTED, _PRIVACY: 1}),
        BAD_ENCRYPTION,
        ("MQMQ-2.2.20.6.body-encrypted-receiver",),
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "an-unknown-cipher",
        Message("encrypted", TRANSACTIONAL, number=1, asks=NA, more={**_ENCRYPTED, _PRIVACY: 1, _CIPHER: 0x9999}),
        BAD_ENCRYPTION,
        ("MQMQ-2.2.19.3.encryption-algorithm-refused",),
        insecure=True,
        packets="odd",
    ),
    Case(
        "rejected-in-silence",
        (
            *opening_with(
                Message("no queue", ABSENT, asks=PA | NR),
                Message("no transaction", TRANSACTIONAL, asks=PA | NR),
                Message("a transaction", PLAIN, number=1, asks=PA | NR),
                Message("control", asks=PA),
            ),
            reaches("control"),
            *(
                Never("UserMessage", name, ("MQQB-3.1.7.15.requested",), for_ms=300)
                for name in ("no queue", "no transaction", "a transaction")
            ),
        ),
        ADMIN,
        queues=(PLAIN, TRANSACTIONAL),
    ),
    Case(
        "not-authenticated",
        (
            *opening_with(Message("control", asks=PA)),
            reaches("control"),
            Tell((Message("unsigned", AUTHENTICATED, asks=PA),)),
            Never("UserMessage", "unsigned", ("MQDMPR-3.1.1.2.authentication",), REACHED),
        ),
        queues=(PLAIN, AUTHENTICATED),
    ),
    Case(
        "not-encrypted",
        (
            *opening_with(Message("control", asks=PA)),
            reaches("control"),
            Tell((Message("clear", PRIVATE, asks=PA),)),
            Never("UserMessage", "clear", ("MQDMPR-3.1.1.2.privacy-level-body",), REACHED),
        ),
        queues=(PLAIN, PRIVATE),
    ),
)


def headers() -> Iterable[tuple[str, str, Values]]:
    """Yield optional headers by name, and the demand that a message with one is taken."""
    yield "debug", f"{ATTRIBUTE}tracing-not-requested", {"BaseHeader.Flags.DH": 1, "DebugHeader.Flags.QT": 0}
    yield "sender", f"{ATTRIBUTE}class-ack-reach-queue", {
        "SecurityHeader.Flags.ST": 2, "SecurityHeader.Flags.AI": 1,
        "SecurityHeader.SecurityData.SecurityID": OWN,
    }  # fmt: skip
    yield "soap", f"{ATTRIBUTE}class-ack-reach-queue", {"SoapHeader.Header": "<h/>", "SoapHeader.Body": "<b/>"}
    yield "extension", f"{ATTRIBUTE}class-ack-reach-queue", {"MessagePropertiesHeader.ExtensionData": b"\x01\x02\x03"}
    yield (
        "connector",
        f"{ATTRIBUTE}class-ack-reach-queue",
        {"UserHeader.ConnectorType": _CONNECTOR},
    )


_USER, _OF_MESSAGE = "UserHeader.Flags.", "MQMQ-2.2.19.2."
# Fields of an acknowledgment, as of any message that a queue manager makes, and the entries that tell of their values.
_MARKS: Final = (
    ("MessagePropertiesHeader.PrivacyLevel", 0, (f"{ATTRIBUTE}default-privacy-level",)),
    ("MessagePropertiesHeader.HashAlgorithm", 0x8004, (f"{ATTRIBUTE}default-hash-algorithm",)),
    ("MessagePropertiesHeader.EncryptionAlgorithm", 0x6801, (f"{ATTRIBUTE}default-encryption-algorithm",)),
    (f"{_USER}SH", 0, (f"{ATTRIBUTE}default-authentication-level",)),
    (f"{_USER}CQ", 0, (f"{ATTRIBUTE}connector-type",)),
    (f"{_USER}TH", 0, (f"{ATTRIBUTE}transactional-sequence",)),
    (f"{_USER}DM", 0, (f"{_OF_MESSAGE}express",)),
    (f"{_USER}AQ", 0, (f"{_OF_MESSAGE}admin-type-none", f"{ATTRIBUTE}administration-type-none")),
    (f"{_USER}DQ", 7, (f"{ATTRIBUTE}destination-type-direct", f"{ATTRIBUTE}destination-queue-type")),
    (f"{_USER}RQ", 7, (f"{ATTRIBUTE}response-type-direct", f"{ATTRIBUTE}response-queue-type")),
)
_KEPT_MARKS: Final = ((f"{_USER}DM", 1, (f"{_OF_MESSAGE}recoverable",)),)


def _marked(about: str, marks: Iterable[tuple[str, int, tuple[str, ...]]]) -> Iterable[Comes]:
    """Yield demands on single fields of the word of an arrival."""
    for key, value, requirements in marks:
        for requirement in requirements:
            yield Comes("UserMessage", about, (), REACHED, values={key: (value, requirement)})


_TOO_MANY: Final = f"{CLASS}nack-hop-count-exceeded"
_RECEIVE: Final = (f"{CLASS}ack-receive", "MQMQ-2.2.19.3.flags-pr")
TAKEN: Final[tuple[Case, ...]] = (
    *(
        Case(
            f"with-{name}",
            (
                *opening_with(Message("bare", asks=PA), Message("more", asks=PA, more=values)),
                Comes("UserMessage", "bare", (FOUND,), REACHED),
                Comes("UserMessage", "more", (requirement,), REACHED),
            ),
            ADMIN,
            queues=(PLAIN,),
        )
        for name, requirement, values in headers()
    ),
    Case(
        "word-of-arrival",
        (
            *opening_with(
                Message("express", asks=PA),
                Message("recoverable", recoverable=True, asks=PA),
                Message("silent"),
                Message("long", asks=PA, body=b"x" * 5_000),
                Message("answered", asks=PA, answer=True),
            ),
            *map(reaches, ("express", "recoverable", "long", "answered")),
            *_marked("express", _MARKS),
            *_marked("recoverable", _KEPT_MARKS),
            Never("UserMessage", "silent", ("MQQB-3.1.7.15.requested",), for_ms=800),
        ),
        (*ADMIN, *CONNECTING, f"{_OF_MESSAGE}sent-time"),
        queues=(PLAIN,),
    ),
    Case(
        "many-hops-to-its-own-queue",  # The hops are looked at where a message is to be passed on, MS-MQQB 3.1.5.8.2.
        (
            *opening_with(Message("arrived", recoverable=True, asks=PA | NA, more=_ONWARDS)),
            Comes("UserMessage", "arrived", (_TOO_MANY,), REACHED),
            Never("UserMessage", "arrived", (_TOO_MANY,), TOO_MANY_HOPS, for_ms=300),
        ),
        ADMIN,
        queues=(PLAIN,),
    ),
    Case(
        "word-of-a-transactional-arrival",
        (*opening_with(Message("first", TRANSACTIONAL, number=1, asks=PA)), reaches("first"), order("first")),
        (*ADMIN, *ORDERED),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "word-of-a-receive",
        (
            *opening_with(Message("taken", recoverable=True, asks=PR | PA)),
            reaches("taken"),
            Comes("UserMessage", "taken", _RECEIVE, RECEIVED, within_ms=12_000),
        ),
        ADMIN,
        queues=(PLAIN,),
        consumed=(PLAIN,),
    ),
    Case(
        "a-final-acknowledgment",
        (
            *opening_with(Message("taken", TRANSACTIONAL, number=1, more={"TransactionHeader.Flags.FA": 1})),
            order("taken"),
            Comes("FinalAck", "taken", (f"{ATTRIBUTE}final-ack-sent",), RECEIVED, within_ms=12_000),
        ),
        (*FINAL, *ORDERED, "MQQB-3.1.7.2.2.wanted"),
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
    Case(
        "no-final-acknowledgment",
        (
            *opening_with(Message("taken", TRANSACTIONAL, number=1)),
            order("taken"),
            Never("FinalAck", "taken", ("MQQB-3.1.7.2.2.wanted",), RECEIVED, for_ms=3_000),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
    Case(
        "traced",
        (
            *opening_with(Message("traced", asks=PA, more=_TRACED)),
            reaches("traced"),
            Comes(
                "UserMessage", "traced",
                _TRACING,
                REPORT, may=_NO_REPORT, unless="reports",
            ),
        ),
        judged=_REPORTED,
        queues=(PLAIN,),
    ),
    Case(
        "not-traced",
        (
            *opening_with(Message("untraced", asks=PA)),
            reaches("untraced"),
            Never("UserMessage", "untraced", (f"{ATTRIBUTE}tracing-not-requested",), REPORT, for_ms=500),
        ),
        queues=(PLAIN,),
    ),
)  # fmt: skip
_EXPIRED: Final = "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver"
_WANTED: Final = "MQQB-3.1.7.2.2.wanted"
EXPIRED: Final[tuple[Case, ...]] = (
    Case(
        "too-late",
        (
            *opening_with(Message("control", asks=PA, reach_s=60), Message("late", asks=PA | NA, reach_s=5, age_s=60)),
            reaches("control"),
            Never("UserMessage", "late", (_EXPIRED,), REACHED, for_ms=500),
            Comes("UserMessage", "late", (f"{CLASS}nack-reach-queue-timeout",), LATE),
            Tell((Message("no time", asks=PA, reach_s=0, age_s=30),)),
            Never("UserMessage", "no time", (_EXPIRED,), REACHED, for_ms=500),
        ),
        ADMIN,
        queues=(PLAIN,),
        packets="odd",
    ),
    Case(
        "never-too-late",
        (
            *opening_with(Message("old", asks=PA, age_s=3_000_000)),
            Comes("UserMessage", "old", ("MQMQ-2.2.19.1.time-to-reach-queue-infinite",), REACHED),
            Tell((Message("in time", asks=PA, reach_s=60, age_s=2),)),
            Comes("UserMessage", "in time", ("MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver",), REACHED),
        ),
        ADMIN,
        queues=(PLAIN,),
    ),
    Case(
        "not-received-in-time",
        (
            *opening_with(Message("left", "mqconform-journal", recoverable=True, asks=PA | NR, receive_s=2)),
            reaches("left"),
            Comes(
                "UserMessage",
                "left",
                (f"{CLASS}nack-receive-timeout", "MQMQ-2.2.19.3.flags-nr"),
                NOT_RECEIVED,
                within_ms=8_000,
            ),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=("mqconform-journal",),
        unread=("mqconform-journal",),
    ),
    *(
        Case(
            f"a-final-acknowledgment-of-what-is-not-received-{name}",
            (
                *opening_with(Message("left", TRANSACTIONAL, number=1, receive_s=2, more=more)),
                order("left"),
                Comes("FinalAck", "left", (_WANTED,), NOT_RECEIVED, within_ms=8_000),
            ),
            (*FINAL, *ORDERED),
            queues=(TRANSACTIONAL,),
            unread=(TRANSACTIONAL,),
        )
        for name, more in (("asked", {"TransactionHeader.Flags.FA": 1}), ("kept", {"UserHeader.Flags.JN": 1}))
    ),
)

_KINDS: Final = ("express", "recoverable", "transactional")
_ALL: Final = PA | PR | NA | NR
_REQUESTED: Final = "MQQB-3.1.7.15.requested"


@dataclass(frozen=True, slots=True)
class _Fate:
    """A way in which a message ends before it is in its queue. finals: a FinalAck finds its way without a directory."""

    name: str
    base: Message
    kinds: tuple[str, ...]
    message_class: int
    requirements: tuple[str, ...]
    insecure: bool = False
    finals: bool = True
    packets: str = "correct"


_FATES: Final = (
    _Fate(
        "no-such-queue", Message("", ABSENT), _KINDS, BAD_QUEUE,
        ("MQQB-3.1.5.8.2.no-such-queue", f"{CLASS}nack-bad-dst-q"), insecure=True,
    ),
    _Fate(
        "not-a-transactional-queue", Message("", PLAIN), _KINDS[2:], NOT_TRANSACTIONAL_Q,
        ("MQQB-3.1.5.8.2.not-transactional-queue",),
    ),
    _Fate(
        "not-a-transactional-message", Message("", TRANSACTIONAL), _KINDS[:2], NOT_TRANSACTIONAL_MSG,
        ("MQQB-3.1.5.8.2.not-transactional-message",),
    ),
    _Fate(
        "too-many-hops", Message("", None, manager="stranger", more=_ONWARDS), _KINDS[:2], TOO_MANY_HOPS,
        ("MQQB-3.1.5.8.2.hop-count-exceeded", f"{ATTRIBUTE}class-nack-hop-count-exceeded"), finals=False,
    ),
    _Fate(
        "too-late", Message("", PLAIN, reach_s=5, age_s=60), _KINDS[:2], LATE,
        (f"{CLASS}nack-reach-queue-timeout",), packets="odd",
    ),
)  # fmt: skip


def _of(kind: str, base: Message, name: str, number: int = 1) -> Message:
    """Return a message like `base` of a kind. number: its place in a sequence, if it is transactional."""
    return replace(
        base, name=f"{name} {kind}", recoverable=kind != "express", number=number if kind == "transactional" else None
    )


def _meets(fate: _Fate, kind: str) -> Case:
    """Messages that differ in what they ask for meet a fate; the first comes again, if it is not transactional.

    The rule on what was asked for judges the word that comes of the others.
    """
    asks = _of(kind, replace(fate.base, asks=_ALL), "all")
    silent = _of(kind, replace(fate.base, asks=_ALL - NA), "silent", 2)
    nowhere = _of(kind, replace(fate.base, asks=_ALL, admin=False), "nowhere", 3)
    steps: list[Step] = [*handshake(), Tell((asks, silent, nowhere))]
    if kind == "transactional" and fate.finals:
        steps += [Comes("FinalAck", one.name, fate.requirements, fate.message_class) for one in (asks, silent, nowhere)]
    steps.append(Comes("UserMessage", asks.name, fate.requirements, fate.message_class, insecure=fate.insecure))
    if kind != "transactional":
        steps.append(Tell((Message("again", recoverable=asks.recoverable, again=asks.name),)))
        steps.append(Never("UserMessage", asks.name, (DUPLICATE,), fate.message_class, for_ms=150, most=1))
    else:
        steps.append(Never("UserMessage", silent.name, (_REQUESTED,), for_ms=150))
    finals = FINAL if kind == "transactional" else ()
    queues = tuple(one for one in (fate.base.queue,) if one not in (None, ABSENT))
    return Case(f"{fate.name}-of-{kind}-messages", tuple(steps), (*ADMIN, *finals), queues=queues, packets=fate.packets)


def _each_word(kind: str) -> Case:
    """Messages with all sixteen combinations of acknowledgment bits are taken, and received."""
    queue = TRANSACTIONAL if kind == "transactional" else PLAIN
    messages = tuple(_of(kind, Message("", queue, asks=asks), f"{asks:04b}", asks + 1) for asks in range(16))
    arrived = (one for one in messages if one.asks & PA)
    received = (one for one in messages if one.asks & PR)
    unasked = [one for one in messages if not one.asks & (PA | PR)]
    return Case(
        f"each-word-of-{kind}-messages",
        (
            *opening_with(*messages),
            *(reaches(one.name) for one in arrived),
            *(
                Comes("UserMessage", one.name, (f"{CLASS}ack-receive", "MQMQ-2.2.19.3.flags-pr"), RECEIVED,
                      within_ms=12_000)
                for one in received
            ),
            *(Never("UserMessage", one.name, (_REQUESTED,), for_ms=50) for one in unasked[-1:]),
        ),
        ADMIN,
        queues=(queue,),
        consumed=(queue,),
    )  # fmt: skip


_FINAL_BITS: Final = ("UserHeader.Flags.JN", "UserHeader.Flags.JP", "TransactionHeader.Flags.FA")


def _finals() -> Iterator[Message]:
    """Yield transactional messages that ask for a FinalAck in each way, with word of the receipt and without."""
    for at, (*bits, asks) in enumerate(product((0, 1), (0, 1), (0, 1), (0, _ALL)), 1):
        more = {key: bit for key, bit in zip(_FINAL_BITS, bits, strict=True) if bit}
        yield Message(f"final {at}", TRANSACTIONAL, number=at, asks=asks, more=more)


_ENDS: Final = tuple(_finals())
_LEFT: Final = tuple(
    _of(kind, Message("", JOURNAL, asks=asks, admin=admin, receive_s=1), f"{name} left")
    for kind in _KINDS[:2]
    for name, asks, admin in (("alone", NR, True), ("all", _ALL, True), ("silent", _ALL - NR, True), ("no", NR, False))
)
_BODIES: Final = (0, 1, 2, 3, 4, 5, 7, 8, 1_023, 1_024)
_BEHIND: Final[Values] = {"UserHeader.Flags.RC": 1}  # of a message that this end passes on
_IDENTIFIER: Final = reading_id("R-MQQB-duplicate-identifier")
FATES: Final[tuple[Case, ...]] = (
    *(_meets(fate, kind) for fate in _FATES for kind in fate.kinds),
    *map(_each_word, _KINDS),
    Case(
        "each-way-to-a-final-acknowledgment",
        (
            *opening_with(*_ENDS),
            order(_ENDS[-1].name),
            *(Comes("FinalAck", one.name, (_WANTED,), RECEIVED, within_ms=12_000) for one in _ENDS if one.more),
            *(Comes("UserMessage", one.name, _RECEIVE, RECEIVED, within_ms=12_000) for one in _ENDS if one.asks),
            Never("FinalAck", _ENDS[0].name, (_WANTED,), for_ms=50),
        ),
        (*ADMIN, *FINAL),
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
    Case(
        "not-received-by-kind-and-word",
        (
            *opening_with(*_LEFT),
            *(
                Comes("UserMessage", one.name, (f"{CLASS}nack-receive-timeout", "MQMQ-2.2.19.3.flags-nr"),
                      NOT_RECEIVED, within_ms=8_000)
                for one in _LEFT
                if one.asks & NR and one.admin
            ),
            Never("UserMessage", "silent left recoverable", (_REQUESTED,), NOT_RECEIVED, for_ms=50),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=(JOURNAL,),
        unread=(JOURNAL,),
    ),
    Case(
        "a-rejected-body-of-each-size",
        (
            *opening_with(*(Message(f"{size} bytes", TRANSACTIONAL, asks=NA, answer=bool(size % 2),
                            recoverable=size % 4 > 1, body=b"\x5a" * size) for size in _BODIES)),
            *(Comes("UserMessage", f"{size} bytes", ("MQQB-3.1.7.15.body",), NOT_TRANSACTIONAL_MSG)
              for size in _BODIES),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=(TRANSACTIONAL,),
    ),
    *(
        Case(
            f"an-identifier-of-another-source-{kind}",
            (
                *opening_with(_of(kind, Message("", asks=PA), "first")),
                reaches(f"first {kind}"),
                Tell((
                    replace(
                        _of(kind, Message("", asks=PA, more=_BEHIND), "other"), source=OTHER, shares=f"first {kind}"
                    ),
                )),
                Comes("UserMessage", f"other {kind}", (DUPLICATE,), REACHED, read=(_IDENTIFIER, "ordinal")),
            ),
            ADMIN,
            queues=(PLAIN,),
        )
        for kind in _KINDS[:2]
    ),
    *(
        Case(
            f"an-identifier-of-the-{before}-message-with-a-transaction",
            (
                *opening_with(_of(before, Message("", asks=PA), "first")),
                reaches(f"first {before}"),
                Tell((Message("ordered", TRANSACTIONAL, number=1, shares=f"first {before}"),)),
                order("ordered", DUPLICATE),
            ),
            queues=(PLAIN, TRANSACTIONAL),
            packets="odd",
        )
        for before in _KINDS[:2]
    ),
    Case(
        "an-identifier-of-a-transactional-message-without-one",
        (
            *opening_with(Message("first", TRANSACTIONAL, number=1, asks=PA)),
            reaches("first"),
            Tell((Message("plain", asks=PA, shares="first"),)),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1, for_ms=300),
        ),
        queues=(PLAIN, TRANSACTIONAL),
        packets="odd",
    ),
)  # fmt: skip
_HOP_COUNT: Final = "MQQB-3.1.5.8.2.hop-count"
_ON: Final = "MQQB-3.1.1.5.passed-on"
_RC: Final = "UserHeader.Flags.RC"
_TX: Final = "TransactionHeader."


def _onwards(kind: str, name: str, number: int = 1, **other: int) -> Message:
    other = {"asks": NA, **other}
    there: Values = {
        _RC: other.pop("hops", 0),
        "UserHeader.Flags.DQ": 3,
        "UserHeader.DestinationQueue.PrivateQueueIdentifier": 7,
    }
    return _of(kind, Message("", None, manager="client", more=there, **other), name, number)  # type: ignore[arg-type]


def _passes(kind: str) -> Case:
    """A message that asks for all words is passed on, once, and nothing is told of it; another has its last hop."""
    first = _onwards(kind, "first", asks=_ALL)
    kept = {f"{_TX}TxSequenceNumber": (5, _ON), f"{_TX}PreviousTxSequenceNumber": (3, _ON)}
    transactional = kind == "transactional"
    last = _onwards(kind, "last", 5, previous=3, hops=0x1C) if transactional else _onwards(kind, "last", hops=0x1C)
    again = () if transactional else (Message("again", recoverable=first.recoverable, again=first.name),)
    return Case(
        f"{kind}-passed-on-once",
        (
            *opening_with(first, *again, last),
            Passed(first.name, _HOP_COUNT, values={_RC: (1, _HOP_COUNT)}),
            Passed(last.name, _ON, values={_RC: (0x1D, _HOP_COUNT), **(kept if transactional else {})}),
            Passed(first.name, DUPLICATE, most=1),
            Never("UserMessage", first.name, ("MQQB-3.1.5.8.10.addressee",), for_ms=150),
        ),
        packets="odd",
    )


ONWARDS: Final[tuple[Case, ...]] = (
    *map(_passes, _KINDS),
    *(
        Case(
            f"{kind}-too-late-on-its-way",
            (
                *opening_with(_onwards(kind, "in time"), _onwards(kind, "late", 2, asks=_ALL, reach_s=5, age_s=60)),
                Passed(f"in time {kind}", "MQQB-3.1.7.1.2.expired"),
                Comes("UserMessage", f"late {kind}", (f"{CLASS}nack-reach-queue-timeout",), LATE),
                Passed(f"late {kind}", "MQQB-3.1.7.1.2.expired", 0, within_ms=150),
            ),
            ADMIN,
            packets="odd",
        )
        for kind in _KINDS
    ),
)
