"""Named, deliberate deviations of the embedded queue manager, which a harness must find.

Each folder has the faults that the suite of its name must find. `FAULTS` has them all, in the order of the folders, of
their modules, and of the classes there; `apply_faults` makes the parts of a manager that has some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.faults.base import REGISTERED, Fault
from conformance.embedded.manager import Parts

for _folder in (each.name for each in iter_modules(__path__) if each.ispkg):
    for _module in iter_modules(import_module(f"{__name__}.{_folder}").__path__):
        import_module(f"{__name__}.{_folder}.{_module.name}")

FAULTS: Mapping[str, type[Fault]] = MappingProxyType(
    {each.name: each for each in sorted(REGISTERED.values(), key=lambda each: each.__module__)}
)


def apply_faults(names: Iterable[str]) -> Parts:
    """The parts of a manager with these faults. Raises KeyError for a name the registry does not have.

    `READING=ALTERNATIVE` is a name too: see `conformance.embedded.alternatives`.
    """
    parts = Parts()
    for name in names:
        if "=" in name:
            ALTERNATIVES[name]().apply(parts)
        else:
            FAULTS[name]().apply(parts)
    return parts


__all__ = ["FAULTS", "Fault", "apply_faults"]
