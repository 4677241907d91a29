"""Features of operations: their values in walks, steps and reports."""

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from nightly import amount, nightly_only

from conformance.histories import plans
from conformance.histories.features.constraints import CONSTRAINTS, REFUSALS
from conformance.histories.features.facts import ASKED, kinds
from conformance.histories.features.table import CORE, FEATURES
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.state_queries import message_name, names
from conformance.histories.operations.table import ACTIONS, METHODS, OPERATIONS
from conformance.histories.situations.probe import probe
from conformance.histories.situations.specified_calls import after, default_model, states
from conformance.histories.walk import Plan, set_up
from conformance.model import BadCall, Call, Model, State
from conformance.model.calls import INFINITE
from conformance.model.expected import Expected
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, UNLIMITED
from conformance.model.values import replace
from conformance.spec.catalogue import CatalogueError, assignment, catalogue
from tools.audit.steps import events

T = TypeVar("T")
QUEUES = ("q1", "q2", "q3")
_OPENED = (
    *QUEUES,
    *("q1;one", "q2;one", "q1;two", "q1;JOURNAL", "q2;JOURNAL", SYSTEM_JOURNAL, DEAD_LETTER),
    *(DEAD_LETTER_TRANSACTIONAL, "remote1", "elsewhere", "q1,q3", "nope"),
)
_TIMES = (20, 1000, 1500, 2000, INFINITE)
_ACKS = {"acks": "positive_receive+negative_receive", "admin": "q3"}
_WISHES: Sequence[Mapping[str, Any]] = (
    *({"journal": True}, {"dead_letter": True}, _ACKS, {"live_s": 1}, {"live_s": 0}, {"live_s": UNLIMITED}),
    *({"live_s": 2, "dead_letter": True}, {"live_s": 2, **_ACKS}, {"size": 11_000}, {"size": 18_000}),
)


def any_call(roll: random.Random, state: State) -> Call | None:
    """Return a call that any state of the manager could meet; None if it needs something that is not there."""
    make = roll.choices(tuple(_MAKERS), tuple(_MAKERS.values()))[0]
    return make(roll, state)


def _one(roll: random.Random, things: Sequence[T]) -> T | None:
    return roll.choice(things) if things else None


def _transaction(roll: random.Random, state: State) -> str | None:
    return _one(roll, [one.name for one in state.transactions.values() if one.ended != "restart"])


def _read(roll: random.Random, state: State) -> Call | None:
    method = roll.choice(("receive", "receive", "peek", "peek_next", "receive_begin"))
    handle = _one(roll, list(state.handles))
    own = [cursor.name for cursor in state.cursors.values() if cursor.handle == handle]
    cursor = _one(roll, own) if method == "peek_next" or roll.random() < 0.5 else None
    if handle is None or (method == "peek_next" and cursor is None):
        return None
    time_out = 0 if roll.random() < 0.6 else roll.choice(_TIMES)
    named = names("w", {*state.waited, *state.begun}) if time_out or method == "receive_begin" else None
    transaction = _transaction(roll, state) if method == "receive" and roll.random() < 0.5 else None
    return Call(
        f"messages.{method}", handle=handle, cursor=cursor, timeout_ms=time_out, name=named, transaction=transaction
    )


def _lookup(roll: random.Random, state: State) -> Call | None:
    action, handle = roll.choice(("current", "next", "previous", "first", "last")), _one(roll, list(state.handles))
    edge = action in ("first", "last")
    message = None if edge and roll.random() < 0.5 else _one(roll, list(state.lookups))
    if handle is None or (message is None and not edge):
        return None
    if roll.random() < 0.5:
        return Call("messages.peek_by_lookup_id", handle=handle, message=message, action=action)
    within = _transaction(roll, state) if roll.random() < 0.4 else None
    return Call("messages.receive_by_lookup_id", handle=handle, message=message, action=action, transaction=within)


