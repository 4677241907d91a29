"""Writes a capture to measure with: any number of generated MSMQ packets of all kinds in some hundred connections.

python benchmarks/corpus.py OUT.pcap [--packets N] [--seed N] [--spread] [--disorder SHARE] [--connections N]
    [--broken SHARE]

The same arguments give the same file, byte for byte. Without --spread each packet has a segment of its own; with it
the packets of a connection are a stream that is cut anywhere, and acknowledged. --disorder: this share of the segments
comes after the next one of its connection, or a second time. --broken: this share of the packets has a field
overwritten (one in a hundred); most of those deviate, and the others keep every packet rule.
"""

from __future__ import annotations

import argparse
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from corpus_messages import BROKEN_SHARE, Template, templates

FIN, SYN, PSH, ACK = 1, 2, 8, 16
START_NS = 1_700_000_000 * 1_000_000_000
FLUSH = 1 << 22  # bytes written at once
MSS = 1460


@dataclass(slots=True)
class Half:
    """Data that one side of a connection sends. heads: Ethernet, IP and TCP ports ready to be filled in."""

    head: bytes
    ports: bytes
    next: int
    unsent: bytearray = field(default_factory=bytearray)
    kept: tuple[int, bytes] | None = None
    """A segment that will come after the next one."""


@dataclass(slots=True)
class Connection:
    halves: tuple[Half, Half]
    opened: bool = False
    number: int = 0
    """The last MessageID."""


class Corpus:
    """The file being written."""

    def __init__(self, out: BinaryIO, seed: int, connections: int, spread: bool, disorder: float) -> None:
        self.out = out
        self.spread = spread
        self.disorder = disorder
        self.now_us = START_NS // 1000
        self.random = random.Random(seed + 1)
        self.pieces: list[bytes] = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)]
        self.held = 0
        self.connections = [self._connection(number) for number in range(connections)]

    def _connection(self, number: int) -> Connection:
        client, server = bytes((10, 1, number >> 8 & 255, number & 255)), bytes((10, 2, number % 7, number % 40))
        there = struct.pack(">HH", 49_152 + number % 16_000, 1801)
        return Connection(
            (
                Half(_link(client, server), there, self.random.getrandbits(32)),
                Half(_link(server, client), there[2:] + there[:2], self.random.getrandbits(32)),
            )
        )

    def record(self, connection: Connection, side: int, sequence: int, payload: bytes, flags: int) -> None:
        """One segment."""
        half = connection.halves[side]
        self.now_us += 3
        size = 40 + len(payload)
        kept = 14 + size
        self.pieces.append(struct.pack("<IIII", self.now_us // 1_000_000, self.now_us % 1_000_000, kept, kept))
        self.pieces.append(half.head[:16] + size.to_bytes(2, "big") + half.head[18:] + half.ports)
        other = connection.halves[1 - side]
        acknowledged = (other.kept[0] if other.kept else other.next) if flags & ACK else 0
        self.pieces.append(struct.pack(">IIBBHHH", sequence, acknowledged, 0x50, flags, 65_535, 0, 0))
        self.pieces.append(payload)
        self.held += kept
        if self.held > FLUSH:
            self.flush()

    def flush(self) -> None:
        self.out.write(b"".join(self.pieces))
        self.pieces, self.held = [], 0

    def control(self, connection: Connection, side: int, flags: int) -> None:
        half = connection.halves[side]
        self.record(connection, side, half.next, b"", flags)
        half.next = half.next + bool(flags & (SYN | FIN)) & 0xFFFFFFFF

    def send(self, connection: Connection, side: int, payload: bytes) -> None:
        """One segment with payload, perhaps out of its turn or twice."""
        half = connection.halves[side]
        sequence, half.next = half.next, half.next + len(payload) & 0xFFFFFFFF
        if half.kept is None and self.random.random() < self.disorder:
            if self.random.random() < 0.5:
                half.kept = (sequence, payload)
                return
            self.record(connection, side, sequence, payload, ACK | PSH)
        self.record(connection, side, sequence, payload, ACK | PSH)
        if half.kept is not None:
            kept, half.kept = half.kept, None
            self.record(connection, side, *kept, ACK | PSH)

    def message(self, connection: Connection, template: Template) -> None:
        if not connection.opened:
            connection.opened = True
            for side, flags in ((0, SYN), (1, SYN | ACK), (0, ACK)):
                self.control(connection, side, flags)
        side = int(template.back)
        data = bytearray(template.data)
        if template.number_at is not None:
            connection.number += 1
            struct.pack_into("<I", data, template.number_at, connection.number)
        if template.time_at is not None:
            struct.pack_into("<I", data, template.time_at, self.now_us // 1_000_000)
        if self.spread:
            connection.halves[side].unsent += data
        else:
            self.send(connection, side, bytes(data))

    def cut(self, connection: Connection, *, all_: bool) -> None:
        """Send what is waiting in segments of any size; all of it, or whole segments alone."""
        sent = 0
        for side in (0, 1):
            unsent = connection.halves[side].unsent
            at = 0
            while at < len(unsent):
                size = MSS if self.random.random() < 0.6 else self.random.randint(1, MSS)
                if not all_ and len(unsent) - at < size:
                    break
                self.send(connection, side, bytes(unsent[at : at + size]))
                at += size
                sent += 1
                if sent % 2 == 0 and connection.halves[side].kept is None:
                    self.control(connection, 1 - side, ACK)
            del unsent[:at]

    def close(self) -> None:
        """Send what is left, and close every connection."""
        for connection in self.connections:
            if not connection.opened:
                continue
            self.cut(connection, all_=True)
            for side in (0, 1):
                if (kept := connection.halves[side].kept) is not None:
                    self.record(connection, side, *kept, ACK | PSH)
            for side, flags in ((0, FIN | ACK), (1, FIN | ACK), (0, ACK)):
                self.control(connection, side, flags)
        self.flush()


def _link(source: bytes, destination: bytes) -> bytes:
    """Ethernet and IPv4 headers; the total length, at 16, is to be set."""
    ethernet = b"\x02\x00" + destination + b"\x02\x00" + source + b"\x08\x00"
    return ethernet + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0x4000, 64, 6, 0, source, destination)


def write_corpus(
    path: Path,
    packets: int,
    *,
    seed: int = 1,
    spread: bool = False,
    disorder: float = 0.0,
    connections: int = 500,
    kinds: int = 800,
    broken: float = BROKEN_SHARE,
) -> None:
    """Write a classic pcap file with this many MSMQ packets.

    kinds: templates of user messages. broken: the share of packets with a field overwritten.
    """
    made = templates(seed, kinds, broken)
    weights = [one.weight for one in made]
    choices = random.Random(seed + 2)
    with path.open("wb") as out:
        corpus = Corpus(out, seed, connections, spread, disorder)
        left = packets
        while left:
            connection = corpus.connections[min(int(choices.paretovariate(0.4)) - 1, choices.randrange(connections))]
            burst = min(left, choices.randint(1, 6))
            for template in choices.choices(made, weights, k=burst):
                corpus.message(connection, template)
            if spread:
                corpus.cut(connection, all_=False)
            left -= burst
        corpus.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packets", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", action="store_true")
    parser.add_argument("--disorder", type=float, default=0.0)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--broken", type=float, default=BROKEN_SHARE)
    asked = parser.parse_args()
    write_corpus(
        asked.out,
        asked.packets,
        seed=asked.seed,
        spread=asked.spread,
        disorder=asked.disorder,
        connections=asked.connections,
        broken=asked.broken,
    )
    print(f"{asked.out}: {asked.packets} packets, {asked.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
