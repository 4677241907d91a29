"""Faults of what is told of the machine, and of its actions (MS-MQMQ 2.3.11, MS-MQMR 3.1.4.2)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.management import Management
from conformance.embedded.queues import Queues

Json = Any


class _ForgetsOpen(Queues):
    def active(self) -> list[Queue]:
        return [queue for queue in super().active() if queue.kind == "outgoing"]


class OpenQueuesInactive(Fault):
    """Queues of this computer that are open are missing among the active ones."""

    name = "open-queues-inactive"
    breaks = (
        "MQDMPR-3.1.1.2.active",
        "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues",
    )
    replaces = ("queues", _ForgetsOpen)


class _ForgetsFilled(Queues):
    def active(self) -> list[Queue]:
        return [queue for queue in super().active() if queue.kind != "outgoing" or queue.descriptors]


class FilledOutgoingInactive(Fault):
    """An outgoing queue with messages that nobody has open is missing among the active ones."""

    name = "filled-outgoing-inactive"
    breaks = (
        "MQDMPR-3.1.1.2.active-outgoing",
        "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues",
    )
    replaces = ("queues", _ForgetsFilled)


class _TellsClosed(Queues):
    def active(self) -> list[Queue]:
        active = super().active()
        return [*active, *(queue for queue in self.private() if queue not in active)]


class ClosedQueuesActive(Fault):
    """Private queues that nobody has open are told as active."""

    name = "closed-queues-active"
    breaks = (
        "MQDMPR-3.1.1.2.inactive",
        "MQDMPR-3.1.1.2.active",
        "MQDMPR-3.1.7.1.3.inactive",
    )
    replaces = ("queues", _TellsClosed)


class _Paths(Management):
    def active_queues(self) -> list[str]:
        return [name.removeprefix("DIRECT=OS:") for name in super().active_queues()]


class ActiveQueuesByPath(Fault):
    """The active queues are told by their path names."""

    name = "active-queues-by-path"
    breaks = (
        "MQMQ-2.3.11.1.format-names",
        "MQMQ-2.3.11.1.propid-mgmt-msmq-activequeues",
    )
    replaces = ("management", _Paths)


class _OpenOnly(Management):
    def private_queues(self) -> list[str]:
        return [queue.path for queue in self.manager.queues.private() if queue.descriptors]


class PrivateQueuesOpenOnly(Fault):
    """Only the private queues that are open are listed."""

    name = "private-queues-open-only"
    breaks = ("MQMQ-2.3.11.2.propid-mgmt-msmq-privateq",)
    replaces = ("management", _OpenOnly)


class _WithPublic(Management):
    def private_queues(self) -> list[str]:
        kinds = ("private", "public")
        return [queue.path for queue in self.manager.queues.all() if queue.kind in kinds]


class PrivateQueuesWithPublic(Fault):
    """Public queues are listed among the private ones."""

    name = "private-queues-with-public"
    breaks = ("MQMQ-2.3.11.2.propid-mgmt-msmq-privateq",)
    replaces = ("management", _WithPublic)


class _StaysOnline(Management):
    def act_on_machine(self, action: str) -> None:
        if action != "DISCONNECT":
            super().act_on_machine(action)


class DisconnectIgnored(Fault):
    """A machine that was taken offline is connected."""

    name = "disconnect-ignored"
    breaks = (
        "MQDMPR-3.1.4.12.disconnected",
        "MQDMPR-3.1.1.1.connection-active",
        "MQMQ-2.3.11.4.msmq-disconnected",
    )
    replaces = ("management", _StaysOnline)


class _StaysOffline(Management):
    def act_on_machine(self, action: str) -> None:
        if action != "CONNECT":
            super().act_on_machine(action)


class ConnectIgnored(Fault):
    """A machine that was brought online again is disconnected."""

    name = "connect-ignored"
    breaks = (
        "MQDMPR-3.1.4.13.connected",
        "MQDMPR-3.1.1.1.connection-active",
        "MQMQ-2.3.11.4.msmq-connected",
    )
    replaces = ("management", _StaysOffline)


class _Offline(Management):
    def connected(self) -> str:
        return {"DISCONNECTED": "OFFLINE"}.get(super().connected(), "CONNECTED")


class DisconnectedToldAsOffline(Fault):
    """The text for a machine that is not connected is OFFLINE."""

    name = "disconnected-told-as-offline"
    breaks = (
        "MQMQ-2.3.11.4.values",
        "MQMQ-2.3.11.4.msmq-disconnected",
        "MQDMPR-3.1.4.12.disconnected",
    )
    replaces = ("management", _Offline)


class _LocalBytes(Management):
    def bytes_in_all_queues(self) -> str:
        away = sum(queue.bytes for queue in self.manager.queues.all() if queue.kind == "outgoing")
        return str(int(super().bytes_in_all_queues()) - away)


class AllBytesWithoutOutgoing(Fault):
    """The bytes of all queues are those of the queues of this computer only."""

    name = "all-bytes-without-outgoing"
    breaks = ("MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues",)
    replaces = ("management", _LocalBytes)


class _NeverLess(Management):
    _most = 0

    def bytes_in_all_queues(self) -> str:
        self._most = max(self._most, int(super().bytes_in_all_queues()))
        return str(self._most)


class AllBytesNeverFall(Fault):
    """The bytes of all queues do not become less when messages leave their queues."""

    name = "all-bytes-never-fall"
    breaks = ("MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues",)
    replaces = ("management", _NeverLess)


class _Unsigned(Management):
    def value(self, method: str, variant: int, *of: Queue) -> Json:
        told = super().value(method, variant, *of)
        return {"vt": 19, "value": int(told["value"])} if method == "bytes_in_all_queues" else told


class AllBytesOfFourBytes(Fault):
    """The bytes of all queues are told as VT_UI4."""

    name = "all-bytes-of-four-bytes"
    breaks = ("MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues",)
    replaces = ("management", _Unsigned)


class _Strict(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        super().act(target, action if action.isupper() else f"{action} in small letters")


class SmallLettersRefused(Fault):
    """Actions in small letters are refused."""

    name = "small-letters-refused"
    breaks = ("MQMR-3.1.4.2.any-case",)
    replaces = ("management", _Strict)


class _Agreeing(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        known = ("CONNECT", "DISCONNECT", "TIDY", "PAUSE", "RESUME", "EOD_RESEND")
        if action.upper() in known:
            super().act(target, action)


class UnknownActionsAccepted(Fault):
    """An action that is none is answered with success."""

    name = "unknown-actions-accepted"
    breaks = ("MQMR-3.1.4.2.unknown-action",)
    replaces = ("management", _Agreeing)


class _Purging(Management):
    def act_on_machine(self, action: str) -> None:
        super().act_on_machine(action)
        if action == "TIDY":
            for queue in self.manager.queues.all():
                for position in queue.positions:
                    self.manager.queues.purge_position(position)


class TidyLosesMessages(Fault):
    """Tidying the machine removes messages."""

    name = "tidy-loses-messages"
    breaks = ("MQMR-3.1.4.2.tidy",)
    replaces = ("management", _Purging)


class _Everywhere(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        if target["type"] == "machine" and action.upper() in ("PAUSE", "RESUME"):
            for queue in self.manager.queues.all():
                if queue.kind == "outgoing":
                    self.act_on_queue(queue, action.upper())
        else:
            super().act(target, action)


class MachinePausesAll(Fault):
    """Pausing the machine is accepted, and pauses every outgoing queue."""

    name = "machine-pauses-all"
    breaks = (
        "MQMR-3.1.4.2.kind-of-target",
        "MQDMPR-3.1.4.14.paused-queue",
    )
    replaces = ("management", _Everywhere)


class _Tolerant(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        try:
            super().act(target, action)
        except MqError:
            queue = self.manager.queues.managed(target["format_name"]) if target["type"] == "queue" else None
            if queue is None or action.upper() not in ("PAUSE", "RESUME", "EOD_RESEND"):
                raise


class LocalPauseAccepted(Fault):
    """Pausing a queue of this computer is answered with success, and does nothing."""

    name = "local-pause-accepted"
    breaks = ("MQMR-3.1.4.2.outgoing-only",)
    replaces = ("management", _Tolerant)


class _Promising(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        try:
            super().act(target, action)
        except MqError:
            if target["type"] != "queue" or self.manager.queues.managed(target["format_name"]) is not None:
                raise


class ActionsOnMissingAccepted(Fault):
    """Any action on a queue that is not there is answered with success."""

    name = "actions-on-missing-accepted"
    breaks = (
        "MQMR-3.1.4.2.unknown-queue",
        "MQMR-3.1.4.2.unknown-action",
        "MQMR-3.1.4.2.kind-of-target",
    )
    replaces = ("management", _Promising)


class _Hospitable(Management):
    def act(self, target: dict[str, Json], action: str) -> None:
        if target["type"] != "session":
            super().act(target, action)


class SessionActionsAccepted(Fault):
    """An action on a session is answered with success."""

    name = "session-actions-accepted"
    breaks = ("MQMR-3.1.4.2.session",)
    replaces = ("management", _Hospitable)
