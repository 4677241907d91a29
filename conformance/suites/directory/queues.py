"""Stories of public queues, which are in the directory, and of distribution lists.

MS-MQDMPR 3.1.7.1.3, 3.1.7.1.3.1, 3.1.7.1.4, 3.1.7.1.5, 3.1.7.3.8.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.model.descriptors import DACL, OWNER
from conformance.model.rights import ANONYMOUS, EVERYBODY, QUEUE_RIGHTS
from conformance.spec.constants.hresults import (
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)
from conformance.suites.directory.scene import NOWHERE, Asked, Scene, asks, by_identifier, ids, part_of, plain, same
from conformance.suites.security.scene import queue_target
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_MAKES, _DELETES, _OPENS = "MQDMPR-3.1.7.1.3.", "MQDMPR-3.1.7.1.4.", "MQDMPR-3.1.7.1.5."
_LISTS: Final = "MQDMPR-3.1.7.3.8."
_PATHS: Final = ["full_path", "directory_path"]
_MOST_MEMBERS: Final = (10_000, 100)  # over LDAP, each is a search of its own
FAILURES: Final = ("GenericError", "ObjectAlreadyExists", "closed")


def _path(scene: Scene, name: str) -> str:
    return f"{scene.mq.hello.computer}\\{name}"


def _created(scene: Scene, path: str, **properties: Json) -> Result:
    params: dict[str, Any] = {"path_name": path, **({"properties": properties} if properties else {})}
    return scene.call(f"create {path}", "queues.create", **params)


def _opened(scene: Scene, name: str, access: str = "send") -> Result:
    return scene.call(f"open {name[:80]} for {access}", "queues.open", format_name=name, access=access)


def created(scene: Scene) -> None:
    """A public queue is created in the directory, and has the identifier and the paths that the directory gave."""
    scene.used()
    _entered(scene, "orders", ("PROPID_Q_LABEL", "PROPID_Q_BASEPRIORITY"))
    private = _created(scene, _path(scene, "private$\\orders"))
    if private.ok:
        told = _about_queues(scene.asked())
        scene.shows(("MQDMPR-3.1.1.2.queue-type-private", f"{_MAKES}directory-object"), not told, [], told)


def created_with(scene: Scene, name: str) -> None:
    """The same of a queue that is created with a property, alone and beside each other one."""
    scene.mq.need("properties", name)
    scene.used()
    others = [each for each in _GIVEN if each != name and scene.mq.hello.takes("properties", each)]
    for number, names in enumerate([(name,), *((name, each) for each in others)]):
        _entered(scene, f"orders{number}", names if number % 2 else names[::-1])
    held = list(scene.objects("queue"))
    scene.lie("read", "site", {"result": "DirectoryNotConnected"})
    scene.call("read a site", "directory.read", **{"class": "site"})
    for each in held:
        params: dict[str, Any] = {"class": "queue", "filter": by_identifier(str(each["identifier"]))}
        shown = scene.call("read the paths offline", "directory.read", attributes=_PATHS, **params).values.get("object")
        right = {path: each[path] for path in _PATHS}
        demands = (f"{_MAKES}paths-set", *ids("MQDMPR-3.1.1.2.", "full-path directory-path"))
        scene.shows(demands, same(shown, right), right, part_of(shown, right))


def _entered(scene: Scene, word: str, names: Sequence[str]) -> None:
    """Create a public queue with some properties, and judge what the directory is asked and what the queue then has."""
    path = _path(scene, word)
    scene.asked()
    answer = _created(scene, path, **{name: _GIVEN[name][0] for name in names})
    requests = scene.asked()
    wanted = {"path_name": path, **{_GIVEN[name][1]: _GIVEN[name][2] for name in names}}
    found = asks(requests, "create", "queue")
    carried = found is not None and same(found["params"]["object"], wanted)
    words = ("directory-object", "directory-object-created", "skip-directory-default")
    scene.shows(
        ("MQDMPR-3.1.1.2.queue-type-public", *(f"{_MAKES}{word}" for word in words)), carried, wanted, plain(requests)
    )
    if found is not None:
        scope = {"scope": found["params"]["object"].get("scope")}
        scene.shows("MQDMPR-3.1.1.2.scope-not-in-directory", scope["scope"] is None, {"scope": None}, scope)
    if found is None or not answer.ok:
        scene.shows(f"{_MAKES}public-type", answer.ok, {"created": True}, {"status": answer.status})
        return
    identifier = str(found["answer"].get("identifier"))
    name = f"PUBLIC={identifier}"
    shows = {"PROPID_Q_INSTANCE": identifier, **{each: _GIVEN[each][0] for each in names}}
    shows = {each: value for each, value in shows.items() if scene.mq.hello.takes("properties", each)}
    got = scene.call("read what was given", "queues.get", format_name=name, properties=list(shows))
    shown = got.values.get("properties") or {}
    for each, value in shows.items():
        demands = ids(_MAKES, "directory-identifier identifier-set public-type")
        if each in _GIVEN:
            demands = (f"{_MAKES}attribute-{_GIVEN[each][4]}",)
        scene.shows(demands, same(shown, {each: value}), {each: value}, part_of(shown, {each: value}))
    read = asks(requests, "read", "queue", filter=by_identifier(identifier), attributes=_PATHS)
    scene.shows(f"{_MAKES}directory-paths", read is not None, {"read": "queue", "attributes": _PATHS}, plain(requests))
    held = next(each for each in scene.objects("queue") if each["identifier"] == identifier)
    _paths(scene, name, held["full_path"], held["directory_path"], ("full-path", "directory-path"))


_GIVEN: Final[Mapping[str, tuple[int | str, str, Json, Json, str]]] = MappingProxyType(
    {
        "PROPID_Q_LABEL": ("orders", "label", "orders", "", "label"),
        "PROPID_Q_TYPE": (NOWHERE, "type", NOWHERE, "00000000-0000-0000-0000-000000000000", "type"),
        "PROPID_Q_JOURNAL": (1, "journaling", True, False, "journaling"),
        "PROPID_Q_QUOTA": (9, "quota", 9, 0xFFFFFFFF, "quota"),
        "PROPID_Q_JOURNAL_QUOTA": (7, "journal_quota", 7, 0xFFFFFFFF, "journal-quota"),
        "PROPID_Q_BASEPRIORITY": (-3, "base_priority", -3, 0, "base-priority"),
        "PROPID_Q_AUTHENTICATE": (1, "authentication", True, False, "authentication"),
        "PROPID_Q_PRIV_LEVEL": (2, "privacy_level", "Body", "Optional", "privacy-level"),
        "PROPID_Q_TRANSACTION": (1, "transactional", True, False, "transactional"),
    }
)
"""Properties of a new queue: a value, the attribute of its object with that value and by default, the entry's word."""


