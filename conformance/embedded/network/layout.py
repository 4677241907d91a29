"""The layout of the internal packets, of transactional acknowledgments and of pings (MS-MQQB 2.2).

Bit 0 is the least significant bit of a little-endian number. BaseHeader and SessionHeader are in `packet_layout`.
"""

from __future__ import annotations

import struct

INTERNAL = struct.Struct("<HH")  # reserved, flags
ESTABLISH = struct.Struct("<16s16sIHH512s")  # client, server, time stamp, operating system, reserved, padding
PARAMETERS = struct.Struct("<IIHH")  # recoverable acknowledgment timeout, acknowledgment timeout, reserved, window
ORDER_BODY = struct.Struct("<IIII20s")  # sequence (ordinal, timestamp), number, previous number, reserved
FINAL_BODY = struct.Struct("<IIII16sI")  # sequence (ordinal, timestamp), number, previous number, source, message id
PING = struct.Struct("<HHI16s")  # flags, signature, cookie, queue manager

# InternalHeader.Flags (2.2.1)
PACKET_TYPE = 0x000F
SESSION_ACK, ESTABLISH_CONNECTION, CONNECTION_PARAMETERS = 1, 2, 3
REFUSED = 1 << 4

# EstablishConnectionHeader.OperatingSystem (2.2.3.1)
SYSTEM_RESERVED = 0x0010
NOT_PINGED = 1 << 8
SERVER_CLASS = 1 << 9
RESPONSE_PADDING = b"\x5a" * 512

# Ping.Flags (2.2.7)
PING_SIGNATURE = 0x5548
PING_CLIENT = 1
PING_REFUSED = 2

# ConnectionParametersHeader (2.2.2.1), milliseconds
LEAST_RECOVERABLE_ACK, LEAST_ACK, MOST_ACK = 0x1F4, 0x4E20, 0x1D4C0

INTERNAL_FLAGS = 0x000B  # BaseHeader.Flags of an internal packet: IN, and the default priority
LABEL = "QM Ordering Ack"
ORDER_QUEUE = "order_queue$"
ORDER_QUEUE_NUMBER = 4
ACKNOWLEDGMENT_BODY = 36

# Message classes (MS-MQMQ 2.2.18.1.6)
NORMAL, REPORT, ACK_REACH_QUEUE, ORDER_ACK, ACK_RECEIVE = 0x0000, 0x0001, 0x0002, 0x00FF, 0x4000
NACK_BAD_DST_Q, NACK_REACH_QUEUE_TIMEOUT, NACK_Q_EXCEED_QUOTA = 0x8000, 0x8002, 0x8003
NACK_ACCESS_DENIED, NACK_HOP_COUNT_EXCEEDED, NACK_BAD_SIGNATURE = 0x8004, 0x8005, 0x8006
NACK_BAD_ENCRYPTION, NACK_NOT_TRANSACTIONAL_Q, NACK_NOT_TRANSACTIONAL_MSG = 0x8007, 0x8009, 0x800A
NACK_UNSUPPORTED_CRYPTO_PROVIDER = 0x800B
