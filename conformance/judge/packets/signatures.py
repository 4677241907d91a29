"""Verifies signatures and signs packets: the signed bytes, the key, and the digest (MS-MQMQ 2.5).

Packets are signed for mutations and tests alone. Their key is public: it protects nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import product
from typing import TYPE_CHECKING
from uuid import UUID

from conformance.judge.packets.user_messages import queue_name
from conformance.judge.rules import Mutation
from conformance.spec.versions import PROFILES
from conformance.wire import Packet, dissect, patch
from conformance.wire.certificates import (
    DIGEST_INFO,
    DIGEST_SIZES,
    SLOWNESS,
    Certificate,
    digest,
    read_certificate,
    sequence_size,
)
from conformance.wire.layout import Value
from conformance.wire.security_items import BLOB_VERSION, PUBLIC_BLOB_TYPE, RSA1

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

CERTIFICATE_KEY = "Packet.Certificate.Key."
START = bytes((PUBLIC_BLOB_TYPE, BLOB_VERSION, 0))
KEY_TYPES = (0x2400, 0xA400)
_MAGIC = RSA1.to_bytes(4, "little")
_LEAST = 20  # bytes: the structure and one byte of a modulus


def key_facts(raw: bytes) -> dict[str, Value]:
    """Return facts about the bits of a key, by KEY; empty for a key of another form.

    `Start`: it begins 06 02 00. `Reserved`: `one` or `two` bytes of zero before `Type`. `Type`, `Magic`: the numbers.
    `Order`: `told`, or `moved` where the length and the exponent have changed places. `Bits`: the length in bits, and
    `Least`, `Most`: what it can be, by the bytes of the modulus. `Zeros`: bits of the modulus beyond the length are 0.
    """
    if len(raw) < _LEAST or (raw[:2] != START[:2] and _MAGIC not in (raw[7:11], raw[8:12])):
        return {}
    one = raw[7:11] == _MAGIC or (raw[8:12] != _MAGIC and _word(raw, 3) in KEY_TYPES)
    at = 3 if one else 4
    modulus = raw[at + 16 :]
    most = 8 * len(modulus)
    told, other = _word(raw, at + 8), _word(raw, at + 12)
    moved = not most - 8 < told <= most and most - 8 < other <= most
    bits = other if moved else told
    return {
        CERTIFICATE_KEY + "Start": raw[:3] == START,
        CERTIFICATE_KEY + "Reserved": "one" if one else "two",
        CERTIFICATE_KEY + "Type": _word(raw, at),
        CERTIFICATE_KEY + "Magic": _word(raw, at + 4),
        CERTIFICATE_KEY + "Order": "moved" if moved else "told",
        CERTIFICATE_KEY + "Bits": bits,
        CERTIFICATE_KEY + "Least": max(0, most - 7),
        CERTIFICATE_KEY + "Most": most,
        CERTIFICATE_KEY + "Zeros": int.from_bytes(modulus, "little").bit_length() <= bits,
    }


def _word(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at : at + 4], "little")


Part = tuple[str, bytes]
_U, _M = "UserHeader.", "MessagePropertiesHeader."

SIX = ("correlation", "application-tag", "body", "label", "response-queue", "admin-queue")
MARKS = ("delivery-mode", "priority", "journaling", "flags", "message-class", "body-type")
# Kind of signature (1, 2, 3: that of MSMQ 1.0, 2.0, 3.0) to the fields it covers, in this order.
ORDER: dict[int, tuple[str, ...]] = {
    1: SIX,
    2: (*SIX, "source", *MARKS, "connector", "destination-queue"),
    3: (*SIX, "extension", "format-names", "source", *MARKS, "connector"),
}
# The gaps of the lists, by the member of `Choice`: the reading, and its alternatives as in the register.
READINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "label": ("R-MQMQ-signature-label", ("terminated", "value")),
    "queues": (
        "R-MQMQ-signature-bytes",
        ("wire", "counted", "terminated", "value", "owned", "format-name", "format-name-terminated"),
    ),
    "absent": ("R-MQMQ-signature-absent", ("nothing", "zero")),
    "names": ("R-MQMQ-signature-format-names", ("destination", "every")),
}
LEVELS = {1: "sig10", 2: "sig20", 3: "sig30"}
"""Kind of signature to its word in the adapter protocol."""
_QUEUES = {"response-queue": "ResponseQueue", "admin-queue": "AdminQueue", "destination-queue": "DestinationQueue"}
# Field to the member of `Choice` that determines its bytes.
_DECIDES = {**dict.fromkeys(_QUEUES, "queues"), "label": "label", "connector": "absent", "format-names": "names"}
_LISTS = ("Destination", "Administration", "Response")
_HEADER_SIZE = 12  # bytes of an MQFAddressHeader before its list


@dataclass(frozen=True, slots=True)
class Choice:
    """One alternative of each reading, by its word in the register."""

    label: str = "terminated"
    queues: str = "wire"
    absent: str = "nothing"
    names: str = "destination"


def kinds_of(profile: str) -> tuple[int, ...]:
    """Return the kinds of signature that a version of MSMQ can make (MS-MQMQ 2.2.20.6)."""
    return tuple(kind for kind in LEVELS if PROFILES.index(profile) >= kind - 1)


def choices() -> Iterator[Choice]:
    """Yield every combination; the one that follows the letter comes first."""
    for words in product(*(alternatives for _, alternatives in READINGS.values())):
        yield Choice(*words)


def is_accepted(choice: Choice, accepted: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether a choice has accepted alternatives alone."""
    return all(getattr(choice, member) in accepted[reading] for member, (reading, _) in READINGS.items())


