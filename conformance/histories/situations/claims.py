"""Requirements that each test of the suite `situations` judges in a default run; the test claims them.

`claims.json` stores them, and `python -m tools.planner.claims` measures them again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).with_name("claims.json")


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def judged_in(number: int) -> tuple[str, ...]:
    """Return the requirements that the test of this number judges."""
    stored = _stored()
    return tuple(stored["requirements"][place] for place in stored["tests"][number])
