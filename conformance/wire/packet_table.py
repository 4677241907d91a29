"""The sections of each kind of packet, in wire order, and the condition for each section's presence."""

from __future__ import annotations

from conformance.wire.base_header import BASE_HEADER
from conformance.wire.debug_header import DEBUG_HEADER
from conformance.wire.extension_headers import (
    DEAD_LETTER_HEADER,
    EXTENDED_ADDRESS_HEADER,
    EXTENSION_HEADER,
    SUBQUEUE_HEADER,
)
from conformance.wire.layout import Condition, Section
from conformance.wire.message_properties_header import MESSAGE_PROPERTIES_HEADER
from conformance.wire.multi_queue_format_header import MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.security_header import SECURITY_HEADER
from conformance.wire.security_items import PUBLIC_KEY_BLOB, SID, SIMPLE_BLOB
from conformance.wire.session_header import SESSION_HEADER
from conformance.wire.session_packets import (
    CONNECTION_PARAMETERS,
    CONNECTION_PARAMETERS_HEADER,
    ESTABLISH_CONNECTION,
    ESTABLISH_CONNECTION_HEADER,
    FINAL_ACK_BODY,
    INTERNAL_HEADER,
    ORDER_ACK_BODY,
    PING,
    SESSION_ACK,
)
from conformance.wire.soap_headers import COMPOUND_MESSAGE_HEADER, SOAP_HEADER, SRMP_ENVELOPE_HEADER
from conformance.wire.transaction_header import TRANSACTION_HEADER
from conformance.wire.user_header import USER_HEADER

USER_MESSAGE, ORDER_ACK, FINAL_ACK, PING_KIND, MALFORMED = "UserMessage", "OrderAck", "FinalAck", "Ping", "Malformed"

# MS-MQMQ 2.2.20, with the SRMP pair where MS-MQRR 2.2.5.1 puts it. SessionHeader is last and not listed: its place
# depends on whether PacketSize counts it.
USER_MESSAGE_SECTIONS: tuple[tuple[Section, Condition | None], ...] = (
    (USER_HEADER, None),
    (TRANSACTION_HEADER, Condition("UserHeader.Flags.TH")),
    (SECURITY_HEADER, Condition("UserHeader.Flags.SH")),
    (MESSAGE_PROPERTIES_HEADER, Condition("UserHeader.Flags.MP")),
    (DEBUG_HEADER, Condition("BaseHeader.Flags.DH")),
    (SRMP_ENVELOPE_HEADER, Condition("UserHeader.Flags.AH")),
    (COMPOUND_MESSAGE_HEADER, Condition("UserHeader.Flags.AH")),
    (SOAP_HEADER, Condition("UserHeader.Flags.HH")),
    (MULTI_QUEUE_FORMAT_HEADER, Condition("UserHeader.Flags.MQ")),
)
# The sections that MS-MQRR 2.2.5 appends to a user message. The size shows the first, its flags show the others.
EXTENSION_SECTIONS: tuple[tuple[Section, Condition | None], ...] = (
    (EXTENSION_HEADER, None),
    (SUBQUEUE_HEADER, Condition("ExtensionHeader.Flags.SQ")),
    (DEAD_LETTER_HEADER, Condition("ExtensionHeader.Flags.DL")),
    (EXTENDED_ADDRESS_HEADER, Condition("ExtensionHeader.Flags.EA")),
)
# InternalHeader.Flags.PT to (kind, section that follows), MS-MQQB 2.2.1.
INTERNAL_PACKETS: dict[int, tuple[str, Section]] = {
    SESSION_ACK: ("SessionAck", SESSION_HEADER),
    ESTABLISH_CONNECTION: ("EstablishConnection", ESTABLISH_CONNECTION_HEADER),
    CONNECTION_PARAMETERS: ("ConnectionParameters", CONNECTION_PARAMETERS_HEADER),
}
ACK_BODIES: dict[str, Section] = {ORDER_ACK: ORDER_ACK_BODY, FINAL_ACK: FINAL_ACK_BODY}
ALL_SECTIONS: tuple[Section, ...] = (
    BASE_HEADER,
    INTERNAL_HEADER,
    *(section for section, _ in USER_MESSAGE_SECTIONS),
    *(section for section, _ in EXTENSION_SECTIONS),
    SESSION_HEADER,
    ESTABLISH_CONNECTION_HEADER,
    CONNECTION_PARAMETERS_HEADER,
    ORDER_ACK_BODY,
    FINAL_ACK_BODY,
    PING,
    SID,
    SIMPLE_BLOB,
    PUBLIC_KEY_BLOB,
)
SECTION: dict[str, Section] = {section.name: section for section in ALL_SECTIONS}
