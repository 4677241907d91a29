"""Signatures recomputed: what was signed verifies in every kind and reading, and anything else does not."""

import sys
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes as library
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.judge.packets import signatures
from conformance.judge.packets.judge import judge_packet
from conformance.judge.packets.signatures import (
    BYTE_ORDERS,
    ENCODINGS,
    MARKS,
    MULTIPLE_SIGNATURE,
    ORDER,
    PASSES,
    SIGNATURE,
    SIGNERS_CERTIFICATE,
    SIZE,
    UNSIGNED,
    Choice,
    Signing,
    choices,
    covered,
    following,
    sign,
    signature_facts,
    signed_by,
)
from conformance.judge.rules import PLAIN
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, encode, patch
from conformance.wire.certificates import DIGEST_SIZES, read_certificate

U, M = "UserHeader.", "MessagePropertiesHeader."
SIGNATURE_RULE = "MQDMPR-3.1.1.12.signature"
MESSAGE: dict[str, Any] = {
    **PLAIN,
    "UserHeader.AdminQueue.DirectFormatName": "OS:host\\admin",
    "UserHeader.ResponseQueue.PublicQueueIdentifier": "909ea0fc-9078-4445-8f11-394c43cd8907",
    U + "ConnectorType": "909ea0fc-9078-4445-8f11-394c43cd8907",
    U + "Flags.JN": 1,
    M + "Flags.PA": 1,
    M + "MessageClass": 1,
    M + "BodyType": 17,
    M + "ApplicationTag": 5,
    M + "CorrelationID": bytes(range(20)),
    M + "ExtensionData": b"extension",
    "MultiQueueFormatHeader.Destination.ElementCount": 1,
    "MultiQueueFormatHeader.Destination.FormatNameList": b"\x07\0" + "OS:h\\q\0".encode("utf-16-le"),
    "MultiQueueFormatHeader.Administration.ElementCount": 1,
    "MultiQueueFormatHeader.Administration.FormatNameList": b"\x07\0" + "OS:h\\a\0".encode("utf-16-le"),
    **UNSIGNED,
}
# A changed value of each field that is signed, by its name in the lists.
FLIPPED: dict[str, dict[str, Any]] = {
    "correlation": {M + "CorrelationID": bytes(20)},
    "application-tag": {M + "ApplicationTag": 6},
    "body": {M + "MessageBody": b"body of is"},
    "label": {M + "Label": "lapel\0".encode("utf-16-le")},
    "response-queue": {U + "ResponseQueue.PublicQueueIdentifier": "909ea0fc-9078-4445-8f11-394c43cd8908"},
    "admin-queue": {U + "AdminQueue.DirectFormatName": "OS:host\\Admin\0".encode("utf-16-le")},
    "source": {U + "SourceQueueManager": "909ea0fc-9078-4445-8f11-394c43cd8908"},
    "delivery-mode": {U + "Flags.DM": 1},
    "priority": {"BaseHeader.Flags.PR": 4},
    "journaling": {U + "Flags.JP": 1},
    "flags": {M + "Flags.NA": 1},
    "message-class": {M + "MessageClass": 2},
    "body-type": {M + "BodyType": 31},
    "connector": {U + "ConnectorType": "909ea0fc-9078-4445-8f11-394c43cd8908"},
    "destination-queue": {U + "DestinationQueue.DirectFormatName": "OS:host\\r\0".encode("utf-16-le")},
    "extension": {M + "ExtensionData": b"extensiom"},
    "format-names": {"MultiQueueFormatHeader.Destination.FormatNameList": b"\x07\0" + "OS:h\\r\0".encode("utf-16-le")},
}


def certificate_of(key: Any) -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fresh")])
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    built = built.serial_number(7).not_valid_before(datetime(2001, 1, 1)).not_valid_after(datetime(2040, 1, 1))
    return built.sign(key, library.SHA256()).public_bytes(Encoding.DER)


@pytest.fixture(scope="module")
def fresh() -> tuple[dict[str, Any], tuple[int, int]]:
    """Values of a packet with a certificate made just now, and the private key to it."""
    numbers = (key := rsa.generate_private_key(65537, 1024)).private_numbers()
    values = {**MESSAGE, "SecurityHeader.SecurityData.SenderCert": certificate_of(key)}
    return values, (numbers.public_numbers.n, numbers.d)


def judged(data: bytes, readings: str = "windows") -> list[Verdict]:
    return judge_packet(data, profile="msmq-4.0", transport="buffer", readings=readings)


def failing(data: bytes) -> set[str]:
    return {v.requirement for v in judged(data) if v.outcome is Outcome.FAIL}


