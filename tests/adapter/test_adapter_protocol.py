"""The protocol's schema, values of types and the page made of it."""

from __future__ import annotations

import copy
import itertools
import json
import re
import shlex
import sys
from collections.abc import Iterator
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import fastjsonschema
import jsonschema
import pytest
from cases import all_of

from conformance.adapter import protocol
from conformance.adapter.check import check_adapter
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import ProtocolViolation
from conformance.adapter.host import counted
from conformance.verdict import Json
from tools.protocol_page import OVER_LDAP, PAGE, TUTORIAL, over_ldap, page, tutorial

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
    assert sorted([*protocol.FACETS, "common", "directory_side", "envelope"]) == SCHEMAS


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


def test_the_first_request_of_a_life_is_one() -> None:
    assert counted("messages.cancel", {"request": 9}, 7) == {"request": 3}
    assert counted("messages.cancel", {"request": "9"}, 7) == {"request": "9"}
    assert counted("messages.peek", {"request": 9}, 7) == {"request": 9}


@pytest.mark.parametrize("in_process", [True, False])
def test_a_read_that_waits_after_a_restart_can_be_cancelled(in_process: bool, tmp_path: Path) -> None:
    with connect("embedded", state_dir=tmp_path, in_process=in_process) as client:
        path = f"{client.hello.computer}\\private$\\q"
        created = client.call("queues.create", path_name=path)
        client.restart(kill=True)
        opened = client.call("queues.open", format_name=created.values["format_name"], access="receive")
        read = client.start("messages.receive", queue=opened.values["queue"], timeout_ms=1000, deadline_ms=None)
        client.wait_blocked_or_done(read, 2000)
        assert not read.done
        assert client.call("messages.cancel", request=read.id).ok
        assert read.done


def test_the_page_is_not_stale() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.protocol_page"
    assert TUTORIAL.read_text(encoding="utf-8") == tutorial(), "run python -m tools.protocol_page"
    assert OVER_LDAP.read_text(encoding="utf-8") == over_ldap(), "run python -m tools.protocol_page"


def test_every_member_has_its_type() -> None:
    """An object has rows for its members below it, and a value of any type is one that has none."""
    rows = re.findall(r"^\|(?: [\w: ]+ \|)? `([\w.\[\]]+)` \| ([^|]+) \|", page(), re.MULTILINE)
    assert len(rows) > 300
    for (name, kind), (below, _) in itertools.pairwise(rows):
        if name in ("params", "result") or (kind == "object" and name == "p_elems"):
            continue  # those of each method stand there
        if re.search(r"\bobject( or null)?$", kind) and name != "p_elems":
            assert below.startswith((f"{name}.", f"{name}[].")), name
        assert kind != "array" and (kind != "any value" or name in ("value", "error.data")), name


