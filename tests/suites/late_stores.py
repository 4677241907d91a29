"""The embedded manager with stores that write too late or lose what they wrote, each named after its defect.

A kill drops the object; a clean close writes all that is left, so that only kills show the defect.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.manager import Parts
from conformance.embedded.store import MessageRow, Store

Entry = tuple[str, tuple[Any, ...]]


def puts_message(entry: Entry) -> bool:
    return entry[0].startswith("INSERT OR REPLACE INTO messages")


def deletes(entry: Entry) -> bool:
    return entry[0].startswith("DELETE")


class LateStore(Store):
    """Writes of each batch what is due, and the rest later."""

    late: list[Entry]

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.late = []

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        """How many of these entries, the oldest first, are written now. fresh: the last of them, of this call."""
        return len(entries)

    def flush(self) -> None:
        fresh, self._pending = self._pending, []
        if any(entry[0] == "DELETE FROM queues" for entry in fresh):  # a reset leaves nothing to be written later
            self.late, self._pending = [], [*self.late, *fresh]
        else:
            entries = [*self.late, *fresh]
            now = self.due(entries, fresh)
            self.late, self._pending = entries[now:], entries[:now]
        super().flush()

    def close(self) -> None:
        self._pending, self.late = [*self.late, *self._pending], []
        Store.flush(self)
        super().close()


class WritesAtTheNextSend(LateStore):
    """Everything is written with the next recoverable message."""

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        return len(entries) if any(map(puts_message, fresh)) else 0


class WritesAfterTheAnswerOfTheNextSend(LateStore):
    """A recoverable message writes all that was before it, and waits itself for the next."""

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        return len(entries) - len(fresh) if any(map(puts_message, fresh)) else 0


class WritesAfterAMoment(LateStore):
    """What is 50 ms old is written, whenever the manager does something."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.since: list[float] = []

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        now = time.monotonic()
        self.since = [*self.since[: len(entries) - len(fresh)], *(now for _ in fresh)]
        old = sum(now - since >= 0.05 for since in self.since)
        self.since = self.since[old:]
        return old


class LosesTheLastRecord(LateStore):
    """The last record of the log is in a buffer until the next one comes."""

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        return len(entries) - 1


class DeletesLazily(LateStore):
    """Deletions are written by the dozen; what is put meanwhile is written at once."""

    def flush(self) -> None:
        if self.late or any(map(deletes, self._pending)):
            gone = [*self.late, *filter(deletes, self._pending)]
            self._pending = [entry for entry in self._pending if not deletes(entry)]
            self.late = []
            if len(gone) >= 12 or any(entry[0] == "DELETE FROM queues" for entry in gone):
                self._pending = [*gone, *self._pending]
            else:
                self.late = gone
        Store.flush(self)


class RevivesPurgedMessages(LateStore):
    """A purge, which deletes several messages at once, is written with the next message."""

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        purges = len(fresh) > 1 and all(entry[0] == "DELETE FROM messages WHERE row=?" for entry in fresh)
        waits = len(entries) > len(fresh) and not any(map(puts_message, fresh))
        return len(entries) - len(fresh) if purges else 0 if waits else len(entries)


class LosesAtTheSecondKill(Store):
    """A start takes the messages out of the file, and the next message put there writes them again."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.recovered: dict[int, MessageRow] = {}

    def messages(self) -> Iterator[MessageRow]:
        self.recovered = {row.row: row for row in super().messages()}
        self._db.execute("DELETE FROM messages")
        yield from list(self.recovered.values())

    def drop_message(self, row: int) -> None:
        self.recovered.pop(row, None)
        super().drop_message(row)

    def put_message(self, row: MessageRow) -> None:
        self.recovered.pop(row.row, None)
        super().put_message(row)

    def drop_queue(self, queue: str) -> None:
        self.recovered = {number: row for number, row in self.recovered.items() if row.queue != queue}
        super().drop_queue(queue)

    def clear(self) -> None:
        self.recovered.clear()
        super().clear()

    def flush(self) -> None:
        if any(map(puts_message, self._pending)):
            for row in list(self.recovered.values()):
                self.put_message(row)
        super().flush()

    def close(self) -> None:
        for row in list(self.recovered.values()):
            self.put_message(row)
        super().close()


class HalvesBatches(LateStore):
    """The second half of what one call changes is written with the next change."""

    def due(self, entries: list[Entry], fresh: list[Entry]) -> int:
        return len(entries) - len(fresh) // 2


STORES: tuple[type[Store], ...] = (
    WritesAtTheNextSend,
    WritesAfterTheAnswerOfTheNextSend,
    WritesAfterAMoment,
    LosesTheLastRecord,
    DeletesLazily,
    RevivesPurgedMessages,
    LosesAtTheSecondKill,
    HalvesBatches,
)


class Stored(EmbeddedDriver):
    """No defect: the embedded manager with its own store. made: the methods that were called, for all of these."""

    store: type[Store] = Store
    made: ClassVar[list[str]] = []

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, registry=Managers(parts=Parts(store=self.store)))

    def handle(self, method: str, *rest: Any, **more: Any) -> None:
        self.made.append(method)
        super().handle(method, *rest, **more)


def __getattr__(name: str) -> type[Stored]:
    """Return the driver of this name: `With` and the name of its store."""
    for store in STORES:
        if name == f"With{store.__name__}":
            return type(name, (Stored,), {"store": store})
    raise AttributeError(name)
