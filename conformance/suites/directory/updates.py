"""Stories of attributes that become empty or 0 in the directory, and of starts with the directory or an object away.

MS-MQDMPR 3.1.1, 3.1.3, 3.1.7.1.25.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.adapter.directory_store import defaults_of
from conformance.suites.directory.attributes import OWN
from conformance.suites.directory.public_queues import CHANGED, Queue
from conformance.suites.directory.scene import ONLINE_MS, OTHER_ID, Scene, ids, part_of, same
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

_BEGINS, _ONLINE, _OWN = "MQDMPR-3.1.3.", "MQDMPR-3.1.7.1.25.", "MQDMPR-3.1.1.1."
_SURVIVES, _CONSTANT = "MQDMPR-3.1.1.directory-survives", "MQDMPR-3.1.1.identifier-constant"
_PUBLIC: Final = "MQDMPR-3.1.1.2.public-attributes-in-directory"
_VALUES: Final[Mapping[str, Json]] = MappingProxyType(
    {name: value for name, (value, _) in OWN.items()} | {"site_identifier_list": [OTHER_ID]}
)
_EMPTY: Final[Mapping[str, Json]] = MappingProxyType(
    {
        name: 0 if isinstance(value, int) and not isinstance(value, bool) else False if value is True else type(value)()
        for name, value in _VALUES.items()
        if name not in ("create_time", "modify_time", "directory_server_type")
    }
)
"""Attributes of a manager's own object: values, and what is empty of each type."""
_UNSET: Final[Mapping[str, tuple[Json, Json]]] = MappingProxyType(
    {
        "PROPID_Q_LABEL": ("", ""),
        "PROPID_Q_TYPE": (str(defaults_of("queue")["type"]),) * 2,
        "PROPID_Q_JOURNAL": (False, 0),
        "PROPID_Q_QUOTA": (0, 0),
        "PROPID_Q_JOURNAL_QUOTA": (0, 0),
        "PROPID_Q_AUTHENTICATE": (False, 0),
        "PROPID_Q_PRIV_LEVEL": ("None", 0),
        "PROPID_Q_BASEPRIORITY": (0, 0),
    }
)
"""Properties of a public queue: the empty value of its attribute, and what is shown then."""


def _goes_offline(scene: Scene) -> None:
    scene.lie("read", "site", {"result": "DirectoryNotConnected"})
    scene.call("read a site", "directory.read", **{"class": "site"})


def _online(scene: Scene) -> None:
    """Let the manager find the directory again. Raises Untold."""
    scene.passes(ONLINE_MS)
    if scene.own()["offline"] is not False:
        raise Untold("the manager did not come online")


def _firm(scene: Scene) -> None:
    scene.enter("enterprise", non_ldap_capable_queue_manager_notification=False)


def own(scene: Scene, way: str) -> None:
    """Each attribute of the manager's own object goes from a value to an empty one and back, beside all others."""
    _firm(scene)
    values, empties = (scene.told("queue_manager", each) for each in (_VALUES, _EMPTY))
    scene.own_object(**values)
    scene.used()
    demands = ids(_BEGINS, "update-queue-manager queue-manager-found")
    if way == "online":
        demands = (f"{_ONLINE}own-attributes",)
    for number, (name, empty) in enumerate(empties.items()):
        given = {**(values if number % 2 else {**empties, "create_time": 5}), name: empty}
        if not number % 2:
            given |= {name: values[name]}
        if way == "online":
            _goes_offline(scene)
        scene.own_object(**given)
        if way == "online":
            _online(scene)
        elif not scene.use().ok:
            scene.shows(demands, False, {"initialized": True}, {"initialized": False})
        held = scene.own()["queue_manager"]
        for each, value in given.items():
            right = {each: value}
            scene.shows(demands, same(held, right), right, part_of(held, right))


def queue(scene: Scene) -> None:
    """Each attribute of a public queue is empty when the directory is back; the others have the values of before."""
    names = [name for name in _UNSET if scene.mq.hello.takes("properties", name)]
    scene.used()
    queues = {name: Queue(scene, name.lower(), **{each: CHANGED[each][2] for each in names}) for name in names}
    _goes_offline(scene)
    for name, each in queues.items():
        scene.enter("queue", **{**each.held(), CHANGED[name][0]: _UNSET[name][0]})
    _online(scene)
    for name, each in queues.items():
        right = {other: CHANGED[other][2] for other in names} | {name: _UNSET[name][1]}
        found = each.got(*names)
        scene.shows((f"{_ONLINE}queue-attributes-updated", _PUBLIC), same(found, right), right, part_of(found, right))


