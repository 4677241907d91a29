"""Judging with the rules of connections, against packet rules alone, the rules one by one, and tshark without MSMQ.

python benchmarks/sessions.py [--packets N] [--rounds N] [--few N] [--folder DIR] [--json]

Captures of sessions are generated (see session_corpus.py): one in which 1 % of the pairs of hosts deviate, one in which
all do, and one of connections with unfinished packets of 4 MB. In every round each contender runs once, in a process of
its own, on one core, with the machine code there already; the medians of the rounds are compared. Slow contenders read
a smaller capture of the same kind. Memory is the most that belongs to no file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "fixtures")]

import build_captures as captures  # noqa: E402
import build_tcp  # noqa: E402
from columns import IN_ORDER, KEEP, PROFILE, TSHARK, _path, _Peak, timed  # noqa: E402
from session_corpus import write_sessions  # noqa: E402

SHARES = {"1 % deviate": 0.01, "all deviate": 1.0}
WANTED = {"1 % deviate": 500_000, "all deviate": 100_000}
PAIRS = 100
MOST_MEMORY = 700e6
UNFINISHED = 900
"""Connections with an unfinished packet."""


def write_unfinished(path: Path, *, connections: int = UNFINISHED, size: int = 4 << 20, share: float = 0.9) -> None:
    """Write connections that each send this share of one packet, and never the rest."""
    head = struct.pack("<BBHIII", 0x10, 0, 0, 0x524F494C, size, 0xFFFFFFFF)
    data = (head + bytes(int(size * share)))[: int(size * share)]
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        for number in range(connections):
            capture = build_tcp.Capture(captures.START * build_tcp.NS + number * 1_000_000)
            ends = (f"10.5.{number >> 8}.{number & 255}", 50_001), ("10.6.0.1", 1801)
            connection = build_tcp.Connection.open(capture, *ends)
            for at in range(0, len(data), 60_000):
                connection.segment(0, data[at : at + 60_000], build_tcp.ACK)
            for time_ns, record in capture.records:
                seconds, rest = divmod(time_ns, build_tcp.NS)
                out.write(struct.pack("<IIII", seconds, rest // 1000, len(record), len(record)) + record)


def compiled(path: Path, *, sessions: bool) -> dict[str, Any]:
    """Judge by columns: the fastest of three passes, after one that is not timed."""
    from conformance.captures.columns import judge_range
    from conformance.children import hurry, without_matrices
    from conformance.spec.catalogue import assignment

    hurry()
    without_matrices()
    readings, times, packets, peak = assignment("windows"), [], 0, _Peak()
    for _ in range(4):
        began = time.perf_counter()
        found = judge_range(path, profile=PROFILE, readings=readings, sessions=sessions, keep=KEEP)
        times.append(time.perf_counter() - began)
        packets = found.summary.packets
    outcomes = {outcome.value: count for outcome, count in found.replay.outcomes.items()}
    return {"seconds": min(times[1:]), "packets": packets, "memory": peak.end(), "outcomes": outcomes}


def one_by_one(path: Path) -> dict[str, Any]:
    """Judge without compiled code."""
    from conformance.captures import replay
    from conformance.spec.catalogue import assignment

    readings, peak = assignment("windows"), _Peak()
    began = time.perf_counter()
    found = replay([path], profile=PROFILE, readings=readings)
    return {"seconds": time.perf_counter() - began, "packets": found.captures[0].packets, "memory": peak.end()}


CASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "all rules": lambda path: compiled(path, sessions=True),
    "packet rules alone": lambda path: compiled(path, sessions=False),
    "one by one": one_by_one,
}


def in_process(case: str, path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--case", case, str(path)], capture_output=True, check=True, env=_environment()
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": _path()}


def one_round(path: Path, few: Path, packets: int) -> dict[str, dict[str, float]]:
    """Everybody once: packets a second and the most memory of each."""
    out: dict[str, dict[str, float]] = {}
    for case in CASES:
        found = in_process(case, few if case == "one by one" else path)
        out[case] = {"packets": found["packets"] / found["seconds"], "memory": found["memory"]}
    if shutil.which("tshark"):
        command = [*TSHARK, "-e", "tcp.len", "-d", "tcp.port==1801,data", *IN_ORDER, "-r"]
        out["tshark without MSMQ"] = {"packets": packets / timed([*command, str(few)]), "memory": 0}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--few", type=int, default=20_000, help="packets that tshark and the rules one by one read")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/mqconform-sessions"), help="where captures are kept")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("path", type=Path, nargs="?", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(CASES[asked.case](asked.path)))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for kind, share in SHARES.items():
        whole, few = (_made(asked.folder, count, share) for count in (asked.packets, asked.few))
        count = in_process("packet rules alone", few)["packets"]
        results.append(_result(kind, [one_round(whole, few, count) for _ in range(asked.rounds)]))
        if not asked.json:
            _show(results[-1])
    unfinished = asked.folder / "unfinished.pcap"
    if not unfinished.exists():
        write_unfinished(unfinished)
    memory = in_process("all rules", unfinished)["memory"]
    if asked.json:
        print(json.dumps({"results": results, "unfinished": memory}, indent=1))
    else:
        mark = "reached" if memory <= MOST_MEMORY else "MISSED"
        print(f"{UNFINISHED} unfinished packets of 4 MB: {memory / 1e6:.0f} MB, wanted {MOST_MEMORY / 1e6:.0f}: {mark}")


def _made(folder: Path, count: int, share: float) -> Path:
    path = folder / f"{share:g}-{count}.pcap"
    if not path.exists():
        print(f"making {path}", file=sys.stderr)
        write_sessions(path, count, pairs=min(PAIRS, max(1, count // 200)), deviating=share)
    return path


def _result(kind: str, rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """The medians over the rounds, and the medians of the rounds' ratios."""
    names = list(rounds[0])
    ratios = {
        name: statistics.median(one["all rules"]["packets"] / one[name]["packets"] for one in rounds)
        for name in names[1:]
    }
    return {
        "capture": kind,
        "packets": {name: statistics.median(one[name]["packets"] for one in rounds) for name in names},
        "ratios": ratios,
        "memory": max(one["all rules"]["memory"] for one in rounds),
    }


def _show(result: dict[str, Any]) -> None:
    print(f"\n{result['capture']}")
    for name, packets in result["packets"].items():
        print(f"  {name:24} {packets:12,.0f} packets/s")
    for name, ratio in result["ratios"].items():
        print(f"  all rules / {name}: {ratio:,.2f}")
    wanted = WANTED[result["capture"]]
    mark = "reached" if result["packets"]["all rules"] >= wanted else "MISSED"
    print(f"  wanted {wanted:,} packets/s: {mark}; memory {result['memory'] / 1e6:.0f} MB, wanted 700")


if __name__ == "__main__":
    main()
