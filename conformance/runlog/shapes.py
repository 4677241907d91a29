"""Checks of what was read: a record is a file, and a file may hold anything.

Each returns its value when it has the shape, and raises TypeError or ValueError when it has not.
"""

from __future__ import annotations

import math
from typing import Any

from conformance.verdict import Json


def text(value: Json) -> str:
    """Text."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where text was expected")
    return value


def maybe_text(value: Json) -> str | None:
    """Text or null."""
    return None if value is None else text(value)


def whole(value: Json) -> int:
    """A whole number, which true and false are not."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} where a whole number was expected")
    return value


def maybe_whole(value: Json) -> int | None:
    """A whole number or null."""
    return None if value is None else whole(value)


def number(value: Json) -> float:
    """A finite number."""
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
    """An object or null."""
    return None if value is None else json_object(value)


def json_object(value: Json) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} where an object was expected")
    return value