def test_every_method_has_its_section_and_every_link_its_heading() -> None:
    text = page()
    for name in protocol.methods():
        assert f"\n#### {name}\n" in text
    headings = {
        re.sub(r"[^a-z0-9_-]", "", heading.lower().replace(" ", "-"))
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    assert links and anchors and links <= headings | anchors


def test_the_examples_of_the_introduction_name_real_methods() -> None:
    named = set(re.findall(r'"method":"([^"]+)"', page()))
    side = protocol.document("directory_side")["methods"]
    assert named - {"pending", "event", *side} <= set(protocol.methods())


VALUES: tuple[Json, ...] = (None, 0, -1, 300, 2**31, 2**32, "", "a", "-5", "1.5", "YQ==", True, [], [1])
LISTS: tuple[Json, ...] = ([{"vt": "I4", "value": 1}], [{"vt": "I4", "value": "a"}], [{"vt": "BSTR", "value": None}])


def values() -> Iterator[dict[str, Json]]:
    """Yield typed values, right and wrong ones, of every type."""
    words = [*protocol.document("common")["$defs"]["typed_value"]["properties"]["vt"]["enum"], "X", 3]
    for vt, of in product(words, (None, "UI1", "I4", "VARIANT", "X")):
        given: dict[str, Json] = {"vt": vt} if of is None else {"vt": vt, "of": of}
        yield given
        yield from ({**given, "value": value} for value in (*VALUES, *LISTS))


def test_a_typed_value_is_taken_or_refused_as_its_schema_says() -> None:
    schema = protocol.inlined(protocol.document("common")["$defs"]["typed_value"])
    plain, check = fastjsonschema.compile(schema), protocol.value_validator("typed_value")
    taken = 0
    for value in values():
        try:
            plain(value)
        except fastjsonschema.JsonSchemaValueException:
            wanted = False
        else:
            wanted = True
        try:
            check(value)
        except protocol.SchemaInvalid:
            assert not wanted, value
        else:
            assert wanted, value
            taken += 1
    assert taken > 100


FAKE = Path(__file__).parent / "fakes" / "has_objects.py"
METHODS = ("create", "invoke", "get", "query", "release", "advise", "unadvise", "describe")
EVENTS = "d7d6e078-dccd-11d0-aa4b-0060970debae"
ASKED: dict[str, tuple[str, dict[str, Json]]] = {
    "unlisted_type": ("objects.get", {"members": ["PathName"]}),
    "wrong_value": ("objects.get", {"members": ["PathName"]}),
    "wrong_element": ("objects.get", {"members": ["PathName"]}),
    "short_list": ("objects.get", {"members": ["PathName", "Label"]}),
    "unknown_source": ("objects.advise", {"sink": "events", "iid": EVENTS}),
    "untyped_event": ("objects.advise", {"sink": "events", "iid": EVENTS}),
}


def connector(wrong: str = "") -> str:
    return f"stdio:{shlex.join([sys.executable, str(FAKE), wrong])}"


def client(tmp_path: Path, wrong: str = "") -> Client:
    return connect(connector(wrong), state_dir=tmp_path / "state")


def test_adapter_check_walks_every_method(tmp_path: Path) -> None:
    steps = check_adapter(connector(), state_dir=tmp_path, patience_ms=500)
    assert not [step for step in steps if step.state == "wrong"]
    good = {step.what for step in steps if step.state == "ok"}
    assert {f"objects.{name}" for name in METHODS} <= good


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("unlisted_type", r"vt must be one of .*it wrote '.*VECTOR"),
        ("wrong_value", r"value must be smaller than or equal to 32767; it wrote '.*70000"),
        ("wrong_element", r"value must be integer; it wrote '"),
        ("short_list", r"2 members were asked for, and it has 1 values; it wrote '"),
        ("unknown_source", r"sent an event of the object 'o99', a handle it never gave; it wrote '"),
        ("untyped_event", r"sent an event with an argument that the protocol does not allow: .* it wrote '"),
    ],
)
def test_a_driver_that_breaks_is_told_with_its_line(wrong: str, says: str, tmp_path: Path) -> None:
    method, params = ASKED[wrong]
    with client(tmp_path, wrong) as mq:
        made = mq.call("objects.create", **{"class": "MSMQEvent"}).values["object"]
        with pytest.raises(ProtocolViolation, match=says):
            mq.call(method, object=made, **params)


def test_a_wrong_step_of_the_check_names_the_defect(tmp_path: Path) -> None:
    wrong = [step for step in check_adapter(connector("short_list"), state_dir=tmp_path) if step.state == "wrong"]
    assert wrong[0].what == "objects.get" and "2 members were asked for, and it has 1 values" in wrong[0].text


def test_unknown_handles_are_refused_with_a_result(tmp_path: Path) -> None:
    with client(tmp_path) as mq:
        assert mq.call("objects.invoke", object="o9", member="Close", kind="method", arguments=[]).status == 0x80070006
        assert mq.call("objects.create", **{"class": "MSMQNothing"}).status == 0x80040154
        assert mq.epoch == 1


def test_events_of_given_objects_arrive(tmp_path: Path) -> None:
    with client(tmp_path) as mq:
        made = mq.call("objects.create", **{"class": "MSMQEvent"}).values["object"]
        mq.call("objects.advise", object=made, sink="events", iid=EVENTS)
        assert [(event.object, event.name) for event in mq.events()] == [(made, "Arrived")]


