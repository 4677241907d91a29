"""Type checks of values read from a record, which is a file and may hold anything.

Each function returns the value if it has the type, and raises TypeError or ValueError otherwise.
"""

from __future__ import annotations

import math
from typing import Any

from conformance.verdict import Json


def text(value: Json) -> str:
    """Require text."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where text was expected")
    return value


def maybe_text(value: Json) -> str | None:
    """Require text or null."""
    return None if value is None else text(value)


def whole(value: Json) -> int:
    """Require a whole number; true and false are not numbers."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} where a whole number was expected")
    return value


def maybe_whole(value: Json) -> int | None:
    """Require a whole number or null."""
    return None if value is None else whole(value)


def number(value: Json) -> float:
    """Require a finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} where a number was expected")
    try:
        found = float(value)
    except OverflowError as error:
        raise ValueError("a number that is out of range") from error
    if not math.isfinite(found):
        raise ValueError("a number that is out of range")
    return found


def maybe_object(value: Json) -> dict[str, Any] | None:
    """Require an object or null."""
    return None if value is None else json_object(value)


def json_object(value: Json) -> dict[str, Any]:
    """Require an object."""
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} where an object was expected")
    return value
