"""A manager that is integrated with the directory of the harness, and what it asks there."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter import ldap_names
from conformance.model.descriptors import ALLOW, Descriptor, Entry, encoded
from conformance.model.rights import EVERYBODY
from conformance.suites.packets.signing import FIRST
from conformance.suites.security.scene import Scene as Callers
from conformance.suites.story_table import Untold
from conformance.wire.structures.reading import encode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.verdict import Json

Asked = Mapping[str, Any]
"""A request that the manager made: `method`, `params`, and the `answer` of the directory."""
ONLINE_MS: Final = 60_000  # Directory Online Timer, MS-MQDMPR 3.1.2.5
WAIT_MS: Final = 10_000  # how long the manager waits for an answer, on a busy machine too
SILENT_MS: Final = 400  # the same where none comes
OWN_NAME: Final = "computer_name"
NOWHERE: Final = "0f6de3c1-4f3e-4f5e-8f0a-7d0b8a1f2c3d"
"""An identifier that no object has."""
_NEVER_LACKED: Final = ("identifier", "full_path", "security_identifier")
OTHER_ID: Final = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a11"
SID: Final = "S-1-5-21-1-2-3-1001"
_CERTIFICATES: Final = (FIRST.certificate, b"of another provider")
DIGESTS: Final = tuple(hashlib.md5(each, usedforsecurity=False).digest() for each in _CERTIFICATES)
CERTIFICATES: Final = base64.b64encode(
    encode(
        "MQUSERSIGNCERTS",
        {
            "certificates": [
                {"identifier": OTHER_ID, "certificate": base64.b64encode(each).decode()} for each in _CERTIFICATES
            ]
        },
    )
).decode()
"""An MQUSERSIGNCERTS, and the MD5 digests of what it has."""
KEYS: Final = base64.b64encode(
    encode("MQDSPUBLICKEYS", {"a_public_keys": [{"ul_provider_type": 1, "s_provider_name": "one", "a_buf": "AQID"}]})
).decode()
"""An MQDSPUBLICKEYS of one key."""
DESCRIPTOR: Final = base64.b64encode(encoded(Descriptor(SID, None, (Entry(ALLOW, 0x20, EVERYBODY, 0),)))).decode()
"""A security descriptor of SID, which lets everybody read properties."""
_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")


def ids(prefix: str, words: str) -> tuple[str, ...]:
    """Return the ids of requirements that begin so and end with each of these words."""
    return tuple(prefix + word for word in words.split())


def where(attribute: str, value: Json, operator: str = "EQUALS") -> list[dict[str, Json]]:
    """Return a filter of one expression."""
    return [{"attribute": attribute, "operator": operator, "value": value}]


def by_identifier(identifier: str) -> list[dict[str, Json]]:
    """Return the filter for the object of an identifier."""
    return where("identifier", identifier)


class Scene(Callers):
    """A manager with a directory, which begins empty. Raises Untold where the driver lets something not happen."""

    def __init__(self, mq: Port, judge: Recorder) -> None:
        super().__init__(mq, judge)
        if mq.hello.queue_manager is None:
            raise Untold("the driver does not tell the identifier of its manager")
        self.guid = mq.hello.queue_manager.lower()
        self.over_ldap = mq.hello.directory_protocols[0] == "ldap"
        self.address = str(mq.directory("open")["address"])

    def call(self, words: str, method: str, /, caller: str | None = None, **params: Any) -> Result:
        """Make a call as a user, and tell it. Raises Untold for what LDAP has no name for."""
        if self.over_ldap and method.startswith("directory.") and "class" in params:
            names = [each["attribute"] for each in params.get("filter", ())]
            lost = ldap_names.nameless(
                params["class"], [*names, *params.get("object", ()), *params.get("attributes", ())]
            )
            if lost is not None:
                raise Untold(lost)
        return super().call(words, method, caller, **params)

    def told(self, kind: str, attributes: Mapping[str, Json]) -> dict[str, Json]:
        """Return the attributes that the directory tells as they are given: over LDAP not those without a name."""
        return {name: attributes[name] for name in attributes if self.tells(kind, name)}

    def tells(self, kind: str, *attributes: str, written: bool = False) -> bool:
        """Return true if the directory tells each of these attributes as it is given, or `written` later."""
        fixed = ldap_names.DERIVED | (ldap_names.PLACES if written else frozenset())
        return not self.over_ldap or (fixed.isdisjoint(attributes) and ldap_names.nameless(kind, attributes) is None)

    def refer(self, kind: str, attributes: Mapping[str, Json]) -> None:
        """Enter the objects that are not there to which attributes refer, over LDAP, which has no other references."""
        for other, identifier in ldap_names.references(kind, attributes) if self.over_ldap else ():
            if not any(each["identifier"].lower() == identifier for each in self.objects(other)):
                self.mq.directory("put", kind=other, object={"identifier": identifier})

    def placed(self, kind: str, wanted: Sequence[Asked], rows: Sequence[Asked]) -> list[Asked]:
        """Return a filter as the directory is asked: over LDAP, the name of an object is its full path."""
        named = ("computer_name", "path_name") if self.over_ldap else ()
        paths = {each[name]: each["full_path"] for each in rows for name in named if name in each}
        return [
            {**each, "attribute": "full_path", "value": paths[each["value"]]} if each["attribute"] in named else each
            for each in wanted
        ]

    def enter(self, kind: str, **attributes: Json) -> str:
        """Enter an object into the directory and return its identifier. Over LDAP there is one enterprise.

        Raises Untold for an object that LDAP cannot tell.
        """
        self.refer(kind, attributes)
        for each in self.objects(kind) if self.over_ldap and kind == "enterprise" else ():
            self.mq.directory("drop", kind=kind, identifier=each["identifier"])
            attributes = {"identifier": each["identifier"], **attributes}
        return str(self._desk("put", kind=kind, object=attributes)["identifier"])

    def _desk(self, do: str, **params: Json) -> Mapping[str, Json]:
        done = self.mq.directory(do, **params)
        if "refused" in done:
            raise Untold(str(done["refused"]))
        return done

    def own_object(self, **attributes: Json) -> str:
        """Enter the object of the manager itself."""
        return self.enter("queue_manager", identifier=self.guid, computer_name=self.mq.hello.computer, **attributes)

    def turn(self, mode: str) -> None:
        """Let the directory answer, be closed, be silent or hang up."""
        self.mq.directory("turn", mode=mode)
        self.judge.step(f"the directory {mode}" if mode != "closed" else "the directory is closed", {"turn": mode}, {})

    def reads(self, reading: str, alternative: str) -> bool:
        """Return true if the run accepts this alternative of a reading."""
        return alternative in self.judge.readings[reading]

    def lie(self, method: str, kind: str | None, answer: Json, times: int = 1) -> None:
        """Let the directory answer the next requests so, whatever it holds. Raises Untold for no answer of LDAP."""
        self._desk("lie", method=method, kind=kind, answer=answer, times=times)

    def use(self, **more: Json) -> Result:
        """Integrate the manager with the directory."""
        params: dict[str, Any] = {"address": self.address, "wait_ms": WAIT_MS, **more}
        return self.call("integrate with the directory", "directory.use", **params)

    def used(self, mode: str = "") -> list[Asked]:
        """Integrate the manager, with its own object in the directory, and return what it asked. Raises Untold.

        mode: how the directory will be away.
        """
        more: dict[str, Json] = {"wait_ms": SILENT_MS} if mode == "silent" else {}
        if not any(same(each, {"identifier": self.guid}) for each in self.objects("queue_manager")):
            self.own_object()
        self.asked()
        if not self.use(**more).ok:
            raise Untold("the manager could not be integrated with a directory")
        return self.asked()

    def asked(self) -> list[Asked]:
        """Return what the manager has asked since the last time."""
        requests: list[Asked] = list(self.mq.directory("asked")["requests"])
        for each in requests:
            params = each["params"]
            words = f"the manager asks the directory: {each['method']} {params.get('class', '')}".rstrip()
            self.judge.step(words, {"method": each["method"], "params": params}, each["answer"])
        return requests

    def objects(self, kind: str) -> Iterator[Mapping[str, Json]]:
        """Return what the directory holds of a class."""
        return iter(self.mq.directory("objects", kind=kind)["objects"])

    def own(self) -> Mapping[str, Json]:
        """Return what the manager holds. Raises Untold if it does not tell."""
        answer = self.call("what the manager holds of the directory", "directory.own")
        if not answer.ok:
            raise Untold("the manager does not tell what it holds of the directory")
        return answer.values

    def passes(self, milliseconds: int) -> None:
        """Let time pass. Raises Untold on a clock that nobody can advance."""
        if self.mq.hello.clock != "virtual" or not self.mq.offers("clock.advance"):
            raise Untold("the driver has no clock that can be advanced")
        self.call(f"{milliseconds // 1000} seconds pass", "clock.advance", by_ms=milliseconds)

    def shows(self, demands: Sequence[str] | str, holds: bool, expected: Json, actual: Json) -> None:
        """Record a verdict on each requirement."""
        for demand in [demands] if isinstance(demands, str) else demands:
            self.expect(demand, holds, expected, actual)

    @contextmanager
    def away(self, mode: str = "closed") -> Iterator[None]:
        """Let the directory be away, and come back."""
        self.turn(mode)
        yield
        self.turn("answers")


def asks(requests: Sequence[Asked], method: str, kind: str | None = None, **params: Json) -> Asked | None:
    """Return the first request of a method about a class, in which these params stand so; None for an absent one.

    Identifiers and path names are compared without case, and the order of attributes does not count. Over LDAP a query
    is a read; who wants an attribute asks for the LDAP name of it, among others, and who filters by what an object may
    lack may select among what comes.
    """
    for each in requests:
        given = each["params"]
        wanted = "read" if method == "begin" and "names" in each else method
        if each["method"] != wanted or (kind is not None and given.get("class") != kind):
            continue
        if all(_asks(each, name, value) for name, value in params.items()):
            return each
    return None


def _asks(request: Asked, name: str, wanted: Json) -> bool:
    given = request["params"].get(name)
    if "names" not in request or name not in ("attributes", "filter"):
        return _alike(given, wanted)
    if name == "filter":
        return filtered(given or [], wanted, loose=True)
    known = ldap_names.names_of(request["params"]["class"])
    return given is not None and {known[each].ldap.lower() for each in wanted if each in known} <= set(request["names"])


def filtered(given: Sequence[Asked], wanted: Sequence[Asked], *, loose: bool) -> bool:
    """Return true if a filter has the expressions wanted, in any order.

    loose: it has only to have those that ask for one object by what no object lacks.
    """
    must = [
        each for each in wanted if not loose or (each["operator"] == "EQUALS" and each["attribute"] in _NEVER_LACKED)
    ]
    return all(any(_alike(each, one) for one in wanted) for each in given) and all(
        any(_alike(each, one) for one in given) for each in must
    )


def _alike(one: Json, other: Json) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        named = _GUID.fullmatch(one) is not None or "\\" in one
        return one == other or (named and one.lower() == other.lower())
    if isinstance(one, list) and isinstance(other, list):
        if all(isinstance(each, str) for each in (*one, *other)):
            one, other = sorted(one, key=str.lower), sorted(other, key=str.lower)
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    return bool(one == other)


def plain(requests: Sequence[Asked]) -> Json:
    """Return requests as a verdict shows them."""
    return [{"method": each["method"], **each["params"]} for each in requests[:20]]


def part_of(found: Json, wanted: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes of an object that somebody wants, as far as they are there."""
    return {name: found[name] for name in wanted if isinstance(found, dict) and name in found}


def same(found: Json, wanted: Mapping[str, Json]) -> bool:
    """Return true if an object has each of these values."""
    return isinstance(found, dict) and all(name in found and _alike(found[name], wanted[name]) for name in wanted)
