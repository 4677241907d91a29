"""The requirements that the test of each workload claims: those it judges with the default budget and any seed.

The other suites judge most of them for one client; here they are judged where two clients meet.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = (
    "MQDMPR-3.1.1.12.body-unchanged",
    "MQDMPR-3.1.1.12.label-unchanged",
    "MQDMPR-3.1.1.12.lookup-identifier-unique",
    "MQDMPR-3.1.1.12.priority-unchanged",
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.no-wait",
    "MQDMPR-3.1.7.1.10.no-wait-code",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.15.first-available",
    "MQDMPR-3.1.7.1.15.keeps",
    "MQDMPR-3.1.7.1.5.receive-then-receive",
    "MQDMPR-3.1.7.1.9.available",
    "MQDMPR-3.1.7.1.9.success",
    "MQMQ-2.2.19.1.higher-priority-nearer-front",
)

WAITS: Final = (
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.10.waits",
    "MQDMPR-3.1.7.1.10.wakes",
    "MQDMPR-3.1.7.1.17.cancelled",
    "MQDMPR-3.1.7.1.17.success",
    "MQDMPR-3.1.7.1.9.available",
    "MQDMPR-3.1.7.2.2.one-destructive",
)

TRANSACTIONS: Final = (
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.4.4.receives-gone",
    "MQDMPR-3.1.4.4.sends-appear",
    "MQDMPR-3.1.4.4.success",
    "MQDMPR-3.1.4.5.receives-return",
    "MQDMPR-3.1.4.5.sends-vanish",
    "MQDMPR-3.1.4.5.success",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.10.skips-locked",
    "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.7.1.8.created",
    "MQDMPR-3.1.7.1.9.uncommitted-locked",
)

CURSORS: Final = (
    "MQDMPR-3.1.7.1.1.opened",
    "MQDMPR-3.1.7.1.10.cursor-seeks",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.14.next-available",
    "MQDMPR-3.1.7.1.15.message-already-received",
    "MQDMPR-3.1.7.1.15.message-already-received-code",
    "MQDMPR-3.2.7.2.already-received",
    "MQDMPR-3.2.7.2.unread-seeks",
    "MQDMPR-3.2.7.3.moves",
    "MQDMPR-3.2.7.4.continues",
    "MQDMPR-3.2.7.4.unread-seeks",
)
