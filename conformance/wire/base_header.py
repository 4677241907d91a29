"""BaseHeader, the first header of every packet except Ping (MS-MQMQ 2.2.19.1)."""

from conformance.wire.layout import Section, UInt, bits

SIGNATURE = 0x524F494C  # "LIOR" in wire order
VERSION = 0x10
MAXIMUM_SIZE = 0x00400000
INFINITE = 0xFFFFFFFF

BASE_HEADER = Section(
    "BaseHeader",
    "MS-MQMQ 2.2.19.1",
    (
        UInt("VersionNumber", 1, default=VERSION),
        UInt("Reserved", 1),
        UInt("Flags", 2, bits("PR:3 IN SH DH X9 X8 TR X6 X5 X4 X3 X2 X1 X0")),
        UInt("Signature", 4, default=SIGNATURE),
        UInt("PacketSize", 4),
        UInt("TimeToReachQueue", 4, default=INFINITE),
    ),
)
