"""The hash algorithms of MS-MQMQ 2.2.19.3. MD2 and MD4 are implemented here: few libraries still have them.

They follow RFC 1319 and RFC 1320 byte by byte, for judging only: both are broken as protection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

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
