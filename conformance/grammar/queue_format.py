"""QUEUE_FORMAT (MS-MQMQ 2.2.7) as a value, and direct format names in packets (MS-MQMQ 2.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from conformance.grammar import values
from conformance.grammar.values import QueueName
from conformance.spec.catalogue import assignment, reading_id, requirement_id

if TYPE_CHECKING:
    from conformance.grammar.bulk import Names

PREFIX = "DIRECT="
MOST = 4096
"""The longest text, in characters, that is parsed; no derived name is half as long."""
# The alternatives that derive more than the defaults do.
_LOOSE = {
    "R-MQMQ-computer-alphabet": "any-printable",
    "R-MQMQ-journal-of-subqueue": "accepted",
    "R-MQMQ-http-future-address": "any",
    "R-MQMQ-http-port-range": "accepted",
    "R-MQMQ-comma": "belongs",
}


@lru_cache(maxsize=1 << 12)
def is_direct(text: str, late: bool = False) -> bool:
    """Return True for a direct format name, with or without `DIRECT=`.

    late: as MSMQ 2.0 and later have it, whose queues have no plus, comma or quote in their names.
    """
    if len(text) > MOST:
        return False
    name = text if text[: len(PREFIX)].upper() == PREFIX else PREFIX + text
    return any(_derives(names, name) for names in _grammars(late))


def is_format_name(text: str) -> bool:
    """Return True for a format name of any kind (MS-MQMQ 2.1), and for a direct one without `DIRECT=`."""
    return is_direct(text) or (len(text) <= MOST and any(_derives(names, text) for names in _grammars(False)))


def _derives(names: Names, name: str) -> bool:
    from conformance.grammar.names import NameError_

    try:
        names.format_name(name)
    except NameError_:
        return False
    return True


@cache
def _grammars(late: bool) -> tuple[Names, ...]:
    from conformance.grammar.names import bulk

    versions = ("4.0",) if late else ("4.0", "1.0")
    return (*map(bulk, versions), *(bulk(version, _LOOSE) for version in versions))


Readings = Mapping[str, tuple[str, ...]]

XACTONLY_FLAGS = reading_id("R-MQMQ-xactonly-flags")
JOURNAL_TYPES = reading_id("R-MQMQ-journal-suffix-types")
DEADLETTER_TYPES = reading_id("R-MQMQ-deadletter-suffix-types")
SUBQUEUE_NONE = reading_id("R-MQMQ-subqueue-suffix-none")
DIRECT_JOURNAL = reading_id("R-MQMQ-direct-id-journal")
SUBQUEUE_PREFIX = reading_id("R-MQMQ-subqueue-prefix")
DOMAIN_ABSENT = reading_id("R-MQMQ-dl-domain-absent")


class Qft(IntEnum):
    """QUEUE_FORMAT_TYPE (2.2.6)."""

    UNKNOWN = 0
    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    MACHINE = 4
    CONNECTOR = 5
    DL = 6
    MULTICAST = 7
    SUBQUEUE = 8


class Suffix(IntEnum):
    """QUEUE_SUFFIX_TYPE (2.2.11): the 4 low bits of m_SuffixAndFlags."""

    NONE = 0
    JOURNAL = 1
    DEADLETTER = 2
    DEADXACT = 3
    XACTONLY = 4
    SUBQUEUE = 5


NOT_SYSTEM, SYSTEM = 0x00, 0x80
"""QUEUE_FORMAT_FLAG_*: the 4 high bits of m_SuffixAndFlags, in place."""


@dataclass(frozen=True, slots=True)
class ObjectId:
    """OBJECTID (2.2.8). lineage: a GUID, that of the computer of a private queue. uniquifier: unsigned, 32 bits."""

    lineage: str
    uniquifier: int


@dataclass(frozen=True, slots=True)
class DlId:
    """DL_ID (2.2.9). domain None: a null pointer."""

    guid: str
    domain: str | None


@dataclass(frozen=True, slots=True)
class MulticastId:
    """MULTICAST_ID (2.2.10). address: the four numbers; R-MQMQ-multicast-address-order makes them an integer."""

    address: str
    port: int


Union = str | ObjectId | DlId | MulticastId | None


@dataclass(frozen=True, slots=True)
class QueueFormat:
    """A QUEUE_FORMAT as received: any value of its members, legal or not.

    m_qft, m_suffix_and_flags: unsigned bytes. union: a GUID as text for PUBLIC, MACHINE and CONNECTOR, an ObjectId for
    PRIVATE, a DlId, a MulticastId, text for DIRECT and SUBQUEUE, None for UNKNOWN. Raises ValueError for a number that
    does not fit its member.
    """

    m_qft: int
    m_suffix_and_flags: int
    union: Union
    m_reserved: int = 0

    def __post_init__(self) -> None:
        for name, limit in (("m_qft", 0xFF), ("m_suffix_and_flags", 0xFF), ("m_reserved", 0xFFFF)):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be from 0 to {limit}")

    @property
    def suffix(self) -> int:
        """The suffix type."""
        return self.m_suffix_and_flags & 0x0F

    @property
    def flags(self) -> int:
        """The flags, in place: 0x00 to 0xF0."""
        return self.m_suffix_and_flags & 0xF0


class QueueFormatError(ValueError):
    """Raised for a QUEUE_FORMAT without a name, or the reverse. requirements: those it breaks, if any."""

    def __init__(self, sentence: str, requirements: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.requirements = requirements


# The table's statements on one suffix type: its flags, and the m_qft it is combined with. `allowed` is for "MUST be",
# `forbidden` for "MUST NOT be": they differ for values that QUEUE_FORMAT_TYPE does not list. `disputed` are values that
# a MUST NOT omits although they make no sense; `reading` decides them.
@dataclass(frozen=True, slots=True)
class FormRow:
    """One row of the table of suffix types. flags None: R-MQMQ-xactonly-flags states them, the row does not."""

    suffix: Suffix
    flags: int | None
    flags_requirement: str
    type_requirement: str
    allowed: frozenset[int] | None = None
    forbidden: frozenset[int] = frozenset()
    disputed: frozenset[int] = frozenset()
    reading: str | None = None

    def flags_hold(self, value: QueueFormat, accepted: Readings) -> bool:
        """Return True when the row allows the flags."""
        return value.flags in (_xactonly_flags(accepted) if self.flags is None else (self.flags,))

    def type_holds(self, value: QueueFormat, accepted: Readings) -> bool:
        """Return True when the row allows m_qft."""
        if value.m_qft in self.disputed and self.reading is not None:
            return "not-forbidden" in accepted[self.reading]
        return value.m_qft not in self.forbidden and (self.allowed is None or value.m_qft in self.allowed)


def _row(
    suffix: Suffix,
    word: str,
    flags: int | None,
    *,
    allowed: set[int] | None = None,
    forbidden: set[int] | None = None,
    disputed: set[int] | None = None,
    reading: str | None = None,
) -> FormRow:
    # The row of XACTONLY has no sentence on the flags: other flags break the meaning of the row as a whole.
    flags_word = f"suffix-{word}-flags" if flags is not None else f"suffix-{word}"
    return FormRow(
        suffix,
        flags,
        requirement_id(f"MQMQ-2.2.7.{flags_word}"),
        requirement_id(f"MQMQ-2.2.7.suffix-{word}-type"),
        frozenset(allowed) if allowed is not None else None,
        frozenset(forbidden or ()),
        frozenset(disputed or ()),
        reading,
    )


# The types of an unknown queue, and of a queue that has neither journal nor dead letters.
_NAMELESS: set[int] = {
    Qft.UNKNOWN,
    Qft.SUBQUEUE,
}
TABLE: Mapping[int, FormRow] = {
    row.suffix: row
    for row in (
        _row(
            *(Suffix.NONE, "none", NOT_SYSTEM),
            forbidden={Qft.MACHINE},
            disputed={Qft.SUBQUEUE},
            reading=SUBQUEUE_NONE,
        ),
        _row(
            *(Suffix.JOURNAL, "journal", SYSTEM),
            forbidden={Qft.CONNECTOR, Qft.DL, Qft.MULTICAST},
            disputed=_NAMELESS,
            reading=JOURNAL_TYPES,
        ),
        _row(
            *(Suffix.DEADLETTER, "deadletter", SYSTEM),
            forbidden={Qft.PUBLIC, Qft.PRIVATE, Qft.CONNECTOR, Qft.DL, Qft.MULTICAST},
            disputed=_NAMELESS,
            reading=DEADLETTER_TYPES,
        ),
        _row(Suffix.DEADXACT, "deadxact", SYSTEM, allowed={Qft.DIRECT, Qft.MACHINE}),
        _row(Suffix.XACTONLY, "xactonly", None, allowed={Qft.CONNECTOR}),
        _row(Suffix.SUBQUEUE, "subqueue", NOT_SYSTEM, allowed={Qft.SUBQUEUE}),
    )
}

TYPE_LISTED = requirement_id("MQMQ-2.2.7.m-qft")
SUFFIX_AND_FLAGS = requirement_id("MQMQ-2.2.7.m-suffix-and-flags")
UNION = requirement_id("MQMQ-2.2.7.union")
RESERVED = requirement_id("MQMQ-2.2.7.m-reserved-sender")
DIRECT_TEXT = requirement_id("MQMQ-2.2.7.m-p-direct-id")
SUBQUEUE_TEXT = requirement_id("MQMQ-2.2.7.m-p-direct-subqueue-id-grammar")
SUBQUEUE_THERE = requirement_id("MQMQ-2.2.7.m-p-direct-subqueue-id-subqueue")
SUFFIX_MEANS = {
    suffix: requirement_id(f"MQMQ-2.2.7.suffix-{suffix.name.lower()}")
    for suffix in (Suffix.NONE, Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)
}

_JOURNAL, _SYSTEM_QUEUE = ";journal", "\\system$;"

_MEMBER: Mapping[int, type | tuple[type, ...]] = {
    Qft.UNKNOWN: type(None),
    Qft.PUBLIC: str,
    Qft.PRIVATE: ObjectId,
    Qft.DIRECT: str,
    Qft.MACHINE: str,
    Qft.CONNECTOR: str,
    Qft.DL: DlId,
    Qft.MULTICAST: MulticastId,
    Qft.SUBQUEUE: str,
}
_SUFFIX_WORDS = {Suffix.JOURNAL: values.JOURNAL, Suffix.DEADLETTER: values.DEADLETTER, Suffix.DEADXACT: values.DEADXACT}

Parse = Callable[[str], QueueName]
"""A parser of format names; raises ValueError for a text that is not one."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One demand of 2.2.7 on the numbers of a QUEUE_FORMAT; `holds` is also true where it does not apply."""

    requirement: str
    holds: Callable[[QueueFormat, Readings], bool]