def combinations(packet: Packet, kind: int) -> dict[tuple[Part, ...], list[Choice]]:
    """Return the byte sequences that a signature of this kind can cover, each with the choices leading to it."""
    made: dict[tuple[str, str], bytes] = {}
    out: dict[tuple[Part, ...], list[Choice]] = {}
    for choice in choices():
        parts: list[Part] = []
        for name in ORDER[kind]:
            word = getattr(choice, _DECIDES[name]) if name in _DECIDES else ""
            if (name, word) not in made:
                made[name, word] = part(packet, name, choice)
            parts.append((name, made[name, word]))
        out.setdefault(tuple(parts), []).append(choice)
    return out


def covered(packet: Packet, kind: int, choice: Choice) -> tuple[Part, ...]:
    """Return the fields that a signature of this kind covers, with their bytes, in list order."""
    return tuple((name, part(packet, name, choice)) for name in ORDER[kind])


def part(packet: Packet, name: str, choice: Choice) -> bytes:
    """Return the bytes of one listed field; empty for a field that could not be decoded."""
    get = packet.fields.get
    if name in _QUEUES:
        return queue_bytes(packet, _QUEUES[name], choice.queues)
    match name:
        case "correlation":
            return octets(packet, _M + "CorrelationID")
        case "application-tag":
            return number(packet, _M + "ApplicationTag", 4)
        case "body":
            return octets(packet, _M + "MessageBody")
        case "label":
            raw = octets(packet, _M + "Label")
            return raw if choice.label == "terminated" or not get(_M + "Label.Terminated") else raw[:-2]
        case "extension":
            return octets(packet, _M + "ExtensionData")
        case "format-names":
            return b"".join(names_of(packet, each) for each in _LISTS[: 3 if choice.names == "every" else 1])
        case "source":
            return octets(packet, _U + "SourceQueueManager")
        case "delivery-mode":
            return number(packet, _U + "Flags.DM", 1)
        case "priority":
            return number(packet, "BaseHeader.Flags.PR", 1)
        case "journaling":
            return bytes([int(get(_U + "Flags.JP", 0)) << 1 | int(get(_U + "Flags.JN", 0))])
        case "flags":
            return bytes([int(get(_M + "Flags", 0)) & 0x0F])
        case "message-class":
            return number(packet, _M + "MessageClass", 2)
        case "body-type":
            return number(packet, _M + "BodyType", 4)
        case "connector":
            return octets(packet, _U + "ConnectorType") or (bytes(16) if choice.absent == "zero" else b"")
    raise ValueError(f"Unknown signed field '{name}'")


