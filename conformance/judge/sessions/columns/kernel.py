"""Numba functions that read the columns of one packet."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from conformance.capture.columns.places import OF_CONNECTION, OF_HEARD, OF_NUMBER, OF_OFFSET, OF_SIDE, OF_TIME
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import message_steps as messages
from conformance.judge.sessions import order_steps as orders
from conformance.judge.sessions import registers as r
from conformance.judge.sessions import tables
from conformance.judge.sessions.columns import layout as p
from conformance.judge.sessions.columns.layout import (
    F_DIRECT,
    F_KIND,
    F_MANAGER,
    F_MESSAGE,
    F_PRIVATE,
    F_PUBLIC,
    F_SOURCE,
    NONE,
)
from conformance.judge.sessions.keys import queue_lane
from conformance.judge.sessions.tables import K0, K1, K2, NEWER, OLDEST
from conformance.judge.sessions.transactions import WHOLE
from conformance.wire.columns.intrinsics import prefetch, u8, u16, u64
from conformance.wire.columns.jit import compiled, inlined

for _function in (
    *tables.LOWERED, queue_lane, *steps.LOWERED, *orders.LOWERED, *messages.LOWERED,
):  # fmt: skip
    register_jitable(_function)

_MIX = -7046029254386353131
_LINE = 64  # Bytes of a line of the cache.
_LONGEST_NAME = 600  # Bytes.
# Of four UTF-16 units: bits that no ASCII has, what carries from A and what from behind Z on, and where it carries to.
_NO_ASCII, _FROM_A, _BEHIND_Z, _CARRIED = (
    -0x007F007F007F0080, 0x003F003F003F003F, 0x0025002500250025, 0x0080008000800080,
)  # fmt: skip


@compiled
def has(columns: Any, places: Any, key: int, row: int) -> int:
    there: int = (columns[places[key, 0], row] >> places[key, 1]) & 1
    return there


@compiled
def value(columns: Any, places: Any, key: int, row: int) -> int:
    """Return a number, NONE for an absent one."""
    found: int = columns[places[key, 2], row]
    return found if has(columns, places, key, row) else NONE


@compiled
def mixed(before: int, word: int) -> int:
    made = (before ^ word) * _MIX
    return made ^ ((made >> 29) & 0x7FFFFFFFF)


@compiled
def known_bucket(columns: Any, places: Any, row: int, known: Any) -> int:
    """Return the bucket of a message among those remembered; any for a packet that is none."""
    source = places[F_SOURCE, 2]
    return tables.bucket(known, columns[source, row], columns[source + 1, row], columns[places[F_MESSAGE, 2], row])


@compiled
def request(columns: Any, places: Any, row: int, base: int, slot: int, rows: Any, known: Any) -> int:
    """Request from memory what a packet that comes soon needs: its session, its queue and its bucket."""
    if slot >= 0:
        session = rows.ctypes.data + 8 * r.WIDTH * slot
        for line in range(0, 8 * r.WIDTH, _LINE):
            prefetch(session + line)
    if columns[places[F_KIND, 2], row] != steps.SESSION:
        name = base + columns[places[F_DIRECT, 2], row]
        prefetch(name)
        prefetch(name + _LINE)
        prefetch(known.ctypes.data + 8 * known_bucket(columns, places, row, known))
    return 0


@compiled
def request_known(columns: Any, places: Any, row: int, known: Any) -> int:
    """Request the first message in the bucket of a packet that comes next."""
    if columns[places[F_KIND, 2], row] != steps.SESSION:
        found = known[known_bucket(columns, places, row, known)]
        if found >= 0:
            prefetch(known.ctypes.data + 8 * found)
    return 0


@compiled
def request_oldest(known: Any) -> int:
    """Request what it takes to forget the next two of the remembered messages."""
    row = known[OLDEST]
    if row < 0 or known[row + NEWER] < 0:
        return 0
    row = known[row + NEWER]
    found = known[tables.bucket(known, known[row + K0], known[row + K1], known[row + K2])]
    prefetch(known.ctypes.data + 8 * found)
    row = known[row + NEWER]
    if row >= 0:
        prefetch(known.ctypes.data + 8 * tables.bucket(known, known[row + K0], known[row + K1], known[row + K2]))
    return 0


@compiled
def four_letters(word: int) -> int:
    """Return four UTF-16 units, the first in the lowest bits, as lower-case ASCII of 7 bits each; -1 for others."""
    if word & _NO_ASCII:
        return -1
    word |= ((word + _FROM_A) & ~(word + _BEHIND_Z) & _CARRIED) >> 2
    word |= word >> 9
    return (word & 0x3FFF) | ((word >> 18) & 0xFFFC000)


@compiled
def queue_words(columns: Any, places: Any, row: int, base: int, out: Any) -> int:
    """Write the two words of a destination queue, as `words.queue_words`; return 1 for a name that Python must read."""
    a = b = c = d = 1
    for key in (F_MANAGER, F_PUBLIC):
        there = has(columns, places, key, row)
        a, b = queue_lane(a, there, 0x2545F491), queue_lane(b, there, 0x1B873593)
        c, d = queue_lane(c, there, 0x165667B1), queue_lane(d, there, 0x27D4EB2F)
        if there:
            for at in range(2):
                word = columns[places[key, 2] + at, row]
                for part in (word & 0x3FFFFF, (word >> 22) & 0x1FFFFF, (word >> 43) & 0x1FFFFF):
                    a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
                    c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    private = value(columns, places, F_PRIVATE, row)
    private = -1 if private == NONE else private
    begin, size = 0, 0
    if has(columns, places, F_DIRECT, row):
        begin, size = base + columns[places[F_DIRECT, 2], row], columns[places[F_DIRECT, 2] + 1, row]
        if size > _LONGEST_NAME:
            return 1
    for part in (private & 0xFFFF, (private >> 16) & 0x1FFFF, size >> 1):
        a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
        c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    for at in range(0, size >> 1, 4):
        word, left = 0, (size >> 1) - at
        if left >= 4:
            word = u64(begin + 2 * at)
        else:
            for one in range(left):
                word |= u16(begin + 2 * (at + one)) << 16 * one
        part = four_letters(word)
        if part < 0:
            return 1
        a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
        c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    out[0], out[1] = a << 31 | b, c << 31 | d
    return 0


@compiled
def text_word(columns: Any, first: int, row: int, base: int, word: int) -> int:
    """Return a word for a text or bytes and all before it. first: the column of its place."""
    begin, size = base + columns[first, row], columns[first + 1, row]
    for at in range(begin, begin + size):
        word = mixed(word, u8(at))
    return mixed(word, size)


@compiled
def change_group(groups: Any, row: int, frame: int, last: int, sequence: int, connection: int) -> int:
    """Write what `transactions.Group` has into a row; return it. last: not 0 for its last message."""
    groups[row + tables.FRAME] = frame
    groups[row + tables.GROUP_ENDED] = 1 if last else 0
    groups[row + tables.GROUP_SEQUENCE] = sequence
    groups[row + tables.GROUP_CONNECTION] = connection
    return row


@compiled
def find_currents(currents: Any, reads: int, k0: int, k1: int, sequence: int, words: Any) -> int:
    """Find the row of the current sequence under each accepted scope.

    k0, k1: the words of the queue manager and the hosts. Returns 1 where one is missing, or another sequence.
    """
    for scope in range(2):
        if reads >> scope & 1:
            q0, q1 = (words[p.Q0], words[p.Q1]) if scope == messages.QUEUE else (0, 0)
            row = words[p.AT_CURRENT + scope] = tables.find(currents, k0 ^ q0, k1 ^ q1, scope)
            if row < 0 or currents[row + tables.IDENTIFIER] != sequence:
                return 1
    return 0


@inlined
def class_word(out: Any, values: int, last_outcome: int) -> int:
    """Return what a packet's class is told by, with what the rules have found; NONE where Python has to report it."""
    for entry in range(1, out[0], 4):
        if values == p.NONE or out[entry + 1] & 7 > last_outcome:
            return p.NONE
        values = mixed(values, (out[entry] + 1) << 8 | out[entry + 1])  # 0 would leave no trace in 0
    return values


