"""How the tests of a run are spread over its workers: module by module, those that take long first.

What a module makes for its tests is made once that way, and no worker has a long module left when others have ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
SPARK = "spark"
"""The modules that use the one session of a worker: it starts once, and what Java has compiled stays."""
SECONDS: Mapping[str, int] = {}
"""Modules that take longer than others, in seconds of processors: `python -m pytest --durations 0` tells of changes."""


@cache
def together(module: str) -> str:
    """What the tests of a module (its path as in node ids) are run with: those of other modules, or of it alone."""
    text = (HERE.parent / module).read_text(encoding="utf-8")
    return SPARK if re.search(r"^def \w+\((?:[^)]*\W)?spark\b", text, re.MULTILINE) else module


def long_first(items: list[pytest.Item]) -> None:
    """Sort the tests by their modules, in place; those of a module stay in their order."""
    modules = {item.nodeid.partition("::")[0] for item in items}
    seconds: dict[str, int] = {}
    for module in modules:
        seconds[together(module)] = seconds.get(together(module), 0) + SECONDS.get(module, 0)
    items.sort(key=lambda item: -seconds[together(item.nodeid.partition("::")[0])])


def is_worker() -> bool:
    """Tell whether this process is one of several that share the tests."""
    return "PYTEST_XDIST_WORKER" in os.environ


class Spread(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker the next modules when it has no more than two tests left."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])
