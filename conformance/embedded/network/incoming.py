"""Receive user messages with their security and acknowledgments, and remember their sequences (MS-MQQB 3.1.5.8)."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.admission import Admission, Coming
from conformance.embedded.entities import INFINITE, NULL_GUID, Queue
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import SessionHeader
from conformance.embedded.network.session import Session
from conformance.embedded.network.settings import Timer
from conformance.embedded.store import StoreError

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.network.node import Node

Json = Any
MOST_IDENTIFIERS = 10_000  # RemoveDuplicateSize (note 25)
MOST_SEQUENCES = 10_000


class History:
    """MessageIDHistoryTable (3.1.1.3). Times are seconds since 1970."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._stamps = node.kept.history()
        self._cleanup = Timer(node.scheduler, node.guarded(self.cleanup_over))
        if self._stamps:
            self._cleanup.start(self.duration())

    def duration(self) -> float:
        """The time after which an identifier is forgotten, in seconds."""
        return self.node.durations.fixed("message-id-history-cleanup")

    def identifier(self, read: dict[str, Json]) -> str:
        """Return the key of a message: its MessageIdentifier."""
        return f"{read['identifier']['source']}:{read['identifier']['ordinal']}"

    def knows(self, read: dict[str, Json]) -> bool:
        """Return true if a message with this identifier came before; note the time."""
        key = self.identifier(read)
        if key not in self._stamps:
            return False
        self._put(key)
        return True

    def add(self, read: dict[str, Json]) -> None:
        """Note a message; the earliest is forgotten when there are too many."""
        self._put(self.identifier(read))
        while len(self._stamps) > MOST_IDENTIFIERS:
            self._drop(next(iter(self._stamps)))
        self._cleanup.start_if_stopped(self.duration())

    def cleanup_over(self) -> None:
        """MessageIDHistory Cleanup Timer Event (3.1.6.7)."""
        oldest = self.node.now() - self.duration()
        for key in [key for key, stamp in self._stamps.items() if stamp < oldest]:
            self._drop(key)
        if self._stamps:
            self._cleanup.start(self.duration())

    def _put(self, key: str) -> None:
        self._stamps.pop(key, None)
        self._stamps[key] = self.node.now()
        self.node.kept.put_history(key, self._stamps[key])

    def _drop(self, key: str) -> None:
        del self._stamps[key]
        self.node.kept.drop_history(key)


@dataclass(slots=True)
class Incoming:
    """The state of one incoming sequence. identifier: 64 bits, compared as one number (MS-MQMQ 2.2.18.1.2)."""

    identifier: int = 0
    number: int = 0
    rejects: int = 0


