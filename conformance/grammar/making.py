"""Makes the value of a name from the places of a few rules in a text: the step that all parsers of names share.

A place is the group of a match, or of any object with the same two methods. Keywords are not searched again: begin and
end of a part show which keyword was beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from conformance.grammar.values import (
    PRIVATE,
    PUBLIC,
    SYSTEM,
    ConnectorName,
    DirectName,
    DistributionListName,
    MachineName,
    MulticastName,
    PathName,
    PrivateName,
    PublicName,
    QueueName,
)

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
