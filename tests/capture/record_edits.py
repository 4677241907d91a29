"""Captures edited as networks and recorders do it, and as nobody should: what a reader of captures must stand."""

from __future__ import annotations

import struct

from hypothesis import strategies as st

HEADER, LINK, IP, TCP = 16, 14, 20, 20
AT_IP = HEADER + LINK
AT_TCP = AT_IP + IP
AT_PAYLOAD = AT_TCP + TCP

Records = list[bytes]
Edit = tuple[str, int, int]
KINDS = ("swap", "repeat", "drop", "change", "change-head", "cut", "later", "split", "split-over", "flag", "sequence")


def edits(most: int) -> st.SearchStrategy[list[Edit]]:
    """What is done to the records, one after the other: a kind, which record, and a number."""
    return st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 5000), st.integers(0, 1 << 20)), max_size=most)


def records_of(capture: bytes) -> tuple[bytes, Records]:
    """The file header of a little-endian pcap, and its records with their headers."""
    at, out = 24, []
    while at < len(capture):
        size = HEADER + struct.unpack_from("<I", capture, at + 8)[0]
        out.append(capture[at : at + size])
        at += size
    return capture[:24], out


def edit(records: Records, kind: str, which: int, number: int) -> None:
    """One edit, in place; of a record that is too small for it, none."""
    if not records:
        return
    at = which % len(records)
    one = records[at]
    if kind == "swap":
        other = min(len(records) - 1, at + 1 + number % 5)
        records[at], records[other] = records[other], records[at]
    elif kind == "repeat":
        records.insert(min(len(records), at + number % 9), one)
    elif kind == "drop":
        del records[at : at + 1 + number % 2]
    elif kind == "change" and len(one) > HEADER:
        records[at] = _with(one, HEADER + number % (len(one) - HEADER), number >> 8 & 255)
    elif kind == "change-head" and len(one) > AT_PAYLOAD:
        records[at] = _with(one, AT_PAYLOAD + number % min(20, len(one) - AT_PAYLOAD), number >> 8 & 255)
    elif kind == "cut":
        kept = number % (len(one) - HEADER + 1)
        records[at] = one[:8] + struct.pack("<I", kept) + one[12 : HEADER + kept]
    elif kind == "later":
        for later in range(at, len(records)):
            seconds = struct.unpack_from("<I", records[later])[0] + number % 2
            records[later] = struct.pack("<I", seconds) + records[later][4:]
    elif kind in ("split", "split-over") and len(one) > AT_PAYLOAD + 1:
        payload, sequence = one[AT_PAYLOAD:], struct.unpack_from(">I", one, AT_TCP + 4)[0]
        half = 1 + number % (len(payload) - 1)
        again = min(half, 16) if kind == "split-over" else 0
        halves = [
            _segment(one, sequence, payload[:half]),
            _segment(one, sequence + half - again, payload[half - again :]),
        ]
        records[at : at + 1] = halves[:: -1 if number & 1 << 19 else 1]
    elif kind == "flag" and len(one) >= AT_PAYLOAD:
        records[at] = _with(one, AT_TCP + 13, one[AT_TCP + 13] | (1, 2, 4)[number % 3])
    elif kind == "sequence" and len(one) >= AT_PAYLOAD:
        records[at] = _with(one, AT_TCP + 4 + number % 4, number >> 8 & 255)


def _with(record: bytes, at: int, value: int) -> bytes:
    return record[:at] + bytes((value,)) + record[at + 1 :]


def _segment(record: bytes, sequence: int, payload: bytes) -> bytes:
    out = bytearray(record[:AT_PAYLOAD] + payload)
    struct.pack_into("<II", out, 8, len(out) - HEADER, len(out) - HEADER)
    struct.pack_into(">H", out, AT_IP + 2, IP + TCP + len(payload))
    struct.pack_into(">I", out, AT_TCP + 4, sequence & 0xFFFFFFFF)
    return bytes(out)
