"""`selftest --wire`: faults of the queue manager on the network are caught as what they break, and as nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly_only, sample

from conformance import selftest as module
from conformance.live.proxy import known_faults
from conformance.selftest import (
    CONTROL,
    SEEN,
    NotRecordable,
    Played,
    UnknownFault,
    record_wire,
    recorded_text,
    recorded_wire_faults,
    selftest_wire,
    wire_trials,
)
from conformance.spec.catalogue import requirement_id
from conformance.verdict import ExitCode

FAULTS = {fault["name"]: tuple(fault["breaks"]) for fault in known_faults()}
# One of a datagram, of the opening, of counts, of a state, of a report: each shows in few tests, which wait little.
SOME = ("ping-cookie", "time-stamp-changed", "wrong-counts-accepted", "establish-answered-again", "report-label")
PUSH = ("ping-cookie", "establish-answered-again", "report-label")
COOKIE, GUID, LABEL = "MQQB-2.2.7.response-cookie", "MQQB-2.2.7.response-qm-guid", "MQQB-3.1.7.1.7.label"
STAMP = "MQQB-3.1.5.3.1.time-stamp"

Run = Callable[[str | None, Sequence[str], Sequence[str]], tuple[int, Sequence[str]]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], list[tuple[str | None, int, tuple[str, ...]]]]:
    """Replaces the runs by a function of the fault, the tests and the checks that are off; returns what was run."""

    def replace(answer: Run) -> list[tuple[str | None, int, tuple[str, ...]]]:
        ran: list[tuple[str | None, int, tuple[str, ...]]] = []

        def run(bench: Any, fault: Any, tests: Sequence[str], *, off: Sequence[str] = (), **more: Any) -> Played:
            ran.append((fault.name, len(tests), tuple(off)))
            code, failed = answer(fault.name, tests, off)
            return Played(code, {one: tests[0] for one in failed if one not in off})

        monkeypatch.setattr(module._Bench, "_run", run)
        return ran

    return replace


def test_every_fault_breaks_what_there_is_and_the_record_is_of_the_faults_there_are() -> None:
    for breaks in FAULTS.values():
        assert breaks and [requirement_id(each) for each in breaks] == list(breaks)
    records = recorded_wire_faults()
    assert records.keys() <= FAULTS.keys()
    assert SEEN.read_text(encoding="utf-8") == recorded_text(records)
    for name, shows in records.items():
        assert shows[0] in FAULTS[name], name
        assert [requirement_id(each) for each in shows] == list(shows), name


def test_some_faults_are_caught_on_the_network_and_nothing_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    some = sample("selftest.network-faults", SOME, PUSH)
    monkeypatch.setattr(module, "_MOST", 1)  # a test that fails waits for a timer; the night lets eight of them fail
    trials = selftest_wire(some, jobs=4)
    assert [trial.fault for trial in trials] == [CONTROL, *sorted(some)]
    assert not [(trial.fault, trial.text) for trial in trials if not trial.ok]
    assert {one.fault: one.blamed for one in trials[1:]} == {
        one.fault: recorded_wire_faults()[one.fault][0] for one in trials[1:]
    }
    assert all(trial.survives_disabled and set(trial.caught) & set(trial.declared) for trial in trials[1:])


@nightly_only("selftest.every-network-fault")
def test_every_recorded_fault_is_caught_on_the_network_and_nothing_else_is() -> None:
    bad = {trial.fault: trial.text for trial in selftest_wire([*recorded_wire_faults()]) if not trial.ok}
    assert not bad


def test_a_fault_that_nothing_sees_fails(shown: Callable[[Run], Any]) -> None:
    ran = shown(lambda fault, tests, off: (0, ()))
    control, trial = selftest_wire(["ping-cookie"], jobs=1)
    assert control.ok and not trial.ok and trial.text == "no check caught it" and trial.caught == ()
    assert [(fault, off) for fault, _, off in ran] == [(None, ()), ("ping-cookie", ())]


def test_a_fault_that_is_seen_with_its_checks_off_fails(shown: Callable[[Run], Any]) -> None:
    shown(lambda fault, tests, off: (1, [COOKIE, GUID] if off else [COOKIE]) if fault else (0, ()))
    _, trial = selftest_wire(["ping-cookie"], jobs=1)
    assert not trial.ok and trial.text.startswith(f"blamed on {GUID}, which it neither breaks")


def test_a_fault_that_is_first_seen_as_something_else_fails(shown: Callable[[Run], Any]) -> None:
    shown(lambda fault, tests, off: (1, [GUID, COOKIE]) if fault else (0, ()))
    _, trial = selftest_wire(["ping-cookie"], jobs=1)
    assert not trial.ok and trial.blamed == GUID


def test_one_test_of_each_failure_is_played_again_with_its_checks_off(shown: Callable[[Run], Any]) -> None:
    ran = shown(lambda fault, tests, off: (0 if off else 1, [STAMP]) if fault else (0, ()))
    _, trial = selftest_wire(["time-stamp-changed"], jobs=1)
    assert trial.ok and trial.text == f"caught by {STAMP}" and trial.suite == "sessions"
    (first, some, nothing), (again, one, off) = ran[1:]
    assert first == again == "time-stamp-changed" and some > one == 1 and not nothing and STAMP in off


def test_a_control_that_fails_ends_it(shown: Callable[[Run], Any]) -> None:
    ran = shown(lambda fault, tests, off: (1, [COOKIE]))
    (trial,) = selftest_wire(["ping-cookie", "report-label"], jobs=1)
    assert not trial.ok and trial.fault == CONTROL and COOKIE in trial.text
    assert {fault for fault, *_ in ran} == {None}
    with pytest.raises(NotRecordable, match="Without a fault"):
        record_wire(["ping-cookie"], jobs=1)


def test_what_is_recorded_is_what_was_seen_and_a_wrong_blame_is_not(
    shown: Callable[[Run], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "seen.json"
    monkeypatch.setattr(module, "SEEN", written)
    told = {"ping-cookie": [COOKIE, GUID], "report-label": [GUID], "ping-echo": []}

    def run(fault: str | None, tests: Sequence[str], off: Sequence[str]) -> tuple[int, Sequence[str]]:
        failed = told[fault] if fault is not None else []
        return int(not set(failed) <= set(off)), failed

    shown(run)
    with pytest.raises(NotRecordable, match="ping-echo was seen by no check") as refused:
        record_wire([*told], jobs=1)
    assert f"report-label was first seen as {GUID}" in str(refused.value)
    assert json.loads(written.read_text(encoding="utf-8")) == {"ping-cookie": [COOKIE, GUID]}
    assert record_wire(["ping-cookie"], jobs=1) == 1


def test_no_trial_begins_after_the_time(shown: Callable[[Run], Any]) -> None:
    ran = shown(lambda fault, tests, off: (0, ()))
    assert selftest_wire(["ping-cookie"], budget_s=-1) == [] and not ran


def test_an_unknown_fault_names_the_nearest() -> None:
    assert wire_trials(["ping-cookie", "ping-cookie"]) == [CONTROL, "ping-cookie"]
    with pytest.raises(UnknownFault, match="ping-cookie"):
        wire_trials(["ping-cooky"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["ping-cooky"], "did you mean ping-cookie?"), (["ping-cookie", "--suite", "names"], "--suite")],
)
def test_a_wrong_argument_is_refused(words: list[str], sentence: str) -> None:
    line = [sys.executable, "-m", "conformance", "selftest", "--wire", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == ExitCode.BAD_INPUT and sentence in done.stderr and not done.stdout
