"""Encrypts and decrypts bodies and their keys (MS-MQQB 2.4, 3.1.5.8.3, 3.1.7.1.5; MS-MQMQ 2.2.1, 2.2.2).

The private keys here are public: they protect nothing. RC2 is left out.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from conformance.judge.packets.rules_signatures import (
    AES128,
    AES192,
    AES256,
    AES_PROVIDERS,
    BASE,
    ENHANCED,
    RC4,
    RSA_AES,
    RSA_FULL,
)
from conformance.judge.packets.signatures import EXPONENT
from conformance.wire.security_items import SIMPLE_BLOB_TYPE, key_of_blob, public_key_blob
from conformance.wire.structures import reading as structures

KEY_BITS: Final[Mapping[int, int]] = MappingProxyType({AES128: 128, AES192: 192, AES256: 256})
"""Bits of the key of a body by its AES algorithm; with another algorithm the provider decides."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A cryptographic provider and a key pair of the harness for it.

    kind: PROV_RSA_FULL or PROV_RSA_AES. level: the PrivacyLevel it stands for. bits: of the key of a body; 0 where
    KEY_BITS tells. primes: of the key pair.
    """

    name: str
    kind: int
    level: int
    bits: int
    primes: tuple[int, int]

    @property
    def public(self) -> tuple[int, int]:
        """Modulus and public exponent."""
        return self.primes[0] * self.primes[1], EXPONENT

    @property
    def private(self) -> tuple[int, int]:
        """Modulus and private exponent."""
        one, other = self.primes
        return one * other, pow(EXPONENT, -1, (one - 1) * (other - 1))

    def key_bits(self, algorithm: int) -> int:
        """Return how many bits the key of a body has."""
        return KEY_BITS.get(algorithm, self.bits)


def _primes(one: str, other: str) -> tuple[int, int]:
    return int(one, 16), int(other, 16)


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "base": Provider(
            f"{BASE} v1.0", RSA_FULL, 1, 40,
            _primes(
                "dcd06bf482dbf1097925e107e146939bfcd7133e112dda3eede2206fdcd3e073",
                "d74f566c5b71279062ec940078e9ce5c1785c1d10a0bf8deb324a95733aa2cf9",
            ),
        ),
        "enhanced": Provider(
            f"{ENHANCED} v1.0", RSA_FULL, 3, 128,
            _primes(
                "d2ce27ea421bc7d3f4b731db6dd3a5ecaef20bf87dc6f48713bf59858b7ef0d1"
                "f859bdb769e25e09a8be3721f55a1f33ff2efc14b22575d792bfcd1cf59e1dd5",
                "cd3d9d08a397d067d31ba58af04e28f6ca298b49f1ee21b02ee4884bc047a55a"
                "9a224cbdb9997454ef55dfe9f7e8e371a6729abd796b75b8cc1a70b767902595",
            ),
        ),
        "advanced": Provider(
            AES_PROVIDERS[1], RSA_AES, 5, 0,
            _primes(
                "ee25551c8cc20b691be6958124a7b0fa1cdfdd3d89350cb863a05b6439c17528"
                "6aab8aa1f975957d5724df0400cc04c1c60eb39e8c4043e6a673b6b316eecc3f",
                "c191fbd27c41d037564a92eee4b3e8d02349d6f012ae3c50e61168dd66fc0197"
                "ed5af52ccc653962bcf47a70322be592e9d163a5843fe1a1878364c849764379",
            ),
        ),
    }
)  # fmt: skip
"""By the word of their privacy level."""


def public_keys(words: Iterable[str], *, aligned: bool = False) -> bytes:
    """Return an MQDSPUBLICKEYS with the harness's keys for these providers. aligned: R-MQMQ-key-list-alignment."""
    keys = [
        {
            "ul_provider_type": one.kind,
            "s_provider_name": one.name,
            "a_buf": base64.b64encode(public_key_blob(*one.public)).decode(),
        }
        for one in map(PROVIDERS.__getitem__, words)
    ]
    return structures.encode("MQDSPUBLICKEYS", {"a_public_keys": keys}, aligned=aligned)


def keys_of(data: bytes) -> dict[str, tuple[int, int]]:
    """Return modulus and exponent of the keys of an MQDSPUBLICKEYS, by the word of their provider; of others none."""
    tries = (structures.decode("MQDSPUBLICKEYS", data, aligned=aligned) for aligned in (False, True))
    read = next((one.value["a_public_keys"] for one in tries if one.whole), ())
    named = {one["s_provider_name"]: key_of_blob(base64.b64decode(one["a_buf"])) for one in read}
    found = {word: named.get(one.name) for word, one in PROVIDERS.items()}
    return {word: key for word, key in found.items() if key is not None}


def wrapped(key: bytes, public: tuple[int, int]) -> bytes:
    """Return the key of a body encrypted for a receiver, little-endian. public: modulus and exponent."""
    modulus, exponent = public
    size = (modulus.bit_length() + 7) // 8
    padded = b"\0\2" + b"\xa5" * (size - 3 - len(key)) + b"\0" + key
    return pow(int.from_bytes(padded, "big"), exponent, modulus).to_bytes(size, "little")


def unwrapped(blob: bytes) -> tuple[str, bytes] | None:
    """Return the word of the provider whose key of the harness opens a SIMPLEBLOB, and the key of the body."""
    for word, provider in PROVIDERS.items():
        modulus, exponent = provider.private
        size = (modulus.bit_length() + 7) // 8
        value = int.from_bytes(blob[12:], "little")
        if blob[:1] != bytes((SIMPLE_BLOB_TYPE,)) or value >= modulus:
            continue
        padded = pow(value, exponent, modulus).to_bytes(size, "big")
        end = padded.find(b"\0", 2)
        if padded.startswith(b"\0\2") and end >= 10:
            return word, padded[end + 1 :]
    return None


def encrypted_body(algorithm: int, key: bytes, body: bytes) -> bytes:
    """Encrypt a body, with a zero initialization vector and PKCS #5 padding where the algorithm has blocks."""
    if algorithm == RC4:
        return rc4(key, body)
    spare = 16 - len(body) % 16
    return _aes(key, body + bytes((spare,)) * spare, decrypts=False)


def decrypted_body(algorithm: int, key: bytes, body: bytes) -> bytes | None:
    """Decrypt a body; None for another algorithm or another padding."""
    if algorithm == RC4:
        return rc4(key, body)
    if algorithm not in KEY_BITS or len(key) * 8 not in KEY_BITS.values() or not body or len(body) % 16:
        return None
    plain = _aes(key, body, decrypts=True)
    spare = plain[-1]
    return plain[:-spare] if 1 <= spare <= 16 and plain.endswith(bytes((spare,)) * spare) else None


def _aes(key: bytes, data: bytes, *, decrypts: bool) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    cipher = Cipher(AES(key), CBC(bytes(16)))
    step = cipher.decryptor() if decrypts else cipher.encryptor()
    return step.update(data) + step.finalize()


def rc4(key: bytes, data: bytes) -> bytes:
    """Return the data encrypted or decrypted with RC4, which `cryptography` is about to drop."""
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 0xFF
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for octet in data:
        i = (i + 1) & 0xFF
        j = (j + state[i]) & 0xFF
        state[i], state[j] = state[j], state[i]
        out.append(octet ^ state[state[i] + state[j] & 0xFF])
    return bytes(out)
