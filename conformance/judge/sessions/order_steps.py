"""How an OrderAck changes the registers of a path, and which rules it keeps or breaks, in the language of `flow_steps`.

A place is that of the first register of a row. Sections are those of MS-MQQB.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import registers as r
from conformance.judge.sessions.registers import NONE

FORM, SEQUENCE, IN_ORDER, ACCEPTED, ACCEPTED_LESS, DELAY, LATE, SCHEDULED, BEFORE_NEXT, NEVER_DECREASES, RESTARTED = (
    range(32, 43)
)
"""The rules, see `reports.RULES`."""
SEQUENCE_UNKNOWN: Final = 2
"""The act of a NOTE: neither side is known to have sent on the sequence."""
ACKNOWLEDGED, OWN_OUTGOING = 1, 2
"""The alternatives of the reading of the sequence that an OrderAck names."""
KEPT, REPLACED = 1, 2
"""Those of the reading of a number that was rejected."""
DIRECT: Final = 7
"""UserHeader.Flags.DQ of a direct format name."""
_PRIVATE = 3
_MS = 1_000_000
DELAY_MS: Final = 500
"""OrderAckTimeout."""
LEAST_NS: Final = (DELAY_MS - steps.TICK_MS) * _MS
"""Timers run in ticks."""
LATE_NS: Final = 13_000_000_000
"""OrderAckTimeout, MaximumOrderAckDelay (10 s), and the time in which an OrderAck gets its turn on a session."""
SOON_NS: Final = 3_000_000_000
"""The same without MaximumOrderAckDelay."""
RESTARTED_NS: Final = 8_000_000_000
"""MaximumOrderAckDelay, of which a second may lack in LastOrderAckSendTime, and the time on the way."""
GAP_NS: Final = 2_050_000_000
"""OrderAckTimeout, a tick, and the time in which an OrderAck gets its turn, of which nothing shows that it had it."""
SCHEDULED_NS: Final = 1_550_000_000
"""The same after the last message: OrderAckTimeout, a tick, and a second."""


def see(
    rows: Any, base: int, side: int, paths: Any, there: int, progress: int, own: int, shared: Any, out: Any,
    time: int, sequence: int, number: int, form: int, new: int,
) -> int:  # fmt: skip
    """Judge an OrderAck after `flow_steps.see`.

    base: the place of its connection. there: that of the path of what it acknowledges. progress: that of its sequence
    there. own: that of the same sequence on the way of the OrderAck, -1 without one. new: it is not sent again.
    """
    out[0] = 0
    generation, highest = paths[there + r.GENERATION], paths[progress + r.HIGHEST]
    judge_form(paths, there, out, form)
    paths[there + r.ANSWERS] = 1
    sent = own >= 0 and paths[own + r.HIGHEST] > 0
    fitting = shared[r.READS_SEQUENCE] & ((ACKNOWLEDGED if highest else 0) | (OWN_OUTGOING if sent else 0))
    if fitting:
        steps.put(out, SEQUENCE, steps.HOLDS | fitting << 3, sequence, sequence)
    else:
        steps.put(out, 0, steps.NOTE | SEQUENCE_UNKNOWN << 3, 0, 0)
    if highest:
        accept(rows, base, paths, progress, shared, out, number, generation)
    mine = base + r.SIDES[side]
    begun = rows[base + r.OPENED_NS] if steps.has_room(rows, mine) else time
    if new:  # One that is sent again, on another session, comes at any time.
        restart(rows, base, paths, there, progress, shared, out, time, number)
        if highest:
            delay(rows, base, paths, there, progress, shared, out, time, number, begun)
        schedule(paths, there, progress, shared, out, time, number, begun)
    paths[there + r.ANSWERED_NS], paths[there + r.ANSWERED_ON] = time, paths[progress + r.NUMBER_ON]
    done = paths[progress + r.DONE]
    if done and new:
        steps.judge(out, NEVER_DECREASES, number >= done, done, number)
    paths[progress + r.DONE] = max(done, number)
    settled = rows[mine + r.ACK_COUNT] == rows[base + r.SIDES[1 - side] + r.SENT] & 0xFFFF
    here = paths[there + r.SENT_ON] == rows[base + r.CONNECTION]
    paths[progress + r.OVER] = 1 if settled and here and number >= highest > 0 else 0
    return 0


def judge_form(paths: Any, there: int, out: Any, form: int) -> int:
    """Judge how the order queue is named (3.1.7.17), where all that is acknowledged went to direct names.

    A session is one for direct names after any message to one (3.1.5.8.2).
    """
    direct, indirect = paths[there + r.DIRECT], paths[there + r.INDIRECT]
    known = form in (_PRIVATE, DIRECT)
    if direct and not indirect and known:
        steps.judge(out, FORM, form == DIRECT, DIRECT, form)
    elif indirect and not paths[there + r.NAMED_DIRECT] and not paths[there + r.GENERATION] and known:
        steps.judge(out, FORM, form == _PRIVATE, _PRIVATE, form)
    return 0


def accept(rows: Any, base: int, paths: Any, progress: int, shared: Any, out: Any, number: int, generation: int) -> int:
    """Judge that an acknowledged number was sent (3.1.1.6.2), and accepted in order (3.1.5.8.6)."""
    highest, accepted = paths[progress + r.HIGHEST], max(0, paths[progress + r.ACCEPTED])
    if number > highest:
        if generation:
            return steps.leave(rows, base, out, IN_ORDER, steps.UNSEEN)
        return steps.put(out, IN_ORDER, steps.SUSPECT, highest, number)
    steps.judge(out, IN_ORDER, 1, highest, number)
    if generation:
        return steps.leave(rows, base, out, ACCEPTED, steps.UNSEEN)
    fits = (KEPT if number <= accepted else 0) | (
        REPLACED if number <= accepted or number == paths[progress + r.NUMBER] else 0
    )
    fitting = shared[r.READS_REJECTED] & fits
    return steps.put(out, ACCEPTED, (steps.HOLDS if fitting else steps.SUSPECT) | fitting << 3, accepted, number)


def delay(
    rows: Any, base: int, paths: Any, there: int, progress: int, shared: Any, out: Any, time: int, number: int,
    begun: int,
) -> int:  # fmt: skip
    """Judge the OrderAck timer (3.1.3.2), which starts with a transactional message, of this sequence or of another.

    An OrderAck may wait for its turn, and come after messages that the timer of the next one began with.
    """
    started, other = paths[there + r.BEGUN_NS], paths[progress + r.WAITS_NS]
    if started == NONE or (other != NONE and other < started):
        started = other
    if number >= paths[progress + r.HIGHEST]:
        paths[there + r.BEGUN_NS] = paths[progress + r.WAITS_NS] = NONE
    if started == NONE:
        return 0
    if paths[there + r.GENERATION]:
        return steps.leave(rows, base, out, DELAY, steps.UNSEEN)
    why = steps.untimely(shared, started, time, LEAST_NS)
    if why:
        steps.put(out, DELAY, steps.OPEN, why, 1)
    else:
        steps.judge(out, DELAY, time - started >= LEAST_NS, DELAY_MS, (time - started) // _MS)
    since = max(started, paths[there + r.ANSWERED_NS], paths[there + r.AGAIN_NS])
    # Long after the OrderAck before, or the begin of the session, nothing puts it off (3.1.2.7).
    here = paths[there + r.SENT_ON] == rows[base + r.CONNECTION] and since == started
    alone = here and since - max(paths[there + r.ANSWERED_NS], rows[base + r.OPENED_NS]) > LATE_NS
    most = SOON_NS if alone else LATE_NS
    if since >= begun or time - since <= most:
        why = steps.untimely(shared, since, time, most + 1)
        if why:
            return steps.put(out, LATE, steps.OPEN, why, 1)
        steps.judge(out, LATE, time - since <= most, most // _MS, (time - since) // _MS)
    return 0


def restart(
    rows: Any, base: int, paths: Any, there: int, progress: int, shared: Any, out: Any, time: int, number: int
) -> int:
    """Judge that the OrderAck timer starts again with the last message that an OrderAck is for (3.1.2.7).

    It does so soon after the OrderAck before. One that begins it is judged by `delay`.
    """
    begun, last, before = paths[progress + r.WAITS_NS], paths[progress + r.NUMBER_NS], paths[there + r.ANSWERED_NS]
    if not 0 < before < begun < last or number != paths[progress + r.NUMBER]:
        return 0
    if last - before > RESTARTED_NS or paths[there + r.ANSWERED_ON] != paths[progress + r.NUMBER_ON]:
        return 0
    if paths[there + r.GENERATION]:
        return steps.leave(rows, base, out, RESTARTED, steps.UNSEEN)
    why = steps.untimely(shared, before, time, LEAST_NS)
    if why:
        return steps.put(out, RESTARTED, steps.OPEN, why, 1)
    return steps.judge(out, RESTARTED, time - last >= LEAST_NS, DELAY_MS, (time - last) // _MS)


def schedule(paths: Any, there: int, progress: int, shared: Any, out: Any, time: int, number: int, begun: int) -> int:
    """Judge that an OrderAck follows the last message soon, and is for it, on a session that stands since then.

    After a message that came again it may be late: what was to go to a session that ended waits for a timer (3.1.2.3).
    """
    gap, last = paths[there + r.GAP_NS], paths[there + r.SENT_NS]
    paths[there + r.GAP_NS] = NONE
    accepted = max(0, paths[progress + r.ACCEPTED])
    if paths[there + r.GENERATION] or paths[progress + r.HIGHEST] == 0 or number == 0 or number > accepted:
        return 0
    if steps.untimely(shared, last, time, NONE):
        return 0
    waited = time - last
    if gap != NONE and not paths[there + r.REFUSAL]:
        return steps.judge(out, BEFORE_NEXT, 0, 0, gap // _MS)
    if begun <= last and waited > SCHEDULED_NS:
        again = paths[there + r.AGAIN_NS] > paths[there + r.ANSWERED_NS]
        return 0 if again else steps.judge(out, SCHEDULED, 0, DELAY_MS, waited // _MS)
    if paths[progress + r.WHOLE] and begun <= last and number < accepted and waited >= LEAST_NS:
        return steps.judge(out, ACCEPTED_LESS, 0, accepted, number)
    if waited <= SCHEDULED_NS:
        return steps.judge(out, SCHEDULED, 1, DELAY_MS, waited // _MS)
    return 0


def begin(paths: Any, path: int, time: int) -> int:
    """Take notice of a transactional message that comes, after which an OrderAck is owed."""
    if paths[path + r.BEGUN_NS] == NONE or paths[path + r.BEGUN_NS] == 0:
        paths[path + r.BEGUN_NS] = time
    return 0


def end(paths: Any, path: int, time: int, connection: int) -> int:
    """Take notice of a transactional message that was judged."""
    paths[path + r.SENT_NS], paths[path + r.SENT_ON] = time, connection
    return 0


def advance(
    rows: Any, base: int, mine: int, paths: Any, path: int, progress: int, time: int, number: int, previous: int,
    again: int, unended: int, dq: int,
) -> int:  # fmt: skip
    """Take notice of a transactional message from its own queue manager; it is accepted only in order (3.1.5.8.6).

    again: it was sent before. unended: by how much the number of transactions without a last message grows. Everything
    before the first message seen counts as accepted. Where the window is narrow, a message waits for acknowledgments of
    what was sent before it.
    """
    begun = rows[base + r.OPENED_NS] if steps.has_room(rows, mine) else time
    last, gap = paths[path + r.SENT_NS], paths[path + r.GAP_NS]
    if again:  # Whoever has not acknowledged it may have had no way to.
        paths[path + r.AGAIN_NS], paths[path + r.GAP_NS] = time, NONE
    elif begun <= last and last > paths[path + r.ANSWERED_NS] > 0 and time - last > GAP_NS and gap in (NONE, 0):
        paths[path + r.GAP_NS] = time - last
    paths[progress + r.HIGHEST] = max(paths[progress + r.HIGHEST], number)
    paths[progress + r.UNENDED] = max(0, paths[progress + r.UNENDED] + unended)
    if paths[progress + r.WAITS_NS] == NONE or paths[progress + r.WAITS_NS] == 0:
        paths[progress + r.WAITS_NS] = time
    accepted, generation = paths[progress + r.ACCEPTED], paths[path + r.GENERATION]
    if accepted == NONE or generation != paths[progress + r.ACCEPTED_IN]:
        paths[progress + r.ACCEPTED], paths[progress + r.ACCEPTED_IN] = max(number, max(0, accepted)), generation
    elif number > accepted and previous <= accepted:
        paths[progress + r.ACCEPTED] = number
    paths[progress + r.NUMBER], paths[progress + r.NUMBER_NS] = number, time
    paths[progress + r.NUMBER_ON] = rows[base + r.CONNECTION]
    paths[path + (r.DIRECT if dq == DIRECT else r.INDIRECT)] = 1
    return progress


LOWERED: Final = (judge_form, accept, restart, delay, schedule, begin, end, advance, see)
"""The functions that compiled code includes."""
