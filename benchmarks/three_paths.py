"""Judge made captures on three paths, and say where the verdicts differ.

python benchmarks/three_paths.py [COUNT] [FIRST]

A seed makes each capture, from FIRST on: correct exchanges, changed packets, broken streams, records that are lost,
doubled, swapped or cut. The paths are `replay`, `replay --columns`, and an ingest by processes of this machine.
Compared are requirement, outcome, subject, reason, values, place and readings of each verdict, and how often it came.
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[1]
sys.path[:0] = [
    str(TOP / name) for name in ("tests", "tests/capture", "tests/captures", "tests/pipeline", "fixtures", "benchmarks")
]

import build_captures  # noqa: E402
import build_packets  # noqa: E402
import build_tcp  # noqa: E402
import damaged_captures  # noqa: E402
from broken_streams import broken_stream, written  # noqa: E402
from generated_corpus import write_corpus  # noqa: E402
from lake_helpers import FILES, of_replay, put, records_of, replayed, rows, said_of_each, write_pcap  # noqa: E402
from packet_mutations import changes  # noqa: E402
from session_corpus import write_sessions  # noqa: E402

from conformance.captures.columns import judge_range  # noqa: E402
from conformance.pipeline.engine import Local  # noqa: E402
from conformance.spec.catalogue import assignment  # noqa: E402

NS = 1_000_000_000
ALONE = "one by one"
Said = tuple[Counter[tuple[object, ...]], Counter[tuple[object, ...]]]
"""Verdicts other than pass, each with its place, and passes: how often each came."""


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


def captures(count: int, folder: Path, first: int = 0) -> list[Path]:
    """Write so many captures: some damaged files in all formats, and one of each seed."""
    found = [path for path, _, _ in damaged_captures.files(folder)][:: max(1, 1_500 // count)][:count]
    for seed in range(first, first + count - len(found)):
        found.append(folder / f"{seed}.pcap")
        made(seed, found[-1])
    return found


def on_three_paths(found: list[Path], folder: Path) -> dict[Path, dict[str, Said]]:
    """Return what each path says of each capture."""
    lake, done = put(folder / "lake", found, Local(2), stream="file")
    assert done.captures == len(found) and not done.rejected
    ingested = said_of_each(rows(lake, "captures"), rows(lake, "verdicts"))
    readings = assignment("windows")
    return {
        path: {
            ALONE: replayed(path),
            "columns": of_replay(judge_range(path, profile="msmq-4.0", readings=readings).replay),
            "pipeline": ingested[str(path)],
        }
        for path in found
    }


def differences(said: Mapping[str, Said]) -> Iterator[str]:
    """Yield a line for each verdict that comes more or less often on another path than one by one."""
    for way, found in said.items():
        for one, other in zip(said[ALONE], found, strict=True):
            yield from (f"{way}: {-count} {key}" for key, count in (one - other).items())
            yield from (f"{way}: +{count} {key}" for key, count in (other - one).items())


def main(arguments: list[str]) -> int:
    """Print the differences, and how much was compared. Returns 1 if something differs."""
    count, first = [*map(int, arguments), *(500, 0)[len(arguments) :]]
    with tempfile.TemporaryDirectory() as name:
        each = on_three_paths(captures(count, Path(name), first), Path(name))
    lines = [f"{path.name}, {line}" for path, said in each.items() for line in differences(said)]
    verdicts = sum(counts.total() for said in each.values() for counts in said[ALONE])
    failing = sum(any("fail" in key for key in said[ALONE][0]) for said in each.values())
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(each):,} captures on three paths, {verdicts:,} verdicts; {failing:,} captures deviate; ", end="")
    print(f"{len(lines):,} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
