"""Queue names as values (MS-MQMQ 2.1): one frozen class a kind of name, made from the places of rules in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

PUBLIC, PRIVATE, SYSTEM = "public", "private", "system"
SCOPES = (PUBLIC, PRIVATE, SYSTEM)
JOURNAL, DEADLETTER, DEADXACT, XACTONLY = "journal", "deadletter", "deadxact", "xactonly"
SYSTEM_QUEUES = (JOURNAL, DEADLETTER, DEADXACT)
HTTP = ("HTTP", "HTTPS")

_SCOPE_WORDS = {PUBLIC: "", PRIVATE: "private$", SYSTEM: "system$;"}


@dataclass(frozen=True, slots=True)
class QueueName:
    """A name of any kind. text: exactly as it was given."""

    text: str
    kind: ClassVar[str]
    _PARTS: ClassVar[tuple[str, ...]]

    def __str__(self) -> str:
        return self.text

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that are present, by their names in the adapter protocol."""
        found = ((name, getattr(self, name)) for name in self._PARTS)
        return {name: value for name, value in found if value is not None}

    @property
    def read_only(self) -> bool:
        """True for a journal or a dead-letter queue, which nobody sends to (2.1.7)."""
        return getattr(self, "suffix", None) in SYSTEM_QUEUES

    def spelled(self) -> str:
        """Compose the name from its parts, keywords in capitals and without leading zeros."""
        raise TypeError(f"{type(self).__name__} has no spelling of its own")


@dataclass(frozen=True, slots=True)
class PathName(QueueName):
    """`computer\\queue` (2.1.1). scope `system`: `queue` is the name behind `system$;`."""

    computer: str
    scope: str
    queue: str
    subqueue: str | None = None
    kind: ClassVar[str] = "path"
    _PARTS: ClassVar[tuple[str, ...]] = ("computer", "scope", "queue", "subqueue")

    @property
    def read_only(self) -> bool:
        """True for a system queue."""
        return self.scope == SYSTEM

    def spelled(self) -> str:
        """Compose the name, as `QueueName.spelled`; the keywords of path names are in small letters, as in 2.1.1."""
        word = _SCOPE_WORDS[self.scope] + ("\\" if self.scope == PRIVATE else "")
        return f"{self.computer}\\{word}{self.queue}{_behind(self.subqueue)}"


@dataclass(frozen=True, slots=True)
class DirectName(QueueName):
    """`DIRECT=protocol:address\\queue` (2.1.2). protocol: in capitals.

    address: for HTTP with its slashes, `//host:80/MSMQ`. queue None: a system queue, which `suffix` names.
    """

    protocol: str
    address: str
    scope: str
    queue: str | None
    subqueue: str | None = None
    suffix: str | None = None
    kind: ClassVar[str] = "direct"
    _PARTS: ClassVar[tuple[str, ...]] = ("protocol", "address", "scope", "queue", "subqueue", "suffix")

    def spelled(self) -> str:
        """Compose the name, with the separator of an HTTP name, which is not a part (R-MQMQ-http-separator)."""
        separator = self.separator
        middle = _SCOPE_WORDS[self.scope].upper() + (separator if self.scope == PRIVATE else "")
        if self.scope == SYSTEM:
            return f"DIRECT={self.protocol}:{self.address}{separator}{middle}{_upper(self.suffix)}"
        rest = f"{self.queue}{_behind(self.subqueue)}{_behind(_upper(self.suffix))}"
        return f"DIRECT={self.protocol}:{self.address}{separator}{middle}{rest}"

    @property
    def separator(self) -> str:
        """The character behind the address."""
        return self.text[len(f"DIRECT={self.protocol}:{self.address}")]

    @property
    def host(self) -> str:
        """The computer, without the slashes, port and `/MSMQ` of HTTP."""
        if self.protocol not in HTTP:
            return self.address
        authority = self.address[2:].rpartition("/")[0]
        if authority.startswith("["):
            return authority[: authority.index("]") + 1]
        return authority.partition(":")[0]


@dataclass(frozen=True, slots=True)
class PublicName(QueueName):
    """`PUBLIC=guid` (2.1.3), with `;JOURNAL` where R-MQMQ-public-journal allows it."""

    guid: str
    suffix: str | None = None
    kind: ClassVar[str] = "public"
    _PARTS: ClassVar[tuple[str, ...]] = ("guid", "suffix")

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"PUBLIC={self.guid}{_behind(_upper(self.suffix))}"


