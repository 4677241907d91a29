"""The place of each field of a user message and its requirements: data for `field_compare`.

A requirement names keys of the layout tables. A `Place` is about the fields themselves: each must have its value at its
place. A `Region` is about a header, a flags word or reserved bytes, whose own value is arbitrary: it is misplaced when
most of the fields in it, or behind it, are not in place.

Ids of MS-MQDMPR 3.1.7.1.32 and of MS-MQMQ are mostly the keys in kebab case; the table lists the exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from conformance.spec.catalogue import requirement_id

B, U, M, T, S, D, X = (
    "BaseHeader.",
    "UserHeader.",
    "MessagePropertiesHeader.",
    "TransactionHeader.",
    "SecurityHeader.",
    "DebugHeader.",
    "SessionHeader.",
)
When: TypeAlias = tuple[str, tuple[int, ...]]
QUEUES = {"D": "DestinationQueue", "A": "AdminQueue", "R": "ResponseQueue"}


@dataclass(frozen=True, slots=True)
class Place:
    """Fields that must have their values in place.

    keys: full keys; one that ends in `.` denotes every field below it. A key named Reserved only has to be present.
    when: judged only where this field of the wanted packet has one of these values.
    """

    requirement: str
    keys: tuple[str, ...]
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A header (or `Flags` word or reserved bytes) that is present when the fields in it or behind it are in place.

    within: prefix of the keys that locate it. behind: only keys behind this field of the section locate it.
    """

    requirement: str
    within: str
    behind: str | None = None


def _fields(document: str, section: str, words: str, suffix: str = "") -> Iterator[Place]:
    """Parse words `slug=Key+Key`, without the section prefix; a slug alone is the kebab case of its key."""
    for word in words.split():
        slug, _, keys = word.partition("=")
        names = tuple(section + name for name in keys.split("+"))
        yield Place(requirement_id(f"{document}.{slug}{suffix}"), names)


def _values(document: str, selector: str, words: str, below: str = "") -> Iterator[Place]:
    """Parse words `slug=number`: where the selector has that value, it and the fields below `below` are in place."""
    for word in words.split():
        slug, _, numbers = word.partition("=")
        values = tuple(int(number, 0) for number in numbers.split("|"))
        keys = (selector, below) if below else (selector,)
        yield Place(requirement_id(f"{document}.{slug}"), keys, (selector, values))


DESTINATION_TYPES = {"private-queue": 3, "public-queue": 5, "direct-queue": 7}
ADMIN_TYPES = {
    "none": 0,
    "private-queue-on-source": 2,
    "private-queue-on-destination": 3,
    "public-queue": 5,
    "private-queue-on-other": 6,
    "direct-queue": 7,
}
RESPONSE_TYPES = {**ADMIN_TYPES, "same-as-administration-queue": 1, "private-queue-on-admin": 4}


def _queue_types() -> Iterator[Place]:
    """Yield the queue types of MS-MQMQ 2.2.19.2 and the same of MS-MQDMPR 3.1.1.12 and 3.1.7.1.32."""
    for letter, words in (
        ("D", "destination-none=0 destination-private=3 destination-public=5 destination-direct=7"),
        (
            "A",
            "admin-type-none=0 admin-private-source=2 admin-private-destination=3 admin-public=5 "
            "admin-private-other=6 admin-direct=7",
        ),
        (
            "R",
            "response-type-none=0 response-type-same=1 response-private-source=2 response-private-destination=3 "
            "response-private-admin=4 response-public=5 response-private-other=6 response-direct=7",
        ),
    ):
        yield from _values("MQMQ-2.2.19.2", f"{U}Flags.{letter}Q", words, f"{U}{QUEUES[letter]}.")
    for letter, words in (
        ("D", "destination-type-private=3 destination-type-public=5 destination-type-direct=7"),
        (
            "A",
            "administration-type-none=0 administration-type-private-on-source=2 "
            "administration-type-private-on-destination=3 administration-type-public=5 "
            "administration-type-private-on-other=6 administration-type-direct=7",
        ),
        (
            "R",
            "response-type-none=0 response-type-same-as-administration=1 response-type-private-on-source=2 "
            "response-type-private-on-destination=3 response-type-private-on-admin=4 response-type-public=5 "
            "response-type-private-on-other=6 response-type-direct=7",
        ),
    ):
        yield from _values("MQDMPR-3.1.1.12", f"{U}Flags.{letter}Q", words, f"{U}{QUEUES[letter]}.")
    for name, letter in (("destination", "D"), ("administration", "A"), ("response", "R")):
        key = f"{U}Flags.{letter}Q"
        yield Place(requirement_id(f"MQDMPR-3.1.1.12.{name}-queue-type"), (key,))
        yield Place(requirement_id(f"MQDMPR-3.1.1.12.{name}-queue-type-values"), (key,))
        types = {"D": DESTINATION_TYPES, "A": ADMIN_TYPES, "R": RESPONSE_TYPES}[letter]
        words = " ".join(f"{name}-queue-type-{slug}={number}" for slug, number in types.items())
        yield from _values("MQDMPR-3.1.7.1.32", key, words)


