"""TransactionHeader (MS-MQMQ 2.2.20.5) with its TxSequenceID (2.2.18.1.2): Ordinal low, TimeStamp high."""

from conformance.wire.layout import Condition, Guid, Section, UInt, When, bits

TRANSACTION_HEADER = Section(
    "TransactionHeader",
    "MS-MQMQ 2.2.20.5",
    (
        UInt("Flags", 4, bits("CG FA FM LM ID:20 X1 X2 X3 X4 X5 X6 X7 X8")),
        UInt("TxSequenceID", 8, bits("Ordinal:32 TimeStamp:32")),
        UInt("TxSequenceNumber", 4, default=1),
        UInt("PreviousTxSequenceNumber", 4),
        When(Condition("TransactionHeader.Flags.CG"), (Guid("ConnectorQMGuid"),)),
    ),
)
