"""Messages that came, by identifier and transactional sequence (MS-MQQB 3.1.5.8), and what survives the process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.embedded.network.settings import Timer
from conformance.embedded.store import StoreError

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
