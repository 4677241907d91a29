"""Writes requests as lines of JSON, and reads answers from lines into values of bounded size.

A line of 8 MiB may become gigabytes of Python objects, or hold numbers too large to compute with, or be nested so
deeply that walking it fails. All of this is detected before or during reading.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_VALUES = 200_000
"""Values in one line, names of members not counted; the largest valid answers have some thousand."""
MAX_DEPTH = 64
MAX_WIDE = 1 << 20
"""Characters of a text that is not all ASCII, each of which may take four bytes; valid ones are short."""
MAX_DIGITS = 308  # digits of an integer; one with more cannot be converted to a float
_SHOWN = 80  # characters quoted of a bad line

# A string, ended or not, or a character that begins a value. Possessive: no stack and no backtracking for escapes.
_SIGN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{},]', re.DOTALL)

_COMMA = ord(",")

_encode = json.JSONEncoder(separators=(",", ":")).encode


class BadLine(Exception):
    """The other end wrote something other than a line of JSON within the bounds; the text says what."""


def request_line(number: int, method: str, params: dict[str, Any]) -> bytes:
    """Return a JSON-RPC 2.0 request as one line."""
    return f'{{"jsonrpc":"2.0","id":{number},"method":{_encode(method)},"params":{_encode(params)}}}\n'.encode("ascii")


def message(line: bytes) -> Any:
    """Parse the JSON value of a line. Raises BadLine."""
    _refuse_bomb(line)
    try:
        value = _decode(str(line, "utf-8"))
        if len(line) > MAX_WIDE:
            _refuse_wide(value)
        return value
    except UnicodeDecodeError:
        raise BadLine(f"wrote a line that is not UTF-8: {quoted(line)}") from None
    except RecursionError:
        raise BadLine(f"wrote JSON nested too deeply: {quoted(line)}") from None
    except json.JSONDecodeError:
        raise BadLine(f"wrote a line that is not JSON: {quoted(line)}") from None
    except ValueError as wrong:
        raise BadLine(f"wrote JSON {wrong}: {quoted(line)}") from None


def quoted(data: bytes) -> str:
    """Return the start of some bytes as text that is safe to print on one line."""
    shown = ascii(data[:_SHOWN].decode("utf-8", "replace"))
    return shown + (f" (and {len(data) - _SHOWN} bytes more)" if len(data) > _SHOWN else "")


def _refuse_bomb(line: bytes) -> None:
    """Raise BadLine for too many values or levels. Strings are told from structure only if a quick count is high."""
    opened = line.count(b"[") + line.count(b"{")
    if opened <= MAX_DEPTH and opened + line.count(b",") <= MAX_VALUES:
        return
    values = depth = 0
    for sign in _SIGN.finditer(line):
        which = line[sign.start()]
        if which in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadLine(f"wrote JSON nested too deeply (more than {MAX_DEPTH} levels): {quoted(line)}")
        elif which in b"]}":
            depth -= 1
            continue
        elif which != _COMMA:
            continue
        values += 1
        if values > MAX_VALUES:
            raise BadLine(f"wrote a line of JSON with more than {MAX_VALUES} values: {quoted(line)}")


def _refuse_wide(value: Any) -> None:
    if isinstance(value, str) and not value.isascii() and len(value) > MAX_WIDE:
        raise ValueError(f"with a text of more than {MAX_WIDE} characters, not all of them ASCII")
    if isinstance(value, list):
        for item in value:
            _refuse_wide(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            _refuse_wide(name)
            _refuse_wide(member)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"with {name}, which JSON does not have")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"with an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def _real(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"with the number {text[:20]}, which is too large")
    return number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"with an object that has the member {twice[:40]!a} twice")
    return members


_decode = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_integer, parse_float=_real, object_pairs_hook=_members
).decode
