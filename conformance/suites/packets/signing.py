"""Signers with a certificate and a fixed key, and the packets that they sign: MS-MQMQ 2.5, MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

from conformance.judge.packets.encryption import PROVIDERS
from conformance.judge.packets.signatures import (
    MAKING,
    MODULUS,
    MULTIPLE_SIGNATURE,
    PASSES,
    PRIVATE,
    READINGS,
    SIGNATURE,
    SIGNERS_CERTIFICATE,
    SIZE,
    Choice,
    Signing,
    private_key,
    sign,
    signers_key,
)
from conformance.suites.packets.messages import base64_of, packet_of


@dataclass(frozen=True, slots=True)
class Signer:
    """A certificate (DER), and modulus and private exponent of its RSA key."""

    certificate: bytes
    key: tuple[int, int]

    def personal(self) -> dict[str, str]:
        """Return certificate and key as `security.certificates` puts them into a personal store."""
        return {"certificate": base64_of(self.certificate), "key": base64_of(signers_key(*self.key))}


FIRST: Final = Signer(SIGNERS_CERTIFICATE, (MODULUS, PRIVATE))


@cache
def second() -> Signer:
    """Return a signer with another key and certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import Encoding

    numbers = PROVIDERS["enhanced"].private
    key = private_key(*numbers)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mqconform second")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 2)
    builder = builder.not_valid_before(datetime.datetime(2000, 1, 1)).not_valid_after(datetime.datetime(2049, 12, 31))
    return Signer(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER), numbers)


def ways(readings: Mapping[str, tuple[str, ...]], kind: int, place: str = SIGNATURE) -> Iterator[Signing]:
    """Yield each way to sign that the accepted readings have, the defaults first. kind, place: as `Signing`."""
    names = [reading for reading, _ in (*MAKING.values(), *READINGS.values())]
    for order, encoding, hashed, *choice in product(*(readings[name] for name in names)):
        yield Signing(kind, Choice(*choice), None, order, encoding, PASSES[hashed], place=place)


def signed_packets(
    message: Mapping[str, Any], signer: Signer, kind: int, readings: Mapping[str, tuple[str, ...]]
) -> Iterator[bytes]:
    """Yield the packets of a message, signed in each way that the accepted readings have, the defaults first.

    message: as `packets.encode` takes it. kind: 1, 2 or 3; one with `destinations` is signed in the list header.
    """
    several = "destinations" in message
    member = "multiple_destination_signature" if several else "signature"
    secured = {"sender_certificate": base64_of(signer.certificate), member: base64_of(bytes(SIZE))}
    unsigned, seen = packet_of({**message, **secured}), set[bytes]()
    for how in ways(readings, kind, MULTIPLE_SIGNATURE if several else SIGNATURE):
        data = sign(unsigned, how, private=signer.key)
        if data not in seen:
            seen.add(data)
            yield data
