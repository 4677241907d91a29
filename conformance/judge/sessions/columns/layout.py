"""The layout of the int64 arrays that hold the state of the rules of connections, shared by Python and machine code."""

from __future__ import annotations

from typing import Final

from conformance.judge.sessions.registers import NONE as NONE
from conformance.judge.sessions.tables import DATA

KEYS: Final = (
    "Packet.Kind", "UserHeader.Flags.RC", "UserHeader.SourceQueueManager", "BaseHeader.Flags.PR",
    "BaseHeader.TimeToReachQueue", "UserHeader.SentTime", "UserHeader.MessageID", "UserHeader.Flags.DM",
    "UserHeader.Flags.DQ", "UserHeader.Flags.JN", "UserHeader.Flags.JP", "UserHeader.Flags.TH",
    "MessagePropertiesHeader.MessageBody", "SessionHeader.WindowSize", "SessionHeader.AckSequenceNumber",
    "SessionHeader.RecoverableMsgAckSeqNumber", "SessionHeader.RecoverableMsgAckFlags",
    "SessionHeader.UserMsgSequenceNumber", "SessionHeader.RecoverableMsgSeqNumber", "TransactionHeader.TxSequenceID",
    "TransactionHeader.TxSequenceNumber", "TransactionHeader.PreviousTxSequenceNumber", "TransactionHeader.Flags.ID",
    "TransactionHeader.Flags.FM", "TransactionHeader.Flags.LM", "TransactionHeader.Flags.FA",
    "OrderAckBody.TxSequenceID", "OrderAckBody.TxSequenceNumber", "OrderAckBody.TxPreviousSequenceNumber",
    "MessagePropertiesHeader.MessageClass", "UserHeader.QueueManagerAddress",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier", "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.DirectFormatName",
)  # fmt: skip
"""The keys that compiled code reads, each with a row of `places`: the column of presence, its bit, the first column."""
(
    F_KIND, F_RC, F_SOURCE, F_PR, F_ALLOWED, F_SENT_TIME, F_MESSAGE, F_DM, F_DQ, F_JN, F_JP, F_TH, F_BODY, F_WINDOW,
    F_ACK, F_LOWEST, F_FLAGS, F_USER_SENT, F_RECOVERABLE_SENT, F_SEQUENCE, F_NUMBER, F_PREVIOUS, F_ID, F_FM, F_LM, F_FA,
    F_ORDER_SEQUENCE, F_ORDER_NUMBER, F_ORDER_PREVIOUS, F_CLASS, F_MANAGER, F_PRIVATE, F_PUBLIC, F_DIRECT,
) = range(len(KEYS))  # fmt: skip

# What was found of a packet: the words of its queue; the rows of its sender's current sequence for each scope, smallest
# age and last identifier; that of its transaction, -1 for a new one; that of its sender's sequences, -1 where it has no
# sequence of its sender's; its original sender sends it; those of the path that an OrderAck is about, and of the
# progress of its own path.
Q0, Q1, AT_CURRENT, _, AT_AGE, AT_LAST, AT_GROUP, AT_VIEW, ORIGINAL, THERE, OTHER = range(11)
SCRATCH = 11
# What the class of a packet is told by besides its verdicts: its hop count is judged; its sender's name, by side; a
# transactional message, of its sender's; the first and the last of its transaction, which is known.
HOPPED, NAMED, TRANSACTIONAL, OWN, BEGINS, ENDS, GOES_ON, VIEWED = (1 << bit for bit in (0, 1, 3, 4, 5, 6, 7, 8))
# What packets have in common that get the same verdicts: the number of these, -1 before it is known; how many came.
MEANS, CAME = range(DATA, DATA + 2)
AGAIN = 0x1111_1111_1111_1111
"""Powers of two: after so many packets of a class the rules are asked again: 1, 16, 256 and so on."""
# The cursor. AT: where the run begins, then where it stopped, at most at STOP; WHY, and for ASKS the packet's class.
# DUE: the time from which suspicions must be looked at. FULL: failures are counted like passes.
AT, WHY, CLASS, DUE, STOP, FULL = range(6)
CURSOR = 8
ENDED, UNUSUAL, ASKS = range(3)

MAX_HEAD = 4096
"""Bytes of the longest packet, without its body, that is remembered by its place."""
