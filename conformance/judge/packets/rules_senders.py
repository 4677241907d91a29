"""Rules for the sender of a message and the encryption of its body (MS-MQDMPR 3.1.1.12, MS-MQMQ 2.2.19.3, 2.2.20.6)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.expr import (
    Begins,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Not,
    Rest,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
    one_of,
)
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.security_items import sid_bytes, simple_blob

H, F, D = "SecurityHeader.", "SecurityHeader.Flags.", "SecurityHeader.SecurityData."
M, A = "MessagePropertiesHeader.", "MQDMPR-3.1.1.12."
PRESENT = Has(H + "ProviderInfoSize")
# The values a connector gives for another messaging system are not judged (MS-MQDMPR 3.1.1.12).
OWN = is_clear("UserHeader.Flags.CQ")
RC2, RC4, AES128, AES192, AES256 = 0x6602, 0x6801, 0x660E, 0x660F, 0x6610
# Algorithm to its word in both documents, its privacy level, and its block size in bytes (1: a stream cipher).
CIPHERS = {
    RC2: ("encryption-rc2", 3, 8),
    AES256: ("encryption-aes256", 5, 16),
    AES128: ("encryption-aes128", 5, 16),
    AES192: ("encryption-aes192", 5, 16),
    RC4: ("encryption-rc4", 3, 1),
}
_OF_LEVEL_5 = tuple(number for number, (_, level, _) in CIPHERS.items() if level == 5)
KEY = D + "EncryptionKey"
# A private queue instead of a direct name.
TO_PRIVATE: dict[str, Value] = {
    "UserHeader.Flags.DQ": 3,
    "UserHeader.DestinationQueue.DirectFormatName": b"",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier": 5,
    "UserHeader.QueueManagerAddress": "909ea0fc-9078-4445-8f11-394c43cd8907",
}
SESSION_ALGORITHM = "SIMPLEBLOB.SessionKeyAlgorithm"
WITH_SID: dict[str, Value] = {F + "ST": 1, D + "SecurityID": sid_bytes("S-1-5-32-544")}
WITH_MANAGER: dict[str, Value] = {
    F + "ST": 2,
    "SecurityHeader.SecurityData.SecurityID": bytes.fromhex("c626ea11e6b6974995959150557358d1"),
}
BASE, ENHANCED = "Microsoft Base Cryptographic Provider", "Microsoft Enhanced Cryptographic Provider"
STANDARD = tuple(f"{name}{comma} v1.0" for name in (BASE, ENHANCED) for comma in ("", ","))
AES_PROVIDERS = ("Microsoft AES Cryptographic Provider", "Microsoft Enhanced RSA and AES Cryptographic Provider")
RSA_FULL, RSA_AES = 1, 24
NAME, TYPE = D + "ProviderInfo.ProviderName", D + "ProviderInfo.ProviderType"


def encrypted(algorithm: int, privacy: int) -> dict[str, Value]:
    """Return the values of a formally encrypted message to a private queue.

    The key and the body are any bytes of a fitting length. Only a message to a private or public queue is encrypted.
    """
    return {
        **TO_PRIVATE,
        F + "EB": 1,
        F + "DE": 1,
        F + "AI": 1,
        KEY: simple_blob(algorithm, bytes(range(256))),
        M + "PrivacyLevel": privacy,
        M + "EncryptionAlgorithm": algorithm,
        M + "MessageBody": bytes(range(32)),
    }


def provided(name: str, number: int = RSA_FULL) -> dict[str, Value]:
    """Return the values of a message with a provider."""
    return {**WITH_SID, F + "AI": 1, NAME: name, TYPE: number}


def _named(names: tuple[str, ...]) -> Expr:
    return either(*(eq(NAME, name) for name in names))


# The rules on each of the two names judge what follows it.
_VERSIONED = either(Begins(NAME, BASE), Begins(NAME, ENHANCED))


def _whole(size: str, block: int) -> Expr:
    return both(Compare("eq", Rest(Field(size), block), Const(0)), ne(size, 0))


def _ciphers() -> Iterator[Rule]:
    for number, (word, privacy, block) in CIPHERS.items():
        other = RC2 if number == RC4 else RC4 if number == RC2 else AES256 if number != AES256 else AES128
        base = encrypted(number, privacy)
        applies = both(is_set(F + "EB"), eq(M + "EncryptionAlgorithm", number), OWN)
        yield Rule(
            f"MQMQ-2.2.19.3.{word}",
            both(applies, Has(SESSION_ALGORITHM)),
            eq(SESSION_ALGORITHM, number),
            # Both documents require the algorithm that the message names.
            Mutation(also=base, patch={SESSION_ALGORITHM: other}, also_breaks=(A + "encryption-algorithm",)),
        )
        if block == 1:
            # A stream cipher keeps the length, whichever of the two sizes is that of the encrypted body.
            yield Rule(
                A + word,
                applies,
                {
                    "exact": eq(M + "AllocationBodySize", Field(M + "MessageSize")),
                    "larger": Compare("ge", Field(M + "AllocationBodySize"), Field(M + "MessageSize")),
                },
                Mutation(also=base, patch={M + "AllocationBodySize": 40}),
                "R-MQMQ-encrypted-room",
            )
            continue
        yield Rule(
            A + word,
            applies,
            {
                "message-size": _whole(M + "MessageSize", block),
                "allocation": _whole(M + "AllocationBodySize", block),
            },
            Mutation(
                also=base,
                given={M + "MessageBody": bytes(31)},
                also_breaks=("MQMQ-2.2.19.3.initialization-vector",),
            ),
            "R-MQMQ-body-room",
        )


def _provider_version(word: str, name: str) -> Rule:
    """Make the rule that the name of a standard provider ends with its version."""
    return Rule(
        A + word,
        both(Has(NAME), Begins(NAME, name), OWN),
        {
            "no-comma": eq(NAME, f"{name} v1.0"),
            # Only a signed message has the comma; what encrypts a body is named as the keys are (MS-MQQB 3.1.7.1.5).
            "comma": either(
                eq(NAME, f"{name}, v1.0"),
                both(eq(NAME, f"{name} v1.0"), either(is_set(F + "EB"), eq(H + "SignatureSize", 0))),
            ),
        },
        # A name with another version matches neither form.
        Mutation(also=provided(f"{name} v1.0"), given={NAME: f"{name} v2.0"}),
        "R-MQDMPR-provider-name",
    )


RULES: tuple[Rule, ...] = (
    Rule(
        A + "sender-identifier-sid",
        both(PRESENT, eq(F + "ST", 1), OWN),
        both(eq("SID.Exact", True), eq("SID.Revision", 1), at_most("SID.SubAuthorityCount", 15)),
        Mutation(also=WITH_SID, given={D + "SecurityID": b"\1\x10\0\0\0\0\0\5" + bytes(64)}),
    ),
    Rule(
        A + "sender-identifier-queue-manager",
        both(PRESENT, eq(F + "ST", 2), OWN),
        eq(D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        Mutation(also=WITH_MANAGER, patch={"SecurityHeader.SecurityData.SecurityID": bytes(range(16))}),
    ),
    Rule(
        A + "symmetric-key",
        both(PRESENT, is_set(F + "EB"), OWN),
        both(ne(H + "EncryptionKeySize", 0), eq("SIMPLEBLOB.Exact", True)),
        Mutation(also=encrypted(RC4, 1), given={KEY: simple_blob(RC4, b"")[:8]}),
    ),
    Rule(
        "MQQB-2.4.2.session-key-algorithm",
        both(is_set(F + "EB"), Has(SESSION_ALGORITHM), OWN),
        # Of two algorithms the one is wrong that the privacy level rules out.
        both(
            one_of(SESSION_ALGORITHM, *CIPHERS),
            either(
                eq(SESSION_ALGORITHM, Field(M + "EncryptionAlgorithm")),
                both(eq(M + "PrivacyLevel", 5), one_of(SESSION_ALGORITHM, *_OF_LEVEL_5)),
                both(one_of(M + "PrivacyLevel", 1, 3), Not(one_of(SESSION_ALGORITHM, *_OF_LEVEL_5))),
                Not(one_of(M + "PrivacyLevel", 1, 3, 5)),
            ),
        ),
        Mutation(
            also=encrypted(AES128, 5),
            patch={SESSION_ALGORITHM: 0x6603},
            also_breaks=("MQDMPR-3.1.1.12.encryption-algorithm", "MQMQ-2.2.19.3.encryption-aes128"),
        ),
    ),
    Rule(
        A + "encryption-algorithm",
        both(is_set(F + "EB"), Has(SESSION_ALGORITHM), OWN),
        eq(SESSION_ALGORITHM, Field(M + "EncryptionAlgorithm")),
        Mutation(
            also=encrypted(AES128, 5),
            patch={SESSION_ALGORITHM: AES256},
            also_breaks=("MQMQ-2.2.19.3.encryption-aes128",),
        ),
    ),
    *_ciphers(),
    Rule(
        "MQMQ-2.2.19.3.privacy-none",
        both(PRESENT, eq(M + "PrivacyLevel", 0)),
        is_clear(F + "EB"),
        # The other document demands it for the key, and for the flag.
        Mutation(
            also={**WITH_SID, **TO_PRIVATE, F + "DE": 1},
            given={F + "EB": 1, KEY: simple_blob(RC4, bytes(64))},
            also_breaks=(A + "privacy-level-none", "MQDMPR-3.1.7.1.32.encrypted-flag"),
        ),
    ),
    Rule(
        A + "privacy-level-none",
        both(PRESENT, eq(M + "PrivacyLevel", 0), OWN),
        {"absent": eq(H + "EncryptionKeySize", 0), "any": is_clear(F + "EB")},
        Mutation(also=WITH_SID | {F + "AI": 1}, given={KEY: simple_blob(RC4, bytes(64))}),
        "R-MQMQ-encryption-key-unused",
    ),
    Rule(
        "MQDMPR-3.1.7.1.32.encrypted-flag",
        both(PRESENT, Has(M + "PrivacyLevel")),
        either(both(is_set(F + "EB"), ne(M + "PrivacyLevel", 0)), both(is_clear(F + "EB"), eq(M + "PrivacyLevel", 0))),
        Mutation(also=encrypted(RC4, 1), patch={F + "EB": 0}),
    ),
    Rule(
        A + "provider-type",
        both(Has(NAME), OWN),
        {
            "with-aes": either(eq(TYPE, RSA_FULL), both(eq(TYPE, RSA_AES), _named(AES_PROVIDERS))),
            "two": eq(TYPE, RSA_FULL),
            "any": Has(TYPE),
        },
        Mutation(also=provided(STANDARD[0]), patch={TYPE: 2}),
        "R-MQDMPR-standard-providers",
    ),
    Rule(
        A + "provider-name",
        both(Has(NAME), OWN),
        {
            "with-aes": either(_VERSIONED, _named(AES_PROVIDERS)),
            "two": _VERSIONED,
            "any": Has(NAME),
        },
        Mutation(also=provided(STANDARD[0]), given={NAME: "Another Provider"}),
        "R-MQDMPR-standard-providers",
    ),
    _provider_version("provider-name-base", BASE),
    _provider_version("provider-name-enhanced", ENHANCED),
)
