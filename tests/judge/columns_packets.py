"""Packets to judge by columns: every rule's two, printed ones, generated ones, and any of them changed a little."""

import random
from functools import cache

from conformance.files import resource
from conformance.judge.packets.judge import ALL_RULES
from conformance.judge.packets.rules_security import CERTIFICATE_RULES as CERTIFIED
from conformance.suites.packets.messages import packet_of
from conformance.wire import encode
from conformance.wire.security_items import sid_bytes

GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"


@cache
def of_rules() -> tuple[bytes, ...]:
    """What every rule holds for, and what breaks it; those with a certificate are few here, as they are in captures."""
    out: list[bytes] = []
    for rule in ALL_RULES:
        if (
            "MQMQ-2.5." not in rule.id
            and "signature" not in rule.id
            and "hash-" not in rule.id
            and rule not in CERTIFIED
        ):
            out += [rule.breaks.valid(), rule.breaks.broken()]
    return tuple(dict.fromkeys((*out, *_of_signatures())))


def _of_signatures() -> list[bytes]:
    """Messages with a signature and no certificate to check it with."""
    security, several = "SecurityHeader.SecurityData.", "MultiQueueFormatHeader."
    own = {security + "Signature": b"signature", "SecurityHeader.Flags.DE": 1}
    sender = {security + "SecurityID": sid_bytes("S-1-5-32-544"), "SecurityHeader.Flags.ST": 1}
    lists = {several + "Destination.ElementCount": 0, several + "Signature.Signature": b"sig."}
    both = [own, own | sender, lists, lists | own, lists | sender, lists | sender | {"UserHeader.ConnectorType": GUID}]
    return [encode("UserMessage", values) for values in both]


@cache
def of_fuzzing() -> tuple[bytes, ...]:
    """The corpus of `tests/wire/fuzz_wire.py`."""
    return tuple(path.read_bytes() for path in sorted(resource("fixtures/fuzz/packets").iterdir()))


def of_message(message: dict[str, object]) -> bytes:
    return packet_of(message)


def changed(data: bytes, chance: random.Random) -> bytes:
    """One to six small changes; mostly PacketSize counts what is there again."""
    out, counted = bytearray(data), True
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at = chance.randrange(len(out) + 1)
        match chance.randrange(12):
            case 0 | 1 | 2 | 3 if at < len(out):
                out[at] = chance.choice((0, 1, 2, 3, 4, 7, 12, 0x80, 0xFF, chance.randrange(256)))
            case 4 | 5 | 6 if at < len(out):
                out[at] ^= 1 << chance.randrange(8)
            case 7 if len(out) >= 64:
                flags = int.from_bytes(out[60:64], "little") ^ 1 << chance.randrange(32)
                out[60:64] = flags.to_bytes(4, "little")
            case 8:
                out[at:at] = bytes(chance.choice((0, 1, 4, 255)) for _ in range(chance.choice((1, 2, 4, 8, 12, 16))))
            case 9:
                del out[at : at + chance.choice((1, 2, 4, 8))]
            case 10:
                out += bytes(chance.choice((4, 12, 16, 20)))
            case _:
                del out[max(12, at) :]
                counted = chance.random() < 0.5
    if counted and len(out) >= 16 and chance.random() < 0.8:
        out[8:12] = len(out).to_bytes(4, "little")
    return bytes(out)
