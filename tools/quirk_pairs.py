"""How much is found past the first deviation: pairs and triples of faults of the embedded manager, drawn by a seed.

Each is judged by the first planned histories of the book, in this process. A fault counts as found if a requirement
that it breaks, or that it was recorded to show as, is blamed. A blamed requirement of none of the faults is a wrong
one. Drawn are faults that these histories find when they are alone: what is measured is only what they hide of each
other.

`python -m tools.quirk_pairs --pairs 200 --triples 100 --seed 1 --out pairs.ndjson`

The file keeps each result as it comes: what is in it already is not judged again, and `--table` prints it without
judging anything.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Final

from conformance.children import rarely_collecting, settle
from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.playing import implementation_of, quick_folder
from conformance.explaining.quirks import Quirks
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.run_session import hello_json
from conformance.harness.tape import Example, Key, Tape
from conformance.histories.situations.book import CHUNKS, chunk, load
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.situation import space
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

SUITES: Final = frozenset({"cursors", "transactions", "subqueues", "journals", "quotas", "restart", "outgoing"})
"""Suites of histories: faults of the others show in single calls, which hide nothing of each other."""
REFUTING: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})


@dataclass(frozen=True, slots=True)
class Judged:
    """What the histories blame on an implementation with these faults. quirks: the bodies met; past: it went on."""

    faults: tuple[str, ...]
    past: bool
    blamed: tuple[str, ...]
    quirks: tuple[tuple[str, ...], ...]
    seconds: float

    @property
    def found(self) -> tuple[str, ...]:
        """The faults that are found."""
        return tuple(name for name in self.faults if not set(self.blamed).isdisjoint(shown(name)))

    @property
    def wrong(self) -> tuple[str, ...]:
        """Blamed requirements that none of the faults breaks, or shows as."""
        mine = {each for name in self.faults for each in shown(name)}
        return tuple(each for each in self.blamed if each not in mine)

    @property
    def unbroken(self) -> tuple[str, ...]:
        """Blamed requirements that no text says one of the faults breaks."""
        mine = {each for name in self.faults for each in (*FAULTS[name].breaks, *FAULTS[name].first_seen_as)}
        return tuple(each for each in self.blamed if each not in mine)


def shown(name: str) -> tuple[str, ...]:
    """Return what a fault breaks and what it was recorded to show as."""
    fault = FAULTS[name]
    return (*fault.breaks, *fault.first_seen_as, *shows_as(fault))


def judged(faults: tuple[str, ...], number: int, *, past: bool) -> Judged:
    """Judge the embedded manager with these faults. number: of planned histories. past: go on past deviations."""
    began = time.monotonic()
    blamed, bodies = blamed_on(f"embedded+{','.join(faults)}", number, past=past)
    return Judged(faults, past, blamed, bodies, time.monotonic() - began)


def blamed_on(adapter: str, number: int, *, past: bool) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return what the first planned histories blame on an implementation, and the bodies of its quirks."""
    options = RunOptions(
        profile=DEFAULT_PROFILE,
        level="must",
        readings=assignment("windows", {}),
        reading_set="windows",
        seed=0,
        max_examples=1,
        stateful_steps=30,
        situations="all",
    )
    blamed: list[str] = []
    histories, known = load().histories[:number], Known()
    had: set[Key] = set()
    with quick_folder() as folder, rarely_collecting():
        client = open_client(
            adapter,
            state_dir=Path(folder),
            in_process=adapter.startswith("embedded"),
            deadline_ms=10_000,
            profile=DEFAULT_PROFILE,
        )
        implementation = implementation_of(hello_json(client), DEFAULT_PROFILE, {})
        quirks = Quirks(lambda: implementation) if past else None
        try:
            for part in range(CHUNKS):
                settle()
                tape = Tape(had, partial(_witness, quirks))
                judge = Recorder(options, lambda verdict, count: None, tape=tape, past=quirks)
                guarded = GuardedClient(client, skips=True, tape=tape)
                player = Player(guarded, judge, options, space(), known)
                at = time.monotonic()
                player.play(chunk(histories, part))
                failures = player.told(time.monotonic() - at)
                filed = quirks.filed(failures) if quirks is not None else [(each, None) for each in failures]
                blamed += [each.verdict.requirement for each, why in filed if why is None and _refutes(each)]
        finally:
            if quirks is not None:
                quirks.close()
            client.close()
    bodies = tuple(quirk.faults for quirk in quirks.known) if quirks is not None else ()
    return tuple(dict.fromkeys(blamed)), bodies


def _witness(quirks: Quirks | None, example: Example) -> None:
    if quirks is not None and all(said.outcome is not Outcome.FAIL for said in example.said):
        quirks.witness(example)


