"""Numba functions that read the columns of one packet."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from conformance.capture.columns.places import OF_CONNECTION, OF_HEARD, OF_NUMBER, OF_OFFSET, OF_SIDE, OF_TIME
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import order_steps as orders
from conformance.judge.sessions import registers as r
from conformance.judge.sessions.columns import layout as p
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.layout import (
    F_DIRECT,
    F_KIND,
    F_MANAGER,
    F_MESSAGE,
    F_PRIVATE,
    F_PUBLIC,
    F_SOURCE,
    K0,
    K1,
    K2,
    KNOWN_WIDTH,
    NEWER,
    NONE,
    OLDEST,
)
from conformance.judge.sessions.fates import OLD_S
from conformance.judge.sessions.keys import queue_lane
from conformance.judge.sessions.messages import AHEAD, BEHIND, RIGHT
from conformance.judge.sessions.transactions import GAP_NS
from conformance.wire.columns.intrinsics import prefetch, u8, u16, u64
from conformance.wire.columns.jit import compiled

for _function in (
    tables.bucket, tables.find, tables.unlink, tables.link, tables.remove, tables.add, tables.forget,
    tables.touch, queue_lane, *steps.LOWERED, *orders.LOWERED,
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
def known_bucket(columns: Any, places: Any, row: int, buckets: int) -> int:
    """Return the bucket of a message among those remembered; any for a packet that is none."""
    source = places[F_SOURCE, 2]
    return tables.bucket(columns[source, row], columns[source + 1, row], columns[places[F_MESSAGE, 2], row], buckets)


@compiled
def request(columns: Any, places: Any, row: int, base: int, slot: int, rows: Any, heads: Any) -> int:
    """Request from memory what a packet that comes soon needs: its session, its queue and its bucket."""
    if slot >= 0:
        session = rows.ctypes.data + 8 * r.WIDTH * slot
        for line in range(0, 8 * r.WIDTH, _LINE):
            prefetch(session + line)
    if columns[places[F_KIND, 2], row] != steps.SESSION:
        name = base + columns[places[F_DIRECT, 2], row]
        prefetch(name)
        prefetch(name + _LINE)
        prefetch(heads.ctypes.data + 8 * known_bucket(columns, places, row, len(heads)))
    return 0


@compiled
def request_known(columns: Any, places: Any, row: int, heads: Any, known: Any) -> int:
    """Request the first message in the bucket of a packet that comes next."""
    if columns[places[F_KIND, 2], row] != steps.SESSION:
        found = heads[known_bucket(columns, places, row, len(heads))]
        if found >= 0:
            prefetch(known.ctypes.data + 8 * KNOWN_WIDTH * found)
    return 0


@compiled
def request_oldest(ends: Any, heads: Any, known: Any) -> int:
    """Request what it takes to forget the next two of the remembered messages."""
    row = ends[OLDEST]
    if row < 0 or known[row, NEWER] < 0:
        return 0
    row = known[row, NEWER]
    found = heads[tables.bucket(known[row, K0], known[row, K1], known[row, K2], len(heads))]
    prefetch(known.ctypes.data + 8 * KNOWN_WIDTH * found)
    row = known[row, NEWER]
    if row >= 0:
        prefetch(heads.ctypes.data + 8 * tables.bucket(known[row, K0], known[row, K1], known[row, K2], len(heads)))
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
def is_time(age: int, smallest: int) -> int:
    """Tell what is said of SentTime: 1 for that it is right, 0 for nothing, -1 where the rules decide themselves.

    smallest: the smallest age of a message of this queue manager. See `Lifetimes._is_time`.
    """
    if -RIGHT <= smallest <= RIGHT:
        return 1 if -AHEAD <= age <= BEHIND else -1
    return -1 if -RIGHT <= age <= RIGHT else 0


@compiled
def change_group(groups: Any, row: int, frame: int, last: int, sequence: int, connection: int) -> int:
    """Write what `groups.Group` has into a row; return it. last: not 0 for the last message of a transaction."""
    groups[row, p.GROUP_FRAME] = frame
    groups[row, p.GROUP_ENDED] = 1 if last else 0
    groups[row, p.GROUP_SEQUENCE] = sequence
    groups[row, p.GROUP_CONNECTION] = connection
    return row


@compiled
def class_word(out: Any, values: int, last_outcome: int) -> int:
    """Return what a packet's class is told by, with what the rules have found; NONE where Python has to report it."""
    for entry in range(1, out[0], 4):
        if values == p.NONE or out[entry + 1] & 7 > last_outcome:
            return p.NONE
        values = mixed(values, out[entry] << 8 | out[entry + 1])
    return values


