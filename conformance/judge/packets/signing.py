"""Signs packets, for the mutations of the signature rules and for tests. The key is public: it protects nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.judge.packets.signatures import MAKING, PASSES, PLACES, READINGS, Choice, Part, covered, slips_of
from conformance.judge.rules import Mutation, Value
from conformance.wire import dissect, patch
from conformance.wire.hashes import DIGEST_INFO, digest

MODULUS = int(
    "bd438fc2c269d05a1fbc39cf67693b00c1b0852f1be3915b205e1aacf3b87b0d9b1e609ea9b8b01230081c3405032af8da25"
    "9aa4db0b0eb3bbda3e3e6b34a16a1bb166d6ee094c1b6f905522bfb6011e64e3ceaf5cef585fb1cb3735999bfb3e6b2e62be"
    "a952c64fc1eae7ee1bc8be829869554437bf9c16cb3d9aa4b6eda965",
    16,
)
EXPONENT = 65537
_PRIVATE = int(
    "8d3ac52407fefdc2c2bbaa47e25adbf48c94344e1af98d95fa693e6ea0cfa0c35e6524a440f1d8313a3653155e4826e0dba8"
    "03e5d0ae47a247236c1f17d0864166b508b7c07ec060ba14866550503c870a1d4d5e03ec8146970d321eb7c3a00b2e6ae27e"
    "fa6d4d37274dcbde0c9e7d1498c7e8dfad45e2b0927a9dcb1f989c61",
    16,
)
CERTIFICATE = bytes.fromhex(
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
SIGNATURE, MULTIPLE_SIGNATURE = (key for key, _, _ in PLACES)
CERTIFIED: dict[str, Value] = {
    "SecurityHeader.SecurityData.SenderCert": CERTIFICATE,
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


def sign(data: bytes, how: Signing, *, private: tuple[int, int] = (MODULUS, _PRIVATE)) -> bytes:
    """Sign a packet: overwrite its signature, which must have the length of the key's modulus.

    private: modulus and private exponent of an RSA key.
    """
    packet = dissect(data)
    declared = int(packet.fields["MessagePropertiesHeader.HashAlgorithm"])
    algorithm = declared if how.algorithm is None else how.algorithm
    parts = _slipped(covered(packet, how.kind, how.choice), how, int(packet.fields["MessagePropertiesHeader.Flags"]))
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


def _slipped(parts: tuple[Part, ...], how: Signing, flags: int) -> list[bytes]:
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
