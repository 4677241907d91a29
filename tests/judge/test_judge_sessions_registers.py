"""The registers of a state that a stranger may have written: it goes on as it was, or is refused."""

from __future__ import annotations

import contextlib
import pickle
from functools import cache

import pytest
from session_conversations import conversation

from conformance.capture import Closed
from conformance.judge.sessions import registers as at
from conformance.judge.sessions import tables as t
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.message_memory import Bytes
from conformance.judge.sessions.sequences import Currents, Views
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


def tables_of(judge: SessionJudge) -> dict[str, t.Table]:
    found = judge.tables
    transactions, sequences = found.transactions, found.transactions.sequences
    return {
        "known": found.messages.known, "sent": transactions.sent, "groups": transactions.groups.groups,
        "smallest": found.lifetimes.smallest, "last": found.lifetimes.last, "views": sequences.views,
        "currents": sequences.currents,
    }  # fmt: skip


def remembered() -> SessionJudge:
    """A judge with rows in all tables."""
    judge: SessionJudge = pickle.loads(stored())
    return judge


@cache
def stored() -> bytes:
    judge = SessionJudge(assignment("windows"))
    for seed in range(20):
        for event in conversation(seed):
            judge.feed(event)
        if all(len(table) > 1 for table in tables_of(judge).values()):
            break
    return pickle.dumps(judge)


@pytest.mark.parametrize("name", tables_of(SessionJudge(assignment("windows"))))
def test_a_table_is_the_same_after_a_stored_state_was_taken_over(name: str) -> None:
    judge = remembered()
    kept: SessionJudge = pickle.loads(pickle.dumps(judge))
    kept.restore()
    its, mine = tables_of(judge)[name], tables_of(kept)[name]
    assert len(its) and content(mine) == content(its)


def content(table: t.Table) -> list[list[int]]:
    links = {t.NEXT, t.OLDER, t.NEWER}
    if isinstance(table, Currents):
        links.add(t.FOLLOWING)
    if isinstance(table, Views):
        links |= {t.FIRST, t.LAST, t.CHAIN + t.FIRST, t.CHAIN + t.LAST}
    size = t.DATA + table.width
    return [[table.words[row + at] for at in range(size) if at not in links] for row in table.rows()]


@pytest.mark.parametrize("number", [-2, 3, 0, 1 << 40, 1 << 62])
@pytest.mark.parametrize("place", [t.OLDEST, t.NEWER])
@pytest.mark.parametrize("name", tables_of(SessionJudge(assignment("windows"))))
def test_a_table_with_links_that_lead_nowhere_is_refused(name: str, place: int, number: int) -> None:
    judge = remembered()
    table = tables_of(judge)[name]
    oldest = table.words[t.OLDEST]
    table.words[place + (oldest if place == t.NEWER else 0)] = number or oldest + (place == t.OLDEST)
    with pytest.raises((ValueError, LookupError)):
        judge.restore()


@pytest.mark.parametrize("place", range(t.ENDS))
@pytest.mark.parametrize("name", tables_of(SessionJudge(assignment("windows"))))
def test_no_end_of_a_stored_table_is_trusted(name: str, place: int) -> None:
    judge = remembered()
    tables_of(judge)[name].words[place] = 1 << 50
    with contextlib.suppress(ValueError, LookupError):
        judge.restore()
        for table in tables_of(judge).values():
            words = table.words
            ends = t.ENDS, words[t.OLDEST], words[t.NEWEST], words[t.FILLED], words[t.BUCKETS]
            assert max(ends) < len(words) and words[t.LIMIT] == table.most and words[t.COUNT] == len(content(table))


@pytest.mark.parametrize("place", [t.FIRST, t.LENGTH, t.FOLLOWED, t.FAILED])
def test_a_chain_of_sequences_that_leads_nowhere_is_refused(place: int) -> None:
    judge = remembered()
    views = judge.tables.transactions.sequences.views
    views.words[views.words[t.OLDEST] + place] = 1 << 40
    with pytest.raises((ValueError, LookupError)):
        judge.restore()


@pytest.mark.parametrize("place", [t.KNOWN_WHERE, t.KNOWN_SIZE, t.KNOWN_BODY_AT, t.KNOWN_BODY_SIZE])
def test_a_message_outside_of_its_bytes_is_refused(place: int) -> None:
    judge = remembered()
    memory = judge.tables.messages.known
    row = memory.words[t.OLDEST]
    memory.fill(row, (memory.words[row + t.FRAME], 0, 4, 0, 0))
    memory.copies = [Bytes(0, bytes(4 + 16), apart=True)]
    pickle.loads(pickle.dumps(judge)).restore()
    memory.words[row + place] = 40
    with pytest.raises(ValueError, match="outside"):
        judge.restore()
