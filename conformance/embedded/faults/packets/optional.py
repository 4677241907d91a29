"""Faults of optional fields of a packet that are passed over, misread or incomplete (MS-MQMQ 2.2.19, 2.2.20)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name
from conformance.embedded.packet_bytes import Bytes
from conformance.embedded.packet_read import Json, PacketReader
from conformance.embedded.packet_write import PacketWriter


class _OnDestination(PacketReader):
    def _queue(self, source: Bytes, kind: int, origin: bytes, manager: bytes, admin: bytes | None) -> str:
        return super()._queue(source, lay.ON_SOURCE if kind == lay.ON_ADMIN else kind, origin, manager, admin)


class _OneLess(PacketWriter):
    def address_header(self, identifier: int, names: list[Name]) -> bytes:
        destinations = identifier == lay.MQF_DESTINATION and len(names) > 1
        return super().address_header(identifier, names[:-1] if destinations else names)


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
        "response-queue-on-source",
        "A response queue on the host of the administration queue is read as one on the host of the sender.",
        (
            "MQMQ-2.2.19.2.response-queue-admin-host",
            "MQDMPR-3.1.7.1.31.response-queue-type-private-queue-on-admin",
            "MQDMPR-3.1.7.1.31.response-queue-type-attribute",
        ),
        "reader",
        _OnDestination,
    ),
    (
        "last-destination-left-out",
        "The last of several destinations is not in the list of them.",
        (
            "MQMQ-2.2.20.1.destination-complete",
            "MQDMPR-3.1.7.1.32.multi-queue-format-header-destination",
        ),
        "writer",
        _OneLess,
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
        (
            "MQDMPR-3.1.7.1.31.connector-queue-manager-identifier-attribute",
            "MQMQ-2.2.20.5.connector-ignored",
        ),
        "reader",
        _NoConnector,
    ),
)


for _name, _story, _breaks, _part, _deviating in _OF:
    fault(__name__, _name, _story, _breaks, (_part, _deviating))
