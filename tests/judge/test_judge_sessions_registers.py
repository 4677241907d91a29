"""The registers of a state that a stranger may have written: it goes on as it was, or is refused."""

from __future__ import annotations

import pickle

import pytest
from session_conversations import conversation

from conformance.capture import Closed
from conformance.judge.sessions import registers as at
from conformance.judge.sessions.judge import SessionJudge
from conformance.spec.catalogue import assignment


def waiting() -> SessionJudge:
    """A judge of connections with messages under way."""
    judge = SessionJudge(assignment("windows"))
    for event in conversation(0):
        if isinstance(event, Closed):
            break
        judge.feed(event)
        if under_way(judge) >= 3 and judge.tables.transactions.paths:
            break
    assert under_way(judge) and judge.tables.transactions.paths
    return judge


def under_way(judge: SessionJudge) -> int:
    sessions = judge.tables.sessions.values()
    return sum(one.flow.connection.end(side).under_way or 0 for one in sessions for side in at.ENDS)


def test_what_was_under_way_is_so_after_a_stored_state_was_taken_over() -> None:
    judge = waiting()
    kept: SessionJudge = pickle.loads(pickle.dumps(judge))
    kept.restore()
    for number, session in judge.tables.sessions.items():
        for side in at.ENDS:
            mine, its = kept.tables.sessions[number].flow.connection.end(side), session.flow.connection.end(side)
            assert list(mine.messages()) == list(its.messages())


@pytest.mark.parametrize("number", [-1, 1 << 40, at.MAX_UNDER_WAY, 1 << 62])
@pytest.mark.parametrize("place", [at.FIRST, at.LENGTH])
def test_a_chain_that_leads_out_of_its_array_is_refused(place: int, number: int) -> None:
    judge = waiting()
    one = next(one.flow.connection for one in judge.tables.sessions.values() if one.flow.connection)
    end = next(end for end in map(one.end, at.ENDS) if end.under_way)
    end.block.rows[end.base + place] = number
    with pytest.raises((ValueError, LookupError)):
        judge.restore()


@pytest.mark.parametrize("name", ["nodes", "shared", "connections", "paths"])
def test_registers_that_are_cut_are_refused(name: str) -> None:
    judge = waiting()
    registers = judge.tables.registers
    if name in ("nodes", "shared"):
        del getattr(registers, name)[:]
    else:
        del getattr(registers, name).rows[:]
    with pytest.raises((ValueError, LookupError)):
        judge.restore()