GOOD: tuple[Json, ...] = (
    {"vt": "EMPTY"}, {"vt": "NULL"}, {"vt": "I1", "value": -128}, {"vt": "I2", "value": 32767},
    {"vt": "I4", "value": -(1 << 31)}, {"vt": "INT", "value": 0}, {"vt": "I8", "value": "-9223372036854775808"},
    {"vt": "UI1", "value": 255}, {"vt": "UI2", "value": 65535}, {"vt": "UI4", "value": 0xFFFFFFFF},
    {"vt": "UINT", "value": 0}, {"vt": "UI8", "value": "18446744073709551615"}, {"vt": "R4", "value": "1.5e3"},
    {"vt": "R8", "value": "NaN"}, {"vt": "CY", "value": "-1.2345"}, {"vt": "DATE", "value": "25569.5"},
    {"vt": "DECIMAL", "value": "79228162514264337593543950335"}, {"vt": "BSTR", "value": ""},
    {"vt": "BSTR", "value": None}, {"vt": "BOOL", "value": True}, {"vt": "BOOL", "value": -1},
    {"vt": "DISPATCH", "value": "o1"}, {"vt": "DISPATCH", "value": None}, {"vt": "UNKNOWN", "value": 7},
    {"vt": "ERROR", "value": 0x80020004}, {"vt": "ARRAY", "of": "UI1", "value": "AAE="},
    {"vt": "ARRAY", "of": "BSTR", "value": []},
    {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "BSTR", "value": "a"}, {"vt": "EMPTY"}]},
)  # fmt: skip
BAD: tuple[Json, ...] = (
    {"vt": "I4"}, {"vt": "EMPTY", "value": 0}, {"vt": "NULL", "value": None}, {"vt": "I2", "value": 32768},
    {"vt": "I4", "value": "1"}, {"vt": "I4", "value": True}, {"vt": "UI1", "value": -1},
    {"vt": "UI4", "value": 1 << 32},
    {"vt": "I8", "value": 1}, {"vt": "UI8", "value": "-1"}, {"vt": "R8", "value": 1.5}, {"vt": "CY", "value": "1,5"},
    {"vt": "DATE", "value": "1970-01-01"}, {"vt": "BSTR", "value": 1}, {"vt": "BOOL", "value": "true"},
    {"vt": "BOOL", "value": 32768}, {"vt": "DISPATCH", "value": {}}, {"vt": "ERROR", "value": -1},
    {"vt": "ARRAY", "value": ""}, {"vt": "ARRAY", "of": "UI1", "value": [1]},
    {"vt": "ARRAY", "of": "UI1", "value": "A"},
    {"vt": "ARRAY", "of": "BSTR", "value": "AA=="}, {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "ARRAY"}]},
    {"vt": "LPWSTR", "value": "a"}, {"vt": 8, "value": "a"}, {"value": 1}, "a", None,
)  # fmt: skip


@pytest.mark.parametrize("value", GOOD, ids=str)
def test_values_of_each_type(value: Json) -> None:
    protocol.value_validator("typed_value")(value)
    protocol.validator("objects.invoke", "result")({"status": 0, "value": value})


@pytest.mark.parametrize("value", BAD, ids=str)
def test_values_that_are_not_of_their_type(value: Json) -> None:
    with pytest.raises(protocol.SchemaInvalid):
        protocol.value_validator("typed_value")(value)
    with pytest.raises(protocol.SchemaInvalid):
        protocol.validator("objects.invoke", "result")({"status": 0, "value": value})


@all_of("value", GOOD + BAD, ids=str)
def test_a_second_validator_agrees_on_the_shape(value: Json) -> None:
    schema = protocol.inlined(protocol.document("common")["$defs"]["typed_value"])
    told = jsonschema.Draft202012Validator(schema).is_valid(value)
    only_the_compiled_one_decodes = value == {"vt": "ARRAY", "of": "UI1", "value": "A"}
    assert told == (value in GOOD) or only_the_compiled_one_decodes
