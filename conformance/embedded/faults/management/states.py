"""Faults of the state of a connection, its next hops and its history (MS-MQDMPR 3.1.1.3)."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.management import Management
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.transfer_state import CONNECTED, DISCONNECTED, WAITING, Transfer
from conformance.embedded.transfers import Transfers

Json = Any


class _OtherWords(Management):
    words: ClassVar[dict[str, str]] = {}

    def state(self, queue: Queue) -> str:
        told = super().state(queue)
        return self.words.get(told, told)


class _Local(_OtherWords):
    words: ClassVar[dict[str, str]] = {"INACTIVE": "LOCAL CONNECTION"}


class InactiveToldAsLocal(Fault):
    """An outgoing queue without a connection is told as a local one."""

    name = "inactive-told-as-local"
    breaks = (
        "MQMQ-2.3.12.11.mgmt-queue-state-nonactive",
        "MQDMPR-3.1.1.3.state-inactive",
        "MQDMPR-3.1.7.1.5.outgoing-inactive",
        "MQDMPR-3.1.7.2.4.inactive",
    )
    replaces = ("management", _Local)


class _TwoWords(_OtherWords):
    words: ClassVar[dict[str, str]] = {"ONHOLD": "ON HOLD"}


class HoldInTwoWords(Fault):
    """The state of a paused queue is told as ON HOLD."""

    name = "hold-in-two-words"
    breaks = (
        "MQMQ-2.3.12.11.values",
        "MQMQ-2.3.12.11.mgmt-queue-state-onhold",
        "MQDMPR-3.1.1.3.state-on-hold",
    )
    replaces = ("management", _TwoWords)


class _OneWord(_OtherWords):
    words: ClassVar[dict[str, str]] = {"LOCAL CONNECTION": "LOCAL"}


class LocalConnectionInOneWord(Fault):
    """The state of a queue of this computer is told as LOCAL."""

    name = "local-connection-in-one-word"
    breaks = (
        "MQMQ-2.3.12.11.values",
        "MQMQ-2.3.12.11.mgmt-queue-state-local",
    )
    replaces = ("management", _OneWord)


class _Hurried(Transfers):
    def seek(self, transfer: Transfer) -> None:
        super().seek(transfer)
        transfer.state = CONNECTED


class WaitingToldAsConnected(Fault):
    """While a connection is sought, the state is that of a connection."""

    name = "waiting-told-as-connected"
    breaks = (
        "MQDMPR-3.1.1.3.state-waiting",
        "MQDMPR-3.1.1.3.state-connected",
        "MQMQ-2.3.12.11.mgmt-queue-state-waiting",
    )
    replaces = ("transfers", _Hurried)


class _Slow(Transfers):
    def establish(self, transfer: Transfer) -> None:
        super().establish(transfer)
        transfer.state = WAITING


class ConnectedToldAsWaiting(Fault):
    """A queue whose connection stands is told to wait for it, and transfers nothing."""

    name = "connected-told-as-waiting"
    breaks = (
        "MQDMPR-3.1.1.3.state-connected",
        "MQDMPR-3.1.1.3.state-waiting",
        "MQMQ-2.3.12.11.mgmt-queue-state-connected",
    )
    replaces = ("transfers", _Slow)


class _Abrupt(Transfers):
    def step(self, queue: Queue, step: str, addresses: tuple[str, ...] | None, error: int) -> None:
        super().step(queue, step, addresses, error)
        if step == "closing":
            self.of(queue).state = DISCONNECTED


class DisconnectingSkipped(Fault):
    """A connection that is being closed is told as closed."""

    name = "disconnecting-skipped"
    breaks = (
        "MQDMPR-3.1.1.3.state-disconnecting",
        "MQMQ-2.3.12.11.mgmt-queue-state-disconnecting",
    )
    replaces = ("transfers", _Abrupt)


class _Unnoticing(Transfers):
    def step(self, queue: Queue, step: str, addresses: tuple[str, ...] | None, error: int) -> None:
        state = self.of(queue).state
        super().step(queue, step, addresses, error)
        if step == "closed":
            self.of(queue).state = state


class ClosedConnectionUnnoticed(Fault):
    """The state does not change when the connection is closed."""

    name = "closed-connection-unnoticed"
    breaks = (
        "MQDMPR-3.1.1.3.state-disconnected",
        "MQMQ-2.3.12.11.mgmt-queue-state-disconnected",
    )
    replaces = ("transfers", _Unnoticing)


class _Certain(Transfers):
    def step(self, queue: Queue, step: str, addresses: tuple[str, ...] | None, error: int) -> None:
        state = self.of(queue).state
        super().step(queue, step, addresses, error)
        if step in ("dns_failure", "routing_data_not_available"):
            self.of(queue).state = state


class ValidationNeverNeeded(Fault):
    """The state does not change when the address of a destination is not found."""

    name = "validation-never-needed"
    breaks = (
        "MQDMPR-3.1.1.3.state-need-validation",
        "MQMQ-2.3.12.11.mgmt-queue-state-need-validate",
    )
    replaces = ("transfers", _Certain)


class _Restoring(Transfers):
    def resumed(self, queue: Queue) -> None:
        return


class ResumeRestoresState(Fault):
    """A queue that is resumed has the state that it had before it was paused."""

    name = "resume-restores-state"
    breaks = (
        "MQDMPR-3.1.7.2.4.inactive",
        "MQDMPR-3.1.4.15.resumes",
        "MQDMPR-3.1.1.3.state-inactive",
    )
    replaces = ("transfers", _Restoring)


class _HoldGivesWay(Transfers):
    def step(self, queue: Queue, step: str, addresses: tuple[str, ...] | None, error: int) -> None:
        super().step(queue, step, addresses, error)
        if step == "established":
            queue.paused = False


class ConnectionEndsHold(Fault):
    """A paused queue is on hold no more once its connection stands."""

    name = "connection-ends-hold"
    breaks = (
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.1.3.state-on-hold",
        "MQDMPR-3.1.4.14.pauses",
    )
    replaces = ("transfers", _HoldGivesWay)


class _Halfway(Outgoing):
    def on_hold(self, queue: Queue) -> bool:
        return super().on_hold(queue) and (queue.transfer is None or queue.transfer.state != CONNECTED)


class ConnectedNotPaused(Fault):
    """A queue that is connected cannot be paused: the action succeeds and changes nothing."""

    name = "connected-not-paused"
    breaks = (
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.4.14.pauses",
        "MQDMPR-3.1.1.3.state-on-hold",
    )
    replaces = ("outgoing", _Halfway)


class _NoPrefix(Management):
    def next_hops(self, queue: Queue) -> list[str] | None:
        told = super().next_hops(queue)
        return None if told is None else [each.partition("=")[2] for each in told]


class NextHopsWithoutPrefix(Fault):
    """The next hops are addresses without a word for their kind."""

    name = "next-hops-without-prefix"
    breaks = (
        "MQMQ-2.3.12.12.address-rule",
        "MQMQ-2.3.12.12.ip-addr-rule",
        "MQMQ-2.3.12.12.ipv6-addr-rule",
        "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
    )
    replaces = ("management", _NoPrefix)


class _OneHop(Transfers):
    def seek(self, transfer: Transfer) -> None:
        super().seek(transfer)
        del transfer.hops[1:]


class OneNextHopOnly(Fault):
    """While a connection is sought, only the first of the possible addresses is told."""

    name = "one-next-hop-only"
    breaks = (
        "MQDMPR-3.1.1.3.next-hops",
        "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
    )
    replaces = ("transfers", _OneHop)


class _StaleHops(Transfers):
    def seek(self, transfer: Transfer) -> None:
        kept = list(transfer.hops)
        super().seek(transfer)
        transfer.hops = kept or transfer.hops


class NextHopsOfFirstConnection(Fault):
    """The next hops stay those of the first connection."""

    name = "next-hops-of-first-connection"
    breaks = (
        "MQDMPR-3.1.1.3.next-hops",
        "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
    )
    replaces = ("transfers", _StaleHops)


class _Newest(Transfers):
    def record(self, transfer: Transfer, step: str, error: int) -> None:
        super().record(transfer, step, error)
        del transfer.history[:-1]


class HistoryOfOne(Fault):
    """The connection history has only its newest entry."""

    name = "history-of-one"
    breaks = (
        "MQDMPR-3.1.1.3.connection-history",
        "MQMQ-2.3.12.25.propid-mgmt-queue-connection-history",
    )
    replaces = ("transfers", _Newest)


class _NoSuccess(Transfers):
    def record(self, transfer: Transfer, step: str, error: int) -> None:
        if step != "established":
            super().record(transfer, step, error)


class HistoryOfFailuresOnly(Fault):
    """The connection history does not tell that a connection was established."""

    name = "history-lacks-established"
    breaks = (
        "MQDMPR-3.1.1.3.history-established",
        "MQDMPR-3.1.1.3.connection-history",
        "MQMQ-2.3.12.25.ready",
    )
    replaces = ("transfers", _NoSuccess)


class _Vague(Transfers):
    def record(self, transfer: Transfer, step: str, error: int) -> None:
        super().record(transfer, "unknown_failure" if step == "socket_connect_failure" else step, error)


class ConnectFailureUnknown(Fault):
    """That a socket could not connect is told as an unknown failure."""

    name = "connect-failure-unknown"
    breaks = (
        "MQDMPR-3.1.1.3.history-socket-connect-failure",
        "MQDMPR-3.1.1.3.connection-history-status",
        "MQMQ-2.3.12.25.connect-socket-failure",
    )
    replaces = ("transfers", _Vague)


class _Refused(Transfers):
    def record(self, transfer: Transfer, step: str, error: int) -> None:
        super().record(transfer, "connection_limit_reached" if step == "connection_refused" else step, error)


class RefusalToldAsLimit(Fault):
    """That the other side refused is told as a limit of sessions."""

    name = "refusal-told-as-limit"
    breaks = (
        "MQDMPR-3.1.1.3.history-connection-refused",
        "MQDMPR-3.1.1.3.connection-history-status",
        "MQMQ-2.3.12.25.refused-by-peer",
    )
    replaces = ("transfers", _Refused)


class _Uncertain(Management):
    def connection_history(self, queue: Queue) -> list[Json] | None:
        told = super().connection_history(queue)
        if told is not None:
            told[0]["value"] = [1 if each == 0x80000001 else each for each in told[0]["value"]]
        return told


class PingFailureWithoutSign(Fault):
    """The status of a failed ping lacks its highest bit."""

    name = "ping-failure-without-sign"
    breaks = (
        "MQMQ-2.3.12.25.ping-failure",
        "MQDMPR-3.1.1.3.history-ping-failure",
        "MQDMPR-3.1.1.3.connection-history-status",
    )
    replaces = ("management", _Uncertain)


class _OneTime(Management):
    def connection_history(self, queue: Queue) -> list[Json] | None:
        told = super().connection_history(queue)
        if told is not None:
            told[1]["value"] = told[1]["value"][-1:] * len(told[1]["value"])
        return told


class HistoryOfOneTime(Fault):
    """Every entry of the connection history has the time of the newest."""

    name = "history-of-one-time"
    breaks = ("MQDMPR-3.1.1.3.history-time",)
    replaces = ("management", _OneTime)


class _Fine(Transfers):
    def record(self, transfer: Transfer, step: str, error: int) -> None:
        super().record(transfer, step, 0)


class HistoryWithoutErrors(Fault):
    """The connection history tells no error."""

    name = "history-without-errors"
    breaks = ("MQDMPR-3.1.1.3.history-error",)
    replaces = ("transfers", _Fine)


class _Prefixed(Management):
    def connection_history(self, queue: Queue) -> list[Json] | None:
        told = super().connection_history(queue)
        if told is not None:
            for each in told[3]["value"]:
                each["value"] = [f"IP={address}" for address in each["value"]]
        return told


class HistoryAddressesPrefixed(Fault):
    """The addresses in the connection history have the prefix of next hops."""

    name = "history-addresses-prefixed"
    breaks = (
        "MQMQ-2.3.12.25.address-list",
        "MQMQ-2.3.12.25.address-rule",
        "MQDMPR-3.1.1.3.history-address-list",
    )
    replaces = ("management", _Prefixed)


class _KeptConnection(Transfers):
    def end_session(self, queue: Queue) -> None:
        self.of(queue).flight.clear()
        super().end_session(queue)


class ClosedConnectionStrands(Fault):
    """What was transferred and not acknowledged when a connection is closed is never transferred again."""

    name = "closed-connection-strands"
    breaks = (
        "MQDMPR-3.1.1.3.state-connected",
        "MQQB-3.1.1.6.2.retained",
    )
    replaces = ("transfers", _KeptConnection)
