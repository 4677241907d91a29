"""Measure what a run catches of faults that somebody put in who had read the documents alone.

python benchmarks/blind.py SET [FAULT...] [--suite SUITES] [--jobs N] [--out FILE]

SET is a folder of `benchmarks/blind`: two drivers, `embedded_faulty.py` and `own.py`, and `faults.json`, which says of
each fault where the text demands otherwise, under which conditions it shows, and a sequence of calls that shows it.
Without a fault's name a driver is the control, which is run first and must not deviate. Prints a row for each fault,
with the requirement of the first deviation. FILE keeps the rows as JSON lines: faults that are in it already are not
run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

SETS = Path(__file__).parent / "blind"
DRIVERS = {"embedded": "embedded_faulty.py", "own": "own.py"}
LIMIT_S = 900


@dataclass(frozen=True, slots=True)
class Row:
    """A fault and its run. first: the requirement of the first deviation; None: none was found."""

    name: str
    kind: str
    section: str
    exit_code: int | None
    first: str | None

    def __str__(self) -> str:
        told = self.first or ("missed" if self.exit_code == 0 else f"exit code {self.exit_code}")
        return f"| {self.name} | {self.kind} | {self.section} | {told} |"


def deviations(folder: Path, kind: str, fault: str, suites: Sequence[str]) -> tuple[int | None, list[str]]:
    """Run the suites (none: all) to the first deviation; return the exit code (None: out of time) and what deviated."""
    driver = f"stdio:{sys.executable} {folder / DRIVERS[kind]} {fault}".rstrip()
    with tempfile.TemporaryDirectory(prefix="mqconform-blind-") as out:
        command = [
            sys.executable,
            "-m",
            "conformance",
            "run",
            "--adapter",
            driver,
            "--fail-fast",
            "--json",
            "--out",
            out,
        ]
        command += [word for suite in suites for word in ("--suite", suite)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return None, []
    told = json.loads(ended.stdout) if ended.stdout.strip() else {}
    return ended.returncode, [each["requirement"] for each in told.get("deviations", [])]


def main() -> int:
    """Measure a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(path.name for path in SETS.iterdir() if path.is_dir()))
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--suite", action="append", default=[], help="run this suite only; may be repeated")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder = SETS / given.set
    faults = [
        each
        for each in json.loads((folder / "faults.json").read_text())
        if each["name"] in (given.faults or [each["name"]])
    ]
    kept = given.out.read_text().splitlines() if given.out is not None and given.out.exists() else []
    done = {row.name: row for row in (Row(**json.loads(line)) for line in kept)}

    def measured(fault: dict[str, str]) -> Row:
        exit_code, found = deviations(folder, fault["kind"], fault["name"], given.suite)
        row = Row(fault["name"], fault["kind"], fault["section"], exit_code, next(iter(found), None))
        if given.out is not None:
            with given.out.open("a") as out:
                out.write(json.dumps(asdict(row)) + "\n")
        print(row, file=sys.stderr, flush=True)
        return row

    with ThreadPoolExecutor(given.jobs) as pool:
        left = [each for each in faults if each["name"] not in done]
        kinds = sorted({each["kind"] for each in left})
        for kind, (exit_code, found) in zip(
            kinds, pool.map(lambda kind: deviations(folder, kind, "", given.suite), kinds), strict=True
        ):
            if exit_code != 0:
                print(f"the control of {DRIVERS[kind]} ends with {exit_code}: {found[:3]}", file=sys.stderr)
                return 1
        rows = {row.name: row for row in (*done.values(), *pool.map(measured, left))}
    print("| fault | in | section | first deviation |\n|---|---|---|---|")
    for each in faults:
        print(rows[each["name"]])
    caught = sum(rows[each["name"]].first is not None for each in faults)
    print(f"\n{caught} of {len(faults)} caught", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
