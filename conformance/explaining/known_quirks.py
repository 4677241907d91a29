"""Quirks that a baseline knows: which of its tables can be used, and why the others cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance import __version__
from conformance.embedded.faults import FAULTS
from conformance.spec.catalogue import catalogue, current, did_you_mean

MEMBERS: Final = ("version", "requirement", "faults", "story", "calls")


@dataclass(frozen=True, slots=True)
class KnownQuirk:
    """A quirk of an earlier run. calls: of its story, as a repro file has them."""

    requirement: str
    faults: tuple[str, ...]
    story: tuple[str, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()


def usable(tables: Sequence[Mapping[str, Any]]) -> tuple[tuple[KnownQuirk, ...], tuple[str, ...]]:
    """Return the quirks that can be used, and a sentence about each that cannot: it is judged as without it."""
    found: list[KnownQuirk] = []
    told: list[str] = []
    for number, table in enumerate(tables, 1):
        try:
            found.append(_quirk(table))
        except ValueError as why:
            told.append(f"The quirk {number} of the baseline is not used: {why}.")
    bodies: dict[str, set[tuple[str, ...]]] = {}
    for quirk in found:
        bodies.setdefault(_key(quirk), set()).add(quirk.faults)
    contradictory = [quirk for quirk in found if len(bodies[_key(quirk)]) > 1]
    for name in dict.fromkeys(quirk.requirement for quirk in contradictory):
        told.append(f"The quirks of the baseline about {name} contradict each other: the same story, different faults.")
    return tuple(quirk for quirk in found if quirk not in contradictory), tuple(told)


def tables(evidence: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables for a baseline from the quirks of a run record: those with a body, each once."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for data in evidence:
        faults = tuple(map(str, data["faults"]))
        if faults:
            calls = json.dumps(data.get("calls", []))
            members = (
                __version__,
                str(data["requirement"]),
                list(faults),
                [str(line) for line in data["story"]],
                calls,
            )
            found.setdefault(faults, dict(zip(MEMBERS, members, strict=True)))
    return list(found.values())


def _quirk(table: Mapping[str, Any]) -> KnownQuirk:
    """Return the quirk of a table. Raises ValueError, with the reason."""
    for name in table:
        if name not in MEMBERS:
            raise ValueError(f"it has an unknown member {name!r}")
    if table.get("version") != __version__:
        raise ValueError(f"it is of version {table.get('version')!r}, and this is {__version__}")
    requirement = table.get("requirement")
    if not isinstance(requirement, str) or current(requirement) not in catalogue().requirements:
        raise ValueError(f"there is no requirement {requirement!r}")
    faults, story = table.get("faults"), table.get("story", [])
    if not isinstance(faults, list) or not faults or not all(isinstance(each, str) for each in faults):
        raise ValueError("it names no faults")
    for name in faults:
        if name not in FAULTS:
            raise ValueError(f"there is no fault {name!r}{did_you_mean(name, FAULTS) or ''}".rstrip(".?"))
    if not isinstance(story, list):
        raise ValueError("its story is no list of texts")
    try:
        calls = json.loads(table.get("calls", "[]"))
    except (TypeError, ValueError, RecursionError):
        raise ValueError("its calls are not JSON") from None
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise ValueError("its calls are no list of calls")
    return KnownQuirk(current(requirement), tuple(faults), tuple(map(str, story)), tuple(calls))


def _key(quirk: KnownQuirk) -> str:
    return json.dumps([quirk.requirement, quirk.calls], sort_keys=True)
