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
KINDS = (
    "swap", "repeat", "drop", "change", "change-head", "cut", "later", "split", "split-over", "flag", "sequence",
    "link-and-addresses", "fragment", "tag", "options", "padding", "empty",
    "crumbs", "waiting", "after-fin",
)  # fmt: skip


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
    elif kind == "link-and-addresses" and len(one) >= AT_PAYLOAD:
        records[at] = _with(one, HEADER + number % (AT_PAYLOAD - HEADER), number >> 8 & 255)
    elif kind == "fragment" and len(one) > AT_TCP + 8 and one[AT_IP] == 0x45:
        records[at : at + 1] = _fragments(one, number)[:: -1 if number & 1 << 19 else 1]
    elif kind == "tag" and len(one) > AT_IP:
        tags = struct.pack(">HH", (0x8100, 0x88A8, 0x9100)[number % 3], number >> 4 & 0xFFF) * (1 + number % 6)
        records[at] = _resized(one, one[HEADER : AT_IP - 2] + tags + one[AT_IP - 2 :])
    elif kind == "options" and len(one) >= AT_PAYLOAD and one[AT_IP] == 0x45 and one[AT_TCP + 12] == 0x50:
        records[at] = _with_options(one, 4 * (number % 11), 4 * (number >> 4) % 44)
    elif kind == "crumbs" and len(one) > AT_PAYLOAD + 1:
        payload, sequence, size = one[AT_PAYLOAD:], struct.unpack_from(">I", one, AT_TCP + 4)[0], 1 + number % 50
        pieces = [(start, payload[start : start + size]) for start in range(0, len(payload), size)][:200]
        pieces[-1] = (pieces[-1][0], payload[pieces[-1][0] :])
        records[at : at + 1] = [_segment(one, sequence + start, piece) for start, piece in pieces]
    elif kind == "waiting" and len(one) > AT_PAYLOAD + 30:
        payload, sequence = one[AT_PAYLOAD:], struct.unpack_from(">I", one, AT_TCP + 4)[0]
        half = 1 + number % 20
        # Twice the same beginning behind a hole, and the hole closed up to it or beyond.
        behind = [_segment(one, sequence + half, payload[half:end]) for end in (half + 5, len(payload))]
        first = _segment(one, sequence, payload[: half + number % 4])
        records[at : at + 1] = [*behind[:: -1 if number & 32 else 1], first]
    elif kind == "after-fin" and len(one) >= AT_PAYLOAD and one[AT_TCP + 13] & 1:
        sequence = struct.unpack_from(">I", one, AT_TCP + 4)[0] + number % 3
        records.insert(at + 1, _with(_segment(one, sequence, bytes(1 + number % 30)), AT_TCP + 13, 16))
    elif kind == "padding":
        records[at] = _resized(one, one[HEADER:] + bytes(number % 60))
    elif kind == "empty":
        records[at] = one[:8] + bytes(8 if number % 4 == 0 else 4) + one[12 : 12 if number % 4 == 0 else 16]


def as_ipv6(records: Records) -> Records:
    """The same over IPv6: the last bytes of an address are those of the IPv4 address, the first ones of either kind."""
    out = []
    for one in records:
        if len(one) < AT_TCP or one[AT_IP] != 0x45:
            out.append(one)
            continue
        total = struct.unpack_from(">H", one, AT_IP + 2)[0]
        ends = [one[AT_IP + at : AT_IP + at + 4] for at in (12, 16)]
        # Of some connections both addresses are alike in their first half, and of some that is a negative number.
        first = [(b"\xfe\x80" if end[3] & 1 else b"\x20\x01") + bytes(6) + b"\x80" + bytes(3) + end for end in ends]
        head = struct.pack(">IHBB", 0x6000_0000, total - 20, one[AT_IP + 9], 64) + b"".join(first)
        out.append(_resized(one, one[HEADER : AT_IP - 2] + b"\x86\xdd" + head + one[AT_TCP:]))
    return out


def _resized(record: bytes, data: bytes) -> bytes:
    """The record with other data, all of it captured."""
    return record[:8] + struct.pack("<II", len(data), len(data)) + data


def _fragments(record: bytes, number: int) -> list[bytes]:
    total = struct.unpack_from(">H", record, AT_IP + 2)[0]
    inner = record[AT_TCP : AT_IP + total]
    cut = 8 + 8 * (number % max(1, (len(inner) - 1) // 8))
    out = []
    for start, piece in ((0, inner[:cut]), (cut, inner[cut:])):
        head = bytearray(record[AT_IP:AT_TCP])
        more = 0x2000 if start == 0 else 0
        struct.pack_into(">HHH", head, 2, IP + len(piece), number & 0xFFFF, more | start // 8)
        out.append(_resized(record, record[HEADER:AT_IP] + bytes(head) + piece))
    return out


def _with_options(record: bytes, of_ip: int, of_tcp: int) -> bytes:
    """Longer headers, by multiples of 4: at most 40 bytes each are options, and no more fit."""
    of_ip, of_tcp = min(of_ip, 40), min(of_tcp, 40)
    ip = bytearray(record[AT_IP:AT_TCP] + b"\1" * of_ip)
    ip[0] = 0x45 + of_ip // 4
    struct.pack_into(">H", ip, 2, struct.unpack_from(">H", ip, 2)[0] + of_ip + of_tcp & 0xFFFF)
    tcp = bytearray(record[AT_TCP:AT_PAYLOAD] + b"\1" * of_tcp)
    tcp[12] = (5 + of_tcp // 4) << 4
    return _resized(record, record[HEADER:AT_IP] + bytes(ip) + bytes(tcp) + record[AT_PAYLOAD:])


def _with(record: bytes, at: int, value: int) -> bytes:
    return record[:at] + bytes((value,)) + record[at + 1 :]


def _segment(record: bytes, sequence: int, payload: bytes) -> bytes:
    out = bytearray(record[:AT_PAYLOAD] + payload)
    struct.pack_into("<II", out, 8, len(out) - HEADER, len(out) - HEADER)
    struct.pack_into(">H", out, AT_IP + 2, IP + TCP + len(payload))
    struct.pack_into(">I", out, AT_TCP + 4, sequence & 0xFFFFFFFF)
    return bytes(out)
