"""The register of suspected defects of the documents, with the result of examining each.

There are two lists of suspicions: `D01` to `D155` on MS-MQMQ and MS-MQDMPR, `Q01` to `Q101` on MC-MQAC. Each suspicion
has exactly one entry; entries named `N-word` were found later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.spec.catalogue import CatalogueError, Reading, SpecFinding, catalogue, did_you_mean
from conformance.spec.entries import suspicions


def findings() -> Mapping[str, SpecFinding]:
    """Return every finding by id. Raises CatalogueError when the data is wrong, for example has a finding twice."""
    return catalogue().findings


def undisposed(known: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the expected ids that `known` (default: the register) lacks."""
    have = set(findings() if known is None else known)
    return tuple(name for name in suspicions() if name not in have)


def unexpected(known: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the numbered ids of `known` (default: the register) that are in no list of suspicions, such as `D156`."""
    wanted = set(suspicions())
    names = findings() if known is None else known
    return tuple(name for name in names if name not in wanted and not name.startswith("N-"))


def finding(name: str) -> SpecFinding:
    """Return the finding with this id. Raises CatalogueError with the nearest id if there is none."""
    known = findings()
    if name not in known:
        raise CatalogueError(f"no finding {name}{did_you_mean(name, known)}")
    return known[name]


def reading_of(found: SpecFinding, known: Mapping[str, SpecFinding] | None = None) -> Reading | None:
    """Return the reading of a finding, following merged findings; None for editorial and rejected ones.

    Raises CatalogueError when findings are merged in a circle.
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
