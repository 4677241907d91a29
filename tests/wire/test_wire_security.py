"""What is inside SecurityData: SID, session key, certificate, public key; and the two hashes written out here."""

import hashlib

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from conformance.judge.packets.signatures import EXPONENT, MODULUS, SIGNERS_CERTIFICATE
from conformance.wire import EncodeError, dissect, encode, rebuild
from conformance.wire.certificates import (
    DIGEST_INFO,
    DIGEST_SIZES,
    MD2,
    MD4,
    digest,
    key_bits,
    md2,
    md4,
    one_sequence,
    read_certificate,
    with_key_bits,
)
from conformance.wire.layers import LAYER, SID, BaseHeader, SecurityHeader, UserHeader
from conformance.wire.security_items import key_of_blob, public_key_blob, sid_bytes, sid_text, simple_blob

D = "SecurityHeader.SecurityData."
ADMINISTRATORS = "S-1-5-32-544"


@pytest.mark.parametrize(
    ("text", "md2_hex", "md4_hex"),
    [
        # The test suites of RFC 1319 A.5 and RFC 1320 A.5.
        ("", "8350e5a3e24c153df2275c9f80692773", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        ("a", "32ec01ec4a6dac72c0ab96fb34c0b5d1", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("abc", "da853b0d3f88d99b30283a69e6ded6bb", "a448017aaf21d8525fc10ae87aa6729d"),
        ("message digest", "ab4f496bfb2a530b219ff33031fe06b0", "d9130a8164549fe818874806e1c7014b"),
        ("abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b", "d79e1c308aa5bbcdeea8ed63df412da9"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "da33def2a42df13975352846c30338cd",
            "043f8582f241db351ce627e153e7f0e4",
        ),
        ("1234567890" * 8, "d5976f79d83d3a0dc9806c3c66f3efd8", "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_the_hashes_are_those_of_their_rfcs(text: str, md2_hex: str, md4_hex: str) -> None:
    assert md2(text.encode()).hex() == md2_hex
    assert md4(text.encode()).hex() == md4_hex


@given(st.lists(st.binary(max_size=80), max_size=4))
def test_parts_are_hashed_one_after_the_other(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    assert digest(MD2, parts) == md2(whole)
    assert digest(MD4, parts) == md4(whole)
    assert digest(0x8003, parts) == hashlib.md5(whole).digest()
    assert digest(0x8004, parts) == hashlib.sha1(whole).digest()
    assert digest(0x800C, parts) == hashlib.sha256(whole).digest()
    assert digest(0x800E, parts) == hashlib.sha512(whole).digest()


def test_a_digest_info_ends_with_the_size_of_its_digest() -> None:
    for algorithm, head in DIGEST_INFO.items():
        assert head[-1] == DIGEST_SIZES[algorithm]
        assert head[1] == len(head) - 2 + DIGEST_SIZES[algorithm]


@given(st.lists(st.integers(0, 0xFFFFFFFF), max_size=15), st.integers(0, (1 << 48) - 1))
def test_a_sid_is_written_and_read(subs: list[int], authority: int) -> None:
    raw = bytes((1, len(subs))) + authority.to_bytes(6, "big") + b"".join(n.to_bytes(4, "little") for n in subs)
    assert sid_bytes(sid_text(raw)) == raw


def test_a_sid_has_the_layout_of_ms_dtyp() -> None:
    assert sid_bytes(ADMINISTRATORS).hex() == "01020000000000052000000020020000"
    assert sid_text(b"\1\2\0") == "010200"
    with pytest.raises(ValueError, match="Invalid SID 'A-1-5'"):
        sid_bytes("A-1-5")


def test_a_sid_is_decoded_beside_its_bytes() -> None:
    data = encode("UserMessage", {"SecurityHeader.Flags.ST": 1, D + "SecurityID": sid_bytes(ADMINISTRATORS)})
    packet = dissect(data)
    assert packet.fields["SID.Text"] == ADMINISTRATORS
    assert packet.fields["SID.SubAuthorityCount"] == 2
    assert packet.fields["SID.Exact"] is True
    assert packet.spans["SID"] == packet.spans[D + "SecurityID"]
    assert rebuild(packet) == data


@pytest.mark.parametrize("raw", [b"\1", b"\1\3" + bytes(6), sid_bytes(ADMINISTRATORS) + b"\0"])
def test_what_is_no_sid_is_a_fact_and_no_trouble(raw: bytes) -> None:
    packet = dissect(encode("UserMessage", {"SecurityHeader.Flags.ST": 1, D + "SecurityID": raw}))
    assert packet.whole
    assert packet.fields["SID.Exact"] is False
    assert "SID.Text" not in packet.fields


def test_the_identifier_of_a_queue_manager_is_no_sid() -> None:
    packet = dissect(encode("UserMessage", {"SecurityHeader.Flags.ST": 2, D + "SecurityID": bytes(range(16))}))
    assert packet.fields[D + "SecurityID.Guid"] == "03020100-0504-0706-0809-0a0b0c0d0e0f"
    assert not packet.has("SID")


def test_items_are_built_from_what_is_in_them() -> None:
    values = {
        "SecurityHeader.Flags.ST": 1,
        "SID.IdentifierAuthority": b"\0\0\0\0\0\5",
        "SID.SubAuthority": bytes.fromhex("2000000020020000"),
        "SIMPLEBLOB.SessionKeyAlgorithm": 0x6610,
        "SIMPLEBLOB.EncryptedKey": bytes(64),
    }
    packet = dissect(encode("UserMessage", values))
    assert packet.fields[D + "SecurityID"] == sid_bytes(ADMINISTRATORS)
    assert packet.fields[D + "EncryptionKey"] == simple_blob(0x6610, bytes(64))
    assert packet.fields["SIMPLEBLOB.EncryptedKey"] == bytes(64)
    assert packet.fields["SIMPLEBLOB.Exact"] is True
    with pytest.raises(EncodeError, match=r"SID\.Nothing"):
        encode("UserMessage", {"SID.Nothing": 1})


@given(st.binary(max_size=300), st.booleans())
def test_what_is_no_sequence_is_no_certificate(data: bytes, begins: bool) -> None:
    """Told without the library, and the library says the same."""
    data = b"\x30" + data if begins else data
    if not one_sequence(data):
        with pytest.raises(ValueError):
            x509.load_der_x509_certificate(data)


def test_a_certificate_is_one_sequence() -> None:
    assert one_sequence(SIGNERS_CERTIFICATE)
    assert not one_sequence(SIGNERS_CERTIFICATE[:-1])
    assert not one_sequence(SIGNERS_CERTIFICATE + b"\0")
    assert one_sequence(b"\x30\x7f" + bytes(127))
    assert one_sequence(b"\x30\x81\x80" + bytes(128))
    assert not one_sequence(b"\x30\x80" + bytes(10))
    assert not one_sequence(b"\x30\x85\0\0\0\0\1" + bytes(1))


def test_the_key_of_a_certificate_is_read() -> None:
    found = read_certificate(SIGNERS_CERTIFICATE)
    assert (found.x509, found.modulus, found.exponent) == (True, MODULUS, EXPONENT)
    assert found.subject == "CN=mqconform"


@given(st.integers(0, len(SIGNERS_CERTIFICATE) - 1), st.integers(1, 255))
def test_any_certificate_is_read_or_refused(at: int, change: int) -> None:
    damaged = bytearray(SIGNERS_CERTIFICATE)
    damaged[at] ^= change
    for der in (bytes(damaged), SIGNERS_CERTIFICATE[:at]):
        found = read_certificate.__wrapped__(der)
        assert bool(found.modulus) is not bool(found.why)


def test_the_layer_shows_what_is_in_the_items() -> None:
    values = {
        "SecurityHeader.Flags.ST": 1,
        D + "SecurityID": sid_bytes(ADMINISTRATORS),
        D + "EncryptionKey": simple_blob(0x6801, bytes(64)),
        D + "SenderCert": SIGNERS_CERTIFICATE,
        D + "Signature": bytes(range(20)),
    }
    header = BaseHeader(encode("UserMessage", values))["SecurityHeader"]
    shown = header.show(dump=True)
    for words in (
        f"= {ADMINISTRATORS}\n",
        "= SIMPLEBLOB, RC4, 64 bytes encrypted\n",
        "= CN=mqconform, RSA 1024 bits, 416 bytes\n",
        "= 20 bytes, 000102030405060708090a0b0c0d0e0f...\n",
    ):
        assert words in shown
    manager = encode("UserMessage", {"SecurityHeader.Flags.ST": 2, D + "SecurityID": bytes(16)})
    assert "{00000000-0000-0000-0000-000000000000}" in BaseHeader(manager).show(dump=True)


def test_a_layer_can_stand_for_the_bytes_of_an_item() -> None:
    sid = SID(IdentifierAuthority=b"\0\0\0\0\0\5", SubAuthority=bytes.fromhex("2000000020020000"))
    built = bytes(BaseHeader() / UserHeader() / SecurityHeader(ST=1, SecurityData_SecurityID=sid))
    assert dissect(built).fields["SID.Text"] == ADMINISTRATORS
    assert SID(sid_bytes(ADMINISTRATORS)).SubAuthorityCount == 2


@pytest.mark.parametrize("reserved", [1, 2])
def test_a_public_key_blob_is_written_and_read(reserved: int) -> None:
    raw = public_key_blob(MODULUS, EXPONENT, key_type=0x2400, reserved=reserved)
    assert key_of_blob(raw) == (MODULUS, EXPONENT)
    assert len(raw) == 18 + reserved + 128
    for end in range(len(raw)):
        assert key_of_blob(raw[:end]) is None


def test_a_public_key_blob_has_the_layout_of_its_table() -> None:
    raw = public_key_blob(MODULUS, EXPONENT)
    layer = LAYER["PUBLICKEYBLOB"](raw)
    assert (layer.Type, layer.Version, layer.KeyType) == (6, 2, 0xA400)
    assert (layer.BitLength, layer.PublicExponent) == (1024, EXPONENT)
    assert bytes(layer.payload) == MODULUS.to_bytes(128, "little")


def test_the_bits_of_a_key_are_found_and_replaced() -> None:
    raw = public_key_blob(MODULUS, EXPONENT, key_type=0x2400)
    other = with_key_bits(SIGNERS_CERTIFICATE, raw)
    assert one_sequence(other)
    assert (key_bits(other), read_certificate(other).bits) == (raw, raw)
    found = read_certificate(other)
    assert (found.x509, found.modulus, found.exponent) == (True, MODULUS, EXPONENT)
    assert key_bits(SIGNERS_CERTIFICATE) == key_bits(with_key_bits(SIGNERS_CERTIFICATE, key_bits(SIGNERS_CERTIFICATE)))
    assert key_bits(SIGNERS_CERTIFICATE)[0] == 0x30  # as RFC 3280 has it


@given(st.binary(max_size=80), st.integers(0, 420), st.integers(0, 420))
def test_the_bits_of_a_key_are_looked_for_in_any_bytes(noise: bytes, at: int, gone: int) -> None:
    assert isinstance(key_bits(SIGNERS_CERTIFICATE[:at] + noise + SIGNERS_CERTIFICATE[at + gone :]), bytes)
