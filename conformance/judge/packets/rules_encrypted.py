"""Rules for what an encrypted or signed message needs, and where that stands (MS-MQQB 2.4.2, 3.1.7.1.4, 3.1.7.1.5)."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judge.expr import (
    Begins,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Not,
    Plus,
    Rest,
    at_least,
    both,
    either,
    eq,
    is_clear,
    is_set,
    one_of,
)
from conformance.judge.packets.rules_base import MESSAGE
from conformance.judge.packets.rules_optional import MULTI
from conformance.judge.packets.rules_properties import AES, AES256
from conformance.judge.packets.rules_senders import (
    AES_PROVIDERS,
    BASE,
    CIPHERS,
    ENHANCED,
    KEY,
    NAME,
    RC4,
    RSA_AES,
    STANDARD,
    TYPE,
    H,
    M,
    encrypted,
)
from conformance.judge.packets.rules_user import F
from conformance.judge.packets.signing import (
    MULTIPLE_SIGNATURE,
    SIGNATURE,
    SIZE,
    UNSIGNED_LIST,
    SignedMutation,
    Signing,
    sign,
)
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.security_items import simple_blob

E = "MQQB-3.1.7.1.5."


@dataclass(frozen=True, slots=True)
class _Misplaced(SignedMutation):
    """A mutation whose broken packet, made by `given`, is signed in SecurityHeader."""

    def broken(self) -> bytes:
        """Sign the packet in the other place."""
        return sign(Mutation.broken(self), Signing(byte_order="big"))


_Q = "MultiQueueFormatHeader."
_ENCRYPTED = both(is_set(H + "Flags.EB"), is_clear(F + "CQ"))
_HEAD = 12
"""Bytes of a SIMPLEBLOB before its key."""
_FIXED_KEY, _LEAST_KEY, _KEY_UNIT = 256, 64, 8
"""Bytes of an encrypted key: what 2.4.2 has, what a key of 512 bits gives, and what any key of RSA is made of."""
_ROOM = "R-MQMQ-encrypted-room"


def _provided(name: str, number: int, algorithm: int, level: int) -> dict[str, Value]:
    return {**encrypted(algorithm, level), H + "Flags.DE": 0, NAME: name, TYPE: number}


def _of_aes() -> Expr:
    return either(*(eq(NAME, name) for name in AES_PROVIDERS))


def _rooms() -> Expr:
    """The room of a body is that of its whole blocks, whichever of the two sizes is that of the encrypted bytes."""
    size, room = Field(M + "MessageSize"), Field(M + "AllocationBodySize")
    return both(
        *(
            either(
                Not(eq(M + "EncryptionAlgorithm", number)),
                both(Compare("ge", room, size), Compare("le", room, Plus(size, Const(block)))),
            )
            for number, (_, _, block) in CIPHERS.items()
            if block > 1
        )
    )


_BLOCKS = tuple(number for number, (_, _, block) in CIPHERS.items() if block > 1)
_AES_PROVIDED = _provided(AES_PROVIDERS[1], RSA_AES, AES256, 5)

RULES: tuple[Rule, ...] = (
    Rule(
        "MQQB-2.4.2.encrypted-key",
        both(_ENCRYPTED, Has("SIMPLEBLOB.EncryptionAlgorithm")),
        {
            "of-its-key": both(
                at_least(H + "EncryptionKeySize", _HEAD + _LEAST_KEY),
                Compare("eq", Rest(Field(H + "EncryptionKeySize"), _KEY_UNIT), Const(_HEAD % _KEY_UNIT)),
            ),
            "fixed": eq(H + "EncryptionKeySize", _HEAD + _FIXED_KEY),
        },
        Mutation(also=encrypted(RC4, 1), given={KEY: simple_blob(RC4, bytes(range(100)))}),
        "R-MQQB-encrypted-key",
    ),
    Rule(
        E + "provider",
        _ENCRYPTED,
        {"default-left-out": either(Has(NAME), is_set(H + "Flags.DE")), "always": Has(NAME)},
        Mutation(also=encrypted(RC4, 1), patch={H + "Flags.DE": 0}),
        "R-MQQB-encryption-provider",
    ),
    Rule(
        E + "provider-by-level",
        # With a signature ProviderInfo tells who made that.
        both(_ENCRYPTED, Has(NAME), eq(H + "SignatureSize", 0), one_of(M + "PrivacyLevel", 1, 3, 5)),
        either(
            both(_of_aes(), one_of(M + "EncryptionAlgorithm", *AES)),
            both(
                one_of(M + "PrivacyLevel", 1, 3),
                Not(one_of(M + "EncryptionAlgorithm", *AES)),
                either(Begins(NAME, ENHANCED), both(Begins(NAME, BASE), eq(M + "PrivacyLevel", 1))),
            ),
        ),
        Mutation(also=_AES_PROVIDED, given={NAME: STANDARD[0], TYPE: 1}),
    ),
    Rule(
        E + "allocation-body-size",
        both(_ENCRYPTED, one_of(M + "EncryptionAlgorithm", *_BLOCKS)),
        {"exact": _rooms(), "larger": Compare("ge", Field(M + "AllocationBodySize"), Field(M + "MessageSize"))},
        Mutation(
            also=encrypted(AES256, 5),
            patch={M + "AllocationBodySize": 1024},
        ),
        _ROOM,
    ),
    Rule(
        "MQQB-3.1.7.1.4.signature-place",
        both(MESSAGE, Has(_Q + "Signature.Size"), is_clear(F + "CQ"), Has(H + "ProviderInfoSize")),
        {"list": eq(H + "SignatureSize", 0), "as-given": Has(H + "SignatureSize")},
        _Misplaced(
            also={**UNSIGNED_LIST, **MULTI},
            right=Signing(3, byte_order="big", place=MULTIPLE_SIGNATURE),
            given={MULTIPLE_SIGNATURE: b"", SIGNATURE: bytes(SIZE)},
        ),
        "R-MQQB-signature-place",
    ),
)
