"""Print what the suite of objects blames for faults: whether it catches each, and the requirement blamed first.

python -m tools.object_blame [FAULT...] [--set FOLDER] [--sample N] [--seed S] [--module MODULE] [--every] [--jobs N]

FAULT is one of `conformance.embedded.faults`, or with --set one of a folder of `benchmarks/blind` whose faults are of
objects. --sample: N recorded faults of the suite of objects, drawn by --seed. --module: play the examples of one test
module alone. --every: print each example that shows the fault, and what it blames, not the first one alone.
A row is: name, missed or how it is blamed, the requirement blamed first, the example that blames it. `named`: the fault
names the requirement blamed first; `beside it`: it names another one that the same answer breaks.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing import get_context
from pathlib import Path

from conformance.embedded.faults import FAULTS, UNJUDGED_FAULTS
from conformance.fault_tapes import Deviating, Port, Taped, shown_by, taped
from conformance.spec.versions import DEFAULT_PROFILE

SUITE = "objects"
_TAPES: list[Taped] = []


@dataclass(frozen=True, slots=True)
class Blamed:
    """A fault and what is blamed for it: requirements with the example that blames them, in order of the run.

    names: the requirements that it is said to break.
    """

    name: str
    names: tuple[str, ...]
    blamed: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def how(self) -> str:
        """Whether the first requirement is one that the fault names, or another one blamed by the same answer is."""
        if not self.blamed:
            return "missed"
        every, _ = self.blamed[0]
        return "named" if every[0] in self.names else "beside it" if set(every) & set(self.names) else "not named"

    def __str__(self) -> str:
        (first, *_), test = self.blamed[0] if self.blamed else (("",), "")
        return f"{self.name} | {self.how} | {first} | {test}"


def blind(folder: Path) -> dict[str, Deviating]:
    """Return the faults of a blind set in the objects of the embedded manager, in the order of its file."""
    spec = spec_from_file_location("embedded_faulty", folder / "embedded_faulty.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    parts: Mapping[str, Mapping[str, type]] = module.FAULTS
    told = json.loads((folder / "faults.json").read_text())
    return {
        each["name"]: Deviating(each["name"], tuple(each["requirement"]), tuple(parts[each["name"]].items()))
        for each in told
        if each["name"] in parts
    }


def recorded() -> dict[str, Deviating]:
    """Return the faults of objects in the embedded manager, those that nothing must find included."""
    return {
        name: Deviating(
            name,
            fault.breaks + fault.first_seen_as,
            (fault.replaces, *fault.also),
            (name,),
            fault.profile or DEFAULT_PROFILE,
        )
        for name, fault in {**FAULTS, **UNJUDGED_FAULTS}.items()
        if fault.suite == SUITE
    }


@cache
def _faults(folder: str) -> dict[str, Deviating]:
    return blind(Path(folder)) if folder else recorded()


def _tried(folder: str, name: str, every: bool) -> Blamed:
    fault = _faults(folder)[name]
    with Port(fault.faults, fault.profile, parts=None if fault.faults else dict(fault.parts)) as port:
        found = _found(port, fault, every)
        return Blamed(name, fault.breaks, tuple(found))


def _found(port: Port, fault: Deviating, every: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    for found in shown_by(SUITE, fault.ran_by(_TAPES), port):
        yield found
        if not every:
            return


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the faults and print a row of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--set", type=Path, help="a folder of benchmarks/blind")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--module", default="")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    folder = "" if given.set is None else str(given.set)
    known = _faults(folder)
    judged = sorted(known.keys() & FAULTS.keys())
    names = given.faults or random.Random(given.seed).sample(judged, given.sample)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        parser.error(f"there is no fault {', '.join(unknown)}" if unknown else "name a fault, or draw some by --sample")
    _TAPES.extend(taped(SUITE, module=given.module))
    rows: list[Blamed] = []
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("fork")) as pool:  # forked: they have the tapes
        for row in pool.map(_tried, [folder] * len(names), names, [given.every] * len(names)):
            rows.append(row)
            print(row, flush=True)
            for (first, *_), test in row.blamed if given.every else ():
                print(f"    {' ' if first in row.names else '!'} {first} | {test}")
    counts = Counter(row.how for row in rows)
    print(
        f"{len(rows) - counts['missed']} of {len(rows)} caught, {counts['named']} rightly blamed first", file=sys.stderr
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