def copied(scene: Scene) -> None:
    """A queue that is created with each two properties has them in the directory, and all others by default."""
    scene.used()
    names = [name for name in _GIVEN if scene.mq.hello.takes("properties", name)]
    pairs = [(), tuple(names), *itertools.combinations(names, 2)]
    for number, pair in enumerate(pairs):
        path = _path(scene, f"orders{number}")
        given = {name: _GIVEN[name][0] for name in pair}
        if not _created(scene, path, **given).ok:
            continue
        held = next((each for each in scene.objects("queue") if same(each, {"path_name": path})), None)
        for name, (_, attribute, value, default, word) in _GIVEN.items():
            right = {attribute: value if name in pair else default}
            shown = part_of(held, right)
            scene.shows(f"{_MAKES}attribute-{word}", same(held, right), {**given, **right}, {**given, **shown})
        if not scene.tells("queue", "qualified_path_name"):
            continue
        computer, _, rest = str((held or {}).get("qualified_path_name")).partition("\\")
        full = computer.lower().startswith(f"{scene.mq.hello.computer}.".lower()) and rest == f"orders{number}"
        demands = ("MQDMPR-3.1.1.2.qualified-pathname", "MQDMPR-3.1.1.2.qualified-pathname-fqdn")
        scene.shows(demands, full, "a full computer name and the name of the queue", f"{computer}\\{rest}")
    scene.asked()


