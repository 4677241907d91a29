"""Enumerations of the type library, against those of the document (MC-MQAC 2.2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from conformance.spec.catalogue import catalogue
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.verdict import Outcome, Verdict

_SOURCE: Final = "MC-MQAC 2.2.2."
_SPELLED: Final = {"MQMSG_ACKNOWLEDGEMENT_": "MQMSG_ACKNOWLEDGMENT_", "MQMSGDELIVERY_": "MQMSG_DELIVERY_"}
"""Beginnings of names as a section spells them, to those of section 6, of which type libraries are made (Q93)."""


@cache
def _entries() -> tuple[tuple[str, str, str, int], ...]:
    """Return requirement, enumeration, name and value of each constant."""
    known = {entry.id for entry in catalogue() if entry.kind == "member" and entry.checked == "call"}
    found: list[tuple[str, str, str, int]] = []
    for enumeration, listed in ENUMERATIONS.items():
        if not listed.source.startswith(_SOURCE):
            continue
        section = listed.source.removeprefix("MC-MQAC ")
        for name, value in listed.members.items():
            requirement = f"MQAC-{section}.{name.lower().replace('_', '-')}"
            if requirement in known:
                found.append((requirement, enumeration, name, value))
    return tuple(found)


def constants(shown: Mapping[str, Mapping[str, int]]) -> Iterator[Verdict]:
    """Yield a verdict on each constant. shown: the enumerations that a driver tells of, in a type library of theirs."""
    plain = {enumeration: {_plain(name): value for name, value in each.items()} for enumeration, each in shown.items()}
    for requirement, enumeration, name, value in _entries():
        actual = plain.get(enumeration, {}).get(_plain(name))
        outcome = Outcome.PASS if actual == value else Outcome.FAIL
        yield Verdict(requirement, outcome, f"{enumeration}.{name}", value, actual)


def _plain(name: str) -> str:
    return next((new + name.removeprefix(old) for old, new in _SPELLED.items() if name.startswith(old)), name)


def claimed() -> tuple[str, ...]:
    """Return the requirements on constants."""
    return tuple(requirement for requirement, *_ in _entries())


def ideal() -> dict[str, dict[str, int]]:
    """Return the enumerations as the document has them."""
    out: dict[str, dict[str, int]] = {}
    for _, enumeration, name, value in _entries():
        out.setdefault(enumeration, {})[name] = value
    return out