class Sequences:
    """IncomingTxSequenceID, IncomingTxSequenceNumber and TxMessageRejectCount, by the other queue manager."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._known = {key: Incoming(*value) for key, value in node.kept.values("incoming:").items()}

    def key(self, session: Session, read: dict[str, Json]) -> str:
        """Return what shares one sequence with a message: all that come from one queue manager."""
        return session.remote.hex()

    def of(self, key: str) -> Incoming:
        """Return the state of a sequence."""
        return self._known.get(key) or Incoming()

    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        """Return true for a message that is in order and no duplicate."""
        if identifier == state.identifier:
            return number > state.number and previous <= state.number
        return identifier > state.identifier and previous == 0

    def take(self, session: Session, read: dict[str, Json]) -> bool:
        """Process a transactional message; return true if it is accepted."""
        key, given = self.key(session, read), read["transaction"]
        identifier = given["sequence_identifier"]["timestamp"] << 32 | given["sequence_identifier"]["ordinal"]
        state = self.of(key)
        number, previous = given["sequence_number"], given["previous_sequence_number"]
        accepted = self.accepts(state, identifier, number, previous)
        if accepted:
            self.put(key, Incoming(identifier, number))
        else:
            self.put(key, self.rejected(state, identifier, number))
        return accepted

    def rejected(self, state: Incoming, identifier: int, number: int) -> Incoming:
        """Return the state behind a message that is not accepted."""
        return Incoming(state.identifier, state.number, state.rejects + 1)

    def put(self, key: str, state: Incoming) -> None:
        """Keep the state of a sequence; the one used longest ago is forgotten when there are too many."""
        self._known.pop(key, None)
        self._known[key] = state
        self.node.kept.keep(f"incoming:{key}", [state.identifier, state.number, state.rejects])
        while len(self._known) > MOST_SEQUENCES:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self.node.kept.forget(f"incoming:{oldest}")


_SCHEMA = """
CREATE TABLE IF NOT EXISTS values_kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outgoing (key INTEGER PRIMARY KEY, route TEXT NOT NULL, entry TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS history (identifier TEXT PRIMARY KEY, stamp REAL NOT NULL) WITHOUT ROWID;
"""


class Kept:
    """The file. Changes are collected and written together by `flush`."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises StoreError if it cannot be used."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise StoreError(f"the state folder {path.parent} cannot be used: {error}") from error
        self._pending: list[tuple[str, tuple[Json, ...]]] = []

    def value(self, name: str, default: Json) -> Json:
        """Return a kept value, or `default`."""
        found = self._db.execute("SELECT value FROM values_kept WHERE name=?", (name,)).fetchone()
        return json.loads(found[0]) if found else default

    def values(self, prefix: str) -> dict[str, Json]:
        """Return the kept values whose names begin so, by the rest of the name."""
        rows = self._db.execute("SELECT name, value FROM values_kept WHERE substr(name, 1, ?)=?", (len(prefix), prefix))
        return {name[len(prefix) :]: json.loads(value) for name, value in rows}

    def keep(self, name: str, value: Json) -> None:
        """Keep a value."""
        self._pending.append(("INSERT OR REPLACE INTO values_kept VALUES (?,?)", (name, json.dumps(value))))

    def forget(self, name: str) -> None:
        """Drop a value."""
        self._pending.append(("DELETE FROM values_kept WHERE name=?", (name,)))

    def outgoing(self) -> Iterator[tuple[int, Json, Json]]:
        """Return key, route and entry of each message that was not delivered, in the order they were made."""
        for key, route, entry in self._db.execute("SELECT key, route, entry FROM outgoing ORDER BY key"):
            yield key, json.loads(route), json.loads(entry)

    def put_entry(self, key: int, route: Json, entry: Json) -> None:
        """Keep an outgoing message."""
        values = (key, json.dumps(route), json.dumps(entry))
        self._pending.append(("INSERT OR REPLACE INTO outgoing VALUES (?,?,?)", values))

    def drop_entry(self, key: int) -> None:
        """Drop an outgoing message."""
        self._pending.append(("DELETE FROM outgoing WHERE key=?", (key,)))

    def history(self) -> dict[str, float]:
        """Return the identifiers of received messages, the earliest first, with seconds since 1970."""
        return dict(self._db.execute("SELECT identifier, stamp FROM history ORDER BY stamp"))

    def put_history(self, identifier: str, stamp: float) -> None:
        """Keep the identifier of a received message."""
        self._pending.append(("INSERT OR REPLACE INTO history VALUES (?,?)", (identifier, stamp)))

    def drop_history(self, identifier: str) -> None:
        """Drop the identifier of a received message."""
        self._pending.append(("DELETE FROM history WHERE identifier=?", (identifier,)))

    def flush(self) -> None:
        """Write the changes as one transaction."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        self._db.execute("BEGIN")
        for statement, values in pending:
            self._db.execute(statement, values)
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Write the changes and close the file."""
        self.flush()
        self._db.close()


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message that came. own: this queue manager is its destination. queue: the one it names, if it is here."""

    session: Session
    packet: bytes
    read: dict[str, Json]
    own: bool
    queue: Queue | None

    @property
    def transactional(self) -> bool:
        return "transaction" in self.read

    @property
    def recoverable(self) -> bool:
        return bool(self.read["delivery"] == "recoverable")

    def asks(self, word: str) -> bool:
        """Return true if the message asks for this kind of administration acknowledgment."""
        return word in self.read["acknowledgements"]


class Receiver:
    """Processes the messages of all sessions."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def user_message(self, session: Session, packet: bytes) -> None:
        """Process a packet whose BaseHeader has IN clear. Raises Malformed for one that closes the session."""
        arrived = self.arrived(session, packet)
        if self.duplicate(arrived) or not (arrived.own or self.node.has_room(len(packet), passed_on=True)):
            return
        self.count(arrived)
        if self.is_order_queue(arrived.read):
            self.acknowledgment(arrived)
        else:
            self.deliver(arrived)
        self.session_header(arrived)
        session.processed()

    def arrived(self, session: Session, packet: bytes) -> Arrived:
        """Read a packet. Raises Malformed."""
        read = self.node.manager.packet_reader.arrived(packet)
        own = read["destination_queue_manager"] in (NULL_GUID, self.node.manager.guid)
        return Arrived(session, packet, read, own, self.node.local_queue(read["destination"]) if own else None)

    def duplicate(self, arrived: Arrived) -> bool:
        """Return true for a message that came before, which is discarded (3.1.5.8.1)."""
        return not arrived.transactional and self.node.history.knows(arrived.read)

    def count(self, arrived: Arrived) -> None:
        """Count a message and note its identifier (3.1.5.8.2)."""
        arrived.session.count_received()
        if self.is_direct(arrived.read):
            arrived.session.direct = True
        self.node.history.add(arrived.read)

    def is_direct(self, read: dict[str, Json]) -> bool:
        """Return true if UserHeader.Flags.DQ is 7."""
        return str(read["destination"]).startswith("DIRECT=")

    def recoverable(self, arrived: Arrived) -> None:
        """Save a recoverable message (3.1.5.8.7): it is written before anything acknowledges it."""
        if arrived.recoverable:
            arrived.session.count_recoverable()

    def session_header(self, arrived: Arrived) -> None:
        """Process the SessionHeader of a message (3.1.5.8.4): behind its delivery, as MS-MQMQ 2.2.20.4 has it."""
        given = arrived.read.get("session")
        if given is not None and arrived.session.open:
            header = SessionHeader(
                given["ack_sequence_number"],
                given["recoverable_ack_sequence_number"],
                given["recoverable_ack_flags"],
                given["user_message_sequence_number"],
                given["recoverable_message_sequence_number"],
                given["window_size"],
            )
            arrived.session.acknowledge(header)
            arrived.session.validate(header)

    # Messages.

    def deliver(self, arrived: Arrived) -> None:
        """Put a message into its queue, or reject it."""
        if not arrived.own:
            self.recoverable(arrived)
            self.pass_on(arrived)
            return
        reason = self.refusal(arrived)
        if reason is not None:
            self.rejected_recoverable(arrived)
            self.reject(arrived, reason)
        elif self.expired(arrived.read):
            self.rejected_recoverable(arrived)
            self.expire(arrived)
        else:
            accepted = not arrived.transactional or self.in_order(arrived)
            self.recoverable(arrived)
            if accepted:
                self.insert(arrived)

    def rejected_recoverable(self, arrived: Arrived) -> None:
        """Count a recoverable message that is rejected: the session has received it."""
        self.recoverable(arrived)

    def refusal(self, arrived: Arrived) -> int | None:
        """Return the class of the negative acknowledgment for a message (3.1.5.8.2, 3.1.5.8.3); None if it is taken."""
        queue = arrived.queue
        if queue is None:
            return net.NACK_BAD_DST_Q
        if arrived.transactional and not queue.transactional:
            return net.NACK_NOT_TRANSACTIONAL_Q
        if queue.transactional and not arrived.transactional:
            return net.NACK_NOT_TRANSACTIONAL_MSG
        refused = self.node.security.refusal(arrived.packet, arrived.read, queue)
        return None if refused is None else refused[0]

    def reject(self, arrived: Arrived, reason: int) -> None:
        """Reject a message, with the acknowledgments that it asks for."""
        if arrived.asks("negative_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, reason)
        if arrived.transactional:
            self.node.acknowledging.final(arrived.session, arrived.read, reason)

    def expired(self, read: dict[str, Json]) -> bool:
        """Return true if the time to reach the queue is over (3.1.7.1.2)."""
        lives = read["time_to_reach_queue"]
        return bool(lives != INFINITE and self.node.now() - read["sent_time"] > lives)

    def expire(self, arrived: Arrived) -> None:
        """Ignore a message that came too late, with the acknowledgment that it asks for."""
        if arrived.asks("negative_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, net.NACK_REACH_QUEUE_TIMEOUT)

    def in_order(self, arrived: Arrived) -> bool:
        """Process a transactional message (3.1.5.8.6); return true if it is accepted."""
        accepted = self.node.sequences.take(arrived.session, arrived.read)
        arrived.session.schedule_order_ack(self.node.sequences.key(arrived.session, arrived.read))
        return accepted

    def insert(self, arrived: Arrived) -> None:
        """Insert a message into a local queue (3.1.5.8.8), and send what follows from that."""
        queue = arrived.queue
        assert queue is not None
        message = self.node.manager.arrival.message(arrived.read)
        message.carried = self.node.carried(arrived)
        delivery = self.node.manager.delivery
        if self.node.is_full(message.size):
            arrived.session.close()
            return
        if not delivery.fits(queue, message):
            self.over_quota(arrived)
            return
        delivery.place(queue, message)
        self.trace(arrived)
        self.node.reply(arrived)
        if arrived.asks("positive_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, net.ACK_REACH_QUEUE)

    def over_quota(self, arrived: Arrived) -> None:
        """Reject a message for which its queue has no room."""
        manager = self.node.manager
        if not arrived.transactional:
            manager.delivery.dead_letter(manager.arrival.message(arrived.read))
        self.reject(arrived, net.NACK_Q_EXCEED_QUOTA)

    def trace(self, arrived: Arrived) -> None:
        """Send a report of a traced message (3.1.5.8.9)."""
        if arrived.read["trace"] and "trace_queue" in arrived.read:
            self.node.acknowledging.report(arrived.session, arrived.read)

    def pass_on(self, arrived: Arrived) -> None:
        """Send a message for another queue manager to it, with its hop count increased (3.1.5.8.2, 3.1.5.8.5)."""
        if arrived.read["hop_count"] >= lay.MAX_HOPS:
            self.reject(arrived, net.NACK_HOP_COUNT_EXCEEDED)
            return
        onward = lay.one_hop_further(base64.b64encode(arrived.packet).decode("ascii"))
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=onward)

    # Transactional acknowledgments.

    def is_order_queue(self, read: dict[str, Json]) -> bool:
        """Return true for a message to the order queue of this queue manager (3.1.5.1.1)."""
        name = str(read["destination"])
        if name.startswith("DIRECT="):
            return name.partition("\\")[2].lower() == f"private$\\{net.ORDER_QUEUE}"
        return name.lower() == f"private={self.node.manager.guid}\\{net.ORDER_QUEUE_NUMBER:08x}"

    def acknowledgment(self, arrived: Arrived) -> None:
        """Receive an OrderAck or a FinalAck. Anything else in the order queue is without effect."""
        self.recoverable(arrived)
        read, codec = arrived.read, self.node.codec
        body = base64.b64decode(read["body"])
        if read["label"] != net.LABEL or len(body) != net.ACKNOWLEDGMENT_BODY:
            return
        for route in self.node.routes_of(arrived.session):
            if read["class"] == net.ORDER_ACK:
                route.order_ack(codec.read_order_body(body))
            elif read["class"] >= net.ACK_RECEIVE:
                route.final_ack(codec.read_final_body(body), read["class"])


class Security(Admission):
    """Tells why a message is rejected. Nobody knows the users of other computers here.

    denied: the queues, by `private$\\name` in lower case, that nobody may send to.
    """

    def __init__(self, manager: Manager, denied: frozenset[str]) -> None:
        super().__init__(manager)
        self.denied = denied

    def allowed(self, coming: Coming) -> bool:
        return not coming.secured or coming.queue.path.partition("\\")[2].lower() not in self.denied
