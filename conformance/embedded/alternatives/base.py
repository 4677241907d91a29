"""Alternatives of readings, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from conformance.embedded import deviations
from conformance.embedded.directory_client import has_ldap
from conformance.embedded.manager import Parts

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a reading. replaces: parts of `Parts`, each with the subclass that follows the alternative."""

    reading: str
    alternative: str
    replaces: tuple[deviations.Replacement, ...]

    def apply(self, parts: Parts) -> None:
        """Install the subclasses and declare the alternative."""
        for part, following in self.replaces:
            deviations.replace(parts, part, following)
        parts.readings[self.reading] = self.alternative


@dataclass(frozen=True, slots=True)
class Setting:
    """A choice of a manager, as `NAME=WORD`, no deviation. protocols: those that it speaks with its directory."""

    protocols: tuple[str, ...]

    def apply(self, parts: Parts) -> None:
        """Let a manager do so. Raises ValueError where what it takes is not installed."""
        if "ldap" in self.protocols and not has_ldap():
            raise ValueError("directory=ldap needs the extra ldap: pip install 'mqconform[ldap]'")
        parts.directory_protocols = self.protocols


ALTERNATIVES: dict[str, Alternative] = {}
SETTINGS: Mapping[str, Setting] = {"directory=ldap": Setting(("ldap",))}


def follows(name: str, *of: Any) -> Callable[[_Made], _Made]:
    """Register what is decorated as `reading=alternative`, in several places; several of one name go together.

    of, and what is decorated: see `deviations.replacement`.
    """
    reading, _, word = (name if name.startswith("R-") else f"R-MQDMPR-{name}").partition("=")
    whole = f"{reading}={word}"

    def register(following: _Made) -> _Made:
        present = ALTERNATIVES[whole].replaces if whole in ALTERNATIVES else ()
        fresh = (deviations.replacement(Parts(), each, following) for each in of)
        ALTERNATIVES[whole] = Alternative(reading, word, (*present, *fresh))
        return following

    return register