def _send(roll: random.Random, state: State) -> Call | None:
    senders = [handle.name for handle in state.handles.values() if handle.access == "send" or roll.random() < 0.1]
    wishes = roll.choice(_WISHES) if roll.random() < 0.35 else {}
    return Call(
        "messages.send",
        handle=_one(roll, senders) or "nobody",
        message=message_name(state),
        priority=roll.choice((None, None, 0, 1, 3, 5, 7)),
        delivery=roll.choice((None, None, "express", "recoverable")),
        transaction=_transaction(roll, state) if roll.random() < 0.5 else None,
        **wishes,
    )


def _move(roll: random.Random, state: State) -> Call | None:
    movers = [handle.name for handle in state.handles.values() if handle.access == "move" or roll.random() < 0.1]
    return Call(
        "messages.move",
        handle=_one(roll, list(state.handles)),
        destination=_one(roll, movers) or "nobody",
        message=_one(roll, list(state.lookups)) or "nothing",
        transaction=_transaction(roll, state) if roll.random() < 0.5 else None,
    )


def _small(roll: random.Random, state: State) -> Call | None:
    request, cursor, read = _one(roll, state.waited), _one(roll, list(state.cursors)), _one(roll, list(state.begun))
    calls = [Call("messages.cancel", request=request)] if request is not None else []
    calls += [Call("cursors.close", cursor=cursor)] if cursor is not None else []
    calls += [Call("messages.receive_end", read=read, acknowledge=roll.random() < 0.5)] * 2 if read is not None else []
    calls.append(Call("cursors.open", name=names("c", state.cursors), handle=_one(roll, list(state.handles))))
    return roll.choice(calls)


def _end(roll: random.Random, state: State) -> Call | None:
    calls = [Call("transactions.begin", name=names("t", state.transactions))]
    named = _transaction(roll, state)
    busy = {waiter.transaction for waiter in state.waiters}
    if named is not None and named not in busy:  # no section says what becomes of a read that waits in it
        calls += [Call(f"transactions.{how}", transaction=named) for how in ("prepare", "commit", "abort")]
    return roll.choice(calls)


def _queue(roll: random.Random, state: State) -> Call | None:
    name = roll.choice(QUEUES)
    quotas = {"quota_kb": roll.choice((None, None, 40)), "journal_quota_kb": roll.choice((None, None, 2))}
    calls = [
        Call("queues.create", queue=name, transactional=roll.random() < 0.5, journaling=roll.random() < 0.3, **quotas),
        Call("queues.delete", queue=name),
        Call("queues.counts", queue=_one(roll, list(state.queues))),
        Call("queues.purge", handle=_one(roll, list(state.handles))),
        Call("queues.close", handle=_one(roll, list(state.handles))),
        Call(f"outgoing.{roll.choice(('pause', 'resume', 'take'))}", queue="remote1"),
    ]
    return roll.choice(calls)


def _open(roll: random.Random, state: State) -> Call | None:
    access, share = (
        roll.choice(("receive", "receive", "peek", "send", "move")),
        roll.choice((None, None, "deny_receive")),
    )
    name = names("h", state.handles)
    return Call("queues.open", name=name, queue=roll.choice(_OPENED), access=access, share=share)


def _time(roll: random.Random, state: State) -> Call | None:
    if roll.random() < 0.3:
        return Call("restart", kill=roll.random() < 0.5)
    left = [waiter.deadline - state.now for waiter in state.waiters if waiter.deadline is not None]
    steps = [1, 500, 999, 1000, 1500, 2000, 3000, *(after + more for after in left for more in (-1, 0, 1))]
    return Call("clock.advance", by_ms=max(1, roll.choice(steps)))


_MAKERS: Mapping[Callable[[random.Random, State], Call | None], int] = {
    _read: 8,
    _lookup: 3,
    _send: 6,
    _move: 2,
    _small: 3,
    _end: 4,
    _queue: 3,
    _open: 3,
    _time: 2,
}

