"""Read a UserMessage packet, and deliver it to the queue it names or reject it (MS-MQDMPR 3.1.7.1.31)."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.delivery import DEFAULTS, HEADER_BYTES, data_size
from conformance.embedded.entities import INFINITE, NULL_GUID, Message, MqError, Queue
from conformance.embedded.packet_layout import Bytes, Malformed, base64_text, require, wide_string
from conformance.embedded.security import sid_text
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

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


def sender_of(read: dict[str, Json]) -> str | None:
    """Return the SID of the sender of a user_message, None without one; empty for more parts than a SID can have."""
    if read.get("sender_identifier_type") != "sid":
        return None
    try:
        return sid_text(binascii.a2b_base64(read["sender_identifier"]))
    except MqError:
        return ""


_PRIVACY = {1: "base", 3: "enhanced"}
_BYTES = {"signature": "signature", "symmetric_key": "symmetric_key"}  # by the names of objects
_FOR_OBJECTS = {"provider_type": "provider_type", "provider_name": "provider_name", "connector_type": "connector"}
_DELIVERIES = ("express", "recoverable")


@dataclass(slots=True)
class UserFlags:
    """The flags of UserHeader.Flags that describe the rest of the packet."""

    flags: int

    def bit(self, mask: int) -> bool:
        return bool(self.flags & mask)

    def queue_type(self, shift: int) -> int:
        return (self.flags >> shift) & 7


class PacketReader(OptionalReader):
    """Reads packets received from the network."""

    lenient = False  # true for one that arrives: what only its rejection can answer is no error of its layout

    def arrived(self, packet: bytes) -> dict[str, Json]:
        """Return the user_message of a packet that arrives, with `encrypted` beside its members. Raises Malformed."""
        self.lenient = True
        try:
            return self.message(packet)
        finally:
            self.lenient = False

    def decode(self, packet: str) -> dict[str, Json]:
        """Return the user_message of a packet in base64. Raises MqError(MQ_ERROR_INVALID_PARAMETER) if malformed."""
        try:
            return self.message(binascii.a2b_base64(packet, strict_mode=True))
        except (binascii.Error, Malformed):
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None
        except ValueError:  # text that is not ASCII
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None

    def message(self, packet: bytes) -> dict[str, Json]:
        """Return the user_message of the bytes of a packet. Raises Malformed."""
        source = Bytes(packet)
        version, _, flags, signature, size, reach = source.unpack(lay.BASE)
        session_size = lay.SESSION.size if flags & lay.BASE_SESSION else 0
        require(version == lay.VERSION and signature == lay.SIGNATURE and not flags & lay.BASE_INTERNAL)
        require(size <= lay.MAX_PACKET and size % 4 == 0 and size + session_size == len(packet))
        require(not flags & lay.BASE_TRACE or bool(flags & lay.BASE_DEBUG))
        message: dict[str, Json] = {"priority": flags & lay.BASE_PRIORITY, "time_to_reach_queue": reach}
        message["trace"] = bool(flags & lay.BASE_TRACE)
        body = Bytes(packet[:size])
        body.at = source.at
        user = self._user(body, message)
        if user.bit(lay.USER_TRANSACTION):
            require(message["delivery"] == "recoverable")
            message["priority"] = 0  # 2.2.19.1: whatever the packet says
            message["transaction"] = self._transaction(body)
        encrypted = signed = False
        if user.bit(lay.USER_SECURITY):
            encrypted, signed = self._security(body, message)
        require(user.bit(lay.USER_PROPERTIES))
        self._properties(body, message, encrypted=encrypted, signed=signed)
        if flags & lay.BASE_DEBUG:
            self.debug(body, message)
        if not user.bit(lay.USER_HTTP):  # a packet sent over HTTP has other headers here, which are skipped
            if user.bit(lay.USER_SOAP):
                self.soap(body, message)
            if user.bit(lay.USER_MULTIPLE):
                self.multiple(body, message)
            require(body.at == size)
        if session_size:
            message["session"] = self.session(Bytes(packet[size:]))
        return message

    def _user(self, source: Bytes, message: dict[str, Json]) -> UserFlags:
        origin, manager, received, sent, ordinal, flags = source.unpack(lay.USER)
        user = UserFlags(flags)
        delivery = (flags >> lay.USER_DELIVERY_SHIFT) & 3
        hops = flags & lay.USER_HOPS
        require(delivery < len(_DELIVERIES) and hops <= lay.MAX_HOPS)
        shifts = (lay.USER_DESTINATION_SHIFT, lay.USER_ADMIN_SHIFT, lay.USER_RESPONSE_SHIFT)
        types = [user.queue_type(shift) for shift in shifts]
        require(types[0] in (lay.ON_DESTINATION, lay.PUBLIC, lay.DIRECT))
        require(types[1] not in (lay.SAME_AS_ADMIN, lay.ON_ADMIN))
        require((manager == lay.NULL_GUID_BYTES) == (types[0] == lay.DIRECT))
        message |= {
            "identifier": {"source": lay.guid_text(origin), "ordinal": ordinal},
            "destination_queue_manager": lay.guid_text(manager),
            "time_to_be_received": received,
            "sent_time": sent,
            "hop_count": hops,
            "delivery": self.delivery(delivery),
            "negative_journaling": user.bit(lay.USER_NEGATIVE_JOURNAL),
            "positive_journaling": user.bit(lay.USER_POSITIVE_JOURNAL),
        }
        message["destination"] = self._queue(source, types[0], origin, manager, None)
        admin, admin_host = None, None
        if types[1] != lay.NONE:
            admin = self._queue(source, types[1], origin, manager, None)
            message["administration_queue"] = admin
            if admin.startswith("PRIVATE="):
                admin_host = lay.guid_bytes(admin[8:44])
        if types[2] == lay.SAME_AS_ADMIN:
            require(admin is not None)
            message["response_queue"] = admin
        elif types[2] != lay.NONE:
            message["response_queue"] = self._queue(source, types[2], origin, manager, admin_host)
        if user.bit(lay.USER_CONNECTOR):
            message["connector_type"] = lay.guid_text(source.take(16))
        return user

    def delivery(self, mode: int) -> str:
        """Return the delivery guarantee given by UserHeader.Flags.DM."""
        return _DELIVERIES[mode]

    def _queue(self, source: Bytes, kind: int, origin: bytes, manager: bytes, admin: bytes | None) -> str:
        """Read the format name of a queue of this type."""
        if kind == lay.DIRECT:
            return self._direct(source)
        if kind == lay.PUBLIC:
            return f"PUBLIC={lay.guid_text(source.take(16))}"
        if kind == lay.ON_OTHER:
            host = source.take(16)
        elif kind == lay.ON_ADMIN:
            require(admin is not None)
            host = admin or b""
        else:
            host = origin if kind == lay.ON_SOURCE else manager
        return f"PRIVATE={lay.guid_text(host)}\\{source.number(4):08x}"

    def _direct(self, source: Bytes) -> str:
        start = source.at
        data = source.take(source.number(2))
        text = wide_string(data)
        source.align(start)
        require(":" in text and not text.lower().startswith("direct="))
        return f"DIRECT={text}"

    def _transaction(self, source: Bytes) -> dict[str, Json]:
        flags, ordinal, timestamp, number, previous = source.unpack(lay.TRANSACTION)
        require(number != 0 and previous != INFINITE)
        read: dict[str, Json] = {
            "sequence_identifier": {"ordinal": ordinal, "timestamp": timestamp},
            "sequence_number": number,
            "previous_sequence_number": previous,
            "index": (flags >> lay.TX_INDEX_SHIFT) & lay.TX_INDEX_MAX,
            "first": bool(flags & lay.TX_FIRST),
            "last": bool(flags & lay.TX_LAST),
            "final_ack_required": bool(flags & lay.TX_FINAL_ACK),
        }
        if flags & lay.TX_CONNECTOR:
            read["connector_queue_manager"] = lay.guid_text(source.take(16))
        return read

    def _security(self, source: Bytes, message: dict[str, Json]) -> tuple[bool, bool]:
        """Read the SecurityHeader by its sizes; return two flags: the body is encrypted, there is a signature."""
        flags, *sizes = source.unpack(lay.SECURITY)
        sender_type = flags & lay.SECURITY_SENDER
        require(sender_type < len(lay.SENDER_TYPES) and any(sizes) and sizes[3] <= 0xFFFF)
        require((sizes[0] == 0) == (sender_type == 0))
        require(not (flags & lay.SECURITY_DEFAULT_PROVIDER and sizes[4]))
        items = []
        for size in sizes:
            start = source.at
            items.append(source.take(size))
            source.align(start)
        names = ("sender_identifier", "symmetric_key", "signature", "sender_certificate")
        require(self.is_sender(sender_type, items[0]))
        message["sender_identifier_type"] = lay.SENDER_TYPES[sender_type]
        for name, data in zip(names, items, strict=False):
            if data:
                message[name] = base64_text(data)
        if items[4]:
            require(len(items[4]) >= 6)
            message["provider_type"] = int.from_bytes(items[4][:4], "little")
            message["provider_name"] = wide_string(items[4][4:])
        level = lay.AUTHENTICATION_LEVELS.get((flags >> lay.SECURITY_LEVEL_SHIFT) & 0xF)
        if level:
            message["authentication_level"] = level
        encrypted = bool(flags & lay.SECURITY_ENCRYPTED)
        if self.lenient:
            message["encrypted"] = encrypted
        return encrypted, bool(items[2])

    def known_algorithms(self, privacy: int, hashed: int | None, cipher: int | None) -> bool:
        """Return true if 2.2.19.3 lists the privacy level, and the algorithms that are used."""
        used = (hashed is None or hashed in lay.HASH_ALGORITHMS, cipher is None or cipher in lay.ENCRYPTION_ALGORITHMS)
        return self.lenient or (privacy in lay.PRIVACY_LEVELS and all(used))

    @staticmethod
    def is_sender(sender_type: int, identifier: bytes) -> bool:
        """Return true for an identifier that its type has (2.2.20.6): a SID, or the GUID of a queue manager."""
        kind = lay.SENDER_TYPES[sender_type]
        return kind == "none" or (lay.is_sid(identifier) if kind == "sid" else len(identifier) == lay.GUID_SIZE)

    def _properties(self, source: Bytes, message: dict[str, Json], *, encrypted: bool, signed: bool) -> None:
        start = source.at
        flags, label_units, kind, correlation, body_type, tag, size, allocated, privacy, hashed, cipher, extension = (
            source.unpack(lay.PROPERTIES)
        )
        require(label_units <= lay.MAX_LABEL_UNITS and allocated >= size)
        require(self.known_algorithms(privacy, hashed if signed else None, cipher if encrypted else None))
        message |= {
            "label": wide_string(source.take(2 * label_units)) if label_units else "",
            "extension": base64_text(source.take(extension)),
            "body": base64_text(source.take(size)),
            "acknowledgements": [word for bit, word in enumerate(lay.ACKNOWLEDGEMENTS) if flags >> bit & 1],
            "class": kind,
            "correlation_identifier": base64_text(correlation),
            "body_type": body_type,
            "application_tag": tag,
            "privacy_level": privacy,
            "hash_algorithm": hashed,
            "encryption_algorithm": cipher,
        }
        if encrypted:
            source.take(allocated - size)  # the padding of the cipher
        source.align(start)


NACK_BAD_DST_Q = 0x8000
NACK_Q_EXCEED_QUOTA = 0x8003
NACK_HOP_COUNT_EXCEEDED = 0x8005
NACK_NOT_TRANSACTIONAL_Q = 0x8009
NACK_NOT_TRANSACTIONAL_MSG = 0x800A


class Arrival:
    """Delivers packets."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def deliver(self, packet: str) -> None:
        """Put the message of a packet, given in base64, into its queue.

        Raises MqError: MQ_ERROR_INVALID_PARAMETER for a malformed packet, MQ_ERROR_QUEUE_NOT_FOUND for a queue that
        does not exist, MQ_ERROR_TRANSACTION_USAGE if only one of queue and message is transactional,
        MQ_ERROR_INSUFFICIENT_RESOURCES if a quota or the hop count is used up, those of `Admission.refusal`.
        Acknowledges a rejected message if the message asks for that.
        """
        data, read = self.read(packet)
        if read["destination_queue_manager"] in (NULL_GUID, self.manager.guid):
            self._local(data, read)
        else:
            self._onward(packet, read, self.message(read))

    def read(self, packet: str) -> tuple[bytes, dict[str, Json]]:
        """Return the bytes and the user_message of a packet that arrives. Raises MqError if it is malformed."""
        try:
            data = binascii.a2b_base64(packet, strict_mode=True)
            return data, self.manager.packet_reader.arrived(data)
        except (Malformed, ValueError):
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None

    def message(self, read: dict[str, Json]) -> Message:
        """Return the message for a user_message that was read from a packet."""
        transaction = read.get("transaction")
        fields = {name: read.get(name, default) for name, default in DEFAULTS.items()}
        for name in ("administration_queue", "response_queue", "identifier", "sent_time"):
            if name in read:
                fields[name] = read[name]
        fields["authentication"] = read.get("authentication_level", "none")
        fields["privacy"] = _PRIVACY.get(read["privacy_level"], "none")
        if "sender_certificate" in read:
            fields["certificate"] = read["sender_certificate"]
        sender = sender_of(read)
        if sender:
            fields["sender"] = sender
        fields["first_in_transaction"] = bool(transaction and transaction["first"])
        fields["last_in_transaction"] = bool(transaction and transaction["last"])
        size = HEADER_BYTES + self.manager.sending.label_bytes(fields)
        size += data_size(fields["body"]) + data_size(fields["extension"])
        sent_ms, lives = read["sent_time"] * 1000, read["time_to_be_received"]
        expires = self.expires_ms(sent_ms, lives)
        return Message(fields, size, sent_ms, expires, transaction is not None, self.carried(read))

    def carried(self, read: dict[str, Json]) -> dict[str, Json] | None:
        """Return what objects see of a message beside its fields; None if there is nothing."""
        usual = (read["hash_algorithm"], read["encryption_algorithm"]) == (lay.DEFAULT_HASH, lay.DEFAULT_ENCRYPTION)
        if usual and not any(name in read for name in (*_BYTES, *_FOR_OBJECTS)):
            return None
        found = {name: {"bytes": read[given]} for name, given in _BYTES.items() if given in read}
        named = {name: read[given] for given, name in _FOR_OBJECTS.items() if given in read}
        return {
            "object": {"hash": read["hash_algorithm"], "encryption": read["encryption_algorithm"], **found, **named}
        }

    def expires_ms(self, sent_ms: int, lives: int) -> int | None:
        """Return the expiry time of a message that lives for `lives` seconds; None for an infinite lifetime."""
        return None if lives == INFINITE else sent_ms + lives * 1000

    def _local(self, packet: bytes, read: dict[str, Json]) -> None:
        destination, message = read["destination"], self.message(read)
        queue = self.manager.queues.find_local(destination)
        if queue is None or queue.kind not in ("private", "public"):
            self._reject(message, destination, NACK_BAD_DST_Q, MQ_ERROR_QUEUE_NOT_FOUND)
            return
        try:
            self.check_transaction(queue, destination, message)
            refused = self.manager.admission.refusal(packet, read, queue)
            if refused is not None:
                if read.get("encrypted"):
                    message.fields["body"] = ""  # MS-MQQB 3.1.7.15
                self._reject(message, destination, *refused)
            self._insert(queue, destination, self.message(read) if "encrypted" in read else message)
        except MqError:
            self.manager.incoming.rejected(queue, read)
            raise
        self.manager.incoming.accepted(queue, read)

    def _insert(self, queue: Queue, destination: str, message: Message) -> None:
        if not self.manager.delivery.fits(queue, message):
            if not message.transactional:
                self.manager.delivery.dead_letter(message)
            self._reject(message, destination, NACK_Q_EXCEED_QUOTA, MQ_ERROR_INSUFFICIENT_RESOURCES)
        self.place(queue, message)

    def place(self, queue: Queue, message: Message) -> None:
        """Enqueue Message, and acknowledge the arrival if the message asks for that."""
        self.manager.delivery.place(queue, message)
        self.manager.delivery.acknowledge_arrival(message, queue)

    def check_transaction(self, queue: Queue, destination: str, message: Message) -> None:
        """Reject a message if only one of message and queue is transactional."""
        if message.transactional != queue.transactional:
            kind = NACK_NOT_TRANSACTIONAL_Q if message.transactional else NACK_NOT_TRANSACTIONAL_MSG
            self._reject(message, destination, kind, MQ_ERROR_TRANSACTION_USAGE)

    def _onward(self, packet: str, read: dict[str, Json], message: Message) -> None:
        """Put the packet of a message for another manager into an outgoing queue, with its hop count increased."""
        destination = read["destination"]
        if read["hop_count"] >= lay.MAX_HOPS:
            self._reject(message, destination, NACK_HOP_COUNT_EXCEEDED, MQ_ERROR_INSUFFICIENT_RESOURCES)
        descriptor = self.manager.queues.open(destination, "send", "deny_none")
        queue = descriptor.queue
        self.manager.queues.close(descriptor)
        if queue is None or queue.kind != "outgoing":
            self._reject(message, destination, NACK_BAD_DST_Q, MQ_ERROR_QUEUE_NOT_FOUND)
            return
        message.carried = {"packet": lay.one_hop_further(packet)}
        self.manager.delivery.place(queue, message)

    def _reject(self, message: Message, destination: str, message_class: int, status: int) -> None:
        """Refuse a message, and acknowledge that if the message asks for it. Always raises MqError."""
        if "negative_arrival" in message.fields["acknowledgements"]:
            self.manager.delivery.acknowledge_from(message, destination, message_class)
        raise MqError(status)


