"""Encodes values as the JSON of a run record, also types and numbers that JSON does not have."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any


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
