"""The table of all structures by name."""

from __future__ import annotations

from conformance.wire.structures import addresses, certificates, numbers, propvariant, public_keys, queue_format
from conformance.wire.structures.words import Structure

_MODULES = (numbers, public_keys, addresses, certificates, queue_format, propvariant)
STRUCTURES: dict[str, Structure] = {each.name: each for module in _MODULES for each in module.STRUCTURES}


def structure(name: str) -> Structure:
    """Return the structure of this name. Raises KeyError."""
    return STRUCTURES[name]
