"""Measure what a replay says of packets that somebody wrote who had read the documents alone.

python benchmarks/blind_packets.py SET [--columns] [--only TEXT] [--out FILE]

SET is a folder of `benchmarks/blind/packets`: `mutations.jsonl`, a line for each capture of `mutations` with one
sentence of the documents broken in it (`file`, `name`, `section`, `requirements` that it breaks, `provable` from the
capture alone), and `valid`, captures in which nothing is broken. Captures that are missing are made, in a temporary
folder, by the programs of the set, `make_mutations.py` and `make_valid.py`. `readings.txt`, where it is there, has the
readings that its writer follows, ID=ALTERNATIVE in a line each. Prints the mutations that are missed or blamed on
another requirement, the requirements that valid captures are accused of, and the two shares. FILE gets a JSON line for
each capture.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import conformance
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome

SHOWN = 12  # deviations of a capture that are listed
LAST = 1 << 62  # what is told at the end of a connection


@dataclass(frozen=True, slots=True)
class Found:
    """What a replay says of a capture: packets read, requirements broken, and ones that only follow another reading."""

    packets: int
    broken: tuple[str, ...]
    read_otherwise: tuple[str, ...]
    incomplete: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A mutation and what was found of it. right: the first requirement blamed is one that is broken."""

    name: str
    section: str
    meant: tuple[str, ...]
    provable: bool
    found: Found

    @property
    def reported(self) -> bool:
        """Tell whether the capture is accused of anything."""
        return bool(self.found.broken)

    @property
    def right(self) -> bool:
        """Tell whether the first accusation is what was broken. A mutation without an id counts if its section does."""
        if not self.found.broken:
            return False
        first = self.found.broken[0]
        return first in self.meant if self.meant else f"-{self.section.split()[-1]}." in first

    def __str__(self) -> str:
        broken = ", ".join(self.found.broken[:SHOWN]) or "missed"
        only = f" (reading: {', '.join(self.found.read_otherwise)})" if self.found.read_otherwise else ""
        return f"| {self.name} | {self.section} | {', '.join(self.meant) or '-'} | {broken}{only} |"


def replayed(capture: Path, *, columns: bool, chosen: list[str]) -> Found:
    """Judge a capture with every level of requirement."""
    with tempfile.TemporaryDirectory(prefix="mqconform-blind-") as out:
        result = conformance.replay(
            [capture], level="may", columns=columns, chosen=chosen, out=Path(out) / "run"
        ).replay
    singly = sorted(
        (one.verdict for one in result.counted if one.verdict.outcome is not Outcome.PASS),
        key=lambda verdict: LAST if verdict.frame is None else verdict.frame,
    )
    broken = dict.fromkeys(one.requirement for one in singly if one.outcome in (Outcome.FAIL, Outcome.WARN))
    read = dict.fromkeys(one.requirement for one in singly if one.outcome is Outcome.READING)
    return Found(result.packets, tuple(broken), tuple(read), bool(result.incomplete) or bool(result.errors))


def made(folder: Path, scratch: Path) -> Path:
    """Return a folder with the captures of a set: its own, or a copy in which its programs have made them."""
    if (folder / "mutations").is_dir():
        return folder
    known = catalogue().requirements
    names = {*known, *(name for each in known.values() for name in each.aliases)}
    (scratch / "requirements.json").write_text(json.dumps([{"id": name} for name in sorted(names)]))
    copy = scratch / "set"
    shutil.copytree(folder, copy)
    for name in ("mutations", "valid"):
        (copy / name).mkdir()
    for program in ("make_mutations.py", "make_valid.py"):
        subprocess.run([sys.executable, program], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    shutil.copyfile(folder / "mutations.jsonl", copy / "mutations.jsonl")
    return copy


def main() -> None:
    """Measure a set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("set", type=Path)
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mqconform-blind-") as scratch:
        measure(given, made(given.set, Path(scratch)))


def measure(given: argparse.Namespace, folder: Path) -> None:
    """Measure the captures in a folder, and print the result."""
    names = {alias: name for name, each in catalogue().requirements.items() for alias in each.aliases}
    rows: list[Row] = []
    told = given.set / "readings.txt"
    chosen = told.read_text().split() if told.exists() else []
    for text in (folder / "mutations.jsonl").read_text().splitlines():
        each = json.loads(text)
        if given.only not in each["name"]:
            continue
        name = str(each["file"])
        path = folder / name if (folder / name).exists() else folder / "mutations" / name
        rows.append(
            Row(
                each["name"],
                each["section"],
                tuple(names.get(name, name) for name in each["requirements"]),
                bool(each["provable"]),
                replayed(path, columns=given.columns, chosen=chosen),
            )
        )
    provable = [row for row in rows if row.provable]
    print("| mutation | section | broken | blamed |\n|---|---|---|---|")
    for row in rows:
        if row.reported != row.provable or (row.provable and not row.right):
            print(row)
    accused: Counter[str] = Counter()
    packets = 0
    bad: list[str] = []
    for path in sorted((folder / "valid").glob("*.pcap")) if not given.only else ():
        found = replayed(path, columns=given.columns, chosen=chosen)
        packets += found.packets
        accused.update(found.broken)
        if found.broken or found.incomplete:
            bad.append(f"{path.name}: {', '.join(found.broken) or 'incomplete'}")
    print(*[f"valid {line}" for line in bad], sep="\n")
    reported, right = sum(row.reported for row in provable), sum(row.right for row in provable)
    readings = sum(bool(row.found.read_otherwise) and not row.reported for row in provable)
    total = max(1, len(provable))
    print(f"{len(rows)} mutations, {len(provable)} provable: {reported} reported ({reported / total:.1%}), ", end="")
    print(f"{right} with the right requirement first ({right / total:.1%}); {readings} more follow another reading")
    print(f"{packets} valid packets, {len(bad)} captures accused: {dict(accused)}")
    if given.out is not None:
        given.out.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))


if __name__ == "__main__":
    main()
