"""An honest manager with a directory that tells of its queues, keys and room, and variants that are not.

Beside what `directory_manager` has: management of queues, properties by number, the quota, names of computers.
"""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any

from directory_manager import AWAY, FACETS, FAILED, GUID, Directed, by
from honest_memory import DENIED, NOT_FOUND, OK, Refused

from conformance.suites.packets.messages import packet_of

NO_DIRECTORY, NO_MACHINE, NO_ROOM, BAD_VALUE = 0xC00E0013, 0xC00E000D, 0xC00E0027, 0xC00E0018
NULL, BYTES, TEXT, TEXTS, NUMBER = 1, 0x1011, 31, 0x101F, 17
ACTIVE, TYPE, KEY, BASE_KEY, STYLE = 1, 3, 205, 231, 602


def key_of(packed: bytes, provider: str) -> bytes:
    """Return the key of a provider in an MQDSPUBLICKEYS."""
    at = 8
    while at < len(packed):
        key, name, _ = struct.unpack_from("<3I", packed, at)
        at += 12 + name + key
        if packed[at - key - name : at - key].decode("utf-16-le").rstrip("\0") == provider:
            return packed[at - key : at]
    return b""


class Holder(Directed):
    """Does what the documents say."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        more = {
            "management": ["get"],
            "objects": ["create", "invoke"],
            "packets": ["encode"],
            "manager": [*FACETS["manager"], "directory"],
        }
        self.facets = {**FACETS, **more, "directory": [*FACETS["directory"], "get", "set"]}

    def clear(self) -> None:
        super().clear()
        self.mine |= {"queue_manager_quota": 0x100000, "connected_network_identifier_list": []}
        self.last: dict[str, Any] = {}
        self.server: str | None = None

    def event(self, method: str, **params: Any) -> dict[str, Any]:
        self.last = super().event(method, **params)
        return self.last

    def code(self) -> int:
        return NO_DIRECTORY if self.last == AWAY else FAILED

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return super().do_queues_create(path_name, properties)
        except Refused as refused:
            raise Refused(self.code() if refused.status == FAILED else refused.status) from refused

    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        try:
            return super().do_queues_delete(format_name)
        except Refused as refused:
            raise Refused(self.code() if refused.status == FAILED else refused.status) from refused

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        bodies = [message, *(each for one in self.queues.values() for each in one["list"])]
        if sum(len(each.get("body", "")) for each in bodies) * 3 // 4 > self.room():
            raise Refused(NO_ROOM)
        return super().do_messages_send(queue, message, transaction)

    def room(self) -> int:
        return 1024 * int(self.mine["queue_manager_quota"])

    # management

    def do_directory(self, server: str | None = None, **_: Any) -> dict[str, Any]:
        self.server = server
        return OK

    def do_management_get(self, target: dict[str, Any], properties: list[int]) -> dict[str, Any]:
        if properties == [ACTIVE]:
            return OK | {"values": [{"vt": TEXTS, "value": self.active()}]}
        if target["type"] == "machine":
            return OK | {"values": [{"vt": TEXT, "value": "\\\\" + self.server} if self.server else {"vt": NULL}]}
        name = target["format_name"]
        if not name.startswith("MACHINE=") and name not in self.queues:
            raise Refused(NOT_FOUND)
        shown = [self.kind(name) if each == TYPE else self.foreign(name) for each in properties]
        return OK | {"values": [{"vt": TEXT, "value": each} for each in shown]}

    def active(self) -> list[str]:
        open_ones = [id(each["queue"]) for each in self.handles.values()]
        return [name for name, queue in self.queues.items() if id(queue) in open_ones]

    def do_queues_close(self, queue: str) -> dict[str, Any]:
        for each in self.handles[queue].get("others", ()):
            super().do_queues_close(each)
        return super().do_queues_close(queue)

    def kind(self, name: str) -> str:
        return "MACHINE" if name.startswith("MACHINE=") else "PRIVATE" if "private$" in name else "PUBLIC"

    def foreign(self, name: str) -> str:
        if self.offline:
            return "UNKNOWN" if self.kind(name) == "PUBLIC" else "NO"
        return "YES" if self.mine.get("foreign_system") else "NO"

    # properties by number

    def do_directory_get(self, identifier: str, properties: list[int], **more: Any) -> dict[str, Any]:
        found = self.ask("read", filter=by(identifier), **more)["object"]
        return OK | {"values": [self.shown_property(found, each) for each in properties]}

    def shown_property(self, found: dict[str, Any], number: int) -> dict[str, Any]:
        if number == STYLE:
            return {"vt": NUMBER, "value": int(found["weakened_security"])}
        key = key_of(base64.b64decode(found["public_encryption_key_list"]), self.provider(number))
        return {"vt": BYTES, "value": base64.b64encode(key).decode()}

    def provider(self, number: int) -> str:
        return f"Microsoft {'Base' if number in (KEY, BASE_KEY) else 'Enhanced'} Cryptographic Provider v1.0"

    def do_directory_set(self, identifier: str, properties: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        style = properties[0]["value"]["value"]
        if style not in self.styles():
            raise Refused(BAD_VALUE)
        self.event("write", identifier=identifier, object={"weakened_security": style == 1}, **more)
        return OK

    def styles(self) -> tuple[int, ...]:
        return (0, 1, 2)

    # packets and objects

    def do_packets_encode(self, message: dict[str, Any]) -> dict[str, Any]:
        return OK | {"packet": base64.b64encode(packet_of(message)).decode()}

    def do_objects_create(self, **_: Any) -> dict[str, Any]:
        return OK | {"object": "o1"}

    def do_objects_invoke(self, **_: Any) -> dict[str, Any]:
        raise Refused(NO_MACHINE)


class NoDirectoryIsDenied(Holder):
    def code(self) -> int:
        return DENIED if self.last == AWAY else FAILED


class EveryFailureIsNoDirectory(Holder):
    def code(self) -> int:
        return NO_DIRECTORY


class UnknownMachineIsNoQueue(Holder):
    def do_objects_invoke(self, **_: Any) -> dict[str, Any]:
        raise Refused(NOT_FOUND)


class PublicQueuesBecomePrivate(Holder):
    def kind(self, name: str) -> str:
        return "PRIVATE" if name.startswith("PUBLIC=") and not self.public else super().kind(name)


class SystemQueuesArePrivate(Holder):
    def kind(self, name: str) -> str:
        return super().kind(name).replace("MACHINE", "PRIVATE")


class PublishesItsJournal(Holder):
    def initialize(self, provisioning: bool) -> bool:
        self.ask("create", object={"path_name": "HOST\\system$;journal"}, **{"class": "queue"})
        return super().initialize(provisioning)


class NothingIsForeign(Holder):
    def foreign(self, name: str) -> str:
        return super().foreign(name).replace("YES", "NO")


class EverythingIsForeign(Holder):
    def foreign(self, name: str) -> str:
        return super().foreign(name).replace("NO", "YES")


class KnowsWhatIsForeignOffline(Holder):
    def foreign(self, name: str) -> str:
        return super().foreign(name).replace("UNKNOWN", "NO")


class IgnoresItsQuota(Holder):
    def room(self) -> int:
        return 1 << 40


class HasRoomForNothing(Holder):
    def room(self) -> int:
        return 0


class SecondSiteIsTheFirst(Holder):
    def event(self, method: str, **params: Any) -> dict[str, Any]:
        answer = super().event(method, **params)
        return answer | {"result": "Success"} if answer["result"] == "ObjectAlreadyExists" else answer


class PacketsAreForAnotherList(Holder):
    def do_packets_encode(self, message: dict[str, Any]) -> dict[str, Any]:
        return super().do_packets_encode({**message, "destinations": [message["destination"], f"DL={GUID}"]})


class NamesListsInBraces(Holder):
    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        if method == "resolve":
            params["format_name"] = "DL={" + params["format_name"][3:] + "}"
        return super().ask(method, **params)


class KeysAreThoseOfOneProvider(Holder):
    def provider(self, number: int) -> str:
        return super().provider(BASE_KEY)


class KeysHaveNoBytes(Holder):
    def shown_property(self, found: dict[str, Any], number: int) -> dict[str, Any]:
        return {"vt": NULL} if number == BASE_KEY else super().shown_property(found, number)


class DefaultStyleIsRefused(Holder):
    def styles(self) -> tuple[int, ...]:
        return (0, 1)


class HasAServerAtFirst(Holder):
    def clear(self) -> None:
        super().clear()
        self.server = "OLD"


class GatesAreOfOneSite(Holder):
    def do_directory_own(self) -> dict[str, Any]:
        answer = super().do_directory_own()
        return answer | {"gates": answer["gates"][:3]}


class RefusedElementsStayOpen(Holder):
    def reach(self, name: str) -> None:
        try:
            super().reach(name)
        except Refused:
            self.handles["of a refused open"] = {"queue": next(iter(self.queues.values())), "access": "send"}
            self.handles["of a refused open"] |= {"share": "deny_none", "lost": False}
            raise
