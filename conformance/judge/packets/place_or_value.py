"""Tells a wrong value from a wrong place, among the demands that an encoded packet breaks.

A field with another value than the wanted one breaks the demand on its place, and the demand on its value. Where the
fields beside it stand where they belong, the field does too, and its value is to blame. Where the wanted value stands
in the place of another field, or a header in the place of another header, the place is to blame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from conformance.judge.expr import keys_in
from conformance.judge.packets.field_compare import bits, in_place
from conformance.judge.packets.field_places import PLACES, U
from conformance.judge.packets.judge import RULES
from conformance.judge.packets.security_values import FIELDS
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet
from conformance.wire.multi_queue_format_header import LISTS

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


def told_apart(verdicts: Iterable[Verdict], wanted: Packet, found: Packet) -> list[Verdict]:
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
