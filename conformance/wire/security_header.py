"""SecurityHeader (MS-MQMQ 2.2.20.6). The sizes determine the contents of SecurityData, not Flags.AI (MS-MQQB 4.1.7)."""

from conformance.wire.layout import Condition, Item, Length, Octets, Pad, Section, UInt, When, Wide, bits


def _item(name: str, size: str) -> tuple[Item, ...]:
    return (Octets(f"SecurityData.{name}", Length(size)), Pad(f"SecurityData.{name}.Padding"))


SECURITY_HEADER = Section(
    "SecurityHeader",
    "MS-MQMQ 2.2.20.6",
    (
        UInt("Flags", 2, bits("ST:4 AU EB DE AI AS:4 X12 X13 X14 X15")),
        UInt("SenderIdSize", 2),
        UInt("EncryptionKeySize", 2),
        UInt("SignatureSize", 2),
        UInt("SenderCertSize", 4),
        UInt("ProviderInfoSize", 4),
        *_item("SecurityID", "SenderIdSize"),
        *_item("EncryptionKey", "EncryptionKeySize"),
        *_item("Signature", "SignatureSize"),
        *_item("SenderCert", "SenderCertSize"),
        When(
            Condition("SecurityHeader.ProviderInfoSize", (0,), negate=True),
            (
                UInt("SecurityData.ProviderInfo.ProviderType", 4),
                Wide("SecurityData.ProviderInfo.ProviderName", Length("ProviderInfoSize", minus=4)),
                Pad("SecurityData.ProviderInfo.Padding"),
            ),
        ),
    ),
)
