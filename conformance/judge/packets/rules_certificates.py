"""Rules for the public key of a sender's certificate, and for who signs (MS-MQMQ 2.2.20.6)."""

from __future__ import annotations

from conformance.judge.expr import Field, Has, at_least, at_most, both, eq, is_clear, ne, one_of
from conformance.judge.packets.certificate_keys import KEY, KEY_TYPES
from conformance.judge.packets.rules_senders import WITH_MANAGER, WITH_SID
from conformance.judge.packets.signing import (
    CERTIFICATE,
    CERTIFIED,
    EXPONENT,
    MODULUS,
    UNSIGNED,
    SignedMutation,
    Signing,
)
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.der import with_key_bits
from conformance.wire.security_items import RSA1, public_key_blob

ID, A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
H, F, D = "SecurityHeader.", "SecurityHeader.Flags.", "SecurityHeader.SecurityData."
CERT = D + "SenderCert"
SIGNING = KEY_TYPES[0]
OWN = is_clear("UserHeader.Flags.CQ")
_BLOB = public_key_blob(MODULUS, EXPONENT, key_type=SIGNING)
_SHORT = public_key_blob(MODULUS, EXPONENT, key_type=SIGNING, reserved=1)
# Offsets in the structure: behind three or four bytes the type, the magic number, the length and the exponent.
_LENGTH, _EXPONENT = 12, 16


def _certified(blob: bytes) -> dict[str, Value]:
    return {**CERTIFIED, CERT: with_key_bits(CERTIFICATE, blob)}


def _changed(at: int, raw: bytes, also_breaks: tuple[str, ...] = ()) -> Mutation:
    blob = _BLOB[:at] + raw + _BLOB[at + len(raw) :]
    return Mutation(also=_certified(_BLOB), given=_certified(blob), also_breaks=also_breaks)


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")


_SIZE = 8 * len(_BLOB[20:])
_EXCHANGED = _BLOB[_EXPONENT : _EXPONENT + 4] + _BLOB[_LENGTH : _LENGTH + 4]
_TOLD = eq(KEY + "Order", "told")
# The facts are there only where a certificate's key has the structure.
SHOWN = Has(KEY + "Type")

RULES: tuple[Rule, ...] = (
    Rule(ID + "public-key-start", SHOWN, eq(KEY + "Start", True), _changed(1, b"\1")),
    Rule(
        ID + "key-type-layout",
        SHOWN,
        {name: eq(KEY + "Reserved", name) for name in ("two", "one")},
        Mutation(also=_certified(_SHORT), given=_certified(_BLOB)),
        "R-MQMQ-public-key-blob",
    ),
    Rule(ID + "public-key-magic", SHOWN, eq(KEY + "Magic", RSA1), _changed(8, b"RSA2")),
    Rule(ID + "key-type", SHOWN, one_of(KEY + "Type", *KEY_TYPES), _changed(4, _number(0x6801))),
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
        both(at_least(KEY + "Bits", Field(KEY + "Least")), at_most(KEY + "Bits", Field(KEY + "Most"))),
        _changed(_LENGTH, _number(_SIZE + 8)),
    ),
    Rule(
        ID + "modulus-padding",
        SHOWN,
        eq(KEY + "Zeros", True),
        # The highest bit of the modulus is set.
        _changed(_LENGTH, _number(_SIZE - 1)),
    ),
    Rule(
        ID + "security-id-queue-manager",
        both(eq(F + "ST", 2), ne(H + "SignatureSize", 0), OWN),
        eq(D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        SignedMutation(
            also={**UNSIGNED, **WITH_MANAGER},
            changes={D + "SecurityID": bytes(range(16))},
            # The other document demands it of every message with this sender type.
            also_breaks=(A + "sender-identifier-queue-manager",),
        ),
    ),
    Rule(
        ID + "signature-1-sender-sid",
        both(eq("Packet.Signature.Kind", 1), eq(F + "ST", 1), OWN),
        both(eq("SID.Exact", True), eq("SID.Revision", 1)),
        SignedMutation(
            also={**UNSIGNED, **WITH_SID},
            right=Signing(kind=1),
            changes={"SID.Revision": 2},
            # So does each message with this sender type, signed or not, in both documents.
            also_breaks=(ID + "sender-id-sid", A + "sender-identifier-sid"),
        ),
    ),
    Rule(
        ID + "signature-1-sender-guid",
        both(eq("Packet.Signature.Kind", 1), eq(F + "ST", 2), OWN),
        eq(D + "SecurityID.Guid", Field("UserHeader.SourceQueueManager")),
        SignedMutation(
            also={**UNSIGNED, **WITH_MANAGER},
            right=Signing(kind=1),
            changes={D + "SecurityID": bytes(range(16))},
            also_breaks=(A + "sender-identifier-queue-manager", ID + "security-id-queue-manager"),
        ),
    ),
)
