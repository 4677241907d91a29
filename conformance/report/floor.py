"""The floor of a gate: the least number of requirements that a run must judge, so that an empty run is no success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOLERANCE = 0.05
"""The share by which a run may judge fewer than the run it is compared with: which rare requirements a walk meets
depends on its seed and on the driver's clock. A suite that is left out makes a larger difference."""
TABLE = "floor"
"""The table of a baseline that holds how many requirements were judged by the run of its last update."""
JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least number of requirements that a run must judge, and where that number comes from (why)."""

    least: int
    why: str

    def sentence(self, judged: int) -> str:
        """Return the objection against a run that judged fewer."""
        return f"{judged:,} requirements were judged, and the floor is {self.least:,} ({self.why})"


def below(judged: int, where: str) -> Floor:
    """Return the floor for runs that are compared with one that judged so many requirements."""
    return Floor(judged - int(judged * TOLERANCE), f"{TOLERANCE:.0%} below the {judged:,} of {where}")


def recorded(content: Mapping[str, Any]) -> int | None:
    """Return the number that a baseline stores, None if it stores none. Raises ValueError that says what is wrong."""
    table = content.get(TABLE)
    if table is None:
        return None
    number = table.get(JUDGED) if isinstance(table, Mapping) else None
    if type(number) is not int or number < 0:
        raise ValueError(f"[{TABLE}] has no {JUDGED}; give a number of requirements")
    return number


def due(before: int | None, now: int) -> bool:
    """Tell whether a baseline needs a new number: it has none, or one that differs by more than the tolerance."""
    return before is None or abs(now - before) > before * TOLERANCE
