"""The durable state: queues, recoverable messages and counters, in one SQLite file.

The live state is in memory; the file is written through. All changes of one call are one SQLite transaction, committed
before the answer, so a kill at any moment leaves the state between two calls. `synchronous=NORMAL`
under WAL: the death of the process loses nothing; a power cut may lose the last calls, never their consistency.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.files import make_folder

Json = Any
SCHEMA_VERSION = 4
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS queues (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, path TEXT NOT NULL, number INTEGER NOT NULL, properties TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    row INTEGER PRIMARY KEY, queue TEXT NOT NULL, lookup TEXT NOT NULL, key TEXT NOT NULL, arrival INTEGER NOT NULL,
    size INTEGER NOT NULL, sent_ms INTEGER NOT NULL, expires_ms INTEGER, transactional INTEGER NOT NULL,
    fields TEXT NOT NULL, carried TEXT, purged INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS prepared (identifier TEXT PRIMARY KEY, number INTEGER NOT NULL, steps TEXT NOT NULL)
    WITHOUT ROWID;
"""


class StoreError(Exception):
    """The state folder cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A stored queue."""

    id: str
    kind: str
    path: str
    number: int
    properties: dict[str, Json]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A stored message and its place. key and lookup are unsigned and may exceed SQLite's integers: they are text.

    purged: its queue was purged while the message was locked.
    """

    row: int
    queue: str
    lookup: int
    key: int
    arrival: int
    size: int
    sent_ms: int
    expires_ms: int | None
    transactional: bool
    fields: dict[str, Json]
    carried: dict[str, Json] | None = None
    purged: bool = False


@dataclass(frozen=True, slots=True)
class PreparedStep:
    """An operation of a prepared transaction. row: of its message. target: the queue that a move leads to."""

    row: int
    operation: str
    target: str | None


@dataclass(frozen=True, slots=True)
class PreparedRow:
    """A prepared transaction of a coordinator. index: its number in packets."""

    identifier: str
    index: int
    steps: list[PreparedStep]


class Store:
    """One file of durable state. The methods collect changes; `flush` writes them together."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises StoreError if it cannot be used."""
        try:
            make_folder(path.parent)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
            self._db.execute("PRAGMA synchronous=NORMAL")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, SCHEMA_VERSION):
                raise StoreError(f"{path} was written by another version of the embedded queue manager: remove it")
            if not found:  # the file keeps its journal mode and its tables
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.executescript(_SCHEMA)
                self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a path with a null character
            raise StoreError(f"the state folder {path.parent} cannot be used: {error}") from error
        self._pending: list[tuple[str, tuple[Json, ...]]] = []
        self._texts: dict[str, str | None] = {}
        self._has_rows = any(
            self._db.execute(f"SELECT EXISTS(SELECT 1 FROM {table})").fetchone()[0]
            for table in ("queues", "messages", "prepared")
        )

    def counter(self, name: str, default: int) -> int:
        """Return a stored number, or `default`."""
        found = self._db.execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
        return int(found[0]) if found else default

    def set_counter(self, name: str, value: int) -> None:
        """Store a number."""
        self._pending.append(("INSERT OR REPLACE INTO meta VALUES (?,?)", (name, value)))

    def text(self, name: str) -> str | None:
        """Return a stored text, None if there is none."""
        if name not in self._texts:
            found = self._db.execute("SELECT value FROM texts WHERE name=?", (name,)).fetchone()
            self._texts[name] = found[0] if found else None
        return self._texts[name]

    def set_text(self, name: str, value: str | None) -> None:
        """Store a text, or none."""
        if self.text(name) != value:
            self._texts[name] = value
            self._pending.append(("DELETE FROM texts WHERE name=?", (name,)))
            if value is not None:
                self._pending.append(("INSERT INTO texts VALUES (?,?)", (name, value)))

    def queues(self) -> list[QueueRow]:
        """Return the stored queues, in order of id."""
        rows = self._db.execute("SELECT id, kind, path, number, properties FROM queues ORDER BY id")
        return [QueueRow(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def messages(self) -> Iterator[MessageRow]:
        """Return the stored messages, in the order they were placed."""
        rows = self._db.execute(
            "SELECT row, queue, lookup, key, arrival, size, sent_ms, expires_ms, transactional, fields, carried, purged"
            " FROM messages ORDER BY row"
        )
        for row in rows:
            yield MessageRow(
                row[0],
                row[1],
                int(row[2]),
                int(row[3]),
                row[4],
                row[5],
                row[6],
                row[7],
                bool(row[8]),
                json.loads(row[9]),
                json.loads(row[10]) if row[10] is not None else None,
                bool(row[11]),
            )

    def put_queue(self, row: QueueRow) -> None:
        """Store a queue, or its new properties."""
        self._has_rows = True
        values = (row.id, row.kind, row.path, row.number, json.dumps(row.properties))
        self._pending.append(("INSERT OR REPLACE INTO queues VALUES (?,?,?,?,?)", values))

    def drop_queue(self, queue: str) -> None:
        """Delete a queue and its messages."""
        self._pending.append(("DELETE FROM messages WHERE queue=?", (queue,)))
        self._pending.append(("DELETE FROM queues WHERE id=?", (queue,)))

    def put_message(self, row: MessageRow) -> None:
        """Store a message."""
        self._has_rows = True
        values = (
            row.row,
            row.queue,
            str(row.lookup),
            str(row.key),
            row.arrival,
            row.size,
            row.sent_ms,
            row.expires_ms,
            int(row.transactional),
            json.dumps(row.fields),
            json.dumps(row.carried) if row.carried is not None else None,
            int(row.purged),
        )
        self._pending.append(("INSERT OR REPLACE INTO messages VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", values))

    def drop_message(self, row: int) -> None:
        """Delete a message."""
        self._pending.append(("DELETE FROM messages WHERE row=?", (row,)))

    def prepared(self) -> list[PreparedRow]:
        """Return the prepared transactions of a coordinator."""
        rows = self._db.execute("SELECT identifier, number, steps FROM prepared ORDER BY identifier")
        return [PreparedRow(row[0], row[1], [PreparedStep(*step) for step in json.loads(row[2])]) for row in rows]

    def put_prepared(self, row: PreparedRow) -> None:
        """Store a prepared transaction."""
        self._has_rows = True
        steps = json.dumps([(step.row, step.operation, step.target) for step in row.steps])
        self._pending.append(("INSERT OR REPLACE INTO prepared VALUES (?,?,?)", (row.identifier, row.index, steps)))

    def drop_prepared(self, identifier: str) -> None:
        """Delete a prepared transaction, if it is stored."""
        self._pending.append(("DELETE FROM prepared WHERE identifier=?", (identifier,)))

    def clear(self) -> None:
        """Delete every queue, message and transaction; counters stay."""
        self._pending = [entry for entry in self._pending if " meta " in entry[0] or " texts " in entry[0]]
        if self._has_rows:
            self._pending.append(("DELETE FROM messages", ()))
            self._pending.append(("DELETE FROM queues", ()))
            self._pending.append(("DELETE FROM prepared", ()))
            self._has_rows = False

    def flush(self) -> None:
        """Write the collected changes, all or nothing. Raises StoreError if the folder cannot be written."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        execute = self._db.execute
        try:
            execute("BEGIN IMMEDIATE")
            for sql, values in pending:
                execute(sql, values)
            execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                execute("ROLLBACK")
            raise StoreError(f"the state could not be written: {error}") from error

    def close(self) -> None:
        """Write pending changes and close the file."""
        self.flush()
        self._db.close()
