"""Faults of what the management tells of the computer, of sequences, of queues and of outgoing queues."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management, packed
from conformance.embedded.packet_reading import IncomingTransfers
from conformance.embedded.queues import Queues
from conformance.embedded.transfers import CONNECTED, DISCONNECTED, RECEIVED, WAITING, Outgoing, SequenceInfo, Transfers

Json = Any


@fault("open-queues-inactive", Queues.active, "MQDMPR-3.1.1.2.active", "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues")
def open_queues_inactive(plain, self):
    """Queues of this computer that are open are missing among the active ones."""
    return [queue for queue in plain() if queue.kind == "outgoing"]


@fault(
    "filled-outgoing-inactive", Queues.active, "MQDMPR-3.1.1.2.active-outgoing",
    "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues",
)  # fmt: skip
def filled_outgoing_inactive(plain, self):
    """An outgoing queue with messages that nobody has open is missing among the active ones."""
    return [queue for queue in plain() if queue.kind != "outgoing" or queue.descriptors]


@fault(
    "closed-queues-active", Queues.active, "MQDMPR-3.1.1.2.inactive", "MQDMPR-3.1.1.2.active",
    "MQDMPR-3.1.7.1.3.inactive",
)  # fmt: skip
def closed_queues_active(plain, self):
    """Private queues that nobody has open are told as active."""
    active = plain()
    return [*active, *(queue for queue in self.private() if queue not in active)]


@fault(
    "active-queues-by-path", Management.active_queues, "MQMQ-2.3.11.1.format-names",
    "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues",
)  # fmt: skip
def active_queues_by_path(plain, self):
    """The active queues are told by their path names."""
    return [name.removeprefix("DIRECT=OS:") for name in plain()]


@fault("private-queues-open-only", Management.private_queues, "MQMQ-2.3.11.2.propid-mgmt-msmq-privateq")
def private_queues_open_only(plain, self):
    """Only the private queues that are open are listed."""
    return [queue.path for queue in self.manager.queues.private() if queue.descriptors]


@fault("private-queues-with-public", Management.private_queues, "MQMQ-2.3.11.2.propid-mgmt-msmq-privateq")
def private_queues_with_public(plain, self):
    """Public queues are listed among the private ones."""
    kinds = ("private", "public")
    return [queue.path for queue in self.manager.queues.all() if queue.kind in kinds]


@fault(
    "disconnect-ignored", Management.act_on_machine, "MQDMPR-3.1.4.12.disconnected",
    "MQDMPR-3.1.1.1.connection-active", "MQMQ-2.3.11.4.msmq-disconnected",
)  # fmt: skip
def disconnect_ignored(plain, self, action):
    """A machine that was taken offline is connected."""
    if action != "DISCONNECT":
        plain(action)


@fault(
    "connect-ignored", Management.act_on_machine, "MQDMPR-3.1.4.13.connected", "MQDMPR-3.1.1.1.connection-active",
    "MQMQ-2.3.11.4.msmq-connected",
)  # fmt: skip
def connect_ignored(plain, self, action):
    """A machine that was brought online again is disconnected."""
    if action != "CONNECT":
        plain(action)


@fault(
    "disconnected-told-as-offline", Management.connected, "MQMQ-2.3.11.4.values", "MQMQ-2.3.11.4.msmq-disconnected",
    "MQDMPR-3.1.4.12.disconnected",
)  # fmt: skip
def disconnected_told_as_offline(plain, self):
    """The text for a machine that is not connected is OFFLINE."""
    return {"DISCONNECTED": "OFFLINE"}.get(plain(), "CONNECTED")


@fault(
    "all-bytes-without-outgoing", Management.bytes_in_all_queues, "MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues"
)
def all_bytes_without_outgoing(plain, self):
    """The bytes of all queues are those of the queues of this computer only."""
    away = sum(queue.bytes for queue in self.manager.queues.all() if queue.kind == "outgoing")
    return str(int(plain()) - away)


@fault("all-bytes-never-fall", "management", "MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues")
class AllBytesNeverFall(Management):
    """The bytes of all queues do not become less when messages leave their queues."""

    _most = 0

    def bytes_in_all_queues(self) -> str:
        self._most = max(self._most, int(super().bytes_in_all_queues()))
        return str(self._most)


@fault("all-bytes-of-four-bytes", Management.value, "MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues")
def all_bytes_of_four_bytes(plain, self, method, variant, *of):
    """The bytes of all queues are told as VT_UI4."""
    told = plain(method, variant, *of)
    return {"vt": 19, "value": int(told["value"])} if method == "bytes_in_all_queues" else told


@fault("small-letters-refused", Management.act, "MQMR-3.1.4.2.any-case")
def small_letters_refused(plain, self, target, action):
    """Actions in small letters are refused."""
    plain(target, action if action.isupper() else f"{action} in small letters")


@fault("unknown-actions-accepted", Management.act, "MQMR-3.1.4.2.unknown-action")
def unknown_actions_accepted(plain, self, target, action):
    """An action that is none is answered with success."""
    known = ("CONNECT", "DISCONNECT", "TIDY", "PAUSE", "RESUME", "EOD_RESEND")
    if action.upper() in known:
        plain(target, action)


@fault("tidy-loses-messages", Management.act_on_machine, "MQMR-3.1.4.2.tidy")
def tidy_loses_messages(plain, self, action):
    """Tidying the machine removes messages."""
    plain(action)
    if action == "TIDY":
        for queue in self.manager.queues.all():
            for position in queue.positions:
                self.manager.queues.purge_position(position)


@fault("machine-pauses-all", Management.act, "MQMR-3.1.4.2.kind-of-target", "MQDMPR-3.1.4.14.paused-queue")
def machine_pauses_all(plain, self, target, action):
    """Pausing the machine is accepted, and pauses every outgoing queue."""
    if target["type"] == "machine" and action.upper() in ("PAUSE", "RESUME"):
        for queue in self.manager.queues.all():
            if queue.kind == "outgoing":
                self.act_on_queue(queue, action.upper())
    else:
        plain(target, action)


@fault("local-pause-accepted", Management.act, "MQMR-3.1.4.2.outgoing-only")
def local_pause_accepted(plain, self, target, action):
    """Pausing a queue of this computer is answered with success, and does nothing."""
    try:
        plain(target, action)
    except MqError:
        queue = self.manager.queues.managed(target["format_name"]) if target["type"] == "queue" else None
        if queue is None or action.upper() not in ("PAUSE", "RESUME", "EOD_RESEND"):
            raise


@fault(
    "actions-on-missing-accepted", Management.act, "MQMR-3.1.4.2.unknown-queue", "MQMR-3.1.4.2.unknown-action",
    "MQMR-3.1.4.2.kind-of-target",
)  # fmt: skip
def actions_on_missing_accepted(plain, self, target, action):
    """Any action on a queue that is not there is answered with success."""
    try:
        plain(target, action)
    except MqError:
        if target["type"] != "queue" or self.manager.queues.managed(target["format_name"]) is not None:
            raise


@fault("session-actions-accepted", Management.act, "MQMR-3.1.4.2.session")
def session_actions_accepted(plain, self, target, action):
    """An action on a session is answered with success."""
    if target["type"] != "session":
        plain(target, action)


@fault(
    "last-ack-ahead", Management.last_ack, "MQDMPR-3.1.1.4.eod-last-ack",
    "MQMQ-2.3.12.13.propid-mgmt-queue-eod-last-ack",
)  # fmt: skip
def last_ack_ahead(plain, self, queue):
    """The last place acknowledged is told as the one behind it."""
    transfer = self.of(queue)
    last = None if transfer is None else transfer.last_ack
    return packed(last and SequenceInfo(last.ordinal, last.timestamp, last.number + 1, last.number))


@fault(
    "last-ack-time-of-first", Transfers.ordered, "MQDMPR-3.1.1.4.eod-last-ack-time",
    "MQMQ-2.3.12.14.propid-mgmt-queue-eod-last-ack-time",
)  # fmt: skip
def last_ack_time_of_first(plain, self, queue, transfer, number):
    """The time of the last order acknowledgment is that of the first."""
    before = transfer.last_ack_time
    plain(queue, transfer, number)
    transfer.last_ack_time = before or transfer.last_ack_time


@fault(
    "repeated-acks-not-counted", Transfers.count_order, "MQDMPR-3.1.1.4.eod-last-ack-count",
    "MQMQ-2.3.12.15.propid-mgmt-queue-eod-last-ack-count",
)  # fmt: skip
def repeated_acks_not_counted(plain, self, transfer, number):
    """An order acknowledgment that comes again is not counted."""
    plain(transfer, number)
    transfer.last_ack_count = min(1, transfer.last_ack_count)


@fault(
    "first-non-ack-is-last", Management.first_non_ack, "MQDMPR-3.1.1.4.eod-first-non-ack",
    "MQMQ-2.3.12.16.propid-mgmt-queue-eod-first-non-ack",
)  # fmt: skip
def first_non_ack_is_last(plain, self, queue):
    """The oldest message without order acknowledgment is told as the newest."""
    return self.last_non_ack(queue)


@fault(
    "last-non-ack-is-first", Management.last_non_ack, "MQDMPR-3.1.1.4.eod-last-non-ack",
    "MQMQ-2.3.12.17.propid-mgmt-queue-eod-last-non-ack",
)  # fmt: skip
def last_non_ack_is_first(plain, self, queue):
    """The newest message without order acknowledgment is told as the oldest."""
    return self.first_non_ack(queue)


@fault(
    "next-seq-behind", Management.next_seq, "MQDMPR-3.1.1.4.eod-next-seq",
    "MQMQ-2.3.12.18.propid-mgmt-queue-eod-next-seq",
)  # fmt: skip
def next_seq_behind(plain, self, queue):
    """The place of the next message is told as that of the last one sent."""
    transfer = self.of(queue)
    if transfer is None:
        return None
    ahead = self.manager.transfers.next_place(transfer)
    last = max(1, ahead.number - 1)
    return packed(SequenceInfo(ahead.ordinal, ahead.timestamp, last, last - 1))


@fault("sequence-never-ends", Transfers.new_sequence, "MQDMPR-3.1.1.4.eod-next-seq", "MQQB-3.1.1.5.next-sequence")
def sequence_never_ends(plain, self, transfer):
    """A sequence goes on after all of it was acknowledged."""


@fault(
    "no-read-count-of-unacknowledged", Management.no_read_count, "MQDMPR-3.1.1.4.eod-no-read-count",
    "MQMQ-2.3.12.19.propid-mgmt-queue-eod-no-read-count",
)  # fmt: skip
def no_read_count_of_unacknowledged(plain, self, queue):
    """The messages that await their final acknowledgment are told as many as await their order acknowledgment."""
    return self.no_ack_count(queue)


@fault(
    "no-read-count-never-falls", Transfers.final, "MQDMPR-3.1.1.4.eod-no-read-count",
    "MQDMPR-3.1.1.12.positive-journaling",
)  # fmt: skip
def no_read_count_never_falls(plain, self, transfer, identifier, message_class):
    """A final acknowledgment does not lower the number of messages that await one."""
    before = dict(transfer.unread)
    plain(transfer, identifier, message_class)
    transfer.unread.update(before)


@fault(
    "no-ack-count-of-unsent", Management.no_ack_count, "MQDMPR-3.1.1.4.eod-no-ack-count",
    "MQMQ-2.3.12.20.propid-mgmt-queue-eod-no-ack-count",
)  # fmt: skip
def no_ack_count_of_unsent(plain, self, queue):
    """Messages that were not sent yet count as sent without order acknowledgment."""
    return None if plain(queue) is None else self.message_count(queue)


@fault(
    "order-ack-of-one", Transfers.ordered, "MQDMPR-3.1.1.4.eod-no-ack-count", "MQDMPR-3.1.1.4.eod-first-non-ack",
    first_seen_as=("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",),
    because="What does not leave the queue in time is counted among its messages at once.",
)  # fmt: skip
def order_ack_of_one(plain, self, queue, transfer, number):
    """An order acknowledgment is taken for the message of its number alone, not for those before it."""
    lower = {each: kept for each, kept in transfer.numbered.items() if each < number}
    for each in lower:
        del transfer.numbered[each]
    plain(queue, transfer, number)
    transfer.numbered = dict(sorted({**transfer.numbered, **lower}.items()))


@fault(
    "order-ack-of-all", Transfers.ordered, "MQDMPR-3.1.1.4.eod-no-ack-count", "MQDMPR-3.1.1.4.eod-last-ack",
    "MQDMPR-3.1.1.4.eod-first-non-ack", "MQDMPR-3.1.1.4.eod-last-non-ack", "MQQB-3.1.1.6.2.retained",
    first_seen_as=("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",),
    because="What leaves the queue too early is missing in the number of its messages at once.",
)  # fmt: skip
def order_ack_of_all(plain, self, queue, transfer, number):
    """An order acknowledgment is taken for every message that was sent."""
    plain(queue, transfer, max(transfer.numbered, default=number))


@fault(
    "resend-time-in-an-hour", Transfers.sent, "MQDMPR-3.1.1.4.eod-resend-time", "MQDMPR-3.1.1.4.eod-resend-interval",
    "MQMQ-2.3.12.21.propid-mgmt-queue-eod-resend-time",
)  # fmt: skip
def resend_time_in_an_hour(plain, self, queue, transfer, position, sent):
    """Messages are sent again after an hour, and that time is told beside the interval of half a minute."""
    plain(queue, transfer, position, sent)
    if sent.place is not None:
        transfer.resend_time = self.manager.clock.now_ms() // 1000 + 3_600


@fault(
    "resend-interval-in-milliseconds", Management.resend_interval, "MQDMPR-3.1.1.4.eod-resend-interval",
    "MQMQ-2.3.12.22.propid-mgmt-queue-eod-resend-interval",
)  # fmt: skip
def resend_interval_in_milliseconds(plain, self, queue):
    """The resend interval is told in milliseconds."""
    told = plain(queue)
    return None if told is None else told * 1000


@fault(
    "resend-count-of-all", Transfers.sent, "MQDMPR-3.1.1.4.eod-resend-count",
    "MQMQ-2.3.12.23.propid-mgmt-queue-eod-resend-count",
)  # fmt: skip
def resend_count_of_all(plain, self, queue, transfer, position, sent):
    """The number of times that the last message was sent counts every message that was sent."""
    before = transfer.last_times
    plain(queue, transfer, position, sent)
    transfer.last_times = before + (sent.place is not None)


@fault(
    "never-sent-again", Transfers.resend, "MQMR-3.1.4.2.eod-resend", "MQDMPR-3.1.1.4.eod-resend-time",
    "MQDMPR-3.1.1.4.eod-resend-interval",
)  # fmt: skip
def never_sent_again(plain, self, queue):
    """Transactional messages without order acknowledgment are not sent again, neither in time nor on demand."""


@fault(
    "sent-again-with-new-numbers", Transfers.give_back, "MQMR-3.1.4.2.eod-resend", "MQQB-3.1.7.1.3.resent-number",
    "MQDMPR-3.1.1.4.eod-next-seq",
)  # fmt: skip
def sent_again_with_new_numbers(plain, self, transfer, position, sent):
    """A transactional message that is sent again gets a new number."""
    plain(transfer, position, sent)
    carried = position.message.carried or {}
    if sent.place is not None and "place" in carried:
        transfer.numbered.pop(sent.place.number, None)
        position.message.carried = {name: value for name, value in carried.items() if name != "place"}


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


@fault("transactional-told-as-not", Management.transactional, "MQMQ-2.3.12.5.mgmt-queue-transactional-type")
def transactional_told_as_not(plain, self, queue):
    """A transactional queue is told as one that is not."""
    return {"YES": "NO"}.get(plain(queue), plain(queue))


@fault(
    "transactional-told-as-boolean", Management.transactional, "MQMQ-2.3.12.5.values",
    "MQMQ-2.3.12.5.mgmt-queue-transactional-type", "MQMQ-2.3.12.5.mgmt-queue-not-transactional-type",
)  # fmt: skip
def transactional_told_as_boolean(plain, self, queue):
    """The property of a transactional queue is a boolean, TRUE or FALSE."""
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


class _OtherWords(Management):
    words: ClassVar[dict[str, str]] = {}

    def state(self, queue: Queue) -> str:
        told = super().state(queue)
        return self.words.get(told, told)


@fault(
    "inactive-told-as-local", "management", "MQMQ-2.3.12.11.mgmt-queue-state-nonactive",
    "MQDMPR-3.1.1.3.state-inactive", "MQDMPR-3.1.7.1.5.outgoing-inactive", "MQDMPR-3.1.7.2.4.inactive",
)  # fmt: skip
class InactiveToldAsLocal(_OtherWords):
    """An outgoing queue without a connection is told as a local one."""

    words: ClassVar[dict[str, str]] = {"INACTIVE": "LOCAL CONNECTION"}


@fault(
    "hold-in-two-words", "management", "MQMQ-2.3.12.11.values", "MQMQ-2.3.12.11.mgmt-queue-state-onhold",
    "MQDMPR-3.1.1.3.state-on-hold",
)  # fmt: skip
class HoldInTwoWords(_OtherWords):
    """The state of a paused queue is told as ON HOLD."""

    words: ClassVar[dict[str, str]] = {"ONHOLD": "ON HOLD"}


@fault("local-connection-in-one-word", "management", "MQMQ-2.3.12.11.values", "MQMQ-2.3.12.11.mgmt-queue-state-local")
class LocalConnectionInOneWord(_OtherWords):
    """The state of a queue of this computer is told as LOCAL."""

    words: ClassVar[dict[str, str]] = {"LOCAL CONNECTION": "LOCAL"}


@fault(
    "waiting-told-as-connected", Transfers.seek, "MQDMPR-3.1.1.3.state-waiting", "MQDMPR-3.1.1.3.state-connected",
    "MQMQ-2.3.12.11.mgmt-queue-state-waiting",
)  # fmt: skip
def waiting_told_as_connected(plain, self, transfer):
    """While a connection is sought, the state is that of a connection."""
    plain(transfer)
    transfer.state = CONNECTED


@fault(
    "connected-told-as-waiting", Transfers.establish, "MQDMPR-3.1.1.3.state-connected", "MQDMPR-3.1.1.3.state-waiting",
    "MQMQ-2.3.12.11.mgmt-queue-state-connected",
)  # fmt: skip
def connected_told_as_waiting(plain, self, transfer):
    """A queue whose connection stands is told to wait for it, and transfers nothing."""
    plain(transfer)
    transfer.state = WAITING


@fault(
    "disconnecting-skipped", Transfers.step, "MQDMPR-3.1.1.3.state-disconnecting",
    "MQMQ-2.3.12.11.mgmt-queue-state-disconnecting",
)  # fmt: skip
def disconnecting_skipped(plain, self, queue, step, addresses, error):
    """A connection that is being closed is told as closed."""
    plain(queue, step, addresses, error)
    if step == "closing":
        self.of(queue).state = DISCONNECTED


@fault(
    "closed-connection-unnoticed", Transfers.step, "MQDMPR-3.1.1.3.state-disconnected",
    "MQMQ-2.3.12.11.mgmt-queue-state-disconnected",
)  # fmt: skip
def closed_connection_unnoticed(plain, self, queue, step, addresses, error):
    """The state does not change when the connection is closed."""
    state = self.of(queue).state
    plain(queue, step, addresses, error)
    if step == "closed":
        self.of(queue).state = state


@fault(
    "validation-never-needed", Transfers.step, "MQDMPR-3.1.1.3.state-need-validation",
    "MQMQ-2.3.12.11.mgmt-queue-state-need-validate",
)  # fmt: skip
def validation_never_needed(plain, self, queue, step, addresses, error):
    """The state does not change when the address of a destination is not found."""
    state = self.of(queue).state
    plain(queue, step, addresses, error)
    if step in ("dns_failure", "routing_data_not_available"):
        self.of(queue).state = state


@fault(
    "resume-restores-state", Transfers.resumed, "MQDMPR-3.1.7.2.4.inactive", "MQDMPR-3.1.4.15.resumes",
    "MQDMPR-3.1.1.3.state-inactive",
)  # fmt: skip
def resume_restores_state(plain, self, queue):
    """A queue that is resumed has the state that it had before it was paused."""


@fault(
    "connection-ends-hold", Transfers.step, "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.1.3.state-on-hold",
    "MQDMPR-3.1.4.14.pauses",
)  # fmt: skip
def connection_ends_hold(plain, self, queue, step, addresses, error):
    """A paused queue is on hold no more once its connection stands."""
    plain(queue, step, addresses, error)
    if step == "established":
        queue.paused = False


@fault(
    "connected-not-paused", Outgoing.on_hold, "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.14.pauses",
    "MQDMPR-3.1.1.3.state-on-hold",
)  # fmt: skip
def connected_not_paused(plain, self, queue):
    """A queue that is connected cannot be paused: the action succeeds and changes nothing."""
    return plain(queue) and (queue.transfer is None or queue.transfer.state != CONNECTED)


@fault(
    "next-hops-without-prefix", Management.next_hops, "MQMQ-2.3.12.12.address-rule", "MQMQ-2.3.12.12.ip-addr-rule",
    "MQMQ-2.3.12.12.ipv6-addr-rule", "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
)  # fmt: skip
def next_hops_without_prefix(plain, self, queue):
    """The next hops are addresses without a word for their kind."""
    told = plain(queue)
    return None if told is None else [each.partition("=")[2] for each in told]


@fault("one-next-hop-only", Transfers.seek, "MQDMPR-3.1.1.3.next-hops", "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops")
def one_next_hop_only(plain, self, transfer):
    """While a connection is sought, only the first of the possible addresses is told."""
    plain(transfer)
    del transfer.hops[1:]


@fault(
    "next-hops-of-first-connection", Transfers.seek, "MQDMPR-3.1.1.3.next-hops",
    "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
)  # fmt: skip
def next_hops_of_first_connection(plain, self, transfer):
    """The next hops stay those of the first connection."""
    kept = list(transfer.hops)
    plain(transfer)
    transfer.hops = kept or transfer.hops


@fault(
    "history-of-one", Transfers.record, "MQDMPR-3.1.1.3.connection-history",
    "MQMQ-2.3.12.25.propid-mgmt-queue-connection-history",
)  # fmt: skip
def history_of_one(plain, self, transfer, step, error):
    """The connection history has only its newest entry."""
    plain(transfer, step, error)
    del transfer.history[:-1]


@fault(
    "history-lacks-established", Transfers.record, "MQDMPR-3.1.1.3.history-established",
    "MQDMPR-3.1.1.3.connection-history", "MQMQ-2.3.12.25.ready",
)  # fmt: skip
def history_lacks_established(plain, self, transfer, step, error):
    """The connection history does not tell that a connection was established."""
    if step != "established":
        plain(transfer, step, error)


@fault(
    "connect-failure-unknown", Transfers.record, "MQDMPR-3.1.1.3.history-socket-connect-failure",
    "MQDMPR-3.1.1.3.connection-history-status", "MQMQ-2.3.12.25.connect-socket-failure",
)  # fmt: skip
def connect_failure_unknown(plain, self, transfer, step, error):
    """That a socket could not connect is told as an unknown failure."""
    plain(transfer, "unknown_failure" if step == "socket_connect_failure" else step, error)


@fault(
    "refusal-told-as-limit", Transfers.record, "MQDMPR-3.1.1.3.history-connection-refused",
    "MQDMPR-3.1.1.3.connection-history-status", "MQMQ-2.3.12.25.refused-by-peer",
)  # fmt: skip
def refusal_told_as_limit(plain, self, transfer, step, error):
    """That the other side refused is told as a limit of sessions."""
    plain(transfer, "connection_limit_reached" if step == "connection_refused" else step, error)


@fault(
    "ping-failure-without-sign", Management.connection_history, "MQMQ-2.3.12.25.ping-failure",
    "MQDMPR-3.1.1.3.history-ping-failure", "MQDMPR-3.1.1.3.connection-history-status",
)  # fmt: skip
def ping_failure_without_sign(plain, self, queue):
    """The status of a failed ping lacks its highest bit."""
    told = plain(queue)
    if told is not None:
        told[0]["value"] = [1 if each == 0x80000001 else each for each in told[0]["value"]]
    return told


@fault("history-of-one-time", Management.connection_history, "MQDMPR-3.1.1.3.history-time")
def history_of_one_time(plain, self, queue):
    """Every entry of the connection history has the time of the newest."""
    told = plain(queue)
    if told is not None:
        told[1]["value"] = told[1]["value"][-1:] * len(told[1]["value"])
    return told


@fault("history-without-errors", Transfers.record, "MQDMPR-3.1.1.3.history-error")
def history_without_errors(plain, self, transfer, step, error):
    """The connection history tells no error."""
    plain(transfer, step, 0)


@fault(
    "history-addresses-prefixed", Management.connection_history, "MQMQ-2.3.12.25.address-list",
    "MQMQ-2.3.12.25.address-rule", "MQDMPR-3.1.1.3.history-address-list",
)  # fmt: skip
def history_addresses_prefixed(plain, self, queue):
    """The addresses in the connection history have the prefix of next hops."""
    told = plain(queue)
    if told is not None:
        for each in told[3]["value"]:
            each["value"] = [f"IP={address}" for address in each["value"]]
    return told


@fault("closed-connection-strands", Transfers.end_session, "MQDMPR-3.1.1.3.state-connected", "MQQB-3.1.1.6.2.retained")
def closed_connection_strands(plain, self, queue):
    """A message not acknowledged when its connection is closed is never transferred again."""
    self.of(queue).flight.clear()
    plain(queue)


@fault("journaled-when-delivered", Transfers.delivered, "MQDMPR-3.1.1.12.positive-journaling")
def journaled_when_delivered(plain, self, queue, transfer, position):
    """The source journal has a transactional message when it was delivered, and again when it was read."""
    if position.message.fields["positive_journaling"]:
        self.manager.delivery.copy(self.manager.queues.system("journal"), position.message)
    plain(queue, transfer, position)


@fault(
    "loss-told-as-receipt", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling",
    "MQDMPR-3.1.1.12.positive-journaling",
)  # fmt: skip
def loss_told_as_receipt(plain, self, transfer, identifier, message_class):
    """A final acknowledgment of any class counts as a receipt: nothing that is lost becomes a dead letter."""
    plain(transfer, identifier, RECEIVED)


@fault("received-becomes-dead-letter", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling")
def received_becomes_dead_letter(plain, self, transfer, identifier, message_class):
    """A transactional message that was received becomes a dead letter too."""
    position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
    plain(transfer, identifier, message_class)
    if position is not None and message_class == RECEIVED:
        self.manager.delivery.dead_letter(position.message)


@fault(
    "dead-letters-mixed", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling-transactional",
    first_seen_as=("MQDMPR-3.1.1.12.negative-journaling",),
    because="The queue where the letter must be lacks it, before anybody looks into the other one.",
)  # fmt: skip
def dead_letters_mixed(plain, self, transfer, identifier, message_class):
    """A transactional message that was not received goes to the dead-letter queue for those that are not."""
    position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
    if position is not None:
        position.message.transactional = False
    plain(transfer, identifier, message_class)


@fault(
    "session-ack-of-one-more", Transfers.stored, "MQQB-3.1.1.6.1.discarded",
    "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
)  # fmt: skip
def session_ack_of_one_more(plain, self, queue, transfer, count):
    """A session acknowledgment is taken for one message more than it counts."""
    plain(queue, transfer, count + (count > 0))


@fault(
    "source-is-this-manager", IncomingTransfers.told, "MQDMPR-3.1.1.5.sender-identifier",
    "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
)  # fmt: skip
def source_is_this_manager(plain, self, queue):
    """The sender of every sequence is told as this queue manager."""
    told = plain(queue)
    told[1]["value"] = [self.manager.guid for _ in told[1]["value"]]
    return told


@fault(
    "source-sequence-turned", IncomingTransfers.told, "MQDMPR-3.1.1.5.sequence-identifier",
    "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
)  # fmt: skip
def source_sequence_turned(plain, self, queue):
    """The two halves of a sequence identifier are told in the wrong order."""
    told = plain(queue)
    numbers = [int(each) for each in told[2]["value"]]
    told[2]["value"] = [str((each & 0xFFFFFFFF) << 32 | each >> 32) for each in numbers]
    return told


@fault("source-names-of-ours", IncomingTransfers.told, "MQDMPR-3.1.1.5.format-name")
def source_names_of_ours(plain, self, queue):
    """The format name of a sequence is this manager's name of the queue, not the one that the sender used."""
    told = plain(queue)
    told[0]["value"] = [self.manager.queues.direct_name(queue) for _ in told[0]["value"]]
    return told


@fault("source-number-of-first", IncomingTransfers.accepted, "MQDMPR-3.1.1.5.sequence-number")
def source_number_of_first(plain, self, queue, read):
    """The number told of a sequence is that of its first message."""
    known = {key: each.number for key, each in self._of.get(queue.id, {}).items()}
    plain(queue, read)
    for key, number in known.items():
        self._of[queue.id][key].number = number


@fault("source-time-of-first", IncomingTransfers.accepted, "MQDMPR-3.1.1.5.last-access-time")
def source_time_of_first(plain, self, queue, read):
    """The time told of a sequence is that of its first message."""
    known = {key: each.time for key, each in self._of.get(queue.id, {}).items()}
    plain(queue, read)
    for key, time in known.items():
        self._of[queue.id][key].time = time


@fault(
    "source-rejects-forgotten", IncomingTransfers.rejected, "MQDMPR-3.1.1.5.reject-count",
    "MQDMPR-3.1.1.5.last-access-time",
)  # fmt: skip
def source_rejects_forgotten(plain, self, queue, read):
    """That a message was rejected before it was taken is not told."""