def started(scene: Scene, lacks: str, *, kill: bool) -> None:
    """A start that does not read the manager's object leaves identifier and keys; the next one reads it all.

    lacks: what is not there at the start: the directory, the object, or an answer to the read of it.
    """
    if not scene.mq.keeps_state:
        raise Untold("a restart of this connection does not find the state again")
    _firm(scene)
    values, empties = (scene.told("queue_manager", each) for each in (_VALUES, _EMPTY))
    scene.own_object(**values)
    scene.used()
    public = Queue(scene, PROPID_Q_LABEL="stays")
    if lacks == "directory":
        scene.turn("closed")
    elif lacks == "object":
        scene.mq.directory("drop", kind="queue_manager", identifier=scene.guid)
    else:
        scene.lie("read", "queue_manager", {"result": "GenericError"})
    scene.mq.restart(kill=kill)
    scene.judge.step("the manager is started again", {"restart": kill}, {})
    stays = ("public_encryption_key_list", "public_signing_key_list", "site_identifier_list")
    right: dict[str, Json] = {"identifier": scene.guid, **{name: values[name] for name in stays}}
    told = scene.call("what the manager holds of the directory", "directory.own")
    if told.ok:
        held = told.values["queue_manager"]
        scene.shows((_SURVIVES, _CONSTANT), same(held, right), right, part_of(held, right))
        integrated = told.values["integrated"]
        scene.shows(f"{_OWN}directory-integrated", integrated is True, True, integrated)
    scene.turn("answers")
    scene.own_object(**{**values, **empties, "site_identifier_list": [OTHER_ID]})
    again = scene.use()
    scene.shows(f"{_BEGINS}queue-manager-found", again.ok, {"initialized": True}, {"status": again.status})
    wanted = {**empties, "identifier": scene.guid, "site_identifier_list": [OTHER_ID]}
    held = scene.own()["queue_manager"]
    scene.shows(f"{_BEGINS}update-queue-manager", same(held, wanted), wanted, part_of(held, wanted))
    got = public.got("PROPID_Q_LABEL", "PROPID_Q_INSTANCE")
    shown = {"PROPID_Q_LABEL": "stays", "PROPID_Q_INSTANCE": public.identifier}
    shown = {name: value for name, value in shown.items() if scene.mq.hello.takes("properties", name)}
    scene.shows((_SURVIVES, _PUBLIC), same(got, shown), shown, part_of(got, shown))


def provisioned(scene: Scene, away: str, *, site: bool) -> None:
    """A manager begins its life, with a site or none, while the directory or the manager's object is away.

    Site and keys come before the directory is asked. No section says whether the call then fails: if it does, the
    manager begins once more when the directory is back.
    """
    scene.enter("site", identifier=OTHER_ID, name="mine")
    _firm(scene)
    if away == "directory":
        scene.turn("closed")
    more: dict[str, Json] = {"site": OTHER_ID} if site else {}
    answer = scene.use(provisioning=True, **more)
    if away == "directory" and not answer.ok:
        scene.turn("answers")
        answer = scene.use(provisioning=True, **more)
    if not scene.own()["offline"]:
        demands = ids(_BEGINS, "continue queue-manager-not-found")
        scene.shows(demands, answer.ok, {"initialized": True}, {"status": answer.status})
    held = scene.own()["queue_manager"]
    for word in ("encryption", "signing"):
        name = f"public_{word}_key_list"
        scene.shows(f"{_BEGINS}{word}-keys", bool(held.get(name)), {name: "keys"}, {name: held.get(name)})
    if site:
        right: dict[str, Json] = {"site_identifier_list": [OTHER_ID]}
        scene.shows(f"{_BEGINS}site-identifier", same(held, right), right, part_of(held, right))


_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "own-online": (f"{_ONLINE}own-attributes",),
        "own-again": ids(_BEGINS, "update-queue-manager queue-manager-found"),
        "queue": (f"{_ONLINE}queue-attributes-updated", _PUBLIC),
        "started": (
            *(_SURVIVES, _CONSTANT, _PUBLIC, f"{_OWN}directory-integrated"),
            *ids(_BEGINS, "update-queue-manager queue-manager-found"),
        ),
        "begins": ids(_BEGINS, "continue queue-manager-not-found encryption-keys signing-keys site-identifier"),
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    about = name.removeprefix("updates-")
    return next(found for word, found in _CLAIMS.items() if about.startswith(word))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"updates-own-{way}": partial(own, way=way) for way in ("online", "again")},
        "updates-queue": queue,
        **{
            f"updates-started-{lacks}-{'killed' if kill else 'stopped'}": partial(started, lacks=lacks, kill=kill)
            for lacks in ("directory", "object", "answer")
            for kill in (True, False)
        },
        **{
            f"updates-begins-{away}-{'site' if site else 'bare'}": partial(provisioned, away=away, site=site)
            for away in ("directory", "object")
            for site in (True, False)
        },
    }
)