@inlined
def path_of(rows: Any, end: int, paths: Any) -> int:
    """Return the place of the path from one side of a connection, -1 for one that is not there yet, or any more."""
    path = rows[end + r.PATH]
    return path if path >= 0 and paths[path] == rows[end + r.PATH_STAMP] else -1


_DIRECT, _TENTH, _S = 7, 100_000_000, 1_000_000_000
_FAR, _NEAR = 8, 4  # So many packets ahead, what they need is requested from memory.


@inlined
def alone_word(columns: Any, alone: Any, kind: int, row: int, base: int) -> int:
    """Return a word for the values that decide about the rules on single packets."""
    values, count, texts = kind, alone[kind, 0], alone[kind, alone.shape[1] - 1]
    for column in range(count):
        flags, bit, first = alone[kind, 1 + 3 * column], alone[kind, 2 + 3 * column], alone[kind, 3 + 3 * column]
        if not (columns[flags, row] >> bit) & 1:
            values = mixed(values, p.NONE)
        elif column < count - texts:
            values = mixed(values, columns[first, row])
        else:
            values = text_word(columns, first, row, base, values)
    return values


@inlined
def hopped(columns: Any, places: Any, row: int, rows: Any, mine: int, side: int, words: Any) -> int:
    """Return what is said of the hop count of a message; -1 where the rules decide themselves. See `Origins.see`."""
    source, hops = places[F_SOURCE, 2], value(columns, places, p.F_RC, row)
    if not rows[mine + r.MANAGED]:
        words[p.ORIGINAL] = 1 if hops == 0 else 0
        return 0
    high, low = rows[mine + r.HIGH], rows[mine + r.LOW]
    same = words[p.ORIGINAL] = 1 if columns[source, row] == high and columns[source + 1, row] == low else 0
    if high == 0 and low == 0:
        return 0
    if hops == p.NONE or same != (hops == 0):
        return -1
    return p.HOPPED | (p.NAMED << side if same else 0)


