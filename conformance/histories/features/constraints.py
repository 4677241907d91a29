"""Situations that do not count: those that no call can meet, and those that a refusal decides alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from conformance.histories.features import constraints_content, constraints_others, constraints_reads
from conformance.histories.features.constraint import Cases, Constraint

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *constraints_reads.CONSTRAINTS,
    *constraints_others.CONSTRAINTS,
    *constraints_content.CONSTRAINTS,
)
_UNUSABLE = ("closed", "deleted", "recreated")


def _cases(**cases: tuple[str, ...]) -> Cases:
    return {name: frozenset(values) for name, values in cases.items()}


_RECEIVES = _cases(handle=("peek", "send", "move", *_UNUSABLE), cursor=("closed",), transaction=("ended",))
_PEEKS = _cases(handle=("send", "move", *_UNUSABLE), cursor=("closed",))
_ENDS = _cases(state=("committed", "aborted"))
REFUSALS: Final[Mapping[str, Cases]] = {
    "messages.receive": _RECEIVES,
    "messages.receive_begin": _RECEIVES,
    "messages.receive_by_lookup_id": _RECEIVES,
    "messages.peek": _PEEKS,
    "messages.peek_next": _PEEKS,
    "messages.peek_by_lookup_id": _PEEKS,
    "messages.receive_end": _cases(read=("ended_kept", "ended_gone", "queue_deleted", "queue_recreated")),
    "transactions.commit": _ENDS,
    "transactions.abort": _ENDS,
    "queues.close": _cases(handle=("closed",)),
    "queues.purge": _cases(handle=("peek", "send", "closed")),
}
"""By method, the cases in which a call is refused before it looks at anything else. Pairs with them count, which tell
whether the call is refused whatever else holds and does nothing all the same; a third condition decides nothing."""
REFUSED: Final = "the call is refused whatever the third condition is: its pairs count"


@cache
def _of(method: str) -> tuple[Constraint, ...]:
    return tuple(one for one in CONSTRAINTS if method in one.methods)


def excluded(method: str, values: Iterable[tuple[str, str]]) -> str | None:
    """Return why a situation does not count; None for one that counts.

    values: two or three features of the method, each with one of its values.
    """
    given = dict(values)
    for one in _of(method):
        if one.excludes(given):
            return one.reason
    refusals = REFUSALS.get(method)
    if len(given) > 2 and refusals is not None:
        for name, value in given.items():
            if value in refusals.get(name, ()):
                return REFUSED
    return None
