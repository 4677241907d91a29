"""Faults of structures that are the bytes of their packet diagram (MS-MQMQ 2.2.1 to 2.2.22)."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from conformance.embedded.faults.base import Fault
from conformance.embedded.ndr import NdrReader
from conformance.embedded.structures import Structures
from conformance.embedded.structures_plain import ADDRESS_LENGTHS

Json = Any


class _CharacterCount(Structures):
    def provider_length(self, name: bytes) -> int:
        return len(name) // 2


class ProviderLengthInCharacters(Fault):
    """ulProviderLen counts characters; what follows the name is then looked for inside it."""

    name = "provider-length-in-characters"
    breaks = ("MQMQ-2.2.1.ul-provider-len",)
    replaces = ("structures", _CharacterCount)


class _LengthOfKeys(Structures):
    def keys_length(self, keys: int) -> int:
        return keys


class PublicKeysLengthWithoutHeader(Fault):
    """ulLen counts the keys and leaves itself and cNumofKeys out."""

    name = "public-keys-length-without-header"
    breaks = ("MQMQ-2.2.2.ul-len",)
    replaces = ("structures", _LengthOfKeys)


class _CountedHeader(Structures):
    def address_length(self, address: bytes) -> int:
        return len(address) + 4


class AddressLengthWithHeader(Fault):
    """AddressLength counts the whole TA_ADDRESS."""

    name = "address-length-with-header"
    breaks = (
        "MQMQ-2.2.4.address-length",
        "MQMQ-2.2.4.address-length-by-type",
    )
    replaces = ("structures", _CountedHeader)


class _AnyAddress(Structures):
    def check_address(self, kind: int, length: int) -> None:
        if kind in ADDRESS_LENGTHS:
            super().check_address(kind, length)


class AcceptsUnknownAddressType(Fault):
    """A TA_ADDRESS of a type that does not exist is taken, with an address of any length."""

    name = "accepts-unknown-address-type"
    breaks = (
        "MQMQ-2.2.4.address-type",
        "MQMQ-2.2.4.address",
        "MQMQ-2.2.4.address-length-by-type",
    )
    replaces = ("structures", _AnyAddress)


class _SwappedNumbers(Structures):
    def write_sequence_info(self, value: Json) -> bytes:
        raw = super().write_sequence_info(value)
        return raw[:8] + raw[12:] + raw[8:12]


class SequenceInfoPreviousFirst(Fault):
    """SEQUENCE_INFO has PrevNo in front of SeqNo."""

    name = "sequence-info-previous-first"
    breaks = (
        "MQMQ-2.2.5.declaration",
        "MQMQ-2.2.5.1.seq-no",
        "MQMQ-2.2.5.1.prev-no",
    )
    replaces = ("structures", _SwappedNumbers)


class _ForeignGuids(Structures):
    def write_object_id(self, value: Json) -> bytes:
        raw = super().write_object_id(value)
        return uuid.UUID(bytes_le=raw[:16]).bytes + raw[16:]


class ObjectIdGuidBigEndian(Fault):
    """Lineage of an OBJECTID has the byte order of RFC 4122, not that of MS-DTYP."""

    name = "object-id-guid-big-endian"
    breaks = (
        "MQMQ-2.2.8.declaration",
        "MQMQ-2.2.8.lineage",
    )
    replaces = ("structures", _ForeignGuids)


class _OneForTrue(Structures):
    def truth(self, value: bool) -> int:
        return int(value)


class VariantTrueOne(Fault):
    """VARIANT_TRUE is 1, as in most languages."""

    name = "variant-true-one"
    breaks = (
        "MQMQ-2.2.14.variant-true",
        "MQMQ-2.2.12.vt-bool-value",
    )
    replaces = ("structures", _OneForTrue)


class _HighHalfFirst(Structures):
    def write_large_integer(self, value: Json) -> bytes:
        raw = super().write_large_integer(value)
        return raw[4:] + raw[:4]


class LargeIntegerHighHalfFirst(Fault):
    """ULARGE_INTEGER has its upper four bytes first."""

    name = "large-integer-high-half-first"
    breaks = ("MQMQ-2.2.17.quad-part",)
    replaces = ("structures", _HighHalfFirst)


class _TimeStampFirst(Structures):
    def write_sequence_id(self, value: Json) -> bytes:
        raw = super().write_sequence_id(value)
        return raw[4:] + raw[:4]


class SequenceIdTimeStampFirst(Fault):
    """TxSequenceID has TimeStamp in front of Ordinal."""

    name = "sequence-id-time-stamp-first"
    breaks = (
        "MQMQ-2.2.18.1.2.ordinal",
        "MQMQ-2.2.18.1.2.time-stamp",
    )
    replaces = ("structures", _TimeStampFirst)


class _NetworkOrdinal(Structures):
    def write_message_identifier(self, value: Json) -> bytes:
        raw = super().write_message_identifier(value)
        return raw[:16] + raw[:15:-1]


class MessageIdentifierOrdinalBigEndian(Fault):
    """Ordinal of a MessageIdentifier is written most significant byte first."""

    name = "message-identifier-ordinal-big-endian"
    breaks = ("MQMQ-2.2.18.1.3.ordinal",)
    replaces = ("structures", _NetworkOrdinal)


class _ShortSha1(Structures):
    def certificate_digest(self, certificate: bytes) -> bytes:
        return hashlib.sha1(certificate, usedforsecurity=False).digest()[:16]


class CertificateDigestSha1(Fault):
    """Digest of a MQUSERSIGNCERT is the start of the certificate's SHA-1."""

    name = "certificate-digest-sha1"
    breaks = ("MQMQ-2.2.22.digest",)
    replaces = ("structures", _ShortSha1)


class _CountOfBytes(Structures):
    def write_certificates(self, value: Json) -> bytes:
        raw = super().write_certificates(value)
        return (len(raw) - 4).to_bytes(4, "little") + raw[4:]


class CertificateCountInBytes(Fault):
    """CertificateCount is the number of bytes of Certificates."""

    name = "certificate-count-in-bytes"
    breaks = ("MQMQ-2.2.21.certificate-count",)
    replaces = ("structures", _CountOfBytes)


class _ForeignUnitOfWork(Structures):
    def write_unit_of_work(self, value: Json) -> bytes:
        return uuid.UUID(bytes_le=super().write_unit_of_work(value)).bytes

    def read_unit_of_work(self, source: NdrReader) -> Json:
        return {"rgb": str(uuid.UUID(bytes=source.raw(16)))}


class UnitOfWorkBigEndian(Fault):
    """rgb of an XACTUOW has the byte order of RFC 4122, in what is written and in what is read."""

    name = "unit-of-work-big-endian"
    breaks = (
        "MQMQ-2.2.18.1.8.rgb",
        "MQMQ-5.xactuow",
    )
    replaces = ("structures", _ForeignUnitOfWork)