@inlined
def find_message(
    columns: Any, places: Any, row: int, base: int, kind: int, time: int, size: int, connection: int, known: Any,
    ages: Any, last: Any, words: Any,
) -> int:  # fmt: skip
    """Find the rows of a new message; return 1 where one is missing, and the rules decide themselves."""
    identifier, source = value(columns, places, F_MESSAGE, row), places[F_SOURCE, 2]
    if identifier == p.NONE or not has(columns, places, F_SOURCE, row):
        return 1
    if kind == steps.USER and value(columns, places, p.F_CLASS, row) != 0:
        return 1
    s0, s1 = columns[source, row], columns[source + 1, row]
    body = columns[places[p.F_BODY, 2] + 1, row] if has(columns, places, p.F_BODY, row) else 0
    if tables.find(known, s0, s1, identifier) >= 0 or size - body > p.MAX_HEAD:
        return 1
    sent, age = value(columns, places, p.F_SENT_TIME, row), tables.find(ages, s0, s1, 0)
    if age < 0 or sent == p.NONE or value(columns, places, p.F_ALLOWED, row) == p.NONE:
        return 1
    least, right = ages[age + tables.NUMBER], messages.RIGHT
    if not -right <= least <= right and -right <= time // _S - sent <= right:
        return 1
    words[p.AT_AGE], words[p.AT_LAST], words[p.AT_VIEW] = age, -1, -1
    ordered = words[p.ORIGINAL] and kind == steps.USER and value(columns, places, p.F_TH, row) <= 0
    transactional = kind == steps.USER and has(columns, places, p.F_SEQUENCE, row)
    if (ordered or (transactional and words[p.ORIGINAL])) and queue_words(columns, places, row, base, words):
        return 1
    if ordered:
        priority = value(columns, places, p.F_PR, row)
        words[p.AT_LAST] = tables.find(last, s0 ^ words[p.Q0], s1 ^ words[p.Q1], priority | connection << 3)
        at = tables.find(last, s0 ^ words[p.Q0], s1 ^ words[p.Q1], priority | messages.ANYWHERE << 3)
        return 1 if words[p.AT_LAST] < 0 or at < 0 or last[at + tables.NUMBER] != connection else 0
    return 0


