"""Captures of any size to measure with, written in seconds: a small one again and again, each time as other hosts.

`spread` makes single files of a generated capture (`corpus`), `rotated` one set as `tcpdump -C` writes it, of sessions
(`session_corpus`) between pairs of hosts, of many hosts with one server, or of which one pair has nine tenths. A copy
of sessions comes after the one before it, has other hosts and queue managers, and messages with the times of its own;
a server stays the same and goes on counting. Checksums of TCP are not made again, as in captures of a sending host.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "fixtures")]

import numpy as np  # noqa: E402
import session_corpus  # noqa: E402

PAIRS = 50
"""Pairs of hosts of a copy; connections are twice as many."""
MOST_COPIES = 90
"""As many as the first number of an address can tell apart, which has two digits."""
PACKET_BYTES = 651
"""Bytes of a capture for each packet of a session, about."""
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
_RECORD, _TCP, _UDP = 16, 54, 42
"""Bytes before a frame, and before the payload in one of either protocol."""
_ADDRESSES = (2, 8, 26, 30)
"""Where a frame has the first number of an address: in those of Ethernet, and of IP."""
_FIRST, _FROM, _SERVES = 10, 27, 4
"""The first number of all addresses before they are copied; the second one of a sender, and of all servers."""
_NAMED = f"TCP:{_FIRST}.".encode("utf-16-le")
_DIGITS = (8, 10)
"""The name of a queue by an address, and where its first number is."""
_PROTOCOL, _IS_TCP, _IS_UDP = 23, 6, 17
_FLAGS, _INTERNAL, _KIND, _KINDS, _OPENS = 2, 0x08, 18, 0x0F, 2
_SOURCE, _SENT, _NUMBER, _LEAST = 16, 52, 56, 60
"""Of a message: its queue manager, the time it was sent, its number, and how long it is at least."""
_CLIENT, _SERVER, _PINGED, _LAST = 20, 36, 8, 15
"""Queue managers in an opening and in a ping, and the last byte of a GUID."""


@dataclass(frozen=True, slots=True)
class Moving:
    """Where a capture has what a copy changes: its records, and in them octets of addresses and GUIDs, and numbers.

    texts: names of queues that have an address. sent: seconds, u32. counted: numbers of the messages that a server
    makes, u32. span: seconds, rounded up. made: how many messages the server makes.
    """

    heads: Any
    octets: Any
    texts: Any
    guids: Any
    sent: Any
    counted: Any
    span: int
    made: int


def records_of(kind: str, packets: int, deviating: float) -> Iterable[tuple[int, bytes]]:
    """Return the records of a set. deviating: the share of connections; of the two of a pair one can."""
    share = 2 * deviating
    return session_corpus.session_records(packets, PAIRS, share, server=kind == "server")


def joined(records: Iterable[tuple[int, bytes]]) -> Any:
    """Return records as the bytes of a file behind its header."""
    parts = []
    for time_ns, data in records:
        seconds, rest = divmod(time_ns, session_corpus.NS)
        parts += [struct.pack("<IIII", seconds, rest // 1000, len(data), len(data)), data]
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8)


def moving(data: Any, *, server: bool = False) -> Moving:
    """Find what changes from copy to copy. server: one server has all hosts as its clients."""
    heads = _heads(data)
    sizes, frames = np.diff(np.append(heads, len(data))) - _RECORD, heads + _RECORD
    octets = np.concatenate([frames + at for at in _ADDRESSES])
    tcp = frames[(data[frames + _PROTOCOL] == _IS_TCP) & (sizes >= _TCP + _LEAST)] + _TCP
    internal = (data[tcp + _FLAGS] & _INTERNAL) != 0
    messages, opening = tcp[~internal], tcp[internal & ((data[tcp + _KIND] & _KINDS) == _OPENS)]
    pings = frames[data[frames + _PROTOCOL] == _IS_UDP] + _UDP
    guids = np.concatenate([messages + _SOURCE, opening + _CLIENT, opening + _SERVER, pings + _PINGED])
    names, counted = _words(data, guids, 16), messages[:0]
    keep = (names != 0).any(axis=1)
    if server:
        octets = octets[data[octets + 1] != _SERVES]
        from_server = opening[data[opening - _TCP + _FROM] == _SERVES]
        told = _words(data, from_server + _SERVER, 16)
        whose = told[(told != 0).any(axis=1)][:1]
        keep &= (names != whose).any(axis=1)
        counted = messages[(_words(data, messages + _SOURCE, 16) == whose).all(axis=1)]
    seconds = _numbers(data, heads[[0, -1]])
    return Moving(
        heads, octets, _found(data, _NAMED), guids[keep] + _LAST, messages + _SENT, counted + _NUMBER,
        int(seconds[1] - seconds[0]) + 2, len(counted),
    )  # fmt: skip


def copy(data: Any, what: Moving, number: int) -> Any:
    """Return a capture as other hosts have made it. number: how many copies there are before it."""
    if number >= MOST_COPIES:
        raise ValueError(f"at most {MOST_COPIES} copies can be told apart")
    out = data.copy()
    _put(out, what.heads, _numbers(data, what.heads) + number * what.span)
    _put(out, what.sent, _numbers(data, what.sent) + number * what.span)
    _put(out, what.counted, _numbers(data, what.counted) + number * what.made)
    out[what.octets] = _FIRST + number
    for at, digit in zip(_DIGITS, str(_FIRST + number), strict=True):
        out[what.texts + at] = ord(digit)
    out[what.guids] ^= number
    return out


def rotated(folder: Path, kind: str, size: float, *, base: float, file: float, deviating: float) -> list[Path]:
    """Write one set of together `size` bytes, and return its files. base, file: bytes of what is copied, and of a file.

    Files begin with whole records, and end where they have become large enough, as those of tcpdump.
    """
    base = min(base, size)
    data = joined(records_of(kind, max(PAIRS * 40, int(base / PACKET_BYTES)), deviating))
    what = moving(data, server=kind == "server")
    folder.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    left, made, number = 0.0, 0.0, 0
    while made < size:
        body = copy(data, what, number) if number else data
        ends = np.append(what.heads[1:], len(body))
        ends = ends[: max(1, int(np.searchsorted(ends, size - made, "right")))]
        at = 0
        while at < ends[-1]:
            if left <= 0:
                out.append(folder / f"set.pcap{len(out) or ''}")
                out[-1].write_bytes(HEAD)
                left = file
            end = int(ends[min(int(np.searchsorted(ends, at + left)), len(ends) - 1)])
            with out[-1].open("ab") as opened:
                body[at:end].tofile(opened)
            left, at = left - (end - at), end
        made, number = made + at, number + 1
    return out


def spread(base: Path, folder: Path, size: float) -> list[Path]:
    """Write captures of together `size` bytes: the base again and again, a minute later each.

    Each is a file of its own: in one, the second copy's segments would be the first's, sent again.
    """
    data = np.fromfile(base, np.uint8)
    heads = _heads(data, len(HEAD))
    seconds = _numbers(data, heads)
    span = int(seconds[-1] - seconds[0]) + 60
    folder.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    made, number = 0, 0
    while made < size:
        body = data.copy()
        _put(body, heads, seconds + number * span)
        last = int(np.searchsorted(heads, size - made + len(HEAD)))
        end = int(heads[last]) if last < len(heads) else len(body)
        # Names that do not count up: each is a capture by itself.
        out.append(folder / f"{number:04}-site.pcap")
        body[:end].tofile(out[-1])
        made, number = made + end - len(HEAD), number + 1
    return out


def _heads(data: Any, start: int = 0) -> Any:
    """Return where the records of a little-endian pcap file begin."""
    found, at, raw = [], start, data.tobytes()
    while at + _RECORD <= len(raw):
        found.append(at)
        at += _RECORD + int.from_bytes(raw[at + 8 : at + 12], "little")
    return np.array(found, np.int64)


def _found(data: Any, text: bytes) -> Any:
    """Return where a text is."""
    out, raw, at = [], data.tobytes(), -1
    while (at := raw.find(text, at + 1)) >= 0:
        out.append(at)
    return np.array(out, np.int64)


def _words(data: Any, places: Any, width: int) -> Any:
    """Return the bytes at these places, a row each."""
    return data[places[:, None] + np.arange(width)]


def _numbers(data: Any, places: Any) -> Any:
    return _words(data, places, 4).view("<u4")[:, 0].astype(np.int64)


def _put(data: Any, places: Any, numbers: Any) -> None:
    data[places[:, None] + np.arange(4)] = numbers.astype("<u4").view(np.uint8).reshape(-1, 4)
