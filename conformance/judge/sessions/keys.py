"""The keys that session rules read from messages and acknowledgments, for readers that decode only these."""

from __future__ import annotations

from typing import Final

from conformance.judge.sessions.context import MESSAGES
from conformance.judge.sessions.messages import REMEMBERED
from conformance.judge.sessions.packets import RULES

FREQUENT: Final[frozenset[str]] = MESSAGES | {"SessionAck"}
"""The kinds of packets that an open session consists of."""

_SESSION = (
    "WindowSize", "AckSequenceNumber", "RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags", "UserMsgSequenceNumber",
    "RecoverableMsgSeqNumber",
)  # fmt: skip
_TRANSACTION = (
    "TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber", "Flags.ID", "Flags.FM", "Flags.LM", "Flags.FA",
)  # fmt: skip
_ORDER_ACK = ("TxSequenceID", "TxSequenceNumber", "TxPreviousSequenceNumber", "Reserved")

ASKED: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        (
            "BaseHeader.Flags",
            "BaseHeader.Flags.PR", "BaseHeader.TimeToReachQueue", "UserHeader.SentTime", "UserHeader.MessageID",
            "UserHeader.Flags.RC", "UserHeader.Flags.DM", "UserHeader.Flags.DQ", "UserHeader.Flags.JN",
            "UserHeader.Flags.JP", "UserHeader.Flags.TH", "MessagePropertiesHeader.MessageBody",
            *(f"SessionHeader.{name}" for name in _SESSION),
            *(f"TransactionHeader.{name}" for name in _TRANSACTION),
            *(f"OrderAckBody.{name}" for name in _ORDER_ACK),
            *(rule.field for kind in sorted(FREQUENT) for rule in RULES.get(kind, ())),
            *(key for key in REMEMBERED if key != "UserHeader.DestinationQueue.SourceQueueManager"),
        )
    )
)  # fmt: skip
"""The keys read from nearly every packet, or from whole kinds of packets."""

NEVER: Final[frozenset[str]] = frozenset(
    {"ConnectionParametersHeader.WindowSize", "UserHeader.DestinationQueue.SourceQueueManager"}
)
"""Keys that are read but that none of these packets has."""
