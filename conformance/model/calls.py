"""What a user of the queue manager asks for, with names of the harness in place of the implementation's handles.

A call is a value: it can be stored in a repro file and run again, on another implementation too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from conformance.model.values import value

INFINITE = 0xFFFFFFFF  # MS-MQMP 2.2.3.2: a time-out that never passes

METHODS = (
    "queues.create",
    "queues.delete",
    "queues.open",
    "queues.close",
    "queues.purge",
    "queues.counts",
    "limits",
    "messages.send",
    "messages.receive",
    "messages.peek",
    "messages.peek_next",
    "messages.receive_by_lookup_id",
    "messages.peek_by_lookup_id",
    "messages.receive_begin",
    "messages.receive_end",
    "messages.move",
    "messages.cancel",
    "cursors.open",
    "cursors.close",
    "transactions.begin",
    "transactions.prepare",
    "transactions.commit",
    "transactions.abort",
    "outgoing.pause",
    "outgoing.resume",
    "outgoing.take",
    "clock.now",
    "clock.advance",
    "restart",  # of the whole queue manager; no method of the protocol, the harness does it
)
_KINDS: dict[str, type] = {
    "transactional": bool,
    "kill": bool,
    "acknowledge": bool,
    "priority": int,
    "timeout_ms": int,
    "by_ms": int,
    "journaling": bool,
    "quota_kb": int,
    "journal_quota_kb": int,
    "size": int,
    "journal": bool,
    "dead_letter": bool,
    "live_s": int,
    "reach_s": int,
}  # others are text
READS = frozenset({"messages.receive", "messages.receive_begin", "messages.peek", "messages.peek_next"})
LOOKUPS = frozenset({"messages.receive_by_lookup_id", "messages.peek_by_lookup_id"})


class BadCall(ValueError):
    """A call the model cannot judge: it names something unknown, or asks for what no section describes."""


@value
class Call:
    """One request. Only the members its method has are set.

    name: what the harness calls the outcome (a queue, handle, cursor, transaction, message or waiting read).
    message: for a read by lookup identifier, the name of the message whose identifier is given.
    priority: 0 to 7, None for the default. delivery: `express`, `recoverable` or None for the default.
    timeout_ms, by_ms: milliseconds. request: the name of a waiting read. kill: for `restart`, without a warning.
    journaling, quota_kb, journal_quota_kb: of a new queue; the quotas also of the whole manager (`limits`).
    size: bytes of the body, 0 for what the name takes. journal, dead_letter: source journaling asked for. acks: the
    acknowledgments asked for, joined by `+`, and admin: the queue they go to. live_s, reach_s: time to be
    received, and to reach its queue, seconds.
    destination: the handle a message is moved to. read: the name of a receive that was begun; acknowledge: its end
    deletes the message.
    """

    method: str
    name: str | None = None
    queue: str | None = None
    handle: str | None = None
    cursor: str | None = None
    transaction: str | None = None
    message: str | None = None
    action: str | None = None
    access: str | None = None
    share: str | None = None
    transactional: bool = False
    priority: int | None = None
    delivery: str | None = None
    timeout_ms: int = 0
    by_ms: int = 0
    request: str | None = None
    kill: bool = False
    journaling: bool = False
    quota_kb: int | None = None
    journal_quota_kb: int | None = None
    size: int = 0
    journal: bool = False
    dead_letter: bool = False
    acks: str | None = None
    admin: str | None = None
    live_s: int | None = None
    reach_s: int | None = None
    destination: str | None = None
    read: str | None = None
    acknowledge: bool = False

    def to_json(self) -> dict[str, Any]:
        """The call as a repro file stores it; members at their default are left out."""
        return {name: member for name, default in _DEFAULTS if (member := getattr(self, name)) != default}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Call:
        """The inverse of `to_json`. Raises BadCall for a value it could not have written."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(value) - known)
        if unknown or value.get("method") not in METHODS:
            raise BadCall(f"not a call of the model: {unknown[0] if unknown else value.get('method')!r}")
        for name, member in value.items():
            wanted = _KINDS.get(name, str)
            if type(member) is not wanted or (isinstance(member, int) and not 0 <= member < 1 << 53):
                raise BadCall(f"{name} of {value['method']} is no {wanted.__name__} a call can have")
        return cls(**value)


_DEFAULTS = tuple((field.name, field.default) for field in fields(Call))
