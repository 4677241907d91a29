"""Planned histories of management: every pair of features that calls of management can meet.

MS-MQMR 3.1.4, MS-MQDMPR 3.1.1.3, 3.1.1.4 and 3.1.4.12 to 3.1.4.15, MS-MQQB 3.1.5.6 and 3.1.5.7. The histories are data,
made by `tools/management_plan.py` on the model alone; what they cannot meet is in a table, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.histories.features.table import FEATURES
from conformance.histories.operations.table import stored_call
from conformance.histories.stages_management import OPENING
from conformance.model import Call, State

Pair: TypeAlias = tuple[str, str, str, str, str]
"""A method, and the names and values of two of its features."""
DATA: Final = Path(__file__).with_name("management_plan.json")
PLAYED: Final = ("management.act", "management.connection", "management.transfer", "management.acknowledge")
LOCAL: Final = "q1"
BEGINNING: Final = (*OPENING, Call("queues.create", queue=LOCAL))
"""Calls that begin each history."""
_ACT, _TRANSFER, _ACKNOWLEDGE = "management.act", "management.transfer", "management.acknowledge"
_BEHIND: Final = ("stored=in_part", "stored=all", "under_way=some", "sequence=in_part", "sequence=complete")
_UNDER_WAY: Final = ("under_way=some", "under_way=again")
_UNACKNOWLEDGED: Final = ("sequence=pending", "sequence=in_part", "stored=in_part", "stored=all")
_ELSEWHERE: Final = ("target=absent", "target=local", "target=session")
_OF_SESSION: Final = ("state", "under_way", "sequence", "stored", "unread", "opened")
LEFT: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        "the call is about no outgoing queue": tuple(
            (_ACT, target, f"{name}=*") for target in _ELSEWHERE for name in _OF_SESSION
        ),
        "nothing is sent to the local queue, and a queue that is not there holds nothing": (
            *((_ACT, "target=local", f"content={content}") for content in ("messages", "held")),
            *((_ACT, target, "content=*") for target in ("target=absent", "target=session")),
        ),
        "a message stays in its queue until it is acknowledged": tuple(
            ("*", "content=nothing", other) for other in (*_UNACKNOWLEDGED, *_UNDER_WAY)
        ),
        "what has a number or is stored was transferred": tuple(
            ("*", "under_way=none", other) for other in _UNACKNOWLEDGED
        ),
        "an end of the session ends what was stored and acknowledged in it": (
            *(("*", "state=DISCONNECTED", other) for other in _BEHIND),
            ("*", "under_way=again", "sequence=complete"),
        ),
        "a message that is stored leaves the queue, or has a number": tuple(
            ("*", f"sequence={sequence}", f"stored={stored}")
            for sequence in ("none", "complete")
            for stored in ("in_part", "all")
        ),
        "an acknowledgment comes on a connection": tuple(
            (_ACKNOWLEDGE, f"state={state}", "*")
            for state in ("INACTIVE", "WAITING", "DISCONNECTING", "DISCONNECTED", "NEED VALIDATION", "ONHOLD")
        ),
        "an order acknowledgment is for a number of the present sequence": tuple(
            (_ACKNOWLEDGE, f"kind={kind}", other)
            for kind in ("order", "order_again", "order_late")
            for other in ("content=nothing", "sequence=none", "sequence=complete", "under_way=none")
        ),
        "one that is late has another one before it": ((_ACKNOWLEDGE, "kind=order_late", "sequence=pending"),),
        "a final acknowledgment is awaited": tuple(
            (_ACKNOWLEDGE, f"kind={kind}", "unread=none") for kind in ("received", "rejected")
        ),
        "which messages go after a resumption, or beside another session, is not said": (
            *((_TRANSFER, "state=INACTIVE", other) for other in (*_UNACKNOWLEDGED, *_UNDER_WAY)),
            *((_TRANSFER, "state=ONHOLD", other) for other in (*_UNACKNOWLEDGED[1:], "under_way=some")),
            (_TRANSFER, "state=WAITING", "under_way=some"),
        ),
    }
)
"""Reason to the pairs that no history meets: method and two values, each of which may be any."""


def pairs_of(state: State, call: Call) -> Iterator[Pair]:
    """Yield the pairs of features that a call meets in a state."""
    found = [(feature.name, value) for feature in FEATURES[call.method] if (value := feature.of(state, call))]
    for (one, its), (other, others) in combinations(found, 2):
        yield call.method, one, its, other, others


def all_pairs() -> frozenset[Pair]:
    """Return every pair of values of two features of the calls that are played."""
    return frozenset(
        (method, one.name, its, other.name, others)
        for method in PLAYED
        for one, other in combinations(FEATURES[method], 2)
        for its in one.values
        for others in other.values
    )


def why_left(pair: Pair) -> str | None:
    """Return the reason why no history meets a pair; None for one that can be met."""
    method, one, its, other, others = pair
    values = (f"{one}={its}", f"{other}={others}")
    return next((why for why, rows in LEFT.items() if any(_fits(row, method, values) for row in rows)), None)


def _fits(row: tuple[str, ...], method: str, values: tuple[str, str]) -> bool:
    of, first, second = row
    if of not in ("*", method):
        return False
    return any(_is(first, one) and _is(second, other) for one, other in (values, values[::-1]))


def _is(wanted: str, value: str) -> bool:
    return wanted in ("*", value) or (wanted.endswith("=*") and value.startswith(wanted[:-1]))


def told(pairs: Iterable[Pair]) -> list[str]:
    """Return pairs in words, sorted."""
    return sorted(f"{method}: {one}={its}, {other}={others}" for method, one, its, other, others in pairs)


@lru_cache(1)
def planned() -> tuple[tuple[Call, ...], ...]:
    """Return the histories, each without its beginning."""
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    return tuple(tuple(map(stored_call, calls)) for calls in raw)
