"""Stories of a directory whose answers and objects are wrong: each ends, and what is asked next is answered rightly.

MS-MQDMPR 3.1.3, 3.1.7.1.3, 3.1.7.1.18 to 3.1.7.1.25, 3.1.7.3.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.directory_store import attributes_of, flaw
from conformance.suites.directory.events import EVENTS
from conformance.suites.directory.filters import EACH, queried
from conformance.suites.directory.public_queues import Queue
from conformance.suites.directory.scene import (
    NOWHERE,
    ONLINE_MS,
    OTHER_ID,
    Scene,
    asks,
    by_identifier,
    ids,
    part_of,
    plain,
    same,
    where,
)
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

_READ, _ONLINE, _MAKES = "MQDMPR-3.1.7.1.20.", "MQDMPR-3.1.7.1.25.", "MQDMPR-3.1.7.1.3."
_FOUND: Final = "MQDMPR-3.1.3.queue-manager-found"
_UPDATED: Final = "MQDMPR-3.1.3.update-queue-manager"
_LISTED: Final = "MQDMPR-3.1.7.3.8.list-replaced"
_MEMBERS: Final = 100_000
ANSWERS: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "empty": {},
        "number": 7,
        "text": "Success",
        "nothing": None,
        "list": [],
        "unknown": {"result": "Perhaps"},
        "bare": {"result": "Success"},
        "typeless": {"result": "Success", "object": [], "identifier": 7, "query": {}, "members": "x"},
        "mistyped": {
            "result": "Success",
            "object": {"computer_name": 5, "name": 6, "site_identifier_list": "x", "journal_quota": "many"},
            "identifier": "no GUID",
        },
    }
)
"""Values that the directory gives in place of an answer."""
_LOOP, _ITSELF, _LOST = (("a", "b"), ("b", "c"), ("c", "a")), (("a", "a"), ("a", "a")), (("a", "x"), ("y", "x"))
_HONEST: Final = ("bare", "typeless", "mistyped")  # these say that it has worked
_CALLS: Final[Mapping[str, tuple[str, Mapping[str, Json]]]] = MappingProxyType(
    {
        "read": ("directory.read", {"class": "site"}),
        "begin": ("directory.begin", {"class": "site"}),
        "create": ("directory.create", {"class": "site", "object": {"name": "new"}}),
        "write": ("directory.write", {"class": "site", "identifier": NOWHERE, "object": {"name": "new"}}),
        "delete": ("directory.delete", {"class": "site", "identifier": NOWHERE}),
    }
)


def _recovered(scene: Scene) -> None:
    """Judge that the manager, online again, reads what the directory has."""
    if scene.own()["offline"] is True:
        scene.passes(ONLINE_MS)
        offline = scene.own()["offline"]
        scene.shows(f"{_ONLINE}goes-online", offline is False, {"offline": False}, {"offline": offline})
    params: dict[str, Any] = {"class": "site", "filter": where("name", "right")}
    answer = scene.call("read a site", "directory.read", **params)
    right = {"name": "right", "intra_site_replication_interval": 5}
    shown = answer.values.get("object")
    demands = (f"{_READ}directory-object", f"{_READ}directory-status")
    scene.shows(demands, same(shown, right), right, part_of(shown, right) or dict(answer.values))


def _status_of(method: str) -> str:
    return EVENTS[method].demand("directory-status") if method in EVENTS else f"{_READ}directory-status"


def answered(scene: Scene, method: str) -> None:
    """An event that is answered wrongly does not succeed, and the next one does."""
    scene.enter("site", name="right", intra_site_replication_interval=5)
    scene.used()
    name, params = _CALLS[method]
    for word, answer in ANSWERS.items():
        scene.lie(method, "site", answer)
        told = scene.call(f"{method} a site, which is answered with {word}", name, **params)
        succeeds = told.ok and told.values.get("result") == "Success"
        if word not in _HONEST:
            demand = _status_of(method)
            scene.shows(demand, not succeeds, {"answer": answer, "succeeds": False}, dict(told.values))
        elif succeeds and method == "read":
            _typed(scene, f"{_READ}directory-object", "site", told.values.get("object"))
        _recovered(scene)


def _typed(scene: Scene, demand: str, kind: str, found: Json) -> None:
    """Judge that the attributes of an object, as far as its class has them, have their types."""
    known = part_of(found, attributes_of(kind))
    wrong = flaw(kind, known)
    scene.shows(demand, wrong is None, f"an object of the class {kind}", {**known, "but": wrong})


def begun(scene: Scene) -> None:
    """The manager's own object is answered wrongly at the start: the next start takes what the directory has."""
    scene.own_object(journal_quota=44)
    for answer in ANSWERS.values():
        scene.lie("read", "queue_manager", answer)
        scene.use()
        _typed(scene, _UPDATED, "queue_manager", scene.own()["queue_manager"])
        scene.asked()
        again = scene.use()
        scene.shows(_FOUND, again.ok, {"initialized": True}, {"status": again.status})
        held, right = scene.own()["queue_manager"], {"journal_quota": 44, "identifier": scene.guid}
        scene.shows(_FOUND, same(held, right), right, part_of(held, right))


def made(scene: Scene, method: str) -> None:
    """The creation of a queue is answered wrongly: it is there if that succeeds, and the next one is in any case."""
    scene.enter("site", name="right", intra_site_replication_interval=5)
    scene.used()
    for number, (word, answer) in enumerate(ANSWERS.items()):
        path = f"{scene.mq.hello.computer}\\orders{number}"
        scene.lie(method, "queue", answer)
        created = scene.call(f"create {path}, {method} answered with {word}", "queues.create", path_name=path)
        opened = scene.call("open it", "queues.open", format_name=f"DIRECT=OS:{path}", access="receive")
        demand = f"{_MAKES}openable" if created.ok else f"{_MAKES}directory-failure-ends"
        scene.shows(demand, opened.ok is created.ok, {"opened": created.ok}, {"opened": opened.ok})
        _recovered(scene)
        queue = Queue(scene, f"right{number}")
        found = queue.opened("receive")
        scene.shows(f"{_MAKES}openable", found.ok, {"opened": True}, {"status": found.status})


