"""Compares an encoded packet with the packet that the documents require for the same message, field by field.

A field is in place when it decodes to the wanted value, or when its bytes are the wanted bytes at the wanted offset.
Either suffices, so that one wrong size or flag is not counted against every field behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from conformance.judge.packets.field_places import PLACES, QUEUES, REGIONS, B, M, Place, Region, S, U
from conformance.judge.packets.judge import shown
from conformance.judge.packets.user_messages import queue_name
from conformance.spec.catalogue import requirement, requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet
from conformance.wire.layout import Value, bit_fields
from conformance.wire.packet_table import SECTION
from conformance.wire.session_header import SESSION_HEADER_SIZE

SUBJECT = "packets.encode"
CONFORMS = requirement_id("MQDMPR-3.1.7.1.30.conforms")
SERIALISED = requirement_id("MQDMPR-3.1.7.1.32.serialised")
_USER_MESSAGE = ("MQMQ-2.2.18.", "MQMQ-2.2.19.", "MQMQ-2.2.20.")
_TABLE = ("MQDMPR-3.1.7.1.32.",)
ENOUGH = 2
"""Fields that a message can leave to a merely recommended default: the message's member for each."""

# Fields that a message can leave to a default nobody demands: the message's member for each.
_DEFAULTED = {
    B + "TimeToReachQueue": "time_to_reach_queue",
    M + "HashAlgorithm": "hash_algorithm",
    M + "EncryptionAlgorithm": "encryption_algorithm",
}


def compare_fields(
    message: Mapping[str, Any],
    wanted: Packet,
    found: Packet,
    *,
    evidence: Evidence | None = None,
    only: str | None = None,
) -> list[Verdict]:
    """Judge places and values: one verdict for each requirement that this message exercises, or for `only` one.

    message: a `user_message`; wanted: the packet that our encoder makes of it; found: the packet to judge. Left out are
    fields that the message leaves to a merely recommended default, and queues that the packet names in another,
    equivalent form.
    """
    free = {key for key, member in _DEFAULTED.items() if message.get(member) is None}
    free |= _same_queues(wanted, found)
    if S + "SecurityData.Signature" not in wanted.fields:  # the provider is judged only beside a signature
        free.add(S + "Flags.DE")
    return [
        *(
            _verdict(place.requirement, wrong, wanted, found, evidence)
            for place, wrong in _places(wanted, found, free, only)
        ),
        *(
            _verdict(region.requirement, wrong, wanted, found, evidence)
            for region, wrong in _regions(wanted, found, only)
        ),
    ]