@inlined
def find_transaction(
    columns: Any, places: Any, row: int, paths: Any, path: int, sent: Any, groups: Any, views: Any, currents: Any,
    reads: int, words: Any,
) -> int:  # fmt: skip
    """Find the rows of a transactional message of its sender's; return -1 where the rules decide themselves.

    Otherwise return what is said of its marks, see `Groups.see`.
    """
    source, sequence = places[F_SOURCE, 2], value(columns, places, p.F_SEQUENCE, row)
    number, previous = value(columns, places, p.F_NUMBER, row), value(columns, places, p.F_PREVIOUS, row)
    first, ends = value(columns, places, p.F_FM, row), value(columns, places, p.F_LM, row)
    transaction, progress = value(columns, places, p.F_ID, row), paths[path + r.PROGRESS]
    if number == p.NONE or previous == p.NONE or transaction == p.NONE or first == p.NONE or ends == p.NONE:
        return -1
    s0, s1 = columns[source, row], columns[source + 1, row]
    h0, h1 = s0 ^ paths[path + r.HOSTS_0], s1 ^ paths[path + r.HOSTS_1]
    if progress < 0 or paths[path + r.SEQUENCE] != sequence or paths[progress + r.OVER]:
        return -1
    if tables.find(sent, s0, s1, columns[places[F_MESSAGE, 2], row]) >= 0:
        return -1
    group = words[p.AT_GROUP] = tables.find(groups, h0 ^ words[p.Q0], h1 ^ words[p.Q1], transaction)
    if group >= 0:
        if first or groups[group + tables.GROUP_ENDED] or groups[group + tables.GROUP_SEQUENCE] != sequence:
            return -1
    elif not first or paths[progress + r.UNENDED] > 0 or tables.find(groups, s0, s1, transaction | WHOLE) >= 0:
        return -1
    view = tables.find(views, s0, s1, 0)
    if view < 0 or find_currents(currents, reads, h0, h1, sequence, words):
        return -1
    words[p.AT_VIEW] = tables.touch(views, view)
    return p.OWN | (p.BEGINS if first else 0) | (p.ENDS if ends else 0) | (p.GOES_ON if group >= 0 else 0)


@inlined
def enter_message(
    columns: Any, places: Any, row: int, known: Any, number: int, where: int, begin: int, size: int
) -> int:
    """Remember a message; return its row. where: the place of its bytes, -1 where they go. begin: in its buffer."""
    source, body = places[F_SOURCE, 2], places[p.F_BODY, 2]
    there = has(columns, places, p.F_BODY, row)
    new = tables.add(known, columns[source, row], columns[source + 1, row], columns[places[F_MESSAGE, 2], row])
    known[new + tables.FRAME], known[new + tables.KNOWN_WHERE], known[new + tables.KNOWN_SIZE] = number, where, size
    known[new + tables.KNOWN_BODY_SIZE] = columns[body + 1, row] if there else 0
    known[new + tables.KNOWN_BODY_AT] = columns[body, row] - begin if there else 0
    return new


@compiled
def enter_transaction(
    columns: Any, places: Any, row: int, number: int, time: int, connection: int, rows: Any, of: int, mine: int,
    paths: Any, path: int, sent: Any, groups: Any, words: Any,
) -> int:  # fmt: skip
    """Remember a transactional message, and its transaction."""
    source, sequence = places[F_SOURCE, 2], value(columns, places, p.F_SEQUENCE, row)
    s0, s1, ends = columns[source, row], columns[source + 1, row], value(columns, places, p.F_LM, row)
    place, previous = value(columns, places, p.F_NUMBER, row), value(columns, places, p.F_PREVIOUS, row)
    new = tables.add(sent, s0, s1, columns[places[F_MESSAGE, 2], row])
    sent[new + tables.FRAME], sent[new + tables.SENT_SEQUENCE], sent[new + tables.SENT_NUMBER] = number, sequence, place
    sent[new + tables.SENT_PREVIOUS], sent[new + tables.SENT_CONNECTION] = previous, connection
    sent[new + tables.SENT_FINAL] = sent[new + tables.SENT_AGAIN] = 0
    for key in (p.F_JN, p.F_JP, p.F_FA):
        if value(columns, places, key, row) > 0:
            sent[new + tables.SENT_FINAL] = 1
    group, unended, transaction = words[p.AT_GROUP], -1 if ends else 0, value(columns, places, p.F_ID, row)
    if group >= 0:
        tables.touch(groups, group)
    else:
        change_group(groups, tables.add(groups, s0, s1, transaction | WHOLE), number, 1, sequence, connection)
        h0, h1 = paths[path + r.HOSTS_0], paths[path + r.HOSTS_1]
        group, unended = tables.add(groups, s0 ^ words[p.Q0] ^ h0, s1 ^ words[p.Q1] ^ h1, transaction), 0 if ends else 1
    change_group(groups, group, number, ends, sequence, connection)
    return orders.advance(
        rows, of, mine, paths, path, paths[path + r.PROGRESS], time, place, previous, 0, unended,
        value(columns, places, p.F_DQ, row),
    )  # fmt: skip