@compiled
def path_of(rows: Any, end: int, paths: Any) -> int:
    """Return the place of the path from one side of a connection, -1 for one that is not there yet, or any more."""
    path = rows[end + r.PATH]
    return path if path >= 0 and paths[path] == rows[end + r.PATH_STAMP] else -1


_INFINITE, _SECONDS = 0xFFFFFFFF, 2
_TICK_MS, _DELAY_MS = 50, 500
_DIRECT, _MS, _TENTH, _S = 7, 1_000_000, 100_000_000, 1_000_000_000
_FAR, _NEAR = 8, 4  # So many packets ahead, what they need is requested from memory.


@compiled
def run(
    columns_0: Any, columns_1: Any, base_0: int, base_1: int, meta_0: Any, meta_1: Any, slow_0: Any, slow_1: Any,
    offsets_0: Any, lengths_0: Any, lengths_1: Any, order: Any, places: Any, alone: Any,
    cursor: Any, slots: Any, rows: Any, paths: Any, nodes: Any, shared: Any, out: Any, order_out: Any,
    index_ends: Any, index_heads: Any, index: Any, known_ends: Any, known_heads: Any, known: Any,
    sent_ends: Any, sent_heads: Any, sent: Any, group_ends: Any, group_heads: Any,
    groups: Any, class_ends: Any, class_heads: Any, classes: Any,
    means: Any, entered: Any, words: Any,
) -> int:  # fmt: skip
    """Judge packets, from AT to STOP of `order`, until one is not usual; return how many were.

    order: places of packets; those of the first buffer come first. alone: by kind, the columns whose values tell how
    the rules on single packets decide. means, entered: by place, the number of what was said, and the
    row in `known`. words: scratch.
    """
    last_outcome = steps.FAILS if cursor[p.FULL] else steps.HOLDS
    first = len(meta_0)
    at = begin = cursor[p.AT]
    end = cursor[p.STOP]
    cursor[p.WHY] = p.ENDED
    cursor[p.CLASS] = -1
    while at < end:
        if at + _FAR < end and order[at + _FAR] < first:
            ahead = order[at + _FAR]
            request(columns_0, places, ahead, base_0, slots[meta_0[ahead, OF_CONNECTION]], rows, known_heads)
        if at + _NEAR < end and order[at + _NEAR] < first:
            request_known(columns_0, places, order[at + _NEAR], known_heads, known)
        place = order[at]
        one = place < first
        row = place if one else place - first
        columns = columns_0 if one else columns_1
        meta = meta_0 if one else meta_1
        base = base_0 if one else base_1
        slow = slow_0[row] if one else slow_1[row]
        time, number, side = meta[row, OF_TIME], meta[row, OF_NUMBER], meta[row, OF_SIDE]
        connection = meta[row, OF_CONNECTION]
        slot = slots[connection]
        cursor[p.WHY] = p.UNUSUAL
        kind = columns[places[p.F_KIND, 2], row]
        # Where times are coarse or missing, the rules themselves decide what they tell of transactions.
        timed = kind == steps.ORDER or value(columns, places, p.F_TH, row) > 0
        if time <= shared[r.DOUBTED_NS] or (timed and time % _TENTH == 0):
            break
        if slow or time >= cursor[p.DUE] or slot < 0 or shared[r.SPARE] <= r.MOST_MISSES:
            break
        if kind != steps.USER and kind != steps.ORDER and kind != steps.SESSION:
            break
        of = r.WIDTH * slot
        mine, its = of + r.SIDES[side], of + r.SIDES[1 - side]
        message = kind != steps.SESSION
        if not rows[of + r.SETTLED] and (not rows[of + r.QUIET] or (message and side == 0)):
            break
        flags = 0
        # --- the rules on single packets
        values = kind
        if kind != steps.USER:
            for column in range(alone[kind, 0]):
                key = alone[kind, 1 + 3 * column]
                bit = (columns[key, row] >> alone[kind, 2 + 3 * column]) & 1
                first_column = alone[kind, 3 + 3 * column]
                if not bit:
                    values = mixed(values, p.NONE)
                elif column < alone[kind, 0] - alone[kind, alone.shape[1] - 1]:
                    values = mixed(values, columns[first_column, row])
                else:
                    values = text_word(columns, first_column, row, base, values)
            if kind == steps.ORDER:
                values = mixed(values, 2 * connection + side)  # Its queue is that of the host at the other end.
                order_number = value(columns, places, p.F_ORDER_NUMBER, row)
                order_previous = value(columns, places, p.F_ORDER_PREVIOUS, row)
                if order_number <= 0 or order_previous != ((order_number - 1) & 0xFFFFFFFF):
                    break
        # --- windows, identifiers, times
        source = current_0 = current_1 = last = group = known_row = -1
        transactional = original = views = 0
        path = progress = there = own = -1
        identifier = p.NONE
        age = smallest = s0 = s1 = h0 = h1 = 0
        sequence = sequence_number = previous = transaction = last_mark = 0
        if message:
            request_oldest(known_ends, known_heads, known)
            tables.forget(known_ends, known_heads, known, p.FRAME, number - known_ends[p.LIMIT])
            tables.forget(sent_ends, sent_heads, sent, p.SENT_FRAME, number - known_ends[p.LIMIT])
            tables.forget(group_ends, group_heads, groups, p.GROUP_FRAME, number - known_ends[p.LIMIT])
            path = path_of(rows, mine, paths)
            if value(columns, places, p.F_DQ, row) == _DIRECT and path < 0:
                break
            identifier = value(columns, places, p.F_MESSAGE, row)
            if identifier == p.NONE or not has(columns, places, p.F_SOURCE, row):
                break
            message_class = value(columns, places, p.F_CLASS, row)
            if kind == steps.USER and message_class != 0:
                break
            s0, s1 = columns[places[p.F_SOURCE, 2], row], columns[places[p.F_SOURCE, 2] + 1, row]
            if tables.find(known_heads, known, s0, s1, identifier) >= 0:
                break
            size = lengths_0[row] if one else lengths_1[row]
            body_size = columns[places[p.F_BODY, 2] + 1, row] if has(columns, places, p.F_BODY, row) else 0
            if size - body_size > p.MAX_HEAD:
                break
            source = tables.find(index_heads, index, s0, s1, p.OF_SOURCE)
            if source < 0 or index[source, p.SMALLEST] == p.NONE:
                break
            sent_time, allowed = value(columns, places, p.F_SENT_TIME, row), value(columns, places, p.F_ALLOWED, row)
            if sent_time == p.NONE or allowed == p.NONE:
                break
            age = time // _S - sent_time
            told = is_time(age, index[source, p.SMALLEST])
            if told < 0:
                break
            flags |= told << 56
            smallest = min(age, index[source, p.SMALLEST])
            old = 1 if age - smallest > OLD_S else 0
            if allowed != _INFINITE:
                flags |= 1 << 18
                if age - smallest > allowed + _SECONDS:
                    break
                if age <= allowed + _SECONDS:
                    flags |= 1 << 19
                elif not rows[of + r.SAID] & p.SAID_EXPIRED:
                    break
            hops = value(columns, places, p.F_RC, row)
            if rows[mine + r.MANAGED] and (rows[mine + r.HIGH] != 0 or rows[mine + r.LOW] != 0):
                same = s0 == rows[mine + r.HIGH] and s1 == rows[mine + r.LOW]
                if hops == p.NONE or same != (hops == 0):
                    break
                flags |= 1 << 52
                if same:
                    flags |= 1 << (53 + side)
            if rows[mine + r.MANAGED]:
                original = 1 if s0 == rows[mine + r.HIGH] and s1 == rows[mine + r.LOW] else 0
            else:
                original = 1 if hops == 0 else 0
            transactional = 1 if kind == steps.USER and has(columns, places, p.F_SEQUENCE, row) else 0
            ordered = 0
            if original and kind == steps.USER and value(columns, places, p.F_TH, row) <= 0:
                ordered = 1
            if (ordered or (transactional and original)) and queue_words(columns, places, row, base, words):
                break
            if ordered:
                flags |= 1 << 20
                priority = value(columns, places, p.F_PR, row)
                if priority == p.NONE:
                    break
                last = tables.find(
                    index_heads, index, s0 ^ words[0], s1 ^ words[1], p.OF_LAST | priority << 3 | connection << 8
                )
                if last < 0:
                    break
                ahead = (identifier - index[last, p.LAST]) & 0xFFFFFFFF
                if ahead == 0 or ahead >= 0x80000000:
                    break
            # --- transactions
            if transactional:
                flags |= 1 << 21
                if path < 0:
                    break
                if paths[path + r.SENT_NS] > paths[path + r.ANSWERED_NS] and time - paths[path + r.SENT_NS] > GAP_NS:
                    break
            if transactional and original:
                flags |= 1 << 22
                sequence, sequence_number = (
                    value(columns, places, p.F_SEQUENCE, row), value(columns, places, p.F_NUMBER, row),
                )  # fmt: skip
                previous, transaction = value(columns, places, p.F_PREVIOUS, row), value(columns, places, p.F_ID, row)
                first_mark, last_mark = value(columns, places, p.F_FM, row), value(columns, places, p.F_LM, row)
                if (
                    not rows[of + r.PASSED] >> side & 1
                    or sequence_number == p.NONE
                    or previous == p.NONE
                    or transaction == p.NONE
                ):
                    break
                if first_mark == p.NONE or last_mark == p.NONE:
                    break
                if tables.find(sent_heads, sent, s0, s1, identifier) >= 0:
                    break
                h0, h1 = paths[path + r.HOSTS_0], paths[path + r.HOSTS_1]
                group = tables.find(group_heads, groups, s0 ^ words[0] ^ h0, s1 ^ words[1] ^ h1, transaction)
                if first_mark:
                    flags |= 1 << 23
                if last_mark:
                    flags |= 1 << 24
                if group >= 0:
                    flags |= 1 << 25
                    if first_mark or groups[group, p.GROUP_ENDED] or groups[group, p.GROUP_SEQUENCE] != sequence:
                        break
                elif not first_mark or tables.find(group_heads, groups, s0, s1, transaction | p.WHOLE) >= 0:
                    break
                progress = paths[path + r.PROGRESS] if paths[path + r.SEQUENCE] == sequence else -1
                views = index[source, p.VIEWS]
                if (
                    progress < 0
                    or views <= 0
                    or paths[progress + r.OVER]
                    or (group < 0 and paths[progress + r.UNENDED] > 0)
                ):
                    break
                fits = 1
                for position in range(views & 3):
                    view = views >> (2 + 3 * position)
                    scope = view & 3
                    q0, q1 = (words[0], words[1]) if scope == 1 else (0, 0)
                    current = tables.find(index_heads, index, s0 ^ q0 ^ h0, s1 ^ q1 ^ h1, p.OF_CURRENT | scope << 3)
                    if (
                        current < 0
                        or index[current, p.CURRENT_GENERATION] != paths[path + r.GENERATION]
                        or index[current, p.IDENTIFIER] != sequence
                    ):
                        fits = 0
                        break
                    if index[current, p.CURRENT_CONNECTION] != connection:
                        fits = 0
                        break
                    follows = sequence_number == ((index[current, p.CURRENT_HIGHEST] + 1) & 0xFFFFFFFF)
                    follows = follows and previous == ((sequence_number - 1) & 0xFFFFFFFF)
                    if not follows and (position == 0 or not view & 4):
                        fits = 0
                        break
                    if position == 0:
                        current_0 = current
                    else:
                        current_1 = current
                if not fits:
                    break
                flags |= views << 32
        if kind == steps.ORDER:
            there, back = path_of(rows, its, paths), path_of(rows, mine, paths)
            if there < 0 or back < 0:
                break
            sequence = value(columns, places, p.F_ORDER_SEQUENCE, row)
            if paths[there + r.PROGRESS] < 0 or paths[there + r.SEQUENCE] != sequence:
                break
            if paths[back + r.SEQUENCES]:
                own = paths[back + r.PROGRESS]
                if own < 0 or paths[back + r.SEQUENCE] != sequence:
                    break
        # --- counts, windows, acknowledgments
        steps.see(
            rows, of, side, nodes, shared, out, kind, time, number,
            value(columns, places, p.F_DM, row), value(columns, places, p.F_WINDOW, row),
            value(columns, places, p.F_ACK, row), value(columns, places, p.F_LOWEST, row),
            value(columns, places, p.F_FLAGS, row), value(columns, places, p.F_USER_SENT, row),
            value(columns, places, p.F_RECOVERABLE_SENT, row), value(columns, places, p.F_CLASS, row),
            meta[row, OF_OFFSET] + (lengths_0[row] if one else lengths_1[row]), meta[row, OF_HEARD],
        )  # fmt: skip
        shared[r.DECIDED] = 1
        values = class_word(out, values, last_outcome)
        if kind == steps.ORDER:
            orders.see(
                rows, of, side, paths, there, paths[there + r.PROGRESS], own, shared, order_out, time, sequence,
                order_number, value(columns, places, p.F_DQ, row), 1,
            )  # fmt: skip
            shared[r.DECIDED] = 2
            values = class_word(order_out, values, last_outcome)
        if values == p.NONE or rows[mine + r.MISCOUNTED]:
            break
        # --- its class
        found = tables.find(class_heads, classes, kind, flags, values)
        if found < 0:
            if class_ends[0] < class_ends[1]:
                found = tables.add(class_ends, class_heads, classes, kind, flags, values)
                classes[found, p.MEANS] = -1
                classes[found, p.CAME] = 0
            cursor[p.CLASS] = found
            cursor[p.WHY] = p.ASKS
            break
        came = classes[found, p.CAME] + 1
        if classes[found, p.MEANS] < 0 or (came & (came - 1) == 0 and came & p.AGAIN):
            classes[found, p.CAME] = came
            cursor[p.CLASS] = found
            cursor[p.WHY] = p.ASKS
            break
        # --- everything is usual: change the state
        shared[r.DECIDED] = 0
        classes[found, p.CAME] = came
        means[place] = classes[found, p.MEANS]
        if message:
            rows[mine + r.OLD] += old
            if value(columns, places, p.F_DQ, row) == _DIRECT:
                paths[rows[mine + r.PATH] + r.NAMED_DIRECT] = 1
            known_row = tables.add(known_ends, known_heads, known, s0, s1, identifier)
            known[known_row, p.FRAME] = number
            known[known_row, p.WHERE] = offsets_0[row] if one else -1
            known[known_row, p.SIZE] = lengths_0[row] if one else lengths_1[row]
            begin_at = offsets_0[row] if one else 0
            known[known_row, p.BODY_SIZE] = (
                columns[places[p.F_BODY, 2] + 1, row] if has(columns, places, p.F_BODY, row) else 0
            )
            known[known_row, p.BODY_AT] = columns[places[p.F_BODY, 2], row] - begin_at if one else 0
            entered[place] = known_row
            index[source, p.SMALLEST] = smallest
            if last >= 0:
                index[last, p.LAST] = identifier
        if transactional:
            if paths[path + r.BEGUN_NS] == p.NONE or paths[path + r.BEGUN_NS] == 0:
                paths[path + r.BEGUN_NS] = time
            paths[path + r.SENT_NS] = time
            paths[path + r.SENT_ON] = connection
            if original:
                new = tables.add(sent_ends, sent_heads, sent, s0, s1, identifier)
                sent[new, p.SENT_SEQUENCE] = sequence
                sent[new, p.SENT_NUMBER] = sequence_number
                sent[new, p.SENT_PREVIOUS] = previous
                sent[new, p.SENT_CONNECTION] = connection
                sent[new, p.SENT_FRAME] = number
                wants = 0
                for key in (p.F_JN, p.F_JP, p.F_FA):
                    if value(columns, places, key, row) > 0:
                        wants = 1
                sent[new, p.SENT_FINAL] = wants
                sent[new, p.SENT_PLAIN] = 1
                if group >= 0:
                    tables.touch(group_ends, groups, group)
                    unended = -1 if last_mark else 0
                else:
                    whole = tables.add(group_ends, group_heads, groups, s0, s1, transaction | p.WHOLE)
                    change_group(groups, whole, number, 1, sequence, connection)
                    group = tables.add(
                        group_ends, group_heads, groups, s0 ^ words[0] ^ h0, s1 ^ words[1] ^ h1, transaction
                    )
                    unended = 0 if last_mark else 1
                change_group(groups, group, number, last_mark, sequence, connection)
                cursor[p.TICKS] += 1
                index[source, p.TICK] = cursor[p.TICKS]
                for current in (current_0, current_1):
                    if current >= 0:
                        index[current, p.CURRENT_HIGHEST] = sequence_number
                orders.advance(
                    paths, path, progress, time, connection, sequence_number, previous, unended,
                    value(columns, places, p.F_DQ, row),
                )  # fmt: skip
        at += 1
        cursor[p.WHY] = p.ENDED
    cursor[p.AT] = at
    return int(at - begin)
