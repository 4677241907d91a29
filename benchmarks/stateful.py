"""How fast the walks are, and how soon they find a fault.

python benchmarks/stateful.py [SECONDS] [FAULTS]

Steps a second of the model alone (histories recorded beforehand and judged again), of a walk in this process
and over stdio, and of the soak, each for SECONDS; then what it takes until each of FAULTS faults of the embedded
implementation is found, steered and unsteered with the same seeds: steps, and seconds, of the walk that finds it. (The
walks about something else, which come before it, take the same time either way.) Everything is measured in seconds of
the processor, those of the driver's process included. The two processes of stdio take turns: on an idle machine that is
the time on the wall. Who shares a processor still slows it down, so the best of many slices is printed beside the mean.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from conformance.adapter.client import Client
from conformance.children import rarely_collecting
from conformance.embedded.faults import FAULTS
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories.history import History
from conformance.histories.soak import STEERED, Soak
from conformance.histories.walk import Plan, Walk, offered, possible_choices, set_up
from conformance.model import Call, Model, Observation, States
from conformance.soak import known_plans
from conformance.spec.catalogue import assignment
from conformance.walks import examples, mixed, steps

WANTED = {"model": 100_000, "walk": 2_500, "stdio": 1_500, "soak": 20_000}
SUITES = ("cursors", "transactions")  # whose faults a walk is to find
EXAMPLES = 30  # of each plan, as a run has them
SLICE = 5  # histories of each plan
ROUNDS = 2  # seeds tried with each fault, each of them a case


@dataclass(frozen=True, slots=True)
class Pace:
    """Steps a second: over all the time, and in the best of its slices where there are some."""

    mean: float
    best: float | None = None


def options(number: int = 0, examples: int = 10_000) -> RunOptions:
    return RunOptions("msmq-4.0", "must", assignment("windows"), "windows", number, examples, 30, first_only=True)


def opened(connector: str = "embedded", *, in_process: bool = True) -> Client:
    folder = Path(tempfile.mkdtemp(prefix="mqconform-benchmark-"))
    return open_client(connector, state_dir=folder, in_process=in_process, deadline_ms=10_000)


def plans(client: Client) -> dict[str, Plan]:
    return {name: plan for name, plan in known_plans().items() if offered(client, plan)}


class Recording(Model):
    """The model, noting what it was asked."""

    def __init__(self, readings: dict[str, tuple[str, ...]]) -> None:
        super().__init__(readings)
        self.steps: list[tuple[Call, Observation]] = []

    def step(self, states, call, observation, scan=None, pending=None):  # type: ignore[no-untyped-def]
        self.steps.append((call, observation))
        return super().step(states, call, observation, scan, pending)


def model_alone(seconds: float) -> Pace:
    """Steps a second of `Model.step`, by histories of every plan; at best: each of them at its fastest."""
    recorded: list[list[tuple[Call, Observation]]] = []
    with opened() as client:
        judge = Recorder(options(), lambda verdict, count: None)
        for name, plan in plans(client).items():
            offers = possible_choices(client, plan)
            for number in range(15):
                model = Recording(dict(options().readings))
                history = History(client, judge, model)
                set_up(history, plan)
                random = Random(f"{name}/{number}")
                for call in steps(lambda history=history: history.state, offers, random, 30):
                    if not history.over:
                        history.do(call)
                recorded.append(model.steps)
    model = Model(options().readings)
    fastest = [float("inf")] * len(recorded)
    every, rounds, began = sum(map(len, recorded)), 0, time.process_time()
    while time.process_time() - began < seconds:
        for number, story in enumerate(recorded):
            started = time.perf_counter()
            states = States()
            for call, observation in story:
                states = model.step(states, call, observation).states
            fastest[number] = min(fastest[number], time.perf_counter() - started)
        rounds += 1
    return Pace(rounds * every / (time.process_time() - began), every / sum(fastest))


def worked() -> float:
    """Seconds that this process and those that it has waited for have worked."""
    return sum(os.times()[:4])


def walked(walk: Walk, number: int) -> None:
    for random in examples(number, EXAMPLES):
        if not walk.over:
            walk.example(random, options().stateful_steps)


def through_a_client(seconds: float, *, in_process: bool) -> Pace:
    """Steps a second from end to end: drawn, driven, judged and counted."""
    before = worked()
    with opened(in_process=in_process) as client:
        judge = Recorder(options(), lambda verdict, count: None)
        began, number = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            for plan in plans(client).values():
                walked(Walk(client, judge, plan), number)
            number += 1
    return Pace(judge.steps_taken / (worked() - before))


def soaking(seconds: float) -> Pace:
    """Steps a second of the soak, once nothing new is seen; at best: in a slice of some histories of every plan."""
    with opened() as client:
        judge = Recorder(options(), lambda verdict, count: None)
        walker = Soak(
            client, options(), plans(client), judge_of=lambda name: judge, on_finding=lambda failure, name: None
        )
        count = len(plans(client))
        enough = STEERED // options().stateful_steps + 1  # histories of a plan after which its steps are not steered
        walker.run(until=float("inf"), histories=enough * count, on_progress=lambda soaked: None)
        with rarely_collecting():
            slices: list[tuple[int, float]] = []
            while sum(spent for _, spent in slices) < seconds:
                before, began = walker.soaked.steps, time.process_time()
                for number in range(walker.soaked.histories, walker.soaked.histories + SLICE * count):
                    walker.history(number)
                walker.soaked.histories += SLICE * count
                slices.append((walker.soaked.steps - before, time.process_time() - began))
    mean = sum(steps for steps, _ in slices) / sum(spent for _, spent in slices)
    return Pace(mean, max(steps / spent for steps, spent in slices))


@dataclass(frozen=True, slots=True)
class Hit:
    """A walk that found a fault: its plan, and what it took."""

    plan: str
    steps: int
    seconds: float


def until_found(fault: str, number: int, *, steered: bool, first: str | None) -> Hit | None:
    """The first walk that finds this fault with this seed, that over the plan `first` before all; None for none."""
    with opened(f"embedded+{fault}") as client:
        for name, plan in sorted(plans(client).items(), key=lambda item: item[0] != first):
            judge = Recorder(options(number), lambda verdict, count: None)
            walk = Walk(client, judge, plan, steered=steered)
            gone, began = False, time.process_time()
            try:
                walked(walk, number)
            except DriverGone:
                gone = True
            if gone or walk.findings.found:
                return Hit(name, judge.steps_taken, time.process_time() - began)
    return None


def detection(names: list[str]) -> None:
    """Print what it takes to find these faults. One that no walk finds with the first seed is not looked for again."""
    found: dict[bool, dict[tuple[str, int], Hit | None]] = {True: {}, False: {}}
    for name in names:
        first: str | None = None
        for number in range(ROUNDS):
            for on, each in found.items():
                hit = each[name, number] = until_found(name, number, steered=on, first=first)
                first = first or (hit.plan if hit is not None else None)
            if first is None:
                break
    cases = found[True]
    for on, each in found.items():
        hits = [hit for hit in each.values() if hit is not None]
        word = "steered" if on else "unsteered"
        print(f"{word:<12} {len(hits)} of {len(cases)} found by walks", end="")
        for unit, values in (("steps", [float(hit.steps) for hit in hits]), ("s", [hit.seconds for hit in hits])):
            digits = 0 if unit == "steps" else 2
            if hits:
                middle, late = median(values), percentile(values, 0.95)
                print(f"; median {middle:.{digits}f} {unit}, 95th percentile {late:.{digits}f} {unit}", end="")
        print()
    both = [(one, found[False][case]) for case, one in cases.items() if one is not None]
    pairs = [(one, other) for one, other in both if other is not None]
    if pairs:
        steps = sum(other.steps for _, other in pairs) / sum(one.steps for one, _ in pairs)
        spent = sum(other.seconds for _, other in pairs) / sum(one.seconds for one, _ in pairs)
        print(f"unsteered takes {steps:.2f} times the steps, {spent:.2f} times the seconds, of {len(pairs)} both find")
    never = [name for name in names if found[True][name, 0] is None and found[False][name, 0] is None]
    if never:
        print(f"found by no walk: {', '.join(never)}")


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    paces = {
        "model": model_alone(seconds),
        "walk": through_a_client(seconds, in_process=True),
        "stdio": through_a_client(seconds, in_process=False),
        "soak": soaking(seconds),
    }
    for name, pace in paces.items():
        share = pace.mean / WANTED[name]
        best = f"; at best {pace.best:,.0f}" if pace.best else ""
        print(f"{name:<12} {pace.mean:>9,.0f} steps/s, {share:.2f} of {WANTED[name]:,}{best}", flush=True)
    names = sorted(name for name, fault in FAULTS.items() if fault.suite in SUITES and fault.profile is None)
    names.sort(key=lambda name: mixed(sum(map(ord, name))))
    detection(names[:count])


if __name__ == "__main__":
    main()
