"""Faults of what is told of a queue, and of what the call refuses (MS-MQMQ 2.3.12, MS-MQMR 3.1.4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.management import Management

Json = Any


class _AsIfThere(Management):
    def get(self, target: dict[str, Json], numbers: list[int]) -> list[Json]:
        try:
            return super().get(target, numbers)
        except MqError:
            if target["type"] == "queue" and self.manager.queues.managed(target["format_name"]) is None:
                return [{"vt": 1} for _ in numbers]
            raise


class MissingQueueHasProperties(Fault):
    """The properties of a queue that is not there can be read; none has a value."""

    name = "missing-queue-has-properties"
    breaks = ("MQMR-3.1.4.1.unknown-queue",)
    replaces = ("management", _AsIfThere)


class _Lenient(Management):
    def check_numbers(self, numbers: list[int], table: Mapping[int, tuple[str, int]]) -> None:
        return


class UnknownPropertiesLeftOut(Fault):
    """Properties that the target does not have are left out of the answer."""

    name = "unknown-properties-left-out"
    breaks = (
        "MQMR-3.1.4.1.machine-properties",
        "MQMR-3.1.4.1.queue-properties",
    )
    replaces = ("management", _Lenient)


class _Sessions(Management):
    def get(self, target: dict[str, Json], numbers: list[int]) -> list[Json]:
        return super().get({"type": "machine"} if target["type"] == "session" else target, numbers)


class SessionToldAsMachine(Fault):
    """The properties of a session can be read; they are those of the machine."""

    name = "session-told-as-machine"
    breaks = ("MQMR-3.1.4.1.session",)
    replaces = ("management", _Sessions)


class _Sorted(Management):
    def get(self, target: dict[str, Json], numbers: list[int]) -> list[Json]:
        return super().get(target, sorted(numbers))


class ValuesByNumber(Fault):
    """The values come in the order of their numbers, not in that of the question."""

    name = "values-by-number"
    breaks = ("MQMR-3.1.4.1.get",)
    replaces = ("management", _Sorted)


class _WithJournal(Management):
    def message_count(self, queue: Queue) -> int:
        return super().message_count(queue) + self.journal_message_count(queue)


class MessageCountWithJournal(Fault):
    """The number of messages counts those in the journal too."""

    name = "message-count-with-journal"
    breaks = ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",)
    replaces = ("management", _WithJournal)


class _Capped(Management):
    def message_count(self, queue: Queue) -> int:
        return min(3, super().message_count(queue))


class MessageCountUpToThree(Fault):
    """The number of messages is never more than three."""

    name = "message-count-up-to-three"
    breaks = ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",)
    replaces = ("management", _Capped)


class _Narrow(Management):
    def value(self, method: str, variant: int, *of: Queue) -> Json:
        return super().value(method, 3 if method.endswith("message_count") else variant, *of)


class MessageCountsSigned(Fault):
    """The numbers of messages are told as VT_I4."""

    name = "message-counts-signed"
    breaks = (
        "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
        "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count",
    )
    replaces = ("management", _Narrow)


class _OfThousands(Management):
    def bytes_in_queue(self, queue: Queue) -> int:
        return super().bytes_in_queue(queue) // 1024


class QueueBytesInKilobytes(Fault):
    """The bytes in a queue are told in kilobytes."""

    name = "queue-bytes-in-kilobytes"
    breaks = (
        "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
        "MQDMPR-3.1.7.2.2.total-bytes",
    )
    replaces = ("management", _OfThousands)


class _Wrong(Management):
    def journal_message_count(self, queue: Queue) -> int:
        return self.message_count(queue)


class JournalCountOfQueue(Fault):
    """The number of messages in the journal is that of the queue."""

    name = "journal-count-of-queue"
    breaks = ("MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count",)
    replaces = ("management", _Wrong)


class _Swapped(Management):
    def bytes_in_journal(self, queue: Queue) -> int:
        return self.bytes_in_queue(queue)


class JournalBytesOfQueue(Fault):
    """The bytes in the journal are those of the queue."""

    name = "journal-bytes-of-queue"
    breaks = ("MQMQ-2.3.12.10.propid-mgmt-queue-bytes-in-journal",)
    replaces = ("management", _Swapped)


class _Public(Management):
    def queue_type(self, queue: Queue) -> str:
        told = super().queue_type(queue)
        return "PUBLIC" if told == "PRIVATE" and queue.kind == "private" else told


class PrivateToldAsPublic(Fault):
    """A private queue is told as a public one."""

    name = "private-told-as-public"
    breaks = ("MQMQ-2.3.12.3.mgmt-queue-type-private",)
    replaces = ("management", _Public)


class _NoPublic(Management):
    def queue_type(self, queue: Queue) -> str:
        told = super().queue_type(queue)
        return "PRIVATE" if told == "PUBLIC" and queue.kind == "public" else told


class PublicToldAsPrivate(Fault):
    """A public queue is told as a private one."""

    name = "public-told-as-private"
    breaks = ("MQMQ-2.3.12.3.mgmt-queue-type-public",)
    replaces = ("management", _NoPublic)


class _System(Management):
    def queue_type(self, queue: Queue) -> str:
        return {"MACHINE": "SYSTEM"}.get(super().queue_type(queue), super().queue_type(queue))


class MachineQueuesToldAsSystem(Fault):
    """The type of the queues of the machine is told as SYSTEM, which no type is."""

    name = "machine-queues-told-as-system"
    breaks = (
        "MQMQ-2.3.12.3.values",
        "MQMQ-2.3.12.3.mgmt-queue-type-machine",
    )
    replaces = ("management", _System)


class _NoMulticast(Management):
    def queue_type(self, queue: Queue) -> str:
        return {"MULTICAST": "PUBLIC"}.get(super().queue_type(queue), super().queue_type(queue))


class MulticastToldAsPublic(Fault):
    """An outgoing queue to a multicast address is told as a public queue."""

    name = "multicast-told-as-public"
    breaks = (
        "MQMQ-2.3.12.3.mgmt-queue-type-multicast",
        "MQDMPR-3.1.1.3.multicast",
        "MQDMPR-3.1.7.1.5.outgoing-multicast",
    )
    replaces = ("management", _NoMulticast)


class _Here(Management):
    def location(self, queue: Queue) -> str:
        return "LOCAL"


class OutgoingToldAsLocal(Fault):
    """An outgoing queue is told as local."""

    name = "outgoing-told-as-local"
    breaks = ("MQMQ-2.3.12.4.mgmt-queue-remote-location",)
    replaces = ("management", _Here)


class _ThereWhenClosed(Management):
    def location(self, queue: Queue) -> str:
        return "LOCAL" if queue.descriptors else "REMOTE"


class _Plain(Management):
    def transactional(self, queue: Queue) -> str:
        return {"YES": "NO"}.get(super().transactional(queue), super().transactional(queue))


class TransactionalToldAsNot(Fault):
    """A transactional queue is told as one that is not."""

    name = "transactional-told-as-not"
    breaks = ("MQMQ-2.3.12.5.mgmt-queue-transactional-type",)
    replaces = ("management", _Plain)


class _Booleans(Management):
    def transactional(self, queue: Queue) -> str:
        return {"YES": "TRUE", "NO": "FALSE"}.get(super().transactional(queue), "UNKNOWN")


class TransactionalToldAsBoolean(Fault):
    """Whether a queue is transactional is told as TRUE or FALSE."""

    name = "transactional-told-as-boolean"
    breaks = (
        "MQMQ-2.3.12.5.values",
        "MQMQ-2.3.12.5.mgmt-queue-transactional-type",
        "MQMQ-2.3.12.5.mgmt-queue-not-transactional-type",
    )
    replaces = ("management", _Booleans)


class _Foreign(Management):
    def foreign(self, queue: Queue) -> str:
        return "YES" if queue.transactional else super().foreign(queue)


class TransactionalToldAsForeign(Fault):
    """Transactional queues are told as foreign ones."""

    name = "transactional-told-as-foreign"
    breaks = ("MQMQ-2.3.12.6.mgmt-queue-not-foreign-type",)
    replaces = ("management", _Foreign)


class _Bare(Management):
    def path_name(self, queue: Queue) -> str | None:
        told = super().path_name(queue)
        return None if told is None else told.partition("\\")[2]


class PathWithoutComputer(Fault):
    """The path name of a queue lacks the computer."""

    name = "path-without-computer"
    breaks = ("MQMQ-2.3.12.1.propid-mgmt-queue-pathname",)
    replaces = ("management", _Bare)


class _OfJournal(Management):
    def format_name(self, queue: Queue) -> str:
        return super().format_name(queue if queue.journal is None or not queue.journaling else queue.journal)


class FormatNameOfJournal(Fault):
    """The format name told of a queue with journaling is that of its journal."""

    name = "format-name-of-journal"
    breaks = ("MQMQ-2.3.12.2.propid-mgmt-queue-formatname",)
    replaces = ("management", _OfJournal)


class _Family(Management):
    def subqueue_count(self, queue: Queue) -> int:
        return super().subqueue_count(queue) + bool(queue.subqueues)


class SubqueueCountWithQueue(Fault):
    """The number of subqueues counts the queue itself, once it has one."""

    name = "subqueue-count-with-queue"
    breaks = ("MQMQ-2.3.12.26.propid-mgmt-queue-subqueue-count",)
    replaces = ("management", _Family)


class _Reversed(Management):
    def subqueue_names(self, queue: Queue) -> list[str]:
        return [name[::-1] for name in super().subqueue_names(queue)]


class SubqueueNamesReversed(Fault):
    """The letters of the names of subqueues come in the reverse order."""

    name = "subqueue-names-reversed"
    breaks = ("MQMQ-2.3.12.27.propid-mgmt-queue-subqueue-names",)
    replaces = ("management", _Reversed)
