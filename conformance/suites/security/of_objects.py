"""Rights that objects need, and the users they work for: MC-MQAC 3.10.4.1.26, 3.10.4.1.27, 3.17.4.1.49."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.model import rights
from conformance.model.descriptors import DACL, Descriptor
from conformance.model.rights import ANONYMOUS, EVERYBODY
from conformance.suites.security.new_queues import (
    DOMAIN_USER,
    GUEST,
    KINDS,
    STRANGER,
    followed,
    judge_http,
    judged_by_entries,
)
from conformance.suites.security.scene import Scene, allow, plain_json, queue_target
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_CREATE, _DELETE, _MESSAGE = "MQAC-3.10.4.1.26.", "MQAC-3.10.4.1.27.", "MQAC-3.17.4.1."
_CHECKED: Final = "MQAC-3.1.4.1.methods-server-dcom-rpc"
_REFUSED: Final = "return-hresult-error-after-access-check-algorithm-return"
_CHECK: Final = "access-check-invoking-algorithm"


def _object(scene: Scene, name: str, caller: str | None = None) -> Any:
    made = scene.call(f"create an {name}", "objects.create", caller, **{"class": name})
    if not made.ok:
        raise Untold(f"there is no {name}")
    return made.values["object"]


def _invoked(scene: Scene, target: Any, member: str, *arguments: Json, caller: str | None = None) -> Result:
    kind = "put" if arguments else "method"
    params = {"object": target, "member": member, "kind": kind, "arguments": list(arguments)}
    return scene.call(f"{kind} {member}", "objects.invoke", caller, **params)


def _info(scene: Scene, path_name: str, caller: str) -> Any:
    info = _object(scene, "MSMQQueueInfo", caller)
    if not _invoked(scene, info, "PathName", {"vt": "BSTR", "value": path_name}, caller=caller).ok:
        raise Untold("the path name of a queue could not be put")
    return info


def create(scene: Scene) -> None:
    """A user without and with the right to create queues calls Create."""
    user = scene.plain()
    for mask in (rights.MACHINE_ALL & ~rights.CREATE_QUEUE, rights.CREATE_QUEUE):
        path, may = scene.path_name(), mask == rights.CREATE_QUEUE
        with scene.machine_as(allow(user.sid, mask)):
            answer = _invoked(scene, _info(scene, path, user.sid), "Create", caller=user.sid)
        there = scene.got(queue_target(f"DIRECT=OS:{path}"), DACL).ok
        done = answer.ok or there
        for demand in (_CREATE + _CHECK, *(() if may else (_CREATE + _REFUSED, _CHECKED))):
            scene.expect(demand, done is may, {"created": may}, {"created": done, "status": answer.status})


def delete(scene: Scene) -> None:
    """A user without and with the right to delete a queue calls Delete."""
    user = scene.plain()
    for mask in (rights.QUEUE_ALL & ~rights.DELETE, rights.DELETE):
        path, may = scene.path_name(), mask == rights.DELETE
        created = scene.call("create a queue", "queues.create", path_name=path)
        if not created.ok:
            raise Untold("no queue could be created")
        target = queue_target(str(created.values["format_name"]))
        scene.given(target, Descriptor(dacl=(allow(user.sid, mask),)), DACL)
        answer = _invoked(scene, _info(scene, path, user.sid), "Delete", caller=user.sid)
        done = answer.ok or not scene.got(target, DACL).ok
        for demand in (_DELETE + _CHECK, *(() if may else (_DELETE + _REFUSED, _CHECKED))):
            scene.expect(demand, done is may, {"deleted": may}, {"deleted": done, "status": answer.status})


def default(scene: Scene, kind: str) -> None:
    """A user of a kind calls Create without arguments; the queue has the default descriptor."""
    creator, made = scene.one(kind, KINDS[kind]), f"{_CREATE}1."
    path = scene.path_name()
    with scene.machine_as(allow(EVERYBODY, rights.MACHINE_ALL)):
        answer = _invoked(scene, _info(scene, path, creator.sid), "Create", caller=creator.sid)
        scene.expect(f"{_CREATE}{_CHECK}", answer.ok, {"created": True}, {"status": answer.status})
        found = scene.descriptor_in_parts(queue_target(f"DIRECT=OS:{path}"))
    expected, taken = followed(scene, creator, None, found)
    if expected.owner == ANONYMOUS:
        same = expected.owner == found.owner
        scene.expect(f"{made}user-sid-owner-sid", same, expected.owner, found.owner, taken)
    ids = {
        "world": (
            f"{made}guest-owner-sid",
            f"{made}structure-access-allowed-ace-mask",
        ),
        "anonymous": (f"{made}nonzero-anonymous-access-access-allowed-ace",),
        "machine": (f"{made}nonzero-machine-sid-machine-access", f"{made}nonzero-machine-access-access-allowed-ace"),
        "owner": (f"{made}nonzero-owner-access-access-allowed-ace",),
        "all": (f"{_CREATE}security-new-queue-security-descriptor-according",),
    }
    judge_http(scene, f"{made}messages-msmq-soap-srmp", found)
    judged_by_entries(scene, creator, ids, expected, found)
    if kind == DOMAIN_USER:
        most = rights.READ | (rights.WRITE_MESSAGE if scene.srmp else 0)
        only = not rights.granted(found, frozenset({EVERYBODY})) & ~most
        demand = f"{_CREATE}is-world-readable-server-false-0x00000000"
        scene.expect(demand, only, f"no more than {most:#x}", plain_json(found))


def attach(scene: Scene, member: str, number: int) -> None:
    """A message is attached to who calls: its sender and certificate are as before."""
    message, names = _object(scene, "MSMQMessage"), ["SenderId", "SenderCertificate"]
    read = partial(scene.call, "read sender and certificate", "objects.get", object=message, members=names)
    first = read()
    if not first.ok:
        raise Untold("the message does not tell its sender")
    before = first.values
    attached = _invoked(scene, message, member)
    right = attached.status == 0 or not attached.ok
    scene.expect(f"{_MESSAGE}{number}.status", right, {"status": 0}, {"status": attached.status})
    if attached.ok:
        after = read().values
        demand = f"{_MESSAGE}{number}.represented-message-sender-identifier"
        scene.expect(demand, after == before, dict(before), dict(after))


ATTACHED: Final[Mapping[str, int]] = {"AttachCurrentSecurityContext": 49, "AttachCurrentSecurityContext2": 87}
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        "objects-create": create,
        "objects-delete": delete,
        **{f"objects-default-{kind}": partial(default, kind=kind) for kind in (DOMAIN_USER, GUEST, STRANGER)},
        **{f"objects-{member}": partial(attach, member=member, number=number) for member, number in ATTACHED.items()},
    }
)
