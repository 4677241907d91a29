"""Tells a wrong value from a wrong place in an encoded packet, and finds optional fields that are there wrongly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.judge.packets.field_compare import PLACES, B, M, S, U, bits, in_place
from conformance.judge.packets.judge import RULES, field_json
from conformance.judge.packets.optional_headers import FIELDS, MEMBERS
from conformance.judge.packets.user_messages import canonical, queue_name
from conformance.judge.rules import keys_in
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet
from conformance.wire.headers import LISTS

_Q, _S = "MultiQueueFormatHeader.", "SoapHeader."
_TELLING = 8  # bytes from the mark of a header on: mark, reserved bytes, count or length
_ELEMENT = requirement_id("MQMQ-2.2.18.1.4.1.layout")
# The fields of lists and Soap headers: requirement to keys.
_OF_HEADERS: Mapping[str, tuple[str, ...]] = {
    **{
        requirement_id(f"MQMQ-2.2.20.2.{word}-layout"): tuple(f"{_Q}{name}.{field}" for name in LISTS)
        for word, field in (("header-size", "HeaderSize"), ("header-id", "HeaderID"), ("element-count", "ElementCount"))
    },
    requirement_id("MQMQ-2.2.20.3.id-layout"): (f"{_Q}Signature.ID",),
    requirement_id("MQMQ-2.2.20.3.size-layout"): (f"{_Q}Signature.Size",),
    **{
        requirement_id(f"MQMQ-2.2.20.7.{word}-layout"): (_S + field,)
        for word, field in (
            ("header-section-id", "HeaderSectionID"),
            ("header-data-length", "HeaderDataLength"),
            ("body-section-id", "BodySectionID"),
            ("body-data-length", "BodyDataLength"),
        )
    },
}
# Headers that follow one another, each with its mark and with the demands on its place among other headers, and among
# the lists of its own header.
_HEADERS: tuple[tuple[str, str, str, str], ...] = (
    (_S, _S + "HeaderSectionID", requirement_id("MQMQ-2.2.20.soap-header-layout"), ""),
    *(
        (
            f"{_Q}{name}.",
            f"{_Q}{name}.HeaderID",
            requirement_id("MQMQ-2.2.20.multi-queue-header-layout"),
            requirement_id(f"MQMQ-2.2.20.1.{name.lower()}-layout"),
        )
        for name in LISTS
    ),
)


def blamed_first(verdicts: Iterable[Verdict], wanted: Packet, found: Packet) -> list[Verdict]:
    """Sort the verdicts on a packet: of a place and a value of one field, the one that is to blame comes first.

    wanted: the packet that our encoder makes of the same message.
    """
    order = list(verdicts)
    failed = dict.fromkeys(one.requirement for one in order if one.outcome is Outcome.FAIL)
    if not failed:
        return order
    named = frozenset(key for place in failed for key in _places().get(place, ()))
    for place in failed:
        wrong = [key for key in _places().get(place, ()) if key in wanted.fields and not in_place(wanted, found, key)]
        values, special, about = (
            [name for name in failed if any(name in table.get(key, ()) for key in wrong)]
            for table in (_values(), _special(), _conditions())
        )
        if wrong and all(_exchanged(wanted, found, key) for key in wrong):
            order = _sooner(order, (place,), {*values, *about})
        elif wrong and all(_stands(wanted, found, key, named) for key in wrong):
            general = [name for name in values if name not in _of_rules()]
            order = _sooner(_sooner(order, special, (place, *general)), values, (place,))
    moved = [name for name in _moved(wanted, found) if name in failed]
    return _sooner(order, moved, failed)


def _sooner(order: list[Verdict], first: Collection[str], then: Collection[str]) -> list[Verdict]:
    """Put the failed verdicts on `first` before the earliest failed one on `then`; the rest keeps its order."""
    broken = [one.outcome is Outcome.FAIL for one in order]
    at = next((at for at, one in enumerate(order) if broken[at] and one.requirement in then), len(order))
    late = [at_ for at_, one in enumerate(order) if at_ > at and broken[at_] and one.requirement in first]
    behind = [one for at_, one in enumerate(order) if at_ >= at and at_ not in late]
    return [*order[:at], *(order[at_] for at_ in late), *behind]


@cache
def _places() -> Mapping[str, tuple[str, ...]]:
    """Map each demand on the place of fields to their keys."""
    layouts = {place.requirement: place.keys for place in PLACES if place.requirement.endswith("-layout")}
    security = {name: (key,) for name, (key, _) in FIELDS.items() if name.endswith("-layout")}
    return {**layouts, **security, **_OF_HEADERS}


@cache
def _values() -> Mapping[str, frozenset[str]]:
    """Map each field to the demands on its value."""
    rules = [
        (key, rule.requirement) for rule in RULES for tree in rule.alternatives().values() for key in keys_in(tree)
    ]
    places = [
        (place.keys[0], place.requirement)
        for place in PLACES
        if place.when is None and len(place.keys) == 1 and not place.requirement.endswith("-layout")
    ]
    others = [
        (U + "Flags.MQ", requirement_id("MQDMPR-3.1.7.1.30.multi-queue-header-flag")),
        (_S + "HeaderDataLength", requirement_id("MQMQ-2.2.20.7.header-terminated")),
        (_S + "BodyDataLength", requirement_id("MQMQ-2.2.20.7.body-terminated")),
    ]
    return _by_field([*rules, *places, *others])


@cache
def _of_rules() -> frozenset[str]:
    return frozenset(rule.requirement for rule in RULES)


@cache
def _special() -> Mapping[str, frozenset[str]]:
    """Map each field to the demands on one of its values."""
    return _by_field([(place.when[0], place.requirement) for place in PLACES if place.when is not None])


@cache
def _conditions() -> Mapping[str, frozenset[str]]:
    """Map each field to the demands on other fields that depend on it."""
    return _by_field([(key, rule.requirement) for rule in RULES for key in keys_in(rule.applies)])


def _by_field(pairs: Iterable[tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for key, name in pairs:
        found.setdefault(key, set()).add(name)
    return {key: frozenset(names) for key, names in found.items()}


def _near(packet: Packet, key: str, *, everywhere: bool = False) -> Iterator[str]:
    """Yield the fields beside a field: the other bits of its word, or what stands right before and right behind it.

    everywhere: all fields of the header that have the same length, instead.
    """
    at, length = packet.spans[key] if key in packet.spans else (packet.span(key) or (0, 0))
    parent, bit = key.rpartition(".")[0], key in bits()
    for other in packet.fields:
        span = packet.span(other)
        if other == key or span is None or other.rpartition(".")[0] != parent or (other in bits()) is not bit:
            continue
        if other.rpartition(".")[2].startswith("Reserved"):
            continue
        beside = span[0] + span[1] == at or span[0] == at + length
        if bit or (span[1] == length if everywhere else beside):
            yield other


def _stands(wanted: Packet, found: Packet, key: str, named: Collection[str]) -> bool:
    """Tell whether a field with a wrong value stands where it belongs. named: the fields that may be out of place."""
    span = wanted.span(key)
    if span is None or sum(span) > len(found.data):
        return False
    ours, theirs = (packet.data[span[0] : sum(span)] for packet in (wanted, found))
    shuffled = key not in bits() and ours != theirs and sorted(ours) == sorted(theirs)  # the bytes are out of place
    return not shuffled and all(other not in named or in_place(wanted, found, other) for other in _near(wanted, key))


def _exchanged(wanted: Packet, found: Packet, key: str) -> bool:
    """Tell whether a field has changed places with another one of its header."""
    span = wanted.span(key)
    if span is None or key in bits():
        return False
    for other in _near(wanted, key, everywhere=True):
        at = wanted.spans[other]
        here, there = slice(span[0], sum(span)), slice(at[0], sum(at))
        both = found.data[here] == wanted.data[there] and found.data[there] == wanted.data[here]
        if both and wanted.data[here] != wanted.data[there]:
            return True
    return False


def _moved(wanted: Packet, found: Packet) -> Iterator[str]:
    """Yield the demands on places of headers that stand in the place of another, and of names behind a count."""
    for prefix, mark, among_headers, among_lists in _HEADERS:
        begin, own = _begin(wanted, prefix), wanted.span(mark)
        if begin is None or own is None or found.data[own[0] : sum(own)] == wanted.data[own[0] : sum(own)]:
            continue
        for other, sign, headers, lists in _HEADERS:
            start, span = _begin(wanted, other), wanted.span(sign)
            if other == prefix or start is None or span is None:
                continue
            at, gone = begin + span[0] - start, wanted.data[own[0] : own[0] + _TELLING]
            if gone in found.data[begin:] and found.data[at : at + span[1]] == wanted.data[span[0] : sum(span)]:
                yield from (among_lists, lists) if among_lists and lists else (among_headers, headers)
    for key, name in wanted.fields.items():
        text = found.fields.get(key)
        if (
            key.endswith(".DirectFormatName")
            and isinstance(name, str)
            and isinstance(text, str)
            and key[: len(_Q)] == _Q
        ):
            before = text.removesuffix(name)
            if (
                before and before != text and "=" not in before
            ):  # not another spelling of the name, which begins DIRECT=
                yield _ELEMENT


def _begin(packet: Packet, prefix: str) -> int | None:
    return min((at for key, (at, _) in packet.spans.items() if key.startswith(prefix)), default=None)


SUBJECT = "packets.encode"
MOST = 64
"""The most surplus bytes that are searched for."""
_U, _M, _SECURITY = "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3.", "MQMQ-2.2.20.6."
ADMIN_HOST = requirement_id(_U + "response-queue-admin-host")
COMPLETE = requirement_id("MQMQ-2.2.20.1.destination-complete")


@dataclass(frozen=True, slots=True)
class OptionalField:
    """A field that may be absent. field: its key. behind: keys of the field before it; the first one present counts.

    present, absent: the requirements that the field has its bytes, or takes none.
    """

    field: str
    behind: tuple[str, ...]
    absent: str
    present: str | None = None


_FIXED = M + "ExtensionSize"
OPTIONAL: tuple[OptionalField, ...] = (
    OptionalField(
        U + "AdminQueue",
        (U + "DestinationQueue",),
        requirement_id(_U + "admin-queue-none"),
        requirement_id(_U + "admin-queue-present"),
    ),
    OptionalField(
        U + "ResponseQueue",
        (U + "AdminQueue", U + "DestinationQueue"),
        requirement_id(_U + "response-queue-none"),
        requirement_id(_U + "response-queue-present"),
    ),
    OptionalField(M + "Label", (_FIXED,), requirement_id(_M + "label-absent")),
    OptionalField(M + "ExtensionData", (M + "Label", _FIXED), requirement_id(_M + "extension-data-absent")),
    OptionalField(
        M + "MessageBody", (M + "ExtensionData", M + "Label", _FIXED), requirement_id(_M + "message-body-absent")
    ),
)
# A size, the field whose bytes it counts, and the requirement that it is their number.
SIZES: tuple[tuple[str, str, str], ...] = (
    (S + "SenderIdSize", S + "SecurityData.SecurityID", requirement_id(_SECURITY + "sender-id-size")),
    (S + "SenderCertSize", S + "SecurityData.SenderCert", requirement_id(_SECURITY + "sender-cert-size-exact")),
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
    out = [*_optional(wanted, found), *_optional_sizes(wanted, found), *_names(message, wanted, found)]
    return [Verdict(one.requirement, one.outcome, SUBJECT, one.expected, one.actual, evidence=evidence) for one in out]


def _optional(wanted: Packet, found: Packet) -> Iterator[Verdict]:
    blamed = False
    for one in OPTIONAL:
        span = _span(wanted, one.field)
        if span is None:
            at = next(sum(place) for key in one.behind if (place := _span(wanted, key)) is not None)
            extra = 0 if blamed else _inserted(wanted, found, at)
            blamed = blamed or bool(extra)
            yield _presence_verdict(one.absent, not extra, {"bytes": 0}, {"bytes": extra})
        elif one.present is not None:
            missing = not blamed and _left_out(wanted, found, span)
            blamed = blamed or missing
            yield _presence_verdict(one.present, not missing, {"bytes": span[1]}, {"bytes": 0})


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


def _optional_sizes(wanted: Packet, found: Packet) -> Iterator[Verdict]:
    for key, counted, requirement in SIZES:
        span, size = wanted.span(key), wanted.fields.get(key)
        if span is None or counted not in wanted.fields:
            continue
        at, length = span
        there = int.from_bytes(found.data[at : at + length], "little")
        # Blame the size only for another number at its place with everything else right, not for reversed bytes.
        alone = _like(wanted, found.data[:at] + wanted.data[at : at + length] + found.data[at + length :])
        backwards = found.data[at : at + length] == wanted.data[at : at + length][::-1]
        yield _presence_verdict(requirement, there == size or not alone or backwards, field_json(size), there)


def _names(message: Mapping[str, Any], wanted: Packet, found: Packet) -> Iterator[Verdict]:
    if found.fields.get(U + "Flags.RQ") == 4 and wanted.fields.get(U + "ResponseQueue.PrivateQueueIdentifier"):
        name, meant = queue_name(found, "ResponseQueue"), canonical(message.get("response_queue"))
        yield _presence_verdict(ADMIN_HOST, name == meant, meant, name)
    names = message.get(MEMBERS["Destination"]) or ()
    count = found.fields.get("MultiQueueFormatHeader.Destination.ElementCount")
    if names and isinstance(count, int):
        wants = wanted.fields["MultiQueueFormatHeader.Destination.ElementCount"]
        complete = count >= int(wants) if isinstance(wants, int) else True
        yield _presence_verdict(COMPLETE, complete or not _counts(found, count), wants, count)


def _counts(packet: Packet, count: int) -> bool:
    """Return True when the list has as many names as it counts, so that it lacks names and is not miscounted."""
    prefix = "MultiQueueFormatHeader.Destination.FormatNameList."
    words = {key[len(prefix) :].partition(".")[0] for key in packet.fields if key.startswith(prefix)}
    return sum(word.isdigit() for word in words) == count


def _presence_verdict(requirement: str, holds: bool, expected: Any, actual: Any) -> Verdict:
    if holds:
        return Verdict(requirement, Outcome.PASS, SUBJECT)
    return Verdict(requirement, Outcome.FAIL, SUBJECT, expected, actual)
