"""What a node does otherwise than the documents say: the registry of faults and of alternatives of readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from conformance.embedded.deviations import replace
from conformance.embedded.network import alternatives as _alternatives
from conformance.embedded.network import faults as _faults
from conformance.embedded.network.faults.base import REGISTERED, NetworkFault
from conformance.embedded.network.node import NetworkParts

for _module in sorted(each.name for each in iter_modules(_faults.__path__)):
    import_module(f"{_faults.__name__}.{_module}")

FAULTS: Mapping[str, NetworkFault] = MappingProxyType(REGISTERED)
ALTERNATIVES = _alternatives.ALTERNATIVES


def parts_with(names: Iterable[str]) -> NetworkParts:
    """Return the parts of a node with these deviations; `READING=ALTERNATIVE` is a name too. Raises KeyError."""
    parts = NetworkParts()
    for name in names:
        if "=" in name:
            part, deviating = ALTERNATIVES[name]
            reading, _, alternative = name.partition("=")
            parts.readings[reading] = alternative
            replace(parts, part, deviating)
        else:
            for part, deviating in FAULTS[name].replaces:
                replace(parts, part, deviating)
    return parts
