"""Selectors of requirements on the command line: an id, former id, section or pattern."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from conformance.spec.catalogue import CatalogueError, Requirement, catalogue, did_you_mean

_WORD = re.compile(r"\.[a-z][a-z-]*$")


def selected(selector: str) -> list[Requirement]:
    """Return the requirements that a selector matches. Raises CatalogueError with the nearest one if none matches."""
    found = [entry for entry in catalogue() if in_section(entry, selector)]
    if not found:
        hint = did_you_mean(selector.rstrip("*."), _candidates(selector)) or "."
        raise CatalogueError(f"No requirement matches {selector!r}{hint}")
    return found


def _candidates(selector: str) -> list[str]:
    """Return possible corrections of a selector that matches nothing. Within an existing document, a chapter or pattern
    resembles another only by chance."""
    if _WORD.search(selector):
        return list(catalogue().requirements)
    sections = {(entry.id.split("-")[0], entry.section) for entry in catalogue()}
    document, _, section = selector.partition("-")
    if ("*" in selector or "." not in section) and any(document == known for known, _ in sections):
        return []
    return sorted(f"{known}-{number}" for known, number in sections)


def in_section(entry: Requirement, selector: str) -> bool:
    """True if an id, a `DOCUMENT-SECTION` or a pattern with `*` selects this requirement."""
    own = f"{entry.id.split('-')[0]}-{entry.section}"
    return (
        selector in (entry.id, *entry.aliases, own)
        or own.startswith(f"{selector}.")
        or selector == entry.id.split("-")[0]
        or ("*" in selector and (fnmatchcase(entry.id, selector) or fnmatchcase(own, selector)))
    )
