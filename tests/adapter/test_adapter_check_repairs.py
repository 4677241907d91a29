"""`adapter check` doubts a driver that repairs, at the step that is about the repair, and no driver that does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import command
from fake_drivers import fake as connector

from conformance.adapter.check import check_adapter
from conformance.adapter.check_calls import CheckStep

PROBES = ("opening what is not there", "defaults", "removal at a cursor", "end of a transaction", "kill")


def walked(name: str, tmp_path: Path, state: str) -> list[CheckStep]:
    steps = check_adapter(name, state_dir=tmp_path, patience_ms=500)
    assert [step for step in steps if step.state == "wrong"] == []
    return [step for step in steps if step.state == state]


@pytest.mark.parametrize("name", ["embedded", connector("thorough")])
def test_a_driver_that_does_not_repair_is_not_doubted(name: str, tmp_path: Path) -> None:
    assert walked(name, tmp_path / "one", "doubt") == []
    assert {step.what for step in walked(name, tmp_path / "two", "ok")} >= set(PROBES)


def test_what_is_not_offered_is_not_probed(tmp_path: Path) -> None:
    steps = {step.what for state in ("ok", "doubt") for step in walked(connector("honest"), tmp_path / state, state)}
    assert steps & set(PROBES) == {"opening what is not there", "defaults", "kill"}


@pytest.mark.parametrize(
    ("fake", "step", "says"),
    [
        ("asks_before_it_opens", "opening what is not there", "NotFound: .* without an HRESULT"),
        ("makes_what_it_opens", "opening what is not there", "succeeds"),
        ("fills_in_defaults", "defaults", "priority 0 as 3; "),
        ("moves_its_cursors", "removal at a cursor", "messages.peek_next passes over"),
        ("disposes_of_what_it_ended", "end of a transaction", "second commit .*NoSuchHandle"),
        ("ends_transactions_with_their_queue", "end of a transaction", "closing a queue ends"),
        ("survives_its_kill", "kill", "express message is still there"),
    ],
)
def test_each_repair_is_doubted(fake: str, step: str, says: str, tmp_path: Path) -> None:
    (doubt,) = walked(connector(fake), tmp_path, "doubt")
    assert doubt.what == step and re.search(says, doubt.text), doubt


def test_a_doubt_is_told_and_is_no_error() -> None:
    done = command("adapter", "check", connector("survives_its_kill"))
    assert done.returncode == 0, done.stderr
    assert "\ndoubt    kill: " in done.stdout and "docs/drivers-do-not-repair.md" in done.stdout
