"""Lists of names in a MultiQueueFormatHeader: every way of aligning them, and what is said when none fits."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import amount, fewer
from wire_strategies import GUID, NAME, U32

from conformance.wire import EncodeError, dissect, encode, rebuild
from conformance.wire.elements import WAYS, each_way
from conformance.wire.headers import MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.layout import Blob, steps_of

LIST = "MultiQueueFormatHeader.Destination.FormatNameList"
GUID_A = "11ea26c6-b6e6-4997-9595-9150557358d1"
RAW_A = bytes.fromhex("c626ea11e6b697499595 9150557358d1".replace(" ", ""))
DIRECT = {"DirectFormatName": "OS:h\\q"}
TABLE = next(step.elements for step in steps_of(MULTI_QUEUE_FORMAT_HEADER) if isinstance(step, Blob) and step.elements)
ELEMENT = st.one_of(
    GUID.map(lambda guid: {"PublicQueueIdentifier": guid}),
    st.builds(lambda guid, number: {"SourceQueueManager": guid, "PrivateQueueIdentifier": number}, GUID, U32),
    NAME.map(lambda name: {"DirectFormatName": name}),
    GUID.map(lambda guid: {"DistributionListIdentifier": guid}),
)


def packet(*elements: dict[str, Any], **others: Any) -> Any:
    values = {f"{LIST}.{at}.{name}": value for at, one in enumerate(elements) for name, value in one.items()}
    return dissect(encode("UserMessage", values | {f"MultiQueueFormatHeader.{k}": v for k, v in others.items()}))


def of_bytes(raw: bytes, count: int) -> Any:
    key = "MultiQueueFormatHeader.Destination."
    return dissect(encode("UserMessage", {LIST: raw, key + "ElementCount": count}))


@given(st.lists(ELEMENT, min_size=1, max_size=6))
@settings(max_examples=fewer(80), deadline=None)
def test_names_that_are_encoded_are_decoded(names: list[dict[str, Any]]) -> None:
    found = packet(*names)
    assert found.trouble == ()
    assert (
        found.fields[f"{LIST}.Elements"] == len(names) == found.fields[LIST.replace("FormatNameList", "ElementCount")]
    )
    assert (found.fields[f"{LIST}.Stopped"], found.fields[f"{LIST}.Left"]) == ("", 0)
    ways = each_way(found.fields[LIST], 0, len(names), TABLE)
    shown = [
        {key: value for key, value in one.items() if key not in ("FormatType", "Padding")} for one in ways[WAYS[0]]
    ]
    assert shown == names
    assert rebuild(found) == found.data


def test_an_element_lies_where_its_span_says() -> None:
    found = packet(DIRECT, {"SourceQueueManager": GUID_A, "PrivateQueueIdentifier": 7})
    at, length = found.spans[f"{LIST}.1.SourceQueueManager"]
    assert found.data[at : at + length] == RAW_A
    assert found.fields[f"{LIST}.1.PrivateQueueIdentifier"] == 7
    assert found.fields[f"{LIST}.Of2"] == found.fields[f"{LIST}.Of3"] == 1


@pytest.mark.parametrize(
    ("raw", "fitting"),
    [
        # A direct name of 16 bytes, then a private queue: without alignment the last two bytes would be padding.
        (b"\3\0" + "OS:h\\q\0".encode("utf-16-le") + b"\2\0\xaa\xaa" + RAW_A + b"\7\0\0\0", set(WAYS)),
        # The direct name one WCHAR longer: FormatType at 18, its GUID at 20 from the header, at 22 from the element.
        (b"\3\0" + "OS:h\\qq\0".encode("utf-16-le") + b"\2\0" + RAW_A + b"\7\0\0\0", {WAYS[0], WAYS[1], "none"}),
        (b"\3\0" + "OS:h\\qq\0".encode("utf-16-le") + b"\2\0\0\0" + RAW_A + b"\7\0\0\0", {WAYS[2], WAYS[3]}),
        (b"\1\0" + RAW_A + b"\3\0q\0\0\0", {"header.packed", "element.packed", "none"}),
        (b"\1\0\xaa\xaa" + RAW_A + b"\3\0q\0\0\0", {"header.aligned", "element.aligned"}),
        (b"\3\0q\0\0\0", set(WAYS)),
    ],
)
def test_the_ways_that_fit_are_told(raw: bytes, fitting: set[str]) -> None:
    fields = of_bytes(raw, 2 if len(raw) > 6 else 1).fields
    assert {way for way in WAYS if fields[f"{LIST}.Fits.{way}"]} == fitting
    assert fields[f"{LIST}.Way"] in fitting
    assert fields[f"{LIST}.Left"] == 0
    guids = [value for key, value in fields.items() if key.startswith(f"{LIST}.") and value == GUID_A]
    assert len(guids) == (1 if len(raw) > 6 else 0)


@pytest.mark.parametrize(
    ("raw", "count", "stopped", "elements", "left"),
    [
        (b"\3\0q\0\0\0", 2, "", 1, 0),
        (b"\3\0q\0\0\0" * 2, 1, "", 2, 0),
        (b"\3\0q\0\0\0\0\0\0\0", 1, "", 1, 4),
        (b"\3\0q\0\0\0\0\0\0\0", 2, "type", 1, 4),
        (b"\3\0q\0\0\0\3\0q\0", 2, "unterminated", 1, 4),
        (b"\1\0" + bytes(15), 1, "short", 0, 17),
        (b"\x05\0" + bytes(16), 1, "type", 0, 18),
        (b"", 3, "", 0, 0),
    ],
)
def test_where_a_list_stops(raw: bytes, count: int, stopped: str, elements: int, left: int) -> None:
    fields = of_bytes(raw, count).fields
    assert (fields[f"{LIST}.Stopped"], fields[f"{LIST}.Elements"], fields[f"{LIST}.Left"]) == (stopped, elements, left)
    assert (f"{LIST}.StoppedType" in fields) == (stopped == "type")


def test_very_many_names_do_not_become_as_many_fields() -> None:
    many = amount("wire.names-in-a-list")
    found = of_bytes(b"\3\0\0\0" * many, 0xFFFFFFFF)
    assert found.fields[f"{LIST}.Elements"] == many
    assert len(found.fields) < 3000


def test_a_count_and_a_selector_can_lie() -> None:
    found = packet(DIRECT | {"FormatType": 5}, **{"Destination.ElementCount": 9})
    assert found.fields["MultiQueueFormatHeader.Destination.ElementCount"] == 9
    assert found.fields[f"{LIST}.StoppedType"] == 5


def test_a_name_is_changed_in_a_packet_that_was_read() -> None:
    before = packet(DIRECT, {"PublicQueueIdentifier": GUID_A})
    after = dissect(rebuild(before, {f"{LIST}.0.DirectFormatName": "OS:longer\\queue"}))
    assert after.fields[f"{LIST}.0.DirectFormatName"] == "OS:longer\\queue"
    assert after.fields[f"{LIST}.1.PublicQueueIdentifier"] == GUID_A
    assert len(after.data) == len(before.data) + 16


@pytest.mark.parametrize(
    "element",
    [
        {"DirectFormatName": "a", "PublicQueueIdentifier": GUID_A},
        {"PublicQueueIdentifier": "no guid"},
        {"PrivateQueueIdentifier": 1 << 32},
        {"FormatType": -1},
        {"NoSuchField": 1},
    ],
)
def test_what_is_no_element_is_refused(element: dict[str, Any]) -> None:
    with pytest.raises(EncodeError):
        packet(element)


@given(st.binary(max_size=120), U32)
@settings(max_examples=fewer(200), deadline=None)
def test_any_bytes_are_a_list_of_something(raw: bytes, count: int) -> None:
    found = of_bytes(raw, count)
    assert all(at + length <= len(found.data) for at, length in found.spans.values())
    assert rebuild(found) == found.data
