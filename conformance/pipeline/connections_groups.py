"""Find which connections of a stream must be judged together: those that share a host or a queue manager, in the end.

See `conformance.judge.sessions.columns.parts` for what the rules of connections keep by which key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from conformance.capture import Event, Frame, Opened
from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_SIDE, OF_TIME
from conformance.capture.columns.reader import Batch, Rows
from conformance.wire.decode import guid_text
from conformance.wire.session_packets import ESTABLISH_CONNECTION, PING_SIZE

_FLAGS, _INTERNAL, _KIND, _KINDS = 2, 0x08, 18, 0x0F  # Of BaseHeader and InternalHeader.
_SOURCE: Final = 16  # The queue manager that made a message: right behind BaseHeader.
_CLIENT, _SERVER, _ESTABLISHES = 20, 36, 52  # In EstablishConnection, and the bytes of it up to there.
_PINGED = 8  # In a ping.
_GUID = 16
_NULL = bytes(_GUID)


class Groups:
    """The groups of a stream. A node is a host or a queue manager. ordered: no packet is older than one before it.

    last_ns: the time of the last packet. weights: bytes of the packets of each connection.
    """

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._nodes: dict[object, int] = {}
        self._hosts: list[int] = [-1]  # By connection.
        self._ends: dict[int, tuple[str, str]] = {}  # By connection: the two hosts.
        self._between: set[tuple[str, str]] = set()  # The hosts of datagrams.
        self._met: set[tuple[int | tuple[str, str], bytes]] = set()  # Managers, by connection or hosts of datagrams.
        self._known = np.zeros((64, 2), np.int64)  # By 2 * connection + side: the queue manager met last.
        self.weights = np.zeros(32, np.int64)
        self.ordered = True
        self.last_ns = 0

    # --- what is met

    def batch(self, batch: Batch, times: Any) -> None:
        """Take the packets and events of a batch. times: of its packets, in their order."""
        for _, event in batch.events:
            if isinstance(event, Opened):
                self._open(event)
            elif isinstance(event, Frame):
                self._frame(event)
        for rows in (batch.in_file, batch.in_arena):
            if len(rows):
                self._rows(rows)
        if len(times):
            self.ordered = self.ordered and int(times[0]) >= self.last_ns and bool((np.diff(times) >= 0).all())
            self.last_ns = int(times[-1])

    @property
    def nodes(self) -> int:
        """The number of hosts and queue managers so far."""
        return len(self._parents)

    @property
    def met(self) -> int:
        """The number of connections, of pairs of hosts with datagrams, and of queue managers in each, so far."""
        return len(self._hosts) + len(self._between) + len(self._met)

    def _open(self, event: Opened) -> None:
        one, other = (self._node(end.address) for end in (event.initiator, event.acceptor))
        self._join(one, other)
        number = event.connection
        while len(self._hosts) <= number:
            self._hosts.append(-1)
        while 2 * number + 1 >= len(self._known):
            self._known = np.concatenate((self._known, np.zeros_like(self._known)))
            self.weights = np.concatenate((self.weights, np.zeros_like(self.weights)))
        self._hosts[number] = one
        self._ends[number] = event.initiator.address, event.acceptor.address

    def _frame(self, frame: Frame) -> None:
        one, other = self._node(frame.source.address), self._node(frame.destination.address)
        self._join(one, other)
        data = frame.data
        if frame.connection is None:
            hosts = frame.source.address, frame.destination.address
            self._between.add(hosts)
            if len(data) >= PING_SIZE:
                self._manager(one, data[_PINGED : _PINGED + _GUID], hosts)
            return
        self.weights[frame.connection] += len(data)
        if len(data) < _SOURCE + _GUID:
            return
        if not data[_FLAGS] & _INTERNAL:
            self._manager(one, data[_SOURCE : _SOURCE + _GUID], frame.connection)
        elif len(data) >= _ESTABLISHES and data[_KIND] & _KINDS == ESTABLISH_CONNECTION:
            for at in (_CLIENT, _SERVER):
                self._manager(one, data[at : at + _GUID], frame.connection)

    def _rows(self, rows: Rows) -> None:
        connections, ends = rows.meta[:, OF_CONNECTION], 2 * rows.meta[:, OF_CONNECTION] + rows.meta[:, OF_SIDE]
        count = np.bincount(connections, rows.lengths)
        self.weights[: len(count)] += count.astype(np.int64)
        buffer, offsets = rows.buffer, rows.offsets
        internal = buffer[offsets + _FLAGS] & _INTERNAL != 0
        long = rows.lengths >= _SOURCE + _GUID
        words = np.ndarray((len(buffer) - 7,), np.int64, buffer, strides=(1,))  # The eight bytes from each on.
        places = np.where(long, offsets, 0)  # Where a shorter one begins does not matter.
        high, low = words[places + _SOURCE], words[places + _SOURCE + 8]
        new = (high != self._known[ends, 0]) | (low != self._known[ends, 1])
        met = np.flatnonzero(new & long & ~internal)
        if len(met):
            self._known[ends[met], 0], self._known[ends[met], 1] = high[met], low[met]
            found = np.unique(np.column_stack((connections[met], high[met], low[met])), axis=0)
            for connection, *guid in found.tolist():
                self._manager(self._hosts[connection], np.array(guid, np.int64).tobytes(), connection)
        for row in np.flatnonzero(long & internal).tolist():
            data = buffer[int(offsets[row]) : int(offsets[row]) + _ESTABLISHES]
            if rows.lengths[row] >= _ESTABLISHES and data[_KIND] & _KINDS == ESTABLISH_CONNECTION:
                for at in (_CLIENT, _SERVER):
                    number = int(connections[row])
                    self._manager(self._hosts[number], data[at : at + _GUID].tobytes(), number)

    def _manager(self, host: int, guid: bytes, where: int | tuple[str, str]) -> None:
        if guid != _NULL:
            self._join(host, self._node(guid))
            self._met.add((where, guid))

    # --- groups

    def _node(self, key: object) -> int:
        number = self._nodes.get(key)
        if number is None:
            number = self._nodes[key] = len(self._parents)
            self._parents.append(number)
        return number

    def _root(self, node: int) -> int:
        while self._parents[node] != node:
            self._parents[node] = node = self._parents[self._parents[node]]
        return node

    def _join(self, one: int, other: int) -> None:
        self._parents[self._root(one)] = self._root(other)

    def buckets(self, count: int) -> Buckets:
        """Spread the groups over so many buckets, the largest first, each into the one with the fewest bytes."""
        weights: dict[int, int] = {self._root(node): 0 for node in self._nodes.values()}
        roots = [self._root(node) if node >= 0 else -1 for node in self._hosts]
        for connection, root in enumerate(roots):
            if root >= 0:
                weights[root] += int(self.weights[connection]) + 1
        filled, of_root = _spread(weights, count)
        hosts = {key: of_root[self._root(node)] for key, node in self._nodes.items() if isinstance(key, str)}
        return Buckets(
            np.array([of_root[root] for root in roots], "<i4").tobytes(), hosts, tuple(filled), len(weights),
            max(weights.values(), default=0),
        )  # fmt: skip

    def around(self, count: int) -> Buckets | None:
        """Spread over so many buckets what belongs together without the host that most others talk to.

        Queue managers may then be in several buckets. None without such a host.
        """
        pairs = {*self._ends.values(), *self._between}
        peers: dict[str, set[str]] = {}
        for one, other in pairs:
            peers.setdefault(one, set()).add(other)
            peers.setdefault(other, set()).add(one)
        server = max(peers, key=lambda host: (len(peers[host]), host), default=None)
        if server is None or server in peers[server]:
            return None
        clients = _Joined()
        for one, other in pairs:
            clients.join(one if one != server else other, other if other != server else one)
        weights = {clients.root(one if one != server else other): 0 for one, other in pairs}
        roots = [""] * len(self._hosts)
        for connection, (one, other) in self._ends.items():
            root = roots[connection] = clients.root(one if one != server else other)
            weights[root] += int(self.weights[connection]) + 1
        filled, of_root = _spread(weights, count)
        hosts = {host: of_root[clients.root(host)] for host in peers if host != server}
        numbers = np.array([of_root.get(root, 0) for root in roots], "<i4")
        met: dict[bytes, set[int]] = {}
        for where, guid in self._met:
            found = numbers[where] if isinstance(where, int) else next(hosts[one] for one in where if one != server)
            met.setdefault(guid, set()).add(int(found))
        crossing = frozenset(guid_text(guid) for guid, found in met.items() if len(found) > 1)
        return Buckets(
            numbers.tobytes(), hosts, tuple(filled), len(weights), max(weights.values(), default=0), crossing, server
        )


class _Joined:
    """Names that belong together."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def root(self, name: str) -> str:
        """Return the name that stands for all that belong to this one."""
        while self._parents.setdefault(name, name) != name:
            self._parents[name] = name = self._parents[self._parents[name]]
        return name

    def join(self, one: str, other: str) -> None:
        """Bring two together."""
        self._parents[self.root(one)] = self.root(other)


