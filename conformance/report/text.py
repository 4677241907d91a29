"""Make text from outside safe to read: labels, queue names and a driver's messages may hold any character."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from conformance.spec.constants.codes import named, status_text
from conformance.verdict import Json

MAX_LABEL = 400
"""Characters shown of a name or of one line."""
MAX_BLOCK = 6_000
"""Characters shown of a value or of a process's output."""

# Categories that are invisible, or that change how the text around them looks: controls, format characters
# (bidirectional overrides and zero-width ones among them), surrogates, private use, unassigned, line separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with every invisible or misleading character replaced by its escape (`\\u202e`).

    lines: keep line feeds and tabs.
    """
    if text.isascii() and text.isprintable():
        return text
    keep = "\n\t" if lines else ""
    return "".join(
        character if character in keep or unicodedata.category(character) not in _HIDDEN else _escape(character)
        for character in text
    )


def label(value: object, limit: int = MAX_LABEL) -> str:
    """Return one line of at most about `limit` characters."""
    if type(value) is str and len(value) <= limit and value.isascii() and value.isprintable():
        return value  # the usual case: a report has some ten thousand labels
    return _clip(str(value), limit)


def block(text: str, limit: int = MAX_BLOCK) -> str:
    """Return several lines of at most about `limit` characters in all."""
    return _clip(text, limit, lines=True)


def value_text(value: Json, limit: int = MAX_BLOCK) -> str:
    """Format a JSON value for a reader: on one line if it is short, status codes by name."""
    told = _named(value, "")
    if isinstance(told, str) and not isinstance(value, str):
        return told  # a bare status code
    short = json.dumps(told, ensure_ascii=False, default=str)
    return block(short if len(short) <= 100 else json.dumps(told, ensure_ascii=False, indent=2, default=str), limit)


def inline_text(value: Json) -> str:
    """Format a JSON value on one line, for use in a sentence: a text with quotes, status codes with their name."""
    return repr(_named(value, ""))


_MAX_MEMBERS = 200
_MAX_DEPTH = 12


def _named(value: Json, key: str, depth: int = 0) -> Json:
    """Return the value with status codes named, long text clipped, and breadth and depth bounded."""
    is_code = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0xFFFFFFFF
    if is_code and (key.endswith("status") or value >= 0xC0000000):
        return status_text(value)
    if isinstance(value, str):
        return named(value) if len(value) <= MAX_BLOCK else f"{value[:MAX_LABEL]}… ({len(value):,} characters in all)"
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    if depth >= _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        members = {name: _named(member, str(name), depth + 1) for name, member in list(value.items())[:_MAX_MEMBERS]}
        return members if len(value) <= _MAX_MEMBERS else {**members, "…": f"{len(value) - _MAX_MEMBERS} more"}
    items = [_named(item, key, depth + 1) for item in value[:_MAX_MEMBERS]]
    return items if len(value) <= _MAX_MEMBERS else [*items, f"… {len(value) - _MAX_MEMBERS} more"]


def _clip(text: str, limit: int, *, lines: bool = False) -> str:
    if len(text) <= limit:
        return visible(text, lines=lines)
    return f"{visible(text[:limit], lines=lines)}… ({len(text):,} characters in all)"


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
