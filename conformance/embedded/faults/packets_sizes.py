"""Faults of optional fields: bytes where there are none, and none where there are some (MS-MQMQ 2.2.19, 2.2.20)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.names import Name
from conformance.embedded.packet_bytes import Bytes
from conformance.embedded.packet_fields import Fields
from conformance.embedded.packet_read import Json, PacketReader
from conformance.embedded.packet_write import PacketWriter

SENDER_ID_SIZE_AT, CERTIFICATE_SIZE_AT = 2, 8  # in the SecurityHeader


class _OtherQueues(PacketWriter):
    """Writes AdminQueue and ResponseQueue with other bytes. Which of the two it is, the order of the calls tells."""

    response: ClassVar[bool]
    surplus: ClassVar[bool]
    _turn = False

    def _other_queue(self, name: Name | None, source: bytes, manager: bytes, admin: Name | None) -> tuple[int, bytes]:
        kind, data = super()._other_queue(name, source, manager, admin)
        self._turn = not self._turn
        if self._turn is self.response:
            return kind, data
        if self.surplus:
            return kind, data or bytes(4)
        return kind, b""


class _SurplusAdministration(_OtherQueues):
    response, surplus = False, True


class _NoAdministration(_OtherQueues):
    response, surplus = False, False


class _SurplusResponse(_OtherQueues):
    response, surplus = True, True


class _NoResponse(_OtherQueues):
    response, surplus = True, False


class _OnDestination(PacketReader):
    def _queue(self, source: Bytes, kind: int, origin: bytes, manager: bytes, admin: bytes | None) -> str:
        return super()._queue(source, lay.ON_SOURCE if kind == lay.ON_ADMIN else kind, origin, manager, admin)


class _Surplus(PacketWriter):
    """Puts zeros into the MessagePropertiesHeader where an empty item would stand."""

    def pad_properties(self, header: bytes) -> bytes:
        _, label_units, _, _, _, _, size, _, _, _, _, extension = lay.PROPERTIES.unpack(header[: lay.PROPERTIES.size])
        at = self.place(label_units, extension, size)
        return super().pad_properties(header if at is None else header[:at] + bytes(4) + header[at:])

    def place(self, label_units: int, extension: int, body: int) -> int | None:
        raise AssertionError("every subclass says where")


class _EmptyLabel(_Surplus):
    def place(self, label_units: int, extension: int, body: int) -> int | None:
        return None if label_units else lay.PROPERTIES.size


class _EmptyExtension(_Surplus):
    def place(self, label_units: int, extension: int, body: int) -> int | None:
        return None if extension else lay.PROPERTIES.size + 2 * label_units


class _EmptyBody(_Surplus):
    def place(self, label_units: int, extension: int, body: int) -> int | None:
        return None if body else lay.PROPERTIES.size + 2 * label_units + extension


class _OneLess(PacketWriter):
    def address_header(self, identifier: int, names: list[Name]) -> bytes:
        destinations = identifier == lay.MQF_DESTINATION and len(names) > 1
        return super().address_header(identifier, names[:-1] if destinations else names)


class _LargerSize(PacketWriter):
    at: ClassVar[int]
    width: ClassVar[int]

    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        size = int.from_bytes(header[self.at : self.at + self.width], "little")
        told = (size + 4 if size else 0).to_bytes(self.width, "little")
        return header[: self.at] + told + header[self.at + self.width :] if header else header


class _LargerSender(_LargerSize):
    at, width = SENDER_ID_SIZE_AT, 2


class _LargerCertificate(_LargerSize):
    at, width = CERTIFICATE_SIZE_AT, 4


class _NoConnectorType(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        message = super().message(packet)
        message.pop("connector_type", None)
        return message


class _NoConnector(PacketReader):
    def _transaction(self, source: Bytes) -> dict[str, Json]:
        read = super()._transaction(source)
        read.pop("connector_queue_manager", None)
        return read


# Name, story, what it breaks of MS-MQMQ and of MS-MQDMPR, the part and its subclass.
_OF: tuple[tuple[str, str, tuple[str, ...], str, type], ...] = (
    (
        "administration-queue-where-none",
        "AdminQueue has four bytes in a packet without an administration queue.",
        ("MQMQ-2.2.19.2.admin-queue-none",),
        "writer",
        _SurplusAdministration,
    ),
    (
        "administration-queue-left-out",
        "AdminQueue has no bytes although Flags.AQ names a type.",
        ("MQMQ-2.2.19.2.admin-queue-present",),
        "writer",
        _NoAdministration,
    ),
    (
        "response-queue-where-none",
        "ResponseQueue has four bytes where Flags.RQ says none, or the administration queue.",
        ("MQMQ-2.2.19.2.response-queue-none",),
        "writer",
        _SurplusResponse,
    ),
    (
        "response-queue-left-out",
        "ResponseQueue has no bytes although Flags.RQ names a type.",
        ("MQMQ-2.2.19.2.response-queue-present",),
        "writer",
        _NoResponse,
    ),
    (
        "response-queue-on-source",
        "A response queue on the host of the administration queue is read as one on the host of the sender.",
        ("MQMQ-2.2.19.2.response-queue-admin-host",),
        "reader",
        _OnDestination,
    ),
    (
        "label-where-none",
        "Four bytes stand where the label of a message without label would.",
        ("MQMQ-2.2.19.3.label-absent",),
        "writer",
        _EmptyLabel,
    ),
    (
        "extension-where-none",
        "Four bytes stand where the extension of a message without extension would.",
        ("MQMQ-2.2.19.3.extension-data-absent",),
        "writer",
        _EmptyExtension,
    ),
    (
        "body-where-none",
        "Four bytes stand where the body of a message without body would.",
        ("MQMQ-2.2.19.3.message-body-absent",),
        "writer",
        _EmptyBody,
    ),
    (
        "last-destination-left-out",
        "The last of several destinations is not in the list of them.",
        ("MQMQ-2.2.20.1.destination-complete",),
        "writer",
        _OneLess,
    ),
    (
        "sender-id-size-too-large",
        "SenderIdSize is four more than SecurityID has.",
        ("MQMQ-2.2.20.6.sender-id-size",),
        "writer",
        _LargerSender,
    ),
    (
        "certificate-size-too-large",
        "SenderCertSize is four more than SenderCert has.",
        ("MQMQ-2.2.20.6.sender-cert-size-exact",),
        "writer",
        _LargerCertificate,
    ),
    (
        "reads-no-connector-type",
        "The connector type of a message is passed over.",
        ("MQMQ-2.2.19.2.connector-type-ignored",),
        "reader",
        _NoConnectorType,
    ),
    (
        "reads-no-connector",
        "The connector of a transactional message is passed over.",
        ("MQMQ-2.2.20.5.connector-ignored",),
        "reader",
        _NoConnector,
    ),
)
SIZE_FAULTS: tuple[type[Fault], ...] = tuple(
    fault(name, story, "packets", breaks, (part, deviating)) for name, story, breaks, part, deviating in _OF
)
