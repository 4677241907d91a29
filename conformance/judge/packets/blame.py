"""Orders the requirements that a packet breaks: causes come before their consequences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet
from conformance.wire.multi_queue_format_header import DESTINATION_ID, RESPONSE_ID
from conformance.wire.soap_headers import HEADER_SECTION_ID

SUBJECT = "packets.encode"
_HEADER = "MessagePropertiesHeader"
PADDING = requirement_id("MQMQ-2.2.19.3.padding")
ALIGNED = requirement_id("MQMQ-2.2.20.6.security-data-aligned")
_DATA = "SecurityHeader.SecurityData."
# Sections of MS-MQMQ in packet order: a wrong header may move, and spoil, every header behind it.
_USER, _TRANSACTION, _SECURITY, _PROPERTIES, _DEBUG, _SOAP, _LISTS = range(7)
_ORDER: tuple[tuple[str, ...], ...] = (
    ("MQMQ-2.2.19.2.", "MQMQ-2.2.18.1.5."),
    ("MQMQ-2.2.20.5.",),
    ("MQMQ-2.2.20.6.",),
    ("MQMQ-2.2.19.3.",),
    ("MQMQ-2.2.20.8.",),
    ("MQMQ-2.2.20.7.",),
    ("MQMQ-2.2.20.1.", "MQMQ-2.2.20.2.", "MQMQ-2.2.20.3."),
)
# The field that shows that a header is present, and the number it must hold if only one is possible.
_MARKS: dict[int, tuple[str, int | None]] = {
    _SECURITY: ("SecurityHeader.ProviderInfoSize", None),
    _PROPERTIES: ("MessagePropertiesHeader.LabelLength", None),
    _SOAP: ("SoapHeader.HeaderSectionID", HEADER_SECTION_ID),
    _LISTS: ("MultiQueueFormatHeader.Destination.HeaderID", DESTINATION_ID),
}


_SECOND = "MultiQueueFormatHeader.Administration.HeaderID"
_STOPPED = "MultiQueueFormatHeader.Destination.FormatNameList.Stopped"


def _ids(place: int, section: str, words: str) -> Iterator[tuple[str, int]]:
    for word in words.split():
        yield requirement_id(f"{section}.{word}"), place


# Requirements on sizes and kinds of a header, with the header's place in the order: where one is broken, the rest of
# the header is misread. Sizes come before kinds.
_SIZES = dict(
    (
        *_ids(
            _SECURITY,
            "MQMQ-2.2.20.6",
            "flags-st-layout sender-id-size-layout encryption-key-size-layout signature-size-layout "
            "sender-cert-size-layout security-data-aligned",
        ),
        *_ids(_PROPERTIES, "MQMQ-2.2.19.3", "label-length padding"),
        *_ids(_PROPERTIES, "MQDMPR-3.1.7.1.32", "message-properties-header-label-length"),
        *_ids(_SOAP, "MQMQ-2.2.20.7", "header-data-length-layout body-data-length-layout"),
        *_ids(_LISTS, "MQMQ-2.2.20.2", "header-size-layout"),
    )
)
_KINDS = dict(
    _ids(
        _LISTS,
        "MQMQ-2.2.18.1.4",
        "format-type-public format-type-private format-type-direct format-type-distribution-list",
    )
)
# Requirements that a header is present: they also fail when an error earlier in the packet hides the header.
_CLOSING = frozenset(
    name
    for name, _ in (
        *_ids(_USER, "MQMQ-2.2.19.1", "session-header-present debug-header-present"),
        *_ids(
            _USER,
            "MQMQ-2.2.19.2",
            "message-properties-present transaction-header-present security-header-present multi-queue-header-present "
            "soap-header-present",
        ),
    )
)


def by_cause(verdicts: Iterable[Verdict], packet: Packet) -> list[Verdict]:
    """Sort the verdicts on a packet by blame; otherwise they keep their order.

    A wrong size in a header that is present, with no error before it, comes first, then the kind of an element; a
    missing header comes last.
    """
    given = list(verdicts)
    broken = {one.requirement for one in given if one.outcome is Outcome.FAIL} - _CLOSING

    def rank(verdict: Verdict) -> int:
        if verdict.outcome is not Outcome.FAIL:
            return 0
        name = verdict.requirement
        if name in _CLOSING:
            return 1
        swapped = packet.fields.get(_SECOND) == RESPONSE_ID  # every list is then compared with another list
        if name in _SIZES and _sound_before(_SIZES[name], broken, packet):
            return -2 if _SIZES[name] != _LISTS or (_cut_short(packet) and not swapped) else 0
        return -1 if name in _KINDS and not swapped and _sound_before(_KINDS[name], broken, packet) else 0

    return sorted(given, key=rank)


def _sound_before(place: int, broken: Collection[str], packet: Packet) -> bool:
    key, mark = _MARKS[place]
    if key not in packet.fields or mark not in (None, packet.fields[key]):
        return False
    before = tuple(section for sections in _ORDER[:place] for section in sections)
    return not any(one.startswith(before) for one in broken)


def _cut_short(packet: Packet) -> bool:
    """Return True when the first list ends inside one of its names."""
    return packet.fields.get(_STOPPED) in (None, "short", "unterminated")


def unpadded(wanted: Packet, found: Packet, *, evidence: Evidence | None = None) -> Iterator[Verdict]:
    """Judge whether the header behind a MessagePropertiesHeader starts after the padding (MS-MQMQ 2.2.19.3).

    Without the padding, the beginning of that header is read as padding, so that no rule on a single packet detects it.
    """
    at, size = wanted.span(f"{_HEADER}.Padding") or (0, 0)
    begin = wanted.data[at + size :][:12]
    if not size or not begin:
        return
    # Headers before it can have another length, where a queue is named in another form. Words are compared singly: a
    # word can be a size that depends on the alignment of names.
    header = found.spans.get(_HEADER, (0, 0))[0] - wanted.spans[_HEADER][0]
    words = [begin[number : number + 4] for number in range(0, len(begin), 4)]
    moved, right = (
        [found.data[where + 4 * number :][: len(word)] == word for number, word in enumerate(words)]
        for where in (header + at, header + at + size)
    )
    there = (True, False) in zip(moved, right, strict=True) and (False, True) not in zip(moved, right, strict=True)
    outcome = Outcome.FAIL if there else Outcome.PASS
    seen = {"padding": 0 if there else size}
    yield Verdict(PADDING, outcome, SUBJECT, {"padding": size}, seen, evidence=evidence)


def packed_items(wanted: Packet, found: Packet, *, evidence: Evidence | None = None) -> Iterator[Verdict]:
    """Judge whether the items of SecurityData begin at multiples of 4 (MS-MQMQ 2.2.20.6), where one needs padding."""
    start = found.spans.get("SecurityHeader", (0, 0))[0] - wanted.spans.get("SecurityHeader", (0, 0))[0]
    for key, (at, size) in wanted.spans.items():
        if not (key.startswith(_DATA) and key.endswith(".Padding") and size):
            continue
        begin = at + size
        item = next(
            (sum(span) for other, span in wanted.spans.items() if other.startswith(_DATA) and span[0] == begin), 0
        )
        if item <= begin or not found.has("SecurityHeader"):
            continue
        ours = wanted.data[begin:item]
        packed, right = (found.data[start + where :][: len(ours)] == ours for where in (at, begin))
        outcome = Outcome.FAIL if packed and not right else Outcome.PASS
        seen = {"padding": 0 if packed and not right else size}
        yield Verdict(ALIGNED, outcome, SUBJECT, {"padding": size}, seen, evidence=evidence)
        return
