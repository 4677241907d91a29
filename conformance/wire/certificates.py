"""The hash algorithms of MS-MQMQ 2.2.19.3, and the public key in the DER of a certificate (RFC 3280 4.1)."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.wire.security_items import key_of_blob

MD2, MD4, MD5, SHA1, SHA256, SHA512 = 0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E
NAMES: dict[int, str] = {MD2: "MD2", MD4: "MD4", MD5: "MD5", SHA1: "SHA-1", SHA256: "SHA-256", SHA512: "SHA-512"}
DIGEST_SIZES: dict[int, int] = {MD2: 16, MD4: 16, MD5: 16, SHA1: 20, SHA256: 32, SHA512: 64}
# The prefix of the digest in a DigestInfo (RFC 8017 9.2, RFC 2313 10.1.2 for MD4), by algorithm.
DIGEST_INFO: dict[int, bytes] = {
    MD2: bytes.fromhex("3020300c06082a864886f70d020205000410"),
    MD4: bytes.fromhex("3020300c06082a864886f70d020405000410"),
    MD5: bytes.fromhex("3020300c06082a864886f70d020505000410"),
    SHA1: bytes.fromhex("3021300906052b0e03021a05000414"),
    SHA256: bytes.fromhex("3031300d060960864801650304020105000420"),
    SHA512: bytes.fromhex("3051300d060960864801650304020305000440"),
}
# Time per byte relative to the library's hashes.
SLOWNESS: dict[int, int] = {MD2: 2000, MD4: 200, MD5: 1, SHA1: 1, SHA256: 1, SHA512: 1}
_LIBRARY = {MD5: "md5", SHA1: "sha1", SHA256: "sha256", SHA512: "sha512"}


def digest(algorithm: int, parts: Iterable[bytes]) -> bytes:
    """Return the digest of the concatenated parts. algorithm: a number of MS-MQMQ 2.2.19.3 (KeyError otherwise)."""
    if algorithm == MD2:
        return md2(b"".join(parts))
    if algorithm == MD4:
        return md4(b"".join(parts))
    state = hashlib.new(_LIBRARY[algorithm], usedforsecurity=False)
    for part in parts:
        state.update(part)
    return state.digest()


# The permutation of RFC 1319 3.2, made from the digits of pi.
_PI = bytes.fromhex(
    "292e43c9a2d87c013d3654a1ecf0061362a705f3c0c7738c98932bd9bc4c82ca1e9b573cfdd4e01667426f188a17e512be4ec4d6da9ede49"
    "a0fbf58ebb2fee7aa968799115b2073f94c210890b225f21807f5d9a5a903227353ecce7bff79703ff1930b348a5b5d1d75e922aac56aac6"
    "4fb838d296a47db676fc6be29c7404f1459d705964718720865bcf65e62da8021b6025adaeb0b9f61c46616934407e0f5547a323dd51af3a"
    "c35cf9cebac5ea262c530d6e85288409d3dfcdf441814d526adc37c86cc1abfa24e17b080cbdb14a7888958be363e86de9cbd5fe3b001d39"
    "f2efb70e6658d0e4a67772f8eb754b0a314450b48fed1f1adb998d339f118314"
)


def md2(data: bytes) -> bytes:
    """MD2 (RFC 1319)."""
    spare = 16 - len(data) % 16
    data += bytes([spare]) * spare
    checksum, last = bytearray(16), 0
    for at in range(0, len(data), 16):
        for i in range(16):
            checksum[i] ^= _PI[data[at + i] ^ last]
            last = checksum[i]
    data += bytes(checksum)
    state = bytearray(48)
    for at in range(0, len(data), 16):
        block = data[at : at + 16]
        state[16:32] = block
        state[32:48] = bytes(one ^ other for one, other in zip(block, state[:16], strict=True))
        t = 0
        for step in range(18):
            for i in range(48):
                t = state[i] = state[i] ^ _PI[t]
            t = (t + step) & 0xFF
    return bytes(state[:16])


_ORDERS = (
    tuple(range(16)),
    (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
    (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15),
)
_SHIFTS = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))
_ADDED = (0, 0x5A827999, 0x6ED9EBA1)
_WORD = 0xFFFFFFFF


def md4(data: bytes) -> bytes:
    """MD4 (RFC 1320)."""
    bits = 8 * len(data)
    data += b"\x80" + bytes((55 - len(data)) % 64) + (bits & (1 << 64) - 1).to_bytes(8, "little")
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for at in range(0, len(data), 64):
        words = [int.from_bytes(data[i : i + 4], "little") for i in range(at, at + 64, 4)]
        a, b, c, d = state
        for turn in range(3):
            for i, word in enumerate(_ORDERS[turn]):
                if turn == 0:
                    mixed = b & c | ~b & d
                elif turn == 1:
                    mixed = b & c | b & d | c & d
                else:
                    mixed = b ^ c ^ d
                total = (a + mixed + words[word] + _ADDED[turn]) & _WORD
                shift = _SHIFTS[turn][i % 4]
                a, b, c, d = d, (total << shift | total >> 32 - shift) & _WORD, b, c
        state = [(one + other) & _WORD for one, other in zip(state, (a, b, c, d), strict=True)]
    return b"".join(word.to_bytes(4, "little") for word in state)


SEQUENCE, BIT_STRING, VERSION = 0x30, 0x03, 0xA0
_KEY = 5  # the field of a certificate that has its key, the version not counted


def key_bits(der: bytes) -> bytes:
    """Return the bits of a certificate's public key, whole bytes; empty where they cannot be found."""
    fields = [one for one in _inside(_first(der)) if one[0] != VERSION]
    if len(fields) <= _KEY:
        return b""
    bits = next((content for tag, content in _inside(fields[_KEY][1]) if tag == BIT_STRING), b"")
    return bits[1:] if bits[:1] == b"\0" else b""


