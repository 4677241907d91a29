"""Readable status codes: the name, followed by the number."""

from __future__ import annotations

import re

from conformance.spec.constants.hresults import HRESULTS, name_of

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
