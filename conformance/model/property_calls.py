"""What is done to the properties of queues, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.model.calls import BadCall
from conformance.verdict import Json

CREATE, SET, GET, DELETE = "queues.create", "queues.set", "queues.get", "queues.delete"
USE, RESTART, ADVANCE = "use", "restart", "clock.advance"
METHODS = (CREATE, SET, GET, DELETE, USE, RESTART, ADVANCE)
LONGEST_ADVANCE_MS = 1 << 40


@dataclass(frozen=True, slots=True)
class PropertyCall:
    """One call. values: what create and set write; names: what get reads. use: a message is sent, and received.

    queue: a name of the history's own. by_ms: of clock.advance. kill: of restart.
    """

    method: str
    queue: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    by_ms: int = 0
    kill: bool = False

    def to_json(self) -> dict[str, Any]:
        """The members that say something."""
        out: dict[str, Any] = {"method": self.method}
        if self.queue:
            out["queue"] = self.queue
        if self.values:
            out["values"] = dict(self.values)
        if self.names:
            out["names"] = list(self.names)
        if self.by_ms:
            out["by_ms"] = self.by_ms
        if self.kill:
            out["kill"] = True
        return out

    @classmethod
    def from_json(cls, value: Any) -> PropertyCall:
        """The inverse of `to_json`. Raises BadCall for what it could not have written."""
        if not isinstance(value, dict) or value.get("method") not in METHODS:
            raise BadCall(f"there is no call {str(value)[:80]}")
        queue, values, names = value.get("queue", ""), value.get("values", {}), value.get("names", [])
        by_ms, kill = value.get("by_ms", 0), value.get("kill", False)
        plain = isinstance(queue, str) and isinstance(values, dict) and isinstance(kill, bool)
        listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not plain or not listed or not isinstance(by_ms, int) or not 0 <= by_ms <= LONGEST_ADVANCE_MS:
            raise BadCall(f"the members of {str(value)[:80]} have other types")
        if not all(one is None or isinstance(one, (int, str)) for one in values.values()):
            raise BadCall(f"{str(value)[:80]} writes what is no value of a property")
        return cls(value["method"], queue, values, tuple(names), by_ms, kill)


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """How a call ended. status None: an API without HRESULTs. values: the properties that get gave.

    began_ms, ended_ms: the implementation's own time before and after the call; None when it does not tell it.
    """

    status: int | None
    failed: bool
    values: Mapping[str, Json] = field(default_factory=dict)
    began_ms: int | None = None
    ended_ms: int | None = None
