"""What is known of messages that came: identifiers (MS-MQQB 3.1.5.8.1) and transactional sequences (3.1.5.8.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded.network.settings import Timer

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node
    from conformance.embedded.network.session import Session

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
