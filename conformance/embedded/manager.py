"""The queue manager: its state, its parts, and its recovery from the store (MS-MQDMPR 3.1.1.1, 3.1.3)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from conformance.embedded.admission import Admission
from conformance.embedded.certificates import Certificates
from conformance.embedded.clock import EPOCH_MS, LAST_MS, Clock
from conformance.embedded.coordination import Coordination
from conformance.embedded.coordinator import Coordinator
from conformance.embedded.delivery import Delivery, Sending
from conformance.embedded.directory import Directory
from conformance.embedded.directory_client import DirectoryClient
from conformance.embedded.directory_properties import DirectoryProperties
from conformance.embedded.entities import (
    INFINITE,
    Cursor,
    Descriptor,
    Message,
    MqError,
    OpenRead,
    Position,
    PositionList,
    Reason,
    State,
    Transaction,
)
from conformance.embedded.integration import Integration
from conformance.embedded.management import Management
from conformance.embedded.names import NameParser
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.events import EventObject, Notification
from conformance.embedded.objects.management import (
    CollectionObject,
    ManagementObject,
    OutgoingManagementObject,
    QueueManagementObject,
)
from conformance.embedded.objects.message import MessageObject, MessageSending
from conformance.embedded.objects.query import QueryObject, QueueInfosObject
from conformance.embedded.objects.queue import Perform, QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject, QueueNames
from conformance.embedded.objects.table import Objects
from conformance.embedded.objects.transactions import (
    CoordinatedDispenserObject,
    DispenserObject,
    ExternalTransaction,
    TransactionArguments,
    TransactionImpl,
    TransactionObject,
)
from conformance.embedded.objects.type_library import TypeLibrary
from conformance.embedded.packet_reading import Arrival, IncomingTransfers, PacketReader
from conformance.embedded.packet_writing import PacketWriter
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Cursors, Receiving
from conformance.embedded.sealing import Sealing
from conformance.embedded.security import Security
from conformance.embedded.signing import Encryption, Signatures
from conformance.embedded.store import Store
from conformance.embedded.structures import Structures
from conformance.embedded.transactions import Transactions
from conformance.embedded.transfers import Outgoing, Transfers
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
)

Json = Any
_Held = TypeVar("_Held")
COMPUTER = "HOST"
QUEUE_MANAGER = "db0760c6-b874-5485-9d0b-bf112870b534"
SEQUENCE_BLOCK = 10_000  # numbers reserved by one write, so that no number is used twice after a kill
DEFAULT_MESSAGE_QUOTA_KB = 0x00100000  # MS-MQDMPR 3.1.1.1, read in kilobytes
DEFAULT_JOURNAL_QUOTA_KB = INFINITE


@dataclass(slots=True)
class Parts:
    """The classes a manager is made of. A fault replaces some of them with subclasses."""

    store: type[Store] = Store
    positions: type[PositionList] = PositionList
    names: type[NameParser] = NameParser
    writer: type[PacketWriter] = PacketWriter
    reader: type[PacketReader] = PacketReader
    structures: type[Structures] = Structures
    arrival: type[Arrival] = Arrival
    queues: type[Queues] = Queues
    outgoing: type[Outgoing] = Outgoing
    transfers: type[Transfers] = Transfers
    incoming: type[IncomingTransfers] = IncomingTransfers
    management: type[Management] = Management
    sending: type[Sending] = Sending
    delivery: type[Delivery] = Delivery
    reading: type[Receiving] = Receiving
    cursors: type[Cursors] = Cursors
    transactions: type[Transactions] = Transactions
    coordination: type[Coordination] = Coordination
    security: type[Security] = Security
    certificates: type[Certificates] = Certificates
    signatures: type[Signatures] = Signatures
    encryption: type[Encryption] = Encryption
    sealing: type[Sealing] = Sealing
    admission: type[Admission] = Admission
    objects: type[Objects] = Objects
    type_library: type[TypeLibrary] = TypeLibrary
    queue_names: type[QueueNames] = QueueNames
    queue_info: type[QueueInfoObject] = QueueInfoObject
    queue_object: type[QueueObject] = QueueObject
    queue_reads: type[Perform] = Perform
    message_object: type[MessageObject] = MessageObject
    destination: type[DestinationObject] = DestinationObject
    event: type[EventObject] = EventObject
    management_object: type[ManagementObject] = ManagementObject
    queue_management: type[QueueManagementObject] = QueueManagementObject
    outgoing_management: type[OutgoingManagementObject] = OutgoingManagementObject
    application: type[ApplicationObject] = ApplicationObject
    collection: type[CollectionObject] = CollectionObject
    query: type[QueryObject] = QueryObject
    queue_infos: type[QueueInfosObject] = QueueInfosObject
    directory: type[Directory] = Directory
    directory_client: type[DirectoryClient] = DirectoryClient
    directory_properties: type[DirectoryProperties] = DirectoryProperties
    integration: type[Integration] = Integration
    notification: type[Notification] = Notification
    message_sending: type[MessageSending] = MessageSending
    transaction_arguments: type[TransactionArguments] = TransactionArguments
    transaction_object: type[TransactionObject] = TransactionObject
    transaction_implementation: type[TransactionImpl] = TransactionImpl
    transaction_dispenser: type[DispenserObject] = DispenserObject
    external_transaction: type[ExternalTransaction] = ExternalTransaction
    coordinated_dispenser: type[CoordinatedDispenserObject] = CoordinatedDispenserObject
    races: bool = False
    directory_protocols: tuple[str, ...] = ("json-rpc", "ldap")
    readings: dict[str, str] = field(default_factory=dict)  # alternatives followed instead of those of `readings`


class Manager:
    """One queue manager and its namespace. Its state folder is one file in `folder`."""

    def __init__(self, folder: Path, namespace: str, *, profile: str, clock: Clock, parts: Parts) -> None:
        """Open the store and recover the durable state. Raises StoreError if the folder cannot be used."""
        digest = hashlib.sha256(namespace.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.store = parts.store(folder / f"embedded-{digest}.sqlite")
        self.profile = profile
        self.computer = COMPUTER
        self.guid = QUEUE_MANAGER  # of every namespace: they share one manager, which `hello` has named before `attach`
        self.clock = clock
        self._clock_from_store()
        self.parts = parts
        self.message_quota_kb = self.store.counter("message_quota_kb", DEFAULT_MESSAGE_QUOTA_KB)
        self.journal_quota_kb = self.store.counter("journal_quota_kb", DEFAULT_JOURNAL_QUOTA_KB)
        self.message_bytes = 0
        self.journal_bytes = 0
        self.connected = True  # ConnectionActive (3.1.1.1)
        self.descriptors: dict[str, Descriptor] = {}
        self.cursor_handles: dict[str, Cursor] = {}
        self.open_transactions: dict[str, Transaction] = {}
        self.open_reads: dict[str, OpenRead] = {}
        self.meanwhile: Callable[[], None] = lambda: None  # set by a caller with further requests to perform
        self._handles = 0
        self._sequence = self.store.counter("sequence", 1)
        self._reserved = self._sequence
        self._timestamp = 0
        self.names = parts.names(profile)
        self.writer = parts.writer(self.names, self.guid)
        self.packet_reader = parts.reader()
        self.structures = parts.structures(self.names)
        self.arrival = parts.arrival(self)
        self.security = parts.security(self)
        self.certificates = parts.certificates(self)
        self.signatures = parts.signatures()
        self.encryption = parts.encryption(self)
        self.sealing = parts.sealing(self)
        self.admission = parts.admission(self)
        self.delivery = parts.delivery(self)
        self.queues = parts.queues(self)
        self.outgoing = parts.outgoing(self)
        self.transfers = parts.transfers(self)
        self.incoming = parts.incoming(self)
        self.management = parts.management(self)
        self.directory = parts.directory(self)
        self.integration = parts.integration(self)
        self.directory_properties = parts.directory_properties(self)
        self.sending = parts.sending(self)
        self.reading = parts.reading(self)
        self.cursors = parts.cursors(self)
        self.transactions = parts.transactions(self)
        self.coordination = parts.coordination(self)
        self.coordinator = Coordinator(self)
        self.objects = parts.objects(self)
        self._recover()
        self.integration.started()
        self.clock.run_due()  # messages that expired while locked; their locks ended with the process
        self.store.flush()

    def elsewhere(self) -> None:
        """Let requests that arrived meanwhile go first. Only a fault whose lock has a hole calls this."""
        self.meanwhile()

    def next_sequence(self) -> int:
        """Return the next SequentialID (3.1.1.1): a number not used before, in this process or an earlier one."""
        if self._sequence >= self._reserved:
            self._reserved = self._sequence + SEQUENCE_BLOCK
            self.store.set_counter("sequence", self._reserved)
        self._sequence += 1
        return self._sequence - 1

    def next_timestamp(self) -> int:
        """Return the timestamp of a new outgoing sequence: greater than any before, seconds since 1970 if it can be."""
        stamp = max(self.clock.now_ms() // 1000, self.store.counter("timestamp", 0) + 1, self._timestamp + 1)
        self._timestamp = stamp
        self.store.set_counter("timestamp", stamp)
        return stamp & INFINITE

    def new_handle(self, kind: str) -> str:
        """Return a handle that this process has not used before."""
        self._handles += 1
        return f"{kind}{self._handles}"

    def new_identifier(self) -> str:
        """Return a GUID that was not used before, in this process or an earlier one."""
        return str(uuid.uuid5(uuid.UUID(self.guid), str(self.next_sequence())))

    def descriptor(self, handle: Json) -> Descriptor:
        """Return the open handle. Raises MqError(MQ_ERROR_INVALID_HANDLE)."""
        return _of(self.descriptors, handle, MQ_ERROR_INVALID_HANDLE)

    def cursor(self, handle: Json) -> Cursor:
        """Return the open cursor. Raises MqError(MQ_ERROR_INVALID_HANDLE)."""
        return _of(self.cursor_handles, handle, MQ_ERROR_INVALID_HANDLE)

    def transaction(self, handle: Json) -> Transaction:
        """Return the open transaction. Raises MqError(MQ_ERROR_TRANSACTION_SEQUENCE), by 3.1.4.3 to 3.1.4.5."""
        return self.transactions.named(handle)

    def open_read(self, handle: Json) -> OpenRead:
        """Return the open two-phase read. Raises MqError(MQ_ERROR_INVALID_HANDLE)."""
        return _of(self.open_reads, handle, MQ_ERROR_INVALID_HANDLE)

    def reset(self) -> None:
        """Forget queues, messages, transactions and handles. Sequence numbers and the clock continue."""
        self.objects.hush()
        for queue in self.queues.all():
            self.reading.cancel_all(list(queue.waiters))
        self.clock.forget_timers()
        self.store.clear()
        self.descriptors.clear()
        self.cursor_handles.clear()
        self.open_transactions.clear()
        self.open_reads.clear()
        self.message_bytes = self.journal_bytes = 0
        self.connected = True
        self.objects.forget()
        self.directory.forget()
        self.integration.forget()
        self.incoming.forget()
        self.coordination.forget()
        self.coordinator.forget()
        self.security.forget()
        self.certificates.forget()
        self.limit(DEFAULT_MESSAGE_QUOTA_KB, DEFAULT_JOURNAL_QUOTA_KB)
        self.queues.forget()

    def limit(self, message_quota_kb: int, journal_quota_kb: int) -> None:
        """Set the quotas. They are directory attributes, which survive a restart (3.1.1, 3.1.1.1)."""
        if message_quota_kb != self.message_quota_kb:
            self.store.set_counter("message_quota_kb", message_quota_kb)
        if journal_quota_kb != self.journal_quota_kb:
            self.store.set_counter("journal_quota_kb", journal_quota_kb)
        self.message_quota_kb, self.journal_quota_kb = message_quota_kb, journal_quota_kb

    def advance(self, by_ms: int) -> None:
        """Advance virtual time and run the timers that become due. Raises MqError beyond the year 9999."""
        if self.clock.now_ms() + by_ms > LAST_MS:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        self.clock.advance(by_ms)
        self.store.set_counter("clock_ms", self.clock.now_ms())

    def close(self) -> None:
        """Write pending changes and close the store."""
        self.store.close()

    def _clock_from_store(self) -> None:
        """Continue a virtual clock where the last process left it, so that time does not go back."""
        behind = self.store.counter("clock_ms", EPOCH_MS) - self.clock.now_ms()
        if self.clock.kind == "virtual" and behind > 0:
            self.clock.advance(behind)

    def _recover(self) -> None:
        """Restore queues, then messages. Uncommitted messages were never stored; locked ones are available.

        Whatever locked a message that was purged has ended with the process, so the purge is completed. What a prepared
        transaction of a coordinator holds stays as it was.
        """
        purged: list[Position] = []
        for queue_row in self.store.queues():
            self.queues.restore(queue_row)
        self.security.started()
        self.coordination.awaits()
        for row in self.store.messages():
            queue = self.queues.by_id(row.queue)
            if queue is None:
                self.store.drop_message(row.row)
                continue
            message = Message(row.fields, row.size, row.sent_ms, row.expires_ms, row.transactional, row.carried)
            position = Position(row.key, row.lookup, row.row, message, queue, row.arrival, State.AVAILABLE)
            if self.transfers.recover(position):
                continue
            self.delivery.account(queue, message.size)
            queue.positions.insert(position)
            self.delivery.start_timer(position)
            if not self.coordination.holds(position, purged=row.purged) and row.purged:
                purged.append(position)
        self.coordination.recovered()
        for position in purged:
            self.delivery.delete(position, Reason.PURGED)


def _of(table: dict[str, _Held], handle: Json, status: int) -> _Held:
    found = table.get(handle) if isinstance(handle, str) else None
    if found is None:
        raise MqError(status)
    return found