def _about_queues(requests: Sequence[Asked]) -> Json:
    """Return the requests that change or announce something of queues; whoever reads there changes nothing."""
    changes = ("create", "delete", "write")
    return plain(
        [
            each
            for each in requests
            if each["method"] == "changed" or (each["method"] in changes and each["params"]["class"] == "queue")
        ]
    )


def _paths(scene: Scene, name: str, full: str, directory: str, words: Sequence[str]) -> None:
    """Judge FullPath and DirectoryPath of a queue as its properties tell them."""
    names = ["PROPID_Q_FULL_PATH", "PROPID_Q_ADS_PATH"]
    if not all(scene.mq.hello.takes("properties", each) for each in names):
        return
    got = scene.call("read the paths", "queues.get", format_name=name, properties=names)
    if not got.ok:
        return
    shown = got.values.get("properties") or {}
    wanted = dict(zip(names, (full, directory), strict=True))
    demands = (f"{_MAKES}directory-paths", *(f"MQDMPR-3.1.1.2.{word}" for word in words))
    scene.shows(demands, same(shown, wanted), wanted, part_of(shown, wanted))


def paths_unread(scene: Scene) -> None:
    """Where the object cannot be read back, the queue is created all the same, without paths."""
    if scene.over_ldap:
        raise Untold("over LDAP, who adds an object reads it to learn its identifier")
    scene.used()
    scene.lie("read", "queue", {"result": "GenericError"})
    answer = _created(scene, _path(scene, "orders"))
    found = asks(scene.asked(), "create", "queue")
    scene.shows(f"{_MAKES}paths-set", answer.ok, {"created": True}, {"status": answer.status})
    if answer.ok and found is not None:
        identifier = str(found["answer"]["identifier"])
        _paths(scene, f"PUBLIC={identifier}", "", "", ())
        scene.turn("closed")
        scene.call("read a site", "directory.read", **{"class": "site"})
        params: dict[str, Any] = {"class": "queue", "filter": by_identifier(identifier), "attributes": _PATHS}
        shown = scene.call("read the paths offline", "directory.read", **params).values.get("object")
        right = dict.fromkeys(_PATHS, "")
        demands = ids(_MAKES, "full-path-empty directory-path-empty paths-set")
        scene.shows(demands, same(shown, right), dict(right), part_of(shown, right))


def not_created(scene: Scene, failure: str) -> None:
    """The directory refuses the queue: the creation fails, and there is no queue."""
    scene.used()
    if failure == "closed":
        scene.turn(failure)
    else:
        scene.lie("create", "queue", {"result": failure})
    path = _path(scene, "orders")
    answer = _created(scene, path)
    scene.shows(f"{_MAKES}directory-failure", not answer.ok, {"created": False}, {"status": answer.status})
    scene.turn("answers")
    opened = _opened(scene, f"DIRECT=OS:{path}", "receive")
    demand = f"{_MAKES}directory-failure-ends"
    scene.shows(demand, not opened.ok, {"opened": False}, {"status": opened.status})