def doubled(scene: Scene) -> None:
    """Two objects have one path name, or come with one identifier: a query gives both, and a read the first."""
    scene.used()
    first = scene.enter("queue", identifier=NOWHERE, path_name="OTHER\\twice", label="first")
    second = scene.enter("queue", identifier=OTHER_ID, path_name="OTHER\\twice", label="second")
    params: dict[str, Any] = {"class": "queue", "filter": where("path_name", "OTHER\\twice")}
    shown = scene.call("read the queue", "directory.read", **params).values.get("object")
    scene.shows(f"{_READ}directory-object", same(shown, {"identifier": first}), {"identifier": first}, shown)
    queried(scene, params, [first, second])
    for identifier in (first, second):
        name = f"PUBLIC={identifier}"
        scene.asked()
        scene.call(f"open {name}", "queues.open", format_name=name, access="send")
        requests = scene.asked()
        read = asks(requests, "read", "queue", filter=by_identifier(identifier))
        scene.shows("MQDMPR-3.1.7.1.5.public-identifier", read is not None, {"read": identifier}, plain(requests))
    row = {"result": "Success", "object": {"identifier": first, "label": "first"}}
    scene.lie("next", None, row, times=2)
    queried(scene, params, [first, first, first, second])


def linked(scene: Scene, shape: str) -> None:
    """Routing links lead round, to themselves or nowhere: the manager begins, and a query gives each as it is."""
    if shape == "nowhere" and scene.over_ldap:
        raise Untold("LDAP has references only to objects that are there")
    ends = {"loop": _LOOP, "itself": _ITSELF, "nowhere": _LOST}[shape]
    sites = {word: scene.enter("site", name=word) for word in "abc"} | {"x": NOWHERE, "y": OTHER_ID}
    scene.enter("enterprise", non_ldap_capable_queue_manager_notification=False)
    links = [
        scene.enter(
            "routing_link",
            site1_identifier=sites[one],
            site2_identifier=sites[other],
            site_gate_identifier_list=[scene.guid, NOWHERE],
        )
        for one, other in ends
    ]
    lists: dict[str, Json] = {
        "site_identifier_list": [sites["a"], *([NOWHERE] * (shape == "nowhere"))],
        "out_routing_server_identifier_list": [scene.guid, OTHER_ID],
        "in_routing_server_identifier_list": [scene.guid, NOWHERE],
    }
    scene.own_object(**lists)
    answer = scene.use()
    scene.shows(_FOUND, answer.ok, {"initialized": True}, {"status": answer.status})
    held = scene.own()["queue_manager"]
    for name, word in zip(lists, ("site-identifier", "out-routing-server", "in-routing-server"), strict=True):
        right = {name: lists[name]}
        scene.shows(f"MQDMPR-3.1.1.1.{word}-list", same(held, right), right, part_of(held, right))
    queried(scene, {"class": "routing_link"}, links)


def lists(scene: Scene, shape: str) -> None:
    """A list contains itself, or a member a hundred thousand times: a message comes once, if the list is taken."""
    scene.used()
    path = scene.path_name()
    member = f"DIRECT=OS:{path}"
    if not scene.call(f"create {path}", "queues.create", path_name=path).ok:
        raise Untold("no queue could be created")
    other = scene.enter("distribution_list", identifier=OTHER_ID, members=[member, f"DL={NOWHERE}"])
    members = {"itself": [member, f"DL={NOWHERE}"], "round": [f"DL={other}", member], "crowd": [member] * _MEMBERS}
    scene.enter("distribution_list", identifier=NOWHERE, members=members[shape])
    opened = scene.call("open the list", "queues.open", format_name=f"DL={NOWHERE}", access="send")
    if not opened.ok:
        raise Untold("the manager refuses a list that contains itself or too much")
    sent = scene.call("send to the list", "messages.send", queue=opened.values["queue"], message={"label": "to all"})
    if not sent.ok:
        raise Untold("the manager refuses a send to such a list")
    count = scene.call("count", "queues.counts", format_name=member).values.get("messages")
    scene.shows(_LISTED, count == 1, 1, count)


_RECOVERS: Final = (*ids(_READ, "directory-object directory-status"), f"{_ONLINE}goes-online")
_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "answered": _RECOVERS,
        "begun": (_FOUND, _UPDATED),
        "made": (*_RECOVERS, *ids(_MAKES, "openable directory-failure-ends")),
        "doubled": (f"{_READ}directory-object", EACH, "MQDMPR-3.1.7.1.5.public-identifier"),
        "linked": (
            *(_FOUND, EACH),
            *ids("MQDMPR-3.1.1.1.", "site-identifier-list out-routing-server-list in-routing-server-list"),
        ),
        "lists": (_LISTED,),
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    _, story, *about = name.split("-")
    return (*_CLAIMS[story], *([_status_of(about[0])] if story == "answered" else []))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"flawed-answered-{method}": partial(answered, method=method) for method in _CALLS},
        "flawed-begun": begun,
        **{f"flawed-made-{method}": partial(made, method=method) for method in ("create", "read")},
        "flawed-doubled": doubled,
        **{f"flawed-linked-{shape}": partial(linked, shape=shape) for shape in ("loop", "itself", "nowhere")},
        **{f"flawed-lists-{shape}": partial(lists, shape=shape) for shape in ("itself", "round", "crowd")},
    }
)
