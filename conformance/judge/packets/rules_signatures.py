"""Rules for signatures and for the sender of a message (MS-MQMQ 2.5.1 to 2.5.3, MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.judge.packets.signatures import (
    CERTIFIED,
    MAKING,
    MARKS,
    PLACES,
    READINGS,
    SIGNERS_CERTIFICATE,
    UNSIGNED,
    UNSIGNED_LIST,
    Choice,
    SignedMutation,
    Signing,
)
from conformance.judge.rules import (
    Begins,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Mutation,
    Not,
    Rest,
    Rule,
    Value,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
    one_of,
)
from conformance.wire import certificates
from conformance.wire.security_items import sid_bytes, simple_blob

H, M, A = "SecurityHeader.", "MessagePropertiesHeader.", "MQDMPR-3.1.1.12."
CERT = H + "SecurityData.SenderCert"
(SINGLE, ONE, _), (MULTIPLE, MANY, _) = PLACES
CONNECTOR = "UserHeader.Flags.CQ"
# The signature of another application or a connector is judged only where one of our kinds explains it.
KINDS = (1, 2, 3)
# The values of adjacent fields differ in value or width, so that exchanged fields are detected.
_TELLING: dict[str, Value] = {
    "UserHeader.AdminQueue.DirectFormatName": "OS:host\\admin",
    "UserHeader.Flags.JN": 1,
    M + "Flags.PA": 1,
    M + "BodyType": 17,
}
_LISTS: dict[str, Value] = {
    **UNSIGNED_LIST,
    "MultiQueueFormatHeader.Destination.ElementCount": 1,
    "MultiQueueFormatHeader.Destination.FormatNameList": b"\x03\0" + "OS:host\\q\0".encode("utf-16-le"),
    "MultiQueueFormatHeader.Administration.ElementCount": 1,
    "MultiQueueFormatHeader.Administration.FormatNameList": b"\x03\0" + "OS:h\\a\0".encode("utf-16-le"),
}
HASHES = {
    certificates.MD2: ("hash-md2", "hash-md2"),
    certificates.MD4: ("hash-md4", "hash-md4"),
    certificates.MD5: ("hash-md5", "hash-md5"),
    certificates.SHA1: ("hash-sha1", "hash-sha1"),
    certificates.SHA256: ("hash-sha256", "hash-sha-256"),
    certificates.SHA512: ("hash-sha512", "hash-sha-512"),
}
_WRONG: dict[str, Signing] = {
    "byte-order": Signing(byte_order="little"),
    "encoding": Signing(byte_order="big", encoding="bare"),
    "hashed": Signing(byte_order="big", passes=2),
    "label": Signing(byte_order="big", choice=Choice(label="value")),
    "queues": Signing(byte_order="big", choice=Choice(queues="terminated")),
    "absent": Signing(byte_order="big", choice=Choice(absent="zero")),
    "names": Signing(byte_order="big", choice=Choice(names="every")),
}
# The mutation of each field of stated width, as an index into `slips_of`.
_SLIPS = {"delivery-mode": 1, "priority": 1, "journaling": 3, "flags": 1, "message-class": 0, "body-type": 0}


def _kind(prefix: str) -> Expr:
    return one_of(prefix + ".Kind", *KINDS)


def _fits(fact: str, at: int) -> Expr:
    return Compare("ne", Masked(Field(fact), 1 << at), Const(0))


def _signed(place: str, kind: int = 2, **how: object) -> Signing:
    return replace(Signing(kind=kind, place=place), **how)  # type: ignore[arg-type]


def _of_place(place: str, prefix: str, base: dict[str, Value], end: str) -> Iterator[Rule]:
    """Yield the rules for a signature in one of the two places."""
    kinds: tuple[int, ...] = KINDS if place == SINGLE else (3,)
    usual = 2 if place == SINGLE else 3
    whole = A + ("signature" if place == SINGLE else "multiple-destination-signature-input")
    yield Rule(
        whole,
        both(Has(place), either(is_clear(CONNECTOR), _kind(prefix))),
        _kind(prefix),
        SignedMutation(also=base, right=_signed(place, usual), changes={M + "ApplicationTag": 99}),
    )
    for word, (reading, alternatives) in MAKING.items():
        yield Rule(
            f"{whole}/{word}",
            _kind(prefix),
            {name: _fits(f"{prefix}.{word}", at) for at, name in enumerate(alternatives)},
            SignedMutation(
                also=base,
                right=_signed(place, usual, byte_order="big"),
                wrong=replace(_WRONG[word], kind=usual, place=place),
            ),
            reading,
        )
    yield Rule(
        f"{A}hash-algorithm{end}",
        _kind(prefix),
        eq(prefix + ".Hash", Field(M + "HashAlgorithm")),
        SignedMutation(
            also={**base, M + "HashAlgorithm": certificates.SHA512},
            right=_signed(place, usual),
            wrong=_signed(place, usual, algorithm=certificates.SHA256),
            # Both documents define SHA-512, which the message names; only the rules on SecurityHeader read it.
            also_breaks=_twins(certificates.SHA512) if place == SINGLE else (),
        ),
    )
    for kind in kinds:
        yield from _of_kind(place, prefix, {**base, **_TELLING}, kind, end)


def _of_kind(place: str, prefix: str, base: dict[str, Value], kind: int, end: str) -> Iterator[Rule]:
    """Yield the rules for the fields that a signature of one kind covers."""
    section = f"MQMQ-2.5.{kind}."
    applies = eq(prefix + ".Kind", kind)
    for word in ("order", *(MARKS if kind > 1 else ())):
        yield Rule(
            f"{section}{word}{end}",
            applies,
            ne(prefix + ".Slip", word),
            SignedMutation(
                also=base,
                right=_signed(place, kind),
                wrong=_signed(place, kind, slip=word, nth=_SLIPS.get(word, 0)),
            ),
        )
    for member, (reading, alternatives) in READINGS.items():
        if (member == "absent" and kind == 1) or (member == "names" and place == SINGLE):
            continue
        yield Rule(
            f"{section}order/{member}{end.replace('/', '-')}",
            applies,
            {name: _fits(f"{prefix}.{member}", at) for at, name in enumerate(alternatives)},
            SignedMutation(
                also=base,
                right=_signed(place, kind, byte_order="big"),
                wrong=replace(_WRONG[member], kind=kind, place=place),
            ),
            reading,
        )


def _twins(number: int) -> tuple[str, str]:
    """Return the requirements of a hash algorithm, one per document."""
    in_mqmq, in_mqdmpr = HASHES[number]
    return f"MQMQ-2.2.19.3.{in_mqmq}", f"{A}{in_mqdmpr}"


def _of_hashes() -> Iterator[Rule]:
    for number in HASHES:
        other = certificates.MD5 if number != certificates.MD5 else certificates.SHA1
        twins = _twins(number)
        for name in twins:
            yield Rule(
                name,
                both(eq(M + "HashAlgorithm", number), _kind(ONE)),
                eq(ONE + ".Hash", number),
                SignedMutation(
                    also={**UNSIGNED, M + "HashAlgorithm": number},
                    right=Signing(),
                    wrong=Signing(algorithm=other),
                    # Both documents define the value, and the hash is not made by HashAlgorithm.
                    also_breaks=(*(twin for twin in twins if twin != name), f"{A}hash-algorithm"),
                ),
            )


SIGNATURE_RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.20.6.sender-cert-layout",
        Has(CERT),
        eq("Packet.Certificate.X509", True),
        Mutation(also=CERTIFIED, given={CERT: b"no certificate"}),
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-cert-size-exact/certificate",
        Has("Packet.Certificate.Behind"),
        eq("Packet.Certificate.Behind", 0),
        Mutation(also=CERTIFIED, given={CERT: SIGNERS_CERTIFICATE + bytes(4)}),
    ),
    Rule(
        A + "sender-certificate",
        both(either(Has(SINGLE), Has(MULTIPLE)), is_clear(CONNECTOR)),
        {"required": Has(CERT), "optional": either(Has(CERT), Has(SINGLE), Has(MULTIPLE))},
        SignedMutation(also=UNSIGNED, given={CERT: b""}, right=Signing(byte_order="big")),
        "R-MQDMPR-signed-without-certificate",
    ),
    Rule(
        A + "multiple-destination-signature",
        both(Has(MULTIPLE), is_clear(CONNECTOR)),
        eq(H + "SignatureSize", 0),
        SignedMutation(
            also=_LISTS, right=_signed(MULTIPLE, 3), given={SINGLE: UNSIGNED[SINGLE]}, wrong=_signed(SINGLE, 3)
        ),
    ),
    *_of_place(SINGLE, ONE, UNSIGNED, ""),
    *_of_place(MULTIPLE, MANY, _LISTS, "/multiple"),
    *_of_hashes(),
)

SECURITY_HEADER, F, D = "SecurityHeader.", "SecurityHeader.Flags.", "SecurityHeader.SecurityData."
RULES_SENDERS_M, RULES_SENDERS_A = "MessagePropertiesHeader.", "MQDMPR-3.1.1.12."
PRESENT = Has(SECURITY_HEADER + "ProviderInfoSize")
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
PLAIN_SID: dict[str, Value] = {F + "ST": 1, D + "SecurityID": sid_bytes("S-1-5-32-544")}
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
        RULES_SENDERS_M + "PrivacyLevel": privacy,
        RULES_SENDERS_M + "EncryptionAlgorithm": algorithm,
        RULES_SENDERS_M + "MessageBody": bytes(range(32)),
    }


def provided(name: str, number: int = RSA_FULL) -> dict[str, Value]:
    """Return the values of a message with a provider."""
    return {**PLAIN_SID, F + "AI": 1, NAME: name, TYPE: number}


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
        applies = both(is_set(F + "EB"), eq(RULES_SENDERS_M + "EncryptionAlgorithm", number), OWN)
        yield Rule(
            f"MQMQ-2.2.19.3.{word}",
            both(applies, Has(SESSION_ALGORITHM)),
            eq(SESSION_ALGORITHM, number),
            # Both documents require the algorithm that the message names.
            Mutation(
                also=base, patch={SESSION_ALGORITHM: other}, also_breaks=(RULES_SENDERS_A + "encryption-algorithm",)
            ),
        )
        if block == 1:
            # A stream cipher keeps the length, whichever of the two sizes is that of the encrypted body.
            yield Rule(
                RULES_SENDERS_A + word,
                applies,
                {
                    "exact": eq(RULES_SENDERS_M + "AllocationBodySize", Field(RULES_SENDERS_M + "MessageSize")),
                    "larger": Compare(
                        "ge", Field(RULES_SENDERS_M + "AllocationBodySize"), Field(RULES_SENDERS_M + "MessageSize")
                    ),
                },
                Mutation(also=base, patch={RULES_SENDERS_M + "AllocationBodySize": 40}),
                "R-MQMQ-encrypted-room",
            )
            continue
        yield Rule(
            RULES_SENDERS_A + word,
            applies,
            {
                "message-size": _whole(RULES_SENDERS_M + "MessageSize", block),
                "allocation": _whole(RULES_SENDERS_M + "AllocationBodySize", block),
            },
            Mutation(
                also=base,
                given={RULES_SENDERS_M + "MessageBody": bytes(31)},
                also_breaks=("MQMQ-2.2.19.3.initialization-vector",),
            ),
            "R-MQMQ-body-room",
        )


def _provider_version(word: str, name: str) -> Rule:
    """Make the rule that the name of a standard provider ends with its version."""
    return Rule(
        RULES_SENDERS_A + word,
        both(Has(NAME), Begins(NAME, name), OWN),
        {
            "no-comma": eq(NAME, f"{name} v1.0"),
            # Only a signed message has the comma; what encrypts a body is named as the keys are (MS-MQQB 3.1.7.1.5).
            "comma": either(
                eq(NAME, f"{name}, v1.0"),
                both(eq(NAME, f"{name} v1.0"), either(is_set(F + "EB"), eq(SECURITY_HEADER + "SignatureSize", 0))),
            ),
        },
        # A name with another version matches neither form.
        Mutation(also=provided(f"{name} v1.0"), given={NAME: f"{name} v2.0"}),
        "R-MQDMPR-provider-name",
    )


SENDER_RULES: tuple[Rule, ...] = (
    Rule(
        RULES_SENDERS_A + "sender-identifier-sid",
        both(PRESENT, eq(F + "ST", 1), OWN),
        both(eq("SID.Exact", True), eq("SID.Revision", 1), at_most("SID.SubAuthorityCount", 15)),
        Mutation(also=PLAIN_SID, given={D + "SecurityID": b"\1\x10\0\0\0\0\0\5" + bytes(64)}),
    ),
    Rule(
        RULES_SENDERS_A + "sender-identifier-queue-manager",
        both(PRESENT, eq(F + "ST", 2), OWN),
        eq(D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        Mutation(also=WITH_MANAGER, patch={"SecurityHeader.SecurityData.SecurityID": bytes(range(16))}),
    ),
    Rule(
        RULES_SENDERS_A + "symmetric-key",
        both(PRESENT, is_set(F + "EB"), OWN),
        both(ne(SECURITY_HEADER + "EncryptionKeySize", 0), eq("SIMPLEBLOB.Exact", True)),
        Mutation(also=encrypted(RC4, 1), given={KEY: simple_blob(RC4, b"")[:8]}),
    ),
    Rule(
        "MQQB-2.4.2.session-key-algorithm",
        both(is_set(F + "EB"), Has(SESSION_ALGORITHM), OWN),
        # Of two algorithms the one is wrong that the privacy level rules out.
        both(
            one_of(SESSION_ALGORITHM, *CIPHERS),
            either(
                eq(SESSION_ALGORITHM, Field(RULES_SENDERS_M + "EncryptionAlgorithm")),
                both(eq(RULES_SENDERS_M + "PrivacyLevel", 5), one_of(SESSION_ALGORITHM, *_OF_LEVEL_5)),
                both(one_of(RULES_SENDERS_M + "PrivacyLevel", 1, 3), Not(one_of(SESSION_ALGORITHM, *_OF_LEVEL_5))),
                Not(one_of(RULES_SENDERS_M + "PrivacyLevel", 1, 3, 5)),
            ),
        ),
        Mutation(
            also=encrypted(AES128, 5),
            patch={SESSION_ALGORITHM: 0x6603},
            also_breaks=("MQDMPR-3.1.1.12.encryption-algorithm", "MQMQ-2.2.19.3.encryption-aes128"),
        ),
    ),
    Rule(
        RULES_SENDERS_A + "encryption-algorithm",
        both(is_set(F + "EB"), Has(SESSION_ALGORITHM), OWN),
        eq(SESSION_ALGORITHM, Field(RULES_SENDERS_M + "EncryptionAlgorithm")),
        Mutation(
            also=encrypted(AES128, 5),
            patch={SESSION_ALGORITHM: AES256},
            also_breaks=("MQMQ-2.2.19.3.encryption-aes128",),
        ),
    ),
    *_ciphers(),
    Rule(
        "MQMQ-2.2.19.3.privacy-none",
        both(PRESENT, eq(RULES_SENDERS_M + "PrivacyLevel", 0)),
        is_clear(F + "EB"),
        # The other document demands it for the key, and for the flag.
        Mutation(
            also={**PLAIN_SID, **TO_PRIVATE, F + "DE": 1},
            given={F + "EB": 1, KEY: simple_blob(RC4, bytes(64))},
            also_breaks=(RULES_SENDERS_A + "privacy-level-none", "MQDMPR-3.1.7.1.32.encrypted-flag"),
        ),
    ),
    Rule(
        RULES_SENDERS_A + "privacy-level-none",
        both(PRESENT, eq(RULES_SENDERS_M + "PrivacyLevel", 0), OWN),
        {"absent": eq(SECURITY_HEADER + "EncryptionKeySize", 0), "any": is_clear(F + "EB")},
        Mutation(also=PLAIN_SID | {F + "AI": 1}, given={KEY: simple_blob(RC4, bytes(64))}),
        "R-MQMQ-encryption-key-unused",
    ),
    Rule(
        "MQDMPR-3.1.7.1.32.encrypted-flag",
        both(PRESENT, Has(RULES_SENDERS_M + "PrivacyLevel")),
        either(
            both(is_set(F + "EB"), ne(RULES_SENDERS_M + "PrivacyLevel", 0)),
            both(is_clear(F + "EB"), eq(RULES_SENDERS_M + "PrivacyLevel", 0)),
        ),
        Mutation(also=encrypted(RC4, 1), patch={F + "EB": 0}),
    ),
    Rule(
        RULES_SENDERS_A + "provider-type",
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
        RULES_SENDERS_A + "provider-name",
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
