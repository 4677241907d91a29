"""Stories of the directory events: what reaches the directory, what is answered, and what follows where it is away.

MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.directory_store import defaults_of
from conformance.suites.directory.attributes import OWN
from conformance.suites.directory.public_queues import CHANGED, Queue
from conformance.suites.directory.scene import (
    NOWHERE,
    ONLINE_MS,
    OTHER_ID,
    OWN_NAME,
    Asked,
    Scene,
    asks,
    by_identifier,
    part_of,
    plain,
    same,
    where,
)
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_RESULT: Final = "MQDMPR-3.1.1.17.directory-"
RESULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Success": f"{_RESULT}success",
        "GenericError": f"{_RESULT}generic-error",
        "DirectoryNotConnected": f"{_RESULT}not-connected",
        "ObjectNotFound": f"{_RESULT}object-not-found",
        "AttributeNotFound": f"{_RESULT}attribute-not-found",
        "EndOfData": f"{_RESULT}end-of-data",
        "ObjectAlreadyExists": f"{_RESULT}object-already-exists",
    }
)
_SILENT: Final = ("msmq-1.0", "msmq-2.0", "msmq-3.0")  # versions of which notes say what else they do
WAYS_AWAY: Final = ("closed", "drops", "silent")


@dataclass(frozen=True, slots=True)
class Event:
    """An event on one object. section: of MS-MQDMPR. act: makes the call. fails: other results that it can have."""

    section: str
    method: str
    done: str
    act: Callable[[Scene, str, str, Mapping[str, Json]], Result]
    fails: tuple[str, ...]

    def demand(self, word: str) -> str:
        """Return the id of a requirement of its section."""
        return f"MQDMPR-{self.section}.{word}"


def _create(scene: Scene, kind: str, identifier: str, given: Mapping[str, Json]) -> Result:
    params: dict[str, Any] = {"class": kind, "object": dict(given)}
    scene.refer(kind, given)
    return scene.call(f"create a {kind} in the directory", "directory.create", **params)


def _delete(scene: Scene, kind: str, identifier: str, given: Mapping[str, Json]) -> Result:
    params: dict[str, Any] = {"class": kind, "identifier": identifier}
    return scene.call(f"delete a {kind} in the directory", "directory.delete", **params)


def _write(scene: Scene, kind: str, identifier: str, given: Mapping[str, Json]) -> Result:
    params: dict[str, Any] = {"class": kind, "identifier": identifier, "object": dict(given)}
    params["attributes"] = sorted(given)
    return scene.call(f"write a {kind} to the directory", "directory.write", **params)


EVENTS: Final[Mapping[str, Event]] = MappingProxyType(
    {
        "create": Event("3.1.7.1.18", "create", "created", _create, ("GenericError", "ObjectAlreadyExists")),
        "delete": Event("3.1.7.1.19", "delete", "deleted", _delete, ("GenericError", "ObjectNotFound")),
        "write": Event("3.1.7.1.24", "write", "written", _write, ("GenericError", "ObjectNotFound")),
    }
)
OBJECTS: Final[Mapping[str, tuple[Mapping[str, Json], Mapping[str, Json]]]] = MappingProxyType(
    {
        "site": (
            {"name": "north", "intra_site_replication_interval": 7},
            {"name": "south", "inter_site_replication_interval": 9},
        ),
        "queue": ({"path_name": "OTHER\\orders", "label": "old"}, {"label": "new", "base_priority": 3}),
        "queue_manager": ({OWN_NAME: "OTHER", "journal_quota": 9}, {"journal_quota": 8}),
        "routing_link": (
            {"description": "line", "actual_cost": 12, "site1_identifier": OTHER_ID, "site2_identifier": NOWHERE},
            {"actual_cost": 999_999},
        ),
        "enterprise": ({"name": "firm", "default_time_to_live": 60}, {"default_time_to_live": 61}),
        "connected_network": ({"name": "net"}, {"name": "other net"}),
        "user": ({"security_identifier": "S-1-5-21-1-2-3-1001"}, {"certificates": "AAAAAA=="}),
    }
)
"""By class: the attributes that an object is created with, and those that are written to it."""
_ANNOUNCED: Final[Mapping[tuple[str, str], tuple[str, str]]] = MappingProxyType(
    {
        ("create", "queue"): ("QueueCreation", "MQDMPR-3.1.7.1.18.change-notification"),
        ("delete", "queue"): ("QueueDeletion", "MQDMPR-3.1.7.1.19.change-notification"),
        ("write", "queue"): ("QueueUpdate", "MQDMPR-3.1.7.1.24.queue-notification"),
        ("write", "queue_manager"): ("QueueManagerUpdate", "MQDMPR-3.1.7.1.24.queue-manager-notification"),
    }
)
_ABOUT: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("create", "queue"): "MQDMPR-3.1.7.1.18.public-queue",
        ("delete", "queue"): "MQDMPR-3.1.7.1.19.public-queue",
        ("write", "queue"): "MQDMPR-3.1.7.1.24.public-queue",
        ("write", "queue_manager"): "MQDMPR-3.1.7.1.24.queue-manager-object",
    }
)


def begun(scene: Scene, event: str, kind: str, mode: str = "") -> tuple[str, Mapping[str, Json]]:
    """Integrate the manager, make the object that the event needs, and return its identifier and what is given."""
    made = scene.told(kind, OBJECTS[kind][0])
    changed = {name: value for name, value in OBJECTS[kind][1].items() if scene.tells(kind, name, written=True)}
    scene.used(mode)
    if event == "create":
        return NOWHERE, made
    return scene.enter(kind, **made), changed


def result_of(answer: Result) -> Json:
    """Return the DirectoryOperationResult that an event answers, or its status where the call has failed."""
    return answer.values.get("result") if answer.ok else f"status {answer.status}"


def answered(scene: Scene, event: str, result: str, told: Json) -> None:
    """Judge what an event answers. The first demand is the one that a wrong answer breaks. event: begins its ids."""
    words, lost = ["directory-status", "reached"], told == "DirectoryNotConnected"
    if result == "DirectoryNotConnected":
        words, lost = ["not-connected", "not-connected-status"], told in RESULTS and told != "Success"
    demands = [f"{event}{word}" for word in (reversed(words) if lost else words)]
    own = lost or told == "Success" or result == "Success"
    scene.shows([*demands, RESULTS[result]] if own else [RESULTS[result], *demands], told == result, result, told)


def event_done(scene: Scene, event: str, kind: str) -> None:
    """An event reaches the directory with what was given, and answers what the directory answered."""
    what = EVENTS[event]
    identifier, given = begun(scene, event, kind)
    answer = what.act(scene, kind, identifier, given)
    requests = scene.asked()
    about = {} if event == "create" else {"identifier": identifier}
    found = asks(requests, what.method, kind, **about)
    carried = found is not None and (event == "delete" or same(found["params"]["object"], given))
    scene.shows(what.demand(what.done), carried, {"method": what.method, **about, **given}, plain(requests))
    told = result_of(answer)
    answered(scene, what.demand(""), "Success", told)
    if event == "create" and found is not None:
        gave = found["answer"].get("identifier")
        scene.shows(what.demand("object-guid"), same(answer.values, {"identifier": gave}), gave, dict(answer.values))
    announcement(scene, event, kind, requests, done=True)


def event_narrowed(scene: Scene, event: str, kind: str) -> None:
    """An event with a list of attributes brings these to the directory, and no other that the object has."""
    what, (name, *_) = EVENTS[event], OBJECTS[kind][0]
    scene.used()
    made, changed = (scene.told(kind, each) for each in OBJECTS[kind])
    given = {**made, **changed, name: made[name]}
    scene.refer(kind, given)
    before = {**defaults_of(kind), **(made if event == "write" else {})}
    for left in [each for each in given if given[each] != before.get(each, given[each])]:
        listed = [each for each in given if each != left and (event == "create" or each != name)]
        params: dict[str, Any] = {"class": kind, "object": given, "attributes": listed}
        if event == "write":
            params["identifier"] = scene.enter(kind, **made)
        answer = scene.call(f"{event} a {kind} without {left}", f"directory.{event}", **params)
        identifier = str(params.get("identifier") or answer.values.get("identifier", NOWHERE))
        held = next((each for each in scene.objects(kind) if each["identifier"] == identifier), {})
        right = {**{each: given[each] for each in listed}, left: before[left]}
        scene.shows(what.demand(what.done), same(held, right), right, part_of(held, right))
        scene.mq.directory("drop", kind=kind, identifier=identifier)
    scene.asked()


def announcement(scene: Scene, event: str, kind: str, requests: Sequence[Asked], *, done: bool) -> None:
    """Judge the change notification: a write is announced if it has succeeded.

    By its reading, creation and deletion are announced before the directory is asked, or as a write is.
    """
    told = [each["params"]["operation"] for each in requests if each["method"] == "changed"]
    word, demand = _ANNOUNCED.get((event, kind), ("", ""))
    if scene.judge.profile in _SILENT or scene.over_ldap:
        return  # notes 21, 23, 30 and 31: it does something else; over LDAP nobody hears it
    if event == "write" and not done:
        scene.shows("MQDMPR-3.1.7.1.24.announced-on-success", not told, [], told)
    elif word:
        ways = (("before", [word]), ("after-success", [word] if done else []))
        right: list[Json] = [list(said) for way, said in ways if scene.reads("R-MQDMPR-change-notification-order", way)]
        scene.shows((demand, _ABOUT[event, kind]), told in right, right[0], told)
    else:
        scene.shows(EVENTS[event].demand("public-queue"), not told, [], told)


def event_refused(scene: Scene, event: str, kind: str, result: str) -> None:
    """The directory refuses: that is the answer, and the manager stays online."""
    what = EVENTS[event]
    identifier, given = begun(scene, event, kind)
    scene.lie(what.method, kind, {"result": result})
    told = result_of(what.act(scene, kind, identifier, given))
    answered(scene, what.demand(""), result, told)
    announcement(scene, event, kind, scene.asked(), done=False)
    offline = scene.own()["offline"]
    scene.shows(what.demand("reached"), offline is False, {"offline": False}, {"offline": offline})


def event_away(scene: Scene, event: str, kind: str, mode: str) -> None:
    """The directory is away: the event says so, the manager works offline, and looks for it after a minute."""
    what = EVENTS[event]
    identifier, given = begun(scene, event, kind, mode)
    with scene.away(mode):
        told = result_of(what.act(scene, kind, identifier, given))
        answered(scene, what.demand(""), "DirectoryNotConnected", told)
        offline = scene.own()["offline"]
        scene.shows(
            (what.demand("goes-offline"), "MQDMPR-3.1.1.1.directory-offline"),
            offline is True,
            {"offline": True},
            {"offline": offline},
        )
    scene.asked()
    scene.passes(ONLINE_MS)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows(what.demand("online-timer"), looked is not None, {"read": "queue_manager"}, plain(requests))


_READ: Final = "MQDMPR-3.1.7.1.20."


def _read(scene: Scene, kind: str, **more: Json) -> Result:
    return scene.call(f"read a {kind} from the directory", "directory.read", **{"class": kind, **more})


def read_online(scene: Scene, kind: str) -> None:
    """A read is delegated with filter and attributes, and answers what the directory answered."""
    made = scene.told(kind, OBJECTS[kind][0])
    scene.used()
    first = scene.enter(kind, **made)
    attributes = sorted(made)
    answer = _read(scene, kind, filter=by_identifier(first), attributes=attributes)
    requests = scene.asked()
    found = asks(requests, "read", kind, filter=by_identifier(first), attributes=attributes)
    scene.shows((f"{_READ}online", f"{_READ}delegated"), found is not None, {"read": kind}, plain(requests))
    told, shown = result_of(answer), answer.values.get("object")
    answered(scene, _READ, "Success", told)
    scene.shows((f"{_READ}directory-object", f"{_READ}returned-matches-filter"), same(shown, made), dict(made), shown)
    both = [*by_identifier(first), *where(attributes[0], made[attributes[0]], "NOT-EQUALS")]
    told = result_of(_read(scene, kind, filter=both))
    scene.shows(f"{_READ}returned-matches-filter", told == "ObjectNotFound", "ObjectNotFound", told)
    everything = _read(scene, kind, filter=by_identifier(first)).values.get("object")
    wanted = next(each for each in scene.objects(kind) if each["identifier"] == first)
    scene.shows(f"{_READ}directory-object", same(everything, wanted), dict(wanted), part_of(everything, wanted))
    scene.asked()
    _read(scene, kind)
    requests = scene.asked()
    bare = next((each for each in requests if each["method"] == "read"), None)
    holds = bare is not None and not bare["params"].get("filter") and "attributes" not in bare["params"]
    scene.shows(f"{_READ}null-filter-first", holds, {"filter": None}, plain(requests))


def read_refused(scene: Scene, result: str) -> None:
    """A read answers why the directory has nothing."""
    scene.used()
    if result == "GenericError":
        scene.lie("read", "site", {"result": result})
    if result == "AttributeNotFound":
        scene.enter("site", name="bare")
        if scene.over_ldap:  # where each object has a descriptor
            scene.lie("read", "site", {"result": result})
    more = {"attributes": ["security"]} if result == "AttributeNotFound" else {"filter": where("name", "nowhere")}
    told = result_of(_read(scene, "site", **more))
    answered(scene, _READ, result, told)
    offline = scene.own()["offline"]
    scene.shows(f"{_READ}reached", offline is False, {"offline": False}, {"offline": offline})


def read_offline(scene: Scene, mode: str) -> None:
    """Offline, the manager answers from what it has, and asks nobody unless it is forced."""
    scene.own_object(**scene.told("queue_manager", {name: value for name, (value, _) in OWN.items()}))
    scene.used(mode)
    first = Queue(scene, "first", PROPID_Q_LABEL="one").identifier
    second = Queue(scene, "second", PROPID_Q_LABEL="two").identifier
    scene.turn(mode)
    told = result_of(_read(scene, "site"))
    answered(scene, _READ, "DirectoryNotConnected", told)
    offline = scene.own()["offline"]
    scene.shows(f"{_READ}goes-offline", offline is True, {"offline": True}, {"offline": offline})
    scene.turn("answers")
    scene.asked()
    _offline_queues(scene, first, second)
    own = _read(scene, "queue_manager", filter=by_identifier(scene.guid))
    scene.shows((f"{_READ}offline-own-status",), result_of(own) == "Success", "Success", result_of(own))
    held = {**part_of(scene.own()["queue_manager"], OWN), OWN_NAME: scene.mq.hello.computer}
    shown = own.values.get("object")
    demands = (f"{_READ}offline-own-returned", f"{_READ}offline-own-object")
    scene.shows(demands, same(shown, held), held, part_of(shown, held))
    scene.shows(f"{_READ}offline-own-ends", not (requests := scene.asked()), [], plain(requests))
    named = _read(scene, "queue_manager", filter=where(OWN_NAME, scene.mq.hello.computer))
    scene.shows(f"{_READ}offline-own-object", result_of(named) == "Success", "Success", result_of(named))
    others = (by_identifier(NOWHERE), [*by_identifier(scene.guid), *where(OWN_NAME, "OTHER")])
    for more in (*({"filter": each} for each in others), {}):
        told = result_of(_read(scene, "queue_manager" if more else "site", **more))
        scene.shows(f"{_READ}offline-not-connected", told == "DirectoryNotConnected", "DirectoryNotConnected", told)
    scene.shows((f"{_READ}offline", f"{_READ}offline-ends"), not (requests := scene.asked()), [], plain(requests))
    told = result_of(_read(scene, "queue_manager", filter=by_identifier(scene.guid), force=True))
    requests = scene.asked()
    forced = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows((f"{_READ}online", f"{_READ}reached"), forced is not None, {"read": "queue_manager"}, plain(requests))


def _offline_queues(scene: Scene, first: str, second: str) -> None:
    """Read queues offline, by filters of each operator that knows some of the queues."""
    rows: tuple[tuple[list[dict[str, Json]], str | None], ...] = (
        (where("label", "two"), second),
        ([*where("label", "one", "NOT-EQUALS"), *by_identifier(second)], second),
        (by_identifier(first.upper()), first),
        ([*where("base_priority", -1, "GREATER-THAN"), *where("label", "two")], second),
        (where("label", "three"), None),
        ([*by_identifier(first), *where("label", "two")], None),
        ([*where("label", "two"), *by_identifier(first)], None),
    )
    for expressions, wanted in rows:
        answer = _read(scene, "queue", filter=expressions)
        told = result_of(answer)
        if wanted is None:
            lacks = ["ObjectNotFound"]
            if scene.reads("R-MQDMPR-offline-directory-read", "public-only"):
                lacks.append("DirectoryNotConnected")
            scene.shows(f"{_READ}offline-queue-not-found", told in lacks, list(lacks), told)
            continue
        shown = answer.values.get("object")
        right = {"identifier": wanted}
        scene.shows(f"{_READ}offline-queue-status", told == "Success", "Success", told)
        demands = (
            f"{_READ}offline-queue-returned",
            f"{_READ}offline-queue",
            f"{_READ}offline-queue-filter",
            f"{_READ}filter-first",
        )
        scene.shows(demands, same(shown, right), right, part_of(shown, right))
    requests = scene.asked()
    for word in ("offline", "offline-queue-ends", "offline-queue-not-found-ends"):
        scene.shows(f"{_READ}{word}", not requests, [], plain(requests))


def read_away(scene: Scene, mode: str) -> None:
    """A read that the directory does not answer is not connected; a minute later the manager looks for it."""
    scene.used(mode)
    with scene.away(mode):
        told = result_of(_read(scene, "site"))
        scene.shows(f"{_READ}not-connected-status", told == "DirectoryNotConnected", "DirectoryNotConnected", told)
    scene.asked()
    scene.passes(ONLINE_MS - 1_000)
    early = scene.asked()
    soon = asks(early, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows("MQDMPR-3.1.2.5.one-minute", soon is None, [], plain(early))
    scene.passes(1_000)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    demands = (f"{_READ}online-timer", "MQDMPR-3.1.2.5.one-minute", "MQDMPR-3.1.7.1.25.reads-own-object")
    scene.shows(demands, looked is not None, {"read": "queue_manager"}, plain(requests))


def forced_away(scene: Scene) -> None:
    """A forced read that does not reach the directory says so and leaves the manager online."""
    scene.used()
    with scene.away():
        told = result_of(_read(scene, "site", force=True))
        scene.shows(f"{_READ}reached", told == "DirectoryNotConnected", "DirectoryNotConnected", told)
        offline = scene.own()["offline"]
        scene.shows(f"{_READ}reached", offline is False, {"offline": False}, {"offline": offline})


def query(scene: Scene, kind: str) -> None:
    """A query gives each object that the filter selects, in the order asked for, until there is none."""
    scene.used()
    made, _ = OBJECTS[kind]
    attribute, values = "label" if kind == "queue" else next(iter(made)), ["b", "a", "c"]
    for value in values:
        scene.enter(kind, **{**made, **({"path_name": f"OTHER\\{value}"} if kind == "queue" else {}), attribute: value})
    order = [{"priority": 1, "ascending": True}]
    selected = where(attribute, values[2], "NOT-EQUALS")
    params: dict[str, Any] = {"class": kind, "filter": selected, "attributes": [attribute], "order": order}
    begun = scene.call(f"query each {kind}", "directory.begin", **params)
    requests = scene.asked()
    found = asks(requests, "begin", kind, filter=selected, attributes=[attribute])
    carried = found is not None and (scene.over_ldap or found["params"].get("order") == order)
    scene.shows(("MQDMPR-3.1.7.1.21.delegated",), carried and begun.ok, params, plain(requests))
    handle = begun.values.get("query")
    if handle is None:
        raise Untold("no query began")
    rows = [scene.call("the next object", "directory.next", query=handle) for _ in range(3)]
    told = [(result_of(row), (row.values.get("object") or {}).get(attribute)) for row in rows]
    wanted = [("Success", values[1]), ("Success", values[0]), ("EndOfData", None)]
    demands = ("MQDMPR-3.1.7.1.22.delegated", "MQDMPR-3.1.7.1.21.filter-each", RESULTS["EndOfData"])
    scene.shows(demands, told == wanted, [list(row) for row in wanted], [list(row) for row in told])
    ended = result_of(scene.call("end the query", "directory.end", query=handle))
    requests = scene.asked()
    over = ended == "Success" and asks(requests, "end") is not None
    if not scene.over_ldap:
        scene.shows("MQDMPR-3.1.7.1.23.delegated", over, "Success", ended)
    begun = scene.call(f"query each {kind} without a filter", "directory.begin", **{"class": kind})
    bare = asks(scene.asked(), "begin", kind)
    holds = bare is not None and not bare["params"].get("filter")
    scene.shows("MQDMPR-3.1.7.1.21.null-filter-all", holds, {"filter": None}, bare and dict(bare["params"]))


_ONLINE: Final = "MQDMPR-3.1.7.1.25."


_BEFORE: Final[Mapping[str, Json]] = MappingProxyType({"journal_quota": 1, "directory_server": True, "clustered": True})
_AFTER: Final[Mapping[str, Json]] = MappingProxyType(
    {"journal_quota": 4321, "directory_server": False, "clustered": False, "queue_manager_quota": 7}
)


def back_online(scene: Scene, *, filled: bool) -> None:
    """The directory comes back: the manager takes over its attributes and those of its public queues."""
    scene.own_object(**_BEFORE)
    scene.used()
    first = Queue(scene, "first", PROPID_Q_LABEL="one").identifier
    second = Queue(scene, "second").identifier
    if filled:
        opened = scene.call("open the queue", "queues.open", format_name=f"PUBLIC={first}", access="send")
        if not opened.ok:
            raise Untold("the public queue cannot be opened")
        scene.call("send a message", "messages.send", queue=opened.values["queue"], message={"label": "a"})
    with scene.away():
        _read(scene, "site")
        scene.passes(ONLINE_MS)
        offline = scene.own()["offline"]
        scene.shows(f"{_ONLINE}own-object-not-read", offline is True, {"offline": True}, {"offline": offline})
        scene.own_object(**_AFTER)
        queue = next(each for each in scene.objects("queue") if each["identifier"] == first)
        scene.enter("queue", **{**queue, **{attribute: value for attribute, value, *_ in CHANGED.values()}})
        scene.mq.directory("drop", kind="queue", identifier=second)
    scene.asked()
    scene.passes(ONLINE_MS)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    demands = (f"{_ONLINE}reads-own-object", f"{_ONLINE}checks-again")
    scene.shows(demands, looked is not None, {"read": "queue_manager"}, plain(requests))
    held = scene.own()
    shown = part_of(held["queue_manager"], _AFTER)
    scene.shows(f"{_ONLINE}own-attributes", same(shown, _AFTER), dict(_AFTER), shown)
    demands = (f"{_ONLINE}goes-online", f"{_ONLINE}own-object-read")
    scene.shows(demands, held["offline"] is False, {"offline": False}, {"offline": held["offline"]})
    read = all(asks(requests, "read", "queue", filter=by_identifier(each)) is not None for each in (first, second))
    scene.shows(f"{_ONLINE}reads-public-queues", read, {"read": [first, second]}, plain(requests))
    names = [name for name in CHANGED if scene.mq.hello.takes("properties", name)]
    shows = {each: CHANGED[each][2] for each in names}
    got = scene.call("read the queue", "queues.get", format_name=f"PUBLIC={first}", properties=names)
    taken = got.values.get("properties")
    demands = (f"{_ONLINE}queue-attributes-updated", "MQDMPR-3.1.1.2.public-attributes-in-directory")
    scene.shows(demands, same(taken, shows), dict(shows), taken)
    label = ["PROPID_Q_LABEL"]
    kept = scene.call("read the label", "queues.get", format_name=f"PUBLIC={second}", properties=label)
    shown_label = (kept.values.get("properties") or {}).get(label[0])
    scene.shows(f"{_ONLINE}queue-read", shown_label == "", "", shown_label)


def check_refused(scene: Scene, result: str) -> None:
    """The directory is reached again but does not have the manager's object: the next check comes all the same."""
    scene.used()
    with scene.away():
        _read(scene, "site")
    scene.lie("read", "queue_manager", {"result": result})
    scene.passes(ONLINE_MS)
    offline = scene.own()["offline"]
    scene.shows(f"{_ONLINE}own-object-not-read", offline is True, {"offline": True}, {"offline": offline})
    scene.asked()
    scene.passes(ONLINE_MS)
    requests = scene.asked()
    looked = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    scene.shows(f"{_ONLINE}checks-again", looked is not None, {"read": "queue_manager"}, plain(requests))
    offline = scene.own()["offline"]
    scene.shows(f"{_ONLINE}goes-online", offline is False, {"offline": False}, {"offline": offline})


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"{event}-{kind}": partial(event_done, event=event, kind=kind) for event in EVENTS for kind in OBJECTS},
        **{
            f"{event}-{kind}-{result}": partial(event_refused, event=event, kind=kind, result=result)
            for event, what in EVENTS.items()
            for kind in ("site", "queue", "queue_manager")
            for result in what.fails
        },
        **{
            f"{event}-{kind}-{mode}": partial(event_away, event=event, kind=kind, mode=mode)
            for event in EVENTS
            for kind in ("site", "queue")
            for mode in WAYS_AWAY
        },
        **{
            f"{event}-{kind}-narrowed": partial(event_narrowed, event=event, kind=kind)
            for event in ("create", "write")
            for kind in ("site", "queue", "routing_link")
        },
        **{f"read-{kind}": partial(read_online, kind=kind) for kind in OBJECTS},
        **{
            f"read-{result}": partial(read_refused, result=result)
            for result in ("ObjectNotFound", "AttributeNotFound", "GenericError")
        },
        **{f"offline-{mode}": partial(read_offline, mode=mode) for mode in WAYS_AWAY},
        **{f"read-{mode}": partial(read_away, mode=mode) for mode in WAYS_AWAY},
        "forced-away": forced_away,
        **{f"query-{kind}": partial(query, kind=kind) for kind in ("site", "queue", "routing_link")},
        "back-online": partial(back_online, filled=False),
        "back-online-filled": partial(back_online, filled=True),
        **{f"check-{result}": partial(check_refused, result=result) for result in ("ObjectNotFound", "GenericError")},
    }
)
