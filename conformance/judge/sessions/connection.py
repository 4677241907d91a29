"""The rules that need only the connection they judge: single packets, counts, windows and times of acknowledgments.

The rules that need more (`shared`) take from them what `Counted` holds; nothing goes the other way, so that whoever has
all packets of a connection can judge it, whatever else the capture has.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judge.sessions.context import MESSAGES, Notes, Seen
from conformance.judge.sessions.counts import Counts
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.packets import judge_alone


@dataclass(frozen=True, slots=True)
class Counted:
    """A packet as the counts of its connection show it.

    idle: a message, before which everything its side sent is known to be acknowledged. miscounted: it counts otherwise
    than its side has sent, and not by as much as one before.
    """

    idle: bool = False
    miscounted: bool = False


_COUNTED = tuple(tuple(Counted(idle, miscounted) for miscounted in (False, True)) for idle in (False, True))


def judge_connection(seen: Seen, notes: Notes, counts: Counts, flow: Flow) -> Counted:
    """Judge a packet by the state of its connection; nothing is said of one that was unintelligible."""
    side = seen.side
    assert side is not None
    if seen.gap_before:
        counts.lose(side)
    if seen.trouble is not None:
        counts.lose(side)
        return Counted()
    if seen.kind != "UserMessage":
        judge_alone(seen, notes)
    counts.see(seen, notes)
    flow.see(seen, notes)
    idle = seen.kind in MESSAGES and counts.idle_before(side)
    return _COUNTED[idle][counts.miscounted]
