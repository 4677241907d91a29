"""The directory as objects see it: queues, aliases, lists and computers (MS-MQDMPR 3.1.7.1.20).

It has the public queues of this manager, what a caller gives, until the process ends, and what an integrated manager
reads in its directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.embedded import directory_objects, queues
from conformance.embedded.directory_client import SUCCESS
from conformance.embedded.directory_objects import Attributes, equals
from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_FOUND

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
QUEUE, ALIAS, LIST = "queue", "alias", "distribution_list"
STORED: Mapping[str, str] = {
    "guid": "PROPID_Q_INSTANCE",
    "label": "PROPID_Q_LABEL",
    "service_type": "PROPID_Q_TYPE",
    "create_time": "PROPID_Q_CREATE_TIME",
    "modify_time": "PROPID_Q_MODIFY_TIME",
    "multicast_address": "PROPID_Q_MULTICAST_ADDRESS",
    "base_priority": "PROPID_Q_BASEPRIORITY",
    "journaling": "PROPID_Q_JOURNAL",
    "quota": "PROPID_Q_QUOTA",
    "journal_quota": "PROPID_Q_JOURNAL_QUOTA",
    "authentication": "PROPID_Q_AUTHENTICATE",
    "privacy_level": "PROPID_Q_PRIV_LEVEL",
    "transactional": "PROPID_Q_TRANSACTION",
}
"""Members of an object and the queue properties they are."""
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "create_time": (0, INFINITE),
    "modify_time": (0, INFINITE),
    "base_priority": (-32768, 32767),
    "quota": (0, INFINITE),
    "journal_quota": (0, INFINITE),
    "privacy_level": (0, 2),
}
_FLAGS = frozenset({"journaling", "authentication", "transactional"})
_TEXTS = frozenset({"path_name", "path_name_dns", "directory_path", "format_name", "label"})
_GUIDS = frozenset({"guid", "service_type"})
_GUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\Z")


@dataclass(slots=True)
class DirectoryObject:
    """An object. kind: queue, alias or distribution_list. properties: those of a queue, by the names of MS-MQMQ 2.3.1.

    path, path_dns, directory_path: its names, None if it has none. format_name: that of an alias.
    """

    kind: str
    path: str | None
    properties: dict[str, Json] = field(default_factory=dict)
    path_dns: str | None = None
    directory_path: str | None = None
    format_name: str | None = None

    @property
    def guid(self) -> str:
        """The identifier."""
        return str(self.properties["PROPID_Q_INSTANCE"])

    @property
    def name(self) -> str:
        """The format name (MC-MQAC 3.12.6.1)."""
        if self.kind == ALIAS:
            return self.format_name or ""
        return f"{'DL' if self.kind == LIST else 'PUBLIC'}={self.guid}"


class Directory:
    """The manager's view of the directory. server: the name of its server, None if the manager has no directory."""

    def __init__(self, manager: Manager) -> None:
        """Begin with what this manager has itself."""
        self.manager = manager
        self.server: str | None = None
        self._given: list[DirectoryObject] = []
        self._computers: list[tuple[str, str]] = []
        self._keys: dict[str, str] = {}
        self._users: dict[str, list[str]] = {}

    def fill(self, objects: list[Json], computers: list[Json], server: str | None, users: list[Json]) -> None:
        """Replace what was given before by objects, computers and users of the protocol."""
        self._given = [_made(each) for each in objects]
        self._computers = [(each["name"], each["guid"]) for each in computers]
        self._keys = {each["guid"].lower(): each["encryption_keys"] for each in computers if "encryption_keys" in each}
        self._users = {each["sid"]: each["certificates"] for each in users}
        self.server = server

    def forget(self) -> None:
        """Forget what was given."""
        self.fill([], [], None, [])

    def own(self) -> Iterator[DirectoryObject]:
        """Return the public queues of this manager."""
        computer, names = self.manager.computer, self.manager.objects.names
        for queue in self.manager.queues.all():
            if queue.kind == "public":
                dns = f"{computer}.local\\{queue.path.partition(chr(92))[2]}"
                yield DirectoryObject(QUEUE, queue.path, queue.properties, dns, names.directory_path(queue))

    def all(self) -> Iterator[DirectoryObject]:
        """Return every object: those of this manager, then those that were given, in their order."""
        yield from self.own()
        yield from self._given

    def queues(self) -> Iterator[DirectoryObject]:
        """Return every public queue."""
        return (each for each in self.all() if each.kind == QUEUE)

    def queue_identified(self, guid: str) -> DirectoryObject | None:
        """Return the queue of an identifier."""
        found = next((each for each in self.queues() if each.guid.lower() == guid.lower()), None)
        return found or self.read("identifier", guid)

    def queue_at(self, path: str) -> DirectoryObject | None:
        """Return the queue of a path name or DNS path name."""
        wanted = path.lower()
        return next((each for each in self.queues() if wanted in _paths(each)), None) or self.read("path_name", path)

    def read(self, attribute: str, value: str) -> DirectoryObject | None:
        """Return the queue that an integrated manager finds in its directory by an attribute."""
        if not self.manager.integration.integrated:
            return None
        result, found = self.manager.integration.read("queue", equals(attribute, value))
        return of_attributes(found) if result == SUCCESS else None

    def named(self, format_name: str | None) -> DirectoryObject | None:
        """Return the queue of a public format name; None for another name."""
        kind, _, guid = (format_name or "").partition("=")
        return self.queue_identified(guid) if kind.upper() == "PUBLIC" else None

    def at(self, directory_path: str) -> DirectoryObject:
        """Return the object of a directory path, none while the directory is offline (3.12.6.1). Raises MqError."""
        if self.manager.integration.offline:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        wanted = directory_path.lower()
        for each in self.all():
            if each.directory_path is not None and each.directory_path.lower() == wanted:
                return each
        found = self.read("directory_path", directory_path)
        if found is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return found

    def write(self, found: DirectoryObject, given: Mapping[str, Json]) -> None:
        """Write Directory (MS-MQDMPR 3.1.7.1.24): change properties of a queue. Raises MqError if it has others."""
        changed = queues.checked(given, creating=False)
        self.manager.integration.write_properties(found.guid, changed, found.path)
        found.properties |= changed
        found.properties["PROPID_Q_MODIFY_TIME"] = self.manager.clock.now_ms() // 1000

    def computer_named(self, name: str) -> str | None:
        """Return the identifier of a computer."""
        return next((guid for each, guid in self._computers if each.lower() == name.lower()), None)

    def computer_identified(self, guid: str) -> str | None:
        """Return the name of a computer."""
        return next((name for name, each in self._computers if each.lower() == guid.lower()), None)

    def encryption_keys(self, format_name: str) -> str | None:
        """Return the PublicEncryptionKeyList of the computer of a public or private queue; None if it has none."""
        name = self.manager.names.format_name(format_name)
        guid: str | None = None
        if name.kind == "private":
            guid = str(name.parts["guid"])
        elif name.kind == "public":
            found = self.named(format_name)
            guid = None if found is None or found.path is None else self.computer_named(found.path.partition("\\")[0])
        return self._keys.get((guid or "").lower())

    def has_user(self, sid: str) -> bool:
        """Return true for a user that was given."""
        return sid in self._users

    def certificates(self, sid: str) -> list[str]:
        """Return the certificates that were given for a user, in base64."""
        return self._users.get(sid, [])


