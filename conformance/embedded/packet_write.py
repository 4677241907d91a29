"""Write a UserMessage packet (MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32; MS-MQMQ 2.2.20)."""

from __future__ import annotations

import base64
from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, MqError
from conformance.embedded.names import Name, NameParser
from conformance.embedded.packet_fields import Fields
from conformance.embedded.packet_write_optional import OptionalHeaders
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

Json = Any


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
