"""No difference between an ingest and `replay` over many captures of every making: 500 at night."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

import build_captures
import build_packets
import build_tcp
import damaged_captures
from broken_streams import broken_stream, written
from generated_corpus import write_corpus
from lake_helpers import FILES, put, records_of, replayed, rows, said_of_each, write_pcap
from nightly import amount
from packet_mutations import changes
from session_corpus import write_sessions

from conformance.pipeline.engine import Local

COUNT = amount("pipeline.captures-like-replay")
NS = 1_000_000_000


@cache
def changed_packets() -> list[bytes]:
    return [one.data for one in changes()]


def of_fixtures(chance: random.Random, path: Path) -> None:
    """The records of a fixture, some lost, doubled, swapped, cut or with other bytes, by a clock that may step."""
    records = records_of(Path(chance.choice([one for one in FILES if not one.endswith((".gz", ".zst"))])))
    records = [one for one in records if one.link == 1] or records_of(Path(FILES[0]))
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(records))
        one = records[at]
        kind = chance.choice(("lose", "double", "swap", "short", "bytes", "clock"))
        if kind == "lose" and len(records) > 1:
            del records[at]
        elif kind == "double":
            records.insert(at, one)
        elif kind == "swap":
            records[at], records[at - 1] = records[at - 1], one
        elif kind == "short":
            records[at] = replace(one, data=one.data[: chance.randrange(1, len(one.data) + 1)])
        elif kind == "bytes":
            data = bytearray(one.data)
            data[chance.randrange(len(data))] = chance.randrange(256)
            records[at] = replace(one, data=bytes(data))
        else:
            step = chance.choice((-3_600, 1, 86_400)) * NS
            records[at:] = [replace(other, time_ns=max(0, other.time_ns + step)) for other in records[at:]]
    write_pcap(path, records)


def of_packets(chance: random.Random, path: Path) -> None:
    """A session with packets in which one thing was changed."""
    capture = build_tcp.Capture(build_captures.START * NS)
    connection = build_tcp.Connection.open(capture, (build_captures.ALPHA, 50_001), (build_captures.BETA, 1801))
    managers, null = (build_captures.ALPHA_QM, build_captures.BETA_QM), build_packets.NULL_GUID
    connection.send(0, build_packets.establish(managers[0], null, 86_400_000, session=1, server_class=1))
    connection.send(1, build_packets.establish(*managers, 86_400_000, session=1, server_class=1, fill=0x5A))
    for data in chance.sample(changed_packets(), 12):
        connection.send(chance.randrange(2), data)
    path.write_bytes(capture.pcap())


def made(seed: int, path: Path) -> None:
    """Write the capture of this seed."""
    chance = random.Random(f"like replay {seed}")
    kinds = (
        lambda: path.write_bytes(written([broken_stream(seed)])),
        lambda: of_fixtures(chance, path),
        lambda: of_packets(chance, path),
        lambda: write_corpus(path, chance.randrange(20, 200), connections=chance.randrange(1, 6), kinds=60),
        lambda: write_sessions(path, chance.randrange(40, 300), pairs=chance.randrange(1, 4), deviating=0.3),
        lambda: of_fixtures(chance, path),
    )
    kinds[seed % len(kinds)]()
    content = path.read_bytes()  # Two captures with the same content are one: times tell them apart.
    path.write_bytes(content + struct.pack("<IIII", 0, seed, 4, 4) + struct.pack("<I", seed))


def test_every_capture_has_the_verdicts_of_replay(tmp_path: Path) -> None:
    """Packets, records, what is missing and the verdicts, by processes as the command has them."""
    found = [path for path, _, _ in damaged_captures.files(tmp_path)][:: max(1, 1_500 // COUNT)]
    for seed in range(COUNT - len(found)):
        found.append(tmp_path / f"{seed}.pcap")
        made(seed, found[-1])
    lake, done = put(tmp_path / "lake", found, Local(2), stream="file")
    assert done.captures == len(found) == COUNT and not done.rejected
    each = said_of_each(rows(lake, "captures"), rows(lake, "verdicts"))
    assert [path.name for path in found if each[str(path)] != replayed(path)] == []
    verdicts = sum(counts.total() for pair in each.values() for counts in pair)
    failing = sum(any("fail" in key for key in others) for others, _ in each.values())
    print(f"{COUNT:,} captures, {done.packets:,} packets, {verdicts:,} verdicts; {failing:,} captures deviate")
    assert failing > COUNT // 10 and verdicts > COUNT * 10
