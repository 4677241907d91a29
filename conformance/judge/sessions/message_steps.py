"""How a message changes what is known of its queue manager, and which rules it keeps or breaks.

These are its age, its identifier, and the sequence of a transactional one. All is in the language of `flow_steps`.
Sequences are judged under each accepted alternative of their scope (R-MQQB-transactional-sequence-scope), and one of
them is followed. Sections are those of MS-MQQB.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import registers as r
from conformance.judge.sessions import tables as t
from conformance.judge.sessions.order_steps import LEAST_NS
from conformance.judge.sessions.registers import NONE

(
    OLDER, FIRST, NEXT, PREVIOUS, RESENT, ALL_ACKNOWLEDGED, NEXT_SEQUENCE, SENT_TIME, EXPIRED, LASTS, ORDINAL,
) = range(48, 59)  # fmt: skip
"""The rules, see `reports.RULES`."""
DOUBTED, RIGHTED = 3, 4
"""The acts of a NOTE: the first time of a queue manager cannot be right; the clock is right by this message."""
HOLE, BEGUN_BEFORE, RESTARTED, UNANSWERED, CLOCKS = range(7, 12)
"""Why a rule stays open, besides the reasons of `flow_steps`."""
SESSION, QUEUE = range(2)
"""The scopes of a sequence. A scope is a bit of READS_SCOPE and of FAILED."""
ANYWHERE = 1 << 48
"""In place of a connection: the last one of a queue."""
_WORD = 0xFFFFFFFF
_S = 1_000_000_000
INFINITE: Final = 0xFFFFFFFF
"""TimeToReachQueue without an end."""
RIGHT, AHEAD, BEHIND = 3_600, 86_400, 10 * 365 * 86_400
"""A clock is right that is so close to the capture's; a time is wrong that is so far after it, or before it."""
OLD_S: Final = 5
"""A message so much older than the youngest of its queue manager may have been sent before."""
SECONDS: Final = 2
"""SentTime is in whole seconds, and so may be the clock it is compared with."""


