"""Faults of the state of a connection, its next hops and its history (MS-MQDMPR 3.1.1.3)."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.transfer_state import CONNECTED, DISCONNECTED, WAITING
from conformance.embedded.transfers import Transfers

Json = Any


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
    """What was transferred and not acknowledged when a connection is closed is never transferred again."""
    self.of(queue).flight.clear()
    plain(queue)
