"""Named, deliberate deviations of the embedded queue manager, which a harness must find.

Each module or folder has the faults that the suite of its name must find. `EVERY_FAULT` has them all, in the order of
the modules and of the definitions there; `FAULTS` has them except those that are not recorded. `apply_faults` makes the
parts of a manager that has some of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

from conformance.embedded.alternatives import ALTERNATIVES, SETTINGS
from conformance.embedded.faults.base import REGISTERED, Fault
from conformance.embedded.faults.recorded import SEEN
from conformance.embedded.manager import Parts

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

WHEN_RECORDED = frozenset({"coordinator", "directory", "objects", "security"})
"""Folders whose faults count once a run has shown them as what they break: their suite does not look for all yet."""

_RECORDED = frozenset(json.loads(SEEN.read_text(encoding="utf-8")))
EVERY_FAULT: Mapping[str, Fault] = MappingProxyType(
    {each.name: each for each in sorted(REGISTERED.values(), key=lambda each: each.module)}
)
"""The faults that a manager can have."""

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {name: each for name, each in EVERY_FAULT.items() if each.suite not in WHEN_RECORDED or name in _RECORDED}
)
"""Those of which a record tells what a run blames, where their folder needs one."""


class NotTogether(ValueError):
    """Two faults are made of the same class, so one manager cannot have both; the message names all that were asked."""


def apply_faults(names: Iterable[str]) -> Parts:
    """The parts of a manager with these faults. Raises KeyError for a name the registry does not have, and NotTogether.

    `READING=ALTERNATIVE` and `directory=ldap` are names too: see `conformance.embedded.alternatives`.
    """
    parts = Parts()
    wanted = sorted(names, key=_depth)
    for name in wanted:
        deviation = SETTINGS.get(name) or (ALTERNATIVES[name] if "=" in name else EVERY_FAULT[name])
        try:
            deviation.apply(parts)
        except TypeError as error:  # of Python, which finds no order of the bases
            raise NotTogether(f"One manager cannot have all of {', '.join(wanted)}.") from error
    return parts


def _depth(name: str) -> int:
    """Return the sort key that puts a deviating class behind those it is made of: it cannot stand below them."""
    fault = None if "=" in name else EVERY_FAULT[name]
    return 0 if fault is None else max(len(each.__mro__) for _, each in fault.replaces)


__all__ = ["EVERY_FAULT", "FAULTS", "Fault", "NotTogether", "apply_faults"]
