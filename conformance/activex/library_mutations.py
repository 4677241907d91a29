"""Mutations of type information: identifiers, bases, places of members, and constants, each changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.activex import constants, described, libraries
from conformance.verdict import Outcome, Verdict


def caught() -> frozenset[str]:
    """Return the requirements that hold for a library that follows the document and fail for a changed one."""
    return frozenset(_failed(_changed())) & frozenset(_passed())


def _passed() -> Iterator[str]:
    verdicts = (*_described(_same), *constants.constants(constants.ideal()))
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS)


def _changed() -> Iterator[Verdict]:
    for change in (_further, _elsewhere):
        yield from _described(change)
    wrong = {name: {one: value ^ 1 for one, value in each.items()} for name, each in constants.ideal().items()}
    yield from constants.constants(wrong)


def _same(interface: dict[str, Any]) -> dict[str, Any]:
    return interface


def _further(interface: dict[str, Any]) -> dict[str, Any]:
    """Return an interface whose members stand one place further on."""
    return {**interface, "members": [{**member, "slot": member["slot"] + 1} for member in interface["members"]]}


def _elsewhere(interface: dict[str, Any]) -> dict[str, Any]:
    """Return an interface with another identifier and another base."""
    return {**interface, "iid": interface["iid"][::-1], "base": "IUnknown"}


def _described(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[Verdict]:
    for coclass in libraries.CLASSES:
        yield from described.described(coclass, [change(interface) for interface in described.ideal(coclass)])


def _failed(verdicts: Iterator[Verdict]) -> Iterator[str]:
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)
