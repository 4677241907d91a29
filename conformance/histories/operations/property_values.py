"""Example values of queue properties: the ends of a range, values beyond it, values of another type."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.model.properties import LONGEST_LABEL, NO_GUID, OF_DIRECTORY, UNLIMITED, Kind, PropertyRow
from conformance.model.property_refusals import CREATE
from conformance.verdict import Json

UNKNOWN = ("PROPID_Q_NONE", "PROPID_Q_", "", "propid_q_label", "PROPID_M_LABEL", "PROPID_QM_QUOTA")
"""Names of no queue property."""
GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
_NUMBERS: Mapping[Kind, tuple[int, ...]] = {
    Kind.UI4: (0, 1, 0x7FFFFFFF, 0x80000000, UNLIMITED - 1, UNLIMITED),
    Kind.I2: (1, -1, 0x7FFF, -0x8000, 0),
    Kind.I4: (0, 1, 0x7FFFFFFF),
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "PROPID_Q_LABEL": (
        *("orders", "", " two  spaces ", "Жук \U0001f600", "q\"'\\;,=", "x" * LONGEST_LABEL),
        *(letter * LONGEST_LABEL for letter in "Ж漢"),  # of 2 and 3 bytes in UTF-8
        "\U0001f600" * (LONGEST_LABEL // 2),
    ),
    "PROPID_Q_MULTICAST_ADDRESS": ("234.1.1.1:1801", "224.0.1.88:1", "239.255.255.255:65535"),
}


def good(row: PropertyRow) -> tuple[Json, ...]:
    """Return values that a property can have; the first is not its default, if it can have another."""
    if row.values:
        return tuple(sorted(row.values, key=lambda value: row.default is not None and value == row.default[0]))
    if row.kind is Kind.GUID:
        return (GUID, GUID.lower(), NO_GUID)
    return _TEXTS.get(row.name, ("text",)) if row.kind is Kind.TEXT else _NUMBERS.get(row.kind, (1, 0))


def bad(row: PropertyRow) -> tuple[Json, ...]:
    """Return values a property cannot have: out of range or of another type. Private queues take any base priority."""
    if row.name == "PROPID_Q_BASEPRIORITY":
        return ()
    if row.values:
        return (max(row.values) + 1, 0xFF, 0x100, -1, "1", None)
    if row.kind is Kind.GUID:
        return ("", "orders", GUID[:-1], 5, None)
    if row.name == "PROPID_Q_MULTICAST_ADDRESS":
        return ("orders", "10.0.0.1:1801", "234.1.1.1", 5)
    if row.kind is Kind.TEXT:
        return ("x" * (2 * LONGEST_LABEL + 1), 5, None)
    return (-1, UNLIMITED + 1, "7", None)


def plausible(row: PropertyRow) -> Json:
    """Return a value of the right type for a property that cannot be written, different from its own."""
    values: dict[str, Json] = {"PROPID_Q_SCOPE": 0, "PROPID_Q_TRANSACTION": 1, "PROPID_Q_PATHNAME": "HOST\\private$\\z"}
    return values.get(row.name, good(row)[0])


def of_directory(name: str) -> Json:
    """Return a value of the right type for a property that only a directory has; bytes are base64."""
    examples: dict[str, Json] = {"VT_CLSID": GUID, "VT_UI4": 1, "VT_LPWSTR": "text"}
    return examples.get(OF_DIRECTORY[name], "AQIDBA==")


def writable(row: PropertyRow, method: str) -> bool:
    """Return True if the method (CREATE or SET) can write a property."""
    return (row.given if method == CREATE else row.kept) is not None
