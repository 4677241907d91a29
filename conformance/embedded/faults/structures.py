"""Faults of structures: of diagrams, of NDR, of the transfer buffer (MS-MQMQ 2.2, MS-MQMP 2.2.3)."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.faults.base import also, fault
from conformance.embedded.ndr import FIRST_REFERENT, NdrWriter, refuse, wide
from conformance.embedded.structures import Member, Structures
from conformance.embedded.structures_ndr import DIRECT, EMPTY, NULL, SUBQUEUE, VARIANT, VECTOR
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


@fault("queue-format-union-without-tag", "structures.union_tag", "MQMQ-2.2.7.declaration", "MQMQ-2.2.7.union")
def queue_format_union_without_tag(plain, self, out, kind, size):
    """The union of QUEUE_FORMAT is written without repeating m_qft in front of it, as a C structure would be."""
    if size != 1:
        plain(out, kind, size)


@fault("queue-format-halves-swapped", "structures.suffix_and_flags", "MQMQ-2.2.7.m-suffix-and-flags")
def queue_format_halves_swapped(plain, self, value):
    """m_SuffixAndFlags has the suffix type in its upper half, as its diagram can be misread."""
    return value >> 4 | (value & 0x0F) << 4


@fault(
    "subqueue-as-direct", "structures.format_type", "MQMQ-2.2.6.queue-format-type-subqueue",
    "MQMQ-2.2.7.m-p-direct-subqueue-id",
)  # fmt: skip
def subqueue_as_direct(plain, self, kind):
    """A subqueue is written as m_qft 3, as it was before MSMQ 4.0 had a type for it."""
    return DIRECT if kind == SUBQUEUE else kind


@fault(
    "accepts-any-suffix", "structures.check_queue_format", "MQMQ-2.2.7.suffix-journal-flags",
    "MQMQ-2.2.7.suffix-none-type", "MQMQ-2.2.7.suffix-xactonly-type", "MQMQ-2.2.11.declaration",
    "MQMQ-2.2.7.suffix-none-flags",
)  # fmt: skip
def accepts_any_suffix(plain, self, kind, suffix):
    """Every suffix type is taken, with any flags and any m_qft."""
    if kind > SUBQUEUE:
        raise refuse()


@fault(
    "reserved-members-checked", "structures.ignore", "MQMQ-2.2.7.m-reserved-receiver",
    "MQMQ-2.2.13.1.w-reserved1-receiver", "MQMQ-2.2.13.1.w-reserved2-receiver", "MQMQ-2.2.13.1.w-reserved3-receiver",
)  # fmt: skip
def reserved_members_checked(plain, self, reserved):
    """A QUEUE_FORMAT or PROPVARIANT whose reserved members are not zero is refused."""
    if any(reserved):
        raise refuse()


@fault("text-without-null", "structures.text_to", "MQMQ-2.2.12.vt-lpwstr-value", "MQMQ-2.2.9.m-pwz-domain-text")
def text_without_null(plain, self, out, text):
    """Texts are written and counted without the null at their end."""
    data = wide(text)
    out.maximum(len(data) // 2)
    out.variance(len(data) // 2)
    out.raw(data)


@fault(
    "counted-array-in-bytes", "structures.element_count", "MQMQ-2.2.16.2.c-elems", "MQMQ-2.2.16.3.c-elems",
    "MQMQ-2.2.16.4.c-elems", "MQMQ-2.2.16.5.c-elems", "MQMQ-2.2.16.6.c-elems",
)  # fmt: skip
def counted_array_in_bytes(plain, self, name, count):
    """cElems of an array of numbers or GUIDs is the number of its bytes."""
    return count * {"CAUI": 2, "CAL": 4, "CAUL": 4, "CAUH": 8, "CACLSID": 16}.get(name, 1)


@fault(
    "accepts-half-a-variant-type", "structures.check_variant_type", "MQMQ-2.2.12.vt-vector-combined",
    "MQMQ-2.2.12.vt-variant-vector", "MQMQ-2.2.13.1.vt",
)  # fmt: skip
def accepts_half_a_variant_type(plain, self, kind):
    """A PROPVARIANT of VT_VECTOR without a type of elements, or of VT_VARIANT without VT_VECTOR, is taken for empty."""
    return kind if kind in (VARIANT, VECTOR) else plain(kind)


@fault(
    "empty-variant-with-value", "structures.variant_value_to", "MQMQ-2.2.12.vt-empty-value",
    "MQMQ-2.2.12.vt-null-value", "MQMQ-2.2.13.1.declaration",
)  # fmt: skip
def empty_variant_with_value(plain, self, out, kind, value):
    """A PROPVARIANT of VT_EMPTY or VT_NULL carries four bytes of zero."""
    if kind in (EMPTY, NULL):
        out.number(0, 4)
    else:
        plain(out, kind, value)


@fault("texts-between-their-pointers", "structures.element_to", "MQMQ-2.2.16.7.p-elems", "MQMQ-2.2.16.7.declaration")
def texts_between_their_pointers(plain, self, out, name, element):
    """The texts of a CALPWSTR stand each behind its pointer, not all of them behind the array."""
    plain(out, name, None if name == "CALPWSTR" else element)
    if name == "CALPWSTR" and element is not None:
        out.out[-4:] = FIRST_REFERENT.to_bytes(4, "little")
        self.text_to(out, element)


@fault("multicast-port-network-order", "structures.write_multicast_id", "MQMQ-2.2.10.m-port")
def multicast_port_network_order(plain, self, value):
    """m_port of a MULTICAST_ID is written as sockets want it, its two lower bytes swapped."""
    raw = plain(value)
    return raw[:4] + raw[4:6][::-1] + raw[6:]


@fault(
    "provider-type-behind-name", "structures.write_public_key", "MQMQ-2.2.1.ul-provider-type-place",
    "MQMQ-2.2.1.s-provider-name", "MQMQ-2.2.1.ul-provider-type",
)  # fmt: skip
def provider_type_behind_name(plain, self, value):
    """ulProviderType is written behind sProviderName."""
    key = plain(value)
    name = int.from_bytes(key[4:8], "little")
    return key[:8] + key[12 : 12 + name] + key[8:12] + key[12 + name :]


@fault(
    "message-identifier-ordinal-first", "structures.write_message_identifier", "MQMQ-2.2.18.1.3.queue-manager-guid",
    "MQMQ-2.2.18.1.3.ordinal",
)  # fmt: skip
def message_identifier_ordinal_first(plain, self, value):
    """Ordinal is written in front of QueueManagerGuid."""
    identifier = plain(value)
    return identifier[16:] + identifier[:16]


@fault("variant-without-third-reserved", "structures", "MQMQ-2.2.13.1.w-reserved3-place", "MQMQ-2.2.13.1.declaration")
class VariantWithoutThirdReserved(Structures):
    """wReserved3 has no bytes in a PROPVARIANT."""

    def write_variant(self, out: NdrWriter, value: Json) -> None:
        inner = NdrWriter()
        inner.construct(lambda: super(VariantWithoutThirdReserved, self).write_variant(inner, value))
        written = bytes(inner.out)
        out.align(8)
        out.raw(written[:4] + written[8:])


@fault("false-read-as-true", "structures.read_variant_bool", "MQMQ-2.2.14.variant-false-meaning")
def false_read_as_true(plain, self, source):
    """A VARIANT_BOOL of VARIANT_FALSE is read as true."""
    plain(source)
    return True


class _Lenient(Structures):
    """Does not look at the tables and ranges of some members."""

    unchecked: ClassVar[tuple[str, ...]] = ()

    def check_number(self, member: Member, value: int) -> int:
        unchecked = {name for kind in type(self).__mro__ for name in kind.__dict__.get("unchecked", ())}
        if member.name in unchecked:
            member = replace(member, values=(), most=None)
        return super().check_number(member, value)


@fault("accepts-long-title", "structures", "MQMP-2.2.3.2.title-buffer-size-maximum")
class AcceptsLongTitle(_Lenient):
    """ppTitle may have more than 250 WCHARs."""

    unchecked = ("ul_title_buffer_size_in_wchars",)


@fault("accepts-priority-over-7", "structures", "MQMP-2.2.3.2.priority-range")
class AcceptsPriorityOver7(_Lenient):
    """pPriority may have any value of a byte."""

    unchecked = ("p_priority",)


@fault("accepts-any-acknowledgement", "structures", "MQMP-2.2.3.2.acknowledge-values")
class AcceptsAnyAcknowledgement(_Lenient):
    """pAcknowledge may be any combination of bits, also those the list leaves out."""

    unchecked = ("p_acknowledge",)


@fault("accepts-any-algorithm", "structures", "MQMP-2.2.3.2.hash-alg-values", "MQMP-2.2.3.2.encrypt-alg-values")
class AcceptsAnyAlgorithm(_Lenient):
    """pulHashAlg and pulEncryptAlg may be any number."""

    unchecked = ("pul_hash_alg", "pul_encrypt_alg")


@fault(
    "accepts-long-format-names", "structures", "MQMP-2.2.3.2.response-format-name-length-range",
    "MQMP-2.2.3.2.admin-format-name-length-range", "MQMP-2.2.3.2.dest-format-name-length-range",
    "MQMP-2.2.3.2.ordering-format-name-length-range",
)  # fmt: skip
class AcceptsLongFormatNames(_Lenient):
    """The rooms of the four format names may be greater than 1024 WCHARs."""

    unchecked = tuple(f"ul_{name}_format_name_len" for name in ("response", "admin", "dest", "ordering"))


@fault("accepts-fourth-transfer-type", "structures.transfer_type", "MQMP-2.2.3.2.transfer-type-values")
def accepts_fourth_transfer_type(plain, self, value):
    """uTransferType 3 is taken for 2."""
    return plain(2 if value == 3 else value)


@fault(
    "body-room-forgotten", "structures.body_counts", "MQMP-2.2.3.2.alloc-body-buffer",
    "MQMP-2.2.3.2.cac-transfer-buffer-v1",
)  # fmt: skip
def body_room_forgotten(plain, self, room, length):
    """The maximum count of ppBody is its length, whatever ulAllocBodyBufferInBytes says."""
    return length, length


@fault("accepts-body-size-over-room", "structures.check_body", "MQMP-2.2.3.2.body-size-maximum")
def accepts_body_size_over_room(plain, self, values):
    """pBodySize may be greater than the room of the body."""
    plain({**values, "p_body_size": None})


@fault(
    "accepts-any-sender", "structures.check_sender", "MQMP-2.2.3.2.sender-id-none", "MQMP-2.2.3.2.sender-id-sid",
    "MQMP-2.2.3.2.sender-id-guid",
)  # fmt: skip
def accepts_any_sender(plain, self, kind, sender):
    """ppSenderID may be there for a sender of type none, and hold anything for the others."""


@fault("transfer-class-reserved-bit", "structures.check_class", "MQMP-2.2.3.2.class-reserved-zero")
def transfer_class_reserved_bit(plain, self, value):
    """A reserved bit of pClass is set."""
    return plain(value) | 0x0100


@fault(
    "auditing-bits-swapped", "structures._number_pointer_to", "MQMP-2.2.3.2.auditing-deadletter",
    "MQMP-2.2.3.2.auditing-journal", "MQMP-2.2.3.2.p-auditing",
)  # fmt: skip
def auditing_bits_swapped(plain, self, out, member, value):
    """pAuditing asks for the journal where the dead-letter queue is meant, and the other way round."""
    if member.name == "p_auditing" and value in (1, 2):
        value = 3 - value
    plain(out, member, value)


@fault(
    "accepts-unended-format-names", "structures.check_end", "MQMP-2.2.3.2.pp-response-format-name",
    "MQMP-2.2.3.2.pp-admin-format-name", "MQMP-2.2.3.2.pp-dest-format-name", "MQMP-2.2.3.2.pp-ordering-format-name",
)  # fmt: skip
def accepts_unended_format_names(plain, self, member, data):
    """A format name of Receive may fill its room without a null."""
