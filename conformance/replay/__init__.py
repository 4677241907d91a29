"""Judging captures: `engine`; `selection`, the packets that are meant; `against`, giving them to an implementation."""

from conformance.replay.engine import CaptureSummary, Counted, JudgedPacket, Replay, destination, replay

__all__ = ["CaptureSummary", "Counted", "JudgedPacket", "Replay", "destination", "replay"]