def queue_bytes(packet: Packet, field: str, form: str) -> bytes:
    """Return the bytes that a queue of UserHeader contributes. form: an alternative of R-MQMQ-signature-bytes."""
    wire = octets(packet, _U + field)
    prefix = f"{_U}{field}."
    if form == "wire":
        return wire
    if form.startswith("format-name"):
        name = queue_name(packet, field)
        return f"{name}{chr(0) * form.endswith('-terminated')}".encode("utf-16-le", "surrogatepass") if name else b""
    if prefix + "DirectFormatName" in packet.spans:
        text = octets(packet, prefix + "DirectFormatName")
        if form == "counted":
            return octets(packet, prefix + "Count") + text
        return text[:-2] if form == "value" and packet.fields.get(prefix + "DirectFormatName.Terminated") else text
    if form == "owned":
        name = queue_name(packet, field) or ""
        if name.startswith("PRIVATE="):
            owner, _, identifier = name.removeprefix("PRIVATE=").partition("\\")
            return UUID(owner).bytes_le + int(identifier, 16).to_bytes(4, "little")
    return wire


def names_of(packet: Packet, each: str) -> bytes:
    """Return the FormatNameList of one MQFAddressHeader as the packet holds it."""
    key = f"MultiQueueFormatHeader.{each}.HeaderSize"
    span, size = packet.spans.get(key), packet.fields.get(key)
    if span is None or not isinstance(size, int):
        return b""
    return packet.data[span[0] + _HEADER_SIZE : span[0] + size]


def has_padding(packet: Packet) -> bool:
    """Return True when a list of names, which a signature covers, has bytes that only align it.

    They can have any value (MS-MQMQ 2.2.18.1.4, 2.2.20.2), and nothing says that a signer hashes those of the packet.
    """
    get = packet.fields.get
    for each in _LISTS:
        key = f"MultiQueueFormatHeader.{each}.FormatNameList"
        inside = any(name.startswith(f"{key}.") and name.endswith(".Padding") for name in packet.spans)
        if inside or (get(f"{key}.Left") and get(f"{key}.Stopped") == ""):
            return True
    return False


def octets(packet: Packet, key: str) -> bytes:
    """Return the bytes of a field in the packet; empty when it is absent."""
    at, length = packet.spans.get(key, (0, 0))
    return packet.data[at : at + length]


def number(packet: Packet, key: str, width: int) -> bytes:
    """Encode a decoded number in this many bytes, little-endian."""
    value = packet.fields.get(key, 0)
    return int(value).to_bytes(width, "little") if isinstance(value, int) else b""


CERTIFICATE = "SecurityHeader.SecurityData.SenderCert"
# The place of a signature, the prefix of its facts, and its possible kinds (MS-MQQB 3.1.5.8.3; MS-MQMQ 2.2.20.6).
PLACES: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("SecurityHeader.SecurityData.Signature", "Packet.Signature", (2, 1, 3)),
    ("MultiQueueFormatHeader.Signature.Signature", "Packet.MultipleSignature", (3,)),
)
WHY = "Packet.SignatureUnjudged"
BYTE_ORDERS = ("little", "big")
ENCODINGS = ("digest-info", "bare", "unpadded")
PASSES = {"once": 1, "twice": 2}
# Properties of making a signature that only the signature shows: by the word of its fact, the reading and words.
MAKING: dict[str, tuple[str, tuple[str, ...]]] = {
    "byte-order": ("R-MQMQ-signature-byte-order", BYTE_ORDERS),
    "encoding": ("R-MQMQ-signature-encoding", ENCODINGS),
    "hashed": ("R-MQMQ-signature-hashed", tuple(PASSES)),
}
BUDGET = 256 << 20  # hashed bytes per packet; the hashes in Python are weighted by their slowness
_SIGNATURES_M = "MessagePropertiesHeader."


class _Spent(Exception):
    """Raised when the budget is used up."""


@dataclass(slots=True)
class _Hasher:
    """Computes digests and counts them against the budget."""

    left: int = BUDGET

    def digest(self, algorithm: int, parts: tuple[Part, ...]) -> bytes:
        self.left -= (sum(len(data) for _, data in parts) + 64) * SLOWNESS[algorithm]
        if self.left < 0:
            raise _Spent
        return digest(algorithm, (data for _, data in parts))


@dataclass(frozen=True, slots=True)
class _Opened:
    """A signature decrypted by the public key under one byte order and encoding.

    algorithm: 0 when the encoding does not name it.
    """

    byte_order: str
    encoding: str
    algorithm: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class _Match:
    """A combination that explains a signature."""

    opened: _Opened
    kind: int
    algorithm: int
    passes: str
    choice: Choice
    slip: str = ""


