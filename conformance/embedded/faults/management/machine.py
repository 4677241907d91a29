"""Faults of what is told of the machine, and of its actions (MS-MQMQ 2.3.11, MS-MQMR 3.1.4.2)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management
from conformance.embedded.queues import Queues

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
