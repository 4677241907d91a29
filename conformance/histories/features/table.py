"""The features of every operation, by method."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.histories.features import (
    clock,
    cursors,
    journals,
    lookups,
    losses,
    management,
    moves,
    outgoing,
    properties,
    queues,
    reads,
    sends,
    transactions,
    two_phase,
)
from conformance.histories.features.feature import Feature

FEATURES: Final[Mapping[str, tuple[Feature, ...]]] = MappingProxyType(
    {
        "messages.receive": reads.RECEIVE,
        "messages.peek": reads.PEEK,
        "messages.peek_next": reads.PEEK_NEXT,
        "messages.receive_begin": two_phase.RECEIVE_BEGIN,
        "messages.receive_end": two_phase.RECEIVE_END,
        "messages.receive_by_lookup_id": lookups.RECEIVE_BY_LOOKUP,
        "messages.peek_by_lookup_id": lookups.PEEK_BY_LOOKUP,
        "messages.send": sends.SEND,
        "messages.move": moves.MOVE,
        "messages.cancel": cursors.CANCEL,
        "cursors.open": cursors.OPEN,
        "cursors.close": cursors.CLOSE,
        "transactions.begin": transactions.BEGIN,
        "transactions.prepare": transactions.PREPARE,
        "transactions.commit": transactions.COMMIT,
        "transactions.abort": transactions.ABORT,
        "queues.create": queues.CREATE,
        "queues.delete": losses.DELETE,
        "queues.open": queues.OPEN,
        "queues.close": queues.CLOSE,
        "queues.purge": losses.PURGE,
        "queues.counts": journals.COUNTS,
        "queues.set": properties.SET,
        "queues.get": properties.GET,
        "limits": journals.LIMITS,
        "outgoing.pause": outgoing.PAUSE,
        "outgoing.resume": outgoing.RESUME,
        "outgoing.take": outgoing.TAKE,
        "management.get": management.GET,
        "management.act": management.ACT,
        "management.connection": management.CONNECTION,
        "management.transfer": management.TRANSFER,
        "management.acknowledge": management.ACKNOWLEDGE,
        "restart": clock.RESTART,
        "clock.now": clock.NOW,
        "clock.advance": clock.ADVANCE,
        "watch": properties.WATCH,
        "use": properties.USE,
    }
)
PLAYED: Final = frozenset(method for method in FEATURES if method.startswith("management."))
"""The methods of management: walks and written histories meet their features, and no scope plays a network."""
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
