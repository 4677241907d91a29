"""Mutations of type information: places, kinds and arguments of members, and constants, each changed."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.activex import constants, described
from conformance.activex.states import STATES
from conformance.verdict import Outcome, Verdict


def caught() -> frozenset[str]:
    """Return the requirements that hold for a library that follows the document and fail for a changed one."""
    return frozenset(_failed(_changed())) & frozenset(_passed())


def _passed() -> Iterator[str]:
    verdicts = (*_described(0), *constants.constants(constants.ideal()))
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS)


def _changed() -> Iterator[Verdict]:
    yield from _described(1)
    wrong = {name: {one: value ^ 1 for one, value in each.items()} for name, each in constants.ideal().items()}
    yield from constants.constants(wrong)


def _described(further: int) -> Iterator[Verdict]:
    """Yield the verdicts on classes whose members stand so many places further on."""
    for coclass, states in STATES.items():
        if states.new is None:
            continue
        for interface in described.ideal(coclass):
            members = [{**member, "slot": member["slot"] + further} for member in interface["members"]]
            yield from described.described(coclass, [{**interface, "members": members}])


def _failed(verdicts: Iterator[Verdict]) -> Iterator[str]:
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)
