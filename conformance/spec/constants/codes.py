"""Names of numbers in the constants: statuses, and identifiers of properties."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from conformance.spec.constants.hresults import HRESULTS, name_of


class PropertyId(NamedTuple):
    """A property: its number, the variant type of its value as the document names it, and its section."""

    value: int
    variant_type: str
    section: str


PROPID_Q_INSTANCE: Final = 101
PROPID_Q_TYPE: Final = 102
PROPID_Q_PATHNAME: Final = 103
PROPID_Q_JOURNAL: Final = 104
PROPID_Q_QUOTA: Final = 105
PROPID_Q_BASEPRIORITY: Final = 106
PROPID_Q_JOURNAL_QUOTA: Final = 107
PROPID_Q_LABEL: Final = 108
PROPID_Q_CREATE_TIME: Final = 109
PROPID_Q_MODIFY_TIME: Final = 110
PROPID_Q_AUTHENTICATE: Final = 111
PROPID_Q_PRIV_LEVEL: Final = 112
PROPID_Q_TRANSACTION: Final = 113
PROPID_Q_SCOPE: Final = 114
PROPID_Q_QMID: Final = 115
PROPID_Q_PARTITIONID: Final = 116
PROPID_Q_SEQNUM: Final = 117
PROPID_Q_HASHKEY: Final = 118
PROPID_Q_LABEL_HASHKEY: Final = 119
PROPID_Q_FULL_PATH: Final = 121
PROPID_Q_NAME_SUFFIX: Final = 123
PROPID_Q_PATHNAME_DNS: Final = 124
PROPID_Q_MULTICAST_ADDRESS: Final = 125
PROPID_Q_ADS_PATH: Final = 126
PROPID_Q_SECURITY: Final = 1101
PROPID_Q_OBJ_SECURITY: Final = 1102
PROPID_Q_SECURITY_INFORMATION: Final = 1103

QUEUE_PROPERTIES: Final[dict[str, PropertyId]] = {
    "PROPID_Q_INSTANCE": PropertyId(PROPID_Q_INSTANCE, "VT_CLSID", "2.3.1.1"),
    "PROPID_Q_TYPE": PropertyId(PROPID_Q_TYPE, "VT_CLSID", "2.3.1.2"),
    "PROPID_Q_PATHNAME": PropertyId(PROPID_Q_PATHNAME, "VT_LPWSTR", "2.3.1.3"),
    "PROPID_Q_JOURNAL": PropertyId(PROPID_Q_JOURNAL, "VT_UI1", "2.3.1.4"),
    "PROPID_Q_QUOTA": PropertyId(PROPID_Q_QUOTA, "VT_UI4", "2.3.1.5"),
    "PROPID_Q_BASEPRIORITY": PropertyId(PROPID_Q_BASEPRIORITY, "VT_I2", "2.3.1.6"),
    "PROPID_Q_JOURNAL_QUOTA": PropertyId(PROPID_Q_JOURNAL_QUOTA, "VT_UI4", "2.3.1.7"),
    "PROPID_Q_LABEL": PropertyId(PROPID_Q_LABEL, "VT_LPWSTR", "2.3.1.8"),
    "PROPID_Q_CREATE_TIME": PropertyId(PROPID_Q_CREATE_TIME, "VT_I4", "2.3.1.9"),
    "PROPID_Q_MODIFY_TIME": PropertyId(PROPID_Q_MODIFY_TIME, "VT_I4", "2.3.1.10"),
    "PROPID_Q_AUTHENTICATE": PropertyId(PROPID_Q_AUTHENTICATE, "VT_UI1", "2.3.1.11"),
    "PROPID_Q_PRIV_LEVEL": PropertyId(PROPID_Q_PRIV_LEVEL, "VT_UI4", "2.3.1.12"),
    "PROPID_Q_TRANSACTION": PropertyId(PROPID_Q_TRANSACTION, "VT_UI1", "2.3.1.13"),
    "PROPID_Q_SCOPE": PropertyId(PROPID_Q_SCOPE, "VT_UI1", "2.3.1.14"),
    "PROPID_Q_QMID": PropertyId(PROPID_Q_QMID, "VT_CLSID", "2.3.1.15"),
    "PROPID_Q_PARTITIONID": PropertyId(PROPID_Q_PARTITIONID, "VT_CLSID", "2.3.1.16"),
    "PROPID_Q_SEQNUM": PropertyId(PROPID_Q_SEQNUM, "VT_BLOB", "2.3.1.17"),
    "PROPID_Q_HASHKEY": PropertyId(PROPID_Q_HASHKEY, "VT_UI4", "2.3.1.18"),
    "PROPID_Q_LABEL_HASHKEY": PropertyId(PROPID_Q_LABEL_HASHKEY, "VT_UI4", "2.3.1.19"),
    "PROPID_Q_FULL_PATH": PropertyId(PROPID_Q_FULL_PATH, "VT_LPWSTR", "2.3.1.20"),
    "PROPID_Q_NAME_SUFFIX": PropertyId(PROPID_Q_NAME_SUFFIX, "VT_LPWSTR", "2.3.1.21"),
    "PROPID_Q_PATHNAME_DNS": PropertyId(PROPID_Q_PATHNAME_DNS, "VT_LPWSTR", "2.3.1.22"),
    "PROPID_Q_MULTICAST_ADDRESS": PropertyId(PROPID_Q_MULTICAST_ADDRESS, "VT_LPWSTR", "2.3.1.23"),
    "PROPID_Q_ADS_PATH": PropertyId(PROPID_Q_ADS_PATH, "VT_LPWSTR", "2.3.1.24"),
    "PROPID_Q_SECURITY": PropertyId(PROPID_Q_SECURITY, "VT_BLOB", "2.3.1.25"),
    "PROPID_Q_OBJ_SECURITY": PropertyId(PROPID_Q_OBJ_SECURITY, "VT_BLOB", "2.3.1.26"),
    "PROPID_Q_SECURITY_INFORMATION": PropertyId(PROPID_Q_SECURITY_INFORMATION, "VT_UI4", "2.3.1.27"),
}

_SAYS_NOTHING = 0x40000000
"""Smaller numbers are not replaced by names: 0 is success, and a small number may be anything."""
_NUMBER = re.compile(r"(?<![\w(])0x([0-9A-Fa-f]{8})(?!\w| \(MQ_)")
_DECIMAL = re.compile(r"(?<![\w.])[34]\d{9}(?![\w.])")
_NAME = re.compile(r"(?<!\w)(MQ_[A-Z0-9_]+)(?!\w| \(0x)")


def status_text(code: int) -> str:
    """Return `MQ_ERROR_IO_TIMEOUT (0xC00E001B)`, or only the number if the documents do not list the code."""
    name = name_of(code)
    return f"{name} (0x{code:08X})" if name else f"0x{code:08X}"


def named(text: str) -> str:
    """Return the text with every status code in it, number or name, written as by `status_text`."""
    if "0x" in text:
        text = _NUMBER.sub(lambda found: _of_number(found[0], int(found[1], 16)), text)
    if "3" in text:
        text = _DECIMAL.sub(lambda found: _of_number(found[0], int(found[0])), text)
    if "MQ_" in text:
        text = _NAME.sub(lambda found: _of_name(found[1]), text)
    return text


def _of_number(written: str, code: int) -> str:
    return status_text(code) if code >= _SAYS_NOTHING and name_of(code) else written


def _of_name(name: str) -> str:
    code = HRESULTS.get(name, 0)
    return f"{name} (0x{code:08X})" if code >= _SAYS_NOTHING else name
