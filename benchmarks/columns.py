"""Judging by columns against others, side by side: scapy, tshark without and with the MSMQ dissector, and `cat`.

python benchmarks/columns.py [--packets N,N] [--rounds N] [--scapy N] [--tshark N] [--folder DIR] [--json]

Captures are generated (see corpus.py): one with a segment a packet, one spread over segments with 1 % of them late or
twice, each with every packet rule on. In every round each contender runs once, in a process of its own; the medians of
the rounds are compared. Slow contenders read the first, smaller capture of the same kind. Ours is one core, with the
machine code there already; so are the others. Times of tshark are without its start.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from corpus import write_corpus

PROFILE = "msmq-4.0"
KEEP = 100  # verdicts shown one by one; all are counted
WARM = 2  # passes of ours before those that are timed
PASSES = 3
TSHARK = ("tshark", "-n", "-T", "fields")
PLAIN = (
    "-e", "tcp.len", "-d", "tcp.port==1801,data", "-o", "tcp.desegment_tcp_streams:FALSE",
    "-o", "tcp.analyze_sequence_numbers:FALSE",
)  # fmt: skip
IN_ORDER = ("-o", "tcp.desegment_tcp_streams:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE")


@dataclass(frozen=True, slots=True)
class Target:
    """ours, than: contenders. unit: packets or bytes, a second. least: the ratio that is wanted."""

    capture: str
    ours: str
    than: str
    unit: str
    least: float


TARGETS = (
    Target("whole", "ours", "scapy, all layers", "packets", 1000),
    Target("whole", "ours", "scapy, at its best", "packets", 500),
    Target("whole", "ours", "tshark without MSMQ", "packets", 40),
    Target("whole", "ours", "tshark with the dissector", "packets", 200),
    Target("whole", "ours", "cat", "bytes", 0.4),
    Target("spread", "ours", "tshark with the dissector", "packets", 150),
    Target("spread", "ours", "a million a second", "packets", 1),
    Target("whole", "ours, whole process", "tshark without MSMQ, whole process", "packets", 25),
)
MOST_MEMORY = 400e6


@dataclass(frozen=True, slots=True)
class Capture:
    """kind: whole or spread. few: a smaller one of the same kind."""

    kind: str
    path: Path
    packets: int
    few: Path
    few_packets: int
    tshark: Path
    tshark_packets: int


# --- what runs in a process of its own -----------------------------------------------------------------------------


def ours(path: Path, passes: int) -> dict[str, Any]:
    from conformance.children import hurry, without_matrices

    hurry()  # as the command does
    without_matrices()
    from conformance.captures.columns import judge_range
    from conformance.spec.catalogue import assignment

    readings = assignment("windows")
    times, packets, memory = [], 0, None
    peak = _Peak()
    for number in range(WARM + passes if passes > 1 else 1):
        if number == WARM:
            memory = peak.end()  # to look at it takes time from what is timed
        began = time.perf_counter()
        found = judge_range(path, profile=PROFILE, readings=readings, sessions=False, keep=KEEP)
        if number >= WARM or passes == 1:
            times.append(time.perf_counter() - began)
        packets = found.summary.packets
    return {
        "seconds": statistics.median(times),
        "packets": packets,
        "memory": peak.end() if memory is None else memory,
        "slow": found.slow.total(),
        "outcomes": {outcome.value: count for outcome, count in found.replay.outcomes.items()},
    }


class _Peak:
    """The most memory that is no part of a file, looked at now and then."""

    def __init__(self) -> None:
        self._most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        status = Path("/proc/self/status")
        while status.exists() and not self._over.is_set():
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            self._most = max(self._most, int(lines["RssAnon"].split()[0]) * 1024)
            self._over.wait(0.02)

    def end(self) -> int:
        self._over.set()
        self._thread.join()
        return self._most or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def scapy_all(path: Path, passes: int) -> dict[str, Any]:
    """scapy's own reading, with Ethernet, IP, TCP and our layers, every field of them decoded."""
    logging.getLogger("scapy").setLevel(logging.ERROR)
    from scapy.layers.inet import TCP
    from scapy.layers.l2 import Ether
    from scapy.utils import PcapReader

    from conformance.wire.layers import BaseHeader

    assert Ether is not None
    times, count = [], 0
    for _ in range(passes):
        began, count = time.perf_counter(), 0
        with PcapReader(str(path)) as packets:
            for packet in packets:
                count += BaseHeader in packet
        times.append(time.perf_counter() - began)
    assert TCP is not None
    return {"seconds": statistics.median(times), "packets": count}


