"""Packets of the MSMQ binary protocol: layout tables, a plain decoder and encoder, and scapy layers of the tables.

Importing it binds the layers to TCP port 1801 and UDP port 3527.
"""

from conformance.wire import layers
from conformance.wire.decode import dissect
from conformance.wire.encode import EncodeError, encode, patch, rebuild
from conformance.wire.framing import FrameLength, frame_length, settle
from conformance.wire.packet import Packet, Trouble

__all__ = [
    "EncodeError",
    "FrameLength",
    "Packet",
    "Trouble",
    "dissect",
    "encode",
    "frame_length",
    "layers",
    "patch",
    "rebuild",
    "settle",
]
