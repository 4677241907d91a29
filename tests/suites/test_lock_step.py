"""The model and the embedded queue manager go the same way: two that were written apart, call by call.

The model accepts nothing but the one alternative of each reading that the manager declares, so a disagreement is an
error in one of the two, or a sentence of the documents that each has read in its own way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.model import Call
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.judging import ConformanceFailure, Judge, RunOptions
from conformance.suites.stateful import meanings, plans
from conformance.suites.stateful.history import History
from conformance.suites.stateful.machine import ACTIONS, Plan, offer_of, set_up
from conformance.verdict import Outcome, Verdict

NIGHTLY = bool(os.environ.get("MQ_NIGHTLY"))
WALKS, STEPS = (400, 60) if NIGHTLY else (12, 40)
RESTARTS = 0.05  # a step
UNDECLARED = {"R-MQDMPR-moved-lookup-identifier": ("new-at-end",), "R-MQRR-move-status": ("local",)}
"""What the manager follows without saying so."""
EVERYTHING = Plan((plans.PLAIN, plans.TRANSACTIONAL), (*ACTIONS, *ACTIONS, "send", "send", "end", "restart"))
"""All that any plan does, and restarts, which the suites keep apart because most drivers take long over one."""
PLANS = {name.lower(): plan for name, plan in vars(plans).items() if isinstance(plan, Plan)} | {"all": EVERYTHING}


@contextmanager
def driven(folder: Path) -> Iterator[tuple[Client, RunOptions]]:
    """The manager, and the options of a run that accepts what it declares and nothing else."""
    with connect("embedded", state_dir=folder, in_process=True) as client:
        declared = client.hello.readings
        readings = {
            name: (declared[name],) if name in declared else UNDECLARED.get(name, accepted[:1])
            for name, accepted in assignment("windows").items()
        }
        yield client, RunOptions(client.hello.profile, "must", readings, "windows", 0, WALKS, STEPS)


UNSETTLED = ("journals", "quotas")  # in which second a message expires, and how large its headers are, is no reading


def walk(client: Client, judge: Judge, plan: Plan, random: Random, steps: int) -> History:
    """One history of a plan, its calls drawn at random from those that make sense."""
    offer = offer_of(client)
    actions = [ACTIONS[name].choose for name in plan.actions if name in ACTIONS and ACTIONS[name].offered(offer)]
    restarts = "restart" in plan.actions
    history = History(client, judge)
    set_up(history, plan)
    for _ in range(steps):
        options = [calls for choose in actions if (calls := choose(history.state, offer))]
        if restarts and random.random() < RESTARTS:
            history.do(Call("restart", kill=random.random() < 0.5))
            open_again(history)
        elif options:
            history.do(random.choice(random.choice(options)))
    return history


def open_again(history: History) -> None:
    """A restart closes every handle."""
    for queue in history.state.queues.values():
        if queue.exists:
            for access in ("send", "receive"):
                name = meanings.names("h", history.state.handles)
                history.do(Call("queues.open", name=name, queue=queue.name, access=access))


@pytest.mark.parametrize("name", PLANS)
def test_no_disagreement(name: str, tmp_path: Path) -> None:
    verdicts: list[Verdict] = []
    random = Random(f"{name} {0 if not NIGHTLY else os.environ['MQ_NIGHTLY']}")
    with driven(tmp_path) as (client, options):
        judge = Judge(options, lambda verdict, count: verdicts.append(verdict))
        for _ in range(WALKS):
            try:
                history = walk(client, judge, PLANS[name], random, STEPS)
            except ConformanceFailure as failure:
                story = "\n".join(f"{number}. {step.text}" for number, step in enumerate(failure.story, 1))
                pytest.fail(f"{failure.verdict}\n{story}")
            assert not history.states.capped
            if name not in UNSETTLED:
                assert len(history.states.states) == 1, "every reading is settled, and still two ways are open"
            history.driving.leave()
    judge.flush()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
    assert len({verdict.requirement for verdict in verdicts}) > 15
    for verdict in verdicts:
        assert all(options.readings[reading] == (named,) for reading, named in verdict.readings), verdict


def test_what_the_manager_declares_the_register_has(tmp_path: Path) -> None:
    known = catalogue().readings
    with driven(tmp_path) as (client, _):
        for name, alternative in client.hello.readings.items():
            assert alternative in known[name].alternatives
