"""Values of verdicts as a column that a query can ask without parsing JSON.

A value is a struct: `kind` (`text`, `number`, `bool`, `list` or `object`), `text`, `number` and `fields`. `fields` has
the members of an object by name, those of an object within it as `outer.inner`; each has a `text` and a `number`.
`text` is the text itself, a number or truth value as JSON writes it, or a list as JSON; `number` is there if it is a
whole number of 64 bits. The column with the JSON beside it has everything, this one what queries ask for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

MOST_FIELDS: Final = 64
"""Members of an object in `fields`."""
MOST_TEXT: Final = 256
"""Characters of a text; a longer one (the bytes of a packet) is null here."""
_MOST: Final = (1 << 63) - 1


def struct_of(text: str | None) -> dict[str, Any] | None:
    """Return the struct of a value that is given as JSON, which must not be changed; None for none."""
    return _struct(text) if text is None or len(text) <= MOST_TEXT else _struct.__wrapped__(text)


@lru_cache(maxsize=1 << 10)
def _struct(text: str | None) -> dict[str, Any] | None:
    value = None if text is None else json.loads(text)
    if value is None:
        return None
    fields = _fields(value) if isinstance(value, dict) else None
    return {"kind": _kind(value), **_leaf(None if fields is not None else value), "fields": fields}


def _fields(value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found: dict[str, dict[str, Any]] = {}
    for name, one in _leaves(value):
        if len(found) == MOST_FIELDS:
            break
        found.setdefault(name, _leaf(one))
    return sorted(found.items())


def _leaves(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    waiting = [("", value)]
    while waiting:
        outer, members = waiting.pop()
        for name, one in members.items():
            path = outer + _plain(name)
            if isinstance(one, dict) and one:
                waiting.append((f"{path}.", one))
            else:
                yield path, one


def _kind(value: Any) -> str:
    kinds = {str: "text", bool: "bool", int: "number", float: "number", list: "list", dict: "object"}
    return kinds[type(value)]


def _leaf(value: Any) -> dict[str, Any]:
    if value is None:
        return {"text": None, "number": None}
    text = value if isinstance(value, str) else json.dumps(value)
    whole = type(value) is int and abs(value) <= _MOST
    return {"text": _plain(text) if len(text) <= MOST_TEXT else None, "number": value if whole else None}


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
