"""The properties suite against a manager in memory: an honest one passes, and each defect is found and blamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import property_manager
import pytest
from cases import all_of

from conformance.adapter.connectors import connect
from conformance.files import resource
from conformance.harness.playback import judge_example
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.run import run
from conformance.runlog import Run
from conformance.runlog.run import Largest, largest, largest_in_words
from conformance.spec.catalogue import assignment
from conformance.suites.properties.rejudge import rejudge
from conformance.suites.properties.values import PASSAGES
from conformance.verdict import ExitCode, Outcome

"""Not judged on a manager that no packet can be delivered to."""


def judged(manager: str, folder: Path, only: str = "", **asked: Any) -> tuple[ExitCode, Run]:
    """What a run says of a manager. A search for known faults that do the same takes longer than the run: off."""
    request = {"max_examples": 6, "steps": 12, "in_process": True, "quirks": False, **asked}
    more = ("-k", only) if only else ()
    result = run(
        adapter=f"python:property_manager:{manager}", suites="properties", out=folder, pytest_args=more, **request
    )
    assert result.record is not None, result.sentence
    return result.exit_code, result.record


def outcomes(record: Run) -> dict[str, set[Outcome]]:
    found: dict[str, set[Outcome]] = {}
    for entry in record.verdicts:
        found.setdefault(entry.verdict.requirement, set()).add(entry.verdict.outcome)
    return found


def test_an_honest_manager_passes(tmp_path: Path) -> None:
    code, record = judged("Honest", tmp_path, max_examples=12, steps=15)
    assert code == ExitCode.CONFORMS
    seen = outcomes(record)
    left = {name for name, each in seen.items() if each != {Outcome.PASS}}
    refused = {"MQDMPR-3.1.7.1.3.directory-path-empty", "MQMQ-2.3.1.24.propid-q-ads-path"}  # it has no ADS_PATH
    ended = {"MQMQ-2.4.mq-error-illegal-property-size"}  # it offers no transaction to be aborted
    passed = {demand for name in ("received", "stopped", "killed") for demand in PASSAGES[name].demands}
    passages = {
        demand for one in PASSAGES.values() for demand in one.demands
    } - passed  # it has no such method or queue
    assert left == {"MQDMPR-3.1.7.1.3.no-subqueues", *refused, *ended, *passages}, seen
    assert len(seen) > 120


@pytest.mark.parametrize(
    ("manager", "only", "reading"),
    [
        ("SaysPropertyForEverything", "test_set or cannot_be_set", "R-MQMP-property-status=summary"),
        ("PassesOverWhatItCannotWrite", "cannot or no_property", "R-MQMP-property-not-applicable=ignored"),
        ("KeepsBasePriority", "test_set or creation", "R-MQMQ-private-base-priority=kept"),
    ],
)
def test_the_other_reading_passes_where_it_is_chosen(manager: str, only: str, reading: str, tmp_path: Path) -> None:
    code, record = judged(manager, tmp_path / "free", only)
    assert code == ExitCode.CONFORMS
    assert any(Outcome.READING in each for each in outcomes(record).values())
    code, record = judged(manager, tmp_path / "chosen", only, chosen=(reading,))
    assert {outcome for each in outcomes(record).values() for outcome in each} == {Outcome.PASS}
    name = reading.partition("=")[0]
    default = assignment("windows")[name][0]
    code, record = judged(manager, tmp_path / "other", only, chosen=(f"{name}={default}",))
    assert code == ExitCode.DEVIATES


def test_a_driver_is_sent_bodies_as_long_as_it_declares_and_one_byte_more(tmp_path: Path) -> None:
    code, record = judged("TakesShortBodies", tmp_path, max_examples=12)
    assert code == ExitCode.CONFORMS
    assert largest(record)["bodies"] == Largest(within=1_000, above=1_001, most=1_000)
    assert "bodies: 1,000 of at most 1,000 bytes, and 1,001;" in largest_in_words(record)
    _, undeclared = judged("Honest", tmp_path / "undeclared", "values_pass")
    assert largest_in_words(undeclared).startswith("bodies: 70,000 bytes, no limit declared;")


DEFECTS = [
    ("NumbersPrivateQueuesAlike", "without_properties", "MQDMPR-3.1.7.1.3.private-queue-number"),
    ("CallsPrivateQueuesPublic", "without_properties", "MQDMPR-3.1.7.1.3.private-type"),
    ("DeletedQueuesComeBackFull", "created_again", "MQDMPR-3.1.7.1.3.empty"),
    ("PassesOverInSilence", "cannot_be_set", "MQMP-3.1.1.12.set-not-applicable"),
    ("OneGuidForAllQueues", "without_properties", "MQDMPR-3.1.1.identifier-unique"),
    ("ScopeIsSite", "without_properties", "MQDMPR-3.1.7.1.3.scope"),
    ("HighestPriorityIsSix", "received_as_sent", "MQDMPR-3.1.1.12.priority-unchanged"),
    ("StripsLabels", "received_as_sent", "MQDMPR-3.1.1.12.label-unchanged"),
    ("SmallDefaultQuota", "without_properties", "MQDMPR-3.1.7.1.33.default-quota"),
    ("PrivacyNoneByDefault", "without_properties", "MQDMPR-3.1.7.1.33.default-privacy-level"),
    ("ForgetsLabelAtCreation", "given_at_creation", "MQDMPR-3.1.7.1.3.attribute-label"),
    ("JournalIsAnyByte", "test_set", "MQMQ-2.3.1.4.values"),
    ("TransactionCanBeSet", "cannot_be_set", "MQMP-3.1.1.12.set-not-applicable"),
    ("WritesInSpiteOfRefusing", "cannot_be_set", "MQMP-3.1.1.12.set-not-applicable-unchanged"),
    ("SaysValueForWhatIsNotAllowed", "cannot_be_set", "MQMQ-2.4.mq-error-property-notallowed"),
    ("SaysNotAllowedForTheUnknown", "no_property", "MQMQ-2.4.mq-error-illegal-propid"),
    ("SaysPropidForValues", "test_set", "MQMQ-2.4.mq-error-illegal-property-value"),
    ("SetsUpToTheWrongOne", "refused_setting", "MQMP-3.1.4.10.refused-unchanged"),
    ("SetsTheFirstOnly", "several", "MQMP-3.1.4.10.every-property"),
    ("SettingResetsTheOthers", "several", "MQMP-3.1.4.10.others-unchanged"),
    ("LabelOfOneIsLabelOfAll", "test_set", "MQMP-3.1.4.10.others-unchanged"),
    ("RefusedCreationLeavesQueue", "given_at_creation", "MQMP-3.1.4.5.refused-no-queue"),
    ("CreatingAgainOverwrites", "not_there", "MQMP-3.1.4.5.existing-queue-unaltered"),
    ("ModifyTimeStands", "times", "MQDMPR-3.1.1.2.modify-time"),
    ("ModifyTimeMovesWhenRefused", "times", "MQMP-3.1.4.10.refused-unchanged"),
    ("CreateTimeIsInMilliseconds", "times", "MQDMPR-3.1.7.1.3.create-time"),
    ("CreateTimeIsNow", "times", "MQDMPR-3.1.7.1.3.create-time"),
    ("TellsNumbersAsText", "without_properties", "MQMQ-2.3.1.5.propid-q-quota"),
    ("PathNameWithoutComputer", "without_properties", "MQDMPR-3.1.7.1.3.attribute-pathname"),
    ("RestartLosesQuota", "properties_survive", "MQDMPR-3.1.1.2.private-attributes-persistent"),
    ("RestartTouchesModifyTime", "properties_survive", "MQDMPR-3.1.1.2.private-attributes-persistent"),
    ("ReadsWhatIsNotThere", "not_there", "MQMP-3.1.4.9.unknown-queue"),
    ("LosesExtension", "received_as_sent", "MQDMPR-3.1.1.12.extension-unchanged"),
    ("BodyTypeIsSigned", "received_as_sent", "MQDMPR-3.1.1.12.body-type-unchanged"),
    ("LosesAdministrationQueue", "received_as_sent", "MQDMPR-3.1.1.12.administration-queue"),
    ("PriorityFourByDefault", "test_defaults", "MQDMPR-3.1.1.12.default-priority"),
    ("IdentifiersRepeat", "test_defaults", "MQDMPR-3.1.1.12.identifier-unique"),
    ("ArrivesWhenRead", "test_defaults", "MQDMPR-3.1.1.12.arrival-time"),
    ("RecoveryLosesCorrelation", "attributes_survive", "MQDMPR-3.1.1.12.recoverable-attributes-survive"),
    ("MarksEveryMessageLast", "first_and_last", "MQDMPR-3.1.1.12.last-in-transaction"),
    ("JournalIsNotCounted", "test_counts", "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count"),
    ("RecoveryCutsLongLabels", "values_pass", "MQDMPR-3.1.1.12.recoverable-attributes-survive"),
    ("CutsWhatIsTooLong", "large_values", "MQDMPR-3.1.1.12.body-unchanged"),
    ("TakesLessThanItDeclares", "large_values", "MQDMPR-3.1.1.12.body-unchanged"),
    ("DropsWhatIsNotSigned", "neither_signed", "MQDMPR-3.1.1.2.authentication-off"),
]
WALKED = ("SetsTheFirstOnly", "RefusedCreationLeavesQueue", "ForgetsLabelAtCreation")


@all_of(("manager", "only", "blamed"), DEFECTS, ids=[each[0] for each in DEFECTS])
def test_a_defect_is_found_and_blamed(manager: str, only: str, blamed: str, tmp_path: Path) -> None:
    code, record = judged(manager, tmp_path, only)
    failed = [entry.verdict.requirement for entry in record.verdicts if entry.verdict.outcome is Outcome.FAIL]
    assert (code, failed[:1]) == (ExitCode.DEVIATES, [blamed])


def test_every_defect_is_listed() -> None:
    kinds = {
        name
        for name, each in vars(property_manager).items()
        if isinstance(each, type) and issubclass(each, property_manager.Honest) and each is not property_manager.Honest
    }
    readings = {"SaysPropertyForEverything", "PassesOverWhatItCannotWrite", "KeepsBasePriority", "TakesShortBodies"}
    assert kinds == {each[0] for each in DEFECTS} | readings


@pytest.mark.parametrize("manager", WALKED)
def test_the_walk_finds_it_and_its_story_is_short(manager: str, tmp_path: Path) -> None:
    judged(manager, tmp_path, "walk", max_examples=40, quirks=True)
    stored = [json.loads(path.read_text()) for path in (tmp_path / "repros").glob("*.json")]
    blamed = {each[0]: each[2] for each in DEFECTS}
    assert {each["verdict"]["requirement"] for each in stored} == {blamed[manager]}
    for each in stored:
        calls = each["repro"]["calls"]
        assert len(calls) <= 3
        assert (calls[-1]["method"], len(calls[-1]["names"])) == ("queues.get", 1)


@pytest.mark.parametrize(("manager", "only", "blamed"), DEFECTS[::10], ids=[each[0] for each in DEFECTS[::10]])
def test_a_repro_file_shows_it_again(manager: str, only: str, blamed: str, tmp_path: Path) -> None:
    judged(manager, tmp_path / "run", only)
    stored = json.loads(next((tmp_path / "run" / "repros").glob("*.json")).read_text())
    asked = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 5, 10)
    for again, fails in ((manager, True), ("Honest", False)):
        folder = tmp_path / again
        with connect(f"python:property_manager:{again}", state_dir=folder, in_process=True) as client:
            verdicts = rejudge(stored["repro"], client, asked)
        assert (verdicts[-1].outcome is Outcome.FAIL) == fails


OLD = json.loads(resource("fixtures/old/queue-properties.json").read_text(encoding="utf-8"))
"""Examples of version 0.1, each with the fault of the embedded manager it is of, and what that said of itself."""


@pytest.mark.parametrize("example", OLD["examples"], ids=["walk", "restart", "use"])
def test_an_example_of_an_earlier_version_is_judged_as_it_was(example: dict[str, Any], tmp_path: Path) -> None:
    """From its recording, and made again: deletions, the clock, restarts, GUIDs and DNS names are judged beside."""
    asked = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 5, 10)
    then = {(each["requirement"], each["outcome"]) for each in example["verdicts"]}
    now = {(each.requirement, each.outcome.value) for each in judge_example(example, OLD["hello"], asked)}
    beside = {"MQDMPR-3.1.7.1.4.success", "MQDMPR-3.1.2.3.expires", "MQDMPR-3.1.1.2.private-attributes-persistent"}
    beside |= {"MQDMPR-3.1.1.identifier-unique", "MQMQ-2.3.1.22.path-name"}
    # A start by itself was counted as evidence of what was kept, and so was what the same story shows broken.
    broken = {name for name, outcome in then if outcome == "fail"}
    assert then - now <= {(name, "pass") for name in ("MQDMPR-3.1.1.2.private-attributes-persistent", *broken)}
    assert now - then <= {(name, "pass") for name in beside}
    failed = {name for name, outcome in then if outcome == "fail"}
    for manager, broken in ((f"embedded+{example['of']}", failed), ("embedded", set())):
        with connect(manager, state_dir=tmp_path / manager, in_process=True) as client:
            verdicts = rejudge(example["repro"], client, asked)
        assert {each.requirement for each in verdicts if each.outcome is Outcome.FAIL} == broken


@pytest.mark.parametrize(
    "repro",
    [
        {},
        {"kind": "properties"},
        {"kind": "properties", "format": 1, "calls": [{"method": "queues.set", "queue": "elsewhere"}]},
        {"kind": "properties", "format": 1, "calls": [{"method": "queues.set", "values": {"PROPID_Q_LABEL": []}}]},
        {"kind": "properties", "format": 1, "calls": [{"method": "clock.advance", "by_ms": -1}]},
        {"kind": "story", "story": "another"},
        {"kind": "message", "message": "text"},
    ],
)
def test_a_repro_file_of_another_make_is_refused(repro: dict[str, Any], tmp_path: Path) -> None:
    asked = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 5, 10)
    with (
        connect("python:property_manager:Honest", state_dir=tmp_path, in_process=True) as client,
        pytest.raises(NotRepeatable),
    ):
        rejudge(repro, client, asked)
