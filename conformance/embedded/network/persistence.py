"""What of the network survives the process (MS-MQQB 3.1.1.3.2), in one SQLite file beside that of the queues."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.embedded.store import StoreError

Json = Any
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
