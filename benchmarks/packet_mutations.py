"""Measure whether the first requirement that a packet is blamed for is about the one thing that was changed in it.

python benchmarks/packet_mutations.py [--every N] [--list GROUP]

Each field of each shape of packet is set to zero, to all ones, to one more and one less, to twice as much, and to its
bytes in the other order; each flag is set and cleared; each header is left out, announced by nothing, doubled, moved,
cut short and padded; bytes are put before and taken from each part of variable length. Nothing else is changed, so the
first requirement that is blamed has to be about that field (its own rules) or about that header (its section).

A line for each group, which is a kind of change of a header: mutations, those that nothing is said of (many values are
as good as others), and of those that are reported the share with the field or header blamed first. `--list` prints the
mutations of the groups whose names begin so.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from conformance.judge.packets.judge import ALL_RULES, judge_packet
from conformance.judge.packets.rules_lists import MULTI, SOAP, TRACED
from conformance.judge.packets.rules_security import CONNECTED, SIGNED, WITH_SID
from conformance.judge.packets.rules_signatures import STANDARD, encrypted, provided
from conformance.judge.packets.rules_user import ASKING, QUEUES, TRANSACTION
from conformance.judge.packets.signatures import UNSIGNED, Signing, sign
from conformance.judge.rules import PLAIN, Value, keys_in
from conformance.verdict import Outcome
from conformance.wire import Packet, dissect, encode, patch

U, M, S, Q = "UserHeader.", "MessagePropertiesHeader.", "SecurityHeader.", "MultiQueueFormatHeader."
_PACKET_SIZE, _NO_REST = "MQMQ-2.2.19.1.packet-size", "MQMQ-2.2.19.1.packet-size-headers"
GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"
_SIZE = "BaseHeader.PacketSize"
# A header to the sections of MS-MQMQ about it and about what is in it.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "BaseHeader": ("MQMQ-2.2.19.1.",),
    "UserHeader": ("MQMQ-2.2.19.2.", "MQMQ-2.2.18.1.5.", "MQMQ-2.2.18.1.7.", "MQMQ-2.2.20.user-header"),
    "MessagePropertiesHeader": (
        *("MQMQ-2.2.19.3.", "MQMQ-2.2.18.1.6.", "MQMQ-2.2.12.", "MQDMPR-3.1.1.12.", "MQDMPR-3.1.7.1.32."),
        *("MQMQ-2.2.19.2.message-properties", "MQMQ-2.2.20.message-properties", "MQMQ-2.2.19.2.admin-queue-"),
    ),
    "TransactionHeader": ("MQMQ-2.2.20.5.", "MQMQ-2.2.19.2.transaction", "MQMQ-2.2.20.transaction"),
    "SecurityHeader": (
        *("MQMQ-2.2.20.6.", "MQMQ-2.2.19.2.security", "MQMQ-2.2.20.security", "MQDMPR-3.1.1.12.", "MQMQ-2.5."),
        *("MQDMPR-3.1.7.1.32.", "MQMQ-2.2.19.3.encryption-", "MQMQ-2.2.19.3.privacy-", "MQQB-2.4.2."),
    ),
    "DebugHeader": ("MQMQ-2.2.20.8.", "MQMQ-2.2.19.1.debug", "MQMQ-2.2.20.debug", "MQMQ-2.2.19.1.trace"),
    "SoapHeader": ("MQMQ-2.2.20.7.", "MQMQ-2.2.19.2.soap", "MQMQ-2.2.20.soap"),
    "MultiQueueFormatHeader": (
        *("MQMQ-2.2.20.1.", "MQMQ-2.2.20.2.", "MQMQ-2.2.20.3.", "MQMQ-2.2.18.1.4.", "MQMQ-2.2.18.1.7."),
        *("MQMQ-2.2.19.2.multi-queue", "MQMQ-2.2.20.multi-queue", "MQDMPR-3.1.7.1.30.", "MQDMPR-3.1.1.12.multiple"),
    ),
    "SessionHeader": ("MQMQ-2.2.20.4.", "MQMQ-2.2.19.1.session", "MQMQ-2.2.20.session"),
}
# What announces a header, and the requirements that a wrong announcement breaks.
FLAGS: Mapping[str, str] = {
    "TransactionHeader": U + "Flags.TH",
    "SecurityHeader": U + "Flags.SH",
    "MessagePropertiesHeader": U + "Flags.MP",
    "DebugHeader": "BaseHeader.Flags.DH",
    "SoapHeader": U + "Flags.HH",
    "MultiQueueFormatHeader": U + "Flags.MQ",
}
FIXED = (U + "SourceQueueManager", U + "QueueManagerAddress", M + "CorrelationID")


def _queue(flag: str, field: str, number: int) -> dict[str, Value]:
    more = {f"{U}{field}.{name}": value for name, value in QUEUES[number].items()}
    asked: dict[str, Value] = {M + "Flags.PA": 1} if flag == "AQ" else {}
    address: dict[str, Value] = {U + "QueueManagerAddress": GUID} if flag == "DQ" and number != 7 else {}
    return {U + f"Flags.{flag}": number, **more, **asked, **address}


def _signed(values: Mapping[str, Value]) -> bytes:
    return sign(encode("UserMessage", {**PLAIN, **values}), Signing(byte_order="big"))


def shapes() -> Iterator[tuple[str, Packet]]:
    """Yield the valid packets, each with a name."""
    given: dict[str, dict[str, Value]] = {
        "plain": {M + "ExtensionData": b"extension"},
        "bare": {M + "Label": b"", M + "MessageBody": b""},
        "transactional": {**TRANSACTION, "TransactionHeader.ConnectorQMGuid": GUID},
        "sender": WITH_SID,
        "connector": {**CONNECTED, **SIGNED, S + "SecurityData.SenderCert": b""},
        "encrypted": {**WITH_SID, **encrypted(0x6801, 3)},
        "encrypted with AES": {**WITH_SID, **encrypted(0x6610, 5)},
        "provider": provided(STANDARD[0]),
        "traced": TRACED,
        "soap": SOAP,
        "lists": {
            **MULTI,
            Q + "Administration.ElementCount": 1,
            Q + "Administration.FormatNameList": b"\3\0O\0S\0:\0h\0\\\0a\0\0\0",
        },
        "asking": ASKING,
        "session": {"SessionHeader.WindowSize": 64},
        "all": {**TRANSACTION, **WITH_SID, **ASKING, **SOAP, **MULTI, **TRACED, **CONNECTED},
    }
    for flag, field in (("DQ", "DestinationQueue"), ("AQ", "AdminQueue"), ("RQ", "ResponseQueue")):
        for number in {"DQ": (3, 5), "AQ": (2, 3, 5, 6), "RQ": (2, 3, 5, 6, 7)}[flag]:
            given[f"{flag} {number}"] = _queue(flag, field, number)
    for name, values in given.items():
        plain = {k: v for k, v in PLAIN.items() if not (name in ("DQ 3", "DQ 5") and "DestinationQueue" in k)}
        yield name, dissect(encode("UserMessage", {**plain, **values}), transport="buffer")
    yield "signed", dissect(_signed(UNSIGNED), transport="buffer")


@dataclass(frozen=True, slots=True)
class Changed:
    """A packet with one change. group: the kind of change and the header. key: the field, or the header.

    last: no header is behind it, so that missing or surplus bytes may as well be PacketSize's fault. next: the header
    behind, which is not where it should be.
    """

    group: str
    shape: str
    key: str
    data: bytes
    how: str
    last: bool = False
    next: str = ""

    def __str__(self) -> str:
        return f"{self.shape}: {self.key} {self.how}"


def _values(value: int, width: int) -> Iterator[tuple[str, int]]:
    most = (1 << 8 * width) - 1
    yield "zero", 0
    yield "all ones", most
    yield "one more", value + 1
    yield "one less", value - 1
    yield "twice", value * 2
    yield "swapped", int.from_bytes(value.to_bytes(width, "little"), "big")


def _fields(name: str, packet: Packet) -> Iterator[Changed]:
    bits = {key.rpartition(".")[0] for key in packet.fields if ".Flags." in key or ".OperatingSystem." in key}
    for key, (at, width) in packet.spans.items():
        value, header = packet.fields.get(key), key.partition(".")[0]
        if header not in SECTIONS or key in bits or not width:
            continue
        if isinstance(value, str) and width == 16:
            yield Changed(f"{header}: value", name, key, _over(packet, at, bytes(16)), "zero")
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        seen = {value}
        for how, new in _values(value, width):
            if new not in seen and 0 <= new < 1 << 8 * width:
                seen.add(new)
                yield Changed(f"{header}: value", name, key, _over(packet, at, new.to_bytes(width, "little")), how)
    for key, value in packet.fields.items():
        header, parent = key.partition(".")[0], key.rpartition(".")[0]
        if header not in SECTIONS or parent not in bits or not isinstance(value, int):
            continue
        for new in range(8):
            if new != value:
                try:
                    data = patch(packet, {key: new})
                except ValueError:
                    break
                yield Changed(f"{header}: flag", name, key, data, f"is {new} for {value}")


def _over(packet: Packet, at: int, new: bytes) -> bytes:
    return packet.data[:at] + new + packet.data[at + len(new) :]


def _resized(packet: Packet, at: int, old: int, new: bytes, **flags: int) -> bytes:
    """Return the packet with these bytes in the place of so many, and a PacketSize that counts them."""
    size = int(packet.fields[_SIZE])
    sizes = {_SIZE: size + len(new) - old} if at <= size else {}
    whole = patch(packet, {**sizes, **{key.replace("__", "."): value for key, value in flags.items()}})
    return whole[:at] + new + whole[at + old :]


def _headers(name: str, packet: Packet) -> Iterator[Changed]:
    spans = {header: packet.spans[header] for header in SECTIONS if header in packet.spans}
    order = sorted((header for header in spans if header not in ("BaseHeader", "SessionHeader")), key=spans.__getitem__)
    for header in order:
        at, length = spans[header]
        data = packet.data[at : at + length]
        behind = order[order.index(header) + 1] if header != order[-1] else ""
        last = not behind
        if header != "UserHeader":
            yield Changed(f"{header}: absent", name, header, _resized(packet, at, length, b""), "left out")
            off = {FLAGS[header].replace(".", "__"): 0}
            yield Changed(f"{header}: unannounced", name, header, _resized(packet, at, 0, b"", **off), "not announced")
            yield Changed(f"{header}: twice", name, header, _resized(packet, at + length, 0, data), "twice", last)
        for cut in (4, 8, length // 2 // 4 * 4):
            if 0 < cut < length:
                changed = _resized(packet, at + length - cut, cut, b"")
                yield Changed(f"{header}: cut", name, header, changed, f"ends {cut} bytes early", last)
                changed = _resized(packet, at, cut, b"")
                yield Changed(f"{header}: cut", name, header, changed, f"begins {cut} bytes late")
        for more in (4, 8):
            changed = _resized(packet, at + length, 0, bytes(more))
            yield Changed(f"{header}: padded", name, header, changed, f"has {more} bytes behind", last, behind)
    movable = [header for header in order if header != "UserHeader"]
    for first, second in pairwise(movable):
        (at, length), (then, more) = spans[first], spans[second]
        swapped = packet.data[then : then + more] + packet.data[at : at + length]
        data = packet.data[:at] + swapped + packet.data[then + more :]
        if at + length == then:
            yield Changed("order", name, first, data, f"behind {second}")
    flags = packet.fields
    for header, flag in FLAGS.items():
        if not flags.get(flag):
            yield Changed(f"{header}: announced", name, header, patch(packet, {flag: 1}), "announced, not there")
    if "SessionHeader" in spans:
        yield Changed("SessionHeader: cut", name, "SessionHeader", packet.data[:-4], "ends 4 bytes early")
        yield Changed("SessionHeader: absent", name, "SessionHeader", packet.data[:-16], "left out")


def _parts(name: str, packet: Packet) -> Iterator[Changed]:
    """Yield packets of which a part of variable length, or an optional one, has other bytes."""
    final = max((at, key) for key, (at, _) in packet.spans.items() if key in SECTIONS and key != "SessionHeader")[1]
    for key, (at, length) in packet.spans.items():
        header, _, inner = key.partition(".")
        if header not in SECTIONS or not inner or isinstance(packet.fields.get(key), int) or key in FIXED or not length:
            continue
        group, last = f"{header}: {'padding' if key.endswith('Padding') else 'part'}", header == final
        yield Changed(group, name, key, _resized(packet, at, length, b""), "left out", last)
        yield Changed(group, name, key, _resized(packet, at + length, 0, bytes(4)), "4 bytes more", last)
        if length > 4:
            yield Changed(group, name, key, _resized(packet, at + length - 4, 4, b""), "4 bytes less", last)
        if header == "MessagePropertiesHeader":
            yield Changed(group, name, key, _resized(packet, at + length, 0, b"\1\0"), "2 bytes more", last)


def changes() -> Iterator[Changed]:
    """Yield every changed packet."""
    for name, packet in shapes():
        yield from _fields(name, packet)
        yield from _headers(name, packet)
        yield from _parts(name, packet)


def first_blamed(data: bytes) -> str | None:
    """Return the first requirement that a packet is blamed for."""
    verdicts = judge_packet(data, profile="msmq-6.0", transport="buffer", level="may")
    return next((one.requirement for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.WARN)), None)


_KEYS: dict[str, set[str]] = defaultdict(set)
for _rule in ALL_RULES:
    for _tree in (*_rule.alternatives().values(), _rule.applies):
        _KEYS[_rule.requirement].update(keys_in(_tree))


def fits(one: Changed, requirement: str) -> bool:
    """Tell whether a requirement is about what was changed: the field by the keys of its rules, or the header."""
    header = one.key.partition(".")[0]
    if requirement.startswith(SECTIONS[header]):
        return True
    keys = _KEYS[requirement]
    field = one.key
    if one.last and requirement in (_PACKET_SIZE, _NO_REST):
        return True
    if one.next and requirement.startswith(SECTIONS[one.next][1:]) and requirement.endswith("-layout"):
        return True
    announces = any(requirement.startswith(SECTIONS[other]) for other, flag in FLAGS.items() if flag == field)
    return announces or any(key == field or key.startswith(field + ".") or field.startswith(key + ".") for key in keys)


@dataclass(slots=True)
class Measured:
    """The result of a group."""

    right: int = 0
    silent: int = 0
    wrong: int = 0


def measure(every: int = 1, start: int = 0) -> tuple[dict[str, Measured], list[tuple[Changed, str | None]]]:
    """Judge each of so many changed packets; return the groups, and what is not blamed as it should be."""
    groups: dict[str, Measured] = defaultdict(Measured)
    misses: list[tuple[Changed, str | None]] = []
    for at, one in enumerate(changes()):
        if at % every != start % every:
            continue
        first = first_blamed(one.data)
        group = groups[one.group]
        if first is None:
            group.silent += 1
        elif fits(one, first):
            group.right += 1
        else:
            group.wrong += 1
        if first is None or not fits(one, first):
            misses.append((one, first))
    return groups, misses


def main() -> None:
    """Measure all, and print the groups."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", default=None)
    given = parser.parse_args()
    groups, misses = measure(given.every)
    if given.list is not None:
        for one, first in misses:
            if one.group.startswith(given.list):
                print(f"{one.group} | {one} | {first or 'nothing'}")
    for name, group in sorted(groups.items()):
        told = group.right + group.wrong
        share = f"{group.right / told:.1%}" if told else "-"
        print(f"{name}: {told + group.silent} mutations, {group.silent} silent, {group.wrong} wrong, {share}")
    total = Counter({word: sum(getattr(one, word) for one in groups.values()) for word in ("right", "wrong", "silent")})
    told = total["right"] + total["wrong"]
    print(
        f"all: {told + total['silent']} mutations, {total['silent']} silent, {total['right'] / max(1, told):.1%} right"
    )


if __name__ == "__main__":
    main()
