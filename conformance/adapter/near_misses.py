"""What a driver most likely meant by a line or a value that the protocol does not allow: the nearest right thing."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from conformance.suggest import nearest
from conformance.verdict import Json

_LOOKED_AT = 10_000
"""Bytes of a line that are looked at."""
_WORDS = {"None": "null", "True": "true", "False": "false", "undefined": "null", "nil": "null"}
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|\b(?:None|True|False|undefined|nil)\b|,\s*(?=[}\]])""")


def about_line(line: bytes) -> str:
    """Return what a line is that is no JSON, as the end of a sentence; empty for nothing known."""
    said = _line(line[:_LOOKED_AT])
    return f"; {said}" if said else ""


def _line(line: bytes) -> str:
    if line.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark: write UTF-8 without one"
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(0) * 3 > len(line):
        return "this looks like UTF-16: write UTF-8"
    text = line.decode("utf-8", "replace").strip()
    if not text:
        return "it is empty: write one message a line, and nothing between them"
    if re.match(r"content-(length|type):", text, re.IGNORECASE):
        return "messages have no headers here: write the JSON alone, and a line feed"
    if text in ("{", "["):
        return "a message stands on one line: write JSON without line breaks and indentation"
    return _json(text)


def _json(text: str) -> str:
    begin = text.find('{"jsonrpc"')
    if not text.startswith(("{", "[")):
        if begin > 0:
            return f"{text[:begin].strip()[:20]!a} stands before the message: logs go to stderr"
        return "stdout is for messages alone: write logs to stderr, and flush what a library prints there"
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        pass
    else:
        behind = text[end:].strip()
        return (
            "two messages stand on one line: end each with a line feed"
            if behind.startswith("{")
            else (f"{behind[:20]!a} stands behind the message: logs go to stderr")
        )
    mended, slips = _mended(text)
    try:
        json.loads(mended)
    except (ValueError, RecursionError):
        return "it ends in the middle of the message" if slips is None or not text.endswith(("}", "]")) else ""
    return f"{' and '.join(slips)}: use a library that writes JSON, such as Python's json.dumps" if slips else ""


def _mended(text: str) -> tuple[str, list[str]]:
    """Return the text as JSON, and what was not JSON in it."""
    slips: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        token = found[0]
        if token[0] == '"':
            return token
        if token[0] == "'":
            slips["texts have single quotation marks"] = None
            return json.dumps(token[1:-1].replace("\\'", "'"))
        if token[0] == ",":
            slips["a comma stands before a closing bracket"] = None
            return ""
        slips[f"JSON has {_WORDS[token]}, not {token}"] = None
        return _WORDS[token]

    return _TOKEN.sub(put, text), list(slips)


def about_message(message: Any) -> str:
    """Return why a JSON value is no message of JSON-RPC 2.0, as the end of a sentence; empty for nothing known."""
    if isinstance(message, list):
        return ": it is a batch; write each message on a line of its own"
    if isinstance(message, str):
        return ": it is a text; the message was encoded twice"
    if not isinstance(message, dict):
        return f": it is {json.dumps(message)[:20]}; stdout is for messages alone"
    if "jsonrpc" in message:
        return f': "jsonrpc" is the text "2.0", not {json.dumps(message["jsonrpc"])[:20]}'
    return ': its member "jsonrpc":"2.0" is missing'


def about_id(number: Any, open_ids: Collection[int]) -> str:
    """Return what is wrong with the id of a response, as the end of a sentence; empty for nothing known."""
    if number is None:
        return "; a response repeats the id of its request"
    if type(number) is not int and re.fullmatch(r"[0-9]{1,15}(?:\.0)?", str(number)):
        meant = int(float(str(number)))
        return f"; ids are whole numbers: write {meant}, not {json.dumps(number)}" if meant in open_ids else ""
    return ""


def about_value(rule: str | None, wanted: Any, value: Json, schema: Mapping[str, Json]) -> str:
    """Return the right value near one that breaks a rule of a schema, as the end of a sentence; else an empty text.

    rule: the key of JSON Schema. wanted: its value there. schema: all of it.
    """
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
    elif rule == "format" and isinstance(value, str):
        said = "bytes are written as base64, with its padding"
    return f"; {said}" if said else ""


def _typed(wanted: Any, value: Json) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if "string" in wanted and number:
        return f'write it as a text: "{value}"'
    if "string" in wanted and isinstance(value, list) and all(type(one) is int for one in value):
        return "bytes are written as base64"
    if (
        "integer" in wanted
        and isinstance(value, str)
        and re.fullmatch(r"-?(?:[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16})", value)
    ):
        return f"write it as a number: {int(value, 0) if 'x' in value.lower() else int(value)}"
    if "integer" in wanted and isinstance(value, float) and value == int(value):
        return f"write it without a fraction: {int(value)}"
    if "boolean" in wanted and str(value).lower() in ("true", "false", "0", "1"):
        return f"write it as {json.dumps(str(value).lower() in ('true', '1'))}"
    if isinstance(value, str) and value[:1] in ("{", "[") and {"object", "array"} & set(wanted):
        return "it is JSON within a text: it was encoded twice"
    return "leave it out where there is none" if value is None else ""
