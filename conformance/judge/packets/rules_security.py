"""Rules for SecurityHeader, encrypted messages and certificates (MS-MQMQ 2.2.20.6, MS-MQQB 2.4.2)."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judge.packets.rules_base import AES, AES256, MESSAGE, fits, reserved_bits
from conformance.judge.packets.rules_lists import MULTI
from conformance.judge.packets.rules_signatures import (
    AES_PROVIDERS,
    BASE,
    CIPHERS,
    ENHANCED,
    KEY,
    NAME,
    RC4,
    RSA_AES,
    RULES_SENDERS_M,
    STANDARD,
    TYPE,
    WITH_MANAGER,
    encrypted,
)
from conformance.judge.packets.rules_signatures import PLAIN_SID as rules_senders_WITH_SID
from conformance.judge.packets.rules_signatures import SECURITY_HEADER as rules_senders_H
from conformance.judge.packets.rules_user import USER_FLAGS as rules_user_F
from conformance.judge.packets.signatures import CERTIFICATE_KEY as certificate_keys_KEY
from conformance.judge.packets.signatures import (
    CERTIFIED,
    EXPONENT,
    KEY_TYPES,
    MODULUS,
    MULTIPLE_SIGNATURE,
    SIGNATURE,
    SIGNERS_CERTIFICATE,
    SIZE,
    UNSIGNED,
    UNSIGNED_LIST,
    SignedMutation,
    Signing,
    sign,
)
from conformance.judge.rules import (
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Mutation,
    Not,
    Plus,
    Rest,
    Rule,
    Times,
    Value,
    at_least,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
    one_of,
)
from conformance.wire.certificates import with_key_bits
from conformance.wire.security_items import RSA1, public_key_blob, simple_blob

H = "SecurityHeader."
F = "SecurityHeader.Flags."
D = "SecurityHeader.SecurityData."
PRESENT = Has(H + "ProviderInfoSize")
SIZES = ("SenderIdSize", "EncryptionKeySize", "SignatureSize", "SenderCertSize", "ProviderInfoSize")
ITEMS = (
    ("SecurityID", "SenderIdSize"),
    ("EncryptionKey", "EncryptionKeySize"),
    ("Signature", "SignatureSize"),
    ("SenderCert", "SenderCertSize"),
    ("ProviderInfo.ProviderType", "ProviderInfoSize"),
    ("ProviderInfo.ProviderName", "ProviderInfoSize"),
)
# A SID with two sub-authorities: 8 bytes and 4 for each (MS-DTYP 2.4.2.2).
SID = bytes.fromhex("01020000000000052000000020020000")
WITH_SID: dict[str, Value] = {F + "ST": 1, D + "SecurityID": SID}
# Signed by a connector: the documents do not state what its signature covers, so nothing else is judged.
CONNECTED: dict[str, Value] = {"UserHeader.ConnectorType": "909ea0fc-9078-4445-8f11-394c43cd8907"}
SIGNED: dict[str, Value] = {**CONNECTED, **WITH_SID, D + "Signature": b"signature", F + "DE": 1}
ENCRYPTED: dict[str, Value] = encrypted(0x6801, 1)

_some: Expr = either(*(ne(H + size, 0) for size in SIZES))

SECURITY_RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.20.6.sender-id-type", PRESENT, one_of(F + "ST", 0, 1, 2), Mutation(also=WITH_SID, patch={F + "ST": 3})
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-id-none",
        both(PRESENT, eq(F + "ST", 0)),
        eq(H + "SenderIdSize", 0),
        Mutation(also={**CONNECTED, D + "Signature": b"sig.", F + "DE": 1}, given={D + "SecurityID": SID}),
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-id-sid",
        both(PRESENT, eq(F + "ST", 1)),
        both(
            ne(H + "SenderIdSize", 0),
            Compare("eq", ByteAt(D + "SecurityID", 0), Const(1)),
            Compare("eq", Field(H + "SenderIdSize"), Plus(Times(ByteAt(D + "SecurityID", 1), 4), Const(8))),
        ),
        # Both documents require a SID.
        Mutation(
            also=WITH_SID,
            patch={D + "SecurityID": b"\1\3" + SID[2:]},
            also_breaks=("MQDMPR-3.1.1.12.sender-identifier-sid",),
        ),
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-id-guid",
        both(PRESENT, eq(F + "ST", 2)),
        eq(H + "SenderIdSize", 16),
        Mutation(also={**CONNECTED, **WITH_MANAGER}, given={D + "SecurityID": bytes(range(20))}),
    ),
    Rule("MQMQ-2.2.20.6.authenticated", PRESENT, is_clear(F + "AU"), Mutation(also=WITH_SID, patch={F + "AU": 1})),
    Rule("MQMQ-2.2.20.6.signature-type", PRESENT, is_clear(F + "AS"), Mutation(also=WITH_SID, patch={F + "AS": 3})),
    Rule(
        "MQMQ-2.2.20.6.security-data",
        PRESENT,
        {
            "equal": either(both(is_set(F + "AI"), _some), both(is_clear(F + "AI"), *(eq(H + s, 0) for s in SIZES))),
            "one-way": either(is_clear(F + "AI"), _some),
        },
        Mutation(
            also=WITH_SID | {F + "AI": 1},
            given={F + "ST": 0, D + "SecurityID": b"", H + "SenderIdSize": 0},
            also_breaks=("MQMQ-2.2.20.6.some-size",),
        ),
        "R-MQMQ-security-data-flag",
    ),
    Rule(
        "MQMQ-2.2.20.6.security-data-fits",
        PRESENT,
        both(*(fits(D + item, H + size) for item, size in ITEMS)),
        Mutation(
            also=SIGNED,
            patch={H + "SignatureSize": 4000},
        ),
    ),
    Rule(
        "MQMQ-2.2.20.6.some-size",
        PRESENT,
        _some,
        Mutation(also=WITH_SID, given={F + "ST": 0, D + "SecurityID": b""}),
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-cert-size",
        PRESENT,
        at_most(H + "SenderCertSize", 0xFFFF),
        # Zeros are no certificate either.
        Mutation(
            also=SIGNED, given={D + "SenderCert": bytes(0x10000)}, also_breaks=("MQMQ-2.2.20.6.sender-cert-layout",)
        ),
    ),
    Rule(
        "MQMQ-2.2.20.6.provider-named",
        both(PRESENT, is_clear(F + "DE"), ne(H + "SignatureSize", 0)),
        Has(D + "ProviderInfo.ProviderName"),
        Mutation(
            also={**SIGNED, F + "DE": 0, D + "ProviderInfo.ProviderName": STANDARD[0]},
            given={D + "ProviderInfo.ProviderName": b""},
            also_breaks=("MQMQ-2.2.20.6.provider-name",),
        ),
    ),
    Rule(
        "MQMQ-2.2.20.6.provider-absent",
        both(PRESENT, is_set(F + "DE")),
        eq(H + "ProviderInfoSize", 0),
        Mutation(also=SIGNED, given={D + "ProviderInfo.ProviderName": STANDARD[0]}),
    ),
    Rule(
        "MQMQ-2.2.20.6.provider-name",
        Has(D + "ProviderInfo.ProviderName"),
        eq(D + "ProviderInfo.ProviderName.Terminated", True),
        Mutation(
            also={**CONNECTED, **WITH_SID, D + "Signature": b"sig.", D + "ProviderInfo.ProviderName": STANDARD[0]},
            given={D + "ProviderInfo.ProviderName": STANDARD[0].encode("utf-16-le")},
        ),
    ),
    *reserved_bits("SecurityHeader", "MQMQ-2.2.20.6", "X12 X13 X14 X15", Mutation(also=WITH_SID)),
)

E = "MQQB-3.1.7.1.5."


@dataclass(frozen=True, slots=True)
class _Misplaced(SignedMutation):
    """A mutation whose broken packet, made by `given`, is signed in SecurityHeader."""

    def broken(self) -> bytes:
        """Sign the packet in the other place."""
        return sign(Mutation.broken(self), Signing(byte_order="big"))


_Q = "MultiQueueFormatHeader."
_ENCRYPTED = both(is_set(rules_senders_H + "Flags.EB"), is_clear(rules_user_F + "CQ"))
_HEAD = 12
"""Bytes of a SIMPLEBLOB before its key."""
_FIXED_KEY, _LEAST_KEY, _KEY_UNIT = 256, 64, 8
"""Bytes of an encrypted key: what 2.4.2 has, what a key of 512 bits gives, and what any key of RSA is made of."""
_ROOM = "R-MQMQ-encrypted-room"


def _provided(name: str, number: int, algorithm: int, level: int) -> dict[str, Value]:
    return {**encrypted(algorithm, level), rules_senders_H + "Flags.DE": 0, NAME: name, TYPE: number}


def _of_aes() -> Expr:
    return either(*(eq(NAME, name) for name in AES_PROVIDERS))


def _rooms() -> Expr:
    """The room of a body is that of its whole blocks, whichever of the two sizes is that of the encrypted bytes."""
    size, room = Field(RULES_SENDERS_M + "MessageSize"), Field(RULES_SENDERS_M + "AllocationBodySize")
    return both(
        *(
            either(
                Not(eq(RULES_SENDERS_M + "EncryptionAlgorithm", number)),
                both(Compare("ge", room, size), Compare("le", room, Plus(size, Const(block)))),
            )
            for number, (_, _, block) in CIPHERS.items()
            if block > 1
        )
    )


_BLOCKS = tuple(number for number, (_, _, block) in CIPHERS.items() if block > 1)
_AES_PROVIDED = _provided(AES_PROVIDERS[1], RSA_AES, AES256, 5)

ENCRYPTION_RULES: tuple[Rule, ...] = (
    Rule(
        "MQQB-2.4.2.encrypted-key",
        both(_ENCRYPTED, Has("SIMPLEBLOB.EncryptionAlgorithm")),
        {
            "of-its-key": both(
                at_least(rules_senders_H + "EncryptionKeySize", _HEAD + _LEAST_KEY),
                Compare("eq", Rest(Field(rules_senders_H + "EncryptionKeySize"), _KEY_UNIT), Const(_HEAD % _KEY_UNIT)),
            ),
            "fixed": eq(rules_senders_H + "EncryptionKeySize", _HEAD + _FIXED_KEY),
        },
        Mutation(also=encrypted(RC4, 1), given={KEY: simple_blob(RC4, bytes(range(100)))}),
        "R-MQQB-encrypted-key",
    ),
    Rule(
        E + "provider",
        _ENCRYPTED,
        {"default-left-out": either(Has(NAME), is_set(rules_senders_H + "Flags.DE")), "always": Has(NAME)},
        Mutation(also=encrypted(RC4, 1), patch={rules_senders_H + "Flags.DE": 0}),
        "R-MQQB-encryption-provider",
    ),
    Rule(
        E + "provider-by-level",
        # With a signature ProviderInfo tells who made that.
        both(
            _ENCRYPTED,
            Has(NAME),
            eq(rules_senders_H + "SignatureSize", 0),
            one_of(RULES_SENDERS_M + "PrivacyLevel", 1, 3, 5),
        ),
        either(
            both(_of_aes(), one_of(RULES_SENDERS_M + "EncryptionAlgorithm", *AES)),
            both(
                one_of(RULES_SENDERS_M + "PrivacyLevel", 1, 3),
                Not(one_of(RULES_SENDERS_M + "EncryptionAlgorithm", *AES)),
                either(Begins(NAME, ENHANCED), both(Begins(NAME, BASE), eq(RULES_SENDERS_M + "PrivacyLevel", 1))),
            ),
        ),
        Mutation(also=_AES_PROVIDED, given={NAME: STANDARD[0], TYPE: 1}),
    ),
    Rule(
        E + "allocation-body-size",
        both(_ENCRYPTED, one_of(RULES_SENDERS_M + "EncryptionAlgorithm", *_BLOCKS)),
        {
            "exact": _rooms(),
            "larger": Compare(
                "ge", Field(RULES_SENDERS_M + "AllocationBodySize"), Field(RULES_SENDERS_M + "MessageSize")
            ),
        },
        Mutation(
            also=encrypted(AES256, 5),
            patch={RULES_SENDERS_M + "AllocationBodySize": 1024},
        ),
        _ROOM,
    ),
    Rule(
        "MQQB-3.1.7.1.4.signature-place",
        both(
            MESSAGE,
            Has(_Q + "Signature.Size"),
            is_clear(rules_user_F + "CQ"),
            Has(rules_senders_H + "ProviderInfoSize"),
        ),
        {"list": eq(rules_senders_H + "SignatureSize", 0), "as-given": Has(rules_senders_H + "SignatureSize")},
        _Misplaced(
            also={**UNSIGNED_LIST, **MULTI},
            right=Signing(3, byte_order="big", place=MULTIPLE_SIGNATURE),
            given={MULTIPLE_SIGNATURE: b"", SIGNATURE: bytes(SIZE)},
        ),
        "R-MQQB-signature-place",
    ),
)

ID, A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
RULES_CERTIFICATES_H, RULES_CERTIFICATES_F, RULES_CERTIFICATES_D = (
    "SecurityHeader.",
    "SecurityHeader.Flags.",
    "SecurityHeader.SecurityData.",
)
CERT = RULES_CERTIFICATES_D + "SenderCert"
SIGNING = KEY_TYPES[0]
OWN = is_clear("UserHeader.Flags.CQ")
_BLOB = public_key_blob(MODULUS, EXPONENT, key_type=SIGNING)
_SHORT = public_key_blob(MODULUS, EXPONENT, key_type=SIGNING, reserved=1)
# Offsets in the structure: behind three or four bytes the type, the magic number, the length and the exponent.
_LENGTH, _EXPONENT = 12, 16


def _certified(blob: bytes) -> dict[str, Value]:
    return {**CERTIFIED, CERT: with_key_bits(SIGNERS_CERTIFICATE, blob)}


def _changed(at: int, raw: bytes, also_breaks: tuple[str, ...] = ()) -> Mutation:
    blob = _BLOB[:at] + raw + _BLOB[at + len(raw) :]
    return Mutation(also=_certified(_BLOB), given=_certified(blob), also_breaks=also_breaks)


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")


_SIZE = 8 * len(_BLOB[20:])
_EXCHANGED = _BLOB[_EXPONENT : _EXPONENT + 4] + _BLOB[_LENGTH : _LENGTH + 4]
_TOLD = eq(certificate_keys_KEY + "Order", "told")
# The facts are there only where a certificate's key has the structure.
SHOWN = Has(certificate_keys_KEY + "Type")

CERTIFICATE_RULES: tuple[Rule, ...] = (
    Rule(ID + "public-key-start", SHOWN, eq(certificate_keys_KEY + "Start", True), _changed(1, b"\1")),
    Rule(
        ID + "key-type-layout",
        SHOWN,
        {name: eq(certificate_keys_KEY + "Reserved", name) for name in ("two", "one")},
        Mutation(also=_certified(_SHORT), given=_certified(_BLOB)),
        "R-MQMQ-public-key-blob",
    ),
    Rule(ID + "public-key-magic", SHOWN, eq(certificate_keys_KEY + "Magic", RSA1), _changed(8, b"RSA2")),
    Rule(ID + "key-type", SHOWN, one_of(certificate_keys_KEY + "Type", *KEY_TYPES), _changed(4, _number(0x6801))),
    Rule(
        ID + "length-in-bits-layout",
        SHOWN,
        _TOLD,
        _changed(_LENGTH, _EXCHANGED, (ID + "public-exponent-layout",)),
    ),
    Rule(
        ID + "public-exponent-layout",
        SHOWN,
        _TOLD,
        _changed(_LENGTH, _EXCHANGED, (ID + "length-in-bits-layout",)),
    ),
    Rule(
        ID + "length-in-bits",
        SHOWN,
        both(
            at_least(certificate_keys_KEY + "Bits", Field(certificate_keys_KEY + "Least")),
            at_most(certificate_keys_KEY + "Bits", Field(certificate_keys_KEY + "Most")),
        ),
        _changed(_LENGTH, _number(_SIZE + 8)),
    ),
    Rule(
        ID + "modulus-padding",
        SHOWN,
        eq(certificate_keys_KEY + "Zeros", True),
        # The highest bit of the modulus is set.
        _changed(_LENGTH, _number(_SIZE - 1)),
    ),
    Rule(
        ID + "security-id-queue-manager",
        both(eq(RULES_CERTIFICATES_F + "ST", 2), ne(RULES_CERTIFICATES_H + "SignatureSize", 0), OWN),
        eq(RULES_CERTIFICATES_D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        SignedMutation(
            also={**UNSIGNED, **WITH_MANAGER},
            changes={RULES_CERTIFICATES_D + "SecurityID": bytes(range(16))},
            # The other document demands it of every message with this sender type.
            also_breaks=(A + "sender-identifier-queue-manager",),
        ),
    ),
    Rule(
        ID + "signature-1-sender-sid",
        both(eq("Packet.Signature.Kind", 1), eq(RULES_CERTIFICATES_F + "ST", 1), OWN),
        both(eq("SID.Exact", True), eq("SID.Revision", 1)),
        SignedMutation(
            also={**UNSIGNED, **rules_senders_WITH_SID},
            right=Signing(kind=1),
            changes={"SID.Revision": 2},
            # So does each message with this sender type, signed or not, in both documents.
            also_breaks=(ID + "sender-id-sid", A + "sender-identifier-sid"),
        ),
    ),
    Rule(
        ID + "signature-1-sender-guid",
        both(eq("Packet.Signature.Kind", 1), eq(RULES_CERTIFICATES_F + "ST", 2), OWN),
        eq(RULES_CERTIFICATES_D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        SignedMutation(
            also={**UNSIGNED, **WITH_MANAGER},
            right=Signing(kind=1),
            changes={RULES_CERTIFICATES_D + "SecurityID": bytes(range(16))},
            also_breaks=(A + "sender-identifier-queue-manager", ID + "security-id-queue-manager"),
        ),
    ),
)
