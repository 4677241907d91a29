"""Compares the security members of a message with the SecurityHeader of its packet, field by field.

There is one verdict per field (MS-MQMQ 2.2.20.6), so that a misplaced field is blamed itself, and one for the
authentication level that a message asks for (MS-MQDMPR 3.1.1.12).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.judge.packets.signatures import PLACES, WHY, signature_facts
from conformance.judge.packets.user_messages import SENDER_TYPES
from conformance.spec.catalogue import requirement, requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet

Message = Mapping[str, Any]
SUBJECT = "packets.encode"
_H, _F, _D = "SecurityHeader.", "SecurityHeader.Flags.", "SecurityHeader.SecurityData."
_S, _A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
LEVELS = {"sig10": 1, "sig20": 2, "sig30": 3}
AI_READING = "R-MQMQ-security-data-flag"
# Members that require a SecurityHeader.
MEMBERS = ("sender_identifier", "symmetric_key", "signature", "sender_certificate", "provider_name")


def _octets(message: Message, member: str) -> bytes:
    try:
        return base64.b64decode(message.get(member) or "", validate=True)
    except binascii.Error:
        return b""


def _provider(message: Message) -> bytes:
    name = message.get("provider_name") or ""
    return f"{name}\0".encode("utf-16-le", "surrogatepass") if name else b""


def _provider_size(message: Message) -> int:
    name = _provider(message)
    return len(name) + 4 if name else 0


def _item(member: str) -> Callable[[Message], Any]:
    return lambda message: _octets(message, member)


def _size(member: str) -> Callable[[Message], Any]:
    return lambda message: len(_octets(message, member))


# Requirement to the field it places and the message's value for it; None: the message does not determine the value.
FIELDS: dict[str, tuple[str, Callable[[Message], Any]]] = {
    _S + "flags-st-layout": (_F + "ST", lambda m: SENDER_TYPES.index(m.get("sender_identifier_type", "none"))),
    _A + "sender-identifier-type-values": (
        _F + "ST",
        lambda m: SENDER_TYPES.index(m.get("sender_identifier_type", "none")),
    ),
    _S + "flags-au-layout": (_F + "AU", lambda m: 0),
    _S + "flags-eb-layout": (_F + "EB", lambda m: int(bool(m.get("privacy_level")))),
    _S + "flags-de-layout": (_F + "DE", lambda m: int(not m.get("provider_name")) if m.get("signature") else None),
    _S + "flags-as-layout": (_F + "AS", lambda m: 0),
    _S + "sender-id-size-layout": (_H + "SenderIdSize", _size("sender_identifier")),
    _S + "encryption-key-size-layout": (_H + "EncryptionKeySize", _size("symmetric_key")),
    _S + "signature-size-layout": (_H + "SignatureSize", _size("signature")),
    _S + "sender-cert-size-layout": (_H + "SenderCertSize", _size("sender_certificate")),
    _S + "provider-info-size-layout": (_H + "ProviderInfoSize", _provider_size),
    _S + "security-id-layout": (_D + "SecurityID", _item("sender_identifier")),
    _S + "encryption-key-layout": (_D + "EncryptionKey", _item("symmetric_key")),
    _S + "signature-layout": (_D + "Signature", _item("signature")),
    _S + "sender-cert-layout": (_D + "SenderCert", _item("sender_certificate")),
    _S + "provider-type-layout": (
        _D + "ProviderInfo.ProviderType",
        lambda m: m.get("provider_type", 0) if m.get("provider_name") else None,
    ),
    _S + "provider-name-layout": (
        _D + "ProviderInfo.ProviderName",
        lambda m: m.get("provider_name") or None,
    ),
}
# Requirement to the requirements above that it consists of.
WHOLES: dict[str, tuple[str, ...]] = {
    _S + "flags-layout": ("flags-st-layout", "flags-au-layout", "flags-eb-layout", "flags-as-layout"),
    _S + "provider-info-layout": ("provider-type-layout", "provider-name-layout"),
    _S + "security-data-layout": (
        "security-id-layout",
        "encryption-key-layout",
        "signature-layout",
        "sender-cert-layout",
        "provider-type-layout",
        "provider-name-layout",
    ),
}
AI = requirement_id(_S + "flags-ai-layout")
UNSIGNED = requirement_id(_A + "authentication-level-none")
SIGNED = {level: requirement_id(f"{_A}authentication-level-{level}") for level in LEVELS}
IDS: tuple[str, ...] = (*map(requirement_id, (*FIELDS, *WHOLES)), AI)


def compare_security(
    message: Message,
    packet: Packet,
    *,
    profile: str,
    readings: Mapping[str, tuple[str, ...]],
    evidence: Evidence | None = None,
) -> Iterator[Verdict]:
    """Judge the SecurityHeader of the packet that an implementation made of a message.

    Fields are compared only where the message has a member for this header. readings: as `judge_packet` takes them.
    """
    if any(message.get(member) for member in MEMBERS):
        right: dict[str, bool] = {}
        for name, (key, value) in FIELDS.items():
            wanted = value(message)
            if wanted is None:
                continue
            found = packet.fields.get(key, b"" if wanted == b"" else None)
            right[name] = wanted == found
            yield _verdict(name, right[name], {key: _shown(wanted)}, {key: _shown(found)}, evidence)
        for name, parts in WHOLES.items():
            there = [right[_S + part] for part in parts if _S + part in right]
            if there:
                wrong = [part for part in parts if not right.get(_S + part, True)]
                yield _verdict(name, not wrong, {"wrong": []}, {"wrong": wrong}, evidence)
        yield _announced(packet, readings, evidence)
    yield from _authentication(message, packet, profile, evidence)


def _announced(packet: Packet, readings: Mapping[str, tuple[str, ...]], evidence: Evidence | None) -> Verdict:
    """Judge that AI is set where there is SecurityData; one reading does not require it."""
    set_ = packet.fields.get(_F + "AI") == 1
    accepted = readings[AI_READING]
    if set_ or "one-way" not in accepted:
        return _verdict(AI, set_, {_F + "AI": 1}, {_F + "AI": packet.fields.get(_F + "AI")}, evidence)
    outcome = Outcome.PASS if accepted[0] == "one-way" else Outcome.READING
    return Verdict(AI, outcome, SUBJECT, readings=((AI_READING, "one-way"),), evidence=evidence)


def _authentication(message: Message, packet: Packet, profile: str, evidence: Evidence | None) -> Iterator[Verdict]:
    level = message.get("authentication_level", "none")
    if level == "none":
        if not message.get("signature") and not message.get("multiple_destination_signature"):
            found = [key for key, _, _ in PLACES if packet.fields.get(key)]
            yield _verdict(UNSIGNED, not found, {"signatures": []}, {"signatures": found}, evidence)
        return
    name = SIGNED[level]
    if not requirement(name).binds(profile):
        return
    facts = signature_facts(packet)
    kinds = [facts[f"{prefix}.Kind"] for _, prefix, _ in PLACES if f"{prefix}.Kind" in facts]
    if not kinds and WHY in facts:
        yield Verdict(name, Outcome.INCONCLUSIVE, SUBJECT, reason=str(facts[WHY]), evidence=evidence)
        return
    yield _verdict(name, LEVELS[level] in kinds, {"kind": LEVELS[level]}, {"kind": kinds}, evidence)


def _verdict(name: str, right: bool, expected: Any, actual: Any, evidence: Evidence | None) -> Verdict:
    if right:
        return Verdict(name, Outcome.PASS, SUBJECT, evidence=evidence)
    return Verdict(name, Outcome.FAIL, SUBJECT, expected, actual, evidence=evidence)


def _shown(value: Any) -> Any:
    return value[:64].hex() if isinstance(value, bytes) else value
