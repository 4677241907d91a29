"""Mutations for `field_places`: packets in which one field is misplaced, with bytes reversed, shifted or swapped.

Each starts from a right packet with a telling value in every field; the requirement must fail for every mutation. The
packets are generated, not stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.packets.field_compare import below, bits, compare_fields
from conformance.judge.packets.field_places import PLACES, QUEUES, REGIONS, B, D, M, Place, Region, S, T, U, When, X
from conformance.judge.packets.signing import CERTIFICATE
from conformance.judge.rules import PLAIN
from conformance.verdict import Outcome
from conformance.wire import Packet, dissect, encode
from conformance.wire.layout import Value

GUIDS = tuple(f"{n}09ea0fc-9078-4445-8f11-394c43cd89{n}7" for n in range(1, 9))
SID = bytes.fromhex("01020000000000052000000020020000")
FULL: dict[str, Value] = {
    **PLAIN,
    B + "TimeToReachQueue": 0x01020304,
    B + "Flags.TR": 1,
    U + "SourceQueueManager": GUIDS[0],
    U + "QueueManagerAddress": GUIDS[1],
    U + "TimeToBeReceived": 0x11121314,
    U + "SentTime": 0x21222324,
    U + "MessageID": 0x31323334,
    U + "Flags.RC": 0x13,
    U + "Flags.DM": 1,
    U + "Flags.JN": 1,
    U + "Flags.JP": 1,
    U + "AdminQueue.DirectFormatName": "OS:host\\admin",
    U + "ResponseQueue.DirectFormatName": "OS:other\\response",
    U + "ConnectorType": GUIDS[2],
    M + "Flags": 0x0D,
    M + "MessageClass": 0x8002,
    M + "CorrelationID": bytes(range(1, 21)),
    M + "BodyType": 0x1011,
    M + "ApplicationTag": 0x41424344,
    M + "ExtensionData": b"extension",
    M + "PrivacyLevel": 3,
    T + "TxSequenceID.Ordinal": 0x51525354,
    T + "TxSequenceID.TimeStamp": 0x61626364,
    T + "TxSequenceNumber": 0x71727374,
    T + "PreviousTxSequenceNumber": 0x71727373,
    T + "Flags.ID": 0x54321,
    T + "Flags.FA": 1,
    T + "Flags.FM": 1,
    T + "Flags.LM": 1,
    T + "ConnectorQMGuid": GUIDS[3],
    S + "Flags.ST": 1,
    S + "Flags.AI": 1,
    S + "Flags.EB": 1,
    S + "SecurityData.SecurityID": SID,
    S + "SecurityData.EncryptionKey": b"the key.",
    S + "SecurityData.Signature": b"the signature",
    S + "SecurityData.SenderCert": CERTIFICATE,
    S + "SecurityData.ProviderInfo.ProviderType": 0x0102,
    S + "SecurityData.ProviderInfo.ProviderName": "Provider",
    D + "Queue.QueueIdentifier": GUIDS[4],
    "SoapHeader.Header": "header",
    "SoapHeader.Body": "the body",
    "MultiQueueFormatHeader.Destination.ElementCount": 0,
    X + "AckSequenceNumber": 0x0102,
    X + "RecoverableMsgAckSeqNumber": 0x1112,
    X + "RecoverableMsgAckFlags": 0x21222325,
    X + "UserMsgSequenceNumber": 0x3132,
    X + "RecoverableMsgSeqNumber": 0x4142,
    X + "WindowSize": 64,
}
_NAMES: dict[int, tuple[str, ...]] = {
    **dict.fromkeys((2, 3, 4), ("PrivateQueueIdentifier",)),
    5: ("PublicQueueIdentifier",),
    6: ("SourceQueueManager", "PrivateQueueIdentifier"),
    7: ("DirectFormatName",),
}
_NAME_VALUES: dict[str, Value] = {
    "PrivateQueueIdentifier": 0x01020304,
    "PublicQueueIdentifier": GUIDS[5],
    "SourceQueueManager": GUIDS[6],
    "DirectFormatName": "OS:host\\queue",
}
# A header is present as long as one of its values is given: the prefix of the values to remove to clear a flag.
_WITHOUT = {U + "Flags.TH": T, D + "Flags.QT": D + "Queue.", S + "Flags.ST": S + "SecurityData.SecurityID"}
_ALL_GIVEN = {"time_to_reach_queue": 0, "hash_algorithm": 0, "encryption_algorithm": 0}


def whole(when: When | None = None) -> Packet:
    """Return a right packet with every header, a telling value in every field, and `when` fulfilled."""
    values = dict(FULL)
    if when is not None:
        key, (number, *_) = when
        letter = key.rpartition(".")[2][0]
        if key in (f"{U}Flags.{one}Q" for one in QUEUES):
            field = f"{U}{QUEUES[letter]}."
            values = {name: value for name, value in values.items() if not name.startswith(field)}
            values |= {field + name: _NAME_VALUES[name] for name in _NAMES.get(number, ())}
        elif key in _WITHOUT and number == 0:
            values = {name: value for name, value in values.items() if not name.startswith(_WITHOUT[key])}
        values[key] = number
    return dissect(encode("UserMessage", values), transport="buffer")


def misplaced(packet: Packet, place: Place) -> Iterator[bytes]:
    """Yield the packet with a field of this requirement misplaced; each time the field's bytes differ."""
    keys = [key for pattern in place.keys for key in below(packet, pattern)]
    for key in keys:
        if key.rpartition(".")[2].startswith("Reserved"):
            yield packet.data[:-1]
            continue
        span, bit = packet.span(key), bits().get(key)
        if span is None:
            continue
        at, length = span
        raw = packet.data[at : at + length]
        tried = [*_orders(raw)] if bit is None else [*_words(int.from_bytes(raw, "little"), length)]
        made = [one for one in tried if _differs(raw, one, bit)]
        if bit is not None and not made:  # An empty flag in an empty word can only be replaced by its inverse.
            low, mask = bit
            made = [(int.from_bytes(raw, "little") ^ mask << low).to_bytes(length, "little")]
        if bit is None and not made:
            made = [bytes(byte ^ 0xFF for byte in raw)]
        for one in made:
            yield packet.data[:at] + one + packet.data[at + length :]
        if bit is None:
            other = packet.data[at + length : at + length + 1]
            if other and other != raw[-1:]:
                yield packet.data[: at + length - 1] + other + raw[-1:] + packet.data[at + length + 1 :]