# Values that MS-MQDMPR 3.1.7.1.31 and .32 both name by the same words.
CLASSES = (
    "class-normal=0 class-report=1 class-ack-reach-queue=2 class-ack-receive=0x4000 class-nack-bad-dst-q=0x8000 "
    "class-nack-deleted=0x8001 class-nack-reach-queue-timeout=0x8002 class-nack-q-exceed-quota=0x8003 "
    "class-nack-access-denied=0x8004 class-nack-hop-count-exceeded=0x8005 class-nack-bad-signature=0x8006 "
    "class-nack-bad-encryption=0x8007 class-nack-not-transactional-q=0x8009 class-nack-not-transactional-msg=0x800A "
    "class-nack-unsupported-crypto-provider=0x800B class-nack-q-deleted=0xC000 class-nack-q-purged=0xC001 "
    "class-nack-receive-timeout=0xC002"
)
PRIVACY = "privacy-level-none=0 privacy-level-base=1 privacy-level-enhanced=3 privacy-level-advanced=5"
CIPHERS = (
    "encryption-algorithm-rc2=0x6602 encryption-algorithm-rc4=0x6801 encryption-algorithm-aes256=0x6610 "
    "encryption-algorithm-aes128=0x660E encryption-algorithm-aes192=0x660F"
)
HASHES = " ".join(f"hash-algorithm-0x{n:08x}=0x{n:x}" for n in (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E))
SENDERS = "sender-identifier-type-none=0 sender-identifier-type-sid=1 sender-identifier-type-queue-manager-identifier=2"
_32 = "MQDMPR-3.1.7.1.32"

