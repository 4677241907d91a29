"""The fields that the rules of sessions are about, for those who show the bytes of a packet that breaks one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.judge.sessions.packets import RULES

_OPENING, _TIMES, _SESSION = "EstablishConnectionHeader", "ConnectionParametersHeader", "SessionHeader"
_USER, _PROPERTIES, _TRANSACTION = "UserHeader", "MessagePropertiesHeader", "TransactionHeader"
_TO, _ANSWER = f"{_USER}.DestinationQueue", f"{_USER}.ResponseQueue"
_BODIES = ("OrderAckBody", "FinalAckBody")

# By field, the requirements: in MS-MQQB, unless their document is named.
_ABOUT: Mapping[tuple[str, ...], str] = {
    ("BaseHeader.Flags",): "2.2.4.base-flags 2.2.5.base-flags 3.1.7.11.header-included",
    ("BaseHeader.TimeToReachQueue",): "3.1.7.1.2.expired",
    ("BaseHeader.TimeToReachQueue", f"{_USER}.TimeToBeReceived"): "3.1.7.15.times",
    ("InternalHeader.Flags",): "3.1.5.2.3.cs 3.1.5.3.1.cs 3.1.5.3.2.cs 3.1.5.4.1.cs",
    (f"{_OPENING}.ClientGuid", f"{_USER}.SourceQueueManager"): "3.1.5.2.3.client-guid",
    (f"{_OPENING}.ClientGuid",): "3.1.5.3.1.client-guid",
    (f"{_OPENING}.ClientGuid", "Ping.QMGuid"): "2.2.7.qm-guid",
    (f"{_OPENING}.ServerGuid",): "3.1.5.2.3.server-guid 3.1.5.3.1.server-guid",
    (f"{_OPENING}.TimeStamp",): "3.1.5.2.3.time-stamp 3.1.5.3.1.time-stamp",
    (f"{_OPENING}.OperatingSystem",): "2.2.3.1.os 2.2.3.1.se 3.1.5.3.1.se",
    (f"{_OPENING}.Padding",): "2.2.3.1.padding",
    (f"{_TIMES}.RecoverableAckTimeout",): "3.1.5.4.1.recoverable-ack-timeout 3.1.5.3.2.round-trip",
    (f"{_TIMES}.AckTimeout",): "3.1.5.4.1.ack-timeout",
    (f"{_SESSION}.AckSequenceNumber",): "MQMQ-2.2.20.4.ack-sequence-number 3.1.1.6.1.acknowledged-were-sent "
        "3.1.1.6.1.never-decreases 3.1.6.4.something-to-acknowledge",
    (f"{_SESSION}.RecoverableMsgAckSeqNumber", f"{_SESSION}.RecoverableMsgAckFlags"):
        "3.1.1.6.1.recoverable-were-sent 3.1.6.4.recoverable-none 3.1.6.4.recoverable-once "
        "3.1.5.8.7.recoverable-at-once",
    (f"{_SESSION}.RecoverableMsgAckFlags",): "3.1.6.4.recoverable-lowest",
    (f"{_SESSION}.UserMsgSequenceNumber",): "3.1.7.1.3.user-messages-sent 3.1.5.5.5.counts-closes",
    (f"{_SESSION}.RecoverableMsgSeqNumber",): "3.1.7.1.3.recoverable-messages-sent",
    (f"{_SESSION}.WindowSize",): "3.1.6.4.window-size",
    (f"{_USER}.Flags",): "2.2.4.delivery 3.1.5.8.2.hop-count 3.1.7.1.7.delivery 3.1.7.1.7.destination "
        "3.1.7.15.delivery 3.1.7.15.plain 3.1.7.15.unsigned 3.1.7.17.destination-form",
    (f"{_USER}.SourceQueueManager",): "3.1.5.8.10.addressee 2.2.5.1.source-guid",
    (f"{_USER}.MessageID",): "3.1.7.1.1.ordinal",
    (f"{_USER}.SentTime",): "MQMQ-2.2.19.2.sent-time",
    (f"{_USER}.MessageID", f"{_PROPERTIES}.MessageBody"): "3.1.7.1.1.identifier",
    (_TO,): "2.2.4.destination 2.2.4.address 2.2.5.destination 2.2.5.address 3.1.7.15.destination "
        "3.1.7.17.private-name",
    (_ANSWER,): "3.1.7.15.response-queue",
    (f"{_PROPERTIES}.Label",): "2.2.4.label 2.2.5.label 3.1.7.1.7.label 3.1.7.1.7.computer",
    (f"{_PROPERTIES}.MessageBody",): "3.1.7.1.7.body 3.1.7.1.7.message-id 3.1.7.1.7.target 3.1.7.1.7.queue "
        "3.1.7.15.body",
    (f"{_PROPERTIES}.CorrelationID",): "3.1.7.15.correlation",
    (f"{_PROPERTIES}.MessageClass",): "2.2.5.message-class 3.1.5.8.2.not-transactional-message "
        "3.1.5.8.2.not-transactional-queue 3.1.7.15.requested 3.1.7.2.2.wanted "
        "MQMQ-2.2.18.1.6.nack-hop-count-exceeded MQMQ-2.2.18.1.6.nack-reach-queue-timeout "
        "MQMQ-2.2.18.1.6.nack-receive-timeout MQMQ-2.2.18.1.6.ack-receive MQMQ-2.2.19.3.flags-pa "
        "MQDMPR-3.1.1.12.tracing-not-requested",
    (f"{_TRANSACTION}.Flags",): "MQMQ-2.2.20.5.first-in-transaction MQMQ-2.2.20.5.last-in-transaction "
        "MQMQ-2.2.20.5.transaction-identifier MQMQ-2.2.20.5.transaction-identifier-unique",
    (f"{_TRANSACTION}.TxSequenceID",): "3.1.1.5.all-acknowledged 3.1.1.5.next-sequence 3.1.1.5.older-sequence",
    (f"{_TRANSACTION}.TxSequenceNumber",): "3.1.1.5.first-number 3.1.1.5.passed-on 3.1.6.5.resend-order "
        "3.1.7.1.3.next-number 3.1.7.1.3.resent-number",
    (f"{_TRANSACTION}.PreviousTxSequenceNumber",): "3.1.7.1.3.previous-number 3.1.7.1.3.resent-previous",
    tuple(f"{body}.TxSequenceID" for body in _BODIES): "2.2.4.1.sequence 2.2.5.1.sequence",
    tuple(f"{body}.TxSequenceNumber" for body in _BODIES): "2.2.5.1.sequence-number 3.1.1.6.2.in-order "
        "3.1.5.8.6.accepted",
    tuple(f"{body}.TxPreviousSequenceNumber" for body in _BODIES): "2.2.4.1.previous 2.2.5.1.previous",
    ("OrderAckBody.Reserved",): "2.2.4.1.reserved",
    ("FinalAckBody.SourceGUID",): "2.2.5.1.source-guid",
    ("FinalAckBody.MessageID",): "2.2.5.1.message-id",
    ("Ping.Flags",): "2.2.7.request-rf 2.2.7.response-rc 3.1.7.6.refused",
    ("Ping.Signature",): "2.2.7.signature-ignored",
    ("Ping.Cookie",): "2.2.7.response-cookie 3.1.7.6.cookie",
    ("Ping.QMGuid",): "2.2.7.response-qm-guid",
}  # fmt: skip

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    **{
        rule.requirement: ("BaseHeader.PacketSize" if rule.field == "Packet.Length" else rule.field,)
        for rules in RULES.values()
        for rule in rules
    },
    **{
        name if name.startswith(("MQMQ", "MQDMPR")) else f"MQQB-{name}": fields
        for fields, names in _ABOUT.items()
        for name in names.split()
    },
}
"""By requirement. One whose packet comes too late, too early or at all has none: no byte of it is wrong."""
