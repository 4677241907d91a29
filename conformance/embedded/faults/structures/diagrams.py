"""Faults of structures that are the bytes of their packet diagram (MS-MQMQ 2.2.1 to 2.2.22)."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from conformance.embedded.faults.base import also, fault
from conformance.embedded.structures_plain import ADDRESS_LENGTHS

Json = Any


@fault("provider-length-in-characters", "structures.provider_length", "MQMQ-2.2.1.ul-provider-len")
def provider_length_in_characters(plain, self, name):
    """ulProviderLen counts characters; what follows the name is then looked for inside it."""
    return len(name) // 2


@fault("public-keys-length-without-header", "structures.keys_length", "MQMQ-2.2.2.ul-len")
def public_keys_length_without_header(plain, self, keys):
    """ulLen counts the keys and leaves itself and cNumofKeys out."""
    return keys


@fault(
    "address-length-with-header", "structures.address_length", "MQMQ-2.2.4.address-length",
    "MQMQ-2.2.4.address-length-by-type",
)  # fmt: skip
def address_length_with_header(plain, self, address):
    """AddressLength counts the whole TA_ADDRESS."""
    return len(address) + 4


@fault(
    "accepts-unknown-address-type", "structures.check_address", "MQMQ-2.2.4.address-type", "MQMQ-2.2.4.address",
    "MQMQ-2.2.4.address-length-by-type",
)  # fmt: skip
def accepts_unknown_address_type(plain, self, kind, length):
    """A TA_ADDRESS of a type that does not exist is taken, with an address of any length."""
    if kind in ADDRESS_LENGTHS:
        plain(kind, length)


@fault(
    "sequence-info-previous-first", "structures.write_sequence_info", "MQMQ-2.2.5.declaration", "MQMQ-2.2.5.1.seq-no",
    "MQMQ-2.2.5.1.prev-no",
)  # fmt: skip
def sequence_info_previous_first(plain, self, value):
    """SEQUENCE_INFO has PrevNo in front of SeqNo."""
    raw = plain(value)
    return raw[:8] + raw[12:] + raw[8:12]


@fault("object-id-guid-big-endian", "structures.write_object_id", "MQMQ-2.2.8.declaration", "MQMQ-2.2.8.lineage")
def object_id_guid_big_endian(plain, self, value):
    """Lineage of an OBJECTID has the byte order of RFC 4122, not that of MS-DTYP."""
    raw = plain(value)
    return uuid.UUID(bytes_le=raw[:16]).bytes + raw[16:]


@fault("variant-true-one", "structures.truth", "MQMQ-2.2.14.variant-true", "MQMQ-2.2.12.vt-bool-value")
def variant_true_one(plain, self, value):
    """VARIANT_TRUE is 1, as in most languages."""
    return int(value)


@fault("large-integer-high-half-first", "structures.write_large_integer", "MQMQ-2.2.17.quad-part")
def large_integer_high_half_first(plain, self, value):
    """ULARGE_INTEGER has its upper four bytes first."""
    raw = plain(value)
    return raw[4:] + raw[:4]


@fault(
    "sequence-id-time-stamp-first", "structures.write_sequence_id", "MQMQ-2.2.18.1.2.ordinal",
    "MQMQ-2.2.18.1.2.time-stamp",
)  # fmt: skip
def sequence_id_time_stamp_first(plain, self, value):
    """TxSequenceID has TimeStamp in front of Ordinal."""
    raw = plain(value)
    return raw[4:] + raw[:4]


@fault("message-identifier-ordinal-big-endian", "structures.write_message_identifier", "MQMQ-2.2.18.1.3.ordinal")
def message_identifier_ordinal_big_endian(plain, self, value):
    """Ordinal of a MessageIdentifier is written most significant byte first."""
    raw = plain(value)
    return raw[:16] + raw[:15:-1]


@fault("certificate-digest-sha1", "structures.certificate_digest", "MQMQ-2.2.22.digest")
def certificate_digest_sha1(plain, self, certificate):
    """Digest of a MQUSERSIGNCERT is the start of the certificate's SHA-1."""
    return hashlib.sha1(certificate, usedforsecurity=False).digest()[:16]


@fault("certificate-count-in-bytes", "structures.write_certificates", "MQMQ-2.2.21.certificate-count")
def certificate_count_in_bytes(plain, self, value):
    """CertificateCount is the number of bytes of Certificates."""
    raw = plain(value)
    return (len(raw) - 4).to_bytes(4, "little") + raw[4:]


@fault("unit-of-work-big-endian", "structures.write_unit_of_work", "MQMQ-2.2.18.1.8.rgb", "MQMQ-5.xactuow")
def unit_of_work_big_endian(plain, self, value):
    """rgb of an XACTUOW has the byte order of RFC 4122, in what is written and in what is read."""
    return uuid.UUID(bytes_le=plain(value)).bytes


@also("unit-of-work-big-endian", "structures.read_unit_of_work")
def unit_of_work_big_endian_read_unit_of_work(plain, self, source):
    return {"rgb": str(uuid.UUID(bytes=source.raw(16)))}
