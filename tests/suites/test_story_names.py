"""A story names each thing once: whatever it is shortened to, no name is given twice or refers to nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from dangling_names import dangling
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.adapter.connectors import connect
from conformance.files import resource
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.findings import candidates, run, shortened
from conformance.histories.inference.probing import Player, defaults
from conformance.histories.operations.operation import Kind, Offer, Role
from conformance.histories.operations.table import ACTIONS, METHODS, named, renamed, stored_call, well_formed
from conformance.histories.situations import book
from conformance.histories.walk import Plan, chooser
from conformance.model import BadCall, Call, State
from conformance.repro import FAILED, repro
from conformance.spec.catalogue import assignment
from conformance.walks import pick

LIE = resource("fixtures/old/shrunk-to-a-lie.json")
OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 30)
PLANS = [plan for plan in vars(plans).values() if isinstance(plan, Plan)]


def given_twice(calls: Sequence[Call]) -> list[tuple[bool, str]]:
    """The names that two calls give; queues are created again on purpose."""
    names = Counter(
        (member.kind is Kind.MESSAGE, name)
        for call in calls
        for _, member, name in named(call, Role.GIVES)
        if member.kind is not Kind.QUEUE
    )
    return [name for name, count in names.items() if count > 1]


def walked(plan: Plan, seed: int) -> tuple[Call, ...]:
    """The calls of a walk in which the model answers."""
    player, state, roll = Player(defaults()), State(), Random(seed)
    made = list(plan.opening)
    for call in plan.opening:
        _, state = player.play(state, call)
    offered = [chooser(ACTIONS[one], Offer(METHODS, virtual=True)) for one in plan.actions]
    for _ in range(30):
        call, _ = pick(state, offered, roll.getrandbits(32))
        try:
            if call is not None:
                _, state = player.play(state, call)
                made.append(call)
        except BadCall:
            continue
    return tuple(made)


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(PLANS), st.integers(0, 1 << 32), st.randoms(use_true_random=False))
def test_nothing_that_a_walk_is_shortened_to_names_two_things_alike(plan: Plan, seed: int, roll: Random) -> None:
    """Also if the walk itself names things again, or something that is not there."""
    whole = walked(plan, seed)
    some = tuple(call for call in (*whole, *whole) if roll.random() < 0.7)
    for calls in (whole, some):
        one = well_formed(renamed(calls))
        assert given_twice(one) == dangling(one) == []
        assert list(candidates(calls))
        for each in (calls, one):
            for candidate, _ in candidates(each):
                assert given_twice(candidate) == dangling(candidate) == [], (candidate, each)


def test_nothing_that_a_planned_history_is_shortened_to_names_two_things_alike() -> None:
    """A planned history gives the name of a wait again after its end."""
    histories = book.load().histories
    assert any(given_twice(one.calls) for one in histories)
    for planned in histories[::100]:
        for candidate, _ in candidates(planned.calls):
            assert given_twice(candidate) == dangling(candidate) == []
            for shorter, _ in candidates(candidate):
                assert given_twice(shorter) == dangling(shorter) == []


def test_two_messages_of_one_name_are_no_story(tmp_path: Path) -> None:
    """What is said of one of them would be said of the other: of its lookup identifier, for example."""
    calls = tuple(stored_call(raw) for raw in json.loads(LIE.read_text(encoding="utf-8"))["repro"]["calls"])
    assert given_twice(calls) == [(True, "a")]
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        made, failure = run(client, judge, calls)
    assert failure is None and made == calls[:-1]
    (answer,) = repro(LIE, adapter="embedded", in_process=True)
    assert answer.answer != FAILED
    assert answer.text.startswith("Call 7 of 7 gives the name a again, while what has it is still there")


def test_a_name_that_was_given_again_is_two_names_in_the_shorter_story(tmp_path: Path) -> None:
    calls = (
        Call("queues.create", queue="q1"),
        Call("queues.open", name="h1", queue="q1", access="receive"),
        Call("messages.send", message="a", handle="h1"),  # refused
        Call("queues.close", handle="h1"),
        Call("queues.open", name="h1", queue="q1", access="send"),
        Call("queues.open", name="h2", queue="q1", access="receive"),
        Call("messages.send", message="a", handle="h1", priority=1),
        Call("messages.send", message="b", handle="h1", priority=5),
        Call("messages.receive", handle="h2"),
    )
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect("embedded+ignores-priority", state_dir=tmp_path, in_process=True) as client:
        _, failure = run(client, judge, calls)
        assert failure is not None
        short = shortened(client, OPTIONS, failure, calls)
    assert given_twice(short) == dangling(short) == []
    assert len(short) == 6


@pytest.mark.parametrize("times", [1, 2])
def test_calls_are_renamed_apart(times: int) -> None:
    opened = Call("queues.open", name="h1", queue="q1", access="receive")
    sent = Call("messages.send", message="a", handle="h1")
    looked = Call("messages.peek_by_lookup_id", message="ack4000-a@adm", handle="h1", action="current")
    one, two, three, *rest = renamed((opened, sent, looked, *(opened, sent, looked)[: 3 * (times - 1)]))
    assert (one, two, three) == (opened, sent, looked)
    if times > 1:
        assert [each.handle or each.name for each in rest] == ["h2", "h2", "h2"]
        assert [each.message for each in rest] == [None, "b", "ack4000-b@adm"]