def signature_facts(packet: Packet) -> dict[str, Value]:
    """Return facts about the certificate and the signatures of a packet; empty when it has neither.

    `Packet.Certificate.X509`: SenderCert is an X.509 certificate, `.Behind`: bytes behind it that SenderCertSize counts
    as well, and `key_facts` of its key. For each place
    (`Packet.Signature` in the SecurityHeader, `Packet.MultipleSignature` in the multi-queue header): `.Kind` 1, 2 or 3,
    or 0 when nothing explains the signature; `.Hash` the algorithm that made it; `.Slip` the wrongly hashed field, or
    `order`; and for each reading `.label`, `.queues`, `.absent`, `.names`, `.byte-order`, `.encoding`, `.hashed` the
    alternatives that fit, bit n for the n-th. A place that cannot be judged has no facts; `Packet.SignatureUnjudged`
    gives the reason.
    """
    out: dict[str, Value] = {}
    der = packet.fields.get(CERTIFICATE)
    certificate = None
    if isinstance(der, bytes):
        size = sequence_size(der)
        behind = len(der) - size if size else 0
        certificate = read_certificate(der[:size] if behind > 0 else der)
        out["Packet.Certificate.Behind"] = max(0, behind)
    if certificate is not None and certificate.x509 is not None:
        out["Packet.Certificate.X509"] = certificate.x509
        out.update(key_facts(certificate.bits))
    for key, prefix, kinds in PLACES:
        signature = packet.fields.get(key)
        if not isinstance(signature, bytes):
            continue
        if certificate is None:
            out[WHY] = "the packet has no certificate to check its signature with"
        elif certificate.why:
            out[WHY] = certificate.why
        else:
            _judge(packet, certificate, signature, prefix, kinds, out)
    return out


def _judge(
    packet: Packet,
    certificate: Certificate,
    signature: bytes,
    prefix: str,
    kinds: tuple[int, ...],
    out: dict[str, Value],
) -> None:
    declared = int(packet.fields.get(_SIGNATURES_M + "HashAlgorithm", 0))
    opened = open_signature(certificate, signature, declared)
    try:
        matches = _exact(packet, opened, kinds, declared) or _slipped(packet, opened, kinds, declared)
    except _Spent:
        out[WHY] = "hashing the message in every way would take too long"
        return
    if not matches:
        if packet.fields.get("SecurityHeader.Flags.EB") or packet.fields.get(_SIGNATURES_M + "PrivacyLevel"):
            out[WHY] = "the body is encrypted, and the signature can be over the body before that"
            return
        if kinds == (3,) and opened and has_padding(packet):
            out[WHY] = "the lists of names have padding, which can have had any other value when they were signed"
            return
        out[prefix + ".Kind"] = 0
        return
    first = matches[0]
    out |= {prefix + ".Kind": first.kind, prefix + ".Hash": first.algorithm, prefix + ".Slip": first.slip}
    made = {"byte-order": first.opened.byte_order, "encoding": first.opened.encoding, "hashed": first.passes}
    for word, (_, words) in MAKING.items():
        out[f"{prefix}.{word}"] = _mask((made[word],), words)
    for member, (_, words) in READINGS.items():
        out[f"{prefix}.{member}"] = _mask((getattr(one.choice, member) for one in matches), words)


def _mask(words: Iterable[str], alternatives: Sequence[str]) -> int:
    """Encode the alternatives that fit: bit n for the n-th."""
    seen = set(words)
    return sum(1 << at for at, word in enumerate(alternatives) if word in seen)


def open_signature(certificate: Certificate, signature: bytes, declared: int) -> list[_Opened]:
    """Decrypt the signature by the public key, in each byte order and encoding that give a plausible digest.

    declared: MessagePropertiesHeader.HashAlgorithm; it determines the length of a digest without padding.
    """
    out: list[_Opened] = []
    size = (certificate.modulus.bit_length() + 7) // 8
    for byte_order in BYTE_ORDERS:
        value = int.from_bytes(signature, "little" if byte_order == "little" else "big")
        if value >= certificate.modulus:
            continue
        message = pow(value, certificate.exponent, certificate.modulus).to_bytes(size, "big")
        body = _unpadded(message)
        if body is None:
            length = DIGEST_SIZES.get(declared, 0)
            if length and not any(message[:-length]) and any(message):
                out.append(_Opened(byte_order, "unpadded", 0, message[-length:]))
            continue
        for algorithm, head in DIGEST_INFO.items():
            if body.startswith(head) and len(body) == len(head) + DIGEST_SIZES[algorithm]:
                out.append(_Opened(byte_order, "digest-info", algorithm, body[len(head) :]))
                break
        else:
            if len(body) in DIGEST_SIZES.values():
                out.append(_Opened(byte_order, "bare", 0, body))
    return out


