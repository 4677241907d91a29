"""Values as the JSON of a run record, and checks of their types when they are read."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
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


def number_of(value: Json) -> float:
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


def encode(value: Any) -> bytes:
    """Encode a value as JSON on one line, ASCII only. Raises RecursionError for a value that is nested too deep."""
    try:
        text = json.dumps(value, separators=(",", ":"), default=_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), separators=(",", ":"), default=_plain, allow_nan=False)
    return text.encode("ascii")


def _plain(value: Any) -> Any:
    """Return the JSON form of a type that occurs in verdicts and evidence. Raises TypeError for others."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a run record")


def _finite(value: Any) -> Any:
    """Return the value with NaN and infinities, which JSON does not have, as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(member) for member in value]
    return value
