"""Finds optional fields that take bytes where there should be none, or lack their bytes, in an encoded packet.

Such a mistake moves everything behind it, so it is searched in the bytes: the packet equals the wanted one except for
bytes inserted, or left out, at the place of an optional field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.packets.field_places import B, M, S, U
from conformance.judge.packets.judge import shown
from conformance.judge.packets.optional_headers import MEMBERS
from conformance.judge.packets.user_messages import canonical, queue_name
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet

SUBJECT = "packets.encode"
MOST = 64
"""The most surplus bytes that are searched for."""
_U, _M, _S = "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3.", "MQMQ-2.2.20.6."
ADMIN_HOST = requirement_id(_U + "response-queue-admin-host")
COMPLETE = requirement_id("MQMQ-2.2.20.1.destination-complete")


@dataclass(frozen=True, slots=True)
class Optional:
    """A field that may be absent. field: its key. behind: keys of the field before it; the first one present counts.

    present, absent: the requirements that the field has its bytes, or takes none.
    """

    field: str
    behind: tuple[str, ...]
    absent: str
    present: str | None = None


_FIXED = M + "ExtensionSize"
OPTIONAL: tuple[Optional, ...] = (
    Optional(
        U + "AdminQueue",
        (U + "DestinationQueue",),
        requirement_id(_U + "admin-queue-none"),
        requirement_id(_U + "admin-queue-present"),
    ),
    Optional(
        U + "ResponseQueue",
        (U + "AdminQueue", U + "DestinationQueue"),
        requirement_id(_U + "response-queue-none"),
        requirement_id(_U + "response-queue-present"),
    ),
    Optional(M + "Label", (_FIXED,), requirement_id(_M + "label-absent")),
    Optional(M + "ExtensionData", (M + "Label", _FIXED), requirement_id(_M + "extension-data-absent")),
    Optional(M + "MessageBody", (M + "ExtensionData", M + "Label", _FIXED), requirement_id(_M + "message-body-absent")),
)
# A size, the field whose bytes it counts, and the requirement that it is their number.
SIZES: tuple[tuple[str, str, str], ...] = (
    (S + "SenderIdSize", S + "SecurityData.SecurityID", requirement_id(_S + "sender-id-size")),
    (S + "SenderCertSize", S + "SecurityData.SenderCert", requirement_id(_S + "sender-cert-size-exact")),
)
DEMANDS: tuple[str, ...] = (
    *dict.fromkeys(name for one in OPTIONAL for name in (one.absent, one.present) if name is not None),
    *(requirement for _, _, requirement in SIZES),
    ADMIN_HOST,
    COMPLETE,
)
# Fields that may differ: a size that includes the change, and values left to a merely recommended default.
_FREE = (B + "PacketSize", B + "TimeToReachQueue", M + "HashAlgorithm", M + "EncryptionAlgorithm")


def compare_presence(
    message: Mapping[str, Any], wanted: Packet, found: Packet, *, evidence: Evidence | None = None
) -> list[Verdict]:
    """Judge each requirement that this message exercises; `wanted` is the packet that our encoder makes of it."""
    out = [*_optional(wanted, found), *_sizes(wanted, found), *_names(message, wanted, found)]
    return [Verdict(one.requirement, one.outcome, SUBJECT, one.expected, one.actual, evidence=evidence) for one in out]


def _optional(wanted: Packet, found: Packet) -> Iterator[Verdict]:
    blamed = False
    for one in OPTIONAL:
        span = _span(wanted, one.field)
        if span is None:
            at = next(sum(place) for key in one.behind if (place := _span(wanted, key)) is not None)
            extra = 0 if blamed else _inserted(wanted, found, at)
            blamed = blamed or bool(extra)
            yield _verdict(one.absent, not extra, {"bytes": 0}, {"bytes": extra})
        elif one.present is not None:
            missing = not blamed and _left_out(wanted, found, span)
            blamed = blamed or missing
            yield _verdict(one.present, not missing, {"bytes": span[1]}, {"bytes": 0})


def _span(packet: Packet, field: str) -> tuple[int, int] | None:
    """Return the offset and length of a field with everything below it, padding included; None for no bytes."""
    spans = [span for key, span in packet.spans.items() if key == field or key.startswith(field + ".")]
    if not spans:
        return None
    first, last = min(at for at, _ in spans), max(at + length for at, length in spans)
    return (first, last - first) if last > first else None


def _blank(packet: Packet) -> bytes:
    """Return the bytes of the wanted packet with zeros in free fields and padding."""
    return _blanked(packet, packet.data, len(packet.data))


def _blanked(wanted: Packet, data: bytes, end: int) -> bytes:
    """Blank other bytes in the same way; they are expected to match the wanted packet up to `end`."""
    out = bytearray(data)
    for at, length in _free(wanted):
        if at + length <= min(end, len(out)):
            out[at : at + length] = bytes(length)
    return bytes(out)


def _free(packet: Packet) -> list[tuple[int, int]]:
    return [span for key, span in packet.spans.items() if key in _FREE or key.endswith("Padding")]


def _like(wanted: Packet, data: bytes) -> bool:
    """Return True when these bytes equal the wanted packet except in free fields and padding."""
    return len(data) == len(wanted.data) and _blanked(wanted, data, len(data)) == _blank(wanted)


def _inserted(wanted: Packet, found: Packet, at: int) -> int:
    """Return the number of surplus bytes in the found packet at this place; 0 for none.

    The bytes must equal those of the wanted packet before the place, and behind the surplus to the end of that header's
    fields; the padding behind them may be shorter instead.
    """
    ends = [sum(span) for key, span in wanted.spans.items() if key.startswith(M) and not key.endswith("Padding")]
    end = max(at, *ends)
    blank, data = _blank(wanted), _blanked(wanted, found.data, end)
    if len(data) <= len(blank) or data[:at] != blank[:at]:
        return 0
    if end == at:  # no field of the header is behind: then the headers behind it must only have moved
        moved = len(data) - len(blank)
        return moved if _like(wanted, found.data[:at] + found.data[at + moved :]) else 0
    for extra in range(1, MOST + 1):
        behind = _blanked(wanted, found.data[:at] + found.data[at + extra :], end)
        if behind[at:end] == blank[at:end]:
            return extra
    return 0


def _left_out(wanted: Packet, found: Packet, span: tuple[int, int]) -> bool:
    at, length = span
    short = found.data[:at] + wanted.data[at : at + length] + found.data[at:]
    return len(found.data) == len(wanted.data) - length and _like(wanted, short)


def _sizes(wanted: Packet, found: Packet) -> Iterator[Verdict]:
    for key, counted, requirement in SIZES:
        span, size = wanted.span(key), wanted.fields.get(key)
        if span is None or counted not in wanted.fields:
            continue
        at, length = span
        there = int.from_bytes(found.data[at : at + length], "little")
        # Blame the size only for another number at its place with everything else right, not for reversed bytes.
        alone = _like(wanted, found.data[:at] + wanted.data[at : at + length] + found.data[at + length :])
        backwards = found.data[at : at + length] == wanted.data[at : at + length][::-1]
        yield _verdict(requirement, there == size or not alone or backwards, shown(size), there)


def _names(message: Mapping[str, Any], wanted: Packet, found: Packet) -> Iterator[Verdict]:
    if found.fields.get(U + "Flags.RQ") == 4 and wanted.fields.get(U + "ResponseQueue.PrivateQueueIdentifier"):
        name, meant = queue_name(found, "ResponseQueue"), canonical(message.get("response_queue"))
        yield _verdict(ADMIN_HOST, name == meant, meant, name)
    names = message.get(MEMBERS["Destination"]) or ()
    count = found.fields.get("MultiQueueFormatHeader.Destination.ElementCount")
    if names and isinstance(count, int):
        wants = wanted.fields["MultiQueueFormatHeader.Destination.ElementCount"]
        complete = count >= int(wants) if isinstance(wants, int) else True
        yield _verdict(COMPLETE, complete or not _counts(found, count), wants, count)


def _counts(packet: Packet, count: int) -> bool:
    """Return True when the list has as many names as it counts, so that it lacks names and is not miscounted."""
    prefix = "MultiQueueFormatHeader.Destination.FormatNameList."
    words = {key[len(prefix) :].partition(".")[0] for key in packet.fields if key.startswith(prefix)}
    return sum(word.isdigit() for word in words) == count


def _verdict(requirement: str, holds: bool, expected: Any, actual: Any) -> Verdict:
    if holds:
        return Verdict(requirement, Outcome.PASS, SUBJECT)
    return Verdict(requirement, Outcome.FAIL, SUBJECT, expected, actual)
