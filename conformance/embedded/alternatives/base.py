"""The class of alternatives, and their registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts


class Alternative:
    """One alternative of a reading. replaces: a part of `Parts` and the subclass that follows it."""

    reading: ClassVar[str]
    alternative: ClassVar[str]
    replaces: ClassVar[tuple[str, type]]

    def apply(self, parts: Parts) -> None:
        """Install the subclass and declare the alternative."""
        part, following = self.replaces
        present = getattr(parts, part)
        setattr(parts, part, type(following.__name__, (following, present), {}))
        parts.readings[self.reading] = self.alternative


ALTERNATIVES: dict[str, type[Alternative]] = {}


def follows(name: str, part: str) -> Callable[[type], type]:
    """Register a subclass of a part as `reading=alternative`."""
    reading, _, word = (name if name.startswith("R-") else f"R-MQDMPR-{name}").partition("=")

    def register(following: type) -> type:
        made = type(
            following.__name__,
            (Alternative,),
            {"__doc__": following.__doc__, "reading": reading, "alternative": word, "replaces": (part, following)},
        )
        ALTERNATIVES[f"{reading}={word}"] = made
        return following

    return register
