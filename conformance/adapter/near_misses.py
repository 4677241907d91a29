"""Names the nearest right thing for a line or value that the protocol does not allow, as the end of a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from conformance.suggest import nearest
from conformance.verdict import Json

_LOOKED_AT = 10_000
"""Bytes of a line that are looked at."""
_WORDS = {"None": "null", "True": "true", "False": "false", "undefined": "null"}
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|\b(?:None|True|False|undefined)\b|,\s*(?=[}\]])""")


def about_line(line: bytes) -> str:
    """Return what a line is that is no JSON; empty for nothing known."""
    line = line[:_LOOKED_AT]
    text = line.decode("utf-8", "replace").strip()
    begin = text.find('{"jsonrpc"')
    if line.startswith(b"\xef\xbb\xbf"):
        return "; it begins with a byte order mark: write UTF-8 without one"
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(0) * 3 > len(line) > 0:
        return "; this looks like UTF-16: write UTF-8"
    if not text:
        return "; it is empty: write one message a line, and nothing between them"
    if text in ("{", "["):
        return "; a message stands on one line: write JSON without line breaks and indentation"
    if re.match(r"content-(length|type):", text, re.IGNORECASE):
        return "; messages have no headers here: write the JSON alone, and a line feed"
    if text.startswith(("{", "[")):
        return _about_json(text)
    if begin > 0:
        return f"; {text[:begin].strip()[:20]!a} stands before the message: logs go to stderr"
    return "; stdout is for messages alone: write logs to stderr"


def _about_json(text: str) -> str:
    slips: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        token = found[0]
        if token[0] == "'":
            slips["texts have single quotation marks"] = None
            return json.dumps(token[1:-1].replace("\\'", "'"))
        if token[0] == ",":
            slips["a comma stands before a closing bracket"] = None
            return ""
        if token in _WORDS:
            slips[f"JSON has {_WORDS[token]}, not {token}"] = None
        return _WORDS.get(token, token)

    try:
        _, end = json.JSONDecoder().raw_decode(mended := _TOKEN.sub(put, text))
    except (ValueError, RecursionError):
        return "; it ends in the middle of the message" if not text.endswith(("}", "]")) else ""
    if behind := mended[end:].strip():
        two = "; two messages stand on one line: end each with a line feed"
        return two if behind[0] == "{" else f"; {behind[:20]!a} stands behind the message: logs go to stderr"
    return f"; {' and '.join(slips)}: use a library that writes JSON" if slips else ""


def about_message(message: Any) -> str:
    """Return why a JSON value is no message of JSON-RPC 2.0."""
    if isinstance(message, list | str):
        what = "a batch; write each message on" if isinstance(message, list) else "encoded twice; write the object on"
        return f": it is {what} a line of its own"
    if not isinstance(message, dict):
        return f": it is {json.dumps(message)[:20]}; stdout is for messages alone"
    if "jsonrpc" in message:
        return f': "jsonrpc" is the text "2.0", not {json.dumps(message["jsonrpc"])[:20]}'
    return ': its member "jsonrpc":"2.0" is missing'


def about_id(number: Any, open_ids: Collection[int]) -> str:
    """Return what is wrong with the id of a response; empty for nothing known."""
    if number is None:
        return "; a response repeats the id of its request"
    if type(number) is int or not re.fullmatch(r"[0-9]{1,15}(?:\.0)?", str(number)):
        return ""
    meant = int(float(str(number)))
    return f"; ids are whole numbers: write {meant}, not {json.dumps(number)}" if meant in open_ids else ""


def about_value(rule: str | None, wanted: Any, value: Json, schema: Mapping[str, Json]) -> str:
    """Return the right value near one that breaks a rule (a key of JSON Schema, wanted: its value); else empty."""
    said = ""
    if rule == "type":
        said = _typed([wanted] if isinstance(wanted, str) else wanted, value)
    elif rule == "enum" and isinstance(value, str):
        close = nearest(value, [one for one in wanted if isinstance(one, str)])
        said = f"did you mean {json.dumps(close)}?" if close else ""
    elif rule in ("required", "additionalProperties") and isinstance(value, dict):
        known = schema.get("properties", {})
        pairs = [(name, nearest(name, known)) for name in value if name not in known]
        said = ", ".join(f"did you mean {close}, not {str(name)[:40]}?" for name, close in pairs[:3] if close)
    return f"; {said}" if said else ""


def _typed(wanted: Any, value: Json) -> str:
    if "string" in wanted and isinstance(value, int | float) and not isinstance(value, bool):
        return f'write it as a text: "{value}"'
    if "integer" in wanted and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", value):
        return f"write it as a number: {int(value, 16) if 'x' in value.lower() else int(value)}"
    if "boolean" in wanted and str(value).lower() in ("true", "false", "0", "1"):
        return f"write it as {json.dumps(str(value).lower() in ('true', '1'))}"
    return "leave it out where there is none" if value is None else ""
