"""Stories in which it is crossed who is allowed and denied what, who owns it, how it is named, and how it was set.

MS-MQMQ 2.2.23, 2.2.24, MS-MQMP 3.1.4.5, 3.1.4.6, MS-MQDMPR 3.1.1.1, 3.1.1.2.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.model import rights
from conformance.model.descriptors import DACL, DENY, OWNER, Descriptor, Entry, encoded
from conformance.model.rights import EVERYBODY, User, allowed
from conformance.suites.security.scene import (
    MACHINE,
    MACHINE_ACTS,
    MACHINE_OF,
    QUEUE_ACTS,
    QUEUE_OF,
    Scene,
    allow,
    plain_json,
    private_name,
    queue_target,
)
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

_SOMEBODY: Final = "S-1-5-21-11-22-33-4444"  # nobody who calls
_HALF: Final = 0x000A_5555
_UPDATES: Final = "MQMP-3.1.4.6.updates"
LEVELS: Final = 5
_MASKS: Final[Mapping[str, tuple[int, ...]]] = {
    QUEUE_OF: tuple(
        rights.QUEUE_RIGHTS[word]
        for word in (
            "queue-generic-all",
            "queue-generic-read",
            "queue-generic-write",
            "receive-message",
            "delete-queue",
        )
    ),
    MACHINE_OF: tuple(
        rights.MACHINE_RIGHTS[word]
        for word in (
            *("machine-generic-all", "machine-generic-read", "machine-generic-write"),
            *("take-machine-ownership", "set-machine-properties"),
        )
    ),
}
_NAMES: Final = ("given", "private", "capitals", "given", "private")
_WAYS: Final = ("parts", "together", "made", "killed", "private")
_BY_NUMBER: Final = ("killed", "private")  # the queue is named by its private format name


def levels(row: int, column: int) -> tuple[int, ...]:
    """Return one row of an orthogonal array: six factors of five levels, in whose 25 rows each pair comes once."""
    return row, *((column + row * step) % LEVELS for step in range(LEVELS))


def _descriptor(scene: Scene, user: User, prefix: str, held: int, denied: int, mask: int, owner: int) -> Descriptor:
    """Return a descriptor by the levels of what its DACL allows and denies, and to whom, and of its owner."""
    group, wanted = min(user.groups), _MASKS[prefix][mask]
    allows = (
        (allow(user.sid, wanted),),
        (allow(group, wanted),),
        (allow(EVERYBODY, wanted),),
        (allow(user.sid, wanted & _HALF), allow(group, wanted & ~_HALF)),
        (allow(_SOMEBODY, wanted),),
    )[held]
    first, last = (
        ((), ()),
        ((user.sid,), ()),
        ((group,), ()),
        ((), (EVERYBODY,)),
        ((_SOMEBODY,), ()),
    )[denied]
    refused = _HALF if (held + denied) % 2 else ~_HALF & _MASKS[prefix][0]
    denials = [tuple(Entry(DENY, refused, sid) for sid in sids) for sids in (first, last)]
    owners = (scene.owner, user.sid, group, scene.owner, _SOMEBODY)
    return Descriptor(owners[owner], None, (*denials[0], *allows, *denials[1]))


def _set(scene: Scene, target: Mapping[str, Json], descriptor: Descriptor, way: str) -> None:
    """Set owner and DACL: one after the other, or together, with the DACL before the owner in the bytes."""
    if way == "together":
        data = encoded(descriptor, backwards=True)
        done = scene.put_bytes("DACL and owner", target, data, OWNER | DACL).ok
        scene.expect(_UPDATES, done, {"set": True}, {"set": done})
        return
    for part in (DACL, OWNER):
        scene.given(target, descriptor, part)


def _judge_setting(scene: Scene, target: Mapping[str, Json], descriptor: Descriptor, way: str, durable: str) -> None:
    """Compare what is read with what was set, over a kill where the way has one."""
    demand = _UPDATES
    if way == "killed" and scene.mq.keeps_state:
        scene.mq.restart(kill=True)
        scene.judge.step("the manager is killed and started again")
        demand = durable
    found = scene.descriptor_in_parts(target).only(OWNER | DACL)
    scene.expect(demand, found == descriptor, plain_json(descriptor), plain_json(found))


def queue(scene: Scene, row: int, column: int) -> None:
    """A member of a group makes every call on a queue, whose descriptor and name are those of a row of the array."""
    held, denied, mask, owner, name, way = levels(row, column)
    user = scene.one("a member of a group", lambda one: bool(one.groups))
    descriptor = _descriptor(scene, user, QUEUE_OF, held, denied, mask, owner)
    path, how = scene.path_name(), _WAYS[way]
    params: dict[str, Json] = {"path_name": path}
    if how == "made" and scene.mq.hello.takes("properties", "PROPID_Q_SECURITY"):
        data = base64.b64encode(encoded(descriptor.only(DACL))).decode()
        params["properties"] = {"PROPID_Q_SECURITY": data}
    created = scene.call("create a queue", "queues.create", **params)
    if not created.ok:
        raise Untold("no queue could be created")
    given = str(created.values["format_name"])
    private = private_name(scene.mq, path) if how in _BY_NUMBER or _NAMES[name] == "private" else None
    if "properties" in params:
        scene.given(queue_target(given), descriptor, OWNER)
    else:
        _set(scene, queue_target(private if how in _BY_NUMBER and private else given), descriptor, how)
    _judge_setting(scene, queue_target(given), descriptor, how, "MQDMPR-3.1.1.2.security")
    alias = {"given": given, "private": private or given, "capitals": f"DIRECT=OS:{path.upper()}"}[_NAMES[name]]
    opened = scene.call(f"open {given} with send", "queues.open", format_name=given, access="send")
    scene.judge_acts(QUEUE_ACTS, alias, descriptor, user, QUEUE_OF)
    if opened.ok and scene.mq.offers("messages.send") and not allowed(descriptor, user.token, rights.DELETE):
        sent = scene.call("send", "messages.send", queue=opened.values["queue"], message={"body": "YQ=="}).ok
        scene.expect(f"{QUEUE_OF}delete-queue", sent, {"sent": True}, {"sent": sent})


def manager(scene: Scene, row: int, column: int) -> None:
    """A member of a group makes every call on the manager, whose descriptor is that of a row of the array."""
    held, denied, mask, owner, _, way = levels(row, column)
    user = scene.one("a member of a group", lambda one: bool(one.groups))
    descriptor = _descriptor(scene, user, MACHINE_OF, held, denied, mask, owner)
    with scene.machine_kept():
        _set(scene, MACHINE, descriptor, _WAYS[way])
        _judge_setting(scene, MACHINE, descriptor, _WAYS[way], "MQDMPR-3.1.1.1.security")
        scene.judge_acts(MACHINE_ACTS, "", descriptor, user, MACHINE_OF)


def existing(scene: Scene) -> None:
    """A user who may create queues creates one that exists: it fails, and its descriptor stays."""
    user, path = scene.plain(), scene.path_name()
    created = scene.call("create a queue", "queues.create", path_name=path)
    if not created.ok:
        raise Untold("no queue could be created")
    target = queue_target(str(created.values["format_name"]))
    descriptor = Descriptor(scene.owner, None, (allow(_SOMEBODY, rights.QUEUE_ALL),))
    _set(scene, target, descriptor, "parts")
    with scene.machine_as(allow(user.sid, rights.MACHINE_ALL)):
        again = scene.call("create it once more", "queues.create", user.sid, path_name=path)
    scene.expect("MQMP-3.1.4.5.queue-exists", not again.ok, {"created": False}, {"status": again.status})
    found = scene.descriptor_in_parts(target).only(OWNER | DACL)
    demand = "MQMP-3.1.4.5.existing-queue-unaltered"
    scene.expect(demand, found == descriptor, plain_json(descriptor), plain_json(found))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            f"crossed-{what}-{row}{column}": partial(tell, row=row, column=column)
            for what, tell in (("queue", queue), ("manager", manager))
            for row in range(LEVELS)
            for column in range(LEVELS)
        },
        "existing": existing,
    }
)
