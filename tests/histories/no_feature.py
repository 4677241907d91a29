"""The conditional steps that no feature names, with the reason for each (`no_feature.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.spec import entries
from conformance.spec.catalogue import CatalogueError

REASONS: Final[Mapping[str, str]] = {
    "internal": "it decides nothing that a caller sees",
    "forced": "callers of a queue manager have no choice: the condition is always, or never, met",
    "names": "it is about kinds of format names, which the suite of names tries one by one",
    "network": "it needs another queue manager, or a session with one",
    "directory": "it needs a directory service",
    "security": "it needs security descriptors or identities",
    "management": "it needs an administrator's settings",
    "coordinator": "it needs a transaction coordinator",
}
"""Every reason, and what it says of a step."""
DATA: Final = Path(__file__).with_name("no_feature.toml")


@dataclass(frozen=True, slots=True)
class Unfeatured:
    """A conditional step without a feature. reason: one of `REASONS`. note: more of it, for this step; or empty."""

    id: str
    reason: str
    note: str = ""


@cache
def unfeatured() -> Mapping[str, Unfeatured]:
    """Return the steps without a feature by their ids. Raises CatalogueError when the data is wrong."""
    found: dict[str, Unfeatured] = {}
    for raw in _entries(DATA):
        one = Unfeatured(**raw)
        if one.reason not in REASONS:
            raise CatalogueError(
                f"{DATA.name}: {one.id} has the reason {one.reason!r}, which is none of {', '.join(REASONS)}"
            )
        if one.id in found:
            raise CatalogueError(f"{DATA.name}: {one.id} stands there twice")
        found[one.id] = one
    return found


def _entries(path: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = entries.loads(path.read_text(encoding="utf-8"))["step"]
    return listed
