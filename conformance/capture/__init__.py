"""Reads pcap and pcapng files into MSMQ packets, connections and reports of bytes that could not be decoded."""

from conformance.capture.events import (
    CaptureError,
    Closed,
    Cut,
    Ended,
    Endpoint,
    Event,
    Frame,
    Hole,
    Lost,
    Opened,
    Passed,
    Renewed,
    Repeated,
    SetBack,
    Short,
    Side,
    Trouble,
)
from conformance.capture.reader import read_capture

__all__ = [
    "CaptureError",
    "Closed",
    "Cut",
    "Ended",
    "Endpoint",
    "Event",
    "Frame",
    "Hole",
    "Lost",
    "Opened",
    "Passed",
    "Renewed",
    "Repeated",
    "SetBack",
    "Short",
    "Side",
    "Trouble",
    "read_capture",
]
