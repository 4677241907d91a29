"""DebugHeader: the destination of trace messages (MS-MQMQ 2.2.20.8)."""

from conformance.wire.layout import Choice, Guid, Section, UInt, bits

DEBUG_HEADER = Section(
    "DebugHeader",
    "MS-MQMQ 2.2.20.8",
    (
        UInt("Flags", 2, bits("QT:2 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15")),
        UInt("Reserved", 2),
        Choice("Queue", "DebugHeader.Flags.QT", {0: (), 1: (Guid("QueueIdentifier"),)}),
    ),
)
