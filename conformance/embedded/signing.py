"""Signatures over the fields of a packet (MS-MQMQ 2.5), and bodies encrypted for their receiver (MS-MQQB 3.1.7.1.5).

`cryptography` is imported where it is used, so that a manager that signs nothing starts as fast as before.
"""

from __future__ import annotations

import base64
import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import MqError
from conformance.embedded.packet_layout import Bytes
from conformance.embedded.packet_reading import PacketReader
from conformance.spec.constants.hresults import (
    MQ_ERROR_CANNOT_CREATE_HASH_EX,
    MQ_ERROR_CANNOT_SIGN_DATA_EX,
    MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION,
    MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE,
    MQ_ERROR_INVALID_CERTIFICATE,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
    from cryptography.hazmat.primitives.ciphers import Cipher

    from conformance.embedded.manager import Manager

Json = Any
SIG10, SIG20, SIG30 = 1, 3, 5  # SecurityHeader.Flags.AS of a signature that was verified
KINDS: Final = {"none": 0, "sig10": SIG10, "sig20": SIG20, "sig30": SIG30}
_COMMON = ("correlation", "tag", "body", "label", "response", "admin")
_SINCE_20 = ("source", "delivery", "priority", "journals", "acknowledgements", "class", "body_type", "connector")
FIELDS: Final = {
    SIG10: _COMMON,
    SIG20: (*_COMMON, *_SINCE_20, "destination"),
    SIG30: (*_COMMON, "extension", "names", *_SINCE_20),
}
"""The fields that a signature is over, in this order (2.5.1 to 2.5.3)."""
HASHES: Final = {0x8003: "MD5", 0x8004: "SHA1", 0x800C: "SHA256", 0x800E: "SHA512"}
"""Those of 2.2.19.3 that there is a library for; nobody has MD2 and MD4 any more."""
STRONGEST_HASH: Final = 0x800E
_NAME_SIZES = {lay.NONE: 0, lay.SAME_AS_ADMIN: 0, lay.PUBLIC: 16, lay.ON_OTHER: 20}


def raw_fields(packet: bytes) -> dict[str, bytes]:
    """Return the fields of a well-formed packet that signatures are over, as they stand in it; absent ones are empty.

    Beside them `signature` and `multiple_signature`, and `encrypted`, which is not empty if the body is encrypted.
    """
    source, skipped = Bytes(packet), PacketReader()
    base = source.unpack(lay.BASE)[2]
    origin, *_, flags = source.unpack(lay.USER)
    raw = {"source": origin, "multiple_signature": b"", "signature": b"", "encrypted": b"", "names": b""}
    raw["delivery"] = bytes([flags >> lay.USER_DELIVERY_SHIFT & 3])
    raw["priority"] = bytes([base & lay.BASE_PRIORITY])
    journals = bool(flags & lay.USER_POSITIVE_JOURNAL) << 1 | bool(flags & lay.USER_NEGATIVE_JOURNAL)
    raw["journals"] = bytes([journals])
    for name, shift in (
        ("destination", lay.USER_DESTINATION_SHIFT),
        ("admin", lay.USER_ADMIN_SHIFT),
        ("response", lay.USER_RESPONSE_SHIFT),
    ):
        kind = flags >> shift & 7
        size = _NAME_SIZES.get(kind, 4)
        if kind == lay.DIRECT:
            size = 2 + int.from_bytes(source.peek(2), "little")
            size += -size % 4
        raw[name] = source.take(size)
    raw["connector"] = source.take(16 if flags & lay.USER_CONNECTOR else 0)
    if flags & lay.USER_TRANSACTION:
        source.take(16 * (source.unpack(lay.TRANSACTION)[0] & lay.TX_CONNECTOR))
    if flags & lay.USER_SECURITY:
        bits, *sizes = source.unpack(lay.SECURITY)
        raw["encrypted"] = b"1" if bits & lay.SECURITY_ENCRYPTED else b""
        items = [source.take(size + -size % 4)[:size] for size in sizes]
        raw["signature"] = items[2]
    start = source.at
    asked, units, kind, raw["correlation"], body_type, tag, size, allocated, _, _, _, extension = source.unpack(
        lay.PROPERTIES
    )
    raw |= {"acknowledgements": bytes([asked & 0x0F]), "class": struct.pack("<H", kind)}
    raw |= {"body_type": struct.pack("<I", body_type), "tag": struct.pack("<I", tag)}
    raw |= {"label": source.take(2 * units), "extension": source.take(extension), "body": source.take(size)}
    source.take(allocated - size if raw["encrypted"] else 0)
    source.align(start)
    if flags & lay.USER_MULTIPLE and not flags & lay.USER_HTTP:
        if base & lay.BASE_DEBUG:
            skipped.debug(source, {})
        if flags & lay.USER_SOAP:
            skipped.soap(source, {})
        for which in range(3):
            names = source.take(lay.MQF_ADDRESS.unpack(source.peek(lay.MQF_ADDRESS.size))[0])
            raw["names"] = names[lay.MQF_ADDRESS.size :] if which == 0 else raw["names"]
            source.align(0)
        raw["multiple_signature"] = skipped.signature_header(source)
    return raw


class Signatures:
    """Makes and verifies signatures."""

    def signed(self, raw: dict[str, bytes], kind: int) -> bytes:
        """Return the bytes that a signature of this kind is over."""
        return b"".join(raw[name] for name in self.fields(kind))

    def fields(self, kind: int) -> tuple[str, ...]:
        """Return the fields that a signature of this kind is over."""
        return FIELDS[kind]

    def in_packet(self, signature: bytes) -> bytes:
        """Return a signature, whose first byte is the greatest, as packets have it, or the reverse."""
        return signature[::-1]

    def make(self, data: bytes, algorithm: int, certificate: str, key: str) -> bytes:
        """Return a signature as packets have it. certificate, key: DER in base64. Raises MqError."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        found = private_key(key)
        if found.public_key() != public_key(certificate):
            raise MqError(MQ_ERROR_CANNOT_SIGN_DATA_EX)
        digest, hashed = self.digest(data, algorithm)
        try:
            return self.in_packet(found.sign(digest, PKCS1v15(), hashed))
        except ValueError:  # the key is too short for the hash
            raise MqError(MQ_ERROR_CANNOT_SIGN_DATA_EX) from None

    def matches(self, data: bytes, algorithm: int, certificate: str, signature: bytes) -> bool:
        """Return true for the signature of these bytes by the key of a certificate."""
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        try:
            digest, hashed = self.digest(data, algorithm)
            public_key(certificate).verify(self.in_packet(signature), digest, PKCS1v15(), hashed)
        except (MqError, InvalidSignature, UnsupportedAlgorithm, ValueError):  # also of a key too short for the hash
            return False
        return True

    def digest(self, data: bytes, algorithm: int) -> tuple[bytes, Prehashed]:
        """Return the hash of bytes, and what it is. Raises MqError for an algorithm that there is no library for."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

        if algorithm not in HASHES:
            raise MqError(MQ_ERROR_CANNOT_CREATE_HASH_EX)
        kind = getattr(hashes, HASHES[algorithm])()
        made = hashes.Hash(kind)
        made.update(data)
        return made.finalize(), Prehashed(kind)


def public_key(certificate: str) -> RSAPublicKey:
    """Return the RSA key of an X.509 certificate in base64. Raises MqError for anything else."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    try:
        found = x509.load_der_x509_certificate(base64.b64decode(certificate)).public_key()
    except Exception:  # the library promises no kind
        raise MqError(MQ_ERROR_INVALID_CERTIFICATE) from None
    if not isinstance(found, RSAPublicKey):
        raise MqError(MQ_ERROR_INVALID_CERTIFICATE)
    return found


def private_key(key: str) -> RSAPrivateKey:
    """Return an RSA key of PKCS #8 in base64. Raises MqError for anything else."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        found = load_der_private_key(base64.b64decode(key), None)
    except Exception:  # the library promises no kind
        raise MqError(MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE) from None
    if not isinstance(found, RSAPrivateKey):
        raise MqError(MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE)
    return found


@dataclass(frozen=True, slots=True)
class Provider:
    """A cryptographic service provider. kind: its type. algorithms: with the bytes of a key, preferred first."""

    name: str
    kind: int
    algorithms: dict[int, int]


RC2, RC4, AES128, AES192, AES256 = 0x6602, 0x6801, 0x660E, 0x660F, 0x6610
BASE = Provider("Microsoft Base Cryptographic Provider v1.0", 1, {RC4: 5})
ENHANCED = Provider("Microsoft Enhanced Cryptographic Provider v1.0", 1, {RC4: 16, RC2: 16})
ADVANCED = Provider("Microsoft Enhanced RSA and AES Cryptographic Provider", 0x18, {AES256: 32, AES128: 16, AES192: 24})
PROVIDERS: Final = {1: BASE, 3: ENHANCED, 5: ADVANCED}
"""By MessagePropertiesHeader.PrivacyLevel (MS-MQQB 3.1.5.8.3). The library has no RC2 of 40 bits."""
PRIVACY: Final = {"none": 0, "base": 1, "enhanced": 3}
_SIMPLE = struct.Struct("<BBHII")  # SIMPLEBLOB (2.4.2): type, version, reserved, algorithm of the key, RSA
_PUBLIC = struct.Struct("<BBHI4sII")  # PUBLICKEYBLOB (2.4.1)
_RSA_EXCHANGE, _EXPONENT, _KEY_BYTES = 0xA400, 65537, 128
_P = int(
    "d7465c0d36fa63b319f1bb037034360a194b564131c73e28e3d7454dca1029a5"
    "4ffb9441ef1422e83fe9e9a50e8455672cbd75416014051bec0845fcb10ab975", 16,
)  # fmt: skip
_Q = int(
    "c58ac3d875e8e32d0cde5d57730532e69416735bb27a407f449c3f76eab37580"
    "99a0fe1631a957b111a14f861c90b58dfd291f698541187030f052d864bf93d9", 16,
)  # fmt: skip
"""The primes of this manager's key, which is always the same, as its identifier is: nothing here is a secret."""


class Encryption:
    """Encrypts bodies for other managers, and decrypts those that come."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    # The keys of this manager.

    def own_keys(self) -> str:
        """Return this manager's MQDSPUBLICKEYS, in base64."""
        modulus = (_P * _Q).to_bytes(_KEY_BYTES, "little")
        blob = _PUBLIC.pack(6, 2, 0, _RSA_EXCHANGE, b"RSA1", 8 * _KEY_BYTES, _EXPONENT) + modulus
        told = {"a_buf": lay.base64_text(blob)}
        keys = [{**told, "ul_provider_type": each.kind, "s_provider_name": each.name} for each in PROVIDERS.values()]
        return self.manager.structures.encode("MQDSPUBLICKEYS", {"a_public_keys": keys})

    def own_key(self) -> RSAPrivateKey:
        """Return this manager's key."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        private = pow(_EXPONENT, -1, (_P - 1) * (_Q - 1))
        parts = (rsa.rsa_crt_dmp1(private, _P), rsa.rsa_crt_dmq1(private, _Q), rsa.rsa_crt_iqmp(_P, _Q))
        return rsa.RSAPrivateNumbers(_P, _Q, private, *parts, rsa.RSAPublicNumbers(_EXPONENT, _P * _Q)).private_key()

    # To other managers.

    def encrypted(self, body: bytes, level: int, algorithm: int, keys: str | None) -> dict[str, Json]:
        """Return the members of a user_message with this body (MS-MQQB 3.1.7.1.5).

        keys: the receiver's MQDSPUBLICKEYS in base64. Raises MqError if it has none for the level.
        """
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        provider, public = self.provider(level, self.keys_of(keys))
        if algorithm not in provider.algorithms:
            algorithm = next(iter(provider.algorithms))
        key = os.urandom(provider.algorithms[algorithm])
        try:
            wrapped = public.encrypt(key, PKCS1v15())[::-1]
        except ValueError:  # the receiver's key is too short
            raise MqError(MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION) from None
        return {
            "body": lay.base64_text(_encrypt(algorithm, key, body)),
            "encryption_algorithm": algorithm,
            "symmetric_key": lay.base64_text(_SIMPLE.pack(1, 2, 0, algorithm, _RSA_EXCHANGE) + wrapped),
            "provider_type": provider.kind,
            "provider_name": provider.name,
        }

    def provider(self, level: int, keys: dict[str, RSAPublicKey]) -> tuple[Provider, RSAPublicKey]:
        """Return the provider to use, and the receiver's key for it."""
        provider = PROVIDERS[level]
        if provider.name not in keys:
            raise MqError(MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION)
        return provider, keys[provider.name]

    def keys_of(self, given: str | None) -> dict[str, RSAPublicKey]:
        """Return the keys of an MQDSPUBLICKEYS by provider; what is no key is left out."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

        try:
            listed = self.manager.structures.decode("MQDSPUBLICKEYS", given or "")["a_public_keys"]
        except MqError:
            return {}
        found = {}
        for each in listed:
            blob = base64.b64decode(each["a_buf"])
            if len(blob) > _PUBLIC.size:
                exponent, modulus = _PUBLIC.unpack_from(blob)[6], int.from_bytes(blob[_PUBLIC.size :], "little")
                try:
                    found[each["s_provider_name"]] = RSAPublicNumbers(exponent, modulus).public_key()
                except ValueError:
                    continue
        return found

    # From other managers.

    def decrypted(self, read: dict[str, Json]) -> bytes | None:
        """Return the body of an encrypted message in the clear (MS-MQQB 3.1.5.8.3); None if that fails."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        provider = PROVIDERS.get(read["privacy_level"])
        blob = base64.b64decode(read.get("symmetric_key", ""))
        algorithm = read["encryption_algorithm"]
        if provider is None or algorithm not in provider.algorithms or len(blob) <= _SIMPLE.size:
            return None
        try:
            key = self.own_key().decrypt(blob[_SIMPLE.size :][::-1], PKCS1v15())
            if len(key) != provider.algorithms[algorithm]:
                return None
            return _decrypt(algorithm, key, base64.b64decode(read["body"]))
        except ValueError:
            return None


def _cipher(algorithm: int, key: bytes) -> Cipher[Any]:
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.decrepit.ciphers.algorithms import RC2 as Rc2
    from cryptography.hazmat.primitives.ciphers import Cipher, modes
    from cryptography.hazmat.primitives.ciphers.algorithms import AES

    if algorithm == RC4:
        return Cipher(ARC4(key), None)
    if algorithm == RC2:
        return Cipher(Rc2(key), modes.CBC(bytes(8)))
    return Cipher(AES(key), modes.CBC(bytes(16)))


def _encrypt(algorithm: int, key: bytes, body: bytes) -> bytes:
    if algorithm != RC4:  # PKCS #5
        spare = _block(algorithm) - len(body) % _block(algorithm)
        body += bytes([spare]) * spare
    made = _cipher(algorithm, key).encryptor()
    return bytes(made.update(body) + made.finalize())


def _decrypt(algorithm: int, key: bytes, body: bytes) -> bytes:
    """Raises ValueError for a key or a padding that is wrong."""
    made = _cipher(algorithm, key).decryptor()
    clear = bytes(made.update(body) + made.finalize())
    if algorithm == RC4:
        return clear
    spare = clear[-1] if clear else 0
    if not 0 < spare <= _block(algorithm) or clear[-spare:] != bytes([spare]) * spare:
        raise ValueError("the padding is wrong")
    return clear[:-spare]


def _block(algorithm: int) -> int:
    return 8 if algorithm == RC2 else 16
