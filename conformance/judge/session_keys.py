"""What rules of connections ask of messages and acknowledgments, for those who decode no more than that."""

from __future__ import annotations

from typing import Final

from conformance.judge.session_context import MESSAGES
from conformance.judge.session_messages import REMEMBERED
from conformance.judge.session_packets import RULES

FREQUENT: Final[frozenset[str]] = MESSAGES | {"SessionAck"}
"""Kinds of packets that a session consists of once it is open."""

_SESSION = (
    "WindowSize", "AckSequenceNumber", "RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags", "UserMsgSequenceNumber",
    "RecoverableMsgSeqNumber",
)  # fmt: skip
_TRANSACTION = (
    "TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber", "Flags.ID", "Flags.FM", "Flags.LM", "Flags.FA",
)  # fmt: skip
_ORDER_ACK = ("TxSequenceID", "TxSequenceNumber", "TxPreviousSequenceNumber")

ASKED: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        (
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
"""What nearly every packet is asked for, or whole kinds of them."""

NEVER: Final[frozenset[str]] = frozenset(
    {"ConnectionParametersHeader.WindowSize", "UserHeader.DestinationQueue.SourceQueueManager"}
)
"""Keys that are asked for and that none of these packets has."""
