"""Packets of the MSMQ binary protocol: layout tables, a plain decoder and encoder, and scapy layers of the tables."""

from conformance.wire.decode import dissect
from conformance.wire.framing import FrameLength, frame_length, settle
from conformance.wire.packet import Packet, Trouble

__all__ = ["FrameLength", "Packet", "Trouble", "dissect", "frame_length", "settle"]
