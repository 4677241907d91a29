"""Packets of the MSMQ binary protocol: layout tables, a plain decoder and encoder, and scapy layers of the tables.

Importing it binds the layers to TCP port 1801 and UDP port 3527 where scapy is used; it does not load scapy itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from conformance.wire import binding
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


def __getattr__(name: str) -> Any:
    """Load `layers`, and scapy with it, on first use."""
    if name == "layers":
        return import_module("conformance.wire.layers")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


binding.bind()
