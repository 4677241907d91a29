"""Finds the public key in the DER of a certificate (RFC 3280 4.1), which libraries only give in forms they know."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.wire.security_items import key_of_blob

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