PLACES: tuple[Place, ...] = (
    *_fields(
        "MQMQ-2.2.19.1",
        B,
        "version-number=VersionNumber signature=Signature packet-size=PacketSize time-to-reach-queue=TimeToReachQueue "
        "flags-pr=Flags.PR flags-in=Flags.IN flags-sh=Flags.SH flags-dh=Flags.DH flags-tr=Flags.TR",
        "-layout",
    ),
    *_fields(
        "MQMQ-2.2.19.2",
        U,
        "source-queue-manager=SourceQueueManager queue-manager-address=QueueManagerAddress "
        "time-to-be-received=TimeToBeReceived sent-time=SentTime message-id=MessageID "
        "destination-queue=DestinationQueue. admin-queue=AdminQueue. response-queue=ResponseQueue. "
        "connector-type=ConnectorType flags-rc=Flags.RC flags-dm=Flags.DM flags-jn=Flags.JN flags-jp=Flags.JP "
        "flags-dq=Flags.DQ flags-aq=Flags.AQ flags-rq=Flags.RQ flags-sh=Flags.SH flags-th=Flags.TH flags-mp=Flags.MP "
        "flags-cq=Flags.CQ flags-mq=Flags.MQ flags-ah=Flags.AH flags-hh=Flags.HH",
        "-layout",
    ),
    *_fields(
        "MQMQ-2.2.19.3",
        M,
        "flags=Flags label-length=LabelLength message-class=MessageClass correlation-id=CorrelationID "
        "body-type=BodyType application-tag=ApplicationTag message-size=MessageSize "
        "allocation-body-size=AllocationBodySize privacy-level=PrivacyLevel hash-algorithm=HashAlgorithm "
        "encryption-algorithm=EncryptionAlgorithm extension-size=ExtensionSize label=Label "
        "extension-data=ExtensionData message-body=MessageBody",
        "-layout",
    ),
    *_fields("MQMQ-2.2.19.3", M, "flags-bits=Flags.PA+Flags.PR+Flags.NA+Flags.NR"),
    *_fields(
        "MQMQ-2.2.20.4",
        X,
        "ack-sequence-number=AckSequenceNumber recoverable-ack-number=RecoverableMsgAckSeqNumber "
        "recoverable-ack-flags=RecoverableMsgAckFlags user-msg-sequence-number=UserMsgSequenceNumber "
        "recoverable-sequence-number=RecoverableMsgSeqNumber window-size=WindowSize reserved=Reserved",
        "-layout",
    ),
    *_fields(
        "MQMQ-2.2.20.5",
        T,
        "tx-sequence-id=TxSequenceID.Ordinal+TxSequenceID.TimeStamp tx-sequence-number=TxSequenceNumber "
        "previous-tx-sequence-number=PreviousTxSequenceNumber connector-qm-guid=ConnectorQMGuid flags-cg=Flags.CG "
        "flags-fa=Flags.FA flags-fm=Flags.FM flags-lm=Flags.LM flags-id=Flags.ID",
        "-layout",
    ),
    *_fields("MQMQ-2.2.20.8", D, "queue-identifier=Queue.QueueIdentifier flags-qt=Flags.QT", "-layout"),
    *_values("MQMQ-2.2.20.8", D + "Flags.QT", "queue-type-none=0 queue-type-public=1"),
    *_values("MQMQ-2.2.19.2", U + "Flags.DM", "express=0 recoverable=1"),
    *(
        place
        for bit in ("PA", "PR", "NA", "NR")
        for place in _values("MQMQ-2.2.19.3", f"{M}Flags.{bit}", f"flags-{bit.lower()}=1")
    ),
    *_values("MQMQ-2.2.19.3", M + "PrivacyLevel", "privacy-none=0", M + "MessageBody"),
    *_queue_types(),
    *_fields("MQDMPR-3.1.1.12", U, "destination-queue-manager-identifier=QueueManagerAddress"),
    *_fields(
        _32,
        B,
        "packet-size=PacketSize base-header-flags-tr=Flags.TR base-header-flags-dh=Flags.DH "
        "base-header-time-to-reach-queue=TimeToReachQueue",
    ),
    *_fields(
        _32,
        M,
        "message-properties-header-label-length=LabelLength message-properties-header-body-type=BodyType "
        "message-size=MessageSize extension-size=ExtensionSize "
        "message-properties-header-encryption-algorithm=EncryptionAlgorithm "
        "message-properties-header-hash-algorithm=HashAlgorithm "
        "message-properties-header-application-tag=ApplicationTag "
        "message-properties-header-correlation-id=CorrelationID "
        "message-properties-header-flags=Flags message-properties-header-message-class=MessageClass "
        "message-properties-header-extension-data=ExtensionData message-properties-header-label=Label "
        "message-properties-header-message-body=MessageBody message-properties-header-privacy-level=PrivacyLevel",
    ),
    *_fields(
        _32,
        S,
        "security-header-flags-au-zero=Flags.AU security-header-flags-as-zero=Flags.AS sender-cert-size=SenderCertSize "
        "provider-info-size=ProviderInfoSize security-header-flags-st=Flags.ST "
        "security-data-provider-info-provider-type=SecurityData.ProviderInfo.ProviderType "
        "security-data-provider-info-provider-name=SecurityData.ProviderInfo.ProviderName "
        "security-data-signature=SecurityData.Signature security-data-encryption-key=SecurityData.EncryptionKey "
        "security-data-security-id=SecurityData.SecurityID security-data-sender-cert=SecurityData.SenderCert",
    ),
    *_fields(
        _32,
        T,
        "transaction-header-flags-fa=Flags.FA transaction-header-flags-id=Flags.ID "
        "transaction-header-flags-fm=Flags.FM transaction-header-flags-lm=Flags.LM "
        "transaction-header-tx-sequence-number=TxSequenceNumber "
        "transaction-header-previous-tx-sequence-number=PreviousTxSequenceNumber "
        "transaction-header-tx-sequence-id=TxSequenceID.Ordinal+TxSequenceID.TimeStamp "
        "transaction-header-connector-qm-guid=ConnectorQMGuid",
    ),
    *_fields(
        _32,
        U,
        "user-header-queue-manager-address=QueueManagerAddress user-header-connector-type=ConnectorType "
        "user-header-sent-time=SentTime user-header-flags-dq=Flags.DQ user-header-flags-aq=Flags.AQ "
        "user-header-flags-rq=Flags.RQ user-header-time-to-be-received=TimeToBeReceived "
        "user-header-message-id=MessageID user-header-source-queue-manager=SourceQueueManager "
        "user-header-admin-queue=AdminQueue. user-header-destination-queue=DestinationQueue. "
        "user-header-response-queue=ResponseQueue. user-header-flags-dm=Flags.DM user-header-flags-jp=Flags.JP "
        "user-header-flags-jn=Flags.JN",
    ),
    *_fields(_32, D, "debug-header-flags-qt-set=Flags.QT debug-header-queue-identifier=Queue.QueueIdentifier"),
    *_fields(
        "MQDMPR-3.1.7.1.30",
        U,
        "transaction-header-flag=Flags.TH security-header-flag=Flags.SH properties-header-flag=Flags.MP "
        "headers=Flags.TH+Flags.SH+Flags.MP+Flags.MQ+Flags.HH",
    ),
    *_fields("MQDMPR-3.1.7.1.30", B, "debug-header-flag=Flags.DH"),
    Place(requirement_id(f"{_32}.base-header-flags-pr"), (B + "Flags.PR",), (U + "Flags.TH", (0,))),
    Place(requirement_id(f"{_32}.base-header-flags-pr-transactional"), (B + "Flags.PR",), (U + "Flags.TH", (1,))),
    Place(requirement_id(f"{_32}.default-provider-flag-set"), (S + "Flags.DE",), (S + "Flags.DE", (1,))),
    Place(requirement_id(f"{_32}.default-provider-flag-clear"), (S + "Flags.DE",), (S + "Flags.DE", (0,))),
    *_values(_32, M + "MessageClass", CLASSES),
    *_values(_32, M + "PrivacyLevel", PRIVACY),
    *_values(_32, M + "EncryptionAlgorithm", CIPHERS),
    *_values(_32, M + "HashAlgorithm", HASHES),
    *_values(_32, S + "Flags.ST", SENDERS),
    *_values(_32, U + "Flags.JP", "positive-journaling-requested-true=1 positive-journaling-requested-false=0"),
    *_values(_32, U + "Flags.JN", "negative-journaling-requested-true=1 negative-journaling-requested-false=0"),
)


