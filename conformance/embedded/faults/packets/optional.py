"""Faults of optional fields of a packet that are passed over, misread or incomplete (MS-MQMQ 2.2.19, 2.2.20)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_read import PacketReader


@fault(
    "response-queue-on-source",
    PacketReader._queue,
    "MQMQ-2.2.19.2.response-queue-admin-host",
    "MQDMPR-3.1.7.1.31.response-queue-type-private-queue-on-admin",
    "MQDMPR-3.1.7.1.31.response-queue-type-attribute",
)
def response_queue_on_source(plain, self, source, kind, origin, manager, admin):
    """A response queue on the host of the administration queue is read as one on the host of the sender."""
    return plain(source, lay.ON_SOURCE if kind == lay.ON_ADMIN else kind, origin, manager, admin)


@fault(
    "last-destination-left-out",
    "writer.address_header",
    "MQMQ-2.2.20.1.destination-complete",
    "MQDMPR-3.1.7.1.32.multi-queue-format-header-destination",
)
def last_destination_left_out(plain, self, identifier, names):
    """The last of several destinations is not in the list of them."""
    destinations = identifier == lay.MQF_DESTINATION and len(names) > 1
    return plain(identifier, names[:-1] if destinations else names)


@fault("reads-no-connector-type", PacketReader.message, "MQMQ-2.2.19.2.connector-type-ignored")
def reads_no_connector_type(plain, self, packet):
    """The connector type of a message is passed over."""
    message = plain(packet)
    message.pop("connector_type", None)
    return message


@fault(
    "reads-no-connector",
    PacketReader._transaction,
    "MQDMPR-3.1.7.1.31.connector-queue-manager-identifier-attribute",
    "MQMQ-2.2.20.5.connector-ignored",
)
def reads_no_connector(plain, self, source):
    """The connector of a transactional message is passed over."""
    read = plain(source)
    read.pop("connector_queue_manager", None)
    return read


# Name, story, what it breaks of MS-MQMQ and of MS-MQDMPR, the part and its subclass.
