"""The queue manager on the network: its sessions, its routes to others, and the local queues behind them."""

from __future__ import annotations

import base64
import ipaddress
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from conformance.embedded.clock import Clock, RealClock
from conformance.embedded.delivery import DEFAULTS, Delivery
from conformance.embedded.entities import Message, MqError, Position, Queue, Reason, State
from conformance.embedded.manager import Manager, Parts
from conformance.embedded.network import codec as net
from conformance.embedded.network.acknowledging import Acknowledging, Pings
from conformance.embedded.network.codec import Codec, SessionHeader
from conformance.embedded.network.incoming import Arrived, History, Kept, Receiver, Security, Sequences
from conformance.embedded.network.sender import Entry, Outgoing, Route
from conformance.embedded.network.session import Link, Session
from conformance.embedded.network.settings import Durations, Scheduler, Settings
from conformance.embedded.packet_layout import Malformed
from conformance.embedded.packet_writing import PacketWriter
from conformance.embedded.queues import Queues
from conformance.embedded.rpc.ntlm import Account
from conformance.embedded.rpc.planes import Planes, RpcParts, RpcSettings


class NetworkQueues(Queues):
    """hosts: the addresses of this queue manager, in lower case. Another loopback address is another computer."""

    hosts: ClassVar[frozenset[str]] = frozenset()

    def is_local(self, computer: str) -> bool:
        own = self.manager.computer.lower()
        return computer.lower() in (".", "localhost", own, f"{own}.local", *self.hosts)


class NetworkDelivery(Delivery):
    """Sends the acknowledgments of messages that leave a queue to where the messages came from (MS-MQQB 3.1.7.2).

    node: None until it has started; nothing leaves a queue before.
    """

    node: Node | None = None

    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if self.node is not None:
            self.node.stays(position)
        return position

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        came = (message.carried or {}).get("came")
        if self.node is None or came is None:
            return super().acknowledge_from(message, origin, message_class)
        read = {**message.fields, **came["read"]}
        return self.node.acknowledging.administration(None, read, message_class, bytes.fromhex(came["remote"]))

    def delete(self, position: Position, reason: Reason) -> None:
        leaves = position.queue.kind in ("private", "public")
        super().delete(position, reason)
        came = (position.message.carried or {}).get("came")
        if leaves and self.node is not None and came is not None and self.wants_final(position.message):
            read = {**position.message.fields, **came["read"]}
            remote = bytes.fromhex(came["remote"])
            self.node.acknowledging.final_to(read, reason.value, remote, came["address"], direct=came["direct"])

    def wants_final(self, message: Message) -> bool:
        """Return true for a transactional message whose removal has a FinalAck (MS-MQQB 3.1.7.2.2)."""
        transaction = (message.carried or {})["came"]["read"].get("transaction")
        if transaction is None:
            return False
        journaled = message.fields["positive_journaling"] or message.fields["negative_journaling"]
        return bool(journaled or transaction["final_ack_required"])


Json = Any
PROFILE = "msmq-4.0"
MOST_MESSAGE_KB = 65_536  # of all local queues together
MOST_JOURNAL_KB = 8_192  # of all journals and dead-letter queues together
MOST_MESSAGES = 50_000  # of all local queues together: small ones take far more memory than their bytes
MOST_OUTGOING_BYTES = 16 << 20
MOST_ROUTES = 256  # beyond, one that cannot be reached is forgotten with its messages
_NO_GUID = bytes(16)
_IN_MESSAGE = frozenset({*DEFAULTS, "identifier", "sent_time", "encrypted", "session", "authentication_level"})


@dataclass(slots=True)
class NetworkParts:
    """The classes a node is made of. A fault replaces some of them with subclasses."""

    codec: type[Codec] = Codec
    durations: type[Durations] = Durations
    session: type[Session] = Session
    route: type[Route] = Route
    receiver: type[Receiver] = Receiver
    acknowledging: type[Acknowledging] = Acknowledging
    security: type[Security] = Security
    history: type[History] = History
    sequences: type[Sequences] = Sequences
    pings: type[Pings] = Pings
    delivery: type[NetworkDelivery] = NetworkDelivery
    writer: type[PacketWriter] = PacketWriter
    readings: dict[str, str] = field(default_factory=dict)
    rpc: RpcParts = field(default_factory=RpcParts)


