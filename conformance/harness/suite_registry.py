"""Registry of the suites: the packages below `conformance/suites` with test modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from conformance.spec.catalogue import did_you_mean

OWN = "own"
"""The suite of modules outside the package: an implementer's own tests."""

_ORDER = (
    "situations",
    "names",
    "packets",
    "structures",
    "cursors",
    "transactions",
    "journals",
    "quotas",
    "subqueues",
)  # what shows most first, then quick ones: a broken build shows soonest

_FILLING = frozenset({"situations"})  # planned histories, the most valuable first

_COSTS = {
    "situations": 60,
    "names": 40,
    "packets": 75,
    "structures": 10,
    "cursors": 60,
    "transactions": 45,
    "journals": 8,
    "quotas": 6,
    "subqueues": 15,
    "coordinator": 20,
    "concurrency": 40,
    "outgoing": 30,
    "properties": 40,
    "management": 30,
    "restart": 55,
    "security": 15,
    "directory": 10,
    "sessions": 80,
    "remote": 20,
}
_COST = 40


class UnknownSuite(ValueError):
    """The named suite does not exist; the message has the nearest name that does."""


def suites_folder() -> Path:
    """Return the folder of the suites; node ids are relative to it."""
    return Path(__file__).parent.parent / "suites"


def suites() -> dict[str, tuple[Path, ...]]:
    """Return every suite with its test modules, in the order they run."""
    root = suites_folder()
    found = {
        folder.name: tuple(sorted(folder.glob("test_*.py"), key=_turn))
        for folder in root.iterdir()
        if folder.is_dir() and any(folder.glob("test_*.py"))
    }
    return {name: found[name] for name in sorted(found, key=_place)}


_ALONE = re.compile(r"test_mqac_3_\d+_3_")  # an object by itself, which others are judged by (MC-MQAC 3.x.3)
_DOCUMENTS = ("mqmq", "mqmp", "mqdmpr", "mqac", "mqqb")  # of security: rights come before what has them


def _turn(module: Path) -> tuple[int, list[tuple[int, str]]]:
    """Sort key that puts formats first, so that a wrong name is reported as such, not as a failed open.

    In suites whose sections build upon those before them, 3.9 comes before 3.17.
    """
    suite, parts = module.parent.name, module.stem.split("_")
    numbers = [(int(part), "") if part.isdecimal() else (1000, part) for part in parts]
    if suite == "objects":
        return int(_ALONE.match(module.stem) is None), numbers
    if suite == "security":
        return _DOCUMENTS.index(parts[1]), numbers
    return int(suite in ("names", "structures") and not module.name.startswith("test_mqmq")), [(0, module.name)]


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def select(given: str | Sequence[str] | None) -> dict[str, tuple[Path, ...]]:
    """Return the suites of a list, or of a comma-separated text (None: all). Raises UnknownSuite."""
    known = suites()
    texts = [given] if isinstance(given, str) else given or ()
    wanted = [name.strip() for text in texts for name in text.split(",")]
    for name in wanted:
        if name not in known:
            raise UnknownSuite(
                f"There is no suite {name!r}{did_you_mean(name, known) or '.'} Suites: {', '.join(known)}."
            )
    return {name: known[name] for name in known if given is None or name in wanted}


def in_turn(names: Iterable[str], *, limited: bool) -> list[str]:
    """Return suites in the order of a run. limited: it has a time budget.

    Then those come last that play as much as there is time for: they get what the others leave, and an implementation
    that lacks much leaves most of it.
    """
    return sorted(names, key=lambda name: limited and name in _FILLING)


@cache
def suite_of(path: Path) -> str:
    """Return the suite of a test module; OWN for a module outside the package."""
    return path.parent.name if path.is_relative_to(suites_folder()) else OWN


def suite_of_node(node: str) -> str:
    """Return the suite of a node id, whose path is relative to some folder above the module; OWN if it has none."""
    parts = node.partition("::")[0].split("/")
    return parts[-2] if len(parts) > 1 and parts[-2] in _names() else OWN


def cost(suite: str) -> int:
    """Return the usual duration of a suite's test, relative to other suites (no unit)."""
    return _COSTS.get(suite, _COST)


@cache
def _names() -> frozenset[str]:
    return frozenset(suites())
