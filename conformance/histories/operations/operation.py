"""`Operation`: one method of the protocol as the harness calls it, and the handles behind its names."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from conformance.histories.features.feature import Feature
from conformance.histories.features.table import FEATURES
from conformance.model import Answer, Call, State
from conformance.model.journals import (
    ELSEWHERE,
    HTTP,
    MULTICAST,
    is_kept,
    is_multicast,
    is_public,
    is_remote,
    journal_of,
)
from conformance.model.values import replace

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.verdict import Json


class Role(Enum):
    """The role of a member of a call: a value, a name that the call gives, or a name that an earlier call gave."""

    VALUE = "value"
    GIVES = "gives"
    REFERS = "refers"


class Kind(Enum):
    """The kind of thing a name names. Queues and messages have names of the harness; other names refer to handles."""

    QUEUE = "queue"
    HANDLE = "handle"
    CURSOR = "cursor"
    TRANSACTION = "transaction"
    MESSAGE = "message"
    WAIT = "wait"
    READ = "read"


class Manner(Enum):
    """The way the harness makes a call.

    CALL: one request and its answer. READ: a request that may wait if it has a time-out. TIME: time passes on a virtual
    clock or a real one. RESTART: the harness ends the queue manager and starts it again. OWN: no method of the
    protocol; the harness makes several calls or none.
    """

    CALL = "call"
    READ = "read"
    TIME = "time"
    RESTART = "restart"
    OWN = "own"


NEEDED: Final = object()
"""The plain value of a member that every call needs."""
Sent: TypeAlias = Callable[[Any, Call, "Handles"], Any]
"""Makes the value of a member in the request from its value in the call."""
_HELD: Final = (
    Kind.HANDLE,
    Kind.CURSOR,
    Kind.TRANSACTION,
    Kind.READ,
)  # a request sends the name that the implementation gave


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a call.

    plain: the value in the plainest call. along: members to leave out when this one is plain. parameter: the name in
    the protocol; None if the member is not sent. group: the object among the parameters that holds it, and its kind in
    `accepts` of hello. default: the value to send in place of None. sent: makes the value in a request. result: the
    member of a successful result that holds the thing named. accepted: returns the feature that a value needs, as kind
    and name in `accepts` of hello. spread: `sent` returns members of the request, to be added to those of the others.
    decides: the call with this member plain may break another requirement, which tells
    more. each: the value is a tuple; `accepted` is called with each element, and a plainer call has fewer elements.
    """

    role: Role
    kind: Kind | None = None
    plain: Any = NEEDED
    along: tuple[str, ...] = ()
    parameter: str | None = None
    group: str | None = None
    default: Any = None
    sent: Sent | None = None
    result: str | None = None
    accepted: Callable[[Any], tuple[str, str] | None] | None = None
    decides: bool = False
    each: bool = False
    spread: bool = False

    def asks(self, value: Any) -> Iterator[tuple[str, str]]:
        """Yield the features that a value needs of a driver, see `accepted`."""
        if self.accepted is not None:
            for one in (value or ()) if self.each else (value,):
                asked = self.accepted(one)
                if asked is not None:
                    yield asked

    def fewer(self, value: Any) -> Iterator[Any]:
        """Yield values with fewer elements: each element alone, and all but one."""
        if self.each and value is not None and len(value) > 1:
            yield from ((one,) for one in value)
            yield from (value[:at] + value[at + 1 :] for at in range(len(value)) if len(value) > 2)


def value(plain: Any = None, **members: Any) -> Member:
    """Return a member that is a value."""
    return Member(Role.VALUE, plain=plain, **members)


def gives(kind: Kind, plain: Any = NEEDED, **members: Any) -> Member:
    """Return a member that names a thing the call creates."""
    return Member(Role.GIVES, kind, plain, **members)


def refers(kind: Kind, parameter: str | None = None, plain: Any = NEEDED, **members: Any) -> Member:
    """Return a member that names a thing an earlier call created."""
    return Member(Role.REFERS, kind, plain, parameter=parameter, **members)


