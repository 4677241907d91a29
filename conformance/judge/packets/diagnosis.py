"""Finds the one deviation that explains a packet which cannot be decoded, or only oddly: each hypothesis is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache, partial
from itertools import islice, starmap
from typing import Any, Protocol

from conformance.grammar.queue_format import is_direct
from conformance.judge.packets.message_facts import ODD, QUEUES
from conformance.judge.packets.packet_verdicts import Judged, Later, Pattern, Told
from conformance.judge.packets.repairs import cut_session_header, cuts, guesses, instead, surplus
from conformance.judge.rules import compiled
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect, patch
from conformance.wire.decode import BASE_SIZE, read_section
from conformance.wire.headers import SESSION_HEADER_SIZE, USER_MESSAGE_SECTIONS

_B, _U, _T, _S = "BaseHeader.", "UserHeader.", "TransactionHeader.", "SecurityHeader."
_M, _D, _X, _Q = "MessagePropertiesHeader.", "DebugHeader.", "SoapHeader.", "MultiQueueFormatHeader."
_SIZE, _LEFT = _B + "PacketSize", "Packet.Unexplained"
MOST = 1 << 22
"""The most bytes that all hypotheses on one packet may have together."""

Guess = Callable[[Packet, str, int, int], Iterator[int]]
"""Yields sizes for a packet, the size's key, its value, and the bytes of each thing that it counts."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """requirement: the one that would be broken. data: the packet without that deviation.

    last: it counts only where nothing else explains the packet, as it leaves bytes out, or makes some up. free: how the
    requirements begin that bytes which are made up may break.
    """

    requirement: str
    data: bytes
    last: bool = False
    free: tuple[str, ...] = ()


def _ids(section: str, **words: str) -> dict[str, str]:
    return {key.replace("__", "."): requirement_id(f"MQMQ-{section}.{word}") for key, word in words.items()}


# A flag to what it breaks when it is set without its header, and when it is clear although its header is there.
_FLAGS: dict[str, tuple[str, str]] = {
    key: (requirement_id(f"MQMQ-{present}"), requirement_id(f"MQMQ-{absent}"))
    for key, present, absent in (
        (_U + "Flags.TH", "2.2.19.2.transaction-header-present", "2.2.19.2.transaction-header-absent"),
        (_U + "Flags.SH", "2.2.19.2.security-header-present", "2.2.19.2.security-header-absent"),
        (_U + "Flags.MP", "2.2.19.2.message-properties-present", "2.2.19.2.message-properties-flag"),
        (_U + "Flags.CQ", "2.2.19.2.connector-type-present", "2.2.19.2.connector-type-absent"),
        (_U + "Flags.HH", "2.2.19.2.soap-header-present", "2.2.19.2.soap-header-absent"),
        (_U + "Flags.MQ", "2.2.19.2.multi-queue-header-present", "2.2.19.2.multi-queue-header-absent"),
        (_B + "Flags.DH", "2.2.19.1.debug-header-present", "2.2.19.1.debug-header-absent"),
        (_B + "Flags.SH", "2.2.19.1.session-header-present", "2.2.20.session-header-absent"),
        (_T + "Flags.CG", "2.2.20.5.connector-present", "2.2.20.5.connector-absent"),
        (_D + "Flags.QT", "2.2.20.8.queue-identifier-present", "2.2.20.8.queue-identifier-absent"),
    )
}
# A queue's type to what it breaks when the queue has the form of another type; types that are none at the end.
_TYPES: dict[str, tuple[dict[int, str], str]] = {
    _U + f"Flags.{flag}": (
        {number: requirement_id(f"MQMQ-2.2.19.2.{word}") for number, word in words.items()},
        requirement_id(f"MQMQ-2.2.19.2.{other}"),
    )
    for flag, words, other in (
        (
            "DQ",
            {0: "destination-none", 3: "destination-private", 5: "destination-public", 7: "destination-direct"},
            "destination-type",
        ),
        (
            "AQ",
            {
                0: "admin-queue-none",
                2: "admin-private-source",
                3: "admin-private-destination",
                5: "admin-public",
                6: "admin-private-other",
                7: "admin-direct",
            },
            "admin-type",
        ),
        (
            "RQ",
            {
                0: "response-queue-none",
                1: "response-type-same",
                2: "response-private-source",
                3: "response-private-destination",
                4: "response-private-admin",
                5: "response-public",
                6: "response-private-other",
                7: "response-direct",
            },
            "response-queue-none",
        ),
    )
}
_QUEUES = {"DQ": _U + "DestinationQueue", "AQ": _U + "AdminQueue", "RQ": _U + "ResponseQueue"}
_PACKET_SIZE = requirement_id("MQMQ-2.2.19.1.packet-size")
# What a size of 0 breaks where there is something.
_NOTHING = {
    _M + "LabelLength": requirement_id("MQMQ-2.2.19.3.label-absent"),
    _M + "ExtensionSize": requirement_id("MQMQ-2.2.19.3.extension-data-absent"),
}
_QUEUE_TYPE = requirement_id("MQMQ-2.2.20.8.queue-type")
_NO_BODY = requirement_id("MQMQ-2.2.19.3.message-body-absent")
VT_LPWSTR, DIRECT = 31, 7
NULL = "00000000-0000-0000-0000-000000000000"
# What bytes that are made up at the end of a header are about.
_CONTENT = (*(f"MQMQ-2.2.20.{section}." for section in (5, 6, 7, 8)), "MQDMPR-3.1.1.12.", "MQDMPR-3.1.7.1.32.")
_KEYS = (64, 128, 256)  # Bytes that are encrypted by usual keys of RSA, and of signatures by them.
_SIMPLE, _BLOB = b"\1\2\0\0", 12  # The beginning of a SIMPLEBLOB, and its bytes before the key.
# A size to what it breaks, and the bytes of each thing that it counts.
_SIZES: dict[str, tuple[str, int]] = {
    key: (requirement_id(f"MQMQ-{name}"), unit)
    for key, name, unit in (
        *((f"{_U}{queue}.Count", "2.2.18.1.5.2.count", 1) for queue in ("DestinationQueue", "AdminQueue")),
        (_U + "ResponseQueue.Count", "2.2.18.1.5.2.count", 1),
        (_S + "SenderIdSize", "2.2.20.6.sender-id-size", 1),
        (_S + "EncryptionKeySize", "2.2.20.6.encryption-key-size", 1),
        (_S + "SignatureSize", "2.2.20.6.signature-size", 1),
        (_S + "SenderCertSize", "2.2.20.6.sender-cert-size-exact", 1),
        (_S + "ProviderInfoSize", "2.2.20.6.provider-info-size", 1),
        (_M + "LabelLength", "2.2.19.3.label-length", 2),
        (_M + "ExtensionSize", "2.2.19.3.extension-size", 1),
        (_M + "MessageSize", "2.2.19.3.message-size", 1),
        (_X + "HeaderDataLength", "2.2.20.7.header-terminated", 2),
        (_X + "BodyDataLength", "2.2.20.7.body-terminated", 2),
        *((f"{_Q}{name}.HeaderSize", "2.2.20.2.header-size", 1) for name in ("Destination", "Administration")),
        (_Q + "Response.HeaderSize", "2.2.20.2.header-size", 1),
        (_Q + "Signature.Size", "2.2.20.3.size", 1),
    )
}
# A size of a text to the field right before the text, which ends with its NUL.
_TEXTS = {
    **{f"{_U}{queue}.Count": f"{_U}{queue}.Count" for queue in ("DestinationQueue", "AdminQueue", "ResponseQueue")},
    _M + "LabelLength": _M + "ExtensionSize",
    _X + "HeaderDataLength": _X + "HeaderDataLength",
    _X + "BodyDataLength": _X + "BodyDataLength",
}
_BODY = _SIZES[_M + "MessageSize"][0]
_ITEMS = tuple(key for key in _SIZES if key.startswith(_S))
_BEHIND = (_B + "Flags.DH", _U + "Flags.HH", _U + "Flags.MQ")  # They announce headers behind a body.
_SLIPS = (-1, 1, -2, 2, -4, 4, -8, 8, -12, 12, -16, 16)
# Headers that may be out of place, the likelier first, and what that breaks.
_ORDER: dict[str, str] = _ids(
    "2.2.20",
    TransactionHeader="transaction-header-layout",
    SecurityHeader="security-header-layout",
    DebugHeader="debug-header-layout",
    SoapHeader="soap-header-layout",
    MultiQueueFormatHeader="multi-queue-header-layout",
    MessagePropertiesHeader="message-properties-header-layout",
)
_PADDED = {
    _U: requirement_id("MQMQ-2.2.18.1.5.2.layout"),
    _S: requirement_id("MQMQ-2.2.20.6.security-data-aligned"),
    _M: requirement_id("MQMQ-2.2.19.3.padding"),
    _Q: requirement_id("MQMQ-2.2.20.2.format-name-list-layout"),
}


def hypotheses(packet: Packet) -> Iterator[Hypothesis]:
    """Yield what could be wrong with a packet that begins with a BaseHeader, at most `MOST` bytes in all."""
    left = max(MOST, len(packet.data))
    for one in _all(packet):
        left -= len(one.data)
        if left < 0:
            return
        yield one


def _all(packet: Packet) -> Iterator[Hypothesis]:
    yield from starmap(Hypothesis, cut_session_header(packet))
    yield from _packet_size(packet)
    yield from _characters(packet)
    yield from _allocated(packet)
    yield from starmap(Hypothesis, surplus(packet))
    yield from _flags(packet)
    yield from _types(packet)
    yield from _sizes(packet, _announced_sizes)
    yield from _orders(packet)
    yield from _packed(packet)
    yield from _denied_body(packet)
    yield from _padding(packet)
    yield from _too_many(packet)
    yield from (one for one in _sizes(packet, _behind) if one.requirement == _BODY)
    yield from (Hypothesis(requirement, data, last=True) for requirement, data in guesses(packet))
    yield from _sizes(packet, _slipped)
    yield from (Hypothesis(requirement, data, last=True, free=_CONTENT) for requirement, data in cuts(packet))


def _packet_size(packet: Packet) -> Iterator[Hypothesis]:
    size = packet.fields[_SIZE]
    behind = SESSION_HEADER_SIZE if packet.fields.get(_B + "Flags.SH") else 0
    if behind and len(packet.data) - behind == size:
        return
    for right in dict.fromkeys((len(packet.data) - behind, len(packet.data))):
        if right != size and right >= 16:
            yield Hypothesis(_PACKET_SIZE, patch(packet, {_SIZE: right}))

    missing = _cut_body(packet)
    for more in dict.fromkeys((missing, missing + -(int(size) + missing) % 4)) if missing else ():
        yield Hypothesis(_PACKET_SIZE, patch(packet, {_SIZE: int(size) + more}) + bytes(more))


def _cut_body(packet: Packet) -> int:
    """Return how many bytes of the body PacketSize leaves out, where two other sizes agree on it."""
    size = packet.fields.get(_M + "MessageSize")
    body = _M + "MessageBody"
    if not size or size != packet.fields.get(_M + "AllocationBodySize") or packet.fields[_SIZE] != len(packet.data):
        return 0
    over = next((one for one in packet.trouble if one.field == body), None)
    missing = 0 if over is None else over.offset + int(size) - int(packet.fields[_SIZE])
    return missing if 0 < missing <= BASE_SIZE else 0


def _characters(packet: Packet) -> Iterator[Hypothesis]:
    """Yield the packet with MessageSize in bytes, where the body is a text and half of it is counted."""
    size, left = packet.fields.get(_M + "MessageSize"), packet.fields.get(_LEFT)
    if size and packet.fields.get(_M + "BodyType") == VT_LPWSTR and isinstance(left, int) and left > int(size) - 4:
        sizes = {_M + "MessageSize": 2 * int(size), _M + "AllocationBodySize": 2 * int(size)}
        yield Hypothesis(_SIZES[_M + "MessageSize"][0], patch(packet, sizes))


def _allocated(packet: Packet) -> Iterator[Hypothesis]:
    """Yield the packet with the larger size of its body, where that is what is there."""
    size, room, left = (packet.fields.get(key) for key in (_M + "MessageSize", _M + "AllocationBodySize", _LEFT))
    if size and room and left and int(room) - int(size) in range(int(left), int(left) + 4):
        yield Hypothesis(_SIZES[_M + "MessageSize"][0], patch(packet, {_M + "MessageSize": int(room)}))


def _denied_body(packet: Packet) -> Iterator[Hypothesis]:
    """Yield the packet with the size of its body, where MessageSize says that there is none."""
    left = packet.fields.get(_LEFT)
    if packet.fields.get(_M + "MessageSize") == 0 and left:
        sizes = {_M + "MessageSize": int(left), _M + "AllocationBodySize": int(left)}
        yield Hypothesis(_NO_BODY, patch(packet, sizes))


def _flags(packet: Packet) -> Iterator[Hypothesis]:
    for key, (present, absent) in _FLAGS.items():
        value = packet.fields.get(key)
        if value in (0, 1):
            # A packet without DebugHeader is not traced.
            traced = {_B + "Flags.TR": 0} if key == _B + "Flags.DH" and value else {}
            yield Hypothesis(present if value else absent, patch(packet, {key: 1 - int(value), **traced}))


def _types(packet: Packet) -> Iterator[Hypothesis]:
    # That a message was meant to have no destination is the least likely.
    order = list(_TYPES) if not packet.fields.get(_U + "Flags.DQ") else list(_TYPES)[::-1]
    if packet.fields.get(_D + "Flags.QT", 0) not in (0, 1):
        yield from (Hypothesis(_QUEUE_TYPE, patch(packet, {_D + "Flags.QT": number})) for number in (1, 0))
    for key in order:
        (names, other), value = _TYPES[key], packet.fields.get(key)
        name = packet.fields.get(f"{_QUEUES[key[-2:]]}.DirectFormatName")
        if isinstance(name, str) and is_direct(name):
            continue  # a name is what its type says
        for number in names if isinstance(value, int) else ():
            if number != value:
                yield Hypothesis(names.get(int(value or 0), other), patch(packet, _typed(packet, key, number)))


def _typed(packet: Packet, key: str, number: int) -> dict[str, int | str]:
    """Return the values of a queue of another type: a direct name needs no queue manager, another name does."""
    if not key.endswith("DQ") or not number:
        return {key: number}
    address, some = packet.fields.get(_U + "QueueManagerAddress"), packet.fields.get(_U + "SourceQueueManager")
    right = NULL if number == DIRECT else str(some) if address == NULL else str(address)
    return {key: number, _U + "QueueManagerAddress": right}


def _sizes(packet: Packet, guess: Guess) -> Iterator[Hypothesis]:
    """Yield packets with another size: the one that the counted bytes tell themselves, or that of a usual slip."""
    for key, (requirement, unit) in _SIZES.items():
        value = packet.fields.get(key)
        if not isinstance(value, int) or _TEXTS.get(key, key) not in packet.spans:
            continue
        width = packet.spans[key][1]
        for right in dict.fromkeys(guess(packet, key, value, unit)):
            if right != value and 0 <= right < 1 << 8 * width:
                yield Hypothesis(
                    _NOTHING.get(key, requirement) if not value else requirement, patch(packet, {key: right})
                )


def _announced_sizes(packet: Packet, key: str, value: int, unit: int) -> Iterator[int]:
    """Yield the size that the bytes tell: a text ends with its NUL, a SID counts its parts, a certificate its bytes."""
    data = packet.data
    if key in _TEXTS:
        yield _to_nul(packet, sum(packet.spans[_TEXTS[key]])) // unit
    elif key == _M + "MessageSize":
        yield int(packet.fields.get(_M + "AllocationBodySize", value))
    elif key.startswith(_S):
        start = packet.spans[_S + "ProviderInfoSize"][0] + 4 if _S + "ProviderInfoSize" in packet.spans else 0
        for item in _ITEMS:
            if item == key and start:
                if key == _S + "SenderIdSize":
                    kind = packet.fields[_S + "Flags.ST"]
                    yield 16 if kind == 2 else 8 + 4 * data[start + 1] if kind == 1 and start + 1 < len(data) else 0
                elif key == _S + "EncryptionKeySize" and data[start : start + 4] == _SIMPLE:
                    yield from (_BLOB + size for size in reversed(_KEYS))
                elif key == _S + "SenderCertSize" and data[start : start + 2] == b"\x30\x82":
                    yield 4 + int.from_bytes(data[start + 2 : start + 4], "big")
                elif key == _S + "ProviderInfoSize":
                    yield 4 + _to_nul(packet, start + 4)
            start += -(-int(packet.fields.get(item, 0)) // 4) * 4


def _slipped(packet: Packet, key: str, value: int, unit: int) -> Iterator[int]:
    """Yield what the size may have been meant as. Where bytes are only left over, no size of a body is likelier."""
    behind = any(packet.fields.get(flag) for flag in _BEHIND)
    if (key == _M + "MessageSize" and not behind) or (key == _M + "ExtensionSize" and not packet.trouble):
        return
    if key in _ITEMS:
        yield from (0, *(_KEYS if key == _S + "SignatureSize" else ()))
    yield int.from_bytes(value.to_bytes(packet.spans[key][1], "little"), "big")
    yield from (value * 2, value // 2)
    yield from (value + slip for slip in _SLIPS)


def _behind(packet: Packet, key: str, value: int, unit: int) -> Iterator[int]:
    """Yield other sizes of a body that has headers behind it, which begin where it ends."""
    if key == _M + "MessageSize" and any(packet.fields.get(flag) for flag in _BEHIND):
        yield from _slipped(packet, key, value, unit)
        yield 0


def _to_nul(packet: Packet, start: int) -> int:
    """Return the bytes of the text that begins here, its NUL included; 0 when it has none."""
    at = packet.data.find(b"\0\0", start)
    while at >= 0 and (at - start) % 2:
        at = packet.data.find(b"\0\0", at + 1)
    return at + 2 - start if at >= 0 else 0


def _orders(packet: Packet) -> Iterator[Hypothesis]:
    """Yield packets whose headers stand in their order, if they can be read with one of them elsewhere."""
    data, start = packet.data, sum(packet.spans.get(_U[:-1], (0, 0)))
    end = min(int(packet.fields[_SIZE]), len(data))
    announced = [
        section
        for section, condition in USER_MESSAGE_SECTIONS[1:]
        if condition is not None and packet.fields.get(condition.key) in (1,) and section.name in _ORDER
    ]
    for moved in _ORDER:
        at = next((at for at, section in enumerate(announced) if section.name == moved), None)
        others = [section for section in announced if section.name != moved]
        for place in range(len(announced)) if at is not None else ():
            if place == at:
                continue
            order = [*others[:place], announced[at or 0], *others[place:]]
            pieces, here = {}, start
            for section in order:
                _, size = read_section(section, data[here:end])
                pieces[section.name] = data[here : here + size]
                here += size
            if here == end:
                right = b"".join(pieces[section.name] for section in announced)
                yield Hypothesis(_ORDER[moved], data[:start] + right + data[end:])


def _packed(packet: Packet) -> Iterator[Hypothesis]:
    """Yield packets whose items of SecurityData are aligned, read as if they followed each other without padding."""
    if _S + "ProviderInfoSize" not in packet.spans:
        return
    start = sum(packet.spans[_S + "ProviderInfoSize"])
    sizes = [int(packet.fields[item]) for item in _ITEMS]
    total, size = sum(sizes), int(packet.fields[_SIZE])
    for end in dict.fromkeys((start + total, start + -(-total // 4) * 4)):
        if end > len(packet.data):
            return
        right, at = b"", start
        for length in sizes:
            right += packet.data[at : at + length] + bytes(-length % 4)
            at += length
        longer = start + len(right) - end
        if longer and 0 <= size + longer < 1 << 32:
            whole = patch(packet, {_SIZE: size + longer})
            yield Hypothesis(_PADDED[_S], whole[:start] + right + whole[end:])


def _too_many(packet: Packet) -> Iterator[Hypothesis]:
    """Yield packets without four bytes behind a direct name, and without a few in front of an item of SecurityData."""
    for queue in _QUEUES.values():
        key = f"{queue}.DirectFormatName"
        if key in packet.spans:
            end = max(sum(packet.spans[key]), sum(packet.spans.get(f"{queue}.Padding", (0, 0))))
            right = instead(packet, end, 4, b"")
            if right is not None:
                yield Hypothesis(_PADDED[_U], right)
    if _S + "ProviderInfoSize" not in packet.spans:
        return
    start = sum(packet.spans[_S + "ProviderInfoSize"])
    for item in _ITEMS:
        for more in (2, 1, 3) if packet.fields[item] else ():
            right = instead(packet, start, more, b"")
            if right is not None:
                yield Hypothesis(_PADDED[_S], right)
        start += -(-int(packet.fields[item]) // 4) * 4


def _padding(packet: Packet) -> Iterator[Hypothesis]:
    """Yield packets with padding where there is none, and without four bytes that are too many."""
    for key, (at, need) in packet.spans.items():
        if not key.endswith("Padding"):
            continue
        requirement = _PADDED.get(key.partition(".")[0] + ".")
        if requirement is None:
            continue
        size = int(packet.fields[_SIZE])
        if size + need < 1 << 32:
            whole = patch(packet, {_SIZE: size + need})
            yield Hypothesis(requirement, whole[:at] + bytes(need) + whole[at:])
        if size >= 20 and at + need + 4 < min(size, len(packet.data)):
            whole = patch(packet, {_SIZE: size - 4})
            yield Hypothesis(requirement, whole[: at + need] + whole[at + need + 4 :])


class Failing(Protocol):
    """Tells what a packet breaks."""

    def __call__(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        """Return the requirements of a level that a packet breaks under a set of readings."""

    def remote(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        """Return those of MS-MQRR alone."""


# What announces bytes that are not there, in the order of the packet: of a packet that ends too soon the first is told.
_PRESENT: tuple[str, ...] = tuple(
    requirement_id(f"MQMQ-2.2.{name}")
    for name in (
        "20.required-headers",
        *(f"19.2.destination-{word}" for word in ("private", "public", "direct")),
        *(
            f"19.2.admin-{word}"
            for word in ("private-source", "private-destination", "public", "private-other", "direct")
        ),
        *(f"19.2.response-{word}" for word in ("private-source", "private-destination", "private-admin", "public")),
        *(f"19.2.response-{word}" for word in ("private-other", "direct")),
        "18.1.5.2.count",
        "19.2.connector-type-present",
        "19.2.transaction-header-present",
        "20.5.connector-present",
        "19.2.security-header-present",
        "20.6.security-data-fits",
        "19.2.message-properties-present",
        "19.3.label-length",
        "19.3.extension-size",
        "19.3.message-size",
        "19.1.debug-header-present",
        "20.8.queue-identifier-present",
        "19.2.soap-header-present",
        "20.7.header-terminated",
        "20.7.body-terminated",
        "20.2.header-size",
        "20.3.size",
        "19.2.multi-queue-header-present",
        "19.1.session-header-present",
    )
)
_BROKEN = frozenset({Outcome.FAIL, Outcome.WARN})
_UNSURE = frozenset({*_BROKEN, Outcome.READING})
_EXPECTED = {"holds": "the packet can be decoded, and keeps every other rule"}
_ACTUAL = {"explains": "without this deviation the packet can be decoded"}
_MUCH = 2
_UNLIKELY = 1 << 24
_ENVELOPE = "SRMPEnvelopeHeader"
_ANY, _STRICT = "permissive", "strict"
_MUST, _SHOULD = "must", "should"
_DEBUG, _DEBUG_QUEUE_TYPE = requirement_id("MQMQ-2.2.19.1.debug-header-absent"), "DebugHeader.Flags.QT"
_odd = compiled(ODD)


@dataclass(frozen=True, slots=True)
class Cause:
    """requirement: the one that is broken. packet: as it would be if it were not."""

    requirement: str
    packet: Packet


TRIES = 8_000
"""The hypotheses that may be tried in a capture; each `PART` bytes of a packet count as a further one."""
PART = 4_096
Broken = Callable[[str, str], frozenset[str]]
"""Returns the requirements of a level that a packet breaks: of a set of readings, and a level."""
Sifted = Broken | bool
"""True: a packet surely cannot be decoded whole. False: it has to be decoded. Else it is decoded whole and not odd, and
this tells what it breaks."""
Sieve = Callable[[Sequence[bytes]], Sequence[Sifted]]
"""Tells what is known of at most `AT_ONCE` packets that are complete."""
AT_ONCE = 64
_FIRST = 4  # Hypotheses that are sieved together at first; often one of them explains the packet.


@dataclass(slots=True)
class Search:
    """How much the search for causes may still cost in a capture, so that odd packets cannot hold up its judge.

    left: tries. unsearched: odd packets that came when none was left, and are told with the plain verdicts. sieve: what
    judges hypotheses without decoding them, as far as it can; None to decode each.
    """

    left: int = TRIES
    unsearched: int = 0
    sieve: Sieve | None = field(default=None, repr=False, compare=False)

    def begins(self) -> bool:
        """Tell whether the next odd packet may be searched; count it if not."""
        if self.left <= 0:
            self.unsearched += 1
        return self.left > 0


def cause_of(packet: Packet, fields: Mapping[str, Any], failing: Failing, search: Search | None = None) -> Cause | None:
    """Return what explains a packet; None for one that is not odd, and where nothing explains it.

    Headers of MS-MQRR 2.2.5 have rules on their order and presence themselves: a packet with one is left to these.

    fields: with the facts on the packet, which has to be complete. search: None for one without a bound.
    """
    if not (packet.trouble or _odd(fields)) or "UserHeader.Flags" not in packet.fields:
        return None
    if "ExtensionHeader.Flags" in packet.fields:
        return None
    if search is not None and not search.begins():
        return None
    found: Cause | None = None
    if packet.has(_ENVELOPE) or failing.remote(packet, _ANY, _MUST):
        return None
    before: frozenset[str] | None = None
    least = (1 << 16, 0, 0)
    for one, sifted in _sieved(hypotheses(packet), None if search is None else search.sieve):
        if one.last and not least[0]:
            continue
        if search is not None:
            search.left -= 1 + len(one.data) // PART
        if sifted is True:
            continue
        broken: Broken | None = None if sifted is False else sifted
        if broken is not None:
            after, strict = _after(broken, one)
            if (len(after), len(strict), 0) >= least:
                continue
            if after:
                before = failing(packet, _ANY, _MUST) if before is None else before
                if not _of_many(after, before):
                    continue
        right = dissect(one.data, transport="buffer")
        # Four zeros behind the last header are hardly a DebugHeader without a queue.
        if right.trouble or _odd(right.fields) or (one.requirement == _DEBUG and not right.fields[_DEBUG_QUEUE_TYPE]):
            continue
        broken = broken or partial(failing, right)
        after, strict = _after(broken, one)
        if after:
            before = failing(packet, _ANY, _MUST) if before is None else before
            if not _of_many(after, before):
                continue
        doubts = _doubtful(right)
        if (so_far := (len(after) + doubts, len(strict), 0)) < least:
            so_far = (*so_far[:2], len(broken(_ANY, _SHOULD)))
        if so_far < least:
            found, least = Cause(one.requirement, right), so_far
            if not strict and not doubts and not so_far[2]:
                break
    return found


def _of_many(after: frozenset[str], before: frozenset[str]) -> bool:
    """Tell whether much was broken before, and less after: some of it may be a deviation of its own."""
    return len(before) > _MUCH and after < before


def _after(broken: Broken, one: Hypothesis) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a packet that must be right breaks under any reading, and under the strict ones."""
    after, strict = (_without(broken(readings, _MUST), one.free) for readings in (_ANY, _STRICT))
    return after, strict


