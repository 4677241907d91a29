"""Faults of writing a packet: a header, flag or field is missing or misplaced (MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_fields import Fields
from conformance.embedded.packet_write import PacketWriter
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE


@fault(
    "writes-no-highest-priority", PacketWriter.priority, "MQDMPR-3.1.7.1.30.constructs",
    "MQDMPR-3.1.7.1.32.base-header-flags-pr",
)  # fmt: skip
def writes_no_highest_priority(plain, self, priority, *, in_transaction):
    """No packet is made of a message with priority 7."""
    if priority == 7 and not in_transaction:
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    return plain(priority, in_transaction=in_transaction)


class _FlagsWithout(PacketWriter):
    """Clears bits in UserHeader.Flags."""

    cleared: int

    def user_header(self, fields: Fields, *, with_transaction: bool, with_security: bool) -> bytes:
        header = super().user_header(fields, with_transaction=with_transaction, with_security=with_security)
        at = lay.USER.size - 4
        flags = int.from_bytes(header[at : at + 4], "little") & ~self.cleared
        return header[:at] + flags.to_bytes(4, "little") + header[at + 4 :]


class _NoMultipleFlag(_FlagsWithout):
    cleared = lay.USER_MULTIPLE


@fault(
    "multiple-header-missing", "writer", "MQDMPR-3.1.7.1.30.multi-queue-format-header",
    "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
)  # fmt: skip
class MultipleHeaderMissing(_NoMultipleFlag):
    """The packet of a message to several queues is that of a message to one."""

    def multiple_header(self, fields: Fields) -> bytes:
        super().multiple_header(fields)
        return b""


fault(
    "multiple-header-unannounced", "writer", "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
    "MQMQ-2.2.19.1.packet-size-headers", says="Flags.MQ is clear although the packet has a MultiQueueFormatHeader.",
)(_NoMultipleFlag)  # fmt: skip


@fault(
    "writes-transaction-marks-swapped", PacketWriter.transaction_header,
    "MQDMPR-3.1.7.1.32.transaction-header-flags-fm", "MQDMPR-3.1.7.1.32.transaction-header-flags-lm",
    "MQMQ-2.2.20.5.first-in-transaction", "MQMQ-2.2.20.5.last-in-transaction", "MQMQ-2.2.20.5.flags-fm-layout",
)  # fmt: skip
def writes_transaction_marks_swapped(plain, self, fields):
    """The first message of a transaction goes out as its last, and the last as its first."""
    header = plain(fields)
    first, last = header[0] & lay.TX_FIRST, header[0] & lay.TX_LAST
    flags = header[0] & ~(lay.TX_FIRST | lay.TX_LAST) | lay.TX_LAST * bool(first) | lay.TX_FIRST * bool(last)
    return bytes([flags]) + header[1:]
