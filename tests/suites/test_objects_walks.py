"""Walks of objects: how they end, what the options of a run mean to them, and the stories of those that fail."""

from __future__ import annotations

from itertools import chain

import pytest

from conformance.activex.plans import PATH_NAME, Act, Plan
from conformance.activex.reference_answers import Objects, answer
from conformance.activex.walk import TRANSACTIONAL, closed, followed, walks
from conformance.fault_tapes import Port
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.model.journals import DEAD_LETTERS
from conformance.spec.catalogue import assignment
from conformance.suites.objects.playing import wander

DRAINED = (PATH_NAME, TRANSACTIONAL, f"{PATH_NAME};JOURNAL", *DEAD_LETTERS)


def options(count: int = 20) -> RunOptions:
    return RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, count, 30)


def calls(plan: Plan, member: str) -> list[Act]:
    return [act for act in plan if act.call is not None and act.call.member == member]


def ended(plan: Plan) -> Objects:
    objects = Objects({})
    for act in plan:
        seen, ends = answer(objects, act)
        objects.do(act, seen, ends)
    return objects


def test_a_walk_ends_its_transactions_both_ways_and_drains_its_queues() -> None:
    lost = set[str]()
    for plan in chain(walks(3, 12), walks(4, 43)):
        world = ended(plan).world
        state = world.states.likely
        begun = {link.transaction for link in world.known.links.values()}
        assert not [one for one in state.transactions.values() if one.ended is None and one.name in begun]
        assert calls(plan, "Commit") and calls(plan, "Abort")
        assert not [one.message for name in DRAINED for one in state.queues[name].positions if one.available]
        links = world.known.links.values()
        lost |= {name for name in DEAD_LETTERS for one in links if one.message.endswith(f"@{name}")}
    assert lost == set(DEAD_LETTERS), "a message has come to each of them"


def test_seed_examples_and_steps_mean_what_they_mean_elsewhere() -> None:
    assert list(walks(0, 3)) == list(walks(0, 3)) != list(walks(1, 3))
    assert len(list(walks(0, 3))) == 3
    long, short = (sum(map(len, walks(0, 5, most))) for most in (30, 3))
    assert short < long


@pytest.mark.parametrize(
    ("fault", "member"),
    [
        ("abort-object-commits", "Abort"),
        ("receive-joins-an-open-transaction", "Receive"),
        ("send-takes-what-was-put-first", "AppSpecific"),
        ("journal-lacks-what-is-received-without-its-body", "Receive"),
        ("transactional-send-asks-for-no-dead-letter", "Send"),
    ],
)
def test_the_story_of_a_walk_that_fails_is_short_and_the_reference_passes_it(fault: str, member: str) -> None:
    judge = Recorder(options(50), lambda verdict, count: None)
    with Port((fault,)) as port, pytest.raises((ConformanceFailure, ExceptionGroup)) as raised:
        wander(port, judge, lambda *methods: None, 1.0)
    found = raised.value.exceptions if isinstance(raised.value, ExceptionGroup) else (raised.value,)
    stories = [tuple(map(Act.from_json, one.repro["acts"])) for one in found if isinstance(one, ConformanceFailure)]
    assert min(map(len, stories)) <= 30
    for acts in stories:
        assert followed(acts, judge.readings) and closed(acts) == acts
    assert any(act.call is not None and act.call.member.startswith(member) for acts in stories for act in acts)
