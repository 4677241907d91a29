"""NTLMv2 for one account, as the end that is asked (MS-NLMP 3.2, 3.3.2, 3.4), with the ciphers that it needs."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass

SIGNATURE = b"NTLMSSP\0"
NEGOTIATE, CHALLENGE, AUTHENTICATE = 1, 2, 3

UNICODE, REQUEST_TARGET, SIGN, SEAL, NTLM, ALWAYS_SIGN = 0x01, 0x04, 0x10, 0x20, 0x200, 0x8000
TARGET_SERVER, EXTENDED, TARGET_INFO, VERSION = 0x20000, 0x80000, 0x800000, 0x2000000
KEY_128, KEY_EXCHANGE, KEY_56 = 0x20000000, 0x40000000, 0x80000000
OFFERED = (
    UNICODE | REQUEST_TARGET | SIGN | SEAL | NTLM | ALWAYS_SIGN | TARGET_SERVER | EXTENDED | TARGET_INFO | VERSION
    | KEY_128 | KEY_EXCHANGE | KEY_56
)  # fmt: skip
_ALWAYS = UNICODE | NTLM | EXTENDED | TARGET_INFO | TARGET_SERVER
_VERSION = bytes.fromhex("0601b11d0000000f")
_DOMAIN, _COMPUTER, _FLAGS = 2, 1, 6
_HAS_MIC = 2
_MIC_AT = 72
_FIXED = 64  # bytes of an AUTHENTICATE_MESSAGE in front of what may be missing
_PROOF_SIZE, _BLOB_FIXED = 16, 28
_MAGIC = "session key to {}-to-{} {} key magic constant\0"


def md4(data: bytes) -> bytes:
    """Return the MD4 digest (RFC 1320), which hashlib has no more."""
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + (8 * len(data)).to_bytes(8, "little")
    for start in range(0, len(padded), 64):
        words = struct.unpack_from("<16I", padded, start)
        a, b, c, d = state
        for step in range(48):
            turn, place = divmod(step, 16)
            if turn == 0:
                mixed, index, add = (b & c) | (~b & d), place, 0
            elif turn == 1:
                mixed, index, add = (b & c) | (b & d) | (c & d), place % 4 * 4 + place // 4, 0x5A827999
            else:
                mixed, index, add = b ^ c ^ d, int(f"{place:04b}"[::-1], 2), 0x6ED9EBA1
            by = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))[turn][place % 4]
            total = (a + mixed + words[index] + add) & 0xFFFFFFFF
            a, b, c, d = d, (total << by | total >> 32 - by) & 0xFFFFFFFF, b, c
        state = [(old + new) & 0xFFFFFFFF for old, new in zip(state, (a, b, c, d), strict=True)]
    return struct.pack("<4I", *state)


class Rc4:
    """The stream cipher RC4, which goes on from call to call."""

    def __init__(self, key: bytes) -> None:
        self._box = box = list(range(256))
        self._i = self._j = j = 0
        for i in range(256):
            j = (j + box[i] + key[i % len(key)]) % 256
            box[i], box[j] = box[j], box[i]

    def crypt(self, data: bytes) -> bytes:
        """Encrypt or decrypt."""
        box, i, j, out = self._box, self._i, self._j, bytearray()
        for each in data:
            i = (i + 1) % 256
            j = (j + box[i]) % 256
            box[i], box[j] = box[j], box[i]
            out.append(each ^ box[(box[i] + box[j]) % 256])
        self._i, self._j = i, j
        return bytes(out)


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, "md5").digest()


@dataclass(frozen=True, slots=True)
class Account:
    """Whoever may call."""

    user: str
    password: str

    def key(self, domain: str, user: str) -> bytes:
        """Return NTOWFv2 for what the client calls domain and user (MS-NLMP 3.3.2)."""
        return _hmac(md4(self.password.encode("utf-16-le")), (user.upper() + domain).encode("utf-16-le"))


class Direction:
    """The protection of one direction: its keys, its cipher and its count (MS-NLMP 3.4)."""

    def __init__(self, session_key: bytes, flags: int, sender: str, other: str) -> None:
        self._sign_key = _md5(session_key + _MAGIC.format(sender, other, "signing").encode("ascii"))
        strength = 16 if flags & KEY_128 else 7 if flags & KEY_56 else 5
        self._cipher = Rc4(_md5(session_key[:strength] + _MAGIC.format(sender, other, "sealing").encode("ascii")))
        self._exchanged = bool(flags & KEY_EXCHANGE)
        self._count = 0

    def crypt(self, data: bytes) -> bytes:
        """Encrypt or decrypt what is sealed."""
        return self._cipher.crypt(data)

    def signatures(self, *messages: bytes) -> list[bytes]:
        """Return the signature of the next message, for each that it may be, after the sealed part is through."""
        count = self._count.to_bytes(4, "little")
        self._count = self._count + 1 & 0xFFFFFFFF
        mask = int.from_bytes(self._cipher.crypt(bytes(8)) if self._exchanged else bytes(8), "big")
        sums = [int.from_bytes(_hmac(self._sign_key, count + message)[:8], "big") ^ mask for message in messages]
        return [b"\1\0\0\0" + each.to_bytes(8, "big") + count for each in sums]


class Handshake:
    """The three messages. client, server: what each end sends, protected, once it has succeeded; None before."""

    def __init__(self, account: Account, computer: str, stamp: int) -> None:
        self._account = account
        self._computer = computer.upper()
        self._stamp = stamp  # FILETIME
        self._said = b""
        self._nonce = secrets.token_bytes(8)
        self._flags = 0
        self.client: Direction | None = None
        self.server: Direction | None = None

    def challenge(self, negotiate: bytes) -> bytes | None:
        """Return the CHALLENGE_MESSAGE for a NEGOTIATE_MESSAGE; None for anything else."""
        if len(negotiate) < 16 or negotiate[:12] != SIGNATURE + NEGOTIATE.to_bytes(4, "little"):
            return None
        self._flags = int.from_bytes(negotiate[12:16], "little") & OFFERED | _ALWAYS
        name = self._computer.encode("utf-16-le")
        info = b"".join(
            struct.pack("<HH", kind, len(value)) + value
            for kind, value in (
                (_DOMAIN, name),
                (_COMPUTER, name),
                (3, name),
                (4, name),
                (7, self._stamped()),
                (0, b""),
            )
        )
        fixed = 56
        head = SIGNATURE + struct.pack("<IHHII", CHALLENGE, len(name), len(name), fixed, self._flags) + self._nonce
        head += bytes(8) + struct.pack("<HHI", len(info), len(info), fixed + len(name)) + _VERSION
        self._said = negotiate + head + name + info
        return head + name + info

    def _stamped(self) -> bytes:
        return self._stamp.to_bytes(8, "little")

    def authenticate(self, message: bytes) -> bool:
        """Return true if an AUTHENTICATE_MESSAGE proves the password of the account."""
        if not self._said or len(message) < _FIXED or message[:12] != SIGNATURE + AUTHENTICATE.to_bytes(4, "little"):
            return False
        answer, domain, user, encrypted = (_field(message, at) for at in (20, 28, 36, 52))
        if len(answer) < _PROOF_SIZE + _BLOB_FIXED:
            return False  # NTLM of version 1, or nobody
        names = [each.decode("utf-16-le", "replace") for each in (domain, user)]
        key = self._account.key(*names)
        proof = _hmac(key, self._nonce + answer[_PROOF_SIZE:])
        if names[1].upper() != self._account.user.upper() or not hmac.compare_digest(proof, answer[:_PROOF_SIZE]):
            return False
        flags = int.from_bytes(message[60:64], "little") & self._flags
        session_key = _hmac(key, proof)
        if flags & KEY_EXCHANGE:
            if len(encrypted) != 16:
                return False
            session_key = Rc4(session_key).crypt(encrypted)
        if _tells_mic(answer[_PROOF_SIZE + _BLOB_FIXED :]):
            blank = message[:_MIC_AT] + bytes(16) + message[_MIC_AT + 16 :]
            if not hmac.compare_digest(_hmac(session_key, self._said + blank), message[_MIC_AT : _MIC_AT + 16]):
                return False
        self.client = Direction(session_key, flags, "client", "server")
        self.server = Direction(session_key, flags, "server", "client")
        return True


def _field(message: bytes, at: int) -> bytes:
    """Return the value of a field, cut at the end of the message."""
    size, _, offset = struct.unpack_from("<HHI", message, at)
    return message[offset : offset + size]


def _tells_mic(pairs: bytes) -> bool:
    """Return true if the names and values of the client say that its message has a MIC."""
    at = 0
    while at + 4 <= len(pairs):
        kind, size = struct.unpack_from("<HH", pairs, at)
        if not kind:
            break
        if kind == _FLAGS:
            return bool(int.from_bytes(pairs[at + 4 : at + 4 + size], "little") & _HAS_MIC)
        at += 4 + size
    return False
