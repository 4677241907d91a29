"""The layout of a UserMessage packet (MS-MQMQ 2.2.18 to 2.2.20), and a cursor in its bytes."""

from __future__ import annotations

import base64
import struct
import uuid
from typing import Any

from conformance.embedded.entities import NULL_GUID

BASE = struct.Struct("<BBHIII")  # version, reserved, flags, signature, packet size, time to reach queue
USER = struct.Struct("<16s16sIIII")  # source, destination manager, time to be received, sent time, message id, flags
TRANSACTION = struct.Struct("<IIIII")  # flags, sequence id (ordinal, timestamp), sequence number, previous one
SECURITY = struct.Struct("<HHHHII")  # flags, sizes of sender id, key, signature, certificate, provider information
PROPERTIES = struct.Struct("<BBH20sIIIIIIII")  # flags, label length, class, correlation, ... sizes, algorithms
DEBUG = struct.Struct("<HH")  # flags, reserved
SESSION = struct.Struct("<HHIHHHH")  # acknowledgements, counts, window size, reserved

MQF_ADDRESS = struct.Struct("<IHHI")  # size, identifier, reserved, element count
MQF_SIGNATURE = struct.Struct("<HHI")  # identifier, reserved, size
SOAP_SECTION = struct.Struct("<HHI")  # identifier, reserved, length in WCHARs

VERSION = 0x10
SIGNATURE = 0x524F494C  # "LIOR"
MAX_PACKET = 0x00400000
MAX_HOPS = 0x1D
MAX_LABEL_UNITS = 0xFA  # with the terminating null

# BaseHeader.Flags (2.2.19.1)
BASE_PRIORITY = 0x0007
BASE_INTERNAL = 1 << 3
BASE_SESSION = 1 << 4
BASE_DEBUG = 1 << 5
BASE_TRACE = 1 << 8

# UserHeader.Flags (2.2.19.2)
USER_HOPS = 0x1F
USER_DELIVERY_SHIFT = 5
USER_NEGATIVE_JOURNAL = 1 << 8
USER_POSITIVE_JOURNAL = 1 << 9
USER_DESTINATION_SHIFT = 10
USER_ADMIN_SHIFT = 13
USER_RESPONSE_SHIFT = 16
USER_SECURITY = 1 << 19
USER_TRANSACTION = 1 << 20
USER_PROPERTIES = 1 << 21
USER_CONNECTOR = 1 << 22
USER_MULTIPLE = 1 << 23
USER_HTTP = 1 << 25
USER_SOAP = 1 << 28

# Queue types of DQ, AQ and RQ.
NONE, SAME_AS_ADMIN, ON_SOURCE, ON_DESTINATION, ON_ADMIN, PUBLIC, ON_OTHER, DIRECT = range(8)

# MultiQueueFormatHeader (2.2.20.2, 2.2.20.3) and its elements (2.2.18.1.4); SoapHeader (2.2.20.7).
MQF_DESTINATION, MQF_ADMINISTRATION, MQF_RESPONSE, MQF_SIGNATURE_ID = 0x0064, 0x00C8, 0x012C, 0x015E
ELEMENT_TYPES = {"public": 1, "private": 2, "direct": 3, "distribution_list": 6}
SOAP_HEADER_SECTION, SOAP_BODY_SECTION = 0x0320, 0x0384

# TransactionHeader.Flags (2.2.20.5)
TX_CONNECTOR = 1
TX_FINAL_ACK = 2
TX_FIRST = 4
TX_LAST = 8
TX_INDEX_SHIFT = 4
TX_INDEX_MAX = 0xFFFFF

# SecurityHeader.Flags (2.2.20.6)
SECURITY_SENDER = 0x000F
SECURITY_ENCRYPTED = 1 << 5
SECURITY_DEFAULT_PROVIDER = 1 << 6
SECURITY_DATA = 1 << 7
SECURITY_LEVEL_SHIFT = 8

