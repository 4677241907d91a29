"""Planned dialogues have all pairs and the core's triples, and see what is wrong under two conditions alone."""

from __future__ import annotations

from dataclasses import astuple, fields
from itertools import combinations, product
from pathlib import Path

import pytest
from session_peer import Peer

from conformance.adapter.connectors import connect
from conformance.judge.dialogues.exchanges import CORE, FEATURES, Exchange, exchanges, excluded
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import Outcome

NAMES = [field.name for field in fields(Exchange)]


def values(row: Exchange, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, getattr(row, name)) for name in names)


def test_all_pairs_and_triples_that_a_row_can_have_are_planned() -> None:
    rows = [one for some in product(*FEATURES.values()) if excluded(one := Exchange(*some)) is None]
    for names in (*combinations(NAMES, 2), *combinations(CORE, 3)):
        assert {values(one, *names) for one in rows} == {values(one, *names) for one in exchanges()}
    assert len(exchanges()) < 70 < len(rows)


def test_each_reason_to_leave_out_a_row_leaves_others_with_its_values() -> None:
    reasons = {excluded(Exchange(*some)) for some in product(*FEATURES.values())} - {None}
    assert len(reasons) == 3
    assert {value for one in exchanges() for value in astuple(one)} == {
        one for some in FEATURES.values() for one in some
    }


@pytest.mark.parametrize(
    ("defect", "requirement", "where"),
    [
        (
            "knows-express-messages-of-one-session",
            "MQQB-3.1.5.8.1.duplicate",
            {"kind": ["express"], "event": ["again-after-close", "again-after-reset"]},
        ),
        (
            "never-orders-beside-another-session",
            "MQQB-3.1.6.9.sent",
            {"kind": ["transactional"], "beside": ["beside-another"]},
        ),
    ],
)
def test_what_is_wrong_under_two_conditions_is_found_there_alone(
    defect: str, requirement: str, where: dict[str, list[str]], tmp_path: Path
) -> None:
    found = [row for row in exchanges() if requirement in _broken(row, defect, tmp_path / str(exchanges().index(row)))]
    assert found
    assert all(getattr(row, name) in some for row in found for name, some in where.items())


def _broken(row: Exchange, defect: str, folder: Path) -> set[str]:
    with connect("python:session_peer:Peer", state_dir=folder, in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        peer.defects = {defect}
        player = Player(client, CASES[row.name], now_s=0, tell=lambda *_: None)
        verdicts = list(player.play(assignment("windows"), "msmq-4.0"))
    return {one.requirement for one in verdicts if one.outcome is Outcome.FAIL}
