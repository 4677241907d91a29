"""Stories of the client objects over the directory: certificates of a user, computers, and queues of MSMQQueueInfo.

MC-MQAC 3.2.4.1.1, 3.2.4.2.1, 3.2.4.2.2, 3.10.4.1.26, 3.10.4.1.29, 3.10.4.1.30.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.spec.constants.hresults import MQ_INFORMATION_INTERNAL_USER_CERT_EXIST
from conformance.suites.directory.queues import machine_entry
from conformance.suites.directory.scene import OWN_NAME, Asked, Scene, asks, by_identifier, ids, plain, same, where
from conformance.suites.packets.signing import FIRST
from conformance.suites.story_table import Untold
from conformance.wire.structures.reading import decode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_REGISTERS, _QUEUE = "MQAC-3.2.4.2.1.", "MQAC-3.10.4.1."
_ALWAYS, _IF_NOT_EXIST = 1, 2  # MQCERT_REGISTER
_CERTIFICATES: Final = ["certificates", "certificate_digest_list"]
_FAILURE: Final = 0x80000000
_MISSING: Final = {"vt": "ERROR", "value": 0x80020004}
_EXTERNAL: Final = {"vt": "ARRAY", "of": "UI1", "value": base64.b64encode(FIRST.certificate).decode()}
AWAY: Final = ("GenericError", "ObjectNotFound", "closed")


class Caller:
    """An object, whose members are invoked."""

    def __init__(self, scene: Scene, name: str) -> None:
        """Make an object of a class. Raises Untold."""
        made = scene.call(f"create an {name}", "objects.create", **{"class": name})
        if not made.ok:
            raise Untold(f"there is no {name}")
        self.scene, self.handle = scene, made.values["object"]

    def invoke(self, member: str, *arguments: Json, kind: str = "method") -> Result:
        """Call a member."""
        params: dict[str, Any] = {"object": self.handle, "member": member, "kind": kind, "arguments": list(arguments)}
        return self.scene.call(f"{kind} {member}", "objects.invoke", **params)

    def put(self, member: str, value: Json) -> None:
        """Set a text. Raises Untold."""
        if not self.invoke(member, {"vt": "BSTR", "value": value}, kind="put").ok:
            raise Untold(f"{member} cannot be set")

    def get(self, member: str) -> Json:
        """Return a value."""
        return (self.invoke(member, kind="get").values.get("value") or {}).get("value")


def _fails(answer: Result) -> bool:
    return answer.status is None or answer.status >= _FAILURE


def _held(scene: Scene, sid: str) -> tuple[list[Mapping[str, Json]], list[bytes]]:
    """Return the certificates that the directory has of a user, and the digests."""
    user = next((each for each in scene.objects("user") if same(each, {"security_identifier": sid})), {})
    digests = [base64.b64decode(each) for each in user.get("certificate_digest_list", ())]
    data = base64.b64decode(str(user.get("certificates", "")))
    if not data:
        return [], digests
    read = decode("MQUSERSIGNCERTS", data)
    return list(read.value["certificates"]) if read.whole else [], digests


def _register(scene: Scene, flags: int | None, *external: Json) -> tuple[Result, list[Asked]]:
    """Register a certificate, and return the answer and what the manager asked."""
    application = Caller(scene, "MSMQApplication")
    scene.asked()
    first: Json = _MISSING if flags is None else {"vt": "I4", "value": flags}
    answer = application.invoke("RegisterCertificate", first, *external)
    return answer, scene.asked()


def _bytes(each: Mapping[str, Json]) -> bytes:
    return base64.b64decode(str(each["certificate"]))


def _digested(scene: Scene, word: str, certificates: Sequence[Mapping[str, Json]], digests: Sequence[bytes]) -> None:
    """Judge that each certificate has the MD5 of its bytes, and that this is in the list."""
    wrong = [
        each.get("identifier")
        for each in certificates
        if hashlib.md5(_bytes(each), usedforsecurity=False).digest() not in digests
    ]
    scene.shows(_REGISTERS + word, not wrong, "the MD5 of each certificate", {"without": wrong})


def _tells_certificates(request: Asked) -> bool:
    """Return true if a request asks for certificates and digests, and at most for the identifier beside them."""
    given = set(request["params"].get("attributes", ()))
    return set(_CERTIFICATES) <= given and ("names" in request or given <= {*_CERTIFICATES, "identifier"})


def registered(scene: Scene, external: bool) -> None:
    """A user registers a certificate: it is read from and written to the directory, the first, again and if absent."""
    sid = scene.owner
    scene.enter("user", security_identifier=sid)
    scene.used()
    answer, requests = _register(scene, _ALWAYS, *([_EXTERNAL] if external else []))
    wanted = where("security_identifier", sid)
    read = asks([each for each in requests if _tells_certificates(each)], "read", "user", filter=wanted)
    demands = [_REGISTERS + word for word in ("retrieve-directory-user-here", "generate-invoker-sid-read")]
    given: Json = {"read": "user", "filter": list(wanted), "attributes": list(_CERTIFICATES)}
    scene.shows(demands, read is not None, given, plain(requests))
    written = asks(requests, "write", "user") is not None and answer.ok
    certificates, digests = _held(scene, sid)
    words = ("update-directory-user-directory-follows", "add-ext-mq-cert" if external else "add-int-mq-cert")
    right = written and len(certificates) == 1
    scene.shows([_REGISTERS + word for word in words], right, {"certificates": 1}, {"certificates": len(certificates)})
    _digested(scene, words[1], certificates, digests)
    if external:
        shown = [_bytes(each) == FIRST.certificate for each in certificates]
        scene.shows(_REGISTERS + words[1], shown == [True], [True], list(shown))
        return
    answer, requests = _register(scene, _IF_NOT_EXIST)
    known = answer.status == MQ_INFORMATION_INTERNAL_USER_CERT_EXIST and asks(requests, "write", "user") is None
    scene.shows(
        f"{_REGISTERS}input-flags", known, {"written": False}, {"status": answer.status, "asked": plain(requests)}
    )
    before = next(each for each in scene.objects("user") if same(each, {"security_identifier": sid}))["certificates"]
    answer, requests = _register(scene, _ALWAYS)
    writes = [each["params"]["object"] for each in requests if each["method"] == "write"]
    probe = [len(writes), bool(writes) and writes[0].get("certificates") == before]
    words = ("verify-directory-user-permission-register", "generate-write-directory-after-verify-directory-user")
    scene.shows([_REGISTERS + word for word in words], probe == [2, True], {"writes": 2}, plain(requests))
    after, digests = _held(scene, sid)
    old = {_bytes(each) for each in certificates}
    left = [each for each in after if _bytes(each) in old]
    words = ("compute-md5-internal-certificate-rfc1321", "define-directory-user-cert-object-mqusersigncert")
    demands = [_REGISTERS + word for word in (*words, "remove-directory-user-cert-object")]
    replaced = {"old": len(left), "all": len(after)}
    scene.shows(demands, replaced == {"old": 0, "all": 1}, {"old": 0, "all": 1}, replaced)
    _digested(scene, "add-int-mq-cert", after, digests)


def not_registered(scene: Scene, result: str, *, read: bool) -> None:
    """The directory does not have the user, or refuses to write: the call fails, and the user is as before."""
    sid = scene.owner
    if result != "ObjectNotFound" or not read:
        scene.enter("user", security_identifier=sid)
    scene.used()
    if result == "closed":
        scene.turn(result)
    elif result == "GenericError" or not read:
        scene.lie("read" if read else "write", "user", {"result": result}, times=4)
    answer, requests = _register(scene, _ALWAYS)
    scene.turn("answers")
    word = "return-status-directory-after-filter-security" if read else "update-directory-user-directory-follows"
    scene.shows(_REGISTERS + word, _fails(answer), {"registered": False}, {"status": answer.status})
    held, _ = _held(scene, sid)
    scene.shows(_REGISTERS + word, not held, {"certificates": 0}, {"certificates": len(held), "asked": plain(requests)})


def _info(scene: Scene) -> tuple[Caller, str]:
    """Create a public queue by an object, and return the object and the identifier. Raises Untold."""
    info, path = Caller(scene, "MSMQQueueInfo"), f"{scene.mq.hello.computer}\\orders"
    info.put("PathName", path)
    info.put("Label", "first")
    if not info.invoke("Create").ok:
        raise Untold("the public queue cannot be created by an object")
    found = next((each for each in scene.objects("queue") if same(each, {"path_name": path, "label": "first"})), None)
    if found is None:
        raise Untold("the queue that an object created is not in the directory")
    return info, str(found["identifier"])


def refreshed(scene: Scene, result: str) -> None:
    """Refresh of a public queue reads its object in the directory, and fails where that cannot be read."""
    scene.used()
    info, identifier = _info(scene)
    held = next(each for each in scene.objects("queue") if each["identifier"] == identifier)
    scene.enter("queue", **{**held, "label": "second"})
    if result:
        scene.lie("read", "queue", {"result": result}, times=4)
    scene.asked()
    answer = info.invoke("Refresh")
    requests = scene.asked()
    if result:
        demand = f"{_QUEUE}29.query-status-results-returned"
        scene.shows(demand, _fails(answer), {"refreshed": False}, {"status": answer.status, "asked": plain(requests)})
        return
    read = asks(requests, "read", "queue", filter=by_identifier(identifier))
    words = ("generate-read-directory-arguments", "identifier-application-queue-identifier-equals")
    demands = [f"{_QUEUE}29.{word}" for word in words]
    scene.shows(demands, read is not None and answer.ok, {"read": identifier}, plain(requests))
    label = info.get("Label")
    scene.shows(f"{_QUEUE}29.retrieve-msmq-queue-info-returned-properties", label == "second", "second", label)


def updated(scene: Scene, result: str) -> None:
    """Update of a public queue writes its object in the directory, and fails where that refuses."""
    scene.used()
    info, identifier = _info(scene)
    info.put("Label", "second")
    if result == "closed":
        scene.turn(result)
    elif result:
        scene.lie("write", "queue", {"result": result}, times=4)
    scene.asked()
    answer = info.invoke("Update")
    scene.turn("answers")
    requests = scene.asked()
    if result:
        demand = f"{_QUEUE}30.query-status-results-returned"
        scene.shows(demand, _fails(answer), {"updated": False}, {"status": answer.status, "asked": plain(requests)})
        return
    written = asks(requests, "write", "queue", identifier=identifier)
    carried = written is not None and same(written["params"]["object"], {"label": "second"})
    words = ("generate-write-directory-arguments", "identifier-equals-application-queue-identifier")
    demands = [f"{_QUEUE}30.{word}" for word in words]
    scene.shows(demands, carried and answer.ok, {"write": identifier, "label": "second"}, plain(requests))


_LOOKS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "MachineIdOfMachineName": ids(
            "MQAC-3.2.4.1.1.",
            "generate-machine-name-read-directory retrieve-queue-manager-directory-queue-manager output-pbstr-guid "
            "return-status-directory-operation-result-success",
        ),
        "MachineNameOfMachineId": ids(
            "MQAC-3.2.4.2.2.",
            "generate-bstr-guid-read-directory retrieve-queue-manager-directory-queue-manager "
            "output-pbstr-machine-name-computer-name return-status-directory-operation-result-success",
        ),
    }
)
"""By member: the requirements on the read, on what is found by it, on what is given back, and on a failure."""


def computer(scene: Scene, member: str) -> None:
    """Any computer, this one too, is looked up in the directory, and the call fails where that has no success."""
    other = scene.enter("queue_manager", **{OWN_NAME: "OTHER"})
    scene.used()
    application = Caller(scene, "MSMQApplication")
    reads, finds, gives, fails = _LOOKS[member]
    for pair in ((scene.mq.hello.computer, scene.guid), ("OTHER", other)):
        named = member == "MachineIdOfMachineName"
        given, wanted = pair if named else pair[::-1]
        looked_for = where(OWN_NAME if named else "identifier", given)
        expressions = scene.placed("queue_manager", looked_for, list(scene.objects("queue_manager")))
        for result in ("Success", *AWAY[:2]):
            if result != "Success":
                scene.lie("read", "queue_manager", {"result": result})
            scene.asked()
            answer = application.invoke(member, {"vt": "BSTR", "value": given})
            requests = scene.asked()
            read = asks(requests, "read", "queue_manager", filter=expressions)
            scene.shows((reads, finds), read is not None, {"read": list(expressions)}, plain(requests))
            if result != "Success":
                scene.shows(fails, _fails(answer), {"directory": result, "found": False}, {"status": answer.status})
                continue
            shown = str((answer.values.get("value") or {}).get("value"))
            scene.shows(gives, wanted.lower() in shown.lower(), wanted, shown)


_LDAP: Final = f"{_QUEUE}26.1.get-ldap-"
_BY_OBJECT: Final = tuple(
    ids(_LDAP, word) for word in ("object-properties", "machine-sid-object-sid", "machine-sid-object-sid")
)


def _made(scene: Scene) -> str:
    return f"PUBLIC={_info(scene)[1]}"


_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "registers": ids(
            _REGISTERS,
            "retrieve-directory-user-here generate-invoker-sid-read add-int-mq-cert input-flags add-ext-mq-cert "
            "update-directory-user-directory-follows verify-directory-user-permission-register "
            "generate-write-directory-after-verify-directory-user compute-md5-internal-certificate-rfc1321 "
            "define-directory-user-cert-object-mqusersigncert remove-directory-user-cert-object",
        ),
        "unread": ids(_REGISTERS, "return-status-directory-after-filter-security"),
        "unwritten": ids(_REGISTERS, "update-directory-user-directory-follows"),
        "refresh": ids(
            f"{_QUEUE}29.",
            "query-status-results-returned generate-read-directory-arguments "
            "identifier-application-queue-identifier-equals retrieve-msmq-queue-info-returned-properties",
        ),
        "update": ids(
            f"{_QUEUE}30.",
            "query-status-results-returned generate-write-directory-arguments "
            "identifier-equals-application-queue-identifier",
        ),
        "machine": ids(_LDAP, "object-properties machine-sid-object-sid"),
        **{f"objects-machine-{member}": demands for member, demands in _LOOKS.items()},
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    return _CLAIMS.get(name) or _CLAIMS[name.split("-")[1]]


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        "objects-registers-internal": partial(registered, external=False),
        "objects-registers-external": partial(registered, external=True),
        **{f"objects-unread-{result}": partial(not_registered, result=result, read=True) for result in AWAY},
        **{f"objects-unwritten-{result}": partial(not_registered, result=result, read=False) for result in AWAY[:2]},
        **{f"objects-refresh-{result or 'done'}": partial(refreshed, result=result) for result in ("", *AWAY[:2])},
        **{f"objects-update-{result or 'done'}": partial(updated, result=result) for result in ("", *AWAY)},
        **{f"objects-machine-{member}": partial(computer, member=member) for member in _LOOKS},
        "objects-machine-known": partial(machine_entry, make=_made, demands=_BY_OBJECT, known=True),
        "objects-machine-unknown": partial(machine_entry, make=_made, demands=_BY_OBJECT, known=False),
    }
)
