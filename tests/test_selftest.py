"""The oracle is worth what it catches: a named fault is caught by a check it declares, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly_only, sample

from conformance import selftest as module
from conformance.cli import output
from conformance.cli.selftest import command
from conformance.embedded.faults import EVERY_FAULT, FAULTS
from conformance.embedded.faults.recorded import SEEN, digest, recorded_faults, recorded_text, shows_as
from conformance.harness.suite_registry import suites
from conformance.selftest import CONTROL, NotRecordable, UnknownFault, record, selftest
from conformance.spec.catalogue import requirement_id
from conformance.verdict import ExitCode

# Some of every suite, and of every kind of wrong: content, order, status, waits, cursors, restart, bytes, names.
SOME = (
    "loses-message-on-abort",
    "forced-read-goes-offline",
    "cursor-moves-on-peek",
    "ignores-priority",
    "wrong-timeout-status",
    "big-endian-packet-size",
    "object-id-guid-big-endian",
    "accepts-plus-in-queue-name",
    "uncommitted-send-visible",
    "recoverable-lost-on-restart",
    "move-leaves-copy",
    "queue-quota-ignored",
    "target-journal-missing",
    "set-changes-nothing",
    "begun-read-lost",
    "oldest-waiter-starves",
    "pause-ignored",
    "waiting-told-as-connected",
    "queue-info-get-label-fails",
    "delete-queue-needs-no-right",
    "coordinator-commit-does-nothing",
)
PUSH = ("loses-message-on-abort", "accepts-plus-in-queue-name")  # of histories, and of tables


MISBLAMED = {
    "of two messages with one reader, the one that is gone is not told from the one that was read": (
        "two-arrivals-one-waiter",
    ),
    "a property of management is compared whole first: of another type, it is told as another word": (
        "location-of-another-type",
        "queue-type-of-another-type",
        "state-of-another-type",
    ),
    "a record made anew blames a neighbour first; nobody has looked for the cause yet": (
        "ack-reach-queue-misnumbered",
        "commit-stores-sends-first",
        "cursor-waits-in-vain",
        "failed-peek-moves-cursor",
        "woken-receive-stays-read",
    ),
}
"""By cause: the faults that are first seen as something they do not break. Selftest fails for them."""
MISBLAMED_NAMES = {name for names in MISBLAMED.values() for name in names}


def test_every_fault_declares_requirements_and_a_suite_that_exist() -> None:
    assert len(FAULTS) >= 12
    for name, fault in FAULTS.items():
        assert fault.breaks, name
        assert fault.suite in suites(), name
        assert fault.says, name
        for requirement in fault.breaks:
            requirement_id(requirement)


def test_faults_declare_little_and_what_is_first_seen_otherwise_has_a_reason() -> None:
    assert not {name: fault.breaks for name, fault in FAULTS.items() if not 1 <= len(set(fault.breaks)) <= 5}
    others = [fault for fault in FAULTS.values() if fault.first_seen_as]
    assert all(fault.because and not set(fault.first_seen_as) & set(fault.breaks) for fault in others)
    assert not [fault.name for fault in FAULTS.values() if fault.because and not fault.first_seen_as]
    assert len(others) <= len(FAULTS) * 5 // 100


def test_what_was_recorded_is_of_the_faults_there_are() -> None:
    records = recorded_faults()
    assert records.keys() == FAULTS.keys()
    stale = [name for name, fault in FAULTS.items() if records[name].source != digest(fault)]
    assert not stale, f"try them again: mqconform selftest --update {' '.join(stale)}"
    assert SEEN.read_text(encoding="utf-8") == recorded_text(records)
    for one in records.values():
        assert [requirement_id(each) for each in one.requirements] == list(one.requirements)


def test_what_was_recorded_first_is_what_the_fault_breaks() -> None:
    first = {name: one.requirements[0] for name, one in recorded_faults().items()}
    wrong = {name for name, fault in FAULTS.items() if first[name] not in (*fault.breaks, *fault.first_seen_as)}
    assert wrong == MISBLAMED_NAMES


def test_a_digest_tells_of_the_code_and_not_of_what_is_declared() -> None:
    own = [fault for fault in FAULTS.values() if fault.suite != "objects"]  # those are of tables: one text for many
    assert len({digest(fault) for fault in own}) > len(own) * 3 // 4
    shown = {fault.name: set(shows_as(fault)) for fault in own if shows_as(fault)}
    assert shown and not any(names & set(FAULTS[name].breaks) for name, names in shown.items())


def test_some_faults_are_caught_and_nothing_else_is() -> None:
    trials = selftest(sample("selftest.faults", SOME, PUSH))
    assert not [(trial.fault, trial.text) for trial in trials if not trial.ok]
    assert {one.fault: one.blamed for one in trials} == {
        one.fault: recorded_faults()[one.fault].requirements[0] for one in trials
    }
    assert {trial.fault for trial in trials} >= set(PUSH)


def test_some_faults_are_of_every_suite() -> None:
    # Histories of situations are of all sections: a fault is of the suite of its own. Two suites need a network.
    every = {*suites()} - {"situations", "sessions", "remote"}
    assert {FAULTS[name].suite for name in SOME} == every


@nightly_only("selftest.every-fault")
def test_every_fault_is_caught_and_nothing_else_is() -> None:
    trials = selftest()
    assert {trial.fault for trial in trials} == {CONTROL, *FAULTS}
    bad = {trial.fault: trial.text for trial in trials if not trial.ok}
    assert bad.keys() == MISBLAMED_NAMES, bad
    assert all("first seen as" in text for text in bad.values()), bad


@nightly_only("selftest.misblamed")
def test_a_fault_that_is_blamed_on_what_it_does_not_break_fails() -> None:
    (trial,) = selftest(["two-arrivals-one-waiter"])
    assert not trial.ok and trial.blamed not in trial.declared
    assert trial.text == f"first seen as {trial.blamed}, which it does not break"


def test_a_fault_that_cannot_be_recorded_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "seen.json"
    recorded_faults()  # what is recorded today is read before its file is another one
    monkeypatch.setattr("conformance.embedded.faults.recorded.SEEN", written)

    def rounds(children: Any, fault: Any, folder: Path, known: Any) -> Any:
        found = fault.name != "message-expires-early"
        return module.Rounds(("MQDMPR-3.1.2.4.not-early",) if found else (), 0, found)

    monkeypatch.setattr(module, "_rounds", rounds)
    with pytest.raises(NotRecordable, match="message-expires-early was seen by no check"):
        record(["message-expires-early", "message-expires-late", "ignores-priority"], jobs=1)
    stored = json.loads(written.read_text(encoding="utf-8"))
    assert stored.keys() == FAULTS.keys()
    for name in ("message-expires-late", "ignores-priority"):
        assert stored[name]["seen"] == ["MQDMPR-3.1.2.4.not-early"] and stored[name]["followed"]
    assert stored["message-expires-early"]["seen"] == list(recorded_faults()["message-expires-early"].requirements)


@pytest.fixture
def unrecorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the file of the record, which holds nothing."""
    written = tmp_path / "seen.json"
    written.write_text("{}", encoding="utf-8")
    monkeypatch.setattr("conformance.embedded.faults.recorded.SEEN", written)
    recorded_faults.cache_clear()
    yield written
    recorded_faults.cache_clear()


