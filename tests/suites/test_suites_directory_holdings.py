"""Codes and holdings of a manager with a directory: an honest one passes, and each defect is blamed rightly."""

from __future__ import annotations

from pathlib import Path

import pytest
from directory_telling import OPTIONS, told

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure
from conformance.suites.directory import codes, holdings, rejudge
from conformance.verdict import Outcome, Verdict

_MANAGER, _QUEUE, _CODE = "MQDMPR-3.1.1.1.", "MQDMPR-3.1.1.2.queue-type", "MQMQ-2.4.mq-error-"
_FOREIGN = "MQMQ-2.3.12.6.mgmt-queue-"
BLAMED = {
    "PublicQueuesBecomePrivate": ("kinds", _QUEUE),
    "SystemQueuesArePrivate": ("kinds", f"{_QUEUE}-system"),
    "PublishesItsJournal": ("kinds", f"{_QUEUE}-system"),
    "NothingIsForeign": ("foreign-yes", f"{_FOREIGN}foreign-type"),
    "EverythingIsForeign": ("foreign-no", f"{_FOREIGN}foreign-type"),
    "KnowsWhatIsForeignOffline": ("foreign-offline", f"{_FOREIGN}unknown-type"),
    "IgnoresItsQuota": ("room-limited", f"{_MANAGER}queue-manager-quota"),
    "HasRoomForNothing": ("room-default", f"{_MANAGER}queue-manager-quota"),
    "HasAServerAtFirst": ("servers", f"{_MANAGER}directory-server-name-list"),
    "SecondSiteIsTheFirst": ("names-apart", "MQDMPR-3.1.1.7.name-unique"),
    "NamesListsInBraces": ("lists-named", "MQMQ-2.1.5.sent"),
    "PacketsAreForAnotherList": ("lists-packed", "MQMQ-2.2.18.1.4.2.distribution-list-identifier"),
    "KeysAreThoseOfOneProvider": ("keys", "MQMQ-2.3.2.28.propid-qm-encryption-pk-enhanced"),
    "KeysHaveNoBytes": ("keys", "MQMQ-2.3.2.27.propid-qm-encryption-pk-base"),
    "DefaultStyleIsRefused": ("security-default", "MQMQ-2.3.5.2.weakened-security-default"),
    "RefusedElementsStayOpen": (
        "elements-opened-three-online",
        "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
    ),
    "GatesAreOfOneSite": ("gates-again", "MQDMPR-3.1.1.7.site-gate-collection"),
}
"""Each defect with a story that finds it, and the requirement that is blamed first."""
ADVISED = {
    "NoDirectoryIsDenied": ("code-away-create", {f"{_CODE}no-ds"}),
    "EveryFailureIsNoDirectory": ("code-error-delete", {f"{_CODE}ds-error"}),
    "UnknownMachineIsNoQueue": ("code-machine-id", {f"{_CODE}machine-not-found"}),
}
"""Each defect that the documents advise against, with its story and what is found."""


def opened(manager: str, folder: Path) -> Client:
    return connect(f"python:directory_holder:{manager}", state_dir=folder, in_process=True)


@pytest.mark.parametrize("name", [*codes.STORIES, *holdings.STORIES, "attributes-own", "elements-opened-three-online"])
def test_an_honest_manager_passes(name: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened("Holder", tmp_path) as client:
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
def test_what_is_advised_is_no_failure(manager: str, tmp_path: Path) -> None:
    story, found = ADVISED[manager]
    seen: list[Verdict] = []
    with opened(manager, tmp_path) as client:
        told(client, story, seen)
    assert {one.requirement for one in seen if one.outcome is not Outcome.PASS} == found
