"""Stories of each result of the directory: for each event and class, by calls on queues, online and offline.

MS-MQDMPR 3.1.1.17, 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.18 to 3.1.7.1.20, 3.1.7.1.24.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.suites.directory.events import (
    EVENTS,
    OBJECTS,
    RESULTS,
    WAYS_AWAY,
    announcement,
    answered,
    begun,
    result_of,
)
from conformance.suites.directory.public_queues import Queue
from conformance.suites.directory.scene import NOWHERE, ONLINE_MS, Scene, asks, by_identifier, ids, plain

if TYPE_CHECKING:
    from conformance.verdict import Json

_READ: Final = "MQDMPR-3.1.7.1.20."
_MAKES, _DELETES = "MQDMPR-3.1.7.1.3.", "MQDMPR-3.1.7.1.4."
_AWAY: Final = "DirectoryNotConnected"
_ORDER: Final = (*(each for each in RESULTS if each != _AWAY), _AWAY)
_KNOWN: Final = ("queue", "queue_manager")  # classes that a manager reads offline from what it has


def _gives(scene: Scene, method: str, kind: str, result: str) -> None:
    """Let the directory answer the next request of a method so."""
    more: dict[str, Json] = {"identifier": NOWHERE} if method == "create" else {}
    scene.lie(method, kind, {"result": result, **(more if result == "Success" else {})})


def _results(scene: Scene) -> Sequence[str]:
    """Return the results that the directory has an answer for, Success first."""
    return [each for each in _ORDER if each != "EndOfData" or not scene.over_ldap]


def _offline(scene: Scene, demand: str, right: bool) -> None:
    offline = scene.own()["offline"]
    scene.shows(demand, offline is right, {"offline": right}, {"offline": offline})


def each_result(scene: Scene, event: str, kind: str) -> None:
    """An event answers each result that the directory gives; offline too it asks, and nothing but the check ends that.

    The check comes a minute after the first event that did not reach the directory, not after the last.
    """
    what = EVENTS[event]
    identifier, given = begun(scene, event, kind)
    for already in (False, True):
        for result in _results(scene):
            _gives(scene, what.method, kind, result)
            scene.asked()
            told = result_of(what.act(scene, kind, identifier, given))
            requests = scene.asked()
            reached = asks(requests, what.method, kind) is not None
            scene.shows(what.demand(what.done), reached, {"method": what.method}, plain(requests))
            answered(scene, what.demand(""), result, told)
            announcement(scene, event, kind, requests, done=result == "Success")
            away = already or result == _AWAY
            _offline(scene, what.demand("goes-offline" if away else "reached"), away)
        if not already:
            scene.passes(ONLINE_MS // 2)
    scene.asked()
    scene.passes(ONLINE_MS // 2)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows(what.demand("online-timer"), looked is not None, {"read": "queue_manager"}, plain(requests))


def _read(scene: Scene, kind: str, **more: Json) -> Json:
    return result_of(scene.call(f"read a {kind} from the directory", "directory.read", **{"class": kind, **more}))


def each_read(scene: Scene, kind: str) -> None:
    """A read answers each result, forced online and offline and not; forced, it leaves the manager as it is."""
    scene.used()
    wanted = by_identifier(scene.enter(kind, **scene.told(kind, OBJECTS[kind][0])))
    for already, force in ((False, True), (False, False), (True, True)):
        for result in _results(scene)[1:]:
            _gives(scene, "read", kind, result)
            scene.asked()
            told = _read(scene, kind, filter=wanted, **({"force": True} if force else {}))
            requests = scene.asked()
            found = asks(requests, "read", kind, filter=wanted) is not None
            scene.shows((f"{_READ}online", f"{_READ}delegated"), found, {"read": kind}, plain(requests))
            if force:
                scene.shows((f"{_READ}reached", RESULTS[result]), told == result, result, told)
            else:
                answered(scene, _READ, result, told)
            away = already or (result == _AWAY and not force)
            _offline(scene, f"{_READ}{'reached' if force else 'goes-offline'}", away)
    told = _read(scene, kind, filter=wanted, force=True)
    scene.shows(f"{_READ}reached", told == "Success", "Success", told)
    scene.asked()
    told = _read(scene, kind, filter=wanted)
    if kind not in _KNOWN:
        scene.shows(f"{_READ}offline-not-connected", told == _AWAY, _AWAY, told)
    scene.shows(f"{_READ}offline-ends", not (requests := scene.asked()), [], plain(requests))


def forced_away(scene: Scene, mode: str) -> None:
    """A forced read that does not connect starts no timer online, and offline leaves the one that runs as it is."""
    scene.used(mode)
    with scene.away(mode):
        told = _read(scene, "site", force=True)
        scene.shows(f"{_READ}reached", told == _AWAY, _AWAY, told)
        _offline(scene, f"{_READ}reached", False)
    scene.asked()
    scene.passes(ONLINE_MS)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows(f"{_READ}reached", looked is None, [], plain(requests))
    with scene.away(mode):
        _read(scene, "site")
        scene.passes(ONLINE_MS // 2)
        _read(scene, "site", force=True)
        _offline(scene, f"{_READ}goes-offline", True)
    scene.passes(ONLINE_MS // 2)
    _offline(scene, f"{_READ}online-timer", False)


def queue_created(scene: Scene, state: str) -> None:
    """A creation that the directory refuses, for any reason, fails; it is announced, and there is no queue."""
    scene.used()
    if state == "offline":
        scene.lie("read", "site", {"result": _AWAY})
        _read(scene, "site")
    for number, result in enumerate(_results(scene)[1:]):
        path = f"{scene.mq.hello.computer}\\orders{number}"
        _gives(scene, "create", "queue", result)
        scene.asked()
        answer = scene.call(f"create {path}", "queues.create", path_name=path)
        requests = scene.asked()
        scene.shows(f"{_MAKES}directory-failure", not answer.ok, {"created": False}, {"status": answer.status})
        announcement(scene, "create", "queue", requests, done=False)
        opened = scene.call(f"open {path}", "queues.open", format_name=f"DIRECT=OS:{path}", access="receive")
        demand = f"{_MAKES}directory-failure-ends"
        scene.shows(demand, not opened.ok, {"opened": False}, {"status": opened.status})
        away = state == "offline" or result == _AWAY
        _offline(scene, EVENTS["create"].demand("goes-offline" if away else "reached"), away)
    scene.asked()
    queue = Queue(scene, "orders0")
    announcement(scene, "create", "queue", scene.asked(), done=True)
    opened = queue.opened("receive")
    scene.shows(f"{_MAKES}openable", opened.ok, {"opened": True}, {"status": opened.status})


def queue_deleted(scene: Scene, state: str) -> None:
    """A deletion that the directory refuses, for any reason, fails, and it is announced."""
    scene.used()
    queues = [Queue(scene, f"orders{number}") for number in range(len(_results(scene)))]
    if state == "offline":
        scene.lie("read", "site", {"result": _AWAY})
        _read(scene, "site")
    for queue, result in zip(queues, _results(scene), strict=True):
        if result != "Success":
            _gives(scene, "delete", "queue", result)
        scene.asked()
        answer = scene.call("delete the queue", "queues.delete", format_name=queue.names["public"])
        requests = scene.asked()
        found = asks(requests, "delete", "queue", identifier=queue.identifier)
        scene.shows(f"{_DELETES}directory-object-deleted", found is not None, {"delete": "queue"}, plain(requests))
        failed = ids(_DELETES, "directory-failure directory-failure-returned")
        right = answer.ok is (result == "Success")
        scene.shows(
            failed if result != "Success" else f"{_DELETES}success",
            right,
            {"deleted": result == "Success"},
            {"status": answer.status},
        )
        announcement(scene, "delete", "queue", requests, done=result == "Success")
        away = state == "offline" or result == _AWAY
        _offline(scene, EVENTS["delete"].demand("goes-offline" if away else "reached"), away)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    _, about, kind = name.split("-")
    if about == "made":
        words = ids(_MAKES, "directory-failure directory-failure-ends openable")
        return (*words, *ids("MQDMPR-3.1.7.1.18.", "change-notification public-queue goes-offline reached"))
    if about == "gone":
        words = ids(_DELETES, "directory-object-deleted directory-failure directory-failure-returned success")
        return (*words, *ids("MQDMPR-3.1.7.1.19.", "change-notification public-queue goes-offline reached"))
    if about == "forced":
        return ids(_READ, "reached goes-offline online-timer")
    results = tuple(RESULTS.values())
    if about == "read":
        words = ids(_READ, "online delegated reached goes-offline not-connected not-connected-status directory-status")
        alone = () if kind in _KNOWN else (f"{_READ}offline-not-connected",)
        return (*words, *alone, f"{_READ}offline-ends", *results[1:])
    what = EVENTS[about]
    common = ("directory-status", "reached", "not-connected", "not-connected-status", "goes-offline", "online-timer")
    notices = {
        "queue": ("queue-notification" if about == "write" else "change-notification", "public-queue"),
        "queue_manager": ("queue-manager-notification", "queue-manager-object") if about == "write" else (),
    }
    heard = notices.get(kind) or ("public-queue",)
    quiet = ("announced-on-success",) if about == "write" else ()
    return (*map(what.demand, (what.done, *common, *heard, *quiet)), *results)


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            f"results-{event}-{kind}": partial(each_result, event=event, kind=kind)
            for event in EVENTS
            for kind in OBJECTS
        },
        **{f"results-read-{kind}": partial(each_read, kind=kind) for kind in OBJECTS},
        **{f"results-forced-{mode}": partial(forced_away, mode=mode) for mode in WAYS_AWAY},
        **{f"results-made-{state}": partial(queue_created, state=state) for state in ("online", "offline")},
        **{f"results-gone-{state}": partial(queue_deleted, state=state) for state in ("online", "offline")},
    }
)