def facts(data: bytes) -> dict[str, Any]:
    return signature_facts(dissect(data))


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("algorithm", DIGEST_SIZES)
def test_what_was_signed_verifies(kind: int, algorithm: int, fresh: Any) -> None:
    values, private = fresh
    data = encode("UserMessage", {**values, M + "HashAlgorithm": algorithm})
    found = facts(sign(data, Signing(kind), private=private))
    assert (found["Packet.Signature.Kind"], found["Packet.Signature.Hash"]) == (kind, algorithm)
    assert found["Packet.Signature.Slip"] == ""


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("byte_order", BYTE_ORDERS)
@pytest.mark.parametrize("hashed", PASSES)
def test_every_way_of_making_it_is_tried(encoding: str, byte_order: str, hashed: str, fresh: Any) -> None:
    values, private = fresh
    how = Signing(2, byte_order=byte_order, encoding=encoding, passes=PASSES[hashed])
    found = facts(sign(encode("UserMessage", values), how, private=private))
    assert found["Packet.Signature.Kind"] == 2
    assert found["Packet.Signature.hashed"] == 1 << list(PASSES).index(hashed)
    assert found["Packet.Signature.encoding"] == 1 << ENCODINGS.index(encoding)
    assert found["Packet.Signature.byte-order"] == 1 << BYTE_ORDERS.index(byte_order)


@pytest.mark.parametrize("choice", list(choices()), ids=str)
def test_every_reading_is_tried(choice: Choice, fresh: Any) -> None:
    values, private = fresh
    values = {key: value for key, value in values.items() if key != U + "ConnectorType"}
    data = sign(encode("UserMessage", values), Signing(3, choice), private=private)
    packet = dissect(data)
    found = signature_facts(packet)
    assert found["Packet.Signature.Kind"] == 3
    signed = covered(packet, 3, choice)
    for member, (_, words) in signatures.READINGS.items():
        for at, word in enumerate(words):
            same = covered(packet, 3, replace(choice, **{member: word})) == signed
            assert not same or found[f"Packet.Signature.{member}"] >> at & 1


def test_the_verdict_says_which_reading_matched() -> None:
    data = sign(encode("UserMessage", MESSAGE), Signing(2, Choice(label="value", queues="format-name")))
    readings = {reading for verdict in judged(data) for reading in verdict.readings}
    assert ("R-MQMQ-signature-label", "value") in readings
    assert ("R-MQMQ-signature-bytes", "format-name") in readings
    assert ("R-MQMQ-signature-byte-order", "little") in readings


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, order in ORDER.items() for name in order])
def test_a_changed_field_does_not_verify(kind: int, name: str, fresh: Any) -> None:
    values, private = fresh
    values = {key: value for key, value in values.items() if key != U + "ConnectorType" or name == "connector"}
    data = sign(encode("UserMessage", values), Signing(kind), private=private)
    assert facts(data)["Packet.Signature.Kind"] == kind
    changed = patch(dissect(data), FLIPPED[name])
    assert facts(changed)["Packet.Signature.Kind"] == 0
    if name != "connector":
        assert failing(changed) == {SIGNATURE_RULE}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, order in ORDER.items() for name in FLIPPED if name not in order]
)
def test_a_field_outside_the_list_is_not_signed(kind: int, name: str) -> None:
    data = sign(encode("UserMessage", MESSAGE), Signing(kind))
    assert facts(patch(dissect(data), FLIPPED[name]))["Packet.Signature.Kind"] == kind


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_another_order_is_blamed_on_the_order(kind: int, fresh: Any) -> None:
    values, private = fresh
    data = sign(encode("UserMessage", values), Signing(kind, slip="order"), private=private)
    assert facts(data)["Packet.Signature.Slip"] == "order"
    assert failing(data) == {f"MQMQ-2.5.{kind}.order"}


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("name", MARKS)
def test_another_width_is_blamed_on_the_field(kind: int, name: str) -> None:
    # As two bytes, JP and JN look like a wider priority before them.
    for nth in (0, 3) if name == "journaling" else (0, 1):
        data = sign(encode("UserMessage", MESSAGE), Signing(kind, slip=name, nth=nth))
        if facts(data)["Packet.Signature.Slip"]:
            assert failing(data) == {f"MQMQ-2.5.{kind}.{name}"}


def test_high_bits_of_flags_must_stay_out() -> None:
    data = encode("UserMessage", {**MESSAGE, M + "Flags.X": 9})
    assert facts(sign(data, Signing()))["Packet.Signature.Slip"] == ""
    assert facts(sign(data, Signing(slip="flags", nth=0)))["Packet.Signature.Slip"] == "flags"


