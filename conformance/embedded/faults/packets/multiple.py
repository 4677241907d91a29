"""Faults of the MultiQueueFormatHeader and the SoapHeader (MS-MQMQ 2.2.18.1.4, 2.2.20.1 to 2.2.20.3, 2.2.20.7)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import also, fault
from conformance.embedded.packet_bytes import require


@fault("response-list-with-administration-id", "writer.address_header", "MQMQ-2.2.20.2.header-id")
def response_list_with_administration_id(plain, self, identifier, names):
    """The list of response queues has the HeaderID of the administration queues."""
    same = lay.MQF_ADMINISTRATION if identifier == lay.MQF_RESPONSE else identifier
    return plain(same, names)


@fault(
    "response-list-first", "writer.multiple_headers", "MQMQ-2.2.20.1.administration-layout",
    "MQMQ-2.2.20.1.response-layout",
)  # fmt: skip
def response_list_first(plain, self, headers, signature):
    """The list of response queues stands in front of that of the administration queues."""
    return plain([headers[0], headers[2], headers[1]], signature)


@fault("element-count-one-too-many", "writer.element_count", "MQMQ-2.2.20.2.element-count")
def element_count_one_too_many(plain, self, count):
    """ElementCount counts an end that is not there."""
    return count + 1


@fault("address-header-size-of-names", "writer.address_size", "MQMQ-2.2.20.2.header-size")
def address_header_size_of_names(plain, self, size):
    """HeaderSize counts the names and leaves the twelve bytes in front of them out."""
    return size - lay.MQF_ADDRESS.size


@fault("element-direct-with-count", "writer.element_direct", "MQMQ-2.2.18.1.4.1.layout")
def element_direct_with_count(plain, self, name):
    """A direct name in a list has a count in front, as one in the UserHeader has."""
    text = plain(name)
    return len(text).to_bytes(2, "little") + text


@fault("element-direct-with-prefix", "writer.element_direct", "MQMQ-2.2.18.1.4.1.direct-format-name")
def element_direct_with_prefix(plain, self, name):
    """A direct name in a list keeps its `DIRECT=`."""
    return "DIRECT=".encode("utf-16-le") + plain(name)


@fault(
    "distribution-list-as-public", "writer.element_type", "MQMQ-2.2.18.1.4.format-type-distribution-list",
    "MQMQ-2.2.18.1.4.format-type-public",
)  # fmt: skip
def distribution_list_as_public(plain, self, name):
    """A distribution list has the FormatType of a public queue, both being a GUID."""
    return 1 if name.kind == "distribution_list" else plain(name)


@fault(
    "elements-packed", "writer.element_padding", "MQMQ-2.2.18.1.4.format-name", "MQMQ-2.2.18.1.4.2.alignment",
    "MQMQ-2.2.18.1.7.2.source-queue-manager",
)  # fmt: skip
def elements_packed(plain, self, aligned):
    """Private queues and distribution lists follow their FormatType without padding."""
    return b""


@fault(
    "multiple-signature-size-first", "writer.signature_header", "MQMQ-2.2.20.3.id-layout", "MQMQ-2.2.20.3.size-layout",
    "MQMQ-2.2.20.3.reserved-layout", "MQMQ-2.2.20.3.id",
)  # fmt: skip
def multiple_signature_size_first(plain, self, signature):
    """The signature header begins with its size, as the headers of the lists do."""
    header = plain(signature)
    return header[4:8] + header[:4] + header[8:]


@fault(
    "soap-length-in-bytes", "writer.soap_length", "MQMQ-2.2.20.7.header-terminated", "MQMQ-2.2.20.7.body-terminated",
    "MQMQ-2.2.20.7.header-layout", "MQMQ-2.2.20.7.body-layout",
)  # fmt: skip
def soap_length_in_bytes(plain, self, data):
    """HeaderDataLength and BodyDataLength count bytes."""
    return len(data)


@fault("soap-body-with-header-id", "writer.soap_section", "MQMQ-2.2.20.7.body-section-id")
def soap_body_with_header_id(plain, self, identifier, text):
    """BodySectionID is that of the header section."""
    return plain(lay.SOAP_HEADER_SECTION, text)


@fault(
    "soap-behind-multiple", "writer.behind_properties", "MQMQ-2.2.20.soap-header-layout",
    "MQMQ-2.2.20.multi-queue-header-layout",
)  # fmt: skip
def soap_behind_multiple(plain, self, debug, soap, multiple):
    """The SoapHeader follows the MultiQueueFormatHeader."""
    return plain(debug, multiple, soap)


@fault(
    "optional-reserved-checked", "reader.soap_section", "MQMQ-2.2.20.7.reserved-ignored",
    "MQMQ-2.2.20.7.reserved1-ignored", "MQMQ-2.2.20.2.reserved-ignored",
)  # fmt: skip
def optional_reserved_checked(plain, self, source, expected):
    """A packet is refused whose SoapHeader or lists of names have anything in their reserved fields."""
    require(source.peek(4)[2:] == bytes(2))
    return plain(source, expected)


@also("optional-reserved-checked", "reader.address_header")
def optional_reserved_checked_address_header(plain, self, source, expected):
    require(source.peek(8)[6:] == bytes(2))
    return plain(source, expected)
