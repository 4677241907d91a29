"""The suite of the directory: an honest manager passes, and each defect is blamed rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.suites.directory import properties, rejudge
from conformance.suites.directory.stories import STORIES, TABLE
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 25, first_only=True)
TOLD = [name for name in STORIES if name not in properties.STORIES and not name.startswith("machine-")]
_BEGINS, _READ, _ONLINE = "MQDMPR-3.1.3.", "MQDMPR-3.1.7.1.20.", "MQDMPR-3.1.7.1.25."
_MAKES, _OPENS, _LISTS = "MQDMPR-3.1.7.1.3.", "MQDMPR-3.1.7.1.5.", "MQDMPR-3.1.7.3.8."
BLAMED = {
    "ReadsNoSites": ("begin-2-0-with", f"{_BEGINS}site-found"),
    "KeepsItsOwnAttributes": ("begin-0-0-with", f"{_BEGINS}queue-manager-found"),
    "ReadsTheWholeEnterprise": ("begin-0-0-with", f"{_BEGINS}read-enterprise"),
    "HasNoSigningKeys": ("provision-unknown", f"{_BEGINS}signing-keys"),
    "KeyNamesAProviderWrongly": ("provision-unknown", f"{_BEGINS}encryption-key-provider-name"),
    "NeverLooksForTheDirectory": ("read-closed", f"{_READ}online-timer"),
    "LooksOnce": ("back-online", f"{_ONLINE}reads-own-object"),
    "LooksEarly": ("read-closed", "MQDMPR-3.1.2.5.one-minute"),
    "StaysOnline": ("create-site-closed", "MQDMPR-3.1.7.1.18.goes-offline"),
    "ForcedReadGoesOffline": ("forced-away", f"{_READ}reached"),
    "AsksOffline": ("offline-closed", f"{_READ}offline"),
    "KnowsTheFirstQueueOnly": ("offline-closed", f"{_READ}offline-queue-returned"),
    "AnnouncesNothing": ("create-queue", "MQDMPR-3.1.7.1.18.change-notification"),
    "AnnouncesRefusedWrites": ("write-queue-GenericError", "MQDMPR-3.1.7.1.24.announced-on-success"),
    "RefusalIsAGenericError": ("delete-site-ObjectNotFound", "MQDMPR-3.1.1.17.directory-object-not-found"),
    "CreatesWithoutAttributes": ("create-site", "MQDMPR-3.1.7.1.18.created"),
    "QueriesWithoutOrder": ("query-site", "MQDMPR-3.1.7.1.21.delegated"),
    "QueryRepeatsItsLast": ("query-site", "MQDMPR-3.1.7.1.22.delegated"),
    "QueueIsThereThoughRefused": ("not-created-GenericError", f"{_MAKES}directory-failure-ends"),
    "QueueHasAnIdentifierOfItsOwn": ("created", f"{_MAKES}directory-identifier"),
    "DeletedQueueStaysInTheDirectory": ("deleted", "MQDMPR-3.1.7.1.4.directory-object"),
    "FailedDeletionSucceeds": ("not-deleted-GenericError", "MQDMPR-3.1.7.1.4.directory-failure"),
    "LostQueueIsOpenedElsewhere": ("opened-here", f"{_OPENS}public-local-not-found"),
    "UnknownQueueIsDenied": ("opened-nowhere-ObjectNotFound", f"{_OPENS}public-not-found-code"),
    "ListComesTwice": ("list-flat", f"{_LISTS}list-replaced"),
    "LostListIsLeftOut": ("list-lost-alone", f"{_LISTS}list-failed"),
}
"""Each defect with a story that finds it, and the requirement that is blamed first."""
ADVISED = {
    "SitesAreNeverReadAgain": ("sites-again", "MQDMPR-3.1.2.1.twelve-hours"),
    "GatesAreReadTwiceAnHour": ("gates-again", "MQDMPR-3.1.2.2.one-hour"),
}
"""What the documents advise only: another time is no failure, and nothing else is blamed."""


def opened(manager: str, folder: Path) -> Client:
    return connect(f"python:directory_manager:{manager}", state_dir=folder, in_process=True)


def told(client: Client, name: str, seen: list[Verdict]) -> None:
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    client.call("reset")
    TABLE.tell(name, client, judge)
    judge.flush()


@pytest.mark.parametrize("name", TOLD)
def test_an_honest_manager_passes(name: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened("Directed", tmp_path) as client:
        told(client, name, seen)
    assert seen
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}


@pytest.mark.parametrize("manager", BLAMED)
def test_a_defect_is_blamed_and_found_again(manager: str, tmp_path: Path) -> None:
    story, blamed = BLAMED[manager]
    with opened(manager, tmp_path / "one") as client, pytest.raises(ConformanceFailure) as found:
        told(client, story, [])
    assert found.value.verdict.requirement == blamed
    with opened(manager, tmp_path / "two") as client:
        again = rejudge.rejudge({"kind": "story", "story": story}, client, OPTIONS)
    assert [one.requirement for one in again if one.outcome is Outcome.FAIL][:1] == [blamed]


@pytest.mark.parametrize("manager", ADVISED)
def test_another_time_of_the_timers_is_no_failure(manager: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened(manager, tmp_path) as client:
        told(client, ADVISED[manager][0], seen)
    assert {one.requirement for one in seen if one.outcome is not Outcome.PASS} == {ADVISED[manager][1]}
