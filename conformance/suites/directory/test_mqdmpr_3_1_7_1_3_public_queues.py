"""Public queues and lists are in the directory: MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.5, 3.1.7.3.8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory import elements, public_queues
from conformance.suites.directory.queues import STORIES
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_MAKES, _DELETES, _OPENS = "MQDMPR-3.1.7.1.3.", "MQDMPR-3.1.7.1.4.", "MQDMPR-3.1.7.1.5."
_LISTS, _QUEUE, _DEFAULT = "MQDMPR-3.1.7.3.8.", "MQDMPR-3.1.1.2.", "MQDMPR-3.1.7.1.3.1."
_CREATED = ("directory-object", "directory-object-created", "skip-directory-default", "directory-identifier")


_ENTERED = (
    *(f"{_MAKES}{word}" for word in (*_CREATED, "identifier-set", "public-type", "directory-paths")),
    *(f"{_QUEUE}{word}" for word in ("queue-type-public", "scope-not-in-directory", "full-path", "directory-path")),
)


@pytest.mark.requirement(
    *_ENTERED, f"{_QUEUE}queue-type-private", f"{_MAKES}attribute-label", f"{_MAKES}attribute-base-priority"
)
def test_a_public_queue_is_created(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("created", mq, judge, mq_need, "queues.create", "queues.get")


_COPIED = ("label", "type", "journaling", "quota", "journal-quota", "base-priority", "authentication")


@pytest.mark.requirement(
    *(f"{_MAKES}attribute-{word}" for word in (*_COPIED, "privacy-level", "transactional")),
    f"{_QUEUE}qualified-pathname",
    f"{_QUEUE}qualified-pathname-fqdn",
)
def test_a_public_queue_has_its_properties_in_the_directory(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("copied", mq, judge, mq_need, "queues.create")


@pytest.mark.requirement(
    *_ENTERED,
    *(f"{_MAKES}attribute-{word}" for word in (*_COPIED, "privacy-level", "transactional")),
    f"{_MAKES}paths-set",
)
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("created-")])
def test_a_public_queue_is_created_with_properties(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.get", "directory.read")


@pytest.mark.requirement(*(f"{_MAKES}{word}" for word in ("paths-set", "full-path-empty", "directory-path-empty")))
def test_the_object_of_a_new_queue_cannot_be_read(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("paths-unread", mq, judge, mq_need, "queues.create", "queues.get")


@pytest.mark.requirement(f"{_MAKES}directory-failure", f"{_MAKES}directory-failure-ends")
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("not-created-")])
def test_the_directory_refuses_a_queue(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.open")


@pytest.mark.requirement(
    *(f"{_DELETES}{word}" for word in ("directory-object", "directory-object-deleted", "skip-directory-default"))
)
def test_a_public_queue_is_deleted(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("deleted", mq, judge, mq_need, "queues.create", "queues.delete")


@pytest.mark.requirement(f"{_DELETES}directory-failure", f"{_DELETES}directory-failure-returned")
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("not-deleted-")])
def test_the_directory_does_not_delete_a_queue(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.delete", "queues.open")


_LOOKS = ("public-looked-up", "public-identifier", "public-object")
_OPENED = {
    "opened-elsewhere": (*_LOOKS, "outgoing-public-looked-up", "outgoing-public-identifier"),
    "opened-here": ("public-local-not-found", "public-local-not-found-ends", "public-local-not-found-code", _LOOKS[2]),
    "lost-between": (
        *("outgoing-not-found", "outgoing-not-found-ends", "outgoing-not-found-code", "outgoing-public-found"),
    ),
}
_NOWHERE = ("public-not-found", "public-look-up-failed", "public-not-found-code")


def _opening(name: str) -> tuple[str, ...]:
    return tuple(f"{_OPENS}{word}" for word in _OPENED.get(name, _NOWHERE))


@pytest.mark.parametrize(
    "story", marked([name for name in STORIES if name.startswith("opened-") or name == "lost-between"], _opening)
)
def test_a_public_queue_is_opened(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.open")


@pytest.mark.requirement(
    *(f"{_LISTS}{word}" for word in ("list-element", "list-resolved", "work-list", "each-element", "joined-status")),
    *(f"{_LISTS}{word}" for word in ("list-replaced", "joined")),
    *(f"{_OPENS}{word}" for word in ("expanded", "expanded-replaces")),
)
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("list-") and "lost" not in name])
def test_a_list_is_resolved(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.open", "queues.counts", "messages.send")


@pytest.mark.requirement(f"{_LISTS}list-failed", f"{_OPENS}distribution-list-failure")
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("list-lost-")])
def test_a_list_that_is_not_there(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.open")


@pytest.mark.requirement(f"{_DEFAULT}directory-mode", f"{_DEFAULT}machine-sid-read")
@pytest.mark.parametrize(
    "story",
    marked(
        ["machine-known", "machine-unknown"],
        lambda name: (f"{_DEFAULT}machine-sid-{'set' if name == 'machine-known' else 'unread'}",),
    ),
)
def test_the_account_of_the_computer(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create")


@pytest.mark.parametrize("story", marked(public_queues.STORIES, public_queues.claims_of))
def test_a_public_queue_is_used(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "queues.create", "queues.get", "queues.open", "messages.send", "messages.receive")


@pytest.mark.parametrize("story", marked(elements.STORIES, elements.claims_of))
def test_a_name_of_several_elements(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    begins = ("transactions.begin",) if "transacted" in story else ()
    counts = ("queues.create", "queues.counts", "messages.send", "queues.close")
    play(story, mq, judge, mq_need, "queues.open", *counts, *begins)