class Node:
    """One queue manager. dialler: connects to an address for a route; the session it makes is given to `connected`."""

    def __init__(
        self, settings: Settings, folder: Path, scheduler: Scheduler, parts: NetworkParts, clock: Clock | None = None
    ) -> None:
        """Recover the state in a folder. Raises StoreError if it cannot be used. clock: the computer's by default."""
        self.settings = settings
        self.scheduler = scheduler
        self.parts = parts
        self.dialler: Callable[[Route, bool], None] = lambda route, pinged: route.failed()
        self.kept = Kept(folder / "network.sqlite")
        queues = type("Queues", (NetworkQueues,), {"hosts": frozenset({settings.host.lower()})})
        inner = Parts(delivery=parts.delivery, queues=queues, writer=parts.writer)
        self.manager = Manager(folder, "network", profile=PROFILE, clock=clock or RealClock(), parts=inner)
        self.manager.guid = str(uuid.UUID(self.kept.value("guid", str(uuid.uuid4()))))
        self.kept.keep("guid", self.manager.guid)
        self.guid = uuid.UUID(self.manager.guid).bytes_le
        self.manager.writer = parts.writer(self.manager.names, self.manager.guid)
        self.manager.limit(MOST_MESSAGE_KB, MOST_JOURNAL_KB)
        self.codec = parts.codec()
        self.durations = parts.durations(settings.timers)
        self.history = parts.history(self)
        self.sequences = parts.sequences(self)
        denied = frozenset(f"private$\\{each.name}".lower() for each in settings.queues if each.denied)
        self.security = parts.security(self.manager, denied)
        self.acknowledging = parts.acknowledging(self, insecure=settings.insecure_nacks)
        self.incoming = parts.receiver(self)
        self.pings = parts.pings(self)
        account = None if settings.rpc_account is None else Account(*settings.rpc_account)
        rpc = RpcSettings(round(settings.rpc_cleanup_s * 1000), account)
        self.planes = Planes(self.manager, parts.rpc, rpc)
        self.sessions: list[Session] = []
        self.routes: dict[str, Route] = {}
        self.held_bytes = 0
        self.own_hosts = {settings.host.lower()}
        self.addresses: dict[bytes, str] = {}
        self._message_id = int(self.kept.value("message-id", 0))
        self._keys = int(self.kept.value("outgoing-key", 0))
        self._wake: float | None = None
        self._make_queues()

    # Starting and stopping.

    def _make_queues(self) -> None:
        for wanted in self.settings.queues:
            if self.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{wanted.name}") is None:
                path = f"{self.manager.computer}\\private$\\{wanted.name}"
                self.manager.queues.create(path, wanted.properties())

    def start(self) -> None:
        """Queue Manager Started (3.1.4.1): take up what the last process left."""
        delivery = self.manager.delivery
        assert isinstance(delivery, NetworkDelivery)
        delivery.node = self
        for queue in self.manager.queues.private():
            for position in list(queue.positions):
                self.stays(position)
        for key, at, stored in list(self.kept.outgoing()):
            route = self.route(at["key"], at["address"], bytes.fromhex(at["guid"]), direct=at["direct"])
            if route is None:
                continue
            order_acked = bool(stored.pop("order_acked"))
            entry = Entry(key, **stored, order_acked=order_acked)
            awaits_final = order_acked and entry.asks_journal()
            (route.awaiting_final if awaits_final else route.table)[key] = entry
            self.held_bytes += entry.size
        for route in list(self.routes.values()):
            route.go()
        self.commit()

    def stop(self) -> None:
        """Queue Manager Stopped (3.1.4.2)."""
        for session in list(self.sessions):
            session.close()
        self.commit()
        self.kept.close()
        self.manager.close()

    def guarded(self, action: Callable[[], None]) -> Callable[[], None]:
        """Return an action of a timer with what every event ends with: changes are written."""

        def run() -> None:
            action()
            self.commit()

        return run

    def commit(self) -> None:
        """Run what is due in the local queues, and write all changes to disk."""
        self.manager.clock.run_due()
        self.manager.store.flush()
        self.kept.flush()
        due = self.manager.clock.next_due_ms()
        if due is not None and (self._wake is None or due < self._wake):
            self._wake = due
            self.scheduler.later(max(0.0, due / 1000 - self.now()), self._woken)

    def _woken(self) -> None:
        self._wake = None
        self.commit()

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self.manager.clock.now_ms() / 1000

    def uptime_ms(self) -> int:
        """Return milliseconds since the system was started, as far as 32 bits hold them."""
        return int(self.scheduler.time() * 1000) & 0xFFFFFFFF

    # Sessions.

    def accepted(self, link: Link) -> Session:
        """Return the session of a connection that was accepted."""
        session = self.parts.session(self, link)
        self.sessions.append(session)
        session.accepted()
        return session

    def connected(self, link: Link, route: Route, *, pinged: bool) -> Session:
        """Return the session of a connection that was made for a route."""
        session = self.parts.session(self, link, route)
        self.sessions.append(session)
        session.connected(pinged=pinged)
        return session

    def full(self) -> bool:
        """Return true if one more session that another queue manager opens is refused."""
        taken = [each for each in self.sessions if each.takes_place and not each.initiates]
        return len(taken) >= self.parts.session.most

    def opened(self, session: Session) -> None:
        """Note that a session is initialized."""
        if session.initiates and session.route is not None:
            session.route.carried_by(session)
            return
        if not self.is_own_address(session.link.address):
            self.addresses.pop(session.remote, None)
            self.addresses[session.remote] = session.link.address
            if len(self.addresses) > MOST_ROUTES:
                del self.addresses[next(iter(self.addresses))]
        for waiting in list(self.routes.values()):
            if waiting.session is None and not waiting.dialling and waiting.may_use(session):
                waiting.carried_by(session)

    def closed(self, session: Session) -> None:
        """Note that a session is closed."""
        if session in self.sessions:
            self.sessions.remove(session)
        for route in list(self.routes.values()):
            if route is session.route or route.session is session:
                route.lost(session)

    def dial(self, route: Route, *, again: bool) -> None:
        """Connect to the address of a route; ping it first if that is wanted and it was not tried before."""
        if not self.settings.ping_first or again:
            self.dialler(route, False)
            return
        assert route.address is not None
        self.pings.request(
            (route.address, self.settings.ping_port),
            lambda accepted: self.dialler(route, True) if accepted else route.failed(),
        )

    # Where messages go.

    def local_queue(self, destination: str) -> Queue | None:
        """Return the queue that a message for this queue manager names; None if it takes no messages."""
        if destination.startswith("DIRECT="):
            destination = "DIRECT=OS:.\\" + destination.partition("\\")[2]  # whatever this host was called
        found = self.manager.queues.find_local(destination)
        return found if found is not None and found.kind in ("private", "public") else None

    def is_own_address(self, host: str) -> bool:
        """Return true if a connection to this host would come back to this process: all listen at the same port."""
        return host.lower() in self.own_hosts

    def may_connect(self, host: str) -> bool:
        """Return true for a loopback host, one that was named, and one that has connected itself."""
        if host.lower() in ("localhost", *self.settings.peers) or host in self.addresses.values():
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def met_itself(self, route: Route) -> None:
        """Note that an address leads back here; what was for it goes back over the sessions that caused it."""
        if route.address is not None and len(self.own_hosts) < MOST_ROUTES:
            self.own_hosts.add(route.address.lower())
        for entry in list(route.table.values()):
            route.move(entry, self.route_back(bytes.fromhex(entry.origin)))

    def has_room(self, size: int, *, passed_on: bool) -> bool:
        """Return true if one more outgoing message can be held. What is passed on has half of the room at most."""
        return size + self.held_bytes <= (MOST_OUTGOING_BYTES // 2 if passed_on else MOST_OUTGOING_BYTES)

    def route(self, key: str, address: str | None, guid: bytes, *, direct: bool) -> Route | None:
        """Return the route of this key, made if it is new; None if all that there may be are in use."""
        if key not in self.routes:
            if len(self.routes) >= MOST_ROUTES and not self._forget_route():
                return None
            route = self.parts.route(self, key, address, guid, direct=direct)
            stored = self.kept.value(f"route:{key}", None)
            if stored:
                route.sequence = Outgoing(*stored)
            self.routes[key] = route
        return self.routes[key]

    def _forget_route(self) -> bool:
        """Forget the oldest route that is idle, or else that cannot be reached; return false if there is none."""
        routes = list(self.routes.values())
        found = next((each for each in routes if each.idle), None)
        found = found or next((each for each in routes if each.retry.running), None)
        if found is not None:
            found.forget()
            del self.routes[found.key]
        return found is not None

    def route_to(self, name: str, remote: bytes) -> Route | None:
        """Return the route for a format name. There is no directory: a public queue is sought where the message that
        caused this one came from. None for a name of which nothing is known."""
        parsed = self.manager.names.format_name(name)
        if parsed.kind == "direct":
            if parsed.parts["protocol"] not in ("TCP", "OS"):
                return None
            if self.is_own_address(parsed.host):
                return self.route_back(remote)
            return self.route(f"tcp:{parsed.host.lower()}", parsed.host, _NO_GUID, direct=True)
        guid = uuid.UUID(str(parsed.parts["guid"])).bytes_le if parsed.kind == "private" else remote
        return self.route_back(guid) if parsed.kind in ("private", "public") else None

    def route_back(self, guid: bytes) -> Route | None:
        """Return the route to a queue manager: over the session it has opened, or to where it was last seen."""
        if guid in (_NO_GUID, self.guid):
            return None
        route = self.route(_guid_key(guid), self.addresses.get(guid), guid, direct=False)
        if route is None:
            return None
        route.address = self.addresses.get(guid, route.address)
        if route.session is None and not route.dialling:
            self.carry(route)
        return route

    def carry(self, route: Route) -> bool:
        """Let an open session to the queue manager of a route carry it; return false if there is none."""
        for session in self.sessions:
            if session.open and route.may_use(session):
                route.carried_by(session)
                return True
        return False

    def routes_of(self, session: Session) -> list[Route]:
        """Return the routes whose messages a transactional acknowledgment on this session can be for."""
        return [
            each
            for each in list(self.routes.values())
            if each is session.route
            or each.guid == session.remote
            or (each.address is not None and each.address == session.link.address)
        ]

    def post(self, name: str, message: dict[str, Json], remote: bytes, *, packet: str | None = None) -> None:
        """Send a message to a queue, here or elsewhere. What cannot be sent is discarded (3.1.7.15, 3.1.7.17).

        remote: the queue manager that caused it. packet: the whole packet of a message that is passed on.
        """
        made = dict(message)
        try:
            here = self.manager.queues.find_local(name) is not None
            route = None if here else self.acknowledging.route(name, made, remote)
            if packet is None:
                made |= {"destination": name, "sent_time": int(self.now())}
                made["identifier"] = {"source": self.manager.guid, "ordinal": self.next_message_id()}
                if route is not None and name.upper().startswith("PUBLIC="):
                    made["destination_queue_manager"] = str(uuid.UUID(bytes_le=route.guid))
                size = len(self.packet({k: v for k, v in made.items() if k != "transactional"}, None, None))
            else:
                size = len(packet) * 3 // 4
        except MqError:
            return
        if route is None:
            self._post_here(name, made)
            return
        if not self.has_room(size, passed_on=packet is not None):
            return
        self.held_bytes += size
        self._keys += 1
        entry = Entry(self._keys, made, size, packet, remote.hex())
        self.keep_entry(route, entry)
        route.add(entry)

    def _post_here(self, name: str, made: dict[str, Json]) -> None:
        queue = self.manager.queues.find_local(name)
        if queue is None or queue.kind not in ("private", "public") or queue.transactional:
            return
        try:
            self.manager.delivery.place(queue, self.message_of(made))
        except MqError:
            return

    def next_message_id(self) -> int:
        """Return the next MessageIdOrdinal (3.1.1.3)."""
        self._message_id = self._message_id + 1 & 0xFFFFFFFF
        self.kept.keep("message-id", self._message_id)
        return self._message_id

    def new_sequence(self) -> int:
        """Return the identifier of a new outgoing sequence: its Ordinal is 1, its time greater than any before."""
        return self.manager.next_timestamp() << 32 | 1

    def packet(self, message: dict[str, Json], packet: str | None, header: SessionHeader | None) -> bytes:
        """Return the bytes of a user message, with a SessionHeader if one is given. Raises MqError if too large."""
        data = base64.b64decode(packet if packet is not None else self.manager.writer.encode(message))
        if header is None:
            return data
        flags = int.from_bytes(data[2:4], "little") | 0x0010  # BaseHeader.Flags.SH
        return data[:2] + flags.to_bytes(2, "little") + data[4:] + self.codec.session(header)

    def message_of(self, made: dict[str, Json]) -> Message:
        """Return a message of this queue manager as its queues hold it."""
        plain = {name: value for name, value in made.items() if name != "transactional"}
        return self.manager.arrival.message(self.manager.packet_reader.arrived(self.packet(plain, None, None)))

    # What is kept of outgoing messages.

    def keep_entry(self, route: Route, entry: Entry) -> None:
        """Keep a recoverable message that is not delivered, and the sequence it is in."""
        if entry.recoverable:
            self.kept.keep("outgoing-key", self._keys)
            at = {"key": route.key, "address": route.address, "guid": route.guid.hex(), "direct": route.direct}
            self.kept.put_entry(entry.key, at, entry.stored())
        if entry.tx_number:
            self.keep_route(route)

    def keep_route(self, route: Route) -> None:
        """Keep the outgoing sequence of a route."""
        sequence = route.sequence
        self.kept.keep(f"route:{route.key}", [sequence.identifier, sequence.number, sequence.last_acked])

    def drop_entry(self, entry: Entry) -> None:
        """Hold a message no longer."""
        self.held_bytes -= entry.size
        if entry.recoverable:
            self.kept.drop_entry(entry.key)

    def not_delivered(self, entry: Entry, kind: int) -> None:
        """Acknowledge and log a message that was not sent, as far as it asks for that."""
        if "negative_arrival" in entry.message.get("acknowledgements", []):
            self.acknowledging.administration(None, entry.message, kind)
        if entry.message.get("negative_journaling"):
            self.log(entry, "deadxact" if entry.transactional else "deadletter")

    def log(self, entry: Entry, name: str) -> None:
        """Copy a message to a system queue."""
        if entry.packet is None:
            self.manager.delivery.copy(self.manager.queues.system(name), self.message_of(entry.message))
            return
        try:
            read = self.manager.packet_reader.arrived(base64.b64decode(entry.packet))
        except Malformed:
            return
        self.manager.delivery.copy(self.manager.queues.system(name), self.manager.arrival.message(read))

    def sent(self, route: Route, entry: Entry) -> None:
        """Send a report of a traced message that is passed on (3.1.7.1.7)."""
        if entry.message.get("trace") and "trace_queue" in entry.message and route.session is not None:
            self.acknowledging.report(route.session, entry.message, route.session.link.address)

    # What happens to messages in local queues.

    def is_full(self, size: int) -> bool:
        """Return true if the local queues together have no room for a message of `size` bytes."""
        manager = self.manager
        held = sum(len(queue.positions) for queue in manager.queues.private())
        return held >= MOST_MESSAGES or manager.message_bytes + size > manager.message_quota_kb * 1024

    def carried(self, arrived: Arrived) -> dict[str, Json]:
        """Return what acknowledgments of a message and remote readers will need, beside the message itself."""
        session, read = arrived.session, arrived.read
        came = {"remote": session.remote.hex(), "address": session.link.address, "direct": session.direct}
        said = {name: read[name] for name in ("destination", "transaction", "encrypted") if name in read}
        return {"came": {**came, "read": said, "packet": {k: v for k, v in read.items() if k not in _IN_MESSAGE}}}

    def stays(self, position: Position) -> None:
        """Note that a message is in a local queue: some queues are read after a while."""
        seconds = self.settings.consumes.get(position.queue.path.partition("private$\\")[2].lower())
        if seconds is not None:
            waited = max(0.0, self.now() - position.arrival) if position.arrival < int(self.now()) - 1 else 0.0
            self.scheduler.later(max(0.0, seconds - waited), self.guarded(lambda: self.consume(position)))

    def consume(self, position: Position) -> None:
        """Receive a message, unless it has gone meanwhile."""
        if position.state is State.AVAILABLE:
            self.manager.delivery.delete(position, Reason.RECEIVED)

    def reply(self, arrived: Arrived) -> None:
        """Send a copy of a message to its response queue, if its own queue answers."""
        queue, read = arrived.queue, arrived.read
        if queue is None or "response_queue" not in read:
            return
        if queue.path.partition("private$\\")[2].lower() not in self.settings.replies:
            return
        made = {**self.acknowledging.plain(net.NORMAL), "correlation_identifier": self.acknowledging.correlation(read)}
        made |= {name: read[name] for name in ("label", "body", "body_type", "delivery")}
        if queue.transactional:
            made |= {"priority": 0, "transactional": True, "positive_journaling": True, "negative_journaling": True}
        self.post(read["response_queue"], made, arrived.session.remote)


def _guid_key(guid: bytes) -> str:
    return f"guid:{guid.hex()}"
