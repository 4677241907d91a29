"""What messages change, step by step, where no capture of the fixtures shows it."""

from __future__ import annotations

from array import array

import pytest

from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import message_steps as messages
from conformance.judge.sessions import order_steps as orders
from conformance.judge.sessions import registers as r
from conformance.judge.sessions import tables as t
from conformance.judge.sessions.messages import Ages
from conformance.judge.sessions.registers import NONE, Registers, TransactionalPath
from conformance.judge.sessions.reports import results
from conformance.judge.sessions.sequences import Sequences

SENDER, HOSTS = "11111111-2222-3333-4444-555555555555", ("192.0.2.1", "192.0.2.2")


@pytest.mark.parametrize(("window", "gap"), [(64, orders.GAP_NS + 1), (1, NONE)])
def test_the_time_without_an_order_ack_is_kept_where_the_window_is_wide(window: int, gap: int) -> None:
    registers = Registers()
    connection, path = registers.open(1, 0, complete=True), TransactionalPath(registers, (1, 2))
    end, progress = connection.end("initiator"), path.begin(5)
    end.named, path.answered_ns, path.latest_ns = window, 1, 1_000

    def advance(time: int, again: int) -> int:
        orders.advance(
            connection.block.rows, connection.base, end.base, path.block.rows, path.base, progress.base, time, 2, 1,
            again, 0, orders.DIRECT,
        )  # fmt: skip
        return path.block.rows[path.base + r.GAP_NS]

    assert advance(1_000 + orders.GAP_NS, 0) == NONE
    assert advance(1_001 + orders.GAP_NS, 0) == gap
    assert advance(9_000 + orders.GAP_NS, 0) in (gap, NONE), "the first gap counts"
    assert advance(9_001 + orders.GAP_NS, 1) == NONE, "whoever sends again may have had no answer"


def test_that_clocks_may_differ_is_said_once_in_a_connection() -> None:
    registers, ages, out = Registers(), Ages(), array("q", [0]) * r.MAX_OUT
    connection, other = (registers.open(number, 0, complete=True) for number in (1, 2))
    row = ages.row((1, 2, 0))
    ages.fill(row, (-50,))
    for one, wanted in ((connection, 1), (connection, 0), (other, 1)):
        out[0] = 0
        messages.live(one.block.rows, one.base, ages.words, row, 0, out, 5, 10)
        found = [rule for rule, outcome, *_ in results(out) if outcome == steps.OPEN]
        assert found == [messages.EXPIRED] * wanted


def test_a_queue_manager_has_no_more_current_sequences_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.judge.sessions.sequences.MAX_CURRENT", 2)
    sequences = Sequences(Registers(), messages.SESSION)
    view = sequences.view(SENDER)
    for number in range(5):
        sequences._add(view, messages.QUEUE, (number, 0, messages.QUEUE), HOSTS)
    assert [sequences.currents.words[row] for row in sequences.currents.rows()] == [3, 4]
    assert sequences.views.words[view + t.CHAIN + t.LENGTH] == 2
    assert not sequences.views.words[view + t.LENGTH]
