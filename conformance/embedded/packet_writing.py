"""Write a UserMessage packet (MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32; MS-MQMQ 2.2.20)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.embedded.names import Name, NameParser
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

Json = Any


class Fields:
    """Typed access to the members of the protocol's user_message; a wrong one is MQ_ERROR_ILLEGAL_PROPERTY_VALUE."""

    def __init__(self, given: dict[str, Json]) -> None:
        self._given = given

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def number(self, name: str, default: int, most: int = INFINITE, least: int = 0) -> int:
        value = self._given.get(name, default)
        if type(value) is not int or not least <= value <= most:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def flag(self, name: str) -> bool:
        value = self._given.get(name, False)
        if type(value) is not bool:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def text(self, name: str) -> str:
        value = self._given.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def data(self, name: str) -> bytes:
        value = self._given.get(name, "")
        if not isinstance(value, str):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        try:
            return binascii.a2b_base64(value, strict_mode=True) if value else b""
        except (binascii.Error, ValueError):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None

    def guid(self, name: str, default: str = NULL_GUID) -> bytes:
        value = self._given.get(name, default)
        try:
            return lay.guid_bytes(value)
        except (ValueError, AttributeError, TypeError):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None

    def part(self, name: str) -> Fields | None:
        """Return a member that is an object; None if it is absent or null."""
        value = self._given.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return Fields(value)

    def texts(self, name: str) -> list[str]:
        """Return a member that is a list of at least one text; empty if it is absent or null."""
        value = self._given.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def words(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Return a member that is a list of words."""
        value = self._given.get(name, [])
        if not isinstance(value, list) or any(word not in allowed for word in value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> int:
        """Return the index of a word among the allowed ones; the first is the default."""
        value = self._given.get(name, choices[0])
        if value not in choices:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return choices.index(value)


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


class PacketWriter(OptionalHeaders):
    """Writes packets for a queue manager of identity `guid`."""

    def __init__(self, names: NameParser, guid: str) -> None:
        self._names = names
        self._guid = guid

    def encode(self, message: dict[str, Json]) -> str:
        """Return the packet of a user_message, in base64. Raises MqError if no packet can hold it."""
        return base64.b64encode(self.packet(Fields(message))).decode("ascii")

    def packet(self, fields: Fields) -> bytes:
        """Return the bytes of the packet, SessionHeader included."""
        transaction, session = fields.part("transaction"), fields.part("session")
        flags = self.priority(fields.number("priority", 3, 7), in_transaction=transaction is not None)
        security = self.security_header(fields)
        debug = self.debug_header(fields)
        if fields.flag("trace"):
            flags |= self.trace_flags()
        user = self.user_header(fields, with_transaction=transaction is not None, with_security=bool(security))
        parts = user + (self.transaction_header(transaction) if transaction else b"")
        parts += security + self.properties_header(fields)
        parts += self.behind_properties(debug, self.soap_header(fields), self.multiple_header(fields))
        if session:
            flags |= lay.BASE_SESSION
        size = lay.BASE.size + len(parts)
        if size > lay.MAX_PACKET:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        base = self.base_header(flags, size, fields.number("time_to_reach_queue", 345_600))
        return base + parts + (self.session_header(session) if session else b"")

    def priority(self, priority: int, *, in_transaction: bool) -> int:
        """BaseHeader.Flags.PR: 0 for a transactional message."""
        return 0 if in_transaction else priority

    def base_header(self, flags: int, packet_size: int, time_to_reach_queue: int) -> bytes:
        """BaseHeader (2.2.19.1); its size leaves out the SessionHeader."""
        return lay.BASE.pack(lay.VERSION, 0, flags, lay.SIGNATURE, packet_size, time_to_reach_queue)

    def user_header(self, fields: Fields, *, with_transaction: bool, with_security: bool) -> bytes:
        """UserHeader (2.2.19.2)."""
        identifier = fields.part("identifier") or Fields({})
        source = identifier.guid("source")
        destination = self._name(fields.text("destination"))
        manager = self._destination_manager(fields, destination)
        delivery = fields.choice("delivery", ("express", "recoverable"))
        if with_transaction:
            delivery = 1
        flags = fields.number("hop_count", 0, lay.MAX_HOPS)
        flags |= self.delivery_mode(delivery) << lay.USER_DELIVERY_SHIFT
        flags |= lay.USER_NEGATIVE_JOURNAL * fields.flag("negative_journaling")
        flags |= lay.USER_POSITIVE_JOURNAL * fields.flag("positive_journaling")
        flags |= lay.USER_TRANSACTION * with_transaction | lay.USER_SECURITY * with_security | lay.USER_PROPERTIES
        flags |= lay.USER_CONNECTOR * fields.has("connector_type")
        flags |= lay.USER_MULTIPLE * fields.has("destinations") | lay.USER_SOAP * self.has_soap(fields)
        queue_type, names = self._destination(destination)
        flags |= queue_type << lay.USER_DESTINATION_SHIFT
        admin = self._name(fields.text("administration_queue")) if fields.has("administration_queue") else None
        response = self._name(fields.text("response_queue")) if fields.has("response_queue") else None
        for name, shift, beside in (
            (admin, lay.USER_ADMIN_SHIFT, None),
            (response, lay.USER_RESPONSE_SHIFT, admin),
        ):
            queue_type, data = self._other_queue(name, source, manager, beside)
            flags |= queue_type << shift
            names += data
        connector = fields.guid("connector_type") if fields.has("connector_type") else b""
        fixed = lay.USER.pack(
            source,
            manager,
            fields.number("time_to_be_received", INFINITE),
            fields.number("sent_time", 0),
            identifier.number("ordinal", 0),
            flags,
        )
        return fixed + names + connector

    def delivery_mode(self, delivery: int) -> int:
        """UserHeader.Flags.DM: 0 for express, 1 for recoverable."""
        return delivery

    def transaction_header(self, fields: Fields) -> bytes:
        """TransactionHeader (2.2.20.5)."""
        sequence = fields.part("sequence_identifier") or Fields({})
        flags = fields.number("index", 0, lay.TX_INDEX_MAX) << lay.TX_INDEX_SHIFT
        flags |= lay.TX_FIRST * fields.flag("first") | lay.TX_LAST * fields.flag("last")
        flags |= lay.TX_FINAL_ACK * fields.flag("final_ack_required")
        connector = fields.guid("connector_queue_manager") if fields.has("connector_queue_manager") else b""
        flags |= lay.TX_CONNECTOR * bool(connector)
        number = fields.number("sequence_number", 1, least=1)
        header = lay.TRANSACTION.pack(
            flags,
            sequence.number("ordinal", 0),
            sequence.number("timestamp", 0),
            number,
            fields.number("previous_sequence_number", 0, number - 1),
        )
        return header + connector

    def security_header(self, fields: Fields) -> bytes:
        """SecurityHeader (2.2.20.6); empty if the message has no data for it."""
        sender_types = lay.SENDER_TYPES
        sender = fields.data("sender_identifier")
        sender_type = fields.choice("sender_identifier_type", sender_types)
        if sender and not fields.has("sender_identifier_type"):
            sender_type = sender_types.index("sid")
        if sender_type == sender_types.index("queue_manager") and not sender:
            sender = (fields.part("identifier") or Fields({})).guid("source", self._guid)
        if sender_type == 0:
            sender = b""
        elif not (lay.is_sid(sender) if sender_type == sender_types.index("sid") else len(sender) == lay.GUID_SIZE):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        provider = b""
        if fields.has("provider_type") or fields.text("provider_name"):
            provider = self.provider_info(fields.number("provider_type", 0), fields.text("provider_name"))
        items = [
            sender,
            fields.data("symmetric_key"),
            fields.data("signature"),
            fields.data("sender_certificate"),
            provider,
        ]
        if not any(items):
            return b""
        if max(map(len, items[:4])) > 0xFFFF:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        flags = sender_type | lay.SECURITY_DATA
        flags |= lay.SECURITY_ENCRYPTED * (fields.number("privacy_level", 0) != 0)
        flags |= lay.SECURITY_DEFAULT_PROVIDER * (not provider)
        return lay.SECURITY.pack(flags, *map(len, items)) + self.security_items(items)

    def provider_info(self, kind: int, name: str) -> bytes:
        """ProviderInfo: the provider's type and name."""
        return kind.to_bytes(4, "little") + name.encode("utf-16-le", "surrogatepass") + b"\0\0"

    def security_items(self, items: list[bytes]) -> bytes:
        """SecurityData: each item begins at a multiple of four bytes."""
        return b"".join(map(lay.padded, items))

    def properties_header(self, fields: Fields) -> bytes:
        """MessagePropertiesHeader (2.2.19.3): label, extension and body follow one another without padding."""
        label = fields.text("label").encode("utf-16-le", "surrogatepass")
        if len(label) // 2 >= lay.MAX_LABEL_UNITS:
            raise MqError(MQ_ERROR_LABEL_TOO_LONG)
        if label:
            label += b"\0\0"
        extension, body = fields.data("extension"), fields.data("body")
        correlation = fields.data("correlation_identifier") or bytes(20)
        if len(correlation) != 20:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        privacy, hashed, cipher = self._algorithms(fields)
        message_class = fields.number("class", 0, 0xFFFF)
        if message_class & lay.CLASS_UNUSED:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        fixed = lay.PROPERTIES.pack(
            self._acknowledgements(fields),
            self.label_length(label),
            message_class,
            correlation,
            fields.number("body_type", 0),
            fields.number("application_tag", 0),
            len(body),
            len(body),
            privacy,
            hashed,
            cipher,
            len(extension),
        )
        return self.pad_properties(fixed + label + extension + body)

    def label_length(self, label: bytes) -> int:
        """LabelLength: WCHARs, the terminating null included."""
        return len(label) // 2

    def pad_properties(self, header: bytes) -> bytes:
        """Pad the header to a multiple of four bytes."""
        return lay.padded(header)

    def _name(self, text: str) -> Name:
        name = self._names.format_name(text)
        if name.kind not in ("direct", "public", "private") or name.read_only:
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return name

    def _destination_manager(self, fields: Fields, destination: Name) -> bytes:
        """QueueManagerAddress: the manager of the queue; null for a direct name."""
        if destination.kind == "direct":
            return lay.NULL_GUID_BYTES
        if destination.kind == "private":
            return lay.guid_bytes(str(destination.parts["guid"]))
        return fields.guid("destination_queue_manager", self._guid)

    def _destination(self, name: Name) -> tuple[int, bytes]:
        if name.kind == "private":
            return lay.ON_DESTINATION, _identifier(name)
        if name.kind == "public":
            return lay.PUBLIC, lay.guid_bytes(str(name.parts["guid"]))
        return lay.DIRECT, self.direct_name(name)

    def _other_queue(self, name: Name | None, source: bytes, manager: bytes, admin: Name | None) -> tuple[int, bytes]:
        """Return type and bytes of an administration or response queue; `admin` is only given for a response queue."""
        if name is None:
            return lay.NONE, b""
        if admin is not None and admin.text == name.text:
            return lay.SAME_AS_ADMIN, b""
        if name.kind == "direct":
            return lay.DIRECT, self.direct_name(name)
        guid = lay.guid_bytes(str(name.parts["guid"]))
        if name.kind == "public":
            return lay.PUBLIC, guid
        if guid == source:
            return lay.ON_SOURCE, _identifier(name)
        if guid == manager:
            return lay.ON_DESTINATION, _identifier(name)
        if admin is not None and admin.kind == "private" and lay.guid_bytes(str(admin.parts["guid"])) == guid:
            return lay.ON_ADMIN, _identifier(name)
        return lay.ON_OTHER, guid + _identifier(name)

    def direct_name(self, name: Name) -> bytes:
        """DirectQueueFormatName (2.2.18.1.5.2): without `DIRECT=`; its length includes the null but not the padding."""
        text = name.text.partition("=")[2].encode("utf-16-le", "surrogatepass") + b"\0\0"
        if len(text) > 0xFFFF:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return lay.padded(len(text).to_bytes(2, "little") + text)

    @staticmethod
    def _algorithms(fields: Fields) -> tuple[int, int, int]:
        """Return privacy level, hash and cipher. Raises MqError unless the tables of 2.2.19.3 combine them."""
        privacy = fields.number("privacy_level", 0)
        hashed = fields.number("hash_algorithm", lay.DEFAULT_HASH)
        allowed = lay.CIPHERS_BY_PRIVACY.get(privacy, (lay.DEFAULT_ENCRYPTION, 0, *lay.ENCRYPTION_ALGORITHMS))
        cipher = fields.number("encryption_algorithm", allowed[0])
        if privacy not in lay.PRIVACY_LEVELS or hashed not in lay.HASH_ALGORITHMS or cipher not in allowed:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return privacy, hashed, cipher

    @staticmethod
    def _acknowledgements(fields: Fields) -> int:
        asked = fields.words("acknowledgements", lay.ACKNOWLEDGEMENTS)
        return sum(1 << lay.ACKNOWLEDGEMENTS.index(word) for word in set(asked))


def _identifier(name: Name) -> bytes:
    return int(name.parts["identifier"]).to_bytes(4, "little")