def is_object(given: Json) -> bool:
    """Return true for an object of the protocol."""
    if not isinstance(given, dict) or "guid" not in given:
        return False
    if given.get("class", QUEUE) not in (QUEUE, ALIAS, LIST):
        return False
    return all(name == "class" or _fits(name, value) for name, value in given.items())


def is_computer(given: Json) -> bool:
    """Return true for a computer of the protocol."""
    named = isinstance(given, dict) and isinstance(given.get("name"), str) and _is_guid(given.get("guid"))
    return named and isinstance(given.get("encryption_keys", ""), str)


def is_user(given: Json) -> bool:
    """Return true for a user of the protocol."""
    if not isinstance(given, dict) or not isinstance(given.get("sid"), str):
        return False
    certificates = given.get("certificates")
    return isinstance(certificates, list) and all(isinstance(each, str) for each in certificates)


def _is_guid(value: Json) -> bool:
    return isinstance(value, str) and _GUID.match(value) is not None


def _fits(name: str, value: Json) -> bool:
    if name in _GUIDS:
        return _is_guid(value)
    if name in _FLAGS:
        return type(value) is bool
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        return type(value) is int and low <= value <= high
    if name == "multicast_address":
        return value is None or isinstance(value, str)
    return name in _TEXTS and isinstance(value, str)


def of_attributes(found: Attributes) -> DirectoryObject:
    """Return the queue of attributes that were read."""
    properties = {**_unset(), **directory_objects.properties_of(found), "PROPID_Q_INSTANCE": found.get("identifier")}
    names = (found.get(each) for each in ("qualified_path_name", "directory_path"))
    return DirectoryObject(QUEUE, found.get("path_name"), properties, *names)


def _unset() -> dict[str, Json]:
    times = {"PROPID_Q_CREATE_TIME": 0, "PROPID_Q_MODIFY_TIME": 0}
    return {**queues.defaults(), "PROPID_Q_TYPE": NULL_GUID, **times}


def _made(given: Json) -> DirectoryObject:
    properties = _unset()
    for name, stored in STORED.items():
        if name in given:
            properties[stored] = int(given[name]) if name in _FLAGS else given[name]
    names = (given.get(each) for each in ("path_name_dns", "directory_path", "format_name"))
    return DirectoryObject(given.get("class", QUEUE), given.get("path_name"), properties, *names)


def _paths(found: DirectoryObject) -> set[str]:
    return {each.lower() for each in (found.path, found.path_dns) if each is not None}
