"""What reads bytes, valid bytes for it, and where in them a size or a count stands: found in the layout tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.judge.packets.judge import judge_packet
from conformance.judge.structures.judge import PLAIN as STRUCTURES
from conformance.judge.structures.transfer_buffer_rules import PLAIN_ARMS, plain
from conformance.suites.packets.combinations import full_message
from conformance.suites.packets.messages import packet_of
from conformance.wire import Packet, dissect, encode
from conformance.wire.headers import ALL_SECTIONS
from conformance.wire.layout import Blob, Branch, Choice, Step, When, steps_of
from conformance.wire.security_items import simple_blob
from conformance.wire.structures import decode
from conformance.wire.structures import encode as encode_structure
from conformance.wire.transfer_buffer import read_transfer_buffer
from conformance.wire.transfer_buffer_layers import write_transfer_buffer

Read = Callable[[bytes], Any]


def read_packet(data: bytes) -> Packet:
    """A packet decoded and judged; nothing of it may reach outside its bytes."""
    packet = dissect(data, transport="buffer")
    assert all(at >= 0 and at + length <= len(data) for at, length in packet.spans.values())
    assert packet.kind != "Malformed" or packet.trouble
    judge_packet(data, profile="msmq-4.0", transport="buffer", level="may", explain=False)
    return packet


def read_structure(name: str) -> Read:
    """The reader of a structure; nothing it finds may reach outside the bytes."""

    def read(data: bytes) -> Any:
        found = decode(name, data)
        assert found.whole or found.trouble or found.extra
        assert all(at >= 0 and at + length <= len(data) for at, length in found.spans.values())
        return found

    return read


def read_buffer(data: bytes) -> Packet:
    """A transfer buffer decoded."""
    found = read_transfer_buffer(data)
    assert all(at >= 0 and at + length <= len(data) for at, length in found.spans.values())
    return found


@dataclass(frozen=True, slots=True)
class Number:
    """A size or count at an offset of valid bytes, `width` bytes wide."""

    name: str
    data: bytes
    at: int
    width: int
    read: Read

    def values(self) -> tuple[int, ...]:
        """Where counting goes wrong: the ends, around the sign bit, what is left and one more."""
        top = (1 << 8 * self.width) - 1
        left = len(self.data) - self.at - self.width
        middle = 1 << 8 * self.width - 1
        found = {0, 1, middle - 1, middle, top - 1, top, left - 1, left, left + 1, left // 2, left // 2 + 1}
        return tuple(sorted(value for value in found if 0 <= value <= top))

    def with_value(self, value: int) -> bytes:
        """The bytes with another number there."""
        return self.data[: self.at] + value.to_bytes(self.width, "little") + self.data[self.at + self.width :]


def packets() -> dict[str, bytes]:
    """A packet with every header of the tables, by name, some more than once."""
    full = packet_of(full_message())
    encrypted = {
        "SecurityHeader.SecurityData.EncryptionKey": simple_blob(0x6801, bytes(64)),
        "SecurityHeader.Flags.EB": 1,
    }
    remote = {
        "SRMPEnvelopeHeader.Data": "<e/>",
        "CompoundMessageHeader.Data": b"POST / HTTP",
        "SubqueueHeader.AbortCounter": 1,
        "DeadLetterHeader.DeadLetterPathName": "OS:h\\d\0\0".encode("utf-16-le"),
        "ExtendedAddressHeader.AddressType": 1,
    }
    named = {"UserHeader.DestinationQueue.DirectFormatName": "OS:h\\q", "MessagePropertiesHeader.Label": "odd"}
    return {
        "full": full,
        "encrypted": encode("UserMessage", {**named, **encrypted}),
        "remote": encode("UserMessage", {**named, **remote}),
        **{kind: encode(kind) for kind in ("OrderAck", "FinalAck", "EstablishConnection", "ConnectionParameters")},
        **{kind: encode(kind) for kind in ("SessionAck", "Ping")},
    }


def sizes_of_packets() -> Iterator[Number]:
    """Every size and count of every header."""
    wanted = {key for section in ALL_SECTIONS for key in lengths(steps_of(section))}
    wanted |= {section.key(name) for section in ALL_SECTIONS for name in _sized(section.items, "")}
    for kind, data in packets().items():
        packet = dissect(data)
        for key in sorted(wanted & set(packet.spans)):
            at, width = packet.spans[key]
            yield Number(f"{kind}-{key}", data, at, width, read_packet)


def lengths(steps: tuple[Step, ...]) -> Iterator[str]:
    """The keys that tell how long something is, or how many there are."""
    for step in steps:
        if isinstance(step, Blob):
            yield from (key for key in (step.of, step.count) if key)
        elif isinstance(step, Branch):
            for option in step.options.values():
                yield from lengths(option)


def _sized(items: Any, prefix: str) -> Iterator[str]:
    """Numbers that are a size by their name: PacketSize, AllocationBodySize, MsgBodyOffset, SubAuthorityCount."""
    for item in items:
        if isinstance(item, When):
            yield from _sized(item.items, prefix)
        elif isinstance(item, Choice):
            for option in item.options.values():
                yield from _sized(option, f"{prefix}{item.name}.")
        elif item.name.endswith(("Size", "Length", "Count", "Offset")):
            yield prefix + item.name


def sizes_of_structures() -> Iterator[Number]:
    """Every number of every structure: each may be a count, a conformance, a referent or a discriminant."""
    for name, value in STRUCTURES.items():
        data = encode_structure(name, value)
        for key, (at, width) in decode(name, data).spans.items():
            if width in (1, 2, 4, 8):
                yield Number(f"{name}-{key}", data, at, width, read_structure(name))


def sizes_of_transfer_buffers() -> Iterator[Number]:
    """Every number of a transfer buffer of every kind."""
    for arm in PLAIN_ARMS:
        data = write_transfer_buffer(plain(arm))
        for key, (at, width) in read_transfer_buffer(data).spans.items():
            if width in (2, 4):
                yield Number(f"transfer-buffer-{arm}-{key}", data, at, width, read_buffer)
