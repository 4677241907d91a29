"""Compares an encoded packet with the packet that the documents require for the same message, field by field."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from conformance.judge.packets.judge import field_json
from conformance.judge.packets.signatures import SIGNERS_CERTIFICATE
from conformance.judge.packets.user_messages import queue_name
from conformance.judge.rules import PLAIN
from conformance.spec.catalogue import requirement, requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet, dissect, encode
from conformance.wire.headers import SECTION, SESSION_HEADER_SIZE
from conformance.wire.layout import Value, bit_fields

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

SUBJECT = "packets.encode"
CONFORMS = requirement_id("MQDMPR-3.1.7.1.30.conforms")
SERIALISED = requirement_id("MQDMPR-3.1.7.1.32.serialised")
_USER_MESSAGE = ("MQMQ-2.2.18.", "MQMQ-2.2.19.", "MQMQ-2.2.20.")
_TABLE = ("MQDMPR-3.1.7.1.32.",)
ENOUGH = 2
"""Fields that a message can leave to a merely recommended default: the message's member for each."""

# Fields that a message can leave to a default nobody demands: the message's member for each.
_DEFAULTED = {
    B + "TimeToReachQueue": "time_to_reach_queue",
    M + "HashAlgorithm": "hash_algorithm",
    M + "EncryptionAlgorithm": "encryption_algorithm",
}


def compare_fields(
    message: Mapping[str, Any],
    wanted: Packet,
    found: Packet,
    *,
    evidence: Evidence | None = None,
    only: str | None = None,
) -> list[Verdict]:
    """Judge places and values: one verdict for each requirement that this message exercises, or for `only` one.

    message: a `user_message`; wanted: the packet that our encoder makes of it; found: the packet to judge. Left out are
    fields that the message leaves to a merely recommended default, and queues that the packet names in another,
    equivalent form.
    """
    free = {key for key, member in _DEFAULTED.items() if message.get(member) is None}
    free |= _same_queues(wanted, found)
    if S + "SecurityData.Signature" not in wanted.fields:  # the provider is judged only beside a signature
        free.add(S + "Flags.DE")
    return [
        *(
            _verdict(place.requirement, wrong, wanted, found, evidence)
            for place, wrong in _places(wanted, found, free, only)
        ),
        *(
            _verdict(region.requirement, wrong, wanted, found, evidence)
            for region, wrong in _differing_regions(wanted, found, only)
        ),
    ]