def _spread(weights: Mapping[Any, int], count: int) -> tuple[list[int], dict[Any, int]]:
    """Spread groups over buckets, the largest first; return the bytes of each bucket, and the bucket of each group."""
    filled = [0] * count
    found = {-1: 0}
    for root in sorted(weights, key=lambda one: (-weights[one], one)):
        at = filled.index(min(filled))
        filled[at] += weights[root]
        found[root] = at
    return filled, found


@dataclass(frozen=True, slots=True)
class Buckets:
    """Where to judge each connection. numbers: int32 by connection, as bytes. of_host: by address, but for a server.

    filled: bytes by bucket. groups: their number. largest: bytes of the largest. crossing: the queue managers that are
    met in several buckets, since the groups have a server in common. server: its host.
    """

    numbers: bytes
    of_host: Mapping[str, int]
    filled: tuple[int, ...]
    groups: int
    largest: int
    crossing: frozenset[str] = frozenset()
    server: str = ""

    @property
    def of_connection(self) -> Any:
        """The bucket of each connection."""
        return np.frombuffer(self.numbers, np.int32)

    def at(self, connection: int) -> int:
        """Return the bucket of a connection."""
        return int.from_bytes(self.numbers[4 * connection : 4 * connection + 4], "little")

    def of(self, event: Event) -> int:
        """Return the bucket of an event; of one about no connection and no host, the first."""
        connection = getattr(event, "connection", None)
        if connection is not None:
            return self.at(connection)
        if not isinstance(event, Frame):
            return 0
        found = self.of_host.get(event.source.address)
        return self.of_host[event.destination.address] if found is None else found


def concerns_only_its_connection(frame: Frame) -> bool:
    """Tell whether a packet of a connection is internal and names no queue manager."""
    data = frame.data
    return len(data) > _KIND and bool(data[_FLAGS] & _INTERNAL) and data[_KIND] & _KINDS != ESTABLISH_CONNECTION


def times_of(batch: Batch, frames: list[Frame]) -> tuple[Any, Any]:
    """Return the numbers of all packets of a batch, in order, and their times in ns. frames: those among its events."""
    numbers = [batch.in_file.meta[:, OF_NUMBER], batch.in_arena.meta[:, OF_NUMBER]]
    times = [batch.in_file.meta[:, OF_TIME], batch.in_arena.meta[:, OF_TIME]]
    if frames:
        numbers.append(np.array([one.number for one in frames], np.int64))
        times.append(np.array([one.time_ns for one in frames], np.int64))
    found, when = np.concatenate(numbers), np.concatenate(times)
    if len(batch.in_arena) or frames:
        order = np.argsort(found, kind="stable")
        found, when = found[order], when[order]
    return found, when
