"""Rules about what only shows in the rest of the packet: a header that no flag announces, a size, an order.

They are broken where `causes` finds that they explain a packet that cannot be decoded otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.judge.packets.header_order import Rearranged
from conformance.judge.packets.message_facts import is_no_cause
from conformance.judge.packets.rules_base import MESSAGE, WITH_DEBUG, WITH_SESSION, B
from conformance.judge.packets.rules_lists import MULTI, SOAP, TRACED
from conformance.judge.packets.rules_security import CONNECTED, SID, SIGNED, WITH_SID
from conformance.judge.packets.rules_signatures import STANDARD, encrypted
from conformance.judge.packets.rules_user import ASKING, GUID, TRANSACTION, USER_FLAGS, T, U
from conformance.judge.packets.signatures import SIGNERS_CERTIFICATE
from conformance.judge.rules import (
    Expr,
    Has,
    Mutation,
    Rule,
    Value,
    at_least,
    both,
    either,
    eq,
    is_clear,
    is_set,
    one_of,
)

H, D, Q = "SecurityHeader.", "DebugHeader.", "MultiQueueFormatHeader."
# What a connector signed is not verified.
_SECURED: dict[str, Value] = {
    **CONNECTED,
    **SIGNED,
    H + "SecurityData.SenderCert": SIGNERS_CERTIFICATE,
    H + "SecurityData.Signature": bytes(range(1, 42)),
}
# Sizes of which none is a multiple of 4.
_UNALIGNED: dict[str, Value] = {**SIGNED, H + "SecurityData.EncryptionKey": bytes(range(1, 42))}
_PROVIDED: dict[str, Value] = {**SIGNED, H + "Flags.DE": 0, H + "SecurityData.ProviderInfo.ProviderName": STANDARD[0]}
PROVIDER_TYPE_SIZE = 4
_PROVIDER_INFO = 4 + 2 * (len(STANDARD[0]) + 1)
_TO = U + "DestinationQueue.DirectFormatName"
_RESPONSE: dict[str, Value] = {U + "ResponseQueue.DirectFormatName": "OS:host\\r"}


def _told(requirement: str, applies: Expr, breaks: Mutation) -> Rule:
    name = f"MQMQ-{requirement}"
    return Rule(name, both(MESSAGE, applies), is_no_cause(name), breaks)


def _absent(requirement: str, flag: str, also: Mapping[str, Value]) -> Rule:
    """Make the rule that what a clear flag denies is not there."""
    return _told(requirement, is_clear(flag), Mutation(given=also, patch={flag: 0}))


CAUSE_RULES: tuple[Rule, ...] = (
    _absent("2.2.19.2.transaction-header-absent", USER_FLAGS + "TH", TRANSACTION),
    _absent("2.2.19.2.security-header-absent", USER_FLAGS + "SH", WITH_SID),
    _absent("2.2.19.2.connector-type-absent", USER_FLAGS + "CQ", {U + "ConnectorType": GUID}),
    _absent("2.2.19.2.soap-header-absent", USER_FLAGS + "HH", SOAP),
    _absent("2.2.19.2.multi-queue-header-absent", USER_FLAGS + "MQ", MULTI),
    _absent("2.2.19.1.debug-header-absent", B + "Flags.DH", {D + "Queue.QueueIdentifier": GUID}),
    _absent("2.2.20.session-header-absent", B + "Flags.SH", WITH_SESSION),
    _told(
        "2.2.20.5.connector-absent",
        is_clear(T + "Flags.CG"),
        Mutation(also=TRANSACTION, given={T + "ConnectorQMGuid": GUID}, patch={T + "Flags.CG": 0}),
    ),
    _told(
        "2.2.20.8.queue-identifier-absent",
        is_clear(D + "Flags.QT"),
        Mutation(
            also=WITH_DEBUG, given={D + "Queue.QueueIdentifier": GUID, D + "Flags.QT": 1}, patch={D + "Flags.QT": 0}
        ),
    ),
    _told(
        "2.2.19.2.destination-none",
        is_clear(USER_FLAGS + "DQ"),
        Mutation(
            without=U + "Dest",
            given={U + "DestinationQueue.DirectFormatName": "OS:host\\q"},
            patch={USER_FLAGS + "DQ": 0},
        ),
    ),
    _absent("2.2.19.2.admin-queue-none", USER_FLAGS + "AQ", ASKING),
    _told(
        "2.2.19.2.response-queue-none",
        one_of(USER_FLAGS + "RQ", 0, 1),
        Mutation(given=_RESPONSE, patch={USER_FLAGS + "RQ": 0}),
    ),
    *(
        _told(
            f"2.2.20.6.{word}",
            Has(H + size),
            Mutation(also={**_SECURED, **also}, patch={H + size: counted + 4}),
        )
        for word, size, counted, also in (
            ("sender-id-size", "SenderIdSize", len(SID), {}),
            ("encryption-key-size", "EncryptionKeySize", 76, encrypted(0x6801, 1)),
            ("signature-size", "SignatureSize", 41, {}),
            ("sender-cert-size-exact", "SenderCertSize", len(SIGNERS_CERTIFICATE), {}),
        )
    ),
    Rule(
        "MQMQ-2.2.20.6.provider-info-size",
        Has(H + "ProviderInfoSize"),
        both(
            is_no_cause("MQMQ-2.2.20.6.provider-info-size"),
            either(eq(H + "ProviderInfoSize", 0), at_least(H + "ProviderInfoSize", PROVIDER_TYPE_SIZE)),
        ),
        Mutation(also=_PROVIDED, patch={H + "ProviderInfoSize": _PROVIDER_INFO + 4}),
    ),
    _told(
        "2.2.20.6.security-data-aligned",
        Has(H + "ProviderInfoSize"),
        Mutation(also=_UNALIGNED, given={H + "SecurityData.EncryptionKey.Padding": b""}),
    ),
    _told(
        "2.2.18.1.5.2.layout",
        one_of(USER_FLAGS + "DQ", 7),
        Mutation(
            also={U + "DestinationQueue.DirectFormatName": "OS:host\\q"}, given={U + "DestinationQueue.Padding": b""}
        ),
    ),
    *(
        _told(f"2.2.20.{word}-header-layout", flag, Rearranged(also=also, region=swap, order=swap[::-1]))
        for word, flag, also, swap in (
            ("transaction", is_set(USER_FLAGS + "TH"), TRANSACTION | WITH_SID, ("TransactionHeader", "SecurityHeader")),
            ("security", is_set(USER_FLAGS + "SH"), WITH_SID, ("SecurityHeader", "MessagePropertiesHeader")),
            ("debug", is_set(B + "Flags.DH"), {**TRACED, **SOAP}, ("DebugHeader", "SoapHeader")),
            ("soap", is_set(USER_FLAGS + "HH"), {**SOAP, **MULTI}, ("SoapHeader", "MultiQueueFormatHeader")),
        )
    ),
)
