"""The model and the embedded queue manager go the same way: two that were written apart, call by call.

The model accepts nothing but the one alternative of each reading that the manager declares, so a disagreement is an
error in one of the two, or a sentence of the documents that each has read in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from cases import all_of
from nightly import SEED, amount, sample

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.embedded.alternatives import ALTERNATIVES
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.history import History
from conformance.histories.inference.separating_traces import Trace, shipped
from conformance.histories.operations.state_queries import names
from conformance.histories.operations.table import ACTIONS
from conformance.histories.walk import Plan, offer_of, set_up
from conformance.model import BadCall, Call
from conformance.spec.catalogue import assignment, catalogue
from conformance.verdict import Outcome, Verdict

WALKS, FEW = amount("lock-step.walks"), amount("lock-step.walks-of-an-alternative")
STEPS = amount("lock-step.steps")
RESTARTS = 0.05  # a step
NOT_ACCEPTED = {"R-MQDMPR-timeout-unit=seconds"}
"""No model of it: nobody accepts it, and a manager that follows it disagrees in every wait."""
SHOWN_BY = {
    "R-MQDMPR-moved-lookup-identifier": ("moves",),
    "R-MQDMPR-commit-purged-move": ("moves_in_transactions",),
    "R-MQDMPR-waiting-readers-order": ("waits",),
    "R-MQDMPR-lookup-locked-status": ("lookups",),
    "R-MQDMPR-lookup-identifier-priority": ("lookups",),
    "R-MQDMPR-cursor-locked-message": ("locked_cursors",),
    "R-MQDMPR-poll-at-end": ("cursors",),
    "R-MQDMPR-purge-uncommitted-send": ("several_queues",),
}
"""The plan that brings it about, where the one of everything seldom does."""
UNDECLARED = {"R-MQDMPR-moved-lookup-identifier": ("new-at-end",), "R-MQRR-move-status": ("local",)} | {
    "R-MQDMPR-resume-of-queue-not-on-hold": ("no-effect",),
}
"""What the manager follows without saying so."""
EVERYTHING = Plan((plans.PLAIN, plans.TRANSACTIONAL), (*ACTIONS, *ACTIONS, "send", "send", "end", "restart"))
"""All that any plan does, and restarts, which the suites keep apart because most drivers take long over one."""
PLANS = {name.lower(): plan for name, plan in vars(plans).items() if isinstance(plan, Plan)} | {"all": EVERYTHING}


@contextmanager
def driven(folder: Path, alternative: str = "") -> Iterator[tuple[Client, RunOptions]]:
    """The manager, switched to an alternative if one is named, and options that accept what it declares and no more."""
    connector = "embedded" + f"+{alternative}" * bool(alternative)
    with connect(connector, state_dir=folder, in_process=True, known_faults=[alternative]) as client:
        declared = client.hello.readings
        readings = {
            name: (declared[name],) if name in declared else UNDECLARED.get(name, accepted[:1])
            for name, accepted in assignment("windows").items()
        }
        yield client, RunOptions(client.hello.profile, "must", readings, "windows", 0, WALKS, STEPS)


UNSETTLED = ("journals", "quotas")  # in which second a message expires, and how large its headers are, is no reading


def walk(client: Client, judge: Recorder, plan: Plan, random: Random, steps: int) -> History:
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
                name = names("h", history.state.handles)
                history.do(Call("queues.open", name=name, queue=queue.name, access=access))


def agree(client: Client, options: RunOptions, name: str, walks: int) -> set[str]:
    """Walk; fail with the story of the first disagreement. The requirements judged."""
    verdicts: list[Verdict] = []
    random = Random(f"{name} {SEED}")
    judge = Recorder(options, lambda verdict, count: verdicts.append(verdict))
    for _ in range(walks):
        try:
            history = walk(client, judge, PLANS[name], random, STEPS)
        except ConformanceFailure as failure:
            story = "\n".join(f"{number}. {step.text}" for number, step in enumerate(failure.story, 1))
            pytest.fail(f"{failure.verdict}\n{story}")
        assert not history.states.capped
        # Beside what is unsettled: which of two copies that went to several queues was first.
        either = name in UNSETTLED or history.state.keeping is not None
        assert either or len(history.states.states) == 1, "every reading is settled, and still two ways are open"
        history.driving.leave()
    judge.flush()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
    for verdict in verdicts:
        assert all(options.readings[reading] == (named,) for reading, named in verdict.readings), verdict
    return {verdict.requirement for verdict in verdicts}


@pytest.mark.parametrize("name", PLANS)
def test_no_disagreement(name: str, tmp_path: Path) -> None:
    with driven(tmp_path) as (client, options):
        assert len(agree(client, options, name, WALKS)) > 15


@all_of("alternative", [name for name in ALTERNATIVES if name not in NOT_ACCEPTED])
def test_no_disagreement_where_the_manager_reads_otherwise(alternative: str, tmp_path: Path) -> None:
    reading, _, named = alternative.partition("=")
    with driven(tmp_path, alternative) as (client, options):
        assert options.readings[reading] == (named,)
        for name in sample("lock-step.plans-of-an-alternative", list(PLANS), SHOWN_BY.get(reading, ("all",))):
            agree(client, options, name, FEW)


def traces(reading: str, readings: Mapping[str, tuple[str, ...]]) -> list[Trace]:
    """The shipped traces that tell the alternatives of a reading apart, as far as what they presuppose is so."""
    return [
        trace
        for trace in shipped()
        if trace.reading == reading and all(readings[name] == (value,) for name, value in trace.given.items())
    ]


def disagreements(client: Client, options: RunOptions, found: Iterable[Trace]) -> list[ConformanceFailure]:
    """What comes of these traces."""
    failures: list[ConformanceFailure] = []
    for trace in found:
        history = History(client, Recorder(options, lambda verdict, count: None))
        try:
            history.run(*trace.calls)
        except ConformanceFailure as failure:
            failures.append(failure)
        except BadCall:
            pass  # what the rest of the trace is about is not there under this alternative
        history.driving.leave()
    return failures


READINGS = sorted({name.partition("=")[0] for name in ALTERNATIVES} & {trace.reading for trace in shipped()})


@pytest.mark.parametrize("alternative", [name for name in ALTERNATIVES if name.partition("=")[0] in READINGS])
def test_the_traces_that_separate_readings_tell_which_one_the_manager_follows(alternative: str, tmp_path: Path) -> None:
    reading, _, named = alternative.partition("=")
    with driven(tmp_path, alternative) as (client, options):
        every = traces(reading, options.readings)
        assert not disagreements(client, options, every)
        for other in catalogue().readings[reading].alternatives:
            telling = [trace for trace in every if {named, other} == set(trace.alternatives)]
            ruled_out = [trace for trace in telling if other in trace.rules_out]
            if other != named and ruled_out:
                assert disagreements(client, with_reading(options, reading, other), ruled_out), (
                    f"{other} is not refuted"
                )


def with_reading(options: RunOptions, reading: str, alternative: str) -> RunOptions:
    """The options with another alternative of one reading accepted, and it alone."""
    return replace(options, readings={**options.readings, reading: (alternative,)})


Q = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)
THERE_AND_BACK = (
    *Q,
    Call("queues.open", name="m", queue="q;sub", access="move"),
    Call("queues.open", name="u", queue="q;sub", access="receive"),
    Call("queues.open", name="n", queue="q", access="move"),
    Call("cursors.open", name="c", handle="r"),
    Call("messages.send", message="a", handle="s"),
    Call("messages.peek", handle="r", cursor="c"),
    Call("messages.move", message="a", handle="r", destination="m"),
    Call("messages.peek", handle="u"),
    Call("messages.move", message="a", handle="u", destination="n"),
    Call("messages.peek", handle="r", cursor="c"),
    Call("messages.peek", handle="r"),
)
CANCELLED_LATE = (
    *Q,
    Call("restart", kill=True),
    *Q[1:],
    Call("messages.receive", name="w", handle="r", timeout_ms=1000),
    Call("messages.cancel", request="w"),
)
ENDED_TWICE = (
    *Q,
    Call("messages.send", message="a", handle="s"),
    Call("messages.receive_begin", name="b", handle="r"),
    Call("queues.delete", queue="q"),
    Call("messages.receive_end", read="b", acknowledge=False),
    Call("messages.receive_end", read="b", acknowledge=True),
)


@pytest.mark.parametrize(
    ("calls", "settled_by"),
    [
        # 3.1.7.1.16: a new MessagePosition each time, so a cursor that stood at the old one finds it Deleted.
        pytest.param(THERE_AND_BACK, "MQDMPR-3.2.7.2.already-received", id="a cursor on what was moved and came back"),
        # Of the adapter, and not of the documents: within a process a read was cancelled by the number of another.
        pytest.param(CANCELLED_LATE, "MQDMPR-3.1.7.1.17.cancelled", id="a cancel after a restart"),
        # 3.1.7.1.12 refuses both; that the first leaves the read's handle is the adapter's business.
        pytest.param(ENDED_TWICE, "MQDMPR-3.1.7.1.12.queue-not-available", id="two ends where the queue is deleted"),
    ],
)
def test_what_they_once_disagreed_in(calls: tuple[Call, ...], settled_by: str, tmp_path: Path) -> None:
    verdicts: list[Verdict] = []
    with driven(tmp_path) as (client, options):
        judge = Recorder(options, lambda verdict, count: verdicts.append(verdict))
        History(client, judge).run(*calls)
        judge.flush()
    assert settled_by in {verdict.requirement for verdict in verdicts}


def test_what_the_manager_declares_the_register_has(tmp_path: Path) -> None:
    known = catalogue().readings
    with driven(tmp_path) as (client, _):
        for name, alternative in client.hello.readings.items():
            assert alternative in known[name].alternatives
