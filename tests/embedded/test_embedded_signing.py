"""Signatures, encrypted bodies and the certificates that survive the process."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from embedded_stories import NAME, Teller, started_again
from embedded_stories_signed import CERTIFICATE, FAR, KEY, PLAIN, UNKNOWN, prepared
from embedded_talk import Talk

from conformance.embedded.signing import FIELDS, SIG10, SIG20, SIG30, Encryption, Signatures, public_key, raw_fields

# The prefix of a SHA-256 hash in a DigestInfo (RFC 8017 9.2).
SHA_256 = bytes.fromhex("3031300d060960864801650304020105000420")


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def test_a_signature_is_a_padded_digest_little_endian() -> None:
    made = Signatures().make(b"some bytes", 0x800C, CERTIFICATE, KEY)
    numbers = public_key(CERTIFICATE).public_numbers()
    opened = pow(int.from_bytes(made, "little"), numbers.e, numbers.n).to_bytes(128, "big")
    info = SHA_256 + hashlib.sha256(b"some bytes").digest()
    assert opened == b"\0\1" + b"\xff" * (125 - len(info)) + b"\0" + info


def test_fields_are_those_of_the_packet(talk: Talk) -> None:
    said = {
        "identifier": {"source": "11111111-2222-3333-4444-555555555555", "ordinal": 7},
        "destination": "DIRECT=OS:a\\private$\\b", "destinations": ["DIRECT=OS:a\\private$\\b", "DIRECT=OS:c\\d"],
        "administration_queue": "PUBLIC=99999999-2222-3333-4444-555555555555", "label": "l", "body": "AQID",
        "extension": "BA==", "priority": 5, "positive_journaling": True, "acknowledgements": ["negative_arrival"],
        "class": 1, "body_type": 17, "application_tag": 0x01020304, "delivery": "recoverable", "trace": True,
        "connector_type": "88888888-2222-3333-4444-555555555555", "soap_body": "x", "signature": "CQk=",
    }  # fmt: skip
    raw = raw_fields(base64.b64decode(talk.ok("packets.encode", message=said)["packet"]))
    direct = "OS:a\\private$\\b\0".encode("utf-16-le")
    assert raw["destination"].startswith(len(direct).to_bytes(2, "little") + direct) and not len(raw["destination"]) % 4
    assert (raw["admin"][:4], raw["response"], raw["connector"][:4]) == (b"\x99" * 4, b"", b"\x88" * 4)
    assert (raw["label"], raw["body"], raw["extension"]) == (b"l\0\0\0", b"\1\2\3", b"\4")
    assert (raw["priority"], raw["journals"], raw["delivery"], raw["acknowledgements"]) == (b"\5", b"\2", b"\1", b"\4")
    assert (raw["class"], raw["body_type"], raw["tag"]) == (b"\1\0", b"\x11\0\0\0", b"\4\3\2\1")
    assert (raw["signature"], raw["source"][:4]) == (b"\t\t", b"\x11" * 4)
    assert raw["names"] == b"\3\0" + direct + b"\3\0" + "OS:c\\d\0".encode("utf-16-le")
    assert [len(FIELDS[kind]) for kind in (SIG10, SIG20, SIG30)] == [6, 15, 16]


@pytest.mark.parametrize(
    ("level", "cipher", "size"), [(1, 0, 14), (3, 0, 14), (3, 0x6602, 16), (5, 0, 16), (5, 0x660E, 16)]
)
def test_a_body_is_decrypted_by_its_receiver_alone(talk: Talk, level: int, cipher: int, size: int) -> None:
    encryption: Encryption = talk.driver.manager.encryption
    made = encryption.encrypted(b"a body to hide", level, cipher, encryption.own_keys())
    assert len(base64.b64decode(made["body"])) == size
    assert encryption.decrypted({**made, "privacy_level": level}) == b"a body to hide"
    assert encryption.decrypted({**made, "privacy_level": level, "symmetric_key": made["body"]}) is None
    assert encryption.decrypted({**made, "privacy_level": 2}) is None


@pytest.mark.parametrize("kill", [False, True])
def test_certificates_survive_the_process_and_no_reset(talk: Talk, kill: bool) -> None:
    prepared(Teller(talk))
    application = talk.ok("objects.create", **{"class": "MSMQApplication"})["object"]
    register = {"object": application, "member": "RegisterCertificate", "kind": "method", "arguments": [], "as": PLAIN}
    talk.ok("objects.invoke", **register)
    before = talk.ok("security.certificates", caller=PLAIN)["certificates"]
    again = started_again(talk, kill)
    assert again.ok("security.certificates", caller=PLAIN)["certificates"] == before
    send, _ = again.queue()
    for certificate in (before[0]["certificate"], CERTIFICATE):
        message = {"authentication": "sig20", "certificate": certificate}
        again.ok("messages.send", queue=send, message=message, **{"as": PLAIN})
    again.ok("reset")
    assert again.ok("security.certificates", caller=PLAIN)["certificates"] == []


def test_a_signature_is_made_at_the_send_and_survives(talk: Talk) -> None:
    prepared(Teller(talk))
    message = {"authentication": "sig20", "certificate": CERTIFICATE, "delivery": "recoverable"}
    talk.ok("messages.send", queue=talk.open(FAR, "send"), message=message, **{"as": PLAIN})
    talk.ok("security.certificates", caller=PLAIN, personal=[])
    again = started_again(talk, kill=False)
    [packet] = again.ok("outgoing.take", format_name=FAR)["packets"]
    raw = raw_fields(base64.b64decode(packet))
    assert Signatures().matches(Signatures().signed(raw, SIG20), 0x800E, CERTIFICATE, raw["signature"])
    assert not Signatures().matches(Signatures().signed(raw, SIG10), 0x800E, UNKNOWN, raw["signature"])


def test_the_key_of_another_certificate_signs_nothing(talk: Talk) -> None:
    talk.ok("security.certificates", personal=[{"certificate": CERTIFICATE, "key": "AQID"}])
    send, _ = talk.queue()
    message = {"authentication": "sig20", "certificate": CERTIFICATE}
    assert talk("messages.send", queue=send, message=message)["status"] == 0xC00E0031
    assert talk("messages.peek", queue=talk.open(NAME), timeout_ms=0)["status"] == 0xC00E001B


def test_who_signs_nothing_loads_no_cryptography() -> None:
    script = (
        "import sys; from conformance.embedded.driver import EmbeddedDriver as D; d = D();"
        "d.handle('hello', {'versions': ['1.3'], 'harness': '', 'state_dir': ''}, print);"
        "d.handle('queues.create', {'path_name': 'HOST\\\\private$\\\\q'}, print);"
        "assert not [m for m in sys.modules if m.startswith('cryptography')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_a_sender_with_more_parts_than_a_sid_can_have_is_denied(talk: Talk) -> None:
    talk.queue()
    sender = base64.b64encode(bytes([1, 16, 0, 0, 0, 0, 0, 5]) + bytes(64)).decode("ascii")
    said = {"destination": NAME, "sender_identifier": sender}
    packet = talk.ok("packets.encode", message=said)["packet"]
    assert talk("packets.deliver", packet=packet)["status"] == 0xC00E0025
