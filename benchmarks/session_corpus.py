"""Writes a capture of sessions to measure the rules of connections with: openings, acknowledgments and all.

python benchmarks/session_corpus.py OUT.pcap [--packets N] [--pairs N] [--deviating SHARE]

Each pair of hosts has two connections: one with express, recoverable and transactional messages, and one back with the
order acknowledgments. Nothing deviates but, in a share of the pairs, each acknowledgment of a round: it leaves out the
lowest of the recoverable messages (MS-MQQB 3.1.6.4), one packet of 23. The same arguments give the same file, byte for
byte.
"""

from __future__ import annotations

import argparse
import struct
import sys
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fixtures"))

import build_captures as captures
import build_packets as packets
import build_tcp

EXPRESS, RECOVERABLE, TRANSACTIONAL = 12, 4, 4
"""Messages of a round, which ends with their acknowledgments."""
ROUND = EXPRESS + RECOVERABLE + TRANSACTIONAL + 3
"""Packets of a round."""
_OPENING = 12
NS, START = build_tcp.NS, captures.START
"""Nanoseconds of a second, and when the sessions begin, in seconds since 1970."""


SENDER = "10.3.255.255"
"""The server that sends."""


def rounds(
    number: int, count: int, start: int, *, deviates: bool = False, server: bool = False, queues: int = 0
) -> build_tcp.Capture:
    """One pair of hosts. start: seconds since 1970.

    server: the second of them is that of all pairs. queues: if any, the first of them is, and sends in transactions to
    so many queues of one host, one of each other; its messages have no numbers yet.
    """
    alpha, beta = f"10.3.{number >> 8}.{number & 255}", f"10.4.{number >> 8}.{number & 255}"
    before, cookie, sequence, transactions = 0, 1, captures.SEQUENCE, 0
    if queues:
        alpha, cookie, sequence, transactions = SENDER, number + 1, captures.SEQUENCE + number, number * count
    elif server:
        beta, before = "10.4.0.0", number * count
    alpha_qm, beta_qm = (uuid.uuid5(uuid.NAMESPACE_DNS, host) for host in (alpha, beta))
    capture = build_tcp.Capture(start * build_tcp.NS + number * 7_001_000)
    connections = []
    for one, other, mine, its, port in (
        (alpha, beta, alpha_qm, beta_qm, 50_001), (beta, alpha, beta_qm, alpha_qm, 50_002),
    ):  # fmt: skip
        capture.udp((one, 4100), (other, 3527), packets.ping(True, cookie, mine))
        capture.wait(1)
        capture.udp((other, 3527), (one, 4100), packets.ping(False, cookie, its))
        capture.wait(1)
        connection = build_tcp.Connection.open(capture, (one, port), (other, 1801))
        captures.establish(capture, connection, mine, its, 86_400_000)
        connections.append(connection)
    there, back = connections
    order_queue = f"TCP:{alpha}\\PRIVATE$\\order_queue$"
    made = order = recoverable = 0
    for at in range(count):
        messages, ledger = [], f"ledger{at % queues}" if queues and not number else "ledger"
        for place in range(EXPRESS + RECOVERABLE + TRANSACTIONAL):
            made += 1
            first = EXPRESS + RECOVERABLE
            transaction = None
            if place >= first:
                order += 1
                last = place == first + TRANSACTIONAL - 1
                transaction = packets.Transaction(
                    sequence, order, order - 1, place == first, last, transactions + at + 1
                )
            messages.append(
                packets.Message(
                    alpha_qm, made, capture.now // build_tcp.NS,
                    f"OS:beta{number}\\private$\\{ledger if transaction else f'orders{place % 5}'}",
                    f"order {made}", b"two of the blue ones, " * (1 + made * 7 % 40),
                    recoverable=place >= EXPRESS, transaction=transaction,
                ).bytes()
            )  # fmt: skip
        for one in messages:
            there.segment(0, one, build_tcp.ACK | build_tcp.PSH)
            capture.wait(1)
        there.segment(1, b"", build_tcp.ACK)
        capture.wait(470)
        bits = (1 << RECOVERABLE + TRANSACTIONAL) - 1 - deviates
        there.segment(1, packets.session_ack(made & 0xFFFF, recoverable + 1 & 0xFFFF, bits, 0, 0), build_tcp.ACK)
        recoverable += RECOVERABLE + TRANSACTIONAL
        capture.wait(50)
        back.segment(
            0,
            packets.order_ack(beta_qm, before + at + 1, capture.now // build_tcp.NS, order_queue, sequence, order),
            build_tcp.ACK | build_tcp.PSH,
        )
        capture.wait(520)
        back.segment(1, packets.session_ack(at + 1 & 0xFFFF, 0, 0, 0, 0), build_tcp.ACK)
        capture.wait(20)
    there.close(0)
    back.close(0)
    return capture


def session_records(
    packets_: int, pairs: int, share: float, *, server: bool = False, queues: int = 0
) -> Iterator[tuple[int, bytes]]:
    """Yield times in ns since 1970 and frames of about this many MSMQ packets.

    share: of pairs that deviate. server: the second host of all pairs is one. queues: see `rounds`.
    """
    count = max(1, (packets_ // pairs - _OPENING) // ROUND)
    made = [
        rounds(
            number, count, START, deviates=int((number + 1) * share) > int(number * share), server=server, queues=queues
        ).records
        for number in range(pairs)
    ]
    found = sorted((record for records in made for record in records), key=lambda record: record[0])
    yield from numbered(found, uuid.uuid5(uuid.NAMESPACE_DNS, SENDER)) if queues else found


def numbered(records: Iterable[tuple[int, bytes]], manager: uuid.UUID) -> Iterator[tuple[int, bytes]]:
    """Number the messages of a queue manager in their order."""
    number, its = 0, manager.bytes_le
    for time_ns, data in records:
        at = data.find(its)
        if at >= 16 and data[at - 12 : at - 8] == b"LIOR":
            number += 1
            data = data[: at + 40] + struct.pack("<I", number) + data[at + 44 :]
        yield time_ns, data


def write_sessions(
    path: Path, packets_: int, *, pairs: int = 20, deviating: float = 0.0, server: bool = False, queues: int = 0
) -> None:
    """Write a classic pcap file with about this many MSMQ packets.

    deviating: the share of pairs that deviate. server: the second host of all pairs is one. queues: see `rounds`.
    """
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        for time_ns, data in session_records(packets_, pairs, deviating, server=server, queues=queues):
            seconds, rest = divmod(time_ns, build_tcp.NS)
            out.write(struct.pack("<IIII", seconds, rest // 1000, len(data), len(data)) + data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packets", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--deviating", type=float, default=0.0, help="the share of pairs that deviate")
    asked = parser.parse_args()
    write_sessions(asked.out, asked.packets, pairs=asked.pairs, deviating=asked.deviating)
    print(f"{asked.out}: {asked.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
