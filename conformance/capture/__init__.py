"""Captures: pcap and pcapng files read into MSMQ packets, connections and what could not be decoded."""

from conformance.capture.errors import CaptureError
from conformance.capture.events import Closed, Cut, Ended, Endpoint, Event, Frame, Hole, Lost, Opened, Side, Trouble
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
    "Side",
    "Trouble",
    "read_capture",
]
