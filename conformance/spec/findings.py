"""The register of suspected defects of the documents, and what was made of each.

Two lists of suspicions were gone through: `D01` to `D155` on MS-MQMQ and MS-MQDMPR, `Q01` to `Q101` on MC-MQAC. Each is
disposed of exactly once; those named `N-word` were found on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.spec.catalogue import CatalogueError, Finding, Reading, catalogue, did_you_mean
from conformance.spec.entries import suspicions


def findings() -> Mapping[str, Finding]:
    """Every finding by id. Raises CatalogueError when the data is wrong, a finding that stands twice included."""
    return catalogue().findings


def undisposed(known: Iterable[str] | None = None) -> tuple[str, ...]:
    """The expected ids that `known` (default: the register) does not have."""
    have = set(findings() if known is None else known)
    return tuple(name for name in suspicions() if name not in have)


def unexpected(known: Iterable[str] | None = None) -> tuple[str, ...]:
    """Numbered ids of `known` (default: the register) that no list of suspicions has, such as `D156`."""
    wanted = set(suspicions())
    names = findings() if known is None else known
    return tuple(name for name in names if name not in wanted and not name.startswith("N-"))


def finding(name: str) -> Finding:
    """The finding of this id. Raises CatalogueError naming the nearest id when there is none."""
    known = findings()
    if name not in known:
        raise CatalogueError(f"no finding {name}{did_you_mean(name, known)}")
    return known[name]


def reading_of(found: Finding, known: Mapping[str, Finding] | None = None) -> Reading | None:
    """The reading a finding ends in, through what it is merged into; None for editorial and rejected ones.

    Raises CatalogueError when findings are merged into each other in a circle.
    """
    known = findings() if known is None else known
    seen = [found.id]
    while found.disposition == "merged":
        into = found.into or ""
        if into not in known:
            return catalogue().readings.get(into)
        found = known[into]
        if found.id in seen:
            raise CatalogueError(f"the findings {', '.join([*seen, found.id])} are merged in a circle")
        seen.append(found.id)
    return catalogue().readings[found.reading] if found.reading is not None else None
