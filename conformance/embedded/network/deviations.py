"""Deviations of a node from what it does by default: the registry of faults, alternatives of readings, and ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from conformance.embedded.deviations import replace
from conformance.embedded.network import faults as _faults
from conformance.embedded.network.alternatives import ALTERNATIVES, WAYS
from conformance.embedded.network.faults import REGISTERED, NetworkFault
from conformance.embedded.network.node import NetworkParts
from conformance.embedded.rpc.faults import FAULTS as RPC_FAULTS

for _module in sorted(each.name for each in iter_modules(_faults.__path__)):
    import_module(f"{_faults.__name__}.{_module}")

__all__ = ["ALTERNATIVES", "FAULTS", "RPC_FAULTS", "WAYS", "parts_with"]
FAULTS: Mapping[str, NetworkFault] = MappingProxyType(REGISTERED)


def parts_with(names: Iterable[str]) -> NetworkParts:
    """Return the parts of a node with these faults and ways; `READING=ALTERNATIVE` is a name too. Raises KeyError."""
    parts = NetworkParts()
    for name in names:
        if "=" in name:
            part, deviating = ALTERNATIVES[name]
            reading, _, alternative = name.partition("=")
            parts.readings[reading] = alternative
            replace(parts, part, deviating)
        elif name in RPC_FAULTS:
            for part, deviating in RPC_FAULTS[name].replaces:
                replace(parts.rpc, part, deviating)
        else:
            for part, deviating in WAYS.get(name) or FAULTS[name].replaces:
                replace(parts, part, deviating)
    return parts
