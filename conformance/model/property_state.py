"""The part of the state that queue properties take: their values, and the demand broken where one reads otherwise."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from conformance.model.properties import APART, ROWS, SINCE
from conformance.model.values import replace, value
from conformance.spec.versions import applies
from conformance.verdict import Json

Times: TypeAlias = tuple[tuple[int, int], ...]
"""Intervals of seconds since 1970, ends included; none: any time will do."""


@value
class Known:
    """The value a property has. demand: what it breaks to read otherwise. written: what was last written to it.

    instead: a value it may have by mistake, with the demand that this mistake breaks; none, or one.
    """

    value: Json
    demand: str
    written: Json = None
    instead: tuple[tuple[Json, str], ...] = ()


@value
class QueueProperties:
    """A queue that exists. created, modified: when that can have been; timed: the demand on the time of the change.

    format_name: the one its creation gave, None where it gave none.
    """

    known: Mapping[str, Known]
    created: Times
    modified: Times
    timed: str
    format_name: str | None = None

    def blaming(self, demand: str, names: Iterable[str] | None = None) -> QueueProperties:
        """The same, with another demand for these properties (None: all, and the times)."""
        chosen = self.known if names is None else names
        known = {
            name: replace(one, demand=demand, instead=()) if name in chosen else one for name, one in self.known.items()
        }
        return replace(self, known=known, timed=demand if names is None else self.timed)

    def key(self) -> Hashable:
        """Equal for equal values."""
        return tuple(sorted(self.known.items())), self.created, self.modified, self.timed, self.format_name


@value
class Properties:
    """The properties of all queues. The mappings are never changed in place.

    shown: the properties the manager shows at all. queue_manager: its GUID, None where unknown. gone: for a queue that
    must not be there, the demand that is broken if it is. unread: queues that a call may have changed and that nobody
    has read since, the one it was about first. former: GUIDs of queues that are gone.
    """

    shown: tuple[str, ...] = ()
    queue_manager: str | None = None
    queues: Mapping[str, QueueProperties] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    former: frozenset[str] = frozenset()

    def having(self, name: str, queue: QueueProperties) -> Properties:
        """The same with this queue."""
        gone = {other: demand for other, demand in self.gone.items() if other != name}
        return replace(self, queues={**self.queues, name: queue}, gone=gone)

    def without(self, name: str, demand: str) -> Properties:
        """The same without this queue; `demand` is broken if it is there all the same."""
        queues = {other: queue for other, queue in self.queues.items() if other != name}
        known = self.queues[name].known.get("PROPID_Q_INSTANCE") if name in self.queues else None
        former = self.former | {str(known.value).casefold()} if known is not None else self.former
        return replace(self, queues=queues, gone={**self.gone, name: demand}, former=former)

    def blaming(self, demand: str) -> Properties:
        """The same, with another demand for everything."""
        return replace(self, queues={name: queue.blaming(demand) for name, queue in self.queues.items()})

    def to_read(self, *names: str) -> Properties:
        """The same, with these queues to be read."""
        return replace(self, unread=tuple(dict.fromkeys((*self.unread, *names))))

    def read(self, name: str) -> Properties:
        """The same, with this queue read."""
        return replace(self, unread=tuple(other for other in self.unread if other != name))

    def key(self) -> Hashable:
        """Equal for equal values."""
        queues = tuple((name, queue.key()) for name, queue in sorted(self.queues.items()))
        return self.shown, self.queue_manager, queues, tuple(sorted(self.gone.items())), self.unread, self.former


def shown_in(profile: str) -> tuple[str, ...]:
    """The properties that a version of MSMQ has and that every manager is asked for."""
    return tuple(name for name in ROWS if name not in APART and applies(profile, SINCE.get(name), None))