def deleted(scene: Scene, failure: str = "") -> None:
    """A public queue is deleted in the directory too; where that fails, the deletion fails, and the queue is gone."""
    scene.used()
    path = _path(scene, "orders")
    if not _created(scene, path).ok:
        return
    held = next((each for each in scene.objects("queue") if same(each, {"path_name": path})), None)
    scene.asked()
    if held is None:
        return
    if failure == "closed":
        scene.turn(failure)
    elif failure:
        scene.lie("delete", "queue", {"result": failure})
    answer = scene.call("delete the queue", "queues.delete", format_name=f"PUBLIC={held['identifier']}")
    scene.turn("answers")
    requests = scene.asked()
    if failure:
        failed = (f"{_DELETES}directory-failure", f"{_DELETES}directory-failure-returned")
        scene.shows(failed, not answer.ok, {"deleted": False}, {"status": answer.status})
        if not scene.reads("R-MQDMPR-delete-directory-failure", "kept"):
            opened = _opened(scene, f"DIRECT=OS:{path}", "receive")
            scene.shows(f"{_DELETES}directory-failure", not opened.ok, {"opened": False}, {"status": opened.status})
        return
    found = asks(requests, "delete", "queue", identifier=held["identifier"])
    demands = (
        f"{_DELETES}directory-object",
        f"{_DELETES}directory-object-deleted",
        f"{_DELETES}skip-directory-default",
    )
    scene.shows(demands, found is not None and answer.ok, {"delete": "queue"}, plain(requests))
    if _created(scene, _path(scene, "private$\\orders")).ok:
        scene.asked()
        scene.call(
            "delete a private queue", "queues.delete", format_name=f"DIRECT=OS:{_path(scene, 'private$')}\\orders"
        )
        told = _about_queues(scene.asked())
        scene.shows(f"{_DELETES}directory-object", not told, [], told)


def opened_elsewhere(scene: Scene) -> None:
    """A public queue of another computer is looked up by its identifier, and opened for send."""
    scene.used()
    identifier = scene.enter("queue", path_name="OTHER\\prices", base_priority=7)
    answer = _opened(scene, f"PUBLIC={identifier.upper()}")
    requests = scene.asked()
    reads = [each for each in requests if asks([each], "read", "queue", filter=by_identifier(identifier)) is not None]
    words = ("public-looked-up", "public-identifier", "public-object", "outgoing-public-looked-up")
    demands = [f"{_OPENS}{word}" for word in (*words, "outgoing-public-identifier")]
    scene.shows(demands, bool(reads) and answer.ok, {"read": "queue", "identifier": identifier}, plain(requests))


def opened_here(scene: Scene) -> None:
    """The directory places a queue on this computer, which does not have it."""
    scene.used()
    identifier = scene.enter("queue", path_name=_path(scene, "lost"))
    answer = _opened(scene, f"PUBLIC={identifier}")
    demands = [f"{_OPENS}public-local-not-found", f"{_OPENS}public-local-not-found-ends", f"{_OPENS}public-object"]
    scene.shows(demands, not answer.ok, {"opened": False}, {"status": answer.status})
    code = f"{_OPENS}public-local-not-found-code"
    scene.shows(code, answer.status == MQ_ERROR_QUEUE_NOT_FOUND, MQ_ERROR_QUEUE_NOT_FOUND, answer.status)


def opened_nowhere(scene: Scene, result: str) -> None:
    """The directory does not have the queue, or cannot say: the name cannot be used."""
    scene.used()
    if result == "closed":
        scene.turn(result)
    elif result != "ObjectNotFound":
        scene.lie("read", "queue", {"result": result}, times=2)
    answer = _opened(scene, f"PUBLIC={NOWHERE}")
    scene.turn("answers")
    demands = [f"{_OPENS}public-not-found", f"{_OPENS}public-look-up-failed"]
    scene.shows(demands, not answer.ok, {"opened": False}, {"status": answer.status})
    wanted = [MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION]
    if scene.reads("R-MQDMPR-unknown-public-queue-status", "queue-not-found"):
        wanted.append(MQ_ERROR_QUEUE_NOT_FOUND)
    scene.shows(f"{_OPENS}public-not-found-code", answer.status in wanted, list(wanted), answer.status)


