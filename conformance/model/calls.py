"""Calls of a queue manager's user, with names of the harness in place of the implementation's handles.

A call is a value: a repro file can store it, and it can be run again, on another implementation too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from conformance.model.values import value
from conformance.verdict import Json

INFINITE = 0xFFFFFFFF  # MS-MQMP 2.2.3.2: a time-out that never passes

READS = frozenset({"messages.receive", "messages.receive_begin", "messages.peek", "messages.peek_next"})
LOOKUPS = frozenset({"messages.receive_by_lookup_id", "messages.peek_by_lookup_id"})


class BadCall(ValueError):
    """A call that the model cannot judge: it names something unknown, or does something that no section describes."""


@value
class Call:
    """One request. Only the members of its method are set.

    name: the harness's name for the result (a queue, handle, cursor, transaction, message or waiting read).
    message: for a read by lookup identifier, the name of the message whose identifier is given.
    priority: 0 to 7, None for the default. delivery: `express`, `recoverable` or None for the default.
    timeout_ms, by_ms: milliseconds. request: the name of a waiting read. kill: for `restart`, without a warning.
    journaling, quota_kb, journal_quota_kb: of a new queue; the quotas also of the whole manager (`limits`).
    size: bytes of the body, 0 for the length of the name. journal, dead_letter: source journaling asked for. acks: the
    acknowledgments asked for, joined by `+`, and admin: the queue they go to. live_s, reach_s: time to be
    received, and to reach its queue, seconds. carries: further properties of the message, bits of `carried`.
    destination: the handle a message is moved to. read: the name of a begun receive; acknowledge: its end deletes the
    message.
    values: the properties that `queues.create` and `queues.set` write, in their order. names: those that `queues.get`
    reads; of `watch`, those that the manager shows: from then on the properties of queues are judged. `use`: a message
    is sent to a queue and received.
    target: `session` for the kind of thing that management must refuse; otherwise it is about `queue`, or the machine.
    step, addresses, error: of a connection. count: the most messages of a transfer, or those acknowledged. number: up
    to which messages are acknowledged in order. klass: the class of a final acknowledgment.
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
    carries: int = 0
    destination: str | None = None
    read: str | None = None
    acknowledge: bool = False
    values: tuple[tuple[str, Json], ...] | None = None
    names: tuple[str, ...] | None = None
    target: str | None = None
    step: str | None = None
    addresses: tuple[str, ...] | None = None
    error: int = 0
    count: int | None = None
    number: int | None = None
    klass: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the call as a repro file stores it; members at their default are left out."""
        out = {name: member for name, default in _DEFAULTS if (member := getattr(self, name)) != default}
        if self.values is not None:
            out["values"] = dict(self.values)
        if self.names is not None:
            out["names"] = list(self.names)
        if self.addresses is not None:
            out["addresses"] = list(self.addresses)
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Call:
        """Return a call from its JSON form: the inverse of `to_json`. Raises BadCall for any other value."""
        unknown = sorted(set(value) - set(_KINDS))
        if unknown or "method" not in value:
            raise BadCall(f"not a call of the model: {unknown[0] if unknown else None!r}")
        given: dict[str, Any] = {
            name: _LISTED[name](member) if name in _LISTED else member for name, member in value.items()
        }
        for name, member in given.items():
            if name in _LISTED:
                continue
            wanted = _KINDS[name]
            if type(member) is not wanted or (isinstance(member, int) and not 0 <= member < 1 << 53):
                raise BadCall(f"{name} of {value['method']} is no {wanted.__name__} a call can have")
        return cls(**given)


def _pairs(member: Any) -> tuple[tuple[str, Json], ...]:
    plain = isinstance(member, dict) and all(one is None or isinstance(one, (int, str)) for one in member.values())
    if not plain:
        raise BadCall(f"{str(member)[:80]} are no values of properties")
    return tuple(member.items())


def _texts(member: Any) -> tuple[str, ...]:
    if not isinstance(member, list) or not all(isinstance(name, str) for name in member):
        raise BadCall(f"{str(member)[:80]} are no names of properties")
    return tuple(member)


_LISTED: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "values": _pairs,
    "names": _texts,
    "addresses": _texts,
}
_DEFAULTS = tuple((field.name, field.default) for field in fields(Call))
_KINDS = {field.name: {"bool": bool, "int": int}.get(str(field.type).partition(" ")[0], str) for field in fields(Call)}
