"""Faults of the MultiQueueFormatHeader and the SoapHeader (MS-MQMQ 2.2.18.1.4, 2.2.20.1 to 2.2.20.3, 2.2.20.7)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_read import PacketReader
from conformance.embedded.packet_write import PacketWriter


class _SameIdentifier(PacketWriter):
    def address_header(self, identifier: int, names: list[Name]) -> bytes:
        same = lay.MQF_ADMINISTRATION if identifier == lay.MQF_RESPONSE else identifier
        return super().address_header(same, names)


class ResponseListWithAdministrationId(Fault):
    """The list of response queues has the HeaderID of the administration queues."""

    name = "response-list-with-administration-id"
    breaks = ("MQMQ-2.2.20.2.header-id",)
    replaces = ("writer", _SameIdentifier)


class _SwappedLists(PacketWriter):
    def multiple_headers(self, headers: list[bytes], signature: bytes) -> bytes:
        return super().multiple_headers([headers[0], headers[2], headers[1]], signature)


class ResponseListFirst(Fault):
    """The list of response queues stands in front of that of the administration queues."""

    name = "response-list-first"
    breaks = (
        "MQMQ-2.2.20.1.administration-layout",
        "MQMQ-2.2.20.1.response-layout",
    )
    replaces = ("writer", _SwappedLists)


class _OneTooMany(PacketWriter):
    def element_count(self, count: int) -> int:
        return count + 1


class ElementCountOneTooMany(Fault):
    """ElementCount counts an end that is not there."""

    name = "element-count-one-too-many"
    breaks = ("MQMQ-2.2.20.2.element-count",)
    replaces = ("writer", _OneTooMany)


class _NamesOnly(PacketWriter):
    def address_size(self, size: int) -> int:
        return size - lay.MQF_ADDRESS.size


class AddressHeaderSizeOfNames(Fault):
    """HeaderSize counts the names and leaves the twelve bytes in front of them out."""

    name = "address-header-size-of-names"
    breaks = ("MQMQ-2.2.20.2.header-size",)
    replaces = ("writer", _NamesOnly)


class _CountedDirect(PacketWriter):
    def element_direct(self, name: Name) -> bytes:
        text = super().element_direct(name)
        return len(text).to_bytes(2, "little") + text


class ElementDirectWithCount(Fault):
    """A direct name in a list has a count in front, as one in the UserHeader has."""

    name = "element-direct-with-count"
    breaks = ("MQMQ-2.2.18.1.4.1.layout",)
    replaces = ("writer", _CountedDirect)


class _PrefixedElements(PacketWriter):
    def element_direct(self, name: Name) -> bytes:
        return "DIRECT=".encode("utf-16-le") + super().element_direct(name)


class ElementDirectWithPrefix(Fault):
    """A direct name in a list keeps its `DIRECT=`."""

    name = "element-direct-with-prefix"
    breaks = ("MQMQ-2.2.18.1.4.1.direct-format-name",)
    replaces = ("writer", _PrefixedElements)


class _ListsAsPublic(PacketWriter):
    def element_type(self, name: Name) -> int:
        return 1 if name.kind == "distribution_list" else super().element_type(name)


class DistributionListAsPublic(Fault):
    """A distribution list has the FormatType of a public queue, both being a GUID."""

    name = "distribution-list-as-public"
    breaks = (
        "MQMQ-2.2.18.1.4.format-type-distribution-list",
        "MQMQ-2.2.18.1.4.format-type-public",
    )
    replaces = ("writer", _ListsAsPublic)


class _Packed(PacketWriter):
    def element_padding(self, aligned: bytes) -> bytes:
        return b""


class ElementsPacked(Fault):
    """Private queues and distribution lists follow their FormatType without padding."""

    name = "elements-packed"
    breaks = (
        "MQMQ-2.2.18.1.4.format-name",
        "MQMQ-2.2.18.1.4.2.alignment",
        "MQMQ-2.2.18.1.7.2.source-queue-manager",
    )
    replaces = ("writer", _Packed)


class _SizeFirst(PacketWriter):
    def signature_header(self, signature: bytes) -> bytes:
        header = super().signature_header(signature)
        return header[4:8] + header[:4] + header[8:]


class MultipleSignatureSizeFirst(Fault):
    """The signature header begins with its size, as the headers of the lists do."""

    name = "multiple-signature-size-first"
    breaks = (
        "MQMQ-2.2.20.3.id-layout",
        "MQMQ-2.2.20.3.size-layout",
        "MQMQ-2.2.20.3.reserved-layout",
        "MQMQ-2.2.20.3.id",
    )
    replaces = ("writer", _SizeFirst)


class _SoapBytes(PacketWriter):
    def soap_length(self, data: bytes) -> int:
        return len(data)


class SoapLengthInBytes(Fault):
    """HeaderDataLength and BodyDataLength count bytes."""

    name = "soap-length-in-bytes"
    breaks = (
        "MQMQ-2.2.20.7.header-terminated",
        "MQMQ-2.2.20.7.body-terminated",
        "MQMQ-2.2.20.7.header-layout",
        "MQMQ-2.2.20.7.body-layout",
    )
    replaces = ("writer", _SoapBytes)


class _SameSection(PacketWriter):
    def soap_section(self, identifier: int, text: str) -> bytes:
        return super().soap_section(lay.SOAP_HEADER_SECTION, text)


class SoapBodyWithHeaderId(Fault):
    """BodySectionID is that of the header section."""

    name = "soap-body-with-header-id"
    breaks = ("MQMQ-2.2.20.7.body-section-id",)
    replaces = ("writer", _SameSection)


class _SoapLast(PacketWriter):
    def behind_properties(self, debug: bytes, soap: bytes, multiple: bytes) -> bytes:
        return super().behind_properties(debug, multiple, soap)


class SoapBehindMultiple(Fault):
    """The SoapHeader follows the MultiQueueFormatHeader."""

    name = "soap-behind-multiple"
    breaks = (
        "MQMQ-2.2.20.soap-header-layout",
        "MQMQ-2.2.20.multi-queue-header-layout",
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
    breaks = (
        "MQMQ-2.2.20.7.reserved-ignored",
        "MQMQ-2.2.20.7.reserved1-ignored",
        "MQMQ-2.2.20.2.reserved-ignored",
    )
    replaces = ("reader", _Particular)