def lost_between(scene: Scene) -> None:
    """The queue goes from the directory between the two looks: the open fails, and nothing is open."""
    scene.used()
    identifier = scene.enter("queue", path_name="OTHER\\prices")
    found = next(each for each in scene.objects("queue") if each["identifier"] == identifier)
    scene.lie("read", "queue", {"result": "Success", "object": dict(found)})
    scene.lie("read", "queue", {"result": "ObjectNotFound"})
    answer = _opened(scene, f"PUBLIC={identifier}")
    if len([each for each in scene.asked() if each["method"] == "read"]) < 2:
        return  # a manager that looks once has nothing between
    words = ("outgoing-not-found", "outgoing-not-found-ends", "outgoing-public-found")
    scene.shows([f"{_OPENS}{word}" for word in words], not answer.ok, {"opened": False}, {"status": answer.status})
    code = f"{_OPENS}outgoing-not-found-code"
    scene.shows(code, answer.status == MQ_ERROR_QUEUE_NOT_FOUND, MQ_ERROR_QUEUE_NOT_FOUND, answer.status)


def _listed(scene: Scene, *members: str) -> str:
    return f"DL={scene.enter('distribution_list', members=list(members))}"


def _received(scene: Scene, queues: Sequence[str]) -> list[int]:
    """Return how many messages are in each of these queues."""
    return [int(scene.call("count", "queues.counts", format_name=name).values.get("messages", -1)) for name in queues]


def _resolved(requests: Sequence[Asked], names: Sequence[str]) -> bool:
    return all(asks(requests, "resolve", format_name=name) is not None for name in names)


def list_opened(scene: Scene, shape: str) -> None:
    """A message for a list comes once to each member, nested lists among them."""
    scene.used()
    names = [f"DIRECT=OS:{_path(scene, 'private$' + chr(92) + word)}" for word in ("a", "b", "c")]
    for word in ("a", "b", "c"):
        if not _created(scene, _path(scene, f"private$\\{word}")).ok:
            return
    inner, last = _listed(scene, names[1], names[2]), _listed(scene, names[2])
    lists = {
        "flat": ([_listed(scene, *names)], ()),
        "one": ([_listed(scene, names[0])], ()),
        "nested": ([_listed(scene, names[0], inner)], (inner,)),
        "doubled": ([_listed(scene, names[0], names[0].lower(), inner, names[1])], (inner,)),
        "beside": ([names[0], inner], ()),
        "several": ([_listed(scene, names[0]), _listed(scene, names[1]), last], ()),
        "many": (
            [
                _listed(
                    scene, *names, *(f"DIRECT=OS:OTHER\\private$\\{n}" for n in range(_MOST_MEMBERS[scene.over_ldap]))
                )
            ],
            (),
        ),
    }
    elements, also = lists[shape]
    if also and scene.reads("R-MQDMPR-expand-format-name", "one-pass"):
        raise Untold("a list in a list need not be looked at")
    name = ",".join(elements)
    opened = _opened(scene, name)
    requests = scene.asked()
    wanted = [each for each in (*elements, *also) if each.startswith("DL=")]
    words = ["list-element", "list-resolved", "work-list", *(["each-element"] if also or "," in name else [])]
    scene.shows(
        [f"{_LISTS}{word}" for word in words], _resolved(requests, wanted), {"resolve": wanted}, plain(requests)
    )
    demands = [f"{_OPENS}expanded", f"{_OPENS}expanded-replaces", f"{_LISTS}joined-status"]
    scene.shows(demands, opened.ok, {"opened": True}, {"status": opened.status})
    if not opened.ok or shape == "many":
        return
    scene.call("send to the list", "messages.send", queue=opened.values["queue"], message={"label": "to all"})
    counts = _received(scene, names)
    each_one = [1, 1, 1] if shape != "one" else [1, 0, 0]
    scene.shows([f"{_LISTS}list-replaced", f"{_LISTS}joined", *demands[:2]], counts == each_one, each_one, counts)


def list_lost(scene: Scene, shape: str) -> None:
    """A list that the directory does not have, alone, nested or beside a queue, fails the whole open."""
    scene.used()
    lost = f"DL={NOWHERE}"
    here = f"DIRECT=OS:{_path(scene, 'private$')}\\a"
    if not _created(scene, _path(scene, "private$\\a")).ok:
        return
    name = {"alone": lost, "nested": _listed(scene, here, lost), "beside": f"{here},{lost}"}[shape]
    if shape == "nested" and scene.reads("R-MQDMPR-expand-format-name", "one-pass"):
        raise Untold("a list in a list need not be looked at")
    opened = _opened(scene, name)
    demands = (f"{_LISTS}list-failed", f"{_OPENS}distribution-list-failure")
    scene.shows(demands, not opened.ok, {"opened": False}, {"status": opened.status})


