"""The protocol as data: methods with validators of their values, and the driver's answer to `hello`."""

from __future__ import annotations

import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any

from conformance.adapter.near_misses import about_value
from conformance.suggest import nearest
from conformance.verdict import Json

VERSIONS = ("1.4", "1.3", "1.2", "1.1", "1.0")  # protocol versions this harness speaks, best first
FACETS = (
    "manager",
    "clock",
    "names",
    "packets",
    "structures",
    "queues",
    "messages",
    "cursors",
    "transactions",
    "outgoing",
    "management",
    "security",
    "coordinator",
    "directory",
    "objects",
    "sessions",
    "rpc",
)
CALLED_AS = frozenset({"queues", "messages", "management", "security", "directory", "objects"})
"""Facets whose calls can be made as one of the users of `hello`: their params have the member `as`."""
NOT_EXPRESSIBLE = "NotExpressible"  # since 1.1: kind of failure if the API cannot express a call; nothing was done
INFINITE = 0xFFFFFFFF  # timeout_ms of a read without time-out, MS-MQMP 2.2.3.2
_FAILED = 0x80000000  # the severity bit of an HRESULT, MS-ERREF 2.1

Validate = Callable[[Json], None]


class SchemaInvalid(ValueError):
    """A value does not fit the protocol's schema; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the protocol. params, result: JSON Schemas with all references resolved."""

    facet: str
    name: str
    summary: str
    source: str | None
    may_block: bool
    params: Mapping[str, Json]
    result: Mapping[str, Json]
    examples: tuple[Mapping[str, Json], ...]

    @property
    def full_name(self) -> str:
        """The name in a request: `queues.create`; methods of the manager facet have no prefix."""
        return self.name if self.facet == "manager" else f"{self.facet}.{self.name}"

    @property
    def required_on_success(self) -> tuple[str, ...]:
        """Members that a result must have when its status is a success."""
        return tuple(self.result.get("required_on_success", ()))


def succeeded(status: int) -> bool:
    """True if an HRESULT, as an unsigned number, is a success."""
    return status < _FAILED


