"""An honest queue manager with a directory, and variants that are not, each named after its defect.

It has public queues, and what MS-MQDMPR says of the directory events, of the start and of the timers.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
from pathlib import Path
from typing import Any

from honest_memory import DENIED, EXISTS, METHODS, NOT_FOUND, OK, HonestManager, Refused

EVENTS = ["use", "own", "read", "begin", "next", "end", "create", "delete", "write"]
FACETS = {
    **METHODS,
    "queues": [*METHODS["queues"], "get", "counts"],
    "directory": EVENTS,
}
GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
UNSUPPORTED, EXCLUSIVE, FAILED = 0xC00E0020, 0xC00E0045, 0xC00E0043
AWAY = {"result": "DirectoryNotConnected"}
NOTIFIES = "non_ldap_capable_queue_manager_notification"
MINUTE, HOUR = 60_000, 3_600_000
PROVIDERS = (
    ("Microsoft Base Cryptographic Provider v1.0", 512),
    ("Microsoft Enhanced Cryptographic Provider v1.0", 1024),
    ("Microsoft Enhanced RSA and AES Cryptographic Provider", 1024),
)
WORDS = {"PROPID_Q_LABEL": "label", "PROPID_Q_INSTANCE": "identifier", "PROPID_Q_BASEPRIORITY": "base_priority"}
WORDS |= {"PROPID_Q_FULL_PATH": "full_path", "PROPID_Q_ADS_PATH": "directory_path", "PROPID_Q_TYPE": "type"}
WORDS |= {"PROPID_Q_QUOTA": "quota", "PROPID_Q_JOURNAL_QUOTA": "journal_quota", "PROPID_Q_JOURNAL": "journaling"}
WORDS |= {"PROPID_Q_AUTHENTICATE": "authentication", "PROPID_Q_TRANSACTION": "transactional"}
WORDS |= {"PROPID_Q_PRIV_LEVEL": "privacy_level", "PROPID_Q_MULTICAST_ADDRESS": "multicast_address"}
WORDS |= {"PROPID_Q_PATHNAME": "path_name", "PROPID_Q_PATHNAME_DNS": "qualified_path_name"}
WORDS |= {
    "PROPID_Q_CREATE_TIME": "create_time",
    "PROPID_Q_MODIFY_TIME": "modify_time",
    "PROPID_Q_QMID": "queue_manager",
}
FLAGS, LEVELS = ("journaling", "authentication", "transactional"), ("None", "Optional", "Body")


def attribute(name: str, value: Any) -> Any:
    word = WORDS[name]
    return bool(value) if word in FLAGS else LEVELS[value] if word == "privacy_level" else value


def plain(value: Any) -> Any:
    return LEVELS.index(value) if value in LEVELS else int(value) if isinstance(value, bool) else value


def keys() -> str:
    """Return an MQDSPUBLICKEYS with a key for each provider."""
    out = b""
    for name, bits in PROVIDERS:
        modulus = (1 << (bits - 1)) | 1
        blob = struct.pack("<BBHI4sII", 6, 2, 0, 0xA400, b"RSA1", bits, 65537) + modulus.to_bytes(bits // 8, "little")
        provider = f"{name}\0".encode("utf-16-le")
        out += struct.pack("<3I", len(blob), len(provider), 1) + provider + blob
    return base64.b64encode(struct.pack("<2I", 8 + len(out), len(PROVIDERS)) + out).decode()


def listed(object: dict[str, Any], attributes: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in object.items() if attributes is None or name in attributes}


def by(identifier: str) -> list[dict[str, Any]]:
    return [{"attribute": "identifier", "operator": "EQUALS", "value": identifier}]


class Directed(HonestManager):
    """Does what the documents say."""

    def __init__(self, state_dir: Path) -> None:
        self.settings = Path(state_dir) / "directory.json"
        super().__init__(state_dir, FACETS)
        if self.settings.exists():
            stored = json.loads(self.settings.read_text())
            self.address, self.mine, self.wait = stored["address"], stored["mine"], stored["wait"]
            self.initialize(False)

    def clear(self) -> None:
        super().clear()
        self.public: dict[str, dict[str, Any]] = {}
        self.address: str | None = None
        self.offline, self.wait = False, 1.0
        self.check: int | None = None
        self.sites: dict[str, dict[str, Any]] = {}
        self.gates: dict[str, dict[str, Any]] = {}
        self.enterprise: dict[str, Any] | None = None
        self.hourly, self.half_daily = 0, 0
        self.mine: dict[str, Any] = {"identifier": GUID, "computer_name": "HOST", "site_identifier_list": []}

    def do_reset(self) -> dict[str, Any]:
        self.settings.unlink(missing_ok=True)
        return super().do_reset()

    def do_hello(self, **asked: Any) -> dict[str, Any]:
        return super().do_hello(**asked) | {"protocol": "1.3"}

    # the directory's side

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        host, _, port = str(self.address).partition(":")
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"
        try:
            with socket.create_connection((host, int(port)), self.wait) as connection:
                connection.settimeout(self.wait)
                connection.sendall(request)
                answer = connection.makefile("rb").readline()
        except OSError:
            return AWAY
        found: dict[str, Any] = json.loads(answer)["result"] if answer else AWAY
        return found

    def event(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.ask(method, **params)
        if answer == AWAY:
            self.goes_offline()
        return answer

    def goes_offline(self) -> None:
        self.offline = True
        if self.check is None:
            self.check = self.time + MINUTE

    # the facet

    def do_directory_use(
        self, address: str | None, provisioning: bool = False, site: str | None = None, wait_ms: int = 2000
    ) -> dict[str, Any]:
        self.address, self.wait, self.offline, self.check = address, wait_ms / 1000, False, None
        if address is None:
            self.settings.unlink(missing_ok=True)
            return OK
        if provisioning:
            self.mine |= {"public_encryption_key_list": keys(), "public_signing_key_list": keys()}
            if site is not None:
                self.mine["site_identifier_list"] = [site]
        done = self.initialize(provisioning)
        self.settings.write_text(json.dumps({"address": address, "mine": self.mine, "wait": self.wait}))
        return OK if done else {"status": FAILED}

    def initialize(self, provisioning: bool) -> bool:
        self.sites, self.enterprise = {}, None
        found = self.do_directory_read("queue_manager", by(GUID))
        if found["result"] == "Success":
            self.mine = {**self.mine, **found["object"]}
        elif not (provisioning and found["result"] == "ObjectNotFound"):
            return False
        for each in self.mine["site_identifier_list"]:
            site = self.do_directory_read("site", by(each))
            if site["result"] == "Success":
                self.sites[each] = site["object"]
        firm = self.do_directory_read("enterprise", attributes=[NOTIFIES])
        if firm["result"] == "Success":
            self.enterprise = firm["object"]
        elif firm["result"] == "AttributeNotFound":
            self.enterprise = {NOTIFIES: True}
        self.hourly, self.half_daily = self.time + HOUR, self.time + 12 * HOUR
        self.gates = {gate: {} for site in self.sites.values() for gate in site["site_gates"]}
        return True

    def do_directory_own(self) -> dict[str, Any]:
        held = {"offline": self.offline, "integrated": self.address is not None, "enterprise": self.enterprise}
        shown = {"queue_manager": self.mine, "sites": list(self.sites.values())}
        return OK | held | shown | {"gates": [each for each in self.gates.values() if each]}

    def do_directory_read(
        self, kind: str = "", filter: Any = None, attributes: Any = None, force: bool = False, **more: Any
    ) -> dict[str, Any]:
        kind = kind or more["class"]
        if self.offline and not force:
            return OK | self.known(kind, filter or ())
        given = {"filter": filter, "attributes": attributes}
        params = {"class": kind, **{name: value for name, value in given.items() if value is not None}}
        answer = self.ask("read", **params)
        if answer == AWAY and not force:
            self.goes_offline()
        return OK | answer

    def known(self, kind: str, wanted: Any) -> dict[str, Any]:
        rows = list(self.public.values()) if kind == "queue" else [self.mine] if kind == "queue_manager" else []
        for each in rows:
            if all(self.fits(each, one) for one in wanted):
                return {"result": "Success", "object": each}
        return {"result": "ObjectNotFound"} if kind == "queue" else AWAY

    def fits(self, found: dict[str, Any], one: dict[str, Any]) -> bool:
        same = str(found.get(one["attribute"])).lower() == str(one["value"]).lower()
        return same if one["operator"] == "EQUALS" else not same

    def do_directory_begin(self, **params: Any) -> dict[str, Any]:
        return OK | self.ask("begin", **params)

    def do_directory_next(self, query: str) -> dict[str, Any]:
        return OK | self.ask("next", query=query)

    def do_directory_end(self, query: str) -> dict[str, Any]:
        return OK | self.ask("end", query=query)

    def announce(self, operation: str, **which: Any) -> None:
        self.ask("changed", operation=operation, **which)

    def do_directory_create(self, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        if more["class"] == "queue":
            self.announce("QueueCreation", path_name=object["path_name"])
        return OK | self.event("create", object=listed(object, **more), **{"class": more["class"]})

    def do_directory_delete(self, identifier: str, **more: Any) -> dict[str, Any]:
        if more["class"] == "queue":
            self.announce("QueueDeletion", identifier=identifier)
        return OK | self.event("delete", identifier=identifier, **more)

    def do_directory_write(self, identifier: str, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        given = listed(object, **more)
        answer = self.event("write", identifier=identifier, object=given, **{"class": more["class"]})
        told = {"queue": "QueueUpdate", "queue_manager": "QueueManagerUpdate"}.get(more["class"])
        if told is not None and answer["result"] == "Success":
            self.announce(told, identifier=identifier)
        return OK | answer

    # time

    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        until = self.time + by_ms
        while self.address is not None:
            due = min(each for each in (self.check or until + 1, self.hourly, self.half_daily))
            if due > until:
                break
            self.time = due
            if due == self.check:
                self.look()
            elif due == self.hourly:
                self.hourly += HOUR
                for gate in self.gates:
                    found = self.do_directory_read("queue_manager", by(gate))
                    self.gates[gate] = self.updated(found, self.gates[gate])
            else:
                self.half_daily += 12 * HOUR
                for each in self.sites:
                    self.sites[each] = self.updated(self.do_directory_read("site", by(each)), self.sites[each])
        self.time = until
        return super().do_clock_advance(0)

    def updated(self, answer: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = answer.get("object", held)
        return found

    def look(self) -> None:
        self.check = None
        found = self.do_directory_read("queue_manager", by(GUID), force=True)
        if found["result"] != "Success":
            self.check = self.time + MINUTE
            return
        self.mine, self.offline = {**self.mine, **found["object"]}, False
        for each in self.public.values():
            read = self.do_directory_read("queue", by(each["identifier"]))
            each.update(read.get("object", {}))

    # queues

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        if "private$" in path_name:
            return super().do_queues_create(path_name, properties)
        given = {WORDS[name]: attribute(name, value) for name, value in (properties or {}).items()}
        return OK | {"format_name": f"PUBLIC={self.entered(path_name, given)}"}

    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        """Create a public queue and return its identifier."""
        given.setdefault("qualified_path_name", path_name.replace("HOST", "HOST.example", 1))
        if "DIRECT=OS:" + path_name in self.queues:
            raise Refused(EXISTS)
        made = self.do_directory_create({"path_name": path_name, **given}, **{"class": "queue"})
        if made["result"] != "Success":
            raise Refused(FAILED)
        paths = self.do_directory_read("queue", by(made["identifier"]), ["full_path", "directory_path"])
        queue = {"path_name": path_name, "label": "", "full_path": "", "directory_path": "", **given}
        queue |= {"identifier": made["identifier"], **paths.get("object", {})}
        super().do_queues_create(path_name, {"PROPID_Q_TRANSACTION": given.get("transactional")})
        self.public[queue["identifier"]] = queue
        self.queues[f"PUBLIC={queue['identifier']}"] = self.queues["DIRECT=OS:" + path_name]
        return str(queue["identifier"])

    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        super().do_queues_delete(format_name)
        queue = self.public.pop(format_name.removeprefix("PUBLIC="), None)
        if queue is not None:
            self.queues.pop("DIRECT=OS:" + queue["path_name"])
            if self.do_directory_delete(queue["identifier"], **{"class": "queue"})["result"] != "Success":
                raise Refused(FAILED)
        return OK

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        queue = self.public[format_name.removeprefix("PUBLIC=")]
        shown = {name: queue.get(WORDS[name], 0) for name in properties}
        return OK | {"properties": {name: plain(each) for name, each in shown.items()}}

    def do_queues_counts(self, format_name: str) -> dict[str, Any]:
        listed = self.queues[format_name]["list"]
        return OK | {"messages": len([each for each in listed if each["state"] in ("ready", "locked")])}

    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        names = self.expanded(format_name)
        if (len(names) > 1 and access != "send") or (names[0].startswith("MACHINE=") and access == "send"):
            raise Refused(UNSUPPORTED)
        if len(names) > 1 and share != "deny_none":
            raise Refused(EXCLUSIVE)
        for name in names:
            if name not in self.queues:
                self.reach(name)
        handles = [super(Directed, self).do_queues_open(name, access, share)["queue"] for name in names]
        self.handles[handles[0]]["others"] = handles[1:]
        return OK | {"queue": handles[0]}

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        for each in self.handles[queue].get("others", ()):
            super().do_messages_send(each, message, transaction)
        return super().do_messages_send(queue, message, transaction)

    def held(self, transaction: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return list({id(m): (queue, m) for queue, m in super().held(transaction)}.values())  # each by one name

    def expanded(self, format_name: str) -> list[str]:
        left, found = format_name.split(","), dict[str, str]()
        while left:
            name = left.pop(0)
            if name.startswith("DL="):
                answer = self.ask("resolve", format_name=name)
                if answer["result"] != "Success":
                    raise Refused(UNSUPPORTED)
                left += answer["members"]
            else:
                found.setdefault(name.lower(), name)
        return list(found.values())

    def reach(self, name: str) -> None:
        """Let a queue of another computer be opened for send."""
        if name.upper().startswith("DIRECT=OS:HOST\\"):
            raise Refused(NOT_FOUND)
        if name.upper().startswith("PUBLIC="):
            found = self.do_directory_read("queue", by(name[7:].lower()))
            if found["result"] != "Success":
                raise Refused(UNSUPPORTED)
            if found["object"]["path_name"].upper().startswith("HOST\\"):
                raise Refused(NOT_FOUND)
            if self.do_directory_read("queue", by(name[7:].lower()))["result"] != "Success":
                raise Refused(NOT_FOUND)
        self.queues[name] = {"tx": False, "list": []}


class ReadsNoSites(Directed):
    def initialize(self, provisioning: bool) -> bool:
        kept, self.mine["site_identifier_list"] = self.mine["site_identifier_list"], []
        done = super().initialize(provisioning)
        self.mine["site_identifier_list"], self.sites = kept or self.mine["site_identifier_list"], {}
        return done


class KeepsItsOwnAttributes(Directed):
    def initialize(self, provisioning: bool) -> bool:
        mine = {"journal_quota": 1, "clustered": False}
        done = super().initialize(provisioning)
        self.mine |= mine
        return done


class ReadsTheWholeEnterprise(Directed):
    def do_directory_read(self, kind: str = "", filter: Any = None, attributes: Any = None, **more: Any) -> Any:
        return super().do_directory_read(kind, filter, None if kind == "enterprise" else attributes, **more)


class HasNoSigningKeys(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        if "public_signing_key_list" in self.mine:
            self.mine["public_signing_key_list"] = ""
        return done


class KeyNamesAProviderWrongly(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        if "public_encryption_key_list" in self.mine:
            plain, wrong = (f"Microsoft {word} Crypto".encode("utf-16-le") for word in ("Base", "Bare"))
            held = base64.b64decode(self.mine["public_encryption_key_list"]).replace(plain, wrong)
            self.mine["public_encryption_key_list"] = base64.b64encode(held).decode()
        return done


class NeverLooksForTheDirectory(Directed):
    def look(self) -> None:
        self.check = None


class LooksOnce(Directed):
    def look(self) -> None:
        super().look()
        self.check = None


class LooksEarly(Directed):
    def goes_offline(self) -> None:
        super().goes_offline()
        self.check = self.time + 30_000


class StaysOnline(Directed):
    def goes_offline(self) -> None:
        """Nothing."""


class ForcedReadGoesOffline(Directed):
    def do_directory_read(self, kind: str = "", filter: Any = None, force: bool = False, **more: Any) -> Any:
        answer = super().do_directory_read(kind, filter, force=force, **more)
        if answer["result"] == "DirectoryNotConnected":
            self.goes_offline()
        return answer


class AsksOffline(Directed):
    def known(self, kind: str, wanted: Any) -> dict[str, Any]:
        self.ask("read", **{"class": kind})
        return super().known(kind, wanted)


class KnowsTheFirstQueueOnly(Directed):
    def known(self, kind: str, wanted: Any) -> dict[str, Any]:
        return super().known(kind, wanted if kind != "queue" or wanted[0]["value"] == "three" else ())


class AnnouncesNothing(Directed):
    def announce(self, operation: str, **which: Any) -> None:
        """Nothing."""


class AnnouncesRefusedWrites(Directed):
    def do_directory_write(self, identifier: str, object: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = super().do_directory_write(identifier, object, **more)
        if answer["result"] != "Success":
            self.announce("QueueUpdate", identifier=identifier)
        return answer


class RefusalIsAGenericError(Directed):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().event(method, **params)
        known = answer["result"] in ("Success", "DirectoryNotConnected")
        return answer if known else {"result": "GenericError"}


class CreatesWithoutAttributes(Directed):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        if method == "create" and params["class"] != "queue":
            params["object"] = {name: params["object"][name] for name in list(params["object"])[:1]}
        return super().event(method, **params)


class QueriesWithoutOrder(Directed):
    def do_directory_begin(self, **params: Any) -> dict[str, Any]:
        params.pop("order", None)
        return super().do_directory_begin(**params)


class QueryRepeatsItsLast(Directed):
    last: dict[str, Any]

    def do_directory_next(self, query: str) -> dict[str, Any]:
        answer = super().do_directory_next(query)
        self.last = answer if answer["result"] == "Success" else self.last
        return self.last


class QueueIsThereThoughRefused(Directed):
    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return super().do_queues_create(path_name, properties)
        except Refused:
            self.queues["DIRECT=OS:" + path_name] = {"tx": False, "list": []}
            raise


class QueueHasAnIdentifierOfItsOwn(Directed):
    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        answer = super().do_queues_get(format_name, properties)
        if "PROPID_Q_INSTANCE" in properties:
            answer["properties"]["PROPID_Q_INSTANCE"] = GUID
        return answer


class DeletedQueueStaysInTheDirectory(Directed):
    def do_directory_delete(self, identifier: str, **more: Any) -> dict[str, Any]:
        return OK | {"result": "Success"}


class FailedDeletionSucceeds(Directed):
    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        try:
            return super().do_queues_delete(format_name)
        except Refused:
            return OK


class LostQueueIsOpenedElsewhere(Directed):
    def reach(self, name: str) -> None:
        try:
            super().reach(name)
        except Refused as refused:
            if refused.status != NOT_FOUND or not name.startswith("PUBLIC="):
                raise
            self.queues[name] = {"tx": False, "list": []}


class UnknownQueueIsDenied(Directed):
    def reach(self, name: str) -> None:
        try:
            super().reach(name)
        except Refused as refused:
            raise Refused(DENIED) from refused


class ListComesTwice(Directed):
    def expanded(self, format_name: str) -> list[str]:
        found = super().expanded(format_name)
        return [*found, found[0]] if "DL=" in format_name else found


class LostListIsLeftOut(Directed):
    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().ask(method, **params)
        if method == "resolve" and answer["result"] != "Success":
            return {"result": "Success", "members": ["DIRECT=OS:OTHER\\q"]}
        return answer


class SitesAreNeverReadAgain(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        self.half_daily = 1 << 60
        return done


class GatesAreReadTwiceAnHour(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        self.hourly = self.time + HOUR // 2
        return done


class NamesOfProvidersDoNotEnd(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        if "public_signing_key_list" in self.mine:
            out = b""
            for name, bits in PROVIDERS:
                blob = struct.pack("<BBHI4sII", 6, 2, 0, 0xA400, b"RSA1", bits, 65537) + bytes([1] * (bits // 8))
                provider = name.encode("utf-16-le")
                out += struct.pack("<3I", len(blob), len(provider), 1) + provider + blob
            held = struct.pack("<2I", 8 + len(out), len(PROVIDERS)) + out
            self.mine["public_signing_key_list"] = base64.b64encode(held).decode()
        return done


class QualifiedNamesAreShort(Directed):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        return super().entered(path_name, {**given, "qualified_path_name": path_name})


class EachFailureStartsTheTimerAnew(Directed):
    def goes_offline(self) -> None:
        self.check = None
        super().goes_offline()


class ForcedReadStartsTheTimer(Directed):
    def do_directory_read(self, kind: str = "", filter: Any = None, force: bool = False, **more: Any) -> Any:
        answer = super().do_directory_read(kind, filter, force=force, **more)
        if answer["result"] == "DirectoryNotConnected" and self.check is None:
            self.check = self.time + MINUTE
        return answer


class WriteKnowsSomeResultsOnly(Directed):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().event(method, **params)
        strange = method == "write" and answer["result"] in ("EndOfData", "ObjectAlreadyExists")
        return {"result": "GenericError"} if strange else answer


class SuccessIsOnline(Directed):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().event(method, **params)
        self.offline = self.offline and answer["result"] != "Success"
        return answer


class OfflineItAnnouncesNothing(Directed):
    def announce(self, operation: str, **which: Any) -> None:
        if not self.offline:
            super().announce(operation, **which)


class MissingObjectIsDeleted(Directed):
    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        queue = self.public.get(format_name.removeprefix("PUBLIC="))
        try:
            return super().do_queues_delete(format_name)
        except Refused:
            answer = self.ask("delete", identifier=(queue or {}).get("identifier"), **{"class": "queue"})
            if answer["result"] == "Success":
                return OK
            raise


class SeveralAreRead(Directed):
    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        several = len(self.expanded(format_name)) > 1
        return super().do_queues_open(format_name, "send" if several and access == "peek" else access, share)


class SeveralAreTakenAlone(Directed):
    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        several = len(self.expanded(format_name)) > 1
        return super().do_queues_open(format_name, access, "deny_none" if several else share)


class LostElementIsLeftOut(Directed):
    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        names = self.expanded(format_name)
        return super().do_queues_open(",".join([each for each in names if "lost" not in each] or names), access, share)


class TransactionReachesTheFirst(Directed):
    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        if transaction is not None:
            self.handles[queue]["others"] = []
        return super().do_messages_send(queue, message, transaction)


class CaseMakesSeveral(Directed):
    def expanded(self, format_name: str) -> list[str]:
        found = super().expanded(format_name)
        return found * 2 if "," in format_name and len(found) == 1 else found


class DeadLettersAreWritten(Directed):
    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        if format_name.startswith("MACHINE=") and format_name.endswith(";DEADXACT"):
            self.queues.setdefault(format_name, {"tx": False, "list": []})
            return super(Directed, self).do_queues_open(format_name, access, share)
        return super().do_queues_open(format_name, access, share)


class TypedQueuesAreNotPublic(Directed):
    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        if "PROPID_Q_TYPE" in (properties or {}):
            return HonestManager.do_queues_create(self, path_name, {})
        return super().do_queues_create(path_name, properties)


class TransactionalQueuesAreNotJournaled(Directed):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        plain_ones = {name: each for name, each in given.items() if name != "journaling"}
        return super().entered(path_name, plain_ones if given.get("transactional") else given)


class LabelledQueuesHaveNoPaths(Directed):
    def entered(self, path_name: str, given: dict[str, Any]) -> str:
        identifier = super().entered(path_name, given)
        if {"label", "quota"} <= given.keys():
            self.public[identifier]["full_path"] = ""
        return identifier


class ForgetsWhatIsLost(Directed):
    def updated(self, answer: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
        return answer.get("object", {})


class GatesAreOfTheFirstSite(Directed):
    def initialize(self, provisioning: bool) -> bool:
        done = super().initialize(provisioning)
        first = next(iter(self.sites.values()), {"site_gates": []})
        self.gates = {gate: each for gate, each in self.gates.items() if gate in first["site_gates"]}
        return done