@dataclass(frozen=True, slots=True)
class PrivateName(QueueName):
    """`PRIVATE=guid\\number` (2.1.4). identifier: the number, read as hexadecimal."""

    guid: str
    identifier: int
    suffix: str | None = None
    kind: ClassVar[str] = "private"
    _PARTS: ClassVar[tuple[str, ...]] = ("guid", "identifier", "suffix")

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"PRIVATE={self.guid}\\{self.identifier:x}{_behind(_upper(self.suffix))}"


@dataclass(frozen=True, slots=True)
class DistributionListName(QueueName):
    """`DL=guid@domain` (2.1.5)."""

    guid: str
    domain: str | None = None
    kind: ClassVar[str] = "distribution_list"
    _PARTS: ClassVar[tuple[str, ...]] = ("guid", "domain")

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"DL={self.guid}" + (f"@{self.domain}" if self.domain is not None else "")


@dataclass(frozen=True, slots=True)
class MachineName(QueueName):
    """`MACHINE=guid;JOURNAL` (2.1.6). suffix None: only where R-MQMQ-machine-suffix allows it."""

    guid: str
    suffix: str | None = None
    kind: ClassVar[str] = "machine"
    _PARTS: ClassVar[tuple[str, ...]] = ("guid", "suffix")

    @property
    def read_only(self) -> bool:
        """Always True: it names the journal or a dead-letter queue of a computer."""
        return True

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"MACHINE={self.guid}{_behind(_upper(self.suffix))}"


@dataclass(frozen=True, slots=True)
class ConnectorName(QueueName):
    """`CONNECTOR=guid` (2.1.6). suffix: `xactonly` or None."""

    guid: str
    suffix: str | None = None
    kind: ClassVar[str] = "connector"
    _PARTS: ClassVar[tuple[str, ...]] = ("guid", "suffix")

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"CONNECTOR={self.guid}{_behind(_upper(self.suffix))}"


@dataclass(frozen=True, slots=True)
class MulticastName(QueueName):
    """`MULTICAST=a.b.c.d:port` (2.1.6). address: the four numbers."""

    address: str
    port: int
    kind: ClassVar[str] = "multicast"
    _PARTS: ClassVar[tuple[str, ...]] = ("address", "port")

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return f"MULTICAST={self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class MultipleElementName(QueueName):
    """Format names separated by commas (2.1.7)."""

    elements: tuple[QueueName, ...]
    kind: ClassVar[str] = "multiple_element"
    _PARTS: ClassVar[tuple[str, ...]] = ()

    @property
    def parts(self) -> dict[str, Any]:
        """The elements as text."""
        return {"elements": [element.text for element in self.elements]}

    @property
    def read_only(self) -> bool:
        """True when an element is read-only."""
        return any(element.read_only for element in self.elements)

    def spelled(self) -> str:
        """See `QueueName.spelled`."""
        return ",".join(element.spelled() for element in self.elements)


def _behind(name: str | None) -> str:
    return f";{name}" if name is not None else ""


def _upper(word: str | None) -> str | None:
    return word.upper() if word is not None else None


KINDS: Mapping[str, str] = {
    "DIRECT": "direct",
    "PUBLIC": "public",
    "PRIVATE": "private",
    "DL": "distribution_list",
    "MACHINE": "machine",
    "CONNECTOR": "connector",
    "MULTICAST": "multicast",
}
"""The kind of a format name by its keyword."""

CAPTURED: Mapping[str, Mapping[str, str]] = {
    "path": {"computer": "computer", "queuename": "queue", "machinequeue": "queue", "subqueue": "subqueue"},
    "direct": {
        "location": "location",
        "weblocation": "location",
        "directqueuename": "queue",
        "webqueuename": "queue",
        "subqueue": "subqueue",
    },
    "public": {"guid": "guid"},
    "private": {"guid": "guid", "privateidentifier": "identifier"},
    "distribution_list": {"guid": "guid", "domainname": "domain"},
    "machine": {"guid": "guid"},
    "connector": {"guid": "guid"},
    "multicast": {"multicasthost": "host", "port": "port"},
}
"""For each kind: the case-folded rules whose places are needed, and their roles; in the maker's order."""


class Places(Protocol):
    """The places of the captured rules; `re.Match` implements it."""

    def __getitem__(self, index: int, /) -> Any:
        """Return the text of a place; None when the rule was not used."""

    def start(self, index: int, /) -> int:
        """Return the begin of a place; -1 when the rule was not used."""