def test_a_fault_that_is_as_it_was_is_not_tried_again(unrecorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def once(children: Any, names: list[str], folder: Path, *, record: bool) -> dict[str, module.Rounds]:
        tried.extend(names)
        return {name: module.Rounds((EVERY_FAULT[name].breaks[0],), 0, True) for name in names}

    monkeypatch.setattr(module, "_tried", once)
    assert record([], jobs=1) == len(EVERY_FAULT) == len(tried)
    recorded_faults.cache_clear()
    tried.clear()
    assert record([], jobs=1) == 0 and not tried
    recorded_faults.cache_clear()
    known = module.suite_digest
    monkeypatch.setattr(module, "suite_digest", lambda suite: "another" if suite == "quotas" else known(suite))
    record([], jobs=1)
    assert {EVERY_FAULT[name].suite for name in tried} == {"quotas"}


def test_what_is_known_when_a_record_is_interrupted_is_kept(unrecorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(children: Any, names: list[str], folder: Path, *, record: bool) -> dict[str, module.Rounds]:
        folder.mkdir()
        (folder / "found").write_text(json.dumps([names[0], list(EVERY_FAULT[names[0]].breaks)]) + "\n")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_tried", interrupted)
    first, second, *_ = (name for name, fault in EVERY_FAULT.items() if fault.suite == "objects")  # one batch
    with pytest.raises(KeyboardInterrupt):
        record([first, second], jobs=1)
    assert json.loads(unrecorded.read_text(encoding="utf-8")).keys() == {first}


def test_no_trial_begins_after_the_time() -> None:
    assert selftest(["ignores-priority"], budget_s=0) == []


@pytest.mark.parametrize(
    ("failed", "code", "ok", "text"),
    [
        (("MQMQ-2.2.19.1.higher-priority-nearer-front",), 1, True, "caught by MQMQ-2.2.19.1.higher"),
        (("MQDMPR-3.1.7.1.9.once",), 1, False, "first seen as MQDMPR-3.1.7.1.9.once, which it does not break"),
        ((), 0, False, "no check caught it"),
        ((), 4, False, "the run ended with exit code 4"),
    ],
)
def test_faults_are_tried_by_other_suites_than_their_own(
    monkeypatch: pytest.MonkeyPatch, failed: tuple[str, ...], code: int, ok: bool, text: str
) -> None:
    ran: list[tuple[str, str]] = []

    def one(children: Any, connector: str, suites: str, folder: Path, **more: Any) -> Any:
        ran.append((connector, suites))
        return code, object()

    monkeypatch.setattr(module, "_run", one)
    monkeypatch.setattr(module, "failures", lambda record: list(failed))
    (trial,) = selftest(["ignores-priority"], suites="situations,quotas")
    assert ran == [("embedded+ignores-priority", "situations,quotas")]
    assert trial.ok is ok and trial.suite == "cursors"
    assert trial.text.startswith(text)


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupted_selftest_tells_what_it_has_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    done = module.Trial("begun-read-lost", "subqueues", ("R",), "R", ("R",), True, True, "caught by R")

    def stopped(*_: Any, on_progress: Any, **__: Any) -> None:
        on_progress(1, 3, done)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "selftest", stopped)
    monkeypatch.setattr(output, "_json_wanted", as_json)
    with pytest.raises(SystemExit) as ended:
        command(["begun-read-lost", *PUSH[:2]], suites=None, jobs=1, budget_s=None, out=None)
    assert ended.value.code == ExitCode.INTERRUPTED
    told, errors = capsys.readouterr()
    assert errors.splitlines()[-1] == "mqconform: Interrupted: 2 faults were not run."
    if as_json:
        result = json.loads(told)
        assert result["not_run"] == 2 and [one["fault"] for one in result["trials"]] == ["begun-read-lost"]
    else:
        assert told.splitlines() == [
            "ok      subqueues     begun-read-lost: caught by R",
            "1 of 1 as they should be",
        ]


@pytest.mark.parametrize(("done", "code"), [(True, ExitCode.CONFORMS), (False, ExitCode.NOTHING_JUDGED)])
def test_a_selftest_whose_time_is_over_tells_what_it_has_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], done: bool, code: ExitCode
) -> None:
    trial = module.Trial("begun-read-lost", "subqueues", ("R",), "R", ("R",), False, True, "caught by R")
    monkeypatch.setattr(module, "selftest", lambda *_, **__: [trial] if done else [])
    with pytest.raises(SystemExit) as ended:
        command(["begun-read-lost", PUSH[0]], suites="situations", jobs=1, budget_s=1.0, out=None)
    assert ended.value.code == code
    told, errors = capsys.readouterr()
    left = "1 fault was" if done else "2 faults were"
    assert errors.splitlines()[-1] == f"mqconform: The time is over: {left} not run."
    assert ("subqueues     1 of 1 caught" in told) is done


def test_an_unknown_fault_names_the_nearest() -> None:
    with pytest.raises(UnknownFault, match="ignores-priority"):
        selftest(["ignore-priority"])
