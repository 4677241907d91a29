"""How a packet changes the registers of its connection, and which rules it keeps or breaks, in a part of Python.

Each function is run as plain Python and by compiled code: it reads and writes integers and arrays of them alone. What
it finds stands in `out`: how many words, and four for each result: the rule, the outcome, the expected and the actual
number. Sections are those of MS-MQQB.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.judge.sessions import registers as r
from conformance.judge.sessions.registers import NONE

KINDS: Final = ("UserMessage", "OrderAck", "FinalAck", "SessionAck")
"""The kinds of packets that a session consists of; the first three are messages (3.1.1.4)."""
USER, ORDER, FINAL, SESSION, OTHER = range(5)
HOLDS, FAILS, OPEN, NOTE, SUSPECT = range(5)
"""The outcomes. Above the three lowest bits: the alternatives under which a rule holds, or the act of a NOTE.

Of what stays OPEN, the expected number is the reason; the actual one is 1 where it is told once in the capture.
"""
WAITS, SETTLES = range(2)
"""The acts: the acknowledgment is judged later; those that waited are judged now."""
(
    USER_SENT, RECOVERABLE_SENT, WERE_SENT, NEVER_DECREASES, NUMBER_AND_FLAGS, LOWEST, LOWEST_NUMBER, ONCE,
    RECOVERABLE_WERE_SENT, RECEIVED, PAUSE, ANNOUNCED, SOMETHING, INCLUDED, AT_ONCE, IN_TIME, IN_WINDOW,
    DUE, LEFT_OUT,
) = range(19)  # fmt: skip
"""The rules, see `flow.RULES`."""
LOST, CONSEQUENCE, ANOTHER_ORDER, NO_TIMES, SET_BACK, COARSE, UNSEEN = range(7)
"""Why a rule stays open."""
OWN, RECEIVED_WINDOW = 1, 2
"""The alternatives of the reading of the window."""
TIMELY, UNTIMELY = 1, 2
"""Those of the reading of a SessionHeader in a message: only when the acknowledgment is nearly due, or at any time."""
MOST_PENDING: Final = 64
"""Acknowledgments that are not judged yet."""

_HALF, _WORD = 0x8000, 0xFFFF
_MS = 1_000_000
TICK_MS: Final = 50
"""Timers run in ticks."""
SLACK_MS: Final = 1_000
"""An acknowledgment may be under way, or wait for its turn, this long."""
MOST_AT_ONCE: Final = 33
"""The 33rd recoverable message is counted before it makes the acknowledgment due."""
_FLAGS = 32  # Bits of RecoverableMsgAckFlags: so many messages are acknowledged without the timer (3.1.5.8.7).
_WIDE = 33  # Messages; the default of Windows is 64.
_PAUSED = 1  # WindowSize of the acknowledgment that is sent when a queue is paused (3.1.7.13).
_NOTICED_NS = 1_000_000_000  # So late may a busy program notice something.


def after(later: int, earlier: int) -> int:
    """Return how far one 16-bit count is after another; negative when it is before."""
    return ((later - earlier + _HALF) & _WORD) - _HALF


def bits(number: int) -> int:
    """Return the place of the highest bit, from 1 on; 0 without any."""
    count = 0
    while number > 0:
        number >>= 1
        count += 1
    return count


def put(out: Any, rule: int, outcome: int, expected: int, actual: int) -> int:
    """Add a result; return its outcome."""
    at = out[0]
    out[at + 1], out[at + 2], out[at + 3], out[at + 4] = rule, outcome, expected, actual
    out[0] = at + 4
    return outcome


def judge(out: Any, rule: int, holds: int, expected: int, actual: int) -> int:
    """Add whether a rule holds; return the outcome."""
    return put(out, rule, HOLDS if holds else FAILS, expected, actual)


def leave(rows: Any, base: int, out: Any, rule: int, reason: int) -> int:
    """Leave a rule open, once in a connection."""
    if not rows[base + r.SAID] >> rule & 1:
        rows[base + r.SAID] |= 1 << rule
        put(out, rule, OPEN, reason, 0)
    return 0


def untimely(shared: Any, begun: int, now: int, limit: int) -> int:
    """Return why the times of two records do not tell whether it was less than `limit` from one to the other; or 0."""
    if begun <= 0 or now <= 0:
        return NO_TIMES
    if begun <= shared[r.DOUBTED_NS]:
        return SET_BACK
    for unit in (1_000_000_000, 100_000_000):
        if begun % unit == 0 and now % unit == 0:
            least, most = now - begun - unit + 1, now - begun + unit - 1
            return COARSE if least < limit <= most else 0
    return 0


def see(
    rows: Any, base: int, side: int, nodes: Any, shared: Any, out: Any, kind: int, time: int, frame: int, dm: int,
    window: int, ack: int, lowest: int, flags: int, user: int, recoverable: int, message_class: int, end: int,
    heard: int,
) -> int:  # fmt: skip
    """Judge a packet. dm to message_class: its values, NONE where it has none; those of its SessionHeader go together.

    base: the place of its connection in `rows`. end: the place behind it in the bytes of its side. heard: how many
    bytes its sender had received. At least MOST_MISSES + 1 nodes are free.
    """
    mine, its = base + r.SIDES[side], base + r.SIDES[1 - side]
    if rows[its + r.ACK_END] > 0 and heard >= rows[its + r.ACK_END]:
        rows[mine + r.SURE] = rows[its + r.ACK_FRAME]
    out[0] = rows[mine + r.MISCOUNTED] = 0
    if kind <= FINAL:
        if dm == NONE:
            rows[mine + r.KNOWN] = 0
        rows[mine + r.SENT] += 1
        rows[mine + r.RECOVERABLE] += 1 if dm == 1 else 0
    if window != NONE:
        own(rows, base, mine, out, user, recoverable)
        count(rows, base, mine, its, out, ack)
        acknowledge(rows, base, mine, its, nodes, shared, out, ack, lowest, flags)
    rows[mine + r.LATEST], rows[mine + r.LATEST_NS] = frame, time
    paused, application = rows[mine + r.PAUSED_NS], message_class == 0 or message_class == NONE
    soon = time - paused < _NOTICED_NS and untimely(shared, paused, time, NONE) == 0
    if paused and kind == USER and application and soon:  # Nobody resumes a queue so soon.
        judge(out, PAUSE, 0, 0, (time - paused) // _MS)
    if window != NONE:
        announce(rows, mine, out, kind, time, window)
        cover(rows, base, mine, its, nodes, shared, out, kind, time, window, ack, lowest, flags)
        receive(rows, mine, its, nodes, frame, end)
    if kind == USER and window == NONE and rows[its + r.LENGTH]:
        lack(rows, base, mine, its, nodes, shared, out, time)
    if kind <= FINAL:
        send(rows, base, mine, its, nodes, shared, out, time, frame, dm)
    return 0


def own(rows: Any, base: int, mine: int, out: Any, user: int, recoverable: int) -> int:
    """Judge what a side says it has sent (3.1.7.1.3)."""
    if not rows[mine + r.KNOWN]:
        leave(rows, base, out, USER_SENT, LOST)
        return leave(rows, base, out, RECOVERABLE_SENT, LOST)
    stated(rows, base, mine, out, USER_SENT, r.SENT, r.AHEAD, user)
    return stated(rows, base, mine, out, RECOVERABLE_SENT, r.RECOVERABLE, r.RECOVERABLE_AHEAD, recoverable)


def stated(rows: Any, base: int, mine: int, out: Any, rule: int, sent: int, ahead: int, number: int) -> int:
    """Judge a count by what was sent, or by the last wrong one."""
    wrong = (number - rows[mine + sent]) & _WORD
    if wrong and wrong == rows[mine + ahead]:
        return leave(rows, base, out, rule, CONSEQUENCE)
    judge(out, rule, wrong == 0, rows[mine + sent] & _WORD, number)
    if wrong:
        rows[mine + r.MISCOUNTED], rows[mine + ahead] = 1, wrong
    return 0


def count(rows: Any, base: int, mine: int, its: int, out: Any, number: int) -> int:
    """Judge the count of an acknowledgment (3.1.1.6.1). One that is too high does not make the next one too low."""
    most, sent, last = number, rows[its + r.SENT], rows[mine + r.ACK_COUNT]
    if rows[its + r.KNOWN]:
        lag = (sent - number) & _WORD
        if judge(out, WERE_SENT, lag < _HALF and lag <= sent, sent & _WORD, number) == FAILS:
            most = sent & _WORD
    else:
        leave(rows, base, out, WERE_SENT, LOST)
    if last != NONE:
        judge(out, NEVER_DECREASES, after(number, last) >= 0, last, number)
        if most != number and after(most, last) < 0:
            most = last
    rows[mine + r.ACK_COUNT] = most
    return 0


def acknowledge(
    rows: Any, base: int, mine: int, its: int, nodes: Any, shared: Any, out: Any, ack: int, lowest: int, flags: int
) -> int:
    """Judge the recoverable numbers of an acknowledgment (3.1.6.4)."""
    sent = rows[its + r.RECOVERABLE]
    if lowest == 0 and flags != 0 and sent > _WORD:
        return 0  # Number 65536 is sent as 0, like none.
    judge(out, NUMBER_AND_FLAGS, (lowest == 0) == (flags == 0), lowest, flags)
    if lowest == 0 or flags == 0:
        return 0
    judge(out, LOWEST, flags & 1, 1, flags)
    highest, before = (lowest + bits(flags) - 1) & _WORD, rows[mine + r.ACK_RECOVERABLE]
    again = take(rows, mine, nodes, shared, lowest, flags)
    if before != NONE:
        if again == NONE:
            leave(rows, base, out, ONCE, ANOTHER_ORDER)
        else:
            judge(out, ONCE, again < 0, again, lowest)
    if not rows[its + r.KNOWN]:
        return leave(rows, base, out, RECOVERABLE_WERE_SENT, LOST)
    lag = (sent - highest) & _WORD
    holds = lag < _HALF and lag <= sent
    if not holds:
        rows[mine + r.ACK_RECOVERABLE] = sent & _WORD
        if before != NONE and after(lowest, before) == 1 + after(highest, sent & _WORD):
            # The flags are right from the first message that waits on: their number alone is too high.
            return judge(out, LOWEST_NUMBER, 0, (before + 1) & _WORD, lowest)
    if judge(out, RECOVERABLE_WERE_SENT, holds, sent & _WORD, highest) == HOLDS:
        # The message of a recoverable number has a number that is no smaller.
        judge(out, RECEIVED, after(ack, highest) >= 0, highest, ack)
    return 0


def take(rows: Any, mine: int, nodes: Any, shared: Any, lowest: int, flags: int) -> int:
    """Take over recoverable numbers; return the first acknowledged before, -1 for none, NONE where that is unknown."""
    before, length = rows[mine + r.ACK_RECOVERABLE], bits(flags)
    highest = (lowest + length - 1) & _WORD
    if before == NONE:
        rows[mine + r.ACK_RECOVERABLE] = highest
        return -1
    again, old = -1, 0
    for at in range(length):
        number = (lowest + at) & _WORD
        if flags >> at & 1 and after(number, before) <= 0:
            old += 1
            if not find_missing(rows, mine, nodes, shared, number) and again < 0:
                again = number
    unknown = old > 0 and rows[mine + r.MISSES] == NONE
    if after(highest, before) > 0:
        rows[mine + r.ACK_RECOVERABLE] = highest
        skip(rows, mine, nodes, shared, before, lowest, flags)
    return NONE if unknown else again


def find_missing(rows: Any, mine: int, nodes: Any, shared: Any, number: int) -> int:
    """Take a number out of those that are missing; return 0 if it is none of them."""
    if rows[mine + r.MISSES] <= 0:
        return 0
    last, node = -1, rows[mine + r.MISSING]
    for _ in range(rows[mine + r.MISSES]):
        following = nodes[r.NODE * node + r.NODE_NEXT]
        if nodes[r.NODE * node + r.NODE_TIME] == number:
            if last < 0:
                rows[mine + r.MISSING] = following
            else:
                nodes[r.NODE * last + r.NODE_NEXT] = following
            rows[mine + r.MISSES] -= 1
            release(nodes, shared, node)
            return 1
        last, node = node, following
    return 0


def skip(rows: Any, mine: int, nodes: Any, shared: Any, before: int, lowest: int, flags: int) -> int:
    """Remember the numbers that an acknowledgment leaves out. before: the highest that was acknowledged."""
    if rows[mine + r.MISSES] == NONE:
        return 0
    highest = (lowest + bits(flags) - 1) & _WORD
    for ahead in range(1, after(highest, before) + 1):
        number = (before + ahead) & _WORD
        at = (number - lowest) & _WORD
        if at < 32 and flags >> at & 1:
            continue
        if rows[mine + r.MISSES] == r.MOST_MISSES:
            while rows[mine + r.MISSES] > 0:
                node = rows[mine + r.MISSING]
                rows[mine + r.MISSING] = nodes[r.NODE * node + r.NODE_NEXT]
                rows[mine + r.MISSES] -= 1
                release(nodes, shared, node)
            rows[mine + r.MISSES] = NONE
            return 0
        node = reserve(nodes, shared)
        nodes[r.NODE * node + r.NODE_NEXT], nodes[r.NODE * node + r.NODE_TIME] = rows[mine + r.MISSING], number
        rows[mine + r.MISSING] = node
        rows[mine + r.MISSES] += 1
    return 0


def reserve(nodes: Any, shared: Any) -> int:
    """Return a free node."""
    node: int = shared[r.FREE]
    shared[r.FREE] = nodes[r.NODE * node + r.NODE_NEXT]
    shared[r.SPARE] -= 1
    return node


def release(nodes: Any, shared: Any, node: int) -> int:
    """Take back a node."""
    nodes[r.NODE * node + r.NODE_NEXT] = shared[r.FREE]
    shared[r.FREE] = node
    shared[r.SPARE] += 1
    return node


def announce(rows: Any, mine: int, out: Any, kind: int, time: int, window: int) -> int:
    """Judge the window that an acknowledgment announces, by that of the ConnectionParameters (3.1.6.4)."""
    named = rows[mine + r.NAMED]
    above = named > 0 and judge(out, ANNOUNCED, window <= named, named, window) == FAILS
    if above:
        rows[mine + r.NAMED] = window  # Others of this size are no deviations of their own.
    if above or named <= 0:
        rows[mine + r.WINDOW] = max(rows[mine + r.WINDOW], window)
    pauses = kind == SESSION and window == _PAUSED and rows[mine + r.NAMED] > _PAUSED
    rows[mine + r.PAUSED_NS] = time if pauses else 0
    return 0


def cover(
    rows: Any, base: int, mine: int, its: int, nodes: Any, shared: Any, out: Any, kind: int, time: int, window: int,
    ack: int, lowest: int, flags: int,
) -> int:  # fmt: skip
    """Judge which messages an acknowledgment covers, and when (3.1.5.8.2, 3.1.5.8.7, 3.1.6.4, 3.1.7.11)."""
    number, before, complete = rows[mine + r.ACK_COUNT], rows[mine + r.BEFORE], rows[base + r.COMPLETE]
    backwards = complete != 0 and after(number, before) < 0
    acknowledged = 0 if backwards else (number - before) & _WORD
    begun = complete != 0 and rows[mine + r.NAMED] != NONE
    if kind == SESSION and begun and window != _PAUSED and ack == number:
        # The 33rd recoverable message was counted in the acknowledgment of those before it (3.1.5.8.7).
        judge(out, SOMETHING, number != before or flags != 0, before, number)
    rows[mine + r.BEFORE] = (before + acknowledged) & _WORD
    covered = drop(rows, its, nodes, shared, acknowledged)
    equal = 1 if rows[its + r.KNOWN] and number == rows[its + r.SENT] & _WORD else 0
    again = rows[its + r.REPEATED_NS]
    timed = 1 if equal and (again == 0 or shared[r.COVERED_NS] > again) else 0
    if kind != SESSION and begun:
        include(rows, base, shared, out, time, flags, covered, before, timed)
    wide = 2 * covered < min(rows[mine + r.NAMED], rows[its + r.NAMED])  # A full window may be acknowledged at once.
    shortest = min(rows[base + r.EXPRESS_MS] // 2, rows[base + r.RECOVERABLE_MS])
    if kind == SESSION and begun and covered and timed and wide and window != _PAUSED:
        if before == 0 and shared[r.COVERED_RECOVERABLE] == 0:
            whole = rows[base + r.EXPRESS_MS] // 2  # One timer is taken for the other, but nothing ends between them.
            passed = time - shared[r.COVERED_NS] > (shortest + SLACK_MS) * _MS
            await_timer(shared, out, time, shared[r.COVERED_NS], whole if passed else shortest)
        elif 0 < shared[r.COVERED_RECOVERABLE] == bits(flags) < _FLAGS:
            await_timer(shared, out, time, shared[r.COVERED_RECOVERABLE_NS], rows[base + r.RECOVERABLE_MS])
    if not (complete and rows[its + r.KNOWN] and rows[mine + r.KNOWN]):
        rows[mine + r.PENDING] = rows[mine + r.LACKING] = 0
        if covered:
            leave(rows, base, out, IN_TIME, LOST)
        return 0
    # Discarded messages are not counted: equal counts show that the receiver discarded none.
    if not equal:
        lacks = leaves_out(rows, its, number, lowest, flags)
        if covered or lacks:
            rows[mine + r.PENDING] = min(MOST_PENDING, rows[mine + r.PENDING] + 1)
            rows[mine + r.LACKING] |= lacks
            put(out, 0, NOTE | WAITS << 3, covered, lacks)
        return 0
    right = rows[mine + r.LACKING] == 0  # The times of what a count has left out are not known.
    if rows[mine + r.PENDING]:
        put(out, 0, NOTE | SETTLES << 3, covered, 0)
        rows[mine + r.PENDING] = rows[mine + r.LACKING] = 0
    if covered and right:
        times(rows, base, shared, out, time)
    return 0


def receive(rows: Any, mine: int, its: int, nodes: Any, frame: int, end: int) -> int:
    """Take notice of where an acknowledgment ends, if it acknowledges the recoverable messages that it counts."""
    counted = rows[its + r.RECOVERABLE] - rows[its + r.STORED]
    if rows[mine + r.MISSES] == 0 and rows[mine + r.ACK_RECOVERABLE] == counted & _WORD:
        first = nodes[r.NODE * rows[its + r.FIRST] + r.NODE_MESSAGE] >> 1 if rows[its + r.LENGTH] else frame
        rows[mine + r.ACK_END], rows[mine + r.ACK_FRAME] = end, first
    return 0


def drop(rows: Any, its: int, nodes: Any, shared: Any, wanted: int) -> int:
    """Take up to this many messages out of those under way; return how many, with their times in `shared`."""
    wanted = min(wanted, rows[its + r.LENGTH])
    shared[r.COVERED_NS] = shared[r.COVERED_RECOVERABLE_NS] = NONE
    shared[r.COVERED_RECOVERABLE] = 0
    node = rows[its + r.FIRST]
    for at in range(wanted):
        if at == 0:
            shared[r.COVERED_NS] = nodes[r.NODE * node + r.NODE_TIME]
        if nodes[r.NODE * node + r.NODE_MESSAGE] & 1:
            if shared[r.COVERED_RECOVERABLE] == 0:
                shared[r.COVERED_RECOVERABLE_NS] = nodes[r.NODE * node + r.NODE_TIME]
            shared[r.COVERED_RECOVERABLE] += 1
        following = nodes[r.NODE * node + r.NODE_NEXT]
        release(nodes, shared, node)
        node = following
    rows[its + r.FIRST] = node
    rows[its + r.LENGTH] -= wanted
    rows[its + r.STORED] -= shared[r.COVERED_RECOVERABLE]
    return wanted


def leaves_out(rows: Any, its: int, number: int, lowest: int, flags: int) -> int:
    """Tell whether an acknowledgment names a recoverable message whose place on the session is above its count."""
    highest = lowest + bits(flags) - 1
    if lowest == 0 or flags == 0 or after(number, highest) < 0:
        return 0
    sent = rows[its + r.RECOVERABLE]
    return 1 if after(highest, sent - rows[its + r.STORED]) > 0 and sent >= highest else 0


def include(
    rows: Any, base: int, shared: Any, out: Any, time: int, flags: int, covered: int, before: int, timed: int
) -> int:
    """Judge that a message has a SessionHeader only when an acknowledgment is owed, and nearly due (3.1.7.11).

    The timer begins anew with the first recoverable message; without one only its first begin is known (3.1.2.5).
    timed: every message that was sent is acknowledged, and it is known when they came.
    """
    something, early = covered > 0 or flags != 0, 0
    express, recoverable = rows[base + r.EXPRESS_MS], rows[base + r.RECOVERABLE_MS]
    if covered and timed and express != NONE and recoverable != NONE:
        begun, whole = NONE, 0
        if shared[r.COVERED_RECOVERABLE]:
            begun, whole = shared[r.COVERED_RECOVERABLE_NS], recoverable
        elif before == 0:
            begun, whole = shared[r.COVERED_NS], express // 2
        if begun != NONE:
            end = (whole * 3 // 4 - TICK_MS) * _MS
            why = untimely(shared, begun, time, end)
            if why:
                return put(out, INCLUDED, OPEN, why, 1)
            early = 1 if time - begun < end else 0
    fitting = shared[r.READS_INCLUDED]
    if not something or early:
        fitting &= ~TIMELY
    return put(out, INCLUDED, (HOLDS if fitting else FAILS) | fitting << 3, NONE if something else before, before)


def lack(rows: Any, base: int, mine: int, its: int, nodes: Any, shared: Any, out: Any, time: int) -> int:
    """Judge a message without a SessionHeader when the first acknowledgment of express messages is nearly due.

    When the timer of a later one began is not known (3.1.2.5).
    """
    if not rows[base + r.COMPLETE] or not rows[mine + r.KNOWN] or not rows[its + r.KNOWN]:
        return 0
    if rows[mine + r.BEFORE] or rows[its + r.STORED] or not has_room(rows, mine):
        return 0
    begun, half = nodes[r.NODE * rows[its + r.FIRST] + r.NODE_TIME], rows[base + r.EXPRESS_MS] // 2
    waited = (time - begun) // _MS
    if rows[base + r.EXPRESS_MS] == NONE or untimely(shared, begun, time, half * _MS):
        return 0
    if half * 3 // 4 + SLACK_MS < waited < half - SLACK_MS:
        return judge(out, LEFT_OUT, 0, half * 3 // 4, waited)
    return 0


def await_timer(shared: Any, out: Any, time: int, begun: int, duration_ms: int) -> int:
    """Judge that a SessionAck waits for its timer (2.2.2.1, 3.1.6.4), as far as a capture can tell, in whole ticks."""
    least = (duration_ms - 2 * TICK_MS) * _MS
    if duration_ms <= 2 * TICK_MS:
        return 0
    why = untimely(shared, begun, time, least)
    if why:
        return put(out, DUE, OPEN, why, 1)
    return judge(out, DUE, time - begun >= least, duration_ms, (time - begun) // _MS)


def times(rows: Any, base: int, shared: Any, out: Any, time: int) -> int:
    """Judge when messages are acknowledged: those in `shared` (3.1.5.8.2, 3.1.5.8.7)."""
    recoverable, first = shared[r.COVERED_RECOVERABLE], shared[r.COVERED_NS]
    if recoverable:
        judge(out, AT_ONCE, recoverable <= MOST_AT_ONCE, MOST_AT_ONCE, recoverable)
    if rows[base + r.EXPRESS_MS] == NONE or rows[base + r.RECOVERABLE_MS] == NONE:
        return 0
    due_ns = due(first, shared[r.COVERED_RECOVERABLE_NS], rows[base + r.EXPRESS_MS], rows[base + r.RECOVERABLE_MS])
    why = untimely(shared, first, time, due_ns - first + (SLACK_MS + 1) * _MS)
    if why:
        return put(out, IN_TIME, OPEN, why, 1)
    late = max(0, time - due_ns) // _MS
    return judge(out, IN_TIME, late <= SLACK_MS, SLACK_MS, late)


def due(first_ns: int, recoverable_ns: int, express_ms: int, recoverable_ms: int) -> int:
    """Return when the acknowledgment of messages is due (3.1.5.8.2, 3.1.5.8.7). recoverable_ns: NONE without any."""
    due_ns = first_ns + express_ms // 2 * _MS
    return due_ns if recoverable_ns == NONE or recoverable_ns > due_ns else recoverable_ns + recoverable_ms * _MS


def send(
    rows: Any, base: int, mine: int, its: int, nodes: Any, shared: Any, out: Any, time: int, frame: int, dm: int
) -> int:
    """Add a message to those under way, and judge the window (3.1.7.1)."""
    if rows[mine + r.LENGTH] >= r.MAX_UNDER_WAY:
        oldest = rows[mine + r.FIRST]
        rows[mine + r.FIRST] = nodes[r.NODE * oldest + r.NODE_NEXT]
        rows[mine + r.LENGTH] -= 1
        rows[mine + r.STORED] -= nodes[r.NODE * oldest + r.NODE_MESSAGE] & 1
        release(nodes, shared, oldest)
    node = reserve(nodes, shared)
    nodes[r.NODE * node + r.NODE_NEXT], nodes[r.NODE * node + r.NODE_TIME] = -1, time
    nodes[r.NODE * node + r.NODE_MESSAGE] = frame << 1 | (1 if dm == 1 else 0)
    if rows[mine + r.LENGTH]:
        nodes[r.NODE * rows[mine + r.LAST] + r.NODE_NEXT] = node
    else:
        rows[mine + r.FIRST] = node
    rows[mine + r.LAST] = node
    rows[mine + r.LENGTH] += 1
    rows[mine + r.STORED] += 1 if dm == 1 else 0
    number = rows[its + r.ACK_COUNT]
    if not (rows[mine + r.KNOWN] and rows[its + r.KNOWN] and number != NONE):
        return leave(rows, base, out, IN_WINDOW, LOST)
    mine_window, its_window = rows[mine + r.WINDOW], rows[its + r.WINDOW]
    if mine_window == NONE or its_window == NONE:
        return 0
    waiting, reads = (rows[mine + r.SENT] - number) & _WORD, shared[r.READS_WINDOW]
    fitting = reads & ((OWN if waiting <= mine_window else 0) | (RECEIVED_WINDOW if waiting <= its_window else 0))
    most = max(mine_window if reads & OWN else 0, its_window if reads & RECEIVED_WINDOW else 0)
    if most:  # A window of 0 would forbid every message; MS-MQMQ 2.2.20.4 excludes it.
        put(out, IN_WINDOW, (HOLDS if fitting else FAILS) | fitting << 3, most, waiting)
    return 0


def has_room(rows: Any, end: int) -> bool:
    """Tell whether the window of a side lets it send whatever it has to: it is wide, and not full."""
    named: int = rows[end + r.NAMED]
    return named >= _WIDE and rows[end + r.LENGTH] < named


LOWERED: Final = (
    has_room, after, bits, put, judge, leave, untimely, own, stated, count, acknowledge, take, find_missing, skip,
    reserve, release, announce, cover, receive, drop, leaves_out, include, lack, await_timer, times, due, send, see,
)  # fmt: skip
"""The functions that compiled code includes."""
