"""How far the model is reached: each row, guard and outcome of it by some small history, or by a reading it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import exploring
import pytest
from cases import all_of
from exploring import Step
from scopes import SCOPES, everything, opening

from conformance.histories.operations.table import OPERATIONS
from conformance.model import Call, Model, States
from conformance.model.calls import INFINITE
from conformance.model.expected import Succeeds
from conformance.model.tables import (
    COORDINATED,
    CURSOR,
    OUTGOING,
    POSITION,
    TABLES,
    TRANSACTION,
    CoordinatedEvent,
    CoordinatedState,
    CursorEvent,
    CursorState,
    Ending,
    Guard,
    OutgoingEvent,
    OutgoingState,
    Place,
    PositionEvent,
    PositionState,
    Result,
    TransactionEvent,
    TransactionState,
)
from conformance.spec.catalogue import catalogue, reading_id, requirement_id

ROWS = {row.id: row for rows in TABLES.values() for row in rows}


@cache
def by_default() -> tuple[Step, ...]:
    """Every step of every scope when each reading has its default and nothing else."""
    model = Model(exploring.default_readings())
    return tuple(step for scope in SCOPES for step in exploring.explored(model, scope))


@cache
def taken_by(readings: str) -> frozenset[str]:
    """The rows that small histories take when each reading has its default, or any of its alternatives."""
    steps = by_default() if readings == "default" else everything()[0]
    return frozenset(row for step in steps for row in step.expected.transitions)


def test_every_row_is_taken_under_the_default_readings_or_names_the_reading_it_belongs_to() -> None:
    dead = [row.id for row in ROWS.values() if row.reading is None and row.id not in taken_by("default")]
    assert not dead, "no small history takes these rows, and they name no reading"


def test_a_row_that_names_a_reading_is_taken_under_it_alone() -> None:
    for row in ROWS.values():
        if row.reading is not None:
            reading_id(row.reading)
            assert row.id not in taken_by("default"), f"{row.id} needs no reading"
            assert row.id in taken_by("all"), f"{row.id} is dead under {row.reading} too"


def test_no_row_is_taken_that_no_table_has() -> None:
    steps, _ = everything()
    assert {row for step in steps for row in step.expected.transitions} <= set(ROWS)


def test_every_row_has_an_id_of_its_own() -> None:
    assert len(ROWS) == sum(len(rows) for rows in TABLES.values())


@pytest.mark.parametrize("member", [*Guard, *Place, *Result], ids=str)
def test_every_guard_place_and_result_of_a_cursor_is_used_by_a_row_that_is_taken(
    member: Guard | Place | Result,
) -> None:
    assert any(member in (row.guard, row.place, row.result) for row in CURSOR if row.id in taken_by("all"))


@all_of(
    "member",
    [
        *(*CursorState, *CursorEvent, *PositionState, *PositionEvent, *TransactionState, *TransactionEvent, *Ending),
        *(*OutgoingState, *OutgoingEvent, *CoordinatedState, *CoordinatedEvent),
    ],
    ids=str,
)
def test_every_state_and_event_is_used_by_a_row_that_is_taken(member: object) -> None:
    used = {
        part
        for name in taken_by("all")
        for part in (
            ROWS[name].source,
            ROWS[name].event,
            ROWS[name].target,
            ROWS[name].result if hasattr(ROWS[name], "result") else None,
        )
    }
    assert member in used


def test_every_place_where_the_model_makes_an_outcome_is_reached() -> None:
    _, reached = everything()
    print(reached.report())
    assert not [str(site) for site in reached.missing()]
    assert len(exploring.sites()) > 60


def test_every_method_is_asked() -> None:
    steps, _ = everything()
    assert {step.call.method for step in steps} == set(OPERATIONS)


def named_requirements() -> set[str]:
    claims = {row.claim for table in (POSITION, TRANSACTION, COORDINATED, OUTGOING) for row in table}
    claims |= {name for row in COORDINATED for name in row.shown}
    return claims | {name for row in CURSOR for name in row.requirements}


def test_every_requirement_named_is_in_the_catalogue() -> None:
    steps, reached = everything()
    named = set(named_requirements()).union(*reached.requirements.values())
    for step in steps:
        named |= exploring.demands_of(step.expected)
    assert len(named) > 120
    for name in named - {""}:
        requirement_id(name)


def test_every_requirement_the_code_names_is_shown_by_some_step() -> None:
    steps, reached = everything()
    named = set(named_requirements()).union(*reached.requirements.values())
    for step in (*steps, *by_default()):
        named |= exploring.demands_of(step.expected)
        for queue in step.expected.next.queues.values():  # and what a message would break that is not as it must be
            named.update(position.claim for position in queue.positions)
    silent = [f"{place}: {name}" for place, name in exploring.literals() if name not in named]
    assert not silent, "no small history names these"
    assert len(list(exploring.literals())) > 80


def told(steps: tuple[Step, ...]) -> Iterator[tuple[str, str]]:
    """Every reading and alternative that a step assumes or that a code would tell."""
    for step in steps:
        yield from step.expected.readings
        for result in (step.expected.result, *(item.result for item in step.expected.completions)):
            reading = getattr(result, "reading", None)
            if reading is not None:
                yield from ((reading, name) for name, _ in result.by_reading)  # type: ignore[union-attr]


def test_every_alternative_of_a_reading_the_model_knows_is_taken() -> None:
    found = set(told(everything()[0]))
    for name in {reading for reading, _ in found}:
        for alternative in catalogue().readings[name].alternatives:
            assert (name, alternative) in found, f"no small history follows {name}={alternative}"


def test_nothing_is_assumed_that_is_not_accepted() -> None:
    accepted = exploring.default_readings()
    for step in by_default():
        for reading, alternative in told((step,)):
            assert accepted[reading] == (alternative,), f"{step.call} assumes {reading}={alternative}"


@pytest.mark.parametrize("number", range(4))
def test_one_alternative_of_each_reading_is_enough_to_go_on(number: int) -> None:
    """Four assignments have every alternative of the readings of four or fewer; in none is a call left unanswered."""
    readings = {name: entry.alternatives for name, entry in catalogue().readings.items()}
    chosen = {name: (list(names)[number % len(names)],) for name, names in readings.items()}
    model = Model(chosen)
    for scope in SCOPES:
        for step in exploring.explored(model, replace(scope, depth=min(scope.depth, 3))):
            assert all(model.rules.known(name) == (taken,) for name, taken in told((step,)))


def test_the_first_outcome_is_that_of_the_first_alternatives() -> None:
    model = Model(exploring.all_readings())
    for step in everything()[0][::7]:
        first = model.allowed(step.before, step.call).outcomes[0]
        for name, taken in first.readings:
            assert model.rules.accepted(step.before, name)[0] == taken, f"{step.call} begins with {name}={taken}"


def test_an_infinite_wait_never_ends() -> None:
    model = Model()
    state = exploring.begun(model, *opening(), Call("messages.receive", name="w", handle="r", timeout_ms=INFINITE))
    (outcome,) = model.allowed(state, Call("clock.advance", by_ms=10**12)).outcomes
    assert not outcome.completions
    assert model.due(States((state,)), Call("clock.advance", by_ms=10**12)).endings == {frozenset()}


def test_what_a_restart_may_have_lost_a_later_read_decides() -> None:
    model = Model()
    state = exploring.begun(
        model,
        *opening(),
        Call("messages.send", message="a", handle="s"),
        Call("messages.send", message="b", handle="s", delivery="recoverable"),
        Call("restart", kill=True),
        Call("queues.open", name="r", queue="q", access="receive"),
    )
    read = Call("messages.receive", handle="r")
    kept, lost = model.allowed(state, read).outcomes
    assert (kept.result, lost.result) == (Succeeds("a"), Succeeds("b"))
    assert model.allowed(lost.next, read).outcomes[0].result != Succeeds("a")
    assert lost.next.position("q", "a").state is PositionState.DELETED
    assert model.allowed(kept.next, read).outcomes[0].result == Succeeds("b")
