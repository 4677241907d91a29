"""HRESULTs of COM and OLE that MC-MQAC names beside those of MSMQ."""

from __future__ import annotations

from typing import Final

from conformance.spec.constants import hresults

S_OK: Final = 0
E_FAIL: Final = 0x80004005
E_NOTIMPL: Final = 0x80004001
OLE_E_BLANK: Final = 0x80040007
E_INVALIDARG: Final = 0x80070057
E_POINTER: Final = 0x80004003
MEMBER_NOT_FOUND: Final = 0x80020003
"""DISP_E_MEMBERNOTFOUND: an object has no member of this name in this form."""

ILLEGAL_PROPERTY_VALUE: Final = hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE
LABEL_TOO_LONG: Final = hresults.MQ_ERROR_LABEL_TOO_LONG
TRANSACTION_USAGE: Final = hresults.MQ_ERROR_TRANSACTION_USAGE


def failed(status: int) -> bool:
    """Tell whether a status is a failure: the highest bit of an HRESULT."""
    return status >= 0x80000000
