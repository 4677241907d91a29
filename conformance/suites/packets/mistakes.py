"""Mutations of correct packets: wrong fields, parts that are there or missing wrongly, wrong security."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.judge.packets.field_compare import M, S, U
from conformance.judge.packets.misplaced_fields import compare_presence
from conformance.judge.packets.optional_headers import compare_encoded, compare_security
from conformance.judge.packets.rules_signatures import AES_PROVIDERS, RSA_AES
from conformance.judge.packets.signatures import LEVELS, SIGNERS_CERTIFICATE, SIZE, Signing, sign
from conformance.spec.catalogue import assignment, requirement_id
from conformance.suites.packets.messages import base64_of, list_values, packet_of
from conformance.verdict import Outcome
from conformance.wire import dissect, patch, rebuild
from conformance.wire.elements import READINGS
from conformance.wire.security_items import sid_bytes, simple_blob

Change = Callable[[bytes], bytes]
GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
OTHER = "909ea0fc-9078-4445-8f11-394c43cd8907"
KINDS = {
    "public": f"PUBLIC={GUID}",
    "private": f"PRIVATE={GUID}\\0000002a",
    "direct": "DIRECT=OS:host\\q",
    "distribution-list": f"DL={GUID}",
}
LISTED: dict[str, Any] = {
    "destination": KINDS["direct"],
    # The direct name takes 22 bytes, so that header alignment and element alignment differ after it.
    "destinations": list(KINDS.values()),
    "administration_queues": [KINDS["private"]],
    "response_queues": [KINDS["public"]],
    # A connector made the message, so its signature need not verify.
    "connector_type": GUID,
    "multiple_destination_signature": base64_of(bytes(range(1, 21))),
}
SOAP: dict[str, Any] = {"destination": KINDS["direct"], "soap_header": "head", "soap_body": "body"}
MULTI, SOAP_HEADER, USER, T = "MultiQueueFormatHeader.", "SoapHeader.", "UserHeader.", "TransactionHeader."
L = f"{MULTI}Destination.FormatNameList"


@dataclass(frozen=True, slots=True)
class Mistake:
    """requirement: the demand it breaks. message: of the adapter protocol. change: spoils the right bytes."""

    requirement: str
    message: Mapping[str, Any]
    change: Change

    def right(self) -> bytes:
        """Return the right packet of the message."""
        return packet_of(self.message)

    def blamed(self, data: bytes) -> list[str]:
        """Compare the message with these bytes and return the broken demands."""
        packet = dissect(data, transport="buffer")
        verdicts = compare_encoded(self.message, packet, readings=assignment("windows"))
        return [verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL]


def swapped(*keys: str) -> Change:
    """Return a change that reverses the bytes of fields."""

    def change(data: bytes) -> bytes:
        packet = dissect(data)
        for key in keys:
            at, length = packet.spans[key]
            data = data[:at] + data[at : at + length][::-1] + data[at + length :]
        return data

    return change


def exchanged(one: str, other: str) -> Change:
    """Return a change that exchanges two fields of the same width."""

    def change(data: bytes) -> bytes:
        spans = dissect(data).spans
        (a, width), (b, _) = spans[one], spans[other]
        out = bytearray(data)
        out[a : a + width], out[b : b + width] = data[b : b + width], data[a : a + width]
        return bytes(out)

    return change


def inserted(before: str, extra: bytes) -> Change:
    """Return a change that inserts extra bytes before a field."""

    def change(data: bytes) -> bytes:
        at, _ = dissect(data).spans[before]
        return data[:at] + extra + data[at:]

    return change


def cut_short(data: bytes) -> bytes:
    """Shorten the only name in Destination by two bytes, with the right size."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:-2]})


