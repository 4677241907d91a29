"""The suite of the directory over LDAP: an honest manager passes the same stories, a defect is blamed rightly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from directory_telling import told

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.connecting import ldap_handler
from conformance.harness.recorder import ConformanceFailure
from conformance.suites.directory.scene import asks, filtered
from conformance.suites.story_table import Untold
from conformance.verdict import Outcome, Verdict

CLASSES = ("site", "queue_manager", "routing_link", "user", "enterprise")
HONEST = [
    *("begin-0-0-with", "begin-1-0-without", "begin-2-0-with", "begin-3-2-without", "sites-again", "alone"),
    *(f"{event}-{kind}" for event in ("create", "delete", "write", "read") for kind in CLASSES),
    *(f"{event}-site-{result}" for event in ("create", "write", "delete") for result in ("GenericError", "closed")),
    *("create-site-ObjectAlreadyExists", "delete-site-drops", "write-site-silent", "read-AttributeNotFound"),
    *("attributes-site", "attributes-routing_link", "attributes-user", "attributes-own"),
]
LEFT = {
    "create-connected_network": "no class for connected_network",
    "gates-again": "no attribute for site_gates",
    "flawed-answered-read": "no form for this answer",
    "flawed-doubled": "one object of a distinguished name",
    "flawed-linked-nowhere": "references only to objects",
    "filters-online-enterprise": "no attribute for name",
    "paths-unread": "reads it to learn its identifier",
    "SET_OLDSERVICE": "no attribute for old_service",
}
BLAMED = {
    "AsksForEachSite": ("begin-2-0-with", "MQDMPR-3.1.3.for-each-site"),
    "WritesNothing": ("write-site", "MQDMPR-3.1.7.1.24.written"),
    "MistakesItsResults": (
        "create-site-ObjectAlreadyExists",
        "MQDMPR-3.1.1.17.directory-object-already-exists",
    ),
    "KeepsNoNumbers": ("attributes-site", "MQDMPR-3.1.1.7.intra-site-replication-interval"),
}


def opened(manager: str, folder: Path) -> Client:
    client = connect(f"python:ldap_manager:{manager}", state_dir=folder, in_process=True)
    client.directory_handlers = {"ldap": ldap_handler}
    return client


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_manager_passes(name: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened("OverLdap", tmp_path) as client:
        told(client, name, seen)
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}


@pytest.mark.parametrize(("name", "reason"), LEFT.items())
def test_a_story_that_ldap_cannot_tell_is_left_out_with_its_reason(name: str, reason: str, tmp_path: Path) -> None:
    with opened("OverLdap", tmp_path) as client, pytest.raises(Untold, match=reason):
        told(client, name, [])


@pytest.mark.parametrize(("manager", "about"), BLAMED.items())
def test_a_defect_is_blamed(manager: str, about: tuple[str, str], tmp_path: Path) -> None:
    story, blamed = about
    with opened(manager, tmp_path) as client, pytest.raises(ConformanceFailure) as found:
        told(client, story, [])
    assert found.value.verdict.requirement == blamed


def expression(attribute: str, value: Any, operator: str = "EQUALS") -> dict[str, Any]:
    return {"attribute": attribute, "operator": operator, "value": value}


def test_a_filter_over_ldap_may_leave_out_what_an_object_may_lack() -> None:
    guid, label, cost = expression("identifier", "a"), expression("label", "x"), expression("cost", 3, "LESS-THAN")
    for given, exact, loose in (
        ([guid, label], True, True),
        ([label, guid], True, True),
        ([guid], False, True),
        ([label], False, False),
        ([guid, label, cost], False, False),
    ):
        assert filtered(given, [guid, label], loose=False) is exact
        assert filtered(given, [guid, label], loose=True) is loose


def test_a_search_is_known_by_the_names_that_it_asks_for() -> None:
    params = {"class": "queue", "attributes": ["full_path", "directory_path", "path_name"]}
    search = {"method": "read", "params": params, "names": ["distinguishedname", "objectguid"], "answer": {}}
    assert asks([search], "read", "queue", attributes=["full_path", "directory_path"]) is search
    assert asks([search], "begin", "queue") is search
    assert asks([search], "read", "queue", attributes=["label"]) is None
    assert asks([{**search, "params": {"class": "queue"}}], "read", "queue", attributes=["full_path"]) is None
    line = {name: value for name, value in search.items() if name != "names"}
    assert asks([line], "read", "queue", attributes=["full_path", "directory_path"]) is None
    assert asks([line], "begin", "queue") is None