_VT = ENUMERATIONS["VARENUM"].members
MOST_SEQUENCES = 10_000  # told of one queue, the newest


@dataclass(slots=True)
class Incoming:
    """One sequence. time: of the last message, seconds since 1970. rejects: of that message before it was taken."""

    format_name: str
    sender: str
    identifier: int
    number: int
    time: int
    rejects: int = 0


class IncomingTransfers:
    """Notes the sequences by queue, and tells them to an administrator."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._of: dict[str, dict[tuple[str, int], Incoming]] = {}
        self._rejected: dict[tuple[str, str, int], int] = {}

    def accepted(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message, read from a packet, that the queue has taken."""
        found = self._found(queue, read)
        if found is not None:
            found.number = read["transaction"]["sequence_number"]
            found.rejects = self._rejected.pop((queue.id, found.sender, found.identifier), 0)

    def rejected(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message that the queue has not taken."""
        if not queue.transactional or not read.get("transaction"):
            return
        key = (queue.id, *_key(read))
        self._rejected[key] = self._rejected.get(key, 0) + 1
        if _key(read) in self._of.get(queue.id, {}):
            self._of[queue.id][_key(read)].time = self._now()

    def forget(self) -> None:
        """Forget every sequence."""
        self._of.clear()
        self._rejected.clear()

    def told(self, queue: Queue) -> list[Json]:
        """Return the six vectors of MS-MQMQ 2.3.12.24."""
        known = list(self._of.get(queue.id, {}).values())[-MOST_SEQUENCES:]
        return [
            _vector("VT_LPWSTR", [each.format_name for each in known]),
            _vector("VT_CLSID", [each.sender for each in known]),
            _vector("VT_UI8", [str(each.identifier) for each in known]),
            _vector("VT_UI4", [each.number for each in known]),
            _vector("VT_I4", [each.time for each in known]),
            _vector("VT_UI4", [each.rejects for each in known]),
        ]

    def _found(self, queue: Queue, read: dict[str, Json]) -> Incoming | None:
        if not queue.transactional or not read.get("transaction"):
            return None
        key = _key(read)
        known = self._of.setdefault(queue.id, {})
        if key not in known:
            known[key] = Incoming(read["destination"], *key, 0, 0)
        known[key].time = self._now()
        return known[key]

    def _now(self) -> int:
        return self.manager.clock.now_ms() // 1000


def _key(read: dict[str, Json]) -> tuple[str, int]:
    identifier = read["transaction"]["sequence_identifier"]
    return read["identifier"]["source"], identifier["timestamp"] << 32 | identifier["ordinal"]


def _vector(variant: str, values: list[Json]) -> Json:
    return {"vt": _VT[variant] | _VT["VT_VECTOR"], "value": values}
