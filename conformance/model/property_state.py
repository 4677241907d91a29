"""What the properties of queues are, and the demand that is broken where one reads otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from conformance.model.properties import ROWS, SINCE
from conformance.spec.versions import applies
from conformance.verdict import Json

Times = tuple[tuple[int, int], ...]
"""Intervals of seconds since 1970, ends included; none: any time will do."""


@dataclass(frozen=True, slots=True)
class Known:
    """The value a property has. demand: what it breaks to read otherwise. written: what was last written to it.

    instead: a value it may have by mistake, with the demand that this mistake breaks; none, or one.
    """

    value: Json
    demand: str
    written: Json = None
    instead: tuple[tuple[Json, str], ...] = ()


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue that exists. created, modified: when that can have been; timed: the demand on the time of the change."""

    known: Mapping[str, Known]
    created: Times
    modified: Times
    timed: str

    def blaming(self, demand: str, names: Iterable[str] | None = None) -> QueueState:
        """The same, with another demand for these properties (None: all, and the times)."""
        chosen = self.known if names is None else names
        known = {
            name: replace(one, demand=demand, instead=()) if name in chosen else one for name, one in self.known.items()
        }
        return replace(self, known=known, timed=demand if names is None else self.timed)


@dataclass(frozen=True, slots=True)
class PropertyState:
    """All queues. gone: for one that must not be there, the demand that is broken if it is."""

    queues: Mapping[str, QueueState] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)

    def having(self, name: str, queue: QueueState) -> PropertyState:
        """The same with this queue."""
        gone = {other: demand for other, demand in self.gone.items() if other != name}
        return PropertyState({**self.queues, name: queue}, gone)

    def without(self, name: str, demand: str) -> PropertyState:
        """The same without this queue; `demand` is broken if it is there all the same."""
        queues = {other: queue for other, queue in self.queues.items() if other != name}
        return PropertyState(queues, {**self.gone, name: demand})

    def blaming(self, demand: str) -> PropertyState:
        """The same, with another demand for everything."""
        return replace(self, queues={name: queue.blaming(demand) for name, queue in self.queues.items()})


def shown_in(profile: str) -> tuple[str, ...]:
    """The properties that a version of MSMQ has."""
    return tuple(name for name in ROWS if applies(profile, SINCE.get(name), None))
