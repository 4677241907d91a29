"""An honest manager whose public queues, properties and client objects are those of its directory, and what is not.

It keeps its public queues over a kill, sets properties of some classes by their numbers, and takes no wrong answer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import uuid
from pathlib import Path
from typing import Any

from directory_manager import AWAY, FACETS, GUID, WORDS, Directed, attribute, by, plain
from honest_memory import BAD_VALUE, NOT_FOUND, OK, Refused

OWNER = "S-1-5-21-1-2-3-1000"
FIXED, BROKEN = 0xC00E003E, 0x80004005
RESULTS = ("Success", "GenericError", "DirectoryNotConnected", "ObjectNotFound", "AttributeNotFound", "EndOfData")
FORMS: dict[str, type] = {"name": str, "computer_name": str, "site_identifier_list": list, "journal_quota": int}
PROPERTIES: dict[str, dict[int, tuple[str, int, bool, range | None]]] = {
    "routing_link": {
        801: ("site1_identifier", 72, True, None),
        802: ("site2_identifier", 72, True, None),
        805: ("sequence_number", 65, True, None),
        806: ("identifier", 72, False, None),
        811: ("full_path", 31, False, None),
        810: ("description", 31, True, None),
        812: ("actual_cost", 19, True, range(1, 1_000_000)),
        813: ("site_gate_identifier_list", 4168, True, None),
    },
    "site": {
        301: ("name", 31, True, None),
        302: ("identifier", 72, False, None),
        1301: ("security", 65, True, None),
        311: ("foreign_site", 17, True, range(2)),
    },
    "queue": {
        101: ("identifier", 72, False, None),
        108: ("label", 31, True, None),
        109: ("create_time", 3, False, None),
        118: ("hash_key", 19, True, None),
        119: ("label_hash_key", 19, True, None),
    },
}
"""By class and number: attribute, type, whether it can be set, and to which values."""


class Integrated(Directed):
    """Does what the documents say."""

    def __init__(self, state_dir: Path) -> None:
        self.stored = ""
        super().__init__(state_dir)
        more = {"directory": ["get", "set"], "queues": ["set"], "objects": ["create", "invoke"]}
        self.facets = {**FACETS, **{name: [*FACETS.get(name, ()), *methods] for name, methods in more.items()}}
        if self.settings.exists():
            self.public = json.loads(self.settings.read_text()).get("public", {})
            for identifier, queue in self.public.items():
                self.queues[f"PUBLIC={identifier}"] = self.queues["DIRECT=OS:" + queue["path_name"]]

    def clear(self) -> None:
        super().clear()
        self.internal: dict[str, bytes] = {}
        self.objects: dict[str, dict[str, Any]] = {}

    def do_hello(self, **asked: Any) -> dict[str, Any]:
        user = {"sid": OWNER, "domain_user": True, "guest": False, "groups": [], "privileges": []}
        return super().do_hello(**asked) | {"security": {"self": OWNER, "callers": [user]}}

    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        return done or self.offline

    def do_directory_use(self, address: str | None, **more: Any) -> dict[str, Any]:
        answer = super().do_directory_use(address, **more)
        self.stored = ""  # the other one has written its own settings
        return answer

    def keep(self) -> None:
        super().keep()
        if self.address is None:
            return
        text = json.dumps({"address": self.address, "mine": self.mine, "wait": self.wait, "public": self.public})
        if text != self.stored:
            self.settings.with_suffix(".new").write_text(text)
            self.settings.with_suffix(".new").replace(self.settings)
            self.stored = text

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        try:
            answer = super().ask(method, **params)
        except (ValueError, KeyError):
            return AWAY
        if not self.sound(method, answer) or not self.selected(answer.get("object"), params.get("filter")):
            return {"result": "GenericError"}
        return {"result": answer["result"]} if method in ("write", "delete") else answer

    def sound(self, method: str, answer: Any) -> bool:
        if not isinstance(answer, dict) or answer.get("result") not in (*RESULTS, "ObjectAlreadyExists"):
            return False
        if answer["result"] != "Success":
            return True
        if method in ("read", "next"):
            found = answer.get("object")
            return isinstance(found, dict) and all(
                isinstance(value, FORMS.get(name, object)) for name, value in found.items()
            )
        if method == "create":
            return re.fullmatch(r"[0-9a-f-]{36}", str(answer.get("identifier"))) is not None
        return method != "begin" or isinstance(answer.get("query"), str)

    def selected(self, found: dict[str, Any] | None, wanted: list[dict[str, Any]] | None) -> bool:
        return found is None or all(self.fits(found, one) for one in wanted or () if one["attribute"] in found)

    def fits(self, found: dict[str, Any], one: dict[str, Any]) -> bool:
        value, wanted = found.get(one["attribute"]), one["value"]
        if isinstance(value, str):
            value, wanted = value.lower(), str(wanted).lower()
        if value is None:
            return False
        equal, less = value == wanted, value < wanted
        return {
            "EQUALS": equal,
            "NOT-EQUALS": not equal,
            "LESS-THAN": less,
            "GREATER-THAN": not less and not equal,
            "LESS-THAN-OR-EQUAL": less or equal,
            "GREATER-THAN-OR-EQUAL": not less,
        }[str(one["operator"])]

    # properties by their numbers

    def do_directory_get(self, identifier: str, properties: list[int], **more: Any) -> dict[str, Any]:
        found = self.do_directory_read(more["class"], by(identifier)).get("object", {})
        known = PROPERTIES.get(more["class"], {})
        rows = [known.get(number, ("", 1, False, None)) for number in properties]
        return OK | {
            "values": [{"vt": vt, "value": plain(found[name])} if name in found else {"vt": 1} for name, vt, *_ in rows]
        }

    def do_directory_set(self, identifier: str, properties: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        known, given = PROPERTIES.get(more["class"], {}), dict[str, Any]()
        for each in properties:
            name, _, written, limits = known.get(each["property"], ("", 1, False, None))
            value = each["value"].get("value")
            if not written:
                raise Refused(FIXED)
            limits = self.limited(limits, properties)
            if limits is not None and value not in limits:
                raise Refused(BAD_VALUE)
            given[name] = bool(value) if name == "foreign_site" else value
        if self.do_directory_write(identifier, given, **{"class": more["class"]})["result"] != "Success":
            raise Refused(0xC00E0043)
        return OK

    def limited(self, limits: range | None, properties: list[dict[str, Any]]) -> range | None:
        """Return the values that a property may be set to, in a call with these properties."""
        return limits

    # queues

    def identifier(self, format_name: str) -> str:
        for identifier, queue in self.public.items():
            if format_name.lower() in (f"public={identifier}", f"direct=os:{queue['path_name']}".lower()):
                return identifier
        raise Refused(NOT_FOUND)

    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        identifier = super().entered(path_name, given)
        now = self.time // 1000
        defaults = {
            "type": str(uuid.UUID(int=0)),
            "journaling": False,
            "quota": 0xFFFFFFFF,
            "journal_quota": 0xFFFFFFFF,
        }
        defaults |= {
            "authentication": False,
            "privacy_level": "Optional",
            "base_priority": 0,
            "multicast_address": None,
        }
        defaults |= {"queue_manager": GUID, "create_time": now, "modify_time": now}
        self.public[identifier] = {**defaults, **self.public[identifier]}
        self.queues[f"PUBLIC={identifier}"]["journal"] = bool(given.get("journaling"))
        return identifier

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        queue = self.public[self.identifier(format_name)]
        return OK | {"properties": {name: plain(queue.get(WORDS[name])) for name in properties}}

    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        identifier = self.identifier(format_name)
        given = {WORDS[name]: attribute(name, value) for name, value in properties.items()}
        if self.do_directory_write(identifier, given, **{"class": "queue"})["result"] != "Success":
            raise Refused(0xC00E0043)
        self.public[identifier] |= {**given, "modify_time": self.time // 1000}
        return OK

    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        try:
            format_name = f"PUBLIC={self.identifier(format_name)}"
        except Refused:
            return super().do_queues_delete(format_name)
        return super().do_queues_delete(format_name)

    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        name, _, suffix = format_name.partition(";")
        if suffix and not name.startswith("MACHINE="):
            name = "DIRECT=OS:" + self.public[self.identifier(name)]["path_name"]
            self.queues.setdefault(f"{name};JOURNAL", {"tx": False, "list": []})
            return super(Directed, self).do_queues_open(f"{name};JOURNAL", access, share)
        return super().do_queues_open(format_name, access, share)

    def give(self, m: dict[str, Any], takes: bool, transaction: str | None) -> dict[str, Any]:
        answer = super().give(m, takes, transaction)
        for name, queue in list(self.queues.items()):
            if takes and queue.get("journal") and m in queue["list"] and name.startswith("DIRECT"):
                copies = self.queues.setdefault(f"{name};JOURNAL", {"tx": False, "list": []})
                copies["list"].append({**m, "state": "ready"})
        return answer

    def expanded(self, format_name: str) -> list[str]:
        left, found, seen = format_name.split(","), dict[str, str](), set[str]()
        while left:
            name = left.pop(0)
            if not name.startswith("DL="):
                found.setdefault(name.lower(), name)
            elif name not in seen:
                seen.add(name)
                answer = self.ask("resolve", format_name=name)
                if answer["result"] != "Success":
                    raise Refused(0xC00E0020)
                left += answer["members"]
        return list(found.values())

    # objects

    def do_objects_create(self, **more: Any) -> dict[str, Any]:
        name = f"o{len(self.objects) + 1}"
        self.objects[name] = {"class": more["class"]}
        return OK | {"object": name}

    def do_objects_invoke(self, object: str, member: str, kind: str, arguments: list[dict[str, Any]]) -> dict[str, Any]:
        held = self.objects[object]
        if kind == "put":
            held[member] = arguments[0]["value"]
            return OK
        if kind == "get":
            return OK | {"value": {"vt": "BSTR", "value": held.get(member, "")}}
        called: dict[str, Any] = getattr(self, f"object_{member}")(held, *arguments)
        return called

    def object_Create(self, held: dict[str, Any]) -> dict[str, Any]:
        held["id"] = self.entered(held["PathName"], {"label": held["Label"]})
        return OK

    def object_Refresh(self, held: dict[str, Any]) -> dict[str, Any]:
        found = self.do_directory_read("queue", by(held["id"]))
        if found["result"] != "Success":
            raise Refused(BROKEN)
        held["Label"] = found["object"]["label"]
        return OK

    def object_Update(self, held: dict[str, Any]) -> dict[str, Any]:
        if self.do_directory_write(held["id"], {"label": held["Label"]}, **{"class": "queue"})["result"] != "Success":
            raise Refused(BROKEN)
        return OK

    def object_RegisterCertificate(
        self, held: dict[str, Any], flags: dict[str, Any], external: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        names = ["certificates", "certificate_digest_list"]
        wanted = [{"attribute": "security_identifier", "operator": "EQUALS", "value": OWNER}]
        user = self.do_directory_read("user", wanted, names)
        found = self.do_directory_read("user", wanted, ["identifier"])
        if user["result"] != "Success" or found["result"] != "Success":
            raise Refused(BROKEN)
        identifier, attributes = found["object"]["identifier"], user["object"]
        entries = entries_of(base64.b64decode(attributes["certificates"]))
        digests = list(attributes["certificate_digest_list"])
        new = base64.b64decode(external["value"]) if external else f"made {self.number}".encode()
        old = self.internal.get(OWNER)
        if not external and old is not None:
            if flags["value"] == 2:
                return {"status": 0x400E000A}
            self.probed(identifier, attributes)
            entries = self.without(entries, old)
        self.number += 1
        self.internal |= {} if external else {OWNER: new}
        digests.append(base64.b64encode(self.digest(new)).decode())
        self.wrote(identifier, {"certificates": written([*entries, new]), "certificate_digest_list": digests})
        return OK

    def probed(self, identifier: str, attributes: dict[str, Any]) -> None:
        self.wrote(identifier, attributes)

    def without(self, entries: list[bytes], old: bytes) -> list[bytes]:
        return [each for each in entries if each != old]

    def digest(self, certificate: bytes) -> bytes:
        return hashlib.md5(certificate).digest()

    def wrote(self, identifier: str, attributes: dict[str, Any]) -> None:
        if self.do_directory_write(identifier, attributes, **{"class": "user"})["result"] != "Success":
            raise Refused(BROKEN)


def entries_of(data: bytes) -> list[bytes]:
    """Return the certificates of an MQUSERSIGNCERTS."""
    found, at = [], 4
    for _ in range(int.from_bytes(data[:4], "little")):
        length = int.from_bytes(data[at + 32 : at + 36], "little")
        found.append(data[at + 36 : at + 36 + length])
        at += 36 + length
    return found


def written(certificates: list[bytes]) -> str:
    """Return an MQUSERSIGNCERTS."""
    out = struct.pack("<I", len(certificates))
    for each in certificates:
        out += hashlib.md5(each).digest() + uuid.uuid4().bytes_le + struct.pack("<I", len(each)) + each
    return base64.b64encode(out).decode()


class TakesAnyCost(Integrated):
    def limited(self, limits: range | None, properties: list[dict[str, Any]]) -> range | None:
        return None


class ChecksAPropertyAlone(Integrated):
    def limited(self, limits: range | None, properties: list[dict[str, Any]]) -> range | None:
        return limits if len(properties) == 1 else None


class ShowsAnIdentifierThatWasSet(Integrated):
    tried: Any = None

    def do_directory_set(self, identifier: str, properties: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        self.tried = next((one["value"]["value"] for one in properties if one["property"] == 806), self.tried)
        return super().do_directory_set(identifier, properties, **more)

    def do_directory_get(self, identifier: str, properties: list[int], **more: Any) -> dict[str, Any]:
        answer = super().do_directory_get(identifier, properties, **more)
        for number, each in zip(properties, answer["values"], strict=True):
            if number == 806:
                each["value"] = self.tried or each["value"]
        return answer


class SetsTheFirstOnly(Integrated):
    def do_directory_set(self, identifier: str, properties: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return super().do_directory_set(identifier, properties[:1], **more)


class HashKeyChangesTheLabel(Integrated):
    def do_directory_write(self, identifier: str, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        if "hash_key" in object:
            object = {**object, "label": str(object["hash_key"])}
        return super().do_directory_write(identifier, object, **more)


class HandlesEndOnline(Integrated):
    def look(self) -> None:
        super().look()
        for each in self.handles.values():
            each["lost"] = True


class SharesByName(Integrated):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        identifier = super().entered(path_name, given)
        self.queues[f"PUBLIC={identifier}"] = dict(self.queues["DIRECT=OS:" + path_name])
        return identifier


class OfflineItAsksNobody(Integrated):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        return AWAY if self.offline else super().event(method, **params)


class JournalOfPathsOnly(Integrated):
    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        if format_name.startswith("PUBLIC=") and format_name.endswith(";JOURNAL"):
            self.queues.setdefault(format_name, {"tx": False, "list": []})
            return super(Directed, self).do_queues_open(format_name, access, share)
        return super().do_queues_open(format_name, access, share)


class PurgesNothing(Integrated):
    def do_queues_purge(self, queue: str) -> dict[str, Any]:
        return OK


class DeletedHandlesRead(Integrated):
    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        super().do_queues_delete(format_name)
        for each in self.handles.values():
            each["lost"] = False
        return OK


class TimesAreOfTheStart(Integrated):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        identifier = super().entered(path_name, given)
        self.public[identifier] |= {"create_time": 1_000}
        return identifier


class ChangesHaveNoTime(Integrated):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        before = self.public[self.identifier(format_name)]["modify_time"]
        super().do_queues_set(format_name, properties)
        self.public[self.identifier(format_name)]["modify_time"] = before
        return OK


class LeavesWhileItBegins(Integrated):
    def initialize(self, provisioning: bool) -> bool:
        self.settings.unlink(missing_ok=True)
        self.stored = ""
        return super().initialize(provisioning)


class IdentifiersAreForgotten(Integrated):
    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        for queue in self.public.values():
            queue["identifier"] = GUID


class LastSetIsForgotten(Integrated):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        before = json.loads(json.dumps(self.public))
        answer = super().do_queues_set(format_name, properties)
        after, self.public = self.public, before
        self.keep()
        self.public, self.stored = (
            after,
            json.dumps({"address": self.address, "mine": self.mine, "wait": self.wait, "public": after}),
        )
        return answer


class DeletedQueueComesBack(Integrated):
    def keep(self) -> None:
        if len(self.public) >= len(json.loads(self.stored or "{}").get("public", ())):
            super().keep()


class ForgetsItself(Integrated):
    def initialize(self, provisioning: bool) -> bool:
        self.mine = {"identifier": GUID, "computer_name": "HOST", "site_identifier_list": []}
        return super().initialize(provisioning)


class QueueIsThereBeforeItsObject(Integrated):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        super(Directed, self).do_queues_create(path_name, {})
        self.keep()
        self.queues.pop("DIRECT=OS:" + path_name)
        return super().entered(path_name, given)


class OneExpressionIsEnough(Integrated):
    def known(self, kind: str, wanted: Any) -> dict[str, Any]:
        return super().known(kind, wanted[:1])


class FiltersByTheFirst(Integrated):
    def do_directory_read(self, kind: str = "", filter: Any = None, attributes: Any = None, **more: Any) -> Any:
        return super().do_directory_read(kind, filter and filter[:1], attributes, **more)


class NonsenseIsSuccess(Integrated):
    def sound(self, method: str, answer: Any) -> bool:
        return True

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().ask(method, **params) if method != "create" else Directed.ask(self, method, **params)
        known = isinstance(answer, dict) and answer.get("result") in RESULTS
        return answer if known else {"result": "Success", "identifier": GUID}


class StaysOfflineAfterNonsense(Integrated):
    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().ask(method, **params)
        return AWAY if answer == {"result": "GenericError"} else answer

    def look(self) -> None:
        self.check = None


class StartKeepsWhatItHas(Integrated):
    def initialize(self, provisioning: bool) -> bool:
        mine = {name: value for name, value in self.mine.items() if name == "journal_quota"}
        done = super().initialize(provisioning)
        self.mine |= mine or {"journal_quota": 3}
        return done


class DeliversToEachMember(Integrated):
    def expanded(self, format_name: str) -> list[str]:
        found = super().expanded(format_name)
        return [*found, *found] if "DL=" in format_name else found


class QueryGivesEachOnce(Integrated):
    seen: list[Any]

    def do_directory_begin(self, **params: Any) -> dict[str, Any]:
        self.seen = []
        return super().do_directory_begin(**params)

    def do_directory_next(self, query: str) -> dict[str, Any]:
        answer = super().do_directory_next(query)
        while answer["result"] == "Success" and answer["object"]["identifier"] in self.seen:
            answer = super().do_directory_next(query)
        self.seen.append(answer.get("object", {}).get("identifier"))
        return answer


class RegistersWithoutProbe(Integrated):
    def probed(self, identifier: str, attributes: dict[str, Any]) -> None:
        """Nothing."""


class OldCertificateStays(Integrated):
    def without(self, entries: list[bytes], old: bytes) -> list[bytes]:
        return entries


class DigestIsAnother(Integrated):
    def digest(self, certificate: bytes) -> bytes:
        return hashlib.sha256(certificate).digest()[:16]


class RegistersWhatIsRefused(Integrated):
    def do_objects_invoke(self, object: str, member: str, kind: str, arguments: list[dict[str, Any]]) -> dict[str, Any]:
        try:
            return super().do_objects_invoke(object, member, kind, arguments)
        except Refused:
            return OK


class RefreshesFromItself(Integrated):
    def object_Refresh(self, held: dict[str, Any]) -> dict[str, Any]:
        return OK


class UpdatesItselfOnly(Integrated):
    def object_Update(self, held: dict[str, Any]) -> dict[str, Any]:
        return OK


class LinksWithoutGatesLeadBack(Integrated):
    def do_directory_get(self, identifier: str, properties: list[int], **more: Any) -> dict[str, Any]:
        answer = super().do_directory_get(identifier, properties, **more)
        shown = dict(zip(properties, answer["values"], strict=True))
        if {801, 802, 813} <= shown.keys() and not shown[813].get("value") and shown[810].get("value"):
            shown[802]["value"] = shown[801]["value"]
        return answer


class LongCallsLoseTheirEnd(Integrated):
    def do_directory_get(self, identifier: str, properties: list[int], **more: Any) -> dict[str, Any]:
        answer = super().do_directory_get(identifier, properties, **more)
        answer["values"][12:] = [{"vt": 1} for _ in answer["values"][12:]]
        return answer


class EmptyIsNoValue(Integrated):
    def do_directory_read(self, kind: str = "", filter: Any = None, attributes: Any = None, **more: Any) -> Any:
        answer = super().do_directory_read(kind, filter, attributes, **more)
        if kind in ("queue_manager", "queue") and "object" in answer:
            answer["object"] = {name: value for name, value in answer["object"].items() if value}
        return answer


class LosesItselfWithItsObject(Integrated):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        if not done and not provisioning:
            self.mine = {"identifier": GUID, "computer_name": "HOST", "site_identifier_list": []}
        return done


class BeginsWithoutKeysOffline(Integrated):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        if provisioning and self.offline:
            self.mine.pop("public_encryption_key_list")
        return done


class LongDescriptorsAreCut(Integrated):
    def do_directory_write(self, identifier: str, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        if "security" in object:
            data = base64.b64decode(object["security"])[:255]
            object = {**object, "security": base64.b64encode(data).decode()}
        return super().do_directory_write(identifier, object, **more)


class EmptyTextsAreNotWritten(Integrated):
    def do_directory_write(self, identifier: str, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        object = {name: value for name, value in object.items() if value != ""}
        return super().do_directory_write(identifier, object, **more)