def with_key_bits(der: bytes, bits: bytes) -> bytes:
    """Return the certificate with other bits of its public key. Its own signature does not fit them."""
    whole = list(_inside(der))
    parts = list(_inside(whole[0][1]))
    (tag, body), *rest = parts
    fields = list(_inside(body))
    at = _KEY + any(one[0] == VERSION for one in fields)
    algorithm = next(iter(_inside(fields[at][1])))
    fields[at] = (SEQUENCE, _joined([algorithm, (BIT_STRING, b"\0" + bits)]))
    return _joined([(whole[0][0], _joined([(tag, _joined(fields)), *rest]))])


def _first(der: bytes) -> bytes:
    """Return the contents of the first element inside the first one: what a certificate's issuer signs."""
    certificate = next(iter(_inside(der)), (0, b""))[1]
    return next(iter(_inside(certificate)), (0, b""))[1]


def _inside(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and contents of each element, as far as they can be read."""
    at = 0
    while at + 2 <= len(content):
        tag, size = content[at], content[at + 1]
        at += 2
        if size >= 0x80:
            count = size - 0x80
            size = int.from_bytes(content[at : at + count], "big")
            at += count
        if at + size > len(content):
            return
        yield tag, content[at : at + size]
        at += size


def _joined(elements: list[tuple[int, bytes]]) -> bytes:
    out = b""
    for tag, content in elements:
        size = len(content)
        length = bytes((size,)) if size < 0x80 else size.to_bytes((size.bit_length() + 7) // 8, "big")
        out += bytes((tag,)) + (length if size < 0x80 else bytes((0x80 + len(length),)) + length) + content
    return out


LARGEST = 0x10000  # bytes of a certificate that is read: the limit of SenderCertSize
LARGEST_MODULUS = 16384  # bits; a longer key only costs time
_NONE = "SenderCert is no X.509 certificate"
_SEQUENCE = 0x30


@dataclass(frozen=True, slots=True)
class Certificate:
    """The contents of a certificate.

    x509: the bytes are one X.509 certificate (RFC 3280), None when this is unknown. modulus, exponent: of its RSA key,
    0 without one. subject: the name of its holder. why: the reason why there is no key, empty when there is one. bits:
    those of the public key, in whatever form.
    """

    x509: bool | None
    modulus: int = 0
    exponent: int = 0
    subject: str = ""
    why: str = ""
    bits: bytes = b""


@lru_cache(maxsize=256)
def read_certificate(der: bytes) -> Certificate:
    """Read the certificate in these bytes. Never raises: errors are in `why`."""
    if not one_sequence(der):
        return Certificate(False, why=_NONE)
    try:
        from cryptography import x509
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    except ImportError:
        return Certificate(None, why="certificates are not read without the package cryptography")
    if len(der) > LARGEST:
        return Certificate(None, why=f"a certificate of more than {LARGEST} bytes is not read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forms that later releases reject
            found = x509.load_der_x509_certificate(der)
    except (ValueError, x509.InvalidVersion):
        return Certificate(False, why=_NONE)
    try:
        subject = found.subject.rfc4514_string()
    except (ValueError, TypeError):  # TypeError: a name of BIT STRINGs, which the library reads but cannot print
        subject = ""
    bits = key_bits(der)
    try:
        key = found.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return replace(_blob_inside(found.tbs_certificate_bytes, subject), bits=bits)
    if not isinstance(key, RSAPublicKey):
        return Certificate(True, subject=subject, why="the certificate has no RSA key")
    numbers = key.public_numbers()
    return replace(_bounded(numbers.n, numbers.e, subject), bits=bits)


def one_sequence(der: bytes) -> bool:
    """Return True for one ASN.1 SEQUENCE in DER with nothing behind it, as every certificate is (RFC 3280 4.1)."""
    return bool(der) and sequence_size(der) == len(der)


def sequence_size(der: bytes) -> int:
    """Return the bytes of the ASN.1 SEQUENCE in DER at the start, as it tells them itself; 0 for none."""
    if len(der) < 2 or der[0] != _SEQUENCE:
        return 0
    count = der[1] - 0x80
    if count < 0:
        return 2 + der[1]
    size = int.from_bytes(der[2 : 2 + count], "big")
    return 2 + count + size if 0 < count <= 4 and len(der) >= 2 + count else 0


def _blob_inside(body: bytes, subject: str) -> Certificate:
    """Read the key of a certificate that holds a PUBLICKEYBLOB instead of PKCS #1 (MS-MQMQ 2.2.20.6)."""
    at = body.find(b"\x06\x02\x00")
    while at >= 0:
        magic = body.find(b"RSA1", at, at + 12)
        bits = int.from_bytes(body[magic + 4 : magic + 8], "little") if magic > 0 else 0
        found = key_of_blob(body[at : magic + 12 + (bits + 7) // 8]) if 0 < bits <= LARGEST_MODULUS else None
        if found is not None:
            return _bounded(*found, subject)
        at = body.find(b"\x06\x02\x00", at + 1)
    return Certificate(True, subject=subject, why="the key of the certificate cannot be read")


def _bounded(modulus: int, exponent: int, subject: str) -> Certificate:
    if not 0 < modulus.bit_length() <= LARGEST_MODULUS or exponent.bit_length() > 32:
        return Certificate(True, subject=subject, why="the RSA key of the certificate is too long to be used")
    return Certificate(True, modulus, exponent, subject)
