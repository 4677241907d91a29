"""How much is found past the first deviation: pairs and triples of faults of the embedded manager, drawn by a seed.

Each is judged by a part of the planned histories, in this process. A fault counts as found if a requirement that it
breaks, or that it was recorded to show as, is blamed. A blamed requirement of none of the faults is a wrong one. Drawn
are faults that this part of the histories finds when they are alone: what is measured is only what they hide of each
other.

`python -m tools.quirk_pairs --pairs 200 --triples 100 --seed 1 --situations 6000 --jobs 2`
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.quirks import Quirks
from conformance.explaining.stories import implementation_of
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.run_session import hello_json
from conformance.harness.tape import Key, Tape
from conformance.histories.situations.book import load
from conformance.histories.situations.chosen import CHUNKS, chosen, chunk
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
    """What the histories blame on an implementation with these faults."""

    faults: tuple[str, ...]
    blamed: tuple[str, ...]
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


def judged(faults: tuple[str, ...], situations: str, *, past: bool) -> Judged:
    """Judge the embedded manager with these faults. past: go on past the first deviation."""
    began = time.monotonic()
    options = RunOptions(
        profile=DEFAULT_PROFILE,
        level="must",
        readings=assignment("windows", {}),
        reading_set="windows",
        seed=0,
        max_examples=1,
        stateful_steps=30,
        situations=situations,
    )
    blamed: list[str] = []
    histories, known = chosen(load().histories, situations, space()), Known()
    had: set[Key] = set()
    with TemporaryDirectory() as folder:
        client = open_client(
            f"embedded+{','.join(faults)}",
            state_dir=Path(folder),
            in_process=True,
            deadline_ms=10_000,
            profile=DEFAULT_PROFILE,
        )
        implementation = implementation_of(hello_json(client), DEFAULT_PROFILE, {})
        quirks = Quirks(lambda: implementation) if past else None
        try:
            for number in range(CHUNKS):
                tape = Tape(had, lambda example: None)
                judge = Recorder(options, lambda verdict, count: None, tape=tape, past=quirks)
                guarded = GuardedClient(client, skips=True, tape=tape)
                player = Player(guarded, judge, options, space(), known)
                at = time.monotonic()
                player.play(chunk(histories, number))
                failures = player.told(time.monotonic() - at)
                filed = quirks.filed(failures) if quirks is not None else [(each, None) for each in failures]
                blamed += [each.verdict.requirement for each, why in filed if why is None and _refutes(each)]
        finally:
            if quirks is not None:
                quirks.close()
            client.close()
    return Judged(faults, tuple(dict.fromkeys(blamed)), time.monotonic() - began)


def _refutes(failure: ConformanceFailure) -> bool:
    return failure.verdict.outcome in REFUTING


def drawn(pool: Sequence[str], size: int, number: int, random: Random) -> list[tuple[str, ...]]:
    """Return different groups of faults."""
    found: dict[tuple[str, ...], None] = {}
    every = sum(1 for _ in combinations(pool, size)) if len(pool) < 30 else number
    while len(found) < min(number, every):
        found[tuple(sorted(random.sample(pool, size)))] = None
    return list(found)


def table(title: str, results: Sequence[Judged]) -> str:
    """Return the lines of one measurement."""
    faults = sum(len(one.faults) for one in results)
    found = sum(len(one.found) for one in results)
    blamed = sum(len(one.blamed) for one in results)
    wrong, unbroken = sum(len(one.wrong) for one in results), sum(len(one.unbroken) for one in results)
    seconds = sum(one.seconds for one in results) / len(results)
    cells = (
        title,
        len(results),
        f"{found} of {faults} ({100 * found / faults:.1f} %)",
        f"{wrong} of {blamed} ({100 * wrong / max(1, blamed):.1f} %)",
        f"{unbroken} ({100 * unbroken / max(1, blamed):.1f} %)",
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("pairs", 200), ("triples", 100), ("seed", 1), ("jobs", 2), ("pool", 80)):
        parse.add_argument(f"--{name}", type=int, default=default)
    parse.add_argument("--situations", default="6000")
    parse.add_argument("--budget", type=float, default=float("inf"), help="seconds after which nothing more is begun")
    parse.add_argument("--no-past", action="store_true", help="stop at the first deviation of each history")
    parse.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    given = parse.parse_args()
    random = Random(given.seed)
    until = time.monotonic() + given.budget
    names = sorted(name for name, fault in FAULTS.items() if fault.suite in SUITES and fault.profile is None)
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as workers:

        def each(groups: Sequence[tuple[str, ...]], *, past: bool) -> list[Judged]:
            results = []
            for at in range(0, len(groups), given.jobs * 2):
                if time.monotonic() > until:
                    break
                some = groups[at : at + given.jobs * 2]
                futures = [workers.submit(judged, group, given.situations, past=past) for group in some]
                results += [future.result() for future in futures]
            return results

        alone = each([(name,) for name in random.sample(names, min(given.pool, len(names)))], past=False)
        pool = [one.faults[0] for one in alone if one.found]
        print(f"{len(pool)} of {len(alone)} faults are found alone by {given.situations} situations; seed {given.seed}")
        print("| faults at once | runs | found | wrong | blamed, but broken by none | seconds |")
        print("|---|--:|--:|--:|--:|--:|")
        print(table("1", [one for one in alone if one.found]), flush=True)
        for title, size, number in (("2", 2, given.pairs), ("3", 3, given.triples)):
            results = each(drawn(pool, size, number, random), past=not given.no_past)
            if results:
                print(table(title, results), flush=True)
            for one in results if given.show else ():
                if one.wrong or len(one.found) < len(one.faults):
                    missed = [name for name in one.faults if name not in one.found]
                    print(f"  {','.join(one.faults)}: missed {missed}, wrong {list(one.wrong)}")


if __name__ == "__main__":
    main()
