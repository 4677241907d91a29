"""Stages and events: each pair of both is a history, with a look at everything behind, and each pair of events too.

What shows only where two conditions meet is found by pairs of them, which no run leaves to chance. Behind the event of
a history follows a second one. Which one it is moves on by one from stage to stage, so that over all stages each event
follows each other one, where there are as many stages as events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from conformance.histories.examples_management import GET
from conformance.histories.history import History
from conformance.histories.tours_management import Looking
from conformance.model import BadCall, Call
from conformance.model.management_rows import QUEUE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


def following(number: int, turn: int, events: int) -> int:
    """Return the number of the event that follows an event, at the stage of number `turn`."""
    return (number + turn) % events


def at(
    stage: Sequence[Call],
    events: Mapping[str, Sequence[Call]],
    mq: Port,
    judge: Recorder,
    *,
    opening: Sequence[Call],
    behind: Sequence[Call],
    shown: Iterable[str],
    turn: int = 0,
) -> None:
    """Run a history for each event that can happen at a stage.

    opening: calls that begin it. behind: calls that end it, after the look. shown: the properties to look at. turn:
    number of the stage, which decides what follows each event.
    """
    names = tuple(shown)
    happening = tuple(events.values())
    for number, event in enumerate(happening):
        history = History(mq, judge)
        history.run(*opening)
        looking = Looking(names)
        _some(history, stage)
        if number == 0:
            history.run(*looking(history.state))
        if not _some(history, event):
            continue
        history.run(*looking(history.state))
        if _some(history, happening[following(number, turn, len(happening))]):
            history.run(*looking(history.state))
        _some(history, behind)


def played(calls: Sequence[Call], mq: Port, judge: Recorder, *, opening: Sequence[Call], shown: Iterable[str]) -> None:
    """Run a written history, with a look behind each call that changes a session, the machine or who has what open."""
    history = History(mq, judge)
    history.run(*opening)
    looking = Looking(shown)
    for call in calls:
        before = history.state
        done = _done(history, call)
        if done and (history.state.management, history.state.handles) != (before.management, before.handles):
            history.run(*looking(history.state))


def beside(
    stage: Sequence[Call],
    events: Mapping[str, Sequence[Call]],
    mq: Port,
    judge: Recorder,
    *,
    other: str,
    shown: Iterable[str],
) -> None:
    """Run a history for each event at a stage, and look behind it at another queue, which it is not about."""
    names = tuple(name for name in shown if name.startswith(QUEUE))
    look, go_on = Call(GET, queue=other, names=names), Call("management.transfer", queue=other)
    for event in events.values():
        history = History(mq, judge)
        history.run(*stage, look)
        if _some(history, event):
            history.run(look)
            _some(history, (go_on, look))


def _some(history: History, calls: Sequence[Call]) -> bool:
    """Make the calls that make sense now; return False where none does."""
    return sum(_done(history, call) for call in calls) > 0


def _done(history: History, call: Call) -> bool:
    """Make a call that makes sense now; return False for another."""
    if history.over:
        return False
    try:
        history.model.allowed(history.state, call)
        history.attempt(call)
    except BadCall:
        return False
    return True
