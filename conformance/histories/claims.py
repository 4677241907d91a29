"""Requirements that each walk judges at the default budget with any seed; its test claims them.

`claims.json` stores them, and `python -m tools.walk_claims` measures them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DATA = Path(__file__).with_name("claims.json")


@cache
def stored() -> Mapping[str, tuple[str, ...]]:
    """Return the requirements by the name of the walk, for example `locked cursors`."""
    found: Mapping[str, list[str]] = json.loads(DATA.read_text(encoding="utf-8"))
    return {name: tuple(judged) for name, judged in found.items()}


def judged_in(walk: str) -> tuple[str, ...]:
    """Return the requirements that the walk of this name judges."""
    return stored()[walk]
