"""Write the headers after the MessagePropertiesHeader (MS-MQMQ 2.2.20.1 to 2.2.20.4, 2.2.20.7, 2.2.20.8)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import MqError
from conformance.embedded.names import Name, NameParser
from conformance.embedded.packet_fields import Fields
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)


class OptionalHeaders:
    """The part of a packet's writer that makes these headers; each is empty if the message does not need it."""

    _names: NameParser

    def behind_properties(self, debug: bytes, soap: bytes, multiple: bytes) -> bytes:
        """Return the headers after the MessagePropertiesHeader, in order."""
        return debug + soap + multiple

    def trace_flags(self) -> int:
        """Return the bits of BaseHeader.Flags for a traced message."""
        return lay.BASE_TRACE | lay.BASE_DEBUG

    def debug_header(self, fields: Fields) -> bytes:
        """DebugHeader (2.2.20.8), present exactly if the message asks for tracing."""
        if not fields.flag("trace"):
            return b""
        queue = fields.guid("trace_queue")
        present = queue != lay.NULL_GUID_BYTES
        return lay.DEBUG.pack(int(present), 0) + (queue if present else b"")

    def session_header(self, fields: Fields) -> bytes:
        """SessionHeader (2.2.20.4)."""
        first, bits = (
            fields.number("recoverable_ack_sequence_number", 0, 0xFFFF),
            fields.number("recoverable_ack_flags", 0),
        )
        if bool(first) != bool(bits & 1) or (bits and not first):  # bit 0 is the first number
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return lay.SESSION.pack(
            fields.number("ack_sequence_number", 0, 0xFFFF),
            first,
            bits,
            fields.number("user_message_sequence_number", 0, 0xFFFF),
            fields.number("recoverable_message_sequence_number", 0, 0xFFFF),
            fields.number("window_size", 0x40, 0xFFFF, 1),
            0,
        )

    # SoapHeader (2.2.20.7)

    def has_soap(self, fields: Fields) -> bool:
        """Return true if there is a SoapHeader."""
        return fields.has("soap_header") or fields.has("soap_body")

    def soap_header(self, fields: Fields) -> bytes:
        """SoapHeader, each of its texts padded to a multiple of four bytes."""
        if not self.has_soap(fields):
            return b""
        header = self.soap_section(lay.SOAP_HEADER_SECTION, fields.text("soap_header"))
        return header + self.soap_section(lay.SOAP_BODY_SECTION, fields.text("soap_body"))

    def soap_section(self, identifier: int, text: str) -> bytes:
        """Return one of the two sections: identifier, length in WCHARs with the null, text."""
        data = text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        return lay.padded(lay.SOAP_SECTION.pack(identifier, 0, self.soap_length(data)) + data)

    def soap_length(self, data: bytes) -> int:
        """HeaderDataLength or BodyDataLength."""
        return len(data) // 2

    # MultiQueueFormatHeader (2.2.20.1 to 2.2.20.3)

    def multiple_header(self, fields: Fields) -> bytes:
        """MultiQueueFormatHeader: three lists of names and a signature."""
        destinations = fields.texts("destinations")
        others = ("administration_queues", "response_queues", "multiple_destination_signature")
        if not destinations:
            if any(fields.has(name) for name in others):
                raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
            return b""
        lists = (
            (lay.MQF_DESTINATION, destinations),
            (lay.MQF_ADMINISTRATION, fields.texts("administration_queues")),
            (lay.MQF_RESPONSE, fields.texts("response_queues")),
        )
        headers = [
            self.address_header(identifier, [self.element_name(text) for text in names]) for identifier, names in lists
        ]
        signature = self.signature_header(fields.data("multiple_destination_signature"))
        return self.multiple_headers(headers, signature)

    def multiple_headers(self, headers: list[bytes], signature: bytes) -> bytes:
        """Return the lists in order, and the signature."""
        return b"".join(map(lay.padded, headers)) + lay.padded(signature)

    def element_name(self, text: str) -> Name:
        """Return a name that a list can hold."""
        name = self._names.format_name(text)
        if name.kind not in ("direct", "public", "private", "distribution_list") or name.read_only:
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return name

    def address_header(self, identifier: int, names: list[Name]) -> bytes:
        """MQFAddressHeader (2.2.20.2). HeaderSize does not include the padding after it."""
        elements = b""
        for name in names:
            elements += self.element(name, lay.MQF_ADDRESS.size + len(elements))
        size = self.address_size(lay.MQF_ADDRESS.size + len(elements))
        return lay.MQF_ADDRESS.pack(size, identifier, 0, self.element_count(len(names))) + elements

    def address_size(self, size: int) -> int:
        """HeaderSize of a header of `size` bytes."""
        return size

    def element_count(self, count: int) -> int:
        """ElementCount of a list of `count` names."""
        return count

    def element(self, name: Name, at: int) -> bytes:
        """MQFFormatNameElement (2.2.18.1.4) that begins `at` bytes from the start of its header."""
        kind = self.element_type(name)
        aligned = bytes(-(at + 2) % 4)
        if name.kind == "direct":
            return kind.to_bytes(2, "little") + self.element_direct(name)
        guid = lay.guid_bytes(str(name.parts["guid"]))
        if name.kind == "public":
            return kind.to_bytes(2, "little") + guid
        if name.kind == "private":
            guid += int(name.parts["identifier"]).to_bytes(4, "little")
        return kind.to_bytes(2, "little") + self.element_padding(aligned) + guid

    def element_type(self, name: Name) -> int:
        """FormatType."""
        return lay.ELEMENT_TYPES[name.kind]

    def element_padding(self, aligned: bytes) -> bytes:
        """Return the padding between FormatType and a name that begins at a multiple of four bytes."""
        return aligned

    def element_direct(self, name: Name) -> bytes:
        """MQFDirectQueueFormatName (2.2.18.1.4.1): without `DIRECT=`, and without a count."""
        return name.text.partition("=")[2].encode("utf-16-le", "surrogatepass") + b"\0\0"

    def signature_header(self, signature: bytes) -> bytes:
        """MQFSignatureHeader (2.2.20.3)."""
        return lay.MQF_SIGNATURE.pack(lay.MQF_SIGNATURE_ID, 0, len(signature)) + signature
