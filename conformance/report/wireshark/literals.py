"""Values as Lua source, and which broken rules only warn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.spec.catalogue import Requirement
from conformance.spec.versions import LEVELS

Literal = int | str | bytes | bool


def literal(value: Literal) -> str:
    """Emit a value as Lua source. Text becomes UTF-8."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:#x}" if value > 9 else str(value)
    raw = value.encode("utf-8") if isinstance(value, str) else value
    return '"' + "".join(chr(one) if 32 <= one < 127 and one not in b'"\\' else f"\\{one:03d}" for one in raw) + '"'


def weak(demand: Requirement, level: str) -> bool:
    """Return True when a broken requirement only warns at this level."""
    return LEVELS.index(demand.level) > LEVELS.index(level)


@dataclass(frozen=True, slots=True)
class LuaRules:
    """Rules in Lua. source: calls that declare them. written: ids of the emitted rules.

    left_out: ids of the other rules, with the reason.
    """

    source: str
    written: tuple[str, ...]
    left_out: Mapping[str, str]
