"""Walks, scopes, proofs and the cover, each at a small size; and the book that is shipped."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from nightly import amount

from conformance.histories.features.feature import Feature
from conformance.histories.situations.book import load, packed
from conformance.histories.situations.situation import Space, space
from conformance.histories.situations.specified_calls import askable, default_model, states
from conformance.model import Call
from conformance.model.calls import INFINITE
from tools.planner.bounded_search import SCOPES, Scope, searched
from tools.planner.planner import Effort, Scoped, plan, unreachable
from tools.planner.random_setups import mixed, mutated
from tools.planner.steered_search import LONGEST, Cover, Harvest, Walker, cut, replayed, timing

MODEL = default_model()
SMALL = Scope("a message", "plain", 1, sends=({},), cursors=1, states=400)
OPENED = (
    Call("queues.create", queue="q1"),
    Call("queues.open", name="h1", queue="q1", access="send"),
    Call("queues.open", name="h2", queue="q1", access="receive"),
)
SEND = Call("messages.send", message="a", handle="h1")
RECEIVE = Call("messages.receive", handle="h2")
WAIT = replace(RECEIVE, name="w", timeout_ms=INFINITE)
CURSOR = Call("cursors.open", name="c", handle="h2")
BEGIN = Call("messages.receive_begin", name="b", handle="h2")


def test_walks_keep_only_histories_that_meet_what_they_are_kept_for() -> None:
    every = space()
    harvest = Harvest(every, bytearray(every.count))
    walker = Walker(MODEL, harvest, "test")
    for _ in range(3):
        walker.walk()
    assert harvest.histories
    for history, wanted in harvest.histories:
        made, met = replayed(MODEL, every, history)
        assert made == history and len(history) <= LONGEST
        assert {one for numbers in met for one in numbers}.issuperset(wanted)
    assert sum(harvest.met) == sum(len(wanted) for _, wanted in harvest.histories)


def test_a_walk_begins_where_a_part_of_what_is_lacking_was_met() -> None:
    every = space()
    harvest = Harvest(every, bytearray(every.count))
    walker = Walker(MODEL, harvest, "test")
    walker.learn((*OPENED, SEND, RECEIVE))
    (*_, met) = replayed(MODEL, every, (*OPENED, SEND, RECEIVE))[1]
    assert all(harvest.met[number] for number in met)
    assert walker.starts.near(Random(1)) is None  # nobody has looked yet at what is lacking
    walker.renew()
    assert walker.starts.lacking[RECEIVE.method] == len(every.of_method(RECEIVE.method)) - len(met)
    starts = [walker.starts.near(Random(seed)) for seed in range(40)]
    found = {one[1]: one[0] for one in starts if one is not None}
    assert found[RECEIVE.method].calls == (*OPENED, SEND)


def test_a_situation_and_its_parts_have_a_vector() -> None:
    every = space()
    for method in ("messages.receive", "messages.send", "watch"):
        for number in every.of_method(method)[::97]:
            named, vector = every.parted(number)
            assert named == method
            numbers = every.numbers(method, vector)
            wanted = dict(every.situation(number).values)
            assert number in numbers
            assert all(dict(every.situation(one).values).items() <= wanted.items() for one in numbers)


def test_mixtures_and_changed_histories_make_sense_and_differ() -> None:
    random, wider = Random("mixtures"), 0
    drawn: set[tuple[Call, ...]] = set()
    for _ in range(60):
        calls, state = mixed(MODEL, random, 36)
        assert replayed(MODEL, space(), calls)[0] == calls
        changed, after = mutated(MODEL, random, calls, 50)
        assert replayed(MODEL, space(), changed)[0] == changed
        drawn.update((calls, changed))
        wider += len(after.waiters) + len(after.cursors) > len(state.waiters) + len(state.cursors)
    assert len(drawn) > 100 and wider > 3


def test_what_is_not_needed_is_cut() -> None:
    every = space()
    (wanted, *_) = replayed(MODEL, every, (*OPENED, SEND, RECEIVE))[1][-1:]
    longer = (*OPENED, SEND, Call("transactions.begin", name="t"), RECEIVE, Call("clock.now"))
    left = cut(MODEL, every, longer, wanted)
    assert len(left) <= len(OPENED) + 2
    assert any(set(wanted) <= set(numbers) for numbers in replayed(MODEL, every, left)[1])


def test_a_small_scope_is_exhausted_and_every_vector_has_its_history() -> None:
    every = space()
    found = searched(MODEL, every, SMALL)
    assert found.exhausted
    for method, vectors in found.vectors.items():
        for vector, calls in [*vectors.items()][:40]:
            made, met = replayed(MODEL, every, calls)
            assert made == calls
            assert met[-1] == every.numbers(method, vector)
    assert not searched(MODEL, every, replace(SMALL, states=5)).exhausted


def test_a_scope_proves_what_it_could_meet_and_never_does() -> None:
    def feature(name: str) -> Feature:
        return Feature(name, ("1", "2", "3"), lambda state, call: None, ())

    every = Space({"m": (feature("a"), feature("b"), feature("c"))}, frozenset({"m"}))
    scoped = Scoped("small", {"m": [("1", "1", None), ("2", "2", None), ("1", "2", None)]})

    def proven(*also: str) -> set[str]:
        met = bytearray(every.count)
        for vector in scoped.vectors["m"]:
            for one in every.numbers("m", vector):
                met[one] = 1
        for name in also:
            met[every.named(name).number] = 1
        return {str(every.situation(one)) for one in unreachable(every, met, [scoped])}

    triples = {f"m: a=2, b=1, c={each}" for each in "123"}
    assert proven() == {"m: a=2, b=1", *triples}
    assert proven("m: a=2, b=1") == set()
    scoped.proves = False
    assert proven() == set()


def test_the_cover_meets_everything_once_and_the_best_comes_first() -> None:
    every = space()
    cover = Cover(MODEL, every)
    histories = [(*OPENED, SEND, RECEIVE), (*OPENED, RECEIVE), (*OPENED, SEND, RECEIVE)]
    for history in histories:
        cover.add(history)
    chosen = cover.chosen()
    told = [one for planned in chosen for numbers in planned.met for one in numbers]
    assert len(told) == len(set(told))
    assert set(told) == {
        one for history in histories for numbers in replayed(MODEL, every, history)[1] for one in numbers
    }
    assert len(chosen) == 2 and [one.number for one in chosen] == [0, 1]


@pytest.mark.parametrize(
    ("calls", "virtual", "wait_ms"),
    [
        ((SEND, RECEIVE), False, 0),
        ((replace(RECEIVE, name="w", timeout_ms=INFINITE), SEND), False, 0),
        ((replace(RECEIVE, name="w", timeout_ms=40), SEND), True, 0),
        ((SEND, replace(RECEIVE, name="w", timeout_ms=40)), False, 0),
        ((replace(RECEIVE, name="w", timeout_ms=40), Call("clock.advance", by_ms=40)), False, 40),
        ((replace(RECEIVE, name="w", timeout_ms=40), Call("clock.advance", by_ms=39)), True, 0),
        ((replace(RECEIVE, name="w", timeout_ms=60_000), SEND), False, 0),
        ((Call("clock.advance", by_ms=1000),), False, 1000),
        ((Call("clock.advance", by_ms=60_000),), True, 0),
        ((Call("clock.now"), replace(SEND, live_s=2), Call("clock.advance", by_ms=1000)), True, 0),
    ],
)
def test_what_a_real_clock_can_play(calls: tuple[Call, ...], virtual: bool, wait_ms: int) -> None:
    assert timing(MODEL, (*OPENED, *calls)) == (virtual, wait_ms)


@pytest.mark.parametrize(
    ("before", "call", "may"),
    [
        ((), RECEIVE, True),
        ((), Call("cursors.open", name="c", handle="h1"), False),
        ((), Call("cursors.open", name="c", handle="h2"), True),
        ((), replace(RECEIVE, transaction="t"), False),
        ((Call("transactions.begin", name="t"),), replace(RECEIVE, transaction="t"), True),
        ((Call("transactions.begin", name="t"), Call("restart", kill=True)), replace(RECEIVE, transaction="t"), False),
        ((WAIT,), replace(WAIT, name="v", handle="h3"), True),
        ((WAIT,), replace(WAIT, name="v"), True),
        ((WAIT, replace(WAIT, name="v"), replace(WAIT, name="u")), replace(WAIT, name="t", handle="h3"), False),
        ((WAIT, Call("messages.cancel", request="w")), WAIT, False),  # a name is given once
        ((WAIT,), Call("queues.delete", queue="q1"), True),
        ((CURSOR,), replace(RECEIVE, cursor="c"), True),
        ((CURSOR,), replace(RECEIVE, cursor="c", handle="h3"), False),
        ((CURSOR, replace(WAIT, cursor="c")), Call("cursors.close", cursor="c"), True),
        ((CURSOR, replace(WAIT, cursor="c")), Call("queues.close", handle="h2"), True),
        ((SEND, BEGIN), Call("queues.close", handle="h2"), False),
        ((), Call("queues.delete", queue="elsewhere"), False),
        ((), Call("queues.open", name="h9", queue="remote1", access="send", share="deny_receive"), False),
    ],
)
def test_what_is_left_alone(before: tuple[Call, ...], call: Call, may: bool) -> None:
    other = Call("queues.open", name="h3", queue="q1", access="receive")
    assert askable(states(MODEL, (*OPENED, other, *before))[-1], call) is may


def test_the_same_tables_give_the_same_book() -> None:
    effort = Effort(rounds=1, walks=1, states=60)
    first, second = (packed(plan(effort, lambda line: None, scopes=(SMALL,))) for _ in range(2))
    assert first == second


def test_scopes_have_names_of_their_own() -> None:
    assert len({scope.name for scope in SCOPES}) == len(SCOPES)


def test_the_book_is_not_stale() -> None:
    """Each planned history still meets what the book says. A push replays some of them, the nightly run all."""
    book, every = load(), space()
    step = 1 + len(book.histories) // amount("situations.histories")
    for planned in book.histories[::step]:
        made, met = replayed(MODEL, every, planned.calls)
        again = "the book is stale: run `python -m tools.situations plan`"
        assert made == planned.calls, again
        for wanted, numbers in zip(planned.met, met, strict=True):
            assert set(wanted) <= set(numbers), again


def test_the_book_meets_each_situation_once_and_none_that_is_unreachable() -> None:
    book = load()
    met = [number for one in book.histories for numbers in one.met for number in numbers]
    assert len(met) == len(set(met))
    assert not book.unreachable.keys() & set(met)