def scapy_lean(path: Path, passes: int) -> dict[str, Any]:
    """The raw reader, and the leanest layers on the payload alone."""
    logging.getLogger("scapy").setLevel(logging.ERROR)
    from lean_layers import LeanBase
    from scapy.utils import RawPcapReader

    times, count = [], 0
    for _ in range(passes):
        began, count = time.perf_counter(), 0
        with RawPcapReader(str(path)) as records:
            for data, _ in records:
                payload = data[54:]
                if payload:
                    LeanBase(payload)
                    count += 1
        times.append(time.perf_counter() - began)
    return {"seconds": statistics.median(times), "packets": count}


CASES: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "ours": ours,
    "scapy, all layers": scapy_all,
    "scapy, at its best": scapy_lean,
}


# --- who starts them -----------------------------------------------------------------------------------------------


def in_process(case: str, path: Path, passes: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--case", case, "--passes", str(passes), str(path)]
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": _path()}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules compiled once, as they are where they are installed
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    return {**json.loads(done.stdout), "process": time.perf_counter() - began}


def _path() -> str:
    return os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def captures(folder: Path, packets: int, scapy: int, tshark: int) -> list[Capture]:
    found = []
    for kind in ("whole", "spread"):
        made = {}
        for count in {packets, min(scapy, packets), min(tshark, packets)}:
            path = made[count] = folder / f"{kind}-{count}.pcap"
            if not path.exists():
                print(f"making {path}", file=sys.stderr)
                spread = kind == "spread"
                write_corpus(path, count, spread=spread, disorder=0.01 if spread else 0.0)
        few, some = min(scapy, packets), min(tshark, packets)
        found.append(Capture(kind, made[packets], packets, made[few], few, made[some], some))
    return found


def one_round(capture: Capture, folder: Path, script: Path, empty: Path) -> dict[str, dict[str, float]]:
    """Everybody once. seconds and packets or bytes of each."""
    out: dict[str, dict[str, float]] = {}
    size = capture.path.stat().st_size

    def note(name: str, seconds: float, packets: float, **more: float) -> None:
        out[name] = {"packets": packets / seconds, "bytes": size * packets / capture.packets / seconds, **more}

    found = in_process("ours", capture.path, PASSES)
    assert found["packets"] == capture.packets, found
    note("ours", found["seconds"], capture.packets, memory=found["memory"], slow=found["slow"])
    once = in_process("ours", capture.path, 1)
    note("ours, whole process", once["process"], capture.packets, memory=once["memory"])
    if capture.kind == "whole":
        for case in ("scapy, all layers", "scapy, at its best"):
            found = in_process(case, capture.few, 1)
            assert found["packets"] == capture.few_packets, (case, found)
            note(case, found["seconds"], capture.few_packets)
        note("cat", timed(["sh", "-c", f"cat '{capture.path}' > /dev/null"]), capture.packets)
    if shutil.which("tshark"):
        plain = [*TSHARK, *(PLAIN if capture.kind == "whole" else ("-e", "tcp.len", *IN_ORDER))]
        lua = [*TSHARK, "-X", f"lua_script:{script}", "-e", "msmq.kind", "-e", "msmq.fail", *IN_ORDER]
        # Its reassembly out of order takes more than its share of time in a large capture: minutes for two million.
        large = (capture.path, capture.packets)
        some = (capture.tshark, capture.tshark_packets)
        for name, command, path, packets in (
            ("tshark without MSMQ", plain, *(large if capture.kind == "whole" else some)),
            ("tshark with the dissector", lua, *some),
        ):
            start = timed([*command, "-r", str(empty)])
            whole = timed([*command, "-r", str(path)])
            note(name, max(whole - start, 1e-6), packets)
            note(f"{name}, whole process", whole, packets)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", default="200000", help="sizes of the captures, with commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scapy", type=int, default=5000, help="packets that scapy reads")
    parser.add_argument("--tshark", type=int, default=20_000, help="packets that tshark reads with the dissector")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/mqconform-columns"), help="where captures are kept")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--passes", type=int, default=PASSES, help=argparse.SUPPRESS)
    parser.add_argument("path", type=Path, nargs="?", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(CASES[asked.case](asked.path, asked.passes)))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    script, empty = asked.folder / "msmq.lua", asked.folder / "empty.pcap"
    _scripts(script, empty)
    results = []
    for packets in map(int, asked.packets.split(",")):
        for capture in captures(asked.folder, packets, asked.scapy, asked.tshark):
            rounds = [one_round(capture, asked.folder, script, empty) for _ in range(asked.rounds)]
            results.append(_result(capture, rounds))
            if not asked.json:
                _show(results[-1])
    if asked.json:
        print(json.dumps({"rounds": asked.rounds, "results": results}, indent=1))


