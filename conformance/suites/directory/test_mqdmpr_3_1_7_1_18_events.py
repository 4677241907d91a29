"""The directory events, online and offline: MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory import event_results, filters, flawed
from conformance.suites.directory.events import EVENTS, RESULTS, STORIES, WAYS_AWAY
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_READ, _ONLINE = "MQDMPR-3.1.7.1.20.", "MQDMPR-3.1.7.1.25."
_WRITE = "MQDMPR-3.1.7.1.24."
_NOTICES = {
    "create": ("change-notification", "public-queue"),
    "delete": ("change-notification", "public-queue"),
    "write": (
        *("announced-on-success", "public-queue", "queue-notification"),
        *("queue-manager-object", "queue-manager-notification"),
    ),
}
_OFFLINE = (
    *("", "-queue", "-queue-filter", "-queue-not-found", "-queue-not-found-ends", "-queue-returned", "-queue-status"),
    *("-queue-ends", "-own-object", "-own-returned", "-own-status", "-own-ends", "-not-connected", "-ends"),
)


def _event(name: str) -> tuple[str, ...]:
    """Return the claims of a story of an event: `EVENT-CLASS`, and the result or how the directory is away."""
    event, _, end = name.split("-", 2) if name.count("-") > 1 else (*name.split("-"), "")
    what = EVENTS[event]
    if end in WAYS_AWAY:
        words = ["not-connected", "not-connected-status", "goes-offline", "online-timer"]
        return (*map(what.demand, words), RESULTS["DirectoryNotConnected"], "MQDMPR-3.1.1.1.directory-offline")
    if end == "narrowed":
        return (what.demand(what.done),)
    words = ["reached", "directory-status"]
    if end:
        notice = ("announced-on-success",) if event == "write" else _NOTICES[event]
        return (*map(what.demand, (*words, *notice)), RESULTS[end])
    words += [what.done, *(["object-guid"] if event == "create" else []), *_NOTICES[event]]
    return (*map(what.demand, words), RESULTS["Success"])


@pytest.mark.parametrize("story", marked([name for name in STORIES if name.split("-")[0] in EVENTS], _event))
def test_an_event_on_an_object(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, f"directory.{story.partition('-')[0]}")


_ONE = ("online", "delegated", "directory-status", "reached", "directory-object", "returned-matches-filter")


def _reading(name: str) -> tuple[str, ...]:
    end = name.partition("-")[2]
    if end in WAYS_AWAY:
        timed = ("MQDMPR-3.1.2.5.one-minute", f"{_ONLINE}reads-own-object")
        return (f"{_READ}not-connected-status", f"{_READ}online-timer", *timed)
    if end in RESULTS:
        return (RESULTS[end], f"{_READ}directory-status", f"{_READ}reached")
    return tuple(f"{_READ}{word}" for word in (*_ONE, "null-filter-first"))


@pytest.mark.parametrize("story", marked([name for name in STORIES if name.startswith("read-")], _reading))
def test_an_object_is_read(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.read")


@pytest.mark.requirement(
    *(f"{_READ}offline{word}" for word in _OFFLINE),
    *(f"{_READ}{word}" for word in ("not-connected", "not-connected-status", "goes-offline", "online", "reached")),
    f"{_READ}filter-first",
    RESULTS["DirectoryNotConnected"],
)
@pytest.mark.parametrize("story", [f"offline-{mode}" for mode in WAYS_AWAY])
def test_a_manager_reads_offline_what_it_has(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.read", "queues.create")


@pytest.mark.requirement(f"{_READ}reached")
def test_a_forced_read_leaves_the_manager_online(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("forced-away", mq, judge, mq_need, "directory.read")


@pytest.mark.requirement(
    *("MQDMPR-3.1.7.1.21.delegated", "MQDMPR-3.1.7.1.21.filter-each", "MQDMPR-3.1.7.1.21.null-filter-all"),
    *("MQDMPR-3.1.7.1.22.delegated", "MQDMPR-3.1.7.1.23.delegated", RESULTS["EndOfData"]),
)
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("query-")])
def test_a_query_gives_each_object(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.begin", "directory.next", "directory.end")


_BACK = (
    *("own-object-not-read", "reads-own-object", "checks-again", "own-attributes", "goes-online", "own-object-read"),
    *("reads-public-queues", "queue-attributes-updated", "queue-read"),
)


@pytest.mark.requirement(*(f"{_ONLINE}{word}" for word in _BACK), "MQDMPR-3.1.1.2.public-attributes-in-directory")
@pytest.mark.parametrize("story", ["back-online", "back-online-filled"])
def test_the_directory_comes_back(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.read", "queues.create", "queues.get", "clock.advance")


@pytest.mark.requirement(*(f"{_ONLINE}{word}" for word in ("own-object-not-read", "checks-again", "goes-online")))
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("check-")])
def test_the_check_is_refused(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.read", "clock.advance")


@pytest.mark.parametrize("story", marked(filters.STORIES, filters.claims_of))
def test_a_filter_of_several_expressions(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.read", "directory.begin", "directory.next", "directory.end")


@pytest.mark.parametrize("story", marked(flawed.STORIES, flawed.claims_of))
def test_the_directory_is_wrong(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(
        story, mq, judge, mq_need, "directory.read", "directory.begin", "queues.create", "queues.open", "clock.advance"
    )


@pytest.mark.parametrize("story", marked(event_results.STORIES, event_results.claims_of))
def test_each_result_of_the_directory(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    about = story.split("-")[1]
    needs = {"made": ("queues.create", "queues.open"), "gone": ("queues.create", "queues.delete")}
    forced = ("directory.read", "clock.advance")
    play(story, mq, judge, mq_need, *needs.get(about, forced if about == "forced" else (f"directory.{about}",)))
