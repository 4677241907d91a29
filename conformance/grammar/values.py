"""Queue names as values (MS-MQMQ 2.1): one frozen class a kind of name.

A value keeps the text it came from, so that it prints back exactly; `spelled` composes a name from the parts alone,
keywords in capitals. `parts` is the answer to the adapter protocol's `names.parse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
