"""The bytes that a signature covers: the lists of MS-MQMQ 2.5.1 to 2.5.3 as tables, their gaps as readings.

A `Choice` fixes one alternative of each reading; `covered` returns the bytes of each listed field under it, in list
order. This module computes no hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from uuid import UUID

from conformance.judge.packets.user_messages import queue_name
from conformance.wire import Packet

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


def choices() -> Iterator[Choice]:
    """Yield every combination; the one that follows the letter comes first."""
    for words in product(*(alternatives for _, alternatives in READINGS.values())):
        yield Choice(*words)


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