def _regions(document: str, words: str) -> Iterator[Region]:
    """Parse words `slug=Within` or `slug=Within>Behind`."""
    for word in words.split():
        slug, _, place = word.partition("=")
        within, _, behind = place.partition(">")
        yield Region(requirement_id(f"{document}.{slug}"), within, behind or None)


REGIONS: tuple[Region, ...] = (
    *_regions("MQMQ-2.2.19.1", "reserved-layout=BaseHeader.>Reserved flags-layout=BaseHeader.Flags."),
    *_regions("MQMQ-2.2.19.2", "flags-layout=UserHeader.Flags."),
    *_regions("MQMQ-2.2.20.5", "flags-layout=TransactionHeader.Flags."),
    *_regions("MQMQ-2.2.20.8", "flags-layout=DebugHeader.>Flags reserved-layout=DebugHeader.>Reserved"),
    *_regions(
        "MQMQ-2.2.20",
        "base-header-layout=BaseHeader. user-header-layout=UserHeader. transaction-header-layout=TransactionHeader. "
        "security-header-layout=SecurityHeader. message-properties-header-layout=MessagePropertiesHeader. "
        "debug-header-layout=DebugHeader. soap-header-layout=SoapHeader. "
        "multi-queue-header-layout=MultiQueueFormatHeader. session-header-layout=SessionHeader.",
    ),
    *_regions(
        "MQDMPR-3.1.7.1.30",
        "transaction-header=TransactionHeader. security-header=SecurityHeader. "
        "message-properties-header=MessagePropertiesHeader. debug-header=DebugHeader.",
    ),
)
REQUIREMENTS: tuple[str, ...] = (
    *(place.requirement for place in PLACES),
    *(region.requirement for region in REGIONS),
)