@inlined
def enter(
    columns: Any, places: Any, row: int, number: int, time: int, offset: int, size: int, connection: int, flags: int,
    rows: Any, of: int, mine: int, paths: Any, path: int, known: Any, sent: Any, groups: Any, words: Any,
) -> int:  # fmt: skip
    """Remember a message, and what it changes; return its row. offset: its place, -1 where its bytes go."""
    if value(columns, places, p.F_DQ, row) == _DIRECT:
        paths[path + r.NAMED_DIRECT] = 1
    if flags & p.TRANSACTIONAL:
        orders.begin(paths, path, time)
        if flags & p.OWN:
            enter_transaction(
                columns, places, row, number, time, connection, rows, of, mine, paths, path, sent, groups, words
            )
        orders.end(paths, path, time, connection)
    return enter_message(columns, places, row, known, number, offset, max(offset, 0), size)


@inlined
def class_of(classes: Any, kind: int, flags: int, values: int, cursor: Any) -> int:
    """Return the row of the class of a packet, which has come once more; -1 where the rules are asked."""
    found = tables.find(classes, kind, flags, values)
    if found < 0 and classes[tables.COUNT] < classes[tables.LIMIT]:
        found = tables.add(classes, kind, flags, values)
        classes[found + p.MEANS], classes[found + p.CAME] = -1, -1
    cursor[p.CLASS], cursor[p.WHY] = found, p.ASKS
    if found < 0:
        return -1
    classes[found + p.CAME] += 1
    came = classes[found + p.CAME]
    if classes[found + p.MEANS] < 0 or (came & (came - 1) == 0 and came & p.AGAIN):
        return -1
    cursor[p.CLASS] = -1
    return found


@inlined
def ahead(
    at: int, end: int, order: Any, first: int, columns: Any, places: Any, base: int, meta: Any, slots: Any, rows: Any,
    known: Any,
) -> int:  # fmt: skip
    """Request from memory what the packets of the first buffer that come soon need."""
    if at + _FAR < end and order[at + _FAR] < first:
        one = order[at + _FAR]
        request(columns, places, one, base, slots[meta[one, OF_CONNECTION]], rows, known)
    if at + _NEAR < end and order[at + _NEAR] < first:
        request_known(columns, places, order[at + _NEAR], known)
    return 0


@inlined
def unusual(
    columns: Any, places: Any, row: int, kind: int, time: int, side: int, slow: int, slot: int, due: int, rows: Any,
    shared: Any,
) -> int:  # fmt: skip
    """Tell whether the rules themselves decide about a packet, because of its kind, its time or its session."""
    if slow or slot < 0 or time <= shared[r.DOUBTED_NS] or time >= due or shared[r.SPARE] <= r.MOST_MISSES:
        return 1
    # Where times are coarse or missing, the rules themselves decide what they tell of transactions.
    if time % _TENTH == 0 and (kind == steps.ORDER or value(columns, places, p.F_TH, row) > 0):
        return 1
    if kind != steps.USER and kind != steps.ORDER and kind != steps.SESSION:
        return 1
    of = r.WIDTH * slot
    begins = kind != steps.SESSION and side == 0
    return 0 if rows[of + r.SETTLED] or (rows[of + r.QUIET] and not begins) else 1


@inlined
def find_rows(
    columns: Any, places: Any, row: int, base: int, kind: int, time: int, number: int, size: int, side: int,
    connection: int, rows: Any, of: int, mine: int, paths: Any, path: int, known: Any, sent: Any, groups: Any,
    ages: Any, last: Any, views: Any, currents: Any, reads: int, words: Any,
) -> int:  # fmt: skip
    """Find the rows that a message changes; return what its class is told by, -1 where the rules decide themselves."""
    request_oldest(known)
    tables.forget(known, number - known[tables.LIMIT])
    tables.forget(sent, number - known[tables.LIMIT])
    tables.forget(groups, number - known[tables.LIMIT])
    transactional = kind == steps.USER and has(columns, places, p.F_SEQUENCE, row)
    flags = hopped(columns, places, row, rows, mine, side, words)
    if flags < 0 or (path < 0 and (transactional or value(columns, places, p.F_DQ, row) == _DIRECT)):
        return -1
    if find_message(columns, places, row, base, kind, time, size, connection, known, ages, last, words):
        return -1
    if not transactional:
        return flags
    if words[p.ORIGINAL]:
        marks = find_transaction(columns, places, row, paths, path, sent, groups, views, currents, reads, words)
        if marks < 0 or not rows[of + r.PASSED] >> side & 1:
            return -1
        flags |= marks
    return flags | p.TRANSACTIONAL