def _sieved(found: Iterator[Hypothesis], sieve: Sieve | None) -> Iterator[tuple[Hypothesis, Sifted]]:
    """Yield hypotheses in their order, each with what is known of it; more and more of them are looked at at once."""
    if sieve is None:
        yield from ((one, False) for one in found)
        return
    count = _FIRST
    while some := list(islice(found, count)):
        yield from zip(some, sieve([one.data for one in some]), strict=True)
        count = min(2 * count, AT_ONCE)


def _doubtful(packet: Packet) -> bool:
    """Tell whether a private queue or a message of a sequence has a number that none is likely to have.

    Both are counted from 1 on.
    """
    keys = (*(f"UserHeader.{queue}.PrivateQueueIdentifier" for queue in QUEUES), "TransactionHeader.TxSequenceNumber")
    numbers = (packet.fields.get(key, 0) for key in keys)
    return any(isinstance(number, int) and number >= _UNLIKELY for number in numbers)


def _without(names: frozenset[str], free: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith(free)) if free else names


def blamed(verdicts: Judged, right: Pattern, cause: str, *, weak: bool) -> Judged:
    """Return the verdicts on a packet with its cause first; what the right packet does not break is a consequence.

    right: what the rules say of the packet without the deviation. weak: the cause is below the requested level.
    """
    return _changed(verdicts, _blame(verdicts.pattern, right, cause, weak), cause)


