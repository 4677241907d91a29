"""MSMQQueueInfo (MC-MQAC 3.10): what it refers to, and its methods. Its properties are in `queue_info_properties`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded import queue_properties
from conformance.embedded.entities import MqError, Queue
from conformance.embedded.objects.dispatch import (
    GET,
    LONG,
    METHOD,
    OPTIONAL,
    PUT,
    TEXT,
    ComObject,
    Signature,
    member,
)
from conformance.embedded.objects.queue_info_properties import SIGNATURES, Property
from conformance.embedded.objects.variants import Variant, as_flag, flag, short, text
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

Json = Any
ACCESS = {1: "receive", 2: "send", 0x20: "peek", 0x81: "receive_admin", 0xA0: "peek_admin"}
SHARE = {0: "deny_none", 1: "deny_receive"}
SEND_ACCESS, DENY_NONE = 2, 0
PATH = "PROPID_Q_PATHNAME"
_STORED = tuple(name for name in queue_properties.SETTABLE if name != "PROPID_Q_TRANSACTION")


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
        return queue_properties.defaults()

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
                self.copy({**(queue.parent or queue).properties, PATH: queue.path})
        self.is_refreshed = True

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
