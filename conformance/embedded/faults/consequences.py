"""What else breaks when one thing does: groups of requirement ids that several faults share.

A message that is missing, or is there against the rules, is first seen by whatever read comes next. The groups name the
demands such a read is judged by.
"""

from __future__ import annotations


def dmpr(*names: str) -> tuple[str, ...]:
    """Requirement ids of MS-MQDMPR from `section.word`."""
    return tuple(f"MQDMPR-{name}" for name in names)


# What a read without cursor, or a first read with one, finds at the front of a queue, and that it finds nothing.
FRONT = dmpr(
    "3.1.7.1.10.first-available",
    "3.1.7.1.10.without-cursor",
    "3.1.7.1.10.no-wait",
    "3.1.7.1.11.first-available",
    "3.1.7.1.15.first-available",
    "3.1.7.1.15.without-cursor",
    "3.1.7.1.15.no-wait",
    "3.1.7.1.15.found",
    "3.1.1.2.head",
    # A purge is judged by what is read behind it: another message, or one more or less, is blamed on it.
    "3.1.7.1.7.available-deleted",
    "3.1.7.1.7.later-messages-kept",
)
# What a cursor finds behind its place.
BEHIND = dmpr(
    "3.1.7.1.10.cursor-seeks",
    "3.1.7.1.10.message-not-found",
    "3.1.7.1.14.next-available",
    "3.1.7.1.14.no-wait",
    "3.2.7.2.unread-seeks",
    "3.2.7.3.skips-unavailable",
    "3.2.7.4.unread-seeks",
    "3.2.7.4.continues",
    "3.2.7.4.not-found",
)
# What a lookup identifier, or an end of the queue, leads to.
LOOKUP = dmpr(
    "3.1.7.3.3.seek-first",
    "3.1.7.3.3.seek-last",
    "3.1.7.3.3.seek-next",
    "3.1.7.3.3.seek-previous",
    "3.1.7.3.3.seek-current",
    "3.1.7.3.3.message-not-found",
    "3.1.7.3.3.message-not-found-code",
    "3.1.7.3.3.neighbour-not-found",
    "3.1.7.3.3.edge-not-found",
    "3.1.7.3.3.locked",
)
# How much a queue says it holds.
BYTES = dmpr(
    "3.1.1.2.total-bytes",
    "3.1.7.2.1.total-bytes",
    "3.1.7.2.2.total-bytes",
    "3.1.7.1.7.available-deleted",  # a purge that leaves bytes looks like one that leaves messages
)

LOST = (
    *FRONT,
    *BEHIND,
    *LOOKUP,
    *BYTES,
    *dmpr("3.1.7.1.9.available", "3.1.7.1.9.once", "3.1.1.11.state-available"),
    *dmpr("3.1.4.4.sends-appear", "3.1.4.5.receives-return"),  # what a transaction left in the queue is missing too
    "MQDMPR-3.1.2.4.not-early",  # from outside, a message that is missing before its time looks like an expired one
)
SURPLUS = (
    *FRONT,
    *BEHIND,
    *LOOKUP,
    *BYTES,
    *dmpr("3.1.7.1.9.once", "3.1.7.1.10.at-most-once", "3.1.7.1.10.removes", "3.1.1.11.state-deleted"),
)
DISORDER = (
    *FRONT,
    *BEHIND,
    *LOOKUP,
    *dmpr("3.1.1.2.arrival-order", "3.1.1.2.priority-before-arrival", "3.1.1.12.lookup-identifier-order"),
    # Where the order is not judged, the identifiers of what is read are wrong for it.
    "MQDMPR-3.1.7.1.9.lookup-identifier-increases",
)
# A read that waits, and what ends its wait.
WAKING = dmpr(
    "3.1.7.1.9.made-available",
    "3.1.7.1.10.waits",
    "3.1.7.1.10.wakes",
    "3.1.7.1.10.wait-position",
    "3.1.7.1.10.cursor-wait-satisfied",
    "3.1.7.1.14.wakes",
    "3.1.7.1.15.wakes",
    "3.1.7.2.2.reader-satisfied",
    "3.1.7.2.2.every-handle",
    "3.1.7.3.1.satisfied",
    "3.1.7.3.1.reader-registered",
    # Where the message comes from a commit, who gets which is blamed on what had kept it back.
    "3.1.7.1.9.uncommitted-locked",
    "3.1.4.4.wakes-readers",
    "3.1.4.5.wakes-readers",
    # From outside, a message that a wait took wrongly looks like one that a wait which had ended took late.
    "3.1.7.1.10.timed-out-takes-nothing",
    "3.1.7.1.17.takes-nothing",
    "3.1.7.1.2.pending-read-ends",
)
# What a queue that is open exclusively, or opened so, refuses; and with which status.
EXCLUSIVE = dmpr(
    "3.1.7.1.5.exclusive-then-receive",
    "3.1.7.1.5.exclusive-then-exclusive",
    "3.1.7.1.5.exclusive-then-exclusive-peek",
    "3.1.7.1.5.exclusive-peek-then-receive",
    "3.1.7.1.5.receive-then-exclusive",
)
EXCLUSIVE_CODE = dmpr(
    "3.1.7.1.5.exclusive-then-receive-code",
    "3.1.7.1.5.exclusive-then-exclusive-code",
    "3.1.7.1.5.exclusive-peek-then-receive-code",
    "3.1.7.1.5.receive-then-exclusive-code",
)