@cache
def document(name: str) -> Mapping[str, Json]:
    """Return the content of the schema file `name`.json."""
    text = resources.files("conformance.adapter").joinpath("schema", f"{name}.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Json] = json.loads(text)
    return loaded


@cache
def methods() -> Mapping[str, Method]:
    """Return all methods by full name, in the order of the facets and of the schema files."""
    table: dict[str, Method] = {}
    for facet in FACETS:
        for name, raw in document(facet)["methods"].items():
            method = Method(
                facet=facet,
                name=name,
                summary=raw["summary"],
                source=raw.get("source"),
                may_block=raw.get("may_block", False),
                params=inlined(_with_caller(facet, raw["params"])),
                result=inlined(raw["result"]),
                examples=tuple(raw["examples"]),
            )
            table[method.full_name] = method
    return MappingProxyType(table)


def _with_caller(facet: str, params: Mapping[str, Json]) -> Mapping[str, Json]:
    if facet not in CALLED_AS:
        return params
    caller = {"allOf": [{"$ref": "common.json#/$defs/sid"}], "description": "The user who calls, one of `hello`'s."}
    return {**params, "properties": {**params["properties"], "as": caller}}


def method(name: str) -> Method:
    """Return the method of this full name. Raises ValueError with the nearest name: a mistake of the harness's code."""
    try:
        return methods()[name]
    except KeyError:
        close = nearest(name, methods())
        raise ValueError(f"the protocol has no method {name}" + (f"; nearest: {close}" if close else "")) from None


def inlined(schema: Json) -> Json:
    """Return the schema with every `common.json#/$defs/...` reference replaced by its target."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("common.json#/$defs/")
            return inlined(document("common")["$defs"][name])
        return {key: inlined(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [inlined(value) for value in schema]
    return schema


def since(name: str) -> Mapping[str, str]:
    """Return the members of a method's result that older versions of the protocol lack, with their first version."""
    described: Mapping[str, Json] = method(name).result["anyOf"][0]["properties"]
    return {member: schema["since"] for member, schema in described.items() if "since" in schema}


@cache
def validator(name: str, part: str) -> Validate:
    """Return a compiled check of a method's `params` or `result`, which raises SchemaInvalid.

    The two shapes of a result (with and without HRESULT) are compiled separately and chosen by its status: one pass
    instead of two, and an error message about the shape that was meant.
    """
    described = method(name)
    if part == "params":
        return compiled(described.params)
    if part != "result":
        raise ValueError(f"a method has params and a result, not {part}")
    with_status, without = (compiled(shape) for shape in described.result["anyOf"])
    required = described.required_on_success

    def validate(value: Json) -> None:
        if not isinstance(value, dict) or "status" not in value:
            raise SchemaInvalid("a result is an object with a status")
        status = value["status"]
        if status is None:
            without(value)
            return
        with_status(value)
        if status < _FAILED:
            for member in required:
                if member not in value:
                    raise SchemaInvalid(f"a successful {name} has {member}, and this one has not")

    return validate


@cache
def value_validator(name: str) -> Validate:
    """Return a compiled check of the shared value `name` of common.json, which raises SchemaInvalid."""
    return compiled(inlined(document("common")["$defs"][name]))


def compiled(schema: Mapping[str, Json]) -> Validate:
    """Return a check of values by a schema without references, which raises SchemaInvalid."""
    import fastjsonschema  # imported here because it takes 20 ms, and most commands validate nothing
    from fastjsonschema.draft07 import CodeGeneratorDraft07
    from fastjsonschema.ref_resolver import RefResolver

    class Code(CodeGeneratorDraft07):  # type: ignore[misc]
        """Code that looks at the type of a value, where the library's raises an exception for each other type."""

        def generate_if_then_else(self) -> None:
            member, texts = _condition(self._definition["if"])
            there = self._variable, self._variable_name
            holds = f'isinstance({{variable}}, dict) and {{variable}}.get("{member}") in {texts!r}'
            for test, part in ((f"if {holds}:", "then"), (f"if not ({holds}):", "else")):
                if part in self._definition:
                    with self.l(test):
                        self.generate_func_code_block(self._definition[part], *there, clear_variables=True)

    plain, formats = _for_compiler(schema), {"base64": _is_base64}
    resolver = RefResolver.from_schema(plain, handlers={}, store={})
    code = Code(plain, resolver=resolver, formats=formats, use_default=False)
    scope = code.global_state
    exec(code.func_code, scope)
    check = partial(scope[resolver.get_scope_name()], custom_formats=formats)

    def validate(value: Json) -> None:
        try:
            check(value)
        except fastjsonschema.JsonSchemaValueException as wrong:
            near = about_value(wrong.rule, wrong.rule_definition, wrong.value, wrong.definition or {})
            raise SchemaInvalid(_shortened(wrong.message) + near) from None

    return validate


def _for_compiler(schema: Json) -> Json:
    """Replace the base64 pattern by a named format: a decoder in C is stricter, and much faster on large bodies."""
    if isinstance(schema, dict):
        if schema.get("contentEncoding") == "base64":
            return {"type": "string", "format": "base64"}
        return {key: _for_compiler(value) for key, value in schema.items() if not _is_note(key, value)}
    if isinstance(schema, list):
        return [_for_compiler(value) for value in schema]
    return schema


def _condition(schema: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    """Return the member a condition is about, which `required` names too, and the texts that it may be."""
    ((member, wanted),) = schema["properties"].items()
    return member, tuple(wanted.get("enum") or (wanted["const"],))


def _is_note(key: str, value: Json) -> bool:
    """True for a `description` that is an annotation: a text. A property may have this name, too."""
    return key == "description" and isinstance(value, str)


def _is_base64(text: str) -> bool:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _shortened(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else text[:limit] + "..."


_INTERFACES = ("DISPATCH", "UNKNOWN")
_FACET = "objects."


class ObjectHandles:
    """The handles of objects that a driver has given in this session, released ones too: an event may cross it."""

    def __init__(self) -> None:
        """Begin without any."""
        self.typed = False  # True if hello agreed that values have types
        self._given: set[str | int] = set()

    def wrong_answer(self, method: str, params: Mapping[str, Json], result: Mapping[str, Json]) -> str | None:
        """Note the handles in a result that fits its schema. Returns what is wrong with it, None for nothing."""
        if not method.startswith(_FACET) or result["status"] is None or not succeeded(result["status"]):
            return None
        if "object" in result:
            self._given.add(result["object"])
        values = result.get("values")
        if method == "objects.get" and "members" in params:
            asked = len(params["members"])
            if values is None or len(values) != asked:
                return f"{asked} members were asked for, and it has {'no' if values is None else len(values)} values"
            self._given.update(_handles(each["value"] for each in values if "value" in each))
        elif method == "objects.invoke" and "value" in result:
            self._given.update(_handles([result["value"]]))
        return None

    def wrong_event(self, source: str | int, arguments: list[Json]) -> str | None:
        """Note the handles in an event. Returns what is wrong with it, None for nothing."""
        if not self.typed:
            return None
        if source not in self._given:
            return f"an event of the object {str(source)[:40]!r}, a handle it never gave"
        check = value_validator("typed_value")
        try:
            for each in arguments:
                check(each)
        except SchemaInvalid as wrong:
            return f"an event with an argument that the protocol does not allow: {wrong}"
        self._given.update(_handles(arguments))
        return None


def _handles(values: Any) -> Iterator[str | int]:
    """The handles in typed values, in arrays too."""
    for value in values:
        inner = value.get("value")
        if value["vt"] in _INTERFACES and inner is not None:
            yield inner
        elif value["vt"] == "ARRAY" and isinstance(inner, list):
            yield from _handles(inner)


MAX_BODY_BYTES = "max_body_bytes"
"""The member of `limits` that tells the longest body."""


def body_bytes(message: Mapping[str, Json]) -> int:
    """Return the length of the body of a message to be sent."""
    body = message.get("body", "")
    return len(body) * 3 // 4 - body.count("=", -2) if isinstance(body, str) else 0


@dataclass(frozen=True, slots=True)
class Hello:
    """The result of `hello`. facets: facet name to the methods offered. settle_ms, slack_ms: milliseconds.

    queue_manager: GUID text, None when the API has none. readings: reading id to the alternative claimed.
    accepts: the values that its methods accept, by kind (`message`, `share`, ...); of an absent kind, every value.
    security: the member of this name as the driver wrote it, None if all calls are made as one user.
    directory_protocols: how the manager speaks with the directory, `json-rpc` or `ldap`; the first is judged.
    plays: full names of methods that the driver performs itself.
    """

    protocol: str
    name: str
    version: str
    profile: str
    computer: str
    facets: Mapping[str, frozenset[str]]
    clock: str
    settle_ms: int
    slack_ms: int
    limits: Mapping[str, int]
    readings: Mapping[str, str]
    queue_manager: str | None
    accepts: Mapping[str, frozenset[str]]
    security: Mapping[str, Json] | None = None
    directory_protocols: tuple[str, ...] = ("json-rpc",)
    plays: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Hello:
        """Build the value from a hello result that fits its schema."""
        return cls(
            protocol=raw["protocol"],
            name=raw["name"],
            version=raw["version"],
            profile=raw["profile"],
            computer=raw["computer"],
            facets={facet: frozenset(names) for facet, names in raw["facets"].items()},
            clock=raw["clock"],
            settle_ms=int(raw.get("settle_ms", 0)),
            slack_ms=int(raw.get("slack_ms", 0)),
            limits=dict(raw.get("limits", {})),
            readings=dict(raw.get("readings", {})),
            queue_manager=raw.get("queue_manager"),
            accepts={kind: frozenset(names) for kind, names in raw.get("accepts", {}).items()},
            security=raw.get("security"),
            directory_protocols=tuple(raw.get("directory_protocols", ("json-rpc",))),
            plays=frozenset(raw.get("plays", ())),
        )

    def offers(self, name: str) -> bool:
        """True if the method of this full name (`queues.create`) is declared. `hello` is always offered."""
        known = method(name)
        return name == "hello" or known.name in self.facets.get(known.facet, frozenset())

    def takes(self, kind: str, name: str) -> bool:
        """True if the offered methods accept this: a message member, a queue property, a kind of access."""
        return kind not in self.accepts or name in self.accepts[kind]

    def refuses(self, method: str, params: Mapping[str, Json]) -> str | None:
        """Return the first parameter that the driver does not accept, in a few words; None if there is none.

        A body may be one byte longer than the limit: whether it is refused or arrives whole is tested.
        """
        most = self.limits.get(MAX_BODY_BYTES)
        if most is not None and method == "messages.send" and body_bytes(params["message"]) > most + 1:
            return f"a body of more than {most:,} bytes"
        if not self.accepts:
            return None
        for kind, names in accepted_values(method, params):
            for name in names:
                if not self.takes(kind, name):
                    return f"{name} ({_TOLD[kind]})"
        return None


_TOLD = {
    "message": "of a message",
    "properties": "of a queue",
    "access": "access to a queue",
    "share": "share mode of a queue",
    "format_names": "format name",
}


def accepted_values(method: str, params: Mapping[str, Json]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the values that a call passes by kind of `accepts`, except those in format names: see `Client.need`."""
    if method == "messages.send":
        yield "message", params["message"]
    elif method in ("queues.create", "queues.get", "queues.set"):
        yield "properties", params.get("properties", ())
    elif method == "queues.open":
        yield "access", (params["access"],)
        yield "share", (params.get("share", "deny_none"),)
