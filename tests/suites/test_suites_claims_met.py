"""A pass has met its condition: what a run claims is judged, or has a reason, and nothing passes that was not tried."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import NIGHTLY, sample

from conformance.activex import identity
from conformance.harness.suite_registry import suites
from conformance.report.coverage import covered, unjudged
from conformance.report.summary import summary
from conformance.report.table import roll_up
from conformance.run import run
from conformance.runlog import read_run
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome

FAKES = Path(__file__).parents[1] / "adapter" / "fakes"
SWEPT = sample("suites.claims-met", sorted(suites()), ["cursors", "names", "quotas", "transactions"])
MET = 4_500
"""Claims that a whole default run has to bring about."""


def test_every_claim_of_a_run_is_met_or_has_a_reason(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "conformance", "run", "--workers", "2", "--suite", ",".join(SWEPT)]
    done = subprocess.run([*line, "--out", str(tmp_path)], capture_output=True, text=True, timeout=3_000, check=False)
    assert done.returncode == ExitCode.CONFORMS, done.stderr[-2_000:]
    record = read_run(tmp_path)
    rows = {row.id: row for row in roll_up(record).rows}
    claims = {name for name, of in covered().suites.items() if set(of).intersection(SWEPT) and name in rows}
    met = {name for name in claims if rows[name].judged}
    assert not [name for name in claims - met if not rows[name].reason]
    assert len(met) >= (MET if NIGHTLY else 0.97 * len(claims)), sorted(claims - met)
    told = {name for names in summary(record)["not_judged"].values() for name in names}  # type: ignore[union-attr]
    assert {name for name, row in rows.items() if row.outcome is None and row.demanded} == told


def test_a_driver_that_can_express_nothing_passes_nothing(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(FAKES / "expresses_nothing.py")])
    wanted = "cursors,journals,quotas,restart,subqueues,transactions"
    done = run(adapter=f"stdio:{command}", suites=wanted, out=tmp_path, max_examples=1)
    assert done.exit_code is ExitCode.NOTHING_JUDGED and set(done.counts) == {Outcome.SKIP}, done.counts


def test_a_driver_that_refuses_everything_passes_refusals_alone(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(FAKES / "refuses_everything.py")])
    done = run(adapter=f"stdio:{command}", suites="cursors,packets,restart", out=tmp_path, max_examples=1, quirks=False)
    passed = {verdict.requirement for verdict in done.verdicts if verdict.outcome is Outcome.PASS}
    assert passed and all("access" in name or "not-found" in name for name in passed), passed


@pytest.mark.parametrize(("clsid", "outcome"), [(None, Outcome.SKIP), ("wrong", Outcome.FAIL)])
def test_a_class_whose_identifier_is_not_told_is_not_identified(clsid: str | None, outcome: Outcome) -> None:
    assert [one.outcome for one in identity.identified("MSMQQueue", 0, clsid)] == [outcome]
    assert [one.outcome for one in identity.identified("MSMQQueue", 0x80040154, clsid)] == [Outcome.FAIL]


def test_a_requirement_without_a_verdict_has_a_reason() -> None:
    for entry in catalogue():
        if entry.checkable:
            assert unjudged(entry, frozenset(), captures=False) and unjudged(entry, frozenset(), captures=True)
    some = next(name for name, of in covered().suites.items() if of == ("quotas",))
    entry = catalogue().requirements[some]
    assert unjudged(entry, {"names"}, captures=False) == "not run: suite quotas"
    assert "brought its condition about" in unjudged(entry, {"quotas"}, captures=False)
