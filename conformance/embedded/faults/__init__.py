"""Named, deliberate deviations of the embedded queue manager: each is what a harness must find.

`FAULTS` is the registry; `apply_faults` makes the parts of a manager that has some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from conformance.embedded.faults.base import Fault

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts

FAULTS: Mapping[str, type[Fault]] = {}


def apply_faults(names: Iterable[str]) -> Parts:
    """The parts of a manager with these faults. Raises KeyError for a name the registry does not have."""
    from conformance.embedded.manager import Parts

    parts = Parts()
    for name in names:
        FAULTS[name]().apply(parts)
    return parts
