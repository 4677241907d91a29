"""The manager initializes itself from the directory, and reads it again by its timers: MS-MQDMPR 3.1.3, 3.1.6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory import lasting, updates
from conformance.suites.directory.initialization import DEFAULTS, STORIES
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_BEGINS = "MQDMPR-3.1.3."
_READS = ("read-queue-manager", "synchronize", "if-directory-integrated", "read-enterprise", "queue-manager-found")
_SITES = ("for-each-site", "read-site", "site-found", "add-site", "update-queue-manager")
_ENTERPRISE = ("enterprise-found", "enterprise", "enterprise-attribute-not-found", "new-enterprise", "enterprise-made")
_KEY = ("s", "-fields", "-for-each-provider", "-base", "-enhanced", "-aes", "-provider-name", "-size", "-valid")
_OWN = "MQDMPR-3.1.1.1."


def _named(begin: str) -> list[str]:
    return [name for name in STORIES if name.startswith(begin)]


@pytest.mark.requirement(
    *(f"{_BEGINS}{word}" for word in (*_READS, *_SITES, *_ENTERPRISE)),
    f"{_OWN}directory-integrated",
    f"{_OWN}site-identifier-list",
    "MQDMPR-3.1.1.6.non-ldap-notification",
)
@pytest.mark.parametrize("story", _named("begin-"))
def test_a_manager_begins_with_what_the_directory_has(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(
    *(f"{_BEGINS}{word}" for word in ("continue", "queue-manager-not-found", "queue-manager-found")),
    *(f"{_BEGINS}{word}" for word in ("site-identifier", "add-site", "read-queue-manager", "synchronize")),
    f"{_BEGINS}if-directory-integrated",
    *(f"{_BEGINS}{kind}-key{word}" for kind in ("encryption", "signing") for word in _KEY),
    *(f"{_OWN}{kind}-key-list" for kind in ("encryption", "signing")),
    *(f"{_OWN}{word}" for word in DEFAULTS),
)
@pytest.mark.parametrize("story", _named("provision-"))
def test_a_manager_begins_its_life(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(
    *(f"{_BEGINS}{word}" for word in ("read-queue-manager", "synchronize", "if-directory-integrated", "read-site")),
    f"{_BEGINS}update-queue-manager",
    "MQDMPR-3.1.1.directory-survives",
    "MQDMPR-3.1.1.identifier-constant",
)
@pytest.mark.parametrize("story", _named("start-again-"))
def test_a_start_reads_the_directory_again(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(
    *(f"MQDMPR-3.1.6.1.{word}" for word in ("for-each-site", "read-site", "site-found", "update-site")),
    "MQDMPR-3.1.2.1.twelve-hours",
)
@pytest.mark.parametrize("story", _named("sites-again"))
def test_sites_are_read_again(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "clock.advance")


@pytest.mark.requirement(
    *(f"MQDMPR-3.1.6.2.{word}" for word in ("for-each-site", "for-each-gate", "read-gate", "gate-found")),
    *("MQDMPR-3.1.6.2.update-gate", "MQDMPR-3.1.2.2.one-hour", "MQDMPR-3.1.1.7.site-gate-collection"),
)
@pytest.mark.parametrize("story", _named("gates-again"))
def test_gates_are_read_again(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "clock.advance")


@pytest.mark.requirement(
    f"{_OWN}directory-integrated", f"{_OWN}directory-offline-without-directory", f"{_BEGINS}if-directory-integrated"
)
@pytest.mark.parametrize("story", _named("alone"))
def test_a_manager_without_directory(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.parametrize("story", marked(lasting.STORIES, lasting.claims_of))
def test_what_outlives_the_manager(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.get", "queues.open")


@pytest.mark.parametrize("story", marked(updates.STORIES, updates.claims_of))
def test_what_changes_while_the_directory_is_away(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    queues = ("queues.create", "queues.get") if "queue" in story or "started" in story else ()
    play(story, mq, judge, mq_need, "directory.read", *queues)
