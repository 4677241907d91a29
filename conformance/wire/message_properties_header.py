"""MessagePropertiesHeader: properties, label, extension and body (MS-MQMQ 2.2.19.3)."""

from conformance.wire.layout import Length, Octets, Pad, Section, UInt, Wide, bits

# Label, ExtensionData and MessageBody follow each other without padding; only the end is padded (MS-MQQB 4.1.7).
MESSAGE_PROPERTIES_HEADER = Section(
    "MessagePropertiesHeader",
    "MS-MQMQ 2.2.19.3",
    (
        UInt("Flags", 1, bits("PA PR NA NR X:4")),
        UInt("LabelLength", 1),
        UInt("MessageClass", 2),
        Octets("CorrelationID", Length(fixed=20)),
        UInt("BodyType", 4),
        UInt("ApplicationTag", 4),
        UInt("MessageSize", 4),
        UInt("AllocationBodySize", 4),
        UInt("PrivacyLevel", 4),
        UInt("HashAlgorithm", 4, default=0x8004),  # SHA-1 and RC4: the defaults of MS-MQDMPR 3.1.1.12
        UInt("EncryptionAlgorithm", 4, default=0x6801),
        UInt("ExtensionSize", 4),
        Wide("Label", Length("LabelLength", times=2)),
        Octets("ExtensionData", Length("ExtensionSize")),
        Octets("MessageBody", Length("MessageSize")),
        Pad(),
    ),
)
