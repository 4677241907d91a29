"""The features of every operation, by method."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.histories.features import clock, coordinator, lookups, management, queues, reads, sends, transactions
from conformance.histories.features.feature import Feature

FEATURES: Final[Mapping[str, tuple[Feature, ...]]] = MappingProxyType(
    {
        "messages.receive": reads.RECEIVE,
        "messages.peek": reads.PEEK,
        "messages.peek_next": reads.PEEK_NEXT,
        "messages.receive_begin": transactions.RECEIVE_BEGIN,
        "messages.receive_end": transactions.RECEIVE_END,
        "messages.receive_by_lookup_id": lookups.RECEIVE_BY_LOOKUP,
        "messages.peek_by_lookup_id": lookups.PEEK_BY_LOOKUP,
        "messages.send": sends.SEND,
        "messages.move": lookups.MOVE,
        "messages.cancel": reads.CANCEL,
        "cursors.open": reads.OPEN,
        "cursors.close": reads.CLOSE,
        "transactions.begin": transactions.BEGIN,
        "transactions.prepare": transactions.PREPARE,
        "transactions.commit": transactions.COMMIT,
        "transactions.abort": transactions.ABORT,
        "coordinator.enlist": coordinator.ENLIST,
        "coordinator.prepare": coordinator.PREPARE,
        "coordinator.commit": coordinator.COMMIT,
        "coordinator.abort": coordinator.ABORT,
        "coordinator.in_doubt": coordinator.IN_DOUBT,
        "coordinator.outcome": coordinator.OUTCOME,
        "queues.create": queues.CREATE,
        "queues.delete": queues.DELETE,
        "queues.open": queues.OPEN,
        "queues.close": queues.CLOSE,
        "queues.purge": queues.PURGE,
        "queues.counts": management.COUNTS,
        "queues.set": management.SET,
        "queues.get": management.GET,
        "limits": management.LIMITS,
        "harden": management.HARDEN,
        "outgoing.pause": management.PAUSE,
        "outgoing.resume": management.RESUME,
        "outgoing.take": management.TAKE,
        "management.get": management.MANAGEMENT_GET,
        "management.act": management.ACT,
        "management.connection": management.CONNECTION,
        "management.transfer": management.TRANSFER,
        "management.acknowledge": management.ACKNOWLEDGE,
        "restart": clock.RESTART,
        "clock.now": clock.NOW,
        "clock.advance": clock.ADVANCE,
        "watch": management.WATCH,
        "use": management.USE,
    }
)
PLAYED: Final = frozenset(method for method in FEATURES if method.startswith(("management.", "coordinator.", "harden")))
"""Methods of management, a coordinator and hardened security: walks and written histories meet them, not the plan."""
PLANNED: Final[Mapping[str, tuple[Feature, ...]]] = MappingProxyType(
    {method: table for method, table in FEATURES.items() if method not in PLAYED}
)
"""The features that situations are made of."""
CORE: Final = frozenset(
    {
        "messages.receive",
        "messages.peek",
        "messages.peek_next",
        "messages.receive_begin",
        "messages.receive_end",
        "messages.receive_by_lookup_id",
        "messages.peek_by_lookup_id",
        "transactions.commit",
        "transactions.abort",
        "queues.close",
        "queues.delete",
        "queues.purge",
        "restart",
    }
)
"""The methods whose triples of features count."""
