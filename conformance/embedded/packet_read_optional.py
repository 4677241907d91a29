"""Read the headers after the MessagePropertiesHeader (MS-MQMQ 2.2.20.1 to 2.2.20.4, 2.2.20.7, 2.2.20.8)."""

from __future__ import annotations

from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.packet_bytes import Bytes, Malformed, base64_text, require, wide_string

Json = Any
_LISTS = (
    (lay.MQF_DESTINATION, "destinations"),
    (lay.MQF_ADMINISTRATION, "administration_queues"),
    (lay.MQF_RESPONSE, "response_queues"),
)
# Two flags: HeaderSize counts the padding after the names; the name of a public queue begins at a multiple of four
# bytes. The combination that this implementation writes comes first.
_READINGS = ((False, False), (False, True), (True, False), (True, True))
_ELEMENT_KINDS = {number: kind for kind, number in lay.ELEMENT_TYPES.items()}


class OptionalReader:
    """The part of a packet's reader that reads these headers into the user_message. Malformed ones raise Malformed."""

    def debug(self, source: Bytes, message: dict[str, Json]) -> None:
        """DebugHeader."""
        flags, _ = source.unpack(lay.DEBUG)
        kind = flags & 3
        require(kind < 2)
        if kind:
            message["trace_queue"] = lay.guid_text(source.take(16))

    def session(self, source: Bytes) -> dict[str, Json]:
        """SessionHeader, in the form of the member `session`."""
        acknowledged, first, bits, sent, recoverable, window, _ = source.unpack(lay.SESSION)
        require(window != 0)
        return {
            "ack_sequence_number": acknowledged,
            "recoverable_ack_sequence_number": first,
            "recoverable_ack_flags": bits,
            "user_message_sequence_number": sent,
            "recoverable_message_sequence_number": recoverable,
            "window_size": window,
        }

    # SoapHeader

    def soap(self, source: Bytes, message: dict[str, Json]) -> None:
        """SoapHeader. Its second section may follow the first one with or without padding."""
        message["soap_header"] = self.soap_section(source, lay.SOAP_HEADER_SECTION)
        packed = source.at
        source.align(0)
        if source.peek(2) != lay.SOAP_BODY_SECTION.to_bytes(2, "little"):
            source.at = packed
        message["soap_body"] = self.soap_section(source, lay.SOAP_BODY_SECTION)
        source.align(0)

    def soap_section(self, source: Bytes, expected: int) -> str:
        """Read the text of one section; a length of 0 is an empty text."""
        identifier, _, length = source.unpack(lay.SOAP_SECTION)
        require(identifier == expected)
        return wide_string(source.take(2 * length)) if length else ""

    # MultiQueueFormatHeader

    def multiple(self, source: Bytes, message: dict[str, Json]) -> None:
        """MultiQueueFormatHeader."""
        for identifier, member in _LISTS:
            names = self.address_header(source, identifier)
            if names:
                message[member] = names
        require("destinations" in message)
        signature = self.signature_header(source)
        if signature:
            message["multiple_destination_signature"] = base64_text(signature)
        source.align(0)

    def signature_header(self, source: Bytes) -> bytes:
        """MQFSignatureHeader."""
        identifier, _, size = source.unpack(lay.MQF_SIGNATURE)
        require(identifier == lay.MQF_SIGNATURE_ID)
        return source.take(size)

    def address_header(self, source: Bytes, expected: int) -> list[str]:
        """MQFAddressHeader; HeaderSize may include the padding after the names or not."""
        start = source.at
        size, identifier, _, count = source.unpack(lay.MQF_ADDRESS)
        require(identifier == expected and size >= lay.MQF_ADDRESS.size)
        inside = Bytes(source.upto(start + size))
        for padding_counted, public_padded in _READINGS:
            inside.at = source.at
            try:
                names = self.elements(inside, count, public_padded=public_padded)
                inside.at += min(-inside.at % 4, inside.left) if padding_counted else 0
                require(inside.left == 0)
            except Malformed:
                continue
            source.at = start + size
            source.align(0)
            return names
        raise Malformed

    def elements(self, source: Bytes, count: int, *, public_padded: bool) -> list[str]:
        """Read `count` names."""
        require(count * 4 <= source.left)
        return [self.element(source, public_padded=public_padded) for _ in range(count)]

    def element(self, source: Bytes, *, public_padded: bool) -> str:
        """MQFFormatNameElement: the format name."""
        kind = _ELEMENT_KINDS.get(source.number(2))
        if kind == "direct":
            text = source.wide_until_null()
            require(":" in text and not text.lower().startswith("direct="))
            return f"DIRECT={text}"
        require(kind is not None)
        if kind != "public" or public_padded:
            source.align(0)
        guid = lay.guid_text(source.take(16))
        if kind == "private":
            return f"PRIVATE={guid}\\{source.number(4):08x}"
        return f"PUBLIC={guid}" if kind == "public" else f"DL={guid}"
