"""How fast the walks are, and how soon they find a fault.

python benchmarks/stateful.py [SECONDS] [FAULTS]

Steps a second of the model alone (histories recorded beforehand and judged again), through hypothesis in this process
and over stdio, and of the soak, each for SECONDS; then the time until each of FAULTS faults of the embedded
implementation is found, steered and unsteered with the same seeds. Everything is measured in seconds of the processor,
those of the driver's process included, so that a busy machine does not count against it. The two processes of stdio
take turns: on an idle machine that is the time on the wall.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median

from hypothesis import Phase, seed

from conformance.adapter.client import Client
from conformance.embedded.faults import FAULTS
from conformance.model import Call, Model, Observation, States
from conformance.soak import known_plans
from conformance.spec.catalogue import assignment
from conformance.suites.connecting import open_client
from conformance.suites.guard import DriverGone
from conformance.suites.judging import Judge, RunOptions
from conformance.suites.settings import draw_from_the_seed_alone, from_options
from conformance.suites.stateful.history import History
from conformance.suites.stateful.machine import Plan, choices, generated, make, offered, set_up
from conformance.suites.stateful.soak import STEERED, Soak
from conformance.suites.stateful.steering import Steering, mixed

WANTED = {"model": 100_000, "hypothesis": 2_500, "stdio": 1_500, "soak": 20_000}
SUITES = ("cursors", "transactions")  # whose faults a walk is to find
ROUNDS = 4  # seeds tried for a fault


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

    def step(self, states, call, observation, scan=None):  # type: ignore[no-untyped-def]
        self.steps.append((call, observation))
        return super().step(states, call, observation, scan)


def model_alone(seconds: float) -> float:
    """Steps a second of `Model.step`, by histories of every plan."""
    recorded: list[list[tuple[Call, Observation]]] = []
    with opened() as client:
        judge = Judge(options(), lambda verdict, count: None)
        for name, plan in plans(client).items():
            offers = choices(client, plan)
            for number in range(15):
                model = Recording(dict(options().readings))
                history = History(client, judge, model)
                set_up(history, plan)
                random = Random(f"{name}/{number}")
                steering = Steering(on=False)
                for _ in range(30):
                    call = steering.choose(model, history.state, offers, random.getrandbits(32))
                    if call is not None and not history.over:
                        history.do(call)
                recorded.append(model.steps)
    model = Model(options().readings)
    steps, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        for story in recorded:
            states = States()
            for call, observation in story:
                states = model.step(states, call, observation).states
            steps += len(story)
    return steps / (time.process_time() - began)


def worked() -> float:
    """Seconds that this process and those that it has waited for have worked."""
    return sum(os.times()[:4])


def through_hypothesis(seconds: float, *, in_process: bool) -> float:
    """Steps a second from end to end: drawn, driven, judged and counted."""
    before = worked()
    with opened(in_process=in_process) as client:
        judge = Judge(options(), lambda verdict, count: None)
        began, number = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            for plan in plans(client).values():
                made = make(client, judge, plan)
                generated(seed(number)(made), from_options(options(number, 30), phases=(Phase.generate,)))
            number += 1
    return judge.steps_taken / (worked() - before)


def soaking(seconds: float) -> float:
    """Steps a second of the soak, once nothing new is seen."""
    with opened() as client:
        judge = Judge(options(), lambda verdict, count: None)
        walker = Soak(
            client, options(), plans(client), judge_of=lambda name: judge, on_finding=lambda failure, name: None
        )
        count = len(plans(client))
        enough = STEERED // options().stateful_steps + 1  # histories of a plan after which its steps are not steered
        walker.run(until=float("inf"), histories=enough * count, on_progress=lambda soaked: None)
        before, began = walker.soaked.steps, time.process_time()
        while time.process_time() - began < seconds:
            walker.run(
                until=float("inf"), histories=walker.soaked.histories + 40 * count, on_progress=lambda soaked: None
            )
        return (walker.soaked.steps - before) / (time.process_time() - began)


def until_found(fault: str, *, steered: bool) -> float | None:
    """Seconds until a walk finds this fault; None when ROUNDS seeds of every plan do not."""
    began = time.process_time()
    for number in range(ROUNDS):
        with opened(f"embedded+{fault}") as client:
            for plan in plans(client).values():
                judge = Judge(options(number), lambda verdict, count: None)
                made = make(client, judge, plan, steering=Steering(on=steered))
                try:
                    generated(seed(number)(made), from_options(options(number, 30), phases=(Phase.generate,)))
                except DriverGone:
                    return time.process_time() - began
                if made.findings.found:
                    return time.process_time() - began
    return None


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    draw_from_the_seed_alone()
    paces = {
        "model": model_alone(seconds),
        "hypothesis": through_hypothesis(seconds, in_process=True),
        "stdio": through_hypothesis(seconds, in_process=False),
        "soak": soaking(seconds),
    }
    for name, pace in paces.items():
        print(f"{name:<12} {pace:>9,.0f} steps/s  {pace / WANTED[name]:5.2f} of the {WANTED[name]:,} wanted")
    names = sorted(name for name, fault in FAULTS.items() if fault.suite in SUITES and fault.profile is None)
    names.sort(key=lambda name: mixed(sum(map(ord, name))))
    found: dict[bool, dict[str, float | None]] = {
        steered: {name: until_found(name, steered=steered) for name in names[:count]} for steered in (True, False)
    }
    for steered, each in found.items():
        times = [spent for spent in each.values() if spent is not None]
        missed = [name for name, spent in each.items() if spent is None]
        word = "steered" if steered else "unsteered"
        if times:
            print(f"{word:<12} {median(times):6.2f} s median, {percentile(times, 0.95):6.2f} s 95th percentile", end="")
        print(f", {len(times)} of {len(each)} found by walks" + (f"; not {', '.join(missed)}" if missed else ""))
    both = [name for name in found[True] if found[True][name] is not None and found[False][name] is not None]
    if both:
        ratio = sum(found[False][name] or 0.0 for name in both) / sum(found[True][name] or 1e-9 for name in both)
        print(f"unsteered takes {ratio:.2f} times as long as steered for what both find")


if __name__ == "__main__":
    main()
