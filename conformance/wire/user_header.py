"""UserHeader: source, destination, and the headers that follow (MS-MQMQ 2.2.19.2)."""

from conformance.wire.base_header import INFINITE
from conformance.wire.layout import Choice, Condition, Guid, Section, UInt, When, bits
from conformance.wire.queue_formats import ADMINISTRATION, DESTINATION, RESPONSE

USER_HEADER = Section(
    "UserHeader",
    "MS-MQMQ 2.2.19.2",
    (
        Guid("SourceQueueManager"),
        Guid("QueueManagerAddress"),
        UInt("TimeToBeReceived", 4, default=INFINITE),
        UInt("SentTime", 4),
        UInt("MessageID", 4),
        UInt("Flags", 4, bits("RC:5 DM:2 X1 JN JP DQ:3 AQ:3 RQ:3 SH TH MP CQ MQ X2 AH X3:2 HH X4:3")),
        Choice("DestinationQueue", "UserHeader.Flags.DQ", DESTINATION),
        Choice("AdminQueue", "UserHeader.Flags.AQ", ADMINISTRATION),
        Choice("ResponseQueue", "UserHeader.Flags.RQ", RESPONSE),
        When(Condition("UserHeader.Flags.CQ"), (Guid("ConnectorType"),)),
    ),
)
