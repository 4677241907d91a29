"""MS-MQMQ 2.2.3, 2.2.5.1, 2.2.8, 2.2.10, 2.2.14, 2.2.17 and 2.2.18.1: structures of fixed members."""

from __future__ import annotations

from conformance.wire.structures.words import Guid, Member, Number, Structure, Truth

_U4 = Number(4)

STRUCTURES = (
    Structure("SECURITY_INFORMATION", "MS-MQMQ 2.2.3", (Member("value", "Value", _U4),), bare=True),
    Structure(
        "SEQUENCE_INFO",
        "MS-MQMQ 2.2.5.1",
        (
            Member("seq_id", "SeqID", Number(8, signed=True, decimal=True)),
            Member("seq_no", "SeqNo", _U4),
            Member("prev_no", "PrevNo", _U4),
        ),
    ),
    Structure(
        "OBJECTID", "MS-MQMQ 2.2.8", (Member("lineage", "Lineage", Guid()), Member("uniquifier", "Uniquifier", _U4))
    ),
    Structure(
        "MULTICAST_ID", "MS-MQMQ 2.2.10", (Member("m_address", "m_address", _U4), Member("m_port", "m_port", _U4))
    ),
    Structure("VARIANT_BOOL", "MS-MQMQ 2.2.14", (Member("value", "Value", Truth()),), bare=True),
    Structure("ULARGE_INTEGER", "MS-MQMQ 2.2.17", (Member("quad_part", "QuadPart", Number(8, decimal=True)),)),
    Structure(
        "TxSequenceID",
        "MS-MQMQ 2.2.18.1.2",
        (Member("ordinal", "Ordinal", _U4), Member("time_stamp", "TimeStamp", _U4)),
    ),
    Structure(
        "MessageIdentifier",
        "MS-MQMQ 2.2.18.1.3",
        (Member("queue_manager_guid", "QueueManagerGuid", Guid()), Member("ordinal", "Ordinal", _U4)),
    ),
    Structure("XACTUOW", "MS-MQMQ 2.2.18.1.8", (Member("rgb", "rgb", Guid()),)),
)
