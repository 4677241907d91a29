"""The manager's part in its directory: initialization, the directory's events, and its timers.

MS-MQDMPR 3.1.3, 3.1.6.1, 3.1.6.2, 3.1.7.1.18 to 3.1.7.1.25 and 3.1.7.3.8. Without an address the manager is not
integrated with a directory, and asks nobody.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded import directory_objects as objects
from conformance.embedded.clock import Timer
from conformance.embedded.directory_client import (
    DEFAULT_WAIT_MS,
    END,
    EXISTS,
    FAILED,
    NO_ATTRIBUTE,
    NO_OBJECT,
    NOT_CONNECTED,
    SUCCESS,
    DirectoryClient,
    has_ldap,
    is_ldap,
)
from conformance.embedded.directory_keys import key_list
from conformance.embedded.directory_objects import Attributes, Filter, equals, satisfies
from conformance.embedded.entities import MqError, Queue
from conformance.spec.constants.hresults import (
    MQ_ERROR_DS_ERROR,
    MQ_ERROR_NO_DS,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
Answer = tuple[str, Attributes]
ONLINE_MS, GATES_MS, SITES_MS = 60_000, 3_600_000, 12 * 3_600_000
NOTIFIES: Final = "non_ldap_capable_queue_manager_notification"
_SETTINGS, _OWN = "directory", "directory_own"  # texts of the store
_MOST_NAMES: Final = 200_000  # of one list with all lists in it, and objects of one query
_STATUS: Final = {
    NOT_CONNECTED: MQ_ERROR_NO_DS,
    EXISTS: MQ_ERROR_QUEUE_EXISTS,
    NO_OBJECT: MQ_ERROR_QUEUE_NOT_FOUND,
}
_OF_DIRECTORY: Final = frozenset({"identifier", "create_time", "modify_time", "full_path", "directory_path"})
DEFAULTS: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "queue_manager_version": "",
        "operating_system_version": "",
        "operating_system_type": "Other",
        "foreign_system": False,
        "site_identifier_list": [],
        "connected_network_identifier_list": [],
        "out_routing_server_identifier_list": [],
        "in_routing_server_identifier_list": [],
        "directory_server": False,
        "remote_access_server": False,
        "routing_server": False,
        "supporting_server": False,
        "public_encryption_key_list": "",
        "public_signing_key_list": "",
        "clustered": False,
    }
)
"""The attributes that a manager's object has before anybody sets them (MS-MQDMPR 3.1.1.1)."""


def succeeded(result: str) -> None:
    """Raise MqError for a result that is no success."""
    if result != SUCCESS:
        raise MqError(_STATUS.get(result, MQ_ERROR_DS_ERROR))