@inlined
def find_order(columns: Any, places: Any, row: int, rows: Any, its: int, paths: Any, path: int, words: Any) -> int:
    """Find the rows that an OrderAck changes; return 1 where the rules decide themselves."""
    number, previous = value(columns, places, p.F_ORDER_NUMBER, row), value(columns, places, p.F_ORDER_PREVIOUS, row)
    there, sequence = path_of(rows, its, paths), value(columns, places, p.F_ORDER_SEQUENCE, row)
    if path < 0 or there < 0 or paths[there + r.PROGRESS] < 0 or paths[there + r.SEQUENCE] != sequence:
        return 1
    other = paths[path + r.PROGRESS] if paths[path + r.SEQUENCES] else -1
    if paths[path + r.SEQUENCES] and (other < 0 or paths[path + r.SEQUENCE] != sequence):
        return 1
    words[p.THERE], words[p.OTHER] = there, other
    return 1 if number <= 0 or previous != ((number - 1) & 0xFFFFFFFF) else 0


@inlined
def see_flow(
    columns: Any, places: Any, row: int, kind: int, time: int, number: int, side: int, end: int, heard: int, rows: Any,
    of: int, nodes: Any, shared: Any, out: Any,
) -> int:  # fmt: skip
    """Judge a packet by the state of its connection."""
    return steps.see(
        rows, of, side, nodes, shared, out, kind, time, number,
        value(columns, places, p.F_DM, row), value(columns, places, p.F_WINDOW, row),
        value(columns, places, p.F_ACK, row), value(columns, places, p.F_LOWEST, row),
        value(columns, places, p.F_FLAGS, row), value(columns, places, p.F_USER_SENT, row),
        value(columns, places, p.F_RECOVERABLE_SENT, row), value(columns, places, p.F_CLASS, row), end, heard,
    )  # fmt: skip


@inlined
def see_message(
    columns: Any, places: Any, row: int, time: int, rows: Any, of: int, mine: int, ages: Any, last: Any, out: Any,
    words: Any,
) -> int:  # fmt: skip
    """Judge the times and the identifier of a message."""
    messages.age(
        rows, of, mine, ages, words[p.AT_AGE], 0, out, time, value(columns, places, p.F_SENT_TIME, row),
        value(columns, places, p.F_ALLOWED, row), 1,
    )  # fmt: skip
    if words[p.AT_LAST] >= 0:
        messages.name(last, words[p.AT_LAST], out, columns[places[F_MESSAGE, 2], row])
    return 0


@inlined
def see_sequence(
    columns: Any, places: Any, row: int, time: int, connection: int, paths: Any, path: int, shared: Any, views: Any,
    currents: Any, reads: int, session_out: Any, queue_out: Any, words: Any,
) -> int:  # fmt: skip
    """Judge the sequence and the number of a transactional message; return the scope that is followed."""
    view = words[p.AT_VIEW]
    for scope in range(2):
        if reads >> scope & 1:
            messages.see(
                views, view, scope, currents, words[p.AT_CURRENT + scope], 0, paths, path, path, shared,
                queue_out if scope else session_out, time, connection, value(columns, places, p.F_SEQUENCE, row),
                value(columns, places, p.F_NUMBER, row), value(columns, places, p.F_PREVIOUS, row), 0,
            )  # fmt: skip
    return messages.follow(views, view, reads)


@inlined
def see_order(
    columns: Any, places: Any, row: int, time: int, side: int, rows: Any, of: int, paths: Any, shared: Any, out: Any,
    words: Any,
) -> int:  # fmt: skip
    """Judge what an OrderAck acknowledges."""
    there = words[p.THERE]
    return orders.see(
        rows, of, side, paths, there, paths[there + r.PROGRESS], words[p.OTHER], shared, out, time,
        value(columns, places, p.F_ORDER_SEQUENCE, row), value(columns, places, p.F_ORDER_NUMBER, row),
        value(columns, places, p.F_DQ, row), 1,
    )  # fmt: skip


