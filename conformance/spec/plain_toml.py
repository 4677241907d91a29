"""A fast reader for TOML of plain `name = value` lines, which nearly all of the catalogue consists of.

The parser of the standard library takes seconds for the whole catalogue. It is only used for files with a line of
another form, so the result is the same for every file; a test compares the two.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"\[\[([a-z_]+)\]\][ \t]*(?:#.*)?")
# In these forms TOML and JSON agree: strings without escapes, arrays of them, plain numbers, true and false.
_TEXT = r'"[^"\\\x00-\x1f\x7f]*"'
_TEXTS = rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]"
_PLAIN = re.compile(rf"([A-Za-z_][A-Za-z0-9_-]*) = ({_TEXT}|true|false|0|[1-9][0-9]{{0,8}}|{_TEXTS})[ \t]*(?:#.*)?")


def loads(text: str) -> dict[str, Any]:
    """Parse a TOML document. Raises tomllib.TOMLDecodeError."""
    quick = _plain(text)
    return tomllib.loads(text) if quick is None else quick


def _plain(text: str) -> dict[str, Any] | None:
    """Parse plain lines; None if a line has another form."""
    content: dict[str, Any] = {}
    headed: set[str] = set()
    table = content
    for line in text.split("\n"):
        match = _PLAIN.fullmatch(line)
        if match is not None:
            name, value = match.groups()
            if name in table:
                return None
            table[name] = value[1:-1] if value[0] == '"' else json.loads(value)
            continue
        header = _HEADER.fullmatch(line)
        if header is not None:
            table = {}
            if header[1] in content and header[1] not in headed:
                return None
            headed.add(header[1])
            content.setdefault(header[1], []).append(table)
        elif line.strip(" \t") and not line.startswith("#"):
            return None
    return content
