"""Measure what each walk judges whatever the seed, and write `conformance/histories/claims.json`; takes minutes.

    python -m tools.walk_claims [SEEDS]

The walks are those of a run that asks for nothing else, on the embedded manager.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.adapter.connectors import connect
from conformance.files import write_text
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.plans import DATA
from conformance.histories.soak import Soak, plans_of
from conformance.histories.walk import Plan
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict

SEEDS = 20
EXAMPLES, STEPS = 30, 30
SURELY = 3  # times a walk judges a requirement, at least, with each of the seeds: what shows once may not show again


def walks() -> dict[str, Plan]:
    """The walks whose tests claim what they judge."""
    return {name: plan for name, plan in plans_of(plans).items() if plan is not plans.EVERYTHING}


def measured(plans: Mapping[str, Plan], seeds: Iterable[int], surely: int = SURELY) -> dict[str, frozenset[str]]:
    """The requirements that a walk of each plan judges with every one of these seeds, so many times at least."""
    found: dict[str, frozenset[str]] = {}
    for seed in seeds:
        for name, seen in _judged(plans, seed).items():
            judged = frozenset(requirement for requirement, times in seen.items() if times >= surely)
            found[name] = found.get(name, judged) & judged
    return found


def _judged(plans: Mapping[str, Plan], seed: int) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", seed, EXAMPLES, STEPS)
    with TemporaryDirectory() as folder, connect("embedded", state_dir=Path(folder), in_process=True) as client:
        for name, plan in plans.items():
            seen = found[name] = Counter()
            judge = Recorder(options, partial(_count, seen))
            soak = Soak(client, options, {name: plan}, judge_of={name: judge}.__getitem__, on_finding=_unexpected)
            soak.run(until=float("inf"), histories=round(EXAMPLES * plan.share), on_progress=lambda soaked: None)
            judge.flush()
    return found


def _count(seen: Counter[str], verdict: Verdict, count: int) -> None:
    seen[verdict.requirement] += count


def _unexpected(failure: BaseException, name: str) -> None:
    raise AssertionError(f"the embedded manager fails in the walk {name}") from failure


def text_of(found: Mapping[str, Collection[str]]) -> str:
    """The file's text."""
    return json.dumps({name: sorted(names) for name, names in sorted(found.items())}, indent=1) + "\n"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    write_text(DATA, text_of(measured(walks(), range(number))))