def asked(group: str, parameter: str, plain: Any = None, **members: Any) -> Member:
    """Return a value in the object `group` of the parameters, which a driver may refuse to take."""

    def accepted(given: Any) -> tuple[str, str] | None:  # 0 is a value: a priority or a time
        return None if given is None or given is False else (group, parameter)

    made = {"role": Role.VALUE, "plain": plain, "parameter": parameter, "group": group, "accepted": accepted}
    return Member(**{**made, **members})


@dataclass(frozen=True, slots=True)
class Offer:
    """The methods, clock and features that a driver offers. accepts: as in hello."""

    methods: frozenset[str]
    virtual: bool
    accepts: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, *methods: str) -> bool:
        """Return True if the driver offers all these methods."""
        return self.methods.issuperset(methods)


class Choosing(Protocol):
    """A function that lists the calls that make sense in a state, the plainest first."""

    def __call__(self, state: State, offer: Offer) -> list[Call]: ...


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of step of walks. needs: the methods a driver must offer. virtual: a virtual clock is needed."""

    name: str
    choose: Choosing
    needs: tuple[str, ...] = ()
    virtual: bool = False

    def offered(self, offer: Offer) -> bool:
        """Return True if the driver offers the methods and the clock that the action needs."""
        return offer.has(*self.needs) and (offer.virtual or not self.virtual)


def action(name: str, choose: Callable[[State], list[Call]], *needs: str, virtual: bool = False) -> Action:
    """Return an action whose calls depend on the state alone."""
    return Action(name, lambda state, offer: choose(state), needs, virtual)


def _request_of(members: Mapping[str, Member]) -> Callable[[Call, Handles], dict[str, Any]]:
    """Compile the function that makes the parameters of a call with these members.

    Every step of a walk makes a request, and a loop over the members takes four times as long.
    """
    scope: dict[str, Any] = {}
    lines = ["def request(call, handles):", " params, known = {}, handles.known"]
    for number, (name, member) in enumerate((name, one) for name, one in members.items() if one.parameter is not None):
        scope |= {f"default{number}": member.default, f"sent{number}": member.sent, f"kind{number}": member.kind}
        value = "given"
        if member.sent is not None:
            value = f"sent{number}(given, call, handles)"
        elif member.kind is not None:
            value = "known[given]" if member.kind in _HELD else f"handles.of(kind{number}, given)"
        place = "params" if member.group is None else f"params.setdefault({member.group!r}, {{}})"
        lines.append(f" given = call.{name}")
        lines += [f" if given is None: given = default{number}"] if member.default is not None else []
        lines.append(f" if given is not None{' and given is not False' if member.group is not None else ''}:")
        lines.append(f"  {place}.update({value})" if member.spread else f"  {place}[{member.parameter!r}] = {value}")
    exec("\n".join([*lines, " return params"]), scope)  # made of names of members and parameters, never of input
    made: Callable[[Call, Handles], dict[str, Any]] = scope["request"]
    return made


@dataclass(frozen=True, slots=True)
class Operation:
    """One method, with everything the harness knows of it outside the model.

    members: the members of a call beside `method`, in the order of the request. story: describes the call in words,
    given the state it is made in. choices: the actions of walks that mainly make this call. answer: completes the
    answer with further members of the result. settles: its effect may be visible only `settle_ms` later. late: in a
    concurrent history it may take effect `settle_ms` later than its answer. verb, subject: its few words in a diagram,
    and the member that follows them. timed: while properties or management are judged, the harness
    reads the implementation's clock before and after it. ends: the kind of thing that is over when it
    succeeds. performed: makes a call of manner OWN. request: makes the parameters of a request; raises KeyError for a
    name that no call has given. restores: it brings messages back to where they were, so a message that is lost or out
    of place may be blamed on it.
    """

    method: str
    members: Mapping[str, Member]
    story: Callable[[Call, State], str]
    choices: tuple[Action, ...] = ()
    manner: Manner = Manner.CALL
    answer: Callable[[Answer, Call, Mapping[str, Any], Handles], Answer] | None = None
    settles: bool = False
    late: bool = False
    verb: str = ""
    subject: str | None = None
    timed: bool = False
    restores: bool = False
    ends: Kind | None = None
    performed: Callable[[Port, Call, Handles], Answer] | None = None
    request: Callable[[Call, Handles], dict[str, Any]] = field(init=False, repr=False)
    _bound: tuple[tuple[str, Member], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        members = self.members.items()
        object.__setattr__(self, "verb", self.verb or self.method.partition(".")[2])
        object.__setattr__(self, "request", _request_of(self.members))
        object.__setattr__(self, "_bound", tuple(one for one in members if one[1].result is not None))

    @property
    def needs(self) -> tuple[str, ...]:
        """The methods a driver must offer; empty for a call that the harness performs itself."""
        return () if self.manner in (Manner.RESTART, Manner.OWN) else (self.method,)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The distinctions that the specification makes when the operation happens; none if the table has none."""
        return FEATURES.get(self.method, ())

    @property
    def drawn(self) -> bool:
        """False if the call creates a queue or a handle, which sets the scene of a history."""
        scene = (Kind.QUEUE, Kind.HANDLE)
        return not any(member.role is Role.GIVES and member.kind in scene for member in self.members.values())

    def bind(self, call: Call, values: Mapping[str, Any], handles: Handles) -> None:
        """Keep the names and handles of a successful result. values: the members of the result."""
        for name, member in self._bound:
            assert member.kind is not None and member.result is not None
            if member.result in values:
                handles.keep(member.kind, getattr(call, name) or "", values[member.result])

    def plain(self, call: Call, *members: str) -> Call:
        """Return the call with these members plain."""
        changes: dict[str, Any] = {}
        for name in members:
            changes[name] = self.members[name].plain
            changes |= dict.fromkeys(self.members[name].along)
        return replace(call, **changes)

    def not_plain(self, call: Call) -> list[str]:
        """Return the names of the members that could be plainer."""
        return [
            name
            for name, member in self.members.items()
            if member.plain is not NEEDED and getattr(call, name) != member.plain
        ]


