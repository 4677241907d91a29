"""Faults of what is told of a queue, and of what the call refuses (MS-MQMQ 2.3.12, MS-MQMR 3.1.4.1)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management

Json = Any


@fault("missing-queue-has-properties", Management.get, "MQMR-3.1.4.1.unknown-queue")
def missing_queue_has_properties(plain, self, target, numbers):
    """The properties of a queue that is not there can be read; none has a value."""
    try:
        return plain(target, numbers)
    except MqError:
        if target["type"] == "queue" and self.manager.queues.managed(target["format_name"]) is None:
            return [{"vt": 1} for _ in numbers]
        raise


@fault(
    "unknown-properties-left-out", Management.check_numbers, "MQMR-3.1.4.1.machine-properties",
    "MQMR-3.1.4.1.queue-properties",
)  # fmt: skip
def unknown_properties_left_out(plain, self, numbers, table):
    """Properties that the target does not have are left out of the answer."""


@fault("session-told-as-machine", Management.get, "MQMR-3.1.4.1.session")
def session_told_as_machine(plain, self, target, numbers):
    """The properties of a session can be read; they are those of the machine."""
    return plain({"type": "machine"} if target["type"] == "session" else target, numbers)


@fault("values-by-number", Management.get, "MQMR-3.1.4.1.get")
def values_by_number(plain, self, target, numbers):
    """The values come in the order of their numbers, not in that of the question."""
    return plain(target, sorted(numbers))


@fault("message-count-with-journal", Management.message_count, "MQMQ-2.3.12.7.propid-mgmt-queue-message-count")
def message_count_with_journal(plain, self, queue):
    """The number of messages counts those in the journal too."""
    return plain(queue) + self.journal_message_count(queue)


@fault("message-count-up-to-three", Management.message_count, "MQMQ-2.3.12.7.propid-mgmt-queue-message-count")
def message_count_up_to_three(plain, self, queue):
    """The number of messages is never more than three."""
    return min(3, plain(queue))


@fault(
    "message-counts-signed", Management.value, "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count",
)  # fmt: skip
def message_counts_signed(plain, self, method, variant, *of):
    """The numbers of messages are told as VT_I4."""
    return plain(method, 3 if method.endswith("message_count") else variant, *of)


@fault(
    "queue-bytes-in-kilobytes", Management.bytes_in_queue, "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
    "MQDMPR-3.1.7.2.2.total-bytes",
)  # fmt: skip
def queue_bytes_in_kilobytes(plain, self, queue):
    """The bytes in a queue are told in kilobytes."""
    return plain(queue) // 1024


@fault(
    "journal-count-of-queue", Management.journal_message_count, "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count"
)
def journal_count_of_queue(plain, self, queue):
    """The number of messages in the journal is that of the queue."""
    return self.message_count(queue)


@fault("journal-bytes-of-queue", Management.bytes_in_journal, "MQMQ-2.3.12.10.propid-mgmt-queue-bytes-in-journal")
def journal_bytes_of_queue(plain, self, queue):
    """The bytes in the journal are those of the queue."""
    return self.bytes_in_queue(queue)


@fault("private-told-as-public", Management.queue_type, "MQMQ-2.3.12.3.mgmt-queue-type-private")
def private_told_as_public(plain, self, queue):
    """A private queue is told as a public one."""
    told = plain(queue)
    return "PUBLIC" if told == "PRIVATE" and queue.kind == "private" else told


@fault("public-told-as-private", Management.queue_type, "MQMQ-2.3.12.3.mgmt-queue-type-public")
def public_told_as_private(plain, self, queue):
    """A public queue is told as a private one."""
    told = plain(queue)
    return "PRIVATE" if told == "PUBLIC" and queue.kind == "public" else told


@fault(
    "machine-queues-told-as-system", Management.queue_type, "MQMQ-2.3.12.3.values",
    "MQMQ-2.3.12.3.mgmt-queue-type-machine",
)  # fmt: skip
def machine_queues_told_as_system(plain, self, queue):
    """The type of the queues of the machine is told as SYSTEM, which no type is."""
    return {"MACHINE": "SYSTEM"}.get(plain(queue), plain(queue))


@fault(
    "multicast-told-as-public", Management.queue_type, "MQMQ-2.3.12.3.mgmt-queue-type-multicast",
    "MQDMPR-3.1.1.3.multicast", "MQDMPR-3.1.7.1.5.outgoing-multicast",
)  # fmt: skip
def multicast_told_as_public(plain, self, queue):
    """An outgoing queue to a multicast address is told as a public queue."""
    return {"MULTICAST": "PUBLIC"}.get(plain(queue), plain(queue))


@fault("outgoing-told-as-local", Management.location, "MQMQ-2.3.12.4.mgmt-queue-remote-location")
def outgoing_told_as_local(plain, self, queue):
    """An outgoing queue is told as local."""
    return "LOCAL"


class _ThereWhenClosed(Management):
    def location(self, queue: Queue) -> str:
        return "LOCAL" if queue.descriptors else "REMOTE"


@fault("transactional-told-as-not", Management.transactional, "MQMQ-2.3.12.5.mgmt-queue-transactional-type")
def transactional_told_as_not(plain, self, queue):
    """A transactional queue is told as one that is not."""
    return {"YES": "NO"}.get(plain(queue), plain(queue))


@fault(
    "transactional-told-as-boolean", Management.transactional, "MQMQ-2.3.12.5.values",
    "MQMQ-2.3.12.5.mgmt-queue-transactional-type", "MQMQ-2.3.12.5.mgmt-queue-not-transactional-type",
)  # fmt: skip
def transactional_told_as_boolean(plain, self, queue):
    """Whether a queue is transactional is told as TRUE or FALSE."""
    return {"YES": "TRUE", "NO": "FALSE"}.get(plain(queue), "UNKNOWN")


@fault("transactional-told-as-foreign", Management.foreign, "MQMQ-2.3.12.6.mgmt-queue-not-foreign-type")
def transactional_told_as_foreign(plain, self, queue):
    """Transactional queues are told as foreign ones."""
    return "YES" if queue.transactional else plain(queue)


@fault("path-without-computer", Management.path_name, "MQMQ-2.3.12.1.propid-mgmt-queue-pathname")
def path_without_computer(plain, self, queue):
    """The path name of a queue lacks the computer."""
    told = plain(queue)
    return None if told is None else told.partition("\\")[2]


@fault("format-name-of-journal", Management.format_name, "MQMQ-2.3.12.2.propid-mgmt-queue-formatname")
def format_name_of_journal(plain, self, queue):
    """The format name told of a queue with journaling is that of its journal."""
    return plain(queue if queue.journal is None or not queue.journaling else queue.journal)


@fault("subqueue-count-with-queue", Management.subqueue_count, "MQMQ-2.3.12.26.propid-mgmt-queue-subqueue-count")
def subqueue_count_with_queue(plain, self, queue):
    """The number of subqueues counts the queue itself, once it has one."""
    return plain(queue) + bool(queue.subqueues)


@fault("subqueue-names-reversed", Management.subqueue_names, "MQMQ-2.3.12.27.propid-mgmt-queue-subqueue-names")
def subqueue_names_reversed(plain, self, queue):
    """The letters of the names of subqueues come in the reverse order."""
    return [name[::-1] for name in plain(queue)]