def as_a_whole(verdicts: Iterable[Verdict], *, evidence: Evidence | None = None) -> list[Verdict]:
    """Judge the whole packet by the verdicts on it: does it follow every rule (MS-MQDMPR 3.1.7.1.30) and place every
    attribute by the table (3.1.7.1.32)?"""
    failed = dict.fromkeys(verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    musts = [name for name in failed if requirement(name).level == "must"]
    out = []
    for name, sections in ((CONFORMS, _USER_MESSAGE), (SERIALISED, _TABLE)):
        broken = [one for one in musts if one.startswith(sections)]
        outcome = Outcome.FAIL if broken else Outcome.PASS
        actual = {"broken": broken} if broken else None
        out.append(Verdict(name, outcome, SUBJECT, None, actual, evidence=evidence))
    return out


def in_place(wanted: Packet, found: Packet, key: str) -> bool:
    """Return True when a field of the wanted packet is in place in the found one."""
    if key.rpartition(".")[2].startswith("Reserved"):
        return key in found.fields or _raw(wanted, found, key) is not None
    value = wanted.fields[key]
    if found.fields.get(key) == value or _allowed(key, found):
        return True
    raw = _raw(wanted, wanted, key)
    return raw is not None and raw == _raw(wanted, found, key)


def _allowed(key: str, found: Packet) -> bool:
    """Return True for the two sizes that may differ from the wanted ones."""
    fields = found.fields
    if key == B + "PacketSize":  # Another header, or a counted SessionHeader, changes the size.
        size, length = fields.get(key), len(found.data)
        return size == length or (found.has("SessionHeader") and size == length - SESSION_HEADER_SIZE)
    if key == M + "AllocationBodySize":  # Room for more than the body (MS-MQMQ 2.2.19.3).
        allocated = fields.get(key)
        return isinstance(allocated, int) and int(fields[M + "MessageSize"]) <= allocated <= len(found.data)
    return False


def _raw(wanted: Packet, found: Packet, key: str) -> bytes | int | None:
    """Return the bytes (for a bit field, the bits) of `found` at the field's place in `wanted`; None beyond its end."""
    span = wanted.span(key)
    if span is None or span[0] + span[1] > len(found.data):
        return None
    raw = found.data[span[0] : span[0] + span[1]]
    place = bits().get(key)
    return raw if place is None else int.from_bytes(raw, "little") >> place[0] & place[1]


@cache
def bits() -> Mapping[str, tuple[int, int]]:
    """Map each bit field's key to its lowest bit and its mask."""
    return {section.key(path): (one.low, one.mask) for section in SECTION.values() for path, one in bit_fields(section)}


def _same_queues(wanted: Packet, found: Packet) -> set[str]:
    """Return the keys of queues whose type differs in the found packet although they name the same queues."""
    free = set()
    for letter, field in QUEUES.items():
        key = f"{U}Flags.{letter}Q"
        other, name = wanted.fields.get(key) != found.fields.get(key), queue_name(wanted, field)
        if other and name is not None and name == queue_name(found, field):
            free |= {key, f"{U}{field}."}
    return free


def _places(
    wanted: Packet, found: Packet, free: Collection[str], only: str | None
) -> Iterable[tuple[Place, list[str]]]:
    """Yield each place that this packet has, with its keys that are not in place."""
    for place in PLACES:
        if only not in (None, place.requirement):
            continue
        if place.when is not None and wanted.fields.get(place.when[0]) not in place.when[1]:
            continue
        keys = [key for pattern in place.keys if pattern not in free for key in below(wanted, pattern)]
        if keys and not (place.when is not None and place.when[0] in free):
            yield place, [key for key in keys if not in_place(wanted, found, key)]


def below(packet: Packet, pattern: str) -> list[str]:
    """Return the fields that a key denotes: itself, or with a trailing `.` every field of its own below it."""
    if not pattern.endswith("."):
        return [pattern] if pattern in packet.fields else []
    return [
        key
        for key in packet.fields
        if key.startswith(pattern) and not key.endswith((".Terminated", ".Inner", ".Odd", ".Complete", "Padding"))
    ]


def telling(wanted: Packet, region: Region) -> list[str]:
    """Return the fields that locate a region: those with a value; none when they are too few to locate it."""
    keys = [
        key
        for key in below(wanted, region.within)
        if wanted.fields[key] and not key.rpartition(".")[2].startswith("Reserved") and not _null(wanted.fields[key])
    ]
    if region.behind is not None:
        at = wanted.span(region.within + region.behind)
        keys = [key for key in keys if at is not None and (wanted.span(key) or (0, 0))[0] >= sum(at)]
    words = {key.rpartition(".")[0] for key in keys}
    keys = [key for key in keys if key not in words]  # the bits of a flags word locate it
    wide = [key for key in keys if key not in bits() and (wanted.span(key) or (0, 0))[1] >= ENOUGH]
    return wide or (keys if len(keys) > 1 else [])


def _null(value: Value) -> bool:
    return isinstance(value, (str, bytes)) and not set(value if isinstance(value, str) else value.hex()) - set("0-")


def _regions(wanted: Packet, found: Packet, only: str | None) -> Iterable[tuple[Region, list[str]]]:
    for region in REGIONS:
        keys = telling(wanted, region) if only in (None, region.requirement) else []
        if keys:
            wrong = [key for key in keys if not in_place(wanted, found, key)]
            yield region, wrong if 2 * len(wrong) > len(keys) else []


def _verdict(requirement: str, wrong: list[str], wanted: Packet, found: Packet, evidence: Evidence | None) -> Verdict:
    if not wrong:
        return Verdict(requirement, Outcome.PASS, SUBJECT, evidence=evidence)
    expected = {key: shown(wanted.fields[key]) for key in wrong if key in wanted.fields}
    actual = {key: shown(found.fields.get(key)) for key in wrong}
    return Verdict(requirement, Outcome.FAIL, SUBJECT, expected, actual, evidence=evidence)
