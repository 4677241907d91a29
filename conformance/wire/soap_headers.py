"""Headers of messages sent over HTTP: SoapHeader (MS-MQMQ 2.2.20.7), and the SRMP pair of MS-MQRR 2.2.5.1.2.

The documents state neither the alignment of these headers nor the unit of SRMPEnvelopeHeader.DataLength. The tables use
4-byte alignment (PacketSize counts padding that aligns headers, MS-MQMQ 2.2.19.1) and WCHARs (as SoapHeader counts);
the other alternatives are named here, and `dissect` uses one when only that one explains the packet.
"""

from conformance.wire.layout import Length, Octets, Pad, Section, UInt, Wide

SOAP_PACKED, SRMP_PACKED, SRMP_BYTES = "soap-packed", "srmp-packed", "srmp-bytes"
SOAP_UNPADDED = "soap-unpadded"
"""Only with `SOAP_PACKED`: the header has no padding at its end either, which aligns what follows."""
HEADER_SECTION_ID, BODY_SECTION_ID = 0x0320, 0x0384

SOAP_HEADER = Section(
    "SoapHeader",
    "MS-MQMQ 2.2.20.7",
    (
        UInt("HeaderSectionID", 2, default=HEADER_SECTION_ID),
        UInt("Reserved", 2),
        UInt("HeaderDataLength", 4),
        Wide("Header", Length("HeaderDataLength", times=2)),
        Pad("HeaderPadding", not_under=SOAP_PACKED),
        UInt("BodySectionID", 2, default=BODY_SECTION_ID),
        UInt("Reserved1", 2),
        UInt("BodyDataLength", 4),
        Wide("Body", Length("BodyDataLength", times=2)),
        Pad("BodyPadding", not_under=SOAP_UNPADDED),
    ),
)
SRMP_ENVELOPE_HEADER = Section(
    "SRMPEnvelopeHeader",
    "MS-MQRR 2.2.5.1.2.1",
    (
        UInt("HeaderId", 2),
        UInt("Reserved", 2),
        UInt("DataLength", 4),
        Wide("Data", Length("DataLength", times=2, bytes_under=SRMP_BYTES)),
        Pad(not_under=SRMP_PACKED),
    ),
)
COMPOUND_MESSAGE_HEADER = Section(
    "CompoundMessageHeader",
    "MS-MQRR 2.2.5.1.2.2",
    (
        UInt("HeaderId", 2),
        UInt("Reserved", 2),
        UInt("HTTPBodySize", 4),
        UInt("MsgBodySize", 4),
        UInt("MsgBodyOffset", 4),
        Octets("Data", Length("HTTPBodySize")),
        Pad(not_under=SRMP_PACKED),
    ),
)