def _unpadded(message: bytes) -> bytes | None:
    """Return the message inside the padding of RFC 8017 9.2: 00 01, at least eight FF, 00; None for other bytes."""
    end = message.find(b"\0", 2)
    if not message.startswith(b"\0\1") or end < 10 or message[2:end].strip(b"\xff"):
        return None
    return message[end + 1 :]


def _algorithms(one: _Opened, declared: int) -> tuple[int, ...]:
    """Return the possible algorithms of a digest: the named one, else each of its length, the declared one first."""
    if one.algorithm:
        return (one.algorithm,)
    fitting = [name for name, size in DIGEST_SIZES.items() if size == len(one.digest)]
    return tuple(sorted(fitting, key=lambda name: name != declared))


def _exact(packet: Packet, opened: list[_Opened], kinds: tuple[int, ...], declared: int) -> list[_Match]:
    """Return every combination that gives the digest, all of one kind and one algorithm."""
    hasher = _Hasher()
    for one in opened:
        for algorithm in _algorithms(one, declared):
            for kind in kinds:
                found = list(_fitting(packet, one, algorithm, kind, hasher))
                if found:
                    return found
    return []


def _fitting(packet: Packet, one: _Opened, algorithm: int, kind: int, hasher: _Hasher) -> Iterator[_Match]:
    for parts, chosen in combinations(packet, kind).items():
        found = hasher.digest(algorithm, parts)
        if found == one.digest:
            yield from (_Match(one, kind, algorithm, "once", choice) for choice in chosen)
        elif hasher.digest(algorithm, (("", found),)) == one.digest:
            yield from (_Match(one, kind, algorithm, "twice", choice) for choice in chosen)


def _slipped(packet: Packet, opened: list[_Opened], kinds: tuple[int, ...], declared: int) -> list[_Match]:
    """Return the first single slip that gives the digest, widths first; none when the budget is used up."""
    hasher = _Hasher()
    with suppress(_Spent):
        for one in opened:
            for algorithm in _algorithms(one, declared):
                for kind in kinds:
                    found = _slip(packet, one, algorithm, kind, hasher)
                    if found is not None:
                        return [found]
    return []


def _slip(packet: Packet, one: _Opened, algorithm: int, kind: int, hasher: _Hasher) -> _Match | None:
    every = combinations(packet, kind)
    for parts, chosen in every.items():
        for slip, other in _field_slips(packet, parts):
            if hasher.digest(algorithm, other) == one.digest:
                return _Match(one, kind, algorithm, "once", chosen[0], slip)
    for parts, chosen in every.items():
        if min(map(_distance, chosen)) > 1:
            continue  # there are many orders: they are tried where at most one reading departs from the letter
        for other in _other_orders(parts):
            if hasher.digest(algorithm, other) == one.digest:
                return _Match(one, kind, algorithm, "once", min(chosen, key=_distance), "order")
    return None


def _distance(choice: Choice) -> int:
    """Count the readings that depart from the letter."""
    letter = Choice()
    return sum(getattr(choice, each.name) != getattr(letter, each.name) for each in fields(Choice))


