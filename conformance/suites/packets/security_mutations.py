"""Wrong encoders of SecurityHeader as data, each with the demand it breaks, declared beforehand.

Each changes the place or form of one field in the packet of `MESSAGE`; `compare_security` must then fail the
requirement of that field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.packets.optional_headers import compare_security
from conformance.judge.packets.rules_signatures import AES_PROVIDERS, RSA_AES
from conformance.judge.packets.signing import CERTIFICATE, SIZE, Signing, sign
from conformance.spec.catalogue import assignment, requirement_id
from conformance.suites.packets.building import base64_of, packet_of
from conformance.suites.packets.secured_messages import LEVELS
from conformance.verdict import Outcome
from conformance.wire import dissect
from conformance.wire.security_items import sid_bytes, simple_blob

_S, _A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
# Every item is present. Their sizes differ, and only the first is a multiple of 4.
MESSAGE: dict[str, Any] = {
    "destination": "DIRECT=OS:host\\q",
    "identifier": {"source": "11ea26c6-b6e6-4997-9595-9150557358d1", "ordinal": 7},
    "connector_type": "909ea0fc-9078-4445-8f11-394c43cd8907",
    "body": base64_of(bytes(16)),
    "privacy_level": 5,
    "encryption_algorithm": 0x660E,
    "sender_identifier_type": "sid",
    "sender_identifier": base64_of(sid_bytes("S-1-5-32-544")),
    "symmetric_key": base64_of(simple_blob(0x660E, bytes(range(61)))),
    "signature": base64_of(bytes(range(33))),
    "sender_certificate": base64_of(CERTIFICATE),
    "provider_type": RSA_AES,
    "provider_name": AES_PROVIDERS[0],
}
UNSIGNED: dict[str, Any] = {
    name: MESSAGE[name]
    for name in ("destination", "identifier", "sender_identifier_type", "sender_identifier", "connector_type")
}


@dataclass(frozen=True, slots=True)
class WrongField:
    """breaks: the requirement. at, size: the bytes of the SecurityHeader to reverse; `mask`: or the bits to invert."""

    breaks: str
    at: int
    size: int
    mask: int = 0

    def packets(self) -> tuple[bytes, bytes]:
        """Return the right packet of MESSAGE and the wrong one."""
        right = packet_of(MESSAGE)
        start = dissect(right).spans["SecurityHeader"][0] + self.at
        raw = right[start : start + self.size]
        wrong = (
            raw[::-1] if not self.mask else (int.from_bytes(raw, "little") ^ self.mask).to_bytes(self.size, "little")
        )
        return right, right[:start] + wrong + right[start + self.size :]


def _at(item: str) -> tuple[int, int]:
    packet = dissect(packet_of(MESSAGE))
    start, size = packet.spans[f"SecurityHeader.SecurityData.{item}"]
    return start - packet.spans["SecurityHeader"][0], size


WRONG: tuple[WrongField, ...] = (
    WrongField(_S + "flags-layout", 0, 2),
    WrongField(_S + "flags-st-layout", 0, 1, 0x03),
    WrongField(_A + "sender-identifier-type-values", 0, 1, 0x02),
    WrongField(_S + "flags-au-layout", 0, 1, 0x10),
    WrongField(_S + "flags-eb-layout", 0, 1, 0x20),
    WrongField(_S + "flags-de-layout", 0, 1, 0x40),
    WrongField(_S + "flags-ai-layout", 0, 1, 0x80),
    WrongField(_S + "flags-as-layout", 1, 1, 0x02),
    WrongField(_S + "sender-id-size-layout", 2, 2),
    WrongField(_S + "encryption-key-size-layout", 4, 2),
    WrongField(_S + "signature-size-layout", 6, 2),
    WrongField(_S + "sender-cert-size-layout", 8, 4),
    WrongField(_S + "provider-info-size-layout", 12, 4),
    WrongField(_S + "security-data-layout", 16, 100),
    WrongField(_S + "security-id-layout", *_at("SecurityID")),
    WrongField(_S + "encryption-key-layout", *_at("EncryptionKey")),
    WrongField(_S + "signature-layout", *_at("Signature")),
    WrongField(_S + "sender-cert-layout", *_at("SenderCert")),
    WrongField(_S + "provider-info-layout", *_at("ProviderInfo.ProviderType")),
    WrongField(_S + "provider-type-layout", *_at("ProviderInfo.ProviderType")),
    WrongField(_S + "provider-name-layout", *_at("ProviderInfo.ProviderName")),
)


def failing(data: bytes, message: Mapping[str, Any]) -> frozenset[str]:
    """Return the requirements that `compare_security` finds broken under the strict readings."""
    readings = assignment("strict")
    verdicts = compare_security(message, dissect(data, transport="buffer"), profile="msmq-4.0", readings=readings)
    return frozenset(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)


def caught() -> frozenset[str]:
    """Return the requirements that fail for their wrong packet, if nothing fails for the right one."""
    found = set()
    for wrong in WRONG:
        right, broken = wrong.packets()
        if not failing(right, MESSAGE) and wrong.breaks in failing(broken, MESSAGE):
            found.add(requirement_id(wrong.breaks))
    level = requirement_id(_A + "authentication-level-none")
    if not failing(packet_of(UNSIGNED), UNSIGNED) and level in failing(packet_of(MESSAGE), UNSIGNED):
        found.add(level)
    found |= _levels()
    return frozenset(found)


def _levels() -> set[str]:
    """Return the requirements on levels that hold for a signature of their own kind and fail for every other kind."""
    found = set()
    for kind, level in LEVELS.items():
        message = {**UNSIGNED, "sender_certificate": MESSAGE["sender_certificate"], "authentication_level": level}
        bare = packet_of({**message, "signature": base64_of(bytes(SIZE))})
        by_kind = {each: sign(bare, Signing(each)) for each in LEVELS}
        name = requirement_id(f"{_A}authentication-level-{level}")
        told = {each: name in failing(data, message) for each, data in by_kind.items()}
        if told == {each: each != kind for each in LEVELS}:
            found.add(name)
    return found
