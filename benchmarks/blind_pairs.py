"""Measure what a run finds of two faults at once in an implementation of another hand.

PYTHONPATH=. python benchmarks/blind_pairs.py SET --out FILE [--pairs N] [--pool N] [--seed S] [--histories N]
    [--budget SECONDS]

SET is a folder of `benchmarks/blind`; the faults are those of its `own.py`. First each fault of a pool is run alone.
Pairs are drawn from those that deviate alone. A fault of a pair is found if a requirement is blamed that is blamed on
it alone; a requirement that is blamed on neither alone is wrongly blamed. FILE keeps each result as a JSON line: what
is in it already is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from blind import SETS

from tools.quirk_pairs import blamed_on

SEVERAL = SETS / "several.py"


def blamed(folder: Path, faults: tuple[str, ...], number: int) -> dict[str, Any]:
    """Play the planned histories to their end; return the requirements blamed, and the bodies of quirks."""
    began = time.monotonic()
    driver = f"stdio:{sys.executable} {SEVERAL} {folder / 'own.py'} {'+'.join(faults)}"
    told, bodies = blamed_on(driver, number, past=len(faults) > 1)
    seconds = round(time.monotonic() - began, 1)
    return {"faults": faults, "blamed": told, "quirks": [" with ".join(body) for body in bodies], "seconds": seconds}


def found(pair: tuple[str, ...], of: Mapping[tuple[str, ...], Mapping[str, Any]]) -> int:
    """Return how many faults of a pair are found, each by a requirement of its own."""
    mine = [set(of[pair]["blamed"]) & set(of[name,]["blamed"]) for name in pair]
    return min(sum(map(bool, mine)), len(mine[0] | mine[1]))


def wrong(pair: tuple[str, ...], of: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
    """Return the requirements that are blamed on neither fault alone."""
    alone = {each for name in pair for each in of[name,]["blamed"]}
    return [each for each in of[pair]["blamed"] if each not in alone]


def main() -> None:
    """Print a row for each pair, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(path.name for path in SETS.iterdir() if path.is_dir()))
    for name, default in (("pairs", 10), ("pool", 10), ("seed", 1), ("histories", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which nothing more is begun")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    folder, random = SETS / given.set, Random(given.seed)
    until = time.monotonic() + given.budget
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    of: dict[tuple[str, ...], dict[str, Any]] = {tuple(row["faults"]): row for row in map(json.loads, lines)}

    def measured(faults: tuple[str, ...], of: dict[tuple[str, ...], dict[str, Any]]) -> bool:
        if faults not in of and time.monotonic() < until:
            of[faults] = blamed(folder, faults, given.histories)
            with given.out.open("a") as out:
                out.write(json.dumps(of[faults]) + "\n")
        return faults in of

    names = [each["name"] for each in json.loads((folder / "faults.json").read_text()) if each["kind"] == "own"]
    tried = [(name,) for name in random.sample(names, min(given.pool, len(names)))]
    deviating = [name for name in tried if measured(name, of) and of[name]["blamed"]]
    pairs: list[tuple[str, ...]] = [(*one, *other) for one, other in combinations(deviating, 2)]
    shown = [pair for pair in random.sample(pairs, min(given.pairs, len(pairs))) if measured(pair, of)]
    _print(f"{len(deviating)} of {len(tried)} deviate alone", shown, of)


def _print(title: str, pairs: list[tuple[str, ...]], of: Mapping[tuple[str, ...], Mapping[str, Any]]) -> None:
    print(f"{title}\n\n| pair | blamed | found | wrongly blamed | bodies | seconds |")
    print("|---|--:|--:|---|---|--:|")
    for pair in pairs:
        row = of[pair]
        bodies = ", ".join(dict.fromkeys(name or "none" for name in row["quirks"]))
        cells = [" + ".join(pair), len(row["blamed"]), found(pair, of), ", ".join(wrong(pair, of))]
        print(f"| {' | '.join(map(str, [*cells, bodies, row['seconds']]))} |")
    number, every = sum(found(pair, of) for pair in pairs), sum(len(of[pair]["blamed"]) for pair in pairs)
    print(
        f"\n{number} of {2 * len(pairs)} faults found; {sum(len(wrong(pair, of)) for pair in pairs)} of {every} wrong"
    )


if __name__ == "__main__":
    main()
