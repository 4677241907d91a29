"""The suite of the directory: an honest manager passes, and each defect is blamed rightly."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from directory_telling import OPTIONS, told
from distorting import Distorting, silent, without

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure
from conformance.model.descriptors import decoded, encoded
from conformance.suites.directory import (
    attributes,
    client_objects,
    elements,
    event_results,
    events,
    filters,
    flawed,
    initialization,
    lasting,
    public_queues,
    queues,
    rejudge,
    updates,
)
from conformance.verdict import Outcome, Verdict

FIRST_TOLD = {
    **initialization.STORIES,
    **attributes.STORIES,
    **events.STORIES,
    **event_results.STORIES,
    **elements.STORIES,
    **queues.STORIES,
}
TOLD = [name for name in FIRST_TOLD if not name.startswith("machine-")]
GAPS = [name for name in lasting.STORIES if "gap" in name]
_NEEDS = ("public-supplied", "public-guarded", "objects-machine", "lasts-gap")  # rights, and a process that waits
INTEGRATED = [
    *("limits-L_ACTUAL_COST", "limits-S_FOREIGN", "fixed-site", "fixed-routing_link", "together-site"),
    *("together-routing_link", "reserved-queue", "crossed-routing_link", "sets-site", "sets-routing_link"),
    *(
        name
        for module in (public_queues, lasting, updates, filters, flawed, client_objects)
        for name in module.STORIES
        if not name.startswith(_NEEDS)
    ),
]
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
    "NamesOfProvidersDoNotEnd": ("provision-unknown", f"{_BEGINS}signing-key-provider-name"),
    "QualifiedNamesAreShort": ("copied", "MQDMPR-3.1.1.2.qualified-pathname"),
    "EachFailureStartsTheTimerAnew": ("results-create-site", "MQDMPR-3.1.7.1.18.online-timer"),
    "ForcedReadStartsTheTimer": ("results-forced-closed", f"{_READ}reached"),
    "WriteKnowsSomeResultsOnly": ("results-write-user", "MQDMPR-3.1.1.17.directory-end-of-data"),
    "SuccessIsOnline": ("results-delete-site", "MQDMPR-3.1.7.1.19.goes-offline"),
    "OfflineItAnnouncesNothing": ("results-made-offline", "MQDMPR-3.1.7.1.18.change-notification"),
    "MissingObjectIsDeleted": ("results-gone-online", "MQDMPR-3.1.7.1.4.directory-failure"),
    "SeveralAreRead": ("elements-opened-list-online", f"{_OPENS}multiple-element-access"),
    "SeveralAreTakenAlone": ("elements-opened-two-offline", f"{_OPENS}multiple-element-share"),
    "LostElementIsLeftOut": ("elements-opened-nested-online", f"{_OPENS}multiple-element-failed-element"),
    "TransactionReachesTheFirst": ("elements-transacted-two-online", "MQDMPR-3.1.7.1.27.multiple-destinations"),
    "CaseMakesSeveral": ("elements-single-online", f"{_LISTS}one-left-name"),
    "DeadLettersAreWritten": ("elements-machines-offline", f"{_OPENS}machine-access"),
    "TypedQueuesAreNotPublic": ("created-PROPID_Q_TYPE", "MQDMPR-3.1.1.2.queue-type-public"),
    "TransactionalQueuesAreNotJournaled": ("created-PROPID_Q_JOURNAL", "MQDMPR-3.1.1.2.queue-type-public"),
    "LabelledQueuesHaveNoPaths": ("created-PROPID_Q_QUOTA", f"{_MAKES}directory-paths"),
    "ForgetsWhatIsLost": ("sites-again-2-0", "MQDMPR-3.1.6.1.site-found"),
    "GatesAreOfTheFirstSite": ("gates-again-2-1-3-all", "MQDMPR-3.1.6.2.for-each-site"),
}
"""Each defect with a story that finds it, and the requirement that is blamed first."""
_SURVIVES, _REGISTERS, _OBJECT = "MQDMPR-3.1.1.directory-survives", "MQAC-3.2.4.2.1.", "MQAC-3.10.4.1."
INTEGRATED_BLAMED = {
    "TakesAnyCost": ("limits-L_ACTUAL_COST", "MQDMPR-3.1.1.8.actual-cost-range"),
    "ChecksAPropertyAlone": ("limits-L_ACTUAL_COST", "MQDMPR-3.1.1.8.actual-cost-range"),
    "ShowsAnIdentifierThatWasSet": ("fixed-routing_link", "MQMQ-2.3.7.6.propid-l-id"),
    "LinksWithoutGatesLeadBack": ("crossed-routing_link", "MQMQ-2.3.7.2.propid-l-neighbor2"),
    "LongCallsLoseTheirEnd": ("crossed-routing_link", "MQMQ-2.3.7.13.propid-l-gates"),
    "EmptyIsNoValue": ("updates-own-online", f"{_ONLINE}own-attributes"),
    "LosesItselfWithItsObject": ("updates-started-object-killed", _SURVIVES),
    "BeginsWithoutKeysOffline": ("updates-begins-directory-site", f"{_BEGINS}encryption-keys"),
    "LongDescriptorsAreCut": ("sets-site", "MQMQ-2.3.3.13.propid-s-security"),
    "EmptyTextsAreNotWritten": ("sets-routing_link", "MQMQ-2.3.7.10.propid-l-description"),
    "SetsTheFirstOnly": ("together-routing_link", "MQMQ-2.3.7.1.propid-l-neighbor1"),
    "HashKeyChangesTheLabel": ("reserved-queue", "MQMQ-2.3.1.18.not-interpreted"),
    "HandlesEndOnline": ("public-online-PROPID_Q_LABEL", f"{_ONLINE}queue-attributes-updated"),
    "SharesByName": ("public-shared-public-path", f"{_OPENS}exclusive-then-receive"),
    "OfflineItAsksNobody": ("public-offline-back", f"{_MAKES}directory-object-created"),
    "JournalOfPathsOnly": ("public-journal-public", f"{_MAKES}attribute-journaling"),
    "PurgesNothing": ("public-journal-public", "MQDMPR-3.1.7.1.7.available-deleted"),
    "DeletedHandlesRead": ("public-deleted-public", "MQDMPR-3.1.7.1.4.handle-invalidated"),
    "ChangesHaveNoTime": ("public-times", "MQDMPR-3.1.1.2.modify-time"),
    "TimesAreOfTheStart": ("public-times", f"{_MAKES}create-time"),
    "IdentifiersAreForgotten": ("lasts-created-killed", _SURVIVES),
    "LastSetIsForgotten": ("lasts-changed-PROPID_Q_LABEL", _SURVIVES),
    "DeletedQueueComesBack": ("lasts-deleted-killed", "MQDMPR-3.1.7.1.4.removed"),
    "ForgetsItself": ("lasts-own-away-begun", _SURVIVES),
    "OneExpressionIsEnough": ("filters-offline-queue", f"{_READ}offline-queue-not-found"),
    "FiltersByTheFirst": ("filters-online-site", f"{_READ}delegated"),
    "NonsenseIsSuccess": ("flawed-answered-create", "MQDMPR-3.1.7.1.18.directory-status"),
    "StaysOfflineAfterNonsense": ("flawed-made-create", f"{_ONLINE}goes-online"),
    "StartKeepsWhatItHas": ("flawed-begun", f"{_BEGINS}queue-manager-found"),
    "DeliversToEachMember": ("flawed-lists-crowd", f"{_LISTS}list-replaced"),
    "QueryGivesEachOnce": ("flawed-doubled", "MQDMPR-3.1.7.1.21.filter-each"),
    "RegistersWithoutProbe": ("objects-registers-internal", f"{_REGISTERS}verify-directory-user-permission-register"),
    "OldCertificateStays": ("objects-registers-internal", f"{_REGISTERS}compute-md5-internal-certificate-rfc1321"),
    "DigestIsAnother": ("objects-registers-internal", f"{_REGISTERS}add-int-mq-cert"),
    "RegistersWhatIsRefused": (
        "objects-unread-ObjectNotFound",
        f"{_REGISTERS}return-status-directory-after-filter-security",
    ),
    "RefreshesFromItself": ("objects-refresh-done", f"{_OBJECT}29.generate-read-directory-arguments"),
    "UpdatesItselfOnly": ("objects-update-done", f"{_OBJECT}30.generate-write-directory-arguments"),
    "Integrated": ("objects-machine-known", f"{_OBJECT}26.1.get-ldap-object-properties"),
}
"""The same of a manager with more: it keeps its queues, sets properties, and has client objects."""
ADVISED = {
    "SitesAreNeverReadAgain": ("sites-again", "MQDMPR-3.1.2.1.twelve-hours"),
    "GatesAreReadTwiceAnHour": ("gates-again", "MQDMPR-3.1.2.2.one-hour"),
}
"""What the documents advise only: another time is no failure, and nothing else is blamed."""


def opened(manager: str, folder: Path, module: str = "directory_manager", *, in_process: bool = True) -> Client:
    return connect(f"python:{module}:{manager}", state_dir=folder, in_process=in_process)


def passes(name: str, client: Client) -> None:
    seen: list[Verdict] = []
    told(client, name, seen)
    assert seen
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}


@pytest.mark.parametrize("name", TOLD)
def test_an_honest_manager_passes(name: str, tmp_path: Path) -> None:
    with opened("Directed", tmp_path) as client:
        passes(name, client)


@pytest.mark.parametrize("name", INTEGRATED)
def test_an_integrated_manager_passes(name: str, tmp_path: Path) -> None:
    with opened("Integrated", tmp_path, "integrated_manager") as client:
        passes(name, client)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", GAPS)
def test_an_integrated_manager_is_killed_in_a_gap(name: str, tmp_path: Path) -> None:
    with opened("Integrated", tmp_path, "integrated_manager", in_process=False) as client:
        passes(name, client)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("manager", "story", "blamed"),
    [
        ("QueueIsThereBeforeItsObject", "lasts-gap-create-create-silent", "MQDMPR-3.1.1.2.queue-type-public"),
        ("LeavesWhileItBegins", "lasts-gap-use-read-enterprise-silent", f"{_MAKES}directory-identifier"),
    ],
)
def test_a_defect_is_found_after_a_kill_in_a_gap(manager: str, story: str, blamed: str, tmp_path: Path) -> None:
    with (
        opened(manager, tmp_path, "integrated_manager", in_process=False) as client,
        pytest.raises(ConformanceFailure) as found,
    ):
        told(client, story, [])
    assert found.value.verdict.requirement == blamed


def blamed_and_found_again(manager: str, module: str, story: str, blamed: str, folder: Path) -> None:
    with opened(manager, folder / "one", module) as client, pytest.raises(ConformanceFailure) as found:
        told(client, story, [])
    assert found.value.verdict.requirement == blamed
    with opened(manager, folder / "two", module) as client:
        again = rejudge.rejudge({"kind": "story", "story": story}, client, OPTIONS)
    assert [one.requirement for one in again if one.outcome is Outcome.FAIL][:1] == [blamed]


@pytest.mark.parametrize("manager", BLAMED)
def test_a_defect_is_blamed_and_found_again(manager: str, tmp_path: Path) -> None:
    blamed_and_found_again(manager, "directory_manager", *BLAMED[manager], tmp_path)


@pytest.mark.parametrize("manager", INTEGRATED_BLAMED)
def test_a_defect_of_an_integrated_manager_is_blamed(manager: str, tmp_path: Path) -> None:
    blamed_and_found_again(manager, "integrated_manager", *INTEGRATED_BLAMED[manager], tmp_path)


def backwards(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Sets the entries of a descriptor in the other order."""
    if method == "security.set":
        held = decoded(base64.b64decode(params["descriptor"]))
        turned = replace(held, dacl=(held.dacl or ())[::-1])
        params["descriptor"] = base64.b64encode(encoded(turned)).decode()
    return params


@pytest.mark.parametrize(
    ("asks", "story", "blamed"),
    [
        (backwards, "public-guarded-deny-allow-public", "MQDMPR-3.1.1.2.security"),
        (without("PROPID_Q_SECURITY"), "public-supplied-owner", f"{_MAKES}1.supplied-owner"),
        (without("PROPID_Q_SECURITY"), "public-supplied-dacl", f"{_MAKES}1.supplied-dacl"),
    ],
)
def test_rights_of_public_queues(asks: Any, story: str, blamed: str, tmp_path: Path) -> None:
    with connect("embedded", state_dir=tmp_path) as client, pytest.raises(ConformanceFailure) as found:
        told(cast("Client", Distorting(client, asks, silent)), story, [])
    assert found.value.verdict.requirement == blamed


@pytest.mark.parametrize("manager", ADVISED)
def test_another_time_of_the_timers_is_no_failure(manager: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened(manager, tmp_path) as client:
        told(client, ADVISED[manager][0], seen)
    assert {one.requirement for one in seen if one.outcome is not Outcome.PASS} == {ADVISED[manager][1]}
