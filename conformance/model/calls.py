"""Calls of a queue manager's user, with names in the place of handles, and observations: what answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from operator import attrgetter
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
    identifier: what the coordinator calls a transaction. single_phase: it leaves the decision to the manager.
    hardened: whether security is, from the next start on.
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
    identifier: str | None = None
    single_phase: bool = False
    hardened: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the call as a repro file stores it; members at their default are left out."""
        out = {
            name: member for (name, default), member in zip(_DEFAULTS, _MEMBERS(self), strict=True) if member != default
        }
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
_MEMBERS = attrgetter(*(field.name for field in fields(Call)))
_KINDS = {field.name: {"bool": bool, "int": int}.get(str(field.type).partition(" ")[0], str) for field in fields(Call)}

FAILED = 0x80000000  # MS-MQMQ 2.4: an HRESULT with the top bit set is a failure


def _fill(seen: Any, name: str, written: int) -> None:
    seen.name, seen.written = name, written


@value
class SeenMessage:
    """A message as a read showed it. A property that the implementation cannot show is None and is not judged.

    identifier: as `GUID\\number`. klass: MS-MQMQ 2.2.18.1.6. correlation: the identifier of the message that this one
    acknowledges. destination: of a transferred message, the name of the queue it is addressed to, or an unknown
    format name. admin: the same of the administration queue, empty for none. shown: the message as the protocol has it.
    name: its name in the model; a body is the name, padded with spaces. written: bytes of the body before the padding.
    """

    body: bytes
    label: str | None = None
    priority: int | None = None
    delivery: str | None = None
    lookup_identifier: int | None = None
    identifier: str | None = None
    klass: int | None = None
    correlation: str | None = None
    first_in_transaction: bool | None = None
    last_in_transaction: bool | None = None
    destination: str | None = None
    admin: str = ""
    shown: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    name: str = field(init=False, default="", repr=False, compare=False)
    written: int = field(init=False, default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = self.body.rstrip(b" ")  # only once: a body may be long, and its name is used often
        _fill(self, plain.decode("ascii", "replace"), len(plain))


@value
class Answer:
    """The end of a call. status: an HRESULT as unsigned number, None for an API without HRESULTs.

    failed: the call failed. text: the implementation's own words, for the story. values: all other results.
    messages: the messages of a transfer, in the order in which they came.
    """

    status: int | None = 0
    failed: bool = False
    message: SeenMessage | None = None
    text: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
    messages: tuple[SeenMessage, ...] | None = None

    @classmethod
    def of_status(cls, status: int, message: SeenMessage | None = None) -> Answer:
        """Return an answer with an HRESULT."""
        return cls(status, status >= FAILED, message if status < FAILED else None)

    def to_json(self) -> dict[str, Json]:
        """Return the answer as evidence."""
        out: dict[str, Json] = {"status": None if self.status is None else f"0x{self.status:08X}"}
        if self.failed and self.text:
            out["failure"] = self.text
        if self.message is not None:
            out["message"] = self.message.label or self.message.name
        if "properties" in self.values:
            out["properties"] = self.values["properties"]
        if self.messages is not None:
            out["messages"] = [seen.label or seen.name for seen in self.messages]
        return out


@value
class Observation:
    """Observed effects of one call.

    answer: None when the call waits. completed: the answers of waiting reads, by name, that ended during this call.
    """

    answer: Answer | None = None
    completed: Mapping[str, Answer] = field(default_factory=dict)


@value
class Scan:
    """Content of a queue, emptied after a wrong answer. messages: by name, in the order they came.

    queue: the name of the queue. seen: the messages as they came, where their names depend on them.
    """

    messages: tuple[str, ...]
    queue: str | None = None
    seen: tuple[SeenMessage, ...] = ()
