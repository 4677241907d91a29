"""Faults of what the management tells of the computer and of sequences (MS-MQMR 3.1, MS-MQMQ 2.3.12)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management, packed
from conformance.embedded.queues import Queues
from conformance.embedded.transfers import SequenceInfo, Transfers

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
