"""Read management properties and perform management actions (MS-MQMR 3.1.4, MS-MQMQ 2.3.11, 2.3.12)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.security import GET_PROPERTIES, SET_PROPERTIES
from conformance.embedded.transfers import (
    CONNECTED,
    LOCKED,
    ON_HOLD,
    RESEND_SECONDS,
    WAITING,
    SequenceInfo,
    Transfer,
    unacknowledged,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
    MQ_ERROR_QUEUE_NOT_FOUND,
)
from conformance.spec.constants.properties import PROPERTIES

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
_VT = ENUMERATIONS["VARENUM"].members
_VECTOR = _VT["VT_VECTOR"]
MOST_NAMES = 150_000  # in one list; a reader of lines takes 200,000 values
MOST_TEXT = 7_000_000  # characters of one answer, which is one line of at most 8 MiB

MACHINE = MappingProxyType(
    {
        "PROPID_MGMT_MSMQ_ACTIVEQUEUES": "active_queues",
        "PROPID_MGMT_MSMQ_PRIVATEQ": "private_queues",
        "PROPID_MGMT_MSMQ_DSSERVER": "directory_server",
        "PROPID_MGMT_MSMQ_CONNECTED": "connected",
        "PROPID_MGMT_MSMQ_TYPE": "installation",
        "PROPID_MGMT_MSMQ_BYTES_IN_ALL_QUEUES": "bytes_in_all_queues",
    }
)
QUEUE = MappingProxyType(
    {
        "PROPID_MGMT_QUEUE_PATHNAME": "path_name",
        "PROPID_MGMT_QUEUE_FORMATNAME": "format_name",
        "PROPID_MGMT_QUEUE_TYPE": "queue_type",
        "PROPID_MGMT_QUEUE_LOCATION": "location",
        "PROPID_MGMT_QUEUE_XACT": "transactional",
        "PROPID_MGMT_QUEUE_FOREIGN": "foreign",
        "PROPID_MGMT_QUEUE_MESSAGE_COUNT": "message_count",
        "PROPID_MGMT_QUEUE_BYTES_IN_QUEUE": "bytes_in_queue",
        "PROPID_MGMT_QUEUE_JOURNAL_MESSAGE_COUNT": "journal_message_count",
        "PROPID_MGMT_QUEUE_BYTES_IN_JOURNAL": "bytes_in_journal",
        "PROPID_MGMT_QUEUE_STATE": "state",
        "PROPID_MGMT_QUEUE_NEXTHOPS": "next_hops",
        "PROPID_MGMT_QUEUE_EOD_LAST_ACK": "last_ack",
        "PROPID_MGMT_QUEUE_EOD_LAST_ACK_TIME": "last_ack_time",
        "PROPID_MGMT_QUEUE_EOD_LAST_ACK_COUNT": "last_ack_count",
        "PROPID_MGMT_QUEUE_EOD_FIRST_NON_ACK": "first_non_ack",
        "PROPID_MGMT_QUEUE_EOD_LAST_NON_ACK": "last_non_ack",
        "PROPID_MGMT_QUEUE_EOD_NEXT_SEQ": "next_seq",
        "PROPID_MGMT_QUEUE_EOD_NO_READ_COUNT": "no_read_count",
        "PROPID_MGMT_QUEUE_EOD_NO_ACK_COUNT": "no_ack_count",
        "PROPID_MGMT_QUEUE_EOD_RESEND_TIME": "resend_time",
        "PROPID_MGMT_QUEUE_EOD_RESEND_INTERVAL": "resend_interval",
        "PROPID_MGMT_QUEUE_EOD_RESEND_COUNT": "resend_count",
        "PROPID_MGMT_QUEUE_EOD_SOURCE_INFO": "source_info",
        "PROPID_MGMT_QUEUE_CONNECTION_HISTORY": "connection_history",
        "PROPID_MGMT_QUEUE_SUBQUEUE_COUNT": "subqueue_count",
        "PROPID_MGMT_QUEUE_SUBQUEUE_NAMES": "subqueue_names",
    }
)


def variant_type(name: str) -> int:
    """Return the variant type of a property as a number."""
    return sum(_VT[part.strip()] for part in PROPERTIES[name].variant_type.split("|"))


def _by_number(table: Mapping[str, str]) -> Mapping[int, tuple[str, int]]:
    return {PROPERTIES[name].value: (method, variant_type(name)) for name, method in table.items()}


_TABLES = {"machine": _by_number(MACHINE), "queue": _by_number(QUEUE)}
_ACTIONS = {
    "machine": frozenset({"CONNECT", "DISCONNECT", "TIDY"}),
    "queue": frozenset({"PAUSE", "RESUME", "EOD_RESEND"}),
}


class Management:
    """Answers an administrator. A method for each property returns its value, None for VT_NULL."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def get(self, target: dict[str, Json], numbers: list[int]) -> list[Json]:
        """R_QMMgmtGetInfo (MS-MQMR 3.1.4.1).

        Raises MqError for a session, an unknown property or queue, and if the answer would not fit into one line.
        """
        table = _TABLES.get(target["type"])
        if table is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        of = () if target["type"] == "machine" else (self.designated(target),)
        if not of:
            self.manager.security.need_of_machine(GET_PROPERTIES)
        self.check_numbers(numbers, table)
        values = [self.value(*table[number], *of) for number in numbers if number in table]
        if len(json.dumps(values)) > MOST_TEXT:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return values

    def check_numbers(self, numbers: list[int], table: Mapping[int, tuple[str, int]]) -> None:
        """Raise MqError for a number that is no property of the target."""
        if any(number not in table for number in numbers):
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)

    def value(self, method: str, variant: int, *of: Queue) -> Json:
        """Return one property as a variant."""
        value = getattr(self, method)(*of)
        if value is None:
            return {"vt": _VT["VT_NULL"]}
        return {"vt": variant, "value": value}

    def act(self, target: dict[str, Json], action: str) -> None:
        """R_QMMgmtAction (MS-MQMR 3.1.4.2). Raises MqError for an action that the target does not have."""
        action = action.upper()
        if action not in _ACTIONS.get(target["type"], ()):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        if target["type"] == "machine":
            self.manager.security.need_of_machine(SET_PROPERTIES)
            self.act_on_machine(action)
        else:
            self.act_on_queue(self.manager.queues.outgoing(self.name_in(target)), action)

    def act_on_machine(self, action: str) -> None:
        """Perform an action of the machine. Tidying gives back disk space, which this store does by itself."""
        if action != "TIDY":
            self.manager.connected = action == "CONNECT"

    def act_on_queue(self, queue: Queue, action: str) -> None:
        """Perform an action of an outgoing queue."""
        if action == "PAUSE":
            self.manager.outgoing.hold(queue)
        elif action == "RESUME":
            self.manager.outgoing.let_go(queue)
        else:
            self.manager.transfers.resend(queue)

    def name_in(self, target: dict[str, Json]) -> str:
        """Return the format name of a target. Raises MqError if it has none."""
        name = target.get("format_name")
        if not isinstance(name, str):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return name

    def designated(self, target: dict[str, Json]) -> Queue:
        """Return the queue of a target, local or outgoing. Raises MqError if there is none."""
        name = self.name_in(target)
        queue = self.manager.queues.managed(name)
        if queue is None:
            raise MqError(
                MQ_ERROR_QUEUE_NOT_FOUND if self.manager.queues.names_local(name) else MQ_ERROR_QUEUE_NOT_ACTIVE
            )
        return queue

    # Properties of the machine.

    def active_queues(self) -> list[str]:
        """Name the outgoing queues with messages and the queues that are open (Active, MS-MQDMPR 3.1.1.2)."""
        return bounded(self.manager.queues.direct_name(queue) for queue in self.manager.queues.active())

    def private_queues(self) -> list[str]:
        """Name the private queues by their paths."""
        return bounded(queue.path for queue in self.manager.queues.private())

    def directory_server(self) -> str | None:
        """Name the directory server, if the manager has a directory."""
        server = self.manager.directory.server
        return None if server is None else f"\\\\{server}"

    def connected(self) -> str:
        """Tell ConnectionActive."""
        return "CONNECTED" if self.manager.connected else "DISCONNECTED"

    def installation(self) -> str:
        """Tell version and build."""
        return f"embedded {self.manager.profile}"

    def bytes_in_all_queues(self) -> str:
        """Sum up the bytes of all queues."""
        return str(self.manager.message_bytes + self.manager.journal_bytes)

    # Properties of every queue.

    def path_name(self, queue: Queue) -> str | None:
        """Tell the path; an outgoing queue has none."""
        return None if queue.kind == "outgoing" else queue.path

    def format_name(self, queue: Queue) -> str:
        """Tell the format name."""
        return self.manager.queues.direct_name(queue)

    def queue_type(self, queue: Queue) -> str:
        """Tell the type; of an outgoing queue, that of its destination."""
        if queue.kind == "outgoing":
            if self.is_multicast(queue):
                return "MULTICAST"
            name = self.manager.names.format_name(queue.path)
            return "PRIVATE" if "private" in (name.kind, name.parts.get("scope")) else "PUBLIC"
        owner = queue.parent or queue
        return {"private": "PRIVATE", "public": "PUBLIC"}.get(owner.kind, "MACHINE")

    def is_multicast(self, queue: Queue) -> bool:
        """Return true for an outgoing queue to a multicast address."""
        return queue.kind == "outgoing" and self.manager.names.format_name(queue.path).kind == "multicast"

    def location(self, queue: Queue) -> str:
        """Tell where the queue is."""
        return "REMOTE" if queue.kind == "outgoing" else "LOCAL"

    def transactional(self, queue: Queue) -> str:
        """Tell whether the queue is transactional; nothing makes an outgoing queue one (MS-MQDMPR 3.1.7.1.5)."""
        return "YES" if queue.transactional else "NO"

    def foreign(self, queue: Queue) -> str:
        """Tell whether the queue is a foreign one: every queue of a foreign system is, and nobody knows offline.

        Of a private queue it is known that it is none (MS-MQMR 3.1.4.1).
        """
        integration = self.manager.integration
        if integration.offline:
            return "NO" if self.queue_type(queue) == "PRIVATE" else "UNKNOWN"
        return "YES" if integration.own()["foreign_system"] else "NO"

    def message_count(self, queue: Queue) -> int:
        """Count the messages, locked ones included."""
        return len(queue.positions)

    def bytes_in_queue(self, queue: Queue) -> int:
        """Tell TotalBytes."""
        return queue.bytes

    def journal_message_count(self, queue: Queue) -> int:
        """Count the messages of the journal."""
        return 0 if queue.journal is None else len(queue.journal.positions)

    def bytes_in_journal(self, queue: Queue) -> int:
        """Tell TotalBytes of the journal while journaling is on, else 0 (MS-MQMR 3.1.4.1)."""
        return self.journal_bytes(queue) if queue.journaling else 0

    def journal_bytes(self, queue: Queue) -> int:
        """Return TotalBytes of the journal; 0 if the queue has none."""
        return 0 if queue.journal is None else queue.journal.bytes

    def subqueue_count(self, queue: Queue) -> int:
        """Count the subqueues."""
        return len(queue.subqueues)

    def subqueue_names(self, queue: Queue) -> list[str]:
        """Name the subqueues."""
        return [subqueue.path.rpartition(";")[2] for subqueue in queue.subqueues.values()]

    def source_info(self, queue: Queue) -> list[Json] | None:
        """Tell the transactional sequences that other managers sent to the queue."""
        return None if queue.kind == "outgoing" else self.manager.incoming.told(queue)

    # Properties of the transfer out of an outgoing queue.

    def of(self, queue: Queue) -> Transfer | None:
        """Return the transfer out of a queue; None for a local queue."""
        return self.manager.transfers.of(queue) if queue.kind == "outgoing" else None

    def state(self, queue: Queue) -> str:
        """Tell the state of the connection."""
        if queue.kind != "outgoing":
            return "LOCAL CONNECTION"
        if self.manager.outgoing.on_hold(queue):
            return ON_HOLD
        return LOCKED if queue.locked else self.manager.transfers.of(queue).state

    def next_hops(self, queue: Queue) -> list[str] | None:
        """Tell the address of the next hop, or the addresses it can have while a connection is sought.

        Of a multicast queue that is connected, its own name (MS-MQMR 3.1.4.1).
        """
        transfer, state = self.of(queue), self.state(queue)
        if transfer is None or state not in (CONNECTED, WAITING):
            return None
        if state == CONNECTED and self.is_multicast(queue):
            return [self.format_name(queue)]
        return list(transfer.hops)

    def last_ack(self, queue: Queue) -> str | None:
        """Tell the place of the newest message with an order acknowledgment, while another is awaited."""
        return self.newest_ack(queue) if self.no_ack_count(queue) else None

    def newest_ack(self, queue: Queue) -> str | None:
        """Return the place of the newest message with an order acknowledgment."""
        transfer = self.of(queue)
        return None if transfer is None else packed(transfer.last_ack)

    def last_ack_time(self, queue: Queue) -> int | None:
        """Tell when the last order acknowledgment came."""
        transfer = self.of(queue)
        return None if transfer is None else transfer.last_ack_time

    def last_ack_count(self, queue: Queue) -> int | None:
        """Tell how often the last order acknowledgment has come."""
        transfer = self.of(queue)
        return None if transfer is None else transfer.last_ack_count

    def waiting(self, queue: Queue) -> list[SequenceInfo] | None:
        """Return the places of the messages that were sent and have no order acknowledgment; None for a local queue."""
        transfer = self.of(queue)
        if transfer is None:
            return None
        return [place for number in unacknowledged(transfer) if (place := transfer.numbered[number][1].place)]

    def first_non_ack(self, queue: Queue) -> str | None:
        """Tell the place of the oldest message without an order acknowledgment."""
        waiting = self.waiting(queue)
        return packed(waiting[0]) if waiting else None

    def last_non_ack(self, queue: Queue) -> str | None:
        """Tell the place of the newest message without an order acknowledgment."""
        waiting = self.waiting(queue)
        return packed(waiting[-1]) if waiting else None

    def next_seq(self, queue: Queue) -> str | None:
        """Tell the place of the message to be sent next."""
        transfer = self.of(queue)
        return None if transfer is None else packed(self.manager.transfers.next_place(transfer))

    def no_read_count(self, queue: Queue) -> int | None:
        """Count the messages that await their final acknowledgment."""
        transfer = self.of(queue)
        return None if transfer is None else len(transfer.unread)

    def no_ack_count(self, queue: Queue) -> int | None:
        """Count the messages that were sent and have no order acknowledgment."""
        waiting = self.waiting(queue)
        return None if waiting is None else len(waiting)

    def resend_time(self, queue: Queue) -> int | None:
        """Tell when messages will be sent again; 0 if none will."""
        transfer = self.of(queue)
        return None if transfer is None else transfer.resend_time

    def resend_interval(self, queue: Queue) -> int | None:
        """Tell how many seconds an order acknowledgment is waited for."""
        transfer = self.of(queue)
        return None if transfer is None else RESEND_SECONDS[transfer.resend_index]

    def resend_count(self, queue: Queue) -> int | None:
        """Tell how often the last message was sent."""
        transfer = self.of(queue)
        return None if transfer is None else transfer.last_times

    def connection_history(self, queue: Queue) -> list[Json] | None:
        """Tell the attempts to connect: status, time, error and addresses, a vector each."""
        transfer = self.of(queue)
        if transfer is None:
            return None
        history = transfer.history
        return [
            vector("VT_UI4", [each.status for each in history]),
            vector("VT_I4", [each.time for each in history]),
            vector("VT_I4", [signed(each.error) for each in history]),
            vector("VT_VARIANT", [vector("VT_LPWSTR", list(each.addresses)) for each in history]),
        ]


def vector(variant: str, values: list[Json]) -> Json:
    """Return a vector of this variant type."""
    return {"vt": _VT[variant] | _VECTOR, "value": values}


def signed(number: int) -> int:
    """Return an unsigned number of 32 bits as a signed one."""
    return number - (1 << 32) if number >> 31 else number


def packed(place: SequenceInfo | None) -> str | None:
    """Return a place in a sequence as the base64 of its bytes."""
    return None if place is None else base64.b64encode(place.packed()).decode("ascii")


def bounded(names: Iterable[str]) -> list[str]:
    """Return the names. Raises MqError if they are too many for one answer."""
    found = list(islice(names, MOST_NAMES + 1))
    if len(found) > MOST_NAMES:
        raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
    return found
