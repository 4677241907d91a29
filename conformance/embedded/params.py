"""Check the params of each method, so that an invalid request gets one sentence instead of a traceback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.embedded.directory import is_computer, is_object
from conformance.embedded.objects.table import is_typed
from conformance.embedded.structures import STRUCTURES
from conformance.embedded.transfers import STATUS

Json = Any
Check = Callable[[Json], bool]


class BadParams(Exception):
    """The params of a request do not fit its method; the text names the parameter."""


def _u32(value: Json) -> bool:
    return type(value) is int and 0 <= value <= 0xFFFFFFFF


def _handle(value: Json) -> bool:
    return isinstance(value, str) or type(value) is int


def _optional_handle(value: Json) -> bool:
    return value is None or _handle(value)


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _object(value: Json) -> bool:
    return isinstance(value, dict)


def _list(value: Json) -> bool:
    return isinstance(value, list)


def _flag(value: Json) -> bool:
    return type(value) is bool


def _u64(value: Json) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20


def _word(*allowed: str) -> Check:
    return lambda value: isinstance(value, str) and value in allowed


def _milliseconds(value: Json) -> bool:
    return type(value) is int and 0 <= value <= 1 << 53


def _target(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") in ("machine", "queue", "session")


def _numbers(value: Json) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= 128 and all(map(_u32, value))


def _texts(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_text, value))


def _identifier(value: Json) -> bool:
    return isinstance(value, dict) and _text(value.get("source")) and _u32(value.get("ordinal"))


def _values(value: Json) -> bool:
    return isinstance(value, list) and all(is_typed(each) for each in value)


_ACCESS = _word("receive", "send", "peek", "move", "receive_admin", "peek_admin")
_ACTION = _word("first", "previous", "current", "next", "last")
_READ = {"queue": _handle, "timeout_ms": _u32}
_LOOKUP = {"queue": _handle, "lookup_identifier": _u64, "action": _ACTION}
_NAMED = {"format_name": _text}

_REQUIRED: Mapping[str, Mapping[str, Check]] = {
    "hello": {"versions": _list, "harness": _text, "state_dir": _text},
    "attach": {"namespace": _text},
    "directory": {"objects": lambda value: _list(value) and all(map(is_object, value))},
    "clock.advance": {"by_ms": _milliseconds},
    "names.parse": {"text": _text, "form": _word("path_name", "format_name", "multiple_element")},
    "packets.encode": {"message": _object},
    "packets.decode": {"packet": _text},
    "packets.deliver": {"packet": _text},
    "structures.encode": {"structure": _word(*STRUCTURES), "value": lambda value: True},
    "structures.decode": {"structure": _word(*STRUCTURES), "data": _text},
    "queues.create": {"path_name": _text},
    "queues.delete": _NAMED,
    "queues.open": {"format_name": _text, "access": _ACCESS},
    "queues.close": {"queue": _handle},
    "queues.purge": {"queue": _handle},
    "queues.get": {"format_name": _text, "properties": _list},
    "queues.set": {"format_name": _text, "properties": _object},
    "queues.counts": _NAMED,
    "messages.send": {"queue": _handle, "message": _object},
    "messages.receive": _READ,
    "messages.peek": _READ,
    "messages.peek_next": _READ,
    "messages.receive_begin": _READ,
    "messages.receive_by_lookup_id": _LOOKUP,
    "messages.peek_by_lookup_id": _LOOKUP,
    "messages.receive_end": {"read": _handle, "acknowledge": _flag},
    "messages.move": {"queue": _handle, "lookup_identifier": _u64, "destination": _handle},
    "messages.cancel": {"request": lambda value: type(value) is int},
    "cursors.open": {"queue": _handle},
    "cursors.close": {"cursor": _handle},
    "outgoing.pause": _NAMED,
    "outgoing.resume": _NAMED,
    "outgoing.take": _NAMED,
    "objects.create": {"class": _text},
    "objects.invoke": {
        "object": _handle,
        "member": _text,
        "kind": _word("method", "get", "put", "putref"),
        "arguments": _values,
    },
    "objects.get": {"object": _handle, "members": _texts},
    "objects.query": {"object": _handle, "iid": _text},
    "objects.release": {"objects": _list},
    "objects.advise": {"object": _handle, "sink": _word("events", "other", "null"), "iid": _text},
    "objects.unadvise": {"object": _handle, "cookie": _u32, "iid": _text},
    "objects.describe": {},
    "management.get": {"target": _target, "properties": _numbers},
    "management.act": {"target": _target, "action": _text},
    "management.connection": {"format_name": _text, "step": _word(*STATUS, "closing", "closed")},
    "management.transfer": _NAMED,
    "management.acknowledge": {"format_name": _text, "kind": _word("session", "order", "final")},
    "transactions.prepare": {"transaction": _handle},
    "transactions.commit": {"transaction": _handle},
    "transactions.abort": {"transaction": _handle},
}
_OPTIONAL: Mapping[str, Check] = {
    "computers": lambda value: _list(value) and all(map(is_computer, value)),
    "server": _text,
    "objects.describe class": _text,
    "objects.describe object": _handle,
    "interface": _text,
    "cursor": _optional_handle,
    "transaction": _optional_handle,
    "share": _word("deny_none", "deny_receive"),
    "message_quota_kb": _u32,
    "journal_quota_kb": _u32,
    "addresses": _texts,
    "error": _u32,
    "count": _u32,
    "sequence_number": _u32,
    "identifier": _identifier,
    "class": lambda value: type(value) is int and 0 <= value <= 0xFFFF,
}


def check(method: str, params: dict[str, Json]) -> None:
    """Raise BadParams if a member is missing or of the wrong type."""
    required = _REQUIRED.get(method, {})
    for name, fits in required.items():
        if name not in params:
            raise BadParams(f"{method} lacks the parameter {name}")
        if not fits(params[name]):
            raise BadParams(f"the parameter {name} of {method} is not what the protocol allows")
    for name, value in params.items():
        if name in required:
            continue
        fits_too = _OPTIONAL.get(f"{method} {name}", _OPTIONAL.get(name))
        if fits_too is not None and not fits_too(value):
            raise BadParams(f"the parameter {name} of {method} is not what the protocol allows")
    if method == "queues.create" and not _object(params.get("properties", {})):
        raise BadParams("the parameter properties of queues.create is not what the protocol allows")