def _refutes(failure: ConformanceFailure) -> bool:
    return failure.verdict.outcome in REFUTING


def drawn(pool: Sequence[str], size: int, number: int, random: Random) -> list[tuple[str, ...]]:
    """Return different groups of faults."""
    found: dict[tuple[str, ...], None] = {}
    every = sum(1 for _ in combinations(pool, size)) if len(pool) < 30 else number
    while len(found) < min(number, every):
        found[tuple(sorted(random.sample(pool, size)))] = None
    return list(found)


def table(title: str, results: Sequence[Judged], alone: Mapping[str, Judged]) -> str:
    """Return the line of one measurement. alone: what each fault is blamed for where nothing else is wrong."""
    faults = sum(len(one.faults) for one in results)
    found = sum(len(one.found) for one in results)
    blamed = sum(len(one.blamed) for one in results)
    wrong, unbroken = sum(len(one.wrong) for one in results), sum(len(one.unbroken) for one in results)
    seconds = sum(one.seconds for one in results) / len(results)
    beside = sum(all(each not in alone[name].blamed for name in one.faults) for one in results for each in one.wrong)
    cells = (
        title,
        len(results),
        f"{found} of {faults} ({100 * found / faults:.1f} %)",
        f"{wrong} of {blamed} ({100 * wrong / max(1, blamed):.1f} %)",
        f"{beside} ({100 * beside / max(1, blamed):.1f} %)",
        f"{unbroken} ({100 * unbroken / max(1, blamed):.1f} %)",
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


@dataclass(slots=True)
class Kept:
    """Results in a file, and what is judged beside them. number: of histories. until: nothing is begun after it."""

    path: Path | None
    number: int
    until: float

    def each(self, groups: Sequence[tuple[str, ...]], *, past: bool) -> list[Judged]:
        """Return the results for these groups of faults, as far as the time allows."""
        had = {(one.faults, one.past): one for one in self._read()}
        found = []
        for group in groups:
            one = had.get((group, past))
            if one is None and time.monotonic() < self.until:
                one = judged(group, self.number, past=past)
                self._write(one)
            if one is not None:
                found.append(one)
        return found

    def _read(self) -> list[Judged]:
        if self.path is None or not self.path.exists():
            return []
        rows = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [
            Judged(
                tuple(row["faults"]),
                row["past"],
                tuple(row["blamed"]),
                tuple(map(tuple, row["quirks"])),
                row["seconds"],
            )
            for row in rows
            if row["histories"] == self.number
        ]

    def _write(self, one: Judged) -> None:
        if self.path is not None:
            with self.path.open("a") as out:
                out.write(json.dumps({**asdict(one), "histories": self.number}) + "\n")


def main() -> None:
    """Print the table."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("pairs", 200), ("triples", 100), ("seed", 1), ("pool", 80), ("histories", 100)):
        parse.add_argument(f"--{name}", type=int, default=default)
    parse.add_argument("--out", type=Path, help="file with the results, as JSON lines")
    parse.add_argument("--table", action="store_true", help="judge nothing: print what the file has")
    parse.add_argument("--budget", type=float, default=float("inf"), help="seconds after which nothing more is begun")
    parse.add_argument("--no-past", action="store_true", help="stop at the first deviation of each history")
    parse.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    given = parse.parse_args()
    random = Random(given.seed)
    kept = Kept(given.out, given.histories, 0.0 if given.table else time.monotonic() + given.budget)
    names = sorted(name for name, fault in FAULTS.items() if fault.suite in SUITES and fault.profile is None)
    alone = kept.each([(name,) for name in random.sample(names, min(given.pool, len(names)))], past=False)
    pool = [one.faults[0] for one in alone if one.found]
    print(f"{len(pool)} of {len(alone)} faults are found alone by {given.histories} histories; seed {given.seed}")
    of = {one.faults[0]: one for one in alone}
    print("| faults at once | runs | found | wrong | wrong, and on none alone | broken by none by its text | seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    print(table("1", [one for one in alone if one.found], of), flush=True)
    for title, size, number in (("2", 2, given.pairs), ("3", 3, given.triples)):
        results = kept.each(drawn(pool, size, number, random), past=not given.no_past)
        if results:
            print(table(title, results, of), flush=True)
        for one in results if given.show else ():
            if one.wrong or len(one.found) < len(one.faults):
                missed = [name for name in one.faults if name not in one.found]
                print(f"  {','.join(one.faults)}: missed {missed}, wrong {list(one.wrong)}, quirks {list(one.quirks)}")


if __name__ == "__main__":
    main()