class Integration:
    """Knows the manager's directory, and asks it. offline: DirectoryOffline. client: None without a directory.

    sites: SiteCollection. gates: SiteGateCollection of each. enterprise: EnterpriseReference, None for none.
    """

    def __init__(self, manager: Manager) -> None:
        """Begin without a directory; `started` takes up the one of the last process."""
        self.manager = manager
        self.client: DirectoryClient | None = None
        self.site: str | None = None
        self._begin()
        stored = manager.store.text(_OWN)
        self.attributes: Attributes = {} if stored is None else json.loads(stored)

    def _begin(self) -> None:
        self.offline = False
        self.sites: list[Attributes] = []
        self.gates: list[list[Attributes]] = []
        self.enterprise: Attributes | None = None
        self._queries: dict[str, tuple[str, list[str] | None]] = {}
        self._timers: dict[str, Timer] = {}

    # The settings.

    def started(self) -> None:
        """Initialize the manager of a process that starts, if it has a directory."""
        stored = self.manager.store.text(_SETTINGS)
        if stored is None:
            return
        self._connect(**json.loads(stored))
        try:
            self.initialize(provisioning=False)
        except MqError:
            return  # it works on as it is; a manager that is offline has begun to look for its directory

    def use(self, address: str | None, *, site: str | None, wait_ms: int, provisioning: bool) -> None:
        """Integrate the manager with a directory, or with none. Raises MqError for an error of its initialization."""
        self.forget(keep=True)
        settings = {"address": address, "site": site, "wait_ms": wait_ms}
        self.manager.store.set_text(_SETTINGS, None if address is None else json.dumps(settings))
        if address is not None:
            self._connect(address, site, wait_ms)
            self.initialize(provisioning=provisioning)

    def _connect(self, address: str, site: str | None, wait_ms: int = DEFAULT_WAIT_MS) -> None:
        self.client = self.manager.parts.directory_client(address, wait_ms)
        if is_ldap(address) and has_ldap():
            from conformance.embedded.directory_ldap import LdapDirectory  # it needs an extra

            self.client.other = LdapDirectory(address, wait_ms).ask
        self.site = site

    def forget(self, *, keep: bool = False) -> None:
        """Have no directory. keep: what the manager has taken from one stays its own."""
        for timer in self._timers.values():
            timer.cancel()
        self.client = None
        self._begin()
        if not keep:
            self.manager.store.set_text(_SETTINGS, None)
            self.change_own({}, instead=True)

    @property
    def integrated(self) -> bool:
        """DirectoryIntegrated."""
        return self.client is not None

    # The manager's own object.

    def own(self) -> Attributes:
        """Return the directory attributes of the manager."""
        manager = self.manager
        return {
            **DEFAULTS,
            "computer_name": manager.computer,
            "qualified_computer_name": f"{manager.computer}.local",
            "queue_manager_quota": manager.message_quota_kb,
            "journal_quota": manager.journal_quota_kb,
            **self.attributes,
            "identifier": manager.guid,
        }

    def take_own(self, found: Attributes) -> None:
        """Take the manager's attributes from its object in the directory."""
        manager = self.manager
        manager.limit(
            found.get("queue_manager_quota", manager.message_quota_kb),
            found.get("journal_quota", manager.journal_quota_kb),
        )
        self.change_own(found)

    def change_own(self, found: Attributes, *, instead: bool = False) -> None:
        """Store attributes of the manager, with or instead of those that it has."""
        limits = ("identifier", "queue_manager_quota", "journal_quota")
        kept = {name: value for name, value in found.items() if name not in limits}
        self.attributes = kept if instead else {**self.attributes, **kept}
        self.manager.store.set_text(_OWN, json.dumps(self.attributes) if self.attributes else None)

    def seen(self) -> dict[str, Json]:
        """Return what the manager holds of the directory, as the protocol has it."""
        return {
            "offline": self.offline,
            "integrated": self.integrated,
            "queue_manager": self.own(),
            "sites": self.sites,
            "enterprise": self.enterprise,
            "gates": [gate for gates in self.gates for gate in gates],
        }

    # Initialization (3.1.3).

    def initialize(self, *, provisioning: bool) -> None:
        """Initialize the manager. Raises MqError for an error that it does not handle."""
        if provisioning:
            self.provision()
        result, found = self.read("queue_manager", self.own_filter())
        if result == SUCCESS:
            self.take_own(found)
            for identifier in self.own()["site_identifier_list"]:
                self.add_site(identifier)
        elif not (result == NO_OBJECT and provisioning):
            succeeded(result)
        self.take_enterprise(*self.read("enterprise", None, [NOTIFIES]))
        self.start_timer("sites", SITES_MS, self.update_sites)
        self.start_timer("gates", GATES_MS, self.update_gates)

    def own_filter(self) -> Filter:
        """Return the filter of the manager's own object."""
        return equals("identifier", self.manager.guid)

    def provision(self) -> None:
        """Begin the manager's life: its site, and its keys."""
        given: Attributes = {"public_encryption_key_list": self.keys(), "public_signing_key_list": self.keys()}
        if self.site is not None:
            given["site_identifier_list"] = [self.site]
        self.change_own(given, instead=True)

    def keys(self) -> str:
        """Return the public keys of the manager, an MQDSPUBLICKEYS in base64."""
        return key_list(self.manager.structures)

    def add_site(self, identifier: str) -> None:
        result, found = self.read("site", equals("identifier", identifier))
        if result == SUCCESS:
            self.sites.append(found)
            self.gates.append(_gates_of(found, []))

    def take_enterprise(self, result: str, found: Attributes) -> None:
        """Take the enterprise that was read, or make one that notifies if it does not say whether it does."""
        if result == SUCCESS:
            self.enterprise = found
        elif result == NO_ATTRIBUTE:
            self.enterprise = {NOTIFIES: True}

    # Timers (3.1.2.1, 3.1.2.2, 3.1.2.5, 3.1.6.1, 3.1.6.2).

    def start_timer(self, name: str, duration_ms: int, action: Callable[[], None]) -> None:
        """Start a timer, if it is not active already."""
        if name not in self._timers:
            self._timers[name] = self.manager.clock.at(
                self.manager.clock.now_ms() + duration_ms, lambda: self._expired(name, action)
            )

    def _expired(self, name: str, action: Callable[[], None]) -> None:
        del self._timers[name]
        action()

    def update_sites(self) -> None:
        """Directory Sites Update (3.1.6.1)."""
        self.start_timer("sites", SITES_MS, self.update_sites)
        for number, site in enumerate(self.sites):
            result, found = self.read("site", equals("identifier", site["identifier"]))
            if result == SUCCESS:
                self.sites[number] = {**site, **found}
                self.gates[number] = _gates_of(self.sites[number], self.gates[number])

    def update_gates(self) -> None:
        """Directory Site Gates Update (3.1.6.2)."""
        self.start_timer("gates", GATES_MS, self.update_gates)
        for gates in self.gates:
            for number, gate in enumerate(gates):
                result, found = self.read("queue_manager", equals("identifier", gate["identifier"]))
                if result == SUCCESS:
                    gates[number] = {**gate, **found}

    def check_online(self) -> None:
        """Check Directory Online (3.1.7.1.25)."""
        result, found = self.read("queue_manager", self.own_filter(), force=True)
        if result != SUCCESS:
            self.look_for_directory()
            return
        self.take_own(found)
        self.offline = False
        for queue in self.public_queues():
            result, found = self.read("queue", equals("identifier", queue.properties["PROPID_Q_INSTANCE"]))
            if result == SUCCESS:
                self.take_queue(queue, found)

    def look_for_directory(self) -> None:
        """Start the Directory Online Timer."""
        self.start_timer("online", ONLINE_MS, self.check_online)

    def went_offline(self) -> None:
        """Work without the directory, which was not reached."""
        self.offline = True
        self.look_for_directory()

    # The events.

    def ask(self, method: str, **params: Json) -> dict[str, Json]:
        """Ask the directory. A parameter that is None is left out."""
        if self.client is None:
            return {"result": NOT_CONNECTED}
        given = {name.rstrip("_"): value for name, value in params.items() if value is not None}
        return self.client.ask(method, given)

    def reached(self, answer: dict[str, Json]) -> str:
        """Return what became of a request; work offline if it reached nobody."""
        result: str = answer["result"]
        if result == NOT_CONNECTED and self.integrated:
            self.went_offline()
        return result

    def notify(self, operation: str, identifier: str | None, path_name: str | None) -> None:
        """Send Change Notification (MS-MQCN 3.3.4.1)."""
        self.ask("changed", operation=operation, identifier=identifier, path_name=path_name)

    def create(self, kind: str, given: Attributes, names: list[str] | None = None) -> tuple[str, str | None]:
        """Create Directory Object (3.1.7.1.18). Returns what became of it, and the identifier of the object."""
        if kind == "queue" and not _private(given.get("path_name")):
            self.notify("QueueCreation", given.get("identifier"), given.get("path_name"))
        answer = self.ask("create", class_=kind, object=objects.only(given, names))
        result = self.reached(answer)
        if result != SUCCESS:
            return result, None
        identifier = answer.get("identifier")
        return (SUCCESS, identifier) if objects.TYPES["guid"](identifier) else (FAILED, None)

    def delete(self, kind: str, identifier: str, path_name: str | None = None) -> str:
        """Delete Directory Object (3.1.7.1.19)."""
        if kind == "queue":
            self.notify("QueueDeletion", identifier, path_name)
        return self.reached(self.ask("delete", class_=kind, identifier=identifier))

    def write(
        self, kind: str, identifier: str, given: Attributes, names: list[str] | None = None, path: str | None = None
    ) -> str:
        """Write Directory (3.1.7.1.24)."""
        result = self.reached(self.ask("write", class_=kind, identifier=identifier, object=objects.only(given, names)))
        if result == SUCCESS and kind in ("queue", "queue_manager"):
            self.notify("QueueUpdate" if kind == "queue" else "QueueManagerUpdate", identifier, path)
        return result

    def read(self, kind: str, wanted: Filter | None, names: list[str] | None = None, *, force: bool = False) -> Answer:
        """Read Directory (3.1.7.1.20). Returns what became of it, and the attributes of the object."""
        if self.offline and not force:
            return self.read_own(kind, wanted, names)
        answer = self.ask("read", class_=kind, filter=wanted, attributes=names)
        if answer["result"] == NOT_CONNECTED:
            if not force:
                self.reached(answer)
            return NOT_CONNECTED, {}
        return self.checked(answer, kind, wanted, names)

    def read_own(self, kind: str, wanted: Filter | None, names: list[str] | None) -> Answer:
        """Read a queue of this manager, or its own object; nothing else is known without the directory."""
        if kind == "queue":
            known = (self.of_queue(queue.path, queue.properties) for queue in self.queues())
            found = next((each for each in known if satisfies(each, wanted)), None)
            return (NO_OBJECT, {}) if found is None else (SUCCESS, objects.only(found, names))
        if kind == "queue_manager" and satisfies(self.own(), wanted):
            return SUCCESS, objects.only(self.own(), names)
        return NOT_CONNECTED, {}

    def checked(self, answer: dict[str, Json], kind: str, wanted: Filter | None, names: list[str] | None) -> Answer:
        """Return the object of an answer; GenericError for one that does not have the form or does not fit."""
        if answer["result"] != SUCCESS:
            return answer["result"], {}
        found: Json = answer.get("object")
        if not objects.fits(kind, found) or (names is None and not satisfies(found, wanted)):
            return FAILED, {}
        return SUCCESS, objects.only(found, names)

    def begin(
        self, kind: str, wanted: Filter | None, names: list[str] | None, order: list[Json] | None
    ) -> tuple[str, str | None]:
        """Read Directory Begin (3.1.7.1.21). Returns what became of it, and the handle of the query."""
        answer = self.ask("begin", class_=kind, filter=wanted, attributes=names, order=order)
        if answer["result"] != SUCCESS:
            return answer["result"], None
        query = answer.get("query")
        if not isinstance(query, str):
            return FAILED, None
        self._queries[query] = kind, names
        return SUCCESS, query

    def next(self, query: str) -> Answer:
        """Read Directory Next (3.1.7.1.22)."""
        answer = self.ask("next", query=query)
        if query not in self._queries:
            return (FAILED if answer["result"] == SUCCESS else answer["result"]), {}
        kind, names = self._queries[query]
        return self.checked(answer, kind, None, names)

    def end(self, query: str) -> str:
        """Read Directory End (3.1.7.1.23)."""
        self._queries.pop(query, None)
        return str(self.ask("end", query=query)["result"])

    # Public queues.

    def queues(self) -> Iterable[Queue]:
        """Return the queues of QueueCollection that applications have made."""
        return (queue for queue in self.manager.queues.all() if queue.kind in ("private", "public"))

    def public_queues(self) -> list[Queue]:
        """Return the public queues, whose attributes are those of their objects."""
        return [queue for queue in self.queues() if queue.kind == "public"]

    def of_queue(self, path: str, properties: dict[str, Json]) -> Attributes:
        """Return the attributes of a queue of this manager."""
        names = {
            "path_name": path,
            "qualified_path_name": f"{self.manager.computer}.local\\{path.partition(chr(92))[2]}",
        }
        return {"full_path": "", "directory_path": "", **objects.attributes_of(properties), **names}

    def publish(self, path: str, properties: dict[str, Json]) -> None:
        """Enter a new public queue in the directory, and give it its identifier and paths. Raises MqError."""
        given = {name: value for name, value in self.of_queue(path, properties).items() if name not in _OF_DIRECTORY}
        result, identifier = self.create("queue", given)
        succeeded(result)
        properties["PROPID_Q_INSTANCE"] = identifier
        result, found = self.read("queue", equals("identifier", identifier), ["full_path", "directory_path"])
        if result == SUCCESS:
            properties |= found

    def take_queue(self, queue: Queue, found: Attributes) -> None:
        """Take the attributes of a public queue from its object."""
        self.manager.queues.change(queue, objects.properties_of(found))

    def write_queue(self, queue: Queue, properties: dict[str, Json]) -> None:
        """Write properties of a public queue to its object. Raises MqError."""
        if queue.kind == "public":
            self.write_properties(queue.properties["PROPID_Q_INSTANCE"], properties, queue.path)

    def write_properties(self, identifier: str, properties: dict[str, Json], path: str | None) -> None:
        """Write properties of a queue to its object in the directory, if there is one. Raises MqError."""
        if self.integrated:
            succeeded(self.write("queue", identifier, objects.attributes_of(properties), path=path))

    def found(self, kind: str, wanted: Filter) -> Iterator[Attributes]:
        """Read the objects of a query, and end it. Raises MqError."""
        result, query = self.begin(kind, wanted, None, None)
        succeeded(result)
        try:
            for _ in range(_MOST_NAMES):
                result, found = self.next(str(query))
                if result == END:
                    return
                succeeded(result)
                yield found
        finally:
            self.end(str(query))

    def withdraw(self, queue: Queue) -> None:
        """Delete the object of a public queue that was deleted. Raises MqError."""
        if self.integrated and queue.kind == "public":
            succeeded(self.delete("queue", queue.properties["PROPID_Q_INSTANCE"], queue.path))

    def look_up(self, identifier: str) -> None:
        """Look for a public queue that is not here, and then for its base priority (3.1.7.1.5). Raises MqError."""
        result, found = self.read("queue", equals("identifier", identifier))
        if result != SUCCESS:
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        if self.manager.queues.is_local(str(found.get("path_name", "")).partition("\\")[0]):
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        if self.read("queue", equals("identifier", identifier))[0] != SUCCESS:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)

    # Distribution lists, and the computer's account.

    def expanded(self, names: Iterable[str]) -> list[str]:
        """Expand Format Name (3.1.7.3.8): the names with the members of lists in their place, each once.

        A list that brings itself in is resolved once. Raises MqError for one that cannot be resolved.
        """
        found: dict[str, str] = {}
        waiting = deque(names)
        while waiting:
            name = waiting.popleft()
            if name.lower() in found:
                continue
            found[name.lower()] = name
            if is_list(name):
                waiting.extend(self.resolved(name))
            if len(found) > _MOST_NAMES:
                raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return [name for name in found.values() if not is_list(name)]

    def resolved(self, name: str) -> list[str]:
        """Return the members of a distribution list. Raises MqError."""
        answer = self.ask("resolve", format_name=name)
        members: Json = answer.get("members")
        if answer["result"] != SUCCESS or not objects.TYPES["texts"](members):
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return list(members)

    def machine_sid(self) -> str | None:
        """Return the SID of this computer's account, None if it cannot be read (3.1.7.1.3.1)."""
        names = ["security_identifier"]
        account = equals("sam_account", f"{self.manager.computer}$")
        answer = self.ask("read", class_="computer", filter=account, attributes=names)
        return self.checked(answer, "computer", account, names)[1].get(names[0])


def is_list(name: str) -> bool:
    """Return true for the format name of a distribution list."""
    return name[:3].upper() == "DL="


def _private(path_name: Json) -> bool:
    return isinstance(path_name, str) and path_name.partition("\\")[2].lower().startswith("private$\\")


def _gates_of(site: Attributes, known: list[Attributes]) -> list[Attributes]:
    """Return the gates of a site, with what is known of them already."""
    by_identifier = {gate["identifier"].lower(): gate for gate in known}
    return [by_identifier.get(each.lower(), {"identifier": each}) for each in site.get("site_gates", ())]
