"""The schemas are schemas, their examples are valid, and the compiled validators agree with a second validator."""

from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any

import jsonschema
import pytest
from cases import all_of

from conformance.adapter import protocol

SCHEMAS = sorted(
    entry.name.removesuffix(".json") for entry in resources.files("conformance.adapter").joinpath("schema").iterdir()
)
EXAMPLES = [(name, example) for name, method in protocol.methods().items() for example in method.examples]


def parts(document: dict[str, Any]) -> list[Any]:
    out = list(document.get("$defs", {}).values())
    for method in document.get("methods", {}).values():
        out += [method["params"], method["result"]]
    return out


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_against_the_metaschema(name: str) -> None:
    found = parts(dict(protocol.document(name)))
    assert found
    for part in found:
        jsonschema.Draft202012Validator.check_schema(part)


def test_every_facet_has_a_file_and_every_file_a_facet() -> None:
    assert sorted([*protocol.FACETS, "common", "envelope"]) == SCHEMAS


def test_every_method_has_an_example() -> None:
    assert {name for name, _ in EXAMPLES} == set(protocol.methods())


@all_of(("name", "example"), EXAMPLES)
def test_every_example_is_valid(name: str, example: dict[str, Any]) -> None:
    for part in ("params", "result"):
        protocol.validator(name, part)(example[part])
        schema = getattr(protocol.method(name), part)
        jsonschema.Draft202012Validator(schema).validate(example[part])


@all_of(("name", "example"), EXAMPLES)
def test_a_stranger_member_is_refused(name: str, example: dict[str, Any]) -> None:
    for part in ("params", "result"):
        spoiled = {**copy.deepcopy(example[part]), "no_such_member": 1}
        with pytest.raises(protocol.SchemaInvalid):
            protocol.validator(name, part)(spoiled)


@all_of("name", list(protocol.methods()))
def test_a_failure_without_hresult_is_a_result_of_every_method(name: str) -> None:
    check = protocol.validator(name, "result")
    check({"status": None, "failure": {"kind": "E", "text": ""}})
    for wrong in ({"status": None}, {"status": -1}, {"status": 1 << 32}, {"status": True}, {}, [], None):
        with pytest.raises(protocol.SchemaInvalid):
            check(wrong)


def test_success_demands_its_members_and_failure_does_not() -> None:
    check = protocol.validator("messages.receive", "result")
    check({"status": 0xC00E001B})
    check({"status": 0x400E0001, "message": {"body": ""}})
    for status in (0, 0x400E0001):
        with pytest.raises(protocol.SchemaInvalid, match=r"has message"):
            check({"status": status})


@pytest.mark.parametrize("body", ["A", "AAA", "A===", "AA==AA==", "AA A", "AAA\n", "é"])
def test_what_is_not_base64_is_refused(body: str) -> None:
    with pytest.raises(protocol.SchemaInvalid):
        protocol.validator("messages.receive", "result")({"status": 0, "message": {"body": body}})


@pytest.mark.parametrize("name", SCHEMAS)
def test_references_lead_somewhere(name: str) -> None:
    assert "$ref" not in json.dumps([protocol.inlined(part) for part in parts(dict(protocol.document(name)))])
