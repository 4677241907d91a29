"""SessionHeader: acknowledgments of a session, alone in a SessionAck or behind a UserMessage (MS-MQMQ 2.2.20.4)."""

from conformance.wire.layout import Section, UInt

SESSION_HEADER = Section(
    "SessionHeader",
    "MS-MQMQ 2.2.20.4",
    (
        UInt("AckSequenceNumber", 2),
        UInt("RecoverableMsgAckSeqNumber", 2),
        UInt("RecoverableMsgAckFlags", 4),
        UInt("UserMsgSequenceNumber", 2),
        UInt("RecoverableMsgSeqNumber", 2),
        UInt("WindowSize", 2, default=64),
        UInt("Reserved", 2),
    ),
)
SESSION_HEADER_SIZE = 16