_DEFAULT: Final = "MQDMPR-3.1.7.1.3.1."
BY_CALL: Final = tuple(
    ids(_DEFAULT, words) for words in ("directory-mode machine-sid-read", "machine-sid-set", "machine-sid-unread")
)


def machine_entry(scene: Scene, make: Callable[[Scene], str], demands: Sequence[Sequence[str]], *, known: bool) -> None:
    """The computer's account is looked up in the directory, and has its entry in the descriptor of a new queue.

    make: creates a queue and returns its format name. demands: the requirements on the look, and on the entry if the
    account is known and if it is not.
    """
    scene.used()
    sid, computer = "S-1-5-21-9-8-7-1234", scene.mq.hello.computer
    if known:
        scene.enter("computer", sam_account=f"{computer[:19]}$", dns_host_name=computer, security_identifier=sid)
    scene.asked()
    name = make(scene)
    requests = scene.asked()
    looked, *of_entry = demands
    read = asks(requests, "read", "computer")
    wanted = {"read": "computer", "attributes": ["security_identifier"]}
    scene.shows(looked, read is not None, wanted, plain(requests))
    if read is None or not scene.mq.offers("security.get"):
        return
    found = scene.descriptor(queue_target(name), DACL | OWNER)
    right = QUEUE_RIGHTS["get-queue-properties"] | QUEUE_RIGHTS["get-queue-permissions"]
    entries = [each for each in found.dacl or () if each.sid not in (EVERYBODY, ANONYMOUS, found.owner)]
    machines: Json = [[each.sid, each.mask] for each in entries if each.sid == sid or each.mask == right]
    scene.shows(of_entry[not known], machines == [[sid, right]] * known, [[sid, right]] * known, machines)


def list_of_one(scene: Scene) -> None:
    """A list of one queue is that queue: it can be opened for receive, which several cannot."""
    scene.used()
    names = [f"DIRECT=OS:{_path(scene, 'private$' + chr(92) + word)}" for word in ("a", "b")]
    if not all(_created(scene, name.removeprefix("DIRECT=OS:")).ok for name in names):
        return
    demands = (f"{_OPENS}expanded", f"{_OPENS}expanded-replaces")
    for members in (names[:1], names):
        opened = _opened(scene, _listed(scene, *members), "receive")
        one = len(members) == 1
        scene.shows(demands, opened.ok is one, {"members": len(members), "opened": one}, {"status": opened.status})


SHAPES: Final = ("flat", "one", "nested", "doubled", "beside", "several", "many")
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        "created": created,
        **{f"created-{name}": partial(created_with, name=name) for name in _GIVEN},
        "copied": copied,
        "paths-unread": paths_unread,
        **{f"not-created-{failure}": partial(not_created, failure=failure) for failure in FAILURES},
        "deleted": deleted,
        **{f"not-deleted-{failure}": partial(deleted, failure=failure) for failure in ("GenericError", "closed")},
        "opened-elsewhere": opened_elsewhere,
        "opened-here": opened_here,
        **{
            f"opened-nowhere-{result}": partial(opened_nowhere, result=result)
            for result in ("ObjectNotFound", "GenericError", "closed")
        },
        "lost-between": lost_between,
        **{f"list-{shape}": partial(list_opened, shape=shape) for shape in SHAPES},
        "list-of-one": list_of_one,
        **{f"list-lost-{shape}": partial(list_lost, shape=shape) for shape in ("alone", "nested", "beside")},
        "machine-known": partial(machine_entry, make=Scene.queue, demands=BY_CALL, known=True),
        "machine-unknown": partial(machine_entry, make=Scene.queue, demands=BY_CALL, known=False),
    }
)
