"""Former ids of requirements, which are `aliases` of the current ones. Everything that reads an id accepts both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from conformance.spec.catalogue import catalogue

NAMING = frozenset({"requirement", "shows"})
"""Members of stored examples and repro files that contain a requirement's id."""


@cache
def aliases() -> Mapping[str, str]:
    """Return former id to current id."""
    return {old: entry.id for entry in catalogue() for old in entry.aliases}


def current(name: str) -> str:
    """Return the current id of a requirement; an unknown name is returned unchanged."""
    # Current ids are checked first, because collecting the aliases reads every entry of the catalogue.
    return name if name in catalogue().requirements else aliases().get(name, name)


def former(name: str) -> tuple[str, ...]:
    """Return every id of a requirement that older files may contain: its own and its former ones."""
    return (name, *(old for old, new in aliases().items() if new == name))


def current_rule(name: str) -> str:
    """Return the current id of a rule: the requirement's, followed by `/word` if it has several rules."""
    requirement, slash, word = name.partition("/")
    return f"{current(requirement)}{slash}{word}"


def in_current_words(value: Any) -> Any:
    """Return a stored JSON value with every requirement's id replaced by the current one."""
    if isinstance(value, list):
        return [in_current_words(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: current(each) if name in NAMING and isinstance(each, str) else in_current_words(each)
        for name, each in value.items()
    }