def as_a_whole(verdicts: Iterable[Verdict], *, evidence: Evidence | None = None) -> list[Verdict]:
    """Judge the whole packet by the verdicts on it: does it follow every rule (MS-MQDMPR 3.1.7.1.30) and place every
    attribute by the table (3.1.7.1.32)?"""
    failed = dict.fromkeys(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    musts = [name for name in failed if requirement(name).level == "must"]
    out = []
    for name, sections in ((CONFORMS, _USER_MESSAGE), (SERIALISED, _TABLE)):
        broken = [one for one in musts if one.startswith(sections)]
        outcome = Outcome.FAIL if broken else Outcome.PASS
        actual = {"broken": broken} if broken else None
        out.append(Verdict(name, outcome, SUBJECT, None, actual, evidence=evidence))
    return out


def in_place(wanted: Packet, found: Packet, key: str) -> bool:
    """Return True when a field of the wanted packet is in place in the found one."""
    if key.rpartition(".")[2].startswith("Reserved"):
        return key in found.fields or _raw(wanted, found, key) is not None
    value = wanted.fields[key]
    if found.fields.get(key) == value or _allowed(key, found):
        return True
    raw = _raw(wanted, wanted, key)
    return raw is not None and raw == _raw(wanted, found, key)


def _allowed(key: str, found: Packet) -> bool:
    """Return True for the two sizes that may differ from the wanted ones."""
    fields = found.fields
    if key == B + "PacketSize":  # Another header, or a counted SessionHeader, changes the size.
        size, length = fields.get(key), len(found.data)
        return size == length or (found.has("SessionHeader") and size == length - SESSION_HEADER_SIZE)
    if key == M + "AllocationBodySize":  # Room for more than the body (MS-MQMQ 2.2.19.3).
        allocated = fields.get(key)
        return isinstance(allocated, int) and int(fields[M + "MessageSize"]) <= allocated <= len(found.data)
    return False


def _raw(wanted: Packet, found: Packet, key: str) -> bytes | int | None:
    """Return the bytes (for a bit field, the bits) of `found` at the field's place in `wanted`; None beyond its end."""
    span = wanted.span(key)
    if span is None or span[0] + span[1] > len(found.data):
        return None
    raw = found.data[span[0] : span[0] + span[1]]
    place = bits().get(key)
    return raw if place is None else int.from_bytes(raw, "little") >> place[0] & place[1]


@cache
def bits() -> Mapping[str, tuple[int, int]]:
    """Map each bit field's key to its lowest bit and its mask."""
    return {section.key(path): (one.low, one.mask) for section in SECTION.values() for path, one in bit_fields(section)}


def _same_queues(wanted: Packet, found: Packet) -> set[str]:
    """Return the keys of queues whose type differs in the found packet although they name the same queues."""
    free = set()
    for letter, field in QUEUES.items():
        key = f"{U}Flags.{letter}Q"
        other, name = wanted.fields.get(key) != found.fields.get(key), queue_name(wanted, field)
        if other and name is not None and name == queue_name(found, field):
            free |= {key, f"{U}{field}."}
    return free


def _places(
    wanted: Packet, found: Packet, free: Collection[str], only: str | None
) -> Iterable[tuple[Place, list[str]]]:
    """Yield each place that this packet has, with its keys that are not in place."""
    for place in PLACES:
        if only not in (None, place.requirement):
            continue
        if place.when is not None and wanted.fields.get(place.when[0]) not in place.when[1]:
            continue
        keys = [key for pattern in place.keys if pattern not in free for key in below(wanted, pattern)]
        if keys and not (place.when is not None and place.when[0] in free):
            yield place, [key for key in keys if not in_place(wanted, found, key)]


def below(packet: Packet, pattern: str) -> list[str]:
    """Return the fields that a key denotes: itself, or with a trailing `.` every field of its own below it."""
    if not pattern.endswith("."):
        return [pattern] if pattern in packet.fields else []
    return [
        key
        for key in packet.fields
        if key.startswith(pattern) and not key.endswith((".Terminated", ".Inner", ".Odd", ".Complete", "Padding"))
    ]


def telling(wanted: Packet, region: Region) -> list[str]:
    """Return the fields that locate a region: those with a value; none when they are too few to locate it."""
    keys = [
        key
        for key in below(wanted, region.within)
        if wanted.fields[key] and not key.rpartition(".")[2].startswith("Reserved") and not _null(wanted.fields[key])
    ]
    if region.behind is not None:
        at = wanted.span(region.within + region.behind)
        keys = [key for key in keys if at is not None and (wanted.span(key) or (0, 0))[0] >= sum(at)]
    words = {key.rpartition(".")[0] for key in keys}
    keys = [key for key in keys if key not in words]  # the bits of a flags word locate it
    wide = [key for key in keys if key not in bits() and (wanted.span(key) or (0, 0))[1] >= ENOUGH]
    return wide or (keys if len(keys) > 1 else [])


def _null(value: Value) -> bool:
    return isinstance(value, (str, bytes)) and not set(value if isinstance(value, str) else value.hex()) - set("0-")


def _differing_regions(wanted: Packet, found: Packet, only: str | None) -> Iterable[tuple[Region, list[str]]]:
    for region in REGIONS:
        keys = telling(wanted, region) if only in (None, region.requirement) else []
        if keys:
            wrong = [key for key in keys if not in_place(wanted, found, key)]
            yield region, wrong if 2 * len(wrong) > len(keys) else []


def _verdict(requirement: str, wrong: list[str], wanted: Packet, found: Packet, evidence: Evidence | None) -> Verdict:
    if not wrong:
        return Verdict(requirement, Outcome.PASS, SUBJECT, evidence=evidence)
    expected = {key: field_json(wanted.fields[key]) for key in wrong if key in wanted.fields}
    actual = {key: field_json(found.fields.get(key)) for key in wrong}
    return Verdict(requirement, Outcome.FAIL, SUBJECT, expected, actual, evidence=evidence)


GUIDS = tuple(f"{n}09ea0fc-9078-4445-8f11-394c43cd89{n}7" for n in range(1, 9))
SID = bytes.fromhex("01020000000000052000000020020000")
FULL: dict[str, Value] = {
    **PLAIN,
    B + "TimeToReachQueue": 0x01020304,
    B + "Flags.TR": 1,
    U + "SourceQueueManager": GUIDS[0],
    U + "QueueManagerAddress": GUIDS[1],
    U + "TimeToBeReceived": 0x11121314,
    U + "SentTime": 0x21222324,
    U + "MessageID": 0x31323334,
    U + "Flags.RC": 0x13,
    U + "Flags.DM": 1,
    U + "Flags.JN": 1,
    U + "Flags.JP": 1,
    U + "AdminQueue.DirectFormatName": "OS:host\\admin",
    U + "ResponseQueue.DirectFormatName": "OS:other\\response",
    U + "ConnectorType": GUIDS[2],
    M + "Flags": 0x0D,
    M + "MessageClass": 0x8002,
    M + "CorrelationID": bytes(range(1, 21)),
    M + "BodyType": 0x1011,
    M + "ApplicationTag": 0x41424344,
    M + "ExtensionData": b"extension",
    M + "PrivacyLevel": 3,
    T + "TxSequenceID.Ordinal": 0x51525354,
    T + "TxSequenceID.TimeStamp": 0x61626364,
    T + "TxSequenceNumber": 0x71727374,
    T + "PreviousTxSequenceNumber": 0x71727373,
    T + "Flags.ID": 0x54321,
    T + "Flags.FA": 1,
    T + "Flags.FM": 1,
    T + "Flags.LM": 1,
    T + "ConnectorQMGuid": GUIDS[3],
    S + "Flags.ST": 1,
    S + "Flags.AI": 1,
    S + "Flags.EB": 1,
    S + "SecurityData.SecurityID": SID,
    S + "SecurityData.EncryptionKey": b"the key.",
    S + "SecurityData.Signature": b"the signature",
    S + "SecurityData.SenderCert": SIGNERS_CERTIFICATE,
    S + "SecurityData.ProviderInfo.ProviderType": 0x0102,
    S + "SecurityData.ProviderInfo.ProviderName": "Provider",
    D + "Queue.QueueIdentifier": GUIDS[4],
    "SoapHeader.Header": "header",
    "SoapHeader.Body": "the body",
    "MultiQueueFormatHeader.Destination.ElementCount": 0,
    X + "AckSequenceNumber": 0x0102,
    X + "RecoverableMsgAckSeqNumber": 0x1112,
    X + "RecoverableMsgAckFlags": 0x21222325,
    X + "UserMsgSequenceNumber": 0x3132,
    X + "RecoverableMsgSeqNumber": 0x4142,
    X + "WindowSize": 64,
}
_NAMES: dict[int, tuple[str, ...]] = {
    **dict.fromkeys((2, 3, 4), ("PrivateQueueIdentifier",)),
    5: ("PublicQueueIdentifier",),
    6: ("SourceQueueManager", "PrivateQueueIdentifier"),
    7: ("DirectFormatName",),
}
_NAME_VALUES: dict[str, Value] = {
    "PrivateQueueIdentifier": 0x01020304,
    "PublicQueueIdentifier": GUIDS[5],
    "SourceQueueManager": GUIDS[6],
    "DirectFormatName": "OS:host\\queue",
}
# A header is present as long as one of its values is given: the prefix of the values to remove to clear a flag.
_WITHOUT = {U + "Flags.TH": T, D + "Flags.QT": D + "Queue.", S + "Flags.ST": S + "SecurityData.SecurityID"}
_ALL_GIVEN = {"time_to_reach_queue": 0, "hash_algorithm": 0, "encryption_algorithm": 0}


def whole(when: When | None = None) -> Packet:
    """Return a right packet with every header, a telling value in every field, and `when` fulfilled."""
    values = dict(FULL)
    if when is not None:
        key, (number, *_) = when
        letter = key.rpartition(".")[2][0]
        if key in (f"{U}Flags.{one}Q" for one in QUEUES):
            field = f"{U}{QUEUES[letter]}."
            values = {name: value for name, value in values.items() if not name.startswith(field)}
            values |= {field + name: _NAME_VALUES[name] for name in _NAMES.get(number, ())}
        elif key in _WITHOUT and number == 0:
            values = {name: value for name, value in values.items() if not name.startswith(_WITHOUT[key])}
        values[key] = number
    return dissect(encode("UserMessage", values), transport="buffer")


def misplaced(packet: Packet, place: Place) -> Iterator[bytes]:
    """Yield the packet with a field of this requirement misplaced; each time the field's bytes differ."""
    keys = [key for pattern in place.keys for key in below(packet, pattern)]
    for key in keys:
        if key.rpartition(".")[2].startswith("Reserved"):
            yield packet.data[:-1]
            continue
        span, bit = packet.span(key), bits().get(key)
        if span is None:
            continue
        at, length = span
        raw = packet.data[at : at + length]
        tried = [*_orders(raw)] if bit is None else [*_words(int.from_bytes(raw, "little"), length)]
        made = [one for one in tried if _differs(raw, one, bit)]
        if bit is not None and not made:  # An empty flag in an empty word can only be replaced by its inverse.
            low, mask = bit
            made = [(int.from_bytes(raw, "little") ^ mask << low).to_bytes(length, "little")]
        if bit is None and not made:
            made = [bytes(byte ^ 0xFF for byte in raw)]
        for one in made:
            yield packet.data[:at] + one + packet.data[at + length :]
        if bit is None:
            other = packet.data[at + length : at + length + 1]
            if other and other != raw[-1:]:
                yield packet.data[: at + length - 1] + other + raw[-1:] + packet.data[at + length + 1 :]


def _orders(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes of a field reversed, and rotated by one byte."""
    yield raw[::-1]
    yield raw[-1:] + raw[:-1]


def _words(word: int, width: int) -> Iterator[bytes]:
    """Yield a flags word with its bits reversed, with its bytes reversed, and shifted up by one bit."""
    size = 8 * width
    yield int(f"{word:0{size}b}"[::-1], 2).to_bytes(width, "little")
    yield word.to_bytes(width, "big")
    yield (word << 1 & (1 << size) - 1).to_bytes(width, "little")


def _differs(raw: bytes, other: bytes, bit: tuple[int, int] | None) -> bool:
    if bit is None:
        return raw != other
    low, mask = bit
    return (int.from_bytes(raw, "little") ^ int.from_bytes(other, "little")) >> low & mask != 0


def moved(packet: Packet, region: Region) -> Iterator[bytes]:
    """Yield the packet with this region elsewhere: pushed back by a few bytes or, for reserved bytes, left out."""
    spans = [packet.span(key) for key in below(packet, region.within)]
    start = min(span[0] for span in spans if span is not None)
    if region.behind is not None:
        at, length = packet.spans[region.within + region.behind]
        yield packet.data[:at] + packet.data[at + length :]
    for count in (1, 2, 3):
        yield packet.data[:start] + bytes(count) + packet.data[start:]


def caught() -> frozenset[str]:
    """Return the requirements of `field_places` that hold for a right packet and fail for every mutation of it."""
    found = set()
    for place in PLACES:
        packet = whole(place.when)
        if _outcome(place.requirement, packet, packet.data) is Outcome.PASS and all(
            _outcome(place.requirement, packet, data) is Outcome.FAIL for data in misplaced(packet, place)
        ):
            found.add(place.requirement)
    packet = whole()
    for region in REGIONS:
        if _outcome(region.requirement, packet, packet.data) is Outcome.PASS and any(
            _outcome(region.requirement, packet, data) is Outcome.FAIL for data in moved(packet, region)
        ):
            found.add(region.requirement)
    return frozenset(found)


def _outcome(requirement: str, wanted: Packet, data: bytes) -> Outcome | None:
    verdicts = compare_fields(_ALL_GIVEN, wanted, dissect(data, transport="buffer"), only=requirement)
    return verdicts[0].outcome if verdicts else None
