"""The verdicts on a packet, causes before consequences; passes are made only when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet
from conformance.wire.headers import DESTINATION_ID, HEADER_SECTION_ID, RESPONSE_ID

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


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a rule that applies to a packet. readings: the alternatives that it assumed."""

    rule: str
    requirement: str
    outcome: Outcome
    readings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The verdicts of all rules on a packet, in their order: one object for all packets of which they say the same.

    others: the places of outcomes other than pass. read: those of passes that assumed a reading.
    """

    told: tuple[Told, ...]
    others: tuple[int, ...]
    read: tuple[int, ...]

    @classmethod
    def of(cls, told: Sequence[Told]) -> Pattern:
        """Return the pattern of these results."""
        good = [one.outcome is Outcome.PASS for one in told]
        others = tuple(at for at, one in enumerate(good) if not one)
        return cls(tuple(told), others, tuple(at for at, one in enumerate(told) if good[at] and one.readings))


class Later(Mapping[int, Verdict]):
    """Verdicts by their place, each made when somebody asks for it. make: makes the one of a place."""

    __slots__ = ("_all", "_made", "_make", "_places")

    def __init__(self, places: tuple[int, ...], make: Callable[[int], Verdict]) -> None:
        self._places = places
        self._make: Callable[[int], Verdict] | None = make if places else None
        self._made: dict[int, Verdict] = {}
        self._all: list[Verdict] | None = None

    @property
    def all(self) -> list[Verdict]:
        """All verdicts, in the order of their places."""
        if self._all is None:
            self._all = [self[at] for at in self._places]
        return self._all

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __contains__(self, at: object) -> bool:
        return at in self._places

    def __getitem__(self, at: int) -> Verdict:
        found = self._made.get(at)
        if found is None:
            if at not in self._places:
                raise KeyError(at)
            assert self._make is not None
            found = self._made[at] = self._make(at)
            if len(self._made) == len(self._places):
                self._make = None  # with the packet that it keeps
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Sequence[Verdict]):
    """The verdicts on a packet. others: those other than pass, by their place. behind: verdicts that follow."""

    pattern: Pattern
    subject: str
    evidence: Evidence | None
    frame: int | None
    others: Later
    behind: tuple[Verdict, ...] = ()

    def __len__(self) -> int:
        return len(self.pattern.told) + len(self.behind)

    def __iter__(self) -> Iterator[Verdict]:
        for at in range(len(self.pattern.told)):
            yield self.at(at)
        yield from self.behind

    @overload
    def __getitem__(self, at: int) -> Verdict: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Verdict, ...]: ...
    def __getitem__(self, at: int | slice) -> Verdict | tuple[Verdict, ...]:
        if isinstance(at, int) and 0 <= at < len(self.pattern.told):
            return self.at(at)
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def deviating(self) -> list[Verdict]:
        """The verdicts other than pass."""
        return [*self.others.all, *(one for one in self.behind if one.outcome is not Outcome.PASS)]

    @property
    def passes(self) -> list[Verdict]:
        """The passes among the verdicts of the pattern."""
        return [self.at(at) for at in range(len(self.pattern.told)) if at not in self.others]

    @property
    def telling(self) -> list[Verdict]:
        """The verdicts that may show how the sender reads the documents: all but passes that assume no reading."""
        places = sorted((*self.pattern.others, *self.pattern.read))
        return [*map(self.at, places), *self.behind]

    def proven(self, evidence: Callable[[], Evidence]) -> Judged:
        """Return the same with this evidence of what is not pass."""
        others, found = self.others, list[Evidence]()

        def verdict(at: int) -> Verdict:
            if not found:
                found.append(evidence())
            return replace(others[at], evidence=found[0])

        return replace(self, others=Later(self.pattern.others, verdict))

    def followed_by(self, more: Sequence[Verdict]) -> Judged:
        """Return the same with more verdicts behind."""
        return replace(self, behind=(*self.behind, *more))

    def at(self, at: int) -> Verdict:
        """Return the verdict at a place of the pattern."""
        if at in self.others:
            return self.others[at]
        told = self.pattern.told[at]
        return Verdict(
            told.requirement, told.outcome, self.subject, readings=told.readings, evidence=self.evidence,
            rule=told.rule, frame=self.frame,
        )  # fmt: skip


def deviating(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts other than pass."""
    if isinstance(verdicts, Judged):
        return verdicts.deviating
    return [one for one in verdicts if one.outcome is not Outcome.PASS]
