"""Stories of what outlives the manager: a kill directly after each write to the directory, and in each gap of it.

MS-MQDMPR 3.1.1 (directory attributes), 3.1.1.2, 3.1.3. Nothing comes between an act and the kill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.suites.directory.attributes import OWN
from conformance.suites.directory.public_queues import CHANGED, NAMES, Queue
from conformance.suites.directory.scene import ONLINE_MS, Scene, asks, part_of, plain, same
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

_SURVIVES: Final = "MQDMPR-3.1.1.directory-survives"
_CONSTANT: Final = "MQDMPR-3.1.1.identifier-constant"
_PUBLIC: Final = "MQDMPR-3.1.1.2.public-attributes-in-directory"
_BEGINS: Final = "MQDMPR-3.1.3."
_TYPE: Final = "MQDMPR-3.1.1.2.queue-type-public"
_POLLS, _POLL_MS = 400, 25
WAYS: Final = ("killed", "stopped", "away")
"""away: killed, and started while the directory is closed."""


def _ended(scene: Scene, way: str) -> None:
    """End the manager and start it again. Raises Untold where nothing would be found again."""
    if not scene.mq.keeps_state:
        raise Untold("a restart of this connection does not find the state again")
    if way == "away":
        scene.turn("closed")
    scene.mq.restart(kill=way != "stopped")
    word = "stopped" if way == "stopped" else "killed"
    scene.judge.step(f"the manager is {word} and started again", {"restart": word}, {})


def _has(scene: Scene, queue: Queue, shows: Mapping[str, Json]) -> None:
    """Judge that a queue is there by both names, with its identifier and these properties."""
    for way in NAMES:
        got = queue.got(*shows, "PROPID_Q_INSTANCE", way=way)
        scene.shows((_SURVIVES, _PUBLIC), same(got, shows), dict(shows), part_of(got, shows))
        if "PROPID_Q_INSTANCE" in got or not got:
            right = {"PROPID_Q_INSTANCE": queue.identifier}
            scene.shows((_SURVIVES, _CONSTANT), same(got, right), right, part_of(got, right))
        opened = queue.opened("receive", way)
        scene.shows(_SURVIVES, opened.ok, {"opened": True}, {"status": opened.status})


def created(scene: Scene, way: str, *, online: bool) -> None:
    """A queue with every property is as it was, and so is the directory.

    online: it has them since the directory came back, not since its creation.
    """
    scene.used()
    names = [name for name in CHANGED if scene.mq.hello.takes("properties", name)]
    queue = Queue(scene, **{name: CHANGED[name][2] for name in names if not online})
    if online:
        with scene.away():
            scene.call("read a site", "directory.read", **{"class": "site"})
            scene.enter("queue", **{**queue.held(), **{CHANGED[name][0]: CHANGED[name][1] for name in names}})
        scene.passes(ONLINE_MS)
    before = dict(queue.held())
    _ended(scene, way)
    _has(scene, queue, {name: CHANGED[name][2] for name in names})
    held = dict(queue.held())
    scene.shows(_PUBLIC, held == before, before, held)
    if way != "away":
        scene.asked()
        scene.call("delete the queue", "queues.delete", format_name=queue.names["path"])
        gone = asks(requests := scene.asked(), "delete", "queue", identifier=queue.identifier)
        scene.shows("MQDMPR-3.1.1.2.queue-type", gone is not None, {"delete": queue.identifier}, plain(requests))


def changed(scene: Scene, name: str) -> None:
    """A property that was set directly before the kill has its value, here and in the directory."""
    scene.mq.need("properties", name)
    attribute, value, shows, _ = CHANGED[name]
    scene.used()
    queue = Queue(scene)
    answer = scene.call(f"set {name}", "queues.set", format_name=queue.names["public"], properties={name: shows})
    if not answer.ok:
        raise Untold("the property cannot be set")
    _ended(scene, "killed")
    _has(scene, queue, {name: shows})
    held = queue.held()
    scene.shows(_PUBLIC, same(held, {attribute: value}), {attribute: value}, part_of(held, {attribute: value}))


def deleted(scene: Scene, way: str) -> None:
    """A queue that was deleted stays so, and the one beside it is there."""
    scene.used()
    gone, stays = Queue(scene, "gone"), Queue(scene, "stays")
    if not scene.call("delete a queue", "queues.delete", format_name=gone.names["public"]).ok:
        raise Untold("the queue cannot be deleted")
    _ended(scene, way)
    opened = gone.opened("receive", "path")
    scene.shows("MQDMPR-3.1.7.1.4.removed", not opened.ok, {"opened": False}, {"status": opened.status})
    scene.shows("MQDMPR-3.1.7.1.4.directory-object", not gone.held(), {}, dict(gone.held()))
    _has(scene, stays, {})


def own(scene: Scene, way: str, *, online: bool) -> None:
    """The manager still has what it has read of itself. online: it was read when the directory came back."""
    values = scene.told("queue_manager", {name: value for name, (value, _) in OWN.items()})
    values |= {"site_identifier_list": [scene.enter("site", name=word) for word in ("north", "south")]}
    scene.enter("enterprise", non_ldap_capable_queue_manager_notification=False)
    scene.own_object(**({} if online else values))
    scene.used()
    if online:
        with scene.away():
            scene.call("read a site", "directory.read", **{"class": "site"})
            scene.own_object(**values)
        scene.passes(ONLINE_MS)
    was = scene.own()
    before = part_of(was["queue_manager"], values)
    _ended(scene, way)
    after = scene.own()
    if way != "away" and not online:  # what is read at each start
        for demand, name in ((f"{_BEGINS}add-site", "sites"), (f"{_BEGINS}enterprise-found", "enterprise")):
            scene.shows(demand, after[name] == was[name], was[name], after[name])
    shown = part_of(after["queue_manager"], before)
    scene.shows((_SURVIVES, "MQDMPR-3.1.1.1.directory-integrated"), same(shown, before), before, shown)
    integrated = after["integrated"]
    scene.shows("MQDMPR-3.1.1.1.directory-integrated", integrated is True, True, integrated)
    identifier = {"identifier": scene.guid}
    shown = part_of(after["queue_manager"], identifier)
    scene.shows(_CONSTANT, same(shown, identifier), identifier, shown)


ACTS: Final[Mapping[str, tuple[str, Mapping[str, Json], tuple[str, ...]]]] = MappingProxyType(
    {
        "create": ("queues.create", {"properties": {"PROPID_Q_LABEL": "new"}}, ("create", "read")),
        "set": ("queues.set", {"properties": {"PROPID_Q_LABEL": "new"}}, ("write", "changed")),
        "delete": ("queues.delete", {}, ("changed", "delete")),
        "use": ("directory.use", {}, ("read queue_manager", "read site", "read enterprise")),
    }
)
"""Acts on the directory: the call, on which queue, and the requests, about a queue, at which it falls silent."""
SILENT: Final = ("silent", "mute")
_PATIENCE_MS: Final = 2_000
"""How long a manager waits for an answer here: one in this process cannot be killed before it gives up."""


def _asked_for(scene: Scene, request: str) -> int | None:
    """Return how many requests the last act made before the first of this method and class; None for none."""
    method, _, kind = request.partition(" ")
    for number, each in enumerate(scene.asked()):
        if each["method"] == method and each["params"].get("class", "queue") == (kind or "queue"):
            return number
    return None


def _act(scene: Scene, act: str, queue: Queue, word: str) -> dict[str, Any]:
    method, params, _ = ACTS[act]
    given = {
        "path_name": f"{scene.mq.hello.computer}\\{word}",
        "format_name": queue.names["public"],
        "address": scene.address,
        "wait_ms": _PATIENCE_MS,
    }
    names = {"create": ("path_name",), "use": ("address", "wait_ms")}.get(act, ("format_name",))
    return {"method": method, **params, **{name: given[name] for name in names}}


def gap(scene: Scene, act: str, request: str, mode: str) -> None:
    """The manager is killed while it waits for an answer: what is here is in the directory, and the rest is as before.

    An act of the same kind before it shows which of the requests the one is at which the directory falls silent.
    """
    scene.mq.need("properties", "PROPID_Q_LABEL")
    site = scene.enter("site", name="north")
    scene.own_object(site_identifier_list=[site])
    scene.used()
    scene.use(wait_ms=_PATIENCE_MS)
    sample, old, beside = (Queue(scene, word, PROPID_Q_LABEL="former") for word in ("sample", "old", "beside"))
    scene.asked()
    first = _act(scene, act, sample, "like")
    if not scene.call("act once", first.pop("method"), **first).ok:
        raise Untold("the act is refused")
    before = _asked_for(scene, request)
    if before is None:
        raise Untold(f"the manager does not ask the directory to {request}")
    scene.mq.directory("turn", mode=mode, after=before)
    scene.judge.step(f"the directory is {mode} after {before} requests", {"turn": mode, "after": before}, {})
    params = _act(scene, act, old, "new")
    scene.mq.start(params.pop("method"), **params)
    requests: list[Any] = []
    for _ in range(_POLLS):
        scene.mq.poll(_POLL_MS)
        requests += scene.asked()
        if len(requests) > before:
            break
    else:
        raise Untold("the manager does not ask the directory again")
    scene.turn("answers")  # from now on; the request that waits stays without an answer
    _ended(scene, "killed")
    kept = scene.reads("R-MQDMPR-delete-directory-failure", "kept")  # the directory first, then what is here
    if not (act == "delete" and kept and not old.held()):
        _looked_at(scene, "new" if act == "create" else "old", requests)
    if request == "write" and mode == "silent":
        held = {"PROPID_Q_LABEL": old.held().get("label")}
        got = old.got("PROPID_Q_LABEL", way="path")
        scene.shows(_PUBLIC, same(got, held), held, dict(got))
    _has(scene, beside, {"PROPID_Q_LABEL": "former"})
    now, right = scene.own(), {"identifier": scene.guid, "site_identifier_list": [site]}
    shown = part_of(now["queue_manager"], right)
    scene.shows((_SURVIVES, _CONSTANT), same(shown, right), right, shown)
    demand = "MQDMPR-3.1.1.1.directory-integrated"
    scene.shows(demand, now["integrated"] is True, True, now["integrated"])


def _looked_at(scene: Scene, word: str, requests: list[Any]) -> None:
    """Judge that a public queue that is here is the one in the directory."""
    path = f"{scene.mq.hello.computer}\\{word}"
    name = f"DIRECT=OS:{path}"
    if not scene.call(f"open {path}", "queues.open", format_name=name, access="receive").ok:
        return
    held = [str(each["identifier"]).lower() for each in scene.objects("queue") if same(each, {"path_name": path})]
    scene.shows(
        _TYPE, len(held) == 1, {"in the directory": 1}, {"in the directory": len(held), "asked": plain(requests)}
    )
    if held and scene.mq.hello.takes("properties", "PROPID_Q_INSTANCE"):
        got = scene.call("read its identifier", "queues.get", format_name=name, properties=["PROPID_Q_INSTANCE"])
        shown = str((got.values.get("properties") or {}).get("PROPID_Q_INSTANCE")).lower()
        scene.shows("MQDMPR-3.1.7.1.3.directory-identifier", shown in held, list(held), shown)


_MADE: Final = (_SURVIVES, _CONSTANT, _PUBLIC, "MQDMPR-3.1.1.2.queue-type")
_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "created": _MADE,
        "taken": _MADE,
        "changed": (_SURVIVES, _CONSTANT, _PUBLIC),
        "deleted": ("MQDMPR-3.1.7.1.4.removed", "MQDMPR-3.1.7.1.4.directory-object", _SURVIVES, _CONSTANT, _PUBLIC),
        "own": (
            *(_SURVIVES, _CONSTANT, "MQDMPR-3.1.1.1.directory-integrated"),
            *(f"{_BEGINS}add-site", f"{_BEGINS}enterprise-found"),
        ),
        "gap": (
            *(_SURVIVES, _CONSTANT, _PUBLIC, _TYPE),
            *("MQDMPR-3.1.7.1.3.directory-identifier", "MQDMPR-3.1.1.1.directory-integrated"),
        ),
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    return _CLAIMS[name.split("-")[1]]


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            f"lasts-{'taken' if online else 'created'}-{way}": partial(created, way=way, online=online)
            for way in WAYS
            for online in (True, False)
        },
        **{f"lasts-changed-{name}": partial(changed, name=name) for name in CHANGED},
        **{f"lasts-deleted-{way}": partial(deleted, way=way) for way in WAYS},
        **{
            f"lasts-own-{way}-{'online' if online else 'begun'}": partial(own, way=way, online=online)
            for way in WAYS
            for online in (True, False)
        },
        **{
            f"lasts-gap-{act}-{request.replace(' ', '-')}-{mode}": partial(gap, act=act, request=request, mode=mode)
            for act, (_, _, at) in ACTS.items()
            for request in at
            for mode in SILENT
        },
    }
)