def _of_suffix(suffix: int, holds: Callable[[QueueFormat, Readings], bool]) -> Callable[[QueueFormat, Readings], bool]:
    return lambda value, accepted: value.suffix != suffix or holds(value, accepted)


def _member_fits(value: QueueFormat, accepted: Readings) -> bool:
    return value.m_qft not in _MEMBER or isinstance(value.union, _MEMBER[value.m_qft])


CONSTRAINTS: tuple[Constraint, ...] = (
    Constraint(TYPE_LISTED, lambda value, _: value.m_qft in _MEMBER),
    Constraint(UNION, _member_fits),
    Constraint(SUFFIX_AND_FLAGS, lambda value, _: value.flags in (NOT_SYSTEM, SYSTEM) and value.suffix in TABLE),
    *(Constraint(row.flags_requirement, _of_suffix(suffix, row.flags_hold)) for suffix, row in TABLE.items()),
    *(Constraint(row.type_requirement, _of_suffix(suffix, row.type_holds)) for suffix, row in TABLE.items()),
    Constraint(RESERVED, lambda value, _: value.m_reserved == 0),
)
"""Every demand of the section on numbers, each with its requirement; the grammar of the text is separate."""


def broken(
    value: QueueFormat, readings: Readings | None = None, constraints: Iterable[Constraint] = CONSTRAINTS
) -> tuple[str, ...]:
    """Return the ids of the requirements of 2.2.7 that the numbers of a QUEUE_FORMAT break, without the text's grammar.

    readings: the accepted alternatives, as `assignment` returns them; those of `windows` by default.
    """
    accepted = readings if readings is not None else assignment("windows")
    return tuple(each.requirement for each in constraints if not each.holds(value, accepted))


