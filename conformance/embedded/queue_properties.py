"""Queue properties: defaults, valid values, and when they can be set (MS-MQMQ 2.3.1, MS-MQDMPR 3.1.7.1.33)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY_NOTALLOWED,
)

Json = Any
MAX_LABEL = 124  # characters of VT_LPWSTR, 16 bits each (2.3.1.8)
_GUID = re.compile(r"\{?([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})\}?\Z")
_OCTET = r"(0|[1-9][0-9]{0,2})"
_MULTICAST = re.compile(rf"{_OCTET}\.{_OCTET}\.{_OCTET}\.{_OCTET}:(0|[1-9][0-9]{{0,4}})\Z")
_REFUSED = object()


def _number(least: int, most: int) -> Callable[[Json], Json]:
    def check(value: Json) -> Json:
        value = int(value) if isinstance(value, bool) else value
        return value if isinstance(value, int) and least <= value <= most else _REFUSED

    return check


def _label(value: Json) -> Json:
    if not isinstance(value, str) or "\0" in value:
        return _REFUSED
    return value if len(value.encode("utf-16-le", "surrogatepass")) <= 2 * MAX_LABEL else _REFUSED


def _guid(value: Json) -> Json:
    found = _GUID.match(value) if isinstance(value, str) else None
    return found[1] if found else _REFUSED


def _multicast(value: Json) -> Json:
    if value is None:
        return None
    found = _MULTICAST.match(value) if isinstance(value, str) else None
    if not found:
        return _REFUSED
    octets, port = [int(part) for part in found.groups()[:4]], int(found[5])
    valid = 224 <= octets[0] <= 239 and max(octets) <= 255 and port <= 65535
    return value if valid else _REFUSED


@dataclass(frozen=True, slots=True)
class Property:
    """default: its value in a queue created without it. check: returns the value to store, or refuses it.

    after_creation: true if it can be set on an existing queue.
    """

    default: Json
    check: Callable[[Json], Json]
    after_creation: bool = True


SETTABLE: Mapping[str, Property] = {
    "PROPID_Q_TYPE": Property(NULL_GUID, _guid),
    "PROPID_Q_JOURNAL": Property(0, _number(0, 1)),
    "PROPID_Q_QUOTA": Property(INFINITE, _number(0, INFINITE)),
    "PROPID_Q_BASEPRIORITY": Property(0, _number(-32768, 32767)),
    "PROPID_Q_JOURNAL_QUOTA": Property(INFINITE, _number(0, INFINITE)),
    "PROPID_Q_LABEL": Property("", _label),
    "PROPID_Q_AUTHENTICATE": Property(0, _number(0, 1)),
    "PROPID_Q_PRIV_LEVEL": Property(1, _number(0, 2)),
    "PROPID_Q_TRANSACTION": Property(0, _number(0, 1), after_creation=False),
    "PROPID_Q_MULTICAST_ADDRESS": Property(None, _multicast),
}
COMPUTED = frozenset(
    {
        "PROPID_Q_INSTANCE",
        "PROPID_Q_PATHNAME",
        "PROPID_Q_CREATE_TIME",
        "PROPID_Q_MODIFY_TIME",
        "PROPID_Q_SCOPE",
        "PROPID_Q_QMID",
        "PROPID_Q_PATHNAME_DNS",
        "PROPID_Q_ADS_PATH",
    }
)


def checked(given: Mapping[str, Json], *, creating: bool) -> dict[str, Json]:
    """Return the properties to store. Raises MqError for an unknown or read-only property, or an invalid value."""
    kept: dict[str, Json] = {}
    for name, value in given.items():
        if name in COMPUTED:
            raise MqError(MQ_ERROR_PROPERTY_NOTALLOWED)
        known = SETTABLE.get(name)
        if known is None:
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)
        if not creating and not known.after_creation:
            raise MqError(MQ_ERROR_PROPERTY_NOTALLOWED)
        kept[name] = known.check(value)
        if kept[name] is _REFUSED:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    return kept


def defaults() -> dict[str, Json]:
    """Return the properties of a queue created without any."""
    return {name: known.default for name, known in SETTABLE.items()}
