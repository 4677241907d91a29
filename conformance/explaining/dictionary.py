"""The dictionary of known causes: the faults of the embedded manager, and which of them a story can tell of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from conformance.embedded.faults import FAULTS, Fault
from conformance.spec.catalogue import did_you_mean

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "structures": ("structures.",),
    "writer": ("packets.", "outgoing."),
    "reader": ("packets.", "outgoing."),
    "arrival": ("packets.",),
    "outgoing": ("outgoing.", "messages.", "queues."),
    "management": ("management.",),
    "transfers": ("management.",),
    "incoming": ("management.",),
}
"""Parts of the manager that only some methods use, with the beginnings of their names."""
_OBJECTS: Final = "objects"
"""The folder of faults that methods of this facet alone show."""


class UnknownFault(ValueError):
    """A name that the dictionary does not have; the message is one sentence."""


def told_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the faults that stories with these methods may show. Races are left out: stories are played in order."""
    called = tuple(methods)
    return tuple(name for name, fault in FAULTS.items() if not fault.races and _may_show(fault, called))


def check_faults(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names. Raises UnknownFault for one that is no fault, with the nearest name."""
    found = tuple(names)
    for name in found:
        if name not in FAULTS:
            raise UnknownFault(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}")
    return found


def breaks(names: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements that these faults break, as their text tells, each once."""
    return tuple(dict.fromkeys(each for name in names for each in FAULTS[name].breaks))


def story_of(name: str) -> str:
    """Return what a fault does, in one sentence."""
    return FAULTS[name].says


def _may_show(fault: Fault, called: Collection[str]) -> bool:
    if fault.suite == _OBJECTS:
        return any(method.startswith(f"{_OBJECTS}.") for method in called)
    parts = [part for part, _ in fault.replaces]
    return any(part not in _NEEDS or any(method.startswith(_NEEDS[part]) for method in called) for part in parts)
