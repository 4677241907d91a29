"""Alternatives of readings, and other ways that the text leaves open, which a node does not follow by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from conformance.embedded import deviations
from conformance.embedded import packet_layout as lay
from conformance.embedded.network import codec as net
from conformance.embedded.network.acknowledging import Acknowledging, Pings
from conformance.embedded.network.codec import Codec, EstablishConnection
from conformance.embedded.network.incoming import History, Incoming, Receiver, Sequences
from conformance.embedded.network.node import NetworkParts
from conformance.embedded.network.sender import Route
from conformance.embedded.network.session import Session, State
from conformance.embedded.network.settings import Durations

Json = Any
ALTERNATIVES: dict[str, deviations.Replacement] = {}
WAYS: dict[str, list[deviations.Replacement]] = {}
_Made = TypeVar("_Made")


def follows(name: str, of: Any) -> Callable[[_Made], _Made]:
    """Register what is decorated as `reading=alternative`. of, and what that is: see `deviations.replacement`."""

    def register(made: _Made) -> _Made:
        ALTERNATIVES[name] = deviations.replacement(NetworkParts(), of, made)
        return made

    return register


def way(name: str, of: Any) -> Callable[[_Made], _Made]:
    """Register what is decorated as a way that no reading is about, or as one more part of it."""

    def register(made: _Made) -> _Made:
        WAYS.setdefault(name, []).append(deviations.replacement(NetworkParts(), of, made))
        return made

    return register


@follows("R-MQQB-window=received", Session.send_window)
def mqqb_window_received(plain, self):
    return self.received_window or self.window


@follows("R-MQQB-rejected-number=replaced", Sequences.rejected)
def mqqb_rejected_number_replaced(plain, self, state, identifier, number):
    return Incoming(identifier, number, state.rejects + 1)


@follows("R-MQQB-null-server-guid=refused", Session.valid_request)
def mqqb_null_server_guid_refused(plain, self, packet):
    return packet.server == self.node.guid


@follows("R-MQQB-order-ack-delivery=recoverable", Acknowledging.order_delivery)
def mqqb_order_ack_delivery_recoverable(plain, self):
    return "recoverable"


@follows("R-MQQB-transactional-sequence-scope=queue", Sequences.key)
def mqqb_transactional_sequence_scope_queue(plain, self, session, read):
    return f"{session.remote.hex()}:{read['destination'].partition(chr(92))[2].lower() or read['destination']}"


@follows("R-MQQB-final-ack-class=listed", Acknowledging.final_to)
def mqqb_final_ack_class_listed(plain, self, read, kind, remote, address, *, direct):
    """No FinalAck has a class that 2.2.5 does not list."""
    if kind not in (net.NACK_HOP_COUNT_EXCEEDED, 0xC004):
        plain(read, kind, remote, address, direct=direct)


@follows("R-MQQB-session-header-included=any", Session.piggyback)
def mqqb_session_header_included_any(plain, self):
    return self.owes_ack()


@follows("R-MQQB-duplicate-identifier=ordinal", History.identifier)
def mqqb_duplicate_identifier_ordinal(plain, self, read):
    return str(read["identifier"]["ordinal"])


@follows("R-MQQB-rejected-recoverable=uncounted", Receiver.rejected_recoverable)
def mqqb_rejected_recoverable_uncounted(plain, self, arrived):
    return


@follows("R-MQQB-acknowledgment-at-window=timer", Session.window_is_full)
def mqqb_acknowledgment_at_window_timer(plain, self):
    return False


@follows("R-MQQB-number-after-cut=anew", Route.carried_by)
def mqqb_number_after_cut_anew(plain, self, session):
    for entry in self.table.values():
        entry.tx_number = 0
    self.sequence.unacked.clear()
    plain(session)


@follows("R-MQQB-rejected-in-sequence=taken", Receiver.reject)
def mqqb_rejected_in_sequence_taken(plain, self, arrived, reason):
    """A rejected transactional message takes its place in the sequence."""
    plain(arrived, reason)
    if arrived.transactional and arrived.own:
        self.in_order(arrived)


@follows("R-MQQB-timeout-out-of-range=repeats", Session.within_limits)
def mqqb_timeout_out_of_range_repeats(plain, self, packet):
    return True


@follows("R-MQQB-parameters-after-refusal=opens", Session.parameter_states)
def mqqb_parameters_after_refusal_opens(plain, self):
    return (*plain(), State.REFUSED)


@follows("R-MQMQ-packet-size-session-header=always-excludes", Codec.base)
def mqmq_packet_size_session_header_always_excludes(plain, self, of):
    """PacketSize of a SessionAck leaves out its SessionHeader."""
    left_out = lay.SESSION.size if of.packet_type == net.SESSION_ACK else 0
    return plain(replace(of, size=of.size - left_out))


@way("existing-session", Acknowledging.route)
def existing_session(plain, self, name, message, remote):
    """A session that the original sender has opened carries acknowledgments to its address by a direct name (1.3.5)."""
    route = plain(name, message, remote)
    if route is None or not route.direct or message["class"] == net.NORMAL:
        return route
    found = any(each.remote == remote and opened_from(route.address, each) for each in self.node.sessions)
    return self.node.route(f"{remote.hex()}:{route.key}", route.address, remote, direct=True) if found else route


def opened_from(address: str, session: Session) -> bool:
    """Return true for an open session that was opened from an address."""
    return session.open and not session.initiates and session.link.address == address


@way("existing-session", Route.may_use)
def by_the_sender(plain, self, session):
    return plain(session) or (self.direct and session.remote == self.guid and opened_from(self.address, session))


@way("existing-session", Route.lost)
def to_the_address(plain, self, session):
    """Nothing waits for another session of the sender: its address is known."""
    plain(session)
    guid, _, key = self.key.partition(":")
    if self.direct and guid == self.guid.hex() and self.session is None:
        self.retry.stop()
        for entry in list(self.table.values()):
            self.move(entry, self.node.route(key, self.address, bytes(16), direct=True))


@way("own-session", Route.may_use)
def own_session(plain, self, session):
    """Sessions that this queue manager opens itself carry what it sends, if it knows an address (1.3.5)."""
    return self.address is None and plain(session)


@way("duplicates-counted", Receiver.duplicate)
def duplicates_counted(plain, self, arrived):
    """A message that comes again counts as received (MS-MQMQ 2.2.20.4), and is discarded."""
    again = plain(arrived)
    if again:
        arrived.session.count_received()
        self.recoverable(arrived)
        arrived.session.processed()
    return again


@way("ack-wait-once", Durations.ack_wait)
def ack_wait_once(plain, self, ack_timeout_ms):
    """The Session Ack Wait Timer takes AckWaitTimeout once, as for names that are not direct (note 46)."""
    return self.given.get("session-ack-wait", ack_timeout_ms / 1000)


@way("no-pings", Pings.answer)
def no_pings(plain, self, ping, address):
    """The ping service is off (note 10)."""


@way("small-window", "session")
class SmallWindow(Session):
    """WindowSize is 4 (MaxUnackedPacket, note 50)."""

    window_size = 4


@way("busy", "session")
class Busy(Session):
    """There are 2 sessions of others at most (MaxInSessions, note 12)."""

    most = 2

    @property
    def takes_place(self) -> bool:
        return self.state in (State.WAITING_CP, State.OPEN)


@way("busy-closes", "session")
class BusyWithoutAnswer(Busy):
    """Like `Busy`, and 3.1.5.3.1: a connection that is rejected is closed."""

    def turn_away(self, packet: EstablishConnection) -> None:
        self.close()