def _field_slips(packet: Packet, parts: tuple[Part, ...]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield the parts with one slip: a field in another width, or the composed fields composed wrongly."""
    get = packet.fields.get
    for at, (name, data) in enumerate(parts):
        for other in slips_of(name, data, int(get(_SIGNATURES_M + "Flags", 0))):
            if other != data:
                yield name, (*parts[:at], (name, other), *parts[at + 1 :])


def slips_of(name: str, data: bytes, flags: int) -> tuple[bytes, ...]:
    """Return other bytes that a signer could take for a field of stated width. flags: MessagePropertiesHeader.Flags."""
    match name:
        case "delivery-mode" | "priority":
            return (data + bytes(1), data + bytes(3), b"")
        case "journaling":
            high, low = data[0] >> 1 & 1, data[0] & 1
            return (bytes([low << 1 | high]), bytes([high, low]), bytes([low, high]), data + bytes(3), b"")
        case "flags":
            return (bytes([flags & 0xFF]), data + bytes(3), b"")
        case "message-class":
            return (data + bytes(2), data[::-1], data[:1], b"")
        case "body-type":
            return (data[:2], data[::-1], data[:1], b"")
    return ()


def _other_orders(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Yield the parts with two fields exchanged, one moved, or one left out."""
    count = len(parts)
    for at in range(count):
        rest = (*parts[:at], *parts[at + 1 :])
        if parts[at][1]:
            yield rest
        for to in range(count):
            if to != at:
                yield (*rest[:to], parts[at], *rest[to:])
        for to in range(at + 2, count):
            exchanged = list(parts)
            exchanged[at], exchanged[to] = exchanged[to], exchanged[at]
            yield tuple(exchanged)


MODULUS = int(
    "bd438fc2c269d05a1fbc39cf67693b00c1b0852f1be3915b205e1aacf3b87b0d9b1e609ea9b8b01230081c3405032af8da25"
    "9aa4db0b0eb3bbda3e3e6b34a16a1bb166d6ee094c1b6f905522bfb6011e64e3ceaf5cef585fb1cb3735999bfb3e6b2e62be"
    "a952c64fc1eae7ee1bc8be829869554437bf9c16cb3d9aa4b6eda965",
    16,
)
EXPONENT = 65537
PRIVATE = int(
    "8d3ac52407fefdc2c2bbaa47e25adbf48c94344e1af98d95fa693e6ea0cfa0c35e6524a440f1d8313a3653155e4826e0dba8"
    "03e5d0ae47a247236c1f17d0864166b508b7c07ec060ba14866550503c870a1d4d5e03ec8146970d321eb7c3a00b2e6ae27e"
    "fa6d4d37274dcbde0c9e7d1498c7e8dfad45e2b0927a9dcb1f989c61",
    16,
)
SIGNERS_CERTIFICATE = bytes.fromhex(
    "3082019c30820105a003020102020101300d06092a864886f70d01010b050030143112301006035504030c096d71636f6e66"
    "6f726d301e170d3030303130313030303030305a170d3439313233313030303030305a30143112301006035504030c096d71"
    "636f6e666f726d30819f300d06092a864886f70d010101050003818d0030818902818100bd438fc2c269d05a1fbc39cf6769"
    "3b00c1b0852f1be3915b205e1aacf3b87b0d9b1e609ea9b8b01230081c3405032af8da259aa4db0b0eb3bbda3e3e6b34a16a"
    "1bb166d6ee094c1b6f905522bfb6011e64e3ceaf5cef585fb1cb3735999bfb3e6b2e62bea952c64fc1eae7ee1bc8be829869"
    "554437bf9c16cb3d9aa4b6eda9650203010001300d06092a864886f70d01010b050003818100a3aa5397d2b100ec341826c0"
    "f923150a555578d12e3d0f4cb5ab9f4b435b3ed9e0b6b5577bfc37dbd5e0fd14b61e0eccf15467f26a34e09f06662849931a"
    "4b7dcfedf443fa5b7c143df9b62d21e7d0ab5685f7b0598b236871d76d9821e78a138e79207b686b7c547f98b3813e0fcd5f"
    "9a0d726e7240a555f660f3b9582d8de8"
)
SIZE = 128  # bytes of a signature by this key


def private_key(modulus: int = MODULUS, private: int = PRIVATE) -> RSAPrivateKey:
    """Return a key of the public exponent 65537, by default the signer's."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    p, q = rsa.rsa_recover_prime_factors(modulus, EXPONENT, private)
    public = rsa.RSAPublicNumbers(EXPONENT, modulus)
    parts = (rsa.rsa_crt_dmp1(private, p), rsa.rsa_crt_dmq1(private, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, private, *parts, public).private_key()


def signers_key(modulus: int = MODULUS, private: int = PRIVATE) -> bytes:
    """Return a private key, by default the one that belongs to SIGNERS_CERTIFICATE, as PKCS #8 in DER."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return private_key(modulus, private).private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


SIGNATURE, MULTIPLE_SIGNATURE = (key for key, _, _ in PLACES)
CERTIFIED: dict[str, Value] = {
    "SecurityHeader.SecurityData.SenderCert": SIGNERS_CERTIFICATE,
    "SecurityHeader.Flags.DE": 1,
    "SecurityHeader.Flags.AI": 1,
}
UNSIGNED: dict[str, Value] = {**CERTIFIED, SIGNATURE: bytes(SIZE)}
UNSIGNED_LIST: dict[str, Value] = {**CERTIFIED, MULTIPLE_SIGNATURE: bytes(SIZE)}


@dataclass(frozen=True, slots=True)
class Signing:
    """One way to sign a packet.

    kind: 1, 2 or 3. choice: the bytes of the fields. algorithm: of the hash; None: the packet's HashAlgorithm.
    byte_order, encoding, passes: as the readings of these names. slip: a field of stated width that is hashed wrongly,
    in its `nth` way; or `order`: body and label exchanged. place: SIGNATURE or MULTIPLE_SIGNATURE.
    """

    kind: int = 2
    choice: Choice = field(default_factory=Choice)
    algorithm: int | None = None
    byte_order: str = "little"
    encoding: str = "digest-info"
    passes: int = 1
    slip: str = ""
    nth: int = 0
    place: str = SIGNATURE


def following(readings: Mapping[str, tuple[str, ...]], kind: int) -> Signing:
    """Return the signing that follows the first accepted alternative of each reading.

    readings: as `judge_packet` takes them.
    """
    made = {word: readings[reading][0] for word, (reading, _) in MAKING.items()}
    words = {member: readings[reading][0] for member, (reading, _) in READINGS.items()}
    return Signing(
        kind,
        Choice(**words),
        byte_order=made["byte-order"],
        encoding=made["encoding"],
        passes=PASSES[made["hashed"]],
    )


def signed_by(readings: Mapping[str, tuple[str, ...]], kind: int, data: bytes) -> bytes:
    """Return the signature, as `following` makes it, of a packet that has SIZE bytes in its place."""
    value = dissect(sign(data, following(readings, kind))).fields[SIGNATURE]
    return value if isinstance(value, bytes) else b""


def sign(data: bytes, how: Signing, *, private: tuple[int, int] = (MODULUS, PRIVATE)) -> bytes:
    """Sign a packet: overwrite its signature, which must have the length of the key's modulus.

    private: modulus and private exponent of an RSA key.
    """
    packet = dissect(data)
    declared = int(packet.fields["MessagePropertiesHeader.HashAlgorithm"])
    algorithm = declared if how.algorithm is None else how.algorithm
    parts = _shifted(covered(packet, how.kind, how.choice), how, int(packet.fields["MessagePropertiesHeader.Flags"]))
    found = digest(algorithm, parts)
    for _ in range(how.passes - 1):
        found = digest(algorithm, (found,))
    modulus, exponent = private
    size = (modulus.bit_length() + 7) // 8
    message = {"unpadded": found, "bare": _padded(found, size)}.get(how.encoding)
    if message is None:
        message = _padded(DIGEST_INFO[algorithm] + found, size)
    raised = pow(int.from_bytes(message, "big"), exponent, modulus)
    return patch(packet, {how.place: raised.to_bytes(size, "little" if how.byte_order == "little" else "big")})


def _shifted(parts: tuple[Part, ...], how: Signing, flags: int) -> list[bytes]:
    out = [data for _, data in parts]
    if how.slip == "order":
        out[2], out[3] = out[3], out[2]
    elif how.slip:
        at = [name for name, _ in parts].index(how.slip)
        out[at] = slips_of(how.slip, out[at], flags)[how.nth]
    return out


def _padded(body: bytes, size: int) -> bytes:
    return b"\0\1" + b"\xff" * (size - 3 - len(body)) + b"\0" + body


@dataclass(frozen=True, slots=True)
class SignedMutation(Mutation):
    """A mutation whose valid packet is signed as `right`.

    The broken packet is changed by `given` or `patch`, signed as `right` and then as `wrong`; with `changes` it is the
    valid packet with fields overwritten after signing.
    """

    right: Signing = field(default_factory=Signing)
    wrong: Signing | None = None
    changes: Mapping[str, Value] = field(default_factory=dict)

    def valid(self) -> bytes:
        """Sign the packet for which the rule holds."""
        return sign(Mutation.valid(self), self.right)

    def broken(self) -> bytes:
        """Make the signed packet that breaks the rule."""
        if self.changes:
            return patch(dissect(self.valid()), self.changes)
        data = Mutation.broken(self) if self.given or self.patch else Mutation.valid(self)
        data = sign(data, self.right)
        return data if self.wrong is None else sign(data, self.wrong)
