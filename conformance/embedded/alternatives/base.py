"""The class of alternatives, and their registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts


class Alternative:
    """One alternative of a reading. replaces: parts of `Parts`, each with the subclass that follows the alternative."""

    reading: ClassVar[str]
    alternative: ClassVar[str]
    replaces: ClassVar[tuple[tuple[str, type], ...]]

    def apply(self, parts: Parts) -> None:
        """Install the subclasses and declare the alternative."""
        for part, following in self.replaces:
            present = getattr(parts, part)
            setattr(parts, part, type(following.__name__, (following, present), {}))
        parts.readings[self.reading] = self.alternative


ALTERNATIVES: dict[str, type[Alternative]] = {}


def follows(name: str, *parts: str) -> Callable[[type], type]:
    """Register a subclass of some parts as `reading=alternative`; several subclasses of one name go together."""
    reading, _, word = (name if name.startswith("R-") else f"R-MQDMPR-{name}").partition("=")

    def register(following: type) -> type:
        whole = f"{reading}={word}"
        others = ALTERNATIVES[whole].replaces if whole in ALTERNATIVES else ()
        made = type(
            following.__name__,
            (Alternative,),
            {
                "__doc__": following.__doc__,
                "reading": reading,
                "alternative": word,
                "replaces": (*others, *((part, following) for part in parts)),
            },
        )
        ALTERNATIVES[whole] = made
        return following

    return register
