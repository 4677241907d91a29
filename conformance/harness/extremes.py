"""The largest values that a run sent, beside the limits that the driver declares and those that the text sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.adapter.protocol import MAX_BODY_BYTES, body_bytes
from conformance.judge.names import LONGEST_MESSAGE_LABEL, LONGEST_QUEUE_LABEL
from conformance.runlog.run import UNITS
from conformance.verdict import Json

_BODIES, _MESSAGES, _QUEUES = UNITS


@dataclass(slots=True)
class Extremes:
    """The lengths that were sent. within, above: the longest of each kind that a limit allows, and that it does not."""

    limits: dict[str, int] = field(
        default_factory=lambda: {_MESSAGES: LONGEST_MESSAGE_LABEL, _QUEUES: LONGEST_QUEUE_LABEL}
    )
    within: dict[str, int] = field(default_factory=dict)
    above: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.within or self.above)

    def declared(self, limits: Mapping[str, int]) -> None:
        """Take the limits of a driver."""
        if MAX_BODY_BYTES in limits:
            self.limits[_BODIES] = limits[MAX_BODY_BYTES]

    def see(self, method: str, params: Mapping[str, Any]) -> None:
        """Note the values of a call."""
        if method == "messages.send":
            message = params["message"]
            self._note(_BODIES, body_bytes(message))
            self._note_text(_MESSAGES, message.get("label", ""))
        elif method in ("queues.create", "queues.set"):
            self._note_text(_QUEUES, params.get("properties", {}).get("PROPID_Q_LABEL", ""))

    def _note_text(self, kind: str, text: object) -> None:
        if isinstance(text, str):
            self._note(kind, len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2)

    def _note(self, kind: str, size: int) -> None:
        most = self.limits.get(kind)
        into = self.within if most is None or size <= most else self.above
        if size > into.get(kind, -1):
            into[kind] = size

    def to_json(self) -> dict[str, Json]:
        """Return what a record keeps: see `conformance.runlog.run.Largest`."""
        return {
            kind: {"within": self.within.get(kind), "above": self.above.get(kind), "most": self.limits.get(kind)}
            for kind in UNITS
            if kind in self.within or kind in self.above
        }
