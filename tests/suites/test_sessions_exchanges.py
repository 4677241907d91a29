"""Planned dialogues have all pairs and the core's triples, and see what is wrong under two conditions alone."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from session_peer import Peer

from conformance.adapter.connectors import connect
from conformance.judge.dialogues.exchanges import (
    CORE,
    EXCLUDED,
    FEATURES,
    Exchange,
    completed,
    exchanges,
    excluded,
    together,
)
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import Outcome


def parts(row: dict[str, str]) -> set[tuple[tuple[str, str], ...]]:
    """Return the pairs of a row, and the triples of the core's features."""
    pairs = combinations(row.items(), 2)
    return {*pairs, *combinations(((name, value) for name, value in row.items() if name in CORE), 3)}


def test_whatever_meets_in_a_row_of_chance_is_planned() -> None:
    random, planned = Random(1), {part for one in exchanges() for part in parts(asdict(one))}
    rows = [{name: random.choice(some) for name, some in FEATURES.items()} for _ in range(3_000)]
    allowed = [row for row in rows if excluded(row) is None]
    assert 1_000 < len(allowed) < len(rows)
    assert {part for row in allowed for part in parts(row)} <= planned
    assert {tuple(one.items()) for one in together()} == planned
    assert len(exchanges()) < 120


def test_each_reason_leaves_out_rows_that_no_other_does() -> None:
    for at, (why, values) in enumerate(EXCLUDED):
        pinned = {name: some[-1] for name, some in values.items()}
        assert excluded(pinned) == why
        assert completed(pinned) is None
        others = [some for place, (_, some) in enumerate(EXCLUDED) if place != at]
        assert not any(all(pinned.get(name) in those for name, those in some.items()) for some in others)


def test_names_are_those_of_rows() -> None:
    assert len({one.name for one in exchanges()}) == len(exchanges())
    assert all(CASES[one.name].steps for one in exchanges())
    assert Exchange(**(completed({}) or {})).name == "meets-express"


_LATER = ["again-after-close", "again-after-reset"]


@pytest.mark.parametrize(
    ("defect", "requirement", "where"),
    [
        (
            "knows-express-messages-of-one-session",
            "MQQB-3.1.5.8.1.duplicate",
            {"kind": ["express"], "event": _LATER},
        ),
        (
            "knows-urgent-messages-of-one-session",
            "MQQB-3.1.5.8.1.duplicate",
            {"priority": ["urgent"], "event": _LATER},
        ),
        (
            "never-orders-beside-another-session",
            "MQQB-3.1.6.9.sent",
            {"kind": ["transactional"], "beside": ["beside-another"]},
        ),
        (
            "never-orders-on-its-own-session",
            "MQQB-3.1.6.9.sent",
            {"kind": ["transactional"], "opens": ["from-there"]},
        ),
        (
            "counts-no-journaled-question",
            "MQQB-3.1.5.5.5.counts-closes",
            {"journal": ["journaled"], "answer": ["answerable"]},
        ),
        (
            "tells-of-no-rejection-when-full",
            "MQQB-3.1.5.8.2.not-transactional-message",
            {"queue": ["unfitting"], "window": ["full"]},
        ),
    ],
)
def test_what_is_wrong_under_two_conditions_is_found_there_alone(
    defect: str, requirement: str, where: dict[str, list[str]], tmp_path: Path
) -> None:
    conditions = {row: [getattr(row, name) in some for name, some in where.items()] for row in exchanges()}
    of_both = [row for row, holds in conditions.items() if all(holds)][:8]
    of_one = [row for row, holds in conditions.items() if any(holds) and not all(holds)][:24]
    found = [row for row in (*of_both, *of_one) if requirement in _broken(row, defect, tmp_path / row.name[-40:])]
    assert found
    assert set(found) <= set(of_both)


def _broken(row: Exchange, defect: str, folder: Path) -> set[str]:
    with connect("python:session_peer:Peer", state_dir=folder, in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        peer.defects = {defect}
        player = Player(client, CASES[row.name], now_s=0, tell=lambda *_: None)
        verdicts = list(player.play(assignment("windows"), "msmq-4.0"))
    return {one.requirement for one in verdicts if one.outcome is Outcome.FAIL}
