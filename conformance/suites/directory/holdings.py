"""Stories of what a manager with a directory has: kinds of queues, room, keys, names that it gives out.

MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.1.7, MS-MQMQ 2.1.5, 2.2.18.1.4.2, 2.3.2, 2.3.5.2, 2.3.12, MS-MQMR 3.1.4.1.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.grammar.queue_format import is_format_name
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.directory.initialization import PROVIDERS
from conformance.suites.directory.properties import vt_of
from conformance.suites.directory.scene import Scene, plain
from conformance.suites.story_table import Untold
from conformance.wire import dissect
from conformance.wire.security_items import public_key_blob
from conformance.wire.structures.reading import encode

if TYPE_CHECKING:
    from conformance.verdict import Json

_QUEUE, _MANAGER, _PROPERTY = "MQDMPR-3.1.1.2.queue-type", "MQDMPR-3.1.1.1.", "MQMQ-2.3."
_LIST: Final = "MQMQ-2.2.18.1.4.2."
_NULL: Final = ENUMERATIONS["VARENUM"].members["VT_NULL"]
_ROOM_KB, _BODY = 100, 40_000
"""QueueManagerQuota in kilobytes, into which two bodies of so many bytes go and a third does not."""
_SYSTEM: Final = ("JOURNAL", "DEADLETTER", "DEADXACT")
_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PROPID_QM_ENCRYPTION_PK": "Microsoft Base Cryptographic Provider v1.0",
        "PROPID_QM_ENCRYPTION_PK_BASE": "Microsoft Base Cryptographic Provider v1.0",
        "PROPID_QM_ENCRYPTION_PK_ENHANCED": "Microsoft Enhanced Cryptographic Provider v1.0",
    }
)
"""Properties with a public key, and the provider whose key it is."""


@dataclass(frozen=True, slots=True)
class Story:
    """An act with a manager. claims: requirements that it can show. needs: further methods."""

    act: Callable[[Scene], None]
    claims: tuple[str, ...]
    needs: tuple[str, ...]


def _queue(scene: Scene, name: str) -> str:
    made = scene.call(f"create {name}", "queues.create", path_name=f"{scene.mq.hello.computer}\\{name}")
    if not made.ok:
        raise Untold("a queue cannot be created")
    return str(made.values["format_name"])


def _managed(scene: Scene, format_name: str, name: str) -> Json:
    """Return a management property of a queue. Raises Untold."""
    target = {"type": "queue", "format_name": format_name}
    words = f"ask for PROPID_MGMT_QUEUE_{name}"
    number = PROPERTIES[f"PROPID_MGMT_QUEUE_{name}"].value
    answer = scene.call(words, "management.get", target=target, properties=[number])
    if not answer.ok or "value" not in answer.values["values"][0]:
        raise Untold("the driver does not tell this of the queue")
    return answer.values["values"][0]["value"]


def _system_queues(scene: Scene) -> Iterator[str]:
    if scene.mq.hello.takes("format_names", "dead_letter") and scene.mq.hello.takes("format_names", "machine"):
        yield from (f"MACHINE={scene.guid};{suffix}" for suffix in _SYSTEM)


def kinds(scene: Scene) -> None:
    """A queue is public or private by its path name, after a restart too; system queues are not in the directory."""
    scene.used()
    wanted = {_queue(scene, "orders"): "PUBLIC", _queue(scene, "private$\\orders"): "PRIVATE"}
    names = [*wanted, *_system_queues(scene)]
    for again in (False, True)[: 1 + scene.mq.keeps_state]:
        if again:
            scene.mq.restart(kill=False)
            scene.judge.step("the manager is stopped", {"restart": True}, {})
        for name in names:
            right, actual = wanted.get(name, "MACHINE"), _managed(scene, name, "TYPE")
            scene.shows(f"{_QUEUE}-system" if name not in wanted else _QUEUE, actual == right, {name: right}, actual)
    held = [each["path_name"] for each in scene.objects("queue")]
    public = f"{scene.mq.hello.computer}\\orders"
    scene.shows(f"{_QUEUE}-system", [str(each).lower() for each in held] == [public.lower()], [public], held)


def foreign(scene: Scene, *, system: bool) -> None:
    """The queues of a foreign system are foreign; of others they are not."""
    scene.own_object(foreign_system=system)
    scene.used()
    right = "YES" if system else "NO"
    for name in (_queue(scene, "orders"), _queue(scene, "private$\\orders")):
        actual = _managed(scene, name, "FOREIGN")
        scene.shows(f"{_PROPERTY}12.6.mgmt-queue-foreign-type", actual == right, right, actual)


def foreign_offline(scene: Scene) -> None:
    """Offline nobody knows whether a public queue is foreign; a private one is not."""
    scene.used()
    names = _queue(scene, "orders"), _queue(scene, "private$\\orders")
    with scene.away():
        scene.call("create a queue", "queues.create", path_name=f"{scene.mq.hello.computer}\\more")
        if scene.own()["offline"] is not True:
            raise Untold("the manager is not offline")
        public, private = (_managed(scene, name, "FOREIGN") for name in names)
    unknown = ["UNKNOWN", *(["Unknown"] if scene.reads("R-MQMQ-unknown-spelling", "mixed-case") else [])]
    right: Json = {"public": list(unknown), "private": "NO"}
    actual: Json = {"public": public, "private": private}
    scene.shows(f"{_PROPERTY}12.6.mgmt-queue-unknown-type", public in unknown and private == "NO", right, actual)


def _sends(scene: Scene) -> list[bool]:
    """Return whether each of three messages, in two queues, has found room."""
    handles = [
        scene.call("open for send", "queues.open", format_name=_queue(scene, f"private$\\{name}"), access="send")
        for name in ("one", "two")
    ]
    if not all(each.ok for each in handles):
        raise Untold("the queues cannot be opened")
    body = base64.b64encode(bytes(_BODY)).decode()
    return [
        scene.call("send", "messages.send", queue=handles[at].values["queue"], message={"body": body}).ok
        for at in (0, 1, 0)
    ]


def room(scene: Scene, *, limited: bool) -> None:
    """Messages of all queues together have the room that the directory gives the manager, and by default a lot."""
    if int((scene.mq.hello.limits or {}).get("max_body_bytes", _BODY)) < _BODY:
        raise Untold("the driver has no body of this length")
    unit = 1 if scene.reads("R-MQDMPR-quota-unit", "kilobytes") else 1_000
    scene.own_object(**({"queue_manager_quota": _ROOM_KB * unit} if limited else {}))
    scene.used()
    sent, wanted = _sends(scene), [True, True, not limited]
    if not sent[0] and unit == 1 and scene.reads("R-MQDMPR-quota-unit", "bytes"):
        raise Untold("the quota is in bytes")
    scene.shows(f"{_MANAGER}queue-manager-quota", sent == wanted, list(wanted), list(sent))


def servers(scene: Scene) -> None:
    """A manager has no directory server at first, and then the one that somebody names."""
    number = PROPERTIES["PROPID_MGMT_MSMQ_DSSERVER"].value
    told: list[Json] = []
    for name in ("", "DC1"):
        if name:
            scene.call("name a directory server", "directory", objects=[], server=name)
        words = "ask for PROPID_MGMT_MSMQ_DSSERVER"
        answer = scene.call(words, "management.get", target={"type": "machine"}, properties=[number])
        told.append(answer.values["values"][0].get("value") if answer.ok else None)
    if told[1] is None:
        raise Untold("the driver does not tell the directory server")
    right: list[Json] = [None, r"\\DC1"]
    scene.shows(f"{_MANAGER}directory-server-name-list", told == right, right, told)


def names_apart(scene: Scene) -> None:
    """A second site of one name is not created, and the manager says so."""
    scene.used()
    params: dict[str, Any] = {"class": "site", "object": {"name": "north"}}
    told = [scene.call("create a site", "directory.create", **params).values.get("result") for _ in range(2)]
    held = [each["name"] for each in scene.objects("site")]
    right = told == ["Success", "ObjectAlreadyExists"] and held == ["north"]
    scene.shows("MQDMPR-3.1.1.7.name-unique", right, {"sites": ["north"]}, {"sites": list(held), "answers": told})


def lists_named(scene: Scene) -> None:
    """The name of a list, with which the manager asks for its members, is the name of a list."""
    if scene.over_ldap:
        raise Untold("LDAP has no format name for a list")
    scene.used()
    member = _queue(scene, "private$\\orders")
    identifier = scene.enter("distribution_list", members=[member])
    for name in (f"DL={identifier}", f"dl={identifier.upper()}", f"DL={identifier}@domain.example"):
        scene.asked()
        scene.call("open a list", "queues.open", format_name=name, access="send")
        requests = [each for each in scene.asked() if each["method"] == "resolve"]
        given = [str(each["params"]["format_name"]) for each in requests]
        right = all(each.upper().startswith("DL=") and is_format_name(each) for each in given)
        if given:
            scene.shows("MQMQ-2.1.5.sent", right, {"resolve": name}, plain(requests))


def lists_packed(scene: Scene) -> None:
    """A packet for a list has the identifier that the directory gave the list."""
    scene.used()
    direct, identifier = "DIRECT=OS:OTHER\\private$\\orders", scene.enter("distribution_list", members=[])
    message = {"destination": direct, "destinations": [direct, f"DL={identifier}"], "body": "YQ=="}
    answer = scene.call("make a packet for a list", "packets.encode", message=message)
    if not answer.ok:
        raise Untold("no packet for a list can be made")
    fields = dissect(base64.b64decode(answer.values["packet"]), transport="buffer").fields
    found = fields.get("MultiQueueFormatHeader.Destination.FormatNameList.1.DistributionListIdentifier")
    actual = None if found is None else str(found).lower()
    scene.shows(f"{_LIST}distribution-list-identifier", actual == identifier, identifier, actual)


def _listed_keys() -> tuple[Mapping[str, bytes], str]:
    """Return the modulus of each provider's key, little-endian, and an MQDSPUBLICKEYS with these keys."""
    moduli = {name: bytes([0x91 + 2 * at]) * (bits // 8) for at, (name, (_, bits)) in enumerate(PROVIDERS.items())}
    blobs = {name: public_key_blob(int.from_bytes(modulus, "little"), 65537) for name, modulus in moduli.items()}
    listed = [
        {"ul_provider_type": 1, "s_provider_name": name, "a_buf": base64.b64encode(blob).decode()}
        for name, blob in blobs.items()
    ]
    return moduli, base64.b64encode(encode("MQDSPUBLICKEYS", {"a_public_keys": listed})).decode()


def keys(scene: Scene) -> None:
    """The public keys of a computer are those of the providers in its list."""
    scene.used()
    moduli, packed = _listed_keys()
    identifier = scene.enter("queue_manager", computer_name="OTHER", public_encryption_key_list=packed)
    for name, provider in _KEYS.items():
        params: dict[str, Any] = {"class": "queue_manager", "identifier": identifier}
        answer = scene.call(f"read {name}", "directory.get", properties=[PROPERTIES[name].value], **params)
        found = (answer.values.get("values") or [{}])[0]
        if found.get("vt") == _NULL and name == "PROPID_QM_ENCRYPTION_PK":
            continue  # the key of the base provider supersedes it
        shown = base64.b64decode(found["value"]) if isinstance(found.get("value"), str) else b""
        has = [each for each, modulus in moduli.items() if modulus in shown]
        right: Json = {"vt": vt_of(name), "key of": [provider]}
        actual: Json = {"vt": found.get("vt"), "key of": list(has)}
        scene.shows(f"MQMQ-{PROPERTIES[name].section}.{name.lower().replace('_', '-')}", actual == right, right, actual)


def security_default(scene: Scene) -> None:
    """The name style 2 is taken as 0 and 1 are, whichever of them it stands for."""
    scene.used()
    identifier, number = scene.enter("enterprise", weakened_security=True), PROPERTIES["PROPID_E_NAMESTYLE"].value
    params: dict[str, Any] = {"class": "enterprise", "identifier": identifier}
    taken: list[Json] = []
    for value in (0, 1, 2):
        given = {"property": number, "value": {"vt": vt_of("PROPID_E_NAMESTYLE"), "value": value}}
        if scene.call(f"set the name style {value}", "directory.set", properties=[given], **params).ok:
            taken.append(value)
    if taken[:2] != [0, 1]:
        raise Untold("the name style cannot be set")
    found = scene.call("read the name style", "directory.get", properties=[number], **params).values.get("values")
    shown = found[0].get("value") if found else None
    right = taken == [0, 1, 2] and shown in (0, 1, 2)
    expected: Json = {"taken": [0, 1, 2], "then": [0, 1, 2]}
    demand = f"{_PROPERTY}5.2.weakened-security-default"
    scene.shows(demand, right, expected, {"taken": list(taken), "then": shown})


_MANAGES: Final = ("queues.create", "management.get")
_SENDS: Final = ("queues.create", "queues.open", "messages.send")
_FOREIGN: Final = (f"{_PROPERTY}12.6.mgmt-queue-foreign-type",)
_ROOM: Final = (f"{_MANAGER}queue-manager-quota",)
_KEY_IDS: Final = tuple(f"MQMQ-{PROPERTIES[each].section}.{each.lower().replace('_', '-')}" for each in _KEYS)
TOLD: Final[Mapping[str, Story]] = MappingProxyType(
    {
        "kinds": Story(kinds, (_QUEUE, f"{_QUEUE}-system"), _MANAGES),
        "foreign-no": Story(partial(foreign, system=False), _FOREIGN, _MANAGES),
        "foreign-yes": Story(partial(foreign, system=True), _FOREIGN, _MANAGES),
        "foreign-offline": Story(foreign_offline, (f"{_PROPERTY}12.6.mgmt-queue-unknown-type",), _MANAGES),
        "room-limited": Story(partial(room, limited=True), _ROOM, _SENDS),
        "room-default": Story(partial(room, limited=False), _ROOM, _SENDS),
        "servers": Story(servers, (f"{_MANAGER}directory-server-name-list",), ("directory", "management.get")),
        "names-apart": Story(names_apart, ("MQDMPR-3.1.1.7.name-unique",), ("directory.create",)),
        "lists-named": Story(lists_named, ("MQMQ-2.1.5.sent",), _SENDS[:2]),
        "lists-packed": Story(lists_packed, (f"{_LIST}distribution-list-identifier",), ("packets.encode",)),
        "keys": Story(keys, _KEY_IDS, ("directory.get",)),
        "security-default": Story(
            security_default, (f"{_PROPERTY}5.2.weakened-security-default",), ("directory.get", "directory.set")
        ),
    }
)
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {name: each.act for name, each in TOLD.items()}
)