def age(
    rows: Any, base: int, mine: int, ages: Any, source: int, doubted: int, out: Any, time: int, sent: int, allowed: int,
    new: int,
) -> int:  # fmt: skip
    """Judge the times of a message, and count it if it may have been sent before.

    ages, source: the row of the smallest age of its queue manager, which is NONE for the first message. sent, allowed:
    SentTime and TimeToReachQueue. doubted: see `live`.
    """
    out[0], old = 0, 1
    if sent != NONE and allowed != NONE and time <= 0:
        steps.put(out, SENT_TIME, steps.OPEN, steps.NO_TIMES, 1)
        if allowed != INFINITE:
            steps.put(out, EXPIRED, steps.OPEN, steps.NO_TIMES, 1)
    elif sent != NONE and allowed != NONE:
        old = live(rows, base, ages, source, doubted, out, time // _S - sent, allowed)
    rows[mine + r.OLD] += 1 if old or not new else 0
    return 0


def live(rows: Any, base: int, ages: Any, source: int, doubted: int, out: Any, seconds: int, allowed: int) -> int:
    """Judge the age of a message; return 1 if it may have been sent before (3.1.7.1.2, MS-MQMQ 2.2.19.2).

    SentTime is no time at which it can have been sent when it is far from the time of the capture, while the clock is
    right by another message. doubted: the clock was not right by the messages so far, and a time cannot be.
    """
    least, possible = ages[source + t.NUMBER], -AHEAD <= seconds <= BEHIND
    if least == NONE:
        if not possible:
            steps.put(out, 0, steps.NOTE | DOUBTED << 3, 0, seconds)
    elif -RIGHT <= least <= RIGHT:
        steps.judge(out, SENT_TIME, possible, 0, seconds)
        if not possible:
            return 1
    elif doubted and -RIGHT <= seconds <= RIGHT:
        steps.put(out, 0, steps.NOTE | RIGHTED << 3, 0, seconds)
        least = seconds
    old = not -SECONDS <= seconds <= OLD_S if least == NONE else seconds - least > OLD_S
    least = ages[source + t.NUMBER] = seconds if least == NONE else min(least, seconds)
    most = allowed + SECONDS
    if allowed == INFINITE:
        return 1 if old else 0
    if seconds - least > most and not -SECONDS <= seconds <= most:
        steps.judge(out, EXPIRED, 0, allowed, seconds - least)
    elif seconds - least <= most and seconds <= most:
        steps.judge(out, LASTS, 1, allowed, seconds)
    else:
        steps.leave(rows, base, out, EXPIRED, CLOCKS)
    return 1 if old else 0


def name(last: Any, row: int, out: Any, number: int) -> int:
    """Judge an identifier, which is assigned at the first sending; gaps belong to other sessions (3.1.7.1.1).

    last, row: that of the last identifier, which is NONE for the first message.
    """
    before = last[row + t.NUMBER]
    last[row + t.NUMBER] = number
    if before != NONE:
        steps.judge(out, ORDINAL, 0 < (number - before) & _WORD < 1 << 31, before, number)
    return 0


def above(one: int, other: int) -> bool:
    """Tell whether one number of 64 bits without a sign is above another; both are given as int64."""
    return (one ^ NONE) > (other ^ NONE)


def conclude(
    views: Any, view: int, scope: int, paths: Any, path: int, out: Any, rule: int, holds: int, expected: int,
    actual: int,
) -> int:  # fmt: skip
    """Add whether a rule holds; a failure refutes the scope.

    A message that looks new may have been sent before, where the capture has a hole.
    """
    if not holds and paths[path + r.GENERATION]:
        return steps.put(out, rule, steps.OPEN, HOLE, 1)
    if not holds:
        views[view + t.FAILED] |= 1 << scope
    return steps.judge(out, rule, holds, expected, actual)


def again(
    views: Any, view: int, scope: int, paths: Any, path: int, out: Any, sequence: int, number: int,
    sequence_before: int, number_before: int,
) -> int:  # fmt: skip
    """Judge the place of a message that is sent again on the same connection (3.1.7.1.3)."""
    same = sequence == sequence_before and number == number_before
    return conclude(views, view, scope, paths, path, out, RESENT, same, sequence_before, number_before)


def see(
    views: Any, view: int, scope: int, currents: Any, current: int, shares: int, paths: Any, path: int, back: int,
    shared: Any, out: Any, time: int, connection: int, sequence: int, number: int, previous: int, done: int,
) -> int:  # fmt: skip
    """Judge the numbers of a new transactional message under one scope, and make its sequence the current one.

    view: the row of its sender. current: that of the current sequence. shares: the message is the first of its queue,
    and another queue has its sequence: an identifier is greater than any before it (3.1.1.3.1). path, back: those of
    the message and of its acknowledgments. done: the number that is acknowledged of the current sequence.
    """
    out[0] = 0
    identifier, highest = currents[current + t.IDENTIFIER], currents[current + t.HIGHEST]
    known = highest != NONE and currents[current + t.GENERATION] == paths[path + r.GENERATION]
    elsewhere = currents[current + t.CONNECTION] != connection
    if shares:
        views[view + t.FAILED] |= 1 << scope
    if not known or (elsewhere and identifier == sequence):
        begin(views, view, scope, paths, path, out, number, previous, 0)
    elif identifier == sequence:
        follows, before = (highest + 1) & _WORD, (number - 1) & _WORD
        conclude(views, view, scope, paths, path, out, NEXT, number == follows, follows, number)
        conclude(views, view, scope, paths, path, out, PREVIOUS, previous == before, before, previous)
    elif above(sequence, identifier):
        if elsewhere and sequence & _WORD == 1 and (sequence >> 32) & _WORD > (identifier >> 32) & _WORD:
            steps.put(out, NEXT_SEQUENCE, steps.OPEN, RESTARTED, 1)
        else:
            acknowledge(views, view, scope, paths, path, back, shared, out, time, identifier, highest, done)
            next_one = NONE if identifier == ~NONE else identifier + 1
            conclude(views, view, scope, paths, path, out, NEXT_SEQUENCE, sequence == next_one, next_one, sequence)
        begin(views, view, scope, paths, path, out, number, previous, 1)
    else:
        return conclude(views, view, scope, paths, path, out, OLDER, 0, identifier, sequence)
    if highest != NONE and not above(identifier, sequence):
        conclude(views, view, scope, paths, path, out, OLDER, 1, identifier, sequence)
    currents[current + t.IDENTIFIER], currents[current + t.HIGHEST] = sequence, number
    currents[current + t.CONNECTION], currents[current + t.GENERATION] = connection, paths[path + r.GENERATION]
    return 0


def begin(
    views: Any, view: int, scope: int, paths: Any, path: int, out: Any, number: int, previous: int, known: int
) -> int:
    """Judge the first message of a sequence in the capture (3.1.1.5). known: it is the first one of all."""
    first = known or number == 1
    if first:
        conclude(views, view, scope, paths, path, out, FIRST, number == 1, 1, number)
    else:
        steps.put(out, FIRST, steps.OPEN, BEGUN_BEFORE, 1)
    if first or not paths[path + r.GENERATION]:
        conclude(views, view, scope, paths, path, out, PREVIOUS, previous == number - 1, number - 1, previous)
    return 0


def acknowledge(
    views: Any, view: int, scope: int, paths: Any, path: int, back: int, shared: Any, out: Any, time: int,
    identifier: int, highest: int, done: int,
) -> int:  # fmt: skip
    """Judge that all of a sequence is acknowledged before the next one begins (3.1.1.5)."""
    both, begun = ((highest - (1 << 31)) << 32) | done, paths[path + r.BEGUN_NS]
    if done >= highest:
        return conclude(views, view, scope, paths, path, out, ALL_ACKNOWLEDGED, 1, identifier, both)
    # The first message after the last OrderAck may have come too lately for another one to be made.
    lately = steps.untimely(shared, begun, time, NONE) == 0 and time - begun < LEAST_NS
    if lately or (paths[path + r.ANSWERS] and not paths[back + r.GENERATION]):
        views[view + t.FAILED] |= 1 << scope
        return steps.put(out, ALL_ACKNOWLEDGED, steps.SUSPECT, identifier, both)
    return steps.put(out, ALL_ACKNOWLEDGED, steps.OPEN, UNANSWERED, 1)


def follow(views: Any, view: int, reads: int) -> int:
    """Let the other accepted scope take over when the followed one is refuted; return the followed one."""
    followed: int = views[view + t.FOLLOWED]
    alive = reads & ~views[view + t.FAILED]
    if alive and not alive >> followed & 1:
        followed = views[view + t.FOLLOWED] = 1 - followed
    return followed


LOWERED: Final = (live, age, name, above, conclude, again, begin, acknowledge, see, follow)
"""The functions that compiled code includes."""
