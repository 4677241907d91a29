"""Rules for SecurityHeader (MS-MQMQ 2.2.20.6)."""

from __future__ import annotations

from conformance.judge.expr import (
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Plus,
    Times,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
    one_of,
)
from conformance.judge.packets.rules_base import reserved_bits
from conformance.judge.packets.rules_properties import fits
from conformance.judge.packets.rules_senders import STANDARD, WITH_MANAGER, encrypted
from conformance.judge.rules import Mutation, Rule, Value

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


RULES: tuple[Rule, ...] = (
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
