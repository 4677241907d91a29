"""Reads the RSA key of a sender's X.509 certificate. `cryptography` is imported only when there is a certificate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.wire.der import key_bits
from conformance.wire.security_items import key_of_blob

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