Vector = tuple[str | None, ...]


def effect(before: State, expected: Expected) -> Hashable:
    """What a step does, as far as the model tells it: result, requirements, rows, ended reads, and what has changed."""
    moved = []
    for name, queue in expected.next.queues.items():
        old = before.queues.get(name)
        if old is not queue:
            states = {} if old is None else {one.message: one.state for one in old.positions}
            changed = tuple(
                (states.get(one.message), one.state, one.claim, one.doubtful)
                for one in queue.positions
                if states.get(one.message) is not one.state
            )
            moved.append((name.partition(";")[2], queue.exists, queue.transactional, changed))
    return (
        type(expected.result),
        expected.requirement,
        expected.also,
        expected.transitions,
        tuple((type(one.result), one.requirement) for one in expected.completions),
        tuple(sorted(moved, key=repr)),
    )


def told(steps: Iterable[tuple[State, Call, Expected]]) -> dict[str, dict[str, set[str]]]:
    """Return, by method and feature, the values that some two steps tell from another value.

    The two steps have the same values of all other features of the method, and their effects differ.
    """
    effects: dict[str, dict[Vector, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
    for state, call, expected in steps:
        vector = tuple(feature.of(state, call) for feature in FEATURES[call.method])
        effects[call.method][vector].add(effect(state, expected))
    return {method: _of_method(method, effects[method]) for method in effects}


def _of_method(method: str, effects: Mapping[Vector, set[Hashable]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for at, feature in enumerate(FEATURES[method]):
        alike: dict[Vector, dict[str, set[Hashable]]] = defaultdict(dict)
        for vector, ends in effects.items():
            value = vector[at]
            if value is not None:
                alike[(*vector[:at], *vector[at + 1 :])][value] = ends
        found[feature.name] = {
            value
            for ends in alike.values()
            for value, its in ends.items()
            if any(its.isdisjoint(theirs) for other, theirs in ends.items() if other != value)
        }
    return found


REASONS: Final[Mapping[str, str]] = {
    "internal": "it decides nothing that a caller sees",
    "forced": "callers of a queue manager have no choice: the condition is always, or never, met",
    "names": "it is about kinds of format names, which the suite of names tries one by one",
    "network": "it needs another queue manager, or a session with one",
    "directory": "it is about the directory, which its suite tries one by one as far as it can",
    "security": "it is about descriptors and identities, which the suite of rights tries one by one",
}
"""Every reason, and what it says of a step."""
DATA: Final = Path(__file__).with_name("no_feature.toml")


@dataclass(frozen=True, slots=True)
class Unfeatured:
    """A conditional step without a feature. reason: one of `REASONS`. note: more of it, for this step; or empty."""

    id: str
    reason: str
    note: str = ""


@cache
def unfeatured() -> Mapping[str, Unfeatured]:
    """Return the steps without a feature by their ids. Raises CatalogueError when the data is wrong."""
    found: dict[str, Unfeatured] = {}
    for raw in _entries(DATA):
        one = Unfeatured(**raw)
        if one.reason not in REASONS:
            raise CatalogueError(
                f"{DATA.name}: {one.id} has the reason {one.reason!r}, which is none of {', '.join(REASONS)}"
            )
        if one.id in found:
            raise CatalogueError(f"{DATA.name}: {one.id} stands there twice")
        found[one.id] = one
    return found


def _entries(path: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    return listed


OFFER = Offer(frozenset(METHODS), virtual=True)
PLANS = {name: plan for name, plan in sorted(vars(plans).items()) if isinstance(plan, Plan) and plan.actions}
STEPS = 40


class Pure:
    """A history on the model alone: each call ends as it does under the default readings."""

    def __init__(self) -> None:
        self.model = Model(assignment("windows"))
        self.state = State()
        self.met: list[tuple[State, Call]] = []

    def do(self, call: Call) -> None:
        expected = self.model.allowed(self.state, call).outcomes[0]
        self.met.append((self.state, call))
        self.went(expected)

    def went(self, expected: Expected) -> None:
        self.state = _identified(expected.next)


def _identified(state: State) -> State:
    """Give each available message a lookup identifier, as the answers of reads would."""
    known = dict(state.lookups)
    for queue in state.queues.values():
        for position in queue.positions:
            if position.available:
                known.setdefault(position.message, len(known) + 1)
    return state if len(known) == len(state.lookups) else replace(state, lookups=known)


def walked(plan: Plan, seed: int) -> Iterator[tuple[State, Call]]:
    roll, history = random.Random(seed), Pure()
    set_up(history, plan)
    for _ in range(STEPS):
        calls = list(ACTIONS[roll.choice(plan.actions)].choose(history.state, OFFER))
        if calls:
            try:
                history.do(roll.choice(calls))
            except BadCall:
                break
    yield from history.met


@pytest.mark.parametrize("name", PLANS)
def test_values_are_those_of_the_table_and_meet_no_constraint(name: str) -> None:
    for seed in range(amount("features.walks-of-a-plan")):
        for state, call in walked(PLANS[name], seed):
            values = {}
            for feature in FEATURES[call.method]:
                value = feature.of(state, call)
                assert value is None or value in feature.values, (call, feature.name, value)
                if value is not None:
                    values[feature.name] = value
            broken = [one for one in CONSTRAINTS if call.method in one.methods and one.excludes(values)]
            assert not broken, (call, broken[0])


def test_a_situation_asked_about_is_told_by_its_state_alone() -> None:
    met = list(walked(plans.EVERYTHING, 3))
    once = [[feature.of(state, call) for feature in FEATURES[call.method]] for state, call in met]
    again = [[feature.of(state, call) for feature in FEATURES[call.method]] for state, call in reversed(met)]
    assert once == again[::-1]
    assert any(len(set(pair)) > 1 for pair in combinations(map(tuple, once), 2))


NAMED = {step for table in FEATURES.values() for feature in table for step in feature.steps}
SECTIONS = ("3.1.4.", "3.1.7.", "3.2.7.")
TAKEN_OVER = ("MQMP-", "MQQB-", "MQRR-")


def conditional() -> dict[str, str]:
    """The steps that enclose others, each with its section: what follows depends on them."""
    found = {}
    for section, event in events().items():
        if section.startswith(SECTIONS):
            for step, following in zip(event.steps, event.steps[1:], strict=False):
                if following.depth > step.depth:
                    found[step.id] = section
    return found


def test_each_conditional_step_has_a_feature_or_a_reason() -> None:
    lacking = [step for step in conditional() if step not in NAMED and step not in unfeatured()]
    assert not lacking, f"name them in a feature, or in no_feature.toml: {lacking}"


def test_reasons_are_needed_and_are_of_conditional_steps() -> None:
    steps = conditional()
    for one in unfeatured().values():
        assert one.id in steps, f"{one.id} encloses no other step"
        assert one.id not in NAMED, f"{one.id} has a feature and a reason not to have one"


def test_a_reason_agrees_with_what_the_requirement_needs() -> None:
    for one in unfeatured().values():
        entry = catalogue().requirements[one.id]
        if one.reason == "directory":
            assert entry.needs in (None, "nobody"), f"{one.id} needs {entry.needs}, not a directory"
        elif one.reason == "network":
            assert entry.needs == "peer" or entry.checked == "session", one.id
        elif one.reason == "forced":
            assert one.note, f"{one.id}: why has nobody a choice?"
    assert set(REASONS) == {one.reason for one in unfeatured().values()}, "a reason that no step has"


def test_each_rule_taken_over_that_walks_judge_has_a_feature() -> None:
    judged = {name for walk in plans.stored().values() for name in walk if name.startswith(TAKEN_OVER)}
    lacking = [name for name in judged if name not in NAMED and name.removesuffix("-code") not in NAMED]
    assert not lacking


def test_each_operation_has_features_and_each_feature_its_steps() -> None:
    assert set(FEATURES) == set(OPERATIONS)
    assert set(FEATURES) >= CORE
    known = catalogue().requirements
    for method, table in FEATURES.items():
        assert OPERATIONS[method].features == table
        names = [feature.name for feature in table]
        assert len(names) == len(set(names)), f"{method} has two features of one name"
        for feature in table:
            assert len(feature.values) > 1, f"{method} {feature.name} makes no difference"
            assert len(set(feature.values)) == len(feature.values)
            assert all(step in known for step in feature.steps), f"{method} {feature.name}: {feature.steps}"
            assert feature.steps, f"{method} {feature.name} comes from nowhere"


def test_constraints_and_refusals_are_about_cases_that_there_are() -> None:
    for one in CONSTRAINTS:
        used = 0
        for method in one.methods:
            values = {feature.name: set(feature.values) for feature in FEATURES[method]}
            if set(one.cases) <= set(values):
                used += all(given == {"*"} or given & values[name] for name, given in one.cases.items())
        assert used, f"nothing is excluded by: {one.reason} {dict(one.cases)}"
        for name, given in one.cases.items():
            everywhere = {
                value for method in one.methods for it in FEATURES[method] if it.name == name for value in it.values
            }
            assert given == {"*"} or given <= everywhere, f"{name} has no {given - everywhere}: {one.reason}"
    for method, cases in REFUSALS.items():
        values = {feature.name: set(feature.values) for feature in FEATURES[method]}
        for name, given in cases.items():
            assert name not in values or given & values[name]


HISTORIES = 25_000
# What the model makes no difference of at that step, though an implementation might: what follows would show it.
_ALL_OF = ("clock.now", "use", "watch", "queues.set", "queues.get", "queues.counts", "limits", "transactions.begin")
UNTOLD = {
    **{method: {feature.name for feature in FEATURES[method]} for method in _ALL_OF},
    "cursors.open": {"kind", "choice", "passed", "others", "closed", "waiting"},
    "cursors.close": {"content", "queue"},
    "messages.cancel": {"passed"},
    "messages.receive_by_lookup_id": {"priority"},
    "transactions.prepare": {"moves", "overtaken", "cursors", "waiting"},
    "queues.create": {"values"},
    **{
        f"outgoing.{what}": {feature.name for feature in FEATURES[f"outgoing.{what}"]} - {"state"}
        for what in ("pause", "resume")
    },
    "outgoing.take": {"restarts"},
}


def steps(history: int) -> Iterator[tuple[State, Call, Expected]]:
    roll, pure = random.Random(history), Pure()
    plan = PLANS[roll.choice(sorted(PLANS))]
    set_up(pure, plan)
    wild = roll.choice((0.15, 0.5, 0.9))
    for _ in range(STEPS):
        if roll.random() < wild:
            call = any_call(roll, pure.state)
        else:
            calls = list(ACTIONS[roll.choice(plan.actions)].choose(pure.state, OFFER))
            call = roll.choice(calls) if calls else None
        if call is None:
            continue
        try:
            expected = pure.model.allowed(pure.state, call).outcomes[0]
        except BadCall:
            continue
        yield pure.state, call, expected
        pure.went(expected)


@nightly_only("features.values-told")
def test_the_model_tells_the_values_of_each_feature() -> None:
    found = told(step for history in range(HISTORIES) for step in steps(history))
    silent = [
        f"{method} {feature.name}"
        for method, table in FEATURES.items()
        for feature in table
        if feature.name not in UNTOLD.get(method, ()) and len(found.get(method, {}).get(feature.name, ())) < 2
    ]
    assert not silent, f"drop the feature, or say in UNTOLD why it stays: {silent}"


def test_what_is_left_out_has_a_feature() -> None:
    for method, lacking in UNTOLD.items():
        assert lacking <= {feature.name for feature in FEATURES[method]}


@pytest.mark.parametrize("history", range(3))
def test_any_calls_are_made_alike_each_time(history: int) -> None:
    assert [call for _, call, _ in steps(history)] == [call for _, call, _ in steps(history)]


MODEL = default_model()
PLAIN = (
    Call("queues.create", queue="adm"),
    Call("queues.create", queue="q1"),
    Call("queues.open", name="h1", queue="q1", access="send"),
    Call("queues.open", name="h2", queue="q1", access="receive"),
)
SEND = Call("messages.send", message="a", handle="h1")
RECEIVE = Call("messages.receive", handle="h2")
PURGE = Call("queues.purge", handle="h2")
RESTART = Call("restart", kill=True)
TWO = tuple(
    call
    for number, name in ((1, "q1"), (3, "q2"))
    for call in (
        Call("queues.create", queue=name, transactional=True),
        Call("queues.open", name=f"h{number}", queue=name, access="send"),
        Call("queues.open", name=f"h{number + 1}", queue=name, access="receive"),
    )
)


def value(feature: str, before: Iterable[Call], call: Call) -> str | None:
    state = states(MODEL, before)[-1]
    return next(one for one in FEATURES[call.method] if one.name == feature).of(state, call)


def journaling(on: int) -> Call:
    return Call("queues.set", queue="q1", values=(("PROPID_Q_JOURNAL", on),))


def sent(**options: object) -> tuple[Call, ...]:
    return (*PLAIN, Call("messages.send", message="a", handle="h1", **options))  # type: ignore[arg-type]


def test_every_choice_of_acknowledgments_has_a_case() -> None:
    signs = [f"{sign}_{end}" for sign in ("positive", "negative") for end in ("arrival", "receive")]
    found = {kinds([one for place, one in enumerate(signs) if bits >> place & 1]) for bits in range(16)}
    assert found == set(ASKED)


@pytest.mark.parametrize("call", [PURGE, Call("queues.delete", queue="q1"), RESTART])
def test_a_loss_tells_which_acknowledgments_were_asked_for(call: Call) -> None:
    asks = sent(acks="positive_arrival", admin="adm", delivery="recoverable")
    assert value("asked", asks, call) == "positive_arrival"
    assert value("asked", sent(acks="negative_arrival+negative_receive", delivery="recoverable"), call) == "none"
    gone = (*asks, Call("queues.delete", queue="adm"))
    assert value("asked", gone, call) is None, "they have no queue to go to"


def test_an_expiry_and_the_end_of_a_receive_tell_it_too() -> None:
    asks = sent(acks="negative_receive+positive_arrival", admin="adm", live_s=2)
    assert value("asked", asks, Call("clock.advance", by_ms=4000)) == "both_signs"
    begun = (*asks, Call("messages.receive_begin", name="b1", handle="h2"))
    end = Call("messages.receive_end", read="b1", acknowledge=True)
    assert value("asked", begun, end) == "both_signs"


@pytest.mark.parametrize(
    ("switches", "expected"),
    [((), "off"), ((1,), "switched_on"), ((1, 0), "off"), ((1, 1), "switched_on"), ((0,), "off")],
)
def test_journaling_is_told_as_it_is_and_as_it_was_at_the_arrival(switches: tuple[int, ...], expected: str) -> None:
    switched = tuple(journaling(on) for on in switches)
    assert value("journaling", (*PLAIN, SEND, *switched), RECEIVE) == expected
    before = expected.removeprefix("switched_")
    assert value("journaling", (*PLAIN, *switched, SEND), RECEIVE) == before, "it was so when the message came"
    if before == "on":
        assert value("journaling", (*PLAIN, *switched, SEND, journaling(0)), RECEIVE) == "switched_off"


def test_a_commit_tells_it_of_what_it_has_received() -> None:
    held = (
        *TWO,
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="a", handle="h1", transaction="t1"),
        Call("transactions.commit", transaction="t1"),
        Call("transactions.begin", name="t2"),
        Call("messages.receive", handle="h2", transaction="t2"),
        journaling(1),
    )
    assert value("journaling", held, Call("transactions.commit", transaction="t2")) == "switched_on"


def test_a_quota_may_be_lowered_below_what_is_there() -> None:
    lowered = Call("queues.set", queue="q1", values=(("PROPID_Q_QUOTA", 20),))
    there = sent(size=30 * 1024)
    assert value("quota", there, RESTART) == "within"
    assert value("quota", (*there, lowered), RESTART) == "below"
    again = Call("messages.send", message="b", handle="h1")
    assert value("quota", (*there, lowered), again) == "queue_below"
    begun = (*there, Call("messages.receive_begin", name="b1", handle="h2"), lowered)
    assert value("quota", begun, Call("messages.receive_end", read="b1", acknowledge=False)) == "within", (
        "no section says whether a begun receive takes room"
    )


@pytest.mark.parametrize("call", [Call("queues.delete", queue="q1"), PURGE])
def test_a_loss_tells_what_the_transaction_has_done_elsewhere(call: Call) -> None:
    filled = (
        *TWO,
        Call("transactions.begin", name="t1"),
        *(Call("messages.send", message=f"m{h}", handle=h, transaction="t1") for h in ("h1", "h3")),
        Call("transactions.commit", transaction="t1"),
        Call("transactions.begin", name="t2"),
    )
    here = (*filled, Call("messages.receive", handle="h2", transaction="t2"))
    there = Call("messages.receive", handle="h4", transaction="t2")
    sends = Call("messages.send", message="b", handle="h3", transaction="t2")
    assert value("transaction", filled, call) == "none"
    assert value("transaction", (*filled, there), call) == "none", "it has done nothing here"
    assert value("transaction", here, call) == "here_alone"
    assert value("transaction", (*here, there), call) == "receives_elsewhere"
    assert value("transaction", (*here, there, sends), call) == "sends_elsewhere"


@pytest.mark.parametrize(("delivery", "expected"), [("express", "express"), ("recoverable", "recoverable")])
def test_a_restart_tells_which_copies_are_kept(delivery: str, expected: str) -> None:
    expired = (*sent(dead_letter=True, live_s=2, delivery=delivery), Call("clock.advance", by_ms=4000))
    assert value("dead_letters", expired, RESTART) == expected
    assert value("dead_letters", sent(delivery=delivery), RESTART) == "none"
    assert value("system_journal", sent(journal=True, delivery=delivery), RESTART) == expected
    received = (*PLAIN, journaling(1), *sent(delivery=delivery)[len(PLAIN) :], RECEIVE)
    assert value("journals", received, RESTART) == expected
    assert value("journals", (*PLAIN, journaling(1)), RESTART) == "empty"


def test_a_dead_letter_of_a_transaction_is_told_apart() -> None:
    expired = (
        *TWO,
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="a", handle="h1", transaction="t1", dead_letter=True, live_s=2),
        Call("transactions.commit", transaction="t1"),
        Call("clock.advance", by_ms=4000),
    )
    assert value("dead_letters", expired, RESTART) == "transactional"


def test_a_probe_with_little_room_still_looks_for_reports_that_nobody_asked_for() -> None:
    calls = (*sent(acks="positive_receive", admin="adm"), *[SEND, PURGE][1:])
    state: State = states(MODEL, calls)[-1]
    asking = probe(0, state, Offer(METHODS, virtual=True), most=2)
    first = next(asking)
    assert (first.method, first.queue) == ("queues.open", "adm")
    assert asking.send(after(MODEL, state, first)).method == "messages.receive"