@compiled
def run(
    columns_0: Any, columns_1: Any, base_0: int, base_1: int, meta_0: Any, meta_1: Any, slow_0: Any, slow_1: Any,
    offsets_0: Any, lengths_0: Any, lengths_1: Any, order: Any, places: Any, alone: Any,
    cursor: Any, slots: Any, rows: Any, paths: Any, nodes: Any, shared: Any, out: Any, time_out: Any, order_out: Any,
    session_out: Any, queue_out: Any, known: Any, sent: Any, groups: Any, ages: Any, last: Any, views: Any,
    currents: Any, classes: Any, means: Any, entered: Any, words: Any,
) -> int:  # fmt: skip
    """Judge packets, from AT to STOP of `order`, until one is not usual; return how many were.

    order: places of packets; those of the first buffer come first. alone: by kind, the columns whose values tell how
    the rules on single packets decide. means, entered: by place, the number of what was said, and the
    row in `known`. words: scratch.
    """
    last_outcome, reads = steps.FAILS if cursor[p.FULL] else steps.HOLDS, shared[r.READS_SCOPE]
    at, first = cursor[p.AT], len(meta_0)
    cursor[p.WHY], cursor[p.CLASS] = p.ENDED, -1
    while at < cursor[p.STOP]:
        ahead(at, cursor[p.STOP], order, first, columns_0, places, base_0, meta_0, slots, rows, known)
        place = order[at]
        if place < first:
            row, columns, base, meta = place, columns_0, base_0, meta_0
            slow, size, offset = slow_0[row], lengths_0[row], offsets_0[row]
        else:
            row, columns, base, meta = place - first, columns_1, base_1, meta_1
            slow, size, offset = slow_1[row], lengths_1[row], -1
        time, number, side = meta[row, OF_TIME], meta[row, OF_NUMBER], meta[row, OF_SIDE]
        connection, kind = meta[row, OF_CONNECTION], columns[places[F_KIND, 2], row]
        of = r.WIDTH * slots[connection]
        cursor[p.WHY] = p.UNUSUAL
        if unusual(columns, places, row, kind, time, side, slow, slots[connection], cursor[p.DUE], rows, shared):
            break
        mine, its, flags = of + r.SIDES[side], of + r.SIDES[1 - side], 0
        message, path = kind != steps.SESSION, path_of(rows, mine, paths)
        if message:
            flags = find_rows(
                columns, places, row, base, kind, time, number, size, side, connection, rows, of, mine, paths, path,
                known, sent, groups, ages, last, views, currents, reads, words,
            )  # fmt: skip
        if flags < 0 or (kind == steps.ORDER and find_order(columns, places, row, rows, its, paths, path, words)):
            break
        # --- the rules: what they change is changed, whatever comes of it
        values = kind
        if kind != steps.USER:
            values = alone_word(columns, alone, kind, row, base)
        see_flow(
            columns, places, row, kind, time, number, side, meta[row, OF_OFFSET] + size, meta[row, OF_HEARD], rows, of,
            nodes, shared, out,
        )  # fmt: skip
        shared[r.DECIDED] = 1
        if kind == steps.ORDER:  # Its queue is that of the host at the other end.
            values = mixed(values, 2 * connection + side)
        values = class_word(out, values, last_outcome)
        if message:
            see_message(columns, places, row, time, rows, of, mine, ages, last, time_out, words)
            values = class_word(time_out, values, last_outcome)
        if flags & p.OWN:
            followed = see_sequence(
                columns, places, row, time, connection, paths, path, shared, views, currents, reads, session_out,
                queue_out, words,
            )  # fmt: skip
            values = class_word(queue_out if followed else session_out, values, last_outcome)
            flags |= (followed | views[words[p.AT_VIEW] + tables.FAILED] << 1) * p.VIEWED
        if kind == steps.ORDER:
            see_order(columns, places, row, time, side, rows, of, paths, shared, order_out, words)
            values = class_word(order_out, values, last_outcome)
        if values == p.NONE or rows[mine + r.MISCOUNTED]:
            break
        found = class_of(classes, kind, flags, values, cursor)
        if found < 0:
            break
        shared[r.DECIDED], means[place] = 0, classes[found + p.MEANS]
        if message:
            entered[place] = enter(
                columns, places, row, number, time, offset, size, connection, flags, rows, of, mine, paths, path, known,
                sent, groups, words,
            )  # fmt: skip
        at += 1
        cursor[p.WHY] = p.ENDED
    count, cursor[p.AT] = at - cursor[p.AT], at
    return int(count)
