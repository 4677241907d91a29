"""Table of a queue's properties: MS-MQMQ 2.3.1, the calls that may write them (MS-MQMP 3.1.1.12), and their defaults.

The defaults are those of MS-MQDMPR 3.1.7.1.33. Properties that only a directory has (2.3.1.16 to .21, .25 to .27) are
no rows: no call of a queue manager without a directory shows them, and none writes them (`OF_DIRECTORY`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES
from conformance.verdict import Json

LONGEST_QUEUE_LABEL = (
    124  # UTF-16 code units or characters: a reading leaves that open, so lengths in between are not judged
)
NO_GUID = "00000000-0000-0000-0000-000000000000"
UNLIMITED = 0xFFFFFFFF
_GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_MULTICAST = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5})\Z", re.ASCII)


class Kind(Enum):
    """Variant type as the adapter protocol writes it: the smallest and largest number, or a text."""

    UI1 = (0, 0xFF)
    UI4 = (0, 0xFFFFFFFF)
    I2 = (-0x8000, 0x7FFF)
    I4 = (-0x80000000, 0x7FFFFFFF)
    TEXT = ("text", "")
    GUID = ("guid", "")

    def holds(self, value: Json) -> bool:
        """Tell whether a value has this type."""
        smallest, largest = self.value
        if isinstance(smallest, int) and isinstance(largest, int):
            return isinstance(value, int) and not isinstance(value, bool) and smallest <= value <= largest
        return isinstance(value, str) and (self is Kind.TEXT or _GUID.match(value) is not None)


class Problem(Enum):
    """Reason why a property cannot be written or read."""

    UNKNOWN = "unknown"
    DIRECTORY = "of a directory"
    NOT_APPLICABLE = "not applicable"
    TYPE = "type"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """One property of a private queue.

    shown: the requirement on its type. default: the value in a queue created without it, and its requirement; None: the
    document has no default. given: the requirement that it is as given at creation; None: creation cannot give it.
    kept: the requirement that it is as set; None: it cannot be set. values: of an enumeration, each value with its
    requirement. among: the requirement that it has no other value. nothing: it may be null.
    """

    name: str
    kind: Kind
    shown: str
    default: tuple[Json, str] | None = None
    given: str | None = None
    kept: str | None = None
    values: Mapping[int, str] = field(default_factory=dict)
    among: str | None = None
    nothing: bool = False

    def blamed(self, value: Json) -> str:
        """Return the requirement that a property set to `value` has that value."""
        return self.values.get(value, self.kept or self.shown) if isinstance(value, int) else self.kept or self.shown

    def problem(self, value: Json) -> tuple[Problem, str] | None:
        """Return the problem of a value and the requirement it breaks; None for a correct value."""
        if value is None and self.nothing:
            return None
        if self.among is not None and isinstance(value, int) and value not in self.values:
            return Problem.VALUE, self.among
        if not self.kind.holds(value):
            return Problem.TYPE, self.shown
        if self.name == "PROPID_Q_LABEL" and len(str(value)) > LONGEST_QUEUE_LABEL:
            return Problem.VALUE, requirement_id("MQMQ-2.3.1.8.label-maximum")
        if self.name == "PROPID_Q_MULTICAST_ADDRESS" and not _multicast(str(value)):
            return Problem.VALUE, requirement_id("MQMQ-2.3.1.23.address")
        return None


def _multicast(text: str) -> bool:
    found = _MULTICAST.match(text)
    return found is not None and 224 <= int(found[1]) <= 239 and all(int(part) < 256 for part in found.groups()[1:4])


def _row(
    name: str,
    kind: Kind,
    *,
    given: str = "",
    kept: str = "",
    default: tuple[Json, str] | None = None,
    values: tuple[str, ...] = (),
    nothing: bool = False,
) -> PropertyRow:
    full = f"PROPID_Q_{name}"
    section = f"MQMQ-{QUEUE_PROPERTIES[full].section}"
    return PropertyRow(
        full,
        kind,
        requirement_id(f"{section}.{full.lower().replace('_', '-')}"),
        default,
        requirement_id(f"MQDMPR-3.1.7.1.3.attribute-{given}") if given else None,
        requirement_id(kept) if kept else None,
        {number: requirement_id(f"{section}.{word}") for number, word in enumerate(values)},
        requirement_id(f"{section}.values") if values else None,
        nothing,
    )


def _default(value: Json, word: str) -> tuple[Json, str]:
    return value, requirement_id(f"MQDMPR-3.1.7.1.33.default-{word}")


_ROWS = (
    _row("INSTANCE", Kind.GUID),
    _row(
        "TYPE", Kind.GUID, given="type", kept="MQDMPR-3.1.1.2.type-not-interpreted", default=_default(NO_GUID, "type")
    ),
    _row("PATHNAME", Kind.TEXT),
    _row(
        "JOURNAL",
        Kind.UI1,
        given="journaling",
        kept="MQMQ-2.3.1.4.values",
        default=_default(0, "journaling"),
        values=("mq-journal-none", "mq-journal"),
    ),
    _row("QUOTA", Kind.UI4, given="quota", kept="MQMQ-2.3.1.5.propid-q-quota", default=_default(UNLIMITED, "quota")),
    _row(
        "BASEPRIORITY",
        Kind.I2,
        given="base-priority",
        kept="MQMQ-2.3.1.6.priority-level",
        default=_default(0, "base-priority"),
    ),
    _row(
        "JOURNAL_QUOTA",
        Kind.UI4,
        given="journal-quota",
        kept="MQMQ-2.3.1.7.propid-q-journal-quota",
        default=_default(UNLIMITED, "journal-quota"),
    ),
    _row("LABEL", Kind.TEXT, given="label", kept="MQDMPR-3.1.1.2.label", default=_default("", "label")),
    _row("CREATE_TIME", Kind.I4),
    _row("MODIFY_TIME", Kind.I4),
    _row(
        "AUTHENTICATE",
        Kind.UI1,
        given="authentication",
        kept="MQMQ-2.3.1.11.values",
        default=_default(0, "authentication"),
        values=("mq-authenticate-none", "mq-authenticate"),
    ),
    _row(
        "PRIV_LEVEL",
        Kind.UI4,
        given="privacy-level",
        kept="MQMQ-2.3.1.12.values",
        default=_default(1, "privacy-level"),
        values=("mq-priv-level-none", "mq-priv-level-optional", "mq-priv-level-body"),
    ),
    _row(
        "TRANSACTION",
        Kind.UI1,
        given="transactional",
        default=_default(0, "transactional"),
        values=("mq-transactional-none", "mq-transactional"),
    ),
    _row(
        "SCOPE",
        Kind.UI1,
        default=(1, requirement_id("MQDMPR-3.1.7.1.3.scope")),
        values=("mqds-sitescope", "mqds-enterprisescope"),
    ),
    _row("QMID", Kind.GUID),
    _row("PATHNAME_DNS", Kind.TEXT),
    _row(
        "MULTICAST_ADDRESS",
        Kind.TEXT,
        given="multicast-address",
        kept="MQMQ-2.3.1.23.propid-q-multicast-address",
        default=_default(None, "multicast-address"),
        nothing=True,
    ),
    _row("ADS_PATH", Kind.TEXT, default=("", requirement_id("MQDMPR-3.1.7.1.3.directory-path-empty"))),
)

ROWS: Mapping[str, PropertyRow] = MappingProxyType({row.name: row for row in _ROWS})
"""The properties of a private queue by name."""

OF_DIRECTORY: Mapping[str, str] = MappingProxyType(
    {name: each.variant_type for name, each in QUEUE_PROPERTIES.items() if name not in ROWS}
)
"""The queue properties that MS-MQMP 3.1.1.12 gives to no call, by name, with their variant types."""

APART = frozenset({"PROPID_Q_ADS_PATH"})
"""Read by a test of its own: a property of public queues, which a manager may refuse for a private one."""

SINCE: Mapping[str, str] = {
    "PROPID_Q_PATHNAME_DNS": "msmq-2.0",
    "PROPID_Q_MULTICAST_ADDRESS": "msmq-3.0",
    "PROPID_Q_ADS_PATH": "msmq-3.0",
}
"""The MSMQ version that introduced a property; all others exist since the first version."""


def same(row: PropertyRow, one: Json, other: Json) -> bool:
    """Tell whether two values of a property are equal; GUIDs and queue names are compared without case."""
    if isinstance(one, str) and isinstance(other, str) and (row.kind is Kind.GUID or row.name == "PROPID_Q_PATHNAME"):
        return one.casefold() == other.casefold()
    return one == other and isinstance(one, bool) == isinstance(other, bool)
