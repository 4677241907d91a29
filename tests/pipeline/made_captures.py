"""Captures that several tests of lakes make: over midnight, at an end of mqconform itself, and of foreign traffic."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lake_helpers import CAPTURES, HEADER, records_of

from conformance.capture import Closed, Frame, Opened, read_capture
from conformance.capture.recording_mark import OwnEnd
from conformance.capture.records import Record
from conformance.net.proxy import Recording

MIDNIGHT = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp()) * 1_000_000_000
DEVIATING = ("mqqb-4.1.pcapng", "resending-session.pcapng", "bad-signature.pcapng")
SOURCE = CAPTURES / "resending-session.pcapng"


def over_midnight(at: int = 0, before: int = 0) -> list[Record]:
    """Records that deviate, one each 1,000,001 ns; the one with this number is the first after midnight."""
    found = [one for name in DEVIATING for one in records_of(CAPTURES / name)]
    begin = MIDNIGHT - at * 1_000_001 - before
    return [replace(one, time_ns=begin + number * 1_000_001) for number, one in enumerate(found)]


def recorded(path: Path, own: OwnEnd | None) -> Path:
    """A session that was seen, as a recording at one of its ends; the third message of each side is wrong."""
    recording = Recording(path, own=own)
    counts = {"initiator": 0, "acceptor": 0}
    for event in read_capture(SOURCE):
        if isinstance(event, Opened):
            recording.opened(event.connection, *((one.address, one.port) for one in (event.initiator, event.acceptor)))
        elif isinstance(event, Frame) and event.side is not None:
            counts[event.side] += 1
            data = event.data if counts[event.side] != 3 else event.data[:4] + b"RIOL" + event.data[8:]
            recording.data(event.connection, event.side, data)
        elif isinstance(event, Closed):
            recording.ended(event.connection, "initiator", "fin")
            recording.ended(event.connection, "acceptor", "fin")
    recording.close()
    return path


def server_of(path: Path) -> str:
    """The address of the acceptor of the first connection."""
    return next(event.acceptor.address for event in read_capture(path) if isinstance(event, Opened))


def foreign(path: Path) -> Path:
    """Requests of HTTP to the port of MSMQ."""
    link = bytes(12) + b"\x08\x00"
    address = bytes((10, 0, 0, 1, 10, 0, 0, 2))
    records, sequence = [], 1000
    for number in range(40):
        payload = b"GET /%d HTTP/1.1\r\nHost: example\r\n\r\n" % number
        total = 40 + len(payload)
        ip = struct.pack(">BBHHHBBH", 0x45, 0, total, number, 0, 64, 6, 0) + address
        tcp = struct.pack(">HHIIBBHHH", 50_000, 1801, sequence, 1, 0x50, 0x18, 65_535, 0, 0)
        sequence += len(payload)
        data = link + ip + tcp + payload
        records.append(struct.pack("<IIII", 1_700_000_000, number, len(data), len(data)) + data)
    path.write_bytes(HEADER + b"".join(records))
    return path