def test_both_places_are_judged() -> None:
    values = {**MESSAGE, MULTIPLE_SIGNATURE: bytes(SIZE)}
    data = sign(sign(encode("UserMessage", values), Signing(1)), Signing(3, place=MULTIPLE_SIGNATURE))
    found = facts(data)
    assert (found["Packet.Signature.Kind"], found["Packet.MultipleSignature.Kind"]) == (1, 3)
    wrong = sign(data, Signing(2, place=MULTIPLE_SIGNATURE))
    assert facts(wrong)["Packet.MultipleSignature.Kind"] == 0


@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_signing_follows_the_readings(readings: str, kind: int) -> None:
    values = {key: value for key, value in MESSAGE.items() if not key.startswith("MultiQueue")}
    data = encode("UserMessage", {**values, "SecurityHeader.Flags.AI": 1})
    accepted = assignment(readings)
    signed = patch(dissect(data), {SIGNATURE: signed_by(accepted, kind, data)})
    assert signed == sign(data, following(accepted, kind))
    about = [v for v in judged(signed, readings) if v.requirement.startswith((SIGNATURE_RULE, "MQMQ-2.5"))]
    assert len(about) > 4
    assert {v.outcome for v in about} == {Outcome.PASS}


def reasons(data: bytes) -> set[str | None]:
    return {v.reason for v in judged(data) if v.requirement == SIGNATURE_RULE}


def own(**values: Any) -> bytes:
    message = {key: value for key, value in MESSAGE.items() if key != U + "ConnectorType"}
    return encode("UserMessage", {**message, **{key.replace("__", "."): value for key, value in values.items()}})


CERT = "SecurityHeader__SecurityData__SenderCert"


def test_without_the_package_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sign(own(), Signing())
    assert reasons(data) == {None}
    read_certificate.cache_clear()
    monkeypatch.setitem(sys.modules, "cryptography", None)
    try:
        assert reasons(data) == {"certificates are not read without the package cryptography"}
        verdicts = {v.requirement: v.outcome for v in judged(data)}
    finally:
        read_certificate.cache_clear()
    assert verdicts["MQMQ-2.2.20.6.sender-cert-layout"] is Outcome.INCONCLUSIVE
    assert not [name for name in verdicts if name.startswith("MQMQ-2.5")]


def test_what_cannot_be_judged_is_inconclusive_and_says_why() -> None:
    other = certificate_of(ec.generate_private_key(ec.SECP256R1()))
    assert reasons(own(**{CERT: other})) == {"the certificate has no RSA key"}
    encrypted = own(MessagePropertiesHeader__PrivacyLevel=3, SecurityHeader__Flags__EB=1)
    assert reasons(encrypted) == {"the body is encrypted, and the signature can be over the body before that"}
    long = own(MessagePropertiesHeader__MessageBody=bytes(200_000), MessagePropertiesHeader__HashAlgorithm=0x8001)
    assert reasons(sign_unchecked(long)) == {"hashing the message in every way would take too long"}


def sign_unchecked(data: bytes) -> bytes:
    """As if signed by MD2 over something else: the digest is well formed, and hashing the body would take minutes."""
    short = own(MessagePropertiesHeader__HashAlgorithm=0x8001)
    value = dissect(sign(short, Signing())).fields[SIGNATURE]
    return patch(dissect(data), {SIGNATURE: value})


def test_a_signature_over_an_encrypted_body_as_it_stands_verifies() -> None:
    data = own(MessagePropertiesHeader__PrivacyLevel=3, SecurityHeader__Flags__EB=1)
    assert facts(sign(data, Signing()))["Packet.Signature.Kind"] == 2


def test_junk_is_no_signature() -> None:
    assert failing(own(SecurityHeader__SecurityData__Signature=b"junk")) == {SIGNATURE_RULE}
    assert "MQMQ-2.2.20.6.sender-cert-size-exact" in failing(own(**{CERT: SIGNERS_CERTIFICATE + b"\0"}))
    assert "MQMQ-2.2.20.6.sender-cert-layout" in failing(own(**{CERT: SIGNERS_CERTIFICATE[:-1]}))


def test_a_connectors_signature_is_its_own_affair() -> None:
    data = encode("UserMessage", {**MESSAGE, SIGNATURE: b"whatever"})
    assert SIGNATURE_RULE not in {verdict.requirement for verdict in judged(data)}


def test_a_wrong_signature_over_a_long_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    real = signatures.digest
    monkeypatch.setattr(signatures, "digest", lambda algorithm, parts: counted.append(1) or real(algorithm, parts))
    data = own(MessagePropertiesHeader__MessageBody=bytes(1 << 20))
    wrong = patch(dissect(sign(data, Signing())), {M + "ApplicationTag": 77})
    assert failing(wrong) == {SIGNATURE_RULE} or reasons(wrong) == {
        "hashing the message in every way would take too long"
    }
    assert len(counted) <= 2 * 2 * signatures.BUDGET // (1 << 20)