def _scripts(script: Path, empty: Path) -> None:
    from conformance.report.wireshark import dissector
    from conformance.spec.catalogue import assignment

    script.write_text(dissector(profile=PROFILE, readings=assignment("windows")).source, encoding="utf-8")
    write_corpus(empty, 0)


def _result(capture: Capture, rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """The medians over the rounds, and of each target the median of the rounds' ratios."""
    medians = {
        name: {unit: statistics.median(one[name][unit] for one in rounds) for unit in rounds[0][name]}
        for name in rounds[0]
    }
    targets = []
    for target in TARGETS:
        fixed = 1e6 if target.than == "a million a second" else None
        if target.capture != capture.kind or (fixed is None and target.than not in medians):
            continue
        ratios = [one[target.ours][target.unit] / (fixed or one[target.than][target.unit]) for one in rounds]
        ratio = statistics.median(ratios)
        targets.append({**asdict(target), "ratio": ratio, "from": min(ratios), "to": max(ratios),
                        "reached": ratio >= target.least})  # fmt: skip
    memory = max(one[name]["memory"] for one in rounds for name in ("ours", "ours, whole process"))
    return {
        "capture": capture.kind, "packets": capture.packets, "bytes": capture.path.stat().st_size,
        "medians": medians, "targets": targets, "memory": memory, "memory_reached": memory <= MOST_MEMORY,
    }  # fmt: skip


def _show(result: dict[str, Any]) -> None:
    print(f"\n{result['packets']:,} packets, {result['capture']}, {result['bytes'] / 1e6:.0f} MB")
    for name, median in result["medians"].items():
        print(f"  {name:42} {median['packets']:12,.0f} packets/s {median['bytes'] / 1e6:10,.1f} MB/s")
    for one in result["targets"]:
        mark = "reached" if one["reached"] else "MISSED"
        print(
            f"  {one['ours']} / {one['than']}: {one['ratio']:,.2f} [{one['from']:,.2f}..{one['to']:,.2f}], wanted"
            f" {one['least']:g}: {mark}"
        )
    mark = "reached" if result["memory_reached"] else "MISSED"
    print(f"  memory beyond the mapped file: {result['memory'] / 1e6:.0f} MB, wanted 400: {mark}")


if __name__ == "__main__":
    main()
