"""Which suites there are: the packages beside this file that hold test modules."""

from __future__ import annotations

from pathlib import Path

from conformance.spec.catalogue import did_you_mean

OWN = "own"
"""The suite of modules outside the package: an implementer's own tests."""

_ORDER = (
    "names",
    "packets",
    "structures",
    "cursors",
    "transactions",
    "journals",
    "quotas",
    "subqueues",
)  # quick ones first: a broken build shows soonest


class UnknownSuite(ValueError):
    """A suite was named that does not exist; the message names the nearest that does."""


def suites_folder() -> Path:
    """Where the suites live; node ids are relative to it."""
    return Path(__file__).parent


def suites() -> dict[str, tuple[Path, ...]]:
    """Every suite and its test modules, in the order they run."""
    root = suites_folder()
    found = {
        folder.name: tuple(sorted(folder.glob("test_*.py")))
        for folder in root.iterdir()
        if folder.is_dir() and any(folder.glob("test_*.py"))
    }
    return {name: found[name] for name in sorted(found, key=_place)}


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def select(names: str | None) -> dict[str, tuple[Path, ...]]:
    """The suites of a comma-separated list (None: all). Raises UnknownSuite."""
    known = suites()
    wanted = [name.strip() for name in names.split(",")] if names is not None else []
    for name in wanted:
        if name not in known:
            raise UnknownSuite(
                f"There is no suite {name!r}{did_you_mean(name, known) or '.'} Suites: {', '.join(known)}."
            )
    return {name: known[name] for name in known if names is None or name in wanted}


def suite_of(path: Path) -> str:
    """The suite a test module belongs to; OWN for a module outside the package."""
    return path.parent.name if path.is_relative_to(suites_folder()) else OWN