def from_queue_format(value: QueueFormat, parse: Parse, readings: Readings | None = None) -> QueueName:
    """Return the name of a QUEUE_FORMAT; `parse` parses its text. m_reserved is ignored, as 2.2.7 requires of a server.

    Raises QueueFormatError with the ids of the broken requirements.
    """
    accepted = readings if readings is not None else assignment("windows")
    wrong = tuple(name for name in broken(value, accepted) if name != RESERVED)
    if wrong:
        raise QueueFormatError(f"A QUEUE_FORMAT that breaks {', '.join(wrong)} has no name.", wrong)
    if value.m_qft == Qft.UNKNOWN:
        raise QueueFormatError("A QUEUE_FORMAT of unknown type has no name.")
    text = _text(value, accepted)
    demand = {Qft.DIRECT: DIRECT_TEXT, Qft.SUBQUEUE: SUBQUEUE_TEXT}.get(Qft(value.m_qft), UNION)
    try:
        name = parse(text)
    except ValueError as error:
        raise QueueFormatError(f"{_short(text)} in a QUEUE_FORMAT is not a format name.", (demand,)) from error
    if isinstance(name, values.DirectName):
        _agree(value, name)
    return name


def _agree(value: QueueFormat, name: values.DirectName) -> None:
    """Check that the text of a direct name repeats the numbers."""
    if value.m_qft == Qft.SUBQUEUE:
        if name.subqueue is None:
            raise QueueFormatError(f"{_short(name.text)} has no subqueue.", (SUBQUEUE_THERE,))
        if value.suffix not in (Suffix.SUBQUEUE, Suffix.NONE):
            demand = SUFFIX_MEANS[Suffix(value.suffix)]
            raise QueueFormatError(f"{_short(name.text)} is a subqueue, which has no such queue.", (demand,))
    if value.m_qft == Qft.DIRECT:
        suffix = _SUFFIX_WORDS.get(Suffix(value.suffix))
        if name.subqueue is not None or name.suffix != suffix:
            demand = SUFFIX_MEANS[Suffix(value.suffix)]
            raise QueueFormatError(f"{_short(name.text)} has another suffix than m_SuffixAndFlags says.", (demand,))