def counted(data: bytes) -> bytes:
    """Put the size of its text before the only name in Destination, as in UserHeader."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:2] + (len(raw) - 2).to_bytes(2, "little") + raw[2:]})


def retyped(kind: str, other: dict[str, Any]) -> Change:
    """Return the change of an encoder that takes a name of one kind for another."""
    message = {**LISTED, "destinations": [KINDS[kind]]}

    def change(data: bytes) -> bytes:
        assert data == packet_of(message)
        values = list_values(message, READINGS[0])
        del values[L]
        return packet_of({"destination": LISTED["destination"]}, values | {f"{L}.0.{k}": v for k, v in other.items()})

    return change


def only(kind: str) -> dict[str, Any]:
    return {**LISTED, "destinations": [KINDS[kind]]}


_OF_HEADERS: tuple[tuple[str, dict[str, Any], Change], ...] = (
    ("MQMQ-2.2.20.2.header-size-layout", LISTED, swapped(f"{MULTI}Destination.HeaderSize")),
    (
        "MQMQ-2.2.20.2.header-id-layout",
        LISTED,
        exchanged(f"{MULTI}Destination.HeaderID", f"{MULTI}Destination.Reserved"),
    ),
    (
        "MQMQ-2.2.20.2.reserved-layout",
        LISTED,
        exchanged(f"{MULTI}Destination.HeaderID", f"{MULTI}Destination.Reserved"),
    ),
    ("MQMQ-2.2.20.2.element-count-layout", LISTED, swapped(f"{MULTI}Destination.ElementCount")),
    ("MQMQ-2.2.20.2.format-name-list-layout", LISTED, inserted(f"{L}.0.FormatType", bytes(4))),
    ("MQMQ-2.2.20.1.destination-layout", LISTED, swapped(f"{MULTI}Destination.HeaderID")),
    ("MQMQ-2.2.20.1.administration-layout", LISTED, swapped(f"{MULTI}Administration.HeaderID")),
    ("MQMQ-2.2.20.1.response-layout", LISTED, swapped(f"{MULTI}Response.HeaderID")),
    ("MQMQ-2.2.20.1.signature-layout", LISTED, swapped(f"{MULTI}Signature.ID")),
    ("MQMQ-2.2.20.3.id-layout", LISTED, swapped(f"{MULTI}Signature.ID")),
    ("MQMQ-2.2.20.3.reserved-layout", LISTED, exchanged(f"{MULTI}Signature.ID", f"{MULTI}Signature.Reserved")),
    ("MQMQ-2.2.20.3.size-layout", LISTED, swapped(f"{MULTI}Signature.Size")),
    ("MQMQ-2.2.20.3.signature-layout", LISTED, swapped(f"{MULTI}Signature.Signature")),
    ("MQMQ-2.2.18.1.4.format-type", LISTED, swapped(f"{L}.0.FormatType")),
    *(
        (f"MQMQ-2.2.18.1.4.format-type-{kind}", only(kind), retyped(kind, other))
        for kind, other in (
            ("public", {"DistributionListIdentifier": GUID}),
            ("private", {"DistributionListIdentifier": GUID}),
            ("direct", {"PublicQueueIdentifier": GUID}),
            ("distribution-list", {"PublicQueueIdentifier": GUID}),
        )
    ),
    *(
        (requirement, only(kind), cut_short)
        for kind, layout in (
            ("public", "MQMQ-2.2.18.1.7.1.layout"),
            ("private", "MQMQ-2.2.18.1.7.2.layout"),
            ("direct", "MQMQ-2.2.18.1.4.1.layout"),
            ("distribution-list", "MQMQ-2.2.18.1.4.2.layout"),
        )
        for requirement in (layout, f"MQMQ-2.2.18.1.4.{kind}-format-name", "MQMQ-2.2.18.1.4.format-name")
    ),
    ("MQMQ-2.2.18.1.7.1.public-queue-identifier", LISTED, swapped(f"{L}.0.PublicQueueIdentifier")),
    ("MQMQ-2.2.18.1.7.2.private-queue-identifier", LISTED, swapped(f"{L}.1.PrivateQueueIdentifier")),
    ("MQMQ-2.2.18.1.7.2.layout", LISTED, swapped(f"{L}.1.SourceQueueManager")),
    ("MQMQ-2.2.18.1.4.1.alignment", only("direct"), counted),
    ("MQMQ-2.2.18.1.4.1.layout", only("direct"), counted),
    ("MQMQ-2.2.18.1.4.2.layout", LISTED, swapped(f"{L}.3.DistributionListIdentifier")),
    ("MQMQ-2.2.20.7.header-section-id-layout", SOAP, swapped(f"{SOAP_HEADER}HeaderSectionID")),
    ("MQMQ-2.2.20.7.reserved-layout", SOAP, exchanged(f"{SOAP_HEADER}HeaderSectionID", f"{SOAP_HEADER}Reserved")),
    ("MQMQ-2.2.20.7.header-data-length-layout", SOAP, swapped(f"{SOAP_HEADER}HeaderDataLength")),
    ("MQMQ-2.2.20.7.header-layout", SOAP, swapped(f"{SOAP_HEADER}Header")),
    ("MQMQ-2.2.20.7.body-section-id-layout", SOAP, swapped(f"{SOAP_HEADER}BodySectionID")),
    ("MQMQ-2.2.20.7.reserved1-layout", SOAP, exchanged(f"{SOAP_HEADER}BodySectionID", f"{SOAP_HEADER}Reserved1")),
    ("MQMQ-2.2.20.7.body-data-length-layout", SOAP, swapped(f"{SOAP_HEADER}BodyDataLength")),
    ("MQMQ-2.2.20.7.body-layout", SOAP, swapped(f"{SOAP_HEADER}Body")),
)
_PRIVATE_AT_HOME = {"destination": KINDS["private"], "destination_queue_manager": GUID}
_PUBLIC: dict[str, Any] = {"destination": KINDS["public"]}
_SEQUENCE: dict[str, Any] = {
    "destination": KINDS["direct"],
    "transaction": {
        "sequence_identifier": {"ordinal": 0x01020304, "timestamp": 0x05060708},
        "sequence_number": 2,
        "previous_sequence_number": 1,
        "index": 1,
        "first": True,
        "last": False,
    },
}
_OF_NAMES: tuple[tuple[str, dict[str, Any], Change], ...] = (
    (
        "MQMQ-2.2.18.1.5.1.private-queue-identifier",
        _PRIVATE_AT_HOME,
        swapped(USER + "DestinationQueue.PrivateQueueIdentifier"),
    ),
    (
        "MQMQ-2.2.18.1.5.1.layout",
        _PRIVATE_AT_HOME,
        inserted(USER + "DestinationQueue.PrivateQueueIdentifier", bytes(2)),
    ),
    ("MQMQ-2.2.18.1.5.2.layout", {"destination": KINDS["direct"]}, swapped(USER + "DestinationQueue.Count")),
    ("MQMQ-2.2.18.1.2.ordinal", _SEQUENCE, swapped(T + "TxSequenceID")),
    ("MQMQ-2.2.18.1.2.time-stamp", _SEQUENCE, swapped(T + "TxSequenceID")),
)
MISTAKES: tuple[Mistake, ...] = tuple(Mistake(*each) for each in (*_OF_HEADERS, *_OF_NAMES))


@cache
def caught() -> frozenset[str]:
    """Return the requirements that fail for a mistake whose right packet fails nothing."""
    return frozenset(
        one.requirement
        for one in MISTAKES
        if not one.blamed(one.right()) and one.requirement in one.blamed(one.change(one.right()))
    )


Message = dict[str, Any]
_GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
_OCTETS = base64_of(b"body")
PLAIN: Message = {"destination": "DIRECT=OS:host\\q", "label": "label", "body": _OCTETS, "extension": _OCTETS}
QUEUES: Message = {**PLAIN, "administration_queue": "DIRECT=OS:h\\a", "response_queue": "DIRECT=OS:h\\r"}
SENDER: Message = {
    **PLAIN,
    "sender_identifier_type": "sid",
    "sender_identifier": base64_of(bytes(range(28))),
    "sender_certificate": base64_of(bytes(range(99))),
}
PRESENCE_LISTED: Message = {**PLAIN, "destinations": ["DIRECT=OS:h\\one", f"PUBLIC={_GUID}", "DIRECT=OS:h\\two"]}
AT_ADMINISTRATION: Message = {
    **PLAIN,
    "administration_queue": f"PRIVATE={_GUID}\\00000001",
    "response_queue": f"PRIVATE={_GUID}\\00000002",
}


@dataclass(frozen=True, slots=True)
class PresenceMistake:
    """requirement: the demand it breaks. message: the message to encode. made: the mistaken bytes."""

    requirement: str
    message: Message
    made: Callable[[Message], bytes]


def blamed(message: Message, data: bytes) -> set[str]:
    """Return the demands broken in these bytes."""
    wanted = dissect(packet_of(message), transport="buffer")
    found = compare_presence(message, wanted, dissect(data, transport="buffer"))
    return {verdict.requirement for verdict in found if verdict.outcome is Outcome.FAIL}


def put_in(behind: str, extra: bytes) -> Callable[[Message], bytes]:
    """Return a mistake with extra bytes after a field."""

    def made(message: Message) -> bytes:
        data = packet_of(message)
        spans = dissect(data).spans
        at = max(sum(span) for key, span in spans.items() if key == behind or key.startswith(behind + "."))
        return data[:at] + extra + data[at:]

    return made


def left_out(field: str) -> Callable[[Message], bytes]:
    """Return a mistake that omits the bytes of a field."""

    def made(message: Message) -> bytes:
        data = packet_of(message)
        spans = [span for key, span in dissect(data).spans.items() if key.startswith(field + ".")]
        return data[: min(at for at, _ in spans)] + data[max(map(sum, spans)) :]

    return made


def padded(field: str) -> Callable[[Message], bytes]:
    """Return a mistake with a size that includes padding."""

    def made(message: Message) -> bytes:
        packet = dissect(packet_of(message))
        size = packet.fields[field]
        assert isinstance(size, int)
        at, length = packet.spans[field]
        return packet.data[:at] + (size + 4).to_bytes(length, "little") + packet.data[at + length :]

    return made


def _misnumbered(message: Message) -> bytes:
    packet = dissect(packet_of(message, {U + "Flags.RQ": 4}))
    return patch(packet, {U + "ResponseQueue.PrivateQueueIdentifier": 3})


def _shortened(message: Message) -> bytes:
    return packet_of({**message, "destinations": message["destinations"][:2]})


_U, _M, _SECURITY_HEADER = "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3.", "MQMQ-2.2.20.6."
PRESENCE_MISTAKES: tuple[PresenceMistake, ...] = (
    PresenceMistake(_U + "admin-queue-none", PLAIN, put_in(U + "DestinationQueue", bytes(4))),
    PresenceMistake(_U + "response-queue-none", {**QUEUES, "response_queue": None}, put_in(U + "AdminQueue", bytes(4))),
    PresenceMistake(_U + "admin-queue-present", QUEUES, left_out(U + "AdminQueue")),
    PresenceMistake(_U + "response-queue-present", QUEUES, left_out(U + "ResponseQueue")),
    PresenceMistake(_U + "response-queue-admin-host", AT_ADMINISTRATION, _misnumbered),
    PresenceMistake(_M + "label-absent", {**PLAIN, "label": ""}, put_in(M + "ExtensionSize", bytes(2))),
    PresenceMistake(_M + "extension-data-absent", {**PLAIN, "extension": ""}, put_in(M + "Label", b"\x01")),
    PresenceMistake(_M + "message-body-absent", {**PLAIN, "body": ""}, put_in(M + "ExtensionData", bytes(4))),
    PresenceMistake(_SECURITY_HEADER + "sender-id-size", SENDER, padded(S + "SenderIdSize")),
    PresenceMistake(_SECURITY_HEADER + "sender-cert-size-exact", SENDER, padded(S + "SenderCertSize")),
    PresenceMistake("MQMQ-2.2.20.1.destination-complete", PRESENCE_LISTED, _shortened),
)


@cache
def presence_caught() -> frozenset[str]:
    """Return the requirements that fail for a mistake whose right packet fails nothing."""
    return frozenset(
        one.requirement
        for one in PRESENCE_MISTAKES
        if not blamed(one.message, packet_of(one.message))
        and one.requirement in blamed(one.message, one.made(one.message))
    )


_SECURITY_DEMANDS, _A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
# Every item is present. Their sizes differ, and only the first is a multiple of 4.
MESSAGE: dict[str, Any] = {
    "destination": "DIRECT=OS:host\\q",
    "identifier": {"source": "11ea26c6-b6e6-4997-9595-9150557358d1", "ordinal": 7},
    "connector_type": "909ea0fc-9078-4445-8f11-394c43cd8907",
    "body": base64_of(bytes(16)),
    "privacy_level": 5,
    "encryption_algorithm": 0x660E,
    "sender_identifier_type": "sid",
    "sender_identifier": base64_of(sid_bytes("S-1-5-32-544")),
    "symmetric_key": base64_of(simple_blob(0x660E, bytes(range(61)))),
    "signature": base64_of(bytes(range(33))),
    "sender_certificate": base64_of(SIGNERS_CERTIFICATE),
    "provider_type": RSA_AES,
    "provider_name": AES_PROVIDERS[0],
}
UNSIGNED: dict[str, Any] = {
    name: MESSAGE[name]
    for name in ("destination", "identifier", "sender_identifier_type", "sender_identifier", "connector_type")
}


@dataclass(frozen=True, slots=True)
class WrongField:
    """breaks: the requirement. at, size: the bytes of the SecurityHeader to reverse; `mask`: or the bits to invert."""

    breaks: str
    at: int
    size: int
    mask: int = 0

    def packets(self) -> tuple[bytes, bytes]:
        """Return the right packet of MESSAGE and the wrong one."""
        right = packet_of(MESSAGE)
        start = dissect(right).spans["SecurityHeader"][0] + self.at
        raw = right[start : start + self.size]
        wrong = (
            raw[::-1] if not self.mask else (int.from_bytes(raw, "little") ^ self.mask).to_bytes(self.size, "little")
        )
        return right, right[:start] + wrong + right[start + self.size :]


def _at(item: str) -> tuple[int, int]:
    packet = dissect(packet_of(MESSAGE))
    start, size = packet.spans[f"SecurityHeader.SecurityData.{item}"]
    return start - packet.spans["SecurityHeader"][0], size


WRONG: tuple[WrongField, ...] = (
    WrongField(_SECURITY_DEMANDS + "flags-layout", 0, 2),
    WrongField(_SECURITY_DEMANDS + "flags-st-layout", 0, 1, 0x03),
    WrongField(_A + "sender-identifier-type-values", 0, 1, 0x02),
    WrongField(_SECURITY_DEMANDS + "flags-au-layout", 0, 1, 0x10),
    WrongField(_SECURITY_DEMANDS + "flags-eb-layout", 0, 1, 0x20),
    WrongField(_SECURITY_DEMANDS + "flags-de-layout", 0, 1, 0x40),
    WrongField(_SECURITY_DEMANDS + "flags-ai-layout", 0, 1, 0x80),
    WrongField(_SECURITY_DEMANDS + "flags-as-layout", 1, 1, 0x02),
    WrongField(_SECURITY_DEMANDS + "sender-id-size-layout", 2, 2),
    WrongField(_SECURITY_DEMANDS + "encryption-key-size-layout", 4, 2),
    WrongField(_SECURITY_DEMANDS + "signature-size-layout", 6, 2),
    WrongField(_SECURITY_DEMANDS + "sender-cert-size-layout", 8, 4),
    WrongField(_SECURITY_DEMANDS + "provider-info-size-layout", 12, 4),
    WrongField(_SECURITY_DEMANDS + "security-data-layout", 16, 100),
    WrongField(_SECURITY_DEMANDS + "security-id-layout", *_at("SecurityID")),
    WrongField(_SECURITY_DEMANDS + "encryption-key-layout", *_at("EncryptionKey")),
    WrongField(_SECURITY_DEMANDS + "signature-layout", *_at("Signature")),
    WrongField(_SECURITY_DEMANDS + "sender-cert-layout", *_at("SenderCert")),
    WrongField(_SECURITY_DEMANDS + "provider-info-layout", *_at("ProviderInfo.ProviderType")),
    WrongField(_SECURITY_DEMANDS + "provider-type-layout", *_at("ProviderInfo.ProviderType")),
    WrongField(_SECURITY_DEMANDS + "provider-name-layout", *_at("ProviderInfo.ProviderName")),
)


def failing(data: bytes, message: Mapping[str, Any]) -> frozenset[str]:
    """Return the requirements that `compare_security` finds broken under the strict readings."""
    readings = assignment("strict")
    verdicts = compare_security(message, dissect(data, transport="buffer"), profile="msmq-4.0", readings=readings)
    return frozenset(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)


def security_caught() -> frozenset[str]:
    """Return the requirements that fail for their wrong packet, if nothing fails for the right one."""
    found = set()
    for wrong in WRONG:
        right, broken = wrong.packets()
        if not failing(right, MESSAGE) and wrong.breaks in failing(broken, MESSAGE):
            found.add(requirement_id(wrong.breaks))
    level = requirement_id(_A + "authentication-level-none")
    if not failing(packet_of(UNSIGNED), UNSIGNED) and level in failing(packet_of(MESSAGE), UNSIGNED):
        found.add(level)
    found |= _levels()
    return frozenset(found)


def _levels() -> set[str]:
    """Return the requirements on levels that hold for a signature of their own kind and fail for every other kind."""
    found = set()
    for kind, level in LEVELS.items():
        message = {**UNSIGNED, "sender_certificate": MESSAGE["sender_certificate"], "authentication_level": level}
        bare = packet_of({**message, "signature": base64_of(bytes(SIZE))})
        by_kind = {each: sign(bare, Signing(each)) for each in LEVELS}
        name = requirement_id(f"{_A}authentication-level-{level}")
        told = {each: name in failing(data, message) for each, data in by_kind.items()}
        if told == {each: each != kind for each in LEVELS}:
            found.add(name)
    return found
