"""The layout of the fast walk's int64 arrays, which Python and machine code share.

The walk keeps no objects: a cursor, a row for each connection it follows, and nodes that locate waiting bytes. It
leaves everything unusual to `conformance.capture.connections`, by ending the call with a reason.
"""

from __future__ import annotations

from conformance.capture.services import TCP_PORTS

# The cursor. POSITION, STOP, SIZE: bytes of the file. RECORD: the number of the last one walked. NUMBER: of the next
# packet. DEADLINE: the time at which a segment held back elsewhere is released. TICKED: where that was already done.
POSITION, STOP, SIZE, RECORD, NUMBER, DEADLINE, TICKED = range(7)
# The format of the file: byte order (1: the most significant first), nanoseconds per unit, size of a record's header,
# and the place of the IP header, one of LINKS.
SWAPPED, UNIT, HEADER, LINK = range(7, 11)
# The result of the call: bytes and time of the record at POSITION, and the part of a segment that was not taken in.
KEPT, TIME, SLOT, SIDE, REST_AT, REST_LENGTH, ACKNOWLEDGED, FLAGS = range(11, 19)
# Usage: rows of packets in the file and in the arena, and bytes in the arena. FREE: the first free node. HELD_BYTES:
# bytes that wait here, ELSEWHERE: bytes that the other code keeps.
FILE_ROWS, ARENA_ROWS, ARENA_USED, FREE, FREE_COUNT, HELD_BYTES, ELSEWHERE = range(20, 27)
# Records without MSMQ, and segments and packets that were put in order.
OTHER_PORTS, NOT_IP, NEITHER, REPEATED, REORDERED, JOINED = range(27, 33)
# OPENED: connections so far. ROOM: how many more the walk may open itself. TOLD: events to be reported.
OPENED, ROOM, TOLD = range(33, 36)
# NEWEST: the latest time of a record. DOUBTED: what it was when the clock was set last.
NEWEST, DOUBTED = range(36, 38)
# Addresses: of the file's bytes, of bytes that are no longer in a file, and of the other arrays. The last two:
# two each, of packets in the file and in the arena.
BASE, SPARE_AT, FLOWS, NODES_AT, ARENA_AT, TOLD_AT, ROWS_AT, META_AT = 38, 39, 40, 41, 42, 43, 44, 46
# Of the record: the version of IP, the transport header and the end of its packet, in bytes from the link's header, and
# the ends of its connection, as in a row of one.
INTERNET, TRANSPORT, END, ENDS = range(48, 52)
SERVICES = 58  # Records and bytes of each of the other TCP ports that MSMQ uses.
CURSOR = SERVICES + 2 * len(TCP_PORTS)

LINKS: dict[int, int] = {1: 0, 101: 1, 12: 1, 14: 1, 228: 1, 229: 1, 113: 2, 276: 3, 0: 4, 108: 4}
"""LINKTYPE to the place of the IP header: behind an Ethernet header, at once, behind Linux's two, behind 4 bytes."""

# A connection. A_HIGH to PORTS: its ends, the smaller first. FLIP: the smaller one is the acceptor. OVER: it was
# closed, and further segments are ignored.
STATE, A_HIGH, A_LOW, B_HIGH, B_LOW, PORTS, FLIP, LAST, LATEST, CONNECTION = range(10)
EMPTY, FOLLOWED, OVER, GONE = range(4)
# One side of it: the next sequence number (-1: not yet known), and bytes of the stream before it. PENDING bytes of an
# incomplete packet are in the nodes HEAD to TAIL; NEED of them decide the next step; LENGTH is the packet's once known,
# SHORT the smaller one where it may have two. WAITING: nodes behind a hole, in order.
SIDES = (10, 21)
EXPECTED, OFFSET, PENDING, HEAD, TAIL, NEED, LENGTH, SHORT, WAITING, WAITING_BYTES, WAITING_COUNT = range(11)
# FINISHED: bit n is set when side n sent all of its bytes and a FIN. FIRST_END: 1 + the side whose FIN came first.
FINISHED, FIRST_END = 32, 33
# ARRIVED: the record of the last bytes that side 0 has pending, its time, what it had heard, and the bytes up to there
# in its stream; then those of side 1.
ARRIVED = 34
# FRESH: when bytes of side 0 came last that had not come before; then of side 1.
FRESH = 42
FLOW = 44

# An event of the walk: a connection opened or closed; the number of the next packet, its row, record and time, and for
# an opened one the sequence number of its SYN.
WHAT, AT_NUMBER, AT_SLOT, AT_RECORD, AT_TIME, AT_SEQUENCE = range(6)
OPENS, CLOSES = 1, 2
TELLINGS = 1 << 10

# A node: the offset in the stream (of waiting bytes), the place of its bytes (below zero: in the spare buffer), their
# number, and the next node (-1: none).
STREAM_AT, BYTES_AT, BYTES, NEXT = range(4)

# A packet: the record that completed it, its time, the connection, the side, the offset in the stream, the bytes its
# sender had heard, and its number in the capture.
OF_RECORD, OF_TIME, OF_CONNECTION, OF_SIDE, OF_OFFSET, OF_HEARD, OF_NUMBER = range(7)

# Why the walk stopped. FULL: no room for the next record's packets. SLOW: the record is for the other code, and
# not taken in. REST: part of its segment was. TICK: a held segment is due. DAMAGED: no record, or part of one.
# BACK: before the record, the clock was set. It does not stop where a record is PASSED.
ENDED, FULL, SLOW, REST, TICK, DAMAGED, BACK, PASSED = range(8)

TABLE = 1 << 15
"""Rows of connections; at most a quarter of them is used."""
NODES = 1 << 16
ROWS = 1 << 14
CHUNK = 1 << 13
"""Packets after which the walk stops so that they can be judged while their bytes are in the cache."""
ARENA = 16 << 20
SLACK = 64
"""Bytes behind a packet that may be loaded with it."""
SPARE = 1 << 20
NEVER = (1 << 63) - 1
