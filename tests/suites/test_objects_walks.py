"""Walks of objects: how they end, what the options of a run mean to them, and the stories of those that fail."""

from __future__ import annotations

from itertools import chain
from random import Random

import pytest

from conformance.activex.events import DEAD_LETTER
from conformance.activex.plans import PATH_NAME, Act, Plan, call_on
from conformance.activex.plans_reads import dispatch, message
from conformance.activex.reference_answers import Objects, answer
from conformance.activex.values import MISSING, long
from conformance.activex.walk import LIFE_S, LIFETIMES, PLACES, TRANSACTIONAL, Walk, closed, followed, walks
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
    for plan in chain(walks(3, 12), walks(4, 43)):
        world = ended(plan).world
        state = world.states.likely
        begun = {link.transaction for link in world.known.links.values()}
        assert not [one for one in state.transactions.values() if one.ended is None and one.name in begun]
        assert calls(plan, "Commit") and calls(plan, "Abort")
        assert not [one.message for name in DRAINED for one in state.queues[name].positions if one.available]


def test_the_end_of_a_walk_reads_what_has_expired_in_the_dead_letter_queues() -> None:
    walk = Walk(Random(0), PLACES)
    for name, queue, transaction in (("m8", "i_s", MISSING), ("m9", "j_s", long(3))):
        lives = (call_on(name, member, long(LIFE_S), kind="put") for member in LIFETIMES)
        asks = call_on(name, "Journal", long(DEAD_LETTER), kind="put")
        send = call_on(name, "Send", dispatch(queue), transaction)
        assert walk.attempt((*message(name, body=True), asks, *lives, send))
    walk.conclude()
    links = ended(tuple(walk.plan)).world.known.links.values()
    assert {name for name in DEAD_LETTERS for one in links if one.message.endswith(f"@{name}")} == set(DEAD_LETTERS)


def test_without_a_virtual_clock_nothing_expires() -> None:
    members = {act.call.member for plan in walks(4, 12, virtual=False) for act in plan if act.call is not None}
    assert "Send" in members and not members & set(LIFETIMES)


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
