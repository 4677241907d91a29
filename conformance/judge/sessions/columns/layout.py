"""The layout of the int64 arrays that hold the state of the rules of connections, shared by Python and machine code."""

from __future__ import annotations

from typing import Final

from conformance.judge.sessions.registers import NONE as NONE

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

# A table: a bucket's first row, and rows with a key of three words, the next row of the bucket, and the rows that came
# just before and after. Its ends: number of rows used, the most there may be, the oldest and newest, and the first of
# those free.
K0, K1, K2, NEXT, OLDER, NEWER, DATA = range(7)
COUNT, LIMIT, OLDEST, NEWEST, FREE, FILLED = range(6)
ENDS = 8

SAID_EXPIRED = 1 << 62
"""Set in `registers.SAID` where a connection may have been told that the time to live of a message is undecided."""

# Rows of the index by the kind of their key, the lowest bits of its last word.
OF_SOURCE, OF_LAST, OF_CURRENT = range(1, 4)
# A queue manager: the smallest age (NONE: forgotten), and its views: how many, and for each the scope and whether it
# has failed. TICK: when its views were last used.
SMALLEST, VIEWS, TICK = range(DATA, DATA + 3)
# The last identifier.
LAST = DATA
# A current sequence.
IDENTIFIER, CURRENT_HIGHEST, CURRENT_CONNECTION, CURRENT_GENERATION = range(DATA, DATA + 4)
INDEX_WIDTH = DATA + 4

# A remembered message: its frame; the place of its bytes, in the file (WHERE), or with the Python side (-1); body.
FRAME, WHERE, SIZE, BODY_AT, BODY_SIZE = range(DATA, DATA + 5)
KNOWN_WIDTH = DATA + 5
# A transactional message.
SENT_SEQUENCE, SENT_NUMBER, SENT_PREVIOUS, SENT_CONNECTION, SENT_FRAME, SENT_FINAL, SENT_PLAIN = range(DATA, DATA + 7)
SENT_WIDTH = DATA + 7
# A transaction, or (WHOLE in its key) all of it in any queue.
GROUP_FRAME, GROUP_ENDED, GROUP_SEQUENCE, GROUP_CONNECTION = range(DATA, DATA + 4)
GROUP_WIDTH = DATA + 4
WHOLE = 1 << 24
# What packets have in common that get the same verdicts: the number of these, -1 before it is known; how many came.
MEANS, CAME = range(DATA, DATA + 2)
CLASS_WIDTH = DATA + 2
AGAIN = 0x1111_1111_1111_1111
"""Powers of two: after so many packets of a class the rules are asked again: 1, 16, 256 and so on."""
# The cursor. AT: where the run begins, then where it stopped, at most at STOP; WHY, and for ASKS the packet's class.
# DUE: the time from which suspicions must be looked at. TICKS: of VIEWS. FULL: failures are counted like passes.
AT, WHY, CLASS, DUE, TICKS, STOP, FULL = range(7)
CURSOR = 8
ENDED, UNUSUAL, ASKS = range(3)

MAX_HEAD = 4096
"""Bytes of the longest packet, without its body, that is remembered by its place."""
