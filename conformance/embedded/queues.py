"""Create, find, open, close, purge and delete queues; their properties (MS-MQDMPR 3.1.7.1.3 to .7, MS-MQMQ 2.3.1)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import INFINITE, NULL_GUID, Descriptor, MqError, Position, Queue, Reason, State
from conformance.embedded.names import Name
from conformance.embedded.security import CREATE_QUEUE, DELETE_QUEUE, GET_PROPERTIES, SET_PROPERTIES
from conformance.embedded.store import QueueRow
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
    MQ_ERROR_PROPERTY_NOTALLOWED,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
MAX_LABEL = 124  # characters of VT_LPWSTR, 16 bits each (2.3.1.8)
_GUID = re.compile(r"\{?([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})\}?\Z")
_OCTET = r"(0|[1-9][0-9]{0,2})"
_MULTICAST = re.compile(rf"{_OCTET}\.{_OCTET}\.{_OCTET}\.{_OCTET}:(0|[1-9][0-9]{{0,4}})\Z")
_REFUSED = object()


def _number(least: int, most: int) -> Callable[[Json], Json]:
    def check(value: Json) -> Json:
        value = int(value) if isinstance(value, bool) else value
        return value if isinstance(value, int) and least <= value <= most else _REFUSED

    return check


def _label(value: Json) -> Json:
    if not isinstance(value, str) or "\0" in value:
        return _REFUSED
    return value if len(value.encode("utf-16-le", "surrogatepass")) <= 2 * MAX_LABEL else _REFUSED


def _guid(value: Json) -> Json:
    found = _GUID.match(value) if isinstance(value, str) else None
    return found[1] if found else _REFUSED


def _multicast(value: Json) -> Json:
    if value is None:
        return None
    found = _MULTICAST.match(value) if isinstance(value, str) else None
    if not found:
        return _REFUSED
    octets, port = [int(part) for part in found.groups()[:4]], int(found[5])
    valid = 224 <= octets[0] <= 239 and max(octets) <= 255 and port <= 65535
    return value if valid else _REFUSED


@dataclass(frozen=True, slots=True)
class Property:
    """default: its value in a queue created without it. check: returns the value to store, or refuses it.

    after_creation: true if it can be set on an existing queue.
    """

    default: Json
    check: Callable[[Json], Json]
    after_creation: bool = True


SETTABLE: Mapping[str, Property] = {
    "PROPID_Q_TYPE": Property(NULL_GUID, _guid),
    "PROPID_Q_JOURNAL": Property(0, _number(0, 1)),
    "PROPID_Q_QUOTA": Property(INFINITE, _number(0, INFINITE)),
    "PROPID_Q_BASEPRIORITY": Property(0, _number(-32768, 32767)),
    "PROPID_Q_JOURNAL_QUOTA": Property(INFINITE, _number(0, INFINITE)),
    "PROPID_Q_LABEL": Property("", _label),
    "PROPID_Q_AUTHENTICATE": Property(0, _number(0, 1)),
    "PROPID_Q_PRIV_LEVEL": Property(1, _number(0, 2)),
    "PROPID_Q_TRANSACTION": Property(0, _number(0, 1), after_creation=False),
    "PROPID_Q_MULTICAST_ADDRESS": Property(None, _multicast),
}
COMPUTED = frozenset(
    {
        "PROPID_Q_INSTANCE",
        "PROPID_Q_PATHNAME",
        "PROPID_Q_CREATE_TIME",
        "PROPID_Q_MODIFY_TIME",
        "PROPID_Q_SCOPE",
        "PROPID_Q_QMID",
        "PROPID_Q_PATHNAME_DNS",
        "PROPID_Q_ADS_PATH",
    }
)


def checked(given: Mapping[str, Json], *, creating: bool) -> dict[str, Json]:
    """Return the properties to store. Raises MqError for an unknown or read-only property, or an invalid value."""
    kept: dict[str, Json] = {}
    for name, value in given.items():
        if name in COMPUTED:
            raise MqError(MQ_ERROR_PROPERTY_NOTALLOWED)
        known = SETTABLE.get(name)
        if known is None:
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)
        if not creating and not known.after_creation:
            raise MqError(MQ_ERROR_PROPERTY_NOTALLOWED)
        kept[name] = known.check(value)
        if kept[name] is _REFUSED:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    return kept


def defaults() -> dict[str, Json]:
    """Return the properties of a queue created without any."""
    return {name: known.default for name, known in SETTABLE.items()}


READING = frozenset({"receive", "peek", "receive_admin", "peek_admin"})

_EXCLUSIVE = frozenset((access, "deny_receive") for access in (*READING, "move"))
# (access, share) of an open handle -> the (access, share) it excludes. No handle excludes sending: MS-MQMP 3.1.4.17.
_KEEPS_OUT: dict[tuple[str, str], frozenset[tuple[str, str]]] = {
    ("receive", "deny_receive"): _EXCLUSIVE | {("receive", "deny_none")},
    ("receive", "deny_none"): _EXCLUSIVE,
    ("peek", "deny_receive"): frozenset({("receive", "deny_none"), ("receive", "deny_receive")}),
    ("peek_admin", "deny_receive"): frozenset({("receive", "deny_none"), ("receive", "deny_receive")}),
}


def conflicts(already_open: Iterable[tuple[str, str]], access: str, share: str) -> bool:
    """Return true if the open handles exclude a new one of this access and share."""
    wanted = (access, share)
    return any(wanted in _KEEPS_OUT.get(handle, ()) for handle in already_open)


_SYSTEM = ("journal", "deadletter", "deadxact")
_LOOPBACK = frozenset({".", "localhost", "127.0.0.1", "::1"})


class Queues:
    """The queue collection, and the operations on whole queues."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._by_id: dict[str, Queue] = {}
        self._by_path: dict[str, Queue] = {}  # `private$\name` or `name`, in lower case
        self._by_guid: dict[str, Queue] = {}
        self._by_number: dict[int, Queue] = {}
        self._outgoing: dict[str, Queue] = {}
        self._filled: dict[str, Queue] = {}  # the outgoing queues with messages
        self._system: dict[str, Queue] = {}
        self._make_system_queues()

    # The collection.

    def all(self) -> list[Queue]:
        """Every queue, journals and subqueues included."""
        return list(self._by_id.values())

    def by_id(self, identifier: str) -> Queue | None:
        """Return the queue with this id in the store."""
        return self._by_id.get(identifier)

    def system(self, name: str) -> Queue:
        """Return a system queue: journal, deadletter or deadxact."""
        return self._system[name]

    def managed(self, format_name: str) -> Queue | None:
        """Return the queue that an administrator means, local or outgoing; None if there is none."""
        name = self.manager.names.format_name(format_name)
        return self._designated(name) or self._outgoing.get(name.text.lower())

    def names_local(self, format_name: str) -> bool:
        """Return true if a name designates a queue of this computer that is not there."""
        name = self.manager.names.format_name(format_name)
        return self._missing_here(name)

    def fills(self, queue: Queue) -> None:
        """Note that messages came into an outgoing queue or left it."""
        if queue.bytes:
            self._filled[queue.id] = queue
        else:
            self._filled.pop(queue.id, None)

    def active(self) -> list[Queue]:
        """Return the active queues (MS-MQDMPR 3.1.1.2): outgoing ones with messages, and open ones."""
        opened = {each.queue.id: each.queue for each in self.manager.descriptors.values() if each.queue is not None}
        for whole in self.manager.descriptors.values():
            opened |= {each.queue.id: each.queue for each in whole.elements if each.queue is not None}
        return [queue for queue in {**self._filled, **opened}.values() if not queue.deleted]

    def private(self) -> list[Queue]:
        """Return the private queues."""
        return list(self._by_number.values())

    def forget(self) -> None:
        """Remove every queue, and make empty system queues."""
        for queue in self._by_id.values():
            queue.deleted = True
        for table in (
            self._by_id,
            self._by_path,
            self._by_guid,
            self._by_number,
            self._outgoing,
            self._filled,
            self._system,
        ):
            table.clear()
        self._make_system_queues()

    def restore(self, row: QueueRow) -> None:
        """Restore a stored queue."""
        if row.kind == "subqueue":
            parent, _, name = row.id.partition(";")
            if parent in self._by_id:
                self._subqueue(self._by_id[parent], name)
        elif row.kind == "outgoing":
            self._add_outgoing(row.id, row.path).properties = row.properties
        else:
            self._add(row.id, row.kind, row.path, row.number, row.properties)

    def _make_system_queues(self) -> None:
        now = self.manager.clock.now_ms() // 1000
        for name in _SYSTEM:
            path = f"{self.manager.computer}\\system$;{name}"
            queue = Queue(f"system;{name}", "system", path, self.manager.parts.positions())
            queue.properties = {
                "PROPID_Q_TRANSACTION": int(name == "deadxact"),
                "PROPID_Q_INSTANCE": str(uuid.uuid5(uuid.UUID(self.manager.guid), name)),
                "PROPID_Q_CREATE_TIME": now,
                "PROPID_Q_MODIFY_TIME": now,
            }
            self._system[name] = self._by_id[queue.id] = queue

    def _add(self, identifier: str, kind: str, path: str, number: int, properties: dict[str, Json]) -> Queue:
        make = self.manager.parts.positions
        queue = Queue(identifier, kind, path, make(), properties, number)
        journal = Queue(f"{identifier};;journal", "journal", path + ";journal", make(), parent=queue)
        queue.journal = journal
        self._by_id[identifier] = queue
        self._by_id[journal.id] = journal
        self._by_path[path.partition("\\")[2].lower()] = queue
        self._by_guid[properties["PROPID_Q_INSTANCE"].lower()] = queue
        if kind == "private":
            self._by_number[number] = queue
        return queue

    def _add_outgoing(self, identifier: str, name: str) -> Queue:
        queue = Queue(identifier, "outgoing", name, self.manager.parts.positions())
        self._by_id[identifier] = self._outgoing[name.lower()] = queue
        return queue

    def _subqueue(self, parent: Queue, name: str) -> Queue:
        """Return the subqueue of this name; create it if it does not exist."""
        found = parent.subqueues.get(name.lower())
        if found is None:
            make = self.manager.parts.positions
            found = Queue(f"{parent.id};{name}", "subqueue", f"{parent.path};{name}", make(), parent=parent)
            parent.subqueues[name.lower()] = self._by_id[found.id] = found
        return found

    def _store(self, queue: Queue) -> None:
        self.manager.store.put_queue(QueueRow(queue.id, queue.kind, queue.path, queue.number, queue.properties))

    # Names.

    def direct_name(self, queue: Queue) -> str:
        """Return a direct format name of a local queue, or the name of an outgoing one."""
        if queue.kind == "outgoing":
            return queue.path
        return f"DIRECT=OS:{queue.path}"

    def is_local(self, computer: str) -> bool:
        """Return true if the name designates the computer of this manager."""
        name = computer.lower()
        own = self.manager.computer.lower()
        return name in (own, f"{own}.local") or name in _LOOPBACK

    def find_local(self, text: str) -> Queue | None:
        """Return the local queue that a format name designates; None if there is none or the name is invalid."""
        try:
            return self._designated(self.manager.names.format_name(text))
        except MqError:
            return None

    def _designated(self, name: Name, *, make_subqueue: bool = False) -> Queue | None:
        parts = name.parts
        queue: Queue | None = None
        if name.kind == "machine":
            return self._system[str(parts["suffix"])] if self._own_guid(parts["guid"]) else None
        if name.kind == "public":
            queue = self._by_guid.get(str(parts["guid"]).lower())
        elif name.kind == "private" and self._own_guid(parts["guid"]):
            queue = self._by_number.get(int(parts["identifier"]))
        elif name.kind == "direct" and self.is_local(name.host):
            if parts["scope"] == "system":
                return self._system[str(parts["suffix"])]
            prefix = "private$\\" if parts["scope"] == "private" else ""
            queue = self._by_path.get((prefix + str(parts["queue"])).lower())
            if queue is not None and "subqueue" in parts:
                subqueue = str(parts["subqueue"])
                return self._subqueue(queue, subqueue) if make_subqueue else queue.subqueues.get(subqueue.lower())
        if queue is not None and name.suffix == "journal":
            return queue.journal
        return queue

    def _own_guid(self, guid: Json) -> bool:
        return str(guid).lower() == self.manager.guid

    def _existing(self, format_name: str) -> Queue:
        queue = self._designated(self.manager.names.format_name(format_name))
        if queue is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return queue

    # Whole queues.

    def create(self, path_name: str, given: dict[str, Json]) -> str:
        """Create Queue (3.1.7.1.3). Returns a format name that opens it."""
        name = self.manager.names.path(path_name)
        parts = name.parts
        if parts["scope"] == "system" or "subqueue" in parts or not self.is_local(str(parts["computer"])):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        private = parts["scope"] == "private"
        local = f"private$\\{parts['queue']}" if private else str(parts["queue"])
        given = self.without_path_name(given, name)
        wanted = given.get("PROPID_Q_SECURITY")
        given = {name: value for name, value in given.items() if name != "PROPID_Q_SECURITY"}
        properties = {**self.defaults(), **self.properties_to_keep(given, creating=True)}
        self.only_public(properties, private)
        if local.lower() in self._by_path:
            raise MqError(MQ_ERROR_QUEUE_EXISTS)
        if private:
            self.manager.security.need_of_machine(CREATE_QUEUE)
        descriptor = self.manager.security.of_new_queue(wanted)
        number = self.manager.next_sequence()
        now = self.manager.clock.now_ms() // 1000
        properties |= {
            "PROPID_Q_INSTANCE": str(uuid.uuid5(uuid.UUID(self.manager.guid), str(number))),
            "PROPID_Q_CREATE_TIME": now,
            "PROPID_Q_MODIFY_TIME": now,
            **({} if descriptor is None else {"descriptor": descriptor}),
        }
        path = f"{self.manager.computer}\\{local}"
        if not private and self.manager.integration.integrated:
            self.manager.integration.publish(path, properties)
        queue = self._add(f"queue-{number:012}", parts["scope"], path, 1 + max(self._by_number, default=0), properties)
        self._store(queue)
        return self.direct_name(queue)

    def delete(self, format_name: str) -> None:
        """Delete Queue (3.1.7.1.4), its journal and its subqueues with it. Waiting reads end at once."""
        queue = self._existing(format_name)
        if queue.kind not in ("private", "public"):
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        self.manager.security.need_of_queue(queue, DELETE_QUEUE)
        # Unregister the queue before its messages go: their acknowledgements must not arrive in it.
        self._by_path.pop(queue.path.partition("\\")[2].lower(), None)
        self._by_guid.pop(queue.properties["PROPID_Q_INSTANCE"].lower(), None)
        self._by_number.pop(queue.number, None)
        for member in self.satellites(queue):
            for position in member.positions:
                self.delete_position(position)
            member.deleted = True
            self._by_id.pop(member.id, None)
            self.manager.store.drop_queue(member.id)
            self.end_waits(member)
        self.manager.integration.withdraw(queue)

    def satellites(self, queue: Queue) -> list[Queue]:
        """Return a queue with the queues deleted with it: its subqueues and its journal."""
        return [queue, *queue.subqueues.values(), *([queue.journal] if queue.journal else [])]

    def delete_position(self, position: Position) -> None:
        """Delete one position with its queue."""
        self.manager.delivery.delete(position, Reason.QUEUE_DELETED)

    def end_waits(self, queue: Queue) -> None:
        """End the reads that wait on a deleted queue."""
        self.manager.reading.cancel_all(list(queue.waiters), MQ_ERROR_QUEUE_NOT_AVAILABLE)

    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        """Return the values of these properties."""
        queue = self._owner(format_name)
        self.manager.security.need_of_queue(queue, GET_PROPERTIES)
        values = {
            **queue.properties,
            "PROPID_Q_PATHNAME": queue.path,
            "PROPID_Q_SCOPE": 1,
            "PROPID_Q_QMID": self.manager.guid,
            "PROPID_Q_ADS_PATH": queue.properties.get("directory_path", ""),  # (3.1.7.1.3)
            "PROPID_Q_PATHNAME_DNS": f"{self.manager.computer}.local\\{queue.path.partition(chr(92))[2]}",
        }
        if any(not isinstance(name, str) or (name not in SETTABLE and name not in COMPUTED) for name in names):
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)
        return {name: values[name] for name in names}

    def set(self, format_name: str, given: dict[str, Json]) -> None:
        """Set properties."""
        queue = self._owner(format_name)
        self.manager.security.need_of_queue(queue, SET_PROPERTIES)
        changed = self.properties_to_keep(given, creating=False)
        self.manager.integration.write_queue(queue, changed)
        queue.properties |= changed
        self.only_public(queue.properties, queue.kind == "private")
        queue.properties["PROPID_Q_MODIFY_TIME"] = self.manager.clock.now_ms() // 1000
        self._store(queue)

    def change(self, queue: Queue, attributes: dict[str, Json]) -> None:
        """Store attributes that are no properties."""
        queue.properties |= attributes
        self._store(queue)

    def counts(self, format_name: str) -> dict[str, Json]:
        """Count messages and bytes in a queue and in its journal, locked ones included (MS-MQMR 3.1.4.1)."""
        name = self.manager.names.format_name(format_name)
        queue = self._designated(name) or self._outgoing.get(format_name.lower())
        if queue is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        answer = {"messages": len(queue.positions), "bytes": queue.bytes}
        if queue.journal is not None:
            answer |= {"journal_messages": len(queue.journal.positions), "journal_bytes": queue.journal.bytes}
        return answer

    def outgoing(self, format_name: str) -> Queue:
        """Return the outgoing queue for a name. Raises MqError for a local queue, or if there is none."""
        name = self.manager.names.format_name(format_name)
        queue = self._outgoing.get(name.text.lower())
        if queue is None:
            local = self._designated(name) is not None
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION if local else MQ_ERROR_QUEUE_NOT_ACTIVE)
        return queue

    def defaults(self) -> dict[str, Json]:
        """Set Queue Defaults (3.1.7.1.33)."""
        return defaults()

    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        """Return the properties of an application, checked. Raises MqError like `queue_properties.checked`."""
        return checked(given, creating=creating)

    def without_path_name(self, given: dict[str, Json], created: Name) -> dict[str, Json]:
        """Leave out the path name, which must repeat that of the call (MS-MQMP 3.2.4.1). Raises MqError if not."""
        if "PROPID_Q_PATHNAME" not in given:
            return given
        again = given["PROPID_Q_PATHNAME"]
        if not isinstance(again, str):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        named = self.manager.names.path(again)
        local = self.is_local(str(named.parts["computer"]))
        if not local or again.partition("\\")[2].lower() != created.text.partition("\\")[2].lower():
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        return {name: value for name, value in given.items() if name != "PROPID_Q_PATHNAME"}

    def only_public(self, properties: dict[str, Json], private: bool) -> None:
        """The base priority of a private queue is always 0; a given value is ignored (MS-MQMQ 2.3.1.6)."""
        if private:
            properties["PROPID_Q_BASEPRIORITY"] = 0

    def _owner(self, format_name: str) -> Queue:
        queue = self._existing(format_name)
        if queue.kind not in ("private", "public"):
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return queue

    # Handles.

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        """Open Queue (3.1.7.1.5)."""
        if "," in format_name:
            return self._open_multiple(format_name, access, share)
        name = self.manager.names.format_name(format_name)
        if name.kind == "distribution_list" and self.manager.integration.integrated:
            return self._open_elements([format_name], access, share)
        queue = self._queue_to_open(name, access)
        if access == "send" and share == "deny_receive":
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        if access == "move" and queue.kind not in ("private", "public", "subqueue"):
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        self.manager.security.need_to_open(queue, access)
        if self.excluded(queue, access, share):
            raise MqError(MQ_ERROR_SHARING_VIOLATION)
        descriptor = Descriptor(self.manager.new_handle("h"), access, share, queue)
        queue.descriptors.append(descriptor)
        self.manager.descriptors[descriptor.handle] = descriptor
        return descriptor

    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        """Return true if the open handles of the queue exclude a handle of this access and share."""
        return conflicts([(open_.access, open_.share) for open_ in queue.descriptors], access, share)

    def _open_multiple(self, format_name: str, access: str, share: str) -> Descriptor:
        name = self.manager.names.multiple(format_name)
        return self._open_elements(list(map(str, name.parts["elements"])), access, share)

    def _open_elements(self, names: list[str], access: str, share: str) -> Descriptor:
        """Open what Expand Format Name (3.1.7.3.8) makes of names: one of them, or all together."""
        unique = {element.lower(): element for element in names}
        if self.manager.integration.integrated:
            unique = {element.lower(): element for element in self.manager.integration.expanded(names)}
        if len(unique) == 1:
            return self.open(next(iter(unique.values())), access, share)
        if access != "send":
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        if share != "deny_none":
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        whole = Descriptor(self.manager.new_handle("h"), access, share, None)
        try:
            for element in unique.values():
                whole.elements.append(self.open(element, access, share))
        except MqError:
            self._close_elements(whole)
            raise
        self.manager.descriptors[whole.handle] = whole
        return whole

    def _queue_to_open(self, name: Name, access: str) -> Queue:
        """Return the queue for a new handle; an outgoing one if the name is not local."""
        sending = access == "send"
        http = name.kind == "direct" and name.parts["protocol"] in ("HTTP", "HTTPS")
        unsupported = (
            ((http or name.kind == "multicast") and not sending)
            or (name.kind == "machine" and sending)
            or name.kind in ("connector", "distribution_list")
        )
        if unsupported:
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        found = self._designated(name, make_subqueue=not sending)
        if found is not None:
            if access in ("receive_admin", "peek_admin"):
                raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
            if sending and found.kind not in ("private", "public"):
                raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
            if found.kind == "subqueue":
                self._store(found)
            return found
        if sending and name.read_only:
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        if sending and "subqueue" in name.parts:
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        outgoing = self._outgoing.get(name.text.lower())
        if access in ("receive_admin", "peek_admin") and outgoing is not None:
            return outgoing
        if not sending or self._missing_here(name):
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        if name.kind == "public":
            self._look_up(name, found=outgoing)
        if outgoing is None:
            outgoing = self._add_outgoing(f"outgoing-{self.manager.next_sequence():012}", name.text)
            self.manager.outgoing.opened(outgoing)
            self._store(outgoing)
        return outgoing

    def _look_up(self, name: Name, *, found: Queue | None) -> None:
        """Look for the public queue that a new outgoing queue leads to. Raises MqError."""
        integration = self.manager.integration
        if not integration.integrated:
            if self.manager.directory.named(name.text) is None:
                raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        elif found is None:
            integration.look_up(str(name.parts["guid"]))

    def _missing_here(self, name: Name) -> bool:
        """Return true if a name designates a queue of this manager; the queue was not found."""
        if name.kind == "direct":
            return self.is_local(name.host)
        return name.kind == "private" and self._own_guid(name.parts["guid"])

    def close(self, descriptor: Descriptor) -> None:
        """Close Queue (3.1.7.1.6): its reads are cancelled, its cursors closed, its unfinished reads given back."""
        self._close_elements(descriptor)
        if descriptor.queue is not None:
            waiters = [waiter for waiter in descriptor.queue.waiters if waiter.descriptor is descriptor]
            self.manager.reading.cancel_all(waiters)
        self.close_cursors(descriptor)
        for read in [read for read in self.manager.open_reads.values() if read.descriptor is descriptor]:
            if read.position.queue.deleted:  # its message went with the queue: there is nothing to give back
                del self.manager.open_reads[read.handle]
            else:
                self.manager.reading.end(read, acknowledge=False)
        if descriptor.queue is not None and descriptor in descriptor.queue.descriptors:
            descriptor.queue.descriptors.remove(descriptor)
        self.manager.descriptors.pop(descriptor.handle, None)

    def close_cursors(self, descriptor: Descriptor) -> None:
        """Close the cursors of a handle."""
        for cursor in list(descriptor.cursors):
            self.manager.cursors.close(cursor)

    def _close_elements(self, whole: Descriptor) -> None:
        for element in whole.elements:
            self.close(element)
        whole.elements.clear()

    def purge(self, descriptor: Descriptor) -> None:
        """Purge Queue (3.1.7.1.7): a locked message is deleted when its lock ends; an uncommitted send stays."""
        queue = self.manager.reading.readable_queue(descriptor, destructive=True)
        for position in queue.positions:
            self.purge_position(position)

    def purge_position(self, position: Position) -> None:
        """Purge one position."""
        if position.state is State.AVAILABLE:
            self.manager.delivery.delete(position, Reason.PURGED)
        elif position.state is State.LOCKED and not position.uncommitted:
            position.state = State.PURGE_PENDING
            self.manager.delivery.keep(position)  # the state of a recoverable message is persistent (3.1.1.11)
