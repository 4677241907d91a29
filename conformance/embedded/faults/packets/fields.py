"""Faults of writing a packet: a header, flag or field is missing or misplaced (MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.packet_fields import Fields
from conformance.embedded.packet_write import PacketWriter
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE


class _NoHighest(PacketWriter):
    def priority(self, priority: int, *, in_transaction: bool) -> int:
        if priority == 7 and not in_transaction:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return super().priority(priority, in_transaction=in_transaction)


class WritesNoHighestPriority(Fault):
    """No packet is made of a message with priority 7."""

    name = "writes-no-highest-priority"
    breaks = (
        "MQDMPR-3.1.7.1.30.constructs",
        "MQDMPR-3.1.7.1.32.base-header-flags-pr",
    )
    replaces = ("writer", _NoHighest)


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


class _NoMultiple(_NoMultipleFlag):
    def multiple_header(self, fields: Fields) -> bytes:
        super().multiple_header(fields)
        return b""


class MultipleHeaderMissing(Fault):
    """The packet of a message to several queues is that of a message to one."""

    name = "multiple-header-missing"
    breaks = (
        "MQDMPR-3.1.7.1.30.multi-queue-format-header",
        "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
    )
    replaces = ("writer", _NoMultiple)


class MultipleHeaderUnannounced(Fault):
    """Flags.MQ is clear although the packet has a MultiQueueFormatHeader."""

    name = "multiple-header-unannounced"
    breaks = (
        "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
        "MQMQ-2.2.19.1.packet-size-headers",
    )
    replaces = ("writer", _NoMultipleFlag)


class _MarksSwapped(PacketWriter):
    def transaction_header(self, fields: Fields) -> bytes:
        header = super().transaction_header(fields)
        first, last = header[0] & lay.TX_FIRST, header[0] & lay.TX_LAST
        flags = header[0] & ~(lay.TX_FIRST | lay.TX_LAST) | lay.TX_LAST * bool(first) | lay.TX_FIRST * bool(last)
        return bytes([flags]) + header[1:]


class WritesTransactionMarksSwapped(Fault):
    """The first message of a transaction goes out as its last, and the last as its first."""

    name = "writes-transaction-marks-swapped"
    breaks = (
        "MQDMPR-3.1.7.1.32.transaction-header-flags-fm",
        "MQDMPR-3.1.7.1.32.transaction-header-flags-lm",
        "MQMQ-2.2.20.5.first-in-transaction",
        "MQMQ-2.2.20.5.last-in-transaction",
        "MQMQ-2.2.20.5.flags-fm-layout",
    )
    replaces = ("writer", _MarksSwapped)