def shortened(verdicts: Judged) -> Judged:
    """Return the verdicts on a packet that nothing explains: of what it lacks, the first is told."""
    change, first = _shortening(verdicts.pattern)
    return _changed(verdicts, change, first)


class _How(Enum):
    """How a verdict comes from one of the verdicts before."""

    SAME = 1
    CONSEQUENCE = 2
    CAUSE = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A pattern made of another one. sources: for the place of each outcome other than pass, the place it had (None for
    one that was not told), and how it comes from that."""

    pattern: Pattern
    sources: Mapping[int, tuple[int | None, _How]]


def _changed(before: Judged, change: _Change, cause: str) -> Judged:
    def verdict(at: int) -> Verdict:
        (source, how), told = change.sources[at], change.pattern.told[at]
        if source is None:
            return Verdict(
                told.requirement, told.outcome, before.subject, _EXPECTED, _ACTUAL, evidence=before.evidence,
                rule=told.rule, frame=before.frame,
            )  # fmt: skip
        if how is _How.CAUSE:
            return replace(before.at(source), outcome=told.outcome, expected=_EXPECTED, actual=_ACTUAL, reason=None)
        one = before.others[source]
        if how is _How.SAME:
            return one
        return replace(one, outcome=Outcome.INCONCLUSIVE, readings=(), reason=f"a consequence of {cause}")

    return replace(before, pattern=change.pattern, others=Later(change.pattern.others, verdict))


@lru_cache(maxsize=1 << 12)
def _blame(before: Pattern, right: Pattern, cause: str, weak: bool) -> _Change:
    also = {(one.rule, one.outcome) for one in right.told}
    told = list(enumerate(before.told))
    made: list[tuple[Told, int | None, _How]] = [
        (one, at, _How.SAME) for at, one in told if one.requirement == cause and one.outcome in _BROKEN
    ]
    if not made:
        outcome = Outcome.WARN if weak else Outcome.FAIL
        model = next((place for place in told if place[1].requirement == cause), None)
        if model is not None:
            made = [(replace(model[1], outcome=outcome), model[0], _How.CAUSE)]
        else:
            made = [(Told(cause, cause, outcome, ()), None, _How.CAUSE)]
    made += [
        _consequence(one, at) if (one.rule, one.outcome) not in also else (one, at, _How.SAME)
        for at, one in told
        if one.requirement != cause
    ]
    return _change(made)


@lru_cache(maxsize=1 << 12)
def _shortening(before: Pattern) -> tuple[_Change, str]:
    broken = {one.requirement for one in before.told if one.outcome in _BROKEN}
    missing = [name for name in _PRESENT if name in broken]
    made = [
        _consequence(one, at) if one.requirement in missing[1:] else (one, at, _How.SAME)
        for at, one in enumerate(before.told)
    ]
    return _change(made), missing[0] if missing else ""


def _consequence(told: Told, at: int) -> tuple[Told, int | None, _How]:
    if told.outcome not in _UNSURE:
        return told, at, _How.SAME
    return replace(told, outcome=Outcome.INCONCLUSIVE, readings=()), at, _How.CONSEQUENCE


def _change(made: Sequence[tuple[Told, int | None, _How]]) -> _Change:
    pattern = Pattern.of([told for told, _, _ in made])
    return _Change(pattern, {at: made[at][1:] for at in pattern.others})
