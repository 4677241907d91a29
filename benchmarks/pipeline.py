"""How fast captures become tables, and in how much memory: `pipeline ingest` on one core and on two, from new corpora.

python benchmarks/pipeline.py [--size GB] [--cores 1,2] [--engine local|spark] [--only packets,rows,pairs,server]
    [--work FOLDER]

Kinds: `packets` judges the rules of packets alone, `rows` writes every packet's row besides, both of captures that are
files of their own. `pairs` and `server` judge the rules of connections too, of one set as `tcpdump -C` rotates it:
pairs of hosts, or many hosts with one server; in a hundredth of the connections something deviates. Each is one command
with a new lake, its compiled code in the cache. Memory is the most that one Python has had, without
the pages of files, which the system takes back.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread

from corpus import write_corpus
from rotated import rotated, spread

ROOT = Path(__file__).parents[1]
KINDS = {"packets": ["--no-sessions"], "rows": ["--no-sessions", "--packets"], "pairs": [], "server": []}
FILE = 0.25
"""Gigabytes of a file, at most; a set has files of a quarter of that."""


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=2.0)
    parser.add_argument("--cores", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2])
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--work", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = asked.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for kind in asked.only:
            files = written(work, kind, asked.size)
            for cores in asked.cores:
                print(measured(kind, files, work / "lakes", cores, asked.engine), flush=True)


def written(work: Path, kind: str, size: float) -> Path:
    """Write the captures of a kind, once; return their folder."""
    name = "files" if kind in ("packets", "rows") else kind
    folder = work / f"{name}-{size:g}"
    if folder.exists():
        return folder
    if name == "files":
        base = work / "base.pcap"
        write_corpus(base, max(2_000, int(min(FILE, size) * 1e9 / 900)), seed=1)
        spread(base, folder, size * 1e9)
    else:
        rotated(folder, name, size * 1e9, base=min(1.0, size / 4) * 1e9, file=FILE / 4 * 1e9, deviating=0.01)
    return folder


def measured(kind: str, files: Path, lakes: Path, cores: int, engine: str) -> str:
    """Ingest once and return the figures in words."""
    lake = lakes / f"{time.time_ns()}"
    how = ["--engine", engine, *(["--master", f"local[{cores}]"] if engine == "spark" else [])]
    command = [sys.executable, "-m", "conformance", "pipeline", "ingest", str(files), "--out", str(lake), "--json"]
    chosen = ["taskset", "-c", ",".join(map(str, range(cores)))]
    process = subprocess.Popen([*chosen, *command, *how, *KINDS[kind]], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    over, most = Event(), [0]
    watching = Thread(target=_watch, args=(process.pid, over, most))
    watching.start()
    out, _ = process.communicate()
    over.set()
    watching.join()
    found = json.loads(out)
    speed = found["packets"] / found["seconds"]
    return (
        f"{kind}, {engine}, {cores} cores: {found['bytes'] / 1e9:.2f} GB, {found['packets']:,} packets in"
        f" {found['seconds']:.1f} s, {speed:,.0f} packets/s, {most[0] >> 10:,} MB"
    )


def _watch(parent: int, over: Event, most: list[int]) -> None:
    """Note the most memory that one Python below a process has of its own, in kB."""
    while not over.wait(0.2):
        below, every = {parent}, [path for path in Path("/proc").iterdir() if path.name.isdigit()]
        for path in sorted(every, key=lambda one: int(one.name)):
            try:
                status = dict(
                    line.split(":\t", 1) for line in (path / "status").read_text().splitlines() if ":\t" in line
                )
            except OSError:
                continue
            if int(status["PPid"]) in below or int(path.name) in below:
                below.add(int(path.name))
                if "RssAnon" in status and status["Name"] != "java":
                    most[0] = max(most[0], int(status["RssAnon"].split()[0]))


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
