"""Numba functions that change the state described in `layout` as the rules do, for `kernel`."""

from __future__ import annotations

from typing import Any

from conformance.judge.sessions.columns import layout as p
from conformance.wire.columns.jit import compiled


@compiled
def group(groups: Any, row: int, frame: int, last: int, sequence: int, connection: int) -> int:
    """Write what `groups.Group` has into a row; return it. last: not 0 for the last message of a transaction."""
    groups[row, p.GROUP_FRAME] = frame
    groups[row, p.GROUP_ENDED] = 1 if last else 0
    groups[row, p.GROUP_SEQUENCE] = sequence
    groups[row, p.GROUP_CONNECTION] = connection
    return row


@compiled
def progress(index: Any, row: int, generation: int, time: int, number: int, previous: int) -> int:
    """Change the progress of a sequence by a message, as `sequences.Progress`; return its row."""
    index[row, p.TOP] = max(index[row, p.TOP], number)
    if index[row, p.PROGRESS_NS] == p.NONE or index[row, p.PROGRESS_NS] == 0:
        index[row, p.PROGRESS_NS] = time
    accepted = index[row, p.ACCEPTED]
    if accepted == p.NONE or generation != index[row, p.PROGRESS_GENERATION]:
        index[row, p.ACCEPTED] = max(number, max(0, accepted))
        index[row, p.PROGRESS_GENERATION] = generation
    elif number > accepted and previous <= accepted:
        index[row, p.ACCEPTED] = number
    index[row, p.LATEST] = number
    return row