SENDER_TYPES = ("none", "sid", "queue_manager")
AUTHENTICATION_LEVELS = {0: "none", 1: "sig10", 3: "sig20", 5: "sig30"}
ACKNOWLEDGEMENTS = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")  # bits 0 to 3
PRIVACY_LEVELS = frozenset({0, 1, 3, 5})
HASH_ALGORITHMS = frozenset({0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E})
ENCRYPTION_ALGORITHMS = frozenset({0x6602, 0x6610, 0x660E, 0x660F, 0x6801})
CLASS_UNUSED = 0x1E00  # bits that no message class uses (2.2.18.1.6)
CIPHERS_BY_PRIVACY = {1: (0x6801, 0x6602), 3: (0x6801, 0x6602), 5: (0x6610, 0x660E, 0x660F)}  # the default first
DEFAULT_HASH = 0x8004
DEFAULT_ENCRYPTION = 0x6801
NULL_GUID_BYTES = bytes(16)
GUID_SIZE = 16
SID_FIXED = 8  # bytes of a SID before its sub-authorities (MS-DTYP 2.4.2.2)

_USER_FLAGS = BASE.size + USER.size - 4  # offset of UserHeader.Flags in a packet


def one_hop_further(packet: str) -> str:
    """Return a well-formed packet, in base64, to forward: one hop more, and no SessionHeader."""
    data = bytearray(base64.b64decode(packet))
    version, reserved, flags, signature, size, reach = BASE.unpack_from(data)
    BASE.pack_into(data, 0, version, reserved, flags & ~BASE_SESSION, signature, size, reach)
    data[_USER_FLAGS] += 1  # RC is in the lowest bits, and below its maximum
    return base64.b64encode(data[:size]).decode("ascii")


def padded(data: bytes) -> bytes:
    """Return `data` padded with zeros to a multiple of four bytes."""
    return data + bytes(-len(data) % 4)


def guid_bytes(guid: str) -> bytes:
    """Encode a GUID (MS-DTYP 2.3.4). Raises ValueError if the text is not a GUID."""
    return uuid.UUID(guid).bytes_le


def guid_text(data: bytes) -> str:
    """Decode a GUID, the inverse of `guid_bytes`."""
    return str(uuid.UUID(bytes_le=data)) if data != NULL_GUID_BYTES else NULL_GUID


def is_sid(data: bytes) -> bool:
    """Return true for the bytes of one SID and nothing else (MS-DTYP 2.4.2.2)."""
    return len(data) >= SID_FIXED and data[0] == 1 and len(data) == SID_FIXED + 4 * data[1]


class Malformed(Exception):
    """A packet violates its layout."""


class Bytes:
    """A cursor over the packet; reading past the end raises Malformed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self._data):
            raise Malformed
        self.at += count
        return self._data[self.at - count : self.at]

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def align(self, start: int) -> None:
        """Move to the next multiple of four bytes counted from `start`."""
        self.take(-(self.at - start) % 4)

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return len(self._data) - self.at

    def peek(self, count: int) -> bytes:
        """Return the next bytes, fewer at the end, without taking them."""
        return self._data[self.at : self.at + count]

    def upto(self, end: int) -> bytes:
        """Return the bytes from the start to an offset, which must be in the packet."""
        require(end <= len(self._data))
        return self._data[:end]

    def wide_until_null(self) -> str:
        """Take the text up to the next null character, and that character."""
        end = self.at
        while True:
            end = self._data.find(b"\0\0", end)
            require(end >= 0)
            if (end - self.at) % 2 == 0:
                break
            end += 1
        return wide_string(self.take(end + 2 - self.at))

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")


def require(holds: bool) -> None:
    """Raise Malformed unless the condition holds."""
    if not holds:
        raise Malformed


def wide_string(data: bytes) -> str:
    """Decode text that ends with its only null character; lone surrogates are allowed, as in 2.2.19.3."""
    require(len(data) >= 2 and len(data) % 2 == 0)
    text = data.decode("utf-16-le", "surrogatepass")
    require(text.find("\0") == len(text) - 1)
    return text[:-1]


def base64_text(data: bytes) -> str:
    """Encode bytes in base64."""
    return base64.b64encode(data).decode("ascii")
