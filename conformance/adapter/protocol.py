"""The protocol as data: every method of `schema/*.json`, and compiled validators for what goes in and out.

Schemas are read when first asked for, one facet at a time, and compiled when first used: a command that only prints its
help pays for neither.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from types import MappingProxyType

from conformance.verdict import Json

VERSIONS = ("1.1", "1.0")  # protocol versions this harness speaks, best first
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
    "objects",
)
NOT_EXPRESSIBLE = "NotExpressible"  # since 1.1, the kind of a failure that is the API's lack: nothing was done
INFINITE = 0xFFFFFFFF  # timeout_ms that waits without end, MS-MQMP 2.2.3.2
_FAILED = 0x80000000  # the severity bit of an HRESULT, MS-ERREF 2.1

Validate = Callable[[Json], None]


class SchemaInvalid(ValueError):
    """A value is not what the protocol's schema says; the text tells where and why."""


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
        """As it stands in a request: `queues.create`; the manager facet's methods stand bare."""
        return self.name if self.facet == "manager" else f"{self.facet}.{self.name}"

    @property
    def required_on_success(self) -> tuple[str, ...]:
        """Members a result must have when its status is a success."""
        return tuple(self.result.get("required_on_success", ()))


def succeeded(status: int) -> bool:
    """Whether an HRESULT, as an unsigned number, is a success."""
    return status < _FAILED


@cache
def document(name: str) -> Mapping[str, Json]:
    """The schema file `name`.json as it is shipped."""
    text = resources.files("conformance.adapter").joinpath("schema", f"{name}.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Json] = json.loads(text)
    return loaded


@cache
def methods() -> Mapping[str, Method]:
    """All methods by full name, in the order of the facets and of the schema files."""
    table: dict[str, Method] = {}
    for facet in FACETS:
        for name, raw in document(facet)["methods"].items():
            method = Method(
                facet=facet,
                name=name,
                summary=raw["summary"],
                source=raw.get("source"),
                may_block=raw.get("may_block", False),
                params=inlined(raw["params"]),
                result=inlined(raw["result"]),
                examples=tuple(raw["examples"]),
            )
            table[method.full_name] = method
    return MappingProxyType(table)


def method(name: str) -> Method:
    """The method of this full name. Raises ValueError with the nearest name: only the harness's own code asks."""
    try:
        return methods()[name]
    except KeyError:
        close = get_close_matches(name, list(methods()), n=1, cutoff=0.4)
        raise ValueError(f"the protocol has no method {name}" + (f"; nearest: {close[0]}" if close else "")) from None


def inlined(schema: Json) -> Json:
    """The schema with every `common.json#/$defs/...` reference replaced by what it names."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("common.json#/$defs/")
            return inlined(document("common")["$defs"][name])
        return {key: inlined(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [inlined(value) for value in schema]
    return schema


def since(name: str) -> Mapping[str, str]:
    """Members of a method's result that an older version of the protocol lacks, with the version that brought them."""
    described: Mapping[str, Json] = method(name).result["anyOf"][0]["properties"]
    return {member: schema["since"] for member, schema in described.items() if "since" in schema}


@cache
def validator(name: str, part: str) -> Validate:
    """A compiled check of a method's `params` or `result`; it raises SchemaInvalid.

    A result's two shapes (with an HRESULT, without) are compiled apart and chosen by its status: one pass instead of
    two, and an error text about the shape that was meant.
    """
    described = method(name)
    if part == "params":
        return _compiled(described.params)
    if part != "result":
        raise ValueError(f"a method has params and a result, not {part}")
    with_status, without = (_compiled(shape) for shape in described.result["anyOf"])
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


def _compiled(schema: Mapping[str, Json]) -> Validate:
    import fastjsonschema  # here because it costs 20 ms, and most commands validate nothing

    check = fastjsonschema.compile(_for_compiler(schema), formats={"base64": _is_base64}, use_default=False)

    def validate(value: Json) -> None:
        try:
            check(value)
        except fastjsonschema.JsonSchemaValueException as wrong:
            raise SchemaInvalid(_shortened(wrong.message)) from None

    return validate


def _for_compiler(schema: Json) -> Json:
    """Base64 as a named format: a decoder in C is stricter than the pattern, and many times faster on large bodies."""
    if isinstance(schema, dict):
        if schema.get("contentEncoding") == "base64":
            return {"type": "string", "format": "base64"}
        return {key: _for_compiler(value) for key, value in schema.items() if not _is_note(key, value)}
    if isinstance(schema, list):
        return [_for_compiler(value) for value in schema]
    return schema


def _is_note(key: str, value: Json) -> bool:
    """A property may itself be called `description`; only a text is an annotation."""
    return key == "description" and isinstance(value, str)


def _is_base64(text: str) -> bool:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _shortened(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