def in_brackets(parts: Sequence[str]) -> str:
    """Return the parts in brackets, to follow a phrase of a story; empty for no parts."""
    return f" ({', '.join(parts)})" if parts else ""


def queue_of(call: Call, state: State) -> str:
    """Describe the queue of a call's handle in words."""
    handle = state.handles.get(call.handle or "")
    if handle is None:
        return call.handle or "?"
    usual = ("send",) if call.method == "messages.send" else ("receive", "peek")  # a reader takes these for granted
    fit = [one for one in state.handles.values() if one.is_open and one.queue == handle.queue and one.access in usual]
    closed = "" if handle.is_open else "the closed "
    return handle.queue if fit == [handle] else f"{handle.queue} by {closed}{handle.name}"


_ADDRESS = "TCP:192.0.2.7"  # RFC 5737: an address reserved for documentation
_ALIAS = "OS:mqconform-elsewhere"
_REMOTE = ("remote1", "remote2", "remote3", MULTICAST, HTTP)
_GROUP = "MULTICAST=233.252.0.7:8001"  # RFC 5771: an address reserved for documentation


class Handles:
    """The handles, format names and lookup identifiers behind the names of one history.

    own: the end of its queues' names, for a driver that cannot be reset. lookups: message to the lookup identifier it
    was seen with. identifiers: the same for message identifiers, of what was transferred.
    coordinated: the GUID of each transaction of the coordinator. played: the harness plays the
    connections of outgoing queues.
    """

    def __init__(self, client: Port, own: str) -> None:
        self.computer = client.hello.computer
        self.need = client.need
        self.own = own
        self.known: dict[str, Any] = {}  # handles, cursors, transactions and begun receives
        self.formats: dict[str, str] = {}
        self.spelled: dict[str, str] = {}  # each format name that was sent, with the name of its queue
        self.requests: dict[str, int] = {}
        self.lookups: Mapping[str, int] = {}
        self.identifiers: dict[str, dict[str, Json]] = {}
        self.played = client.offers("management.connection")
        self._unique = client.unique
        self.coordinated: dict[str, str] = {}

    def of(self, kind: Kind, name: str) -> Any:
        """Return the value to send for a name in a request. Raises KeyError for a name that no call has given."""
        if kind is Kind.QUEUE:
            text = self.format(name)
            self.spelled[text] = name
            return text
        if kind is Kind.MESSAGE:
            return str(self.lookups.get(name, 0))
        return self.requests[name] if kind is Kind.WAIT else self.known[name]

    def identifier(self, name: str) -> str:
        """Return the GUID of a transaction of the coordinator: one that no earlier example has used.

        A name in capitals is the same transaction, whose GUID is spelled in capitals.
        """
        if name != name.lower():
            return self.identifier(name.lower()).upper()
        if name not in self.coordinated:
            self.coordinated[name] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._unique()}/{name}"))
        return self.coordinated[name]

    def keep(self, kind: Kind, name: str, given: Any) -> None:
        """Keep the handle or format name that an answer gave for a name."""
        if kind is Kind.QUEUE:
            self.formats[name] = given
        else:
            self.known[name] = given

    def path(self, queue: str) -> str:
        """Return the path name of a queue."""
        scope = "" if is_public(queue) else "private$\\"
        return f"{self.computer}\\{scope}mqconform-{queue}{self.own}"

    def format(self, queue: str) -> str:
        """Return the format name that the creation gave, or a direct one (MS-MQMQ 2.1.2, 2.1.7) for any other queue."""
        if is_multicast(queue):
            return _GROUP
        if queue == HTTP:
            return f"DIRECT=HTTP://192.0.2.7/msmq/private$/mqconform-{queue}{self.own}"
        if is_remote(queue):
            return f"DIRECT={_ALIAS if queue == 'remote3' else _ADDRESS}\\private$\\mqconform-{queue}{self.own}"
        known = self.formats.get(queue)
        parent, _, suffix = queue.partition(";")
        if known is None:
            if queue == ELSEWHERE:
                return f"DIRECT={_ALIAS}\\private$\\nobody"
            if "," in queue:
                return ",".join(map(self.format, queue.split(",")))
            if is_kept(queue):
                own = f"DIRECT=OS:{self.computer}\\SYSTEM$" if parent == "SYSTEM" else self.format(parent)
                return f"{own};{suffix}"
        if suffix:  # only direct names have subqueues
            return f"DIRECT=OS:{self.path(parent)};{suffix}"
        return known if known is not None else f"DIRECT=OS:{self.path(queue)}"

    def designated(self) -> dict[str, str]:
        """Return the names by which each queue may be told, in small letters, with the harness's own name of it."""
        found: dict[str, str] = {}
        for queue, name in self.formats.items():
            for text in (name, f"DIRECT=OS:{self.path(queue)}", self.path(queue)):
                found[text.casefold()] = queue
                found[journal_of(text).casefold()] = journal_of(queue)
        return found | {self.format(queue).casefold(): queue for queue in _REMOTE}

    def remote_named(self, format_name: str) -> str:
        """Return the harness's name of a queue on another computer; any other format name unchanged."""
        known = {self.format(queue).casefold(): queue for queue in _REMOTE}
        return known.get(format_name.casefold(), format_name)


def kind_of_name(queue: str) -> str | None:
    """Return the kind of format name that opens a queue; None for the plain one of a local queue."""
    if queue == ELSEWHERE or is_remote(queue):
        return "http" if queue == HTTP else "remote"
    if "," in queue:
        return "multiple_element"
    if is_kept(queue):
        return "dead_letter" if queue.startswith("SYSTEM;") else "journal"
    return "subqueue" if ";" in queue else None
