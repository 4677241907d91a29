"""Facet `objects`: typed values in both directions, and the sentence for a driver that breaks with them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import jsonschema
import pytest
from cases import all_of

from conformance.adapter import protocol
from conformance.adapter.check import check_adapter
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import ProtocolViolation
from conformance.verdict import Json

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
