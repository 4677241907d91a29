"""Note the transactional sequences that other queue managers send to local queues (MS-MQDMPR 3.1.1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Queue
from conformance.spec.constants.enumerations import ENUMERATIONS

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
_VT = ENUMERATIONS["VARENUM"].members
MOST_SEQUENCES = 10_000  # told of one queue, the newest


@dataclass(slots=True)
class Incoming:
    """One sequence. time: of the last message, seconds since 1970. rejects: of that message before it was taken."""

    format_name: str
    sender: str
    identifier: int
    number: int
    time: int
    rejects: int = 0


class IncomingTransfers:
    """Notes the sequences by queue, and tells them to an administrator."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._of: dict[str, dict[tuple[str, int], Incoming]] = {}
        self._rejected: dict[tuple[str, str, int], int] = {}

    def accepted(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message, read from a packet, that the queue has taken."""
        found = self._found(queue, read)
        if found is not None:
            found.number = read["transaction"]["sequence_number"]
            found.rejects = self._rejected.pop((queue.id, found.sender, found.identifier), 0)

    def rejected(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message that the queue has not taken."""
        if not queue.transactional or not read.get("transaction"):
            return
        key = (queue.id, *_key(read))
        self._rejected[key] = self._rejected.get(key, 0) + 1
        if _key(read) in self._of.get(queue.id, {}):
            self._of[queue.id][_key(read)].time = self._now()

    def forget(self) -> None:
        """Forget every sequence."""
        self._of.clear()
        self._rejected.clear()

    def told(self, queue: Queue) -> list[Json]:
        """Return the six vectors of MS-MQMQ 2.3.12.24."""
        known = list(self._of.get(queue.id, {}).values())[-MOST_SEQUENCES:]
        return [
            _vector("VT_LPWSTR", [each.format_name for each in known]),
            _vector("VT_CLSID", [each.sender for each in known]),
            _vector("VT_UI8", [str(each.identifier) for each in known]),
            _vector("VT_UI4", [each.number for each in known]),
            _vector("VT_I4", [each.time for each in known]),
            _vector("VT_UI4", [each.rejects for each in known]),
        ]

    def _found(self, queue: Queue, read: dict[str, Json]) -> Incoming | None:
        if not queue.transactional or not read.get("transaction"):
            return None
        key = _key(read)
        known = self._of.setdefault(queue.id, {})
        if key not in known:
            known[key] = Incoming(read["destination"], *key, 0, 0)
        known[key].time = self._now()
        return known[key]

    def _now(self) -> int:
        return self.manager.clock.now_ms() // 1000


def _key(read: dict[str, Json]) -> tuple[str, int]:
    identifier = read["transaction"]["sequence_identifier"]
    return read["identifier"]["source"], identifier["timestamp"] << 32 | identifier["ordinal"]


def _vector(variant: str, values: list[Json]) -> Json:
    return {"vt": _VT[variant] | _VT["VT_VECTOR"], "value": values}
