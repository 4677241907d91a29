"""What a fault is: some parts of the manager, replaced by subclasses of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts


class Fault:
    """A deviation.

    name: what a user calls it. breaks: requirement ids it breaks, from the text of the documents. suite: the suite
    that must find it. replaces: part of `Parts` to the subclass that deviates; several faults of one part combine.
    """

    name: ClassVar[str]
    breaks: ClassVar[tuple[str, ...]]
    suite: ClassVar[str]
    replaces: ClassVar[Mapping[str, type]]

    def apply(self, parts: Parts) -> None:
        """Put the deviating classes in place."""
        for part, deviating in self.replaces.items():
            present = getattr(parts, part)
            setattr(parts, part, type(deviating.__name__, (deviating, present), {}))
