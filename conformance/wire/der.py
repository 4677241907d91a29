"""Finds the public key in the DER of a certificate (RFC 3280 4.1), which libraries only give in forms they know."""

from __future__ import annotations

from collections.abc import Iterator

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
