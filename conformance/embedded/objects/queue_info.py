"""MSMQQueueInfo (MC-MQAC 3.10): what it refers to, its properties, its methods and its format names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded import queues
from conformance.embedded.directory_objects import equals, properties_of
from conformance.embedded.entities import INFINITE, MqError, Queue
from conformance.embedded.integration import succeeded
from conformance.embedded.objects.variants import (
    GET,
    LONG,
    METHOD,
    OPTIONAL,
    PUT,
    TEXT,
    ComObject,
    Kind,
    Signature,
    Variant,
    as_flag,
    braced,
    date,
    flag,
    long,
    member,
    short,
    text,
)
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

if TYPE_CHECKING:
    from conformance.embedded.directory import DirectoryObject
    from conformance.embedded.manager import Manager

Tell = Callable[[Any], Variant]
UNIX_ZERO, OPTIONAL_PRIVACY = 0, 1


def _guid(value: Any) -> Variant:
    return text(braced(str(value)) if value else value)


@dataclass(frozen=True, slots=True)
class Property:
    """A property. stored: its name in the copy. taken: the type of the argument of put, None without put.

    otherwise: its value for a queue that is no ApplicationQueue. keep: makes the value to keep of what is put.
    allowed: tells whether a value can be put. refreshes: a getter asks the queue first.
    """

    name: str
    stored: str
    tell: Tell
    taken: Kind | None = None
    otherwise: Any = None
    has_otherwise: bool = False
    keep: Callable[[Any], Any] = lambda value: value
    allowed: Callable[[QueueInfoObject, Any], bool] | None = None
    of_queue: Callable[[QueueInfoObject, Any], Any] = lambda info, value: value
    refreshes: bool = True

    def value(self, info: QueueInfoObject) -> Any:
        """Return the value that a getter tells."""
        if self.has_otherwise and not info.is_application_queue and self.stored not in info.put:
            return self.otherwise
        return self.of_queue(info, info.ref.get(self.stored))


def _public(info: QueueInfoObject) -> bool:
    return (info.format_name or "").upper().startswith("PUBLIC=")


def _priority_allowed(info: QueueInfoObject, value: int) -> bool:
    return -32768 <= value <= 32767 and _public(info)


def _unsigned(value: int) -> int:
    return value & INFINITE


def _transactional(info: QueueInfoObject, value: Any) -> int:
    return int(bool(value) and (info.is_refreshed or info.is_queue_created))


PROPERTIES: tuple[Property, ...] = (
    Property("QueueGuid", "PROPID_Q_INSTANCE", _guid, has_otherwise=True),
    Property("ServiceTypeGuid", "PROPID_Q_TYPE", _guid, TEXT),
    Property("Label", "PROPID_Q_LABEL", text, TEXT),
    Property("PathName", "PROPID_Q_PATHNAME", text),
    Property("IsTransactional", "PROPID_Q_TRANSACTION", short, of_queue=_transactional),
    Property("IsTransactional2", "PROPID_Q_TRANSACTION", flag),
    Property("PrivLevel", "PROPID_Q_PRIV_LEVEL", long, LONG, OPTIONAL_PRIVACY, True),
    Property("Journal", "PROPID_Q_JOURNAL", long, LONG, 0, True, keep=lambda value: int(value != 0)),
    Property("Quota", "PROPID_Q_QUOTA", long, LONG, INFINITE, True, keep=_unsigned),
    Property(
        "BasePriority", "PROPID_Q_BASEPRIORITY", long, LONG, allowed=_priority_allowed,
        of_queue=lambda info, value: value if _public(info) else 0,
    ),
    Property("CreateTime", "PROPID_Q_CREATE_TIME", lambda value: date(value or UNIX_ZERO)),
    Property("ModifyTime", "PROPID_Q_MODIFY_TIME", lambda value: date(value or UNIX_ZERO), None, UNIX_ZERO, True),
    Property("Authenticate", "PROPID_Q_AUTHENTICATE", long, LONG, 0, True, keep=lambda value: int(value != 0)),
    Property("JournalQuota", "PROPID_Q_JOURNAL_QUOTA", long, LONG, INFINITE, True, keep=_unsigned),
    Property("MulticastAddress", "PROPID_Q_MULTICAST_ADDRESS", text, TEXT, keep=lambda value: value or None),
)  # fmt: skip


def signatures(properties: tuple[Property, ...]) -> tuple[Signature, ...]:
    """Return the members of a table of properties: a getter each, and a putter where there is one."""
    found = []
    for row in properties:
        found.append(Signature(row.name, GET, {}, "", row))
        if row.taken is not None:
            found.append(Signature(row.name, PUT, {row.name: row.taken}, "", row))
    return tuple(found)


SIGNATURES = signatures(PROPERTIES)

Json = Any
ACCESS = {1: "receive", 2: "send", 0x20: "peek", 0x81: "receive_admin", 0xA0: "peek_admin"}
SHARE = {0: "deny_none", 1: "deny_receive"}
SEND_ACCESS, DENY_NONE = 2, 0
PATH = "PROPID_Q_PATHNAME"
_STORED = tuple(name for name in queues.SETTABLE if name != "PROPID_Q_TRANSACTION")


class QueueInfoObject(ComObject):
    """A reference to a queue, with a copy of its properties in `ref`, by the names of MS-MQMQ 2.3.1.

    put: properties that were put since they were last copied; a getter's own refresh leaves them.
    """

    CLASS = "MSMQQueueInfo"
    INTERFACES = ("IMSMQQueueInfo4", "IMSMQQueueInfo3", "IMSMQQueueInfo2", "IMSMQQueueInfo")
    NOT_IMPLEMENTED = ((GET, "Properties"), (GET, "Security"), (PUT, "Security"))

    def __init__(self, manager: Manager, format_name: str | None = None) -> None:
        """Make an object as a client does, or for a format name."""
        super().__init__(manager)
        self.initialize(format_name)

    def initialize(self, format_name: str | None = None) -> None:
        """Set the initial values (3.10.3)."""
        self.ref: dict[str, Json] = {PATH: None, **self.initial_properties()}
        self.put: set[str] = set()
        self.format_name = format_name
        self.is_refreshed = self.is_application_queue = self.is_queue_created = False

    def initial_properties(self) -> dict[str, Json]:
        """Set Queue Defaults (MS-MQDMPR 3.1.7.1.33)."""
        return queues.defaults()

    @classmethod
    def rows(cls) -> tuple[Signature, ...]:
        """Return the properties."""
        return SIGNATURES

    def row(self, signature: Signature, values: list[Any]) -> Variant | None:
        """Read or write a property."""
        if signature.kind == GET:
            return self.read(signature.row)
        self.write(signature.row, values[0])
        return None

    def read(self, row: Property) -> Variant:
        """Return a property; the queue is asked first, unless the value is one that was put."""
        if row.refreshes and row.stored not in self.put:
            self.refresh_once()
        return row.tell(row.value(self))

    def write(self, row: Property, value: Any) -> None:
        """Keep a value that is put. The queue has it after Create or Update."""
        if row.allowed is not None and not row.allowed(self, value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        self.ref[row.stored] = row.keep(value)
        self.put.add(row.stored)

    # What it refers to.

    @member(PUT, "PathName", bstrPathName=TEXT)
    def put_path_name(self, path: str | None) -> None:
        """Refer to the queue of a path name (3.10.4.1.7)."""
        self.ref[PATH] = path
        self.put.add(PATH)
        self.format_name = None
        self.refers_anew()

    @member(PUT, "FormatName", bstrFormatName=TEXT)
    def put_format_name(self, format_name: str | None) -> None:
        """Refer to the queue of a format name (3.10.4.1.9)."""
        self.format_name = format_name
        self.ref[PATH] = None
        self.put.discard(PATH)
        self.refers_anew()

    def refers_anew(self) -> None:
        """Forget what is known of the queue."""
        self.is_refreshed = self.is_application_queue = self.is_queue_created = False

    @member(GET, "FormatName")
    def get_format_name(self) -> Variant:
        """Return the format name, looked up where only the path name is known (3.10.4.1.8)."""
        return text(self.known_format_name())

    def known_format_name(self) -> str | None:
        """Return the format name, None if there is none."""
        if self.format_name is None and self.ref[PATH] is not None:
            try:
                self.update_format_name()
            except MqError:
                return None
        return self.format_name

    def update_format_name(self) -> str:
        """Update QueueFormatName (3.10.6.1): return the format name, made from the path name if it must be."""
        if self.format_name is None:
            path = self.ref[PATH]
            if path is None:
                raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
            self.format_name = self.manager.objects.names.format_name(path)
        return self.format_name

    def single_format_name(self) -> str:
        """Return the format name of one queue. Raises MqError for one of several, of HTTP or of multicast."""
        format_name = self.update_format_name()
        if self.manager.objects.names.several(format_name):
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        return format_name

    def existing_queue(self) -> Queue:
        """Return the queue, of this computer. Raises MqError."""
        queue = self.manager.queues.find_local(self.single_format_name())
        if queue is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return queue

    # The methods.

    @member(METHOD, "Create", IsTransactional=OPTIONAL, IsWorldReadable=OPTIONAL)
    def create(self, transactional: Variant, world_readable: Variant) -> None:
        """Create the queue of the path name (3.10.4.1.26)."""
        path = self.ref[PATH]
        if path is None:
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        name = self.manager.names.path(path)
        transacted, everyone = self.is_asked(transactional), self.is_asked(world_readable)
        names = self.manager.objects.names
        computer, scope = str(name.parts["computer"]), str(name.parts["scope"])
        if names.at_path(computer, scope, str(name.parts.get("queue", ""))) is not None:
            raise MqError(MQ_ERROR_QUEUE_EXISTS)
        given = {each: self.ref[each] for each in _STORED} | {"PROPID_Q_TRANSACTION": int(transacted)}
        self.manager.queues.create(path, given)
        queue = names.at_path(computer, scope, str(name.parts["queue"]))
        if queue is not None:
            self.created(queue, everyone)

    def created(self, queue: Queue, everyone: bool) -> None:
        """Note that the queue is there."""
        self.is_queue_created = self.is_application_queue = True
        self.format_name = self.manager.objects.names.format_name(queue.path)
        if everyone:
            self.manager.objects.world_readable.add(queue.id)

    def is_asked(self, given: Variant) -> bool:
        """Return a flag, False if it is left out."""
        return False if given.left_out else as_flag(given)

    @member(METHOD, "Delete")
    def delete(self) -> None:
        """Delete the queue (3.10.4.1.27)."""
        queue = self.existing_queue()
        self.manager.queues.delete(self.named())
        self.manager.objects.world_readable.discard(queue.id)
        self.initialize()

    def named(self) -> str:
        """Return the format name that is there."""
        return self.format_name or ""

    @member(METHOD, "Open", Access=LONG, ShareMode=LONG)
    def open(self, access: int, share: int) -> Variant:
        """Open the queue (3.10.4.1.28)."""
        format_name = self.update_format_name()
        if access == SEND_ACCESS and share != DENY_NONE:
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        if access != SEND_ACCESS and self.manager.objects.names.several(format_name):
            raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
        if access not in ACCESS or share not in SHARE:
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE)
        descriptor = self.manager.queues.open(format_name, ACCESS[access], SHARE[share])
        return Variant("DISPATCH", self.manager.parts.queue_object(self.manager, descriptor, self, access, share))

    @member(METHOD, "Refresh")
    def refresh(self) -> None:
        """Copy the properties of the queue (3.10.4.1.29)."""
        self.put.clear()
        self.copy_properties()

    def refresh_once(self) -> None:
        """Refresh for a getter, if it was not done. What was put stays."""
        if not self.is_refreshed:
            self.copy_properties()

    def copy_properties(self) -> None:
        """Copy the properties of the queue that were not put."""
        elsewhere = self.queue_elsewhere()
        if elsewhere is not None:
            self.is_application_queue = True
            self.copy({**elsewhere.properties, PATH: elsewhere.path})
        else:
            queue = self.existing_queue()
            self.is_application_queue = self.manager.objects.names.is_application_queue(queue)
            if self.is_application_queue:
                self.copy({**self.refreshed(queue.parent or queue), PATH: queue.path})
        self.is_refreshed = True

    def refreshed(self, queue: Queue) -> dict[str, Json]:
        """Return the properties of a queue of this computer, read in the directory for a public one. Raises MqError."""
        integration = self.manager.integration
        if not integration.integrated or queue.kind != "public":
            return queue.properties
        result, found = integration.read("queue", equals("identifier", queue.properties["PROPID_Q_INSTANCE"]))
        succeeded(result)
        return {**queue.properties, **properties_of(found)}

    def copy(self, properties: dict[str, Json]) -> None:
        """Keep these properties, but for those that were put."""
        for name, value in {**self.initial_properties(), **properties}.items():
            if name not in self.put:
                self.ref[name] = value

    def queue_elsewhere(self) -> DirectoryObject | None:
        """Return the public queue of another computer, as the directory has it; None for a queue of this one."""
        format_name = self.single_format_name()
        if self.manager.queues.find_local(format_name) is not None:
            return None
        return self.manager.directory.named(format_name)

    @member(METHOD, "Update")
    def update(self) -> None:
        """Give the queue the properties (3.10.4.1.30)."""
        elsewhere = self.queue_elsewhere()
        if elsewhere is not None:
            self.manager.directory.write(elsewhere, {name: self.ref[name] for name in self.updated()})
            return
        queue = self.existing_queue()
        if not self.manager.objects.names.is_application_queue(queue):
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        self.manager.queues.set(self.named(), {name: self.ref[name] for name in self.updated()})

    def updated(self) -> tuple[str, ...]:
        """Return the properties that Update writes."""
        return _STORED

    # Properties that are not a copy.

    @member(GET, "IsWorldReadable")
    def is_world_readable(self) -> Variant:
        """Return whether everyone may receive from the queue (3.10.4.1.25)."""
        return short(int(self.readable_by_everyone()))

    @member(GET, "IsWorldReadable2")
    def is_world_readable2(self) -> Variant:
        """Return whether everyone may receive from the queue (3.10.4.1.36)."""
        return flag(self.readable_by_everyone())

    def readable_by_everyone(self) -> bool:
        """Look at the rights of the queue."""
        found = self.manager.queues.find_local(self.known_format_name() or "")
        return found is not None and found.id in self.manager.objects.world_readable

    @member(GET, "PathNameDNS")
    def path_name_dns(self) -> Variant:
        """Return the DNS path name of a public queue (3.10.4.1.31)."""
        self.refresh_once()
        return text(self.public_queue().path_dns)

    @member(GET, "ADsPath")
    def ads_path(self) -> Variant:
        """Return the directory path of a public queue (3.10.4.1.39)."""
        self.refresh_once()
        return text(self.public_queue().directory_path)

    def public_queue(self) -> DirectoryObject:
        """Return the public queue, as the directory has it. Raises MqError for another."""
        found = self.queue_elsewhere()
        if found is None:
            queue = self.existing_queue()
            found = self.manager.directory.queue_at(queue.path) if queue.kind == "public" else None
        if found is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return found


LONGEST_PUBLIC = 63  # characters of a public queue's name, slashes counted twice


class QueueNames:
    """Names of queues, as an MSMQQueueInfo uses them."""

    def __init__(self, manager: Manager) -> None:
        """Work for this queue manager."""
        self.manager = manager

    def format_name(self, path: str) -> str:
        """Return the format name of a path name (3.10.6.1). Raises MqError where there is no such queue."""
        parts = self.manager.names.path(path).parts
        computer, scope, queue = str(parts["computer"]), parts["scope"], str(parts.get("queue", ""))
        if scope not in ("private", "public") or not computer:
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        if scope == "public" and self.too_long(queue):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        found = self.at_path(computer, str(scope), queue)
        if found is None and scope == "public":
            return self.of_another_computer(path)
        if found is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        if "subqueue" in parts:
            return f"DIRECT=OS:{found.path};{parts['subqueue']}"
        if scope == "public":
            return f"PUBLIC={found.properties['PROPID_Q_INSTANCE']}"
        return self.private_name(found)

    def of_another_computer(self, path: str) -> str:
        """Return the format name of a public queue that the directory has. Raises MqError."""
        queue, semicolon, subqueue = path.partition(";")
        known = self.manager.directory.queue_at(queue)
        if known is None:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return f"DIRECT=OS:{known.path};{subqueue}" if semicolon else known.name

    def of_directory(self, path: str) -> str:
        """Return the format name of a queue, alias or list by its directory path (3.12.6.1). Raises MqError."""
        return self.manager.directory.at(path).name

    def directory_path(self, queue: Queue) -> str:
        """Return the directory path of a public queue."""
        if "directory_path" in queue.properties:
            return str(queue.properties["directory_path"])
        name = queue.path.partition("\\")[2]
        return f"LDAP://CN={name},CN=msmq,CN={self.manager.computer}"

    def private_name(self, queue: Queue) -> str:
        """Return the private format name of a queue."""
        return f"PRIVATE={self.manager.guid}\\{queue.number:x}"

    def too_long(self, queue: str) -> bool:
        """Return true for the name of a public queue that is too long."""
        return len(queue) + queue.count("/") > LONGEST_PUBLIC

    def at_path(self, computer: str, scope: str, queue: str) -> Queue | None:
        """Return the queue at a path of this computer; another computer cannot be asked."""
        if not self.manager.queues.is_local(computer):
            return None
        local = f"private$\\{queue}" if scope == "private" else queue
        return self.manager.queues.find_local(f"DIRECT=OS:{self.manager.computer}\\{local}")

    def lists(self, format_name: str | None) -> bool:
        """Return true for a list of names."""
        return format_name is not None and "," in format_name

    def several(self, format_name: str) -> bool:
        """Return true for a name of several queues, an HTTP name or a multicast address."""
        if self.lists(format_name):
            return True
        name = self.manager.names.format_name(format_name)
        http = name.kind == "direct" and name.parts["protocol"] in ("HTTP", "HTTPS")
        return http or name.kind in ("multicast", "distribution_list")

    def is_public(self, format_name: str) -> bool:
        """Return true for a name that identifies a public queue."""
        found = self.manager.queues.find_local(format_name)
        return format_name.upper().startswith("PUBLIC=") or (found is not None and found.kind == "public")

    def is_application_queue(self, queue: Queue) -> bool:
        """Return true for every queue but those of the computer itself."""
        return queue.kind != "system"
