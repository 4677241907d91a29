"""Handles and identifiers that an implementation gives are told apart: MS-MQDMPR 3.1.1.14, 3.1.1.16 and 3.2.1.2.

What a name of a history stands for at the driver's end is no part of the model's state: the harness keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance.model.calls import Call
from conformance.model.state import State
from conformance.model.tables import CursorState
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json, Outcome, Verdict

UNIQUE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "queues.open": requirement_id("MQDMPR-3.1.1.16.handle-unique"),
        "cursors.open": requirement_id("MQDMPR-3.2.1.2.handle-unique"),
        "transactions.begin": requirement_id("MQDMPR-3.1.1.14.identifier-unique"),
    }
)
"""The method that gives a handle or an identifier, and the requirement that nothing else of its kind has it."""


def told_apart(state: State, call: Call, known: Mapping[str, Json]) -> Iterator[Verdict]:
    """Judge what a successful call gave: nothing of its kind that is open has it too. Nothing else open: no verdict.

    state: after the call. known: name to the handle or identifier that the implementation gave for it.
    """
    requirement = UNIQUE.get(call.method)
    if requirement is None or call.name is None or call.name not in known:
        return
    given = known[call.name]
    others = [name for name in _open(state, call.method) if name != call.name and name in known]
    if not others:
        return
    same = next((name for name in others if known[name] == given), None)
    if same is None:
        yield Verdict(requirement, Outcome.PASS, call.method)
        return
    yield Verdict(requirement, Outcome.FAIL, call.method, f"another handle than that of {same}", str(given))


def _open(state: State, method: str) -> Collection[str]:
    if method == "queues.open":
        return [handle.name for handle in state.handles.values() if handle.is_open]
    if method == "cursors.open":
        return [cursor.name for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED]
    return [transaction.name for transaction in state.transactions.values() if transaction.ended is None]
