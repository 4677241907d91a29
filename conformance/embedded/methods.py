"""The methods of the adapter protocol: the check of their params, and what the parts of the manager do for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.embedded.coordinator import REQUESTS
from conformance.embedded.directory import is_computer, is_object, is_user
from conformance.embedded.directory_client import DEFAULT_WAIT_MS, SUCCESS, has_ldap, is_ldap
from conformance.embedded.directory_objects import CLASSES, OPERATORS
from conformance.embedded.entities import Cursor, MqError, Result, Transaction
from conformance.embedded.manager import Manager
from conformance.embedded.objects.table import NoAnswer, is_typed
from conformance.embedded.receiving import Caller
from conformance.embedded.structures import STRUCTURES
from conformance.embedded.transfers import STATUS
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE

if TYPE_CHECKING:
    from conformance.embedded.objects.events import Listener

Json = Any
Check = Callable[[Json], bool]
_GUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


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


def _guid(value: Json) -> bool:
    return isinstance(value, str) and _GUID.fullmatch(value) is not None


def _has_key(value: Json) -> bool:
    return isinstance(value, dict) and _text(value.get("certificate")) and _text(value.get("key"))


def _identifier(value: Json) -> bool:
    return isinstance(value, dict) and _text(value.get("source")) and _u32(value.get("ordinal"))


def _values(value: Json) -> bool:
    return isinstance(value, list) and all(is_typed(each) for each in value)


def _variant(value: Json) -> bool:
    return _object(value) and type(value.get("vt")) is int and 0 <= value["vt"] <= 0xFFFF


def _settings(value: Json) -> bool:
    return _list(value) and all(
        _object(each) and _u32(each.get("property")) and _variant(each.get("value")) for each in value
    )


def _filter(value: Json) -> bool:
    return _list(value) and all(
        _object(each) and _text(each.get("attribute")) and each.get("operator") in OPERATORS and "value" in each
        for each in value
    )  # fmt: skip


_DIRECTORY_CLASS = _word(*CLASSES)
_ACCESS = _word("receive", "send", "peek", "move", "receive_admin", "peek_admin")
_ACTION = _word("first", "previous", "current", "next", "last")
_READ = {"queue": _handle, "timeout_ms": _u32}
_LOOKUP = {"queue": _handle, "lookup_identifier": _u64, "action": _ACTION}
_NAMED = {"format_name": _text}

_REQUIRED: Mapping[str, Mapping[str, Check]] = {
    "hello": {"versions": _list, "harness": _text, "state_dir": _text},
    "attach": {"namespace": _text},
    "directory": {"objects": lambda value: _list(value) and all(map(is_object, value))},
    "harden": {"hardened": _flag},
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
    "security.get": {"target": _target, "information": _u32},
    "security.set": {"target": _target, "information": _u32, "descriptor": _text},
    "directory.use": {"address": lambda value: value is None or _text(value)},
    "directory.read": {"class": _DIRECTORY_CLASS},
    "directory.begin": {"class": _DIRECTORY_CLASS},
    "directory.next": {"query": _text},
    "directory.end": {"query": _text},
    "directory.create": {"class": _DIRECTORY_CLASS, "object": _object},
    "directory.delete": {"class": _DIRECTORY_CLASS, "identifier": _guid},
    "directory.write": {"class": _DIRECTORY_CLASS, "identifier": _guid, "object": _object},
    "directory.get": {"class": _DIRECTORY_CLASS, "identifier": _guid, "properties": _numbers},
    "directory.set": {"class": _DIRECTORY_CLASS, "identifier": _guid, "properties": _settings},
    "coordinator.enlist": {"transaction": _guid},
    "coordinator.prepare": {"identifier": _guid},
    "coordinator.commit": {"identifier": _guid},
    "coordinator.abort": {"identifier": _guid},
    "coordinator.outcome": {"identifier": _guid, "outcome": _word("committed", "aborted", "timeout")},
    "coordinator.context": {"transaction": lambda value: value is None or _guid(value)},
    "coordinator.refuse": {"what": _word(*REQUESTS), "refused": _flag},
    "transactions.prepare": {"transaction": _handle},
    "transactions.commit": {"transaction": _handle},
    "transactions.abort": {"transaction": _handle},
}
_OPTIONAL: Mapping[str, Check] = {
    "computers": lambda value: _list(value) and all(map(is_computer, value)),
    "users": lambda value: _list(value) and all(map(is_user, value)),
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
    "single_phase": _flag,
    "length": _u32,
    "filter": _filter,
    "attributes": lambda value: _list(value) and all(map(_text, value)),
    "order": lambda value: _list(value) and all(map(_object, value)),
    "force": _flag,
    "provisioning": _flag,
    "site": _guid,
    "wait_ms": lambda value: type(value) is int and 1 <= value <= 60_000,
    "as": _text,
    "caller": _text,
    "personal": lambda value: _list(value) and all(map(_has_key, value)),
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


Params = dict[str, Json]
LATER: Final[Result] = {"answered": "by the read itself"}
Method = Callable[[Manager, Params, Caller], Result | None]
METHODS: dict[str, Method] = {}


def _method(name: str) -> Callable[[Method], Method]:
    def register(perform: Method) -> Method:
        METHODS[name] = perform
        return perform

    return register


def _transaction(manager: Manager, params: Params) -> Transaction | None:
    handle = params.get("transaction")
    return None if handle is None else manager.transaction(handle)


def _cursor(manager: Manager, params: Params) -> Cursor | None:
    handle = params.get("cursor")
    return None if handle is None else manager.cursor(handle)


@_method("reset")
def _reset(manager: Manager, params: Params, caller: Caller) -> None:
    manager.reset()


@_method("limits")
def _limits(manager: Manager, params: Params, caller: Caller) -> None:
    manager.limit(
        params.get("message_quota_kb", manager.message_quota_kb),
        params.get("journal_quota_kb", manager.journal_quota_kb),
    )


@_method("harden")
def _harden(manager: Manager, params: Params, caller: Caller) -> None:
    manager.security.harden(params["hardened"])


@_method("directory")
def _directory(manager: Manager, params: Params, caller: Caller) -> None:
    given = (params.get("computers", []), params.get("server"), params.get("users", []))
    manager.directory.fill(params["objects"], *given)


@_method("clock.now")
def _now(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"time_ms": manager.clock.now_ms()}


@_method("clock.advance")
def _advance(manager: Manager, params: Params, caller: Caller) -> Result:
    manager.advance(params["by_ms"])
    return {"time_ms": manager.clock.now_ms()}


@_method("names.parse")
def _parse(manager: Manager, params: Params, caller: Caller) -> Result:
    name = manager.names.parse(params["text"], params["form"])
    return {"kind": name.kind, "parts": name.parts}


@_method("packets.encode")
def _encode(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"packet": manager.writer.encode(params["message"])}


@_method("packets.decode")
def _decode(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"message": manager.packet_reader.decode(params["packet"])}


@_method("packets.deliver")
def _deliver(manager: Manager, params: Params, caller: Caller) -> None:
    manager.arrival.deliver(params["packet"])


@_method("structures.encode")
def _encode_structure(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"data": manager.structures.encode(params["structure"], params["value"])}


@_method("structures.decode")
def _decode_structure(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"value": manager.structures.decode(params["structure"], params["data"])}


@_method("queues.create")
def _create(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"format_name": manager.queues.create(params["path_name"], params.get("properties", {}))}


@_method("queues.delete")
def _delete(manager: Manager, params: Params, caller: Caller) -> None:
    manager.queues.delete(params["format_name"])


@_method("queues.open")
def _open(manager: Manager, params: Params, caller: Caller) -> Result:
    share = params.get("share", "deny_none")
    return {"queue": manager.queues.open(params["format_name"], params["access"], share).handle}


@_method("queues.close")
def _close(manager: Manager, params: Params, caller: Caller) -> None:
    manager.queues.close(manager.descriptor(params["queue"]))


@_method("queues.purge")
def _purge(manager: Manager, params: Params, caller: Caller) -> None:
    manager.queues.purge(manager.descriptor(params["queue"]))


@_method("queues.get")
def _get(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"properties": manager.queues.get(params["format_name"], params["properties"])}


@_method("queues.set")
def _set(manager: Manager, params: Params, caller: Caller) -> None:
    manager.queues.set(params["format_name"], params["properties"])


@_method("queues.counts")
def _counts(manager: Manager, params: Params, caller: Caller) -> Result:
    return manager.queues.counts(params["format_name"])


@_method("messages.send")
def _send(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor = manager.descriptor(params["queue"])
    return manager.sending.send(descriptor, params["message"], _transaction(manager, params))


@_method("messages.receive")
def _receive(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, cursor = manager.descriptor(params["queue"]), _cursor(manager, params)
    manager.reading.receive(caller, descriptor, cursor, params["timeout_ms"], _transaction(manager, params))
    return LATER


@_method("messages.peek")
def _peek(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, cursor = manager.descriptor(params["queue"]), _cursor(manager, params)
    manager.reading.peek(caller, descriptor, cursor, params["timeout_ms"])
    return LATER


@_method("messages.peek_next")
def _peek_next(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, cursor = manager.descriptor(params["queue"]), _cursor(manager, params)
    manager.reading.peek_next(caller, descriptor, cursor, params["timeout_ms"])
    return LATER


@_method("messages.receive_begin")
def _receive_begin(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, cursor = manager.descriptor(params["queue"]), _cursor(manager, params)
    manager.reading.receive_begin(caller, descriptor, cursor, params["timeout_ms"])
    return LATER


@_method("messages.receive_end")
def _receive_end(manager: Manager, params: Params, caller: Caller) -> None:
    manager.reading.end(manager.open_read(params["read"]), acknowledge=params["acknowledge"])


@_method("messages.receive_by_lookup_id")
def _receive_by_lookup_id(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, transaction = manager.descriptor(params["queue"]), _transaction(manager, params)
    lookup, action = int(params["lookup_identifier"]), params["action"]
    manager.reading.by_lookup_id(caller, descriptor, lookup, action, destructive=True, transaction=transaction)
    return LATER


@_method("messages.peek_by_lookup_id")
def _peek_by_lookup_id(manager: Manager, params: Params, caller: Caller) -> Result:
    descriptor, lookup = manager.descriptor(params["queue"]), int(params["lookup_identifier"])
    manager.reading.by_lookup_id(caller, descriptor, lookup, params["action"], destructive=False)
    return LATER


@_method("messages.move")
def _move(manager: Manager, params: Params, caller: Caller) -> None:
    source, target = manager.descriptor(params["queue"]), manager.descriptor(params["destination"])
    handle = params.get("transaction")
    transaction = None if handle is None else manager.transactions.claimed(handle)
    manager.transactions.move(source, int(params["lookup_identifier"]), target, transaction)


@_method("messages.cancel")
def _cancel(manager: Manager, params: Params, caller: Caller) -> None:
    manager.reading.cancel((caller.session, params["request"]))


@_method("cursors.open")
def _open_cursor(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"cursor": manager.cursors.open(manager.descriptor(params["queue"])).handle}


@_method("cursors.close")
def _close_cursor(manager: Manager, params: Params, caller: Caller) -> None:
    manager.cursors.close(manager.cursor(params["cursor"]))


@_method("transactions.begin")
def _begin(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"transaction": manager.transactions.begin().handle}


@_method("transactions.prepare")
def _prepare(manager: Manager, params: Params, caller: Caller) -> None:
    manager.transactions.prepare(_internal(manager, params))


@_method("transactions.commit")
def _commit(manager: Manager, params: Params, caller: Caller) -> None:
    manager.transactions.commit(_internal(manager, params))


@_method("transactions.abort")
def _abort(manager: Manager, params: Params, caller: Caller) -> None:
    manager.transactions.abort(_internal(manager, params))


@_method("security.get")
def _get_descriptor(manager: Manager, params: Params, caller: Caller) -> Result:
    return manager.security.get(params["target"], params["information"], params.get("length"))


@_method("security.set")
def _set_descriptor(manager: Manager, params: Params, caller: Caller) -> None:
    manager.security.set(params["target"], params["information"], params["descriptor"])


@_method("security.certificates")
def _certificates(manager: Manager, params: Params, caller: Caller) -> Result:
    sid = params.get("caller", manager.security.caller_sid)
    if "personal" in params:
        manager.certificates.fill(sid, params["personal"])
    return {"certificates": manager.certificates.told(sid)}


@_method("directory.use")
def _use_directory(manager: Manager, params: Params, caller: Caller) -> None:
    if is_ldap(params["address"]) and not has_ldap():
        raise BadParams("a directory at ldap:// needs the extra ldap: pip install 'mqconform[ldap]'")
    manager.integration.use(
        params["address"],
        site=params.get("site"),
        wait_ms=params.get("wait_ms", DEFAULT_WAIT_MS),
        provisioning=params.get("provisioning", False),
    )


@_method("directory.own")
def _own(manager: Manager, params: Params, caller: Caller) -> Result:
    return manager.integration.seen()


def _of_directory(result: str, **values: Json) -> Result:
    return {"result": result, **{name: value for name, value in values.items() if result == SUCCESS}}


@_method("directory.read")
def _read_directory(manager: Manager, params: Params, caller: Caller) -> Result:
    wanted, names, force = params.get("filter"), params.get("attributes"), params.get("force", False)
    result, found = manager.integration.read(params["class"], wanted, names, force=force)
    return _of_directory(result, object=found)


@_method("directory.begin")
def _begin_query(manager: Manager, params: Params, caller: Caller) -> Result:
    wanted, names, order = params.get("filter"), params.get("attributes"), params.get("order")
    result, query = manager.integration.begin(params["class"], wanted, names, order)
    return _of_directory(result, query=query)


@_method("directory.next")
def _next_of_query(manager: Manager, params: Params, caller: Caller) -> Result:
    result, found = manager.integration.next(params["query"])
    return _of_directory(result, object=found)


@_method("directory.end")
def _end_query(manager: Manager, params: Params, caller: Caller) -> Result:
    return _of_directory(manager.integration.end(params["query"]))


@_method("directory.create")
def _create_in_directory(manager: Manager, params: Params, caller: Caller) -> Result:
    result, identifier = manager.integration.create(params["class"], params["object"], params.get("attributes"))
    return _of_directory(result, identifier=identifier)


@_method("directory.delete")
def _delete_in_directory(manager: Manager, params: Params, caller: Caller) -> Result:
    return _of_directory(manager.integration.delete(params["class"], params["identifier"]))


@_method("directory.write")
def _write_directory(manager: Manager, params: Params, caller: Caller) -> Result:
    kind, identifier = params["class"], params["identifier"]
    return _of_directory(manager.integration.write(kind, identifier, params["object"], params.get("attributes")))


@_method("directory.get")
def _get_of_directory(manager: Manager, params: Params, caller: Caller) -> Result:
    kind, identifier = params["class"], params["identifier"]
    return {"values": manager.directory_properties.get(kind, identifier, params["properties"])}


@_method("directory.set")
def _set_of_directory(manager: Manager, params: Params, caller: Caller) -> None:
    manager.directory_properties.set(params["class"], params["identifier"], params["properties"])


def _internal(manager: Manager, params: Params) -> Transaction:
    """Return the transaction of a call that ends one. One of a coordinator is ended by nobody else."""
    found = manager.transaction(params["transaction"])
    if found.identifier is not None:
        raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
    return found


@_method("coordinator.enlist")
def _enlist(manager: Manager, params: Params, caller: Caller) -> Result:
    manager.coordinator.lives(params["transaction"])
    return {"transaction": manager.coordination.enlist(params["transaction"]).handle}


@_method("coordinator.prepare")
def _prepare_for_coordinator(manager: Manager, params: Params, caller: Caller) -> Result:
    single = params.get("single_phase", False)
    return _decided(manager, params, manager.coordination.prepare(params["identifier"], single_phase=single))


@_method("coordinator.commit")
def _commit_for_coordinator(manager: Manager, params: Params, caller: Caller) -> Result:
    return _decided(manager, params, manager.coordination.commit(params["identifier"]))


@_method("coordinator.abort")
def _abort_for_coordinator(manager: Manager, params: Params, caller: Caller) -> Result:
    return _decided(manager, params, manager.coordination.abort(params["identifier"]))


def _decided(manager: Manager, params: Params, answer: str) -> Result:
    manager.coordinator.ended(params["identifier"], answer)
    return {"answer": answer}


@_method("coordinator.in_doubt")
def _in_doubt(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"transactions": manager.coordination.in_doubt()}


@_method("coordinator.outcome")
def _outcome(manager: Manager, params: Params, caller: Caller) -> None:
    manager.coordination.outcome(params["identifier"], params["outcome"])


@_method("coordinator.context")
def _context(manager: Manager, params: Params, caller: Caller) -> None:
    manager.coordinator.enter(params["transaction"])


@_method("coordinator.requests")
def _requests(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"requests": manager.coordinator.requests()}


@_method("coordinator.refuse")
def _refuse(manager: Manager, params: Params, caller: Caller) -> None:
    manager.coordinator.refuse(params["what"], params["refused"])


@_method("outgoing.pause")
def _pause(manager: Manager, params: Params, caller: Caller) -> None:
    manager.outgoing.pause(params["format_name"])


@_method("outgoing.resume")
def _resume(manager: Manager, params: Params, caller: Caller) -> None:
    manager.outgoing.resume(params["format_name"])


@_method("management.get")
def _management_get(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"values": manager.management.get(params["target"], params["properties"])}


@_method("management.act")
def _management_act(manager: Manager, params: Params, caller: Caller) -> None:
    manager.management.act(params["target"], params["action"])


@_method("management.connection")
def _management_connection(manager: Manager, params: Params, caller: Caller) -> None:
    queue = manager.queues.outgoing(params["format_name"])
    addresses = tuple(params["addresses"]) if "addresses" in params else None
    manager.transfers.step(queue, params["step"], addresses, params.get("error", 0))


@_method("management.transfer")
def _management_transfer(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"packets": manager.transfers.transfer(manager.queues.outgoing(params["format_name"]), params.get("count"))}


@_method("management.acknowledge")
def _management_acknowledge(manager: Manager, params: Params, caller: Caller) -> None:
    manager.transfers.acknowledge(manager.queues.outgoing(params["format_name"]), params)


@_method("outgoing.take")
def _transfer(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"packets": manager.outgoing.take(params["format_name"])}


@_method("objects.create")
def _create_object(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"object": manager.objects.create(params["class"])}


@_method("objects.invoke")
def _invoke(manager: Manager, params: Params, caller: Caller) -> Result:
    objects, arguments = manager.objects, params["arguments"]
    try:
        return objects.invoke(
            params["object"], params["member"], params["kind"], arguments, params.get("interface"), caller
        )
    except NoAnswer:
        return LATER


@_method("objects.get")
def _get_members(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"values": manager.objects.get(params["object"], params["members"])}


@_method("objects.query")
def _query(manager: Manager, params: Params, caller: Caller) -> Result:
    return {"object": manager.objects.query(params["object"], params["iid"])}


@_method("objects.release")
def _release(manager: Manager, params: Params, caller: Caller) -> None:
    manager.objects.release(params["objects"])


@_method("objects.advise")
def _advise(manager: Manager, params: Params, caller: Caller) -> Result:
    source = manager.objects.event_source(params["object"], params["iid"])
    listener = cast("Listener", caller.session)
    return {"cookie": source.advise(params["sink"], listener, params["object"])}


@_method("objects.unadvise")
def _unadvise(manager: Manager, params: Params, caller: Caller) -> None:
    manager.objects.event_source(params["object"], params["iid"]).unadvise(params["cookie"])


@_method("objects.describe")
def _describe(manager: Manager, params: Params, caller: Caller) -> Result:
    objects = manager.objects
    given = objects.class_named(params["class"]) if "object" not in params else type(objects.held(params["object"]))
    return objects.library.described(given)