def _direct_text(value: QueueFormat, text: str, accepted: Readings) -> str:
    """Return the name of a direct QUEUE_FORMAT: a journal is marked by the text itself or by the suffix type."""
    if value.suffix != Suffix.JOURNAL or _SYSTEM_QUEUE in text.lower():
        return text
    marked = text[-len(_JOURNAL) :].lower() == _JOURNAL
    if ("kept" if marked else "dropped") not in accepted[DIRECT_JOURNAL]:
        verb = "ends" if marked else "does not end"
        raise QueueFormatError(f"The text of the journal {_short(text)} {verb} in ;JOURNAL.", (DIRECT_TEXT,))
    return text if marked else text + _JOURNAL.upper()


def _text(value: QueueFormat, accepted: Readings) -> str:
    behind = _SUFFIX_WORDS.get(Suffix(value.suffix))
    suffix = f";{behind.upper()}" if behind else ";XACTONLY" if value.suffix == Suffix.XACTONLY else ""
    union = value.union
    if isinstance(union, ObjectId):
        return f"PRIVATE={union.lineage}\\{union.uniquifier:x}{suffix}"
    if isinstance(union, DlId):
        return f"DL={union.guid}" + (f"@{union.domain}" if union.domain else "")
    if isinstance(union, MulticastId):
        return f"MULTICAST={union.address}:{union.port}"
    if value.m_qft == Qft.SUBQUEUE:
        begun = isinstance(union, str) and union[:7].casefold() == "direct="
        if ("with" if begun else "without") not in accepted[SUBQUEUE_PREFIX]:
            verb = "begins" if begun else "does not begin"
            raise QueueFormatError(f"The text of a subqueue {verb} with DIRECT=.", (SUBQUEUE_TEXT,))
        return f"{union}" if begun else f"DIRECT={union}"
    if value.m_qft == Qft.DIRECT:
        return _direct_text(value, f"DIRECT={union}", accepted)
    return f"{Qft(value.m_qft).name}={union}{suffix}"


def _xactonly_flags(accepted: Readings) -> tuple[int, ...]:
    flags = {"not-system": NOT_SYSTEM, "system": SYSTEM}
    return tuple(flags[name] for name in accepted[XACTONLY_FLAGS])


def _short(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:77] + "...")