def _orders(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes of a field reversed, and rotated by one byte."""
    yield raw[::-1]
    yield raw[-1:] + raw[:-1]


def _words(word: int, width: int) -> Iterator[bytes]:
    """Yield a flags word with its bits reversed, with its bytes reversed, and shifted up by one bit."""
    size = 8 * width
    yield int(f"{word:0{size}b}"[::-1], 2).to_bytes(width, "little")
    yield word.to_bytes(width, "big")
    yield (word << 1 & (1 << size) - 1).to_bytes(width, "little")


def _differs(raw: bytes, other: bytes, bit: tuple[int, int] | None) -> bool:
    if bit is None:
        return raw != other
    low, mask = bit
    return (int.from_bytes(raw, "little") ^ int.from_bytes(other, "little")) >> low & mask != 0


def moved(packet: Packet, region: Region) -> Iterator[bytes]:
    """Yield the packet with this region elsewhere: pushed back by a few bytes or, for reserved bytes, left out."""
    spans = [packet.span(key) for key in below(packet, region.within)]
    start = min(span[0] for span in spans if span is not None)
    if region.behind is not None:
        at, length = packet.spans[region.within + region.behind]
        yield packet.data[:at] + packet.data[at + length :]
    for count in (1, 2, 3):
        yield packet.data[:start] + bytes(count) + packet.data[start:]


def caught() -> frozenset[str]:
    """Return the requirements of `field_places` that hold for a right packet and fail for every mutation of it."""
    found = set()
    for place in PLACES:
        packet = whole(place.when)
        if _outcome(place.requirement, packet, packet.data) is Outcome.PASS and all(
            _outcome(place.requirement, packet, data) is Outcome.FAIL for data in misplaced(packet, place)
        ):
            found.add(place.requirement)
    packet = whole()
    for region in REGIONS:
        if _outcome(region.requirement, packet, packet.data) is Outcome.PASS and any(
            _outcome(region.requirement, packet, data) is Outcome.FAIL for data in moved(packet, region)
        ):
            found.add(region.requirement)
    return frozenset(found)


def _outcome(requirement: str, wanted: Packet, data: bytes) -> Outcome | None:
    verdicts = compare_fields(_ALL_GIVEN, wanted, dissect(data, transport="buffer"), only=requirement)
    return verdicts[0].outcome if verdicts else None
