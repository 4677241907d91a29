"""Captures of one stream in two files, a disk without room, and a capture that kills."""

from __future__ import annotations

from pathlib import Path

from lake_helpers import CAPTURES, records_of, write_pcap

SESSION = CAPTURES / "consistent-session.pcapng"


def halves(folder: Path) -> tuple[Path, Path]:
    """A capture as a set of two files; a stream goes on from the first to the second."""
    records = records_of(SESSION)
    return write_pcap(folder / "set_1.pcap", records[:17]), write_pcap(folder / "set_2.pcap", records[17:])


def full(*_: object, **__: object) -> None:
    """A disk without room."""
    raise OSError(28, "No space left on device")


KILLER = """
import os
from conformance.pipeline.streams import StreamJudge
capture = StreamJudge.capture
def killing(self, state, probe):
    data = open(probe.path, "rb").read()
    if b"kills its worker" in data or "kills its worker".encode("utf-16-le") in data:
        os.kill(os.getpid(), 9)
    return capture(self, state, probe)
StreamJudge.capture = killing
"""
"""A `sitecustomize` that kills a process which judges a capture with these words."""