Make: TypeAlias = Callable[[str, Any], QueueName]
Made: TypeAlias = Callable[[Sequence["int | None"]], Make]
"""Takes the indexes of the places of a kind (None: the rule is not in this branch) and returns a maker of values."""

# A frozen dataclass sets its fields one by one through object.__setattr__, which takes half the time of a whole parse
# for one of seven fields; the slots' own setters do the same and are not frozen.
_new = object.__new__
_SETTERS = tuple(
    getattr(DirectName, name).__set__
    for name in ("text", "protocol", "address", "scope", "queue", "subqueue", "suffix")
)
_text, _protocol, _address, _scope, _queue, _subqueue, _suffix = _SETTERS


def direct_name(
    text: str, protocol: str, address: str, scope: str, queue: str | None, subqueue: str | None, suffix: str | None
) -> DirectName:
    """Make `DirectName(...)` in a third of the time."""
    made = _new(DirectName)
    _text(made, text)
    _protocol(made, protocol)
    _address(made, address)
    _scope(made, scope)
    _queue(made, queue)
    _subqueue(made, subqueue)
    _suffix(made, suffix)
    return made


def _path(indexes: Sequence[int | None]) -> Make:
    computer_at, queue_at, subqueue_at = indexes
    assert computer_at is not None
    assert queue_at is not None

    def make(text: str, found: Places) -> QueueName:
        computer: str = found[computer_at]
        queue: str = found[queue_at]
        begin = found.start(queue_at)
        subqueue = found[subqueue_at] if subqueue_at is not None else None
        if begin == len(computer) + 1:
            return PathName(text, computer, PUBLIC, queue, subqueue)
        return PathName(text, computer, PRIVATE if text[begin - 1] == "\\" else SYSTEM, queue, subqueue)

    return make


def _direct(indexes: Sequence[int | None]) -> Make:
    location_at, queue_at, subqueue_at = indexes
    assert location_at is not None
    first = len("DIRECT=")

    def system(text: str, found: Places) -> QueueName:
        protocol, _, address = found[location_at].partition(":")
        suffix = text[text.rindex(";") + 1 :].lower()
        return direct_name(text, protocol.upper(), address, SYSTEM, None, None, suffix)

    def queue(text: str, found: Places) -> QueueName:
        assert queue_at is not None
        location, queue = found[location_at], found[queue_at]
        begin = found.start(queue_at)
        end = begin + len(queue)
        subqueue = None
        if subqueue_at is not None:
            subqueue = found[subqueue_at]
            if subqueue is not None:
                end += 1 + len(subqueue)
        protocol, _, address = location.partition(":")
        return direct_name(
            text,
            protocol.upper(),
            address,
            PUBLIC if begin == first + len(location) + 1 else PRIVATE,
            queue,
            subqueue,
            text[end + 1 :].lower() if end < len(text) else None,
        )

    return system if queue_at is None else queue


def _with_suffix(cls: type[PublicName] | type[MachineName] | type[ConnectorName]) -> Made:
    def made(indexes: Sequence[int | None]) -> Make:
        (guid_at,) = indexes
        assert guid_at is not None

        def make(text: str, found: Places) -> QueueName:
            guid = found[guid_at]
            end = found.start(guid_at) + len(guid)
            return cls(text, guid, text[end + 1 :].lower() if end < len(text) else None)

        return make

    return made


def _private(indexes: Sequence[int | None]) -> Make:
    guid_at, identifier_at = indexes
    assert guid_at is not None
    assert identifier_at is not None

    def make(text: str, found: Places) -> QueueName:
        digits = found[identifier_at]
        end = found.start(identifier_at) + len(digits)
        return PrivateName(text, found[guid_at], int(digits, 16), text[end + 1 :].lower() if end < len(text) else None)

    return make


def _list(indexes: Sequence[int | None]) -> Make:
    guid_at, domain_at = indexes
    assert guid_at is not None

    def make(text: str, found: Places) -> QueueName:
        return DistributionListName(text, found[guid_at], found[domain_at] if domain_at is not None else None)

    return make


def _multicast(indexes: Sequence[int | None]) -> Make:
    host_at, port_at = indexes
    assert host_at is not None
    assert port_at is not None

    def make(text: str, found: Places) -> QueueName:
        return MulticastName(text, found[host_at], int(found[port_at]))

    return make


MAKERS: Mapping[str, Made] = {
    "path": _path,
    "direct": _direct,
    "public": _with_suffix(PublicName),
    "private": _private,
    "distribution_list": _list,
    "machine": _with_suffix(MachineName),
    "connector": _with_suffix(ConnectorName),
    "multicast": _multicast,
}
