"""Faults of the MultiQueueFormatHeader and the SoapHeader (MS-MQMQ 2.2.18.1.4, 2.2.20.1 to 2.2.20.3, 2.2.20.7)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_read import PacketReader
from conformance.embedded.packet_write import PacketWriter

_LISTS = (
    "MQDMPR-3.1.7.1.32.multi-queue-format-header-destination",
    "MQDMPR-3.1.7.1.32.multi-queue-format-header-administration",
    "MQDMPR-3.1.7.1.32.multi-queue-format-header-response",
)
_FILL = ("MQMQ-2.2.19.1.packet-size", "MQMQ-2.2.19.1.packet-size-headers", "MQDMPR-3.1.7.1.30.conforms")


class _SameIdentifier(PacketWriter):
    def address_header(self, identifier: int, names: list[Name]) -> bytes:
        same = lay.MQF_ADMINISTRATION if identifier == lay.MQF_RESPONSE else identifier
        return super().address_header(same, names)


class ResponseListWithAdministrationId(Fault):
    """The list of response queues has the HeaderID of the administration queues."""

    name = "response-list-with-administration-id"
    suite = "packets"
    breaks = ("MQMQ-2.2.20.2.header-id", "MQMQ-2.2.20.1.response-layout")
    replaces = ("writer", _SameIdentifier)


class _SwappedLists(PacketWriter):
    def multiple_headers(self, headers: list[bytes], signature: bytes) -> bytes:
        return super().multiple_headers([headers[0], headers[2], headers[1]], signature)


class ResponseListFirst(Fault):
    """The list of response queues stands in front of that of the administration queues."""

    name = "response-list-first"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.1.administration-layout",
        "MQMQ-2.2.20.1.response-layout",
        "MQMQ-2.2.20.2.header-id",
        *_LISTS[1:],
    )
    replaces = ("writer", _SwappedLists)


class _OneTooMany(PacketWriter):
    def element_count(self, count: int) -> int:
        return count + 1


class ElementCountOneTooMany(Fault):
    """ElementCount counts an end that is not there."""

    name = "element-count-one-too-many"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.2.element-count",
        "MQMQ-2.2.20.2.element-count-layout",
        "MQMQ-2.2.20.2.format-name-list",
        "MQMQ-2.2.20.2.format-name-list-layout",
        "MQMQ-2.2.20.2.header-size",
        "MQMQ-2.2.18.1.4.format-type-values",
        *_FILL,
    )
    replaces = ("writer", _OneTooMany)


class _NamesOnly(PacketWriter):
    def address_size(self, size: int) -> int:
        return size - lay.MQF_ADDRESS.size


class AddressHeaderSizeOfNames(Fault):
    """HeaderSize counts the names and leaves the twelve bytes in front of them out."""

    name = "address-header-size-of-names"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.2.header-size",
        "MQMQ-2.2.20.2.header-size-layout",
        "MQMQ-2.2.20.2.format-name-list",
        "MQMQ-2.2.20.2.format-name-list-layout",
        "MQMQ-2.2.20.2.element-count",
        "MQMQ-2.2.20.1.destination-layout",
        "MQMQ-2.2.20.1.administration-layout",
        "MQMQ-2.2.20.1.response-layout",
        *_FILL,
    )
    replaces = ("writer", _NamesOnly)


class _CountedDirect(PacketWriter):
    def element_direct(self, name: Name) -> bytes:
        text = super().element_direct(name)
        return len(text).to_bytes(2, "little") + text


class ElementDirectWithCount(Fault):
    """A direct name in a list has a count in front, as one in the UserHeader has."""

    name = "element-direct-with-count"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.18.1.4.1.layout",
        "MQMQ-2.2.18.1.4.1.direct-format-name",
        "MQMQ-2.2.18.1.4.1.alignment",
        "MQMQ-2.2.18.1.4.direct-format-name",
        "MQMQ-2.2.18.1.4.format-name-structure",
        "MQMQ-2.2.18.1.4.format-name",
        "MQMQ-2.2.18.1.4.format-type-direct",
        *_LISTS,
    )
    replaces = ("writer", _CountedDirect)


class _PrefixedElements(PacketWriter):
    def element_direct(self, name: Name) -> bytes:
        return "DIRECT=".encode("utf-16-le") + super().element_direct(name)


class ElementDirectWithPrefix(Fault):
    """A direct name in a list keeps its `DIRECT=`."""

    name = "element-direct-with-prefix"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.18.1.4.1.direct-format-name",
        "MQMQ-2.2.18.1.4.direct-format-name",
        "MQMQ-2.2.18.1.4.1.layout",
        *_LISTS,
    )
    replaces = ("writer", _PrefixedElements)


class _ListsAsPublic(PacketWriter):
    def element_type(self, name: Name) -> int:
        return 1 if name.kind == "distribution_list" else super().element_type(name)


class DistributionListAsPublic(Fault):
    """A distribution list has the FormatType of a public queue, both being a GUID."""

    name = "distribution-list-as-public"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.18.1.4.format-type-distribution-list",
        "MQMQ-2.2.18.1.4.format-type-public",
        "MQMQ-2.2.18.1.4.distribution-list-format-name",
        "MQMQ-2.2.18.1.4.public-format-name",
        "MQMQ-2.2.18.1.4.format-type",
        "MQMQ-2.2.18.1.4.format-name-structure",
        "MQMQ-2.2.18.1.4.2.distribution-list-identifier",
        *_LISTS,
    )
    replaces = ("writer", _ListsAsPublic)


class _Packed(PacketWriter):
    def element_padding(self, aligned: bytes) -> bytes:
        return b""


class ElementsPacked(Fault):
    """Private queues and distribution lists follow their FormatType without padding."""

    name = "elements-packed"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.18.1.7.2.source-queue-manager",
        "MQMQ-2.2.18.1.7.2.layout",
        "MQMQ-2.2.18.1.7.2.private-queue-identifier",
        "MQMQ-2.2.18.1.7.2.source-queue-manager-host",
        "MQMQ-2.2.18.1.4.2.alignment",
        "MQMQ-2.2.18.1.4.2.layout",
        "MQMQ-2.2.18.1.4.2.distribution-list-identifier",
        "MQMQ-2.2.18.1.4.format-name",
        "MQMQ-2.2.18.1.4.format-name-structure",
        "MQMQ-2.2.18.1.4.private-format-name",
        "MQMQ-2.2.18.1.4.distribution-list-format-name",
        "MQMQ-2.2.18.1.4.format-type-values",
        "MQMQ-2.2.20.2.element-count",
        "MQMQ-2.2.20.2.format-name-list",
        "MQMQ-2.2.20.2.format-name-list-layout",
        "MQMQ-2.2.20.2.header-size",
        *_LISTS,
        *_FILL,
    )
    replaces = ("writer", _Packed)


class _SizeFirst(PacketWriter):
    def signature_header(self, signature: bytes) -> bytes:
        header = super().signature_header(signature)
        return header[4:8] + header[:4] + header[8:]


class MultipleSignatureSizeFirst(Fault):
    """The signature header begins with its size, as the headers of the lists do."""

    name = "multiple-signature-size-first"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.3.id",
        "MQMQ-2.2.20.3.id-layout",
        "MQMQ-2.2.20.3.reserved",
        "MQMQ-2.2.20.3.reserved-layout",
        "MQMQ-2.2.20.3.size",
        "MQMQ-2.2.20.3.size-layout",
        "MQMQ-2.2.20.3.signature-layout",
        "MQMQ-2.2.20.1.signature-layout",
        "MQMQ-2.2.20.2.header-id-signature",
        "MQDMPR-3.1.7.1.32.multi-queue-format-header-signature",
        *_FILL,
    )
    replaces = ("writer", _SizeFirst)


class _SoapBytes(PacketWriter):
    def soap_length(self, data: bytes) -> int:
        return len(data)


class SoapLengthInBytes(Fault):
    """HeaderDataLength and BodyDataLength count bytes."""

    name = "soap-length-in-bytes"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.7.header-data-length-layout",
        "MQMQ-2.2.20.7.header-terminated",
        "MQMQ-2.2.20.7.header-layout",
        "MQMQ-2.2.20.7.body-section-id",
        "MQMQ-2.2.20.7.body-section-id-layout",
        "MQMQ-2.2.20.7.body-data-length-layout",
        "MQMQ-2.2.20.7.body-terminated",
        "MQMQ-2.2.20.7.body-layout",
        *_FILL,
    )
    replaces = ("writer", _SoapBytes)


class _SameSection(PacketWriter):
    def soap_section(self, identifier: int, text: str) -> bytes:
        return super().soap_section(lay.SOAP_HEADER_SECTION, text)


class SoapBodyWithHeaderId(Fault):
    """BodySectionID is that of the header section."""

    name = "soap-body-with-header-id"
    suite = "packets"
    breaks = ("MQMQ-2.2.20.7.body-section-id", "MQMQ-2.2.20.7.body-section-id-layout")
    replaces = ("writer", _SameSection)


class _SoapLast(PacketWriter):
    def behind_properties(self, debug: bytes, soap: bytes, multiple: bytes) -> bytes:
        return super().behind_properties(debug, multiple, soap)


class SoapBehindMultiple(Fault):
    """The SoapHeader follows the MultiQueueFormatHeader."""

    name = "soap-behind-multiple"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.soap-header-layout",
        "MQMQ-2.2.20.multi-queue-header-layout",
        "MQMQ-2.2.20.7.header-section-id",
        "MQMQ-2.2.20.7.body-section-id",
        "MQMQ-2.2.20.7.header-terminated",
        "MQMQ-2.2.20.2.header-id",
        "MQMQ-2.2.20.2.header-size",
        *_FILL,
    )
    replaces = ("writer", _SoapLast)


class _Particular(PacketReader):
    def soap_section(self, source: Bytes, expected: int) -> str:
        require(source.peek(4)[2:] == bytes(2))
        return super().soap_section(source, expected)

    def address_header(self, source: Bytes, expected: int) -> list[str]:
        require(source.peek(8)[6:] == bytes(2))
        return super().address_header(source, expected)


class OptionalReservedChecked(Fault):
    """A packet is refused whose SoapHeader or lists of names have anything in their reserved fields."""

    name = "optional-reserved-checked"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.20.7.reserved-ignored",
        "MQMQ-2.2.20.7.reserved1-ignored",
        "MQMQ-2.2.20.2.reserved-ignored",
    )
    replaces = ("reader", _Particular)


MULTIPLE_PACKET_FAULTS: tuple[type[Fault], ...] = (
    ResponseListWithAdministrationId,
    ResponseListFirst,
    ElementCountOneTooMany,
    AddressHeaderSizeOfNames,
    ElementDirectWithCount,
    ElementDirectWithPrefix,
    DistributionListAsPublic,
    ElementsPacked,
    MultipleSignatureSizeFirst,
    SoapLengthInBytes,
    SoapBodyWithHeaderId,
    SoapBehindMultiple,
    OptionalReservedChecked,
)
