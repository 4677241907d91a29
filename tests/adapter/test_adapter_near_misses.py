"""The sentence about a line or value of a driver that is nearly right names the nearest right thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapter.lines import BadLine, message
from conformance.adapter.near_misses import about_id, about_line, about_message
from conformance.adapter.protocol import SchemaInvalid, validator

GOOD = '{"jsonrpc":"2.0","id":1,"result":{"status":0}}'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD.replace('"', "'"), "single quotation marks"),
        (str({"jsonrpc": "2.0", "id": 1, "result": {"status": None, "ok": True}}), "JSON has null, not None"),
        (GOOD.replace("0}}", "False}}"), "JSON has false, not False"),
        (GOOD.replace("0}}", "0,}}"), "a comma stands before a closing bracket"),
        ("INFO: queue created", "write logs to stderr"),
        ("DEBUG " + GOOD, "'DEBUG' stands before the message"),
        (GOOD + " done", "'done' stands behind the message"),
        (GOOD + GOOD, "end each with a line feed"),
        ("\ufeff" + GOOD, "byte order mark"),
        ("Content-Length: 46", "no headers"),
        ("{", "without line breaks"),
        ("", "empty"),
        (GOOD[:-4], "ends in the middle"),
        ("{'a': 'it\\'s'}", "single quotation marks"),
    ],
)
def test_a_line_that_is_no_json(line: str, says: str) -> None:
    with pytest.raises(BadLine, match="not JSON") as caught:
        message(line.encode())
    assert says in str(caught.value)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le"])
def test_another_encoding(codec: str) -> None:
    with pytest.raises(BadLine, match="write UTF-8"):
        message(GOOD.encode(codec))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([json.loads(GOOD)], "batch"), (GOOD, "encoded twice"), (7, "it is 7"), ({"id": 1, "result": {}}, "is missing"),
        ({"jsonrpc": 2.0, "id": 1}, 'is the text "2.0", not 2.0'), ({"jsonrpc": "1.0"}, 'not "1.0"'),
    ],
)  # fmt: skip
def test_json_that_is_no_message(value: Any, says: str) -> None:
    assert says in about_message(value)


def test_an_id_of_another_type() -> None:
    assert about_id("5", {5}) == '; ids are whole numbers: write 5, not "5"'
    assert about_id(5.0, {5}) == "; ids are whole numbers: write 5, not 5.0"
    assert "repeats the id" in about_id(None, {5})
    assert about_id("5", {6}) == about_id(9, {6}) == about_id("x", {6}) == ""


@pytest.mark.parametrize(
    ("method", "result", "says"),
    [
        ("messages.send", {"status": 0, "lookup_identifier": 5}, 'write it as a text: "5"'),
        ("queues.create", {"status": 0, "formatName": "DIRECT=OS:h\\q"}, "did you mean format_name, not formatName?"),
        ("queues.create", {"status": "0x0", "format_name": "DIRECT=OS:h\\q"}, "write it as a number: 0"),
    ],
)
def test_a_value_that_is_nearly_right(method: str, result: Any, says: str) -> None:
    with pytest.raises(SchemaInvalid) as caught:
        validator(method, "result")(result)
    assert says in str(caught.value)


@given(st.binary(max_size=200) | st.text(st.sampled_from("{}[]\"'\\,: NoneTrue1"), max_size=80).map(str.encode))
def test_any_line_gets_one_line_or_none(line: bytes) -> None:
    assert "\n" not in about_line(line) and len(about_line(line)) < 300
