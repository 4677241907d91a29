"""MS-MQMQ 2.2.21 MQUSERSIGNCERTS and 2.2.22 MQUSERSIGNCERT."""

from __future__ import annotations

from hashlib import md5

from conformance.wire.structures.words import Fields, Guid, Many, Member, Number, Octets, Structure


def is_certificate(data: bytes) -> bool:
    """Return True when these bytes have the outer form of an X.509 certificate in DER.

    That is a SEQUENCE of a SEQUENCE (the signed data), a SEQUENCE (the algorithm) and a BIT STRING (the signature),
    each of its stated length with nothing behind (RFC 3280 4.1).
    """
    outer = _element(data, 0, len(data))
    if outer is None or outer[0] != 0x30 or outer[2] != len(data):
        return False
    at = outer[1]
    tags: list[int] = []
    while at < len(data) and len(tags) < 4:
        found = _element(data, at, len(data))
        if found is None:
            return False
        tags.append(found[0])
        at = found[2]
    return tags == [0x30, 0x30, 0x03]


def _element(data: bytes, at: int, end: int) -> tuple[int, int, int] | None:
    """Return tag, begin of the content and end of the DER element at `at`; None where there is none."""
    if end - at < 2:
        return None
    tag, length = data[at], data[at + 1]
    begin = at + 2
    if length & 0x80:
        more = length & 0x7F
        if not 1 <= more <= 4 or begin + more > end:
            return None
        length = int.from_bytes(data[begin : begin + more], "big")
        begin += more
    return (tag, begin, begin + length) if begin + length <= end else None


def _certificate(fields: Fields) -> None:
    """Add `.Digest.Matches`: the digest is that of the certificate; `.Certificate.IsX509`: it looks like one."""
    data, digest = fields.get("MQUSERSIGNCERT.Certificate"), fields.get("MQUSERSIGNCERT.Digest")
    if isinstance(data, bytes):
        fields["MQUSERSIGNCERT.Digest.Matches"] = md5(data, usedforsecurity=False).digest() == digest
        fields["MQUSERSIGNCERT.Certificate.IsX509"] = is_certificate(data)


STRUCTURES = (
    Structure(
        "MQUSERSIGNCERT",
        "MS-MQMQ 2.2.22",
        (
            Member("digest", "Digest", Octets(size=16), computed="md5:certificate"),
            Member("identifier", "Identifier", Guid()),
            Member("certificate_length", "CertificateLength", Number(4), computed="certificate"),
            Member("certificate", "Certificate", Octets(by="certificate_length")),
        ),
        facts=_certificate,
    ),
    Structure(
        "MQUSERSIGNCERTS",
        "MS-MQMQ 2.2.21",
        (
            Member("certificate_count", "CertificateCount", Number(4), computed="certificates"),
            Member("certificates", "Certificates", Many("MQUSERSIGNCERT", "certificate_count")),
        ),
    ),
)
