"""Captures of one stream in two files, a disk without room, and a capture that kills."""

from __future__ import annotations

import struct
from pathlib import Path

from lake_helpers import CAPTURES, records_of, write_pcap

SESSION = CAPTURES / "consistent-session.pcapng"


def halves(folder: Path) -> tuple[Path, Path]:
    """A capture as a set of two files; a stream goes on from the first to the second."""
    records = records_of(SESSION)
    return write_pcap(folder / "set_1.pcap", records[:17]), write_pcap(folder / "set_2.pcap", records[17:])


def dated(path: Path, seconds: int) -> Path:
    """A capture as pcapng, whose records have times of whole seconds, so that they may be of any year."""
    records = records_of(CAPTURES / "vlan.pcap")
    blocks = [struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)]
    head = _block(0x0A0D0D0A, blocks[0]) + _block(
        1, struct.pack("<HHI", 1, 0, 0) + b"\x09\x00\x01\x00\x00\x00\x00\x00" + bytes(4)
    )
    body = b""
    for one in records:
        data = one.data + bytes(-len(one.data) % 4)
        body += _block(
            6, struct.pack("<IIIII", 0, seconds >> 32, seconds & 0xFFFFFFFF, len(one.data), one.length) + data
        )
    path.write_bytes(head + body)
    return path


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


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
    if b"hangs its worker" in data or "hangs its worker".encode("utf-16-le") in data:
        __import__("time").sleep(10_000)
    return capture(self, state, probe)
StreamJudge.capture = killing
"""
"""A `sitecustomize` that kills or stops a process which judges a capture with these words."""

HANGER = (
    KILLER
    + """
from conformance.pipeline import work
limits = work._limits
work._limits = lambda captures: {path: 2.0 if "bad" in path else one for path, one in limits(captures).items()}
probe = work.probe
work.probe = lambda path: __import__("time").sleep(10_000) if "stuck" in path else probe(path)
"""
)
"""The same; nobody waits long for a file with `bad` in its name. `stuck`: the look at it does not end."""
